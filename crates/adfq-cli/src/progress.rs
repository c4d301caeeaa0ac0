//! Training on a terminal: a bar for each run, and the lines at the end.

use crate::message;
use crate::output::{plain, say};
use adfq_deep::evaluate::Evaluation;
use adfq_deep::metrics::Metrics;
use adfq_deep::training::{self, Ending, Job, Outcome, Resources};
use adfq_deep::{Config, Host, Observer, Observers, Restart, Result, Run, Summary};
use anyhow::bail;
use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Instant;

/// What a signal asks for: to save and to stop.
#[derive(Clone, Default)]
pub struct Signalled {
    /// Set by the first signal.
    pub flag: Arc<AtomicBool>,
    number: Arc<AtomicI32>,
}

impl Signalled {
    /// Listens to Ctrl-C, and to what schedulers and closing terminals send. A second signal ends the program at once.
    pub fn listen() -> anyhow::Result<Self> {
        let signalled = Self::default();
        let (noted, mut signals) = (signalled.clone(), Signals::new([SIGINT, SIGTERM, SIGHUP])?);
        std::thread::spawn(move || {
            for signal in &mut signals {
                noted.number.store(signal, Ordering::Relaxed);
                if noted.flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(128 + signal);
                }
                say("saving; press Ctrl-C again to leave without");
            }
        });
        Ok(signalled)
    }
}

/// The program was stopped by a signal. Its exit status says so, as that of a program which a signal ended: 128 and the
/// signal's number.
#[derive(Debug, thiserror::Error)]
#[error("stopped by signal {0}")]
pub struct Stopped(pub i32);

/// The bars of all runs.
#[derive(Clone, Default)]
pub struct Bars(MultiProgress);

impl Bars {
    /// Trains these runs and says what became of each.
    pub fn train(
        &self,
        jobs: Vec<Job>,
        host: &Host,
        resources: &Resources,
        stop: &Signalled,
    ) -> anyhow::Result<()> {
        let count = jobs.len();
        let watch = |folder: &Path, run: &Run, warnings: &[String]| self.watch(folder, run, warnings);
        let (outcomes, timelines) = training::train(jobs, host, resources, &watch, &stop.flag)?;
        for timeline in timelines {
            self.say(&format!("where the time of the runs on the GPU went: {timeline}"));
        }
        let (mut summaries, mut errors, mut unfinished) = (vec![], vec![], 0);
        for Outcome { folder, ending } in outcomes {
            match ending {
                Some(Ok(Ending::Finished(summary))) => summaries.push(*summary),
                Some(Ok(Ending::WasFinished(summary))) => {
                    self.say_finished_before(&folder, &summary);
                    summaries.push(*summary);
                }
                Some(Ok(Ending::Stopped { step, steps })) => {
                    unfinished += 1;
                    let (step, steps, folder) = (HumanCount(step), HumanCount(steps), folder.display());
                    let on = format!("adfq train --resume {folder}");
                    self.say(&format!("stopped at step {step} of {steps}; go on with: {on}"));
                }
                Some(Err(error)) if count == 1 => return Err(error.into()),
                Some(Err(error)) => errors.push(format!("{}: {}", folder.display(), message(&error.into()))),
                None => unfinished += 1,
            }
        }
        if count > 1 {
            say(&format!("{} of {count} runs finished", summaries.len()));
            by_agent(&summaries).lines().for_each(say);
        }
        match (&errors[..], unfinished) {
            ([], 0) => Ok(()),
            ([], _) => Err(Stopped(stop.number.load(Ordering::Relaxed)).into()),
            _ => bail!("{}", errors.join("\n")),
        }
    }

