//! From what environments show to a network's outputs: observations go up, one launch for all, outputs come down.

use super::raw::Pinned;
use super::step::record;
use crate::Result;
use adfq_env::{Element, Space};
use adfq_nn::cuda::{Buffer, Engine, Graph, Input, Pass, View, Which};

/// Forward passes of what the host sees, some observations for each run: one graph with the copies to and fro, captured at
/// the first.
pub struct Acting {
    pass: Pass,
    input: Staged,
    observations: Pinned,
    outputs: Pinned,
    /// Bytes of one observation.
    row: usize,
    graph: Option<Graph>,
}

enum Staged {
    Bytes(Buffer<u8>),
    Floats(Buffer<f32>),
}

impl Acting {
    /// Room for `rows` observations of each run.
    pub fn new(engine: &Engine, space: &Space, runs: usize, rows: usize) -> Result<Self> {
        let (device, numbers) = (engine.device(), runs * rows * space.observation_len());
        let input = match space.element {
            Element::U8 { .. } => Staged::Bytes(Buffer::zeros(device, numbers)?),
            Element::F32 => Staged::Floats(Buffer::zeros(device, numbers)?),
        };
        let (pass, row) = (engine.pass(1, rows)?, space.observation_len() * space.element.bytes());
        let observations = Pinned::new(runs * rows * row)?;
        let outputs = Pinned::new(4 * pass.outputs().len())?;
        Ok(Self { pass, input, observations, outputs, row, graph: None })
    }

    /// Where the observations go, in page-locked memory: those of the first run, of the second, and so on, each with its
    /// frames stacked and its numbers as they are in memory.
    pub fn rows(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.observations.bytes().chunks_exact_mut(self.row)
    }

    /// All of them, one after the other.
    pub(super) fn observations(&mut self) -> &mut [u8] {
        self.observations.bytes()
    }

    /// The outputs for what was written to [`rows`](Self::rows), in the same order. Waits for them.
    pub fn forward(&mut self, engine: &Engine) -> Result<&[f32]> {
        if self.graph.is_none() {
            self.graph = Some(record(engine.device(), || self.put_on_stream(engine))?);
        }
        if let Some(graph) = &self.graph {
            graph.launch()?;
        }
        engine.device().wait()?;
        Ok(self.outputs.numbers())
    }

    fn put_on_stream(&mut self, engine: &Engine) -> Result<()> {
        let observations = self.observations.bytes();
        let input = match &mut self.input {
            Staged::Bytes(buffer) => {
                buffer.upload(observations)?;
                Input::Bytes(buffer)
            }
            Staged::Floats(buffer) => {
                buffer.upload(bytemuck::cast_slice(observations))?;
                Input::Floats(buffer)
            }
        };
        engine.forward(&mut self.pass, &[View { which: Which::Online, input }])?;
        self.outputs.receive(self.pass.outputs())
    }
}
