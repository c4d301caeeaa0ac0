//! The paper's ADFQ update (Eq. peak to Eq. approx_v1) in O(|A| log |A|), without cancellation.
//!
//! For each next action b the log of its term of the posterior, with Φ replaced as in Lemma 1, is
//!
//! ```text
//! L_b(x) = -½ [ ρ₀ x² + q_b (x-y_b)² + Σ_{b′≠b} p_b′ [y_b′-x]₊² ]        (x is measured from μ₀)
//! ```
//!
//! with precisions ρ₀ = 1/v₀, p_b = 1/t_b and q_b = 1/(t_b + w). Its peak μ*_b is the precision-weighted mean of
//! the prior, of b's own target and of the targets above μ*_b, the *active* ones; their precisions add to 1/σ*²_b;
//! and `k*_b ∝ √q_b σ*_b exp L_b(μ*_b)`. Sorted in descending order, the active targets are a prefix.
//!
//! Let μ° be the peak for the prior and the CDF terms alone and let the first K° targets be above it. Then
//! every b has at least those K° active (but itself). So each peak starts from that common set, with b's own term
//! put in, and in most cases ends there; otherwise bisection finds how many further targets are active. Measured
//! from L° = L(μ°), every L_b is then a short sum whose terms follow from precisions and distances: nothing large
//! is ever subtracted from anything large.

use super::noise::Reduction;
use super::problem::{INLINE, Shape, Target};
use super::{Component, Components, Moments, Noise, Problem, Rule, Transition, Update, Workspace};
use crate::exponential::exp_nonpositive;
use crate::{Belief, Result};
use smallvec::SmallVec;

/// The posterior belief by the paper's update.
///
/// ```
/// use adfq::update::{analytic, Next, Noise, Transition};
/// use adfq::Belief;
///
/// let next = [Belief::new(1.0, 1.0)?, Belief::new(2.0, 4.0)?];
/// let transition = Transition::new(Belief::new(0.0, 1.0)?, 0.5, 0.9, Next::Beliefs(&next))?;
/// let posterior = analytic::update(&transition, Noise::None)?;
/// assert!(posterior.mean() > 0.0 && posterior.mean() < 2.3 && posterior.var() < 1.0);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn update(transition: &Transition, noise: Noise) -> Result<Belief> {
    Update::bare(Rule::Analytic).apply(transition, noise)
}

/// The mixture behind [`update`]: μ*, σ*² and w* for each next action.
pub fn components(transition: &Transition, noise: Noise) -> Result<Components> {
    let w = noise.checked_var()?;
    let Workspace { mut problem, mut analytic, .. } = Workspace::default();
    problem.load(transition)?;
    if let Shape::Gaussian { y, t } = problem.shape {
        return Ok(Components::single(problem.gaussian_product(y, t + w)?));
    }
    let (exact_w, w) = if let Noise::Exact(_) = noise { (w, 0.0) } else { (0.0, w) };
    let reduction = Reduction::new(transition.prior(), exact_w);
    problem.sort();
    solve_maximum(&problem, 1.0 / reduction.widened()?.var(), w, &mut analytic);
    let total: f64 = analytic.peaks.iter().map(|peak| peak.weight).sum();
    let mut components = vec![Component { mean: 0.0, var: 0.0, weight: 0.0 }; problem.targets.len()];
    for (target, peak) in problem.targets.iter().zip(&analytic.peaks) {
        let of_t = Moments { mean: transition.prior().mean() + peak.x, var: peak.var };
        let Moments { mean, var } = reduction.narrow(of_t);
        components[target.action as usize] = Component { mean, var, weight: peak.weight / total };
    }
    Ok(Components::new(components))
}

/// A set of Gaussian terms as one: their joint precision P and precision-weighted mean.
#[derive(Clone, Copy, Debug)]
struct Block {
    precision: f64,
    mean: f64,
}

/// Two blocks joined.
#[derive(Clone, Copy, Debug)]
struct Joint {
    block: Block,
    /// 1/P of the whole.
    var: f64,
    /// What joining them added to the sum of squares Σ p (m - mean)².
    spread: f64,
}

