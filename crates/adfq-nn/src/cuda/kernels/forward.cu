// y = max(x·W + b, 0) of a convolution or dense layer as an implicit matrix product: rows are positions of all images,
// the depth is the patch. One launch serves several views (parameters and input of their own) of all copies.

struct ForwardView {
    const float* params;
    const void* input;
    float* output;
};
struct Forward {
    ForwardView views[4];
    long long params_stride, input_stride, output_stride;  // from copy to copy
    int weight, bias;                                      // where they lie in a copy's parameters
    int copies, rows, tiles_n, splits, split_tiles;
    float scale;      // of the product
    float* partial;   // [view][copy][split][rows·positions][F], if split
};

template <class G, int BM, int BN, int WARPS_M, int KIND, bool RELU, int STAGES>
__device__ __forceinline__ void forward(const Forward& f) {
    constexpr int K = G::KS * G::KS * G::C, P = G::OH * G::OW, N = G::F;
    constexpr int AS = BK + 4, BS = BN + 8;
    constexpr int WARPS_N = WARPS / WARPS_M, MI = BM / WARPS_M / 16, NI = BN / WARPS_N / 8;
    constexpr int AV = Operand<KIND>::width, A_ITEMS = BM * BK / AV / THREADS, A_COLUMNS = BK / AV;
    constexpr int BV = N % 4 == 0 ? 4 : 1, B_COLUMNS = BN / BV;
    float* as = shared;
    float* bs = shared + STAGES * BM * AS;

    int m0 = blockIdx.x * BM, n0 = blockIdx.y % f.tiles_n * BN, split = blockIdx.y / f.tiles_n;
    int view = blockIdx.z / f.copies, copy = blockIdx.z % f.copies;
    int rows = f.rows * P;
    const float* params = f.views[view].params + copy * f.params_stride;
    const float* weight = params + f.weight;
    long long image = copy * f.input_stride;
    const void* input = f.views[view].input;
    int first = split * f.split_tiles, last = (K + BK - 1) / BK;
    if (last > first + f.split_tiles) last = first + f.split_tiles;

    // Where the patches of this thread's rows start; far outside for rows that do not exist.
    int column = threadIdx.x % A_COLUMNS * AV, row = threadIdx.x / A_COLUMNS;
    constexpr int ROW_STEP = THREADS / A_COLUMNS;
    int ys[A_ITEMS], xs[A_ITEMS], base[A_ITEMS];
#pragma unroll
    for (int i = 0; i < A_ITEMS; i++) {
        int m = m0 + row + i * ROW_STEP;
        int b = m / P, p = m % P;
        ys[i] = m < rows ? p / G::OW * G::S - G::PY : -100000;
        xs[i] = p % G::OW * G::S - G::PX;
        base[i] = ((b * G::H + ys[i]) * G::W + xs[i]) * G::C;
    }

    Item<KIND> items[Operand<KIND>::async ? 1 : A_ITEMS];
    auto fetch_a = [&](int tile, float* to) {
        int k = tile * BK + column;
        int ky = k / (G::KS * G::C), kx = k / G::C % G::KS, c = k % G::C;
        int offset = (ky * G::W + kx) * G::C + c;
#pragma unroll
        for (int i = 0; i < A_ITEMS; i++) {
            bool valid = k < K && (u32)(ys[i] + ky) < G::H && (u32)(xs[i] + kx) < G::W;
            if constexpr (Operand<KIND>::async) {
                long long at = valid ? image + base[i] + offset : 0;
                copy_async<16>(to + (row + i * ROW_STEP) * AS + column, (const float*)input + at, valid);
            } else {
                items[i].load(input, image + base[i] + offset, valid);
            }
        }
    };
    auto store_a = [&](float* to) {
        if constexpr (!Operand<KIND>::async) {
#pragma unroll
            for (int i = 0; i < A_ITEMS; i++) items[i].store(to + (row + i * ROW_STEP) * AS + column);
        }
    };
    auto fetch_b = [&](int tile, float* to) {
#pragma unroll
        for (int i = threadIdx.x; i < BK * B_COLUMNS; i += THREADS) {
            int r = i / B_COLUMNS, n = i % B_COLUMNS * BV, k = tile * BK + r;
            bool valid = k < K && n0 + n < N;
            copy_async<4 * BV>(to + r * BS + n, weight + (valid ? (long long)k * N + n0 + n : 0), valid);
        }
    };

    Sums<MI, NI> sums;
    sums.clear();
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (first + s < last) {
            fetch_a(first + s, as + s * BM * AS);
            store_a(as + s * BM * AS);
            fetch_b(first + s, bs + s * BK * BS);
        }
        copy_commit();
    }
    int warp_m = threadIdx.x / 32 % WARPS_M * (BM / WARPS_M), warp_n = threadIdx.x / 32 / WARPS_M * (BN / WARPS_N);
    int stage = 0, next = STAGES - 1;
    for (int tile = first; tile < last; tile++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        bool more = tile + STAGES - 1 < last;
        if (more) {
            fetch_a(tile + STAGES - 1, as + next * BM * AS);
            fetch_b(tile + STAGES - 1, bs + next * BK * BS);
        }
        copy_commit();
        multiply<MI, NI, true, false, AS, BS, true>(sums, as + stage * BM * AS, bs + stage * BK * BS, warp_m, warp_n);
        if (more) store_a(as + next * BM * AS);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }

    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    bool whole = f.splits == 1;
    float* out = whole ? f.views[view].output + copy * f.output_stride
                       : f.partial + ((long long)blockIdx.z * f.splits + split) * rows * N;
#pragma unroll
    for (int j = 0; j < NI; j++) {
        int n = n0 + warp_n + j * 8 + 2 * t;
        float bias0 = whole && n < N ? params[f.bias + n] : 0.0f;
        float bias1 = whole && n + 1 < N ? params[f.bias + n + 1] : 0.0f;
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int m = m0 + warp_m + i * 16 + g + h * 8;
                if (m >= rows) continue;
                float y0 = sums.c[i][j][2 * h] * f.scale + bias0, y1 = sums.c[i][j][2 * h + 1] * f.scale + bias1;
                if (whole && RELU) y0 = rounded(fmaxf(y0, 0.0f)), y1 = rounded(fmaxf(y1, 0.0f));
                float* to = out + (long long)m * N + n;
                if (N % 2 == 0 && n < N) {
                    *(float2*)to = make_float2(y0, y1);
                } else {
                    if (n < N) to[0] = y0;
                    if (n + 1 < N) to[1] = y1;
                }
            }
    }
}

// The sum of the splits, the bias and the ReLU.
template <class G, bool RELU>
__device__ __forceinline__ void forward_sum(const Forward& f) {
    constexpr int N = G::F;
    int size = f.rows * G::OH * G::OW * N, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int view = blockIdx.z / f.copies, copy = blockIdx.z % f.copies;
    const float* partial = f.partial + (long long)blockIdx.z * f.splits * size + i;
    float y = 0.0f;
#pragma unroll 4
    for (int s = 0; s < f.splits; s++) y += partial[(long long)s * size];
    y += f.views[view].params[copy * f.params_stride + f.bias + i % N];
    if (RELU) y = rounded(fmaxf(y, 0.0f));
    f.views[view].output[copy * f.output_stride + i] = y;
}
