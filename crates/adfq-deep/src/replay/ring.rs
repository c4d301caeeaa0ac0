//! One environment's memory: a ring of slots, each a frame and what was done on seeing it.
//!
//! Slots are counted from the first ever written and never reused, so that a counter names one frame for good; where it
//! lies in the ring is the counter modulo the ring's length. An episode of T steps takes T + 1 slots in a row, its final
//! frame the last of them, without a step. An episode that was interrupted has one too, though no step of it says so:
//! slots once written stay as they are.

use super::store::Store;
use super::{ReplayError, Result};
use std::borrow::Cow;
use std::ops::Range;

/// The first frame of an episode.
pub(super) const FIRST: u8 = 1;
/// The step ended the episode: there is no value beyond.
pub(super) const TERMINATED: u8 = 2;
/// The step was the last before the episode was cut off.
pub(super) const TRUNCATED: u8 = 4;
/// The final frame of an episode, without a step.
pub(super) const FINAL: u8 = 8;
/// The action was not the best, and transitions that began before it end there.
pub(super) const EXPLORED: u8 = 16;

/// The sizes that rings have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    pub slots: usize,
    pub frame_bytes: usize,
    pub stack: usize,
    pub n_step: usize,
}

/// What was done on seeing a frame, and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub reward: f32,
    pub action: u32,
    pub flags: u8,
}

impl Slot {
    pub fn is(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

/// A step and the n - 1 that followed, or as many as the episode had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NStep {
    pub action: u32,
    pub reward: f32,
    pub discount: f32,
    pub terminal: bool,
    /// The counter of the frame at which they arrived.
    pub next: u64,
}

/// A ring of slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ring {
    pub layout: Layout,
    slots: Vec<Slot>,
    frames: Store,
    /// The counter of the next slot to be written.
    head: u64,
    /// The counter before which slots are lost, as after a file could not be read; 0 if none are.
    floor: u64,
    /// The counter of the first frame of the episode going on; between episodes the head.
    start: u64,
    /// The counters whose transition is complete, and the final frames among them.
    window: Range<u64>,
    /// How many of the window are no final frames.
    len: usize,
}

impl Ring {
    /// A ring with `head` slots written and those before `floor` lost, all those kept still blank: for [`Ring::fill`] and
    /// then [`Ring::settle`], or empty if both are 0. Memory is reserved at once, and touched only as it fills.
    pub fn blank(layout: Layout, head: u64, floor: u64) -> Result<Self> {
        let (mut slots, mut frames) = (Vec::new(), Vec::new());
        let refused = |_| ReplayError::Memory {
            bytes: Self::slot_bytes(layout.frame_bytes).saturating_mul(layout.slots as u64),
        };
        slots.try_reserve_exact(layout.slots).map_err(refused)?;
        frames.try_reserve_exact(layout.slots.saturating_mul(layout.frame_bytes)).map_err(refused)?;
        let kept = head.min(layout.slots as u64) as usize;
        slots.resize(kept, Slot::default());
        frames.resize(kept * layout.frame_bytes, 0);
        let frames = Store::Here(frames);
        Ok(Self { layout, slots, frames, head, floor, start: 0, window: 0..0, len: 0 })
    }

    /// Bytes of one slot.
    pub fn slot_bytes(frame_bytes: usize) -> u64 {
        frame_bytes as u64 + size_of::<Slot>() as u64
    }

    /// The counters of the slots that are still there.
    pub fn kept(&self) -> Range<u64> {
        self.head.saturating_sub(self.layout.slots as u64).max(self.floor)..self.head
    }

    /// The counter of the first frame of the episode going on; between episodes that of the next slot.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The counter before which slots are lost.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Gives up all slots before this one. For a ring that is to be settled yet.
    pub fn lose(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
    }

    /// The counters that a sampler may draw, the final frames among them excepted.
    pub fn window(&self) -> &Range<u64> {
        &self.window
    }

    /// How many transitions can be sampled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the transition that starts here can be sampled.
    pub fn holds(&self, counter: u64) -> bool {
        self.window.contains(&counter) && !self.slot(counter).is(FINAL)
    }

    /// Says of each place whether the transition there can be sampled.
    pub fn mark_held(&self, held: &mut [bool]) {
        held.fill(false);
        for places in self.pieces(self.window.clone()) {
            let slots = self.slots_at(places.clone());
            held[places].iter_mut().zip(slots).for_each(|(held, slot)| *held = !slot.is(FINAL));
        }
    }

