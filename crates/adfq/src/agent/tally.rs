//! What every pair has led to, next state by next state, and which pairs lead to a state. Counts and rewards only: what
//! an outcome is worth is asked anew whenever it matters. Split ADFQ and all agents with a model share it.

use crate::agent::Step;
use crate::agent::table::Shape;

/// Where a pair has led, how often, and what it paid on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The state s′; nothing where the episode ended.
    pub next: Option<usize>,
    pub count: f64,
    /// The mean reward, and the sum of squares about it.
    pub reward: f64,
    pub scatter: f64,
}

impl Outcome {
    /// Welford (1962): equal rewards leave a scatter of exactly 0.
    fn add(&mut self, reward: f64) {
        self.count += 1.0;
        let off = reward - self.reward;
        self.reward += off / self.count;
        self.scatter += off * (reward - self.reward);
    }
}

/// The tally of all pairs.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    shape: Shape,
    outcomes: Vec<Vec<Outcome>>,
    visits: Vec<u32>,
    /// For each state the pairs that have led there.
    predecessors: Vec<Vec<usize>>,
}

impl Tally {
    pub fn new(shape: Shape) -> Self {
        let (outcomes, visits) = (vec![Vec::new(); shape.len()], vec![0; shape.len()]);
        Self { shape, outcomes, visits, predecessors: vec![Vec::new(); shape.states] }
    }

    /// Counts one transition of a pair; returns whether the pair has never led there before.
    pub fn count(&mut self, step: &Step) -> bool {
        let pair = self.shape.index(step.state, step.action);
        let next = (!step.terminal).then_some(step.next_state);
        self.visits[pair] = self.visits[pair].saturating_add(1);
        let outcomes = &mut self.outcomes[pair];
        match outcomes.iter_mut().find(|outcome| outcome.next == next) {
            Some(outcome) => {
                outcome.add(step.reward);
                false
            }
            None => {
                outcomes.push(Outcome { next, count: 1.0, reward: step.reward, scatter: 0.0 });
                next.into_iter().for_each(|state| self.predecessors[state].push(pair));
                true
            }
        }
    }

    #[inline]
    pub fn outcomes(&self, pair: usize) -> &[Outcome] {
        &self.outcomes[pair]
    }

    #[inline]
    pub fn visits(&self, pair: usize) -> u32 {
        self.visits[pair]
    }

    #[inline]
    pub fn predecessors(&self, state: usize) -> &[usize] {
        &self.predecessors[state]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_apart_by_next_state() {
        let mut tally = Tally::new(Shape::new(3, 2).unwrap());
        let step = Step { state: 1, action: 0, reward: 0.5, next_state: 2, terminal: false };
        for step in [step, step, Step { reward: 2.0, ..step }, Step { terminal: true, ..step }] {
            tally.count(&step);
        }
        let [there, ended] = tally.outcomes(2) else { panic!("{:?}", tally.outcomes(2)) };
        assert_eq!((there.next, there.count, there.reward, there.scatter), (Some(2), 3.0, 1.0, 1.5));
        assert_eq!((ended.next, ended.count, ended.reward, ended.scatter), (None, 1.0, 0.5, 0.0));
        assert_eq!((tally.visits(2), tally.predecessors(2), tally.predecessors(1)), (4, &[2][..], &[][..]));
    }
}
