//! Files of named sections, for checkpoints: with kind, version and checksums, so that what is read is what was
//! written, or an error that says why not. What stands in the sections is the caller's.
//!
//! All numbers are little-endian, a text is its length (u32) and its UTF-8:
//!
//! | field | bytes |
//! |---|---|
//! | magic | 8 |
//! | length of the header | 4 |
//! | header: kind (text), format version (u32), version of the program (text), | |
//! | number of sections (u32), each with name (text), length (u64), CRC-32 (u32) | as said |
//! | CRC-32 of everything above | 4 |
//! | the sections, one after the other | as said |
//!
//! Everything up to the version of the program stays as it is for ever, so that a later format is recognised; the
//! rest may change with the format version.

use crate::{Error, Folder, Result, write_atomic_with};
use header::{Entry, Header};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

mod header;

/// Named sections of bytes that are written to, or were read from, one file.
///
/// The sections are borrowed where the caller has them in memory, so that gigabytes are written without a copy.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("last.checkpoint");
/// use adfq_files::{Container, Error};
///
/// let parameters = [1, 2, 3];
/// let mut container = Container::new("checkpoint", 1);
/// container.put("parameters", &parameters[..]);
/// container.put("note", "step 100".as_bytes().to_vec());
/// container.write(&path)?;
///
/// let container = Container::read(&path, "checkpoint", 1)?;
/// assert_eq!(container.get("parameters")?, parameters);
/// assert!(matches!(Container::read(&path, "checkpoint", 2), Err(Error::OtherVersion { found: 1, .. })));
/// # Ok::<(), adfq_files::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Container<'a> {
    kind: String,
    version: u32,
    /// Where it was read from, for messages.
    path: PathBuf,
    sections: Vec<(String, Cow<'a, [u8]>)>,
}

impl<'a> Container<'a> {
    /// An empty container of this kind ("checkpoint", ...), whose sections are in this version of the kind's format.
    pub fn new(kind: &str, version: u32) -> Self {
        Self { kind: kind.to_owned(), version, path: "the container".into(), sections: Vec::new() }
    }

    /// Adds a section, borrowed (`&[u8]`) or owned (`Vec<u8>`). One of the same name is replaced.
    pub fn put(&mut self, name: &str, bytes: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        let bytes = bytes.into();
        match self.sections.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = bytes,
            None => self.sections.push((name.to_owned(), bytes)),
        }
        self
    }

    /// The section of this name. The bytes may lie at any address, so numbers have to be copied out of them.
    pub fn get(&self, name: &str) -> Result<&[u8]> {
        let found = self.sections.iter().find(|(other, _)| other == name);
        found.map(|(_, bytes)| &**bytes).ok_or_else(|| self.missing(name))
    }

    /// Takes the section of this name out, without a copy if it is owned, as it is after [`read`](Self::read).
    ///
    /// ```
    /// let mut container = adfq_files::Container::new("checkpoint", 1);
    /// container.put("frames", vec![7; 1000]);
    /// assert_eq!(container.take("frames")?, vec![7; 1000]);
    /// assert!(container.take("frames").is_err());
    /// # Ok::<(), adfq_files::Error>(())
    /// ```
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>> {
        let found = self.sections.iter().position(|(other, _)| other == name);
        let index = found.ok_or_else(|| self.missing(name))?;
        Ok(self.sections.remove(index).1.into_owned())
    }

    /// The names of the sections, in the order in which they were put.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|(name, _)| name.as_str())
    }

    fn missing(&self, name: &str) -> Error {
        let found = self.names().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() { "none at all".to_owned() } else { found };
        Error::NoSection { path: self.path.clone(), name: name.to_owned(), found }
    }

    /// Writes the file atomically, as [`write_atomic`](crate::write_atomic) does.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let header = self.encoded_header(path)?;
        write_atomic_with(path, self.len(&header), |file| self.write_to(&header, file))
    }

    /// The same in an open folder, as [`Folder::write`] does.
    pub fn write_in(&self, folder: &Folder, name: &str) -> Result<()> {
        let header = self.encoded_header(&folder.path().join(name))?;
        folder.write_with(name, self.len(&header), |file| self.write_to(&header, file))
    }

    /// The same for one of many files, as [`Folder::put_with`] does.
    pub fn put_in(&self, folder: &Folder, name: &str) -> Result<()> {
        let header = self.encoded_header(&folder.path().join(name))?;
        folder.put_with(name, self.len(&header), |file| self.write_to(&header, file))
    }

    fn encoded_header(&self, path: &Path) -> Result<Vec<u8>> {
        self.header().encode().map_err(|source| Error::io("write", path, source))
    }

    fn len(&self, header: &[u8]) -> u64 {
        header.len() as u64 + self.sections.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>()
    }

    fn write_to(&self, header: &[u8], file: &mut impl Write) -> io::Result<()> {
        file.write_all(header)?;
        self.sections.iter().try_for_each(|(_, bytes)| file.write_all(bytes))
    }

    fn header(&self) -> Header {
        let entry = |(name, bytes): &(String, Cow<[u8]>)| Entry {
            name: name.clone(),
            len: bytes.len() as u64,
            crc: crc32fast::hash(bytes),
        };
        Header {
            kind: self.kind.clone(),
            version: self.version,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            entries: self.sections.iter().map(entry).collect(),
        }
    }
}

