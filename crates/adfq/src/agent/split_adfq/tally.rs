//! What every pair has led to, outcome by outcome, and which pairs lead to a state. Counts only: what an outcome is
//! worth is asked anew whenever it matters.

use crate::agent::Step;
use crate::agent::table::Shape;

/// A way in which a pair turned out, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    pub reward: f64,
    /// The state s′; nothing where the episode ended.
    pub next: Option<usize>,
    pub count: f64,
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

    /// Counts one transition of a pair.
    pub fn count(&mut self, step: &Step) {
        let pair = self.shape.index(step.state, step.action);
        let (reward, next) = (step.reward, (!step.terminal).then_some(step.next_state));
        self.visits[pair] = self.visits[pair].saturating_add(1);
        let outcomes = &mut self.outcomes[pair];
        match outcomes.iter_mut().find(|o| o.reward == reward && o.next == next) {
            Some(outcome) => outcome.count += 1.0,
            None => {
                if let Some(state) = next
                    && outcomes.iter().all(|o| o.next != next)
                {
                    self.predecessors[state].push(pair);
                }
                outcomes.push(Outcome { reward, next, count: 1.0 });
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
    fn outcomes_are_told_apart_and_predecessors_named_once() {
        let mut tally = Tally::new(Shape::new(3, 2).unwrap());
        let step = Step { state: 1, action: 0, reward: 0.5, next_state: 2, terminal: false };
        for step in [step, step, Step { reward: 1.0, ..step }, Step { terminal: true, ..step }] {
            tally.count(&step);
        }
        let counts: Vec<_> = tally.outcomes(2).iter().map(|o| (o.reward, o.next, o.count)).collect();
        assert_eq!(counts, [(0.5, Some(2), 2.0), (1.0, Some(2), 1.0), (0.5, None, 1.0)]);
        assert_eq!((tally.visits(2), tally.predecessors(2), tally.predecessors(1)), (4, &[2][..], &[][..]));
    }
}
