//! What a learning trial shows: one entry per look at the agent.

use super::deep_sea::{DeepSea, Watcher};
use super::solved_domain::Domain;
use adfq::agent::{Agent, Step};
use adfq::policy::best;
use adfq::random::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Test runs per look in stochastic domains, of which the mean counts; in deterministic ones a single run will do.
const TEST_RUNS: usize = 10;

/// What a trial showed, one entry per look. After divergence all entries are NaN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub steps: Vec<u64>,
    #[serde(with = "crate::float")]
    pub rmse: Vec<f64>,
    /// The continuous ranked probability score of the beliefs; the mean absolute error of an agent without any.
    #[serde(with = "crate::float")]
    pub crps: Vec<f64>,
    /// The share of Q* within ±1 sd of the belief; empty if the agent has no beliefs.
    #[serde(with = "crate::float")]
    pub within_1: Vec<f64>,
    #[serde(with = "crate::float")]
    pub within_2: Vec<f64>,
    /// The share within ±2 sd among the pairs visited so far; NaN before the first step.
    #[serde(with = "crate::float")]
    pub visited_2: Vec<f64>,
    /// The reward collected while learning, summed up to the look.
    #[serde(with = "crate::float")]
    pub reward: Vec<f64>,
    /// The mean reward of the test runs; empty if there were none.
    #[serde(with = "crate::float")]
    pub test: Vec<f64>,
    /// The step at which learning diverged, if it did.
    pub diverged: Option<u64>,
    /// What became of the episodes, in DeepSea.
    pub deep_sea: Option<DeepSea>,
}

impl Record {
    pub(super) fn look(
        &mut self,
        step: u64,
        history: &History<'_>,
        agent: &dyn Agent,
        tests: Option<&mut Tests<'_>>,
    ) {
        let domain = history.domain;
        self.steps.push(step);
        self.rmse.push(domain.rmse(agent));
        self.crps.push(domain.crps(agent));
        self.reward.push(history.reward);
        if agent.has_beliefs() {
            let [one, two] = domain.coverage(agent);
            self.within_1.push(one);
            self.within_2.push(two);
            self.visited_2.push(domain.share_within(agent, 2.0, |pair| history.has_visited(pair)));
        }
        if let Some(tests) = tests {
            self.test.push(tests.run(agent));
        }
    }

    /// Notes the divergence and fills the looks that were missed with NaN.
    pub(super) fn give_up(&mut self, step: u64, missed: impl Iterator<Item = u64>) {
        self.diverged = Some(step);
        self.steps.extend(missed);
        let length = self.steps.len();
        for curve in [
            &mut self.rmse,
            &mut self.crps,
            &mut self.within_1,
            &mut self.within_2,
            &mut self.visited_2,
            &mut self.reward,
            &mut self.test,
        ] {
            if !curve.is_empty() {
                curve.resize(length, f64::NAN);
            }
        }
    }
}

/// What happened so far: the reward, the pairs visited and, in DeepSea, the episodes.
pub(super) struct History<'a> {
    domain: &'a Domain,
    reward: f64,
    visited: Vec<bool>,
    watcher: Option<Watcher>,
}

impl<'a> History<'a> {
    pub(super) fn new(domain: &'a Domain) -> Self {
        let visited = vec![false; domain.mdp.states() * domain.mdp.actions()];
        Self { domain, reward: 0.0, visited, watcher: Watcher::new(domain) }
    }

    pub(super) fn note(&mut self, taken: &Step) {
        self.reward += taken.reward;
        self.visited[taken.state * self.domain.mdp.actions() + taken.action] = true;
        if let Some(watcher) = &mut self.watcher {
            watcher.see(taken);
        }
    }

    pub(super) fn deep_sea(self) -> Option<DeepSea> {
        self.watcher.map(|watcher| watcher.seen)
    }

    fn has_visited(&self, &(state, action): &(usize, usize)) -> bool {
        self.visited[state * self.domain.mdp.actions() + action]
    }
}

/// Test runs of the greedy policy, in which nothing is learned (paper App. F).
pub(super) struct Tests<'a> {
    domain: &'a Domain,
    steps: u64,
    runs: usize,
    rng: ChaCha8Rng,
}

impl<'a> Tests<'a> {
    pub(super) fn new(domain: &'a Domain, rng: ChaCha8Rng) -> Self {
        let runs = if domain.is_stochastic() { TEST_RUNS } else { 1 };
        Self { domain, steps: domain.test_steps(), runs, rng }
    }

    /// The mean reward, undiscounted, from the start to the end of the episode or of the test.
    fn run(&mut self, agent: &dyn Agent) -> f64 {
        let mdp = &self.domain.mdp;
        let mut sum = 0.0;
        for _ in 0..self.runs {
            let mut state = mdp.start(&mut self.rng);
            for _ in 0..self.steps {
                let action = best(agent.means(state), &mut self.rng);
                let taken = mdp.step(state, action, &mut self.rng);
                sum += taken.reward;
                if taken.terminal {
                    break;
                }
                state = taken.next_state;
            }
        }
        sum / self.runs as f64
    }
}
