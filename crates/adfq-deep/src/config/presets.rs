//! Named settings: the paper's, and ours for each kind of environment. They differ in the learning, never in the agent:
//! ADFQ, DQN and Double DQN get the same. Settings of an agent's own for one environment are in `tuned`.

use super::task::{Task, dense};
use super::*;
use crate::algorithm::{AdfqSettings, BootstrappedSettings};
use crate::replay::PrioritySettings;
use adfq_env::Space;

/// The presets there are.
const NAMES: [&str; 5] = ["tuned", "default", "paper", "atari-paper", "bsuite"];

/// Prioritised replay as in the paper.
const PRIORITY: PrioritySettings = PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-6 };

impl Config {
    /// Our general settings for this kind of environment: ADFQ with Thompson sampling. Makes the environment to learn its
    /// space; who has it at hand takes [`Config::preset`].
    pub fn for_env(env: &str) -> Result<Self> {
        Self::preset("default", env, adfq_env::make(env)?.space())
    }

    /// The settings of this name for this environment, whose space is known. `tuned` stands for those of the zoo, or for
    /// `default` where there are none. `atari-paper` is for the games of Atari, where `paper` means the same. `bsuite` is what the
    /// package bsuite's own DQN has, for every agent.
    ///
    /// ```
    /// use adfq_deep::Config;
    ///
    /// let env = adfq_env::make("cartpole")?;
    /// assert_eq!(Config::preset("paper", "cartpole", env.space())?.learning.every, 1);
    /// let error = Config::preset("papper", "cartpole", env.space()).unwrap_err();
    /// assert!(error.to_string().contains("tuned, default, paper, atari-paper, bsuite"));
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn preset(name: &str, env: &str, space: &Space) -> Result<Self> {
        let task = Task::of(env, space);
        match name {
            "default" => Ok(default(env, &task)),
            "tuned" => {
                let config = default(env, &task);
                Tuned::of(env, &config.agent).map_or(Ok(config.clone()), |tuned| tuned.apply(config))
            }
            "paper" => Ok(paper(env, &task)),
            "atari-paper" if matches!(task, Task::Atari { .. }) => Ok(paper(env, &task)),
            "atari-paper" => Err(Error::NotAtari(env.to_owned())),
            "bsuite" => Ok(bsuite(env)),
            _ => Err(Error::Preset { name: name.to_owned(), known: NAMES.join(", ") }),
        }
    }
}

/// App. E of the paper and, where it is silent, the authors' code.
fn paper(env: &str, task: &Task) -> Config {
    let atari = Config {
        env: env.to_owned(),
        agent: "adfq".to_owned(),
        policy: "thompson".to_owned(),
        seed: 0,
        steps: 10_000_000,
        earlier_ends: vec![],
        envs: 1,
        wrappers: vec![],
        env_args: Args::new(),
        network: NetworkConfig {
            layers: task.layers(),
            dueling: None,
            weights: Weights::Xavier,
            normalise: false,
        },
        exploration: Exploration { from: 1.0, to: 0.01, fraction: 0.1 },
        replay: ReplaySettings { capacity: 50_000, n_step: 1, watkins: false, priority: Some(PRIORITY) },
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
        evaluation: Evaluating {
            every: 100_000,
            episodes: 3,
            final_episodes: 100,
            max_steps: 27_000,
            stop_at: None,
            env_args: Args::new(),
        },
        logging: Logging { metrics: 10_000, checkpoint: 100_000, keep: 0 },
        own: own(AdfqSettings::default()),
    };
    match task {
        Task::Grid => atari,
        // A game may take an hour: three of them at the end too, and more where they are asked for (`adfq eval`).
        Task::Atari { pong } => {
            let evaluation = Evaluating { final_episodes: 3, ..atari.evaluation };
            Config { evaluation, ..atari }.with_steps(if *pong { 5_000_000 } else { 10_000_000 })
        }
        Task::Image { frame_bytes, .. } => Config {
            replay: ReplaySettings { capacity: slots(atari.replay.capacity, *frame_bytes), ..atari.replay },
            evaluation: Evaluating { final_episodes: 10, ..atari.evaluation },
            ..atari
        },
        Task::Control => Config {
            steps: 200_000,
            own: own(AdfqSettings { sd: 30.0, ..AdfqSettings::default() }),
            exploration: Exploration { to: 0.02, ..atari.exploration },
            replay: ReplaySettings { priority: None, ..atari.replay },
            learning: Learning {
                warmup: 1_000,
                every: 1,
                adam: AdamSettings { rate: 1e-3, ..atari.learning.adam },
                target: TargetUpdate::Hard(500),
                clip_rewards: false,
                ..atari.learning
            },
            evaluation: Evaluating { every: 2_000, episodes: 10, ..atari.evaluation },
            logging: Logging { metrics: 1_000, checkpoint: 20_000, keep: 0 },
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
            own: own(AdfqSettings { sd: 30.0, terminal_var: 1e-4, ..AdfqSettings::default() }),
            exploration: Exploration { to: 0.05, ..paper.exploration },
            replay: ReplaySettings { capacity: 100_000, priority: Some(PRIORITY), ..paper.replay },
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
            own: own(AdfqSettings { terminal_var: 1e-4, ..AdfqSettings::default() }),
            exploration: Exploration { to: 0.05, fraction: 0.2, ..paper.exploration },
            replay: ReplaySettings { capacity: 200_000, ..paper.replay },
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
            logging: Logging { metrics: 1_000, checkpoint: 20_000, keep: 0 },
            ..paper
        },
        // Untuned: the paper's settings, with what helped elsewhere, over a number of steps that a CPU can take.
        Task::Atari { .. } | Task::Image { .. } => Config {
            envs: 8,
            learning: Learning {
                bound_targets: true,
                // The scale of rewards is known on Atari alone.
                clip_rewards: matches!(task, Task::Atari { .. }),
                ..paper.learning
            },
            // Whole games take their time on a CPU.
            evaluation: Evaluating { every: 50_000, ..paper.evaluation },
            logging: Logging { metrics: 1_000, checkpoint: 10_000, keep: 0 },
            steps: 1_000_000,
            ..paper
        },
    }
}

