//! What a learner's values should be: returns of its own greedy policy, from states of an environment that were saved.
//!
//! [`Rollouts`] visits states and plays on from them. What the returns say about beliefs is not known here.

use crate::algorithm::Estimate;
use crate::evaluate::Judge;
use crate::learner::{Asked, Learner};
use crate::metrics::sign;
use crate::observation::Observation;
use crate::policy::{Explorer, greedy};
use crate::run::folder::{Loaded, read_learner};
use crate::{Checkpoint, Config, Error, Host, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Env, Step, check_given};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A rollout ends where the discount has fallen below this. The value beyond is the learner's own, so that an error of that
/// value changes the return by less than a thousandth of it.
pub const TAIL: f64 = 1e-3;

/// How many times as far from the mean of the observations met one lies that is like none of them.
pub const FAR: f32 = 5.0;

/// How states are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Play {
    /// The exploration of the run, as it would go on from its checkpoint.
    Training,
    /// The greedy policy.
    Evaluation,
    /// All actions with the same probability.
    Random,
}

impl Play {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Training, Self::Evaluation, Self::Random];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Evaluation => "evaluation",
            Self::Random => "random",
        }
    }
}

/// A state that was met, and what is believed there.
#[derive(Clone, Debug)]
pub struct Visited {
    saved: Vec<u8>,
    observation: Observation,
    /// What the learner believes of each action.
    pub estimates: Vec<Estimate>,
    /// The state's number, where the environment is a finite MDP.
    pub exact: Option<usize>,
}

/// What came of one rollout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rollout {
    /// The discounted return, of rewards as training sees them.
    pub value: f64,
    /// The weight with which the learner's own value of the last state is in it: 0 where the episode terminated, below
    /// [`TAIL`] where the discount ended the rollout, and more where it was cut off.
    pub rest: f64,
}

/// A learner in an environment that can be put back into a state it was in. What follows depends on the seed alone.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("run");
/// use adfq_deep::rollout::{Play, Rollouts};
/// use adfq_deep::{Checkpoint, Host, Training};
///
/// Training::new("cartpole").agent("adfq").steps(300).run(&folder)?;
/// let mut rollouts = Rollouts::load(&folder, &Host::default(), Checkpoint::Last)?;
/// let met = rollouts.visit(Play::Random, 1, 0)?.remove(0);
/// let truth = rollouts.roll_out(&met, 1, 0, "first")?;
/// assert!(truth.value >= 1.0 && met.estimates.len() == 2);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub struct Rollouts {
    config: Config,
    learner: Learner,
    /// The environment step of the checkpoint.
    step: u64,
    env: Box<dyn Env>,
    judge: Judge,
    observation: Observation,
    frame: Vec<u8>,
    input: Vec<f32>,
    estimates: Vec<Estimate>,
    warnings: Vec<String>,
}

impl Rollouts {
    /// The learner of a checkpoint, in an environment as its evaluations had.
    pub fn load(folder: &Path, host: &Host, which: Checkpoint) -> Result<Self> {
        let Loaded { config, learner, step, warnings } = read_learner(folder, host, which)?;
        if host.registry.is_outside(&config.env, &config.evaluation_args()) {
            return Err(Error::Unsaveable { env: config.env });
        }
        let env = host.env(&config, false)?;
        Ok(Self { warnings, ..Self::new(&config, learner, step, env)? })
    }

    /// A learner after so many steps of training, in this environment.
    pub fn new(config: &Config, learner: Learner, step: u64, env: Box<dyn Env>) -> Result<Self> {
        let space = env.space();
        learner.check_space(space)?;
        Ok(Self {
            judge: Judge::new(&learner)?,
            observation: Observation::new(space),
            frame: vec![0; space.frame_bytes()],
            input: vec![0.0; space.observation_len()],
            estimates: vec![],
            warnings: vec![],
            config: config.clone(),
            learner,
            step,
            env,
        })
    }

    /// The configuration of the run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The environment step of the checkpoint.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// What is wrong with later checkpoints, if it is not that of the last one.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The environment.
    pub fn env(&self) -> &dyn Env {
        &*self.env
    }

    /// So many states, each from an episode of its own: so they are independent. Every step of an episode is chosen with the
    /// same probability.
    pub fn visit(&mut self, play: Play, count: usize, seed: u64) -> Result<Vec<Visited>> {
        let mut explorer = Explorer::new(&self.config);
        let name = play.name();
        explorer.rng = stream(seed, &format!("beliefs/{name}/policy"));
        let visit = |episode| {
            self.visit_one(play, &mut explorer, &mut stream(seed, &format!("beliefs/{name}/{episode}")))
        };
        (0..count).map(visit).collect()
    }

