//! CartPole that pays another reward for every step.

use adfq_deep::Host;
use adfq_env::{Env, EnvSpec, Registry, Space, Step};

struct Paid {
    env: Box<dyn Env>,
    times: f64,
}

impl Env for Paid {
    fn space(&self) -> &Space {
        self.env.space()
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> adfq_env::Result<()> {
        self.env.reset(seed, frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> adfq_env::Result<Step> {
        let step = self.env.step(action, frame)?;
        Ok(Step { reward: self.times * step.reward, ..step })
    }
}

/// A host that has it under the name `paid`.
pub fn host(times: f32) -> Host {
    let mut registry = Registry::default();
    registry.register("paid", move |_: &EnvSpec| {
        Ok(Paid { env: adfq_env::make("cartpole")?, times: times.into() })
    });
    Host { registry, ..Host::default() }
}
