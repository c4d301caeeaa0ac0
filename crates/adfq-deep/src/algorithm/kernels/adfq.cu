// Deep ADFQ: rows are μ and then ρ = -log σ; the target is the posterior from the target network's beliefs.

enum AdfqOwn { ADFQ_RULE, ADFQ_NOISE, ADFQ_VAR_W, ADFQ_TERMINAL_VAR, ADFQ_MIN_VAR, ADFQ_MAX_VAR };

// The variance for which ρ stands, within limits. NaN stays NaN.
__device__ __forceinline__ float var_of(float rho, const double* own) {
    float var = (float)exp((double)(-2.0f * rho)), least = (float)own[ADFQ_MIN_VAR], most = (float)own[ADFQ_MAX_VAR];
    return var < least ? least : var > most ? most : var;
}

__device__ Answer loss_adfq(const At& at) {
    const float *online = row_of(at, PASS_ONLINE), *prior = row_of(at, PASS_TARGET);
    const float* beyond = row_of(at, PASS_TARGET_NEXT);
    int b = at.lane < ACTIONS ? at.lane : 0;
    Problem problem = {prior[at.action], var_of(prior[ACTIONS + at.action], at.own), at.row.reward, at.row.discount,
                       at.terminal || at.row.discount == 0.0f, beyond[b], var_of(beyond[ACTIONS + b], at.own), at.own[ADFQ_TERMINAL_VAR],
                       at.own[ADFQ_VAR_W], at.own[ADFQ_MIN_VAR], ACTIONS, (int)at.own[ADFQ_RULE],
                       (int)at.own[ADFQ_NOISE]};
    Moments found = posterior(problem, *at.sorted, at.lane);
    float var = found.var < 1.17549435e-38 ? 1.17549435e-38f : (float)found.var;
    float2 target = make_float2(bounded(at, (float)found.mean), var);
    float delta = (float)at.settings[HUBER], weight = at.row.weight * SHARE;
    float mu = online[at.action], error = mu - target.x, slope = error;
    float loss = huber(slope, delta, weight);
    // The loss is Huber(log σ - log σ_T), and the output ρ = -log σ: its gradient changes sign.
    float rho = online[ACTIONS + at.action], rho_error = __fsub_rn(-rho, 0.5f * (float)log((double)target.y));
    float rho_slope = rho_error, rho_loss = huber(rho_slope, delta, weight);
    if (at.lane == 0) at.gradient[at.action] = slope, at.gradient[ACTIONS + at.action] = -rho_slope;
    float4 part = make_float4(rho_loss, loss, mu * SHARE, (float)exp((double)-rho) * SHARE);
    return {target, fabsf(rho_error) + fabsf(error), part};
}
