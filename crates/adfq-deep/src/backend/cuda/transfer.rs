//! What goes between host and device: packs of what was pushed, random numbers on their way up, metrics on their way down.
//!
//! All of it is page-locked memory, which the device copies from or writes to by itself. The device says how far it is by
//! counters in that memory, so nobody waits, but where the host is far ahead. (Kernels that read the host's memory were
//! tried for the packs, and took two to four times as long as a copy and then a kernel.)

use super::raw::Pinned;
use super::sizes::{DRAWS, RING, ROW_WORDS, Sizes};
use crate::metrics::Learned;
use crate::replay::Entry;
use crate::{Error, Result};
use adfq_nn::cuda::Device;

/// Packs that may be under way.
const PACKS: u64 = 8;
/// Looks at a counter before the host goes to sleep until the device is done with everything.
const PATIENCE: usize = 200_000;

/// What was pushed since the last commit, and the packs before it.
#[derive(Debug)]
pub(super) struct Packs {
    packs: Vec<Pinned>,
    finals: Vec<Pinned>,
    /// Whether the present one has final frames.
    pub has_finals: bool,
    /// The number of the pack being written, counted from 1.
    pub number: u64,
    /// Changed leaves of each run in it.
    changed: Vec<usize>,
    pub is_empty: bool,
    /// Steps of each run in it.
    pub steps: Vec<u64>,
}

impl Packs {
    pub fn new(sizes: &Sizes) -> Result<Self> {
        let areas = |bytes| (0..PACKS).map(|_| Pinned::new(bytes)).collect::<Result<Vec<_>>>();
        let (packs, finals) = (areas(sizes.pack_bytes())?, areas(sizes.finals_bytes())?);
        let (changed, steps) = (vec![0; sizes.runs], vec![0; sizes.runs]);
        Ok(Self { packs, finals, has_finals: false, number: 1, changed, is_empty: true, steps })
    }

    fn pack(&mut self) -> &mut Pinned {
        &mut self.packs[(self.number % PACKS) as usize]
    }

    /// The present pack, and its final frames.
    pub fn present(&mut self) -> (&[u8], &[u8]) {
        let at = (self.number % PACKS) as usize;
        (self.packs[at].bytes(), self.finals[at].bytes())
    }

    /// Whether an environment has an entry of this kind already: 0 for a step, 1 for a final frame.
    pub fn holds(&mut self, sizes: &Sizes, run: usize, env: usize, kind: usize) -> bool {
        let at = 4 * (run * sizes.pack_words() + 2 * env + kind);
        self.pack().bytes()[at..at + 4] != [0; 4]
    }

    /// Writes a slot and its frame.
    pub fn write(&mut self, sizes: &Sizes, run: usize, env: usize, kind: usize, entry: Entry, frame: &[u8]) {
        let (envs, part) = (sizes.envs, 2 * env + kind);
        let start = run * sizes.pack_words();
        let (frames, frame_at) =
            (4 * sizes.runs * sizes.pack_words(), (run * envs + env) * sizes.padded_frame());
        let words = [
            (part, entry.place as u32 + 1),
            (2 * envs + part, entry.reward.to_bits()),
            (4 * envs + part, entry.action | u32::from(entry.flags) << 24),
        ];
        let bytes = self.pack().bytes();
        for (at, word) in words {
            bytes[4 * (start + at)..][..4].copy_from_slice(&word.to_ne_bytes());
        }
        if kind == 0 {
            bytes[frames + frame_at..][..frame.len()].copy_from_slice(frame);
        } else {
            let finals = self.finals[(self.number % PACKS) as usize].bytes();
            finals[frame_at..][..frame.len()].copy_from_slice(frame);
            self.has_finals = true;
        }
        self.is_empty = false;
        self.steps[run] += u64::from(kind == 0);
    }

    /// Writes the leaves that changed. There is room for those of one step in every environment.
    pub fn change(&mut self, sizes: &Sizes, run: usize, changes: &[(usize, bool)]) {
        let start = run * sizes.pack_words() + 6 * sizes.envs;
        for &(place, present) in changes {
            let at = start + 2 + self.changed[run];
            let word = (place as u32) << 1 | u32::from(present);
            self.pack().bytes()[4 * at..][..4].copy_from_slice(&word.to_ne_bytes());
            self.changed[run] += 1;
        }
        let count = self.changed[run] as u32;
        self.pack().bytes()[4 * start..][..4].copy_from_slice(&count.to_ne_bytes());
    }