impl Block {
    /// The CDF term of a target, where it is active.
    #[inline]
    fn of(target: &Target) -> Block {
        Block { precision: target.p, mean: target.y }
    }

    /// This block and another. The mean moves by a fraction of the distance, so it never leaves the two; one division
    /// serves all three results.
    #[inline]
    fn and(self, other: Block) -> Joint {
        let precision = self.precision + other.precision;
        let var = 1.0 / precision;
        let distance = other.mean - self.mean;
        let share = other.precision * var;
        let mean = self.mean + distance * share;
        Joint {
            block: Block { precision, mean },
            var,
            spread: distance * distance * (self.precision * share),
        }
    }
}

/// μ*, σ*² and log-height of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    /// μ*_b - μ₀.
    pub x: f64,
    /// σ*²_b.
    pub var: f64,
    /// L_b(μ*_b) - L°.
    pub height: f64,
    /// k*_b, up to a factor shared by all b.
    pub weight: f64,
}

/// The memory of one update. `peaks` stay for whoever asks for the components.
#[derive(Default)]
pub(crate) struct Scratch {
    pub peaks: SmallVec<[Peak; INLINE]>,
    /// Prior and the first j targets, for j ≤ K°; used with noise only.
    prefix: SmallVec<[Block; INLINE]>,
    beyond: Beyond,
}

/// The update of a problem that has been loaded. Exact noise is the noise-free update with a wider prior.
#[inline]
pub(crate) fn solve(workspace: &mut Workspace, noise: Noise) -> Result<Moments> {
    let w = noise.checked_var()?;
    let Workspace { problem, analytic: scratch, .. } = workspace;
    if let Shape::Gaussian { y, t } = problem.shape {
        return problem.gaussian_product(y, t + w);
    }
    match noise {
        Noise::Exact(w) if w > 0.0 => {
            let reduction = Reduction::new(problem.prior, w);
            let moments = solve_any(problem, reduction.widened()?.var(), 0.0, scratch);
            Ok(reduction.narrow(moments))
        }
        _ => Ok(solve_any(problem, problem.prior.var(), w, scratch)),
    }
}

#[inline]
fn solve_any(problem: &mut Problem, v_0: f64, w: f64, scratch: &mut Scratch) -> Moments {
    if let [first, second] = *problem.targets.as_slice() {
        let Moments { mean, var } = solve_two(v_0, w, &first, &second);
        return Moments { mean: (problem.prior.mean() + mean).clamp(problem.range.0, problem.range.1), var };
    }
    problem.sort();
    solve_maximum(problem, 1.0 / v_0, w, scratch)
}

/// Two actions, without a branch and with one exponential. Every sum has two terms, so nothing has to be sorted.
#[inline]
fn solve_two(v_0: f64, w: f64, first: &Target, second: &Target) -> Moments {
    let (a, b) = (peak_of_two(v_0, w, first, second), peak_of_two(v_0, w, second, first));
    let lower = exp_nonpositive(-(a.height - b.height).abs());
    let (of_a, of_b) = if a.height >= b.height { (1.0, lower) } else { (lower, 1.0) };
    let (weight_a, weight_b) = (a.weight * of_a, b.weight * of_b);
    let per_weight = 1.0 / (weight_a + weight_b);
    let (share_a, share_b) = (weight_a * per_weight, weight_b * per_weight);
    let gap = a.x - b.x;
    Moments {
        mean: share_a * a.x + share_b * b.x,
        var: (share_a * a.var + share_b * b.var) + share_a * share_b * (gap * gap),
    }
}

/// The peak of one of two actions: prior times own target, and times the other's if that is above; as variances, which
/// takes one division less than precisions do. Its weight lacks the exponential.
#[inline]
fn peak_of_two(v_0: f64, w: f64, own: &Target, other: &Target) -> Peak {
    let t = own.t + w;
    let per_sum = 1.0 / (v_0 + t);
    let gain = v_0 * per_sum;
    let (mean, var) = (gain * own.y, gain * t);
    let distance = other.y - mean;
    let per_joint = 1.0 / (var + other.t);
    // An idle target moves nothing, adds no square and leaves all of the variance.
    let (per_joint, kept) = if distance > 0.0 { (per_joint, other.t * per_joint) } else { (0.0, 1.0) };
    Peak {
        x: mean + var * per_joint * distance,
        var: var * kept,
        height: -0.5 * (own.y * own.y * per_sum + distance * distance * per_joint),
        weight: (gain * kept).sqrt(),
    }
}

