//! KTD-Q against a dense O(n³) filter written from the published algorithm, and on the toy worlds.

use super::*;
use crate::agent::toy;
use crate::policy::{Active, EpsilonGreedy};
use crate::random::stream;
use rand::RngExt;

/// The algorithm as published: explicit P, a Cholesky factorisation and 2n + 1 sigma points per step.
struct Dense {
    theta: Vec<f64>,
    p: Vec<Vec<f64>>,
    settings: KtdSettings,
    gamma: f64,
    actions: usize,
}

impl Dense {
    fn new(states: usize, actions: usize, gamma: f64, settings: KtdSettings) -> Self {
        let n = states * actions;
        let diagonal = |i, j| if i == j { settings.initial_var } else { 0.0 };
        let p = (0..n).map(|i| (0..n).map(|j| diagonal(i, j)).collect()).collect();
        Self { theta: vec![settings.initial_mean; n], p, settings, gamma, actions }
    }

    fn cholesky(&self) -> Vec<Vec<f64>> {
        let n = self.theta.len();
        let mut l = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                let left = self.p[i][j] - dot;
                l[i][j] = if i == j { left.sqrt() } else { left / l[j][j] };
            }
        }
        l
    }

    fn observe(&self, theta: &[f64], step: &Step) -> f64 {
        let q = theta[step.state * self.actions + step.action];
        let next = (0..self.actions).map(|b| theta[step.next_state * self.actions + b]);
        if step.terminal { q } else { q - self.gamma * next.fold(f64::NEG_INFINITY, f64::max) }
    }

    fn update(&mut self, step: &Step) {
        let n = self.theta.len();
        for i in 0..n {
            self.p[i][i] += self.settings.process_noise;
        }
        let (l, c2) = (self.cholesky(), n as f64 + self.settings.kappa);
        let mut points = vec![(self.theta.clone(), self.settings.kappa / c2)];
        for sign in [1.0, -1.0] {
            points.extend((0..n).map(|j| {
                let point = (0..n).map(|i| self.theta[i] + sign * c2.sqrt() * l[i][j]).collect();
                (point, 0.5 / c2)
            }));
        }
        let rewards: Vec<f64> = points.iter().map(|(theta, _)| self.observe(theta, step)).collect();
        let mean: f64 = points.iter().zip(&rewards).map(|((_, w), r)| w * r).sum();
        let mut var = self.settings.observation_noise;
        let mut cross = vec![0.0; n];
        for ((theta, w), r) in points.iter().zip(&rewards) {
            var += w * (r - mean).powi(2);
            (0..n).for_each(|i| cross[i] += w * (theta[i] - self.theta[i]) * (r - mean));
        }
        for i in 0..n {
            self.theta[i] += cross[i] / var * (step.reward - mean);
            (0..n).for_each(|j| self.p[i][j] -= cross[i] * cross[j] / var);
        }
    }
}

/// Largest difference of means and of variances between the two filters, after random steps in a random
/// deterministic world of 7 states and 3 actions in which some transitions end an episode.
fn disagreement(settings: KtdSettings, steps: usize) -> f64 {
    let (states, actions, gamma) = (7, 3, 0.9);
    let mut rng = stream(5, "dense");
    let world: Vec<(f64, usize, bool)> = (0..states * actions)
        .map(|_| (rng.random_range(-1.0..2.0), rng.random_range(0..states), rng.random_range(0..5) == 0))
        .collect();
    let mut fast = KtdQ::new(states, actions, gamma, settings).unwrap();
    let mut dense = Dense::new(states, actions, gamma, settings);
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        let (state, action) = (rng.random_range(0..states), rng.random_range(0..actions));
        let (reward, next_state, terminal) = world[state * actions + action];
        let step = Step { state, action, reward, next_state, terminal };
        fast.update(&step).unwrap();
        dense.update(&step);
        for i in 0..states * actions {
            worst = worst.max((fast.table.means[i] - dense.theta[i]).abs());
            worst = worst.max((fast.var(i / actions, i % actions) - dense.p[i][i]).abs());
        }
    }
    worst
}

#[test]
fn agrees_with_the_dense_filter() {
    for (kappa, observation_noise) in [(1.0, 1.0), (0.0, 0.01), (2.5, 3.0)] {
        let settings = KtdSettings { kappa, observation_noise, initial_mean: 0.5, ..Default::default() };
        let worst = disagreement(settings, 500);
        assert!(worst < 1e-9, "κ = {kappa}, noise {observation_noise}: {worst:e}");
    }
}

/// Where g is linear (a single action), adding process noise only to what a step reads changes nothing.
#[test]
fn late_process_noise_is_exact_without_a_maximum() {
    let settings = KtdSettings { process_noise: 0.05, ..Default::default() };
    let mut fast = KtdQ::new(6, 1, 0.9, settings).unwrap();
    let mut dense = Dense::new(6, 1, 0.9, settings);
    let mut rng = stream(6, "linear");
    for _ in 0..300 {
        let state = rng.random_range(0..6);
        let step = Step {
            state,
            action: 0,
            reward: state as f64,
            next_state: (state + 1) % 6,
            terminal: state == 5,
        };
        fast.update(&step).unwrap();
        dense.update(&step);
    }
    for i in 0..6 {
        let (mean, var) = (fast.means(i)[0] - dense.theta[i], fast.var(i, 0) - dense.p[i][i]);
        assert!(mean.abs() < 1e-10 && var.abs() < 1e-10, "{mean:e} {var:e}");
    }
}

