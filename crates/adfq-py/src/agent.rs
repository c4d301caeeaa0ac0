//! What was learned: observations in, beliefs out; greedy episodes; files for other programs.

use crate::config::Config;
use crate::errors::PyResultOf;
use crate::host::Host;
use adfq_deep::{Agent as Learned, Decision, export};
use adfq_env::{Element, Space};
use adfq_files::write_atomic;
use numpy::ndarray::{Array2, ArrayView1};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a signal is looked for in greedy episodes, in steps.
const LOOK_EVERY: u64 = 1000;

/// The agent of a checkpoint, or of a run before its first step.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct Agent {
    /// It is locked without the interpreter's lock: who holds it may wait for that one.
    learned: Mutex<Learned>,
    space: Space,
    step: u64,
    warnings: Vec<String>,
}

/// What is believed of one observation.
struct Judged {
    decision: Decision,
    /// None without beliefs.
    p_best: Option<Vec<f64>>,
}

/// Means, standard deviations, probabilities of being the best, and the greedy actions, a row for each observation.
type Beliefs<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
);

#[pymethods]
impl Agent {
    /// That of a checkpoint of the run in a folder: `last`, `best` or a step.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf, checkpoint: &str, host: &Host) -> PyResultOf<Self> {
        let which = checkpoint.parse().map_err(PyValueError::new_err)?;
        let host = host.get();
        Ok(Self::of(py.detach(|| Learned::load_checkpoint(folder, which, &host))?))
    }

    /// That of a run before its first step.
    #[staticmethod]
    fn untrained(py: Python<'_>, config: &Config, host: &Host) -> PyResultOf<Self> {
        let host = host.get();
        Ok(Self::of(py.detach(|| Learned::untrained(&config.0, &host))?))
    }

    #[getter]
    fn step(&self) -> u64 {
        self.step
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The shape of an observation.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.space.observation_shape()
    }

    /// Whether observations are bytes.
    #[getter]
    fn is_bytes(&self) -> bool {
        matches!(self.space.element, Element::U8 { .. })
    }

    /// How many actions there are.
    #[getter]
    fn actions(&self) -> usize {
        self.space.actions
    }

    /// What is believed of observations, one in each row, with the numbers that the environment gives.
    fn beliefs<'py>(
        &self,
        py: Python<'py>,
        observations: PyReadonlyArray2<'py, f32>,
    ) -> PyResultOf<Beliefs<'py>> {
        let observations = observations.as_array().to_owned();
        let judged = py.detach(|| self.judge(&observations))?;
        let shape = (judged.len(), self.space.actions);
        let mean = Array2::from_shape_fn(shape, |(row, action)| judged[row].decision.means[action]);
        let sd = Array2::from_shape_fn(shape, |(row, action)| {
            judged[row].decision.beliefs.as_ref().map_or(f64::NAN, |beliefs| beliefs[action].sd())
        });
        let p_best = Array2::from_shape_fn(shape, |(row, action)| {
            judged[row].p_best.as_ref().map_or(f64::NAN, |p_best| p_best[action])
        });
        let actions: Vec<i64> = judged.iter().map(|judged| judged.decision.action as i64).collect();
        Ok((mean.to_pyarray(py), sd.to_pyarray(py), p_best.to_pyarray(py), actions.to_pyarray(py)))
    }

    /// Greedy episodes: the return and the length of each. Those of `adfq eval` with the same seed.
    fn play(
        &self,
        py: Python<'_>,
        host: &Host,
        config: &Config,
        episodes: usize,
        seed: u64,
    ) -> PyResultOf<Vec<(f64, u64)>> {
        let host = host.get();
        let played = py.detach(|| {
            let env = host.env(&config.0, false)?;
            let mut steps = 0;
            self.learned().play(env, &format!("eval/{seed}"), episodes, |_| {
                steps += 1;
                let signal = || Python::attach(|py| py.check_signals());
                let looked = if steps % LOOK_EVERY == 0 { signal() } else { Ok(()) };
                looked.map_err(|error| adfq_env::Error::other(error).into())
            })
        })?;
        Ok(played.iter().map(|episode| (episode.total, episode.length)).collect())
    }

    /// Writes the network as ONNX or safetensors, as the name of the file ends.
    fn export(&self, py: Python<'_>, file: PathBuf) -> PyResultOf<()> {
        let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        let encode = match ending.as_deref() {
            Some("onnx") => export::onnx,
            Some("safetensors") => export::safetensors,
            _ => {
                let text = format!("{}: the name must end in .onnx or .safetensors", file.display());
                return Err(PyValueError::new_err(text).into());
            }
        };
        py.detach(|| -> PyResultOf<()> { Ok(write_atomic(&file, &encode(&self.learned())?)?) })
    }

    /// The tensors of the network in the format of safetensors.
    fn safetensors<'py>(&self, py: Python<'py>) -> PyResultOf<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| export::safetensors(&self.learned()))?))
    }
}

impl Agent {
    fn of(learned: Learned) -> Self {
        let (space, warnings) = (learned.space().clone(), learned.warnings().to_vec());
        Self { space, step: learned.step(), warnings, learned: Mutex::new(learned) }
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is believed of each row.
    fn judge(&self, observations: &Array2<f32>) -> adfq_deep::Result<Vec<Judged>> {
        let mut learned = self.learned();
        let judge = |row: ArrayView1<'_, f32>| {
            self.check(row)?;
            let numbers: Vec<f32> = row.iter().map(|&number| self.seen(number)).collect();
            let decision = learned.act(&numbers)?;
            Ok(Judged { p_best: decision.p_best()?, decision })
        };
        observations.rows().into_iter().map(judge).collect()
    }

    /// Bytes have to be bytes. Other numbers are checked where they are judged.
    fn check(&self, row: ArrayView1<'_, f32>) -> adfq_deep::Result<()> {
        let is_byte = |value: f32| (0.0..=255.0).contains(&value) && value.fract() == 0.0;
        match (self.space.element, row.iter().position(|&value| !is_byte(value))) {
            (Element::U8 { .. }, Some(at)) => {
                Err(adfq_deep::Error::ObservationByte { at, value: row[at].into() })
            }
            _ => Ok(()),
        }
    }

    /// A number of an observation as the network sees it.
    fn seen(&self, number: f32) -> f32 {
        match self.space.element {
            Element::U8 { scale } => number * scale,
            Element::F32 => number,
        }
    }
}
