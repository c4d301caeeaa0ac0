//! A memory in pieces that can be stored: a small state, the priorities, and segments of what was written when.
//!
//! A slot once written never changes until it is overwritten, and counters are never reused. So a checkpoint needs to
//! add only the slots written since the last one, as a segment that stays as it is; a segment that ends before
//! [`Replay::kept`] begins can be thrown away. Files, and which segments they hold, are not known here.

use super::ring::{Ring, Slot};
use super::{Frames, Replay, ReplayError, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Bytes of a slot in a segment, besides its frame: reward, action and flags.
const RECORD: usize = 9;

/// All of a memory that is neither in its segments nor among its priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayState {
    /// How many slots were ever written, by ring.
    pub heads: Vec<u64>,
    /// The counter before which slots are lost, by ring; 0 if none are.
    pub floors: Vec<u64>,
    /// The counter of the first slot of the episode going on, by ring; between episodes the head.
    pub starts: Vec<u64>,
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
    /// `count` records: reward f32, action u32, little-endian, and a byte of flags.
    pub steps: Vec<u8>,
    /// As many frames.
    pub frames: Frames,
}

impl Segment {
    /// The bytes to be stored.
    pub fn stored_bytes(&self) -> u64 {
        (self.steps.len() + self.frames.stored().len()) as u64
    }

    /// The counters of its slots.
    pub fn counters(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.count)
    }
}

impl Replay {
    /// The small state.
    pub fn state(&self) -> ReplayState {
        let largest = self.priorities.as_ref().map_or(0.0, |priorities| priorities.largest());
        ReplayState {
            heads: self.rings.iter().map(|ring| ring.kept().end).collect(),
            floors: self.rings.iter().map(Ring::floor).collect(),
            starts: self.rings.iter().map(Ring::start).collect(),
            largest,
        }
    }

    /// The priorities to the power of α, by place; 0 where there is no transition. Empty without priorities.
    pub fn priorities(&self) -> Vec<f32> {
        self.priorities.as_ref().map_or_else(Vec::new, |priorities| priorities.tree.weights())
    }

    /// How many numbers these are.
    pub(crate) fn priorities_len(&self) -> usize {
        if self.priorities.is_some() { self.places() } else { 0 }
    }

    /// The counters of the slots of an environment that are not overwritten yet.
    pub(crate) fn kept(&self, env: usize) -> Result<Range<u64>> {
        Ok(self.ring(env)?.kept())
    }

    /// The bytes that [`Replay::since`] takes at most.
    pub(crate) fn bytes_since(&self, env: usize, from: u64) -> Result<u64> {
        let counters = self.counters_since(env, from)?;
        Ok((counters.end - counters.start) * (RECORD + self.layout.frame_bytes) as u64)
    }

    fn counters_since(&self, env: usize, from: u64) -> Result<Range<u64>> {
        let kept = self.ring(env)?.kept();
        Ok(from.clamp(kept.start, kept.end)..kept.end)
    }

    /// The slots written since the counter `from` and not overwritten yet. The next call goes on from the end of
    /// [`Segment::counters`]. Frames of bits are packed.
    pub fn since(&self, env: usize, from: u64) -> Result<Segment> {
        let (written, counters) = (self.ring(env)?, self.counters_since(env, from)?);
        let count = (counters.end - counters.start) as usize;
        let mut steps = Vec::with_capacity(count * RECORD);
        for slot in written.pieces(counters.clone()).flat_map(|places| written.slots_at(places)) {
            steps.extend_from_slice(&encode(slot));
        }
        let pieces = written.pieces(counters.clone()).map(|places| written.frames_at(places));
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let frames = Frames::of(pieces, count, self.layout.frame_bytes);
        Ok(Segment { env, first: counters.start, count: count as u64, steps, frames })
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
        let missing = self.fill_all(state, segments)?;
        for (env, ring) in self.rings.iter().enumerate() {
            if let Some(counter) = missing_in(ring, &missing[env]).next() {
                return Err(misfit(format!("no segment holds slot {counter} of environment {env}")).into());
            }
        }
        self.settle(&state.starts)?;
        self.take_priorities(state.largest, priorities)?;
        Ok(self)
    }

    /// The same where slots are missing: of each environment those after its last missing slot are kept, and all before
    /// are lost. No stack of frames and no n-step return is made of lost slots. The memory fills again as slots are written.
    ///
    /// ```
    /// # use adfq_deep::replay::{Transition, Replay, ReplaySettings, ReplayError};
    /// # let space = adfq_env::Space { frame: vec![1], element: adfq_env::Element::U8 { scale: 1.0 }, stack: 2, actions: 3 };
    /// # let settings = ReplaySettings { capacity: 100, n_step: 1, watkins: false, priority: None };
    /// # let empty = || Replay::new(&settings, 1, 0.5, &space).unwrap();
    /// let mut replay = empty();
    /// (0..10).try_for_each(|step| replay.push(0, &Transition::new(&[step], 0, 1.0)))?;
    /// // Slots 0 to 5 cannot be read. The frame of slot 6 only completes the observation of slot 7.
    /// let rest = [Ok::<_, ReplayError>(replay.since(0, 6)?)];
    /// let rest = empty().restore_rest(&replay.state(), &[], rest)?;
    /// assert_eq!(rest.indices().collect::<Vec<_>>(), [7, 8]);
    /// # Ok::<(), adfq_deep::replay::ReplayError>(())
    /// ```
    pub fn restore_rest<E: From<ReplayError>>(
        mut self,
        state: &ReplayState,
        priorities: &[f32],
        segments: impl IntoIterator<Item = std::result::Result<Segment, E>>,
    ) -> std::result::Result<Self, E> {
        let missing = self.fill_all(state, segments)?;
        for (ring, missing) in self.rings.iter_mut().zip(&missing) {
            let last = missing_in(ring, missing).max();
            ring.lose(last.map_or(0, |counter| counter + 1));
        }
        self.settle(&state.starts)?;
        let held = |(place, &weight)| if self.holds_place(place) { weight } else { 0.0 };
        let priorities: Vec<f32> = priorities.iter().enumerate().map(held).collect();
        self.take_priorities(state.largest, &priorities)?;
        Ok(self)
    }

