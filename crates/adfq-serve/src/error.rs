//! What can go wrong, and how a request hears of it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::path::PathBuf;

/// The errors of the crate `adfq-serve`.
///
/// ```
/// let error = adfq_serve::Error::NoRun("runs/x".to_owned());
/// assert_eq!(error.to_string(), "there is no run \"runs/x\"");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder to serve cannot be opened.
    #[error("{}: cannot be served ({reason})", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The server's threads cannot be started.
    #[error("cannot start the server: {0}")]
    Start(#[source] std::io::Error),
    /// No random token can be drawn.
    #[error("the system gives no random numbers for a token: {0}")]
    Token(String),
    /// A run that is not there.
    #[error("there is no run {0:?}")]
    NoRun(String),
    /// A file that is not there, or that is not served.
    #[error("there is no file {0:?} to be served")]
    NoFile(String),
    /// A quantity that no run has.
    #[error("{run} has no {quantity:?}")]
    NoQuantity {
        /// The run.
        run: String,
        /// What was asked for.
        quantity: String,
    },
    /// A request that makes no sense.
    #[error("{0}")]
    Request(String),
    /// A request that is not allowed here.
    #[error("{0}")]
    Forbidden(String),
    /// Too many ask for the same at once.
    #[error("{0}; close another one, or try again later")]
    Busy(String),
    /// A request took too long.
    #[error("the answer took too long")]
    Slow,
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] adfq_files::Error),
    /// A run could not be compared or recorded.
    #[error(transparent)]
    Lab(#[from] adfq_lab::Error),
    /// A checkpoint or an environment failed.
    #[error(transparent)]
    Deep(#[from] adfq_deep::Error),
    /// An update is not possible.
    #[error(transparent)]
    Update(#[from] adfq::Error),
    /// A task ended without an answer.
    #[error("the server failed to answer: {0}")]
    Task(String),
}

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoRun(_) | Self::NoFile(_) | Self::NoQuantity { .. } => StatusCode::NOT_FOUND,
            Self::Request(_) | Self::Update(_) => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            // What lies in a folder is not as it should be: the request is fine, and so is the server.
            Self::File(_) | Self::Lab(_) | Self::Deep(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        (self.status(), Json(serde_json::json!({ "error": self.to_string() }))).into_response()
    }
}
