//! What pairs have in common: how noisy their targets are, what they are worth on average, and how far their values lie
//! from that. A pair that was tried seldom is judged by the others. What one that was never tried may be worth at most is not
//! their business but that of `scale`.

use super::SplitSettings;
use crate::Belief;
use crate::update::split::{SplitBelief, SplitPrior};

/// Sums over all pairs that were tried, kept up to date pair by pair.
#[derive(Clone, Debug)]
pub(super) struct Population {
    settings: SplitSettings,
    /// The mean of a pair before anything is seen.
    center: f64,
    /// Over all pairs.
    sum: Share,
    /// How many pairs were tried.
    pairs: f64,
    shares: Vec<Share>,
}

/// What a pair contributes.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// S / (√n + 1).
    scatter: f64,
    /// √n - 1.
    degrees: f64,
    /// μ less the center, and its square.
    off: f64,
    square: f64,
}

impl Population {
    pub fn new(pairs: usize, center: f64, settings: SplitSettings) -> Self {
        let (sum, shares) = (Share::default(), vec![Share::default(); pairs]);
        Self { settings, center, sum, pairs: 0.0, shares }
    }

    /// The mean of a pair before anything is seen.
    pub fn center(&self) -> f64 {
        self.center
    }

    /// How many pairs were tried.
    pub fn tried(&self) -> f64 {
        self.pairs
    }

    /// What pairs are like. The range of possible values, `scale`, counts as one pair, or as one observation; `least` is the
    /// least variance that may be learned.
    #[inline]
    pub fn prior(&self, scale: Belief, least: f64) -> SplitPrior {
        let (m_0, v_0) = (self.center, scale.var());
        // Differences of sums may end below 0 by a rounding.
        let Share { scatter, degrees, off, square } = self.sum;
        let (mut noise, mut shift, mut var) = (self.settings.noise * v_0, 0.0, v_0);
        if self.settings.learn_noise {
            noise = (noise + scatter.max(0.0)) / (1.0 + degrees);
        }
        if self.settings.learn_mean {
            shift = off / (1.0 + self.pairs);
        }
        if self.settings.learn_spread {
            // About the mean: Σ (x - m̄)² = Σ x² - n m̄².
            var = ((v_0 + square.max(0.0)) / (1.0 + self.pairs) - shift * shift).max(least);
        }
        SplitPrior { belief: Belief::trusted(m_0 + shift, var), noise }
    }

    /// Takes in what a pair is after so many visits, in place of what it was.
    ///
    /// Its noise S/(n-1) has the weight √n - 1: by n - 1 a few pairs that are visited all the time, and are perhaps
    /// certain, would speak for the rest.
    #[inline]
    pub fn note(&mut self, pair: usize, visits: u32, belief: &SplitBelief) {
        let off = belief.mean - self.center;
        let root = f64::from(visits).sqrt();
        let new =
            Share { scatter: belief.scatter / (root + 1.0), degrees: root - 1.0, off, square: off * off };
        let old = std::mem::replace(&mut self.shares[pair], new);
        self.sum.scatter += new.scatter - old.scatter;
        self.sum.degrees += new.degrees - old.degrees;
        self.sum.off += new.off - old.off;
        self.sum.square += new.square - old.square;
    }

    /// Counts a pair that is tried for the first time.
    pub fn welcome(&mut self) {
        self.pairs += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::split::{Target, update};

    #[test]
    fn what_pairs_show_outweighs_the_range_of_values() {
        let settings = SplitSettings { noise: 0.5, ..SplitSettings::default() };
        let mut population = Population::new(2, 0.0, settings);
        let prior = |population: &Population| population.prior(Belief::new(0.0, 100.0).unwrap(), 0.01);
        assert_eq!((prior(&population).noise, prior(&population).belief.var()), (50.0, 100.0));
        // Two pairs, each with outcomes 1 and 3 equally often: S = n about their mean 2.
        for round in 1..=2_000 {
            for pair in 0..2 {
                let tally =
                    [1.0, 3.0].map(|mean| Target { count: f64::from(round), mean, scatter: 0.0, var: 0.0 });
                let belief = update(&prior(&population), tally, 0.0).unwrap();
                population.note(pair, 2 * round, &belief);
                if round == 1 {
                    population.welcome();
                }
            }
        }
        let SplitPrior { belief, noise } = prior(&population);
        // 50 + 2 · 4000/64.2 over 1 + 2 · 62.2.
        assert!(
            (noise - (50.0 + 2.0 * 4e3 / (4e3_f64.sqrt() + 1.0)) / (2.0 * 4e3_f64.sqrt() - 1.0)).abs() < 1e-9
        );
        // At first 0 ± 10, then twice 2: on average 4/3; (100 + 2 · 4)/3 about 0, less (4/3)² about that.
        assert!((belief.mean() - 4.0 / 3.0).abs() < 0.01, "{}", belief.mean());
        assert!((belief.var() - (36.0 - 16.0 / 9.0)).abs() < 0.1, "{}", belief.var());
    }

    #[test]
    fn nothing_is_learned_unless_asked_for() {
        let settings = SplitSettings {
            learn_noise: false,
            learn_mean: false,
            learn_spread: false,
            ..SplitSettings::default()
        };
        let scale = Belief::new(0.0, 100.0).unwrap();
        let mut population = Population::new(1, 0.0, settings);
        let before = population.prior(scale, 0.01);
        let belief =
            update(&before, [Target { count: 9.0, mean: 7.0, scatter: 0.0, var: 0.0 }], 0.0).unwrap();
        population.note(0, 9, &belief);
        population.welcome();
        assert_eq!(population.prior(scale, 0.01), before);
    }
}
