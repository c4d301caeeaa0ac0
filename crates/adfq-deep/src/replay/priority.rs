//! Priorities of transitions: pᵢ^α with pᵢ = |δᵢ| + ε (Schaul et al. 2016, §3.3), and the importance weights (§3.4).

use super::settings::PrioritySettings;
use super::sum_tree::{SumTree, TOGETHER};
use rand::{Rng, RngExt};

/// The largest priority before any error is known, as in OpenAI Baselines.
const UNKNOWN: f64 = 1.0;

/// The priorities of all places of a memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Priorities {
    alpha: f64,
    epsilon: f64,
    /// The largest p so far, which new transitions get, so that each is seen soon.
    largest: f64,
    /// `largest`^α.
    fresh: f32,
    /// pᵢ^α of the transitions that can be sampled.
    pub tree: SumTree,
}

impl Priorities {
    pub fn new(settings: PrioritySettings, places: usize) -> Self {
        let (alpha, epsilon) = (f64::from(settings.alpha), f64::from(settings.epsilon));
        let mut new = Self { alpha, epsilon, largest: 0.0, fresh: 0.0, tree: SumTree::new(places) };
        new.set_largest(UNKNOWN);
        new
    }

    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The power of the largest.
    #[cfg(feature = "cuda")]
    pub fn fresh(&self) -> f32 {
        self.fresh
    }

    pub fn set_largest(&mut self, largest: f64) {
        self.largest = largest;
        self.fresh = self.powered(largest);
    }

    /// p^α as the tree keeps it: neither zero, which would say absent, nor infinite.
    fn powered(&self, p: f64) -> f32 {
        (libm::pow(p, self.alpha) as f32).clamp(f32::MIN_POSITIVE, f32::MAX)
    }

    /// A transition came, with the largest priority so far, or went.
    pub fn change(&mut self, place: usize, present: bool) {
        self.tree.set(place, if present { self.fresh } else { 0.0 });
    }

    /// The error of a transition that is there is known.
    pub fn learn(&mut self, place: usize, error: f32) {
        let p = f64::from(error).abs() + self.epsilon;
        self.tree.set(place, self.powered(p));
        if p > self.largest {
            self.set_largest(p);
        }
    }

    /// Draws `batch` places, one from each of as many equal parts of the sum, and hands on each with its weight.
    ///
    /// The weight is (N P(i))^-β over its largest value in the whole memory, as in OpenAI Baselines. The largest is that
    /// of the smallest priority, N and the sum cancel, and what is left is (min p^α / pᵢ^α)^β.
    pub fn draw(&self, batch: usize, beta: f32, rng: &mut impl Rng, mut take: impl FnMut(usize, f32)) {
        let (part, smallest) = (self.tree.total() / batch as f64, f64::from(self.tree.minimum()));
        let (mut points, mut places) = ([0.0; TOGETHER], [0; TOGETHER]);
        for first in (0..batch).step_by(TOGETHER) {
            let count = TOGETHER.min(batch - first);
            let (points, places) = (&mut points[..count], &mut places[..count]);
            for (i, point) in points.iter_mut().enumerate() {
                *point = part * ((first + i) as f64 + rng.random::<f64>());
            }
            self.tree.find(points, places);
            for &place in &*places {
                let ratio = smallest / f64::from(self.tree.get(place as usize));
                take(place as usize, libm::pow(ratio, f64::from(beta)) as f32);
            }
        }
    }
}
