//! One setting for one agent and one seed: a number of episodes by which agent, and about how long they take. `together.rs` runs them.

use adfq::random::stream;
use adfq_deep::Config;
use adfq_env::bsuite::Setting;
use rand::Rng;
use std::path::PathBuf;

/// A unit of work.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Where its rows are written.
    pub folder: PathBuf,
    /// The setting.
    pub setting: Setting,
    /// How many episodes it runs.
    pub episodes: u64,
    /// What learns, and how.
    pub config: Config,
}

impl Unit {
    /// A configuration for all settings becomes that of this one. Settings of an experiment may differ in nothing but chance, so the
    /// seed of each follows from that of the sweep and from its id.
    pub fn new(setting: Setting, episodes: u64, config: &Config, folder: PathBuf) -> Self {
        let (env, steps) = (format!("bsuite:{}", setting.id()), episodes * setting.longest_episode());
        // TOML, in which configurations are written, has numbers of 63 bits.
        let seed = stream(config.seed, &format!("bsuite/{}", setting.id())).next_u64() >> 1;
        let config = Config { env, seed, ..config.clone().with_steps(steps) };
        Self { folder, setting, episodes, config }
    }

    /// The agent, the seed of the sweep and the setting, for people.
    pub fn name(&self) -> String {
        format!("{}, {}", self.folder.display(), self.setting.id())
    }

    /// The most environment steps that it takes.
    pub fn most_steps(&self) -> u64 {
        self.episodes * self.setting.longest_episode()
    }

    /// The most gradient steps that it takes.
    pub fn most_gradient_steps(&self) -> u64 {
        self.most_steps().saturating_sub(self.config.learning.warmup) / self.config.learning.every
    }

    /// About how long it takes at most, by which the longest go first: a part of each step is the same for all, and a part is in
    /// proportion to the numbers that the network sees.
    pub fn weight(&self) -> u64 {
        self.most_steps() * (150 + self.inputs())
    }

    fn inputs(&self) -> u64 {
        use adfq_env::bsuite::Task::{DeepSea, DeepSeaStochastic, Mnist};
        match self.setting.task {
            DeepSea { size, .. } | DeepSeaStochastic { size, .. } => (size * size) as u64,
            Mnist => 28 * 28,
            // So few that they do not matter.
            _ => 0,
        }
    }
}
