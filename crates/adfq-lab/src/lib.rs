//! What is measured and what it means: the experiments of the paper, studies, comparisons of runs and benchmarks.
//!
//! An [`experiment`] computes its trials through a cache, so that a rerun continues with what is missing.
//! `adfq-report` turns trials into estimates, verdicts, figures and one HTML page.
//! [`compare`] reads the folders of training runs, [`beliefs`] holds what an agent believes against the truth, [`bsuite`] runs and scores the behaviour suite,
//! [`video`] shows what an agent does and believes, and [`mod@bench`]
//! measures speed. Nothing here reads a global random generator, and nothing but [`mod@bench`] reads a clock.

pub mod actions;
pub mod beliefs;
pub mod bench;
pub mod bsuite;
mod cache;
pub mod compare;
pub mod domain;
mod error;
pub mod experiment;
mod float;
pub mod learn;
pub mod lines;
pub mod paper;
pub mod solve;
pub mod study;
pub mod text;
pub mod video;

pub(crate) use adfq_report::{plot, report, stats, table, verdict};
pub use error::{Error, Result};
