//! What was captured once and is launched many times, and moments on the stream.

use super::device::Kept;
use crate::Result;
use cudarc::driver::{CudaEvent, CudaGraph};
use std::time::Duration;

/// Looks before the first nap, a few hundred microseconds in all: most waits are over by then.
const LOOKS: u32 = 200;
const NAP: Duration = Duration::from_micros(20);

/// A captured piece of work; it keeps alive the memory that it uses.
pub struct Graph {
    graph: CudaGraph,
    _kept: Kept,
}

impl Graph {
    pub(super) fn new(graph: CudaGraph, kept: Kept) -> Self {
        Self { graph, _kept: kept }
    }

    /// Puts all of it on the stream.
    pub fn launch(&self) -> Result<()> {
        Ok(self.graph.launch()?)
    }
}

/// A moment on the stream.
#[derive(Debug)]
pub struct Event(CudaEvent);

impl Event {
    pub(super) fn new(event: CudaEvent) -> Self {
        Self(event)
    }

    /// Whether everything before it is done.
    pub fn is_over(&self) -> Result<bool> {
        Ok(self.0.try_is_complete()?)
    }

    /// Waits until everything before it is done: wide awake for a moment, then with naps, which leave the core to others.
    pub fn wait(&self) -> Result<()> {
        let mut looks = 0;
        while !self.is_over()? {
            looks += 1;
            if looks > LOOKS {
                std::thread::sleep(NAP);
            }
        }
        Ok(())
    }

    /// Microseconds from this moment to a later one; waits for both.
    pub fn micros_until(&self, later: &Self) -> Result<f64> {
        Ok(f64::from(self.0.elapsed_ms(&later.0)?) * 1e3)
    }
}
