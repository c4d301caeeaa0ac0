//! The behaviour suite: agents in all settings of bsuite, their scores by its published rules, and the pictures people know.
//!
//! | | |
//! |---|---|
//! | [`choose`] | which settings to run, by experiment, ability or id |
//! | [`Sweep`] | agents, seeds and settings: what is run, many at once. It continues when it is run again |
//! | [`score`] | the score of one experiment from its logged rows |
//! | [`Scores`] | the scores of all experiments, abilities and agents |
//! | [`summary()`], [`write()`] | as text, and as files: tables, the radar, the bars, a page |
//!
//! A unit of work is one setting, for one agent and one seed. What it leaves is the CSV file that the package itself would write. The
//! environments are [`adfq_env::bsuite`]'s.

mod choose;
mod figure;
mod rows;
mod score;
mod scores;
mod summary;
mod sweep;
mod together;
mod unit;
mod write;

pub use choose::{choose, quick};
pub use rows::Rows;
pub use score::{Logged, score};
pub use scores::{AgentScores, Average, ExperimentScore, Scores, TAGS};
pub use summary::summary;
pub use sweep::{Done, Entrant, Sweep};
pub use write::write;
