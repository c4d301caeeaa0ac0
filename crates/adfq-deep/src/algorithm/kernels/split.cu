// Deep Split ADFQ: rows are μ, then ρ = -log √c, then g. What is computed is that of `algorithm/split.rs`, in its order.

enum SplitOwn { SPLIT_NOISE, SPLIT_REACH, SPLIT_LEAST, SPLIT_GREATEST, SPLIT_MIN_VAR, SPLIT_MAX_VAR };

// Prior variance v, noise w of a target, and the range of values that rewards allow.
struct SplitScales {
    float prior, noise, least, most;
};

__device__ __forceinline__ SplitScales split_scales(const At& at) {
    // The rewards received, and those that were declared.
    float least = fminf((float)at.state[LEAST], (float)at.own[SPLIT_LEAST]);
    float greatest = fmaxf((float)at.state[GREATEST], (float)at.own[SPLIT_GREATEST]);
    float horizon = 1.0f / (1.0f - (float)at.settings[GAMMA]);
    float low = __fmul_rn(least, horizon), high = __fmul_rn(greatest, horizon);
    double half = 0.5 * (double)__fsub_rn(high, low), once = 0.5 * (double)__fsub_rn(greatest, least);
    double declared = __dmul_rn(half, half), pairs = at.counts[PAIRS], seen = declared;
    if (at.counts[BATCHES] > 0.0)
        seen = __dadd_rn(declared, __dmul_rn(pairs, at.counts[SQUARE])) / __dadd_rn(1.0, pairs);
    double prior = fmax(seen, __dmul_rn(once, once));
    double noise = fmax(at.counts[RESIDUAL], __dmul_rn(at.own[SPLIT_NOISE], prior));
    return {(float)prior, (float)noise, low, high};
}

// The variance for which ρ stands, within limits. NaN stays NaN.
__device__ __forceinline__ float split_var(float rho, const double* own) {
    return clamped((float)exp((double)(-2.0f * rho)), (float)own[SPLIT_MIN_VAR], (float)own[SPLIT_MAX_VAR]);
}

// The belief over one pair, and the hopeful value.
struct Believed {
    float own, inherited, hope;
};

__device__ __forceinline__ Believed believe(const At& at, const SplitScales& scales, const float* row, int b) {
    float reach = (float)at.own[SPLIT_REACH], top = __fmul_rn(reach, sqrtf(scales.prior));
    double left = fmax(at.left[b], LEAST_NORMAL);
    double visits = __dmul_rn(at.own[SPLIT_NOISE], __dsub_rn(1.0 / left, 1.0));
    double noise = scales.noise;
    // k = w / (w + n v): the share of the prior that is left.
    float rest = (float)(noise / __dadd_rn(noise, __dmul_rn(visits, (double)scales.prior)));
    float own = __fmul_rn(rest, scales.prior), trust = __fsub_rn(1.0f, rest);
    float var = fminf(split_var(row[ACTIONS + b], at.own), scales.prior);
    float inherited = __fmul_rn(__fmul_rn(trust, trust), var);
    float lucky = __fadd_rn(row[b], __fmul_rn(reach, sqrtf(__fadd_rn(own, inherited))));
    float cap = fminf(fmaxf(top, lucky), scales.most);
    float hope = __fadd_rn(__fmul_rn(trust, row[2 * ACTIONS + b]), __fmul_rn(rest, top));
    return {own, inherited, fminf(hope, cap)};
}

__device__ __forceinline__ float largest_of(float value) {
    for (int d = 16; d > 0; d >>= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, d));
    return value;
}

__device__ Answer loss_split(const At& at) {
    const float lowest = -__int_as_float(0x7f800000);
    const float *online = row_of(at, PASS_ONLINE), *beyond = row_of(at, PASS_TARGET_NEXT);
    SplitScales scales = split_scales(at);
    bool there = at.lane < ACTIONS;
    int b = there ? at.lane : 0;
    Believed belief = believe(at, scales, beyond, b);
    // The action with the largest mean in s′: its mean and variance are those of the state.
    float mean = there ? beyond[b] : lowest, value = chosen(mean, mean, at.lane);
    int best = first_largest(mean, at.lane);
    float own = __shfl_sync(0xffffffffu, belief.own, best);
    float inherited = __shfl_sync(0xffffffffu, belief.inherited, best);
    float hope = largest_of(there ? belief.hope : lowest), var = __fadd_rn(own, inherited), sd = sqrtf(var);
    if (at.terminal) value = 0.0f, var = 0.0f, hope = 0.0f, sd = 0.0f;
    float reward = at.row.reward, discount = at.row.discount;
    float target = __fadd_rn(reward, __fmul_rn(discount, value));
    float target_var = fmaxf(__fmul_rn(__fmul_rn(discount, discount), var), (float)at.own[SPLIT_MIN_VAR]);
    float target_ahead = __fadd_rn(reward, __fmul_rn(discount, hope));
    if (at.settings[BOUND] != 0.0) {
        target = clamped(target, scales.least, scales.most);
        target_ahead = clamped(target_ahead, scales.least, scales.most);
    }
    float delta = (float)at.settings[HUBER], weight = __fmul_rn(at.row.weight, SHARE);
    float mu = online[at.action], rho = online[ACTIONS + at.action], ahead = online[2 * ACTIONS + at.action];
    // The loss is Huber(log √c - log √c_T), and the output ρ = -log √c: its gradient changes sign.
    float rho_slope = __fsub_rn(-rho, 0.5f * (float)log((double)target_var));
    float rho_loss = huber(rho_slope, delta, weight);
    float ahead_error = __fsub_rn(ahead, target_ahead), ahead_slope = ahead_error;
    float ahead_loss = huber(ahead_slope, delta, weight);
    float error = __fsub_rn(mu, target), slope = error, loss = huber(slope, delta, weight);
    if (at.lane == 0) {
        at.gradient[at.action] = slope;
        at.gradient[ACTIONS + at.action] = -rho_slope;
        at.gradient[2 * ACTIONS + at.action] = ahead_slope;
        float square = __fmul_rn(__fmul_rn(weight, target), target), residual = __fmul_rn(__fmul_rn(weight, error), error);
        // Where the episode terminated there is no best action.
        *at.note = make_float4(square, residual, at.terminal ? -1.0f : sqrtf(own), sqrtf(inherited));
    }
    float4 part = make_float4(__fadd_rn(rho_loss, ahead_loss), loss, mu * SHARE, sd / (float)BATCH);
    return {make_float2(target, target_var), fabsf(ahead_error) + fabsf(error), part};
}
