//! How often a pair that was tried still does something new: how soon beliefs may rule a surprise out, and how long the
//! optimist waits for what is rare.
//!
//! Pairs count together if they have the same action and have shown as many different outcomes. An action is often alike
//! everywhere: sure in all states, or never. A pair that has shown what such pairs do has nothing left to show.

/// The rate expected before anything is seen. Each doubling of the visits halves what is expected.
const RATE: f64 = 0.25;

/// How many visits an expected rate counts for: that of all pairs, and that of one action.
const WEIGHT: f64 = 1.0;
const OWN_WEIGHT: f64 = 3.0;

/// Pairs are told apart by whether they have shown one outcome, two, or more.
const KINDS: usize = 3;

/// Only the second to fourth visit of a pair tell how soon beliefs may rule a surprise out: a pair that is tried all the
/// time would drown the rest. The share of a surprise that one visit leaves is this many rates, and at most `MOST`.
const EARLY: u32 = 4;
const RATES: f64 = 3.0;
const MOST: f64 = 0.5;

/// Visits, and how many of them brought something new.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    visits: f64,
    found: f64,
}

impl Count {
    fn add(&mut self, new: bool) {
        self.visits += 1.0;
        self.found += f64::from(u8::from(new));
    }

    /// The rate, if `expected` counts for so many visits.
    fn rate(&self, expected: f64, weight: f64) -> f64 {
        (self.found + weight * expected) / (self.visits + weight)
    }
}

/// What visits after the first have brought.
#[derive(Clone, Debug)]
pub(super) struct Novelty {
    /// The second to fourth visits of all pairs.
    early: Count,
    /// By action and number of outcomes, and then by the logarithm of the visits a pair had.
    classes: Vec<[Count; 32]>,
}

impl Novelty {
    pub fn new(actions: usize) -> Self {
        Self { early: Count::default(), classes: vec![[Count::default(); 32]; KINDS * actions] }
    }

    /// Takes in one more visit to a pair that had so many visits and outcomes, and whether its outcome was a new one.
    pub fn note(&mut self, action: usize, outcomes: usize, before: u32, new: bool) {
        let Some(bin) = before.checked_ilog2() else { return };
        self.classes[class(action, outcomes)][bin as usize].add(new);
        if before < EARLY {
            self.early.add(new);
        }
    }

    fn early_rate(&self) -> f64 {
        self.early.rate(RATE, WEIGHT)
    }

    /// The probability that the next visit brings something new, after so many, at least one. Few visits say little, so
    /// the rate of fewer visits speaks too.
    #[inline]
    pub fn rate(&self, action: usize, outcomes: usize, visits: u32) -> f64 {
        let counts = &self.classes[class(action, outcomes)][..=visits.ilog2() as usize];
        // Twice the early rate, of which the first class expects one half.
        counts.iter().fold(2.0 * self.early_rate(), |rate, count| count.rate(0.5 * rate, OWN_WEIGHT))
    }

    /// The share of a surprise that beliefs still hold possible after so many visits without it. Where every pair always does
    /// the same, one visit is enough.
    pub fn left(&self, visits: u32) -> f64 {
        libm::pow((RATES * self.early_rate()).min(MOST), f64::from(visits))
    }
}

/// The place of pairs with this action that have shown so many outcomes, at least one.
fn class(action: usize, outcomes: usize) -> usize {
    KINDS * action + outcomes.min(KINDS) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first `visits` visits of a thousand pairs, of which some bring something new.
    fn note(novelty: &mut Novelty, action: usize, outcomes: usize, visits: u32, new: impl Fn(u32) -> bool) {
        for _ in 0..1_000 {
            (0..visits).for_each(|before| novelty.note(action, outcomes, before, new(before)));
        }
    }

    #[test]
    fn what_never_changes_is_known_at_once() {
        let (mut sure, mut wild) = (Novelty::new(1), Novelty::new(1));
        assert!((sure.left(2) - 0.25).abs() < 1e-12);
        note(&mut sure, 0, 1, 5, |_| false);
        note(&mut wild, 0, 1, 5, |before| before == 2);
        assert!(sure.left(1) < 1e-3 && (wild.left(1) - MOST).abs() < 1e-12);
    }

    /// Pairs that brought something new after a dozen visits make others worth as many. Where nothing did, none is.
    #[test]
    fn what_is_rare_is_waited_for() {
        let (mut sure, mut rare) = (Novelty::new(1), Novelty::new(1));
        assert!((sure.rate(0, 1, 1) - RATE).abs() < 1e-12 && (sure.rate(0, 1, 2) - RATE / 2.0).abs() < 1e-12);
        note(&mut sure, 0, 1, 16, |_| false);
        note(&mut rare, 0, 1, 16, |before| before == 12);
        assert!(sure.rate(0, 1, 12) < 1e-6 && rare.rate(0, 1, 1) < 0.01);
        assert!((rare.rate(0, 1, 12) - 1.0 / 8.0).abs() < 0.01, "{}", rare.rate(0, 1, 12));
        assert!((rare.rate(0, 1, 25) - 1.0 / 16.0).abs() < 0.01, "{}", rare.rate(0, 1, 25));
    }

    /// A sure action says nothing about a wild one, and a pair that has shown two outcomes nothing about one with one.
    #[test]
    fn actions_and_outcomes_are_told_apart() {
        let mut novelty = Novelty::new(2);
        note(&mut novelty, 0, 1, 16, |_| false);
        note(&mut novelty, 1, 1, 8, |before| before >= 4);
        note(&mut novelty, 1, 2, 16, |_| false);
        assert!(novelty.rate(0, 1, 8) < 1e-4 && novelty.rate(1, 2, 8) < 1e-4);
        assert!((novelty.rate(1, 1, 8) - 0.5).abs() < 0.01, "{}", novelty.rate(1, 1, 8));
        assert!(novelty.rate(1, 3, 2) > 0.0 && novelty.rate(1, 3, 2) == novelty.rate(1, 9, 2));
    }
}
