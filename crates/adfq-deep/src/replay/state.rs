//! A memory in pieces that can be stored: a small state, the priorities, and segments of what was written when.
//!
//! A slot once written never changes until it is overwritten, and counters are never reused. So a checkpoint needs to
//! add only the slots written since the last one, as a segment that stays as it is; a segment that ends before
//! [`Replay::kept`] begins can be thrown away. Files, and which segments they hold, are not known here.

use super::ring::{Ring, Slot};
use super::{Replay, ReplayError, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Bytes of a slot in a segment, besides its frame: reward, action and flags.
const RECORD: usize = 9;

/// All of a memory that is neither in its segments nor among its priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayState {
    /// How many slots were ever written, by ring.
    pub heads: Vec<u64>,
    /// The largest priority so far; without priorities 0.
    pub largest: f64,
}

/// Slots of one environment, in the order in which they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The ring.
    pub env: usize,
    /// The counter of the first slot.
    pub first: u64,
    /// How many slots.
    pub count: u64,
    /// `count` records (reward f32, action u32, little-endian, and a byte of flags), then as many frames.
    pub bytes: Vec<u8>,
}

impl Segment {
    /// The counters of its slots.
    pub fn counters(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.count)
    }
}

impl Replay {
    /// The small state.
    pub fn state(&self) -> ReplayState {
        let largest = self.priorities.as_ref().map_or(0.0, |priorities| priorities.largest());
        ReplayState { heads: self.rings.iter().map(|ring| ring.kept().end).collect(), largest }
    }

    /// The priorities to the power of α, by place; 0 where there is no transition. Empty without priorities.
    pub fn priorities(&self) -> Vec<f32> {
        self.priorities.as_ref().map_or_else(Vec::new, |priorities| priorities.tree.weights().collect())
    }

    /// The counters of the slots of an environment that are not overwritten yet.
    pub(crate) fn kept(&self, env: usize) -> Result<Range<u64>> {
        Ok(self.ring(env)?.kept())
    }

    /// The slots written since the counter `from` and not overwritten yet. The next call goes on from the end of
    /// [`Segment::counters`].
    pub fn since(&self, env: usize, from: u64) -> Result<Segment> {
        let written = self.ring(env)?;
        let kept = written.kept();
        let counters = from.clamp(kept.start, kept.end)..kept.end;
        let count = (counters.end - counters.start) as usize;
        let mut bytes = Vec::with_capacity(count * (RECORD + self.layout.frame_bytes));
        for slot in written.pieces(counters.clone()).flat_map(|(slots, _)| slots) {
            bytes.extend_from_slice(&encode(slot));
        }
        for (_, frames) in written.pieces(counters.clone()) {
            bytes.extend_from_slice(frames);
        }
        Ok(Segment { env, first: counters.start, count: count as u64, bytes })
    }

    /// Makes an empty memory the one that was saved: from here on it behaves as the original would, bit for bit.
    ///
    /// The segments may come in any order, overlap, and reach beyond what is needed at either end; they are read one at
    /// a time, and a failure to read one is handed on. Between them they must hold every slot that was kept.
    pub fn restore<E: From<ReplayError>>(
        mut self,
        state: &ReplayState,
        priorities: &[f32],
        segments: impl IntoIterator<Item = std::result::Result<Segment, E>>,
    ) -> std::result::Result<Self, E> {
        if state.heads.len() != self.rings.len() {
            let (saved, envs) = (state.heads.len(), self.rings.len());
            return Err(misfit(format!("{saved} environments were saved, and there are {envs}")).into());
        }
        let blank = |&head| Ring::blank(self.layout, head);
        self.rings = state.heads.iter().map(blank).collect::<Result<_>>()?;
        let kept = |ring: &Ring| (ring.kept().end - ring.kept().start) as usize;
        let mut missing: Vec<_> = self.rings.iter().map(|ring| vec![true; kept(ring)]).collect();
        for segment in segments {
            self.fill(&segment?, &mut missing)?;
        }
        self.settle(&missing)?;
        self.take_priorities(state.largest, priorities)?;
        Ok(self)
    }

    fn fill(&mut self, segment: &Segment, missing: &mut [Vec<bool>]) -> Result<()> {
        self.ring(segment.env)?;
        let frame_bytes = self.layout.frame_bytes;
        let expected = (segment.count as usize).checked_mul(RECORD + frame_bytes);
        if expected != Some(segment.bytes.len()) {
            let (count, bytes) = (segment.count, segment.bytes.len());
            return Err(misfit(format!("a segment of {count} slots has {bytes} bytes")));
        }
        let (ring, missing) = (&mut self.rings[segment.env], &mut missing[segment.env]);
        let (records, frames) = segment.bytes.split_at(segment.count as usize * RECORD);
        let slots = records.chunks_exact(RECORD).zip(frames.chunks_exact(frame_bytes));
        for (counter, (record, frame)) in segment.counters().zip(slots) {
            if ring.kept().contains(&counter) {
                let slot = decode(record);
                if !slot.reward.is_finite() || slot.action as usize >= self.actions {
                    return Err(misfit(format!(
                        "slot {counter} of environment {} holds no step",
                        segment.env
                    )));
                }
                ring.fill(counter, slot, frame);
                missing[ring.place(counter)] = false;
            }
        }
        Ok(())
    }

    fn settle(&mut self, missing: &[Vec<bool>]) -> Result<()> {
        for (number, (ring, missing)) in self.rings.iter_mut().zip(missing).enumerate() {
            if let Some(place) = missing.iter().position(|&missing| missing) {
                let counter = ring.counter_at(place);
                return Err(misfit(format!("no segment holds slot {counter} of environment {number}")));
            }
            let wrong = |counter| {
                misfit(format!("slot {counter} of environment {number} does not follow the one before"))
            };
            ring.settle().map_err(wrong)?;
        }
        Ok(())
    }

    /// Sets the priorities to the power of α, by place, and the largest priority so far.
    pub(crate) fn take_priorities(&mut self, largest: f64, saved: &[f32]) -> Result<()> {
        let expected = if self.priorities.is_some() { self.places() } else { 0 };
        if saved.len() != expected {
            return Err(misfit(format!("{} priorities, where there must be {expected}", saved.len())));
        }
        let Some(priorities) = &mut self.priorities else { return Ok(()) };
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(misfit(format!("the largest priority is {largest}")));
        }
        priorities.set_largest(largest);
        for (place, &weight) in saved.iter().enumerate() {
            let ring = &self.rings[place / self.layout.slots];
            let written = ((place % self.layout.slots) as u64) < ring.kept().end;
            let held = written && ring.holds(ring.counter_at(place % self.layout.slots));
            if !weight.is_finite() || (weight > 0.0) != held || weight < 0.0 {
                return Err(misfit(format!("the priority of place {place} is {weight}")));
            }
            if held {
                priorities.tree.set(place, weight);
            }
        }
        priorities.tree.refresh();
        Ok(())
    }
}

fn misfit(what: String) -> ReplayError {
    ReplayError::State(what)
}

pub(super) fn encode(slot: &Slot) -> [u8; RECORD] {
    let mut record = [slot.flags; RECORD];
    record[..4].copy_from_slice(&slot.reward.to_le_bytes());
    record[4..8].copy_from_slice(&slot.action.to_le_bytes());
    record
}

fn decode(record: &[u8]) -> Slot {
    let four = |at: usize| std::array::from_fn(|i| record[at + i]);
    Slot { reward: f32::from_le_bytes(four(0)), action: u32::from_le_bytes(four(4)), flags: record[8] }
}
