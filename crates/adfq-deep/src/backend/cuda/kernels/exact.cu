// True moment matching in f64, as in `adfq::update::{exact, posterior, quadrature}`, whose words explain the formulas. A lane
// is a term of the posterior where nodes are placed, and a node where the density is summed up.

static constexpr double FAR = 40.0, FAR_BELOW = -50.0, SMALL_PRODUCT = 1e-100;
static constexpr double NEGLIGIBLE = 26.0, PANEL = 3.5, STEEP = 8.0, EVEN_STEP = 0.85, EVEN_LIMIT = 80.0, FIRST_REACH = 8.0;
static constexpr double INV_SQRT_2PI = 0.3989422804014327;
static constexpr double INFINITE = 1e308;  // stands for it in comparisons
static constexpr int MAX_PANELS = 1000, GRID_SAMPLES = 1000;
static constexpr double GRID_REACH = 5.0;

// The Mills ratio m(u) = Φ(-u)/φ(u) for u ≥ 0.
__device__ double mills(double u) {
    constexpr double c[24] = {
        1.1832619145678034,     -0.2423996705218081,     0.03509188023476339,     0.07169048120143744,
        -0.08070800967978549,   0.04495912907706981,     -0.01253910360671188,    -0.0007159509052838121,
        0.001741848641757937,   -0.00023670175882712258, -0.00022021482490664187, 5.3266970938315365e-05,
        3.4156106940806135e-05, -8.606187876096938e-06,  -6.546928120500802e-06,  1.0194890870987357e-06,
        1.3805876779523012e-06, -3.101083609757584e-09,  -2.7628944223830873e-07, -4.494916382038613e-08,
        4.372207364651429e-08,  1.3723059452459651e-08,  -3.874300207686973e-09,  -1.6952996818880583e-09};
    double t = (u - 4.0) / (u + 4.0), t2 = t * t, t4 = t2 * t2;
    double chain[4] = {c[20], c[21], c[22], c[23]};
#pragma unroll
    for (int row = 4; row >= 0; row--)
#pragma unroll
        for (int i = 0; i < 4; i++) chain[i] = chain[i] * t4 + c[4 * row + i];
    return ((chain[0] + chain[1] * t) + (chain[2] + chain[3] * t) * t2) / (1.0 + u);
}

__device__ __forceinline__ double pdf(double z) { return INV_SQRT_2PI * exp(-0.5 * z * z); }
__device__ __forceinline__ double cdf(double z) {
    double tail = pdf(z) * mills(fabs(z));
    return z < 0.0 ? tail : 1.0 - tail;
}

// |A| = 2: one of the two terms, a Gaussian under the soft threshold of the other target.
struct Truncated {
    double zeta, mean, var;
};

__device__ Truncated truncated(double v_0, double y, double t, double other_y, double other_t) {
    double gain = v_0 / (v_0 + t), mean = gain * y, var = gain * t, s2 = var + other_t, s = sqrt(s2);
    double zeta = (mean - other_y) / s, hazard, excess, slack;
    if (zeta >= -8.0) {
        hazard = zeta < 0.0 ? 1.0 / mills(-zeta) : pdf(zeta) / cdf(zeta);
        excess = hazard + zeta;
        slack = 1.0 - hazard * excess;
    } else {
        double a = -zeta, tail = a;
        for (int level = 16; level >= 3; level--) tail = a + level / tail;
        double second = 2.0 / tail;
        excess = 1.0 / (a + second);
        hazard = a + excess;
        slack = excess * (second - excess);
    }
    double share = var / s2;
    mean = zeta < 0.0 ? mean + share * (other_y - mean) + var / s * excess : mean + var / s * hazard;
    return {zeta, mean, var * (other_t / s2 + share * slack)};
}

// The closed form of App. C for |A| = 2. The mean is seen from the prior's.
__device__ Moments two_actions(const Targets& s, double v_0) {
    Truncated a = truncated(v_0, s.y[0], s.t[0], s.y[1], s.t[1]), b = truncated(v_0, s.y[1], s.t[1], s.y[0], s.t[0]);
    double v_a = v_0 + s.t[0], v_b = v_0 + s.t[1], odds = sqrt(v_b / v_a);
    if (a.zeta < 0.0 && b.zeta < 0.0) odds *= mills(-a.zeta) / mills(-b.zeta);
    else if (a.zeta < 0.0) odds = odds * pdf(b.zeta) * mills(-a.zeta) / cdf(b.zeta);
    else if (b.zeta < 0.0) odds = odds * cdf(a.zeta) / (pdf(a.zeta) * mills(-b.zeta));
    else odds = odds * exp(0.5 * (s.y[1] * s.y[1] / v_b - s.y[0] * s.y[0] / v_a)) * (cdf(a.zeta) / cdf(b.zeta));
    double w_a = 1.0 / (1.0 + 1.0 / odds), w_b = 1.0 / (1.0 + odds), gap = a.mean - b.mean;
    return {b.mean + w_a * gap, w_a * a.var + w_b * b.var + w_a * w_b * gap * gap};
}

