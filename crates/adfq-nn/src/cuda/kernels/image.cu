// Convolutions whose images a block keeps in shared memory: patches are taken from there, so that a pixel is read from afar
// once and not for each of its patches. Weights stream by, 32 of the depth at a time. Sums have the order of `forward` and
// `delta`.
//
// A pixel's channels lie in groups of four, and the group's number is turned round (by XOR) with the pixel's place among the
// positions, so that eight positions next to each other lie in different banks.

static constexpr int IMAGE_STAGES = 3;

// The rows of a product that a lane hands to the matrix loads: where its pixel is, and which steps from there stay within
// the image.
template <int MI>
struct PatchRows {
    int pixel[MI], phase[MI];
    u32 mask[MI];

    // Addresses of the pixels a step away; that of zeros outside the image.
    template <int BYTES>
    __device__ __forceinline__ void find(u32 (&at)[MI], u32 image, u32 zeros, u32 want, int step, int turn) const {
        u32 upper = threadIdx.x % 32 / 16 * 16;
#pragma unroll
        for (int i = 0; i < MI; i++) {
            u32 from = (mask[i] & want) == want ? image + (pixel[i] + step) * BYTES : zeros;
            at[i] = (from + ((phase[i] + turn) & 7) * 16) ^ upper;
        }
    }
};

// Adds the product of 32 channels from `flip` / 16 groups on and a tile of B, which lies as [n][k] (B_ROWS) or [k][n]; `b` is
// where the lane's own numbers begin.
template <int MI, int NI, bool B_ROWS, int BS>
__device__ __forceinline__ void image_multiply(Sums<MI, NI>& sums, const u32 (&at)[MI], u32 flip, const float* b) {
#pragma unroll
    for (int k = 0; k < BK; k += 8) {
        u32 af[MI][4], bf[NI][2];
#pragma unroll
        for (int i = 0; i < MI; i++) load_matrices(af[i], at[i] ^ (flip + k * 4));
#pragma unroll
        for (int j = 0; j < NI; j++) {
            if constexpr (B_ROWS) {
                if (j % 2 != 0) continue;
                u32 two[4];
                load_matrices(two, shared_address(b + j * 8 * BS + k));
                bf[j][0] = two[0], bf[j][1] = two[1], bf[j + 1][0] = two[2], bf[j + 1][1] = two[3];
            } else {
                const float* p = b + k * BS + j * 8;
                bf[j][0] = __float_as_uint(p[0]), bf[j][1] = __float_as_uint(p[4 * BS]);
            }
        }
#pragma unroll
        for (int j = 0; j < NI; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) bf[j][e] = __float_as_uint(rounded(__uint_as_float(bf[j][e])));
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int j = 0; j < NI; j++) mma(sums.c[i][j], af[i], bf[j]);
    }
}

// An image of PIXELS places with C channels; `phase` says how a pixel's groups are turned round.
template <int PIXELS, int C, int BLOCK, class Phase>
__device__ __forceinline__ void load_image(float* to, const float* from, Phase phase) {
    share<PIXELS * C / 4, BLOCK>([&](int i) {
        u32 pixel = (u32)i / (C / 4), group = (u32)i % (C / 4);
        copy_async<16>(to + pixel * C + (group ^ (phase(pixel) & 7)) * 4, from + i * 4, true);
    });
}

