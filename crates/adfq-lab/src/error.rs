//! What can go wrong in this crate, each with the value that is to blame and what to do about it.

use adfq::mdp::suggestion;
use std::path::PathBuf;

/// The errors of the crate `adfq-lab`.
///
/// ```
/// let error = adfq_lab::video::Recorder::new("x.png".as_ref(), 25, "cartpole", "adfq", 0).err().unwrap();
/// assert_eq!(error.to_string(), "x.png is neither .mp4 nor .gif; give the video one of these endings");
/// assert!(matches!(error, adfq_lab::Error::VideoFormat(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] adfq_files::Error),
    /// An agent whose tables are larger than the memory there is.
    #[error(
        "the agent {agent} needs {needed} for {pairs} states and actions, and this machine has {available} left; \
         take another agent"
    )]
    AgentMemory {
        /// Its name.
        agent: &'static str,
        /// Pairs of a state and an action.
        pairs: usize,
        /// What it would take.
        needed: adfq_deep::Bytes,
        /// What there is.
        available: adfq_deep::Bytes,
    },
    /// A recording of a run that takes no step.
    #[error("there is nothing to record in a run of 0 steps")]
    NothingRecorded,
    /// Statistics, a table or a figure failed.
    #[error(transparent)]
    Report(#[from] adfq_report::Error),
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
             mark the field with #[serde(with = \"crate::float\")]"
    )]
    NotFinite {
        /// What was to be stored.
        what: String,
        /// NaN, inf or -inf.
        value: f64,
    },
    /// A file name that tells no format of videos.
    #[error("{} is neither .mp4 nor .gif; give the video one of these endings", .0.display())]
    VideoFormat(PathBuf),
    /// More frames a second than a format can show, or none.
    #[error("a video has 1 to {most} frames a second in this format, but {asked} were asked for")]
    VideoRate {
        /// What was asked for.
        asked: u32,
        /// The most there can be.
        most: u32,
    },
    /// A picture that does not fit into the video.
    #[error("a picture of {width} × {height} pixels cannot be recorded: {reason}")]
    VideoPicture {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Why not.
        reason: String,
    },
    /// The encoder or the file format refused a video.
    #[error("the video cannot be written: {0}")]
    VideoCoding(String),
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
    /// A word that chooses no setting of bsuite.
    #[error("nothing is called \"{word}\"{}: {known}", suggestion(.closest))]
    NoSetting {
        /// The word.
        word: String,
        /// The name that is nearest to it; empty if none is near.
        closest: String,
        /// The names that exist.
        known: String,
    },
    /// Rows without a column that a score needs.
    #[error("the logged rows have no column {column}, but {known}")]
    NoColumn {
        /// The column.
        column: String,
        /// Those that there are.
        known: String,
    },
    /// A folder with results of bsuite by other settings than those asked for.
    #[error(
        "{} holds results of other settings than these; choose another folder, or remove it", .0.display()
    )]
    OtherSweep(PathBuf),
    /// Threads could not be started.
    #[error("cannot start threads; try fewer: {0}")]
    Threads(String),
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
    /// A run whose evaluation was off.
    #[error("{} was trained without evaluations", .0.display())]
    NeverEvaluated(PathBuf),
    /// A run whose first training episode has not ended.
    #[error("{} has no training episode that ended yet; wait for the first one, or leave it out", .0.display())]
    NoEpisodes(PathBuf),
    /// A line of a file that cannot be read.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// An agent that has values and no beliefs.
    #[error(
        "the agent {agent} has no beliefs to hold against the truth: it has values without a standard deviation"
    )]
    NoBeliefs {
        /// What learned.
        agent: String,
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
