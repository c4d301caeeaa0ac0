// The ADFQ update of one transition, by any rule.

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
