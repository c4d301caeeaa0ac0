//! The scale on which returns of different environments can be put together: reference scores, not the best and worst
//! of what happens to be compared.

use super::run::Run;
use adfq_env::reference;
use serde::{Deserialize, Serialize};

/// The scale of an environment: a normalised return is (return − low) / (high − low).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The environment.
    pub env: String,
    /// The score of random play. In files of before there were reference scores, the lowest final return among the
    /// labels.
    pub low: f64,
    /// The score of a good player. In files of before, the highest final return.
    pub high: f64,
    /// Where the two come from.
    #[serde(default)]
    pub source: String,
}

impl Range {
    /// The reference scores of an environment with the arguments of these runs, if they are recorded.
    pub(super) fn of(env: &str, runs: &[&Run]) -> Option<Self> {
        let names = runs.iter().flat_map(|run| run.settings.keys());
        let arguments = names.filter_map(|name| argument(name));
        let scores = reference(env, arguments)?;
        let source = match scores.random_source == scores.good_source {
            true => scores.good_source,
            false => format!("{}, {}", scores.random_source, scores.good_source),
        };
        Some(Self { env: env.to_owned(), low: scores.random, high: scores.good, source })
    }

    /// A return on this scale.
    pub(super) fn normalised(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }
}

/// The argument of the environment that a setting is, if it is one. A wrapper makes another environment as one does.
fn argument(setting: &str) -> Option<&str> {
    let setting = setting.strip_prefix("evaluation.").unwrap_or(setting);
    if setting == "wrappers" { Some(setting) } else { setting.strip_prefix("env_args.") }
}
