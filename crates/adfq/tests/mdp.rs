//! The ready-made domains against values known from elsewhere, against each other's solvers, and the simulator
//! against the model.

use adfq::mdp::{
    self, DeepSea, Garnet, Mdp, MdpBuilder, Outcome, average_reward, modified_policy_iteration,
    policy_iteration, solve, value_iteration,
};
use adfq::random::stream;
use rand::RngExt;

/// Equal to the digits given.
fn assert_close(value: f64, want: f64, digits: i32) {
    assert!((value - want).abs() <= 0.5001 * 10f64.powi(-digits), "{value} is not {want}");
}

fn every_domain() -> Vec<Mdp> {
    let named = mdp::names().into_iter().map(|name| mdp::named(&name).unwrap());
    let slips = [0.05, 0.3, 1.0];
    let slipping =
        slips.into_iter().flat_map(|slip| [mdp::loop_(slip), mdp::chain(slip), mdp::minimaze(slip)]);
    let sea = DeepSea { size: 30, stochastic: true, shuffle: Some(5), ..DeepSea::default() };
    let garnet =
        Garnet { states: 50, actions: 4, branching: 5, ending: 0.02, gamma: 0.99, ..Garnet::default() };
    named.chain(slipping.map(Result::unwrap)).chain([sea.mdp().unwrap(), garnet.mdp(1).unwrap()]).collect()
}

fn best_average(mdp: &Mdp) -> f64 {
    average_reward(mdp, &policy_iteration(mdp).unwrap().policy).unwrap()
}

#[test]
fn best_average_rewards() {
    let per = |steps: f64, mdp: adfq::Result<Mdp>| steps * best_average(&mdp.unwrap());
    assert_close(per(1000.0, mdp::chain(0.2)), 3676.8, 1);
    assert_close(per(1000.0, mdp::chain(0.1)), 6104.9, 1);
    assert_close(per(1000.0, mdp::loop_(0.0)), 400.0, 9);
    assert_close(per(1000.0, mdp::loop_(0.1)), 314.16, 2);
    assert_close(per(20_000.0, mdp::maze(0.0)), 2142.9, 1);
    assert_close(per(20_000.0, mdp::maze(0.0)), 20_000.0 * 3.0 / 28.0, 9);
    assert_close(per(20_000.0, mdp::maze(0.1)), 1888.4, 1);
}

#[test]
fn optimal_action_values_at_the_start() {
    let q =
        |mdp: adfq::Result<Mdp>, action| policy_iteration(&mdp.unwrap()).unwrap().action_values(0)[action];
    assert_close(q(mdp::chain(0.2), 0), 61.37948, 5);
    assert_close(q(mdp::chain(0.2), 1), 60.57775, 5);
    assert_close(q(mdp::loop_(0.0), 0), 6.386534, 6);
    assert_close(q(mdp::loop_(0.0), 1), 7.201040, 6);
    assert_close(q(mdp::loop_(0.1), 0), 5.209001, 6);
    assert_close(q(mdp::loop_(0.1), 1), 5.613848, 6);
}

#[test]
fn maze_is_28_steps_and_264_states() {
    let maze = mdp::named("maze").unwrap();
    assert_eq!(maze.states(), 33 * 8);
    let best = policy_iteration(&maze).unwrap();
    assert_close(best.value[maze.starts()[0].0], 0.751, 3);

    let mut rng = stream(0, "maze");
    let (mut state, mut steps) = (maze.start(&mut rng), 0);
    let reward = loop {
        let step = maze.step(state, best.policy[state], &mut rng);
        (state, steps) = (step.next_state, steps + 1);
        if step.terminal {
            break step.reward;
        }
    };
    assert_eq!((reward, steps), (3.0, 28));
}

/// Counted on the map: 5 steps to the flag at the lower left, 5 to the one at the lower right, 4 to the upper one and
/// 4 to the goal, so the reward of 3 comes after 17 steps.
#[test]
fn minimaze_value_is_three_flags_after_the_shortest_walk() {
    let best = policy_iteration(&mdp::named("minimaze").unwrap()).unwrap();
    assert_close(best.value[0], 3.0 * 0.95f64.powi(17), 12);
}

#[test]
fn two_solvers_agree_on_every_domain() {
    for mdp in every_domain() {
        let exact = policy_iteration(&mdp).unwrap();
        // RiverSwim and SixArms pay in thousands: doubles end at 1e-11 of such values.
        let scale = (exact.value.iter().fold(0.0, |most: f64, value| most.max(value.abs())) / 200.0).max(1.0);
        let close = value_iteration(&mdp, 1e-11 * scale).unwrap();
        for (x, y) in exact.q.iter().zip(&close.q).chain(exact.value.iter().zip(&close.value)) {
            assert!((x - y).abs() < 1e-10 * scale, "{mdp}: {x} {y}");
        }
        assert_eq!(exact.policy, close.policy, "{mdp}");
    }
}

