//! Where there is no terminal to draw on: a line every so many seconds that says how far the training is.

use crate::output::say;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that prints such lines until it is dropped.
pub struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Begins to print what `line` gives, the first time after this interval.
    pub fn start(every: Duration, line: impl Fn() -> String + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        let beat = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(every) {
                line().lines().for_each(say);
            }
        };
        Self { stop: Some(stop), thread: Some(std::thread::spawn(beat)) }
    }
}

impl Drop for Heartbeat {
    /// No line comes after the last words of the training.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
