//! What goes between host and device: packs of what was pushed, random numbers on their way up, metrics on their way down.
//!
//! All of it is page-locked memory, which the device copies from or writes to by itself. The device says how far it is by
//! counters in that memory, so nobody waits, but where the host is far ahead. (Kernels that read the host's memory were
//! tried for the packs, and took two to four times as long as a copy and then a kernel.)

use super::raw::Pinned;
use super::sizes::{DRAWS, RING, ROW_WORDS, Sizes};
use crate::metrics::Learned;
use crate::replay::{Entry, Replay, Transition, Written};
use crate::{Error, Result};
use adfq_nn::cuda::Device;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// Packs that may be under way.
const PACKS: u64 = 8;
/// Looks at a counter before the first nap, about a tenth of a millisecond in all: most waits are over by then.
const LOOKS: usize = 2_000;
/// A nap, which leaves the core to others.
const NAP: Duration = Duration::from_micros(20);
/// Naps before the host goes to sleep until the device is done with everything.
const PATIENCE: usize = 10_000;

/// What was pushed since the last commit, and the packs before it.
#[derive(Debug)]
pub(super) struct Packs {
    packs: Vec<Pinned>,
    finals: Vec<Pinned>,
    /// The number of the pack being written, counted from 1.
    pub number: u64,
    /// What each run has in it.
    filled: Vec<Filled>,
}

/// What a run has in a pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Filled {
    /// Environment steps.
    steps: u64,
    /// Changed leaves.
    changed: usize,
    /// Whether there are final frames.
    finals: bool,
}

impl Packs {
    pub fn new(sizes: &Sizes) -> Result<Self> {
        let areas = |bytes| (0..PACKS).map(|_| Pinned::new(bytes)).collect::<Result<Vec<_>>>();
        let (packs, finals) = (areas(sizes.pack_bytes())?, areas(sizes.finals_bytes())?);
        Ok(Self { packs, finals, number: 1, filled: vec![Filled::default(); sizes.runs] })
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.filled.iter().all(|filled| *filled == Filled::default())
    }

    /// Whether the present one has final frames.
    pub fn has_finals(&self) -> bool {
        self.filled.iter().any(|filled| filled.finals)
    }

    /// Steps of each run in it.
    pub fn steps(&self) -> impl Iterator<Item = u64> {
        self.filled.iter().map(|filled| filled.steps)
    }

    /// The present pack, and its final frames.
    pub fn present(&mut self) -> (&[u8], &[u8]) {
        let at = (self.number % PACKS) as usize;
        (self.packs[at].bytes(), self.finals[at].bytes())
    }

    /// The parts of all runs, which can be written side by side.
    pub fn parts<'a>(&'a mut self, sizes: &'a Sizes) -> impl Iterator<Item = Part<'a>> {
        let at = (self.number % PACKS) as usize;
        let (words, frames) = self.packs[at].bytes().split_at_mut(4 * sizes.runs * sizes.pack_words());
        let words = words.chunks_exact_mut(4 * sizes.pack_words());
        let of_run = sizes.envs * sizes.padded_frame();
        let frames = frames.chunks_exact_mut(of_run).zip(self.finals[at].bytes().chunks_exact_mut(of_run));
        let parts = words.zip(frames).zip(&mut self.filled);
        parts.map(|((words, (frames, finals)), filled)| Part { sizes, words, frames, finals, filled })
    }

    /// The part of one run.
    pub fn part<'a>(&'a mut self, sizes: &'a Sizes, run: usize) -> Option<Part<'a>> {
        self.parts(sizes).nth(run)
    }

    /// Turns to the next pack, once the device has taken in what it held before.
    pub fn turn(&mut self, sizes: &Sizes, device: &Device, mail: &Mail) -> Result<()> {
        self.number += 1;
        if let Some(before) = self.number.checked_sub(PACKS) {
            mail.wait(device, |mail| mail.packs() >= before as u32)?;
        }
        let words = 4 * sizes.runs * sizes.pack_words();
        self.packs[(self.number % PACKS) as usize].bytes()[..words].fill(0);
        self.filled.fill(Filled::default());
        Ok(())
    }
}

