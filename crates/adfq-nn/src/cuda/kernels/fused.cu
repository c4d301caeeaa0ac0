// Small perceptrons: a whole forward pass, or a whole backward pass with clipping and Adam, in one block for each copy
// (and 32 rows), in shared memory. Products are on the matrix units, each factor the sum of two TF32 numbers, which is
// as good as f32. Values lie as [row][number].

static constexpr int FUSED_THREADS = 512, FUSED_WARPS = 16, CHUNK = 32;
static constexpr int FUSED_VALUES = 8;

struct FusedForward {
    ForwardView views[4];
    float* values[FUSED_VALUES];  // of the first view, for the way back; none for the input
    long long params_stride;
    int view_count, rows;
    float scale;
};

struct FusedLearn {
    Adam adam;
    const void* input;
    const float* values[FUSED_VALUES];
    const float* out_grad;
    int rows;
    float scale;
};

// From row to row of values and of weights, so that a warp's reads of a tile meet in few banks.
__host__ __device__ constexpr int line_of(int length) { return (length + 7) / 8 * 8 + 4; }
__host__ __device__ constexpr int weight_line(int filters) { return (filters + 15) / 16 * 16 + 8; }

// Four parameters of each of a thread's turns. All loads before the first use.
template <class NET>
struct Fours {
    static constexpr int COUNT = (NET::end(NET::TENSORS - 1) + 3) / 4;
    static constexpr int TURNS = (COUNT + FUSED_THREADS - 1) / FUSED_THREADS;
    float4 of[TURNS];

    __device__ __forceinline__ static int index(int turn) { return (turn * FUSED_THREADS + threadIdx.x) * 4; }
    // Whether a turn can meet a tensor at all.
    __device__ __forceinline__ static constexpr bool meets(int turn, int t) {
        return turn * FUSED_THREADS * 4 < NET::end(t) && (turn + 1) * FUSED_THREADS * 4 > NET::start(t);
    }
    __device__ __forceinline__ static bool is_in(int i, int t) { return i >= NET::start(t) && i < NET::end(t); }

    __device__ __forceinline__ void load(const float* from) {
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++)
            if (index(turn) < 4 * COUNT) of[turn] = *(const float4*)(from + index(turn));
    }

    // To where the products read them: weights in lines of their own length.
    __device__ __forceinline__ void spread(float* to) const {
#pragma unroll
        for (int turn = 0; turn < TURNS; turn++) {
            int i = index(turn);
#pragma unroll
            for (int t = 0; t < NET::TENSORS; t++) {
                if (!meets(turn, t) || !is_in(i, t)) continue;
                int at = i - NET::start(t), width = NET::width(t);
                float* tensor = to + NET::place(t);
                if (width % 4 == 0) {
                    *(float4*)(tensor + at / width * NET::line(t) + at % width) = of[turn];
                } else {
                    float four[4] = {of[turn].x, of[turn].y, of[turn].z, of[turn].w};
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        if (i + e < NET::end(t)) tensor[(at + e) / width * NET::line(t) + (at + e) % width] = four[e];
                }
            }
        }
    }
};

// Rows of `length` numbers from global memory, zeros beyond the last row: asynchronously, or bytes at once.
template <int length>
__device__ __forceinline__ void fused_load(float* to, const float* from, u32 rows, float) {
    constexpr int V = length % 4 == 0 ? 4 : 1;
    share<CHUNK * length / V, FUSED_THREADS>([&](u32 i) {
        u32 row = i / (length / V), k = i % (length / V) * V;
        copy_async<4 * V>(to + row * line_of(length) + k, from + i * V, row < rows);
    });
}
template <int length>
__device__ __forceinline__ void fused_load(float* to, const u8* from, u32 rows, float scale) {
    share<CHUNK * length, FUSED_THREADS>([&](u32 i) {
        u32 row = i / length;
        to[row * line_of(length) + i % length] = row < rows ? (float)__ldg(from + i) * scale : 0.0f;
    });
}

