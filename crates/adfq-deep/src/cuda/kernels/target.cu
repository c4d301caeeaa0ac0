// What a transition teaches: the target of each agent, and the loss's gradient.

// The update of one transition; all lanes of a warp have the answer. NaN where there is none.
__device__ Moments posterior(const Problem& of, Targets& sorted, int lane) {
    const double nan = __longlong_as_double(0x7ff8000000000000LL);
    int actions = of.actions;
    bool there = lane < actions;
    double w = of.noise == NO_NOISE ? 0.0 : of.var_w;
    bool good = finite(of.mu_0) && finite(of.v_0) && of.v_0 > 0.0 && finite(of.reward) && of.discount >= 0.0 &&
                of.discount <= 1.0;
    good = good && (of.terminal || !there || (finite(of.mu_next) && finite(of.var_next) && of.var_next > 0.0));
    if (!__all_sync(0xffffffffu, good)) return {nan, nan};
    double mean = of.reward + of.discount * of.mu_next, t = of.discount * of.discount * of.var_next;
    double greatest = warp_max(there ? mean : -1.0 / 0.0), least = -warp_max(there ? -mean : -1.0 / 0.0);
    double narrowest = -warp_max(there ? -t : -1.0 / 0.0);
    double low = fmin(of.terminal ? of.reward : least, of.mu_0), high = fmax(of.terminal ? of.reward : greatest, of.mu_0);
    Moments found;
    if (of.terminal || actions == 1 || narrowest < 1e-250) {
        double y = (of.terminal ? of.reward : greatest) - of.mu_0;
        double var = (of.terminal ? of.terminal_var : narrowest < 1e-250 ? 0.0 : narrowest) + w;
        if (var == 0.0) return {nan, nan};
        found = gaussian_product(of.mu_0, of.v_0, y, var, low, high);
    } else {
        sort(sorted, lane, actions, mean - of.mu_0, t);
        double wide = of.noise == EXACT_NOISE ? of.v_0 + w : of.v_0;
        Peak peak = find_peak(sorted, lane, actions, 1.0 / wide, of.noise == APPROXIMATE_NOISE ? w : 0.0);
        found = mix(peak, lane, actions);
        found.mean = fmin(fmax(of.mu_0 + found.mean, low), high);
#if ANY_RULE
        if (of.rule != ANALYTIC) found = integrate(of, sorted, lane, wide, peak, found);
#endif
        if (of.noise == EXACT_NOISE) {
            double kappa = of.v_0 / (of.v_0 + w);
            found = {of.mu_0 + kappa * (found.mean - of.mu_0), kappa * (w + kappa * found.var)};
        }
        if (of.rule == GRID) found.var = fmax(found.var, LEAST_NORMAL);
    }
    __syncwarp();
    if (!finite(found.mean) || !finite(found.var)) return {nan, nan};
    return {found.mean, fmax(found.var, of.floor)};
}

// The variance for which ρ = -log σ stands, within limits. NaN stays NaN.
__device__ __forceinline__ float var_of(float rho, const double* settings) {
    float var = (float)exp((double)(-2.0f * rho)), least = (float)settings[MIN_VAR], most = (float)settings[MAX_VAR];
    return var < least ? least : var > most ? most : var;
}

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

// A row of outputs.
__device__ __forceinline__ const float* row_of(const float* outputs, int view, int run, int i) {
    return outputs + (((long long)view * gridDim.y + run) * BATCH + i) * OUTPUTS;
}

// The value of s' for DQN (the largest) or Double DQN (that of the online network's choice).
__device__ __forceinline__ float value_beyond(const float* outputs, const double* settings, int run, int i, int lane) {
    const float lowest = -__int_as_float(0x7f800000);
    float judged = lane < ACTIONS ? row_of(outputs, 1, run, i)[lane] : lowest, choosing = judged;
    if (VIEWS > 2 && settings[AGENT] == DDQN && lane < ACTIONS) choosing = row_of(outputs, 2, run, i)[lane];
    // A NaN is larger than nothing, and must not be passed over.
    bool bad = __any_sync(0xffffffffu, choosing != choosing || judged != judged);
    float value = __shfl_sync(0xffffffffu, judged, first_largest(choosing, lane));
    return bad ? __int_as_float(0x7fc00000) : value;
}

