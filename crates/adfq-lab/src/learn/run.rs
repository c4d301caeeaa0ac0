//! The loop in which an agent acts and learns.

use super::kinds::list;
use super::{AgentKind, LearnSettings, PolicyKind};
use crate::learner::{Acting, Learner};
use crate::{Error, Result};
use adfq::Belief;
use adfq::agent::{Agent, Believer, KtdSettings, LearningRate, Prior, SplitSettings};
use adfq::mdp::Mdp;
use adfq::policy::Policy;
use adfq::random::stream;

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

/// Trains the agent that the settings ask for: it acts, learns, and begins a new episode where one ends.
pub(super) fn run(
    mdp: &Mdp,
    settings: &LearnSettings,
    start: Belief,
    mut progress: impl FnMut(u64),
) -> Result<Run> {
    let LearnSettings { steps, seed, .. } = *settings;
    let mut policy = acting(settings)?.policy()?;
    let mut agent = learner(mdp, settings, start)?.build(mdp, seed, "learn", "learn")?;
    let (mut world, mut choice) = (stream(seed, "learn/world"), stream(seed, "learn/policy"));
    let (mut visits, mut episodes, mut reward) = (vec![0; mdp.states()], 0, 0.0);
    let mut state = mdp.start(&mut world);
    let pause = (steps / REPORTS).max(1);
    for done in 1..=steps {
        let action = policy.act(&agent, state, &mut choice);
        let step = mdp.step(state, action, &mut world);
        agent.update(&step)?;
        visits[state] += 1;
        reward += step.reward;
        episodes += u64::from(step.terminal);
        state = if step.terminal { mdp.start(&mut world) } else { step.next_state };
        if done % pause == 0 {
            progress(done);
        }
    }
    let pairs = || (0..agent.states()).flat_map(|s| (0..agent.actions()).map(move |a| (s, a)));
    Ok(Run {
        mean: pairs().map(|(s, a)| agent.means(s)[a]).collect(),
        var: agent.believes().then(|| pairs().map(|(s, a)| agent.var(s, a)).collect()),
        visits,
        episodes,
        reward,
    })
}

/// The agent that the settings ask for, from the belief that their prior means.
fn learner(mdp: &Mdp, settings: &LearnSettings, start: Belief) -> Result<Learner> {
    let LearnSettings { rule, noise, terminal_var, replay, .. } = *settings;
    let (mean, var) = (start.mean(), start.var());
    let prior = Prior::Constant { mean, var };
    Ok(match settings.agent {
        AgentKind::Split => {
            let (rewards, settings) = (settings.prior.rewards(mdp)?, SplitSettings::default());
            Learner::SplitAdfq { rewards, settings }
        }
        AgentKind::Adfq => Learner::Adfq { rule, prior, noise, terminal_var, replay },
        AgentKind::QLearning => {
            Learner::QLearning { rate: LearningRate::paper(settings.steps), initial: mean }
        }
        AgentKind::KtdQ => {
            Learner::KtdQ(KtdSettings { initial_mean: mean, initial_var: var, ..KtdSettings::default() })
        }
        AgentKind::BayesianQ => Learner::BayesianQ { prior, noise_var: 1.0 },
    })
}

/// The policy that the settings ask for, if the agent can follow it.
fn acting(settings: &LearnSettings) -> Result<Acting> {
    let LearnSettings { agent, policy, epsilon, temperature, .. } = *settings;
    if !agent.policies().contains(&policy) {
        let takes = list(agent.policies());
        let lacks = if policy == PolicyKind::Optimist { "hopes" } else { "beliefs" };
        return Err(Error::PolicyUnsupported { agent: agent.name(), lacks, policy: policy.name(), takes });
    }
    Ok(match policy {
        PolicyKind::Optimist => Acting::Optimist,
        PolicyKind::Thompson => Acting::Thompson,
        PolicyKind::Epsilon => Acting::EpsilonGreedy(epsilon),
        PolicyKind::Greedy => Acting::EpsilonGreedy(0.0),
        PolicyKind::Boltzmann => Acting::Boltzmann(temperature.ok_or(Error::NoTemperature)?),
        PolicyKind::Vpi => Acting::Vpi,
        PolicyKind::Active => Acting::Active,
        PolicyKind::Uniform => Acting::Uniform,
    })
}
