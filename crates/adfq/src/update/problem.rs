//! A transition as the rules see it: shifted so that the prior mean is 0, and the targets ready to be sorted.
//!
//! Shifting first is what keeps the small differences between large means (`update-on-one-page`: work with
//! `y_b`, add μ₀ back at the end); sorting is what makes the sums over active targets prefixes, and the result
//! independent of the order of the actions, bit for bit.

use super::{Next, Transition};
use crate::{Belief, Error, Result};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Below this a target variance γ²σ² counts as 0: its reciprocal would not fit into a double with room to spare.
const POINT: f64 = 1e-250;

/// How many actions fit without a heap allocation: the 18 of the full Atari action set.
pub(crate) const INLINE: usize = 18;

/// The target r + γQ(s′,b) of one next action, seen from the prior mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// `y_b` = (r + γ μ_{s′,b}) - μ_{s,a}.
    pub y: f64,
    /// Its variance `t_b` = γ² σ²_{s′,b}.
    pub t: f64,
    /// Its precision `p_b` = 1 / `t_b`.
    pub p: f64,
    /// The action b.
    pub action: u32,
}

/// First two moments of a posterior. The mean is absolute, not shifted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub mean: f64,
    pub var: f64,
}

/// The shape of the target r + γV(s′).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// The maximum over two or more next actions; `Problem::targets` holds them.
    Maximum,
    /// One Gaussian, of variance 0 if the target is certain: a terminal, a single action, or γ = 0.
    Gaussian { y: f64, t: f64 },
}

/// One update to be done.
pub(crate) struct Problem {
    pub prior: Belief,
    pub shape: Shape,
    /// All targets; after `sort`, in descending order of their means, ties in ascending order of their variances.
    pub targets: SmallVec<[Target; INLINE]>,
    /// Least and greatest of the prior mean and the target means.
    pub range: (f64, f64),
}

impl Default for Problem {
    fn default() -> Self {
        Self {
            prior: Belief::STANDARD,
            shape: Shape::Gaussian { y: 0.0, t: 0.0 },
            targets: SmallVec::new(),
            range: (0.0, 0.0),
        }
    }
}

impl Problem {
    /// Takes over a transition that has been checked already.
    #[inline]
    pub fn load(&mut self, transition: &Transition) -> Result<()> {
        let (prior, reward, discount) = (transition.prior(), transition.reward(), transition.discount());
        match transition.next() {
            Next::Terminal { target_var } => {
                self.load_terminal(prior, reward, target_var);
                Ok(())
            }
            Next::Beliefs(next) => self.load_beliefs(prior, reward, discount, next.iter().copied()),
        }
    }

    /// The episode ended: the target is r, with its own variance. The caller has checked both.
    #[inline]
    pub fn load_terminal(&mut self, prior: Belief, reward: f64, target_var: f64) {
        self.prior = prior;
        self.targets.clear();
        self.range = ordered(prior.mean(), reward);
        self.shape = Shape::Gaussian { y: reward - prior.mean(), t: target_var };
    }

    /// The target is r + γ max over these beliefs. The caller has checked r and γ.
    #[inline]
    pub fn load_beliefs(
        &mut self,
        prior: Belief,
        reward: f64,
        discount: f64,
        next: impl Iterator<Item = Belief>,
    ) -> Result<()> {
        let mu_0 = prior.mean();
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut narrowest = f64::INFINITY;
        self.targets.clear();
        self.targets.extend(next.enumerate().map(|(action, belief)| {
            let mean = reward + discount * belief.mean();
            let t = discount * discount * belief.var();
            least = if mean < least { mean } else { least };
            greatest = if mean > greatest { mean } else { greatest };
            narrowest = if t < narrowest { t } else { narrowest };
            Target { y: mean - mu_0, t, p: 1.0 / t, action: action as u32 }
        }));
        self.prior = prior;
        self.range = (least.min(mu_0), greatest.max(mu_0));
        self.shape = match self.targets.as_slice() {
            [] => return Err(Error::NoActions),
            // Every γ so small brings all targets to the same place.
            _ if narrowest < POINT => Shape::Gaussian { y: greatest - mu_0, t: 0.0 },
            [only] => Shape::Gaussian { y: only.y, t: only.t },
            _ => Shape::Maximum,
        };
        Ok(())
    }

    /// Sorts the targets. Whoever depends on their order calls this first.
    #[inline]
    pub fn sort(&mut self) {
        sort_descending(&mut self.targets);
    }

    /// From moments to a belief: floor applied, and nothing that is not finite gets out.
    #[inline]
    pub fn belief(&self, moments: Moments, floor: f64) -> Result<Belief> {
        Belief::new(moments.mean, moments.var.max(floor))
            .map_err(|_| Error::NotRepresentable { mean: moments.mean, var: moments.var })
    }

    /// The product of the Gaussian prior and a Gaussian target at `y` with variance `t` (a Kalman update).
    #[inline]
    pub fn gaussian_product(&self, y: f64, t: f64) -> Result<Moments> {
        if t == 0.0 {
            return Err(Error::PointMass);
        }
        let v_0 = self.prior.var();
        let gain = v_0 / (v_0 + t);
        let mean = (self.prior.mean() + gain * y).clamp(self.range.0, self.range.1);
        Ok(Moments { mean, var: gain * t })
    }
}

fn ordered(a: f64, b: f64) -> (f64, f64) {
    if a <= b { (a, b) } else { (b, a) }
}

#[inline]
fn sort_descending(targets: &mut [Target]) {
    let before = |a: &Target, b: &Target| a.y > b.y || (a.y == b.y && a.t < b.t);
    if targets.len() <= INLINE {
        // Insertion sort: fastest for so few, and it has nothing to allocate or to inline.
        for i in 1..targets.len() {
            let target = targets[i];
            let mut hole = i;
            while hole > 0 && before(&target, &targets[hole - 1]) {
                targets[hole] = targets[hole - 1];
                hole -= 1;
            }
            targets[hole] = target;
        }
    } else {
        targets.sort_unstable_by(|a, b| match (before(a, b), before(b, a)) {
            (true, _) => Ordering::Less,
            (_, true) => Ordering::Greater,
            _ => Ordering::Equal,
        });
    }
}
