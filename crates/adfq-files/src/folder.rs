//! A folder that is held open: what is opened in it lies in it, whatever was put there, and wherever it is moved.
//!
//! A folder may come from a stranger. A symbolic link in it could lead to any file of the user's, and a pipe could keep
//! the program waiting for ever. So all files below a folder are opened here, by their names and without following
//! links, and only regular files are taken. The path of the folder itself is the user's: links in it are followed.
//! How files are replaced in one step is `atomic`'s.

use crate::atomic::{self, create_folder};
use crate::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use system::Handle;

#[cfg_attr(not(unix), path = "folder/paths.rs")]
#[cfg_attr(unix, path = "folder/unix.rs")]
mod system;

/// What a name stands for. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Device,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Read,
    /// To write to what is there.
    Write,
    /// To read and write; made if missing.
    Create,
    /// To write; an error if there is something already.
    New,
}

/// A folder held open.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// use adfq_files::{Error, Folder};
///
/// let folder = Folder::create(dir.path().join("run"))?;
/// folder.write("config.toml", b"seed = 0\n")?;
/// assert_eq!(folder.read("config.toml")?, b"seed = 0\n");
///
/// std::fs::rename(dir.path().join("run"), dir.path().join("elsewhere")).unwrap();
/// assert!(matches!(folder.write("config.toml", b"seed = 1\n"), Err(Error::Moved(_))));
/// # Ok::<(), adfq_files::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folder {
    handle: Arc<Handle>,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that exists. Links on the way to it are followed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let handle = Handle::open(path).map_err(|source| Error::io("open", path, source))?;
        Ok(Self { handle: Arc::new(handle), path: path.to_owned() })
    }

    /// The same; it and its parents are made if they are missing.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        create_folder(path.as_ref())?;
        Self::open(path)
    }

    /// Opens a folder in this one. A link is refused.
    pub fn child(&self, name: &str) -> Result<Self> {
        let path = self.path.join(name);
        self.refuse_unless(Kind::Folder, OsStr::new(name))?;
        let handle =
            self.handle.child(OsStr::new(name)).map_err(|source| Error::io("open", &path, source))?;
        Ok(Self { handle: Arc::new(handle), path })
    }

    /// The same; it is made if it is missing.
    pub fn create_child(&self, name: &str) -> Result<Self> {
        match self.handle.make_child(OsStr::new(name)) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.said(Error::Folder { path: self.path.join(name), source }))
            }
            _ => self.child(name),
        }
    }

    /// Where it lay when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything of this name, be it a link that leads nowhere.
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        self.handle.kind(name.as_ref()).is_ok()
    }

    /// The names of all that is in it, in their order.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let mut names = self.handle.names().map_err(|source| Error::io("list", &self.path, source))?;
        names.sort();
        Ok(names)
    }

    /// The file of this name, to read it.
    pub fn open_file(&self, name: &str) -> Result<File> {
        self.open_as(OsStr::new(name), Open::Read)
    }

    /// What stands in a file.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let mut bytes = vec![];
        let read = self.open_file(name)?.read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|source| Error::io("read", &self.path.join(name), source))
    }

    /// The length of a file; none if there is no such file.
    pub fn len_of(&self, name: &str) -> Result<Option<u64>> {
        match self.open_file(name) {
            Ok(file) => match file.metadata() {
                Ok(data) => Ok(Some(data.len())),
                Err(source) => Err(Error::io("read", &self.path.join(name), source)),
            },
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a file in one step, as [`write_atomic`](crate::write_atomic) does. Something else in its place, and a
    /// folder that does not lie where it lay, is an error.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_with(name, bytes.len() as u64, |file| file.write_all(bytes))
    }

    /// The same for contents that need not stand in memory in one piece ([`write_atomic_with`](crate::write_atomic_with)).
    pub fn write_with(
        &self,
        name: &str,
        needed: u64,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<()> {
        self.check_before_write(name)?;
        atomic::replace_in(self, &self.path.join(name), needed, fill).map_err(|error| self.said(error))
    }

    /// The same for one of many files: its name is sure to outlive a power cut only after [`sync_names`](Self::sync_names).
    pub fn put_with(
        &self,
        name: &str,
        needed: u64,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<()> {
        self.check_before_write(name)?;
        atomic::put_in(self, &self.path.join(name), needed, fill).map_err(|error| self.said(error))
    }

    fn check_before_write(&self, name: &str) -> Result<()> {
        self.check_there()?;
        self.check_own(name)?;
        self.remove_stale()
    }

    /// Makes the names of all files that were put here survive a power cut.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// use std::io::Write;
    ///
    /// let folder = adfq_files::Folder::open(dir.path())?;
    /// for name in ["a", "b"] {
    ///     folder.put_with(name, 4, |file| file.write_all(b"done"))?;
    /// }
    /// folder.sync_names()?;
    /// assert_eq!(folder.read("b")?, b"done");
    /// # Ok::<(), adfq_files::Error>(())
    /// ```
    pub fn sync_names(&self) -> Result<()> {
        self.sync().map_err(|source| self.said(Error::io("sync", &self.path, source)))
    }

    /// An error if there is something of this name that is not a file.
    pub fn check_own(&self, name: &str) -> Result<()> {
        self.refuse_unless(Kind::File, OsStr::new(name))
    }

    /// Removes a file, or a link itself.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        self.handle.remove(name).map_err(|source| Error::io("remove", &self.path.join(name), source))
    }

    /// Removes temporaries whose writer is gone ([`remove_stale`](crate::remove_stale)).
    pub fn remove_stale(&self) -> Result<()> {
        atomic::remove_stale_in(self)
    }

    /// An error if the path does not lead to this folder any more: what is written would not be where it is expected.
    pub fn check_there(&self) -> Result<()> {
        match self.handle.lies_at(&self.path) {
            true => Ok(()),
            false if self.handle.is_removed() => Err(Error::Removed(self.path.clone())),
            false => Err(Error::Moved(self.path.clone())),
        }
    }

    /// An error if the name does not lead to this file any more, or the path not to this folder.
    pub(crate) fn check_leads_to(&self, name: &OsStr, file: &File) -> Result<()> {
        self.check_there()?;
        match self.handle.leads_to(name, file) {
            true => Ok(()),
            false => Err(Error::Replaced(self.path.join(name))),
        }
    }

    /// An error as the user should hear it: a folder that is gone is the reason for whatever failed in it.
    fn said(&self, error: Error) -> Error {
        self.check_there().err().unwrap_or(error)
    }

    /// The one place in which files below a folder are opened.
    pub(crate) fn open_as(&self, name: &OsStr, open: Open) -> Result<File> {
        self.refuse_unless(Kind::File, name)?;
        let path = self.path.join(name);
        let action = if open == Open::Read { "read" } else { "open" };
        let file = self.handle.open_file(name, open).map_err(|source| Error::io(action, &path, source))?;
        // Should it have been exchanged since it was looked at.
        match file.metadata() {
            Ok(data) if data.is_file() => Ok(file),
            Ok(_) => Err(Error::NotRegular { path, what: "something else" }),
            Err(source) => Err(Error::io(action, &path, source)),
        }
    }

    /// An error if there is something of this name and it is not of this kind. Links are of none.
    fn refuse_unless(&self, wanted: Kind, name: &OsStr) -> Result<()> {
        let path = self.path.join(name);
        match self.handle.kind(name) {
            Ok(Kind::Link) => Err(Error::Link(path)),
            Ok(found) if found == wanted => Ok(()),
            Ok(_) if wanted == Kind::Folder => {
                Err(Error::Folder { path, source: io::ErrorKind::NotADirectory.into() })
            }
            Ok(Kind::Folder) => Err(Error::NotRegular { path, what: "a folder" }),
            Ok(Kind::Pipe) => Err(Error::NotRegular { path, what: "a pipe" }),
            Ok(_) => Err(Error::NotRegular { path, what: "a device" }),
            Err(_) => Ok(()),
        }
    }

    /// A file that there was not before.
    pub(crate) fn open_new(&self, name: &OsStr) -> io::Result<File> {
        self.handle.open_file(name, Open::New)
    }

    /// Puts one file in the place of another.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.handle.rename(from, to)
    }

    /// Makes renames durable, where the system lets a folder be synced.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.handle.sync()
    }
}

#[cfg(all(test, unix))]
mod tests;