template <int length>
__device__ __forceinline__ void fused_store(float* to, const float* from, u32 rows) {
    constexpr int V = length % 4 == 0 ? 4 : 1;
    share<CHUNK * length / V, FUSED_THREADS>([&](u32 i) {
        u32 row = i / (length / V);
        const float* at = from + row * line_of(length) + i % (length / V) * V;
        if (row >= rows) return;
        if constexpr (V == 4) ((float4*)to)[i] = *(const float4*)at;
        else to[i] = *at;
    });
}

// The nearest TF32, and the rest, of which the matrix units take 11 bits. What is not finite makes a rest that is NaN.
__device__ __forceinline__ void split(float x, u32& high, u32& low) {
    high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
    low = __float_as_uint(x - __uint_as_float(high));
}

// 16 x 8 numbers of a product from (m0, n0) on, K deep. A lies as [m][k] (A_ROWS) or [k][m], B as [n][k] (B_ROWS) or
// [k][n]. What lies beyond M, N and K counts as zero.
template <bool A_ROWS, bool B_ROWS, int AS, int BS, int M, int N, int K>
__device__ __forceinline__ void fused_tile(float (&c)[4], const float* a, const float* b, int m0, int n0) {
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    // Products of the high parts, and of a high and a low one, whose sums are small: three sums at a time.
    float large[4] = {}, small[4] = {}, tiny[4] = {};
#pragma unroll 8
    for (int k0 = 0; k0 < K; k0 += 8) {
        u32 a_high[4], a_low[4], b_high[2], b_low[2];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int m = m0 + g + e % 2 * 8, k = k0 + t + e / 2 * 4;
            bool there = (M % 16 == 0 || m < M) && (K % 8 == 0 || k < K);
            split(there ? a[A_ROWS ? m * AS + k : k * AS + m] : 0.0f, a_high[e], a_low[e]);
        }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int n = n0 + g, k = k0 + t + e * 4;
            bool there = (N % 8 == 0 || n < N) && (K % 8 == 0 || k < K);
            split(there ? b[B_ROWS ? n * BS + k : k * BS + n] : 0.0f, b_high[e], b_low[e]);
        }
        mma(small, a_low, b_high);
        mma(large, a_high, b_high);
        mma(tiny, a_high, b_low);
    }
#pragma unroll
    for (int e = 0; e < 4; e++) c[e] = large[e] + (small[e] + tiny[e]);
}

template <class G, bool RELU>
__device__ __forceinline__ void fused_layer(const float* w, const float* bias, const float* x, float* y) {
    constexpr int K = G::C, N = G::F, TILES = (N + 7) / 8;
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (int task = threadIdx.x / 32; task < 2 * TILES; task += FUSED_WARPS) {
        int m0 = task % 2 * 16, n0 = task / 2 * 8;
        float c[4];
        fused_tile<true, false, line_of(K), weight_line(N), CHUNK, N, K>(c, x, w, m0, n0);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = m0 + g + e / 2 * 8, n = n0 + 2 * t + e % 2;
            if (N % 8 != 0 && n >= N) continue;
            float value = c[e] + bias[n];
            y[row * line_of(N) + n] = RELU ? fmaxf(value, 0.0f) : value;
        }
    }
    __syncthreads();
}

// Adds a chunk's gradients of weights and bias, and gives dx before the ReLU that gave x.
template <class G, bool FIRST>
__device__ __forceinline__ void fused_back(const float* w, const float* x, const float* dy, float* dx, float* dw, float* db) {
    constexpr int K = G::C, N = G::F, XS = line_of(K), YS = line_of(N);
    constexpr int COLUMNS = (N + 7) / 8, WEIGHTS = (K + 15) / 16 * COLUMNS, BIASES = (N + 31) / 32;
    constexpr int DELTAS = FIRST ? 0 : 2 * ((K + 7) / 8);
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (int task = threadIdx.x / 32; task < DELTAS + WEIGHTS + BIASES; task += FUSED_WARPS) {
        float c[4];
        if (task < DELTAS) {
            int m0 = task % 2 * 16, n0 = task / 2 * 8;
            fused_tile<true, true, YS, weight_line(N), CHUNK, K, N>(c, dy, w, m0, n0);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int at = (m0 + g + e / 2 * 8) * XS + n0 + 2 * t + e % 2;
                if (K % 8 == 0 || n0 + 2 * t + e % 2 < K) dx[at] = x[at] > 0.0f ? c[e] : 0.0f;
            }
        } else if (task < DELTAS + WEIGHTS) {
            int m0 = (task - DELTAS) / COLUMNS * 16, n0 = (task - DELTAS) % COLUMNS * 8;
            fused_tile<false, false, XS, YS, K, N, CHUNK>(c, x, dy, m0, n0);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int m = m0 + g + e / 2 * 8, n = n0 + 2 * t + e % 2;
                if (m < K && n < N) dw[m * N + n] += c[e];
            }
        } else {
            int n = (task - DELTAS - WEIGHTS) * 32 + lane;
            if (n >= N) continue;
            float sum = 0.0f;
#pragma unroll
            for (int b = 0; b < CHUNK; b++) sum += dy[b * YS + n];
            db[n] += sum;
        }
    }
    __syncthreads();
}