    /// A bar for a run. Says where a resumed one stands.
    fn watch(&self, folder: &Path, run: &Run, warnings: &[String]) -> Observers<'static> {
        warnings.iter().for_each(|warning| self.say(&format!("warning: {warning}")));
        if run.step() > 0 {
            let (step, steps) = (HumanCount(run.step()), HumanCount(run.config().steps));
            self.say(&format!("resuming {} at step {step} of {steps}", folder.display()));
        }
        vec![Box::new(Bar {
            bar: self.0.add(progress_bar(run.config(), run.step())),
            bars: self.clone(),
            folder: folder.display().to_string(),
            evaluated: None,
            begun: (Instant::now(), run.step()),
        })]
    }

    /// A run that was finished before: what it reached, and whether it is exact.
    fn say_finished_before(&self, folder: &Path, summary: &Summary) {
        self.say(&format!("{} is finished: {summary}", folder.display()));
        for lost in &summary.lost {
            self.say(&format!("warning: this run is not exact: {lost} was lost from its replay memory"));
        }
    }

    /// Bars that are not drawn swallow what is printed above them.
    fn say(&self, text: &str) {
        if self.0.is_hidden() || self.0.println(plain(text)).is_err() {
            say(text);
        }
    }
}

/// The bar of one run.
struct Bar {
    bar: ProgressBar,
    bars: Bars,
    folder: String,
    evaluated: Option<f64>,
    begun: (Instant, u64),
}

impl Observer for Bar {
    fn metrics(&mut self, _: &Run, metrics: &Metrics) -> Result<()> {
        self.bar.set_position(metrics.step);
        let shown = |name: &str, value: f64| {
            if value.is_nan() { String::new() } else { format!("{name} {value:.3}  ") }
        };
        let reached = self.evaluated.unwrap_or(metrics.train_return);
        let (loss, sigma) = (shown("loss", metrics.loss), shown("σ", metrics.mean_sigma));
        let reached = if reached.is_nan() { String::new() } else { format!("return {reached:.1}  ") };
        self.bar.set_message(reached + &loss + &sigma);
        Ok(())
    }

    fn evaluated(&mut self, _: &Run, evaluation: &Evaluation) -> Result<()> {
        self.evaluated = Some(evaluation.mean());
        if self.bar.is_hidden() {
            let (step, mean) = (HumanCount(evaluation.step).to_string(), evaluation.mean());
            let (error, name) = (evaluation.standard_error(), self.bar.prefix());
            say(&format!("step {step:>10}  greedy return {mean:>8.1} ± {error:.1}  {name}"));
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Run, restart: &Restart) -> Result<()> {
        let Restart { step, count, left, error } = restart;
        let (name, step) = (self.bar.prefix(), HumanCount(*step));
        let reason = error.lines().next().unwrap_or_default();
        let restarted = format!("restart {count} of environments, {left} more allowed");
        self.bars.say(&format!("{name}, step {step}: {restarted}: {reason}"));
        Ok(())
    }

    fn finished(&mut self, run: &Run, summary: &Summary) -> Result<()> {
        self.bar.finish_and_clear();
        let (clock, first) = self.begun;
        let seconds = clock.elapsed().as_secs_f64();
        let speed = HumanCount(((run.step() - first) as f64 / seconds) as u64);
        self.bars.say(&format!("{summary}\n  {seconds:.1} s, {speed} steps/s; in {}", self.folder));
        Ok(())
    }
}

impl Drop for Bar {
    /// A run that was stopped, or failed, leaves no bar behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line for each agent in each environment: what its runs reached.
fn by_agent(summaries: &[Summary]) -> String {
    let mut returns: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for Summary { env, agent, policy, mean_return, .. } in summaries {
        let returns = returns.entry((env, agent, policy)).or_default();
        returns.extend(*mean_return);
    }
    let line = |((env, agent, policy), means): (&(&String, &String, &String), &Vec<f64>)| {
        if means.is_empty() {
            return format!("{env}, {agent} with {policy}: not evaluated\n");
        }
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let runs = if means.len() == 1 { "1 run".to_owned() } else { format!("{} runs", means.len()) };
        format!("{env}, {agent} with {policy}, {runs}: mean return {mean:.1}, least {least:.1}\n")
    };
    returns.iter().map(line).collect()
}

fn progress_bar(config: &Config, first: u64) -> ProgressBar {
    let template = "{prefix} {bar:20} {human_pos} of {human_len}, {per_sec}  {msg}{eta} left";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let Config { env, agent, policy, seed, .. } = config;
    let name = format!("{env} {agent}-{policy} seed {seed}");
    ProgressBar::new(config.steps)
        .with_style(style)
        .with_position(first)
        .with_prefix(plain(&name).into_owned())
}
