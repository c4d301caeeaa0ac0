//! The books of a memory whose frames are kept elsewhere: which slot is written where, and which transitions can be
//! sampled. It is the account that [`Replay`](super::Replay) keeps, of lanes whose frames have no bytes.

use super::lane::{Lane, Layout, Slot};
use super::sample::draw_uniform;
use super::state::encode;
use super::{Lived, Replay, ReplayError, ReplaySettings, ReplayState, Result, Segment, checked_slot};
use adfq_env::Space;
use rand::Rng;

/// A slot that was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Where, counted over all lanes.
    pub place: usize,
    /// The reward of its step.
    pub reward: f32,
    /// Its action.
    pub action: u32,
    /// The flags of `lane`.
    pub flags: u8,
}

/// The books.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    layout: Layout,
    frame_bytes: usize,
    actions: usize,
    lanes: Vec<Lane>,
}

impl Ledger {
    /// The books of an empty memory.
    pub fn new(settings: &ReplaySettings, space: &Space) -> Result<Self> {
        let layout = Layout { frame_bytes: 0, ..settings.layout(space)? };
        let lanes = (0..settings.envs).map(|_| Lane::blank(layout, 0)).collect::<Result<_>>()?;
        Ok(Self { layout, frame_bytes: space.frame_bytes(), actions: space.actions, lanes })
    }

    /// The books of a memory.
    pub fn of(replay: &Replay) -> Self {
        Self {
            layout: Layout { frame_bytes: 0, ..replay.layout },
            frame_bytes: replay.layout.frame_bytes,
            actions: replay.actions,
            lanes: replay.lanes.iter().map(Lane::without_frames).collect(),
        }
    }

    /// The memory whose books these are. `frames` writes the frames that lie from one place to another to the end of its
    /// vector; priorities are by place.
    pub fn replay(
        &self,
        settings: &ReplaySettings,
        space: &Space,
        priorities: &[f32],
        largest: f64,
        mut frames: impl FnMut(std::ops::Range<usize>, &mut Vec<u8>) -> crate::Result<()>,
    ) -> crate::Result<Replay> {
        let state = ReplayState { heads: self.lanes.iter().map(|lane| lane.kept().end).collect(), largest };
        let segments = self.lanes.iter().enumerate().map(|(number, lane)| {
            let (kept, base) = (lane.kept(), number * self.layout.slots);
            let mut bytes: Vec<u8> = kept.clone().flat_map(|counter| encode(lane.slot(counter))).collect();
            let (from, count) = (lane.place(kept.start), (kept.end - kept.start) as usize);
            let straight = count.min(self.layout.slots - from);
            frames(base + from..base + from + straight, &mut bytes)?;
            frames(base..base + count - straight, &mut bytes)?;
            Ok(Segment { lane: number, first: kept.start, count: count as u64, bytes })
        });
        Replay::restore(settings, space, &state, priorities, segments)
    }

    /// Slots of one lane.
    pub fn slots(&self) -> usize {
        self.layout.slots
    }

    /// How many transitions can be sampled.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// Notes a step of environment `lane`, as [`Replay::push`](super::Replay::push) does. The slots written come out, the
    /// step and then the final frame if there is one; `changed` is told each place at which a transition became or ceased
    /// to be one that can be sampled.
    pub fn push(
        &mut self,
        lane: usize,
        lived: &Lived,
        changed: &mut dyn FnMut(usize, bool),
    ) -> Result<(Entry, Option<Entry>)> {
        let slot = checked_slot((self.frame_bytes, self.actions), lived)?;
        let first = self.head(lane)?;
        let base = lane * self.layout.slots;
        let last = lived.last.map(|_| &[][..]);
        self.lanes[lane].push(&[], slot, last, &mut |place, present| changed(base + place, present));
        Ok((self.entry(lane, first), last.map(|_| self.entry(lane, first + 1))))
    }

    /// Cuts off the episode going on, as [`Replay::interrupt`](super::Replay::interrupt) does; the final frame's slot comes
    /// out if there was one.
    pub fn interrupt(
        &mut self,
        lane: usize,
        frame: &[u8],
        changed: &mut dyn FnMut(usize, bool),
    ) -> Result<Option<Entry>> {
        if frame.len() != self.frame_bytes {
            return Err(ReplayError::Frame { got: frame.len(), want: self.frame_bytes });
        }
        let first = self.head(lane)?;
        let base = lane * self.layout.slots;
        self.lanes[lane].interrupt(&[], &mut |place, present| changed(base + place, present));
        Ok((self.head(lane)? > first).then(|| self.entry(lane, first)))
    }

