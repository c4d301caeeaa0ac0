//! Training on a thread of its own, which the calling thread of Python waits for in short naps: between them it looks after
//! signals, a progress bar and callbacks.

use crate::config::Config;
use crate::errors::{AdfqError, PyResultOf, of_deep};
use crate::host::Host;
use adfq_deep::evaluate::Evaluation;
use adfq_deep::training::{Ending, Job, Outcome, Resources, train};
use adfq_deep::{Device, Observer, Observers, Result, Run, Stop};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Which moments the caller is told of.
#[derive(Clone, Copy)]
struct Wanted {
    /// Whenever so many steps have passed; 0 for never.
    every: u64,
    evaluations: bool,
    checkpoints: bool,
}

/// A moment of a run. The run waits until somebody says whether to go on.
struct Moment {
    job: usize,
    step: u64,
    what: What,
    go_on: SyncSender<bool>,
}

enum What {
    Step,
    Evaluation(Box<Evaluation>),
    Checkpoint,
}

/// What training leaves behind.
type Trained = std::thread::Result<Result<Vec<Outcome>>>;

/// How a job ended, its step, and its exception.
type Ended = (&'static str, u64, Option<PyErr>);

/// Runs under way.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct Training {
    stop: Arc<AtomicBool>,
    steps: Vec<Arc<AtomicU64>>,
    warnings: Arc<Mutex<Vec<String>>>,
    moments: Mutex<Receiver<Moment>>,
    /// The run that waits for an answer.
    waiting: Mutex<Option<SyncSender<bool>>>,
    thread: Mutex<Option<JoinHandle<Trained>>>,
}

#[pymethods]
impl Training {
    /// Begins. Each job is a folder, its configuration or None to go on, and the steps to make it longer to, or None. Replay
    /// memories stay on disk.
    #[new]
    #[pyo3(signature = (host, jobs, *, device, at_once, threads, stop_after, every, evaluations, checkpoints))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        host: &Host,
        jobs: Vec<(PathBuf, Option<Config>, Option<u64>)>,
        device: &str,
        at_once: Option<usize>,
        threads: Option<usize>,
        stop_after: Option<u64>,
        every: u64,
        evaluations: bool,
        checkpoints: bool,
    ) -> PyResult<Self> {
        let resources = Resources { device: parse_device(device)?, jobs: at_once, threads, together: None };
        let jobs: Vec<Job> = jobs
            .into_iter()
            .map(|(folder, config, longer)| {
                let config = config.map(|config| config.0);
                Job { folder, config, longer, keep_replay: true, refill: false }
            })
            .collect();
        let (sender, moments) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let warnings = Arc::new(Mutex::new(vec![]));
        let steps: Vec<_> = jobs.iter().map(|_| Arc::new(AtomicU64::new(0))).collect();
        let watchers = Watchers {
            folders: jobs.iter().map(|job| job.folder.clone()).collect(),
            wanted: Wanted { every, evaluations, checkpoints },
            sender: Mutex::new(sender),
            stop: stop.clone(),
            steps: steps.clone(),
            warnings: warnings.clone(),
        };
        let host = host.get();
        let body = move || run(jobs, &host, &resources, &watchers, stop_after);
        let thread = std::thread::Builder::new().name("adfq".to_owned()).spawn(move || {
            // A thread that Python knows takes its lock quickly, which environments of Python do at every step.
            Python::attach(|py| py.detach(|| catch_unwind(AssertUnwindSafe(body))))
        })?;
        Ok(Self {
            stop,
            steps,
            warnings,
            moments: Mutex::new(moments),
            waiting: Mutex::new(None),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Waits so many seconds at most. None if nothing happened; True if training is over; or a moment, as the number of the
    /// job, its step, what it is, and its details. The run goes on after `answer`.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyAny>> {
        let nap = Duration::from_secs_f64(seconds);
        match py.detach(|| locked(&self.moments).recv_timeout(nap)) {
            Err(RecvTimeoutError::Timeout) => Ok(py.None().into_bound(py)),
            Err(RecvTimeoutError::Disconnected) => Ok(true.into_pyobject(py)?.to_owned().into_any()),
            Ok(Moment { job, step, what, go_on }) => {
                *locked(&self.waiting) = Some(go_on);
                let details = PyDict::new(py);
                let name = match what {
                    What::Step => "step",
                    What::Checkpoint => "checkpoint",
                    What::Evaluation(evaluation) => {
                        let returns: Vec<f64> = evaluation.episodes.iter().map(|it| it.total).collect();
                        let lengths: Vec<u64> = evaluation.episodes.iter().map(|it| it.length).collect();
                        details.set_item("mean", evaluation.mean())?;
                        details.set_item("standard_error", evaluation.standard_error())?;
                        details.set_item("returns", returns)?;
                        details.set_item("lengths", lengths)?;
                        "evaluation"
                    }
                };
                Ok((job, step, name, details).into_pyobject(py)?.into_any())
            }
        }
    }

    /// Lets the run that waits go on, or saves and stops all of them.
    fn answer(&self, go_on: bool) {
        if !go_on {
            self.stop.store(true, Ordering::Relaxed);
        }
        if let Some(waiting) = locked(&self.waiting).take() {
            // A run that is over waits no more.
            let _ = waiting.send(go_on);
        }
    }

    /// The steps of each run so far.
    fn steps(&self) -> Vec<u64> {
        self.steps.iter().map(|steps| steps.load(Ordering::Relaxed)).collect()
    }

    /// Warnings since the last time.
    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.warnings))
    }

    /// Has all runs saved and stopped, and waits for that like `finish`. It is one call because Python may handle a signal
    /// between two, and what follows would read folders that are still written.
    fn stop(&self, py: Python<'_>) -> PyResultOf<Vec<Ended>> {
        self.answer(false);
        self.finish(py)
    }

    /// Waits for the end of training; nobody is asked any more. For each job: how it ended ("finished", "stopped", "failed" or
    /// "open"), its step, and its exception or None.
    fn finish(&self, py: Python<'_>) -> PyResultOf<Vec<Ended>> {
        let Some(thread) = locked(&self.thread).take() else { return Ok(vec![]) };
        let trained = py.detach(|| {
            self.answer(true);
            // Each moment that comes now is answered with the end of its channel, which stops the run.
            while locked(&self.moments).recv().is_ok() {}
            thread.join()
        });
        let outcomes = match trained.and_then(|trained| trained) {
            Ok(outcomes) => outcomes?,
            Err(panic) => return Err(AdfqError::new_err(panic_text(&*panic)).into()),
        };
        Ok(outcomes.into_iter().map(ended).collect())
    }
}

