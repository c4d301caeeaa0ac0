//! From a fleet to what a checkpoint holds, and back: the same files as on the CPU.

use super::fleet::Fleet;
use super::memory::{FRESH, GREATEST, LARGEST, LEAST, STATES, STEP};
use super::raw::{Pinned, launch};
use crate::replay::Replay;
use crate::replay::ledger::Ledger;
use crate::target::RewardRange;
use crate::trainer::replay_settings;
use crate::{Error, Result};
use adfq::random::ChaCha8Rng;
use adfq_nn::cuda::Scalar;

/// Bytes that are fetched at once.
const CHUNK: usize = 1 << 24;

impl Fleet {
    /// The memory of a run, as a trainer on the CPU would have it. Waits.
    pub fn replay(&mut self, run: usize) -> Result<Replay> {
        self.commit()?;
        let (frame_bytes, places) = (self.memory.sizes.frame_bytes, self.memory.sizes.places());
        let (priorities, largest) = match self.memory.sizes.prioritised {
            true => self.priorities(run)?,
            false => (vec![], 0.0),
        };
        let mut chunk = Pinned::new(CHUNK)?;
        let frames = |range: std::ops::Range<usize>, bytes: &mut Vec<u8>| {
            let all = (run * places + range.start) * frame_bytes..(run * places + range.end) * frame_bytes;
            for start in all.clone().step_by(CHUNK) {
                let count = CHUNK.min(all.end - start);
                let mut arguments = self.arguments();
                arguments.extend([Scalar::U64(start as u64), Scalar::U64(count as u64)]);
                arguments.push(Scalar::Address(chunk.address()));
                launch(&self.device, &self.kernels.fetch, (count.div_ceil(4096), 1), 256, &arguments)?;
                self.device.synchronise()?;
                bytes.extend_from_slice(&chunk.bytes()[..count]);
            }
            Ok(())
        };
        let settings = replay_settings(&self.configs[run]);
        self.ledgers[run].replay(&settings, &self.space, &priorities, largest, frames)
    }

    /// Makes a run go on from where another left off, on the CPU or here: its memory, environment steps, the rewards seen
    /// and the generator of its draws. Parameters and moments are the engine's. Only before the first gradient step.
    pub fn restore(
        &mut self,
        run: usize,
        replay: &Replay,
        step: u64,
        rewards: &RewardRange,
        sampler: ChaCha8Rng,
    ) -> Result<()> {
        if self.launched > 0 || run >= self.configs.len() {
            return Err(Error::Setting {
                name: "run",
                must: "one of the fleet's, before its first gradient step",
            });
        }
        let expected = &self.ledgers[run];
        if !replay.fits(&replay_settings(&self.configs[run]), &self.space) {
            return Err(Error::Setting { name: "replay", must: "that of this run's settings" });
        }
        let (lanes, slots) = (self.memory.sizes.lanes, expected.slots());
        self.commit()?;
        let ledger = Ledger::of(replay);
        let kept: Vec<Vec<_>> = (0..lanes).map(|lane| ledger.kept(lane).collect()).collect();
        for i in 0..slots {
            for (lane, entry) in
                kept.iter().enumerate().filter_map(|(lane, kept)| Some((lane, *kept.get(i)?)))
            {
                let frame = replay.frame_at(entry.place);
                self.packs.write(&self.memory.sizes, run, lane, 1, entry, frame);
            }
            self.commit()?;
        }
        self.ledgers[run] = ledger;
        self.restore_priorities(run, replay)?;
        let mut state = self.memory.state.download()?;
        let (least, greatest) = rewards.ends();
        let own = &mut state[run * STATES..][..STATES];
        (own[STEP], own[LEAST], own[GREATEST]) = (step as f64, least.into(), greatest.into());
        if let Some((largest, fresh)) = replay.largest() {
            (own[LARGEST], own[FRESH]) = (largest, fresh.into());
        }
        self.memory.state.upload(&state)?;
        self.steps[run] = step;
        self.samplers[run] = sampler;
        let rates = self.rates();
        Ok(self.engine.set_own_rates(&rates)?)
    }

    fn restore_priorities(&mut self, run: usize, replay: &Replay) -> Result<()> {
        let priorities = replay.priorities();
        let width = self.memory.sizes.leaf_blocks() * 16;
        let mut leaves = self.memory.leaves.download()?;
        leaves[run * width..][..priorities.len()].copy_from_slice(&priorities);
        self.memory.leaves.upload(&leaves)?;
        launch(&self.device, &self.kernels.rebuild, (1, self.memory.sizes.runs), 256, &self.arguments())?;
        Ok(self.device.synchronise()?)
    }
}
