// Clipping, Adam and target copies.

struct AdamSettings {
    double rate;
    float beta1, beta2, epsilon, most;
    int clip;  // 0 none, 1 each tensor, 2 all tensors
};

// A part of the parameters: it lies in one tensor and starts at a multiple of 4.
struct AdamPart {
    int start, length, tensor;
};
struct Adam {
    AdamSettings settings;
    const double* squares;    // [copy][slot]
    const int* tensor_slots;  // the first slot of each tensor, and the end
    const AdamPart* parts;
    float* scales;  // [copy][tensor]
    const float* own_rates;  // [copy]: takes the place of the settings' rate where it is not 0
    float* rates;   // [copy]: `step_rate`, or -1 for no step; `step_root`
    u64* steps;
    u64* skipped;
    float* norms;
    float* params;
    float* m;
    float* v;
    float* grads;
    float* target;  // follows in the same pass by `tau`; none if null
    long long stride;
    int slots, tensors;
    float tau;
};

// What a step multiplies m and √v by: α / (1 - β₁ᵗ) and 1 / √(1 - β₂ᵗ).
__device__ __forceinline__ float step_rate(const Adam& a, int copy, u64 step) {
    float own = a.own_rates[copy];
    double rate = own != 0.0f ? own : a.settings.rate;
    return (float)(rate / (1.0 - power(a.settings.beta1, step + 1)));
}
__device__ __forceinline__ float step_root(const AdamSettings& s, u64 step) {
    return (float)(1.0 / sqrt(1.0 - power(s.beta2, step + 1)));
}

// Each copy's norms from its sums of squares, the factor of each tensor, and the step's rates. A copy whose gradient is
// not finite takes no step; it is counted in `skipped`. One block of 256 threads for each copy.
__device__ __forceinline__ void prepare(const Adam& a) {
    double* sums = (double*)shared;  // of each tensor
    const AdamSettings& s = a.settings;
    const double* squares = a.squares;
    int tensors = a.tensors;
    int copy = blockIdx.x, lane = threadIdx.x % 32;
    squares += (long long)copy * a.slots;
    u64 step = a.steps[copy];
    // The rates of the next step, by two warps while the others add.
    float rate = 0.0f;
    if (threadIdx.x == 224) rate = step_rate(a, copy, step);
    if (threadIdx.x == 192) rate = step_root(s, step);
    for (int t = threadIdx.x / 32; t < tensors; t += 8) {
        double sum = 0.0;
#pragma unroll 4
        for (int i = a.tensor_slots[t] + lane; i < a.tensor_slots[t + 1]; i += 32) sum += squares[i];
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) sums[t] = sum;
    }
    __syncthreads();
    double all = 0.0;
    for (int t = 0; t < tensors; t++) all += sums[t];
    bool ok = isfinite(all);
    double norm = sqrt(all);
    for (int t = threadIdx.x; t < tensors; t += 256) {
        double of = s.clip == 1 ? sqrt(sums[t]) : norm, most = s.most;
        a.scales[copy * tensors + t] = s.clip != 0 && of > most ? (float)(most / of) : 1.0f;
    }
    // No rate at all says: take no step.
    if (threadIdx.x == 224) a.rates[2 * copy] = ok ? rate : -1.0f;
    if (threadIdx.x == 192) a.rates[2 * copy + 1] = rate;
    if (threadIdx.x != 0) return;
    a.norms[copy] = (float)norm;
    if (ok) a.steps[copy] = step + 1;
    else a.skipped[copy]++;
}

extern "C" __global__ void __launch_bounds__(256) adam_prepare(const __grid_constant__ Adam a) { prepare(a); }

// The same after the sums of the gradients' parts, where these are few.
struct SumAndPrepare {
    Adam adam;
    PartSums sums;
    int parts;
};
extern "C" __global__ void __launch_bounds__(256) adam_sum_and_prepare(const __grid_constant__ SumAndPrepare p) {
    __shared__ double room[8];
    for (int part = 0; part < p.parts; part++) sum_part(p.sums, part, blockIdx.x, room);
    __syncthreads();
    prepare(p.adam);
}

// Root and quotient to two units in the last place, of a step that is small beside the parameter.
__device__ __forceinline__ void adam_one(float& p, float& m, float& v, float g, const AdamSettings& s, float rate,
                                         float root) {
    m = s.beta1 * m + (1.0f - s.beta1) * g;
    v = s.beta2 * v + (1.0f - s.beta2) * (g * g);
    float deviation;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(deviation) : "f"(v));
    p -= __fdividef(rate * m, deviation * root + s.epsilon);
}
__device__ __forceinline__ void adam_four(float4& p, float4& m, float4& v, float4 g, float scale, const AdamSettings& s,
                                          float rate, float root) {
    adam_one(p.x, m.x, v.x, g.x * scale, s, rate, root);
    adam_one(p.y, m.y, v.y, g.y * scale, s, rate, root);
    adam_one(p.z, m.z, v.z, g.z * scale, s, rate, root);
    adam_one(p.w, m.w, v.w, g.w * scale, s, rate, root);
}

// target += τ (online - target); a copy for τ = 1. The same bits wherever it is called.
__device__ __forceinline__ float followed(float target, float online, float tau) {
    return tau == 1.0f ? online : __fmaf_rn(tau, __fsub_rn(online, target), target);
}
__device__ __forceinline__ void follow_four(float4* target, float4 online, float tau) {
    float4 t = *target;
    *target = make_float4(followed(t.x, online.x, tau), followed(t.y, online.y, tau), followed(t.z, online.z, tau),
                          followed(t.w, online.w, tau));
}

// Grid: (parts of the parameters, copies).
extern "C" __global__ void __launch_bounds__(256) adam_step(const __grid_constant__ Adam a) {
    const AdamSettings& s = a.settings;
    AdamPart part = a.parts[blockIdx.x];
    int copy = blockIdx.y, i = threadIdx.x * 4;
    float rate = a.rates[2 * copy], root = a.rates[2 * copy + 1], scale = a.scales[copy * a.tensors + part.tensor];
    bool stays = rate < 0.0f;
    if (i >= part.length || (stays && a.target == nullptr)) return;
    // The numbers between a tensor's end and the next multiple of 4 stay zero.
    long long at = copy * a.stride + part.start + i;
    float4 p4 = *(float4*)(a.params + at);
    if (!stays) {
        float4 m4 = *(float4*)(a.m + at), v4 = *(float4*)(a.v + at), g4 = *(const float4*)(a.grads + at);
        adam_four(p4, m4, v4, g4, scale, s, rate, root);
        *(float4*)(a.params + at) = p4;
        *(float4*)(a.m + at) = m4;
        *(float4*)(a.v + at) = v4;
    }
    if (a.target != nullptr) follow_four((float4*)(a.target + at), p4, a.tau);
}

struct Target {
    const float4* online;
    float4* target;
    long long size;
    float tau;
};

extern "C" __global__ void __launch_bounds__(256) target_step(Target a) {
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.size) return;
    follow_four(a.target + i, a.online[i], a.tau);
}
