//! An environment of your own: `space`, `reset` and `step` are all it needs. It is trained, killed, resumed and evaluated.

use adfq_deep::env::{Env, Result, Space, Step};
use adfq_deep::{Agent, Device, Host, Training};

/// A corridor of ten cells. The agent starts at the left end and is paid at the right one.
struct Corridor {
    space: Space,
    cell: usize,
    steps: usize,
}

impl Corridor {
    fn new() -> Self {
        Self { space: Space::flat(1, 2), cell: 0, steps: 0 }
    }
}

impl Env for Corridor {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, _seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        (self.cell, self.steps) = (0, 0);
        self.space.write(&[0.0], frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.cell = if action == 1 { self.cell + 1 } else { self.cell.saturating_sub(1) };
        self.steps += 1;
        let (terminated, truncated) = (self.cell == 9, self.steps == 50);
        self.space.write(&[self.cell as f32 / 9.0], frame)?;
        Ok(Step { reward: f64::from(u8::from(terminated)), terminated, truncated, ..Step::default() })
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join("adfq-example-own-env");
    let _ = std::fs::remove_dir_all(&folder);
    let mut host = Host::here();
    host.registry.register("corridor", |_| Ok(Corridor::new()));

    let device = if std::env::args().any(|word| word == "cuda") { Device::Cuda(0) } else { Device::Cpu };
    let training = Training::new("corridor").host(host).agent("bootstrapped").steps(6_000).device(device);
    training.clone().stop_after(3_000).run(&folder)?;
    let [summary] = &training.run(&folder)?[..] else { unreachable!() };
    println!("{summary}");

    let decision = Agent::load(&folder)?.act(&[0.0])?;
    println!("at the left end it goes {}", ["left", "right"][decision.action]);
    Ok(())
}
