//! Files that are either whole or absent: written under a temporary name, synced, then renamed.
//!
//! What goes into the files is decided elsewhere; results that a rerun should reuse live in [`cache`](crate::cache).

use crate::{Error, Result};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The ending of every temporary name.
const PARTIAL: &str = ".adfq-partial";

/// Writes a file such that a reader, a crash or a power cut sees the old file or the new one, never half of one.
///
/// Folders on the way are created, and temporaries that crashed runs left in the folder are removed. On failure
/// the temporary is removed and the old file is as it was; the error names the path and the remedy.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("loop/curve.csv");
/// use adfq_lab::files::write_atomic;
///
/// write_atomic(&path, b"step,rmse\n0,1.5\n")?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"step,rmse\n0,1.5\n");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let folder = folder_of(path);
    create_folder(folder)?;
    remove_stale(folder)?;
    replace(path, bytes)
}

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
    write_atomic(path, &json)
}

/// Whether files can be written in this folder, which exists; the error names it. Better asked before hours of work
/// than after.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// adfq_lab::files::check_writable(dir.path())?;
/// assert!(adfq_lab::files::check_writable(&dir.path().join("missing")).is_err());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn check_writable(folder: &Path) -> Result<()> {
    let (partial, _file) = create_partial(&folder.join("probe"), 0)?;
    fs::remove_file(&partial).map_err(|source| Error::io("write in", folder, source))
}

/// Makes the folder and its parents, if they are missing.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })
}

/// Removes temporaries whose writer is gone. A living writer holds a lock on its temporary, which the system drops
/// with the process however it ends; so a file that we can lock is nobody's.
pub(crate) fn remove_stale(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|source| Error::io("list", folder, source))?;
    for entry in entries {
        let path = entry.map_err(|source| Error::io("list", folder, source))?.path();
        if !path.to_string_lossy().ends_with(PARTIAL) {
            continue;
        }
        // A file that vanishes meanwhile, or that we may not open or lock, is for someone else to remove.
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

/// The core of [`write_atomic`], for a folder that exists and has been cleaned.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let (partial, file) = create_partial(path, bytes.len())?;
    let written = fill(file, bytes)
        .and_then(|_file| fs::rename(&partial, path))
        .and_then(|()| sync_folder(folder_of(path)));
    written.map_err(|source| {
        let _ = fs::remove_file(&partial);
        Error::write(path, bytes.len(), source)
    })
}

/// Opens and locks a new temporary beside `path`.
fn create_partial(path: &Path, needed: usize) -> Result<(PathBuf, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| Error::NotAFile(path.to_owned()))?;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{}{PARTIAL}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let partial = path.with_file_name(hidden);
        let file = match File::options().write(true).create_new(true).open(&partial) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(source) => return Err(Error::write(path, needed, source)),
        };
        // Between creation and lock a cleaner may hold or have removed the file; then the next name is tried.
        // A file system without locks goes without: there the cleaner cannot lock, and so removes nothing.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            Ok(()) | Err(TryLockError::Error(_)) if partial.exists() => return Ok((partial, file)),
            _ => continue,
        }
    }
}

/// Writes and syncs; gives the file back, since its lock must last until the rename.
fn fill(mut file: File, bytes: &[u8]) -> io::Result<File> {
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the rename itself durable, where the system lets a folder be synced.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests;
