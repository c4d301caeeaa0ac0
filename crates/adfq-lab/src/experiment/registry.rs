//! Which experiments there are, in the order of the report, and how to choose some of them.

use super::{
    Job, Plan, calibration, discrete_eval, discrete_rmse, illustration, rmse, simple_mdp, two_phase,
    var_decrease,
};
use crate::{Error, Result};

/// An experiment by name.
pub struct Entry {
    /// Its name, as given to `--only`.
    pub name: &'static str,
    /// The domains it runs on, of which some may be chosen; none if it has no such choice.
    pub domains: &'static [&'static str],
    /// Prepares it for a plan, on these of its domains.
    pub prepare: fn(&Plan, &[&'static str]) -> Box<dyn Job>,
}

/// All experiments, in the order of the report.
pub const ENTRIES: &[Entry] = &[
    Entry { name: "illustration", domains: &[], prepare: illustration::Illustration::prepare },
    Entry { name: "simple-mdp", domains: &[], prepare: simple_mdp::SimpleMdp::prepare },
    Entry { name: "rmse", domains: rmse::DOMAINS, prepare: rmse::Rmse::prepare },
    Entry { name: "var-decrease", domains: &[], prepare: var_decrease::VarDecrease::prepare },
    Entry {
        name: "discrete-rmse",
        domains: discrete_rmse::DOMAINS,
        prepare: discrete_rmse::DiscreteRmse::prepare,
    },
    Entry {
        name: "discrete-eval",
        domains: discrete_eval::DOMAINS,
        prepare: discrete_eval::DiscreteEval::prepare,
    },
    Entry { name: "calibration", domains: calibration::DOMAINS, prepare: calibration::Calibration::prepare },
    Entry { name: "two-phase", domains: two_phase::DOMAINS, prepare: two_phase::TwoPhase::prepare },
];

/// The experiments that the words of `only` choose, prepared; all of them if there is no word.
///
/// A word is the name of an experiment or a part of such names, or else a part of the names of domains, which
/// chooses all experiments on them and leaves out their other domains.
///
/// ```
/// use adfq_lab::experiment::{Plan, registry};
///
/// let chosen = registry::choose(&Plan::default(), &["maze".to_owned(), "rmse".to_owned()])?;
/// let names: Vec<&str> = chosen.iter().map(|(entry, _)| entry.name).collect();
/// assert_eq!(names, ["rmse", "discrete-rmse", "discrete-eval", "calibration", "two-phase"]);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn choose(plan: &Plan, only: &[String]) -> Result<Vec<(&'static Entry, Box<dyn Job>)>> {
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