// Clipping and Adam: gradients in shared memory, the rest already in registers. `rates` holds two rates.
template <class NET>
__device__ __forceinline__ void fused_adam(const Adam& a, Fours<NET>& p, Fours<NET>& m, Fours<NET>& v, const float* grads,
                                           double* room, float* rates, u64 step) {
    constexpr int T = NET::TENSORS, TURNS = Fours<NET>::TURNS, COUNT = Fours<NET>::COUNT;
    const AdamSettings& s = a.settings;
    int copy = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long first = copy * a.stride;
    double squares[T] = {};
    Fours<NET> g;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = Fours<NET>::index(turn);
        if (i >= 4 * COUNT) continue;
        float4 four = g.of[turn] = *(const float4*)(grads + i);
        *(float4*)(a.grads + first + i) = four;
        double square = four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
#pragma unroll
        for (int t = 0; t < T; t++)
            if (Fours<NET>::meets(turn, t)) squares[t] += Fours<NET>::is_in(i, t) ? square : 0.0;
    }
#pragma unroll
    for (int t = 0; t < T; t++) {
        // Most warps meet few tensors.
        if (__any_sync(0xffffffffu, squares[t] != 0.0))
            for (int d = 16; d > 0; d >>= 1) squares[t] += __shfl_xor_sync(0xffffffffu, squares[t], d);
        if (lane == 0) room[warp * T + t] = squares[t];
    }
    __syncthreads();
    float* scales = rates + 2;
    if (warp == 0) {
        // A lane for each tensor adds the warps' sums.
        double all = 0.0;
        for (int t = lane; t < T; t += 32) {
            double sum = 0.0;
#pragma unroll
            for (int w = 0; w < FUSED_WARPS; w++) sum += room[w * T + t];
            room[t] = sum;
        }
        __syncwarp();
        for (int t = 0; t < T; t++) all += room[t];
        double norm = sqrt(all), most = s.most;
        for (int t = lane; t < T; t += 32) {
            double of = s.clip == 1 ? sqrt(room[t]) : norm;
            scales[t] = s.clip != 0 && of > most ? (float)(most / of) : 1.0f;
        }
        if (lane == 0) {
            bool ok = isfinite(all);
            a.norms[copy] = (float)norm;
            if (ok) a.steps[copy] = step + 1;
            else a.skipped[copy]++, rates[0] = -1.0f;
        }
    }
    __syncthreads();
    bool stays = rates[0] < 0.0f;
    if (stays && a.target == nullptr) return;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = Fours<NET>::index(turn);
        if (i >= 4 * COUNT) continue;
        if (!stays) {
            float scale = 1.0f;
#pragma unroll
            for (int t = 0; t < T; t++)
                if (Fours<NET>::meets(turn, t) && Fours<NET>::is_in(i, t)) scale = scales[t];
            adam_four(p.of[turn], m.of[turn], v.of[turn], g.of[turn], scale, s, rates[0], rates[1]);
            *(float4*)(a.params + first + i) = p.of[turn];
            *(float4*)(a.m + first + i) = m.of[turn];
            *(float4*)(a.v + first + i) = v.of[turn];
        }
        if (a.target != nullptr) follow_four((float4*)(a.target + first + i), p.of[turn], a.tau);
    }
}
