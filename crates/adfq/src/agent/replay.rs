//! Tabular experience replay as the ADFQ authors use it in stochastic domains: each (s,a) remembers its own last
//! transitions. What an agent makes of the draws is the agent's business.

use super::Step;
use super::table::{Shape, setting};
use crate::Result;
use rand::{Rng, RngExt};

/// The bit of a stored next state that says that the episode ended there.
const TERMINAL: u32 = 1 << 31;

/// A ring of the last transitions of every (s,a), 12 bytes each.
///
/// ```
/// use adfq::agent::{Replay, Step};
/// use adfq::random::stream;
///
/// let mut replay = Replay::new(3, 2, Replay::CAPACITY)?;
/// let step = Step { state: 1, action: 0, reward: 0.5, next_state: 2, terminal: false };
/// replay.push(&step)?;
/// let drawn: Vec<Step> = replay.draw(1, 0, Replay::DRAWS, &mut stream(0, "replay")).collect();
/// assert_eq!(drawn, [step; 20]);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Replay {
    shape: Shape,
    capacity: usize,
    rewards: Vec<f64>,
    next_states: Vec<u32>,
    /// How many transitions of each pair were ever stored.
    pushed: Vec<u64>,
}

impl Replay {
    /// How many transitions of a pair the authors keep.
    pub const CAPACITY: usize = 200;
    /// How many of them an update of theirs draws.
    pub const DRAWS: usize = 20;

    /// An empty memory of `capacity` transitions for each pair.
    pub fn new(states: usize, actions: usize, capacity: usize) -> Result<Self> {
        let shape = Shape::new(states, actions)?;
        setting("capacity", capacity as f64, capacity > 0, "at least 1")?;
        setting("states", states as f64, states <= TERMINAL as usize, "at most 2^31")?;
        let slots = shape.len() * capacity;
        let (rewards, next_states) = (vec![0.0; slots], vec![0; slots]);
        Ok(Self { shape, capacity, rewards, next_states, pushed: vec![0; shape.len()] })
    }

    /// Stores a transition, over the oldest one of its pair if there are `capacity` of them.
    pub fn push(&mut self, step: &Step) -> Result<()> {
        self.shape.check(step)?;
        let pair = self.shape.index(step.state, step.action);
        let slot = pair * self.capacity + (self.pushed[pair] % self.capacity as u64) as usize;
        self.rewards[slot] = step.reward;
        self.next_states[slot] = step.next_state as u32 | if step.terminal { TERMINAL } else { 0 };
        self.pushed[pair] += 1;
        Ok(())
    }

    /// How many transitions of a pair can be drawn.
    pub fn len(&self, state: usize, action: usize) -> usize {
        self.pushed[self.shape.index(state, action)].min(self.capacity as u64) as usize
    }

    /// Whether nothing of a pair can be drawn.
    pub fn is_empty(&self, state: usize, action: usize) -> bool {
        self.len(state, action) == 0
    }

    /// Draws `count` transitions of a pair, uniformly and with replacement; none if none is stored.
    pub fn draw<'a, R: Rng>(
        &'a self,
        state: usize,
        action: usize,
        count: usize,
        rng: &'a mut R,
    ) -> impl Iterator<Item = Step> + 'a {
        let stored = self.len(state, action);
        let first = self.shape.index(state, action) * self.capacity;
        (0..if stored == 0 { 0 } else { count }).map(move |_| {
            let slot = first + rng.random_range(0..stored);
            let next = self.next_states[slot];
            Step {
                state,
                action,
                reward: self.rewards[slot],
                next_state: (next & !TERMINAL) as usize,
                terminal: next & TERMINAL != 0,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn step(index: u32) -> Step {
        let (reward, next_state) = (f64::from(index), index as usize % 2);
        Step { state: 1, action: 1, reward, next_state, terminal: index.is_multiple_of(3) }
    }

    #[test]
    fn keeps_the_last_and_draws_them_evenly() {
        let mut replay = Replay::new(2, 2, 5).unwrap();
        (0..12).for_each(|i| replay.push(&step(i)).unwrap());
        assert_eq!((replay.len(1, 1), replay.len(0, 1)), (5, 0));
        let mut counts = [0; 12];
        for drawn in replay.draw(1, 1, 50_000, &mut stream(1, "draw")) {
            assert_eq!(drawn, step(drawn.reward as u32));
            counts[drawn.reward as usize] += 1;
        }
        assert_eq!(counts[..7], [0; 7]);
        // 10,000 expected each, sd 89.
        assert!(counts[7..].iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
    }

    #[test]
    fn an_empty_pair_draws_nothing() {
        let replay = Replay::new(2, 2, 5).unwrap();
        assert_eq!(replay.draw(0, 0, 20, &mut stream(1, "draw")).count(), 0);
        assert!(replay.is_empty(0, 0));
    }
}
