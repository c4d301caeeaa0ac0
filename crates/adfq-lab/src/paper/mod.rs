//! The experiments of the paper: which there are, how to choose some of them, and how all are run into one report.

mod calibration;
mod discrete_eval;
mod discrete_rmse;
mod illustration;
mod picture;
mod rmse;
mod simple_mdp;
mod two_phase;
mod var_decrease;

use crate::experiment::{Folder, Job, Plan, Stop, Task, distinct};
use crate::report::{Provenance, Report};
use crate::{Error, Result};
use rayon::prelude::*;
use std::path::Path;

/// The experiments of the paper, or some of them, ready to run.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let out = dir.path();
/// use adfq_lab::experiment::{Plan, Stop};
/// use adfq_lab::paper::Paper;
///
/// let plan = Plan { trials: 2, shorten: 100, ..Plan::quick() };
/// let paper = Paper::new(plan, &["simple10".to_owned()], "an example")?;
/// let report = paper.run(out, &Stop::default(), || {})?;
/// assert_eq!(report.sections.len(), 1);
/// assert!(out.join("index.html").exists() && out.join("figures/rmse.svg").exists());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub struct Paper {
    plan: Plan,
    /// How the run was asked for, for the report.
    command: String,
    jobs: Vec<(&'static Entry, Box<dyn Job>)>,
}

impl Paper {
    /// The experiments that `only` chooses by their names or those of their domains, or parts of them; all if there is none. `command` goes into the report.
    pub fn new(plan: Plan, only: &[String], command: impl Into<String>) -> Result<Self> {
        Ok(Self { plan, command: command.into(), jobs: choose(&plan, only)? })
    }

    /// Removes the outcomes that earlier runs left in `out`.
    pub fn forget(out: &Path) -> Result<()> {
        Folder::forget(out)
    }

    /// How many units of work there are.
    pub fn units(&self) -> usize {
        distinct(self.tasks()).len()
    }

    /// Runs what `out` does not hold yet, in parallel, and writes the report there.
    ///
    /// `done` is called after each unit. Runs on the current thread pool of `rayon`; the files are the same
    /// whatever its size. A folder that cannot be written is an error before any work is done.
    pub fn run(&self, out: &Path, stop: &Stop, done: impl Fn() + Sync) -> Result<Report> {
        let folder = Folder::open(out)?;
        folder.work(self.tasks(), stop, done)?;
        let sections = self.jobs.par_iter().map(|(entry, job)| {
            let findings = job.findings(&folder.cache, stop)?;
            folder.write(entry.name, findings)
        });
        let mut report = Report::new("ADFQ, its paper's experiments run again", self.provenance());
        report.intro = self.intro();
        report.sections = sections.collect::<Result<_>>()?;
        folder.finish(&report)?;
        Ok(report)
    }

    /// The work of all experiments.
    fn tasks(&self) -> Vec<Task<'_>> {
        self.jobs.iter().flat_map(|(_, job)| job.tasks()).collect()
    }

    fn intro(&self) -> Vec<String> {
        let mut intro = INTRO.map(String::from).to_vec();
        let Plan { trials, shorten, .. } = self.plan;
        if shorten > 1 {
            intro.push(format!(
                "This is a first look: every run is {shorten} times shorter than the paper's."
            ));
        }
        if trials < ENOUGH {
            intro.push(format!(
                "It rests on {trials} trials. A bootstrap of so few gives intervals that are too short: take the \
                 verdicts for hints."
            ));
        }
        intro
    }

    fn provenance(&self) -> Provenance {
        let Plan { seed, trials, .. } = self.plan;
        let (version, command) = (env!("CARGO_PKG_VERSION").to_owned(), self.command.clone());
        Provenance { version, seed, trials, command }
    }
}

/// With fewer trials the report warns of its own verdicts.
const ENOUGH: usize = 8;

const INTRO: [&str; 2] = [
    "Each section runs one experiment of “Assumed Density Filtering Q-learning” (Jeong, Zhang, Pappas and Lee) \
     again, or one beyond it, and puts the paper's claims, in our words, to the test.",
    "A verdict is computed, not written: it is “holds” if the 95 % bootstrap interval of the paired difference \
     over trials lies on the claimed side of zero, “does not hold” if it lies on the other side, and “not \
     decided” if it reaches zero. Where nothing is random, the number itself takes the place of the interval.",
];

