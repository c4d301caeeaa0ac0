// The loss's gradient with respect to a layer's input, before the ReLU that gave it.
//
// A pixel (iy, ix) gets something from the kernel's places ky ≡ iy + PY (mod S) alone. So pixels fall into S x S classes,
// and within a class this is a convolution of dy with stride 1: qy = (iy + PY - ry) / S, oy = qy - j, ky = ry + S·j.

struct Delta {
    const float* params;
    const float* dy;
    const float* x;
    float* dx;
    long long params_stride, dy_stride, x_stride, dx_stride;
    int weight;
    int rows, tiles_n;
    int add;  // to what dx holds
};

template <class G, int BM, int BN, int WARPS_M, int STAGES>
__device__ __forceinline__ void delta(const Delta& d) {
    constexpr int N = G::C, S = G::S;
    constexpr int AS = BK + 4, BS = BK + 4;
    constexpr int WARPS_N = WARPS / WARPS_M, MI = BM / WARPS_M / 16, NI = BN / WARPS_N / 8;
    constexpr int V = G::F % 4 == 0 ? 4 : 1, COLUMNS = BK / V, ROW_STEP = THREADS / COLUMNS;
    constexpr int A_ITEMS = BM / ROW_STEP, B_ITEMS = BN / ROW_STEP;
    float* as = shared;
    float* bs = shared + STAGES * BM * AS;

    int cls = blockIdx.y / d.tiles_n, n0 = blockIdx.y % d.tiles_n * BN, m0 = blockIdx.x * BM;
    int ry = cls / S, rx = cls % S;
    // The first pixel of the class, and how many there are along each axis.
    int y_first = ((ry - G::PY) % S + S) % S, x_first = ((rx - G::PX) % S + S) % S;
    int height = y_first < G::H ? (G::H - y_first + S - 1) / S : 0;
    int width = x_first < G::W ? (G::W - x_first + S - 1) / S : 0;
    int taps_y = G::KS % S == 0 ? G::KS / S : (ry < G::KS ? (G::KS - ry + S - 1) / S : 0);
    int taps_x = G::KS % S == 0 ? G::KS / S : (rx < G::KS ? (G::KS - rx + S - 1) / S : 0);
    int rows = d.rows * height * width, K = taps_y * taps_x * G::F;
    if (m0 >= rows) return;

    const float* weight = d.params + blockIdx.z * d.params_stride + d.weight;
    const float* dy = d.dy + blockIdx.z * d.dy_stride;
    int column = threadIdx.x % COLUMNS * V, row = threadIdx.x / COLUMNS;
    static_assert(G::KS <= MOST_PLACES, "a kernel has at most 16 x 16 places");
    u32 masks[A_ITEMS];
    int base[A_ITEMS];
#pragma unroll
    for (int i = 0; i < A_ITEMS; i++) {
        int m = m0 + row + i * ROW_STEP;
        int b = m / (height * width), p = m % (height * width);
        int qy = (y_first + G::PY - ry) / S + p / width, qx = (x_first + G::PX - rx) / S + p % width;
        constexpr int TAPS = (G::KS + S - 1) / S;
        masks[i] = m < rows ? places(qy, -1, TAPS, G::OH) | places(qx, -1, TAPS, G::OW) << 16 : 0u;
        base[i] = ((b * G::OH + qy) * G::OW + qx) * G::F;
    }
    const float* b_from = weight + (long long)(n0 + row) * G::F;
    auto fetch = [&](int tile, float* to_a, float* to_b) {
        int k = tile * BK + column, tap = k / G::F, f = k % G::F;
        int jy = G::KS % S == 0 ? tap / (G::KS / S) : tap / max(taps_x, 1), jx = tap - jy * taps_x;
        int offset = f - (jy * G::OW + jx) * G::F;
        u32 want = k < K ? (G::KS == 1 ? 65537u : place_bits(jy, jx)) : ~0u;
#pragma unroll
        for (int i = 0; i < A_ITEMS; i++) {
            bool valid = (masks[i] & want) == want;
            copy_async<4 * V, (G::KS > 1)>(to_a + (row + i * ROW_STEP) * AS + column, dy + (base[i] + offset), valid);
        }
        const float* from = b_from + ((ry + S * jy) * G::KS + rx + S * jx) * (G::C * G::F) + f;
#pragma unroll
        for (int i = 0; i < B_ITEMS; i++) {
            bool valid = k < K && (N % BN == 0 || n0 + row + i * ROW_STEP < N);
            copy_async<4 * V>(to_b + (row + i * ROW_STEP) * BS + column, from + i * ROW_STEP * G::F, valid);
        }
    };

    Sums<MI, NI> sums;
    sums.clear();
    int last = (K + BK - 1) / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < last) fetch(s, as + s * BM * AS, bs + s * BN * BS);
        copy_commit();
    }
    int warp_m = threadIdx.x / 32 % WARPS_M * (BM / WARPS_M), warp_n = threadIdx.x / 32 / WARPS_M * (BN / WARPS_N);
    int stage = 0, next = STAGES - 1;
    for (int tile = 0; tile < last; tile++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        if (tile + STAGES - 1 < last) fetch(tile + STAGES - 1, as + next * BM * AS, bs + next * BN * BS);
        copy_commit();
        multiply<MI, NI, true, true, AS, BS, true>(sums, as + stage * BM * AS, bs + stage * BN * BS, warp_m, warp_n);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }

    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const float* x = d.x + blockIdx.z * d.x_stride;
    float* dx = d.dx + blockIdx.z * d.dx_stride;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int m = m0 + warp_m + i * 16 + g + h * 8;
            if (m >= rows) continue;
            int b = m / (height * width), p = m % (height * width);
            int iy = y_first + p / width * S, ix = x_first + p % width * S;
            int at = ((b * G::H + iy) * G::W + ix) * G::C;
#pragma unroll
            for (int j = 0; j < NI; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    int n = n0 + warp_n + j * 8 + 2 * t + e;
                    if (n >= N) continue;
                    float value = x[at + n] > 0.0f ? sums.c[i][j][2 * h + e] : 0.0f;
                    dx[at + n] = rounded(d.add ? dx[at + n] + value : value);
                }
        }
}
