//! How often a pair that was tried still does something new: how soon beliefs may rule a surprise out, and how long the
//! optimist waits for what is rare.
//!
//! All pairs count together, by how often they had been tried: once, two or three times, four to seven times, and so on.

/// The rate expected of a pair tried once before anything is seen. Each doubling of the visits halves what is expected.
const RATE: f64 = 0.25;

/// How many visits an expected rate counts for.
const WEIGHT: f64 = 1.0;

/// Only the second to fourth visit of a pair tell how soon beliefs may rule a surprise out: a pair that is tried all the
/// time would drown the rest. The share of a surprise that one visit leaves is this many rates, and at most `MOST`.
const EARLY: usize = 2;
const RATES: f64 = 3.0;
const MOST: f64 = 0.5;

/// Counts over all pairs, by the logarithm of the visits a pair had.
#[derive(Clone, Debug)]
pub(super) struct Novelty {
    visits: [f64; 32],
    found: [f64; 32],
    /// What follows from the counts.
    rates: [f64; 32],
}

impl Default for Novelty {
    fn default() -> Self {
        let mut novelty = Self { visits: [0.0; 32], found: [0.0; 32], rates: [0.0; 32] };
        novelty.learn(0);
        novelty
    }
}

impl Novelty {
    /// Takes in one more visit to a pair that had so many, and whether its outcome was a new one.
    pub fn note(&mut self, before: u32, new: bool) {
        let Some(bin) = before.checked_ilog2().map(|bin| bin as usize) else { return };
        self.visits[bin] += 1.0;
        self.found[bin] += f64::from(u8::from(new));
        self.learn(bin);
    }

    /// Computes the rates anew from this bin on. Few visits say little, so the rate of fewer visits speaks too.
    fn learn(&mut self, from: usize) {
        for bin in from..self.rates.len() {
            let expected = if bin == 0 { RATE } else { 0.5 * self.rates[bin - 1] };
            self.rates[bin] = (self.found[bin] + WEIGHT * expected) / (self.visits[bin] + WEIGHT);
        }
    }

    /// The probability that the next visit brings something new, after so many, at least one.
    #[inline]
    pub fn rate(&self, visits: u32) -> f64 {
        self.rates[visits.ilog2() as usize]
    }

    /// The share of a surprise that beliefs still hold possible after so many visits without it. Where every pair always does
    /// the same, one visit is enough.
    pub fn left(&self, visits: u32) -> f64 {
        let (found, all): (f64, f64) = (self.found[..EARLY].iter().sum(), self.visits[..EARLY].iter().sum());
        let rate = (found + RATE * WEIGHT) / (all + WEIGHT);
        libm::pow((RATES * rate).min(MOST), f64::from(visits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_changes_is_known_at_once() {
        let (mut sure, mut wild) = (Novelty::default(), Novelty::default());
        assert!((sure.left(2) - 0.25).abs() < 1e-12);
        for _ in 0..1_000 {
            sure.note(1, false);
            wild.note(2, true);
            wild.note(4, false);
            wild.note(0, true);
        }
        assert!(sure.left(1) < 1e-3 && (wild.left(1) - MOST).abs() < 1e-12);
    }

    /// Pairs that brought something new after a dozen visits make others worth as many. Where nothing did, none is.
    #[test]
    fn what_is_rare_is_waited_for() {
        let (mut sure, mut rare) = (Novelty::default(), Novelty::default());
        assert!((sure.rate(1) - RATE).abs() < 1e-12 && (sure.rate(2) - RATE / 2.0).abs() < 1e-12);
        for visits in 0..1_000 {
            sure.note(visits % 16, false);
            rare.note(visits % 16, visits % 16 == 12);
        }
        assert!(sure.rate(12) < 1e-6 && rare.rate(1) < 0.01);
        assert!((rare.rate(12) - 1.0 / 8.0).abs() < 0.01, "{}", rare.rate(12));
        assert!((rare.rate(25) - 1.0 / 16.0).abs() < 0.01, "{}", rare.rate(25));
    }
}
