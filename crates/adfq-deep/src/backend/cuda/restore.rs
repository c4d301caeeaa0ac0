//! From what a checkpoint holds to the device.

use super::learners::Learners;
use super::memory::{FRESH, GREATEST, LARGEST, LEAST, STATES, STEP};
use super::raw::launch;
use crate::algorithm::{RewardRange, RewardUnit};
use crate::replay::Replay;
use crate::{Error, Result};
use adfq::random::ChaCha8Rng;

impl Learners {
    /// Makes a run go on from where another left off, on the CPU or here: its memory, environment steps, the rewards seen, their unit
    /// and the generator of its draws. Parameters and moments are the engine's. Only before the first gradient step.
    pub fn restore(
        &mut self,
        run: usize,
        replay: &Replay,
        step: u64,
        rewards: &RewardRange,
        unit: &RewardUnit,
        sampler: ChaCha8Rng,
    ) -> Result<()> {
        if self.launched > 0 || run >= self.configs.len() {
            return Err(Error::Setting { name: "run", must: "one of these, before its first gradient step" });
        }
        if !replay.fits(&self.configs[run], &self.space) {
            return Err(Error::Setting { name: "replay", must: "that of this run's settings" });
        }
        let (envs, slots) = (self.memory.sizes.envs, self.memory.sizes.slots);
        self.commit()?;
        // Frames and slots go up in a few large copies, not through packs.
        for env in 0..envs {
            let start = (run * envs + env) * slots * self.memory.sizes.frame_bytes;
            self.memory.frames.write(start, &replay.frames_of(env)?)?;
        }
        self.write_rewards(run, replay, rewards, unit)?;
        self.restore_priorities(run, replay)?;
        let mut own = [0.0; STATES];
        self.memory.state.read(run * STATES, &mut own)?;
        own[STEP] = step as f64;
        if let Some((largest, fresh)) = replay.largest() {
            (own[LARGEST], own[FRESH]) = (largest, fresh.into());
        }
        self.memory.state.write(run * STATES, &own)?;
        self.memory.heads.write(run * envs, &replay.state().heads)?;
        self.steps[run] = step;
        self.samplers[run] = sampler;
        let rates = self.rates();
        Ok(self.engine.set_own_rates(&rates)?)
    }

    /// The rewards, actions and ends of all steps that a run remembers, and the range of its rewards. Rewards are here in their unit.
    pub(super) fn write_rewards(
        &mut self,
        run: usize,
        replay: &Replay,
        rewards: &RewardRange,
        unit: &RewardUnit,
    ) -> Result<()> {
        let (envs, slots) = (self.memory.sizes.envs, self.memory.sizes.slots);
        let mut written = vec![0; 2 * envs * slots];
        for entry in (0..envs).flat_map(|env| replay.entries(env)) {
            written[2 * entry.place] = unit.of(entry.reward).to_bits();
            written[2 * entry.place + 1] = entry.word();
        }
        self.memory.slots.write(2 * run * envs * slots, &written)?;
        let RewardRange { least, greatest } = rewards.in_unit(unit);
        let mut own = [0.0; STATES];
        self.memory.state.read(run * STATES, &mut own)?;
        (own[LEAST], own[GREATEST]) = (least.into(), greatest.into());
        Ok(self.memory.state.write(run * STATES, &own)?)
    }

    fn restore_priorities(&mut self, run: usize, replay: &Replay) -> Result<()> {
        let width = self.memory.sizes.leaf_blocks() * 16;
        self.memory.leaves.write(run * width, &replay.priorities())?;
        launch(&self.device, &self.kernels.rebuild, (1, self.memory.sizes.runs), 256, &self.arguments())?;
        Ok(self.device.synchronise()?)
    }
}
