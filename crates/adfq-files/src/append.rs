//! Files that grow while a program runs, such as tables of metrics, and that can be cut back when it resumes.
//!
//! A checkpoint remembers how long the file was. What a crashed run has written after it belongs to a future that is
//! lost: the resumed run cuts it off and writes it anew.

use crate::atomic::folder_of;
use crate::folder::Open;
use crate::{Error, Folder, Result};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file to which is only ever appended.
///
/// Nothing is held back in memory: a line can be seen by other programs as soon as `write` returns. To survive a
/// power cut it needs [`sync`](Self::sync), which belongs right before the checkpoint that stores [`len`](Self::len).
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("metrics.csv");
/// use adfq_files::Appender;
///
/// let mut log = Appender::open(&path, 0)?;
/// log.write(b"step,return\n100,21\n")?;
/// log.sync()?;
/// let checkpoint = log.len();
/// log.write(b"200,3")?; // ... and here the program is killed.
/// drop(log);
///
/// let mut log = Appender::open(&path, checkpoint)?;
/// log.write(b"200,34\n")?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"step,return\n100,21\n200,34\n");
/// # Ok::<(), adfq_files::Error>(())
/// ```
#[derive(Debug)]
pub struct Appender {
    file: Arc<File>,
    folder: Folder,
    name: OsString,
    path: PathBuf,
    len: u64,
}

impl Appender {
    /// Opens the file, keeps its first `keep` bytes and cuts the rest off. With `keep` = 0 the file, and folders on
    /// the way, are made if missing. Fails with [`Error::Short`], and changes nothing, if there are fewer bytes.
    pub fn open(path: impl AsRef<Path>, keep: u64) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().ok_or_else(|| Error::NotAFile(path.to_owned()))?;
        let folder = match keep {
            0 => Folder::create(folder_of(path))?,
            _ => match Folder::open(folder_of(path)) {
                Err(error) if error.is_not_found() => {
                    return Err(Error::Short { path: path.to_owned(), keep, found: 0 });
                }
                opened => opened?,
            },
        };
        Self::open_named(folder, name, keep)
    }

    /// The same in an open folder.
    pub fn open_in(folder: &Folder, name: &str, keep: u64) -> Result<Self> {
        Self::open_named(folder.clone(), OsStr::new(name), keep)
    }

    fn open_named(folder: Folder, name: &OsStr, keep: u64) -> Result<Self> {
        let path = folder.path().join(name);
        let opened = folder.open_as(name, if keep == 0 { Open::Create } else { Open::Write });
        let mut file = match opened {
            Err(error) if error.is_not_found() => return Err(Error::Short { path, keep, found: 0 }),
            opened => opened?,
        };
        let failed = |source| Error::io("open", &path, source);
        let found = file.metadata().map_err(failed)?.len();
        if found < keep {
            return Err(Error::Short { path, keep, found });
        }
        file.set_len(keep).and_then(|()| file.seek(SeekFrom::Start(keep))).map_err(failed)?;
        Ok(Self { file: Arc::new(file), folder, name: name.to_owned(), path, len: keep })
    }

    /// Appends the bytes. After an error the file is as long as before, or, where the system refuses even that, has
    /// a part of them at its end, which [`len`](Self::len) does not count and the next [`open`](Self::open) cuts off.
    /// A file or folder that does not lie where it was opened is an error: nobody would find the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.folder.check_leads_to(&self.name, &self.file)?;
        let needed = self.len + bytes.len() as u64;
        let mut file = &*self.file;
        if let Err(source) = file.write_all(bytes) {
            let _ = file.set_len(self.len).and_then(|()| file.seek(SeekFrom::Start(self.len)));
            return Err(Error::write(&self.path, needed, source));
        }
        self.len = needed;
        Ok(())
    }

    /// The length of the file: what was kept and what has been written since.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Makes everything written so far survive a power cut.
    pub fn sync(&self) -> Result<()> {
        sync(&self.file, &self.path)
    }

    /// What syncs the file from another thread, while this one writes on.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("metrics.csv");
    /// let mut log = adfq_files::Appender::open(&path, 0)?;
    /// log.write(b"step,return\n")?;
    /// let syncer = log.syncer();
    /// std::thread::spawn(move || syncer.sync()).join().unwrap()?;
    /// # Ok::<(), adfq_files::Error>(())
    /// ```
    pub fn syncer(&self) -> Syncer {
        Syncer { file: self.file.clone(), path: self.path.clone() }
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes what has been written to an [`Appender`] survive a power cut, from any thread.
#[derive(Clone, Debug)]
pub struct Syncer {
    file: Arc<File>,
    path: PathBuf,
}

impl Syncer {
    /// The same as [`Appender::sync`].
    pub fn sync(&self) -> Result<()> {
        sync(&self.file, &self.path)
    }
}

fn sync(file: &File, path: &Path) -> Result<()> {
    file.sync_all().map_err(|source| Error::write(path, file.metadata().map_or(0, |data| data.len()), source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::tempdir;

    #[test]
    fn cuts_the_lost_future_off_at_any_length() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("a/metrics.csv");
        for keep in 0..=6 {
            let mut log = Appender::open(&path, 0).unwrap();
            log.write(b"123").unwrap();
            log.write(b"456").unwrap();
            assert_eq!(log.len(), 6);
            let mut log = Appender::open(&path, keep).unwrap();
            assert_eq!(log.len(), keep);
            assert_eq!(fs::metadata(&path).unwrap().len(), keep);
            log.write(b"x").unwrap();
            log.sync().unwrap();
            assert_eq!(fs::read(&path).unwrap(), [&b"123456"[..keep as usize], b"x"].concat());
        }
    }

    #[test]
    fn a_file_that_lost_lines_is_refused_and_left_alone() {
        let dir = tempdir().unwrap();
        let path = dir.path().join("metrics.csv");
        fs::write(&path, b"1234").unwrap();
        let error = Appender::open(&path, 5).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("metrics.csv has 4 bytes, but 5 were"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"1234");
    }

    #[test]
    fn a_file_that_is_gone_is_refused_and_not_made() {
        let dir = tempdir().unwrap();
        for path in [dir.path().join("gone.csv"), dir.path().join("gone/metrics.csv")] {
            let error = Appender::open(&path, 5).unwrap_err();
            assert!(matches!(error, Error::Short { keep: 5, found: 0, .. }), "{error}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_in_its_place_is_named() {
        let dir = tempdir().unwrap();
        let error = Appender::open(dir.path(), 0).unwrap_err();
        assert!(error.to_string().ends_with("is a folder and not a file; take it away"), "{error}");
    }

    /// Every write to /dev/full fails with ENOSPC.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_and_not_counted() {
        let Ok(file) = File::options().write(true).open("/dev/full") else {
            eprintln!("skipped: there is no /dev/full here");
            return;
        };
        let (folder, name) = (Folder::open("/dev").unwrap(), OsString::from("full"));
        let mut log = Appender { file: Arc::new(file), folder, name, path: "metrics.csv".into(), len: 10 };
        let error = log.write(b"12345678").unwrap_err();
        assert!(matches!(error, Error::DiskFull { needed: 18, .. }), "{error}");
        assert_eq!(log.len(), 10);
    }
}
