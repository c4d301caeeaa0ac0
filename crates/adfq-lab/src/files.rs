//! Results as files. That they are whole or absent is the work of `adfq-files`; here is how a value becomes JSON.
//!
//! Results that a rerun should reuse live in [`cache`](crate::cache).

use crate::{Error, Result};
pub use adfq_files::{check_writable, write_atomic};
use serde::Serialize;
use std::path::Path;

/// Writes a value as indented JSON with a final newline, atomically. Floats keep their bits; a bare NaN or infinity
/// is refused (see [`float`](crate::float)).
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("summary.json");
/// use adfq_lab::files::write_json;
///
/// write_json(&path, &vec![0.1])?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "[\n  0.1\n]\n");
/// assert!(write_json(&path, &vec![f64::NAN]).is_err());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn write_json<T: Serialize + ?Sized>(path: impl AsRef<Path>, value: &T) -> Result<()> {
    let what = || path.as_ref().display().to_string();
    crate::float::check_finite(&what(), value)?;
    let mut json = serde_json::to_vec_pretty(value).map_err(|source| Error::Json { what: what(), source })?;
    json.push(b'\n');
    Ok(write_atomic(path, &json)?)
}
