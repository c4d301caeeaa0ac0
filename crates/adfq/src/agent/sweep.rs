//! Which pairs a sweep looks at again: first those whose next states have changed, then all others in turn. Split ADFQ
//! and the agents that plan with a model share it.

use std::collections::VecDeque;

/// A queue of pairs, none of them twice, and a list of all that were ever tried.
#[derive(Clone, Debug)]
pub(super) struct SweepQueue {
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    tried: Vec<usize>,
    turn: usize,
}

impl SweepQueue {
    pub fn new(pairs: usize) -> Self {
        Self { queue: VecDeque::new(), queued: vec![false; pairs], tried: Vec::new(), turn: 0 }
    }

    /// Adds a pair that is tried for the first time to those that have turns.
    pub fn welcome(&mut self, pair: usize) {
        self.tried.push(pair);
    }

    /// Puts a pair into the queue, unless it is there.
    pub fn push(&mut self, pair: usize) {
        if !std::mem::replace(&mut self.queued[pair], true) {
            self.queue.push_back(pair);
        }
    }

    /// The next pair of the queue alone.
    pub fn pop(&mut self) -> Option<usize> {
        let pair = self.queue.pop_front()?;
        self.queued[pair] = false;
        Some(pair)
    }

    /// The next pair; nothing if none was ever tried.
    pub fn next(&mut self) -> Option<usize> {
        if let Some(pair) = self.pop() {
            return Some(pair);
        }
        self.turn = if self.turn + 1 < self.tried.len() { self.turn + 1 } else { 0 };
        self.tried.get(self.turn).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_comes_first_and_then_everybody_in_turn() {
        let mut queue = SweepQueue::new(5);
        assert_eq!(queue.next(), None);
        [4, 0, 3].iter().for_each(|&pair| queue.welcome(pair));
        [3, 1, 3].iter().for_each(|&pair| queue.push(pair));
        let order: Vec<_> = (0..6).map(|_| queue.next().unwrap()).collect();
        assert_eq!(order, [3, 1, 0, 3, 4, 0]);
        queue.push(4);
        assert_eq!((queue.pop(), queue.pop()), (Some(4), None));
    }
}
