//! What was lived through, to learn from again.
//!
//! A [`Replay`] keeps every frame once, as the bytes the environment wrote. M environments write M lanes, rings of
//! capacity/M slots; a slot is a frame and the step taken on seeing it, and the frame that followed is in the next slot.
//! The final frame of an episode has a slot to itself: a cut-off episode bootstraps from it, and so does one that was
//! interrupted ([`Replay::interrupt`]). Stacked observations and
//! n-step returns are put together when sampled ([`Sample`]), and neither reaches from one episode into another.
//!
//! A transition can be sampled once its successor is known, n steps on or at the episode's end, and until a frame that
//! it needs is overwritten. All are equally likely, or in proportion to their last error ([`PrioritySettings`]).
//! How a memory is stored and taken up again is told by [`ReplayState`] and [`Segment`]; the files are made elsewhere.
//!
//! ```
//! use adfq::random::stream;
//! use adfq_deep::replay::{Lived, Replay, ReplaySettings, Sample};
//! use adfq_env::{Element, Space};
//!
//! let space = Space { frame: vec![1], element: Element::U8 { scale: 0.5 }, stack: 2, actions: 3 };
//! let settings = ReplaySettings { capacity: 100, envs: 1, n_step: 2, discount: 0.5, priority: None };
//! let mut replay = Replay::new(&settings, &space)?;
//! replay.push(0, &Lived::new(&[10], 2, 1.0))?;
//! replay.push(0, &Lived::new(&[20], 0, 4.0).cut_off_at(&[30]))?;
//! assert_eq!(replay.len(), 2);
//!
//! let mut sample = Sample::default();
//! replay.sample(32, 0.0, &mut stream(0, "sampler"), &mut sample)?;
//! assert_eq!((sample.obs().len(), sample.next().len()), (32 * 2, 32 * 2));
//!
//! // Not drawn but asked for: the first transition, to be looked at.
//! sample.index = replay.indices().take(1).collect();
//! replay.gather(&mut sample)?;
//! assert_eq!((sample.action[0], sample.reward[0]), (2, 1.0 + 0.5 * 4.0));
//! assert_eq!((sample.discount[0], sample.terminal[0]), (0.25, false));
//! assert_eq!((sample.obs(), sample.next()), (&[5.0, 5.0][..], &[10.0, 15.0][..]));
//! # Ok::<(), adfq_deep::replay::ReplayError>(())
//! ```

mod digest;
mod error;
mod frames;
mod lane;
#[cfg(any(feature = "cuda", test))]
pub(crate) mod ledger;
mod lived;
mod priority;
mod sample;
mod settings;
mod state;
mod sum_tree;
#[cfg(test)]
mod tests;

pub use error::{ReplayError, Result};
pub use lived::Lived;
pub use sample::Sample;
pub use settings::{PrioritySettings, ReplaySettings};
pub use state::{ReplayState, Segment};

use adfq_env::Space;
pub(crate) use digest::Digest;
pub(crate) use frames::Decoder;
use lane::{Lane, Layout, Slot, TERMINATED, TRUNCATED};
use priority::Priorities;

/// A replay memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    layout: Layout,
    decoder: Decoder,
    actions: usize,
    /// γ⁰ to γⁿ.
    powers: Vec<f64>,
    lanes: Vec<Lane>,
    priorities: Option<Priorities>,
}

impl Replay {
    /// An empty memory. Address space is reserved at once, and an error if there is none; the frames' memory itself is
    /// touched, and so taken from the system, only as the memory fills.
    pub fn new(settings: &ReplaySettings, space: &Space) -> Result<Self> {
        Self::blank(settings, space, std::iter::repeat_n(0, settings.envs))
    }

    /// A memory whose lanes have so many slots written, all of them blank.
    fn blank(settings: &ReplaySettings, space: &Space, heads: impl Iterator<Item = u64>) -> Result<Self> {
        let layout = settings.layout(space)?;
        let gamma = f64::from(settings.discount);
        let powers =
            std::iter::successors(Some(1.0), |power| Some(power * gamma)).take(layout.n_step + 1).collect();
        let lanes = heads.map(|head| Lane::blank(layout, head)).collect::<Result<_>>()?;
        let priorities =
            settings.priority.map(|priority| Priorities::new(priority, layout.slots * settings.envs));
        Ok(Self { layout, decoder: Decoder::new(space), actions: space.actions, powers, lanes, priorities })
    }

    /// Bytes that such a memory takes when full. Nothing is allocated to find out.
    pub fn bytes_needed(settings: &ReplaySettings, space: &Space) -> u64 {
        settings.bytes_needed(space)
    }

