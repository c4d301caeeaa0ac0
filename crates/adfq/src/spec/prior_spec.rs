//! Where beliefs start: a choice of the user's, made into a belief for the MDP at hand.

use super::AgentKind;
use crate::agent::{Prior, Rewards};
use crate::mdp::Mdp;
use crate::random::stream;
use crate::{Belief, Error, Result};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Where beliefs start, as a user writes it.
///
/// ```
/// use adfq::spec::PriorSpec;
///
/// assert_eq!("auto".parse::<PriorSpec>()?, PriorSpec::Auto);
/// assert_eq!("0,100".parse::<PriorSpec>()?, PriorSpec::Moments { mean: 0.0, var: 100.0 });
/// assert!("wide".parse::<PriorSpec>().unwrap_err().to_string().starts_with("the prior \"wide\" is none of auto"));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorSpec {
    /// Split ADFQ is told nothing: its scale follows the rewards it meets. PSRL, the agents with a model and optimistic
    /// Q-learning are told the range of the rewards that can be met. Others get the mean of the authors'
    /// [`Prior::AUTHORS`], found by a random walk, and their variance 100, or the square of the mean if that is less. If
    /// the walk meets no positive reward, N(0, 100).
    ///
    /// The bound is ours: an sd of 10 on values of about 1 makes Thompson sampling blind (`deepsea-10`: the treasure
    /// was found with 7 of 8 seeds, and with none at variance 100).
    #[default]
    Auto,
    /// `MEAN,VAR`.
    Moments {
        /// The mean.
        mean: f64,
        /// The variance.
        var: f64,
    },
    /// `range:MIN,MAX[,STEPS]`: [`Prior::RewardRange`].
    Range {
        /// The least reward.
        min: f64,
        /// The greatest reward.
        max: f64,
        /// The most rewards in an episode. By default a continuing task goes on for ever, and an episode pays once.
        steps: Option<u32>,
    },
}

/// The belief that a run starts with, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Start {
    /// Its mean.
    pub mean: f64,
    /// Its variance.
    pub var: f64,
    /// In words.
    pub source: &'static str,
}

impl PriorSpec {
    /// What an agent is told about rewards by this choice.
    pub(super) fn rewards(&self, mdp: &Mdp) -> Result<Rewards> {
        match *self {
            Self::Auto => Ok(mdp.rewards()),
            Self::Range { min, max, steps } => Ok(Rewards { min, max, horizon: horizon(steps, mdp) }),
            Self::Moments { .. } => Err(Error::PriorUnsupported),
        }
    }

    /// The same for an agent that needs no range and is told one only if the user gives it.
    pub(super) fn declared(&self, mdp: &Mdp) -> Result<Option<Rewards>> {
        if *self == Self::Auto { Ok(None) } else { self.rewards(mdp).map(Some) }
    }

    /// The belief this choice means for an agent in an MDP.
    pub(super) fn start(&self, agent: AgentKind, mdp: &Mdp, seed: u64) -> Result<Start> {
        let start = |belief: Belief, source| Start { mean: belief.mean(), var: belief.var(), source };
        if agent == AgentKind::Split && *self == Self::Auto {
            return undeclared(mdp);
        }
        if agent.takes_range() {
            let belief = self.rewards(mdp)?.prior(mdp.gamma())?;
            let start = start(belief, "from the range of rewards");
            return Ok(match agent {
                AgentKind::QOptimistic => {
                    Start { mean: self.rewards(mdp)?.values_with_ends(mdp.gamma())?.1, ..start }
                }
                _ => start,
            });
        }
        let named = |prior: Prior, source| {
            belief_in(mdp, &prior, seed, "learn/random walk").map(|belief| start(belief, source))
        };
        match *self {
            Self::Moments { mean, var } => named(Prior::Constant { mean, var }, "as given"),
            Self::Range { min, max, steps } => {
                let horizon = horizon(steps, mdp);
                named(Prior::RewardRange { min, max, horizon }, "from the range of rewards")
            }
            Self::Auto => match named(Prior::AUTHORS, "the first positive reward of a random walk") {
                Ok(start) => Ok(Start { var: start.var.min(start.mean * start.mean), ..start }),
                Err(Error::NoPositiveReward(_)) => {
                    let neutral = Prior::Constant { mean: 0.0, var: 100.0 };
                    named(neutral, "a random walk met no positive reward")
                }
                Err(error) => Err(error),
            },
        }
    }
}

/// Where Split ADFQ starts if no range is declared: in the unit of the first reward it will meet.
fn undeclared(mdp: &Mdp) -> Result<Start> {
    let ends = mdp.gamma() == 1.0 && !mdp.is_continuing();
    let once = Rewards { horizon: ends.then_some(1), ..Rewards::within(0.0, 1.0) };
    let belief = once.prior(mdp.gamma())?;
    let source = "no range of rewards is declared; 1 is the first reward";
    Ok(Start { mean: belief.mean(), var: belief.var(), source })
}

/// How many rewards an episode can have: one unless given, and for ever where there are no episodes.
fn horizon(steps: Option<u32>, mdp: &Mdp) -> Option<u32> {
    if mdp.is_continuing() { steps } else { Some(steps.unwrap_or(1)) }
}

