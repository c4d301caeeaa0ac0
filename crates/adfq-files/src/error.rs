//! What can go wrong with a file, each with the path that is to blame and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// The errors of the crate `adfq-files`.
///
/// ```
/// use adfq_files::{Error, write_atomic};
///
/// let error = write_atomic("..", b"").unwrap_err();
/// assert_eq!(error.to_string(), ".. does not name a file; give a path that ends in a file name");
/// assert!(matches!(error, Error::NotAFile(_)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder could not be made.
    #[error("cannot create the folder {}: {source}; choose a folder whose parent exists and is writable", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why the system refused.
        source: io::Error,
    },
    /// The system does not let us write or read a file.
    #[error("permission denied for {}; make the folder writable or choose another one", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk (or the user's quota) is full.
    #[error("the disk is full: {} needs {needed} bytes; free some space and run the same command again, \
             finished files are kept", path.display())]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// The size of the whole file.
        needed: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the file system.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done: "read", "write", ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A symbolic link in place of a file or folder that must lie where its name says.
    #[error("{} is a symbolic link, which is not followed; put the file or folder itself in its place", .0.display())]
    Link(PathBuf),
    /// Something that is no file in the place of one.
    #[error("{} is {what} and not a file; take it away", path.display())]
    NotRegular {
        /// Where it lies.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A folder that was removed while it was written to.
    #[error("the folder {} is gone: it was removed while it was written to", .0.display())]
    Removed(PathBuf),
    /// A folder that does not lie where it was opened.
    #[error("the folder {} is gone: it was moved or replaced while it was written to, and the work cannot go on \
             there; move it back, or go on from where it is now", .0.display())]
    Moved(PathBuf),
    /// A file that was removed or replaced while it grew.
    #[error("{} was removed or replaced while it was written to", .0.display())]
    Replaced(PathBuf),
    /// A path that cannot name a file, such as `..` or an empty one.
    #[error("{} does not name a file; give a path that ends in a file name", .0.display())]
    NotAFile(PathBuf),
    /// A file that is no [`Container`](crate::Container), or one of another kind.
    #[error("{} is not a {kind} of adfq: {found}; give the path of a {kind}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The kind that was to be read.
        kind: String,
        /// What the file is instead.
        found: String,
    },
    /// A container whose sections this program does not know how to read.
    #[error(
        "{} is a {kind} of format {found}, written by adfq {program}; this adfq {} reads format {reads}: \
         use the one that wrote it, or write it anew with this one",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its kind.
        kind: String,
        /// Its format version.
        found: u32,
        /// The version of the program that wrote it.
        program: String,
        /// The format version that was to be read.
        reads: u32,
    },
    /// A container that ends too early.
    #[error("{} is torn: it has {found} bytes of at least {stated}; {DAMAGED}", path.display())]
    Torn {
        /// The file.
        path: PathBuf,
        /// The bytes there should be, as far as the file tells.
        stated: u64,
        /// The bytes there are.
        found: u64,
    },
    /// A container with changed bytes.
    #[error("{} is corrupt: {what}; {DAMAGED}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A container without a section that was asked for.
    #[error("{} has no section \"{name}\", only {found}; it was written by a program with other needs, \
             so give the path of another file", path.display())]
    NoSection {
        /// The file.
        path: PathBuf,
        /// The section.
        name: String,
        /// The sections there are.
        found: String,
    },
    /// A folder that another process holds.
    #[error("{} is in use by another process{}; wait for it to end, stop it, or choose another folder",
            path.display(), pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, if its number is known.
        pid: Option<u32>,
    },
    /// A folder that cannot be held, since its file system has no locks.
    #[error("{} lies on a file system without locks ({source}); choose a folder on a local disk", path.display())]
    NoLocks {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that should be continued but has lost its end.
    #[error("{} has {found} bytes, but {keep} were written before the checkpoint; put the whole file back, \
             or start the run anew in another folder", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// The bytes that were to be kept.
        keep: u64,
        /// The bytes there are.
        found: u64,
    },
}

/// What to do about a damaged file.
const DAMAGED: &str = "use an older file of its kind or another copy of it";

/// A result whose error is the crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Names the path, and the remedy where one is known, for what the file system said.
    ///
    /// ```
    /// # use std::{io, path::Path};
    /// let error = adfq_files::Error::io("read", Path::new("a.json"), io::ErrorKind::UnexpectedEof.into());
    /// assert_eq!(error.to_string(), "cannot read a.json: unexpected end of file");
    /// ```
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path, source }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// As [`Error::io`], for a file of `needed` bytes that is being written.
    ///
    /// ```
    /// # use std::{io, path::Path};
    /// let error = adfq_files::Error::write(Path::new("a.csv"), 4096, io::ErrorKind::StorageFull.into());
    /// assert!(error.to_string().starts_with("the disk is full: a.csv needs 4096 bytes; free some space"));
    /// ```
    pub fn write(path: &Path, needed: u64, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path: path.to_owned(), needed, source }
            }
            _ => Self::io("write", path, source),
        }
    }
}

impl Error {
    /// Whether something lies in a file's place that no file of ours can be: nothing was read from it.
    pub fn is_foreign_entry(&self) -> bool {
        matches!(self, Self::Link(_) | Self::NotRegular { .. })
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_path_and_the_remedy() {
        let denied = Error::io("read", Path::new("out/a.json"), io::ErrorKind::PermissionDenied.into());
        assert_eq!(
            denied.to_string(),
            "permission denied for out/a.json; make the folder writable or choose another one"
        );
        let full = Error::write(Path::new("out/a.json"), 4096, io::ErrorKind::StorageFull.into());
        assert!(full.to_string().contains("out/a.json needs 4096 bytes; free some space"), "{full}");
        let other = Error::write(Path::new("out/a.json"), 1, io::ErrorKind::IsADirectory.into());
        assert!(other.to_string().starts_with("cannot write out/a.json: "), "{other}");
    }
}
