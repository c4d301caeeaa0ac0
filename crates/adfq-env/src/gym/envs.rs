//! Environments in worker processes: several stepped together for training, one for evaluation and for looking at it.

use super::Kind;
use super::memory::Memory;
use super::worker::Worker;
use crate::vec_env::seed_of;
use crate::{Element, Env, EnvSpec, Envs, Error, Gym, Picture, Result, Space, Step};
use std::sync::{Mutex, PoisonError};

/// M environments spread over one or more workers that share one memory.
pub(crate) struct OutsideEnvs {
    /// Each with its number of environments.
    workers: Vec<(Worker, usize)>,
    memory: Memory,
    space: Space,
    names: Option<Vec<String>>,
    steps: Vec<Step>,
    name: String,
}

impl OutsideEnvs {
    /// Starts the workers and waits until their environments are made.
    pub fn new(spec: &EnvSpec, gym: &Gym, kind: Kind, id: &str, count: usize) -> Result<Self> {
        if count == 0 {
            return Err(Error::Empty);
        }
        let workers = gym.workers.get().min(count);
        // The first ones get one more where the environments do not divide evenly.
        let start = |i: usize| i * (count / workers) + i.min(count % workers);
        let mut workers = (0..workers)
            .map(|i| (i, start(i)..start(i + 1)))
            .map(|(i, part)| Ok((Worker::start(spec, gym, (kind, id), i, part.clone())?, part.len())))
            .collect::<Result<Vec<_>>>()?;
        let made = workers.iter_mut().map(|(worker, _)| worker.made()).collect::<Result<Vec<_>>>()?;
        let (space, names) = made[0].clone();
        if let Some(index) = made.iter().position(|(other, _)| *other != space) {
            return Err(Error::Mixed { index: start(index) });
        }
        let memory = Memory::new(workers.len(), count, &space)?;
        for (worker, count) in &mut workers {
            worker.share(&memory, *count)?;
        }
        let steps = vec![Step::default(); count];
        Ok(Self { workers, memory, space, names, steps, name: spec.name.clone() })
    }

    /// Starts an episode in each, with a seed or going on with the generator it has.
    pub fn reset_each(&mut self, seeds: &[Option<u64>]) -> Result<()> {
        let mut rest = seeds;
        for (worker, count) in &mut self.workers {
            let (own, others) = rest.split_at(*count);
            worker.reset(own)?;
            rest = others;
        }
        self.workers.iter_mut().try_for_each(|(worker, _)| worker.was_reset())?;
        self.check_frames()
    }

    /// A picture of the first.
    pub fn render(&mut self) -> Result<Picture> {
        self.workers[0].0.render()
    }

    /// What the actions are called, if the environment says so.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// A number that is none would be found much later, in the network, and be hard to trace.
    fn check_frames(&self) -> Result<()> {
        if self.space.element != Element::F32 {
            return Ok(());
        }
        let numbers = self.memory.frames().as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes));
        match numbers.zip(0..).find(|(number, _)| !number.is_finite()) {
            Some((_, place)) => {
                Err(Error::NotFinite { env: self.name.clone(), index: place / self.space.frame_len() })
            }
            None => Ok(()),
        }
    }
}

impl Envs for OutsideEnvs {
    fn space(&self) -> &Space {
        &self.space
    }

    fn len(&self) -> usize {
        self.steps.len()
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        let seeds: Vec<_> = (0..self.len()).map(|i| Some(seed_of(seed, i))).collect();
        self.reset_each(&seeds)
    }

    fn begin(&mut self, actions: &[usize]) -> Result<()> {
        self.check(actions)?;
        self.memory.ask(actions);
        self.workers.iter_mut().try_for_each(|(worker, _)| worker.step(&self.memory))
    }

    fn finish(&mut self) -> Result<&[Step]> {
        self.workers.iter_mut().try_for_each(|(worker, _)| worker.stepped(&self.memory))?;
        self.memory.steps(&mut self.steps);
        self.check_frames()?;
        Ok(&self.steps)
    }

    fn frames(&self) -> &[u8] {
        self.memory.frames()
    }

    fn successors(&self) -> &[u8] {
        self.memory.successors()
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What is in another process is not ours to save.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn restore(&mut self, _: &[u8]) -> Result<()> {
        Err(Error::NoRestore)
    }
}

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
}

impl Env for OutsideEnv {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if seed.is_some() || self.state != State::Ended {
            inner.reset_each(&[seed])?;
        }
        frame.copy_from_slice(inner.frames());
        self.state = State::Running;
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.space.check_frame(frame)?;
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