impl FromStr for PriorSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Prior(text.to_owned());
        let number = |field: &str| field.trim().parse::<f64>().map_err(|_| wrong());
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let range = text.strip_prefix("range:");
        let fields: Vec<&str> = range.unwrap_or(text).split(',').collect();
        match (range, fields.as_slice()) {
            (None, [mean, var]) => Ok(Self::Moments { mean: number(mean)?, var: number(var)? }),
            (Some(_), [min, max]) => Ok(Self::Range { min: number(min)?, max: number(max)?, steps: None }),
            (Some(_), [min, max, steps]) => {
                let steps = Some(steps.trim().parse().map_err(|_| wrong())?);
                Ok(Self::Range { min: number(min)?, max: number(max)?, steps })
            }
            _ => Err(wrong()),
        }
    }
}

/// The belief that a prior means in an MDP; a random walk, if it needs one, is drawn from the stream of this name.
pub(super) fn belief_in(mdp: &Mdp, prior: &Prior, seed: u64, name: &str) -> Result<Belief> {
    let mut rng = stream(seed, name);
    let mut state = mdp.start(&mut rng);
    // Without a discount nothing can be divided by 1-γ, and need not be where episodes end.
    let ends = mdp.gamma() == 1.0 && !mdp.is_continuing();
    prior.belief(mdp.gamma(), || {
        let action = rng.random_range(0..mdp.actions());
        let step = mdp.step(state, action, &mut rng);
        state = if step.terminal { mdp.start(&mut rng) } else { step.next_state };
        (step.reward, step.terminal || ends)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::named;

    fn start(prior: &str, domain: &str) -> Start {
        prior.parse::<PriorSpec>().unwrap().start(AgentKind::Adfq, &named(domain).unwrap(), 0).unwrap()
    }

    #[test]
    fn a_walk_in_loop_meets_one_of_its_two_rewards() {
        let Start { mean, var, .. } = start("auto", "loop");
        assert!((mean - 20.0).abs() < 1e-9 || (mean - 40.0).abs() < 1e-9, "{mean}");
        assert_eq!(var, 100.0);
    }

    #[test]
    fn the_spread_is_no_larger_than_the_values() {
        let Start { mean, var, .. } = start("auto", "deepsea-5");
        assert_eq!((mean * 500.0).round(), 499.0);
        assert!((var - mean * mean).abs() < 1e-12);
    }

    #[test]
    fn a_range_is_one_reward_in_an_episode_and_many_for_ever() {
        assert!((start("range:0,3", "maze").mean - 1.5).abs() < 1e-12);
        assert!((start("range:0,2", "loop").mean - 20.0).abs() < 1e-9);
        assert!((start("range:0,1,2", "maze").mean - 0.975).abs() < 1e-12);
    }

    #[test]
    fn without_a_positive_reward_the_start_is_neutral() {
        let text = "# gamma: 0.9\n# start: 0\nstate,action,probability,next_state,reward,terminal\n0,0,1,0,-1,true\n";
        let mdp = crate::mdp::file::parse_csv(text).unwrap();
        let start = PriorSpec::Auto.start(AgentKind::Adfq, &mdp, 0).unwrap();
        assert_eq!(PriorSpec::Auto.rewards(&mdp).unwrap(), Rewards::within(-1.0, 0.0));
        assert_eq!((start.mean, start.var), (0.0, 100.0));
        assert_eq!(start.source, "a random walk met no positive reward");
    }

    #[test]
    fn split_adfq_is_told_nothing_or_the_range_of_rewards() {
        let mdp = named("chain").unwrap();
        let choice = |text: &str| text.parse::<PriorSpec>().unwrap();
        assert_eq!(choice("auto").rewards(&mdp).unwrap(), Rewards::within(0.0, 10.0));
        assert_eq!(choice("range:-1,2").rewards(&mdp).unwrap(), Rewards::within(-1.0, 2.0));
        assert_eq!(choice("auto").declared(&mdp).unwrap(), None);
        assert_eq!(choice("range:-1,2").declared(&mdp).unwrap(), Some(Rewards::within(-1.0, 2.0)));
        let maze = named("maze").unwrap();
        let start = |prior: &str| choice(prior).start(AgentKind::Split, &maze, 0).unwrap();
        assert_eq!(start("range:-1,2"), start("range:-1,2,1"));
        assert_eq!((start("range:-1,2").mean, start("range:-1,2").var), (0.0, 2.25));
        assert!(matches!(choice("0,1").start(AgentKind::Split, &mdp, 0), Err(Error::PriorUnsupported)));
    }

    #[test]
    fn without_a_discount_a_task_with_episodes_starts_like_any_other() {
        let start = |agent, domain: &str, prior: PriorSpec| {
            prior.start(agent, &named(domain).unwrap().with_gamma(1.0).unwrap(), 0)
        };
        for agent in [AgentKind::Split, AgentKind::Adfq] {
            for prior in [PriorSpec::Auto, PriorSpec::Range { min: 0.0, max: 3.0, steps: None }] {
                assert!(start(agent, "maze", prior).is_ok(), "{agent} {prior:?}");
                let error = start(agent, "loop", prior).unwrap_err().to_string();
                assert!(error.contains("below 1 in a continuing task"), "{agent} {prior:?}: {error}");
            }
        }
        let split = start(AgentKind::Split, "maze", PriorSpec::Auto).unwrap();
        // In the unit of the first reward: an episode is expected to pay one.
        assert_eq!((split.mean, split.var), (0.0, 0.25));
    }

    #[test]
    fn what_is_no_prior_says_so() {
        for text in ["", "1", "1,2,3", "a,b", "range:1", "range:0,1,-2"] {
            assert!(matches!(text.parse::<PriorSpec>(), Err(Error::Prior(_))), "{text}");
        }
    }
}
