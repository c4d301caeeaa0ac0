//! The books of a memory whose frames are kept elsewhere: which slot is written where, and which transitions can be
//! sampled. It is the account that [`Replay`](super::Replay) keeps, of lanes whose frames have no bytes.

use super::lane::{Lane, Layout, Slot};
use super::sample::draw_uniform;
use super::{ReplayError, ReplaySettings, Result, checked_slot};
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
    #[expect(clippy::too_many_arguments, reason = "a step is so many things")]
    pub fn push(
        &mut self,
        lane: usize,
        frame: &[u8],
        action: u32,
        reward: f32,
        terminated: bool,
        truncated: bool,
        last: Option<&[u8]>,
        changed: &mut dyn FnMut(usize, bool),
    ) -> Result<(Entry, Option<Entry>)> {
        let sizes = (self.frame_bytes, self.actions);
        let slot = checked_slot(sizes, frame, action, reward, terminated, truncated, last)?;
        let first = self.head(lane)?;
        let base = lane * self.layout.slots;
        let last = last.map(|_| &[][..]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Replay, Sample};
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
            let last = ended.then_some(&frame[..]);
            replay.push(lane, &frame, action, 1.5, ended, false, last).unwrap();
            let (entry, end) =
                ledger.push(lane, &frame, action, 1.5, ended, false, last, &mut changed).unwrap();
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
    }
}
