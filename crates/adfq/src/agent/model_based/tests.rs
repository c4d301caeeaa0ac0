//! Values against the exact solution of the estimated MDP, and rewards against the optimum.

use super::*;
use crate::mdp::{Mdp, MdpBuilder, Outcome, average_reward, named, policy_iteration};
use crate::policy::{EpsilonGreedy, Optimist, Policy, Uniform};
use crate::random::stream;
use crate::spec::AgentKind;

fn agent_for(mdp: &Mdp, settings: ModelSettings) -> ModelBased {
    ModelBased::new(mdp.states(), mdp.actions(), mdp.gamma(), mdp.rewards(), settings).unwrap()
}

/// Lets an agent act and learn; returns what it collects in each step on average.
fn live(
    agent: &mut ModelBased,
    mdp: &Mdp,
    policy: &mut dyn Policy<ModelBased>,
    steps: usize,
    seed: u64,
) -> f64 {
    let mut rng = stream(seed, "model-based");
    let (mut state, mut sum) = (mdp.start(&mut rng), 0.0);
    for _ in 0..steps {
        let step = mdp.step(state, policy.act(agent, state, &mut rng), &mut rng);
        agent.update(&step).unwrap();
        sum += step.reward;
        state = if step.terminal { mdp.start(&mut rng) } else { step.next_state };
    }
    sum / steps as f64
}

/// The MDP that an agent's counts describe. Where it has tried nothing, an outcome ends with the start value.
fn estimated(agent: &ModelBased, untried: f64) -> Mdp {
    let shape = agent.table.shape;
    let mut mdp = MdpBuilder::new("estimated", shape.states, shape.actions, agent.discount).start(0);
    for pair in 0..shape.len() {
        let (state, action) = (pair / shape.actions, pair % shape.actions);
        let visits = f64::from(agent.tally.visits(pair));
        for outcome in agent.tally.outcomes(pair) {
            let (probability, reward) = (outcome.count / visits, outcome.reward);
            mdp.add(
                state,
                action,
                match outcome.next {
                    Some(next) => Outcome::goes(probability, next, reward),
                    None => Outcome::ends(probability, state, reward),
                },
            );
        }
        if visits == 0.0 {
            mdp.add(state, action, Outcome::ends(1.0, state, untried));
        }
    }
    mdp.build().unwrap()
}

#[test]
fn values_are_the_solution_of_the_estimated_mdp() {
    for name in ["chain", "minimaze-stochastic", "garnet-30"] {
        let mdp = named(name).unwrap();
        let mut agent = agent_for(&mdp, ModelSettings { backups: 100_000, ..ModelSettings::default() });
        live(&mut agent, &mdp, &mut Uniform, 3_000, 1);
        let best = policy_iteration(&estimated(&agent, 0.0)).unwrap();
        let (low, high) = agent.range;
        // A change below NEWS is not handed on: the fixed point is met to NEWS/(1 − γ).
        let most = NEWS * (high - low) / (1.0 - mdp.gamma());
        for (found, exact) in agent.table.means.iter().zip(&best.q) {
            assert!((found - exact).abs() <= most, "{name}: {found} {exact}");
        }
    }
}

/// What a bound on the work leaves undone waits in the queue.
#[test]
fn the_bound_on_backups_delays_and_changes_nothing() {
    let mdp = named("chain").unwrap();
    let learned = |backups| {
        let mut agent = agent_for(&mdp, ModelSettings { backups, ..ModelSettings::default() });
        live(&mut agent, &mdp, &mut Uniform, 2_000, 2);
        agent
    };
    let (mut few, many) = (learned(1), learned(10_000));
    while let Some(pair) = few.queue.pop() {
        few.back_up(pair);
    }
    let most = 2.0 * NEWS * (few.range.1 - few.range.0) / (1.0 - mdp.gamma());
    for (a, b) in few.table.means.iter().zip(&many.table.means) {
        assert!((a - b).abs() <= most, "{a} {b}");
    }
}

/// R-max is optimistic wherever something is unknown, and right where everything is known.
#[test]
fn the_hopes_of_r_max_bound_the_values() {
    let mdp = named("loop").unwrap();
    let best = policy_iteration(&mdp).unwrap();
    let settings = ModelSettings { exploration: Exploration::RMax { visits: 1 }, backups: 1_000 };
    let mut agent = agent_for(&mdp, settings);
    for _ in 0..60 {
        live(&mut agent, &mdp, &mut Optimist, 1, 3);
        for pair in 0..agent.table.len() {
            assert!(agent.hopes[pair] >= best.q[pair] - 1e-3, "pair {pair}: {}", agent.hopes[pair]);
        }
    }
    live(&mut agent, &mdp, &mut Optimist, 200, 3);
    assert!((agent.hopeful(0, 1) - best.q[1]).abs() < 1e-2, "{}", agent.hopeful(0, 1));
}

/// Every bonus finds the far bank of RiverSwim, by its default. ε-greedy actions alone do not.
#[test]
fn everybody_with_a_bonus_swims() {
    let river = named("riverswim-6").unwrap();
    let optimum = average_reward(&river, &policy_iteration(&river).unwrap().policy).unwrap();
    for kind in [AgentKind::RMax, AgentKind::Mbie, AgentKind::Beb, AgentKind::Ucbvi] {
        let exploration = kind.exploration().unwrap();
        let mut agent = agent_for(&river, ModelSettings { exploration, ..ModelSettings::default() });
        let earned = live(&mut agent, &river, &mut Optimist, 20_000, 4) / optimum;
        assert!(earned > 0.85, "{exploration:?} earns {earned} of the optimum");
    }
}

#[test]
fn without_a_bonus_hopes_are_means() {
    let mdp = named("chain").unwrap();
    let mut agent = agent_for(&mdp, ModelSettings::default());
    live(&mut agent, &mdp, &mut EpsilonGreedy::greedy(), 100, 5);
    assert_eq!(agent.hopes, agent.table.means);
}

#[test]
fn a_bonus_has_to_be_a_bonus() {
    for exploration in [
        Exploration::RMax { visits: 0 },
        Exploration::Mbie { beta: -1.0 },
        Exploration::Beb { beta: f64::NAN },
        Exploration::Ucbvi { c: 0.0 },
    ] {
        let settings = ModelSettings { exploration, ..ModelSettings::default() };
        assert!(ModelBased::new(2, 2, 0.9, Rewards::within(0.0, 1.0), settings).is_err(), "{exploration:?}");
    }
}