/// With a maximum the two differ only by which square root of P spreads the sigma points.
#[test]
fn late_process_noise_is_close_with_a_maximum() {
    let settings = KtdSettings { process_noise: 1e-5, ..Default::default() };
    let worst = disagreement(settings, 500);
    assert!(worst > 0.0 && worst < 1e-3, "{worst:e}");
}

#[test]
fn variances_stay_positive_without_noise_to_speak_of() {
    let settings = KtdSettings { observation_noise: 1e-9, ..Default::default() };
    let mut agent = KtdQ::new(9, 2, toy::DISCOUNT, settings).unwrap();
    toy::walk_loop(&mut agent, 100_000, &mut stream(7, "quiet"));
    for pair in 0..18 {
        let var = agent.var(pair / 2, pair % 2);
        assert!(var > 0.0 && var < 1e-3, "{pair}: {var:e}");
    }
}

#[test]
fn learns_loop_from_random_actions() {
    // Loop is deterministic: with little noise the filter learns fast, with the default noise of 1 it lags.
    let error = |observation_noise| {
        let settings = KtdSettings { observation_noise, ..Default::default() };
        let mut agent = KtdQ::new(9, 2, toy::DISCOUNT, settings).unwrap();
        toy::walk_loop(&mut agent, 30_000, &mut stream(1, "loop"));
        toy::loop_error(&agent)
    };
    let (sure, unsure) = (error(0.01), error(1.0));
    assert!(sure < 0.4 && unsure < 1.5 && sure < unsure, "{sure} {unsure}");
}

#[test]
fn learns_loop_by_active_learning() {
    let mut agent = KtdQ::new(9, 2, toy::DISCOUNT, KtdSettings::default()).unwrap();
    let mut rng = stream(3, "active");
    toy::act_in_loop(&mut agent, &mut Active, 5_000, &mut rng);
    let collected = toy::act_in_loop(&mut agent, &mut EpsilonGreedy::greedy(), 1_000, &mut rng);
    assert_eq!(collected, 400.0);
}

#[test]
fn learns_a_bandit() {
    let settings = KtdSettings { observation_noise: 0.25, ..Default::default() };
    let mut agent = KtdQ::new(1, 2, toy::DISCOUNT, settings).unwrap();
    let means = toy::pull_bandit(&mut agent, 2_000, &mut stream(2, "bandit"));
    for (a, mean) in means.into_iter().enumerate() {
        // A Gaussian belief with about 1,000 observations is their average up to the prior's weight.
        assert!((agent.means(0)[a] - mean).abs() < 1e-4);
        let expected = 0.25 / 1000.0;
        assert!((agent.var(0, a) / expected - 1.0).abs() < 0.1, "{}", agent.var(0, a));
    }
}

#[test]
fn the_authors_bug_bootstraps_at_an_end() {
    let ends = Step { state: 0, action: 0, reward: 1.0, next_state: 1, terminal: true };
    let settings = KtdSettings { initial_mean: 1.0, ..Default::default() };
    let learn = |settings, step: Step| {
        let mut agent = KtdQ::new(2, 2, 0.9, settings).unwrap();
        agent.update(&step).unwrap();
        agent.means(0)[0]
    };
    let buggy = KtdSettings { bootstrap_at_end: true, ..settings };
    assert_eq!(learn(settings, ends), 1.0);
    assert_eq!(learn(buggy, ends), learn(settings, Step { terminal: false, ..ends }));
}

#[test]
fn divergence_is_a_typed_error() {
    let mut agent = KtdQ::new(1, 1, 0.9, KtdSettings::default()).unwrap();
    let error = agent.update(&Step { state: 0, action: 0, reward: 1e300, next_state: 0, terminal: true });
    assert!(
        matches!(error, Err(Error::Diverged { step: 1, quantity: "an estimate", value, .. }) if value > 1e12)
    );
    let settings = KtdSettings { initial_var: 1e308, ..Default::default() };
    let mut agent = KtdQ::new(3, 1, 0.9, settings).unwrap();
    let error = agent.update(&Step { state: 0, action: 0, reward: 1.0, next_state: 1, terminal: false });
    assert!(matches!(error, Err(Error::Diverged { step: 1, value, .. }) if value.is_infinite()), "{error:?}");
}

#[test]
fn a_bad_setting_is_an_error() {
    let good = KtdSettings::default();
    for settings in [
        KtdSettings { initial_var: 0.0, ..good },
        KtdSettings { observation_noise: 0.0, ..good },
        KtdSettings { kappa: -0.5, ..good },
        KtdSettings { process_noise: f64::NAN, ..good },
    ] {
        assert!(KtdQ::new(2, 2, 0.9, settings).is_err(), "{settings:?}");
    }
}
