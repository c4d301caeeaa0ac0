//! One environment in a worker process, for evaluation and for looking at it.

use super::Kind;
use super::envs::OutsideEnvs;
use crate::{Env, EnvSpec, Envs, Error, Gym, Picture, Result, Space, Step};
use std::sync::{Mutex, PoisonError};

/// One environment.
pub(crate) struct OutsideEnv {
    /// Rendering asks the worker, which answers one question at a time.
    inner: Mutex<OutsideEnvs>,
    space: Space,
    names: Option<Vec<String>>,
    state: State,
}

/// Where the episode stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// There was no reset yet.
    New,
    Running,
    /// The episode ended, and the worker has begun the next one, or goes on with the game after a lost life.
    Ended,
}

impl OutsideEnv {
    /// Starts a worker for it.
    pub fn new(spec: &EnvSpec, gym: &Gym, kind: Kind, id: &str) -> Result<Self> {
        let inner = OutsideEnvs::new(spec, gym, kind, id, 1)?;
        let (space, names) = (inner.space().clone(), inner.names().map(<[_]>::to_vec));
        Ok(Self { inner: Mutex::new(inner), space, names, state: State::New })
    }

    fn check(&self, frame: &[u8]) -> Result<()> {
        match (frame.len(), self.space.frame_bytes()) {
            (bytes, expected) if bytes != expected => Err(Error::Frame { bytes, expected }),
            _ => Ok(()),
        }
    }
}

impl Env for OutsideEnv {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.check(frame)?;
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if seed.is_some() || self.state != State::Ended {
            inner.reset_each(&[seed])?;
        }
        frame.copy_from_slice(inner.frames());
        self.state = State::Running;
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.check(frame)?;
        if self.state != State::Running {
            return Err(Error::NoEpisode);
        }
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        let step = inner.step(&[action])?[0];
        if step.ended() {
            self.state = State::Ended;
        }
        frame.copy_from_slice(if step.ended() { inner.successors() } else { inner.frames() });
        Ok(step)
    }

    fn render(&self) -> Result<Picture> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).render()
    }

    fn action_names(&self) -> Vec<String> {
        let numbers = || (0..self.space.actions).map(|action| action.to_string()).collect();
        self.names.clone().unwrap_or_else(numbers)
    }
}
