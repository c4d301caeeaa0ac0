//! What can go wrong in this crate, each with the value that is to blame and what to do about it.

use std::path::PathBuf;

/// The errors of the crate `adfq-lab`.
///
/// ```
/// use adfq_lab::{Error, stats::Bootstrap};
///
/// let error = Bootstrap::new(0, 0.95).unwrap_err();
/// assert_eq!(error.to_string(), "the number of bootstrap resamples must be at least 1, but it is 0");
/// assert!(matches!(error, Error::Resamples(0)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] adfq_files::Error),
    /// A value could not be turned into JSON, or its JSON could not be turned back.
    #[error("{what} cannot be stored as JSON: {source}")]
    Json {
        /// What was to be stored.
        what: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// A bare NaN or infinity, for which JSON has no notation.
    #[error(
        "{what} contains the number {value}, which JSON cannot hold; \
             mark the field with #[serde(with = \"adfq_lab::float\")]"
    )]
    NotFinite {
        /// What was to be stored.
        what: String,
        /// NaN, inf or -inf.
        value: f64,
    },
    /// The limits of an axis do not span a range on its scale.
    #[error(
        "the limits of the axis \"{axis}\" are {low} and {high}; they must be finite and increasing, \
             and positive on a logarithmic axis"
    )]
    Limits {
        /// The label of the axis.
        axis: String,
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
    /// A character that neither embedded font can draw.
    #[error("the embedded fonts have no glyph for '{glyph}' (in \"{text}\"); write it with other characters")]
    Glyph {
        /// The character.
        glyph: char,
        /// The text in which it stands.
        text: String,
    },
    /// The SVG could not be made into pixels.
    #[error("cannot draw the figure as PNG: {0}")]
    Png(String),
    /// A file name that tells no format of films.
    #[error("{} is neither .mp4 nor .gif; give the film one of these endings", .0.display())]
    FilmFormat(PathBuf),
    /// More frames a second than a format can show, or none.
    #[error("a film has 1 to {most} frames a second in this format, but {asked} were asked for")]
    FilmRate {
        /// What was asked for.
        asked: u32,
        /// The most there can be.
        most: u32,
    },
    /// A picture that does not fit into the film.
    #[error("a picture of {width} × {height} pixels cannot be filmed: {reason}")]
    FilmPicture {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Why not.
        reason: String,
    },
    /// A row whose length is not the number of columns.
    #[error("a row of the table has {found} cells, but there are {expected} columns")]
    Row {
        /// The number of columns.
        expected: usize,
        /// The number of cells in the row.
        found: usize,
    },
    /// A statistic of nothing.
    #[error("{0} needs at least one value, but the sample is empty")]
    EmptySample(&'static str),
    /// A sample with a value that is NaN or infinite.
    #[error(
        "value {index} of the sample is {value}; leave diverged trials out or replace them before the statistics"
    )]
    Sample {
        /// Where it stands.
        index: usize,
        /// The value.
        value: f64,
    },
    /// Two samples that should be paired but are not of the same length.
    #[error("paired samples must have the same length, but they have {0} and {1} values")]
    Unpaired(usize, usize),
    /// A bootstrap without resamples.
    #[error("the number of bootstrap resamples must be at least 1, but it is {0}")]
    Resamples(usize),
    /// A confidence level outside (0, 1).
    #[error("the confidence level must lie between 0 and 1 (say 0.95), but it is {0}")]
    Level(f64),
    /// Somebody asked to stop.
    #[error("interrupted; finished trials are kept, run the same command again to continue")]
    Interrupted,
    /// A word that chooses no experiment.
    #[error("nothing is called \"{word}\"; choose from: {known}")]
    Unknown {
        /// The word.
        word: String,
        /// The names that exist.
        known: String,
    },
    /// A folder that is not a training run, nor holds any.
    #[error("{} is not a run: {reason}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A run that has not been evaluated.
    #[error("{} has no evaluations yet; wait for its first one, or leave it out", .0.display())]
    NoEvaluations(PathBuf),
    /// A run whose first training episode has not ended.
    #[error("{} has no training episode that ended yet; wait for the first one, or leave it out", .0.display())]
    NoEpisodes(PathBuf),
    /// A line of a file that cannot be read.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Two runs that differ in nothing, the seed included.
    #[error("{} and {} are the same run, {label} with seed {seed}; leave one of them out", first.display(), second.display())]
    SameRun {
        /// What was run.
        label: String,
        /// Its seed.
        seed: u64,
        /// A folder.
        first: PathBuf,
        /// The other folder.
        second: PathBuf,
    },
    /// Runs without a step at which what all of them had reached is known.
    #[error(
        "the runs on {env} share no step at which all were evaluated; compare those with equal {setting}"
    )]
    NoCommonStep {
        /// The environment.
        env: String,
        /// The setting that decides at which steps.
        setting: &'static str,
    },
    /// A deep agent, its environment or its memory failed.
    #[error(transparent)]
    Deep(#[from] adfq_deep::Error),
    /// The learning itself failed.
    #[error(transparent)]
    Learning(#[from] adfq::Error),
}

/// A result whose error is the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
