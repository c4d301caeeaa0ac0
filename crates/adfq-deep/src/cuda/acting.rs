//! From what environments show to a network's outputs: observations go up, one launch for all, outputs come down.

use crate::Result;
use crate::observation::Observation;
use adfq_env::{Element, Space};
use adfq_nn::cuda::{Buffer, Engine, Input, Pass, View, Which};

/// Forward passes of what the host sees, some rows for each run.
pub(super) struct Acting {
    pass: Pass,
    input: Staged,
    bytes: Vec<u8>,
    /// Bytes of one observation.
    row: usize,
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
        let row = space.observation_len() * space.element.bytes();
        Ok(Self { pass: engine.pass(1, rows)?, input, bytes: vec![0; runs * rows * row], row })
    }

    /// The outputs for these observations. Waits for them.
    pub fn forward<'a>(
        &mut self,
        engine: &Engine,
        observations: impl Iterator<Item = &'a Observation>,
    ) -> Result<Vec<f32>> {
        for (observation, out) in observations.zip(self.bytes.chunks_exact_mut(self.row)) {
            observation.stacked(out);
        }
        let input = match &mut self.input {
            Staged::Bytes(buffer) => {
                buffer.upload(&self.bytes)?;
                Input::Bytes(buffer)
            }
            Staged::Floats(buffer) => {
                let numbers = self.bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes));
                buffer.upload(&numbers.collect::<Vec<_>>())?;
                Input::Floats(buffer)
            }
        };
        engine.forward(&mut self.pass, &[View { which: Which::Online, input }])?;
        Ok(self.pass.outputs().download()?)
    }
}