/// What a run writes to a pack.
pub(super) struct Part<'a> {
    sizes: &'a Sizes,
    words: &'a mut [u8],
    frames: &'a mut [u8],
    finals: &'a mut [u8],
    filled: &'a mut Filled,
}

impl Part<'_> {
    /// Whether an environment has an entry already.
    pub fn holds(&self, env: usize) -> bool {
        self.words[8 * env..][..8] != [0; 8]
    }

    /// A step of an environment that the run's memory has stored.
    pub fn wrote(&mut self, env: usize, transition: &Transition, written: &Written) {
        let frames = [Some(transition.frame), transition.last];
        for (kind, (&entry, frame)) in written.slots.iter().zip(frames.into_iter().flatten()).enumerate() {
            self.write(env, kind, entry, frame);
        }
        self.change(&written.changes);
    }

    /// Cuts off the episode of an environment, in the run's memory too.
    pub fn cut(&mut self, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()> {
        let mut written = Written::default();
        replay.cut(env, frame, &mut written)?;
        if let [end] = written.slots[..] {
            self.write(env, 1, end, frame);
            self.change(&written.changes);
        }
        Ok(())
    }

    /// Writes a slot and its frame: kind 0 is a step, 1 a final frame.
    pub fn write(&mut self, env: usize, kind: usize, entry: Entry, frame: &[u8]) {
        let (envs, part) = (self.sizes.envs, 2 * env + kind);
        self.word(part, entry.place as u32 + 1);
        self.word(2 * envs + part, entry.reward.to_bits());
        self.word(4 * envs + part, entry.word());
        let frames = if kind == 0 { &mut *self.frames } else { &mut *self.finals };
        frames[env * self.sizes.padded_frame()..][..frame.len()].copy_from_slice(frame);
        self.filled.finals |= kind == 1;
        self.filled.steps += u64::from(kind == 0);
    }

    /// Writes the leaves that changed. There is room for those of one step in every environment.
    fn change(&mut self, changes: &[(usize, bool)]) {
        let start = 6 * self.sizes.envs;
        for &(place, present) in changes {
            self.word(start + 2 + self.filled.changed, (place as u32) << 1 | u32::from(present));
            self.filled.changed += 1;
        }
        self.word(start, self.filled.changed as u32);
    }

    /// Writes the learning rate of the run.
    pub fn rate(&mut self, rate: f32) {
        self.word(6 * self.sizes.envs + 1, rate.to_bits());
    }

    fn word(&mut self, at: usize, word: u32) {
        self.words[4 * at..][..4].copy_from_slice(&word.to_ne_bytes());
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
    /// What it left for the algorithm's own metrics.
    pub sums: [f32; 3],
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
        if self.words.word(at + ROW_WORDS - 1)? != number as u32 + 1 {
            return None;
        }
        fence(Ordering::Acquire);
        let word = |i: usize| self.words.word(at + i).unwrap_or(0);
        let float = |i: usize| f32::from_bits(word(i));
        let learned =
            Learned { loss: float(0), gradient_norm: float(1), mean_q: float(2), mean_sigma: float(3) };
        let sums = [4, 5, 6].map(float);
        Some(Report { step: u64::from(word(8)) | u64::from(word(9)) << 32, learned, sums, failed: word(10) })
    }

    /// Waits until `there`. A device that failed says so instead.
    pub fn wait(&self, device: &Device, there: impl Fn(&Self) -> bool) -> Result<()> {
        wait_until(device, || there(self))
    }
}

/// Waits until the device has written what `there` looks for: wide awake for a moment, then with naps. A device that failed says so
/// instead.
pub(super) fn wait_until(device: &Device, there: impl Fn() -> bool) -> Result<()> {
    let look = || {
        (0..8).for_each(|_| std::hint::spin_loop());
        there()
    };
    let nap = || {
        std::thread::sleep(NAP);
        there()
    };
    if !there() && !(0..LOOKS).any(|_| look()) && !(0..PATIENCE).any(|_| nap()) {
        device.synchronise()?;
        if !there() {
            return Err(lost());
        }
    }
    // What was written before the counter is read after it.
    fence(Ordering::Acquire);
    Ok(())
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