impl Container<'static> {
    /// Reads a file that must be of this kind and format version, and checks every byte of it.
    ///
    /// The error says whether the file is foreign, of another version, torn or corrupt. A file cannot make the
    /// program take more memory than the file is long.
    pub fn read(path: impl AsRef<Path>, kind: &str, version: u32) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| Error::io("read", path, source))?;
        Self::read_file(file, path, kind, version)
    }

    /// The same in an open folder. A link is refused.
    pub fn read_in(folder: &Folder, name: &str, kind: &str, version: u32) -> Result<Self> {
        Self::read_file(folder.open_file(name)?, &folder.path().join(name), kind, version)
    }

    fn read_file(file: File, path: &Path, kind: &str, version: u32) -> Result<Self> {
        let len = file.metadata().map_err(|source| Error::io("read", path, source))?.len();
        Self::read_from(file, len, path, kind, version)
    }

    /// As [`read`](Self::read), from any reader that has `len` bytes.
    fn read_from(mut reader: impl Read, len: u64, path: &Path, kind: &str, version: u32) -> Result<Self> {
        let (header, at) = Header::read(&mut reader, len, path, kind, version)?;
        // A sum beyond u64 is no length that a file can have.
        let stated = header.entries.iter().try_fold(at, |sum, entry| sum.checked_add(entry.len));
        match stated {
            Some(stated) if stated == len => {}
            Some(stated) if stated < len => {
                let what = format!("it has {len} bytes, but only {stated} belong to it");
                return Err(Error::Corrupt { path: path.to_owned(), what });
            }
            stated => {
                return Err(Error::Torn {
                    path: path.to_owned(),
                    stated: stated.unwrap_or(u64::MAX),
                    found: len,
                });
            }
        }
        let mut sections = Vec::new();
        for Entry { name, len, crc } in header.entries {
            let bytes = read_exactly(&mut reader, len, path)?;
            if crc32fast::hash(&bytes) != crc {
                let what = format!("the checksum of its section \"{name}\" does not match");
                return Err(Error::Corrupt { path: path.to_owned(), what });
            }
            sections.push((name, Cow::Owned(bytes)));
        }
        Ok(Self { kind: header.kind, version, path: path.to_owned(), sections })
    }
}

/// The next `len` bytes, which the file is known to have.
fn read_exactly(reader: &mut impl Read, len: u64, path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::io("read", path, source);
    let too_large =
        || failed(io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for {len} bytes of it")));
    let mut bytes = Vec::new();
    let capacity = usize::try_from(len).map_err(|_| too_large())?;
    bytes.try_reserve_exact(capacity).map_err(|_| too_large())?;
    reader.take(len).read_to_end(&mut bytes).map_err(failed)?;
    // Shorter only if somebody has cut the file since its length was asked.
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(failed(io::ErrorKind::UnexpectedEof.into())) }
}

#[cfg(test)]
mod tests;
