//! `adfq bsuite`: agents in the behaviour suite, from runs to scores, pictures and a page.

use crate::device::Choice;
use crate::heartbeat::Heartbeat;
use crate::message;
use crate::output::{print, say};
use crate::progress::Signalled;
use crate::train::{Seeds, parse_seeds};
use adfq_deep::{Device, Host};
use adfq_lab::Error;
use adfq_lab::bsuite::{Done, Entrant, Scores, Sweep, choose, quick, summary, write};
use adfq_report::text::count;
use anyhow::{Result, bail};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where no bar can be drawn, a line comes at this interval.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// Run and score agents in the behaviour suite bsuite
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq bsuite --agents split,adfq-ts,dqn,boot-dqn
  adfq bsuite --agents dqn --quick               # one setting of each experiment
  adfq bsuite --agents split,dqn --only exploration
  adfq bsuite --agents dqn --only deep_sea/0,catch --seeds 0..4
  adfq bsuite --agents dqn --mnist data/mnist    # with the experiments that need MNIST

Each setting runs bsuite's number of episodes, one on each core at a time. What is finished stays
in OUT: after Ctrl-C the same command goes on with the settings that are missing. OUT/AGENT/seed-N holds
the CSV files that the package's own analysis reads. Scores, the radar, the bars and report.html are
in OUT.

All agents have the settings of the package's own DQN (adfq train --preset bsuite), of which calibrated
changes four; --set changes any. docs/bsuite.md says where our agents differ from the package's.

The same command gives the same result, on any number of threads.")]
pub struct Args {
    /// Agents, separated by commas: calibrated, split, adfq-ts, adfq-eps, dqn, ddqn, boot-dqn
    #[arg(long, value_delimiter = ',', value_name = "NAME", default_value = "split,adfq-ts,dqn,boot-dqn")]
    agents: Vec<String>,
    /// Only these: abilities (exploration), experiments (deep_sea) or settings (deep_sea/3), separated by commas
    #[arg(long, value_delimiter = ',', value_name = "WORD")]
    only: Vec<String>,
    /// One setting of each experiment, the one in the middle, for a first look
    #[arg(long)]
    quick: bool,
    /// Seeds: 0..4 or 1,5,8; with several, scores have intervals
    #[arg(long, default_value = "0", value_parser = parse_seeds)]
    seeds: Seeds,
    /// The folder of MNIST's files, train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or with .gz
    #[arg(long, value_name = "FOLDER")]
    mnist: Option<PathBuf>,
    /// At most so many episodes in each setting, to try something out: the scores are then not those of bsuite
    #[arg(long, value_name = "N", value_parser = crate::count::parse)]
    episodes: Option<u64>,
    /// Change a setting of all agents, as learning.every=4; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Threads, each with a setting of its own [default: one per core]
    #[arg(long, value_parser = crate::host::parse_threads)]
    threads: Option<NonZeroUsize>,
    /// Where networks learn: cpu, or cuda for a GPU, on which the settings of an experiment go together
    #[arg(long, default_value = "cpu", value_parser = crate::device::parse)]
    device: Choice,
    /// Folder for results, scores and pictures; the same one to continue
    #[arg(long, default_value = "adfq-bsuite", value_name = "FOLDER")]
    out: PathBuf,
    /// Print one JSON object with all scores
    #[arg(long)]
    json: bool,
}

impl Args {
    fn sweep(&self, host: &Host) -> Result<Sweep> {
        let mut entrants: Vec<Entrant> = vec![];
        for word in &self.agents {
            let entrant = Entrant::parse(word.trim(), host)?;
            if !entrants.contains(&entrant) {
                entrants.push(entrant);
            }
        }
        let chosen = choose(&self.only)?;
        let chosen = if self.quick { quick(chosen) } else { chosen };
        let (seeds, mnist, changes) = (self.seeds.0.clone(), self.mnist.clone(), self.set.clone());
        Ok(Sweep { entrants, seeds, chosen, episodes: self.episodes, mnist, changes })
    }

    /// The command line as someone else would type it: what decides the numbers, without paths and threads.
    fn command(&self) -> String {
        let seeds: Vec<String> = self.seeds.0.iter().map(u64::to_string).collect();
        let mut words = vec!["adfq bsuite".to_owned(), format!("--agents {}", self.agents.join(","))];
        words.extend((!self.only.is_empty()).then(|| format!("--only {}", self.only.join(","))));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.push(format!("--seeds {}", seeds.join(",")));
        words.extend(self.mnist.is_some().then(|| "--mnist FOLDER".to_owned()));
        words.extend(self.episodes.map(|episodes| format!("--episodes {episodes}")));
        let quoted = |word: &String| shlex::try_quote(word).map_or(word.clone(), |word| word.into_owned());
        words.extend((self.device != Choice::Cpu).then(|| "--device cuda".to_owned()));
        words.extend(self.set.iter().map(|set| format!("--set {}", quoted(set))));
        words.join(" ")
    }
}

