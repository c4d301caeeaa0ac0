//! One learning trial: an agent acts in a domain and learns, and every now and then we look at what it knows.

use super::agents::{self, Contender};
pub use super::record::Record;
use super::record::{History, Tests};
use super::solved_domain::Domain;
use super::{Plan, Stop};
use crate::{Error, Result};
use adfq::Session;
use adfq::agent::{Agent, Prior, Step};
use adfq::random::stream;
use adfq::spec::PolicySpec;

/// Steps between two questions whether to stop.
const PATIENCE: u64 = 1_000;

/// A learning trial as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The family of trials it belongs to, first part of its name.
    pub family: &'static str,
    pub domain: &'static str,
    pub contender: Contender,
    /// The number of the trial; contenders with the same number share their circumstances.
    pub number: usize,
    pub steps: u64,
    /// How many times we look, evenly spread, beside the look before the first step.
    pub looks: u64,
    /// Whether a look includes test runs of the greedy policy.
    pub tests: bool,
    pub seed: u64,
}

impl Trial {
    pub fn key(&self) -> String {
        format!("{}/{}", self.circumstances(), self.contender.label)
    }

    /// The name of what all contenders of a trial share.
    fn circumstances(&self) -> String {
        format!("{}/{}/{} steps/trial {}", self.family, self.domain, self.steps, self.number)
    }

    pub fn run(&self, stop: &Stop) -> Result<Record> {
        let domain = Domain::of_trial(self.domain, self.number)?;
        let name = format!("{}/tests", self.key());
        let mut tests = self.tests.then(|| Tests::new(&domain, stream(self.seed, &name)));
        let (mut history, mut record) = (History::new(&domain), Record::default());
        let mut session = self.session(&domain)?;
        record.look(0, &history, session.agent(), tests.as_mut());
        let diverged = self.learn(&mut session, stop, |step, taken, agent| {
            history.note(taken);
            if self.is_look(step) {
                record.look(step, &history, agent, tests.as_mut());
            }
        })?;
        record.deep_sea = history.deep_sea();
        if let Some(step) = diverged {
            record.give_up(step, (step..=self.steps).filter(|&step| self.is_look(step)));
        }
        Ok(record)
    }

    /// The agent at the end of the trial, in its domain.
    pub fn learned(&self, stop: &Stop) -> Result<(Domain, Box<dyn Agent>)> {
        let domain = Domain::of_trial(self.domain, self.number)?;
        let mut session = self.session(&domain)?;
        self.learn(&mut session, stop, |_, _, _| {})?;
        let agent = session.into_agent();
        Ok((domain, agent))
    }

    /// The trial before its first step. Whoever acts at random gets the trial's own stream, whatever the agent: so all of
    /// them learn from the same trajectory.
    fn session<'a>(&self, domain: &'a Domain) -> Result<Session<'a>> {
        let Contender { agent, policy, .. } = self.contender;
        let (circumstances, key) = (self.circumstances(), self.key());
        let shared = policy == PolicySpec::Uniform;
        let rng = stream(self.seed, &format!("{}/life", if shared { &circumstances } else { &key }));
        let agent = agent.build(&domain.mdp, self.seed, &circumstances, &key)?;
        Ok(Session::new(&domain.mdp, agent, policy.build()?, rng))
    }

    /// Lets the agent act and learn. `see` is called after each step; what it returns is the step at which learning
    /// diverged and ended, if it did.
    fn learn(
        &self,
        session: &mut Session<'_>,
        stop: &Stop,
        mut see: impl FnMut(u64, &Step, &dyn Agent),
    ) -> Result<Option<u64>> {
        let learned = session.observe(self.steps, |step, taken, agent| {
            if step % PATIENCE == 0 {
                stop.check()?;
            }
            see(step, taken, agent);
            Ok(())
        });
        match learned {
            Err(Error::Learning(adfq::Error::Diverged { .. })) => Ok(Some(session.steps() + 1)),
            other => other.map(|()| None),
        }
    }

    /// Look k is after step ⌊k · steps / looks⌋.
    fn is_look(&self, step: u64) -> bool {
        step * self.looks / self.steps > (step - 1) * self.looks / self.steps
    }
}

/// The trials of one domain, all of the same kind.
pub struct Setting {
    pub family: &'static str,
    pub domain: &'static str,
    /// Steps of the full experiment; the plan may shorten them.
    pub steps: u64,
    pub looks: u64,
    pub tests: bool,
    pub prior: Prior,
}

