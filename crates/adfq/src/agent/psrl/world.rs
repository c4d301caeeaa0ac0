//! One MDP drawn from the posterior, and its solution.
//!
//! With counts nᵢ of next states and a prior worth `mass` outcomes spread evenly over all places (the states and the end of
//! the episode), the posterior of a pair is Dirichlet(n + mass/places). A draw of it is a mixture, exactly: weights
//! Gamma(nᵢ) for what was seen and Gamma(mass) for a draw from the prior, which is broken off a stick piece by piece
//! (Sethuraman 1994). So unseen states need no room: a pair has as many outcomes as it has led to, and a few more.

use crate::agent::bayesian_q::NormalGamma;
use crate::agent::table::{Shape, maximum};
use crate::agent::tally::{Outcome, Tally};
use crate::random::ChaCha8Rng;
use rand::RngExt;
use rand_distr::Gamma;

/// A stick of which less than this is left is not broken any more.
const CRUMB: f64 = 0.01;

/// A sweep in which no value moves by more than this share of the range of values is the last one.
const STILL: f64 = 1e-5;

/// What worlds are drawn from and how they are solved, beside the counts.
#[derive(Clone, Debug)]
pub(super) struct Laws {
    pub mass: f64,
    /// The prior of a mean reward.
    pub reward: NormalGamma,
    /// The declared range of rewards, and of values.
    pub rewards: (f64, f64),
    pub values: (f64, f64),
    pub gamma: f64,
    pub sweeps: u32,
}

/// A drawn MDP with its values. The place after the last state is the end of an episode.
#[derive(Clone, Debug)]
pub(super) struct World {
    shape: Shape,
    /// Where the outcomes of each pair begin, and one more number for their end.
    first: Vec<usize>,
    outcomes: Vec<(usize, f64)>,
    rewards: Vec<f64>,
    values: Vec<f64>,
    pub q: Vec<f64>,
}

impl World {
    pub fn new(shape: Shape) -> Self {
        let (rewards, q) = (vec![0.0; shape.len()], vec![0.0; shape.len()]);
        Self {
            shape,
            first: Vec::new(),
            outcomes: Vec::new(),
            rewards,
            values: vec![0.0; shape.states + 1],
            q,
        }
    }

    /// Draws all pairs anew. The values stay, as a start for the next solution.
    pub fn draw(&mut self, laws: &Laws, tally: &Tally, rng: &mut ChaCha8Rng) {
        self.first.clear();
        self.outcomes.clear();
        for pair in 0..self.shape.len() {
            let seen = tally.outcomes(pair);
            self.first.push(self.outcomes.len());
            self.draw_outcomes(laws, seen, rng);
            let (low, high) = laws.rewards;
            self.rewards[pair] = posterior(&laws.reward, seen).sample(rng).clamp(low, high);
        }
        self.first.push(self.outcomes.len());
    }

    fn draw_outcomes(&mut self, laws: &Laws, seen: &[Outcome], rng: &mut ChaCha8Rng) {
        let first = self.outcomes.len();
        let mut sum = 0.0;
        for outcome in seen {
            let weight = gamma(outcome.count, rng);
            self.outcomes.push((outcome.next.unwrap_or(self.shape.states), weight));
            sum += weight;
        }
        // Where nothing was seen, the prior is all there is.
        let mut left = if seen.is_empty() { 1.0 } else { gamma(laws.mass, rng) };
        sum += left;
        let crumb = CRUMB * sum;
        while left > 0.0 {
            let place = rng.random_range(0..=self.shape.states);
            let rest = left * libm::pow(rng.random(), 1.0 / laws.mass);
            let piece = if rest > crumb { left - rest } else { left };
            self.outcomes.push((place, piece));
            left -= piece;
        }
        self.outcomes[first..].iter_mut().for_each(|(_, weight)| *weight /= sum);
    }

    /// Value iteration in place, from the values of the world before, until the values are still or the sweeps are used up.
    /// States are taken from the last to the first and back in turn, so that news travels both ways.
    pub fn solve(&mut self, laws: &Laws) {
        let still = STILL * (laws.values.1 - laws.values.0);
        let states = self.shape.states;
        for sweep in 0..laws.sweeps {
            let mut change: f64 = 0.0;
            for i in 0..states {
                let state = if sweep % 2 == 0 { states - 1 - i } else { i };
                change = change.max(self.back_up(state, laws));
            }
            if change <= still {
                break;
            }
        }
    }