pub fn run(args: &Args) -> Result<()> {
    let (host, device) = (Host::here(), args.device.device()?);
    let sweep = args.sweep(&host)?;
    let (units, steps, updates) = sweep.size(&args.out, &host)?;
    if sweep.left_out() > 0 {
        let left_out = sweep.left_out();
        say(&format!(
            "{left_out} settings with MNIST are left out: name the folder of its files with --mnist"
        ));
    }
    if sweep.settings().next().is_none() {
        bail!("nothing is left to run");
    }
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = args.threads.unwrap_or(cores);
    let (steps, updates) = (count(steps), count(updates));
    say(&format!(
        "{units} settings to run, on {threads} threads: at most {steps} steps with {updates} gradient steps"
    ));
    let done = work(args, &sweep, &host, device, threads)?;
    let scores = Scores::read(&sweep, &args.out)?;
    write(&sweep, &scores, &args.out, &args.command())?;
    match args.json {
        true => print(&(serde_json::to_string_pretty(&scores)? + "\n"))?,
        false => print(&summary(&scores))?,
    }
    if args.episodes.is_some() {
        say("these are not the scores of bsuite: it runs more episodes");
    }
    say(&format!("wrote the report to {}", args.out.join("report.html").display()));
    if done.failed.is_empty() {
        return Ok(());
    }
    let reason = |(unit, error): (String, Error)| format!("{unit}: {}", message(&error.into()));
    let failed: Vec<String> = done.failed.into_iter().map(reason).collect();
    bail!("{} settings failed, and the scores are without them:\n{}", failed.len(), failed.join("\n"))
}

/// Runs what is missing, with a bar. A signal stops it.
fn work(args: &Args, sweep: &Sweep, host: &Host, device: Device, threads: NonZeroUsize) -> Result<Done> {
    let signalled = Signalled::listen("stopping; press Ctrl-C again to stop at once")?;
    let (bar, start) = (progress_bar()?, Instant::now());
    let line = bar.clone();
    let heartbeat = bar.is_hidden().then(|| {
        Heartbeat::start(HEARTBEAT, move || {
            let share = share(line.position(), line.length());
            format!("{:.1} % done, {} left", 100.0 * share, left(share, line.elapsed()))
        })
    });
    let done = sweep.run(&args.out, host, device, threads, &signalled.flag, &|part, all| {
        bar.set_length(all);
        bar.inc(part);
    });
    drop(heartbeat);
    bar.finish_and_clear();
    match done {
        Err(Error::Interrupted) => {
            say("stopped; the same command goes on with what is missing");
            Err(signalled.stopped().into())
        }
        done => {
            let done = done?;
            let (before, now, took) = (done.before, done.now, HumanDuration(start.elapsed()));
            say(&format!("{now} settings run in {took}, {before} were finished before"));
            Ok(done)
        }
    }
}

/// How much is done.
fn share(done: u64, of: Option<u64>) -> f64 {
    done as f64 / of.unwrap_or(1).max(1) as f64
}

/// How long the rest will take if it goes on as it did from the start. Work is told of in large parts, after each of which the speed
/// of late looks high and then lower and lower.
fn left(share: f64, took: Duration) -> HumanDuration {
    let rest = took.mul_f64((1.0 / share.max(1e-6) - 1.0).max(0.0));
    HumanDuration(rest)
}

/// A bar on the error output, which `indicatif` hides where that is no terminal.
fn progress_bar() -> Result<ProgressBar> {
    let rest = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let _ = write!(text, "{}", left(share(state.pos(), state.len()), state.elapsed()));
    };
    let style = ProgressStyle::with_template("{wide_bar} {percent}%, {rest} left")?.with_key("rest", rest);
    let bar = ProgressBar::new(1).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_goes_by_all_that_was_done() {
        let after = |done, of| left(share(done, of), Duration::from_secs(60)).to_string();
        assert_eq!(after(25, Some(100)), "3 minutes");
        assert_eq!([after(100, Some(100)), after(200, Some(100))], ["0 seconds", "0 seconds"]);
        // Nothing is known at the start. It must not be an overflow.
        assert!(!after(0, Some(100)).is_empty() && !after(0, None).is_empty());
    }
}
