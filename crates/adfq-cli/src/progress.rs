//! Training on a terminal: a bar for each run, several runs side by side, and the line at the end.

use crate::message;
use adfq_deep::config::{AgentKind, PolicyKind};
use adfq_deep::evaluate::Evaluation;
use adfq_deep::run::{Clock, Run};
use adfq_deep::stats::Metrics;
use adfq_deep::summary::Summary;
use adfq_deep::{Config, Error, Host, Observer, Trainer};
use adfq_env::Registry;
use anyhow::{Result, bail};
use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressStyle};
#[cfg(feature = "cuda")]
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

/// Set once Ctrl-C was pressed; a second time ends the program at once.
pub fn stop_on_ctrl_c() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("saving; press Ctrl-C again to leave without");
    })?;
    Ok(stop)
}

/// The time of day, for TensorBoard.
pub fn clock() -> Clock {
    Box::new(|| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()))
}

/// A run to begin: a new one with a configuration, or one to go on with.
pub struct Start {
    pub folder: PathBuf,
    /// None to resume.
    pub config: Option<Config>,
}

impl Start {
    /// The run and its trainer. Says where a resumed one stands.
    pub fn begin(&self, host: &Host) -> adfq_deep::Result<(Run, Trainer)> {
        if let Some(config) = &self.config {
            return Run::create(&self.folder, config, host, clock());
        }
        let (run, trainer, warnings) = Run::resume(&self.folder, host, clock())?;
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        let (step, steps) = (HumanCount(trainer.step()), HumanCount(trainer.config().steps));
        eprintln!("resuming {} at step {step} of {steps}", self.folder.display());
        Ok((run, trainer))
    }
}

/// The run folder writes, the bar shows.
struct Watch {
    run: Run,
    bar: ProgressBar,
    return_so_far: Option<f64>,
    begun: (Instant, u64),
}

impl Watch {
    fn new(run: Run, trainer: &Trainer, bars: &MultiProgress) -> Self {
        let bar = bars.add(progress_bar(trainer.config(), trainer.step()));
        Self { run, bar, return_so_far: None, begun: (Instant::now(), trainer.step()) }
    }

    /// Says what was reached, or how to go on.
    fn finish(
        self,
        trainer: &Trainer,
        bars: &MultiProgress,
        outcome: adfq_deep::Result<bool>,
    ) -> Result<Option<Summary>> {
        self.bar.finish_and_clear();
        let folder = self.run.folder().display();
        if !outcome? {
            let (step, steps) = (HumanCount(trainer.step()), HumanCount(trainer.config().steps));
            say(
                bars,
                &format!("stopped at step {step} of {steps}; go on with: adfq train --resume {folder}"),
            );
            return Ok(None);
        }
        let summary = self.run.finish(trainer)?;
        let (clock, first) = self.begun;
        let seconds = clock.elapsed().as_secs_f64();
        let speed = HumanCount(((trainer.step() - first) as f64 / seconds) as u64);
        say(bars, &format!("{summary}\n  {seconds:.1} s, {speed} steps/s; in {folder}"));
        Ok(Some(summary))
    }
}

impl Observer for Watch {
    fn metrics(&mut self, metrics: &Metrics) -> adfq_deep::Result<()> {
        self.bar.set_position(metrics.step);
        let shown = |name: &str, value: f64| {
            if value.is_nan() { String::new() } else { format!("{name} {value:.3}  ") }
        };
        let evaluated = self.return_so_far.unwrap_or(metrics.train_return);
        let (loss, sigma) = (shown("loss", metrics.loss), shown("σ", metrics.mean_sigma));
        let evaluated = if evaluated.is_nan() { String::new() } else { format!("return {evaluated:.1}  ") };
        self.bar.set_message(evaluated + &loss + &sigma);
        self.run.metrics(metrics)
    }

    fn evaluated(&mut self, evaluation: &Evaluation) -> adfq_deep::Result<()> {
        self.return_so_far = Some(evaluation.mean());
        if self.bar.is_hidden() {
            let (step, mean) = (HumanCount(evaluation.step).to_string(), evaluation.mean());
            let (error, name) = (evaluation.standard_error(), self.bar.prefix());
            eprintln!("step {step:>10}  greedy return {mean:>8.1} ± {error:.1}  {name}");
        }
        self.run.evaluated(evaluation)
    }

    fn checkpoint(&mut self, trainer: &Trainer) -> adfq_deep::Result<()> {
        self.run.checkpoint(trainer)
    }
}

