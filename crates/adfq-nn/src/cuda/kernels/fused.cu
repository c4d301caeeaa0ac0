// Small perceptrons: a whole forward pass, or a whole backward pass with clipping and Adam, in one block for each copy
// (and 32 rows), in f32 and in shared memory. Values lie as [number][row], so that a warp's lanes are rows.

static constexpr int FUSED_THREADS = 512, FUSED_WARPS = 16, CHUNK = 32, LINE = 33;
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

// All loads before the first store.
template <int size>
__device__ __forceinline__ void fused_copy(float* to, const float* from) {
    constexpr int TURNS = (size + 4 * FUSED_THREADS - 1) / (4 * FUSED_THREADS);
    float4 values[TURNS];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (turn * FUSED_THREADS + threadIdx.x) * 4;
        if (i < size) values[turn] = *(const float4*)(from + i);
    }
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (turn * FUSED_THREADS + threadIdx.x) * 4;
        if (i < size) *(float4*)(to + i) = values[turn];
    }
}

// Rows of `length` numbers from global memory, turned; zeros beyond the last row.
template <int length, class T>
__device__ __forceinline__ void fused_load(float* to, const T* from, int rows, float scale) {
#pragma unroll 4
    for (int i = threadIdx.x; i < CHUNK * length; i += FUSED_THREADS) {
        int row = i / length, k = i % length;
        to[k * LINE + row] = row < rows ? (float)__ldg(from + row * length + k) * scale : 0.0f;
    }
}

template <int length>
__device__ __forceinline__ void fused_store(float* to, const float* from, int rows) {
    for (int i = threadIdx.x; i < rows * length; i += FUSED_THREADS) to[i] = from[i % length * LINE + i / length];
}

template <class G, bool RELU>
__device__ __forceinline__ void fused_layer(const float* w, const float* bias, const float* x, float* y) {
    constexpr int K = G::C, N = G::F, V = N % 4 == 0 ? 4 : 1;
    int lane = threadIdx.x % 32;
    for (int n = threadIdx.x / 32 * V; n < N; n += FUSED_WARPS * V) {
        float sums[V] = {};
#pragma unroll 8
        for (int k = 0; k < K; k++) {
            float value = x[k * LINE + lane];
            if constexpr (V == 4) {
                float4 four = *(const float4*)(w + k * N + n);
                sums[0] += value * four.x, sums[1] += value * four.y;
                sums[2] += value * four.z, sums[3] += value * four.w;
            } else {
                sums[0] += value * w[k * N + n];
            }
        }
#pragma unroll
        for (int v = 0; v < V; v++) {
            float value = sums[v] + bias[n + v];
            y[(n + v) * LINE + lane] = RELU ? fmaxf(value, 0.0f) : value;
        }
    }
    __syncthreads();
}

// Adds a chunk's gradients of weights and bias, and gives dx before the ReLU that gave x.
template <class G, bool FIRST>
__device__ __forceinline__ void fused_back(const float* w, const float* x, const float* dy, float* dx, float* dw, float* db) {
    constexpr int K = G::C, N = G::F, KS = 8;
    constexpr int COLUMNS = (N + 31) / 32, GROUPS = (K + KS - 1) / KS;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int task = warp; task < COLUMNS * GROUPS; task += FUSED_WARPS) {
        int n = task % COLUMNS * 32 + lane, k = task / COLUMNS * KS;
        if (n >= N) continue;
        float sums[KS] = {};
#pragma unroll 8
        for (int b = 0; b < CHUNK; b++) {
            float d = dy[n * LINE + b];
#pragma unroll
            for (int j = 0; j < KS; j++)
                if (k + j < K) sums[j] += x[(k + j) * LINE + b] * d;
        }
#pragma unroll
        for (int j = 0; j < KS; j++)
            if (k + j < K) dw[(k + j) * N + n] += sums[j];
    }
    for (int n = threadIdx.x; n < N; n += FUSED_THREADS) {
        float sum = 0.0f;
        for (int b = 0; b < CHUNK; b++) sum += dy[n * LINE + b];
        db[n] += sum;
    }
    if constexpr (!FIRST) {
        constexpr int V = 4;
        for (int k = warp * V; k < K; k += FUSED_WARPS * V) {
            float sums[V] = {};
            if constexpr (N % 4 == 0) {
#pragma unroll 4
                for (int n = 0; n < N; n += 4) {
                    float d[4];
#pragma unroll
                    for (int e = 0; e < 4; e++) d[e] = dy[(n + e) * LINE + lane];
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        if (k + v >= K) continue;
                        float4 four = *(const float4*)(w + (k + v) * N + n);
                        sums[v] += d[0] * four.x + d[1] * four.y + d[2] * four.z + d[3] * four.w;
                    }
                }
            } else {
#pragma unroll 8
                for (int n = 0; n < N; n++) {
                    float d = dy[n * LINE + lane];
#pragma unroll
                    for (int v = 0; v < V; v++)
                        if (k + v < K) sums[v] += d * w[(k + v) * N + n];
                }
            }
#pragma unroll
            for (int v = 0; v < V; v++)
                if (k + v < K) dx[(k + v) * LINE + lane] = x[(k + v) * LINE + lane] > 0.0f ? sums[v] : 0.0f;
        }
    }
    __syncthreads();
}

