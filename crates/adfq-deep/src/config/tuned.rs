//! The zoo: settings that a recorded search found for one environment and one agent, and what they reached on seeds that
//! nothing was chosen by. They are data, in `presets/*.toml`, which `scripts/tune.py --presets` writes from the record of
//! the search. How they are used is decided in [`crate::Training`].

use super::Config;
use crate::Result;
use adfq_env::plain_name;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Settings for one environment and one agent.
///
/// ```
/// use adfq_deep::config::Tuned;
///
/// let cartpole = Tuned::of("cartpole", "adfq").unwrap();
/// assert_eq!(Tuned::of("gym:CartPole-v1", "adfq"), Some(cartpole)); // the same task by another name
/// assert!(cartpole.reached.mean > 400.0);
/// assert_eq!(Tuned::of("my-environment", "adfq"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The environment. One that ends in `*` stands for all that begin alike.
    pub env: String,
    /// The agent.
    pub agent: String,
    /// How it explores.
    pub policy: String,
    /// The environment steps that the settings are for. They are the same for all agents in an environment, so that runs
    /// can be compared.
    pub steps: u64,
    /// How many settings were tried to find these.
    pub tried: usize,
    /// The environment that was played, where `env` stands for several.
    #[serde(default)]
    pub judged_on: Option<String>,
    /// The return that was reached.
    pub reached: Reached,
    /// The return that the general settings (the preset `default`) reached in as many steps.
    pub general: Reached,
    #[serde(default)]
    settings: BTreeMap<String, toml::Value>,
}

/// A mean greedy return at the end of training.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// The mean over seeds.
    pub mean: f64,
    /// The lower end of its bootstrap interval of 95 %.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many seeds. They took no part in the search.
    pub seeds: usize,
}

impl Tuned {
    /// All there are, by environment and agent.
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The settings for this environment and this agent, if there are any.
    pub fn of(env: &str, agent: &str) -> Option<&'static Self> {
        Self::in_env(env).find(|tuned| tuned.agent == agent)
    }

    /// The number of environment steps for which settings in this environment were searched.
    pub fn steps_in(env: &str) -> Option<u64> {
        Self::in_env(env).map(|tuned| tuned.steps).next()
    }

    /// All for this environment, whatever its name is spelled like.
    pub fn in_env(env: &str) -> impl Iterator<Item = &'static Self> {
        let name = plain_name(env);
        let matches = move |tuned: &&Self| match tuned.env.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => plain_name(&tuned.env) == name,
        };
        ALL.iter().filter(matches)
    }

    /// What differs from the general settings, by name. None of it if nothing better was found.
    pub fn settings(&self) -> &BTreeMap<String, toml::Value> {
        &self.settings
    }

    /// A configuration with these settings.
    pub fn apply(&self, config: Config) -> Result<Config> {
        let config = Config { policy: self.policy.clone(), ..config }.with_steps(self.steps);
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        settings.into_iter().try_fold(config, |config, setting| config.with(&setting))
    }
}

static ALL: LazyLock<Vec<Tuned>> = LazyLock::new(|| {
    // A file that cannot be read is found by the tests.
    let mut all: Vec<Tuned> = FILES.iter().filter_map(|(_, text)| toml::from_str(text).ok()).collect();
    all.sort_by(|a, b| (&a.env, &a.agent).cmp(&(&b.env, &b.agent)));
    all
});

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../presets/", $name, ".toml")))),*]
    };
}

/// The files by name.
const FILES: &[(&str, &str)] = files!(
    "acrobot-adfq"
    "acrobot-ddqn"
    "acrobot-dqn"
    "asterix-adfq"
    "asterix-calibrated"
    "asterix-ddqn"
    "asterix-dqn"
    "atari-adfq"
    "atari-ddqn"
    "atari-dqn"
    "breakout-adfq"
    "breakout-calibrated"
    "breakout-ddqn"
    "breakout-dqn"
    "cartpole-adfq"
    "cartpole-ddqn"
    "cartpole-dqn"
    "deepsea-adfq"
    "deepsea-ddqn"
    "deepsea-dqn"
    "freeway-adfq"
    "freeway-calibrated"
    "freeway-ddqn"
    "freeway-dqn"
    "frozenlake-adfq"
    "frozenlake-ddqn"
    "frozenlake-dqn"
    "lunarlander-adfq"
    "lunarlander-calibrated"
    "lunarlander-ddqn"
    "lunarlander-dqn"
    "mountaincar-adfq"
    "mountaincar-ddqn"
    "mountaincar-dqn"
    "seaquest-adfq"
    "seaquest-calibrated"
    "seaquest-ddqn"
    "seaquest-dqn"
    "space-invaders-adfq"
    "space-invaders-calibrated"
    "space-invaders-ddqn"
    "space-invaders-dqn"
    "taxi-adfq"
    "taxi-ddqn"
    "taxi-dqn"
);

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::{Element, Space};
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_zoo_is_built_in_and_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../presets");
        let there: BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let built_in: BTreeSet<_> = FILES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        assert_eq!(there, built_in);
        for (name, text) in FILES {
            let tuned: Tuned = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(name.ends_with(&format!("-{}", tuned.agent)), "{name}");
        }
        assert_eq!(Tuned::all().len(), FILES.len());
    }

    #[test]
    fn all_of_them_make_sense_in_their_environments() {
        let space = Space { frame: vec![8], element: Element::F32, stack: 1, actions: 4 };
        for tuned in Tuned::all() {
            let general = Config::preset("default", &tuned.env, &space).unwrap();
            let algorithms = crate::algorithm::Algorithms::default();
            let config = algorithms.with_agent(general, &tuned.agent, Some(&tuned.policy)).unwrap();
            let config = tuned.apply(config).unwrap();
            assert_eq!(config.steps, tuned.steps);
            assert_eq!(Tuned::steps_in(&tuned.env), Some(tuned.steps), "{}", tuned.env);
            let Reached { mean, low, high, seeds } = tuned.reached;
            assert!(low <= mean && mean <= high && seeds >= 3, "{} {}", tuned.env, tuned.agent);
        }
    }
}
