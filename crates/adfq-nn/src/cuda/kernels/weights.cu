// Gradients of weights and bias: the product of the transposed patches and dy, in a fixed number of parts over the
// positions of all images, and the sum of the parts.

struct Weights {
    const void* input;
    const float* dy;
    float* grads;     // of the first copy, if there is one part
    float* partial;   // [copy][split][K + 1][F] otherwise; the bias is the last row
    double* squares;  // the sums of squares of tiles, if there is one part
    long long input_stride, dy_stride, grads_stride, partial_stride, squares_stride;
    int weight, bias, slot, bias_slot;
    int rows, tiles_n, splits, split_tiles;
    float scale;
};

template <class G, int BM, int BN, int WARPS_M, int KIND, int STAGES>
__device__ __forceinline__ void weights(const Weights& w) {
    constexpr int M = G::KS * G::KS * G::C, P = G::OH * G::OW, N = G::F;
    constexpr int AS = BM + 8, BS = BN + 8;
    constexpr int WARPS_N = WARPS / WARPS_M, MI = BM / WARPS_M / 16, NI = BN / WARPS_N / 8;
    constexpr int AV = Operand<KIND>::width, A_COLUMNS = BM / AV, ROW_STEP = THREADS / A_COLUMNS;
    constexpr int A_ITEMS = BK / ROW_STEP;
    constexpr int BV = N % 4 == 0 ? 4 : 1, B_COLUMNS = BN / BV;
    // Stage after stage, so that a sum of one tile needs the memory of one.
    constexpr int STAGE = BK * (AS + BS);
    float* as = shared;
    float* bs = shared + BK * AS;

    int m0 = blockIdx.x * BM, n0 = blockIdx.y % w.tiles_n * BN, split = blockIdx.y / w.tiles_n, copy = blockIdx.z;
    int rows = w.rows * P;
    constexpr int SIZE = Operand<KIND>::size;
    const u8* input = (const u8*)w.input + copy * w.input_stride * SIZE;
    const float* dy = w.dy + copy * w.dy_stride;
    int first = split * w.split_tiles, last = (rows + BK - 1) / BK;
    if (last > first + w.split_tiles) last = first + w.split_tiles;

    // Where the patch of each position starts, in bytes, and which of its places lie in the image.
    static_assert(G::KS <= MOST_PLACES, "a kernel has at most 16 x 16 places");
    int2* positions = (int2*)(shared + STAGES * STAGE);
    if (P > 1) {
        for (int p = threadIdx.x; p < P; p += THREADS) {
            int y = p / G::OW * G::S - G::PY, x = p % G::OW * G::S - G::PX;
            u32 mask = places(y, 1, G::KS, G::H) | places(x, 1, G::KS, G::W) << 16;
            positions[p] = make_int2((y * G::W + x) * G::C * SIZE, (int)mask);
        }
        __syncthreads();
    }
    int column = threadIdx.x % A_COLUMNS * AV, row = threadIdx.x / A_COLUMNS;
    int k = m0 + column, ky = k / (G::KS * G::C), kx = k / G::C % G::KS, c = k % G::C;
    u32 want = k < M ? place_bits(ky, kx) : ~0u;
    const u8* from_a = input + ((ky * G::W + kx) * G::C + c) * SIZE;
    Item<KIND> items[Operand<KIND>::async ? 1 : A_ITEMS];
    auto fetch_a = [&](int tile, float* to) {
#pragma unroll
        for (int i = 0; i < A_ITEMS; i++) {
            int r = row + i * ROW_STEP, m = tile * BK + r, b = m / P;
            int2 position = P > 1 ? positions[m - b * P] : make_int2(0, 65537);
            bool valid = m < rows && (P > 1 ? ((u32)position.y & want) == want : k < M);
            const u8* at = from_a + (b * (G::H * G::W * G::C * SIZE) + position.x);
            if constexpr (Operand<KIND>::async) copy_async<16>(to + r * AS + column, at, valid);
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
    const float* b_from = dy + b_row * N + n0 + b_column;
    auto fetch_b = [&](int tile, float* to) {
        const float* from = b_from + (long long)tile * (BK * N);
#pragma unroll
        for (int r = 0; r < BK; r += B_STEP)
            copy_async<4 * BV>(to + (b_row + r) * BS + b_column, from + r * N, b_valid && tile * BK + b_row + r < rows);
    };

    Sums<MI, NI> sums;
    sums.clear();
    // The bias is summed beside the first rows of the weights: each thread takes a column and every THREADS / BN-th row.
    float bias = 0.0f;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (first + s < last) {
            fetch_a(first + s, as + s * STAGE);
            store_a(as + s * STAGE);
            fetch_b(first + s, bs + s * STAGE);
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
            fetch_a(tile + STAGES - 1, as + next * STAGE);
            fetch_b(tile + STAGES - 1, bs + next * STAGE);
        }
        copy_commit();
        const float* b = bs + stage * STAGE;
        multiply<MI, NI, false, false, AS, BS, false>(sums, as + stage * STAGE, b, warp_m, warp_n);
        if (blockIdx.x == 0)
            for (int r = threadIdx.x / BN; r < BK; r += THREADS / BN) bias += b[r * BS + threadIdx.x % BN];
        if (more) store_a(as + next * STAGE);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }

    bool whole = w.splits == 1;
    float* grads = w.grads + copy * w.grads_stride;
    float* partial = w.partial + copy * w.partial_stride + (long long)split * (M + 1) * N;
    float* out = whole ? grads + w.weight : partial;
    float* bias_out = whole ? grads + w.bias : partial + M * N;
    float scale = whole ? w.scale : 1.0f;
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double squares = 0.0;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int m = m0 + warp_m + i * 16 + g + h * 8;
            // A few squares in f32: turning each into f64 would take longer than the product.
            float few = 0.0f;
#pragma unroll
            for (int j = 0; j < NI; j++) {
                int n = n0 + warp_n + j * 8 + 2 * t;
                float y0 = sums.c[i][j][2 * h] * scale, y1 = sums.c[i][j][2 * h + 1] * scale;
                if (m >= M || n >= N) continue;
                few += y0 * y0;
                if (n + 1 < N) few += y1 * y1;
                float* to = out + (long long)m * N + n;
                if (N % 2 == 0) {
                    *(float2*)to = make_float2(y0, y1);
                } else {
                    to[0] = y0;
                    if (n + 1 < N) to[1] = y1;
                }
            }
            squares += few;
        }
    copy_wait<0>();
    __syncthreads();
    double* room = (double*)shared;
    if (whole) {
        double sum = block_sum(squares, room);
        if (threadIdx.x == 0)
            w.squares[copy * w.squares_stride + w.slot + blockIdx.x * w.tiles_n + blockIdx.y % w.tiles_n] = sum;
    }
    if (blockIdx.x == 0) {
        float* columns = shared + 64;
        columns[threadIdx.x] = bias;
        __syncthreads();
        int n = n0 + threadIdx.x;
        squares = 0.0;
        if (threadIdx.x < BN && n < N) {
            float sum = 0.0f;
            for (int r = threadIdx.x; r < THREADS; r += BN) sum += columns[r];
            bias_out[n] = sum;
            squares = (double)sum * sum;
        }
        if (whole) {
            double sum = block_sum(squares, room);
            if (threadIdx.x == 0) w.squares[copy * w.squares_stride + w.bias_slot + blockIdx.y % w.tiles_n] = sum;
        }
    }
}