/// Trains one run to its end and says what was reached; `None` if it was stopped before.
pub fn train(
    run: Run,
    mut trainer: Trainer,
    bars: &MultiProgress,
    stop: &AtomicBool,
) -> Result<Option<Summary>> {
    let mut watch = Watch::new(run, &trainer, bars);
    let outcome = trainer.run(&mut watch, stop).map_err(|error| name_checkpoint(error, &watch.run));
    watch.finish(&trainer, bars, outcome)
}

/// Trains runs on one GPU; those in the same environment whose networks have the same shape go step by step together, as
/// many as `together` says.
#[cfg(feature = "cuda")]
pub fn train_on_gpu(
    ordinal: usize,
    runs: Vec<Start>,
    together: Option<NonZeroUsize>,
    registry: &Registry,
    stop: &AtomicBool,
) -> Result<()> {
    let (count, bars) = (runs.len(), MultiProgress::new());
    // Where there are more workers than cores, one that looks for its next task keeps another from its own.
    let mut host = Host { registry: registry.clone(), ..Host::here() };
    let gym = &mut host.registry.gym;
    gym.spin &= 2 * count * gym.workers.get() <= cores();
    // Each waits for its workers to start.
    let runs = runs.par_iter().map(|start| start.begin(&host)).collect::<adfq_deep::Result<Vec<_>>>()?;
    let mut crews: BTreeMap<_, Vec<Vec<(Run, Trainer)>>> = BTreeMap::new();
    for (run, trainer) in runs {
        let config = trainer.config();
        let crews = crews.entry((config.env.clone(), config.agent.groups())).or_default();
        match crews.last_mut().filter(|crew| together.is_none_or(|most| crew.len() < most.get())) {
            Some(crew) => crew.push((run, trainer)),
            None => crews.push(vec![(run, trainer)]),
        }
    }
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let spawn = |runs| scope.spawn(|| train_together(ordinal, runs, &bars, stop));
        let threads: Vec<_> = crews.into_values().flatten().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| bail!("a run panicked"))).collect()
    });
    let (mut summaries, mut errors) = (vec![], vec![]);
    for outcome in outcomes {
        match outcome {
            Ok((done, failed)) => (summaries.extend(done), errors.extend(failed)),
            Err(error) => ((), errors.push(error.to_string())),
        };
    }
    if count > 1 {
        eprintln!("{} of {count} runs finished", summaries.len());
        eprint!("{}", by_agent(&summaries));
    }
    if errors.is_empty() { Ok(()) } else { bail!("{}", errors.join("\n")) }
}

/// This program was built without.
#[cfg(not(feature = "cuda"))]
pub fn train_on_gpu(
    ordinal: usize,
    _: Vec<Start>,
    _: Option<NonZeroUsize>,
    _: &Registry,
    _: &AtomicBool,
) -> Result<()> {
    crate::device::open(ordinal)
}

#[cfg(feature = "cuda")]
fn train_together(
    ordinal: usize,
    runs: Vec<(Run, Trainer)>,
    bars: &MultiProgress,
    stop: &AtomicBool,
) -> Result<(Vec<Summary>, Vec<String>)> {
    use adfq_deep::cuda::Crew;
    use adfq_nn::cuda::{Device, Precision};

    let watch = |(run, trainer): (Run, Trainer)| (Watch::new(run, &trainer, bars), trainer);
    let (mut watches, trainers): (Vec<_>, Vec<_>) = runs.into_iter().map(watch).unzip();
    let mut crew = Crew::new(&Device::open(ordinal)?, trainers, Precision::Tf32)?;
    let outcome = crew.run(&mut watches, stop).map_err(|error| name_checkpoint(error, &watches[0].run))?;
    say(bars, &format!("where the time of {} runs went: {}", watches.len(), crew.timeline()));
    let (mut summaries, mut errors) = (vec![], vec![]);
    for (watch, (trainer, failure)) in watches.into_iter().zip(crew.disembark()) {
        let folder = watch.run.folder().display().to_string();
        let outcome = failure.map_or(Ok(outcome), |error| Err(name_checkpoint(error, &watch.run)));
        match watch.finish(&trainer, bars, outcome) {
            Ok(summary) => summaries.extend(summary),
            Err(error) => errors.push(format!("{folder}: {}", message(&error))),
        }
    }
    Ok((summaries, errors))
}

/// Bars that are not drawn swallow what is printed above them.
fn say(bars: &MultiProgress, text: &str) {
    if bars.is_hidden() || bars.println(text).is_err() {
        eprintln!("{text}");
    }
}

