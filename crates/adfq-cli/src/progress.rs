//! Training on a terminal: a bar for each run, one for all of them, and the lines at the end. Without a terminal to draw on,
//! a line from time to time.

use crate::heartbeat::Heartbeat;
use crate::message;
use crate::notices::Notices;
use crate::output::{plain, say};
use adfq_deep::evaluate::Evaluation;
use adfq_deep::metrics::Metrics;
use adfq_deep::run::folder::read_config;
use adfq_deep::training::{self, Ending, Job, Outcome, Resources};
use adfq_deep::{Config, Digits, Host, Observer, Observers, Restart, Result, Run, Summary, Timeline};
use anyhow::bail;
use console::Term;
use indicatif::{
    HumanCount, HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often bars are drawn, and what they show is brought up to date.
const REFRESH: Duration = Duration::from_millis(200);
/// On fewer columns bars say the same in fewer words.
const WIDE: u16 = 125;

/// What a signal asks for: to save and to stop.
#[derive(Clone, Default)]
pub struct Signalled {
    /// Set by the first signal.
    pub flag: Arc<AtomicBool>,
    number: Arc<AtomicI32>,
}

impl Signalled {
    /// Listens to Ctrl-C, and to what schedulers and closing terminals send. The first signal is answered with these words. A second
    /// one ends the program at once.
    pub fn listen(answer: &'static str) -> anyhow::Result<Self> {
        let signalled = Self::default();
        let (noted, mut signals) = (signalled.clone(), Signals::new([SIGINT, SIGTERM, SIGHUP])?);
        std::thread::spawn(move || {
            for signal in &mut signals {
                noted.number.store(signal, Ordering::Relaxed);
                if noted.flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(128 + signal);
                }
                say(answer);
            }
        });
        Ok(signalled)
    }

    /// That it was stopped by the signal that came.
    pub fn stopped(&self) -> Stopped {
        Stopped(self.number.load(Ordering::Relaxed))
    }
}

/// The program was stopped by a signal. Its exit status says so, as that of a program which a signal ended: 128 and the
/// signal's number.
#[derive(Debug, thiserror::Error)]
#[error("stopped by signal {0}")]
pub struct Stopped(pub i32);

/// The bars of all runs.
#[derive(Clone)]
pub struct Bars {
    drawn: MultiProgress,
    /// Those of the runs that are training.
    single: Arc<Mutex<Vec<ProgressBar>>>,
    /// That of all runs together, which says how many are finished.
    all: ProgressBar,
    /// Time between lines where bars cannot be drawn.
    every: Duration,
    /// Whether the terminal has few columns.
    narrow: bool,
}

