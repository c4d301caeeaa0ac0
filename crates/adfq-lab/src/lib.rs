//! Experiments as data, statistics, plots and the report. Learning itself lives in `adfq`.
//!
//! The way of a result: an [`experiment`] computes its trials through a [`cache::Cache`], so that a rerun continues
//! with what is missing; [`stats`] turns trials into estimates with intervals; [`verdict`] turns an estimate into
//! the answer to a claim; [`plot`] draws; [`report`] gathers everything in one HTML file; [`film`] shows what an agent does and believes; [`files`] writes it down
//! such that a crash never leaves half a file. Nothing here reads a global generator, and
//! nothing but [`mod@bench`], which measures how fast things are, a clock.

pub mod bench;
pub mod cache;
pub mod compare;
pub mod domain;
mod error;
pub mod experiment;
pub mod files;
pub mod film;
pub mod float;
pub mod learn;
pub mod lines;
pub mod paper;
pub mod plot;
pub mod report;
pub mod solve;
pub mod stats;
pub mod study;
pub mod table;
pub mod text;
pub mod verdict;

pub use error::{Error, Result};