    /// Draws places, all transitions equally likely: those that [`Replay::draw`](super::Replay::draw) draws.
    pub fn draw(&self, rng: &mut impl Rng, places: &mut [u32]) -> Result<()> {
        if self.len() == 0 {
            return Err(ReplayError::Empty);
        }
        let mut drawn = places.iter_mut();
        draw_uniform(&self.lanes, drawn.len(), rng, |lane, counter| {
            if let Some(place) = drawn.next() {
                *place = (lane * self.layout.slots + self.lanes[lane].place(counter)) as u32;
            }
        });
        Ok(())
    }

    /// The slots of a lane that are kept, the oldest first.
    #[cfg(feature = "cuda")]
    pub fn kept(&self, lane: usize) -> impl Iterator<Item = Entry> {
        self.lanes[lane].kept().map(move |counter| self.entry(lane, counter))
    }

    fn head(&self, lane: usize) -> Result<u64> {
        let lanes = self.lanes.len();
        Ok(self.lanes.get(lane).ok_or(ReplayError::Lane { lane, lanes })?.kept().end)
    }

    fn entry(&self, number: usize, counter: u64) -> Entry {
        let lane = &self.lanes[number];
        let Slot { reward, action, flags } = *lane.slot(counter);
        Entry { place: number * self.layout.slots + lane.place(counter), reward, action, flags }
    }
}

impl Replay {
    /// Whether a memory with these settings has the same places.
    #[cfg(feature = "cuda")]
    pub(crate) fn fits(&self, settings: &ReplaySettings, space: &Space) -> bool {
        let layout = settings.layout(space);
        let priority = settings.priority.is_some() == self.priorities.is_some();
        layout == Ok(self.layout) && settings.envs == self.lanes.len() && priority
    }

    /// The largest priority so far, and its power.
    #[cfg(feature = "cuda")]
    pub(crate) fn largest(&self) -> Option<(f64, f32)> {
        self.priorities.as_ref().map(|priorities| (priorities.largest(), priorities.fresh()))
    }

    /// The frame at a place.
    pub(crate) fn frame_at(&self, place: usize) -> &[u8] {
        let lane = &self.lanes[place / self.layout.slots];
        lane.frame(lane.counter_at(place % self.layout.slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Sample;
    use adfq::random::stream;
    use adfq_env::Element;
    use rand::RngExt;
    use std::collections::BTreeSet;

    /// The places that can be sampled are those of a memory with frames, after every step; and so are the draws.
    #[test]
    fn books_agree_with_the_memory() {
        let space = Space { frame: vec![2], element: Element::U8 { scale: 1.0 }, stack: 3, actions: 4 };
        let settings = ReplaySettings { capacity: 40, envs: 2, n_step: 2, discount: 0.9, priority: None };
        let mut replay = Replay::new(&settings, &space).unwrap();
        let mut ledger = Ledger::new(&settings, &space).unwrap();
        let (mut rng, mut there) = (stream(5, "ledger"), BTreeSet::new());
        for step in 0..500_u64 {
            let (lane, frame) = (rng.random_range(0..2), [step as u8, 1]);
            let mut changed = |place, present| {
                assert!(if present { there.insert(place) } else { there.remove(&place) });
            };
            if rng.random_range(0..12) == 0 {
                replay.interrupt(lane, &frame).unwrap();
                ledger.interrupt(lane, &frame, &mut changed).unwrap();
                continue;
            }
            let (action, ended) = (rng.random_range(0..4), rng.random_range(0..6) == 0);
            let lived = Lived::new(&frame, action, 1.5);
            let lived = if ended { lived.ended_at(&frame) } else { lived };
            replay.push(lane, &lived).unwrap();
            let (entry, end) = ledger.push(lane, &lived, &mut changed).unwrap();
            assert_eq!((entry.action, entry.reward, end.is_some()), (action, 1.5, ended));
            let place = |index: u64| {
                let (lane, counter) = (index as usize % 2, index / 2);
                lane * ledger.slots() + counter as usize % ledger.slots()
            };
            assert_eq!(there, replay.indices().map(place).collect());
            if ledger.len() > 0 {
                let (mut sample, mut places) = (Sample::default(), [0; 9]);
                replay.draw(9, 0.0, &mut stream(step, "draw"), &mut sample).unwrap();
                ledger.draw(&mut stream(step, "draw"), &mut places).unwrap();
                assert!(sample.index.iter().zip(places).all(|(&index, at)| place(index) == at as usize));
            }
        }
        // From the books and the frames by place back to the memory.
        let books = Ledger::of(&replay);
        assert_eq!(books.lanes, ledger.lanes);
        let frames = |places: std::ops::Range<usize>, bytes: &mut Vec<u8>| {
            places.for_each(|place| bytes.extend_from_slice(replay.frame_at(place)));
            Ok(())
        };
        assert!(books.replay(&settings, &space, &[], 0.0, frames).unwrap() == replay);
    }
}
