//! Gradient steps and forward passes of three networks, on batches prepared beforehand.

use super::Group::Engine;
use super::{Bench, Work};
use adfq::random::stream;
use adfq_deep::algorithm::Algorithms;
use adfq_deep::learner::Learner;
use adfq_deep::replay::Sample;
use adfq_deep::{Config, Result};
use adfq_env::{Element, Space};
use adfq_nn::{Clip, Layer, Padding, Workspace};
use rand::RngExt;
use std::hint::black_box;

const BATCH: usize = 32;
/// Cycled through, so that errors do not vanish.
const BATCHES: usize = 8;
/// Gradient steps between copies to the target network, as on CartPole: 500 environment steps at one in four.
const COPY: u64 = 125;
const SEED: u64 = 7;

/// The networks that peers are timed with too.
#[derive(Clone, Copy)]
enum Net {
    Mlp,
    MinAtar,
    Atari,
}

impl Net {
    fn name(self) -> &'static str {
        match self {
            Self::Mlp => "mlp 4-64-64",
            Self::MinAtar => "minatar",
            Self::Atari => "atari",
        }
    }

    fn space(self) -> Space {
        let (frame, stack, actions) = match self {
            Self::Mlp => return Space { frame: vec![4], element: Element::F32, stack: 1, actions: 2 },
            Self::MinAtar => (vec![10, 10, 4], 1, 6),
            Self::Atari => (vec![84, 84, 1], 4, 6),
        };
        Space { frame, element: Element::U8 { scale: 1.0 / 255.0 }, stack, actions }
    }

    /// 64-64; that of the MinAtar paper (Young and Tian 2019); that of the ADFQ paper (App. E).
    fn layers(self) -> Vec<Layer> {
        let conv = |filters, kernel, stride, padding| Layer::Conv { filters, kernel, stride, padding };
        let dense = Layer::dense;
        let same = Padding::Same;
        match self {
            Self::Mlp => vec![dense(64), dense(64)],
            Self::MinAtar => vec![conv(16, 3, 1, Padding::Valid), dense(128)],
            Self::Atari => vec![conv(32, 8, 4, same), conv(64, 4, 2, same), conv(64, 3, 1, same), dense(256)],
        }
    }

    fn learner(self, agent: &str) -> Result<Learner> {
        // Settings of the agent, not of the environment, matter here: the name only chooses the prior.
        let mut config = Config::preset("paper", "minatar/breakout", &self.space())?;
        (config.agent, config.policy) = (agent.to_owned(), "epsilon".to_owned());
        config.network.layers = self.layers();
        (config.learning.batch, config.learning.clip) = (BATCH, Clip::PerTensor(10.0));
        config.learning.adam.rate = 2.5e-4;
        Learner::new(&config, &self.space(), &Algorithms::default())
    }
}

pub(super) fn benches() -> Vec<Bench> {
    let step = |net: Net, agent: &'static str, suffix| {
        let name = format!("gradient step {}{suffix}", net.name());
        Bench::new(Engine, name, move || gradient_step(net, agent))
    };
    let steps = [
        step(Net::Mlp, "adfq", ""),
        step(Net::Mlp, "dqn", " dqn"),
        step(Net::MinAtar, "adfq", ""),
        step(Net::Atari, "adfq", ""),
    ];
    let passes = [Net::Mlp, Net::MinAtar, Net::Atari]
        .map(|net| Bench::new(Engine, format!("forward {}", net.name()), move || forward(net)));
    steps.into_iter().chain(passes).collect()
}

/// All of `Learner::learn`: target network on s and s', the ADFQ update, loss, gradient, clipping and Adam.
fn gradient_step(net: Net, agent: &str) -> Result<Work> {
    let (mut learner, samples) = (net.learner(agent)?, samples(&net.space()));
    let mut count = 0;
    Ok(Work::Operation(Box::new(move |operations| {
        for _ in 0..operations {
            learner.learn(&samples[count as usize % BATCHES], count)?;
            count += 1;
            if count % COPY == 0 {
                learner.copy_target();
            }
        }
        Ok(())
    })))
}

/// The outputs for one observation, as needed to act.
fn forward(net: Net) -> Result<Work> {
    let (learner, sample) = (net.learner("adfq")?, &samples(&net.space())[0]);
    let mut workspace = Workspace::new(learner.network(), 1, 1)?;
    let observation = sample.obs()[..net.space().observation_len()].to_vec();
    Ok(Work::Operation(Box::new(move |operations| {
        for _ in 0..operations {
            black_box(learner.network().forward(&learner.online, black_box(&observation), &mut workspace)?);
        }
        Ok(())
    })))
}

/// Batches as in `benches/peers/workload.py`: noise, one transition in twenty terminal.
fn samples(space: &Space) -> Vec<Sample> {
    let mut rng = stream(SEED, "bench batches");
    let mut sample = || {
        let both = (0..2 * BATCH * space.observation_len()).map(|_| rng.random()).collect();
        Sample {
            both,
            action: (0..BATCH).map(|_| rng.random_range(0..space.actions as u32)).collect(),
            reward: (0..BATCH).map(|_| rng.random_range(-1.7..1.7)).collect(),
            discount: vec![0.99; BATCH],
            terminal: (0..BATCH).map(|_| rng.random_bool(0.05)).collect(),
            index: (0..BATCH as u64).collect(),
            weight: (0..BATCH).map(|_| rng.random_range(0.2..1.0)).collect(),
        }
    };
    (0..BATCHES).map(|_| sample()).collect()
}