    /// Where in the ring a counter lies.
    pub fn place(&self, counter: u64) -> usize {
        (counter % self.layout.slots as u64) as usize
    }

    /// The counter of the slot that lies there now.
    pub fn counter_at(&self, place: usize) -> u64 {
        let newest = self.head - 1;
        let (top, slots) = (self.place(newest), self.layout.slots);
        let back = if place <= top { top - place } else { top + slots - place };
        newest - back as u64
    }

    /// The step in a slot that is there.
    pub fn slot(&self, counter: u64) -> &Slot {
        &self.slots[self.place(counter)]
    }

    /// The frame in a slot that is there, if it is in the host's memory; else nothing.
    pub fn frame(&self, counter: u64) -> &[u8] {
        let (start, bytes) = (self.place(counter) * self.layout.frame_bytes, self.layout.frame_bytes);
        self.frames.here(start..start + bytes)
    }

    /// Whether frames lie elsewhere.
    pub fn is_away(&self) -> bool {
        self.frames.is_away()
    }

    /// The frames by place, to be put elsewhere or brought back.
    pub fn frames_mut(&mut self) -> &mut Store {
        &mut self.frames
    }

    /// How many of the `stack` - 1 frames before this one belong to its episode.
    pub fn history(&self, counter: u64) -> u64 {
        let reach = self.layout.stack as u64 - 1;
        (0..reach).find(|&back| self.slot(counter - back).is(FIRST)).unwrap_or(reach)
    }

    /// The n-step transition from here: Σ γᵏ rₖ over k < m, and γᵐ, where m ≤ n stops at the episode's end, where it
    /// was interrupted, or before an action that was not the best.
    pub fn transition(&self, counter: u64, powers: &[f64]) -> NStep {
        let action = self.slot(counter).action;
        let (mut reward, mut next, mut terminal) = (0.0, counter, false);
        for power in &powers[..self.layout.n_step] {
            let slot = self.slot(next);
            if slot.is(FINAL) {
                break; // Interrupted: this frame is the successor.
            }
            if next > counter && slot.is(EXPLORED) {
                break;
            }
            reward += power * f64::from(slot.reward);
            next += 1;
            if slot.is(TERMINATED | TRUNCATED) {
                terminal = slot.is(TERMINATED);
                break;
            }
        }
        let discount = powers[(next - counter) as usize] as f32;
        NStep { action, reward: reward as f32, discount, terminal, next }
    }

    /// Writes a step, and the final frame if it was the last; tells `changed` each place at which a transition became
    /// or ceased to be one that can be sampled.
    pub fn push(
        &mut self,
        frame: &[u8],
        slot: Slot,
        last: Option<&[u8]>,
        changed: &mut dyn FnMut(usize, bool),
    ) {
        let first = if self.head == self.start { FIRST } else { 0 };
        self.write(frame, Slot { flags: slot.flags | first, ..slot }, changed);
        if let Some(last) = last {
            self.end(last, changed);
        }
        self.admit(changed);
    }

    /// Cuts off the episode going on at the frame that followed its last step. Between episodes there is nothing to cut.
    pub fn interrupt(&mut self, frame: &[u8], changed: &mut dyn FnMut(usize, bool)) {
        if self.head > self.start {
            self.end(frame, changed);
            self.admit(changed);
        }
    }

    /// Writes the final frame of an episode.
    fn end(&mut self, frame: &[u8], changed: &mut dyn FnMut(usize, bool)) {
        self.write(frame, Slot { flags: FINAL, ..Slot::default() }, changed);
        self.start = self.head;
    }

    fn write(&mut self, frame: &[u8], slot: Slot, changed: &mut dyn FnMut(usize, bool)) {
        let place = self.place(self.head);
        if place == self.slots.len() {
            self.slots.push(slot);
            self.frames.push(frame);
        } else {
            // Where slots are lost there is nothing to overwrite.
            if self.kept().start + self.layout.slots as u64 == self.head {
                self.retire(changed);
            }
            self.slots[place] = slot;
            self.frames.set(place, frame);
        }
        self.head += 1;
        self.admit(changed);
    }

    /// Drops the transitions that need the oldest frame, which is about to be overwritten.
    fn retire(&mut self, changed: &mut dyn FnMut(usize, bool)) {
        let low = self.lowest(self.kept().start + 1);
        for counter in self.window.start..low {
            if !self.slot(counter).is(FINAL) {
                self.len -= 1;
                changed(self.place(counter), false);
            }
        }
        self.window.start = low;
    }