impl Bars {
    /// No run yet. Where bars cannot be drawn, a line comes at this interval.
    pub fn new(every: Duration) -> Self {
        let target = match std::env::var("TERM").is_ok_and(|term| term == "dumb") {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        // A terminal that does not know its size is taken for one of 80 columns, here as by the bars.
        let narrow = !target.is_hidden() && Term::stderr().size().1 < WIDE;
        let (drawn, all) = (MultiProgress::with_draw_target(target), ProgressBar::hidden());
        Self { drawn, single: Arc::default(), all, every, narrow }
    }

    /// A bar for all of these runs.
    fn with_overall_bar(&self, jobs: &[Job]) -> Self {
        let steps = |job: &Job| match &job.config {
            Some(config) => config.steps,
            None => job.longer.or_else(|| Some(read_config(&job.folder).ok()?.steps)).unwrap_or(0),
        };
        let all = ProgressBar::new(jobs.iter().map(steps).sum()).with_style(style(self.narrow));
        all.set_prefix(format!("all {} runs", jobs.len()));
        let all = self.drawn.add(all);
        all.enable_steady_tick(REFRESH);
        Self { all, ..self.clone() }
    }

    /// How far the runs are, in a line for each and one for all.
    fn lines(&self) -> String {
        let single = self.single.lock().unwrap_or_else(PoisonError::into_inner);
        let several = self.all.length().is_some();
        single.iter().chain(several.then_some(&self.all)).map(|bar| line(bar) + "\n").collect()
    }

    /// Trains these runs and says what became of each.
    pub fn train(
        &self,
        jobs: Vec<Job>,
        host: &Host,
        resources: &Resources,
        stop: &Signalled,
    ) -> anyhow::Result<()> {
        let count = jobs.len();
        let bars = if count > 1 { self.with_overall_bar(&jobs) } else { self.clone() };
        let lines = bars.clone();
        let heartbeat = self.drawn.is_hidden().then(|| Heartbeat::start(self.every, move || lines.lines()));
        let watch = |folder: &Path, run: &Run, warnings: &[String]| bars.watch(folder, run, warnings);
        let trained = training::train(jobs, host, resources, &watch, &stop.flag);
        drop(heartbeat);
        bars.all.finish_and_clear();
        let (outcomes, timelines) = trained?;
        for timeline in timelines {
            self.say(&format!(
                "where the time {}went: {timeline}",
                if count > 1 { "of the runs " } else { "" }
            ));
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
            ([], _) => Err(stop.stopped().into()),
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
        // Above the bar of all runs.
        let bar = progress_bar(run.config()).with_style(style(self.narrow));
        let bar = self.drawn.insert_from_back(usize::from(self.all.length().is_some()), bar);
        bar.set_position(run.step());
        bar.reset_eta();
        bar.enable_steady_tick(REFRESH);
        self.all.inc(run.step());
        self.single.lock().unwrap_or_else(PoisonError::into_inner).push(bar.clone());
        vec![Box::new(Bar {
            bar,
            bars: self.clone(),
            folder: folder.display().to_string(),
            notices: Notices::new(run.config()),
            shown: Shown { evaluated: run.evaluation().map(Evaluation::mean), ..Shown::default() },
            refreshed: Instant::now(),
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
        if self.drawn.is_hidden() || self.drawn.println(plain(text)).is_err() {
            say(text);
        }
    }
}

/// The bar of one run.
struct Bar {
    bar: ProgressBar,
    bars: Bars,
    folder: String,
    notices: Notices,
    shown: Shown,
    refreshed: Instant,
    begun: (Instant, u64),
}

/// What the bar of a run says of it. What is not known is none.
#[derive(Default)]
struct Shown {
    training: Option<f64>,
    evaluated: Option<f64>,
    sigma: Option<f64>,
    evaluating: bool,
    /// Where the time went, where there is room to say so.
    times: Option<Timeline>,
}

impl Shown {
    /// Takes what is known now; a row that was just begun knows no σ.
    fn see(&mut self, metrics: &Metrics) {
        let known = |value: f64| (!value.is_nan()).then_some(value);
        self.training = known(metrics.train_return).or(self.training);
        self.sigma = known(metrics.mean_sigma).or(self.sigma);
    }
}

impl fmt::Display for Shown {
    /// `{:#}` says it in few words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            if f.alternate() { ["return", "eval", "σ"] } else { ["training return", "evaluation", "σ"] };
        let values = names.into_iter().zip([self.training, self.evaluated, self.sigma]);
        for (name, value) in values.filter_map(|(name, value)| Some((name, value?))) {
            write!(f, ", {name} {}", Digits(value))?;
        }
        if self.evaluating {
            write!(f, ", evaluating")?;
        }
        self.times.map_or(Ok(()), |times| write!(f, "{}", shares(&times)))
    }
}

/// What takes a hundredth of the time or more.
fn shares(times: &Timeline) -> String {
    let shares = times.parts().map(|(name, time)| (name, times.percent(time)));
    let shares = shares.iter().filter(|(_, percent)| *percent >= 1.0);
    let shares: Vec<_> = shares.map(|(name, percent)| format!("{name} {percent:.0} %")).collect();
    if shares.is_empty() { String::new() } else { format!("; time: {}", shares.join(", ")) }
}

impl Bar {
    /// Shows where the run is.
    fn refresh(&mut self, metrics: &Metrics) {
        self.shown.see(metrics);
        self.bars.all.inc(metrics.step - self.bar.position().min(metrics.step));
        self.bar.set_position(metrics.step);
        self.bar.set_message(if self.bars.narrow {
            format!("{:#}", self.shown)
        } else {
            self.shown.to_string()
        });
        self.refreshed = Instant::now();
    }
}

impl Observer for Bar {
    fn stepped(&mut self, run: &Run) -> Result<()> {
        if self.refreshed.elapsed() >= REFRESH {
            self.refresh(&run.peek());
        }
        Ok(())
    }

    fn metrics(&mut self, run: &Run, metrics: &Metrics) -> Result<()> {
        self.shown.times = self.bar.is_hidden().then_some(*run.timeline());
        self.refresh(metrics);
        for notice in self.notices.see(metrics, run.learner().rewards.largest().into()) {
            let (name, step) = (self.bar.prefix(), HumanCount(metrics.step));
            self.bars.say(&format!("{name}, step {step}: {notice}"));
        }
        Ok(())
    }

    fn evaluating(&mut self, run: &Run) -> Result<()> {
        self.shown.evaluating = true;
        self.refresh(&run.peek());
        Ok(())
    }

    fn evaluated(&mut self, run: &Run, evaluation: &Evaluation) -> Result<()> {
        (self.shown.evaluated, self.shown.evaluating) = (Some(evaluation.mean()), false);
        self.refresh(&run.peek());
        if self.bar.is_hidden() {
            let (step, mean) = (HumanCount(evaluation.step).to_string(), Digits(evaluation.mean()));
            let (error, name) = (Digits(evaluation.standard_error()), self.bar.prefix());
            say(&format!("step {step:>10}  greedy return {mean:>8} ± {error}  {name}"));
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
        let speed = Digits((run.step() - first) as f64 / seconds);
        // One that reached its return before its last step has no further ones.
        self.bars.all.inc(run.config().steps.saturating_sub(run.step()));
        self.bars.say(&format!("{summary}\n  {seconds:.1} s, {speed} steps/s; in {}", self.folder));
        Ok(())
    }
}

impl Drop for Bar {
    /// A run that was stopped, or failed, leaves no bar behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        let mut single = self.bars.single.lock().unwrap_or_else(PoisonError::into_inner);
        single.retain(|bar| bar.prefix() != self.bar.prefix());
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
        let (mean, least) = (Digits(mean), Digits(least));
        format!("{env}, {agent} with {policy}, {runs}: mean return {mean}, least {least}\n")
    };
    returns.iter().map(line).collect()
}

/// The same as a bar shows, where none is drawn.
fn line(bar: &ProgressBar) -> String {
    let (step, steps) = (HumanCount(bar.position()), HumanCount(bar.length().unwrap_or(0)));
    let (speed, left) = (Digits(bar.per_sec()), HumanDuration(bar.eta()));
    format!("{}: step {step} of {steps}, {speed} steps/s, {left} left{}", bar.prefix(), bar.message())
}

fn style(narrow: bool) -> ProgressStyle {
    let template = match narrow {
        true => "{prefix} {percent}%, {speed}/s, {eta}{msg}",
        false => "{prefix} {bar:10} {human_pos} of {human_len}, {speed} steps/s, {eta} left{msg}",
    };
    let speed = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = write!(to, "{}", Digits(state.per_sec()));
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("speed", speed)
}

fn progress_bar(config: &Config) -> ProgressBar {
    let Config { env, agent, policy, seed, .. } = config;
    let name = format!("{env} {agent}-{policy} seed {seed}");
    ProgressBar::new(config.steps).with_prefix(plain(&name).into_owned())
}
