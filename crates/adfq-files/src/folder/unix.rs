//! Folders as Unix has them: a descriptor, and names relative to it.

use super::{Kind, Open};
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// An open folder.
#[derive(Debug)]
pub struct Handle(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A pipe that nobody writes to is not waited for.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Handle {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
    }

    pub fn child(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub fn make_child(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    pub fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        Ok(match FileType::from_raw_mode(self.stat(name)?.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::Fifo | FileType::Socket => Kind::Pipe,
            _ => Kind::Device,
        })
    }

    pub fn open_file(&self, name: &OsStr, open: Open) -> io::Result<File> {
        let how = match open {
            Open::Read => OFlags::RDONLY,
            Open::Write => OFlags::WRONLY,
            Open::Create => OFlags::RDWR | OFlags::CREATE,
            Open::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        };
        Ok(fs::openat(&self.0, name, FILE | how, Mode::from_raw_mode(0o666))?.into())
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = vec![];
        for entry in Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    /// Whether the path leads here.
    pub fn lies_at(&self, path: &Path) -> bool {
        fs::stat(path).is_ok_and(|there| is_same(&self.0, &there))
    }

    /// Whether no path leads here any more.
    pub fn is_removed(&self) -> bool {
        fs::fstat(&self.0).is_ok_and(|own| own.st_nlink == 0)
    }

    /// Whether the name leads to this file.
    pub fn leads_to(&self, name: &OsStr, file: &File) -> bool {
        self.stat(name).is_ok_and(|there| is_same(file, &there))
    }

    fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

fn is_same(open: impl AsFd, there: &Stat) -> bool {
    fs::fstat(open).is_ok_and(|own| (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino))
}