    /// How many transitions can be sampled.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum()
    }

    /// Whether there is nothing to sample yet.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.len() == 0)
    }

    /// The indices of all transitions that can be sampled, lane by lane, the oldest first.
    pub fn indices(&self) -> impl Iterator<Item = u64> {
        self.lanes.iter().enumerate().flat_map(move |(number, lane)| {
            let held = lane.window().clone().filter(|&counter| lane.holds(counter));
            held.map(move |counter| self.index(number, counter))
        })
    }

    /// Writes one step of environment `lane`. Frames, the reward and the action are checked.
    pub fn push(&mut self, lane: usize, lived: &Lived) -> Result<()> {
        self.lane(lane)?;
        let slot = checked_slot((self.layout.frame_bytes, self.actions), lived)?;
        self.change(lane, |lane, changed| lane.push(lived.frame, slot, lived.last, changed));
        Ok(())
    }

    /// Cuts off the episode of environment `lane` after its last step, which led to `frame`: its transitions bootstrap
    /// from there, and what is pushed next begins another. Between episodes nothing happens.
    ///
    /// ```
    /// # use adfq_deep::replay::{Lived, Replay, ReplaySettings, Sample};
    /// # let space = adfq_env::Space { frame: vec![1], element: adfq_env::Element::U8 { scale: 1.0 }, stack: 1, actions: 3 };
    /// # let settings = ReplaySettings { capacity: 100, envs: 1, n_step: 3, discount: 0.5, priority: None };
    /// let mut replay = Replay::new(&settings, &space)?; // n = 3, γ = ½
    /// replay.push(0, &Lived::new(&[10], 2, 1.0))?;
    /// replay.interrupt(0, &[20])?;
    /// replay.push(0, &Lived::new(&[30], 0, 8.0))?;
    /// let mut sample = Sample { index: replay.indices().collect(), ..Sample::default() };
    /// replay.gather(&mut sample)?;
    /// assert_eq!((sample.next(), &sample.reward[..]), (&[20.0][..], &[1.0][..]));
    /// assert_eq!((sample.discount[0], sample.terminal[0]), (0.5, false));
    /// # Ok::<(), adfq_deep::replay::ReplayError>(())
    /// ```
    pub fn interrupt(&mut self, lane: usize, frame: &[u8]) -> Result<()> {
        self.lane(lane)?;
        self.check_frame(frame)?;
        self.change(lane, |lane, changed| lane.interrupt(frame, changed));
        Ok(())
    }

    fn check_frame(&self, frame: &[u8]) -> Result<()> {
        check_frame(frame, self.layout.frame_bytes)
    }

    /// Writes to a lane; priorities follow which of its transitions can be sampled.
    fn change(&mut self, number: usize, write: impl FnOnce(&mut Lane, &mut dyn FnMut(usize, bool))) {
        let (lane, base) = (&mut self.lanes[number], number * self.layout.slots);
        match &mut self.priorities {
            None => write(lane, &mut |_, _| ()),
            Some(priorities) => {
                write(lane, &mut |place, present| priorities.change(base + place, present));
                priorities.tree.refresh();
            }
        }
    }

    /// Gives the sampled transitions the priority |error| + ε. One that was overwritten meanwhile is passed over; if an
    /// error is not finite, none of them is changed. A memory without priorities checks the errors and forgets them.
    pub fn update(&mut self, index: &[u64], error: &[f32]) -> Result<()> {
        if index.len() != error.len() {
            return Err(ReplayError::Lengths { indices: index.len(), priorities: error.len() });
        }
        if let Some(at) = error.iter().position(|error| !error.is_finite()) {
            return Err(ReplayError::Priority { index: index[at], value: error[at] });
        }
        let located = |replay: &Self, index| {
            let (lane, counter) = replay.locate(index)?;
            Some(lane * replay.layout.slots + replay.lanes[lane].place(counter))
        };
        let Some(mut priorities) = self.priorities.take() else { return Ok(()) };
        for (&index, &error) in index.iter().zip(error) {
            if let Some(place) = located(self, index) {
                priorities.learn(place, error);
            }
        }
        priorities.tree.refresh();
        self.priorities = Some(priorities);
        Ok(())
    }

    /// Slots in all.
    fn places(&self) -> usize {
        self.layout.slots * self.lanes.len()
    }

    fn lane(&self, lane: usize) -> Result<&Lane> {
        self.lanes.get(lane).ok_or(ReplayError::Lane { lane, lanes: self.lanes.len() })
    }

    /// The index under which a transition is known outside: never given to another.
    fn index(&self, lane: usize, counter: u64) -> u64 {
        counter * self.lanes.len() as u64 + lane as u64
    }

    /// The lane and counter of an index, if its transition can be sampled.
    fn locate(&self, index: u64) -> Option<(usize, u64)> {
        let lanes = self.lanes.len() as u64;
        let (lane, counter) = ((index % lanes) as usize, index / lanes);
        self.lanes[lane].holds(counter).then_some((lane, counter))
    }
}

fn check_frame(frame: &[u8], want: usize) -> Result<()> {
    let got = frame.len();
    if got == want { Ok(()) } else { Err(ReplayError::Frame { got, want }) }
}

/// The slot of a step, if it is one that can be written to a memory with frames of so many bytes and so many actions.
fn checked_slot((frame_bytes, actions): (usize, usize), lived: &Lived) -> Result<Slot> {
    let Lived { frame, action, reward, terminated, truncated, last } = *lived;
    [Some(frame), last].into_iter().flatten().try_for_each(|frame| check_frame(frame, frame_bytes))?;
    if last.is_some() != (terminated || truncated) {
        return Err(ReplayError::Last);
    }
    if action as usize >= actions {
        return Err(ReplayError::Action { action, actions });
    }
    if !reward.is_finite() {
        return Err(ReplayError::Reward(reward));
    }
    let flag = |set, flag| if set { flag } else { 0 };
    Ok(Slot { reward, action, flags: flag(terminated, TERMINATED) | flag(truncated, TRUNCATED) })
}
