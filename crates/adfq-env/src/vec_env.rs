//! Several environments that are stepped together, in flat buffers: what a trainer needs of them ([`Envs`]), and the
//! environments of this process ([`VecEnv`]). Those of other processes are in [`gym`](crate::gym).

use crate::episode::{refuse, restore, save};
use crate::{Env, Error, Info, Result, Space, Step, check_given, make};
use adfq::random::stream;
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// M environments with the same space. An episode that ends starts anew at once, and both frames are kept: the last of
/// the old one and the first of the next.
#[expect(clippy::len_without_is_empty, reason = "it is never empty")]
pub trait Envs: Send {
    /// The shape of frames and the number of actions of each.
    fn space(&self) -> &Space;

    /// How many environments there are; never 0.
    fn len(&self) -> usize;

    /// Starts an episode in each; environment i draws from the stream `env i` of this seed, however many there are.
    fn reset(&mut self, seed: u64) -> Result<()>;

    /// Takes one action in each. Where the step ended or cut off an episode, the next one has started already. Actions
    /// are checked before any environment moves; if one fails all the same, reset or restore before going on.
    fn step(&mut self, actions: &[usize]) -> Result<&[Step]> {
        self.begin(actions)?;
        self.finish()
    }

    /// The first half of [`Envs::step`]: what happens in other processes begins. Between the halves of one, those of others
    /// can begin too.
    fn begin(&mut self, actions: &[usize]) -> Result<()>;

    /// The second half: waits until it is done.
    fn finish(&mut self) -> Result<&[Step]>;

    /// The frames to act on now, one after the other: after an end, the first of the new episode.
    fn frames(&self) -> &[u8];

    /// The last frame of the old episode, for each environment whose latest step ended one. Elsewhere meaningless.
    fn successors(&self) -> &[u8];

    /// What the latest steps gave.
    fn steps(&self) -> &[Step];

    /// Everything that decides what follows, the present frames included; `None` if that is out of reach, as it is for
    /// an environment in another process. Such environments go on from a reset instead.
    fn save(&self) -> Result<Option<Vec<u8>>>;

    /// Takes up what [`Envs::save`] gave. If one environment refuses its state, reset or restore before going on.
    fn restore(&mut self, state: &[u8]) -> Result<()>;

    /// Starts anew what failed in another process, and begins an episode in each environment there, with seeds as in
    /// [`Envs::reset`]. Which environments these are; none if nothing of this kind failed. They take no part in the step
    /// under way: [`Envs::finish`] goes on with it, and fails again if more has failed.
    fn restart(&mut self, _seed: u64) -> Result<Option<Range<usize>>> {
        Ok(None)
    }

    /// What environment `index` reports of itself: [`Env::info`]. Empty if there is none or it is in another process.
    fn info(&self, _index: usize) -> Info {
        Vec::new()
    }

    /// An error unless there is one action for each environment, and each is one of its own.
    fn check(&self, actions: &[usize]) -> Result<()> {
        if actions.len() != self.len() {
            return Err(Error::Actions { actions: actions.len(), environments: self.len() });
        }
        let known = self.space().actions;
        match actions.iter().find(|&&action| action >= known) {
            Some(&action) => Err(Error::Action { action, actions: known }),
            None => Ok(()),
        }
    }
}

/// The seed of environment `i` under the seed of all, for [`Envs`] of your own: see [`Envs::reset`].
pub fn seed_of(seed: u64, i: usize) -> u64 {
    stream(seed, &format!("env {i}")).next_u64()
}

const NAME: &str = "VecEnv";

/// M environments with the same space, in flat buffers of M frames one after the other. They are stepped in order, or, if they
/// are [slow](Env::is_slow), on all cores: each is on its own, so the results are the same.
///
/// ```
/// use adfq_env::{Envs, VecEnv};
///
/// let mut envs = VecEnv::named("deepsea-1", 2)?;
/// envs.reset(7)?;
/// assert_eq!(envs.frames(), [1, 1]);
/// let steps = envs.step(&[0, 1])?;
/// assert!(steps[0].terminated && steps[1].reward == 0.99);
/// // The two old episodes ended in the empty frame; the two new ones have begun.
/// assert_eq!((envs.successors(), envs.frames()), (&[0, 0][..], &[1, 1][..]));
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub struct VecEnv {
    envs: Vec<Box<dyn Env>>,
    space: Space,
    /// What they are called in errors.
    name: String,
    /// Whether they are stepped on all cores.
    slow: bool,
    frames: Vec<u8>,
    successors: Vec<u8>,
    steps: Vec<Step>,
}

/// What is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    envs: Vec<Vec<u8>>,
    frames: Vec<u8>,
}