/// The DQN of bsuite's package, and the ensemble of its bootstrapped DQN. What an observation looks like does not matter: all are
/// numbers for dense layers.
fn bsuite(env: &str) -> Config {
    let control = default(env, &Task::Control);
    let mut own = own(AdfqSettings { sd: 30.0, terminal_var: 1e-4, ..AdfqSettings::default() });
    let ensemble = BootstrappedSettings { heads: 20, prior: 5.0, mask: 1.0 };
    own.extend(toml::Value::try_from(ensemble).ok().map(|table| ("bootstrapped".to_owned(), table)));
    Config {
        network: NetworkConfig { layers: dense(&[64, 64]), ..control.network },
        exploration: Exploration { from: 0.05, to: 0.05, fraction: 0.0 },
        replay: ReplaySettings { capacity: 10_000, n_step: 1, watkins: false, priority: None },
        learning: Learning {
            batch: 32,
            warmup: 100,
            every: 1,
            adam: AdamSettings { rate: 1e-3, ..control.learning.adam },
            final_rate: 1.0,
            // Squared errors, at every scale of rewards.
            huber: 1e9,
            target: TargetUpdate::Hard(4),
            bound_targets: false,
            ..control.learning
        },
        own,
        ..control
    }
}

/// The table of ADFQ's settings, whose prior depends on the task.
fn own(settings: AdfqSettings) -> BTreeMap<String, toml::Value> {
    let table = toml::Value::try_from(settings).ok();
    table.map(|table| ("adfq".to_owned(), table)).into_iter().collect()
}

