//! All that decides a run, as typed data: what `config.toml` in a run folder holds. Presets live in [`presets`], changes by
//! name in `assign`, what follows from it in `derived`.

mod assign;
mod derived;
pub mod presets;
mod task;

pub use assign::env_args;
pub use task::is_atari;

use crate::{Error, Result};
use adfq::update::{NoiseKind, RuleKind};
use adfq_env::Args;
use adfq_nn::{AdamSettings, Clip, Layer, Weights};
use serde::{Deserialize, Serialize};

/// What learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Deep ADFQ: a belief on every Q(s,a).
    Adfq,
    /// DQN (Mnih et al. 2015).
    Dqn,
    /// Double DQN (van Hasselt et al. 2016).
    Ddqn,
    /// Deep Split ADFQ: a belief on every Q(s,a) whose variance is split by origin.
    Split,
}

impl AgentKind {
    /// Numbers the network gives for an action: μ and -log σ; Q alone; or μ, -log √c and what lies ahead with luck.
    pub fn groups(self) -> usize {
        match self {
            Self::Adfq => 2,
            Self::Dqn | Self::Ddqn => 1,
            Self::Split => 3,
        }
    }

    /// Whether it knows how sure it is.
    pub fn has_beliefs(self) -> bool {
        matches!(self, Self::Adfq | Self::Split)
    }

    /// The policy it is made for.
    pub fn policy(self) -> PolicyKind {
        match self {
            Self::Adfq => PolicyKind::Thompson,
            Self::Dqn | Self::Ddqn => PolicyKind::Epsilon,
            Self::Split => PolicyKind::Optimist,
        }
    }

    /// The name, as in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adfq => "adfq",
            Self::Dqn => "dqn",
            Self::Ddqn => "ddqn",
            Self::Split => "split",
        }
    }
}

/// How it explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// Thompson sampling: one normal number for each action. It needs beliefs, and so ADFQ or Split ADFQ.
    Thompson,
    /// ε-greedy on the means.
    Epsilon,
    /// The largest hopeful value. It needs Split ADFQ.
    Optimist,
}

impl PolicyKind {
    /// The name, as in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thompson => "thompson",
            Self::Epsilon => "epsilon",
            Self::Optimist => "optimist",
        }
    }
}

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
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The environment's name, as [`adfq_env::make`] knows it.
    pub env: String,
    /// What learns.
    pub agent: AgentKind,
    /// How it explores.
    pub policy: PolicyKind,
    /// The seed from which all chance of the run is drawn.
    pub seed: u64,
    /// Environment steps, over all environments together.
    pub steps: u64,
    /// Environments stepped side by side. The ratio of gradient steps to environment steps stays the same.
    pub envs: usize,
    /// Arguments of the environment; ours have none.
    #[serde(default, skip_serializing_if = "Args::is_empty")]
    pub env_args: Args,
    /// The network between input and head.
    pub network: NetworkConfig,
    /// Beliefs; for the agent `adfq`.
    pub adfq: AdfqConfig,
    /// Own variance and hope; for the agent `split`, and the default if it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitConfig>,
    /// ε; for the policy `epsilon`.
    pub exploration: Exploration,
    /// What is remembered, and how it is drawn.
    pub replay: ReplayConfig,
    /// Gradient steps.
    pub learning: Learning,
    /// Greedy episodes that measure what was learned.
    pub evaluation: Evaluating,
    /// What is written, and how often.
    pub logging: Logging,
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
    /// How hidden weights start. ADFQ's output layer starts from the prior.
    pub weights: Weights,
}

/// Deep ADFQ's own settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdfqConfig {
    /// The update rule that makes the target.
    pub rule: RuleKind,
    /// Initial mean μ0.
    pub mean: f32,
    /// Initial standard deviation σ0.
    pub sd: f32,
    /// Least variance: of a belief that the network gives, and of a target.
    pub min_var: f32,
    /// Largest variance of a belief that the network gives.
    pub max_var: f32,
    /// Variance of the target where an episode ends.
    pub terminal_var: f64,
    /// How noise on the target is treated.
    pub noise: NoiseKind,
    /// Its variance σ_w².
    pub var_w: f32,
}

/// Deep Split ADFQ's own settings. The limits of a variance are those of [`AdfqConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SplitConfig {
    /// Random features on which the own variance rests.
    pub features: usize,
    /// The least noise variance of a target, as a share of the prior variance: λ.
    pub noise: f32,
    /// How many sd a hopeful value is above the mean: x.
    pub reach: f32,
    /// Rewards that are thought possible before any is seen, the least and the greatest. Those seen widen the range.
    pub rewards: [f32; 2],
}

impl Default for SplitConfig {
    /// One setting for all environments.
    fn default() -> Self {
        Self { features: 256, noise: 1e-3, reach: 2.0, rewards: [0.0, 1.0] }
    }
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

/// What is remembered, and how it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// Slots for transitions.
    pub capacity: usize,
    /// Steps of a return before it is bootstrapped.
    pub n_step: usize,
    /// Draw by priority; without it uniformly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

/// Prioritised replay (Schaul et al. 2016).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// Probability ∝ priority^alpha.
    pub alpha: f32,
    /// Exponent of the importance weights at the start; it rises linearly to 1 at the end of the run.
    pub beta: f32,
    /// Added to the error, so that nothing is forgotten.
    pub epsilon: f32,
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
    /// Environment steps between evaluations.
    pub every: u64,
    /// Episodes of each.
    pub episodes: usize,
    /// Episodes of the last one, at the end of the run.
    pub final_episodes: usize,
    /// An episode is cut off after this many steps: a greedy agent may find a loop.
    pub max_steps: u64,
}