// Clipping and Adam from gradients in shared memory; NET says where the tensors are.
template <class NET>
__device__ __forceinline__ void fused_adam(const Adam& a, const float* params, const float* grads, double* room) {
    constexpr int T = NET::TENSORS;
    const AdamSettings& s = a.settings;
    int copy = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 step = a.steps[copy];
    float rate = 0.0f;
    if (threadIdx.x == 32) rate = (float)(base_rate(a, copy) / (1.0 - power(s.beta1, step + 1)));
    if (threadIdx.x == 64) rate = (float)(1.0 / sqrt(1.0 - power(s.beta2, step + 1)));
    float* rates = (float*)(room + FUSED_WARPS * T);
    if (threadIdx.x == 32) rates[0] = rate;
    if (threadIdx.x == 64) rates[1] = rate;
    // Numbers four by four: all four lie in one tensor, or are the zeros behind it.
    constexpr int FOURS = (NET::end(T - 1) + 3) / 4, TURNS = (FOURS + FUSED_THREADS - 1) / FUSED_THREADS;
    long long first = copy * a.stride;
    double squares[T] = {};
    float4 m4[TURNS], v4[TURNS];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (turn * FUSED_THREADS + threadIdx.x) * 4;
        if (i >= FOURS * 4) continue;
        m4[turn] = *(const float4*)(a.m + first + i);
        v4[turn] = *(const float4*)(a.v + first + i);
        float4 g = *(const float4*)(grads + i);
        *(float4*)(a.grads + first + i) = g;
        double square = (double)g.x * g.x + (double)g.y * g.y + (double)g.z * g.z + (double)g.w * g.w;
#pragma unroll
        for (int t = 0; t < T; t++) squares[t] += i >= NET::start(t) && i < NET::end(t) ? square : 0.0;
    }
#pragma unroll
    for (int t = 0; t < T; t++) {
        for (int d = 16; d > 0; d >>= 1) squares[t] += __shfl_xor_sync(0xffffffffu, squares[t], d);
        if (lane == 0) room[warp * T + t] = squares[t];
    }
    __syncthreads();
    // A thread for each tensor adds the warps' sums, and writes where no other reads.
    if (threadIdx.x < T) {
        double sum = 0.0;
        for (int w = 0; w < FUSED_WARPS; w++) sum += room[w * T + threadIdx.x];
        room[threadIdx.x] = sum;
    }
    __syncthreads();
    double most = s.most;
    float* scales = rates + 2;
    if (threadIdx.x < T) {
        double all = 0.0;
        for (int t = 0; t < T; t++) all += room[t];
        double norm = sqrt(all), of = s.clip == 1 ? sqrt(room[threadIdx.x]) : norm;
        scales[threadIdx.x] = s.clip != 0 && of > most ? (float)(most / of) : 1.0f;
        if (threadIdx.x == 0) {
            bool ok = isfinite(all);
            a.norms[copy] = (float)norm;
            if (ok) a.steps[copy] = step + 1;
            else a.skipped[copy]++, rates[0] = -1.0f;
        }
    }
    __syncthreads();
    if (rates[0] < 0.0f) return;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (turn * FUSED_THREADS + threadIdx.x) * 4;
        if (i >= FOURS * 4) continue;
        float scale = 1.0f;
#pragma unroll
        for (int t = 0; t < T; t++)
            if (i >= NET::start(t) && i < NET::end(t)) scale = scales[t];
        float4 g = *(const float4*)(grads + i), p = *(const float4*)(params + i), m = m4[turn], v = v4[turn];
        adam_one(p.x, m.x, v.x, g.x, scale, s, rates[0], rates[1]);
        adam_one(p.y, m.y, v.y, g.y, scale, s, rates[0], rates[1]);
        adam_one(p.z, m.z, v.z, g.z, scale, s, rates[0], rates[1]);
        adam_one(p.w, m.w, v.w, g.w, scale, s, rates[0], rates[1]);
        *(float4*)(a.params + first + i) = p;
        *(float4*)(a.m + first + i) = m;
        *(float4*)(a.v + first + i) = v;
    }
}
