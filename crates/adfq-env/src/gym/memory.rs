//! Memory that the program and its workers share: a file without a name, mapped by all.
//!
//! ```text
//! ticket, program asleep | (done, asleep) for each worker | actions | rewards | flags | frames | successors
//! ```
//!
//! Each part starts a cache line, and the last five have a place for each environment. A new ticket asks for a step; a
//! worker writes the ticket to its `done` when it has taken it. Who sleeps says so, and is then woken through a socket.
//!
//! This is the one place of the crate with unsafe code, because mapping a file is: another process may write to it.

#![allow(unsafe_code)]

use crate::{Error, Result, Space, Step};
use memmap2::MmapMut;
use serde::Serialize;
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

const LINE: usize = 64;
const TICKET: usize = 0;
const PROGRAM_SLEEPS: usize = 8;
const TERMINATED: u8 = 1;
const TRUNCATED: u8 = 2;
const LIFE_LOST: u8 = 4;

/// Where everything lies, in bytes from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Layout {
    /// How long it is.
    pub bytes: usize,
    /// Two u64 for each worker, a line apart.
    pub workers: usize,
    /// An i64 for each environment.
    pub actions: usize,
    /// An f64 for each environment.
    pub rewards: usize,
    /// A byte for each environment.
    pub flags: usize,
    /// A frame for each environment.
    pub frames: usize,
    /// A frame for each environment.
    pub successors: usize,
}

impl Layout {
    /// Of this many workers and environments.
    pub fn new(workers: usize, envs: usize, frame_bytes: usize) -> Self {
        // The program's words have the first line to themselves.
        let mut end = LINE;
        let mut part = |bytes: usize| {
            let start = end;
            end = (start + bytes).next_multiple_of(LINE);
            start
        };
        let (workers, actions) = (part(LINE * workers), part(8 * envs));
        let (rewards, flags) = (part(8 * envs), part(envs));
        let (frames, successors) = (part(envs * frame_bytes), part(envs * frame_bytes));
        Self { bytes: end, workers, actions, rewards, flags, frames, successors }
    }
}

/// The memory. Workers write to it only between a request and their answer to it, and while a request is under way the
/// memory is borrowed mutably: no reference of ours sees their writes.
pub(super) struct Memory {
    file: File,
    map: MmapMut,
    layout: Layout,
    envs: usize,
    frame_bytes: usize,
}

impl Memory {
    /// Memory for this many workers and environments.
    pub fn new(workers: usize, envs: usize, space: &Space) -> Result<Self> {
        let frame_bytes = space.frame_bytes();
        let layout = Layout::new(workers, envs, frame_bytes);
        let refuse = |source| Error::Memory { bytes: layout.bytes, source };
        let file = nameless().map_err(refuse)?;
        file.set_len(layout.bytes as u64).map_err(refuse)?;
        // SAFETY: the file is ours and has no name: only workers, to which we hand it, can map it as well. They write as
        // the type's documentation says, and cannot shorten it, which would make reading it a fault, without meaning to.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(refuse)?;
        Ok(Self { file, map, layout, envs, frame_bytes })
    }

    /// What a worker maps.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where everything lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where a worker says which ticket it is done with, and where that it sleeps.
    pub fn worker(&self, worker: usize) -> (usize, usize) {
        let line = self.layout.workers + LINE * worker;
        (line, line + 8)
    }

    /// Writes the actions and then a new ticket.
    pub fn ask(&mut self, actions: &[usize]) {
        let places = self.map[self.layout.actions..].as_chunks_mut::<8>().0;
        for (place, &action) in places.iter_mut().zip(actions) {
            *place = (action as i64).to_ne_bytes();
        }
        self.word(TICKET).fetch_add(1, SeqCst);
    }

    /// Whether a worker sleeps, and has to be woken to see the ticket.
    pub fn sleeps(&self, worker: usize) -> bool {
        self.word(self.worker(worker).1).load(SeqCst) != 0
    }

    /// Whether a worker has taken the step last asked for.
    pub fn done(&self, worker: usize) -> bool {
        self.word(self.worker(worker).0).load(SeqCst) == self.word(TICKET).load(SeqCst)
    }

    /// Says whether the program sleeps, and has to be woken to see that a step is done.
    pub fn sleep(&self, asleep: bool) {
        self.word(PROGRAM_SLEEPS).store(asleep.into(), SeqCst);
    }

