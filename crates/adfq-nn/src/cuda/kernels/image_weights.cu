// Gradients of weights and bias of a convolution whose images a block keeps in shared memory: a warp for 64 rows of the weights and all 64 filters, two images in
// memory, one of which is on its way. Grid: (rows / 64 / WARPS_EACH, splits, copies), each block `split_tiles` images.
template <class G, int WARPS_EACH>
__device__ __forceinline__ void image_weights(const Weights& w) {
    constexpr int C = G::C, N = G::F, P = G::OH * G::OW, PIXELS = G::H * G::W, M = G::KS * G::KS * C;
    constexpr int BLOCK = WARPS_EACH * 32, STEPS = (P + 7) / 8, MI = 4, NI = N / 8, TAPS = 64 / C;
    // Four positions, each a stride further, and eight channels or filters lie in different banks.
    constexpr int XS = C + 8 / G::S, DS = N + 8, X_SIZE = (PIXELS + 1) * XS, SIZE = X_SIZE + STEPS * 8 * DS;
    static_assert(M % 64 == 0 && M / 64 >= NI && 64 % C == 0 && 8 % G::S == 0, "a warp for each of 64 rows and 8 filters");
    int2* positions = (int2*)(shared + 2 * SIZE);
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp = blockIdx.x * WARPS_EACH + threadIdx.x / 32;
    int split = blockIdx.y, copy = blockIdx.z, first = split * w.split_tiles, last = min(first + w.split_tiles, w.rows);
    const float* input = (const float*)w.input + copy * w.input_stride;
    const float* dy = w.dy + copy * w.dy_stride;
    auto fetch = [&](int b) {
        float* x = shared + (b - first) % 2 * SIZE;
        const float* from = input + (long long)b * (PIXELS * C);
        share<PIXELS * C / 4, BLOCK>([&](u32 i) {
            copy_async<16>(x + i / (C / 4) * XS + i % (C / 4) * 4, from + i * 4, true);
        });
        const float* from_dy = dy + (long long)b * (P * N);
        share<P * N / 4, BLOCK>([&](u32 i) {
            copy_async<16>(x + X_SIZE + i / (N / 4) * DS + i % (N / 4) * 4, from_dy + i * 4, true);
        });
    };
    if (first < last) fetch(first);
    copy_commit();
    // Where each position's patch starts, and which of its places lie in the image. Beyond the last, dy is zero; and the
    // pixel after the last is.
    for (int p = threadIdx.x; p < STEPS * 8; p += BLOCK) {
        int y = p / G::OW * G::S - G::PY, x = p % G::OW * G::S - G::PX;
        u32 mask = p < P ? places(y, 1, G::KS, G::H) | places(x, 1, G::KS, G::W) << 16 : 0u;
        positions[p] = make_int2((y * G::W + x) * XS, (int)mask);
    }
#pragma unroll
    for (int b = 0; b < 2; b++) {
        float* x = shared + b * SIZE;
        for (int i = threadIdx.x; i < XS; i += BLOCK) x[PIXELS * XS + i] = 0.0f;
        for (int i = threadIdx.x; i < (STEPS * 8 - P) * DS; i += BLOCK) x[X_SIZE + P * DS + i] = 0.0f;
    }
    u32 want[TAPS];
    int offset[TAPS];
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        int place = warp * TAPS + tap, ky = place / G::KS, kx = place % G::KS;
        want[tap] = place_bits(ky, kx);
        offset[tap] = (ky * G::W + kx) * XS;
    }
    Sums<MI, NI> sums;
    sums.clear();
    float bias = 0.0f;
    for (int b = first; b < last; b++) {
        if (b + 1 < last) fetch(b + 1);
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        const float* x = shared + (b - first) % 2 * SIZE + g;
        const float* d = x + X_SIZE;
        for (int s = 0; s < STEPS; s++) {
            int p = s * 8 + t;
            int2 near = positions[p], far = positions[p + 4];
            u32 bf[NI][2], af[MI][4];
#pragma unroll
            for (int j = 0; j < NI; j++) {
                bf[j][0] = __float_as_uint(d[p * DS + j * 8]);
                bf[j][1] = __float_as_uint(d[(p + 4) * DS + j * 8]);
            }
            if (warp < NI) bias += d[p * DS + warp * 8] + d[(p + 4) * DS + warp * 8];
#pragma unroll
            for (int tap = 0; tap < TAPS; tap++) {
                bool near_in = ((u32)near.y & want[tap]) == want[tap], far_in = ((u32)far.y & want[tap]) == want[tap];
                const float* one = x + (near_in ? near.x + offset[tap] : PIXELS * XS);
                const float* two = x + (far_in ? far.x + offset[tap] : PIXELS * XS);
#pragma unroll
                for (int i = 0; i < MI / TAPS; i++) {
                    u32(&a)[4] = af[tap * (MI / TAPS) + i];
                    a[0] = __float_as_uint(one[i * 16]), a[1] = __float_as_uint(one[i * 16 + 8]);
                    a[2] = __float_as_uint(two[i * 16]), a[3] = __float_as_uint(two[i * 16 + 8]);
                }
            }
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int j = 0; j < NI; j++) mma(sums.c[i][j], af[i], bf[j]);
        }
        __syncthreads();
    }
    float* partial = w.partial + copy * w.partial_stride + (long long)split * (M + 1) * N;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int m = warp * 64 + i * 16 + g + h * 8;
#pragma unroll
            for (int j = 0; j < NI; j++)
                *(float2*)(partial + m * N + j * 8 + 2 * t) = make_float2(sums.c[i][j][2 * h], sums.c[i][j][2 * h + 1]);
        }
    for (int e = 1; e < 4; e *= 2) bias += __shfl_xor_sync(0xffffffffu, bias, e);
    if (warp < NI && t == 0) partial[M * N + warp * 8 + g] = bias;
}
