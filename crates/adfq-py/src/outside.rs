//! Environments of Python in this process. What makes and steps them is the code that worker processes run
//! (`adfq_env::PYTHON`); here they read actions from arrays of this process and write frames to them.

use crate::shared::Shared;
use adfq_env::{
    Element, Env, EnvSpec, Envs, Error, Maker, Picture, Purpose, Result, Space, Step, check_given,
    python_refused, seed_of,
};
use numpy::{PyArray1, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

const TERMINATED: u8 = 1;
const TRUNCATED: u8 = 2;
const LIFE_LOST: u8 = 4;

/// Makes environments by calling Python.
pub struct Outside {
    make: Py<PyAny>,
    wraps: bool,
}

impl Outside {
    /// `make` is called with an order, as workers get it, and gives what `Gym` in `environments.py` is.
    pub fn new(make: Py<PyAny>, wraps: bool) -> Self {
        Self { make, wraps }
    }
}

impl Maker for Outside {
    fn env(&self, spec: &EnvSpec) -> Result<Box<dyn Env>> {
        let envs = PythonEnvs::new(&self.make, spec, 1)?;
        Ok(Box::new(PythonEnv { envs, state: State::New }))
    }

    fn envs(&self, spec: &EnvSpec, count: usize) -> Result<Box<dyn Envs>> {
        if count == 0 {
            return Err(Error::Empty);
        }
        Ok(Box::new(PythonEnvs::new(&self.make, spec, count)?))
    }

    fn wraps(&self) -> bool {
        self.wraps
    }
}

/// M environments of Python, stepped by one call.
struct PythonEnvs {
    name: String,
    held: Py<PyAny>,
    step: Py<PyAny>,
    reset: Py<PyAny>,
    space: Space,
    names: Option<Vec<String>>,
    actions: Shared<i64>,
    rewards: Shared<f64>,
    flags: Shared<u8>,
    frames: Shared<u8>,
    successors: Shared<u8>,
    steps: Vec<Step>,
}

impl PythonEnvs {
    fn new(make: &Py<PyAny>, spec: &EnvSpec, count: usize) -> Result<Self> {
        Python::attach(|py| {
            let made = Self::made(py, make, spec, count);
            made.map_err(|error| failed(py, error, &spec.name))
        })
    }

    fn made(py: Python<'_>, make: &Py<PyAny>, spec: &EnvSpec, count: usize) -> PyResult<Self> {
        let held = make.bind(py).call1((order(py, spec, count)?,))?;
        let frame: Vec<usize> = held.getattr("frame")?.extract()?;
        let is_f32 = held.getattr("element")?.extract::<String>()? == "f32";
        let scale = held.getattr("scale")?.extract()?;
        let space = Space {
            element: if is_f32 { Element::F32 } else { Element::U8 { scale } },
            stack: held.getattr("stack")?.extract()?,
            actions: held.getattr("actions")?.extract()?,
            frame,
        };
        let bytes = count * space.frame_bytes();
        let (frames, successors) = (Shared::zeros(py, bytes), Shared::zeros(py, bytes));
        let (actions, rewards, flags) =
            (Shared::zeros(py, count), Shared::zeros(py, count), Shared::zeros(py, count));
        let mut shape = vec![count];
        shape.extend(&space.frame);
        let rows = |bytes: &Bound<'_, PyArray1<u8>>| -> PyResult<Py<PyAny>> {
            let numbers = bytes.call_method1("view", (if is_f32 { "f4" } else { "u1" },))?;
            Ok(numbers.call_method1("reshape", (shape.clone(),))?.unbind())
        };
        let memory = PyDict::new(py);
        memory.set_item("actions", actions.array(py))?;
        memory.set_item("rewards", rewards.array(py))?;
        memory.set_item("flags", flags.array(py))?;
        memory.set_item("frames", rows(frames.array(py))?)?;
        memory.set_item("successors", rows(successors.array(py))?)?;
        let memory = py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&memory))?;
        held.call_method1("use", (memory,))?;
        Ok(Self {
            name: spec.name.clone(),
            step: held.getattr("step")?.unbind(),
            reset: held.getattr("reset")?.unbind(),
            names: held.getattr("names")?.extract()?,
            steps: vec![Step::default(); count],
            held: held.unbind(),
            space,
            actions,
            rewards,
            flags,
            frames,
            successors,
        })
    }

    /// Starts an episode in each, with a seed or going on with the generator it has.
    fn reset_each(&mut self, seeds: Vec<Option<u64>>) -> Result<()> {
        let Self { reset, name, .. } = self;
        Python::attach(|py| reset.call1(py, (seeds,)).map(drop).map_err(|error| failed(py, error, name)))?;
        self.steps.fill(Step::default());
        self.check_all()
    }

    fn check_all(&self) -> Result<()> {
        let bytes = self.space.frame_bytes();
        for (i, step) in self.steps.iter().enumerate() {
            let at =
                |frames: &Shared<u8>| check_frame(&self.name, i, &self.space, frames, bytes, step.reward);
            at(&self.frames)?;
            if step.ended() {
                at(&self.successors)?;
            }
        }
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        Python::attach(|py| {
            let drawn =
                self.held.call_method0(py, "render").map_err(|error| failed(py, error, &self.name))?;
            let drawn: Option<PyReadonlyArray3<'_, u8>> = drawn.extract(py).ok();
            let drawn = drawn.as_ref().map(|drawn| drawn.as_array()).filter(|drawn| drawn.dim().2 == 3);
            let drawn = drawn.ok_or(Error::NoPicture)?;
            let (height, width, _) = drawn.dim();
            Ok(Picture { width, height, rgb: drawn.iter().copied().collect() })
        })
    }
}

