//! Named settings: the paper's, and ours for each kind of environment. They differ in the learning, never in the agent:
//! ADFQ, DQN and Double DQN get the same.

use super::*;
use adfq_nn::Padding;

/// The presets there are.
pub const NAMES: [&str; 2] = ["default", "paper"];

/// Prioritised replay as in the paper.
const PRIORITY: Priority = Priority { alpha: 0.6, beta: 0.4, epsilon: 1e-6 };

/// What kind of task an environment is, as far as settings depend on it.
enum Task {
    Control,
    Grid,
}

impl Task {
    /// By name: a preset must be known before the environment is made.
    fn of(env: &str) -> Self {
        let env = env.to_lowercase();
        if env.contains("minatar") || env.starts_with("deepsea") { Self::Grid } else { Self::Control }
    }
}

impl Config {
    /// Our settings for this environment: ADFQ with Thompson sampling.
    pub fn for_env(env: &str) -> Result<Self> {
        Self::preset("default", env)
    }

    /// The settings of this name for this environment.
    ///
    /// ```
    /// use adfq_deep::Config;
    ///
    /// assert_eq!(Config::preset("paper", "cartpole")?.adfq.sd, 30.0);
    /// assert!(Config::preset("papper", "cartpole").unwrap_err().to_string().contains("default, paper"));
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn preset(name: &str, env: &str) -> Result<Self> {
        let task = Task::of(env);
        match name {
            "default" => Ok(default(env, &task)),
            "paper" => Ok(paper(env, &task)),
            _ => Err(Error::Preset { name: name.to_owned(), known: NAMES.join(", ") }),
        }
    }
}

/// App. E of the paper and, where it is silent, the authors' code. Its Atari network does not fit the small grids of
/// MinAtar and DeepSea: these get the network of the MinAtar paper (Young and Tian 2019).
fn paper(env: &str, task: &Task) -> Config {
    let atari = Config {
        env: env.to_owned(),
        agent: AgentKind::Adfq,
        policy: PolicyKind::Thompson,
        seed: 0,
        steps: 10_000_000,
        envs: 1,
        env_args: Args::new(),
        network: NetworkConfig { layers: small_convolution(), dueling: None, weights: Weights::Xavier },
        adfq: AdfqConfig {
            rule: RuleKind::Analytic,
            mean: 1.0,
            sd: 50.0,
            min_var: 1e-5,
            max_var: 1e10,
            terminal_var: 1e-3,
            noise: NoiseKind::None,
            var_w: 0.0,
        },
        exploration: Exploration { from: 1.0, to: 0.01, fraction: 0.1 },
        replay: ReplayConfig { capacity: 50_000, n_step: 1, priority: Some(PRIORITY) },
        learning: Learning {
            discount: 0.99,
            batch: 32,
            warmup: 10_000,
            every: 4,
            adam: AdamSettings { rate: 2.5e-4, ..AdamSettings::default() },
            final_rate: 1.0,
            decay: Decay::Linear,
            clip: Clip::PerTensor(10.0),
            huber: 1.0,
            target: TargetUpdate::Hard(1_000),
            bound_targets: false,
            clip_rewards: true,
        },
        evaluation: Evaluating { every: 100_000, episodes: 3, final_episodes: 100, max_steps: 27_000 },
        logging: Logging { metrics: 10_000, checkpoint: 100_000 },
    };
    match task {
        Task::Grid => atari,
        Task::Control => Config {
            steps: 200_000,
            network: NetworkConfig { layers: dense(&[64]), ..atari.network },
            adfq: AdfqConfig { sd: 30.0, ..atari.adfq },
            exploration: Exploration { to: 0.02, ..atari.exploration },
            replay: ReplayConfig { priority: None, ..atari.replay },
            learning: Learning {
                warmup: 1_000,
                every: 1,
                adam: AdamSettings { rate: 1e-3, ..atari.learning.adam },
                target: TargetUpdate::Hard(500),
                clip_rewards: false,
                ..atari.learning
            },
            evaluation: Evaluating { every: 2_000, episodes: 10, ..atari.evaluation },
            logging: Logging { metrics: 1_000, checkpoint: 20_000 },
            ..atari
        },
    }
}

/// Ours: what the paper's settings became by measurement (docs/deep-adfq.md says what changed and what it brought).
fn default(env: &str, task: &Task) -> Config {
    let paper = paper(env, task);
    match task {
        Task::Control => Config {
            steps: 100_000,
            network: NetworkConfig { layers: dense(&[128, 128]), ..paper.network },
            adfq: AdfqConfig { terminal_var: 1e-4, ..paper.adfq },
            exploration: Exploration { to: 0.05, ..paper.exploration },
            replay: ReplayConfig { capacity: 100_000, priority: Some(PRIORITY), ..paper.replay },
            learning: Learning {
                batch: 64,
                final_rate: 0.0,
                clip: Clip::None,
                // Squared errors over the whole range of CartPole's values.
                huber: 100.0,
                target: TargetUpdate::Soft(0.01),
                bound_targets: true,
                ..paper.learning
            },
            ..paper
        },
        Task::Grid => Config {
            steps: 200_000,
            adfq: AdfqConfig { terminal_var: 1e-4, ..paper.adfq },
            exploration: Exploration { to: 0.05, fraction: 0.2, ..paper.exploration },
            replay: ReplayConfig { capacity: 200_000, ..paper.replay },
            learning: Learning {
                warmup: 5_000,
                adam: AdamSettings { rate: 1e-3, ..paper.learning.adam },
                final_rate: 0.1,
                decay: Decay::Parabola,
                target: TargetUpdate::Soft(0.01),
                bound_targets: true,
                clip_rewards: false,
                ..paper.learning
            },
            evaluation: Evaluating { every: 10_000, episodes: 10, max_steps: 10_000, ..paper.evaluation },
            logging: Logging { metrics: 1_000, checkpoint: 20_000 },
            ..paper
        },
    }
}

fn dense(units: &[usize]) -> Vec<Layer> {
    units.iter().map(|&units| Layer::Dense { units }).collect()
}

fn small_convolution() -> Vec<Layer> {
    let conv = Layer::Conv { filters: 16, kernel: 3, stride: 1, padding: Padding::Valid };
    vec![conv, Layer::Dense { units: 128 }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_survives_its_file() {
        for name in NAMES {
            for env in ["cartpole", "acrobot", "minatar/breakout", "deepsea-10"] {
                let config = Config::preset(name, env).unwrap();
                assert_eq!(Config::from_toml(&config.to_toml().unwrap()).unwrap(), config, "{name} {env}");
            }
        }
    }
}