    fn visit_one(&mut self, play: Play, explorer: &mut Explorer, rng: &mut ChaCha8Rng) -> Result<Visited> {
        // In training one head of an ensemble acts for a whole episode.
        let asked = if play == Play::Training { Asked::Training(0) } else { Asked::Beliefs };
        if let Asked::Training(env) = asked {
            self.learner.algorithm.begin_episode(env);
        }
        self.reset(rng.next_u64())?;
        self.judge(asked)?;
        let (mut kept, mut taken) = (self.keep()?, 0);
        loop {
            let action = match play {
                Play::Training => explorer.act(&self.estimates, self.step),
                Play::Evaluation => greedy(&self.estimates, rng),
                Play::Random => rng.random_range(0..self.estimates.len()),
            };
            let step = self.take(action)?;
            taken += 1;
            if step.ended() || taken >= self.config.evaluation.max_steps {
                return Ok(kept);
            }
            self.judge(asked)?;
            // Of the states so far each one is kept with the same probability.
            if rng.random_range(0..=taken) == 0 {
                kept = self.keep()?;
            }
        }
    }

    /// What is believed of observations that were never met: for each of these states one that is [`FAR`] times as far from the
    /// mean of their observations, in the same direction. Nothing is known of their values.
    pub fn far_away(&mut self, met: &[Visited]) -> Result<Vec<Vec<Estimate>>> {
        let decode = |state: &Visited| {
            let mut numbers = vec![0.0; self.input.len()];
            state.observation.decode(&mut numbers);
            numbers
        };
        let all: Vec<Vec<f32>> = met.iter().map(decode).collect();
        let mean = |i: usize| all.iter().map(|numbers| numbers[i]).sum::<f32>() / all.len() as f32;
        let means: Vec<f32> = (0..self.input.len()).map(mean).collect();
        let judge = |numbers: &Vec<f32>| {
            let far: Vec<f32> =
                numbers.iter().zip(&means).map(|(&number, &mean)| mean + FAR * (number - mean)).collect();
            let mut estimates = vec![];
            self.judge.estimates(&mut self.learner, Asked::Beliefs, &far, &mut estimates)?;
            Ok(estimates)
        };
        all.iter().map(judge).collect()
    }

    /// Takes an action in a state and follows the greedy policy. The chance is that of the seed and the name.
    ///
    /// A truncation is not the end, for training neither: the rollout goes on beyond it. Where the environment refuses that,
    /// or after `evaluation.max_steps` steps, the learner's own value of the last state stands for what is missing.
    pub fn roll_out(&mut self, from: &Visited, action: usize, seed: u64, name: &str) -> Result<Rollout> {
        let mut rng = stream(seed, &format!("beliefs/rollout/{name}"));
        self.env.restore(&from.saved)?;
        self.env.reseed(rng.next_u64())?;
        self.observation.clone_from(&from.observation);
        self.estimates.clone_from(&from.estimates);
        let (discount, clips) = (f64::from(self.config.learning.discount), self.config.learning.clip_rewards);
        let (mut value, mut weight, mut action, mut truncated) = (0.0, 1.0, action, false);
        for _ in 0..self.config.evaluation.max_steps {
            let step = match self.take(action) {
                Err(Error::Env(adfq_env::Error::NoEpisode)) if truncated => break,
                step => step?,
            };
            value += weight * if clips { sign(step.reward) } else { step.reward };
            weight *= discount;
            if step.terminated {
                return Ok(Rollout { value, rest: 0.0 });
            }
            self.judge(Asked::Means)?;
            if weight < TAIL {
                break;
            }
            truncated = step.truncated;
            action = greedy(&self.estimates, &mut rng);
        }
        let beyond = self.estimates.iter().map(|estimate| estimate.mean).fold(f32::NEG_INFINITY, f32::max);
        Ok(Rollout { value: value + weight * f64::from(beyond), rest: weight })
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        self.env.reset(Some(seed), &mut self.frame)?;
        check_given(&self.config.env, 0, self.env.space(), &self.frame, 0.0)?;
        self.observation.start(&self.frame);
        Ok(())
    }

    fn take(&mut self, action: usize) -> Result<Step> {
        let step = self.env.step(action, &mut self.frame)?;
        check_given(&self.config.env, 0, self.env.space(), &self.frame, step.reward)?;
        self.observation.push(&self.frame);
        Ok(step)
    }

    fn judge(&mut self, asked: Asked) -> Result<()> {
        self.observation.decode(&mut self.input);
        self.judge.estimates(&mut self.learner, asked, &self.input, &mut self.estimates)
    }

