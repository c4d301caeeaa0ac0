//! How often a pair that was tried a few times still does something new: how soon its beliefs may rule out a surprise.

/// Only the first visits of a pair tell how often new outcomes appear: a pair that is tried all the time would drown the rest.
const EARLY: u32 = 4;

/// The rate expected before anything is seen, and how many visits that counts for.
const RATE: f64 = 0.25;
const WEIGHT: f64 = 1.0;

/// The share of a surprise that one visit leaves is this many rates, and at most `MOST`.
const RATES: f64 = 3.0;
const MOST: f64 = 0.5;

/// Counts over all pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Novelty {
    visits: f64,
    found: f64,
}

impl Novelty {
    /// Takes in one more visit to a pair that had so many, and whether its outcome was a new one.
    pub fn note(&mut self, before: u32, new: bool) {
        if (1..=EARLY).contains(&before) {
            self.visits += 1.0;
            self.found += f64::from(u8::from(new));
        }
    }

    /// The share of a surprise that beliefs still hold possible after so many visits without it. Where every pair always does
    /// the same, one visit is enough.
    pub fn left(&self, visits: u32) -> f64 {
        let rate = (self.found + RATE * WEIGHT) / (self.visits + WEIGHT);
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
            wild.note(EARLY + 1, false);
            wild.note(0, true);
        }
        assert!(sure.left(1) < 1e-3 && (wild.left(1) - MOST).abs() < 1e-12);
    }
}
