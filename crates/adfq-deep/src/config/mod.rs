//! All that decides a run, as typed data: what `config.toml` in a run folder holds. Presets live in `presets`, tuned
//! settings in `tuned`, changes by name in `assign`, what follows from it in `derived`.

mod assign;
mod derived;
mod presets;
mod task;
mod tuned;

pub use assign::{env_args, wrappers};
pub use task::is_atari;
pub use tuned::{Reached, Tuned};

use crate::algorithm::Algorithms;
use crate::replay::ReplaySettings;
use crate::{Error, Result};
use adfq_env::Args;
use adfq_nn::{AdamSettings, Clip, Layer, Weights};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A whole run: the same configuration gives the same bits.
///
/// ```
/// use adfq_deep::Config;
///
/// let config = Config::for_env("cartpole")?;
/// let text = config.to_toml()?;
/// assert_eq!(Config::from_toml(&text)?, config);
/// assert!(Config::from_toml(&text.replace("batch", "bach")).unwrap_err().to_string().contains("bach"));
/// # Ok::<(), adfq_deep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The environment's name, as [`adfq_env::Registry`] knows it.
    pub env: String,
    /// What learns, by its name among the [`Algorithms`].
    pub agent: String,
    /// How it explores: `thompson`, `epsilon`, or the algorithm's own policy.
    pub policy: String,
    /// The seed from which all chance of the run is drawn.
    pub seed: u64,
    /// Environment steps, over all environments together.
    pub steps: u64,
    /// Where the run was to end before it was made longer, in steps and in order. Up to each of these it is a run of so many
    /// steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_ends: Vec<u64>,
    /// Environments stepped side by side. The ratio of gradient steps to environment steps stays the same.
    pub envs: usize,
    /// Wrappers of Gymnasium around the environment, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrappers: Vec<String>,
    /// Arguments of the environment; ours have none.
    #[serde(default, skip_serializing_if = "Args::is_empty")]
    pub env_args: Args,
    /// The network between input and head.
    pub network: NetworkConfig,
    /// ε; for the policy `epsilon`.
    pub exploration: Exploration,
    /// What is remembered, and how it is drawn.
    pub replay: ReplaySettings,
    /// Gradient steps.
    pub learning: Learning,
    /// Greedy episodes that measure what was learned.
    pub evaluation: Evaluating,
    /// What is written, and how often.
    pub logging: Logging,
    /// Settings of algorithms, a table each by its name. What an agent does not find here has its default.
    #[serde(flatten)]
    pub own: BTreeMap<String, toml::Value>,
}

/// The network between input and head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Hidden layers, each followed by a ReLU.
    pub layers: Vec<Layer>,
    /// Hidden units of each stream of a dueling head; without it the head is one dense layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dueling: Option<usize>,
    /// How hidden weights start. How the output layer starts is the algorithm's.
    pub weights: Weights,
    /// Whether the sums of all dense layers but a first one are brought to mean 0 and variance 1 before their ReLU. How large an
    /// observation is would be lost on the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub normalise: bool,
}

/// ε from 1 to its end, linearly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exploration {
    /// ε of the first step.
    pub from: f64,
    /// ε of the later ones.
    pub to: f64,
    /// The share of the run over which it falls.
    pub fraction: f64,
}

/// Gradient steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// Discount γ.
    pub discount: f32,
    /// Transitions in a gradient step.
    pub batch: usize,
    /// Environment steps before the first gradient step.
    pub warmup: u64,
    /// Environment steps for each gradient step.
    pub every: u64,
    /// Adam.
    pub adam: AdamSettings,
    /// The learning rate falls to this share of itself at the end of the run; 1 keeps it.
    pub final_rate: f32,
    /// On which way it falls.
    pub decay: Decay,
    /// Gradient clipping.
    pub clip: Clip,
    /// Where the Huber loss turns from a parabola into a line.
    pub huber: f32,
    /// How the target network follows.
    pub target: TargetUpdate,
    /// Whether targets are kept within what the rewards seen so far allow, [min(0, r)/(1-γ), max(0, r)/(1-γ)]: no Q lies
    /// beyond. Without it values that nothing corrects, such as those at a time limit, may run away.
    pub bound_targets: bool,
    /// Whether learning sees only the sign of a reward, as on Atari. Reported returns are never clipped.
    pub clip_rewards: bool,
}

/// On which way the learning rate falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// A straight line.
    Linear,
    /// A parabola that ends level: quick at first, hardly any change in the last steps.
    Parabola,
}

