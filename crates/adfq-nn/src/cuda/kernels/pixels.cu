// A first convolution over images of bytes: forward, and the gradients of weights and bias. A block keeps whole images in
// shared memory, as bytes and with their border of zeros, and takes patches from there.
//
// Bytes are exact in 11 bits. So are they in f16, which is twice as fast as TF32; weights have as many bits there, and each
// filter is brought to where f16 begins by a power of two, so that it loses no more than it would in TF32.

template <class G>
struct Pixels {
    static constexpr int K = G::KS * G::KS * G::C, P = G::OH * G::OW, N = G::F, NT = N / 8;
    static constexpr int WORDS = G::C / 4, PATCH_ROW = G::KS * WORDS;  // four channels of a pixel are a word
    static constexpr int ROWS = (G::OH - 1) * G::S + G::KS, WIDTH = ((G::OW - 1) * G::S + G::KS) * WORDS;
    // From row to row: such that one position's patch is as far from the next in banks, at the end of a row too.
    __host__ __device__ static constexpr int line() {
        int line = WIDTH;
        while ((G::S * (line - G::OW * WORDS)) % 32 != 0) line++;
        return line;
    }
    static constexpr int LINE = line(), SIZE = (ROWS * LINE + 3) / 4 * 4;

    __device__ __forceinline__ static void clear(u32* image) {
        for (int i = threadIdx.x; i < SIZE / 4; i += THREADS) ((uint4*)image)[i] = make_uint4(0, 0, 0, 0);
    }
    // A warp takes a row at a time.
    __device__ __forceinline__ static void load(u32* image, const u8* from) {
        constexpr int HEIGHT = G::H < ROWS - G::PY ? G::H : ROWS - G::PY;
        constexpr int LENGTH = G::W * WORDS < WIDTH - G::PX * WORDS ? G::W * WORDS : WIDTH - G::PX * WORDS;
        int lane = threadIdx.x % 32;
        for (int y = threadIdx.x / 32; y < HEIGHT; y += WARPS) {
            float* to = (float*)image + (y + G::PY) * LINE + G::PX * WORDS;
            const u32* row = (const u32*)from + y * (G::W * WORDS);
#pragma unroll
            for (int x = 0; x < LENGTH; x += 32)
                if (x + 32 <= LENGTH || x + lane < LENGTH) copy_async<4>(to + x + lane, row + x + lane, true);
        }
    }
    // Where a position's patch starts; that of the last for those beyond.
    __device__ __forceinline__ static int start(int p) {
        p = min(p, P - 1);
        return p / G::OW * (G::S * LINE) + p % G::OW * (G::S * WORDS);
    }
};