// Grid: (images / IMAGES, 1, views · copies). Four warps for an image: 128 positions, 64 filters.
template <class G, int IMAGES, bool RELU>
__device__ __forceinline__ void image_forward(const Forward& f) {
    constexpr int C = G::C, N = G::F, P = G::OH * G::OW, PIXELS = G::H * G::W, BLOCK = 128 * IMAGES, BS = N + 8;
    constexpr int MI = 4, NI = 4, TILES = G::KS * G::KS * C / BK;
    float* zeros = shared + IMAGES * PIXELS * C;
    float* bs = zeros + C;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int view = blockIdx.z % f.view_count, copy = blockIdx.z / f.view_count, first = blockIdx.x * IMAGES;
    const float* params = f.views[view].params + copy * f.params_stride;
    const float* weight = params + f.weight;
    constexpr int ITEMS = BK * N / 4 / BLOCK, ROW_STEP = BLOCK / (N / 4);
    int own_item = threadIdx.x / (N / 4) * BS + threadIdx.x % (N / 4) * 4;
    const float* own_weight = weight + threadIdx.x * 4;
    auto fetch = [&](int tile, int stage) {
        float* to = bs + stage * (BK * BS) + own_item;
        const float* from = own_weight + tile * (BK * N);
#pragma unroll
        for (int i = 0; i < ITEMS; i++) copy_async<16>(to + i * ROW_STEP * BS, from + i * BLOCK * 4, true);
    };
    auto phase = [](u32 pixel) {
        return (pixel % G::W + G::PX) / G::S + (pixel / G::W + G::PY) / G::S * G::OW;
    };
    const float* input = (const float*)f.views[view].input + copy * f.input_stride + (long long)first * (PIXELS * C);
#pragma unroll
    for (int i = 0; i < IMAGES; i++)
        if (first + i < f.rows)
            load_image<PIXELS, C, BLOCK>(shared + i * PIXELS * C, input + i * PIXELS * C, phase);
    if (threadIdx.x < C) zeros[threadIdx.x] = 0.0f;
    fetch(0, 0);
    copy_commit();
    fetch(1, 1);
    copy_commit();

    int own = warp / 4, m0 = warp % 2 * 64, n0 = warp / 2 % 2 * 32;
    PatchRows<MI> rows;
#pragma unroll
    for (int i = 0; i < MI; i++) {
        int p = m0 + i * 16 + lane % 16, y = p / G::OW * G::S - G::PY, x = p % G::OW * G::S - G::PX;
        rows.mask[i] = p < P && first + own < f.rows ? places(y, 1, G::KS, G::H) | places(x, 1, G::KS, G::W) << 16 : 0u;
        rows.pixel[i] = y * G::W + x;
        rows.phase[i] = p;
    }
    Sums<MI, NI> sums;
    sums.clear();
    const float* own_bs = bs + lane % 4 * BS + n0 + lane / 4;
    u32 image = shared_address(shared + own * PIXELS * C), zero = shared_address(zeros);
    int stage = 0, next = 2, ky = 0, kx = 0;
    for (int tile = 0; tile < TILES; tile += C / BK) {
        u32 at[MI];
        rows.template find<4 * C>(at, image, zero, place_bits(ky, kx), ky * G::W + kx, kx / G::S + ky / G::S * G::OW);
#pragma unroll
        for (int half = 0; half < C / BK; half++) {
            copy_wait<1>();
            __syncthreads();
            if (tile + half + 2 < TILES) fetch(tile + half + 2, next);
            copy_commit();
            image_multiply<MI, NI, false, BS>(sums, at, half * (BK * 4), own_bs + stage * (BK * BS));
            stage = stage == IMAGE_STAGES - 1 ? 0 : stage + 1;
            next = next == IMAGE_STAGES - 1 ? 0 : next + 1;
        }
        if (++kx == G::KS) kx = 0, ky++;
    }
    if (first + own >= f.rows) return;
    int g = lane / 4, t = lane % 4;
    m0 += g, n0 += 2 * t;
    const float* bias = params + f.bias + n0;
    float* output = f.views[view].output + copy * f.output_stride + (long long)(first + own) * (P * N) + m0 * N + n0;
#pragma unroll
    for (int j = 0; j < NI; j++) {
        float bias0 = bias[j * 8], bias1 = bias[j * 8 + 1];
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float y0 = sums.c[i][j][2 * h] + bias0, y1 = sums.c[i][j][2 * h + 1] + bias1;
                if (RELU) y0 = rounded(fmaxf(y0, 0.0f)), y1 = rounded(fmaxf(y1, 0.0f));
                if (m0 + i * 16 + h * 8 < P) store_two(output + (i * 16 + h * 8) * N + j * 8, y0, y1);
            }
    }
}