    /// Takes in the transitions whose last frame has come.
    fn admit(&mut self, changed: &mut dyn FnMut(usize, bool)) {
        // After a loss the window begins where the history is whole again, which may be yet to come.
        if self.window.is_empty() {
            let low = self.lowest_kept();
            self.window = low..low;
        }
        let high = self.highest().max(self.window.end);
        for counter in self.window.end..high {
            if !self.slot(counter).is(FINAL) {
                self.len += 1;
                changed(self.place(counter), true);
            }
        }
        self.window.end = high;
    }

    /// The first counter that has its history, if `oldest` is the first that is there: that of the first episode to
    /// start from there, or the one with enough frames before it.
    fn lowest(&self, oldest: u64) -> u64 {
        let enough = oldest + self.layout.stack as u64 - 1;
        (oldest..enough.min(self.head)).find(|&counter| self.slot(counter).is(FIRST)).unwrap_or(enough)
    }

    /// One past the last counter whose successor, n steps on or at the episode's end, is there.
    fn highest(&self) -> u64 {
        self.start.max(self.head.saturating_sub(self.layout.n_step as u64))
    }

    /// The places of these counters in order of age, in the one or two pieces in which they lie.
    pub fn pieces(&self, counters: Range<u64>) -> impl Iterator<Item = Range<usize>> {
        let (from, count) = (self.place(counters.start), (counters.end - counters.start) as usize);
        let straight = count.min(self.layout.slots - from);
        [from..from + straight, 0..count - straight].into_iter().filter(|piece| !piece.is_empty())
    }

    /// The slots at these places.
    pub fn slots_at(&self, places: Range<usize>) -> &[Slot] {
        &self.slots[places]
    }

    /// Their frames, wherever they are.
    pub fn frames_at(&self, places: Range<usize>) -> Result<Cow<'_, [u8]>> {
        let bytes = self.layout.frame_bytes;
        self.frames.read(places.start * bytes..places.end * bytes)
    }

    /// Writes one slot of a blank ring.
    pub fn fill(&mut self, counter: u64, slot: Slot, frame: &[u8]) {
        let place = self.place(counter);
        self.slots[place] = slot;
        self.frames.set(place, frame);
    }

    /// Works out of the filled slots what [`Ring::push`] would have kept account of. The error is a counter whose slot
    /// cannot follow the one before it.
    ///
    /// After a loss nothing is known of the slots before: the first ones that are there only complete the histories of
    /// later ones. If none is there, `start` says where the episode going on began.
    pub fn settle(&mut self, start: u64) -> std::result::Result<(), u64> {
        let kept = self.kept();
        self.start = if kept.is_empty() { start.min(self.head) } else { kept.start };
        let mut due = if kept.start == 0 { Due::First } else { Due::Any };
        for counter in kept.clone() {
            let slot = self.slot(counter);
            due = due.follow(slot.flags).ok_or(counter)?;
            if slot.is(FIRST) {
                self.start = counter;
            }
        }
        match due {
            Due::First => self.start = self.head,
            Due::Final => return Err(self.head),
            Due::Step | Due::Any => {}
        }
        let lowest = self.lowest_kept();
        self.window = lowest..self.highest().max(lowest);
        self.len = self.window.clone().filter(|&counter| !self.slot(counter).is(FINAL)).count();
        Ok(())
    }

    fn lowest_kept(&self) -> u64 {
        let oldest = self.kept().start;
        if oldest == 0 { 0 } else { self.lowest(oldest) }
    }
}

/// What the next slot of a ring has to be.
#[derive(Clone, Copy)]
enum Due {
    First,
    Step,
    Final,
    Any,
}

impl Due {
    /// What follows a slot with these flags, if such a slot may come now.
    fn follow(self, flags: u8) -> Option<Self> {
        let ends = flags & (TERMINATED | TRUNCATED) != 0;
        let after = if ends { Self::Final } else { Self::Step };
        match self {
            _ if flags > FIRST | TERMINATED | TRUNCATED | FINAL | EXPLORED => None,
            Self::First if flags & FIRST == 0 => None,
            Self::Step if flags & FIRST != 0 => None,
            Self::Final if flags != FINAL => None,
            // After a step that ended nothing too: there the episode was interrupted.
            Self::Final | Self::Step | Self::Any if flags == FINAL => Some(Self::First),
            Self::First | Self::Step | Self::Final | Self::Any => (flags & FINAL == 0).then_some(after),
        }
    }
}