// Some of a tensor's gradient: the sum of its parts, and the sum of its squares.
struct Part {
    int from, split_stride, splits;  // in the buffer of parts
    int to, length, slot;            // in the gradients; at most four for each of a block's threads
    float scale;
};

struct PartSums {
    const Part* parts;
    const float* partial;
    float* grads;
    double* squares;
    long long partial_stride, grads_stride, squares_stride;
};

// One part of one copy, by a block of 256 threads; `room` holds a number for each warp.
__device__ __forceinline__ void sum_part(const PartSums& p, int number, int copy, double* room) {
    Part part = p.parts[number];
    const float* from = p.partial + copy * p.partial_stride + part.from + threadIdx.x;
    float* to = p.grads + copy * p.grads_stride + part.to + threadIdx.x;
    float g[4] = {};
#pragma unroll 8
    for (int s = 0; s < part.splits; s++, from += part.split_stride)
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (threadIdx.x + e * 256 < part.length) g[e] += from[e * 256];
    float squares = 0.0f;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        g[e] *= part.scale;
        squares += g[e] * g[e];
        if (threadIdx.x + e * 256 < part.length) to[e * 256] = g[e];
    }
    double sum = block_sum(squares, room);
    if (threadIdx.x == 0) p.squares[copy * p.squares_stride + part.slot] = sum;
}

// Grid: (parts, copies).
extern "C" __global__ void __launch_bounds__(256) weights_sum(PartSums p) {
    __shared__ double room[8];
    sum_part(p, blockIdx.x, blockIdx.y, room);
}
