//! What happened in the environments, to learn from again.
//!
//! A [`Replay`] keeps every frame once, as the bytes the environment wrote. Each environment writes to a ring of its own,
//! of capacity/M slots if there are M. A slot is a frame and the step taken on seeing it; the frame that followed is in the
//! next slot. The final frame of an episode has a slot to itself: a cut-off episode bootstraps from it, and so does one
//! that was interrupted ([`Replay::interrupt`]). Stacked observations and n-step returns are put together when sampled
//! ([`Sample`]), and neither reaches from one episode into another.
//!
//! A transition can be sampled once its successor is known, n steps on or at the episode's end, and until a frame that
//! it needs is overwritten. All are equally likely, or in proportion to their last error ([`PrioritySettings`]).
//! [`ReplayState`] and [`Segment`] say how a memory is stored and taken up again, also without a part that is lost. The
//! files are made elsewhere.
//!
//! ```
//! use adfq::random::stream;
//! use adfq_deep::replay::{Transition, Replay, ReplaySettings, Sample};
//! use adfq_env::{Element, Space};
//!
//! let space = Space { frame: vec![1], element: Element::U8 { scale: 0.5 }, stack: 2, actions: 3 };
//! let settings = ReplaySettings { capacity: 100, n_step: 2, watkins: false, priority: None };
//! let mut replay = Replay::new(&settings, 1, 0.5, &space)?; // one environment, γ = ½
//! replay.push(0, &Transition::new(&[10], 2, 1.0))?;
//! replay.push(0, &Transition::new(&[20], 0, 4.0).cut_off_at(&[30]))?;
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

mod bits;
mod digest;
mod error;
mod frames;
mod priority;
mod ring;
mod sample;
mod settings;
mod state;
mod store;
mod stored;
mod sum_tree;
#[cfg(test)]
mod tests;
mod transition;

pub use error::{ReplayError, Result};
pub use sample::Sample;
pub use settings::{PrioritySettings, ReplaySettings};
pub use state::{ReplayState, Segment};
pub use stored::Frames;
pub use transition::Transition;

use adfq_env::Space;
pub(crate) use digest::Digest;
pub(crate) use frames::Decoder;
use priority::Priorities;
use ring::{EXPLORED, Layout, Ring, Slot, TERMINATED, TRUNCATED};
#[cfg(any(test, feature = "cuda"))]
use std::sync::Arc;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use store::Elsewhere;

/// What a push changed, for memories that mirror this one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// The slots that were written: the step, and then the final frame if there is one.
    pub slots: Vec<Entry>,
    /// The places at which a transition became one that can be sampled, or ceased to be one.
    pub changes: Vec<(usize, bool)>,
}

/// A slot that was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Where, counted over all environments.
    pub place: usize,
    /// The reward of its step.
    pub reward: f32,
    /// Its action.
    pub action: u32,
    /// The flags of `ring`.
    pub flags: u8,
}

#[cfg(feature = "cuda")]
impl Entry {
    /// Action and flags in one word, as a GPU has them.
    pub fn word(&self) -> u32 {
        self.action | u32::from(self.flags) << 24
    }
}

/// A replay memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    layout: Layout,
    decoder: Decoder,
    actions: usize,
    /// γ⁰ to γⁿ.
    powers: Vec<f64>,
    rings: Vec<Ring>,
    priorities: Option<Priorities>,
}

impl Replay {
    /// An empty memory for what so many environments do. Address space is reserved at once, and an error if there is none;
    /// the frames' memory itself is touched, and so taken from the system, only as the memory fills.
    pub fn new(settings: &ReplaySettings, envs: usize, discount: f32, space: &Space) -> Result<Self> {
        let layout = settings.layout(envs, discount, space)?;
        let gamma = f64::from(discount);
        let powers = std::iter::successors(Some(1.0), |power| Some(power * gamma));
        let rings = (0..envs).map(|_| Ring::blank(layout, 0, 0)).collect::<Result<_>>()?;
        let priorities = settings.priority.map(|priority| Priorities::new(priority, layout.slots * envs));
        Ok(Self {
            powers: powers.take(layout.n_step + 1).collect(),
            decoder: Decoder::new(space),
            actions: space.actions,
            layout,
            rings,
            priorities,
        })
    }

