// Calibrated Q-learning: rows are μ, then ρ = -log √c. What is computed is that of `algorithm/calibrated.rs`.

enum CalibratedOwn { CALIBRATED_RHO, CALIBRATED_WIDEST, CALIBRATED_GAIN };

// The largest c that the batch teaches: a multiple of the variance of its values.
__device__ __forceinline__ float calibrated_widest(const At& at) {
    double sum = 0.0, squares = 0.0;
    const float* first = row_of(at, PASS_ONLINE) - (long long)at.i * OUTPUTS;
    for (int j = at.lane; j < BATCH; j += 32) {
        double value = first[(long long)j * OUTPUTS + (at.rows[j].action & ~TERMINAL)];
        sum += value, squares += value * value;
    }
    double mean = warp_sum(sum) / BATCH, square = warp_sum(squares) / BATCH;
    return __fmul_rn((float)at.own[CALIBRATED_WIDEST], (float)fmax(square - mean * mean, 0.0));
}

__device__ __forceinline__ float calibrated_var(float rho, float widest) {
    float var = (float)exp((double)clamped(-2.0f * rho, -60.0f, 60.0f));
    return fmaxf(fminf(var, widest), 1.17549435e-38f);
}

// What a mean is moved to: the target, or a part of the way to it from the target network's own value of the pair.
__device__ __forceinline__ float calibrated_goal(const At& at, float target) {
#ifdef PASS_TARGET
    float gain = (float)at.own[CALIBRATED_GAIN];
    if (gain < 1.0f) {
        float prior = row_of(at, PASS_TARGET)[at.action];
        return __fadd_rn(prior, __fmul_rn(gain, __fsub_rn(target, prior)));
    }
#endif
    return target;
}

__device__ Answer loss_calibrated(const At& at) {
    const float lowest = -__int_as_float(0x7f800000);
    const float *online = row_of(at, PASS_ONLINE), *beyond = row_of(at, PASS_TARGET_NEXT);
    float widest = calibrated_widest(at);
    bool there = at.lane < ACTIONS;
    float judged = there ? beyond[at.lane] : lowest;
    float choosing = there ? row_of(at, PASS_ONLINE_NEXT)[at.lane] : lowest;
    int best = first_largest(choosing, at.lane);
    // The target is that of Double DQN.
    float target = td_target(at, chosen(choosing, judged, at.lane));
    Answer answer = loss_towards(at, target, calibrated_goal(at, target));
    float error = __fsub_rn(online[at.action], target), rho = online[ACTIONS + at.action];
    float var = at.terminal ? 0.0f : calibrated_var(beyond[ACTIONS + best], widest);
    float discount = __fmul_rn(at.row.discount, at.row.discount);
    float wanted = fmaxf(__fadd_rn(__fmul_rn(error, error), __fmul_rn(discount, var)), 1.17549435e-38f);
    float off = clamped(__fadd_rn(rho, 0.5f * (float)log((double)wanted)), -1.0f, 1.0f);
    if (at.lane == 0)
        at.gradient[ACTIONS + at.action] = (float)at.own[CALIBRATED_RHO] * off * at.row.weight * SHARE;
    answer.part.w = __fmul_rn(sqrtf(calibrated_var(rho, widest)), SHARE);
    return answer;
}