/// The update proper, for a maximum of at least two sorted targets, prior precision ρ₀ and noise w in the PDF terms.
#[inline]
pub(crate) fn solve_maximum(problem: &Problem, rho_0: f64, w: f64, scratch: &mut Scratch) -> Moments {
    let targets = problem.targets.as_slice();
    let Moments { mean, var } = if w == 0.0 {
        let above = scratch.find_peaks(targets, rho_0, |target| target.p);
        mix(targets, |target| target.p, above, &mut scratch.peaks)
    } else {
        // The precision q_b of b's own PDF term under the paper's approximate likelihood.
        let q = |target: &Target| 1.0 / (target.t + w);
        scratch.find_peaks_with_noise(targets, rho_0, w, q);
        mix(targets, q, 0, &mut scratch.peaks)
    };
    Moments { mean: (problem.prior.mean() + mean).clamp(problem.range.0, problem.range.1), var }
}

impl Scratch {
    /// μ*_b - μ₀ of the component with the greatest weight.
    pub fn heaviest_peak(&self) -> f64 {
        let heavier = |a: &Peak, b: &Peak| a.weight.total_cmp(&b.weight);
        self.peaks.iter().copied().max_by(heavier).map_or(0.0, |peak| peak.x)
    }

    /// μ*_b, σ*²_b and L_b - L° for all b without noise, in the order of the sorted targets. Returns K°: that many b have
    /// their own term in the common set, so they share its peak.
    #[inline]
    fn find_peaks(&mut self, targets: &[Target], rho_0: f64, q: impl Fn(&Target) -> f64) -> usize {
        self.prepare(targets.len());
        let mut common = Block { precision: rho_0, mean: 0.0 };
        let (mut above, mut var) = (0, 0.0);
        // H(0) = 0: a target exactly at the peak is not active.
        while above < targets.len() && targets[above].y > common.mean {
            let joint = common.and(Block::of(&targets[above]));
            (common, var) = (joint.block, joint.var);
            above += 1;
        }
        self.peaks[..above].fill(Peak { x: common.mean, var, height: 0.0, weight: 0.0 });
        self.find_peaks_below(targets, above, common, q);
        above
    }

    /// The same under the paper's approximate likelihood, where b's own precision is q_b < p_b.
    fn find_peaks_with_noise(&mut self, targets: &[Target], rho_0: f64, w: f64, q: impl Fn(&Target) -> f64) {
        self.prepare(targets.len());
        self.prefix.clear();
        let mut common = Block { precision: rho_0, mean: 0.0 };
        let mut above = 0;
        while above < targets.len() && targets[above].y > common.mean {
            self.prefix.push(common);
            common = common.and(Block::of(&targets[above])).block;
            above += 1;
        }
        // The targets after b, gathered from the back; those before it are a prefix. Neither is ever subtracted.
        let mut after: Option<Block> = None;
        for j in (0..above).rev() {
            let Target { y, p, .. } = targets[j];
            let before = self.prefix[j];
            let others = after.map_or(before, |after| before.and(after).block);
            let own = Block { precision: q(&targets[j]), mean: y };
            // L_b - L° = ½ (y-m)² P² (p-q) / ((P+p)(P+q)) with p - q = p q w.
            let pull = (y - others.mean) * others.precision;
            let height = 0.5
                * (pull / (others.precision + p))
                * (pull / (others.precision + own.precision))
                * (p * own.precision * w);
            let rest = &targets[above..];
            self.peaks[j] = self.beyond.peak(rest, rest.len(), others.and(own), height);
            let this = Block::of(&targets[j]);
            after = Some(after.map_or(this, |after| after.and(this).block));
        }
        self.find_peaks_below(targets, above, common, q);
    }