/// What is written, and how often, in environment steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logging {
    /// Steps between rows of `metrics.csv`.
    pub metrics: u64,
    /// Steps between checkpoints.
    pub checkpoint: u64,
}

impl Config {
    /// Reads TOML and checks it; the error names the field.
    pub fn from_toml(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text).map_err(|error| Error::Toml(one_line(text, &error)))?;
        config.check()?;
        Ok(config)
    }

    /// As TOML.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::Toml(error.to_string()))
    }

    /// Whether all values make sense together; the error names the first that does not.
    pub fn check(&self) -> Result<()> {
        let (learning, adfq, replay, eval) = (&self.learning, &self.adfq, &self.replay, &self.evaluation);
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let target = match learning.target {
            TargetUpdate::Hard(every) => every > 0,
            TargetUpdate::Soft(tau) => tau > 0.0 && tau <= 1.0,
        };
        let priority = replay.priority.as_ref();
        let split = self.split.clone().unwrap_or_default();
        let finite = self.agent != AgentKind::Split || learning.discount < 1.0;
        for (name, fits, must) in [
            ("steps", self.steps > 0, "at least 1"),
            ("env_args", self.env_args.values().all(writable), "without nan and inf"),
            ("envs", self.envs > 0, "at least 1"),
            ("adfq.mean", adfq.mean.is_finite(), "a finite number"),
            ("adfq.min_var", adfq.min_var > 0.0, "above 0"),
            ("adfq.max_var", adfq.max_var > adfq.min_var && adfq.max_var.is_finite(), "above adfq.min_var"),
            (
                "adfq.sd",
                (adfq.min_var..=adfq.max_var).contains(&adfq.sd.powi(2)),
                "within the variances' range",
            ),
            ("adfq.terminal_var", adfq.terminal_var > 0.0 && adfq.terminal_var.is_finite(), "above 0"),
            ("adfq.var_w", adfq.var_w >= 0.0 && adfq.var_w.is_finite(), "0 or above"),
            ("split.features", split.features > 0, "at least 1"),
            ("split.noise", split.noise > 0.0 && split.noise.is_finite(), "above 0"),
            ("split.reach", split.reach >= 0.0 && split.reach.is_finite(), "0 or above"),
            ("split.rewards", hopeful(split.rewards), "a least and a greatest reward, one of them not 0"),
            ("exploration.from", share(self.exploration.from), "between 0 and 1"),
            ("exploration.to", share(self.exploration.to), "between 0 and 1"),
            ("exploration.fraction", share(self.exploration.fraction), "between 0 and 1"),
            ("replay.capacity", replay.capacity >= learning.batch.max(2) * self.envs, "room for a batch"),
            ("replay.n_step", replay.n_step > 0, "at least 1"),
            ("replay.priority.alpha", priority.is_none_or(|p| share(p.alpha.into())), "between 0 and 1"),
            ("replay.priority.beta", priority.is_none_or(|p| share(p.beta.into())), "between 0 and 1"),
            ("replay.priority.epsilon", priority.is_none_or(|p| p.epsilon > 0.0), "above 0"),
            ("learning.discount", share(learning.discount.into()), "between 0 and 1"),
            ("learning.discount", finite, "below 1 for the agent split, whose prior is the range of values"),
            ("learning.batch", learning.batch > 0, "at least 1"),
            ("learning.every", learning.every > 0, "at least 1"),
            ("learning.final_rate", share(learning.final_rate.into()), "between 0 and 1"),
            ("learning.huber", learning.huber > 0.0, "above 0"),
            ("learning.target", target, "hard = 1 or more steps, or soft = a share above 0 and up to 1"),
            ("evaluation.every", eval.every > 0, "at least 1"),
            ("evaluation.episodes", eval.episodes > 0, "at least 1"),
            ("evaluation.final_episodes", eval.final_episodes > 0, "at least 1"),
            ("evaluation.max_steps", eval.max_steps > 0, "at least 1"),
            ("logging.metrics", self.logging.metrics > 0, "at least 1"),
            ("logging.checkpoint", self.logging.checkpoint > 0, "at least 1"),
        ] {
            if !fits {
                return Err(Error::Setting { name, must });
            }
        }
        if self.policy == PolicyKind::Thompson && !self.agent.has_beliefs() {
            return Err(Error::NoBeliefs(self.agent.name()));
        }
        if self.policy == PolicyKind::Optimist && self.agent != AgentKind::Split {
            return Err(Error::NoHope(self.agent.name()));
        }
        self.update().map(drop)
    }

    /// The same for another agent, which explores in this way. Settings of the agent `split` are written for it alone.
    pub fn with_agent(mut self, agent: AgentKind, policy: PolicyKind) -> Self {
        let split = self.split.take();
        self.split = (agent == AgentKind::Split).then(|| split.unwrap_or_default());
        Self { agent, policy, ..self }
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
        self.steps = steps;
        self
    }
}

/// Whether this is a range of rewards out of which something may be hoped or feared.
fn hopeful([least, greatest]: [f32; 2]) -> bool {
    least.is_finite() && greatest.is_finite() && least <= greatest && (least < 0.0 || greatest > 0.0)
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
        Some(before) => format!("line {}: {message}", before.lines().count().max(1)),
        None => message,
    }
}