// The gradient of a layer's input from whole images of dy. Two warps for a class of an image's pixels (see `delta`) and 32
// channels. Grid: (images / IMAGES, 1, copies).
template <class G, int IMAGES>
__device__ __forceinline__ void image_delta(const Delta& d) {
    constexpr int C = G::C, F = G::F, P = G::OH * G::OW, S = G::S, CLASSES = S * S, TAPS = G::KS / S;
    constexpr int WARPS_EACH = 2 * CLASSES * (C / 32), BLOCK = 32 * WARPS_EACH * IMAGES, BS = BK + 4;
    constexpr int MI = 4, NI = 4, TILES = TAPS * TAPS * F / BK, STAGE = CLASSES * C * BS;
    static_assert(G::KS % S == 0, "all classes have as many taps");
    float* zeros = shared + IMAGES * P * F;
    float* bs = zeros + F;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, copy = blockIdx.z, first = blockIdx.x * IMAGES;
    const float* weight = d.params + copy * d.params_stride + d.weight;
    // A thread's rows of B are ROW_STEP apart: each in a class and of a channel.
    constexpr int ITEMS = CLASSES * C * BK / 4 / BLOCK, ROW_STEP = BLOCK / (BK / 4);
    int own_row = threadIdx.x / (BK / 4), own_k = threadIdx.x % (BK / 4) * 4, from_row[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int row = own_row + i * ROW_STEP, of = row / C;
        from_row[i] = ((of / S * G::KS + of % S) * C + row % C) * F + own_k;
    }
    auto fetch = [&](int tile, int stage) {
        int tap = tile / (F / BK), jy = tap / TAPS, jx = tap % TAPS;
        float* to = bs + stage * STAGE + own_row * BS + own_k;
        const float* from = weight + (jy * G::KS + jx) * (S * C * F) + tile % (F / BK) * BK;
#pragma unroll
        for (int i = 0; i < ITEMS; i++) copy_async<16>(to + i * ROW_STEP * BS, from + from_row[i], true);
    };
    const float* dy = d.dy + copy * d.dy_stride + (long long)first * (P * F);
#pragma unroll
    for (int i = 0; i < IMAGES; i++)
        if (first + i < d.rows) load_image<P, F, BLOCK>(shared + i * P * F, dy + i * P * F, [](u32 pixel) { return pixel; });
    if (threadIdx.x < F) zeros[threadIdx.x] = 0.0f;
    fetch(0, 0);
    copy_commit();
    fetch(1, 1);
    copy_commit();

    int own = warp / WARPS_EACH, m0 = warp % 2 * 64, n0 = warp / 2 % (C / 32) * 32, cls = warp / 2 / (C / 32) % CLASSES;
    int ry = cls / S, rx = cls % S;
    int y_first = ((ry - G::PY) % S + S) % S, x_first = ((rx - G::PX) % S + S) % S;
    int height = (G::H - y_first + S - 1) / S, width = (G::W - x_first + S - 1) / S;
    bool there = first + own < d.rows;
    PatchRows<MI> rows;
#pragma unroll
    for (int i = 0; i < MI; i++) {
        int p = m0 + i * 16 + lane % 16;
        int qy = (y_first + G::PY - ry) / S + p / width, qx = (x_first + G::PX - rx) / S + p % width;
        bool valid = p < height * width && there;
        rows.mask[i] = valid ? places(qy, -1, TAPS, G::OH) | places(qx, -1, TAPS, G::OW) << 16 : 0u;
        rows.pixel[i] = rows.phase[i] = qy * G::OW + qx;
    }
    // Which of the values whose gradients these are were above zero: asked for now, because a read costs much at the end.
    auto place = [&](int i, int h) {
        int p = m0 + i * 16 + lane / 4 + h * 8;
        if (p >= height * width || !there) return -1;
        return ((y_first + p / width * S) * G::W + x_first + p % width * S) * C + n0 + lane % 4 * 2;
    };
    const float* x = d.x + copy * d.x_stride + (long long)(there ? first + own : first) * (G::H * G::W * C);
    float2 values[MI][2][NI];
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int at = place(i, h);
            // Of a row that is not there, any value will do.
            const float2* from = (const float2*)(x + (at < 0 ? 0 : at));
#pragma unroll
            for (int j = 0; j < NI; j++) values[i][h][j] = from[at < 0 ? 0 : j * 4];
        }
    u32 above[MI] = {};
#pragma unroll
    for (int i = 0; i < MI; i++) {
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int j = 0; j < NI; j++) {
                float2 two = values[i][h][j];
                above[i] |= (u32)(two.x > 0.0f) << (8 * j + 2 * h) | (u32)(two.y > 0.0f) << (8 * j + 2 * h + 1);
            }
        asm volatile("" : "+r"(above[i]));  // The compiler would rather keep them all apart.
    }
    Sums<MI, NI> sums;
    sums.clear();
    const float* own_bs = bs + (cls * C + n0 + lane % 8 + lane / 16 * 8) * BS + lane / 8 % 2 * 4;
    u32 image = shared_address(shared + own * P * F), zero = shared_address(zeros);
    int stage = 0, next = 2, jy = 0, jx = 0;
    for (int tile = 0; tile < TILES; tile += F / BK) {
        u32 at[MI];
        int step = -(jy * G::OW + jx);
        rows.template find<4 * F>(at, image, zero, place_bits(jy, jx), step, step);
#pragma unroll
        for (int half = 0; half < F / BK; half++) {
            copy_wait<1>();
            __syncthreads();
            if (tile + half + 2 < TILES) fetch(tile + half + 2, next);
            copy_commit();
            image_multiply<MI, NI, true, BS>(sums, at, half * (BK * 4), own_bs + stage * STAGE);
            stage = stage == IMAGE_STAGES - 1 ? 0 : stage + 1;
            next = next == IMAGE_STAGES - 1 ? 0 : next + 1;
        }
        if (++jx == TAPS) jx = 0, jy++;
    }
    float* dx = d.dx + copy * d.dx_stride + (long long)(first + own) * (G::H * G::W * C);
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (place(i, h) < 0) continue;
            float* at = dx + place(i, h);
#pragma unroll
            for (int j = 0; j < NI; j++) {
                float v0 = above[i] >> (8 * j + 2 * h) & 1 ? sums.c[i][j][2 * h] : 0.0f;
                float v1 = above[i] >> (8 * j + 2 * h + 1) & 1 ? sums.c[i][j][2 * h + 1] : 0.0f;
                float2 old = d.add ? *(const float2*)(at + j * 8) : make_float2(0.0f, 0.0f);
                store_two(at + j * 8, rounded(old.x + v0), rounded(old.y + v1));
            }
        }
}