    /// Fills blank rings. Says which places of each are still blank.
    fn fill_all<E: From<ReplayError>>(
        &mut self,
        state: &ReplayState,
        segments: impl IntoIterator<Item = std::result::Result<Segment, E>>,
    ) -> std::result::Result<Vec<Vec<bool>>, E> {
        let (saved, envs) = (state.heads.len(), self.rings.len());
        if [saved, state.floors.len(), state.starts.len()] != [envs; 3] {
            return Err(misfit(format!("{saved} environments were saved, and there are {envs}")).into());
        }
        let blank = |(&head, &floor): (&u64, &u64)| match floor <= head {
            true => Ring::blank(self.layout, head, floor),
            false => Err(misfit(format!("{floor} slots are lost of {head}"))),
        };
        self.rings = state.heads.iter().zip(&state.floors).map(blank).collect::<Result<_>>()?;
        let places = |ring: &Ring| ring.kept().end.min(self.layout.slots as u64) as usize;
        let mut missing: Vec<_> = self.rings.iter().map(|ring| vec![true; places(ring)]).collect();
        for segment in segments {
            self.fill(&segment?, &mut missing)?;
        }
        Ok(missing)
    }

    fn fill(&mut self, segment: &Segment, missing: &mut [Vec<bool>]) -> Result<()> {
        self.ring(segment.env)?;
        let wrong = || {
            let (count, bytes) = (segment.count, segment.stored_bytes());
            misfit(format!("a segment of {count} slots has {bytes} bytes"))
        };
        let expected = usize::try_from(segment.count).ok().and_then(|count| count.checked_mul(RECORD));
        if expected != Some(segment.steps.len()) {
            return Err(wrong());
        }
        let (ring, missing) = (&mut self.rings[segment.env], &mut missing[segment.env]);
        let mut frames = segment.frames.reader(self.layout.frame_bytes);
        for (counter, record) in segment.counters().zip(segment.steps.chunks_exact(RECORD)) {
            let frame = frames.next().map_err(|_| wrong())?;
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
        if frames.is_at_end() { Ok(()) } else { Err(wrong()) }
    }

    fn settle(&mut self, starts: &[u64]) -> Result<()> {
        for (number, (ring, &start)) in self.rings.iter_mut().zip(starts).enumerate() {
            let wrong = |counter| {
                misfit(format!("slot {counter} of environment {number} does not follow the one before"))
            };
            ring.settle(start).map_err(wrong)?;
        }
        Ok(())
    }

    /// Whether the transition at a place can be sampled.
    pub(super) fn holds_place(&self, place: usize) -> bool {
        let (env, place) = (place / self.layout.slots, place % self.layout.slots);
        let written = |ring: &&Ring| (place as u64) < ring.kept().end;
        self.rings.get(env).filter(written).is_some_and(|ring| ring.holds(ring.counter_at(place)))
    }

    /// Sets the priorities to the power of α, by place, and the largest priority so far.
    pub(crate) fn take_priorities(&mut self, largest: f64, saved: &[f32]) -> Result<()> {
        let expected = self.priorities_len();
        if saved.len() != expected {
            return Err(misfit(format!("{} priorities, where there must be {expected}", saved.len())));
        }
        let Some(priorities) = &mut self.priorities else { return Ok(()) };
        if !(largest > 0.0 && largest.is_finite()) {
            return Err(misfit(format!("the largest priority is {largest}")));
        }
        let mut held = vec![false; self.layout.slots];
        for (env, (ring, saved)) in self.rings.iter().zip(saved.chunks_exact(self.layout.slots)).enumerate() {
            ring.mark_held(&mut held);
            let fits = |(&weight, &held): (&f32, &bool)| {
                weight.is_finite() && (weight > 0.0) == held && weight >= 0.0
            };
            if let Some(place) = saved.iter().zip(&held).position(|pair| !fits(pair)) {
                let (weight, place) = (saved[place], env * self.layout.slots + place);
                return Err(misfit(format!("the priority of place {place} is {weight}")));
            }
        }
        priorities.set_largest(largest);
        priorities.tree.set_all(saved);
        Ok(())
    }
}

/// The counters of the slots that should be kept and are missing.
fn missing_in<'a>(ring: &'a Ring, missing: &'a [bool]) -> impl Iterator<Item = u64> + 'a {
    ring.kept().filter(|&counter| missing[ring.place(counter)])
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
