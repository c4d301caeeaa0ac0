//! Training end to end, without evaluations and files.

use super::Group::EndToEnd;
use super::{Bench, Work};
use adfq_deep::config::{Exploration, TargetUpdate};
use adfq_deep::{Config, Host, Result, Trainer};
use adfq_nn::{Clip, Layer};

/// Environment steps of MinAtar before the first gradient step, none of them timed.
const WARMUP: u64 = 1_000;

pub(super) fn benches() -> Vec<Bench> {
    let mut benches = vec![];
    for agent in ["dqn", "adfq"] {
        for layers in [[64, 64], [120, 84]] {
            let name = format!("train cartpole {agent} {}-{}", layers[0], layers[1]);
            let work = move || Ok(Work::Training(Box::new(cart_pole(agent, layers)?)));
            benches.push(Bench::new(EndToEnd, name, work));
        }
    }
    benches.push(Bench::new(EndToEnd, "train minatar breakout adfq", breakout));
    benches
}

/// The settings of `benches/peers/cartpole.py`, where Stable-Baselines3 and CleanRL get the same; what these leave open
/// is as in Stable-Baselines3: uniform replay and gradients clipped at a global norm of 10.
fn cart_pole(agent: &str, layers: [usize; 2]) -> Result<Config> {
    let mut config = Config::for_env("cartpole")?;
    (config.agent, config.policy, config.seed) = (agent.to_owned(), "epsilon".to_owned(), 1);
    (config.steps, config.envs) = (20_000, 1);
    config.network.layers = layers.map(Layer::dense).to_vec();
    config.network.dueling = None;
    config.exploration = Exploration { from: 1.0, to: 0.05, fraction: 0.5 };
    (config.replay.capacity, config.replay.n_step, config.replay.priority) = (50_000, 1, None);
    let learning = &mut config.learning;
    (learning.discount, learning.batch, learning.warmup, learning.every) = (0.99, 32, 1_000, 4);
    (learning.adam.rate, learning.final_rate) = (2.5e-4, 1.0);
    (learning.clip, learning.target) = (Clip::Global(10.0), TargetUpdate::Hard(500));
    config.check()?;
    Ok(config)
}

/// One step of our own settings for this game, once learning has begun: prioritised replay, a gradient step every four.
fn breakout() -> Result<Work> {
    let mut config = Config::for_env("minatar/breakout")?;
    config.learning.warmup = WARMUP;
    let mut trainer = Trainer::new(&config, &Host::here())?;
    while trainer.run().step() < WARMUP {
        trainer.advance()?;
    }
    Ok(Work::Operation(Box::new(move |operations| (0..operations).try_for_each(|_| trainer.advance()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many gradient steps as peers report: (20,000 - 1,000) / 4.
    #[test]
    fn the_ratio_of_gradient_steps() {
        let config = cart_pole("dqn", [64, 64]).unwrap();
        let mut trainer = Trainer::new(&config, &Host::default()).unwrap();
        while trainer.run().step() < config.steps {
            trainer.advance().unwrap();
        }
        assert_eq!(trainer.run().updates(), 4_750);
    }
}