    /// Writes the learning rate of a run.
    pub fn rate(&mut self, sizes: &Sizes, run: usize, rate: f32) {
        let at = 4 * (run * sizes.pack_words() + 6 * sizes.envs + 1);
        self.pack().bytes()[at..][..4].copy_from_slice(&rate.to_ne_bytes());
    }

    /// Turns to the next pack, once the device has taken in what it held before.
    pub fn turn(&mut self, sizes: &Sizes, device: &Device, mail: &Mail) -> Result<()> {
        self.number += 1;
        if let Some(before) = self.number.checked_sub(PACKS) {
            mail.wait(device, |mail| mail.packs() >= before as u32)?;
        }
        let words = 4 * sizes.runs * sizes.pack_words();
        self.pack().bytes()[..words].fill(0);
        self.changed.fill(0);
        self.steps.fill(0);
        (self.is_empty, self.has_finals) = (true, false);
        Ok(())
    }
}

/// What the device reports.
#[derive(Debug)]
pub(super) struct Mail {
    words: Pinned,
    runs: usize,
}

/// A row of metrics: the environment step, and what the gradient step was like.
pub(super) struct Report {
    pub step: u64,
    pub learned: Learned,
    pub failed: u32,
}

impl Mail {
    pub fn new(runs: usize) -> Result<Self> {
        Ok(Self { words: Pinned::new(4 * ROW_WORDS * (1 + RING * runs))?, runs })
    }

    pub fn address(&self) -> u64 {
        self.words.address()
    }

    /// The number of the last pack that has come up.
    fn packs(&self) -> u32 {
        self.words.word(0).unwrap_or(0)
    }

    /// The rows of gradient step `number`, counted from 0, if all are there.
    pub fn rows(&self, number: u64) -> Option<Vec<Report>> {
        (0..self.runs).map(|run| self.row(number, run)).collect()
    }

    fn row(&self, number: u64, run: usize) -> Option<Report> {
        let at = ROW_WORDS * (1 + (number as usize % RING) * self.runs + run);
        if self.words.word(at + 7)? != number as u32 + 1 {
            return None;
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        let word = |i: usize| self.words.word(at + i).unwrap_or(0);
        let float = |i: usize| f32::from_bits(word(i));
        let learned =
            Learned { loss: float(0), gradient_norm: float(1), mean_q: float(2), mean_sigma: float(3) };
        Some(Report { step: u64::from(word(4)) | u64::from(word(5)) << 32, learned, failed: word(6) })
    }

    /// Waits until `there`. A device that failed says so instead.
    pub fn wait(&self, device: &Device, there: impl Fn(&Self) -> bool) -> Result<()> {
        for _ in 0..PATIENCE {
            if there(self) {
                return Ok(());
            }
            std::thread::yield_now();
        }
        device.synchronise()?;
        if there(self) { Ok(()) } else { Err(lost()) }
    }
}

fn lost() -> Error {
    adfq_nn::Error::Cuda { what: "the device is done, but did not report: please file a bug".into() }.into()
}

/// Numbers on their way up, in turns.
#[derive(Debug)]
pub(super) struct Uploads {
    areas: Vec<Pinned>,
}

impl Uploads {
    /// Areas of so many bytes: two for random numbers, one for each step of a block for drawn places.
    pub fn new(sizes: &Sizes) -> Result<Self> {
        let (count, bytes) = match sizes.prioritised {
            true => (2, 8 * sizes.runs * DRAWS * sizes.batch),
            false => (DRAWS, 4 * sizes.runs * sizes.batch),
        };
        Ok(Self { areas: (0..count).map(|_| Pinned::new(bytes)).collect::<Result<_>>()? })
    }

    pub fn area(&mut self, number: u64) -> &mut [u8] {
        let count = self.areas.len() as u64;
        self.areas[(number % count) as usize].bytes()
    }
}