/// As many slots as wanted, or as many frames as fit in about 2 GB.
fn slots(wanted: usize, frame_bytes: usize) -> usize {
    const MOST: usize = 2_000_000_000;
    wanted.min(MOST / frame_bytes.max(1)).max(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::Element;

    fn space(frame: &[usize]) -> Space {
        Space { frame: frame.to_vec(), element: Element::U8 { scale: 1.0 / 255.0 }, stack: 4, actions: 6 }
    }

    fn preset(name: &str, env: &str, frame: &[usize]) -> Config {
        let config = Config::preset(name, env, &space(frame)).unwrap();
        assert_eq!(Config::from_toml(&config.to_toml().unwrap()).unwrap(), config, "{name} {env}");
        config
    }

    #[test]
    fn every_preset_is_valid_and_survives_its_file() {
        for name in ["default", "paper"] {
            for env in ["cartpole", "acrobot", "minatar/breakout", "deepsea-10", "atari:pong", "gym:x"] {
                preset(name, env, &[84, 84, 1]);
            }
            for frame in [&[8][..], &[7, 7, 3], &[96, 96, 3], &[210, 160, 3], &[2160, 3840, 3]] {
                preset(name, "gym:x", frame);
            }
        }
    }

    #[test]
    fn the_paper_on_atari() {
        let pong = preset("atari-paper", "atari:pong", &[84, 84, 1]);
        assert_eq!(preset("paper", "atari:pong", &[84, 84, 1]), pong);
        assert_eq!((pong.steps, pong.evaluation.every, pong.envs), (5_000_000, 50_000, 1));
        let boxing = preset("atari-paper", "atari:boxing", &[84, 84, 1]);
        assert_eq!((boxing.steps, boxing.evaluation.every), (10_000_000, 100_000));
        assert_eq!((boxing.evaluation.episodes, boxing.evaluation.final_episodes), (3, 3));
        assert_eq!(boxing.own::<AdfqSettings>("adfq").unwrap(), AdfqSettings::default());
        let Learning { batch, warmup, every, clip_rewards, bound_targets, .. } = boxing.learning;
        assert_eq!((batch, warmup, every, clip_rewards, bound_targets), (32, 10_000, 4, true, false));
        assert_eq!(boxing.learning.target, TargetUpdate::Hard(1_000));
        let spec = boxing.spec(&Space { actions: 18, ..space(&[84, 84, 1]) }, 2);
        let tensors: Vec<_> =
            adfq_nn::Network::new(&spec).unwrap().tensors().iter().map(|t| t.shape.clone()).collect();
        // 84 → 21 → 11 → 11, as in the authors' code.
        assert_eq!(tensors[0], [8, 8, 4, 32]);
        assert_eq!(tensors[6], [7_744, 256]);
        let error =
            Config::preset("atari-paper", "gym:ALE/Pong-v5", &space(&[210, 160, 3])).unwrap_err().to_string();
        assert!(error.contains("gym:ALE/Pong-v5") && error.contains("atari:GAME"), "{error}");
    }

    #[test]
    fn steps_asked_for_keep_a_hundred_evaluations_of_the_paper() {
        let short = preset("atari-paper", "atari:pong", &[84, 84, 1]).with_steps(200_000);
        assert_eq!((short.steps, short.evaluation.every), (200_000, 2_000));
        let ours = Config::for_env("cartpole").unwrap();
        assert_eq!(ours.clone().with_steps(10_000), Config { steps: 10_000, ..ours });
    }

    #[test]
    fn large_images_get_fewer_slots() {
        for (frame, slots) in
            [(&[84, 84, 1][..], 50_000), (&[210, 160, 3], 19_841), (&[2160, 3840, 3], 1_000)]
        {
            assert_eq!(preset("default", "gym:x", frame).replay.capacity, slots);
        }
        let atari = preset("default", "atari:breakout", &[84, 84, 1]);
        assert_eq!((atari.replay.capacity, atari.steps, atari.envs), (50_000, 1_000_000, 8));
        assert_eq!((atari.evaluation.every, atari.learning.bound_targets), (50_000, true));
        assert!(
            atari.learning.clip_rewards && !preset("default", "gym:x", &[84, 84, 1]).learning.clip_rewards
        );
    }

    /// The settings that bsuite 0.3.6 has in `baselines/jax/dqn` and `boot_dqn`. A grid is numbers for dense layers too.
    #[test]
    fn the_preset_of_bsuite_is_that_of_its_package() {
        let config = preset("bsuite", "bsuite:deep_sea/0", &[10, 10, 1]);
        assert_eq!(config.network.layers, dense(&[64, 64]));
        let Learning { discount, batch, warmup, every, adam, target, .. } = config.learning;
        assert_eq!((discount, batch, warmup, every), (0.99, 32, 100, 1));
        assert_eq!((adam.rate, target), (1e-3, TargetUpdate::Hard(4)));
        assert_eq!((config.replay.capacity, config.replay.priority.is_none()), (10_000, true));
        assert_eq!((config.exploration.from, config.exploration.to, config.envs), (0.05, 0.05, 1));
        let ensemble: BootstrappedSettings = config.own("bootstrapped").unwrap();
        assert_eq!(ensemble, BootstrappedSettings { heads: 20, prior: 5.0, mask: 1.0 });
    }
}