// Targets, the gradient of the outputs, errors and the parts of the metrics. A warp for each transition; views are the
// online network on s, and then for ADFQ the target network on s and s', for DQN the target network on s', and for
// Double DQN the online network on s' too. Grid: (BATCH / 4, runs).
extern "C" __global__ void __launch_bounds__(128) teach(MEMORY) {
    __shared__ Targets sorted[4];
    int run = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 4 + warp;
    if (i >= BATCH) return;
    const double *settings = all_settings + run * SETTINGS, *state = all_state + run * STATES;
    Row row = rows[run * BATCH + i];
    int action = row.action & ~TERMINAL;
    bool terminal = row.action & TERMINAL;
    const float* online = row_of(outputs, 0, run, i);
    float2 target = make_float2(0.0f, 1.0f);
    if (OUTPUTS == 2 * ACTIONS && settings[AGENT] == ADFQ) {
        const float *prior = row_of(outputs, 1, run, i), *beyond = row_of(outputs, 2, run, i);
        int b = lane < ACTIONS ? lane : 0;
        Problem problem = {prior[action], var_of(prior[ACTIONS + action], settings), row.reward, row.discount, terminal,
                           beyond[b], var_of(beyond[ACTIONS + b], settings), settings[TERMINAL_VAR], settings[VAR_W],
                           settings[MIN_VAR], ACTIONS, (int)settings[RULE], (int)settings[NOISE]};
        Moments found = posterior(problem, sorted[warp], lane);
        target = make_float2((float)found.mean, found.var < 1.17549435e-38 ? 1.17549435e-38f : (float)found.var);
    } else {
        float beyond = value_beyond(outputs, settings, run, i, lane);
        target.x = __fadd_rn(row.reward, __fmul_rn(row.discount, terminal ? 0.0f : beyond));
    }
    if (settings[BOUND] != 0.0) {
        float horizon = 1.0f / (1.0f - (float)settings[GAMMA]), infinity = __int_as_float(0x7f800000);
        bool ends = horizon < infinity;
        target.x = clamped(target.x, ends ? (float)state[LEAST] * horizon : -infinity,
                           ends ? (float)state[GREATEST] * horizon : infinity);
    }
    float delta = (float)settings[HUBER], share = 1.0f / (float)BATCH, weight = row.weight * share;
    float error = online[action] - target.x, slope = error;
    float4 part = make_float4(0.0f, 0.0f, online[action] * share, 0.0f);
    part.y = huber(slope, delta, weight);
    float slope_rho = 0.0f, wrong = 0.0f;
    if (OUTPUTS == 2 * ACTIONS && settings[AGENT] == ADFQ) {
        // The loss is Huber(log σ - log σ_T), and the output ρ = -log σ: its gradient changes sign.
        float rho = online[ACTIONS + action], error_rho = __fsub_rn(-rho, 0.5f * (float)log((double)target.y));
        wrong = fabsf(error_rho);
        part.x = huber(error_rho, delta, weight);
        slope_rho = -error_rho;
        part.w = (float)exp((double)-rho) * share;
    }
    float* out = gradient + ((long long)run * BATCH + i) * OUTPUTS;
    for (int j = lane; j < OUTPUTS; j += 32) out[j] = j == action ? slope : j == ACTIONS + action ? slope_rho : 0.0f;
    if (lane != 0) return;
    targets[run * BATCH + i] = target;
    errors[run * BATCH + i] = wrong + fabsf(error);
    parts[run * BATCH + i] = part;
}
