// The update of a batch of any size: what `adfq::batch` does. A warp for each element.
extern "C" __global__ void __launch_bounds__(128) update_batch(const double* mu_sa, const double* var_sa,
                                                               const double* reward, const double* discount,
                                                               const u32* terminal, const double* mu_next,
                                                               const double* var_next, double* mean, double* var,
                                                               double var_w, double terminal_var, double floor, int count,
                                                               int actions, int rule, int noise) {
    __shared__ Targets sorted[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 4 + warp;
    if (i >= count) return;
    long long b = (long long)i * actions + (lane < actions ? lane : 0);
    Problem problem = {mu_sa[i], var_sa[i], reward[i], discount[i], terminal[i] != 0, mu_next[b], var_next[b],
                       terminal_var, var_w, floor, actions, rule, noise};
    Moments found = posterior(problem, sorted[warp], lane);
    if (lane == 0) mean[i] = found.mean, var[i] = found.var;
}
