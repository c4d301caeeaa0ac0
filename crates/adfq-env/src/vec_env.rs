//! Environments of this process, stepped one after the other.

use crate::envs::seed_of;
use crate::{Env, Envs, Error, Result, Space, Step, make, saved};
use serde::{Deserialize, Serialize};

const NAME: &str = "VecEnv";

/// M environments with the same space, stepped in order, in flat buffers of M frames one after the other.
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
        Ok(Self { envs, space, frames: vec![0; bytes], successors: vec![0; bytes], steps })
    }

    /// `count` environments of this name.
    pub fn named(name: &str, count: usize) -> Result<Self> {
        Self::new((0..count).map(|_| make(name)).collect::<Result<_>>()?)
    }
}

impl Envs for VecEnv {
    fn space(&self) -> &Space {
        &self.space
    }

    fn len(&self) -> usize {
        self.envs.len()
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        let frames = self.frames.chunks_exact_mut(self.space.frame_bytes());
        for (i, (env, frame)) in self.envs.iter_mut().zip(frames).enumerate() {
            env.reset(Some(seed_of(seed, i)), frame)?;
        }
        Ok(())
    }

    /// Does all there is to do.
    fn begin(&mut self, actions: &[usize]) -> Result<()> {
        self.check(actions)?;
        let bytes = self.space.frame_bytes();
        let frames = self.frames.chunks_exact_mut(bytes).zip(self.successors.chunks_exact_mut(bytes));
        let envs = self.envs.iter_mut().zip(&mut self.steps).zip(actions);
        for (((env, step), &action), (frame, successor)) in envs.zip(frames) {
            *step = env.step(action, successor)?;
            match step.ended() {
                true => env.reset(None, frame)?,
                false => frame.copy_from_slice(successor),
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<&[Step]> {
        Ok(&self.steps)
    }

    fn frames(&self) -> &[u8] {
        &self.frames
    }

    /// Where nothing ended, as in [`Envs::frames`].
    fn successors(&self) -> &[u8] {
        &self.successors
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let envs = self.envs.iter().map(|env| env.save().transpose()).collect::<Option<Result<_>>>();
        let save = |envs| saved::save(NAME, &Saved { envs, frames: self.frames.clone() });
        envs.transpose()?.map(save).transpose()
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
        let Saved { envs, frames } = saved::restore(NAME, state)?;
        if (envs.len(), frames.len()) != (self.len(), self.frames.len()) {
            let (count, bytes, own) = (envs.len(), frames.len(), self.len());
            let reason =
                format!("{count} environments with frames of {bytes} bytes in all, not {own} of these");
            return Err(saved::refuse(NAME, reason));
        }
        for (env, state) in self.envs.iter_mut().zip(&envs) {
            env.restore(state)?;
        }
        self.frames = frames;
        Ok(())
    }
}