fn check_frame(
    name: &str,
    i: usize,
    space: &Space,
    frames: &Shared<u8>,
    bytes: usize,
    reward: f64,
) -> Result<()> {
    check_given(name, i, space, &frames.get()[i * bytes..][..bytes], reward)
}

impl Drop for PythonEnvs {
    /// Those that were made here are closed here; what a user gave is the user's (`close` of those does nothing).
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| {
            if let Err(error) = self.held.call_method0(py, "close") {
                error.write_unraisable(py, Some(self.held.bind(py)));
            }
        });
    }
}

impl Envs for PythonEnvs {
    fn space(&self) -> &Space {
        &self.space
    }

    fn len(&self) -> usize {
        self.steps.len()
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        self.reset_each((0..self.len()).map(|i| Some(seed_of(seed, i))).collect())
    }

    /// Does all there is to do.
    fn begin(&mut self, actions: &[usize]) -> Result<()> {
        self.check(actions)?;
        let asked = self.actions.get_mut().iter_mut().zip(actions);
        asked.for_each(|(asked, &action)| *asked = action as i64);
        let Self { step, name, .. } = self;
        Python::attach(|py| step.call0(py).map(drop).map_err(|error| failed(py, error, name)))?;
        let given = self.rewards.get().iter().zip(self.flags.get());
        for (step, (&reward, flags)) in self.steps.iter_mut().zip(given) {
            let is = |flag| flags & flag != 0;
            let [terminated, truncated, life_lost] = [TERMINATED, TRUNCATED, LIFE_LOST].map(is);
            *step = Step { reward, terminated, truncated, life_lost };
        }
        self.check_all()
    }

    fn finish(&mut self) -> Result<&[Step]> {
        Ok(&self.steps)
    }

    fn frames(&self) -> &[u8] {
        self.frames.get()
    }

    fn successors(&self) -> &[u8] {
        self.successors.get()
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What is inside an environment of Python is not ours to save.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn restore(&mut self, _: &[u8]) -> Result<()> {
        Err(Error::NoRestore)
    }
}

/// One environment of Python.
struct PythonEnv {
    envs: PythonEnvs,
    state: State,
}

/// Where the episode stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// There was no reset yet.
    New,
    Running,
    /// The episode ended, and the next one has begun.
    Ended,
}

impl Env for PythonEnv {
    fn space(&self) -> &Space {
        &self.envs.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.envs.space.check_frame(frame)?;
        if seed.is_some() || self.state != State::Ended {
            self.envs.reset_each(vec![seed])?;
        }
        frame.copy_from_slice(self.envs.frames());
        self.state = State::Running;
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.envs.space.check_frame(frame)?;
        if self.state != State::Running {
            return Err(Error::NoEpisode);
        }
        let step = self.envs.step(&[action])?[0];
        if step.ended() {
            self.state = State::Ended;
        }
        frame.copy_from_slice(if step.ended() { self.envs.successors() } else { self.envs.frames() });
        Ok(step)
    }

    fn render(&self) -> Result<Picture> {
        self.envs.render()
    }

    fn action_names(&self) -> Vec<String> {
        let numbers = || (0..self.envs.space.actions).map(|action| action.to_string()).collect();
        self.envs.names.clone().unwrap_or_else(numbers)
    }
}

/// What to make, as workers are told.
fn order<'py>(py: Python<'py>, spec: &EnvSpec, count: usize) -> PyResult<Bound<'py, PyDict>> {
    let order = PyDict::new(py);
    let args = serde_json::Value::Object(spec.args.clone()).to_string();
    order.set_item("id", spec.name.strip_prefix("gym:").unwrap_or(&spec.name))?;
    order.set_item("count", count)?;
    order.set_item("args", py.import("json")?.call_method1("loads", (args,))?)?;
    order.set_item("wrappers", &spec.wrappers)?;
    order.set_item("path", Vec::<String>::new())?;
    order.set_item("purpose", if spec.purpose == Purpose::Training { "training" } else { "evaluation" })?;
    order.set_item("pictures", spec.pictures)?;
    Ok(order)
}

/// What an exception means: the words of ours that it stands for, or itself.
fn failed(py: Python<'_>, error: PyErr, name: &str) -> Error {
    let refused = || -> PyResult<Error> {
        let details = error.value(py).getattr("details")?;
        let details: String = py.import("json")?.call_method1("dumps", (details,))?.extract()?;
        let python: PathBuf = py.import("sys")?.getattr("executable")?.extract()?;
        python_refused(&details, name, &python).map_err(crate::errors::of_env)
    };
    refused().unwrap_or_else(|_| Error::other(error.clone_ref(py)))
}
