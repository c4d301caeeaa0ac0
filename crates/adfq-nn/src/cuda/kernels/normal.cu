// Rows of sums brought to mean 0 and variance 1, the ReLU after it, and the gradient of both. A warp takes a row: lanes
// share it, then their sums are added in a tree. Grid: rows / 8, 256 threads.

struct Normal {
    const float* sums;
    const float* gradient;  // with respect to what comes after the normalisation and before the ReLU
    float* out;
    int width, rows;  // rows of all copies, and of all views on the way forward
    float epsilon;
};

template <class Term>
__device__ __forceinline__ float row_average(int width, Term term) {
    float sum = 0.0f;
    for (int k = threadIdx.x % 32; k < width; k += 32) sum += term(k);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    return sum / width;
}

// One over the standard deviation.
__device__ __forceinline__ float row_scale(const float* z, int width, float mean, float epsilon) {
    float variance = row_average(width, [&](int k) { return (z[k] - mean) * (z[k] - mean); });
    return 1.0f / sqrtf(variance + epsilon);
}

extern "C" __global__ void normal_forward(Normal p) {
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= p.rows) return;
    const float* z = p.sums + (long long)row * p.width;
    float* y = p.out + (long long)row * p.width;
    float mean = row_average(p.width, [&](int k) { return z[k]; });
    float scale = row_scale(z, p.width, mean, p.epsilon);
    for (int k = threadIdx.x % 32; k < p.width; k += 32) y[k] = rounded(fmaxf((z[k] - mean) * scale, 0.0f));
}

extern "C" __global__ void normal_backward(Normal p) {
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= p.rows) return;
    const float* z = p.sums + (long long)row * p.width;
    const float* g = p.gradient + (long long)row * p.width;
    float* dz = p.out + (long long)row * p.width;
    float mean = row_average(p.width, [&](int k) { return z[k]; });
    float scale = row_scale(z, p.width, mean, p.epsilon);
    float mean_gradient = row_average(p.width, [&](int k) { return g[k]; });
    float along = row_average(p.width, [&](int k) { return g[k] * ((z[k] - mean) * scale); });
    for (int k = threadIdx.x % 32; k < p.width; k += 32)
        dz[k] = rounded(scale * (g[k] - mean_gradient - (z[k] - mean) * scale * along));
}
