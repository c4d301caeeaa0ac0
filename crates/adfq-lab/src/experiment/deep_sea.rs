//! DeepSea's own measure: after how many episodes an agent has solved it.

use super::solved_domain::Domain;
use adfq::agent::Step;
use serde::{Deserialize, Serialize};

/// Good episodes before DeepSea may count as solved, so that a lucky start is none.
const ENOUGH: u64 = 10;

/// What is known of the episodes of DeepSea so far.
///
/// An episode is good if the agent never turns left on the diagonal, the way to the treasure (`bsuite`'s measure: in the
/// stochastic version a slip is no fault of the agent's).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeepSea {
    pub episodes: u64,
    pub good: u64,
    /// The first good episode, from 1.
    pub first: Option<u64>,
    /// The first episode at which more than a tenth of all episodes so far were good, and at least ten: `bsuite`'s
    /// criterion.
    pub solved: Option<u64>,
    /// The same with more than a half: an average regret below ½ (Osband et al. 2019).
    pub mastered: Option<u64>,
}

/// Watches the steps of an agent in DeepSea.
pub(super) struct Watcher {
    /// Whether a state lies on the diagonal.
    diagonal: Vec<bool>,
    turned: bool,
    pub seen: DeepSea,
}

impl Watcher {
    /// A watcher, if this is a DeepSea in which action 1 is right everywhere.
    pub(super) fn new(domain: &Domain) -> Option<Self> {
        let size = domain.mdp.name().strip_prefix("deepsea-")?;
        let size: usize = size.strip_suffix("-stochastic").unwrap_or(size).parse().ok()?;
        let mut diagonal = vec![false; domain.mdp.states()];
        // Row r has r + 1 cells, so its last one is number r(r + 1)/2 + r.
        (0..size).for_each(|row| diagonal[row * (row + 3) / 2] = true);
        Some(Self { diagonal, turned: false, seen: DeepSea::default() })
    }

    pub(super) fn see(&mut self, step: &Step) {
        self.turned |= self.diagonal[step.state] && step.action == 0;
        if step.terminal {
            self.seen.count(!std::mem::take(&mut self.turned));
        }
    }
}

impl DeepSea {
    fn count(&mut self, good: bool) {
        self.episodes += 1;
        self.good += u64::from(good);
        let (episode, good) = (self.episodes, self.good);
        if good > 0 {
            self.first.get_or_insert(episode);
        }
        if good >= ENOUGH && 10 * good > episode {
            self.solved.get_or_insert(episode);
        }
        if good >= ENOUGH && 2 * good > episode {
            self.mastered.get_or_insert(episode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_left_on_the_diagonal_is_a_fault() {
        let sea = Domain::named("deepsea-3").unwrap();
        let mut watcher = Watcher::new(&sea).unwrap();
        assert_eq!(watcher.diagonal, [true, false, true, false, false, true, false]);
        // To the treasure; then a slip in the second row, after which left is no fault; then a fault at the start.
        let treasure = [(0, 1, false), (2, 1, false), (5, 1, true)];
        let slip = [(0, 1, false), (1, 0, false), (3, 0, true)];
        let fault = [(0, 0, false), (1, 1, false), (4, 1, true)];
        for (state, action, terminal) in [treasure, slip, fault].concat() {
            watcher.see(&Step { state, action, reward: 0.0, next_state: 0, terminal });
        }
        assert_eq!((watcher.seen.episodes, watcher.seen.good, watcher.seen.first), (3, 2, Some(1)));
        assert!(Watcher::new(&Domain::named("maze").unwrap()).is_none());
    }

    #[test]
    fn solved_is_a_tenth_and_mastered_a_half() {
        let mut seen = DeepSea::default();
        (0..200).for_each(|_| seen.count(false));
        (0..300).for_each(|_| seen.count(true));
        // 200 bad ones: k good ones are more than a tenth at k = 23, more than a half at k = 201.
        assert_eq!((seen.first, seen.solved, seen.mastered), (Some(201), Some(223), Some(401)));
        let mut lucky = DeepSea::default();
        (0..9).for_each(|_| lucky.count(true));
        assert_eq!((lucky.first, lucky.solved), (Some(1), None));
    }
}