    /// The peaks of the b from K° on: the common set with b's own term put in.
    #[inline]
    fn find_peaks_below(
        &mut self,
        targets: &[Target],
        above: usize,
        common: Block,
        q: impl Fn(&Target) -> f64,
    ) {
        let below = &targets[above..];
        for (j, (target, peak)) in below.iter().zip(&mut self.peaks[above..]).enumerate() {
            let base = common.and(Block { precision: q(target), mean: target.y });
            *peak = self.beyond.peak(below, j, base, -0.5 * base.spread);
        }
    }

    fn prepare(&mut self, actions: usize) {
        if self.peaks.len() != actions {
            self.peaks.resize(actions, Peak { x: 0.0, var: 0.0, height: 0.0, weight: 0.0 });
        }
        self.beyond.0.clear();
    }
}

/// The targets from K° on: the first i of them as one block, with their sum of squares. Built when first needed.
#[derive(Default)]
struct Beyond(SmallVec<[(Block, f64); INLINE]>);

impl Beyond {
    /// The peak that grows from a block which holds all terms but those of the first `end` targets of `rest`.
    #[inline]
    fn peak(&mut self, rest: &[Target], end: usize, base: Joint, height: f64) -> Peak {
        if end == 0 || rest[0].y <= base.block.mean {
            return Peak { x: base.block.mean, var: base.var, height, weight: 0.0 };
        }
        self.grow(rest, end, base.block, height)
    }

    fn grow(&mut self, rest: &[Target], end: usize, base: Block, height: f64) -> Peak {
        let active = self.count_active(rest, end, base);
        let (more, squares) = self.0[active];
        let joint = base.and(more);
        Peak {
            x: joint.block.mean,
            var: joint.var,
            height: height - 0.5 * (squares + joint.spread),
            weight: 0.0,
        }
    }

    /// How many of the first `end` targets of `rest` are active: those above the mean of everything before them.
    fn count_active(&mut self, rest: &[Target], end: usize, base: Block) -> usize {
        if self.0.is_empty() {
            let mut more = (Block { precision: 0.0, mean: rest[0].y }, 0.0);
            self.0.push(more);
            for target in rest {
                let joint = more.0.and(Block::of(target));
                more = (joint.block, more.1 + joint.spread);
                self.0.push(more);
            }
        }
        let is_active = |i: usize| {
            let (y, before) = (rest[i].y, self.0[i].0);
            base.precision * (y - base.mean) + before.precision * (y - before.mean) > 0.0
        };
        let (mut active, mut idle) = (1, end);
        while active < idle {
            let middle = active.midpoint(idle);
            if is_active(middle) { active = middle + 1 } else { idle = middle }
        }
        active
    }
}

/// Weights k*_b = √(q_b σ*²_b) exp(L_b - max L), then mean (from μ₀) and variance of the mixture. The first `common`
/// peaks are one and the same, and the highest.
#[inline]
fn mix(targets: &[Target], q: impl Fn(&Target) -> f64, common: usize, peaks: &mut [Peak]) -> Moments {
    let Peak { x: origin, var, .. } = peaks[0];
    let (same, lower) = peaks.split_at_mut(common);
    let (same_targets, lower_targets) = targets.split_at(common);
    let mut total = 0.0;
    for (target, peak) in same_targets.iter().zip(same) {
        peak.weight = (target.p * var).sqrt();
        total += peak.weight;
    }
    let of_common = total;
    let heights = || lower.iter().map(|peak| peak.height);
    let highest = if common > 0 { 0.0 } else { heights().fold(f64::NEG_INFINITY, f64::max) };
    let mut first = 0.0;
    for (target, peak) in lower_targets.iter().zip(&mut *lower) {
        peak.weight = (q(target) * peak.var).sqrt() * exp_nonpositive(peak.height - highest);
        total += peak.weight;
        first += peak.weight * (peak.x - origin);
    }
    let per_weight = 1.0 / total;
    let shift = first * per_weight;
    let mut second = of_common * (var + shift * shift);
    for peak in lower {
        let distance = peak.x - origin - shift;
        second += peak.weight * (peak.var + distance * distance);
    }
    Moments { mean: origin + shift, var: second * per_weight }
}