impl VecEnv {
    /// At least one environment, all with the same space.
    pub fn new(envs: Vec<Box<dyn Env>>) -> Result<Self> {
        let space = envs.first().ok_or(Error::Empty)?.space().clone();
        if let Some(index) = envs.iter().position(|env| *env.space() != space) {
            return Err(Error::Mixed { index });
        }
        if space.frame_len() * space.actions == 0 {
            return Err(Error::EmptySpace { numbers: space.frame_len(), actions: space.actions });
        }
        let bytes = envs.len() * space.frame_bytes();
        let steps = vec![Step::default(); envs.len()];
        let (frames, successors, name) = (vec![0; bytes], vec![0; bytes], "the environment".to_owned());
        let slow = envs.len() > 1 && envs.iter().any(|env| env.is_slow());
        Ok(Self { envs, space, name, slow, frames, successors, steps })
    }

    /// The same, called so in errors.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// `count` environments of this name.
    pub fn named(name: &str, count: usize) -> Result<Self> {
        Ok(Self::new((0..count).map(|_| make(name)).collect::<Result<_>>()?)?.called(name))
    }
}

/// Does something with each, on all cores if that is slow. The error is the first in their order.
fn each<T: Send>(
    mut all: impl Iterator<Item = T>,
    slow: bool,
    work: impl Fn(T) -> Result<()> + Send + Sync,
) -> Result<()> {
    if !slow {
        return all.try_for_each(work);
    }
    let done: Vec<_> = if rayon::current_num_threads() == 1 {
        // To hand it to the one thread of the pool would only cost time.
        all.map(work).collect()
    } else {
        all.collect::<Vec<_>>().into_par_iter().with_max_len(1).map(work).collect()
    };
    done.into_iter().collect()
}

impl Envs for VecEnv {
    fn space(&self) -> &Space {
        &self.space
    }

    fn len(&self) -> usize {
        self.envs.len()
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        let (name, space) = (&self.name, &self.space);
        let frames = self.frames.chunks_exact_mut(space.frame_bytes());
        let seeded = self.envs.iter_mut().zip(frames).enumerate();
        each(seeded, self.slow, |(i, (env, frame))| {
            env.reset(Some(seed_of(seed, i)), frame)?;
            check_given(name, i, space, frame, 0.0)
        })
    }

    /// Does all there is to do.
    fn begin(&mut self, actions: &[usize]) -> Result<()> {
        self.check(actions)?;
        let (name, space, bytes) = (&self.name, &self.space, self.space.frame_bytes());
        let frames = self.frames.chunks_exact_mut(bytes).zip(self.successors.chunks_exact_mut(bytes));
        let envs = self.envs.iter_mut().zip(&mut self.steps).zip(actions).zip(frames).enumerate();
        each(envs, self.slow, |(i, (((env, step), &action), (frame, successor)))| {
            *step = env.step(action, frame)?;
            check_given(name, i, space, frame, step.reward)?;
            if step.ended() {
                successor.copy_from_slice(frame);
                env.reset(None, frame)?;
                check_given(name, i, space, frame, 0.0)?;
            }
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<&[Step]> {
        Ok(&self.steps)
    }

    fn frames(&self) -> &[u8] {
        &self.frames
    }

    fn successors(&self) -> &[u8] {
        &self.successors
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn info(&self, index: usize) -> Info {
        self.envs.get(index).map_or_else(Vec::new, |env| env.info())
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let envs = self.envs.iter().map(|env| env.save().transpose()).collect::<Option<Result<_>>>();
        let saved = |envs| save(NAME, &Saved { envs, frames: self.frames.clone() });
        envs.transpose()?.map(saved).transpose()
    }

    /// Takes up what [`VecEnv::save`] gave. If one environment refuses its state, reset or restore before going on.
    ///
    /// ```
    /// use adfq_env::{Envs, VecEnv};
    ///
    /// let mut envs = VecEnv::named("cartpole", 3)?;
    /// envs.reset(1)?;
    /// let saved = envs.save()?.expect("environments of this process can be saved");
    /// let first = envs.step(&[0, 1, 0])?.to_vec();
    /// let frames = envs.frames().to_vec();
    ///
    /// let mut others = VecEnv::named("cartpole", 3)?;
    /// others.restore(&saved)?;
    /// assert_eq!(others.step(&[0, 1, 0])?, first);
    /// assert_eq!(others.frames(), frames);
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let Saved { envs, frames } = restore(NAME, state)?;
        if (envs.len(), frames.len()) != (self.len(), self.frames.len()) {
            let (count, bytes, own) = (envs.len(), frames.len(), self.len());
            let reason =
                format!("{count} environments with frames of {bytes} bytes in all, not {own} of these");
            return Err(refuse(NAME, reason));
        }
        for (env, state) in self.envs.iter_mut().zip(&envs) {
            env.restore(state)?;
        }
        self.frames = frames;
        Ok(())
    }
}
