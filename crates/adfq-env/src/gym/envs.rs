//! Environments in worker processes: several stepped together for training, one for evaluation and for looking at it.

use super::Kind;
use super::memory::Memory;
use super::worker::Worker;
use crate::vec_env::seed_of;
use crate::{Env, EnvSpec, Envs, Error, Gym, Picture, Result, Space, Step, check_given};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// M environments spread over one or more workers that share one memory.
pub(crate) struct OutsideEnvs {
    spec: EnvSpec,
    gym: Gym,
    kind: Kind,
    id: String,
    parts: Vec<Part>,
    memory: Memory,
    space: Space,
    names: Option<Vec<String>>,
    steps: Vec<Step>,
}

/// A worker and its environments.
struct Part {
    worker: Worker,
    envs: Range<usize>,
    stage: Stage,
}

/// Where a worker is in the step of all.
enum Stage {
    /// It has yet to take the step.
    Asked,
    /// It has taken the step.
    Done,
    /// It failed, and nobody has been told yet.
    Failed(Error),
    /// It takes no part in the step: it failed, or was started anew since.
    Absent,
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
        let mut parts = (0..workers)
            .map(|i| (i, start(i)..start(i + 1)))
            .map(|(i, envs)| {
                let worker = Worker::start(spec, gym, (kind, id), i, envs.clone())?;
                Ok(Part { worker, envs, stage: Stage::Done })
            })
            .collect::<Result<Vec<_>>>()?;
        let made = parts.iter_mut().map(|part| part.worker.made()).collect::<Result<Vec<_>>>()?;
        let (space, names) = made[0].clone();
        if let Some(index) = made.iter().position(|(other, _)| *other != space) {
            return Err(Error::Mixed { index: start(index) });
        }
        let memory = Memory::new(parts.len(), count, &space)?;
        parts.iter_mut().try_for_each(|part| part.worker.share(&memory, part.envs.len()))?;
        let (spec, gym, id) = (spec.clone(), gym.clone(), id.to_owned());
        let steps = vec![Step::default(); count];
        Ok(Self { spec, gym, kind, id, parts, memory, space, names, steps })
    }

    /// Starts an episode in each, with a seed or going on with the generator it has.
    pub fn reset_each(&mut self, seeds: &[Option<u64>]) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.worker.reset(&seeds[part.envs.clone()]))?;
        (0..self.parts.len()).try_for_each(|number| self.was_reset(number))
    }

    /// Waits until a worker has been reset.
    fn was_reset(&mut self, number: usize) -> Result<()> {
        let part = &mut self.parts[number];
        part.worker.was_reset()?;
        self.steps[part.envs.clone()].fill(Step::default());
        self.check_given(number)
    }

    /// Starts a worker anew that failed. Which one; none if all are sound.
    fn replace_worker(&mut self) -> Result<Option<usize>> {
        let Some(number) = self.parts.iter().position(|part| !part.worker.is_sound()) else {
            return Ok(None);
        };
        let part = &mut self.parts[number];
        part.stage = Stage::Absent;
        let what = (self.kind, &self.id[..]);
        part.worker = Worker::start(&self.spec, &self.gym, what, number, part.envs.clone())?;
        let (space, _) = part.worker.made()?;
        if space != self.space {
            part.worker.end();
            return Err(Error::Mixed { index: part.envs.start });
        }
        part.worker.share(&self.memory, part.envs.len())?;
        Ok(Some(number))
    }

    /// Checks what the environments of a worker gave. It is ended if that was wrong.
    fn check_given(&mut self, number: usize) -> Result<()> {
        let (bytes, name, space) = (self.space.frame_bytes(), &self.spec.name, &self.space);
        let (frames, successors) = (self.memory.frames(), self.memory.successors());
        let check = |env: usize| {
            let (step, at) = (self.steps[env], env * bytes);
            check_given(name, env, space, &frames[at..][..bytes], step.reward)?;
            if step.ended() { check_given(name, env, space, &successors[at..][..bytes], 0.0) } else { Ok(()) }
        };
        let part = &mut self.parts[number];
        let checked = part.envs.clone().try_for_each(check);
        if checked.is_err() {
            part.worker.end();
        }
        checked
    }

    /// A picture of the first.
    pub fn render(&mut self) -> Result<Picture> {
        self.parts[0].worker.render()
    }

    /// What the actions are called, if the environment says so.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
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
        for part in &mut self.parts {
            // A worker that is gone is noticed now or later: the others take their step either way.
            part.stage = part.worker.step(&self.memory).map_or_else(Stage::Failed, |()| Stage::Asked);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<&[Step]> {
        for part in self.parts.iter_mut().filter(|part| matches!(part.stage, Stage::Asked)) {
            part.stage = part.worker.stepped(&self.memory).map_or_else(Stage::Failed, |()| Stage::Done);
        }
        self.memory.steps(&mut self.steps);
        for number in 0..self.parts.len() {
            match self.parts[number].stage {
                Stage::Done => {
                    if let Err(error) = self.check_given(number) {
                        self.parts[number].stage = Stage::Failed(error);
                    }
                }
                _ => self.steps[self.parts[number].envs.clone()].fill(Step::default()),
            }
        }
        let failed = |part: &&mut Part| matches!(part.stage, Stage::Failed(_));
        let failed = self.parts.iter_mut().find(failed);
        match failed.map(|part| std::mem::replace(&mut part.stage, Stage::Absent)) {
            Some(Stage::Failed(error)) => Err(error),
            _ => Ok(&self.steps),
        }
    }

    fn restart(&mut self, seed: u64) -> Result<Option<Range<usize>>> {
        let Some(number) = self.replace_worker()? else { return Ok(None) };
        let envs = self.parts[number].envs.clone();
        let seeds: Vec<_> = envs.clone().map(|i| Some(seed_of(seed, i))).collect();
        self.parts[number].worker.reset(&seeds)?;
        self.was_reset(number)?;
        Ok(Some(envs))
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

    /// A step waits for another process.
    fn is_slow(&self) -> bool {
        true
    }

    fn restart(&mut self) -> Result<bool> {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        let replaced = inner.replace_worker()?.is_some();
        if replaced {
            self.state = State::New;
        }
        Ok(replaced)
    }

    fn action_names(&self) -> Vec<String> {
        let numbers = || (0..self.space.actions).map(|action| action.to_string()).collect();
        self.names.clone().unwrap_or_else(numbers)
    }
}
