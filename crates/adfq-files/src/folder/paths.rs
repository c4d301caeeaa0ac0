//! Folders by their paths, where the system has no names relative to an open folder: links are looked for before a file
//! is opened. A folder that is exchanged meanwhile is not noticed; one that is gone is.

use super::{Kind, Open};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A folder.
#[derive(Debug)]
pub struct Handle(PathBuf);

impl Handle {
    pub fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn child(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    pub fn make_child(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn kind(&self, name: &OsStr) -> io::Result<Kind> {
        let kind = fs::symlink_metadata(self.0.join(name))?.file_type();
        Ok(match (kind.is_symlink(), kind.is_dir(), kind.is_file()) {
            (true, ..) => Kind::Link,
            (_, true, _) => Kind::Folder,
            (.., true) => Kind::File,
            _ => Kind::Device,
        })
    }

    pub fn open_file(&self, name: &OsStr, open: Open) -> io::Result<File> {
        let mut options = File::options();
        match open {
            Open::Read => options.read(true),
            Open::Write => options.write(true),
            Open::Create => options.read(true).write(true).create(true).truncate(false),
            Open::New => options.write(true).create_new(true),
        };
        options.open(self.0.join(name))
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub fn lies_at(&self, path: &Path) -> bool {
        path.is_dir()
    }

    pub fn is_removed(&self) -> bool {
        !self.0.exists()
    }

    pub fn leads_to(&self, name: &OsStr, _: &File) -> bool {
        self.0.join(name).is_file()
    }
}
