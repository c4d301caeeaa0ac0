//! What every tabular agent shares: its table of estimates, and the two questions it asks of a row.

use super::Step;
use crate::{Error, Result};
use std::ops::Range;

/// The shape |S| × |A| of a table stored state by state, so that the actions of a state are contiguous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub states: usize,
    pub actions: usize,
}

impl Shape {
    /// A table with at least one state and one action.
    pub fn new(states: usize, actions: usize) -> Result<Self> {
        for (name, count) in [("states", states), ("actions", actions)] {
            if count == 0 {
                return Err(Error::Setting { name, value: 0.0, need: "at least 1" });
            }
        }
        Ok(Self { states, actions })
    }

    /// Number of entries |S||A|.
    pub fn len(self) -> usize {
        self.states * self.actions
    }

    /// Where (s,a) is.
    #[inline]
    pub fn index(self, state: usize, action: usize) -> usize {
        state * self.actions + action
    }

    /// Where the actions of a state are.
    #[inline]
    pub fn row(self, state: usize) -> Range<usize> {
        state * self.actions..(state + 1) * self.actions
    }

    /// Whether an agent with this table can learn from the transition.
    #[inline]
    pub fn check(self, step: &Step) -> Result<()> {
        let fits = step.state < self.states
            && step.action < self.actions
            && step.next_state < self.states
            && step.reward.is_finite();
        if fits { Ok(()) } else { Err(self.misfit(step)) }
    }

    #[cold]
    fn misfit(self, step: &Step) -> Error {
        let Self { states, actions } = self;
        for (what, value, count) in [
            ("state", step.state, states),
            ("action", step.action, actions),
            ("next state", step.next_state, states),
        ] {
            if value >= count {
                return Error::OutOfRange { what, value, count };
            }
        }
        Error::Reward(step.reward)
    }
}

/// The estimates of a tabular agent: one number for each (s,a). The actions of a state are next to each other.
///
/// ```
/// use adfq::agent::QTable;
///
/// let mut table = QTable::new(3, 2, 0.0)?;
/// table.set(1, 0, 5.0);
/// assert_eq!((table.states(), table.row(1)), (3, &[5.0, 0.0][..]));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QTable {
    pub(crate) shape: Shape,
    pub(crate) means: Vec<f64>,
}

impl QTable {
    /// A table with at least one state and one action, filled with a finite number.
    pub fn new(states: usize, actions: usize, initial: f64) -> Result<Self> {
        let shape = Shape::new(states, actions)?;
        setting("initial", initial, initial.is_finite(), "finite")?;
        Ok(Self { shape, means: vec![initial; shape.len()] })
    }

    /// Number of states |S|.
    #[inline]
    pub fn states(&self) -> usize {
        self.shape.states
    }

    /// Number of actions |A|.
    #[inline]
    pub fn actions(&self) -> usize {
        self.shape.actions
    }

    /// The estimates of a state, one for each action.
    ///
    /// # Panics
    /// If there is no such state, like an index into a slice.
    #[inline]
    pub fn row(&self, state: usize) -> &[f64] {
        &self.means[self.shape.row(state)]
    }

    /// Changes the estimate of (s,a).
    ///
    /// # Panics
    /// If there is no such pair.
    #[inline]
    pub fn set(&mut self, state: usize, action: usize, value: f64) {
        self.means[self.shape.row(state)][action] = value;
    }

    /// Whether an agent with this table can learn from the transition; the error says why not.
    #[inline]
    pub fn check(&self, step: &Step) -> Result<()> {
        self.shape.check(step)
    }

    /// Number of pairs (s,a).
    pub(crate) fn len(&self) -> usize {
        self.means.len()
    }
}

/// The discount γ, which must lie in [0, 1]; 1 makes sense where every episode ends.
pub(crate) fn discount(value: f64) -> Result<f64> {
    setting("discount", value, (0.0..=1.0).contains(&value), "between 0 and 1")
}

/// `value` where it is `good`, else an error that says what the setting `name` needs.
pub(crate) fn setting(name: &'static str, value: f64, good: bool, need: &'static str) -> Result<f64> {
    if good { Ok(value) } else { Err(Error::Setting { name, value, need }) }
}

/// The largest value of a row. Written as a comparison, which compiles to one `maxsd`, where `f64::max` has
/// to think of NaN.
#[inline]
pub(crate) fn maximum(row: &[f64]) -> f64 {
    row.iter().fold(f64::NEG_INFINITY, |best, &q| if q > best { q } else { best })
}

/// The first action with the largest value.
#[inline]
pub(crate) fn argmax(row: &[f64]) -> usize {
    let mut best = 0;
    for (action, &q) in row.iter().enumerate() {
        if q > row[best] {
            best = action;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misfit_is_named() {
        let shape = Shape::new(3, 2).unwrap();
        let step = Step { state: 0, action: 0, reward: 1.0, next_state: 1, terminal: false };
        assert_eq!(shape.check(&step), Ok(()));
        assert_eq!(
            shape.check(&Step { action: 2, ..step }),
            Err(Error::OutOfRange { what: "action", value: 2, count: 2 })
        );
        assert_eq!(
            shape.check(&Step { next_state: 3, ..step }),
            Err(Error::OutOfRange { what: "next state", value: 3, count: 3 })
        );
        assert!(matches!(shape.check(&Step { reward: f64::NAN, ..step }), Err(Error::Reward(_))));
        assert!(matches!(Shape::new(0, 2), Err(Error::Setting { name: "states", .. })));
    }

    #[test]
    fn the_first_of_equal_actions_is_the_argmax() {
        assert_eq!((argmax(&[1.0, 3.0, 3.0]), maximum(&[1.0, 3.0, 3.0])), (1, 3.0));
    }
}
