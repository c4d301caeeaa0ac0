//! A folder that one process holds at a time, such as the folder of a run.
//!
//! The lock is the operating system's, on a file in the folder: it ends with the process, however that ends, so no
//! crash leaves a folder locked. The file itself stays and means nothing by itself.

use crate::folder::Open;
use crate::{Error, Folder, Result};
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

/// The name of the file on which the lock lies.
const NAME: &str = ".lock";

/// The right to write in a folder, until it is dropped or the process ends.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// use adfq_files::{Error, Lock};
///
/// let lock = Lock::acquire(dir.path())?;
/// assert!(matches!(Lock::acquire(dir.path()), Err(Error::InUse { .. })));
/// drop(lock);
/// Lock::acquire(dir.path())?;
/// # Ok::<(), adfq_files::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the folder is free again as soon as the lock is dropped"]
pub struct Lock {
    file: File,
    folder: Folder,
}

impl Lock {
    /// Takes the folder, which exists, or fails at once with [`Error::InUse`] and the number of the process that has it.
    ///
    /// A second `acquire` in the same process fails as well, unless the first lock has been dropped.
    pub fn acquire(folder: impl AsRef<Path>) -> Result<Self> {
        Self::acquire_open(Folder::open(folder)?)
    }

    /// The same for a folder that is open already.
    pub fn acquire_open(folder: Folder) -> Result<Self> {
        let (path, place) = (folder.path().join(NAME), folder.path().to_owned());
        let failed = |source| Error::io("lock", &path, source);
        let mut file = folder.open_as(OsStr::new(NAME), Open::Create)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::InUse { path: place, pid: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Err(Error::NoLocks { path: place, source: error });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let text = format!("{}\nThe process above holds this folder while it runs.\n", std::process::id());
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(failed)?;
        Ok(Self { file, folder })
    }

    /// Whether a process holds the folder. Nothing is made or written. Where nobody holds it, this looks by a shared lock of
    /// a moment, in which another process cannot take it: ask again only when there is a reason to.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// use adfq_files::{Folder, Lock};
    ///
    /// let folder = Folder::open(dir.path())?;
    /// assert!(!Lock::is_held(&folder)?);
    /// let lock = Lock::acquire(dir.path())?;
    /// assert!(Lock::is_held(&folder)?);
    /// drop(lock);
    /// assert!(!Lock::is_held(&folder)?);
    /// # Ok::<(), adfq_files::Error>(())
    /// ```
    pub fn is_held(folder: &Folder) -> Result<bool> {
        let file = match folder.open_file(NAME) {
            Err(error) if error.is_not_found() => return Ok(false),
            file => file?,
        };
        let failed = |source| Error::io("look at the lock of", &folder.path().join(NAME), source);
        // Who drops the lock empties the file first: then nothing has to be tried.
        if file.metadata().map_err(failed)?.len() == 0 {
            return Ok(false);
        }
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map(|()| false).map_err(failed),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// The folder that is held.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nobody holds the folder any more, so the file should name nobody.
        let _ = self.file.set_len(0);
        // To close the file would not do: while another thread starts a process, that process has a copy of the
        // open file for a moment, and the lock would last until the copy is closed, too.
        let _ = self.file.unlock();
    }
}

/// The process that the file names; none while that process is still about to write it, or where the system does
/// not let a locked file be read.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.lines().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, ChildStdout, Command, Stdio};
    use tempfile::tempdir;

    const FOLDER: &str = "ADFQ_TEST_LOCK_FOLDER";

    /// Not a test of its own: what the second process runs. It takes the folder, says so, and holds it until its
    /// input ends.
    #[test]
    fn second_process() {
        let Some(folder) = std::env::var_os(FOLDER) else { return };
        let _lock = Lock::acquire(folder).unwrap();
        println!("\nholding");
        io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }

    /// Another process that holds the folder, and what it says: its output must stay open until it ends.
    fn start(folder: &Path) -> (Child, BufReader<ChildStdout>) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lock::tests::second_process", "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let said = output.by_ref().lines().any(|line| line.unwrap() == "holding");
        assert!(said, "the second process could not take the lock");
        (child, output)
    }

    #[test]
    fn another_process_is_named_and_its_end_frees_the_folder() {
        let dir = tempdir().unwrap();
        let (mut child, mut output) = start(dir.path());
        let error = Lock::acquire(dir.path()).unwrap_err();
        let expected = format!(
            "{} is in use by another process (pid {}); wait for it to end, stop it, or choose another folder",
            dir.path().display(),
            child.id()
        );
        assert_eq!(error.to_string(), expected);
        drop(child.stdin.take());
        output.read_to_end(&mut Vec::new()).unwrap();
        assert!(child.wait().unwrap().success());
        let _lock = Lock::acquire(dir.path()).unwrap();
    }

    /// `Child::kill` is SIGKILL on Unix: the holder has no chance to tidy up.
    #[test]
    fn a_killed_process_frees_the_folder() {
        let dir = tempdir().unwrap();
        let (mut child, _output) = start(dir.path());
        assert!(matches!(Lock::acquire(dir.path()), Err(Error::InUse { pid: Some(_), .. })));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        let lock = Lock::acquire(dir.path()).unwrap();
        assert_eq!(lock.folder().path(), dir.path());
        let text = std::fs::read_to_string(dir.path().join(NAME)).unwrap();
        assert!(text.starts_with(&format!("{}\n", std::process::id())), "{text}");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let dir = tempdir().unwrap();
        let error = Lock::acquire(dir.path().join("missing")).unwrap_err();
        assert!(matches!(error, Error::Io { action: "open", .. }), "{error}");
        assert!(error.to_string().contains("missing"), "{error}");
    }

    #[test]
    fn a_holder_that_has_not_written_its_number_is_another_process_all_the_same() {
        let dir = tempdir().unwrap();
        let holder = File::create(dir.path().join(NAME)).unwrap();
        holder.lock().unwrap();
        let error = Lock::acquire(dir.path()).unwrap_err();
        assert!(error.to_string().contains("in use by another process; wait for it"), "{error}");
    }
}
