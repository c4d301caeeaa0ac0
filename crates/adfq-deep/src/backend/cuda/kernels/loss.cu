// From a batch to the gradient of the outputs. What an algorithm does is a function of its own, `loss_NAME`, in a file
// beside the algorithm; the host writes their texts before this one's end, and `LOSSES`, the cases that call them.
//
// A loss is called by the 32 lanes of a warp for one transition. It finds the outputs of the passes that it asked for by
// `row_of(at, PASS_…)`, its own numbers in `at.own`, writes its gradient by `slope`, and returns an answer in all lanes.

// A transition, as a loss sees it.
struct At {
    const double *settings, *own, *state;
    const float *outputs;
    float *gradient;  // the row of this transition, all zeros
    Targets *sorted;  // memory of this warp, for `posterior`
    int runs, run, i, lane, action;
    bool terminal;
    Row row;
    const Row* rows;  // all transitions of the batch
    u32 place;
    const u64 *heads;    // slots ever written, by environment
    const double *left;  // of an algorithm that keeps visits: what is left in s', by action; what it counts; and a note
    const double *counts;
    float4 *note;        // of this transition for the end of the batch
};

// The target, mean and variance; |error|, from which the priority follows; and what the metrics sum up: two parts of the
// loss, Q(s,a) and σ over the batch (NaN without beliefs).
struct Answer {
    float2 target;
    float error;
    float4 part;
};

static constexpr float SHARE = 1.0f / (float)BATCH;

__device__ __forceinline__ float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

// The first of the largest of the lanes' values.
__device__ __forceinline__ int first_largest(float value, int lane) {
    int at = lane;
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, value, d);
        int other_at = __shfl_xor_sync(0xffffffffu, at, d);
        if (other > value || (other == value && other_at < at)) value = other, at = other_at;
    }
    return at;
}

// Huber's loss times a weight; the slope replaces the error.
__device__ __forceinline__ float huber(float& error, float delta, float weight) {
    float slope = error > delta ? delta : error < -delta ? -delta : error;
    float value = __fmul_rn(slope, __fsub_rn(error, __fmul_rn(0.5f, slope)));
    error = __fmul_rn(weight, slope);
    return __fmul_rn(weight, value);
}

// The row of outputs of a pass.
__device__ __forceinline__ const float* row_of(const At& at, int pass) {
    return at.outputs + (((long long)pass * at.runs + at.run) * BATCH + at.i) * OUTPUTS;
}

// The number of a transition that no other of the run ever has: that of `Replay::index_at`.
__device__ __forceinline__ u64 index_of(const At& at) {
    u32 env = at.place / SLOTS, slot = at.place % SLOTS;
    u64 newest = at.heads[env] - 1;
    u32 top = (u32)(newest % SLOTS), back = slot <= top ? top - slot : top + SLOTS - slot;
    return (newest - back) * ENVS + env;
}

// A target within what the rewards received so far allow.
__device__ __forceinline__ float bounded(const At& at, float target) {
    if (at.settings[BOUND] == 0.0) return target;
    float horizon = 1.0f / (1.0f - (float)at.settings[GAMMA]), infinity = __int_as_float(0x7f800000);
    bool ends = horizon < infinity;
    return clamped(target, ends ? (float)at.state[LEAST] * horizon : -infinity,
                   ends ? (float)at.state[GREATEST] * horizon : infinity);
}

// The target of Q(s,a), where `beyond` is the value of s'.
__device__ __forceinline__ float td_target(const At& at, float beyond) {
    return bounded(at, __fadd_rn(at.row.reward, __fmul_rn(at.row.discount, at.terminal ? 0.0f : beyond)));
}

// The loss of Q(s,a) alone, which goes to `goal`. Its error, and with it the priority, is that beside the target.
__device__ __forceinline__ Answer loss_towards(const At& at, float target, float goal) {
    float q = row_of(at, PASS_ONLINE)[at.action], error = q - target, slope = q - goal;
    float loss = huber(slope, (float)at.settings[HUBER], at.row.weight * SHARE);
    if (at.lane == 0) at.gradient[at.action] = slope;
    return {make_float2(target, 1.0f), fabsf(error), make_float4(0.0f, loss, q * SHARE, __int_as_float(0x7fc00000))};
}

// The loss of Q(s,a) alone, which goes to its target.
__device__ __forceinline__ Answer value_loss(const At& at, float beyond) {
    float target = td_target(at, beyond);
    return loss_towards(at, target, target);
}

// The value of the action that `choosing` calls for, each lane's of its own action. A NaN is larger than nothing, and
// must not be passed over.
__device__ __forceinline__ float chosen(float choosing, float judged, int lane) {
    bool bad = __any_sync(0xffffffffu, choosing != choosing || judged != judged);
    float value = __shfl_sync(0xffffffffu, judged, first_largest(choosing, lane));
    return bad ? __int_as_float(0x7fc00000) : value;
}
