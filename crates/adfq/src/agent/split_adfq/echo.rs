//! How soon the greedy policy comes back to a state: the echo ρ(s) = E[γ^τ], τ the time of the first return.
//!
//! It is measured on an imagined walk through the tally, one step for each real one: greedy actions, outcomes drawn
//! as often as they were seen, and an end with probability 1-γ at each step, so that ρ(s) is simply the share of
//! visits after which the walk came back.

use crate::agent::table::{Shape, argmax};
use crate::agent::tally::Tally;
use crate::random::ChaCha8Rng;
use rand::RngExt;

/// An unknown echo is taken to be as long as it can be, with this weight against what the walk has counted.
const CAUTION: f64 = 2.0;

/// Beyond this, (1+ρ)/(1-ρ) would say little more than that something returns for ever.
const LONGEST: f64 = 0.999;

/// The imagined walk and what it has counted.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    /// Where the walk is; nowhere when it has ended.
    at: Option<usize>,
    /// The number of this walk, and for each state the last one that came by.
    walk: u64,
    last: Vec<u64>,
    visits: Vec<f64>,
    returns: Vec<f64>,
    rng: ChaCha8Rng,
}

impl Echo {
    pub fn new(shape: Shape, rng: ChaCha8Rng) -> Self {
        let zeros = || vec![0.0; shape.states];
        Self { at: None, walk: 0, last: vec![0; shape.states], visits: zeros(), returns: zeros(), rng }
    }

    /// ρ(s).
    #[inline]
    pub fn at(&self, state: usize, gamma: f64) -> f64 {
        ((self.returns[state] + CAUTION * gamma) / (self.visits[state] + CAUTION)).min(LONGEST)
    }

    /// One step of the walk; a new one begins at `here`, where the agent really is.
    pub fn step(&mut self, here: usize, gamma: f64, shape: Shape, means: &[f64], tally: &Tally) {
        let goes_on = self.rng.random::<f64>() < gamma;
        let state = match self.at.filter(|_| goes_on) {
            Some(state) => state,
            None => {
                self.walk += 1;
                here
            }
        };
        self.returns[state] += f64::from(u8::from(self.last[state] == self.walk));
        self.visits[state] += 1.0;
        self.last[state] = self.walk;
        let pair = shape.index(state, argmax(&means[shape.row(state)]));
        self.at = self.draw(pair, tally);
    }

    /// Where the pair leads this time: nowhere if the episode ends or the pair has never been tried.
    fn draw(&mut self, pair: usize, tally: &Tally) -> Option<usize> {
        let mut rest = self.rng.random::<f64>() * f64::from(tally.visits(pair));
        let drawn = tally.outcomes(pair).iter().find(|outcome| {
            rest -= outcome.count;
            rest < 0.0
        });
        drawn.and_then(|outcome| outcome.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Step;
    use crate::random::stream;

    /// A ring of three states is back after three steps: ρ = γ³. Where the episode ends nothing comes back.
    #[test]
    fn the_echo_of_a_ring() {
        let (shape, gamma) = (Shape::new(4, 1).unwrap(), 0.9);
        let (mut tally, mut echo) = (Tally::new(shape), Echo::new(shape, stream(1, "echo")));
        for (state, next_state, terminal) in [(0, 1, false), (1, 2, false), (2, 0, false), (3, 0, true)] {
            tally.count(&Step { state, action: 0, reward: 0.0, next_state, terminal });
        }
        assert_eq!(echo.at(0, gamma), gamma);
        for _ in 0..60_000 {
            echo.step(0, gamma, shape, &[0.0; 4], &tally);
        }
        assert!((echo.at(0, gamma) - gamma.powi(3)).abs() < 0.01, "{}", echo.at(0, gamma));
        for _ in 0..10_000 {
            echo.step(3, gamma, shape, &[0.0; 4], &tally);
        }
        assert!(echo.at(3, gamma) < 0.01, "{}", echo.at(3, gamma));
    }
}
