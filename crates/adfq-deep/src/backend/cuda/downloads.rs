//! Ways down for what many threads read at once, as frames are for checkpoints: each has page-locked memory and a stream of its
//! own. Copies to other memory go through the driver's, piece by piece and thread by thread, at a tenth of the bus's speed.

use super::raw::Pinned;
use crate::Result;
use adfq_nn::cuda::{Buffer, Device};
use std::sync::{Mutex, PoisonError};

/// Bytes that go down at once: as many as the bus needs to be busy.
const PIECE: usize = 1 << 20;

/// The ways of one device. There are as many as threads have read at the same time.
#[derive(Debug)]
pub(super) struct Downloads {
    device: Device,
    free: Mutex<Vec<Way>>,
}

#[derive(Debug)]
struct Way {
    device: Device,
    piece: Pinned,
}

impl Downloads {
    /// None yet.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), free: Mutex::default() }
    }

    /// Reads bytes from `start` on, when everything that is on the buffer's stream now is done. Waits.
    pub fn read(&self, from: &Buffer<u8>, start: usize, out: &mut [u8]) -> Result<()> {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let mut way = taken.map_or_else(|| Way::new(&self.device), Ok)?;
        let read = way.read(from, start, out);
        free().push(way);
        read
    }
}

impl Way {
    fn new(device: &Device) -> Result<Self> {
        // Its stream comes first: page-locked memory is for the context that this thread used last.
        Ok(Self { device: device.for_copies()?, piece: Pinned::new(PIECE)? })
    }

    fn read(&mut self, from: &Buffer<u8>, start: usize, out: &mut [u8]) -> Result<()> {
        for (number, out) in out.chunks_mut(PIECE).enumerate() {
            self.piece.receive_part(from, start + number * PIECE, 0..out.len(), &self.device)?;
            self.device.synchronise()?;
            out.copy_from_slice(&self.piece.bytes()[..out.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Parts of any size and place, by many threads at once, after what is on the stream.
    #[test]
    fn threads_read_side_by_side() {
        let Ok(device) = Device::open(0) else { return println!("not tested: no GPU") };
        let bytes: Vec<u8> = (0..5 * PIECE + 77).map(|i| (i * i / 13) as u8).collect();
        let buffer = Buffer::of(&device, &bytes).unwrap();
        let downloads = Downloads::new(&device);
        (0..64_usize).into_par_iter().for_each(|number| {
            let start = number * 12_345;
            let len = [1, 1000, PIECE, PIECE + 1, 3 * PIECE][number % 5];
            let mut out = vec![0; len];
            downloads.read(&buffer, start, &mut out).unwrap();
            assert!(out == bytes[start..][..len], "{number}");
        });
        let beyond = downloads.read(&buffer, bytes.len() - 1, &mut [0; 2]);
        assert!(beyond.is_err());
        downloads.read(&buffer, bytes.len(), &mut []).unwrap();
    }
}