// The posterior as seen from a reference point. The arrays are those of the sorted targets, made over in place.
struct Posterior {
    const double *inv_sd, *z;  // of each term
    int actions, leader;       // the leader is -1 if there is none
    double rho_0, gradient, stiffness;
    // Of the lane's own term:
    double width, ln_width;
    bool relevant;
};

struct Lead {
    double z;
    int of;
};

// The least z, if positive, or 0; and whose it is.
__device__ __forceinline__ Lead lead_at(const Posterior& of, double d) {
    Lead lead = {INFINITE, 0};
    for (int b = 0; b < of.actions; b++) {
        double z = of.z[b] + d * of.inv_sd[b];
        if (z < lead.z) lead = {z, b};
    }
    return {fmax(lead.z, 0.0), lead.of};
}

// The squares of the prior, of the folded terms, and of the lead at d.
__device__ __forceinline__ double common_squares(const Posterior& of, double d, Lead lead) {
    double sum = d * (2.0 * of.gradient + d * of.stiffness);
    if (of.leader < 0) return sum + lead.z * lead.z;
    if (of.leader == lead.of && lead.z > 0.0) return sum;
    double z = of.z[of.leader] + d * of.inv_sd[of.leader];
    return sum + (lead.z - z) * (lead.z + z);
}

// A weighted sum of points that grows: total, mean and sum of squares, all times e^scale.
struct Sums {
    double scale, total, mean, squares;
};

// Adds the lane's node.
__device__ void add_node(Sums& sums, const Posterior& of, double d, double weight) {
    Lead lead = lead_at(of, d);
    double lead_density = exp(-0.5 * lead.z * lead.z), squares = common_squares(of, d, lead);
    double product = 1.0, exponent = 0.0, shares = 0.0;
    for (int b = 0; b < of.actions; b++) {
        double s = of.inv_sd[b], z = of.z[b] + d * s;
        bool folded = of.z[b] < -FAR;
        if (z < 0.0) {
            double ratio = mills(-z);
            product *= INV_SQRT_2PI * ratio;
            shares += s / ratio;
            if (!folded) squares += z * z;
        } else {
            double density = INV_SQRT_2PI * exp(-0.5 * (z - lead.z) * (z + lead.z));
            double cumulative = 1.0 - density * lead_density * mills(z);
            product *= cumulative;
            shares += s * density / cumulative;
            if (folded) squares -= z * z;
        }
        if (product < SMALL_PRODUCT) exponent += log(product), product = 1.0;
    }
    exponent -= 0.5 * squares;
    weight *= product * shares;
    if (!(weight > 0.0) || !(exponent > -INFINITE)) return;
    if (exponent > sums.scale) {
        double factor = exp(sums.scale - exponent);
        sums.total *= factor, sums.squares *= factor, sums.scale = exponent;
    } else {
        weight *= exp(exponent - sums.scale);
    }
    if (weight == 0.0) return;
    sums.total += weight;
    double distance = d - sums.mean;
    sums.mean += distance * (weight / sums.total);
    sums.squares += weight * distance * (d - sums.mean);
}

// What it takes to place nodes around a point.
struct Edge {
    double local_width, panel, widest, next_left, next_right;
    bool matters;
};

// The greatest mass and second moment met so far, as logarithms, and where the latter was met.
struct Record {
    double ln_mass, ln_spread, place;
};

__device__ __forceinline__ double threshold(const Record& record, double d, double reach, double width, double ln_width) {
    double distance = fabs(d - record.place) + reach;
    double by_spread = record.ln_spread - log(width * width + distance * distance);
    return fmin(record.ln_mass, by_spread) - ln_width - NEGLIGIBLE;
}

__device__ __forceinline__ double warp_min(double x) { return -warp_max(-x); }