/// How many threads a run's network gets: those asked for, or its share of the cores.
pub fn pool(threads: Option<usize>, jobs: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads.unwrap_or(cores() / jobs).max(1)).build()?)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Several runs, `jobs` at once. Errors are given at the end; the other runs are not stopped by one.
pub fn train_all(
    runs: Vec<Start>,
    registry: &Registry,
    jobs: Option<usize>,
    threads: Option<usize>,
    stop: &AtomicBool,
) -> Result<()> {
    let jobs = jobs.unwrap_or(cores()).clamp(1, runs.len());
    let pools = (0..jobs).map(|_| pool(threads, jobs)).collect::<Result<Vec<_>>>()?;
    let (count, queue, bars) = (runs.len(), Mutex::new(VecDeque::from(runs)), MultiProgress::new());
    let (summaries, errors) = (Mutex::new(vec![]), Mutex::new(vec![]));
    let next = || locked(&queue).pop_front();
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                while let Some(start) = next().filter(|_| !stop.load(Ordering::Relaxed)) {
                    let outcome = pool.install(|| {
                        // The memory that is left is another each time.
                        let host = Host { registry: registry.clone(), ..Host::here() };
                        let (run, trainer) = start.begin(&host)?;
                        train(run, trainer, &bars, stop)
                    });
                    match outcome {
                        Ok(summary) => locked(&summaries).extend(summary),
                        Err(error) => {
                            locked(&errors).push(format!("{}: {}", start.folder.display(), message(&error)))
                        }
                    }
                }
            });
        }
    });
    let (summaries, errors) = (locked(&summaries), locked(&errors));
    eprintln!("{} of {count} runs finished", summaries.len());
    eprint!("{}", by_agent(&summaries));
    if errors.is_empty() { Ok(()) } else { bail!("{}", errors.join("\n")) }
}

/// A line for each agent in each environment: what its runs reached.
fn by_agent(summaries: &[Summary]) -> String {
    let mut returns: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for Summary { env, agent, policy, mean_return, .. } in summaries {
        returns.entry((env, *agent, *policy)).or_default().push(*mean_return);
    }
    let line = |(&(env, agent, policy), means): (&(&String, AgentKind, PolicyKind), &Vec<f64>)| {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let (agent, policy) = (agent.name(), policy.name());
        let runs = if means.len() == 1 { "1 run".to_owned() } else { format!("{} runs", means.len()) };
        format!("{env}, {agent} with {policy}, {runs}: mean return {mean:.1}, least {least:.1}\n")
    };
    returns.iter().map(line).collect()
}

/// What a panicking thread leaves behind is whole: nothing is ever half pushed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where to go back to is known only here.
fn name_checkpoint(error: Error, run: &Run) -> Error {
    match error {
        Error::Diverged { quantity, step, .. } => {
            Error::Diverged { quantity, step, good: run.last_checkpoint().map(PathBuf::from) }
        }
        Error::Env(source) => {
            let good = run.last_checkpoint().map(PathBuf::from);
            Error::Stopped { source: Box::new(source), good, folder: run.folder().to_owned() }
        }
        other => other,
    }
}

fn progress_bar(config: &Config, first: u64) -> ProgressBar {
    let template = "{prefix} {bar:20} {human_pos} of {human_len}, {per_sec}  {msg}{eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let Config { env, agent, policy, seed, .. } = config;
    let name = format!("{env} {}-{} seed {seed}", agent.name(), policy.name());
    ProgressBar::new(config.steps).with_style(style).with_position(first).with_prefix(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_that_fails_names_the_last_checkpoint() {
        let (folder, mut config) = (tempfile::tempdir().unwrap(), Config::for_env("cartpole").unwrap());
        config.replay.capacity = 1_000;
        let (mut run, trainer) =
            Run::create(folder.path(), &config, &Host::default(), Box::new(|| 0.0)).unwrap();
        let said = |run: &Run| name_checkpoint(adfq_env::Error::NoEpisode.into(), run).to_string();
        let (start, resume) = (adfq_env::Error::NoEpisode, folder.path().display());
        let none = format!("{start}; there is no checkpoint yet: go on with `adfq train --resume {resume}`");
        assert_eq!(said(&run), none);
        run.checkpoint(&trainer).unwrap();
        let path = folder.path().join("checkpoints/step-000000000000.adfq");
        let (path, resume) = (path.display(), format!("adfq train --resume {resume}"));
        assert_eq!(said(&run), format!("{start}; the last checkpoint is {path}: go on with `{resume}`"));
    }
}
