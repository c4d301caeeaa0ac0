//! Writing beside training: a few threads for all runs of the process, and for each run a [`Writer`], whose tasks are done in
//! their order. What waits to be written takes no more than a part of the memory: who brings more waits ([`Room`]).
//! What is written is decided elsewhere.

use crate::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// At least two, since they mostly wait for a disk. More than these would only wait for each other there.
pub(super) const THREADS: std::ops::RangeInclusive<usize> = 2..=8;
/// What may wait to be written, as a part of the memory that there is at the start, and at most and without knowing.
const PART: u64 = 8;
const MOST: u64 = 2 << 30;
const UNKNOWN: u64 = 512 << 20;

/// Without them, as where the system starts no more threads, tasks are done by those who bring them.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(cores.clamp(*THREADS.start(), *THREADS.end()));
    pool.thread_name(|number| format!("writer {number}")).build().ok()
});

static WAITING: LazyLock<Waiting> = LazyLock::new(|| {
    let most = adfq_files::memory::available().map_or(UNKNOWN, |bytes| (bytes / PART).min(MOST));
    Waiting::at_most(most)
});

/// The bytes that wait to be written, of all runs.
struct Waiting {
    most: u64,
    bytes: Mutex<u64>,
    less: Condvar,
}

impl Waiting {
    fn at_most(most: u64) -> Self {
        Self { most, bytes: Mutex::new(0), less: Condvar::new() }
    }

    fn take(&'static self, bytes: u64) -> Room {
        let mut waiting = locked(&self.bytes);
        // What is larger than all there may be goes alone.
        while *waiting > 0 && waiting.saturating_add(bytes) > self.most {
            waiting = self.less.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting = waiting.saturating_add(bytes);
        Room { of: self, bytes }
    }

    fn give_back(&self, bytes: u64) {
        *locked(&self.bytes) -= bytes;
        self.less.notify_all();
    }
}

/// Memory for something that waits to be written. It is given back when the task that it belongs to is done.
pub(super) struct Room {
    of: &'static Waiting,
    bytes: u64,
}

impl Room {
    /// Room for so many bytes, as soon as there is. Who has room that no task has yet must not ask for more.
    pub fn take(bytes: u64) -> Self {
        WAITING.take(bytes)
    }

    /// Less was needed.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.of.give_back(self.bytes - bytes);
        self.bytes = bytes;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.of.give_back(self.bytes);
    }
}

type Task = Box<dyn FnOnce() -> Result<()> + Send>;

/// What is to be written for one run. After a task that fails no further one is done. Dropped, it waits for those it has.
#[derive(Default)]
pub(super) struct Writer {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    turned: Condvar,
    /// Whether a task has failed, to be asked at every step.
    failed: AtomicBool,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<(Task, Room)>,
    /// Whether a thread is at work on them.
    busy: bool,
    added: u64,
    done: u64,
    error: Option<Error>,
}

impl Writer {
    /// Adds a task, and returns its number. After one that failed it is not done.
    pub fn add(&self, room: Room, task: impl FnOnce() -> Result<()> + Send + 'static) -> u64 {
        let mut queue = locked(&self.shared.queue);
        queue.added += 1;
        let number = queue.added;
        if self.shared.failed.load(Ordering::Acquire) {
            return number;
        }
        queue.tasks.push_back((Box::new(task), room));
        if !std::mem::replace(&mut queue.busy, true) {
            drop(queue);
            let shared = self.shared.clone();
            match &*POOL {
                Some(pool) => pool.spawn_fifo(move || shared.work()),
                None => shared.work(),
            }
        }
        number
    }

