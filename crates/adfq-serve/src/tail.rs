//! Reading a file that grows: what was added since, and nothing else.
//!
//! A resumed run cuts its logs back and writes them anew. So a tail remembers the last bytes it has read, and starts again from
//! the beginning where they are others now.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// How many bytes before the place are held against those in the file.
const MEMORY: usize = 64;
/// What is read at once, at most.
const PIECE: u64 = 4 << 20;

/// A place in a file that grows.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    offset: u64,
    /// The last bytes before it.
    before: Vec<u8>,
}

/// What a file has brought since it was last read.
#[derive(Debug, PartialEq, Eq)]
pub enum Grown {
    /// Nothing.
    Same,
    /// This came after what was read.
    More(Vec<u8>),
    /// What was read is there no more; this is the beginning of the file.
    Anew(Vec<u8>),
}

impl Tail {
    /// Reads what was added, a piece of it if it is much: ask again until there is nothing. `whole` says how many of the bytes
    /// are whole lines or records; the rest is read again once it is complete.
    pub fn read(&mut self, file: &mut File, whole: impl Fn(&[u8]) -> usize) -> io::Result<Grown> {
        let anew = !self.is_unchanged(file)?;
        if anew {
            *self = Self::default();
        }
        let mut piece = PIECE;
        loop {
            let mut bytes = vec![];
            file.seek(SeekFrom::Start(self.offset))?;
            file.by_ref().take(piece).read_to_end(&mut bytes)?;
            let end = whole(&bytes).min(bytes.len());
            if end == 0 && bytes.len() as u64 == piece {
                // One record is longer than a piece.
                piece *= 2;
                continue;
            }
            bytes.truncate(end);
            self.advance(&bytes);
            return Ok(match (anew, bytes.is_empty()) {
                (true, _) => Grown::Anew(bytes),
                (false, true) => Grown::Same,
                (false, false) => Grown::More(bytes),
            });
        }
    }

    /// Whether what was read is still there.
    fn is_unchanged(&self, file: &mut File) -> io::Result<bool> {
        if file.metadata()?.len() < self.offset {
            return Ok(false);
        }
        let mut there = vec![0; self.before.len()];
        file.seek(SeekFrom::Start(self.offset - self.before.len() as u64))?;
        match file.read_exact(&mut there) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| there == self.before),
        }
    }

    fn advance(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        self.before.extend_from_slice(&bytes[bytes.len().saturating_sub(MEMORY)..]);
        let extra = self.before.len().saturating_sub(MEMORY);
        self.before.drain(..extra);
    }
}

/// How many of these bytes are whole lines.
pub fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// The last `most` bytes of a file.
pub fn last_bytes(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(most)))?;
    let mut bytes = vec![];
    file.by_ref().take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(tail: &mut Tail, path: &std::path::Path) -> Grown {
        tail.read(&mut File::open(path).unwrap(), whole_lines).unwrap()
    }

    #[test]
    fn lines_come_once_they_are_whole_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let (path, mut tail) = (dir.path().join("x.csv"), Tail::default());
        let mut file = File::create(&path).unwrap();
        assert_eq!(read(&mut tail, &path), Grown::Same);
        file.write_all(b"a,b\n1,2").unwrap();
        assert_eq!(read(&mut tail, &path), Grown::More(b"a,b\n".to_vec()));
        assert_eq!(read(&mut tail, &path), Grown::Same);
        file.write_all(b"\n3,4\n").unwrap();
        assert_eq!(read(&mut tail, &path), Grown::More(b"1,2\n3,4\n".to_vec()));
    }

    #[test]
    fn a_file_that_was_cut_back_is_read_from_the_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let (path, mut tail) = (dir.path().join("x.csv"), Tail::default());
        std::fs::write(&path, "a\n1\n2\n3\n").unwrap();
        read(&mut tail, &path);
        std::fs::write(&path, "a\n1\n").unwrap();
        assert_eq!(read(&mut tail, &path), Grown::Anew(b"a\n1\n".to_vec()));
        // Cut back and grown beyond the old end between two looks.
        std::fs::write(&path, "a\n7\n8\n9\n").unwrap();
        assert_eq!(read(&mut tail, &path), Grown::Anew(b"a\n7\n8\n9\n".to_vec()));
    }

    proptest! {
        /// Whatever the pieces in which a file is written and read, what was read adds up to its whole lines.
        #[test]
        fn pieces_add_up(pieces in prop::collection::vec("[a-z,\n]{0,40}", 0..20)) {
            let dir = tempfile::tempdir().unwrap();
            let (path, mut tail, mut got) = (dir.path().join("x.csv"), Tail::default(), vec![]);
            let mut file = File::create(&path).unwrap();
            for piece in &pieces {
                file.write_all(piece.as_bytes()).unwrap();
                if let Grown::More(bytes) = read(&mut tail, &path) {
                    got.extend(bytes);
                }
            }
            let all = pieces.concat().into_bytes();
            prop_assert_eq!(&got[..], &all[..whole_lines(&all)]);
        }
    }
}
