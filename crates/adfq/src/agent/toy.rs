//! Two tiny worlds for the agents' tests, with known optimal values: Loop (Watkins), and a two-armed bandit
//! whose every pull ends an episode.

use super::{Agent, Step};
use crate::policy::{Policy, Uniform};
use crate::random::ChaCha8Rng;
use rand::{Rng, RngExt};

pub const DISCOUNT: f64 = 0.95;

/// Chances that an arm of the bandit pays 1.
pub const ARMS: [f64; 2] = [0.3, 0.6];

/// Loop: action 0 in state 0 enters the ring 1-4 (+1 on the way back), action 1 the ring 5-8 (+2), which
/// action 0 leaves early for nothing.
pub fn loop_step(state: usize, action: usize) -> Step {
    let (reward, next_state) = match (state, action) {
        (0, 0) => (0.0, 1),
        (0, _) => (0.0, 5),
        (4, _) => (1.0, 0),
        (1..4, _) => (0.0, state + 1),
        (8, _) => (2.0, 0),
        (_, 0) => (0.0, 0),
        _ => (0.0, state + 1),
    };
    Step { state, action, reward, next_state, terminal: false }
}

/// The exact Q* of Loop: once around the second ring pays 2 every five steps.
pub fn loop_optimum(state: usize, action: usize) -> f64 {
    let v0 = 2.0 * DISCOUNT.powi(4) / (1.0 - DISCOUNT.powi(5));
    let value = |state: usize| match state {
        0 => v0,
        1..=4 => DISCOUNT.powi(4 - state as i32) * (1.0 + DISCOUNT * v0),
        _ => DISCOUNT.powi(8 - state as i32) * (2.0 + DISCOUNT * v0),
    };
    let step = loop_step(state, action);
    step.reward + DISCOUNT * value(step.next_state)
}

/// Root mean square of Q - Q* over all pairs of Loop.
pub fn loop_error<A: Agent>(agent: &A) -> f64 {
    let square = |s: usize, a: usize| (agent.means(s)[a] - loop_optimum(s, a)).powi(2);
    let sum: f64 = (0..9).flat_map(|s| (0..2).map(move |a| square(s, a))).sum();
    (sum / 18.0).sqrt()
}

/// Lets an agent learn from `steps` uniformly random actions in Loop.
pub fn walk_loop<A: Agent>(agent: &mut A, steps: usize, rng: &mut ChaCha8Rng) {
    act_in_loop(agent, &mut Uniform, steps, rng);
}

/// Lets an agent act and learn in Loop; returns the reward it collects.
pub fn act_in_loop<A: Agent, P: Policy<A>>(
    agent: &mut A,
    policy: &mut P,
    steps: usize,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let (mut state, mut collected) = (0, 0.0);
    for _ in 0..steps {
        let step = loop_step(state, policy.act(agent, state, rng));
        agent.update(&step).unwrap();
        collected += step.reward;
        state = step.next_state;
    }
    collected
}

/// One pull of the bandit.
pub fn pull<R: Rng>(action: usize, rng: &mut R) -> Step {
    let reward = f64::from(u8::from(rng.random::<f64>() < ARMS[action]));
    Step { state: 0, action, reward, next_state: 0, terminal: true }
}

/// Lets an agent learn from `pulls` random pulls; returns the average reward of each arm.
pub fn pull_bandit<A: Agent>(agent: &mut A, pulls: usize, rng: &mut ChaCha8Rng) -> [f64; 2] {
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    for _ in 0..pulls {
        let step = pull(Uniform.act(agent, 0, rng), rng);
        agent.update(&step).unwrap();
        sums[step.action] += step.reward;
        counts[step.action] += 1.0;
    }
    std::array::from_fn(|a| sums[a] / counts[a])
}

#[test]
fn loop_optimum_is_the_known_one() {
    assert!((loop_optimum(0, 0) - 6.386534).abs() < 1e-6 && (loop_optimum(0, 1) - 7.201040).abs() < 1e-6);
}
