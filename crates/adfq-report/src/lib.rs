//! Statistics, tables, plots and HTML reports. Nothing here knows about reinforcement learning.
//!
//! [`stats`] turns samples into estimates with intervals, [`verdict`] turns an estimate into the answer to a claim,
//! [`table`] and [`plot`] hold what is shown, [`report`] gathers it in one HTML file, and [`text`] formats numbers and
//! columns. Nothing reads a clock, a file or a global random generator: the same input gives the same bytes.

mod error;
pub mod plot;
pub mod report;
pub mod stats;
pub mod table;
pub mod text;
pub mod verdict;

pub use error::{Error, Result};

/// The version of this crate, by which results computed with it can be told apart.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
