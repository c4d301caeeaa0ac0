//! Games of several lives: learning sees the end of each, returns those of whole games alone.

use adfq_deep::metrics::Metrics;
use adfq_deep::replay::Sample;
use adfq_deep::{Config, Host, Observer, Result, Run, Trainer};
use adfq_env::{Envs, Space, Step, VecEnv};
use std::sync::atomic::AtomicBool;

/// Every third end is that of a game, the others are lives lost.
struct Lives {
    envs: VecEnv,
    steps: Vec<Step>,
    lost: Vec<u32>,
}

impl Envs for Lives {
    fn space(&self) -> &Space {
        self.envs.space()
    }

    fn len(&self) -> usize {
        self.envs.len()
    }

    fn reset(&mut self, seed: u64) -> adfq_env::Result<()> {
        self.envs.reset(seed)
    }

    fn begin(&mut self, actions: &[usize]) -> adfq_env::Result<()> {
        self.envs.begin(actions)
    }

    fn finish(&mut self) -> adfq_env::Result<&[Step]> {
        self.steps = self.envs.finish()?.to_vec();
        for (step, lost) in self.steps.iter_mut().zip(&mut self.lost).filter(|(step, _)| step.ended()) {
            *lost += 1;
            step.life_lost = *lost % 3 != 0;
        }
        Ok(&self.steps)
    }

    fn frames(&self) -> &[u8] {
        self.envs.frames()
    }

    fn successors(&self) -> &[u8] {
        self.envs.successors()
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn save(&self) -> adfq_env::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn restore(&mut self, _: &[u8]) -> adfq_env::Result<()> {
        unreachable!("nothing was saved")
    }
}

/// Keeps the last row.
struct Last<'a>(&'a mut Metrics);

impl Observer for Last<'_> {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> Result<()> {
        *self.0 = metrics.clone();
        Ok(())
    }
}

#[test]
fn returns_go_on_over_lost_lives_and_learning_does_not() {
    let mut config = Config { steps: 1_000, envs: 2, ..Config::for_env("cartpole").unwrap() };
    // The whole run is random, and all of it is remembered.
    (config.learning.warmup, config.replay.capacity, config.evaluation.final_episodes) = (5_000, 4_000, 1);
    let envs = VecEnv::named("cartpole", 2).unwrap();
    let envs = Box::new(Lives { envs, steps: vec![Step::default(); 2], lost: vec![0; 2] });
    let host = Host::default();
    let evaluation = host.env(&config, false).unwrap();
    let run = Run::with_envs(&config, &host, envs, evaluation).unwrap();
    let (mut trainer, mut last) = (Trainer::on_cpu(vec![run]).unwrap(), Metrics::default());
    assert!(trainer.train(&mut [vec![Box::new(Last(&mut last))]], &AtomicBool::new(false)).unwrap());
    let replay = trainer.run().replay();
    let mut sample = Sample { index: replay.indices().collect(), ..Sample::default() };
    replay.gather(&mut sample).unwrap();
    let ends = |env: u64| {
        let terminal = sample.index.iter().zip(&sample.terminal);
        terminal.filter(|&(index, &terminal)| index % 2 == env && terminal).count() as u64
    };
    let games = ends(0) / 3 + ends(1) / 3;
    assert!(games > 5, "{games}");
    assert_eq!(last.episodes, games);
    // A reward of 1 a step: the return of a game is its length, and clipping changes nothing.
    assert_eq!(last.train_return, last.episode_length);
    assert_eq!(last.train_clipped_return, last.episode_length);
    assert!(last.train_return > 3.0 * 15.0 && last.train_return < 3.0 * 35.0, "{}", last.train_return);
}