    /// The error of the task that failed, once.
    pub fn check(&self) -> Result<()> {
        match self.shared.failed.load(Ordering::Acquire) {
            true => locked(&self.shared.queue).error.take().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }

    /// Waits until the task of this number and all before it are done, or one has failed.
    pub fn wait_for(&self, number: u64) -> Result<()> {
        let queue = locked(&self.shared.queue);
        let goes_on = |queue: &mut Queue| queue.busy && queue.done < number;
        drop(self.shared.turned.wait_while(queue, goes_on).unwrap_or_else(PoisonError::into_inner));
        self.check()
    }

    /// Waits for all tasks.
    pub fn wait(&self) -> Result<()> {
        self.wait_for(u64::MAX)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

impl Shared {
    /// Does tasks until there are none left.
    fn work(&self) {
        while let Some((task, room)) = self.next() {
            let panicked = |_| Err(Error::State("a thread that writes checkpoints panicked".to_owned()));
            let done = catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(panicked);
            drop(room);
            let mut queue = locked(&self.queue);
            queue.done += 1;
            if let Err(error) = done {
                queue.tasks.clear();
                queue.error = Some(error);
                self.failed.store(true, Ordering::Release);
            }
            self.turned.notify_all();
        }
    }

    fn next(&self) -> Option<(Task, Room)> {
        let mut queue = locked(&self.queue);
        let next = queue.tasks.pop_front();
        queue.busy = next.is_some();
        if next.is_none() {
            self.turned.notify_all();
        }
        next
    }
}

/// What a panicking thread leaves behind is whole: numbers change in one step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn failure() -> Error {
        Error::State("the disk is full".to_owned())
    }

    /// A task that begins to work when it is told to.
    fn held(
        gate: Receiver<()>,
        then: impl FnOnce() -> Result<()> + Send,
    ) -> impl FnOnce() -> Result<()> + Send {
        move || {
            let _ = gate.recv();
            then()
        }
    }

    fn gate() -> (Sender<()>, Receiver<()>) {
        channel()
    }

    #[test]
    fn tasks_of_a_run_are_done_in_their_order() {
        let (writer, (done, order)) = (Writer::default(), channel());
        for number in 0..100 {
            let done = done.clone();
            writer.add(Room::take(8), move || {
                done.send(number).unwrap();
                Ok(())
            });
        }
        writer.wait().unwrap();
        assert_eq!(order.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn who_adds_goes_on_and_who_waits_does_not() {
        let (writer, (open, closed)) = (Writer::default(), gate());
        let first = writer.add(Room::take(8), held(closed, || Ok(())));
        let (open_second, closed) = gate();
        writer.add(Room::take(8), held(closed, || Ok(())));
        // Both are held up, and nobody waited for them.
        writer.check().unwrap();
        open.send(()).unwrap();
        writer.wait_for(first).unwrap();
        open_second.send(()).unwrap();
        writer.wait().unwrap();
    }

    #[test]
    fn after_a_failure_nothing_more_is_done_and_the_error_comes_once() {
        let (writer, (open, closed), (done, tasks)) = (Writer::default(), gate(), channel());
        writer.add(Room::take(8), held(closed, || Err(failure())));
        for number in 1..4 {
            let done = done.clone();
            writer.add(Room::take(8), move || done.send(number).map_err(|_| failure()));
        }
        open.send(()).unwrap();
        assert!(writer.wait().unwrap_err().to_string().contains("the disk is full"));
        writer.add(Room::take(8), move || done.send(4).map_err(|_| failure()));
        writer.wait().unwrap();
        writer.check().unwrap();
        assert_eq!(tasks.try_iter().count(), 0);
    }

    #[test]
    fn a_panic_is_an_error_of_the_run() {
        let writer = Writer::default();
        writer.add(Room::take(8), || panic!("meant to"));
        assert!(writer.wait().unwrap_err().to_string().contains("panicked"));
    }

    #[test]
    fn dropped_it_waits() {
        let (writer, (done, tasks)) = (Writer::default(), channel());
        for number in 0..10 {
            let done = done.clone();
            writer.add(Room::take(8), move || done.send(number).map_err(|_| failure()));
        }
        drop(writer);
        assert_eq!(tasks.try_iter().count(), 10);
    }

    /// Ten units of room: the second task has to wait for the first, and one that is larger than all goes alone.
    #[test]
    fn who_brings_too_much_waits() {
        static WAITING: LazyLock<Waiting> = LazyLock::new(|| Waiting::at_most(10));
        let mut first = WAITING.take(8);
        let (taken, took) = channel();
        let second = std::thread::spawn(move || {
            let room = WAITING.take(4);
            taken.send(room).unwrap();
            let large = WAITING.take(1_000);
            large.bytes
        });
        assert!(took.try_recv().is_err());
        first.shrink(6);
        let room = took.recv().unwrap();
        assert_eq!(*locked(&WAITING.bytes), 10);
        drop(first);
        drop(room);
        assert_eq!(second.join().unwrap(), 1_000);
        assert_eq!(*locked(&WAITING.bytes), 0);
    }
}