    /// How many transitions can be sampled.
    pub fn len(&self) -> usize {
        self.rings.iter().map(Ring::len).sum()
    }

    /// Whether there is nothing to sample yet.
    pub fn is_empty(&self) -> bool {
        self.rings.iter().all(|ring| ring.len() == 0)
    }

    /// The indices of all transitions that can be sampled, env by env, the oldest first.
    pub fn indices(&self) -> impl Iterator<Item = u64> {
        self.rings.iter().enumerate().flat_map(move |(number, ring)| {
            let held = ring.window().clone().filter(|&counter| ring.holds(counter));
            held.map(move |counter| self.index(number, counter))
        })
    }

    /// Writes one step of environment `env`. Frames, the reward and the action are checked.
    pub fn push(&mut self, env: usize, transition: &Transition) -> Result<()> {
        self.ring(env)?;
        let slot = checked_slot((self.layout.frame_bytes, self.actions), transition)?;
        self.change(
            env,
            |_, _| (),
            |ring, changed| {
                ring.push(transition.frame, slot, transition.last, changed);
            },
        );
        Ok(())
    }

    /// The same; `written` becomes what changed.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn write(&mut self, env: usize, transition: &Transition, written: &mut Written) -> Result<()> {
        let first = self.ring(env)?.kept().end;
        let slot = checked_slot((self.layout.frame_bytes, self.actions), transition)?;
        let changes = &mut written.changes;
        changes.clear();
        self.change(
            env,
            |place, present| changes.push((place, present)),
            |ring, changed| {
                ring.push(transition.frame, slot, transition.last, changed);
            },
        );
        self.note_slots(env, first, written);
        Ok(())
    }

    /// Cuts off the episode of environment `env` after its last step, which led to `frame`: its transitions bootstrap
    /// from there, and what is pushed next begins another. Between episodes nothing happens.
    ///
    /// ```
    /// # use adfq_deep::replay::{Transition, Replay, ReplaySettings, Sample};
    /// # let space = adfq_env::Space { frame: vec![1], element: adfq_env::Element::U8 { scale: 1.0 }, stack: 1, actions: 3 };
    /// # let settings = ReplaySettings { capacity: 100, n_step: 3, watkins: false, priority: None };
    /// let mut replay = Replay::new(&settings, 1, 0.5, &space)?; // n = 3, γ = ½
    /// replay.push(0, &Transition::new(&[10], 2, 1.0))?;
    /// replay.interrupt(0, &[20])?;
    /// replay.push(0, &Transition::new(&[30], 0, 8.0))?;
    /// let mut sample = Sample { index: replay.indices().collect(), ..Sample::default() };
    /// replay.gather(&mut sample)?;
    /// assert_eq!((sample.next(), &sample.reward[..]), (&[20.0][..], &[1.0][..]));
    /// assert_eq!((sample.discount[0], sample.terminal[0]), (0.5, false));
    /// # Ok::<(), adfq_deep::replay::ReplayError>(())
    /// ```
    pub fn interrupt(&mut self, env: usize, frame: &[u8]) -> Result<()> {
        self.cut(env, frame, &mut Written::default())
    }

    /// The same; `written` becomes what changed.
    pub(crate) fn cut(&mut self, env: usize, frame: &[u8], written: &mut Written) -> Result<()> {
        let first = self.ring(env)?.kept().end;
        check_frame(frame, self.layout.frame_bytes)?;
        let changes = &mut written.changes;
        changes.clear();
        self.change(
            env,
            |place, present| changes.push((place, present)),
            |ring, changed| {
                ring.interrupt(frame, changed);
            },
        );
        self.note_slots(env, first, written);
        Ok(())
    }

    /// Notes the slots that were written from this counter on.
    fn note_slots(&self, env: usize, first: u64, written: &mut Written) {
        written.slots.clear();
        written.slots.extend((first..self.rings[env].kept().end).map(|counter| self.entry(env, counter)));
    }

    /// Writes to a ring; priorities follow which of its transitions can be sampled, and `note` is told too.
    fn change(
        &mut self,
        env: usize,
        mut note: impl FnMut(usize, bool),
        write: impl FnOnce(&mut Ring, &mut dyn FnMut(usize, bool)),
    ) {
        let (ring, base) = (&mut self.rings[env], env * self.layout.slots);
        match &mut self.priorities {
            None => write(ring, &mut |place, present| note(base + place, present)),
            Some(priorities) => {
                write(ring, &mut |place, present| {
                    priorities.change(base + place, present);
                    note(base + place, present);
                });
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
            let (env, counter) = replay.locate(index)?;
            Some(env * replay.layout.slots + replay.rings[env].place(counter))
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

    /// Brings frames that lie elsewhere to the host's memory.
    pub(crate) fn bring_frames(&mut self) -> Result<()> {
        let room = self.layout.slots * self.layout.frame_bytes;
        self.rings.iter_mut().try_for_each(|ring| ring.frames_mut().come_back(room))
    }

    /// Gives the host's memory of all frames back: they lie elsewhere now, by place, and go there when they are written.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn leave_frames(&mut self, elsewhere: &Arc<dyn Elsewhere>) {
        let bytes = self.layout.slots * self.layout.frame_bytes;
        for (env, ring) in self.rings.iter_mut().enumerate() {
            ring.frames_mut().leave(elsewhere.clone(), env * bytes);
        }
    }

    /// Slots in all.
    fn places(&self) -> usize {
        self.layout.slots * self.rings.len()
    }

    fn ring(&self, env: usize) -> Result<&Ring> {
        self.rings.get(env).ok_or(ReplayError::Env { env, envs: self.rings.len() })
    }

    fn entry(&self, env: usize, counter: u64) -> Entry {
        let ring = &self.rings[env];
        let Slot { reward, action, flags } = *ring.slot(counter);
        Entry { place: env * self.layout.slots + ring.place(counter), reward, action, flags }
    }

    /// The index under which a transition is known outside: never given to another.
    fn index(&self, env: usize, counter: u64) -> u64 {
        counter * self.rings.len() as u64 + env as u64
    }

    /// The env and counter of an index, if its transition can be sampled.
    fn locate(&self, index: u64) -> Option<(usize, u64)> {
        let rings = self.rings.len() as u64;
        let (env, counter) = ((index % rings) as usize, index / rings);
        self.rings[env].holds(counter).then_some((env, counter))
    }
}

#[cfg(feature = "cuda")]
impl Replay {
    /// Whether a memory of this configuration has the same places.
    pub(crate) fn fits(&self, config: &crate::Config, space: &Space) -> bool {
        let layout = config.replay.layout(config.envs, config.learning.discount, space);
        let priority = config.replay.priority.is_some() == self.priorities.is_some();
        layout == Ok(self.layout) && config.envs == self.rings.len() && priority
    }

    /// The largest priority so far, and its power.
    pub(crate) fn largest(&self) -> Option<(f64, f32)> {
        self.priorities.as_ref().map(|priorities| (priorities.largest(), priorities.fresh()))
    }

    /// The slots of an environment that are kept, the oldest first.
    pub(crate) fn entries(&self, env: usize) -> impl Iterator<Item = Entry> {
        self.rings[env].kept().map(move |counter| self.entry(env, counter))
    }

    /// The frames of an environment that are in the host's memory, by place.
    pub(crate) fn frames_of(&self, env: usize) -> Result<std::borrow::Cow<'_, [u8]>> {
        let ring = self.ring(env)?;
        ring.frames_at(0..ring.kept().end.min(self.layout.slots as u64) as usize)
    }

    /// The index of the transition at a place.
    pub(crate) fn index_at(&self, place: usize) -> u64 {
        let env = place / self.layout.slots;
        self.index(env, self.rings[env].counter_at(place % self.layout.slots))
    }
}

fn check_frame(frame: &[u8], want: usize) -> Result<()> {
    let got = frame.len();
    if got == want { Ok(()) } else { Err(ReplayError::Frame { got, want }) }
}

/// The slot of a step, if it is one that can be written to a memory with frames of so many bytes and so many actions.
fn checked_slot((frame_bytes, actions): (usize, usize), transition: &Transition) -> Result<Slot> {
    let Transition { frame, action, explored, reward, terminated, truncated, last } = *transition;
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
    let flags = flag(terminated, TERMINATED) | flag(truncated, TRUNCATED) | flag(explored, EXPLORED);
    Ok(Slot { reward, action, flags })
}