    fn word(&self, place: usize) -> &AtomicU64 {
        assert!(place.is_multiple_of(8) && place + 8 <= self.map.len(), "no word lies there");
        // SAFETY: within the map, and aligned, since maps start at a page. Words are used as atomics alone, and lie in
        // lines of their own, so no slice of the map covers one.
        unsafe { AtomicU64::from_ptr(self.map.as_ptr().add(place).cast_mut().cast()) }
    }

    /// What came of the actions.
    pub fn steps(&self, steps: &mut [Step]) {
        let rewards = self.map[self.layout.rewards..].as_chunks::<8>().0;
        let flags = &self.map[self.layout.flags..];
        for ((step, &reward), &flags) in steps.iter_mut().zip(rewards).zip(flags) {
            *step = Step {
                reward: f64::from_ne_bytes(reward),
                terminated: flags & TERMINATED != 0,
                truncated: flags & TRUNCATED != 0,
                life_lost: flags & LIFE_LOST != 0,
            };
        }
    }

    /// All frames.
    pub fn frames(&self) -> &[u8] {
        &self.map[self.part(self.layout.frames)]
    }

    /// All last frames.
    pub fn successors(&self) -> &[u8] {
        &self.map[self.part(self.layout.successors)]
    }

    fn part(&self, start: usize) -> Range<usize> {
        start..start + self.envs * self.frame_bytes
    }
}

/// A file in memory that no folder lists: it is gone with the last process that holds it, however that ends.
#[cfg(target_os = "linux")]
fn nameless() -> std::io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("adfq", MemfdFlags::CLOEXEC)?.into())
}

/// Elsewhere a temporary file, removed as soon as it is open.
#[cfg(not(target_os = "linux"))]
fn nameless() -> std::io::Result<File> {
    tempfile::tempfile()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    #[test]
    fn parts_do_not_overlap_and_are_aligned() {
        for (envs, bytes) in [(1, 1), (3, 16), (64, 7056), (7, 100_801)] {
            let Layout { bytes: all, workers, actions, rewards, flags, frames, successors } =
                Layout::new(3, envs, bytes);
            let numbers = [(workers, 3 * LINE), (actions, 8 * envs), (rewards, 8 * envs)];
            let parts = [&numbers[..], &[(flags, envs), (frames, envs * bytes)]].concat();
            let starts = [actions, rewards, flags, frames, successors];
            for ((start, length), next) in parts.into_iter().zip(starts) {
                assert!(start % LINE == 0 && start + length <= next, "{envs} {bytes}");
            }
            assert!(workers >= 16 && successors + envs * bytes <= all, "{envs} {bytes}");
        }
    }

    #[test]
    fn what_a_worker_writes_is_read() {
        let space = Space { frame: vec![3], element: Element::U8 { scale: 1.0 }, stack: 1, actions: 2 };
        let mut memory = Memory::new(1, 2, &space).unwrap();
        memory.ask(&[1, 0]);
        // SAFETY: the map of a worker, in this process: nothing is borrowed from the memory meanwhile.
        let mut other = unsafe { MmapMut::map_mut(memory.file()) }.unwrap();
        let Layout { workers, actions, rewards, flags, frames, successors, .. } = *memory.layout();
        assert_eq!(other[..8], 1_u64.to_ne_bytes());
        assert!(!memory.done(0) && !memory.sleeps(0));
        other[workers] = 1;
        other[workers + 8] = 1;
        assert!(memory.done(0) && memory.sleeps(0));
        memory.sleep(true);
        assert_eq!(other[8], 1);
        assert_eq!(other[actions..actions + 16], [1_i64.to_ne_bytes(), 0_i64.to_ne_bytes()].concat());
        other[rewards + 8..rewards + 16].copy_from_slice(&(-2.5_f64).to_ne_bytes());
        other[flags] = TERMINATED | LIFE_LOST;
        other[flags + 1] = TRUNCATED;
        other[frames..frames + 6].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        other[successors + 5] = 9;
        let mut steps = [Step::default(); 2];
        memory.steps(&mut steps);
        let lost = Step { terminated: true, life_lost: true, ..Step::default() };
        assert_eq!(steps, [lost, Step { reward: -2.5, truncated: true, ..Step::default() }]);
        assert_eq!(
            (memory.frames(), memory.successors()),
            (&[1, 2, 3, 4, 5, 6][..], &[0, 0, 0, 0, 0, 9][..])
        );
    }
}
