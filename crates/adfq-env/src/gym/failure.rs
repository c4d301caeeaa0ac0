//! What Python says when an environment cannot be made or stepped, as an error with our own words.

use crate::{Error, Result};
use adfq::mdp::closest;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Why environments cannot go on: the details of a `Refused` in `environments.py`, or an exception that was raised.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Failure {
    Package { package: String, install: String },
    Id { reason: String },
    Game { games: Vec<String> },
    Space { what: String, space: String, reason: String },
    Untrusted { module: String, file: Option<PathBuf>, by: Option<String> },
    Wrapper { wrapper: String, reason: String },
    Stranger { wrapper: String, reason: String },
    Gave { what: String, env: Option<usize> },
    Raised { error: String, traceback: String, env: Option<usize> },
}

impl Failure {
    /// The error. `first` is the number of the first of the environments among all.
    pub fn error(self, env: String, python: &Path, first: usize) -> Error {
        match self {
            Self::Package { package, install } => {
                Error::Package { env, python: python.to_owned(), package, install }
            }
            Self::Id { reason } => Error::Gymnasium { env, reason },
            Self::Game { games } => {
                let wanted = env.trim_start_matches("atari:").to_lowercase();
                let (closest, known) = (closest(&wanted, &games), games.join(", "));
                let closest = if closest.is_empty() { closest } else { format!("atari:{closest}") };
                Error::Name { name: env, closest, known }
            }
            Self::Space { what, space, reason } => Error::Space { env, what, space, reason },
            Self::Untrusted { module, file, by } => {
                Error::Untrusted { name: by.unwrap_or(env), module, file }
            }
            Self::Wrapper { wrapper, reason } => Error::Wrapper { env, wrapper, reason },
            Self::Stranger { wrapper, reason } => Error::Stranger { env, wrapper, reason },
            Self::Gave { what, env: place } => Error::Gave { env, index: first + place.unwrap_or(0), what },
            Self::Raised { error, traceback, env: place } => {
                let place = place.map_or_else(String::new, |i| format!(" (environment {})", first + i));
                Error::Raised { env: env + &place, error, traceback }
            }
        }
    }
}

/// The error that the details of a `Refused` mean, which [`PYTHON`](super::PYTHON) raises. They are JSON; `python` is the
/// interpreter.
///
/// ```
/// let error = adfq_env::python_refused(r#"{"kind": "id", "reason": "no such id"}"#, "gym:X-v0", "python3".as_ref())?;
/// assert_eq!(error.to_string(), "gym:X-v0 cannot be made: no such id");
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub fn python_refused(details: &str, env: &str, python: &Path) -> Result<Error> {
    let failure: Failure = serde_json::from_str(details).map_err(Error::other)?;
    Ok(failure.error(env.to_owned(), python, 0))
}