#[test]
fn undiscounted_solutions_are_the_limit_of_discounted_ones() {
    for name in ["maze", "maze-stochastic", "minimaze-stochastic", "simple", "deepsea-10-stochastic"] {
        let mdp = mdp::named(name).unwrap();
        let near = policy_iteration(&mdp.clone().with_gamma(1.0 - 1e-9).unwrap()).unwrap();
        let one = policy_iteration(&mdp.with_gamma(1.0).unwrap()).unwrap();
        for (x, y) in near.q.iter().zip(&one.q) {
            assert!((x - y).abs() < 1e-6, "{name}: {x} {y}");
        }
    }
}

#[test]
fn solvers_say_when_there_is_no_solution() {
    let endless = policy_iteration(&mdp::named("chain").unwrap().with_gamma(1.0).unwrap()).unwrap_err();
    assert!(
        endless.to_string().starts_with("at gamma 1 every episode has to end, but from state 0 it need not")
    );
    let undiscounted =
        value_iteration(&mdp::named("maze").unwrap().with_gamma(1.0).unwrap(), 1e-6).unwrap_err();
    assert_eq!(undiscounted.to_string(), "value iteration needs a gamma below 1: use policy iteration");
    let chain = mdp::named("chain").unwrap();
    for tolerance in [1e-300, 0.0, -1.0, f64::NAN] {
        let error = value_iteration(&chain, tolerance).unwrap_err().to_string();
        assert!(error.starts_with("value iteration cannot reach the tolerance"), "{error}");
    }
}

/// χ² of the simulated next states and rewards of every (s,a) with more than one outcome.
#[test]
fn simulator_draws_what_the_model_says() {
    const DRAWS: usize = 20_000;
    for mdp in every_domain() {
        let mut rng = stream(3, mdp.name());
        let (mut squares, mut freedom) = (0.0, 0.0);
        for state in (0..mdp.states()).take(40) {
            for action in 0..mdp.actions() {
                let outcomes = mdp.outcomes(state, action);
                let mut seen = vec![0.0; outcomes.len()];
                for _ in 0..if outcomes.len() == 1 { 1 } else { DRAWS } {
                    let step = mdp.step(state, action, &mut rng);
                    assert_eq!((step.state, step.action), (state, action));
                    let same = outcomes.iter().position(|o| {
                        (o.next_state, o.reward, o.terminal) == (step.next_state, step.reward, step.terminal)
                    });
                    seen[same.unwrap()] += 1.0;
                }
                if outcomes.len() > 1 {
                    let off = |(count, want): (f64, f64)| (count - want).powi(2) / want;
                    let wanted = outcomes.iter().map(|o| o.probability * DRAWS as f64);
                    squares += seen.into_iter().zip(wanted).map(off).sum::<f64>();
                    freedom += outcomes.len() as f64 - 1.0;
                }
            }
        }
        // χ² has mean k and variance 2k: within four standard deviations.
        assert!((squares - freedom).abs() <= 4.0 * (2.0 * freedom).sqrt(), "{mdp}: {squares} for {freedom}");
    }
}

#[test]
fn certain_steps_draw_no_number() {
    let mdp = mdp::named("loop").unwrap();
    let (mut used, mut untouched) = (stream(1, "x"), stream(1, "x"));
    let state = mdp.start(&mut used);
    mdp.step(state, 0, &mut used);
    assert_eq!(used.random::<u64>(), untouched.random::<u64>());
}

#[test]
fn starts_follow_their_probabilities() {
    let end = |state| mdp::Outcome::ends(1.0, state, 0.0);
    let mdp = mdp::MdpBuilder::new("three doors", 3, 1, 0.9)
        .outcome(0, 0, end(0))
        .outcome(1, 0, end(1))
        .outcome(2, 0, end(2))
        .start_with(2, 0.5)
        .start_with(0, 0.3)
        .start_with(2, 0.2)
        .build()
        .unwrap();
    assert_eq!(mdp.starts(), [(0, 0.3), (2, 0.7)]);
    let mut rng = stream(1, "doors");
    let first = (0..10_000).filter(|_| mdp.start(&mut rng) == 0).count() as f64;
    assert!((first - 3000.0).abs() < 4.0 * (10_000.0 * 0.3 * 0.7f64).sqrt(), "{first}");
}

/// More states than a dense system takes.
const MANY: usize = 4_000;

#[track_caller]
fn assert_all_close(found: &[f64], known: &[f64], tolerance: f64) {
    let error = found.iter().zip(known).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(found.len() == known.len() && error <= tolerance, "{error:e}");
}

