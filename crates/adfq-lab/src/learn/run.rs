//! The loop in which an agent acts and learns, for every pair of agent and policy that goes together.

use super::kinds::list;
use super::{AgentKind, LearnSettings, PolicyKind};
use crate::{Error, Result};
use adfq::Belief;
use adfq::agent::{
    Adfq, AdfqSettings, Agent, BayesianQ, Believer, KtdQ, KtdSettings, LearningRate, NormalGamma, QLearning,
    Updating,
};
use adfq::mdp::Mdp;
use adfq::policy::{
    Active, Boltzmann, Epsilon, EpsilonGreedy, Policy, Thompson, Uniform, ValueOfInformation, Vpi,
};
use adfq::random::stream;
use adfq::update::Update;

/// Bayesian Q-learning also believes something about the variance of a return around its mean. These say: about
/// 1, with little confidence.
const NOISE_VAR: f64 = 1.0;
const ALPHA: f64 = 1.5;

/// How often the progress is reported.
const REPORTS: u64 = 100;

/// What a run leaves behind, state by state.
pub(super) struct Run {
    pub mean: Vec<f64>,
    pub var: Option<Vec<f64>>,
    pub visits: Vec<u64>,
    pub episodes: u64,
    pub reward: f64,
}

/// Trains the agent that the settings ask for.
pub(super) fn run(
    mdp: &Mdp,
    settings: &LearnSettings,
    start: Belief,
    progress: impl FnMut(u64),
) -> Result<Run> {
    let (states, actions, gamma) = (mdp.states(), mdp.actions(), mdp.gamma());
    let mut trial = Trial { mdp, settings, progress };
    match settings.agent {
        AgentKind::Adfq => {
            let LearnSettings { rule, noise, terminal_var, .. } = *settings;
            let details = AdfqSettings { update: Update::new(rule), noise, terminal_var };
            let agent = Adfq::new(states, actions, gamma, start, details)?;
            match settings.replay {
                true => trial.believer(agent.with_replay(stream(settings.seed, "learn/replay"))?),
                false => trial.believer(agent),
            }
        }
        AgentKind::KtdQ => {
            let (initial_mean, initial_var) = (start.mean(), start.var());
            let details = KtdSettings { initial_mean, initial_var, ..KtdSettings::default() };
            trial.believer(KtdQ::new(states, actions, gamma, details)?)
        }
        AgentKind::BayesianQ => {
            let prior = NormalGamma::from_moments(start.mean(), start.var(), NOISE_VAR, ALPHA)?;
            trial.believer(BayesianQ::new(states, actions, gamma, prior, Updating::Mixture)?)
        }
        AgentKind::QLearning => {
            let rate = LearningRate::paper(settings.steps);
            let mut agent = QLearning::new(states, actions, gamma, rate, start.mean())?;
            trial.agent(&mut agent)
        }
    }
}

/// An MDP and how to learn it.
struct Trial<'a, F> {
    mdp: &'a Mdp,
    settings: &'a LearnSettings,
    progress: F,
}

impl<F: FnMut(u64)> Trial<'_, F> {
    /// The policies that read beliefs, and then all others.
    fn believer<A: Believer + ValueOfInformation>(&mut self, mut agent: A) -> Result<Run> {
        let run = match self.settings.policy {
            PolicyKind::Thompson => self.walk(&mut agent, Thompson),
            PolicyKind::Vpi => self.walk(&mut agent, Vpi),
            PolicyKind::Active => self.walk(&mut agent, Active),
            _ => self.agent(&mut agent),
        }?;
        let pairs = (0..agent.states()).flat_map(|s| (0..agent.actions()).map(move |a| (s, a)));
        Ok(Run { var: Some(pairs.map(|(s, a)| agent.var(s, a)).collect()), ..run })
    }

    /// The policies that read means alone.
    fn agent<A: Agent>(&mut self, agent: &mut A) -> Result<Run> {
        let LearnSettings { agent: kind, policy, epsilon, temperature, .. } = *self.settings;
        match policy {
            PolicyKind::Epsilon => self.walk(agent, EpsilonGreedy::new(Epsilon::Constant(epsilon))?),
            PolicyKind::Greedy => self.walk(agent, EpsilonGreedy::greedy()),
            PolicyKind::Boltzmann => {
                self.walk(agent, Boltzmann::new(temperature.ok_or(Error::NoTemperature)?)?)
            }
            PolicyKind::Uniform => self.walk(agent, Uniform),
            PolicyKind::Thompson | PolicyKind::Vpi | PolicyKind::Active => Err(Error::PolicyUnsupported {
                agent: kind.name(),
                policy: policy.name(),
                takes: list(kind.policies()),
            }),
        }
    }

    /// Acts, learns, and begins a new episode where one ends.
    fn walk<A: Agent, P: Policy<A>>(&mut self, agent: &mut A, mut policy: P) -> Result<Run> {
        let LearnSettings { steps, seed, .. } = *self.settings;
        let (mut world, mut choice) = (stream(seed, "learn/world"), stream(seed, "learn/policy"));
        let mut run =
            Run { mean: vec![], var: None, visits: vec![0; self.mdp.states()], episodes: 0, reward: 0.0 };
        let mut state = self.mdp.start(&mut world);
        let pause = (steps / REPORTS).max(1);
        for done in 1..=steps {
            let action = policy.act(agent, state, &mut choice);
            let step = self.mdp.step(state, action, &mut world);
            agent.update(&step)?;
            run.visits[state] += 1;
            run.reward += step.reward;
            run.episodes += u64::from(step.terminal);
            state = if step.terminal { self.mdp.start(&mut world) } else { step.next_state };
            if done % pause == 0 {
                (self.progress)(done);
            }
        }
        run.mean = (0..agent.states()).flat_map(|state| agent.means(state).iter().copied()).collect();
        Ok(run)
    }
}
