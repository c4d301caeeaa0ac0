// Dense layers too thin for the matrix units (a linear head, a small perceptron), in f32; the dueling head; the loss.

// A warp takes an output of ROWS rows: lanes share the depth, then their sums are added in a tree.
// Grid: (rows / ROWS, outputs / 8, views · copies), 256 threads.
static constexpr int ROWS = 4;

template <class G, bool RELU, bool BYTES>
__device__ __forceinline__ void thin_forward(const Forward& f) {
    constexpr int N = G::F, K = G::C * G::H * G::W;
    int row = blockIdx.x * ROWS, lane = threadIdx.x % 32, n = blockIdx.y * 8 + threadIdx.x / 32;
    if (n >= N) return;
    int view = blockIdx.z % f.view_count, copy = blockIdx.z / f.view_count;
    const float* params = f.views[view].params + copy * f.params_stride;
    const float* weight = params + f.weight + n;
    long long at = copy * f.input_stride + (long long)row * K;
    const float* x = (const float*)f.views[view].input + at;
    const u8* x8 = (const u8*)f.views[view].input + at;
    float sums[ROWS] = {};
#pragma unroll 8
    for (int k = lane; k < K; k += 32) {
        float w = weight[(long long)k * N];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (row + r < f.rows) sums[r] += w * (BYTES ? (float)x8[r * K + k] : x[r * K + k]);
    }
    float bias = params[f.bias + n];
    float* y = f.views[view].output + copy * f.output_stride + n;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int d = 16; d > 0; d >>= 1) sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], d);
        float value = sums[r] * f.scale + bias;
        if (lane == r && row + r < f.rows) y[(long long)(row + r) * N] = RELU ? rounded(fmaxf(value, 0.0f)) : value;
    }
}

struct Thin {
    Delta delta;
    Weights weights;
    int bytes, delta_blocks;  // the first blocks compute dx, the others gradients
};

// dx and the gradients of one layer. Grid: (delta blocks + gradient blocks, copies), 256 threads.
template <class G>
__device__ __forceinline__ void thin_backward(const Thin& thin) {
    constexpr int N = G::F, K = G::C * G::H * G::W;
    const Delta& d = thin.delta;
    const Weights& w = thin.weights;
    int copy = blockIdx.y;
    if (blockIdx.x < thin.delta_blocks) {
        int i = blockIdx.x * 256 + threadIdx.x, row = i / K, k = i % K;
        if (row >= d.rows) return;
        const float* weight = d.params + copy * d.params_stride + d.weight + k * N;
        const float* dy = d.dy + copy * d.dy_stride + (long long)row * N;
        float sum = 0.0f;
#pragma unroll 8
        for (int n = 0; n < N; n++) sum += dy[n] * weight[n];
        float value = d.x[copy * d.x_stride + i] > 0.0f ? sum : 0.0f;
        float* dx = d.dx + copy * d.dx_stride + i;
        *dx = rounded(d.add ? *dx + value : value);
        return;
    }
    // Blocks of 256 numbers of the weights, then of the bias; a tensor's blocks are its slots.
    __shared__ double room[8];
    constexpr int WEIGHT_BLOCKS = (K * N + 255) / 256;
    int block = blockIdx.x - thin.delta_blocks;
    bool is_bias = block >= WEIGHT_BLOCKS;
    int i = (is_bias ? block - WEIGHT_BLOCKS : block) * 256 + threadIdx.x, k = i / N, n = i % N;
    const float* dy = w.dy + copy * w.dy_stride + n;
    const float* x = (const float*)w.input + copy * w.input_stride + k;
    const u8* x8 = (const u8*)w.input + copy * w.input_stride + k;
    float* grads = w.grads + copy * w.grads_stride;
    float g = 0.0f;
    if (is_bias && i < N) {
#pragma unroll 8
        for (int b = 0; b < w.rows; b++) g += dy[(long long)b * N];
        grads[w.bias + i] = g;
    } else if (!is_bias && i < K * N) {
#pragma unroll 8
        for (int b = 0; b < w.rows; b++)
            g += (thin.bytes ? (float)x8[(long long)b * K] : x[(long long)b * K]) * dy[(long long)b * N];
        g *= w.scale;
        grads[w.weight + i] = g;
    }
    double sum = block_sum((double)g * g, room);
    int slot = is_bias ? w.bias_slot + block - WEIGHT_BLOCKS : w.slot + block;
    if (threadIdx.x == 0) w.squares[copy * w.squares_stride + slot] = sum;
}

// Outputs v + aᵢ - mean(a) of each group; streams hold v and a of group after group, all [view · copy][row][width].
struct Dueling {
    float* value[16];
    float* advantage[16];
    float* outputs;
    int groups, actions, rows;  // rows of all views and copies
};

extern "C" __global__ void dueling_forward(Dueling d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / d.groups, group = i % d.groups;
    if (row >= d.rows) return;
    const float* a = d.advantage[group] + (long long)row * d.actions;
    float mean = 0.0f, v = d.value[group][row];
    for (int n = 0; n < d.actions; n++) mean += a[n];
    mean /= d.actions;
    float* y = d.outputs + ((long long)row * d.groups + group) * d.actions;
    for (int n = 0; n < d.actions; n++) y[n] = v + (a[n] - mean);
}

// The same backwards: `outputs` holds the gradient.
extern "C" __global__ void dueling_backward(Dueling d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / d.groups, group = i % d.groups;
    if (row >= d.rows) return;
    const float* g = d.outputs + ((long long)row * d.groups + group) * d.actions;
    float sum = 0.0f;
    for (int n = 0; n < d.actions; n++) sum += g[n];
    d.value[group][row] = rounded(sum);
    float mean = sum / d.actions;
    float* a = d.advantage[group] + (long long)row * d.actions;
    for (int n = 0; n < d.actions; n++) a[n] = rounded(g[n] - mean);
}

struct Elements {
    const float* outputs;
    const float* targets;
    const float* weights;
    float* gradient;
    float delta;
    int size;
};

// The gradient of a head that the matrix units compute.
extern "C" __global__ void round_all(Elements e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < e.size) e.gradient[i] = rounded(e.outputs[i]);
}

// The gradient of Σ weight · huber(output - target).
extern "C" __global__ void huber_gradient(Elements e) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= e.size) return;
    float error = e.outputs[i] - e.targets[i];
    float slope = error > e.delta ? e.delta : error < -e.delta ? -e.delta : error;
    e.gradient[i] = slope * e.weights[i];
}