__device__ Edge edge_at(const Posterior& of, double d, Record& record, int lane) {
    bool there = lane < of.actions;
    Lead lead = lead_at(of, d);
    double lead_density = exp(-0.5 * lead.z * lead.z);
    double s = there ? of.inv_sd[lane] : 0.0, z_0 = there ? of.z[lane] : 0.0, z = z_0 + d * s;
    bool folded = z_0 < -FAR;
    double hazard, share, ln_share, factor;
    if (z < 0.0) {
        double ratio = mills(-z);
        hazard = 1.0 / ratio, factor = INV_SQRT_2PI * ratio, share = s * hazard, ln_share = log(share);
    } else {
        double exponent = -0.5 * (z - lead.z) * (z + lead.z), density = INV_SQRT_2PI * exp(exponent);
        factor = 1.0 - density * lead_density * mills(z);
        hazard = density * lead_density / factor, share = s * (density / factor);
        ln_share = exponent + log(s * INV_SQRT_2PI);
    }
    double extra = (z < 0.0) != folded ? (z < 0.0 ? z * z : -z * z) : 0.0;
    double squares = common_squares(of, d, lead) + warp_sum(there ? extra : 0.0);
    double excess = z > FAR_BELOW ? hazard + z : -1.0 / z, kappa = z > FAR_BELOW ? hazard * (hazard + z) : 1.0;
    double slope = -(of.gradient + d * of.stiffness) + warp_sum(there ? s * (folded ? excess : hazard) : 0.0);
    double curvature = of.rho_0 + warp_sum(there ? s * s * kappa : 0.0);
    double shares = warp_sum(there ? share : 0.0);
    double leader_fall = of.leader < 0 ? 0.0 : of.inv_sd[of.leader] * (of.z[of.leader] + d * of.inv_sd[of.leader]);
    double own_slope = of.leader == lane ? -s * hazard : leader_fall - s * excess, own_curvature = s * s * (1.0 - kappa);
    bool counts = there && share > 1e-12 * shares;
    double own = fmax(warp_max(counts ? own_curvature : 0.0), 0.0), slopes = warp_sum(counts ? share * own_slope : 0.0);
    double ln_common = -0.5 * squares + warp_sum(there ? log(factor) : 0.0), ln_density = ln_common + log(shares);
    Edge edge;
    edge.local_width = 1.0 / sqrt(curvature + own);
    double ln_local = log(edge.local_width);
    record.ln_mass = fmax(record.ln_mass, ln_density + ln_local);
    if (ln_density + 3.0 * ln_local > record.ln_spread) record.ln_spread = ln_density + 3.0 * ln_local, record.place = d;
    double depth = threshold(record, d, 0.0, edge.local_width, ln_local) + NEGLIGIBLE - ln_density;
    double all_slope = slope + slopes / shares;
    depth = all_slope > 0.0 ? depth - STEEP : depth;
    double relief = 1.0 + fmin(fmax(depth / 21.0, 0.0), 3.0);
    edge.panel = fmin(PANEL * edge.local_width, STEEP * relief / fabs(all_slope));
    // A term's peak lies within `reach` and so much higher than here as its tangent and curvature allow.
    double term_slope = slope + own_slope;
    double reach = term_slope < 0.0 ? -term_slope / (curvature + own_curvature) : term_slope * of.width * of.width;
    double missing = threshold(record, d, reach, of.width, of.ln_width) - (ln_common + ln_share);
    bool mine = there && of.relevant, matters = mine && missing <= 0.0;
    edge.matters = __any_sync(0xffffffffu, matters);
    edge.widest = fmax(edge.local_width, warp_max(matters ? of.width : 0.0));
    bool near = mine && missing <= 0.5 * fabs(term_slope) * reach;
    double next = missing / fabs(term_slope);
    edge.next_right = warp_min(near && term_slope > 0.0 ? next : INFINITE);
    edge.next_left = warp_min(near && !(term_slope > 0.0) ? next : INFINITE);
    return edge;
}

// The end of what matters on the side of d, and the local width there.
__device__ double end_of(const Posterior& of, double d, Record& record, int lane, double& local_width) {
    double side = d < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 100; i++) {
        Edge edge = edge_at(of, d, record, lane);
        double outward = side < 0.0 ? edge.next_left : edge.next_right;
        double inward = side < 0.0 ? edge.next_right : edge.next_left;
        local_width = edge.local_width;
        if (edge.matters || outward < INFINITE) d *= 2.0;
        else if (inward > 2.0 * edge.local_width && inward < INFINITE) d -= side * inward;
        else return d;
    }
    return d;
}

__device__ void spread_evenly(Sums& sums, const Posterior& of, double lo, double hi, int samples, int lane) {
    double step = (hi - lo) / (samples - 1);
    for (int i = lane; i < samples; i += 32) add_node(sums, of, lo + step * i, step);
}