/// Value iteration is the witness: its tolerance is proven by another bound.
#[test]
fn many_states_are_solved_as_value_iteration_solves_them() {
    for (actions, branching, ending, gamma) in
        [(2, 5, 0.0, 0.95), (4, 1, 0.0, 0.99), (3, 3, 0.1, 0.99), (1, 2, 0.0, 0.9), (3, 2, 0.0, 0.0)]
    {
        let mdp =
            Garnet { states: MANY, actions, branching, ending, gamma, ..Garnet::default() }.mdp(1).unwrap();
        let (found, known) = (solve(&mdp).unwrap(), value_iteration(&mdp, 1e-10).unwrap());
        let scale = known.value.iter().fold(0.0_f64, |most, value| value.abs().max(most));
        assert_all_close(&found.q, &known.q, 1e-10 * scale + 1e-10);
        assert!(found.bound.unwrap() <= 1e-10 * scale);
        let average = |policy| average_reward(&mdp, policy).unwrap();
        assert!((average(&found.policy) - average(&known.policy)).abs() < 1e-9);
    }
}

/// A walk along a ring; every action does the same, so all are ties.
#[test]
fn many_states_with_ties_and_slow_news() {
    let mut ring = MdpBuilder::new("ring", MANY, 2, 0.999).start(0);
    for state in 0..MANY {
        let reward = if state == 0 { 1.0 } else { 0.0 };
        (0..2).for_each(|action| ring.add(state, action, Outcome::goes(1.0, (state + 1) % MANY, reward)));
    }
    let ring = ring.build().unwrap();
    let found = solve(&ring).unwrap();
    let at_home = 1.0 / (1.0 - 0.999_f64.powi(MANY as i32));
    let known = (0..MANY).flat_map(|state| [0.999_f64.powi(((MANY - state) % MANY) as i32) * at_home; 2]);
    assert_all_close(&found.q, &known.collect::<Vec<_>>(), 1e-12);
    let average = average_reward(&ring, &found.policy).unwrap();
    assert!((average - 1.0 / MANY as f64).abs() < 1e-15, "{average}");
}

/// A corridor in which a step costs 1 and fails half of the time, left as soon as possible: 2 steps a cell at γ = 1. It may
/// also wait for ever, which pays nothing and costs nothing.
#[test]
fn many_states_at_gamma_1() {
    let mut corridor = MdpBuilder::new("corridor", MANY, 3, 1.0).start(MANY - 1);
    for cell in 0..MANY {
        let on = |probability| match cell {
            0 => Outcome::ends(probability, 0, 2.0 * MANY as f64 - 1.0),
            _ => Outcome::goes(probability, cell - 1, -1.0),
        };
        corridor.add(cell, 0, Outcome::goes(1.0, cell, 0.0));
        corridor.add(cell, 1, Outcome::goes(1.0, (cell + 1).min(MANY - 1), -1.0));
        corridor.add(cell, 2, on(0.5));
        corridor.add(cell, 2, Outcome::goes(0.5, cell, -1.0));
    }
    let found = solve(&corridor.build().unwrap()).unwrap();
    let known: Vec<f64> = (0..MANY).map(|cell| 2.0 * (MANY - cell - 1) as f64).collect();
    assert_all_close(&found.value, &known, 1e-7);
    assert!(found.policy.iter().all(|&action| action == 2), "a policy that ends");
    assert!(found.bound.unwrap() < 1e-6);
}

#[test]
fn many_states_that_never_end_are_refused_at_gamma_1() {
    let endless = Garnet { states: MANY, gamma: 1.0, ..Garnet::default() }.mdp(1).unwrap();
    assert!(solve(&endless).unwrap_err().to_string().starts_with("at gamma 1 every episode has to end"));
}

/// On every ready-made domain the solver for many states finds what the exact one finds.
#[test]
fn both_solvers_agree_on_every_domain() {
    for name in mdp::names() {
        for gamma in [0.0, 0.5, 0.99, 0.9999] {
            let mdp = mdp::named(&name).unwrap().with_gamma(gamma).unwrap();
            let (found, known) = (modified_policy_iteration(&mdp).unwrap(), policy_iteration(&mdp).unwrap());
            let scale = known.value.iter().fold(1.0_f64, |most, value| value.abs().max(most));
            assert_all_close(&found.q, &known.q, 1e-10 * scale);
        }
        let Ok(known) = policy_iteration(&mdp::named(&name).unwrap().with_gamma(1.0).unwrap()) else {
            continue;
        };
        let found = modified_policy_iteration(&mdp::named(&name).unwrap().with_gamma(1.0).unwrap()).unwrap();
        assert_all_close(&found.q, &known.q, 1e-11);
    }
}
