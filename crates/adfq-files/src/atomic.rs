//! Files that are either whole or absent: written under a temporary name, synced, then renamed.
//!
//! What goes into the files is decided elsewhere: a [`Container`](crate::Container) has a layout, version and checksums;
//! a file that grows while a program runs is an [`Appender`](crate::Appender).

use crate::folder::Open;
use crate::{Error, Folder, Result};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::Path;
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
/// use adfq_files::write_atomic;
///
/// write_atomic(&path, b"step,rmse\n0,1.5\n")?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"step,rmse\n0,1.5\n");
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    write_atomic_with(path, bytes.len() as u64, |file| file.write_all(bytes))
}

/// As [`write_atomic`], for contents that need not stand in memory in one piece: `fill` writes them.
///
/// `needed` is the size of the whole file, which the message names if the disk is full. Small pieces are gathered
/// before they go to the system.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("squares.csv");
/// use std::io::Write;
///
/// adfq_files::write_atomic_with(&path, 15, |file| (0..3).try_for_each(|x| writeln!(file, "{x},{:2}", x * x)))?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"0, 0\n1, 1\n2, 4\n");
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn write_atomic_with(
    path: impl AsRef<Path>,
    needed: u64,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let folder = Folder::create(folder_of(path))?;
    folder.remove_stale()?;
    replace_in(&folder, path, needed, fill)
}

/// Whether files can be written in this folder, which exists; the error names it. Better asked before hours of work
/// than after.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// adfq_files::check_writable(dir.path())?;
/// assert!(adfq_files::check_writable(&dir.path().join("missing")).is_err());
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn check_writable(folder: &Path) -> Result<()> {
    let folder = Folder::open(folder)?;
    let (partial, _file) = create_partial(&folder, &folder.path().join("probe"), 0)?;
    folder.remove(&partial)
}

/// Makes the folder and its parents, if they are missing.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// adfq_files::create_folder(&dir.path().join("runs/cartpole"))?;
/// assert!(dir.path().join("runs/cartpole").is_dir());
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn create_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })
}

/// Removes temporaries whose writer is gone. A living writer holds a lock on its temporary, which the system drops
/// with the process however it ends; so a file that we can lock is nobody's. [`write_atomic`] does this by itself.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// let stale = dir.path().join(".result.json.7-0.adfq-partial");
/// std::fs::write(&stale, "half a fi").unwrap();
/// adfq_files::remove_stale(dir.path())?;
/// assert!(!stale.exists());
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn remove_stale(folder: &Path) -> Result<()> {
    Folder::open(folder)?.remove_stale()
}

pub(crate) fn remove_stale_in(folder: &Folder) -> Result<()> {
    for name in folder.names()? {
        if !name.to_string_lossy().ends_with(PARTIAL) {
            continue;
        }
        let file = match folder.open_as(&name, Open::Write) {
            Ok(file) => file,
            Err(error) if error.is_foreign_entry() => return Err(error),
            // A file that vanishes meanwhile, or that we may not open or lock, is for someone else to remove.
            Err(_) => continue,
        };
        if file.try_lock().is_ok() {
            let _ = folder.remove(&name);
        }
    }
    Ok(())
}

/// The core of [`write_atomic`], for a folder that exists and has been cleaned: many files in one folder need that
/// only once.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// let folder = dir.path().join("cache");
/// adfq_files::create_folder(&folder)?;
/// adfq_files::remove_stale(&folder)?;
/// for unit in ["a", "b"] {
///     adfq_files::replace(&folder.join(unit), b"done")?;
/// }
/// assert_eq!(std::fs::read(folder.join("b")).unwrap(), b"done");
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = Folder::open(folder_of(path))?;
    replace_in(&folder, path, bytes.len() as u64, |file| file.write_all(bytes))
}

/// Replaces the file of this name in a folder; messages call it by its path.
pub(crate) fn replace_in(
    folder: &Folder,
    path: &Path,
    needed: u64,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    put_in(folder, path, needed, fill)?;
    folder.sync().map_err(|source| Error::write(path, needed, source))
}

/// The same, but for the last step: in a power cut the new name may be lost until the folder is synced. What the file
/// holds is on disk.
pub(crate) fn put_in(
    folder: &Folder,
    path: &Path,
    needed: u64,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<()> {
    let (partial, file) = create_partial(folder, path, needed)?;
    // `file` lives to the end, since its lock must last until the rename.
    let written = write_through(&file, fill).and_then(|()| folder.rename(&partial, name_of(path)?));
    written.map_err(|source| {
        let _ = folder.remove(&partial);
        Error::write(path, needed, source)
    })
}

/// Opens and locks a new temporary for this file.
fn create_partial(folder: &Folder, path: &Path, needed: u64) -> Result<(OsString, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = name_of(path).map_err(|_| Error::NotAFile(path.to_owned()))?;
    loop {
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}-{}{PARTIAL}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let file = match folder.open_new(&partial) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(source) => return Err(Error::write(path, needed, source)),
        };
        // Between creation and lock a cleaner may hold or have removed the file; then the next name is tried.
        // A file system without locks goes without: there the cleaner cannot lock, and so removes nothing.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            Ok(()) | Err(TryLockError::Error(_)) if folder.has(&partial) => return Ok((partial, file)),
            _ => continue,
        }
    }
}

fn name_of(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Writes and syncs.
fn write_through(file: &File, fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    writer.flush()?;
    file.sync_all()
}

/// The folder in which the path names a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
