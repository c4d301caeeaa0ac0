//! The beginning of a container: what it is, and where its sections lie. The layout stands in the parent module.

use super::read_exactly;
use crate::{Error, Result};
use std::io::{self, Read};
use std::path::Path;

/// A byte that is no text, the name, and line ends that a transfer as text would change.
pub(super) const MAGIC: &[u8; 8] = b"\x89ADFQ\r\n\n";
/// Magic and length.
const START: u64 = 12;
/// A longer header is not believed, so that a wrong length does not cost memory.
pub(super) const LONGEST: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Header {
    pub kind: String,
    pub version: u32,
    /// The version of the program that wrote the file.
    pub program: String,
    pub entries: Vec<Entry>,
}

/// A section.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    pub len: u64,
    pub crc: u32,
}

impl Header {
    /// From the magic to the checksum.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut fields = Vec::new();
        put_text(&mut fields, &self.kind);
        fields.extend(self.version.to_le_bytes());
        put_text(&mut fields, &self.program);
        fields.extend((self.entries.len() as u32).to_le_bytes());
        for entry in &self.entries {
            put_text(&mut fields, &entry.name);
            fields.extend(entry.len.to_le_bytes());
            fields.extend(entry.crc.to_le_bytes());
        }
        if fields.len() as u64 > LONGEST {
            let what = "the names of its sections take more than a megabyte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend((fields.len() as u32).to_le_bytes());
        bytes.extend(fields);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads and checks the header of a file of `len` bytes; gives the place after it, too.
    pub fn read(
        reader: &mut impl Read,
        len: u64,
        path: &Path,
        kind: &str,
        version: u32,
    ) -> Result<(Self, u64)> {
        let torn = |stated| Error::Torn { path: path.to_owned(), stated, found: len };
        let corrupt = |what: &str| Error::Corrupt { path: path.to_owned(), what: what.to_owned() };
        let foreign = |found| Error::Foreign { path: path.to_owned(), kind: kind.to_owned(), found };

        let start = read_exactly(reader, START.min(len), path)?;
        let (magic, length) = start.split_at(start.len().min(MAGIC.len()));
        if !MAGIC.starts_with(magic) {
            return Err(foreign("it does not begin as files of adfq do".to_owned()));
        }
        let length = u64::from(u32::from_le_bytes(length.try_into().map_err(|_| torn(START))?));
        if length > LONGEST {
            return Err(corrupt("the length of its header cannot be"));
        }
        let end = START + length + 4;
        if end > len {
            return Err(torn(end));
        }
        let rest = read_exactly(reader, length + 4, path)?;
        let (fields, crc) = rest.split_at(length as usize);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&start);
        hasher.update(fields);
        if crc != hasher.finalize().to_le_bytes() {
            return Err(corrupt("the checksum of its header does not match"));
        }

        let mut fields = Fields(fields);
        let unreadable = || corrupt("its header cannot be read");
        let (found_kind, found, program) = fields.identity().ok_or_else(unreadable)?;
        if found_kind != kind {
            return Err(foreign(format!("it is a {found_kind}")));
        }
        if found != version {
            return Err(Error::OtherVersion {
                path: path.to_owned(),
                kind: found_kind,
                found,
                program,
                reads: version,
            });
        }
        let entries = fields.entries().ok_or_else(unreadable)?;
        Ok((Self { kind: found_kind, version, program, entries }, end))
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    // A length beyond u32 is beyond `LONGEST`, which is refused.
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// What is left of the fields; `None` where they do not go on as they should.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let len = self.u32()? as usize;
        String::from_utf8(self.bytes(len)?.to_vec()).ok()
    }

    /// Kind, format version and version of the program.
    fn identity(&mut self) -> Option<(String, u32, String)> {
        Some((self.text()?, self.u32()?, self.text()?))
    }

    fn entries(&mut self) -> Option<Vec<Entry>> {
        let count = self.u32()?;
        // Collected one by one: the count may be anything, the fields end.
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..count {
            let entry =
                Entry { name: self.text()?, len: self.number().map(u64::from_le_bytes)?, crc: self.u32()? };
            entries.push(entry);
        }
        self.0.is_empty().then_some(entries)
    }
}