/// How the target network follows the online one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetUpdate {
    /// A copy whenever this many environment steps have passed.
    Hard(u64),
    /// After each gradient step, this share of the way to the online network.
    Soft(f32),
}

/// Greedy episodes that measure what was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluating {
    /// Environment steps between evaluations. 0 means none at all, not at the end either.
    pub every: u64,
    /// Episodes of each.
    pub episodes: usize,
    /// Episodes of the last one, at the end of the run.
    pub final_episodes: usize,
    /// An episode is cut off after this many steps: a greedy agent may find a loop.
    pub max_steps: u64,
    /// Training ends as soon as the mean return of an evaluation reaches this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_at: Option<f64>,
    /// Arguments of the environment to evaluate in, where they differ from [`Config::env_args`] or are added to them.
    #[serde(default, skip_serializing_if = "Args::is_empty")]
    pub env_args: Args,
}

/// What is written, and how often, in environment steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logging {
    /// Steps between rows of `metrics.csv`.
    pub metrics: u64,
    /// Steps between checkpoints. The last two are kept.
    pub checkpoint: u64,
    /// Steps between checkpoints of what was learned that stay for good. 0 means none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub keep: u64,
}

/// Whether a setting that counts steps is off.
fn is_none(steps: &u64) -> bool {
    *steps == 0
}