    /// The present state.
    fn keep(&self) -> Result<Visited> {
        let saved = self.env.save()?.ok_or_else(|| Error::Unsaveable { env: self.config.env.clone() })?;
        Ok(Visited {
            saved,
            observation: self.observation.clone(),
            estimates: self.estimates.clone(),
            exact: self.env.exact().map(|(_, state)| state),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithms;
    use adfq::mdp::{Mdp, named};
    use adfq_env::{MdpEnv, TimeLimit, make};

    /// A learner that has learned nothing, in this environment. DQN's first values are random: there are no ties.
    fn fresh(name: &str, env: Box<dyn Env>, discount: f32) -> Rollouts {
        let mut config =
            Config { agent: "dqn".into(), policy: "epsilon".into(), ..Config::for_env(name).unwrap() };
        config.learning.discount = discount;
        let learner = Learner::new(&config, env.space(), &Algorithms::default()).unwrap();
        Rollouts::new(&config, learner, 0, env).unwrap()
    }

    /// The same in a finite MDP that is cut off after `limit` steps.
    fn rollouts(mdp: &str, limit: u64) -> Rollouts {
        let env = Box::new(TimeLimit::new(MdpEnv::new(named(mdp).unwrap()), limit));
        fresh(&format!("mdp/{mdp}"), env, 0.95)
    }

    /// The action with the largest mean in each state of an MDP.
    fn policy(rollouts: &mut Rollouts, mdp: &Mdp) -> Vec<usize> {
        (0..mdp.states())
            .map(|state| {
                rollouts.frame.fill(0);
                rollouts.frame[state] = 1;
                let frame = rollouts.frame.clone();
                rollouts.observation.start(&frame);
                rollouts.judge(Asked::Beliefs).unwrap();
                greedy(&rollouts.estimates, &mut stream(0, "ties"))
            })
            .collect()
    }

    /// Q of a policy, by sweeps over the model.
    fn values(mdp: &Mdp, policy: &[usize], discount: f64) -> Vec<Vec<f64>> {
        let mut q = vec![vec![0.0; mdp.actions()]; mdp.states()];
        for _ in 0..5_000 {
            let v: Vec<f64> = q.iter().zip(policy).map(|(row, &action)| row[action]).collect();
            for (state, row) in q.iter_mut().enumerate() {
                for (action, value) in row.iter_mut().enumerate() {
                    let outcomes = mdp.outcomes(state, action).iter();
                    let worth = outcomes.map(|o| {
                        let beyond = if o.terminal { 0.0 } else { v[o.next_state] };
                        o.probability * (o.reward + discount * beyond)
                    });
                    *value = worth.sum();
                }
            }
        }
        q
    }

    /// The truth of a finite MDP is known: the mean of many rollouts is within 4 of their standard errors of it, for every
    /// action of every state met, although episodes are cut off after 20 steps.
    #[test]
    fn rollouts_agree_with_the_value_of_the_greedy_policy() {
        for name in ["loop-stochastic", "chain"] {
            let (mut rollouts, mdp) = (rollouts(name, 20), named(name).unwrap());
            let discount = f64::from(rollouts.config.learning.discount);
            let policy = policy(&mut rollouts, &mdp);
            let q = values(&mdp, &policy, discount);
            for (i, met) in rollouts.visit(Play::Random, 6, 1).unwrap().iter().enumerate() {
                let state = met.exact.unwrap();
                for (action, truth) in q[state].iter().enumerate() {
                    let mut roll =
                        |k: usize| rollouts.roll_out(met, action, 1, &format!("{i}/{action}/{k}")).unwrap();
                    let returns: Vec<Rollout> = (0..200).map(&mut roll).collect();
                    assert!(returns.iter().all(|it| it.rest < TAIL && it.rest > 0.9 * TAIL));
                    let mean = returns.iter().map(|it| it.value).sum::<f64>() / 200.0;
                    let squares: f64 = returns.iter().map(|it| (it.value - mean).powi(2)).sum();
                    let error = (squares / 199.0 / 200.0).sqrt();
                    // The value beyond the tail is that of a learner that knows nothing.
                    let slack = 4.0 * error + TAIL * (truth.abs() + 1.0);
                    assert!((mean - truth).abs() < slack, "{name} {state} {action}: {mean} {truth} {error}");
                }
            }
        }
    }

    #[test]
    fn the_same_name_gives_the_same_return_and_another_one_other_luck() {
        let mut rollouts = rollouts("chain", 1000);
        let met = rollouts.visit(Play::Evaluation, 1, 3).unwrap().remove(0);
        let mut roll = |name| rollouts.roll_out(&met, 0, 3, name).unwrap();
        assert_eq!(roll("a"), roll("a"));
        assert_ne!(roll("a"), roll("b"));
    }

    /// CartPole's chance is that of its start alone.
    #[test]
    fn an_environment_without_chance_gives_the_same_return_always() {
        let mut rollouts = fresh("cartpole", make("cartpole").unwrap(), 0.99);
        for play in Play::ALL {
            for met in rollouts.visit(play, 5, 0).unwrap() {
                let mut roll = |name| rollouts.roll_out(&met, 1, 0, name).unwrap();
                assert_eq!(roll("a"), roll("b"));
            }
        }
    }

    /// Freeway refuses to go on after its time: the value there is the learner's.
    #[test]
    fn where_an_environment_refuses_to_go_on_the_learner_s_value_stands() {
        let mut rollouts = fresh("minatar/freeway", make("minatar/freeway").unwrap(), 1.0);
        let met = rollouts.visit(Play::Random, 1, 0).unwrap().remove(0);
        assert_eq!(rollouts.roll_out(&met, 0, 0, "a").unwrap().rest, 1.0);
    }
}