// Panels from `lo` to `hi`, each as wide as the density allows where it begins; three at a time, ten nodes each.
__device__ void march(Sums& sums, const Posterior& of, double lo, double hi, Record& record, int lane) {
    constexpr double abscissae[5] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                     0.9739065285171717};
    constexpr double weights[5] = {0.2955242247147529, 0.26926671930999635, 0.21908636251598204, 0.1494513491505806,
                                   0.06667134430868814};
    int place = lane % 10, node = place < 5 ? 4 - place : place - 5;
    double abscissa = 0.0, rule = 0.0;
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (i == node) abscissa = place < 5 ? -abscissae[i] : abscissae[i], rule = weights[i];
    double d = lo, at = 0.0, weight = 0.0;
    int waiting = 0;
    for (int i = 0; i < MAX_PANELS; i++) {
        Edge edge = edge_at(of, d, record, lane);
        if (!edge.matters && edge.next_right > edge.panel) {
            d += edge.next_right;
        } else {
            double half = 0.5 * edge.panel;
            if (lane / 10 == waiting) at = d + half + half * abscissa, weight = half * rule;
            d += edge.panel;
            waiting++;
        }
        bool last = d >= hi || d != d || i == MAX_PANELS - 1;
        if (waiting == 3 || last) {
            if (lane / 10 < waiting) add_node(sums, of, at, weight);
            __syncwarp();
            waiting = 0;
        }
        if (last) break;
    }
}

// The moments of T for a prior variance v_0; the analytic update and its peaks are known. Its mean is absolute.
__device__ Moments integrate(const Problem& problem, Targets& s, int lane, double v_0, Peak peak, Moments approximation) {
    int actions = problem.actions;
    if (actions == 2 && problem.rule == EXACT) {
        Moments found = two_actions(s, v_0);
        return {problem.mu_0 + found.mean, found.var};
    }
    bool there = lane < actions;
    double rho_0 = 1.0 / v_0;
    double heaviest = warp_max(there ? peak.weight : 0.0), highest = warp_max(there ? peak.height : -INFINITE);
    u32 who = __ballot_sync(0xffffffffu, there && peak.weight == heaviest);
    double reference = __shfl_sync(0xffffffffu, peak.x, 31 - __clz(who));
    double lowest_y = GRID_REACH * -sqrt(v_0), highest_y = GRID_REACH * sqrt(v_0);
    lowest_y = fmin(lowest_y, warp_min(there ? s.y[lane] - GRID_REACH * sqrt(s.t[lane]) : INFINITE));
    highest_y = fmax(highest_y, warp_max(there ? s.y[lane] + GRID_REACH * sqrt(s.t[lane]) : -INFINITE));
    double inv_sd = there ? 1.0 / sqrt(s.t[lane]) : 0.0, z = there ? (reference - s.y[lane]) * inv_sd : 0.0;
    double width = there ? 1.0 / sqrt(rho_0 + s.p[lane]) : 1.0;
    __syncwarp();
    if (there) s.p[lane] = inv_sd, s.y[lane] = z;
    __syncwarp();
    bool relevant = there && peak.height >= highest - 1000.0 - 50.0 * actions;
    Posterior of = {s.p, s.y, actions, -1, rho_0, 0.0, 0.0, width, log(width), relevant};
    Lead lead = lead_at(of, 0.0);
    if (lead.z > FAR) of.leader = lead.of;
    bool folded = there && (z < -FAR || of.leader == lane);
    of.gradient = rho_0 * reference + warp_sum(folded ? inv_sd * z : 0.0);
    of.stiffness = rho_0 + warp_sum(folded ? inv_sd * inv_sd : 0.0);
    Sums sums = {-INFINITE, 0.0, 0.0, 0.0};
    if (problem.rule == GRID) {
        spread_evenly(sums, of, lowest_y - reference, highest_y - reference, GRID_SAMPLES, lane);
    } else {
        Record record = {-INFINITE, -INFINITE, 0.0};
        double least_width, ignored;
        Edge centre = edge_at(of, 0.0, record, lane);
        double hi = end_of(of, FIRST_REACH * centre.widest, record, lane, ignored);
        double lo = end_of(of, -FIRST_REACH * centre.local_width, record, lane, least_width);
        double intervals = ceil((hi - lo) / (EVEN_STEP * least_width));
        if (intervals <= EVEN_LIMIT) spread_evenly(sums, of, lo, hi, (int)intervals + 1, lane);
        else march(sums, of, lo, hi, record, lane);
    }
    __syncwarp();
    double scale = warp_max(sums.scale), factor = sums.total > 0.0 ? exp(sums.scale - scale) : 0.0;
    double total = warp_sum(sums.total * factor), mean = warp_sum(sums.total * factor * sums.mean) / total;
    double distance = sums.mean - mean;
    double var = warp_sum(factor * (sums.squares + sums.total * distance * distance)) / total;
    if (problem.rule != GRID && !(finite(mean) && var > 0.0)) return approximation;
    return {problem.mu_0 + (reference + mean), var};
}
