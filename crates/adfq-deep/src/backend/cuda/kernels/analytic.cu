// The paper's ADFQ update in f64, as in `adfq::update::analytic`: a warp for each transition, a lane for each next action.
//
// The crate finds the active targets by bisection; here every lane walks along the sorted targets, joining one after the
// other to its block, which for so few actions is shorter. Nothing large is subtracted from anything large there or here.

// The targets r + γQ(s',b) of a warp, seen from the prior mean: sorted by descending mean. In shared memory.
struct Targets {
    double y[32], t[32], p[32];
};

// A set of Gaussian terms as one: joint precision and mean.
struct Block {
    double precision, mean;
};
struct Joint {
    Block block;
    double var, spread;  // 1/P, and what joining added to the sum of squares
};

__device__ __forceinline__ Joint join(Block a, Block b) {
    double precision = a.precision + b.precision, var = 1.0 / precision;
    double distance = b.mean - a.mean, share = b.precision * var;
    return {{precision, a.mean + distance * share}, var, distance * distance * (a.precision * share)};
}

struct Moments {
    double mean, var;
};

// μ*_b - μ₀, σ*²_b, L_b - L° and k*_b of the lane's action.
struct Peak {
    double x, var, height, weight;
};

// One update as it is given, the next beliefs a lane each.
struct Problem {
    double mu_0, v_0, reward, discount;
    bool terminal;
    double mu_next, var_next;
    double terminal_var, var_w, floor;
    int actions, rule, noise;
};

__device__ __forceinline__ Moments gaussian_product(double mu_0, double v_0, double y, double t, double low, double high) {
    double gain = v_0 / (v_0 + t);
    return {fmin(fmax(mu_0 + gain * y, low), high), gain * t};
}

// Sorts the lanes' targets into shared memory.
__device__ __forceinline__ void sort(Targets& s, int lane, int actions, double y, double t) {
    int rank = 0;
    for (int b = 0; b < actions; b++) {
        double other_y = __shfl_sync(0xffffffffu, y, b), other_t = __shfl_sync(0xffffffffu, t, b);
        bool equal = other_y == y && other_t == t;
        rank += other_y > y || (other_y == y && other_t < t) || (equal && b < lane);
    }
    if (lane < actions) s.y[rank] = y, s.t[rank] = t, s.p[rank] = 1.0 / t;
    __syncwarp();
}

// A lane's block joined by the targets from `from` on that are active.
__device__ __forceinline__ Peak grow(const Targets& s, Joint base, double height, int from, int end) {
    for (int k = from; k < end && s.y[k] > base.block.mean; k++) {
        base = join(base.block, {s.p[k], s.y[k]});
        height -= 0.5 * base.spread;
    }
    return {base.block.mean, base.var, height, 0.0};
}

// The peak of the lane's action, for the prior precision ρ₀ and noise w in the PDF terms.
__device__ Peak find_peak(const Targets& s, int lane, int actions, double rho_0, double w) {
    Block common = {rho_0, 0.0};
    int above = 0;
    double var = 0.0;
    while (above < actions && s.y[above] > common.mean) {
        Joint joint = join(common, {s.p[above], s.y[above]});
        common = joint.block, var = joint.var;
        above++;
    }
    if (lane >= actions) return {0.0, 0.0, -1.0 / 0.0, 0.0};
    double p = s.p[lane], y = s.y[lane], q = w == 0.0 ? p : 1.0 / (s.t[lane] + w);
    Peak peak;
    if (lane >= above) {
        Joint base = join(common, {q, y});
        peak = grow(s, base, -0.5 * base.spread, above, lane);
    } else if (w == 0.0) {
        peak = {common.mean, var, 0.0, 0.0};
    } else {
        Block others = {rho_0, 0.0};
        for (int k = 0; k < above; k++)
            if (k != lane) others = join(others, {s.p[k], s.y[k]}).block;
        // L_b - L° = ½ (y-m)² P² (p-q) / ((P+p)(P+q)) with p - q = p q w.
        double pull = (y - others.mean) * others.precision;
        double height = 0.5 * (pull / (others.precision + p)) * (pull / (others.precision + q)) * (p * q * w);
        peak = grow(s, join(others, {q, y}), height, above, actions);
    }
    peak.weight = sqrt(q * peak.var);  // without its exponential
    return peak;
}

// Weights k*_b, then mean (from μ₀) and variance of the mixture.
__device__ __forceinline__ Moments mix(Peak& peak, int lane, int actions) {
    bool there = lane < actions;
    double highest = warp_max(peak.height);
    peak.weight = there ? peak.weight * exp(peak.height - highest) : 0.0;
    double origin = __shfl_sync(0xffffffffu, peak.x, 0);
    double per_weight = 1.0 / warp_sum(peak.weight);
    double shift = warp_sum(there ? peak.weight * (peak.x - origin) : 0.0) * per_weight;
    double distance = peak.x - origin - shift;
    double second = warp_sum(there ? peak.weight * (peak.var + distance * distance) : 0.0);
    return {origin + shift, second * per_weight};
}
