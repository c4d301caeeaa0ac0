//! Where the frames of a ring lie: in the host's memory, or elsewhere, as on a GPU, which needs all of them there anyway.
// Without a GPU nothing lies elsewhere.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))]

use super::{ReplayError, Result};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Frames that lie elsewhere, one after the other by place. Who put the memory there writes them; here they are only read.
pub(crate) trait Elsewhere: Send + Sync {
    /// Reads bytes from this one on. The error says why that cannot be.
    fn read(&self, start: usize, out: &mut [u8]) -> std::result::Result<(), String>;
}

/// The frames of one ring by place.
#[derive(Clone)]
pub(super) enum Store {
    /// In the host's memory.
    Here(Vec<u8>),
    /// From byte `start` of what lies elsewhere. So many bytes were written.
    Away { frames: Arc<dyn Elsewhere>, start: usize, len: usize },
}

impl Store {
    /// Adds a frame behind the last.
    pub fn push(&mut self, frame: &[u8]) {
        match self {
            Self::Here(bytes) => bytes.extend_from_slice(frame),
            Self::Away { len, .. } => *len += frame.len(),
        }
    }

    /// Overwrites a frame.
    pub fn set(&mut self, place: usize, frame: &[u8]) {
        if let Self::Here(bytes) = self {
            bytes[place * frame.len()..][..frame.len()].copy_from_slice(frame);
        }
    }

    /// These bytes, if they are in the host's memory; else none.
    #[inline]
    pub fn here(&self, range: Range<usize>) -> &[u8] {
        if let Self::Here(bytes) = self { &bytes[range] } else { &[] }
    }

    /// These bytes, wherever they are.
    pub fn read(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Here(bytes) => Ok(Cow::Borrowed(&bytes[range])),
            Self::Away { frames, start, .. } => {
                let mut out = vec![0; range.len()];
                frames.read(start + range.start, &mut out).map_err(ReplayError::Away)?;
                Ok(Cow::Owned(out))
            }
        }
    }

    /// Bytes that were written.
    pub fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::Away { len, .. } => *len,
        }
    }

    /// Whether they are elsewhere.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Away { .. })
    }

    /// Gives the host's memory back: the frames lie elsewhere now.
    pub fn leave(&mut self, frames: Arc<dyn Elsewhere>, start: usize) {
        *self = Self::Away { frames, start, len: self.len() };
    }

    /// Brings them to the host's memory, with room for so many bytes in all.
    pub fn come_back(&mut self, room: usize) -> Result<()> {
        if self.is_away() {
            let mut bytes = vec![];
            let refused = |_| ReplayError::Memory { bytes: room as u64 };
            bytes.try_reserve_exact(room).map_err(refused)?;
            bytes.extend_from_slice(&self.read(0..self.len())?);
            *self = Self::Here(bytes);
        }
        Ok(())
    }
}

impl PartialEq for Store {
    /// The same bytes, wherever they are.
    fn eq(&self, other: &Self) -> bool {
        let all = |store: &'_ Self| store.read(0..store.len()).map(Cow::into_owned);
        self.len() == other.len()
            && match (self, other) {
                (Self::Here(one), Self::Here(other)) => one == other,
                _ => all(self).is_ok_and(|one| all(other).is_ok_and(|other| one == other)),
            }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let place = if self.is_away() { "elsewhere" } else { "here" };
        write!(f, "{} bytes {place}", self.len())
    }
}
