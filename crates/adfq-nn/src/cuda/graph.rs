//! What was captured once and is launched many times, and moments on the stream.

use super::device::Kept;
use crate::Result;
use cudarc::driver::{CudaEvent, CudaGraph};

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

    /// Microseconds from this moment to a later one; waits for both.
    pub fn micros_until(&self, later: &Self) -> Result<f64> {
        Ok(f64::from(self.0.elapsed_ms(&later.0)?) * 1e3)
    }
}