    /// Backs a state up and returns by how much its value has moved.
    fn back_up(&mut self, state: usize, laws: &Laws) -> f64 {
        let row = self.shape.row(state);
        for pair in row.clone() {
            let outcomes = &self.outcomes[self.first[pair]..self.first[pair + 1]];
            let next: f64 =
                outcomes.iter().map(|&(place, probability)| probability * self.values[place]).sum();
            let (low, high) = laws.values;
            self.q[pair] = (self.rewards[pair] + laws.gamma * next).clamp(low, high);
        }
        let value = maximum(&self.q[row]);
        (value - std::mem::replace(&mut self.values[state], value)).abs()
    }
}

/// The posterior of the mean reward of a pair.
fn posterior(prior: &NormalGamma, seen: &[Outcome]) -> NormalGamma {
    let (mut count, mut mean, mut scatter) = (0.0, 0.0, 0.0);
    for outcome in seen {
        let (before, off) = (count, outcome.reward - mean);
        count += outcome.count;
        mean += off * outcome.count / count;
        scatter += outcome.scatter + off * off * before * outcome.count / count;
    }
    prior.posterior_of(count, mean, scatter)
}

/// A draw from the gamma law of this shape and scale 1.
fn gamma(shape: f64, rng: &mut ChaCha8Rng) -> f64 {
    // Counts and masses are positive and finite, so the law exists.
    Gamma::new(shape, 1.0).map_or(0.0, |law| rng.sample(law))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Step;
    use crate::random::stream;

    fn laws(mass: f64) -> Laws {
        let reward = NormalGamma::from_moments(0.0, 0.25, 0.01, 1.5).unwrap();
        Laws { mass, reward, rewards: (0.0, 1.0), values: (0.0, 10.0), gamma: 0.9, sweeps: 1_000 }
    }

    /// Two states, one action: from 0 three times to 1, once back to 0, and nothing from 1.
    fn tally() -> Tally {
        let mut tally = Tally::new(Shape::new(2, 1).unwrap());
        for (next_state, reward) in [(1, 0.4), (1, 0.8), (0, 0.0), (1, 0.6)] {
            tally.count(&Step { state: 0, action: 0, reward, next_state, terminal: false });
        }
        tally
    }

    /// Dirichlet(1 + ½, 3 + ½, ½) over states 0, 1 and the end with a mass of 1.5: means by hand, and the variance
    /// p(1 − p)/(5.5 + 1) of each.
    #[test]
    fn transitions_have_the_moments_of_the_posterior() {
        let (tally, laws, mut rng) = (tally(), laws(1.5), stream(1, "world"));
        let mut world = World::new(Shape::new(2, 1).unwrap());
        let (draws, mut sum, mut squares) = (40_000, [0.0; 3], [0.0; 3]);
        for _ in 0..draws {
            world.draw(&laws, &tally, &mut rng);
            let mut found = [0.0; 3];
            world.outcomes[..world.first[1]].iter().for_each(|&(place, p)| found[place] += p);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for place in 0..3 {
                sum[place] += found[place] / f64::from(draws);
                squares[place] += found[place] * found[place] / f64::from(draws);
            }
        }
        for (place, expected) in [1.5 / 5.5, 3.5 / 5.5, 0.5 / 5.5].into_iter().enumerate() {
            let var = expected * (1.0 - expected) / 6.5;
            assert!((sum[place] - expected).abs() < 0.005, "{place}: {} {expected}", sum[place]);
            assert!((squares[place] - sum[place] * sum[place] - var).abs() < 0.003, "{place}: {var}");
        }
    }

    /// Rewards .4, .8, 0, .6: mean .45, squares about it .35. By hand from λ = .04, α = 1.5, β = .005.
    #[test]
    fn the_posterior_of_the_reward_is_the_conjugate_one() {
        let found = posterior(&laws(1.0).reward, tally().outcomes(0));
        assert!((found.mean - 4.0 * 0.45 / 4.04).abs() < 1e-12);
        assert!((found.lambda - 4.04).abs() < 1e-12 && (found.alpha - 3.5).abs() < 1e-12);
        let beta = 0.005 + 0.5 * (0.35 + 0.04 * 4.0 * 0.45 * 0.45 / 4.04);
        assert!((found.beta - beta).abs() < 1e-12, "{found:?} {beta}");
    }

    /// The values of a drawn world satisfy Bellman's equation.
    #[test]
    fn a_solved_world_is_solved() {
        let (tally, laws, mut rng) = (tally(), laws(0.5), stream(2, "world"));
        let mut world = World::new(Shape::new(2, 1).unwrap());
        world.draw(&laws, &tally, &mut rng);
        world.solve(&laws);
        for pair in 0..2 {
            let next: f64 = world.outcomes[world.first[pair]..world.first[pair + 1]]
                .iter()
                .map(|&(s, p)| p * world.values[s])
                .sum();
            assert!((world.q[pair] - (world.rewards[pair] + 0.9 * next)).abs() < 1e-3);
        }
        assert_eq!(world.values[2], 0.0);
    }
}