impl Config {
    /// Reads TOML and checks it; the error names the field.
    pub fn from_toml(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text).map_err(|error| Error::Toml(one_line(text, &error)))?;
        config.check()?;
        Ok(config)
    }

    /// From a TOML file; the error names it.
    pub fn from_file(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|source| adfq_files::Error::io("read", path, source))?;
        Self::from_toml(&text).map_err(|source| Error::in_file(path, source))
    }

    /// As TOML.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::Toml(error.to_string()))
    }

    /// Whether all values make sense together; the error names the first that does not. The settings of algorithms that
    /// a user has registered are checked when a run is made.
    pub fn check(&self) -> Result<()> {
        let (learning, replay, eval) = (&self.learning, &self.replay, &self.evaluation);
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let target = match learning.target {
            TargetUpdate::Hard(every) => every > 0,
            TargetUpdate::Soft(tau) => tau > 0.0 && tau <= 1.0,
        };
        let priority = replay.priority.as_ref();
        check(&[
            ("steps", self.steps > 0, "at least 1"),
            ("earlier_ends", self.earlier_ends_fit(), "rising, from 1 to below steps"),
            ("env_args", self.env_args.values().all(writable), "without nan and inf"),
            ("envs", self.envs > 0, "at least 1"),
            ("exploration.from", share(self.exploration.from), "between 0 and 1"),
            ("exploration.to", share(self.exploration.to), "between 0 and 1"),
            ("exploration.fraction", share(self.exploration.fraction), "between 0 and 1"),
            (
                "replay.capacity",
                replay.capacity >= learning.batch.max(2).saturating_mul(self.envs),
                "room for a batch",
            ),
            ("replay.n_step", replay.n_step > 0, "at least 1"),
            ("replay.priority.alpha", priority.is_none_or(|p| share(p.alpha.into())), "between 0 and 1"),
            ("replay.priority.beta", priority.is_none_or(|p| share(p.beta.into())), "between 0 and 1"),
            ("replay.priority.epsilon", priority.is_none_or(|p| p.epsilon > 0.0), "above 0"),
            ("learning.discount", share(learning.discount.into()), "between 0 and 1"),
            ("learning.batch", learning.batch > 0, "at least 1"),
            ("learning.every", learning.every > 0, "at least 1"),
            ("learning.final_rate", share(learning.final_rate.into()), "between 0 and 1"),
            ("learning.huber", learning.huber > 0.0, "above 0"),
            ("learning.target", target, "hard = 1 or more steps, or soft = a share above 0 and up to 1"),
            ("evaluation.episodes", eval.episodes > 0, "at least 1"),
            ("evaluation.final_episodes", eval.final_episodes > 0, "at least 1"),
            ("evaluation.max_steps", eval.max_steps > 0, "at least 1"),
            ("evaluation.env_args", eval.env_args.values().all(writable), "without nan and inf"),
            ("evaluation.stop_at", eval.stop_at.is_none_or(f64::is_finite), "finite"),
            (
                "evaluation.every",
                eval.stop_at.is_none() || eval.every > 0,
                "at least 1 where evaluation.stop_at is set",
            ),
            ("logging.metrics", self.logging.metrics > 0, "at least 1"),
            ("logging.checkpoint", self.logging.checkpoint > 0, "at least 1"),
        ])?;
        let built_in = Algorithms::default();
        for (name, value) in &self.own {
            match built_in.get(name) {
                Ok(algorithm) if value.is_table() => algorithm.read(self)?,
                Err(_) if value.is_table() && *name == self.agent => {}
                _ => return Err(Error::Toml(format!("there is no setting `{name}`"))),
            }
        }
        built_in.get(&self.agent).map_or(Ok(()), |algorithm| algorithm.check(self))
    }

    /// The settings of an algorithm: the table of its name, or the defaults.
    pub fn own<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        let Some(table) = self.own.get(name) else { return Ok(T::default()) };
        let wrong = |error: toml::de::Error| {
            Error::Toml(format!("[{name}]: {}", error.message().replace('\n', ", ")))
        };
        table.clone().try_into().map_err(wrong)
    }

    /// The same with these settings of an algorithm.
    pub fn with_own<T: Serialize>(mut self, name: &str, settings: &T) -> Result<Self> {
        let table =
            toml::Value::try_from(settings).map_err(|error| Error::Toml(format!("[{name}]: {error}")))?;
        self.own.insert(name.to_owned(), table);
        Ok(self)
    }

    /// The arguments of the environment to evaluate in.
    ///
    /// ```
    /// let config = adfq_deep::Config::for_env("cartpole")?;
    /// let config = config.with("env_args.gravity=-5.0")?.with("evaluation.env_args.gravity=-9.0")?;
    /// assert_eq!((&config.env_args["gravity"], &config.evaluation_args()["gravity"]), (&(-5.0).into(), &(-9.0).into()));
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn evaluation_args(&self) -> Args {
        let mut args = self.env_args.clone();
        args.extend(self.evaluation.env_args.clone());
        args
    }

    fn earlier_ends_fit(&self) -> bool {
        let ends = [&[0], &self.earlier_ends[..], &[self.steps]].concat();
        ends.is_sorted_by(|end, next| end < next)
    }

    /// The same over another number of steps. An evaluation every hundredth of the run, as in the paper, remains one.
    ///
    /// ```
    /// let paper = adfq_deep::Config::for_env("cartpole")?.with("evaluation.every=1000")?; // of 100,000 steps
    /// assert_eq!(paper.with_steps(20_000).evaluation.every, 200);
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn with_steps(mut self, steps: u64) -> Self {
        if self.evaluation.every.checked_mul(100) == Some(self.steps) {
            self.evaluation.every = (steps / 100).max(1);
        }
        (self.steps, self.earlier_ends) = (steps, vec![]);
        self
    }

    /// The configuration of this run made longer: it stays what it is up to its end, and goes on from there as a run of
    /// so many steps.
    ///
    /// ```
    /// let config = adfq_deep::Config::for_env("cartpole")?; // 100,000 steps
    /// let longer = config.lengthened(150_000)?;
    /// assert_eq!((longer.steps, &longer.earlier_ends[..]), (150_000, &[100_000][..]));
    /// assert!(config.lengthened(100_000).is_err());
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn lengthened(&self, steps: u64) -> Result<Self> {
        let mut longer = Self { steps, ..self.clone() };
        longer.earlier_ends.push(self.steps);
        longer.check()?;
        Ok(longer)
    }

    /// Whether this is the configuration of the same run before it was made longer, or the very same one.
    pub(crate) fn is_earlier_than(&self, later: &Self) -> bool {
        let ends = [&later.earlier_ends[..], &[later.steps]].concat();
        let Some((&steps, earlier)) = ends.get(..=self.earlier_ends.len()).and_then(|ends| ends.split_last())
        else {
            return false;
        };
        *self == Self { steps, earlier_ends: earlier.to_vec(), ..later.clone() }
    }
}

/// The first setting that is not what it must be, as an error.
pub(crate) fn check(rules: &[(&'static str, bool, &'static str)]) -> Result<()> {
    match rules.iter().find(|(_, fits, _)| !fits) {
        Some(&(name, _, must)) => Err(Error::Setting { name, must }),
        None => Ok(()),
    }
}

/// Whether TOML has this value: it knows no null, and what is not a finite number becomes one on the way to JSON.
fn writable(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => false,
        serde_json::Value::Array(values) => values.iter().all(writable),
        serde_json::Value::Object(values) => values.values().all(writable),
        _ => true,
    }
}

/// What is wrong and in which line, without the parser's picture of the place.
fn one_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    }
}