impl Drop for Training {
    /// Nobody waits for it any more: it is saved and stopped.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn ended(outcome: Outcome) -> Ended {
    match outcome.ending {
        None => ("open", 0, None),
        Some(Err(error)) => ("failed", 0, Some(of_deep(error))),
        Some(Ok(Ending::Finished(summary) | Ending::WasFinished(summary))) => {
            ("finished", summary.steps, None)
        }
        Some(Ok(Ending::Stopped { step, .. })) => ("stopped", step, None),
    }
}

fn run(
    jobs: Vec<Job>,
    host: &adfq_deep::Host,
    resources: &Resources,
    watchers: &Watchers,
    after: Option<u64>,
) -> Result<Vec<Outcome>> {
    let watch = |folder: &Path, run: &Run, warnings: &[String]| watchers.observers(folder, run, warnings);
    let stop = Stop { flag: &watchers.stop, after };
    Ok(train(jobs, host, resources, &watch, stop)?.0)
}

/// Makes what watches each run.
struct Watchers {
    folders: Vec<PathBuf>,
    wanted: Wanted,
    sender: Mutex<Sender<Moment>>,
    stop: Arc<AtomicBool>,
    steps: Vec<Arc<AtomicU64>>,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Watchers {
    fn observers(&self, folder: &Path, run: &Run, warnings: &[String]) -> Observers<'static> {
        locked(&self.warnings).extend_from_slice(warnings);
        let Some(job) = self.folders.iter().position(|own| own == folder) else { return vec![] };
        self.steps[job].store(run.step(), Ordering::Relaxed);
        let sender = locked(&self.sender).clone();
        let (stop, steps) = (self.stop.clone(), self.steps[job].clone());
        vec![Box::new(Watcher { job, wanted: self.wanted, sender, stop, steps })]
    }
}

/// Watches one run for the caller.
struct Watcher {
    job: usize,
    wanted: Wanted,
    sender: Sender<Moment>,
    stop: Arc<AtomicBool>,
    steps: Arc<AtomicU64>,
}

impl Watcher {
    /// Tells the caller and waits for the answer. Where nobody listens any more, it is time to stop.
    fn tell(&self, run: &Run, what: What) {
        let (go_on, answer) = sync_channel(1);
        let sent = self.sender.send(Moment { job: self.job, step: run.step(), what, go_on });
        if sent.is_err() || answer.recv() != Ok(true) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Observer for Watcher {
    fn stepped(&mut self, run: &Run) -> Result<()> {
        let before = self.steps.swap(run.step(), Ordering::Relaxed);
        let every = self.wanted.every;
        if every > 0 && before / every != run.step() / every {
            self.tell(run, What::Step);
        }
        Ok(())
    }

    fn evaluated(&mut self, run: &Run, evaluation: &Evaluation) -> Result<()> {
        if self.wanted.evaluations {
            self.tell(run, What::Evaluation(Box::new(evaluation.clone())));
        }
        Ok(())
    }

    fn checkpoint(&mut self, run: &Run) -> Result<()> {
        if self.wanted.checkpoints && !self.stop.load(Ordering::Relaxed) {
            self.tell(run, What::Checkpoint);
        }
        Ok(())
    }
}

fn parse_device(text: &str) -> PyResult<Device> {
    let number = |number: &str| number.parse().ok().map(Device::Cuda);
    let device = match text {
        "cpu" => Some(Device::Cpu),
        "cuda" => Some(Device::Cuda(0)),
        other => other.strip_prefix("cuda:").and_then(number),
    };
    device
        .ok_or_else(|| PyValueError::new_err(format!("there is no device {text:?}; say cpu, cuda or cuda:1")))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a mistake in adfq: {}", text.unwrap_or_else(|| "training panicked".to_owned()))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
