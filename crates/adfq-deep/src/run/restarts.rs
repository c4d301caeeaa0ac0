//! Environments that failed in another process and were started anew: how often, how often they still may be, and what
//! observers have not been told yet.

use adfq_env::Error;

/// An environment was started anew because it had failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// The environment steps of the run by then.
    pub step: u64,
    /// How many times that makes, over all of the run.
    pub count: u64,
    /// How many more times the run may do it before it is stopped.
    pub left: u64,
    /// Why it failed.
    pub error: String,
}

/// The restarts of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restarts {
    /// Over all of the run; saved in a checkpoint.
    pub count: u64,
    /// How many more there may be.
    pub left: u64,
    /// Those that observers have not been told of.
    pub untold: Vec<Restart>,
}

impl Restarts {
    /// So many may there be.
    pub fn at_most(left: u64) -> Self {
        Self { left, ..Self::default() }
    }

    /// One more, because of this error.
    pub fn note(&mut self, step: u64, error: &Error) {
        self.count += 1;
        self.left -= 1;
        let (count, left, error) = (self.count, self.left, error.to_string());
        self.untold.push(Restart { step, count, left, error });
    }
}