__device__ __forceinline__ void mma_f16(float (&c)[4], const u32 (&a)[4], uint2 b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

__device__ __forceinline__ u32 two_halves(float low, float high) {
    u32 both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// Two bytes as two f16: a byte in the last place of 1024 is that number and 1024.
template <u32 WHICH>
__device__ __forceinline__ u32 bytes_to_halves(u32 word) {
    u32 both = __byte_perm(word, 0x64646464u, WHICH);
    asm("sub.f16x2 %0, %0, %1;" : "+r"(both) : "r"(0x64006400u));
    return both;
}

// The weights as f16 in the order in which lanes want them (four of a column's numbers, for each tile of 8 columns and 16
// numbers), and what to multiply each column's sums by.
template <class G>
__device__ __forceinline__ void half_weights(const float* weight, uint2* fragments, float* factors) {
    using L = Pixels<G>;
    constexpr int GROUPS = THREADS / L::N, EACH = L::K / GROUPS;
    int n = threadIdx.x % L::N, group = threadIdx.x / L::N;
    float w[EACH], most = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; i++) w[i] = weight[(group * EACH + i) * L::N + n];
#pragma unroll
    for (int i = 0; i < EACH; i++) most = fmaxf(most, fabsf(w[i]));
    factors[threadIdx.x] = most;
    __syncthreads();
    for (int i = 0; i < GROUPS; i++) most = fmaxf(most, factors[i * L::N + n]);
    // The largest becomes at least 2¹⁴ and less than 2¹⁵. What is not finite stays so.
    u32 exponent = __float_as_uint(most) >> 23;
    exponent = exponent == 255 ? 141 : max(exponent, 27u);
    float up = __uint_as_float((268 - exponent) << 23);
    __syncthreads();
    if (group == 0) factors[n] = __uint_as_float((exponent - 14) << 23);
#pragma unroll
    for (int i = 0; i < EACH; i += 4) {
        int q = (group * EACH + i) / 4, lane = n % 8 * 4 + q % 4;
        fragments[(q / 4 * L::NT + n / 8) * 32 + lane] =
            make_uint2(two_halves(w[i] * up, w[i + 1] * up), two_halves(w[i + 2] * up, w[i + 3] * up));
    }
}

// Grid: (images / f.images, parts of an image, views · copies). A warp holds all weights in registers, and takes 16 positions at a time.
template <class G, bool RELU>
__device__ __forceinline__ void pixels_forward(const Forward& f) {
    using L = Pixels<G>;
    u32* images = (u32*)shared;
    uint2* fragments = (uint2*)(images + 2 * L::SIZE);
    float* factors = (float*)(fragments + L::K * L::N / 4);
    int view = blockIdx.z % f.view_count, copy = blockIdx.z / f.view_count;
    int first = blockIdx.x * f.images, count = min(f.images, f.rows - first);
    const float* params = f.views[view].params + copy * f.params_stride;
    const u8* input = (const u8*)f.views[view].input + copy * f.input_stride + (long long)first * (G::H * G::W * G::C);
    float* output = f.views[view].output + copy * f.output_stride + (long long)first * (L::P * L::N);

    L::clear(images);
    L::clear(images + L::SIZE);
    __syncthreads();
    L::load(images, input);
    copy_commit();
    half_weights<G>(params + f.weight, fragments, factors);
    __syncthreads();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    uint2 w[L::K / 16][L::NT];
#pragma unroll
    for (int s = 0; s < L::K / 16; s++)
#pragma unroll
        for (int j = 0; j < L::NT; j++) w[s][j] = fragments[(s * L::NT + j) * 32 + lane];
    float2 factor[L::NT], bias[L::NT];
#pragma unroll
    for (int j = 0; j < L::NT; j++) {
        int n = j * 8 + 2 * t;
        factor[j] = make_float2(factors[n] * f.scale, factors[n + 1] * f.scale);
        bias[j] = make_float2(params[f.bias + n], params[f.bias + n + 1]);
    }
    for (int i = 0; i < count; i++) {
        if (i + 1 < count) L::load(images + (i + 1) % 2 * L::SIZE, input + (i + 1) * (G::H * G::W * G::C));
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        const u32* image = images + i % 2 * L::SIZE;
        for (int p = (blockIdx.y * WARPS + warp) * 16 + g; p - g < L::P; p += gridDim.y * WARPS * 16) {
            const u32 *upper = image + L::start(p) + t, *lower = image + L::start(p + 8) + t;
            float c[L::NT][4] = {};
#pragma unroll
            for (int s = 0; s < L::K / 16; s++) {
                // A lane's four numbers of the depth are a pixel's channels: the weights lie in the same order.
                int at = 4 * s / L::PATCH_ROW * L::LINE + 4 * s % L::PATCH_ROW;
                u32 up = upper[at], low = lower[at];
                u32 a[4] = {bytes_to_halves<0x4140>(up), bytes_to_halves<0x4140>(low), bytes_to_halves<0x4342>(up),
                            bytes_to_halves<0x4342>(low)};
#pragma unroll
                for (int j = 0; j < L::NT; j++) mma_f16(c[j], a, w[s][j]);
            }
            float* out = output + (i * L::P + p) * L::N + 2 * t;
#pragma unroll
            for (int j = 0; j < L::NT; j++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float y0 = c[j][2 * h] * factor[j].x + bias[j].x, y1 = c[j][2 * h + 1] * factor[j].y + bias[j].y;
                    if (RELU) y0 = rounded(fmaxf(y0, 0.0f)), y1 = rounded(fmaxf(y1, 0.0f));
                    if (p + 8 * h < L::P) store_two(out + 8 * h * L::N + 8 * j, y0, y1);
                }
        }
        __syncthreads();
    }
}

// Grid: (1, splits, copies), each block `split_tiles` images. A warp takes a quarter of the patch.
template <class G>
__device__ __forceinline__ void pixels_weights(const Weights& w) {
    using L = Pixels<G>;
    constexpr int MT = L::K / 16 / WARPS, NT = L::NT, STEPS = (L::P + 7) / 8, N = L::N;
    u32* image = (u32*)shared;
    float* dy = (float*)(image + L::SIZE);  // groups of 8 filters, turned round by the position
    int* starts = (int*)(dy + STEPS * 8 * N);
    int split = blockIdx.y, copy = blockIdx.z, lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    int first = split * w.split_tiles, last = min(first + w.split_tiles, w.rows);

    L::clear(image);
    for (int p = threadIdx.x; p < STEPS * 8; p += THREADS) starts[p] = L::start(p);
    for (int i = threadIdx.x; i < (STEPS * 8 - L::P) * N; i += THREADS) dy[L::P * N + i] = 0.0f;
    // A tile's 16 rows are four words: rows g and g + 8 are two channels of one word.
    int words[MT];
#pragma unroll
    for (int i = 0; i < MT; i++) {
        int q = 4 * (warp * MT + i) + g / 2;
        words[i] = q / L::PATCH_ROW * L::LINE + q % L::PATCH_ROW;
    }
    u32 low_byte = 0x7440u | g % 2, high_byte = low_byte + 2;
    auto number = [](u32 word, u32 which) {
        return __float_as_uint(__uint_as_float(__byte_perm(word, 0x4b000000u, which)) - 8388608.0f);
    };
    Sums<MT, NT> sums;
    sums.clear();
    float bias = 0.0f;
    for (int b = first; b < last; b++) {
        __syncthreads();
        L::load(image, (const u8*)w.input + copy * w.input_stride + (long long)b * (G::H * G::W * G::C));
        const float* from = w.dy + copy * w.dy_stride + (long long)b * (L::P * N);
        for (int i = threadIdx.x; i < L::P * N / 4; i += THREADS) {
            int p = i / (N / 4), n = i % (N / 4) * 4;
            copy_async<16>(dy + p * N + (n / 8 ^ p % NT) * 8 + n % 8, from + i * 4, true);
        }
        copy_commit();
        copy_wait<0>();
        __syncthreads();
#pragma unroll 2
        for (int s = 0; s < STEPS; s++) {
            int p = s * 8 + t;
            const u32 *near = image + starts[p], *far = image + starts[p + 4];
            const float* column = dy + p * N + g;
            u32 d[NT][2];
#pragma unroll
            for (int j = 0; j < NT; j++) {
                d[j][0] = __float_as_uint(column[(j ^ t % NT) * 8]);
                d[j][1] = __float_as_uint(column[4 * N + (j ^ t % NT) * 8]);
            }
            if (warp < NT) bias += column[(warp ^ t % NT) * 8] + column[4 * N + (warp ^ t % NT) * 8];
#pragma unroll
            for (int i = 0; i < MT; i++) {
                u32 one = near[words[i]], two = far[words[i]];
                u32 a[4] = {number(one, low_byte), number(one, high_byte), number(two, low_byte), number(two, high_byte)};
#pragma unroll
                for (int j = 0; j < NT; j++) mma(sums.c[i][j], a, d[j]);
            }
        }
    }
    float* partial = w.partial + copy * w.partial_stride + (long long)split * (L::K + 1) * N;
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int k = (4 * (warp * MT + i) + g / 2) * 4 + g % 2 + 2 * h;
#pragma unroll
            for (int j = 0; j < NT; j++)
                *(float2*)(partial + k * N + j * 8 + 2 * t) = make_float2(sums.c[i][j][2 * h], sums.c[i][j][2 * h + 1]);
        }
    for (int d = 1; d < 4; d *= 2) bias += __shfl_xor_sync(0xffffffffu, bias, d);
    if (warp < NT && t == 0) partial[L::K * N + warp * 8 + g] = bias;
}