/// An experiment by name.
struct Entry {
    /// Its name.
    name: &'static str,
    /// The domains it runs on, of which some may be chosen; none if it has no such choice.
    domains: &'static [&'static str],
    /// Prepares it for a plan, on these of its domains.
    prepare: fn(&Plan, &[&'static str]) -> Box<dyn Job>,
}

/// All experiments, in the order of the report.
const ENTRIES: &[Entry] = &[
    Entry { name: "illustration", domains: &[], prepare: illustration::prepare },
    Entry { name: "simple-mdp", domains: &[], prepare: simple_mdp::prepare },
    Entry { name: "rmse", domains: rmse::DOMAINS, prepare: rmse::prepare },
    Entry { name: "var-decrease", domains: &[], prepare: var_decrease::prepare },
    Entry { name: "discrete-rmse", domains: discrete_rmse::DOMAINS, prepare: discrete_rmse::prepare },
    Entry { name: "discrete-eval", domains: discrete_eval::DOMAINS, prepare: discrete_eval::prepare },
    Entry { name: "calibration", domains: calibration::DOMAINS, prepare: calibration::prepare },
    Entry { name: "two-phase", domains: two_phase::DOMAINS, prepare: two_phase::prepare },
];

/// The experiments that the words of `only` choose, prepared; all of them if there is no word.
///
/// A word is the name of an experiment or a part of such names, or else a part of the names of domains, which
/// chooses all experiments on them and leaves out their other domains.
fn choose(plan: &Plan, only: &[String]) -> Result<Vec<(&'static Entry, Box<dyn Job>)>> {
    if let Some(word) = only.iter().find(|word| !ENTRIES.iter().any(|entry| entry.matches(word))) {
        return Err(Error::Unknown { word: word.clone(), known: known() });
    }
    let chosen = ENTRIES.iter().filter_map(|entry| {
        let domains = entry.chosen(only)?;
        Some((entry, (entry.prepare)(plan, &domains)))
    });
    Ok(chosen.collect())
}

impl Entry {
    /// The domains to run on, or nothing if the experiment is not chosen.
    fn chosen(&self, only: &[String]) -> Option<Vec<&'static str>> {
        if only.is_empty() || only.iter().any(|word| self.is_named(word)) {
            return Some(self.domains.to_vec());
        }
        let domains = self.domains.iter().filter(|domain| only.iter().any(|word| is_part(word, domain)));
        let domains: Vec<_> = domains.copied().collect();
        (!domains.is_empty()).then_some(domains)
    }

    fn matches(&self, word: &str) -> bool {
        self.chosen(&[word.to_owned()]).is_some()
    }

    /// Whether the word means this experiment: its whole name, or a part of it that is nobody's whole name.
    fn is_named(&self, word: &str) -> bool {
        let exact = ENTRIES.iter().any(|entry| entry.name == word);
        if exact { self.name == word } else { is_part(word, self.name) }
    }
}

/// An empty word is a part of nothing.
fn is_part(word: &str, name: &str) -> bool {
    !word.is_empty() && name.contains(word)
}

/// What may be chosen, for an error message.
fn known() -> String {
    let mut domains: Vec<&str> = ENTRIES.iter().flat_map(|entry| entry.domains).copied().collect();
    domains.sort_unstable();
    domains.dedup();
    let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    format!("experiments {}; domains {}", names.join(", "), domains.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chosen experiments, each with its domains.
    fn chosen(words: &[&str]) -> Vec<(&'static str, usize)> {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let all = ENTRIES.iter();
        all.filter_map(|entry| Some((entry.name, entry.chosen(&words)?.len()))).collect()
    }

    #[test]
    fn words_choose_experiments_or_domains() {
        assert_eq!(chosen(&[]).len(), ENTRIES.len());
        assert_eq!(chosen(&["rmse"]), [("rmse", 2)]);
        let names: Vec<&str> = chosen(&["maze", "rmse"]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["rmse", "discrete-rmse", "discrete-eval", "calibration", "two-phase"]);
        assert_eq!(chosen(&["illustration", "var"]), [("illustration", 0), ("var-decrease", 0)]);
        assert_eq!(chosen(&["simple"]), [("simple-mdp", 0), ("rmse", 2)]);
        assert_eq!(chosen(&["discrete"]), [("discrete-rmse", 4), ("discrete-eval", 4)]);
        assert_eq!(chosen(&["two-phase", "simple10"]), [("rmse", 1), ("two-phase", 3)]);
        let loops = [("discrete-rmse", 2), ("discrete-eval", 2), ("calibration", 2), ("two-phase", 1)];
        assert_eq!(chosen(&["loop"]), loops);
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_names() {
        for word in ["lop", ""] {
            let Err(error) = choose(&Plan::default(), &[word.to_owned()]) else {
                panic!("{word:?} was chosen")
            };
            let message = error.to_string();
            assert!(message.starts_with(&format!("nothing is called {word:?}; choose from: experiments ")));
            assert!(message.contains("discrete-rmse, discrete-eval"), "{message}");
            assert!(message.contains("domains chain, loop, loop-stochastic, maze"), "{message}");
        }
    }
}