impl Setting {
    /// One trial per label and number. KTD-Q stays away from Maze if the plan says so.
    pub fn trials(&self, plan: &Plan, labels: &[&str]) -> Vec<Trial> {
        let steps = plan.steps(self.steps);
        let stochastic = is_stochastic(self.domain);
        let takes_part = |label: &&&str| {
            plan.ktd_on_maze || !(label.starts_with("KTD") && self.domain.starts_with("maze"))
        };
        let contenders = labels
            .iter()
            .filter(takes_part)
            .filter_map(|label| agents::contender(label, self.domain, steps, stochastic, self.prior));
        let trial = |contender| {
            (0..plan.trials).map(move |number| Trial {
                family: self.family,
                domain: self.domain,
                contender,
                number,
                steps,
                looks: self.looks,
                tests: self.tests,
                seed: plan.seed,
            })
        };
        contenders.flat_map(trial).collect()
    }
}

/// Whether ADFQ is told that a domain's transitions are random. The simple MDP's are not, only its rewards.
fn is_stochastic(domain: &str) -> bool {
    domain == "chain" || domain.ends_with("-stochastic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::agents::{ADFQ, ADFQ_EXACT, ADFQ_TS, KTD_Q, NEUTRAL, Q_LEARNING, contender};
    use adfq::agent::KtdSettings;
    use adfq::spec::AgentSpec;

    fn trial(label: &str, domain: &'static str, steps: u64) -> Trial {
        let contender = contender(label, domain, steps, domain.ends_with("stochastic"), NEUTRAL).unwrap();
        Trial { family: "test", domain, contender, number: 0, steps, looks: 10, tests: true, seed: 1 }
    }

    fn run(trial: &Trial) -> Record {
        trial.run(&Stop::default()).unwrap()
    }

    #[test]
    fn looks_are_evenly_spread() {
        let record = run(&trial(ADFQ, "loop", 250));
        assert_eq!(record.steps, [0, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250]);
        for curve in [&record.rmse, &record.within_1, &record.within_2, &record.reward, &record.test] {
            assert!(curve.len() == 11 && curve.iter().all(|value| value.is_finite()));
        }
        let uneven = run(&Trial { looks: 3, ..trial(ADFQ, "loop", 10) });
        assert_eq!(uneven.steps, [0, 4, 7, 10]);
    }

    #[test]
    fn random_walkers_share_their_trajectory_and_others_do_not() {
        let rewards = |label| run(&trial(label, "loop-stochastic", 1_000)).reward;
        let shared = rewards(ADFQ);
        assert!(shared[10] > 0.0);
        assert_eq!(rewards(ADFQ_EXACT), shared);
        assert_eq!(rewards(Q_LEARNING), shared);
        assert_ne!(rewards(ADFQ_TS), shared);
        let other = Trial { number: 1, ..trial(ADFQ, "loop-stochastic", 1_000) };
        assert_ne!(run(&other).reward, shared);
    }

    #[test]
    fn beliefs_start_with_everything_covered_and_estimates_have_none() {
        let record = run(&trial(ADFQ, "maze", 300));
        assert_eq!((record.within_1[0], record.within_2[0]), (1.0, 1.0));
        assert!(run(&trial(Q_LEARNING, "maze", 300)).within_2.is_empty());
    }

    #[test]
    fn divergence_ends_a_trial_and_is_recorded() {
        let mut trial = trial(KTD_Q, "loop", 100);
        let settings = KtdSettings { initial_mean: 1e13, ..KtdSettings::default() };
        trial.contender.agent = AgentSpec::KtdQ(settings);
        let record = run(&trial);
        assert_eq!((record.diverged, record.steps.len(), record.rmse.len()), (Some(1), 11, 11));
        assert!(record.rmse[0].is_finite() && record.rmse[1..].iter().all(|value| value.is_nan()));
    }

    #[test]
    fn a_raised_flag_interrupts() {
        let stop = Stop::default();
        stop.raise();
        assert!(matches!(trial(ADFQ, "loop", 5_000).run(&stop), Err(crate::Error::Interrupted)));
    }

    /// An agent that knows Q* earns in its tests what the optimal policy earns.
    #[test]
    fn a_learned_policy_passes_its_tests() {
        let record = run(&trial(ADFQ_EXACT, "loop", 10_000));
        assert_eq!((record.test[10], record.diverged), (40.0, None));
    }
}
