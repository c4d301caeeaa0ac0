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
    int view_count, rows, tiles_n, splits, split_tiles;
    int images;       // of a block that keeps them
    float scale;      // of the product
    float* partial;   // [copy][view][split][rows·positions][F], if split
    u32* arrived;     // [copy][view][tile]: parts that are there, if the last of them adds them up
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
    int view = blockIdx.z % f.view_count, copy = blockIdx.z / f.view_count;
    int rows = f.rows * P;
    const float* params = f.views[view].params + copy * f.params_stride;
    const float* weight = params + f.weight;
    constexpr int SIZE = Operand<KIND>::size;
    const u8* input = (const u8*)f.views[view].input + copy * f.input_stride * SIZE;
    int first = split * f.split_tiles, last = (K + BK - 1) / BK;
    if (last > first + f.split_tiles) last = first + f.split_tiles;

    // Where the patches of this thread's rows start, in bytes, and which of their places lie in the image: none for rows
    // that do not exist.
    static_assert(G::KS <= MOST_PLACES, "a kernel has at most 16 x 16 places");
    int column = threadIdx.x % A_COLUMNS * AV, row = threadIdx.x / A_COLUMNS;
    constexpr int ROW_STEP = THREADS / A_COLUMNS;
    u32 masks[A_ITEMS];
    int base[A_ITEMS];
#pragma unroll
    for (int i = 0; i < A_ITEMS; i++) {
        int m = m0 + row + i * ROW_STEP, b = m / P, p = m % P;
        int y = p / G::OW * G::S - G::PY, x = p % G::OW * G::S - G::PX;
        masks[i] = m < rows ? places(y, 1, G::KS, G::H) | places(x, 1, G::KS, G::W) << 16 : 0u;
        base[i] = ((b * G::H + y) * G::W + x) * G::C * SIZE;
    }

    Item<KIND> items[Operand<KIND>::async ? 1 : A_ITEMS];
    auto fetch_a = [&](int tile, float* to) {
        int k = tile * BK + column;
        int ky = k / (G::KS * G::C), kx = k / G::C % G::KS, c = k % G::C;
        // Beyond the patch, no place has this bit.
        u32 want = k < K ? place_bits(ky, kx) : ~0u;
        int offset = ((ky * G::W + kx) * G::C + c) * SIZE;
        if (G::KS == 1 && k < K) want = 65537u;
#pragma unroll
        for (int i = 0; i < A_ITEMS; i++) {
            bool valid = (masks[i] & want) == want;
            const u8* at = input + (base[i] + offset);
            if constexpr (Operand<KIND>::async) copy_async<16>(to + (row + i * ROW_STEP) * AS + column, at, valid);
            else items[i].load(at, valid);
        }
    };
    auto store_a = [&](float* to) {
        if constexpr (!Operand<KIND>::async) {
#pragma unroll
            for (int i = 0; i < A_ITEMS; i++) items[i].store(to + (row + i * ROW_STEP) * AS + column);
        }
    };
    constexpr int B_STEP = THREADS / B_COLUMNS;
    int b_column = threadIdx.x % B_COLUMNS * BV, b_row = threadIdx.x / B_COLUMNS;
    bool b_valid = n0 + b_column < N;
    const float* b_from = weight + b_row * N + n0 + b_column;
    auto fetch_b = [&](int tile, float* to) {
        const float* from = b_from + tile * (BK * N);
#pragma unroll
        for (int r = 0; r < BK; r += B_STEP) {
            bool valid = b_valid && (K % BK == 0 || tile * BK + b_row + r < K);
            copy_async<4 * BV>(to + (b_row + r) * BS + b_column, from + r * N, valid);
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
                    store_two(to, y0, y1);
                } else {
                    if (n < N) to[0] = y0;
                    if (n + 1 < N) to[1] = y1;
                }
            }
    }
    // Dense layers alone are split.
    if (P > 1 || whole || f.arrived == nullptr) return;

    // The last part of a tile to arrive adds up all of them, in the order and with the operations of `forward_sum`.
    copy_wait<0>();
    __threadfence();
    __syncthreads();
    u32* is_last = (u32*)shared;
    if (threadIdx.x == 0) {
        u32* arrived = f.arrived + ((long long)blockIdx.z * gridDim.x + blockIdx.x) * f.tiles_n + blockIdx.y % f.tiles_n;
        bool last = atomicAdd(arrived, 1u) + 1 == (u32)f.splits;
        // None has arrived for the next launch.
        if (last) *arrived = 0;
        *is_last = last;
    }
    __syncthreads();
    if (*is_last == 0) return;
    __threadfence();
    const float* parts = f.partial + (long long)blockIdx.z * f.splits * rows * N;
    float* sum_out = f.views[view].output + copy * f.output_stride;
    constexpr int COLUMNS = BN / BV;
    for (int i = threadIdx.x; i < BM * COLUMNS; i += THREADS) {
        int m = m0 + i / COLUMNS, n = n0 + i % COLUMNS * BV;
        if (m >= rows || n >= N) continue;
        float y[BV] = {};
#pragma unroll 4
        for (int s = 0; s < f.splits; s++) {
            // From where all blocks see the same: another block wrote it.
            const float* from = parts + ((long long)s * rows + m) * N + n;
            if constexpr (BV == 4) {
                float4 four = __ldcg((const float4*)from);
                y[0] += four.x, y[1] += four.y, y[2] += four.z, y[3] += four.w;
            } else {
                y[0] += __ldcg(from);
            }
        }
#pragma unroll
        for (int e = 0; e < BV; e++) {
            y[e] += params[f.bias + n + e];
            if (RELU) y[e] = rounded(fmaxf(y[e], 0.0f));
        }
        float* to = sum_out + (long long)m * N + n;
        if constexpr (BV == 4) *(float4*)to = make_float4(y[0], y[1], y[2], y[3]);
        else *to = y[0];
    }
}

// The sum of the splits, the bias and the ReLU.
template <class G, bool RELU>
__device__ __forceinline__ void forward_sum(const Forward& f) {
    constexpr int N = G::F;
    int size = f.rows * G::OH * G::OW * N, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int view = blockIdx.z % f.view_count, copy = blockIdx.z / f.view_count;
    const float* partial = f.partial + (long long)blockIdx.z * f.splits * size + i;
    float y = 0.0f;
#pragma unroll 4
    for (int s = 0; s < f.splits; s++) y += partial[(long long)s * size];
    y += f.views[view].params[copy * f.params_stride + f.bias + i % N];
    if (RELU) y = rounded(fmaxf(y, 0.0f));
    f.views[view].output[copy * f.output_stride + i] = y;
}
