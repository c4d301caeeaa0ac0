//! Errors of the crates as Python exceptions. The message stays; its kind says what a program may do about it.

use pyo3::create_exception;
use pyo3::exceptions::{
    PyBlockingIOError, PyFileExistsError, PyFileNotFoundError, PyImportError, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

create_exception!(adfq, AdfqError, PyRuntimeError, "What went wrong in training or in a file of a run.");

/// What Python code can raise of a result of the crates.
pub type PyResultOf<T> = Result<T, Raised>;

/// An exception on its way to Python, from any of the crates' errors.
pub struct Raised(PyErr);

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<adfq_deep::Error> for Raised {
    fn from(error: adfq_deep::Error) -> Self {
        Self(of_deep(error))
    }
}

impl From<adfq_env::Error> for Raised {
    fn from(error: adfq_env::Error) -> Self {
        Self(of_env(error))
    }
}

impl From<adfq::Error> for Raised {
    fn from(error: adfq::Error) -> Self {
        Self(PyValueError::new_err(error.to_string()))
    }
}

impl From<adfq_files::Error> for Raised {
    fn from(error: adfq_files::Error) -> Self {
        Self(of_file(error))
    }
}

/// The exception for an error of `adfq-deep`.
pub fn of_deep(error: adfq_deep::Error) -> PyErr {
    use adfq_deep::Error;
    let text = error.to_string();
    match error {
        Error::Env(error) => of_env(error),
        Error::Stopped { source, good, .. } => {
            let stands = good.map(|path| format!("the last checkpoint is {}", path.display()));
            with_note(of_env(*source), stands.as_deref().unwrap_or("there is no checkpoint yet"))
        }
        Error::File(error) => of_file(error),
        Error::NotARun { .. } | Error::NoCheckpoint { .. } => PyFileNotFoundError::new_err(text),
        Error::RunExists { .. } | Error::NotEmpty { .. } | Error::OtherRun { .. } => {
            PyFileExistsError::new_err(text)
        }
        Error::DiskFull { .. } | Error::Segment { .. } => PyOSError::new_err(text),
        Error::Memory { .. } | Error::Needs { .. } => PyMemoryError::new_err(text),
        Error::Setting { .. }
        | Error::Agent { .. }
        | Error::Policy { .. }
        | Error::Toml(_)
        | Error::ConfigFile { .. }
        | Error::Preset { .. }
        | Error::NotAtari(_)
        | Error::SpaceSize { .. }
        | Error::Space { .. }
        | Error::EvaluationSpace { .. }
        | Error::Observation { .. }
        | Error::ObservationNumber { .. }
        | Error::ObservationByte { .. }
        | Error::NoReadout { .. }
        | Error::Update(_)
        | Error::Network(_)
        | Error::Replay(_) => PyValueError::new_err(text),
        _ => AdfqError::new_err(text),
    }
}

/// The exception for an error of `adfq-env`. One that an environment of Python raised is raised again as it was.
pub fn of_env(error: adfq_env::Error) -> PyErr {
    use adfq_env::Error;
    let text = error.to_string();
    match error {
        Error::Other(source) => match source.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(_) => AdfqError::new_err(text),
        },
        Error::Package { .. } => PyImportError::new_err(text),
        Error::Untrusted { .. } | Error::Stranger { .. } => {
            PyPermissionError::new_err(text.replace("(Gym::modules)", "(trust=True)"))
        }
        Error::Data { .. } | Error::NoData { .. } => PyFileNotFoundError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        Error::Raised { .. }
        | Error::Hung { .. }
        | Error::Died { .. }
        | Error::Talk { .. }
        | Error::Start { .. }
        | Error::NoPython { .. }
        | Error::NoPicture
        | Error::NoEpisode => AdfqError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn of_file(error: adfq_files::Error) -> PyErr {
    let text = error.to_string();
    match error {
        adfq_files::Error::Denied { .. } => PyPermissionError::new_err(text),
        // As Python's own locks that do not wait.
        adfq_files::Error::InUse { .. } => PyBlockingIOError::new_err(text),
        error if error.is_not_found() => PyFileNotFoundError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// The same exception with a note, where this Python has notes.
fn with_note(error: PyErr, note: &str) -> PyErr {
    Python::attach(|py| {
        // Python 3.10 has none, and the exception is none the worse.
        let _ = error.value(py).call_method1("add_note", (note,));
        error
    })
}
