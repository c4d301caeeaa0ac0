//! Rust's environments for Python: one, and several that are stepped together.

use crate::errors::PyResultOf;
use adfq_deep::Bytes;
use adfq_env::{Element, Env, EnvSpec, Envs, Registry, Space, seed_of};
use adfq_files::memory;
use numpy::ndarray::ArrayViewD;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that an environment takes besides its frames, at the least.
const LEAST: usize = 256;

/// Frames as an array of the space's numbers, `lead` axes first. It is copied once.
fn to_array<'py>(
    py: Python<'py>,
    space: &Space,
    lead: &[usize],
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<usize> = lead.iter().chain(&space.frame).copied().collect();
    match space.element {
        Element::U8 { .. } => {
            let frames = ArrayViewD::from_shape(shape, bytes);
            let frames = frames.map_err(|error| PyValueError::new_err(error.to_string()))?;
            Ok(frames.to_pyarray(py).into_any())
        }
        Element::F32 => {
            PyArray1::from_slice(py, bytes).call_method1("view", ("f4",))?.call_method1("reshape", (shape,))
        }
    }
}

/// What frames are, for a Gymnasium space: the shape, whether they are bytes, what scales them, and the number of actions.
type Described = (Vec<usize>, bool, f32, usize);

fn describe(space: &Space) -> Described {
    let (is_bytes, scale) = match space.element {
        Element::U8 { scale } => (true, scale),
        Element::F32 => (false, 1.0),
    };
    (space.frame.clone(), is_bytes, scale, space.actions)
}

/// One environment of Rust.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct NativeEnv {
    inner: Mutex<One>,
    space: Space,
}

struct One {
    env: Box<dyn Env>,
    frame: Vec<u8>,
}

#[pymethods]
impl NativeEnv {
    #[new]
    fn new(name: &str) -> PyResultOf<Self> {
        let env = adfq_env::make(name)?;
        let space = env.space().clone();
        let frame = vec![0; space.frame_bytes()];
        Ok(Self { inner: Mutex::new(One { env, frame }), space })
    }

    fn space(&self) -> Described {
        describe(&self.space)
    }

    fn action_names(&self) -> Vec<String> {
        self.one().env.action_names()
    }

    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResultOf<Bound<'py, PyAny>> {
        let mut one = self.one();
        let One { env, frame } = &mut *one;
        env.reset(seed, frame)?;
        Ok(to_array(py, &self.space, &[], frame)?)
    }

    /// The observation, the reward, and whether the episode ended or was cut off.
    fn step<'py>(&self, py: Python<'py>, action: usize) -> PyResultOf<(Bound<'py, PyAny>, f64, bool, bool)> {
        let mut one = self.one();
        let One { env, frame } = &mut *one;
        let step = env.step(action, frame)?;
        Ok((to_array(py, &self.space, &[], frame)?, step.reward, step.terminated, step.truncated))
    }

    /// A picture: height, width, and red, green and blue.
    fn render<'py>(&self, py: Python<'py>) -> PyResultOf<Bound<'py, PyAny>> {
        let picture = self.one().env.render()?;
        let flat = PyArray1::from_vec(py, picture.rgb);
        Ok(flat.call_method1("reshape", ((picture.height, picture.width, 3),))?)
    }
}

impl NativeEnv {
    fn one(&self) -> MutexGuard<'_, One> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error if so many environments cannot fit: two frames of each, and at least so much for itself.
fn check_memory(space: &Space, count: usize) -> PyResult<()> {
    let needed = (2 * space.frame_bytes() + LEAST).saturating_mul(count) as u64;
    match memory::available() {
        Some(left) if left < needed => {
            let (needed, left) = (Bytes(needed), Bytes(left));
            let text = format!(
                "{count} environments need {needed}, and this machine has {left} left: ask for fewer"
            );
            Err(PyMemoryError::new_err(text))
        }
        _ => Ok(()),
    }
}

/// Several environments of Rust, stepped together. An episode that ends starts anew in the same step.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct NativeEnvs {
    inner: Mutex<Box<dyn Envs>>,
    space: Space,
}

/// Observations, rewards, what ended, what was cut off, and what Gymnasium calls info.
type Stepped<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyDict>,
);

#[pymethods]
impl NativeEnvs {
    #[new]
    fn new(name: &str, count: usize) -> PyResultOf<Self> {
        check_memory(adfq_env::make(name)?.space(), count)?;
        let envs = Registry::default().envs(&EnvSpec::new(name), count)?;
        Ok(Self { space: envs.space().clone(), inner: Mutex::new(envs) })
    }

    fn space(&self) -> Described {
        describe(&self.space)
    }

    /// Starts an episode in each.
    fn reset<'py>(&self, py: Python<'py>, seed: u64) -> PyResultOf<Bound<'py, PyAny>> {
        let mut envs = self.envs();
        envs.reset(seed)?;
        Ok(to_array(py, &self.space, &[envs.len()], envs.frames())?)
    }

    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray1<'py, i64>) -> PyResultOf<Stepped<'py>> {
        let none = |action: &i64| PyValueError::new_err(format!("there is no action {action}"));
        let actions = actions.as_array();
        let index = |action: &i64| usize::try_from(*action).map_err(|_| none(action));
        let actions = actions.iter().map(index).collect::<PyResult<Vec<_>>>()?;
        let mut envs = self.envs();
        // The lock of the interpreter stays: a step is short, and who waits for this one's environments must not hold it meanwhile.
        envs.step(&actions)?;
        let steps = envs.steps();
        let lead = [envs.len()];
        let rewards = PyArray1::from_iter(py, steps.iter().map(|step| step.reward));
        let terminated = PyArray1::from_iter(py, steps.iter().map(|step| step.terminated));
        let truncated = PyArray1::from_iter(py, steps.iter().map(|step| step.truncated));
        let info = PyDict::new(py);
        if steps.iter().any(|step| step.ended()) {
            let ended = PyArray1::from_iter(py, steps.iter().map(|step| step.ended()));
            info.set_item(intern!(py, "final_obs"), to_array(py, &self.space, &lead, envs.successors())?)?;
            info.set_item(intern!(py, "_final_obs"), ended)?;
        }
        let frames = to_array(py, &self.space, &lead, envs.frames())?;
        Ok((frames, rewards, terminated, truncated, info))
    }

    /// The seed of each environment under the seed of all: an environment alone with it does the same.
    fn seeds(&self, seed: u64) -> Vec<u64> {
        (0..self.envs().len()).map(|i| seed_of(seed, i)).collect()
    }
}

impl NativeEnvs {
    fn envs(&self) -> MutexGuard<'_, Box<dyn Envs>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
