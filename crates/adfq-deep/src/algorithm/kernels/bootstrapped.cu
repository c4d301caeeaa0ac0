// Bootstrapped DQN: a row is Q of the first head, then of the second, and so on, each without its fixed prior.

enum BootstrappedOwn { BOOTSTRAPPED_HEADS, BOOTSTRAPPED_PRIOR, BOOTSTRAPPED_MASK, BOOTSTRAPPED_HIGH, BOOTSTRAPPED_LOW };

// The finaliser of SplitMix64.
__device__ __forceinline__ u64 mixed(u64 word) {
    word += 0x9e3779b97f4a7c15ULL;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
}

// A head's Q: what the network gives, and the prior times its scale.
__device__ __forceinline__ float with_prior(float value, float prior, float scale) {
    return __fadd_rn(value, __fmul_rn(scale, prior));
}

__device__ Answer loss_bootstrapped(const At& at) {
    const float lowest = -__int_as_float(0x7f800000);
    const float *online = row_of(at, PASS_ONLINE), *prior = row_of(at, PASS_FIXED);
    const float *beyond = row_of(at, PASS_TARGET_NEXT), *prior_beyond = row_of(at, PASS_FIXED_NEXT);
    int count = (int)at.own[BOOTSTRAPPED_HEADS];
    float scale = (float)at.own[BOOTSTRAPPED_PRIOR], heads = (float)count, delta = (float)at.settings[HUBER];
    float weight = __fmul_rn(at.row.weight / heads, SHARE);
    u64 masks = (u64)at.own[BOOTSTRAPPED_HIGH] << 32 | (u64)at.own[BOOTSTRAPPED_LOW];
    u64 drawn = mixed(masks ^ index_of(at));
    float total = 0.0f, sum = 0.0f, squares = 0.0f, targets = 0.0f, loss = 0.0f;
    for (int head = 0; head < count; head++) {
        int first = head * ACTIONS, own = first + at.action;
        float value = lowest;
        if (at.lane < ACTIONS) value = with_prior(beyond[first + at.lane], prior_beyond[first + at.lane], scale);
        // Not bounded by the rewards received: a prior may promise what was never paid yet.
        float most = chosen(value, value, at.lane);
        float target = __fadd_rn(at.row.reward, __fmul_rn(at.row.discount, at.terminal ? 0.0f : most));
        float q = with_prior(online[own], prior[own], scale), error = __fsub_rn(q, target), slope = error;
        float part = huber(slope, delta, weight);
        bool learns = (double)(mixed(drawn ^ (u64)head) >> 11) * 1.1102230246251565e-16 < at.own[BOOTSTRAPPED_MASK];
        if (learns) loss = __fadd_rn(loss, part);
        if (learns && at.lane == 0) at.gradient[own] = slope;
        total = __fadd_rn(total, fabsf(error));
        sum = __fadd_rn(sum, q);
        squares = __fadd_rn(squares, __fmul_rn(q, q));
        targets = __fadd_rn(targets, target);
    }
    float mean = sum / heads, var = __fsub_rn(squares / heads, __fmul_rn(mean, mean));
    float4 part = make_float4(0.0f, loss, mean * SHARE, sqrtf(fmaxf(var, 0.0f)) * SHARE);
    return {make_float2(targets / heads, 1.0f), total / heads, part};
}
