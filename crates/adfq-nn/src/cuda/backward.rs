//! Backward passes on the device, and the loss that most of them start from.

use super::buffer::Buffer;
use super::engine::{Engine, Observations};
use super::kernels::{OpKernels, Tiled};
use super::launch::Kernel;
use super::params::{Delta, Elements, Normal, PartSums, Thin, Weights};
use super::pass::{Input, Pass};
use super::plan::{OpPlan, Tile};
use super::resident::{
    image_delta_shared, image_delta_threads, image_weights_blocks, image_weights_shared, image_weights_warps,
    pixels_weights_shared,
};
use crate::{Error, Result};

impl Engine {
    /// Computes the gradients of the online parameters from [`Pass::out_grad`], after a forward pass whose first view
    /// was that of the online parameters and this input.
    pub fn backward(&mut self, pass: &mut Pass, input: Input) -> Result<()> {
        self.backward_in_parts(pass, input)?;
        self.sum_parts(pass)
    }

    /// The same, but for the sum of the parts of gradients that have several.
    pub(super) fn backward_in_parts(&mut self, pass: &mut Pass, input: Input) -> Result<()> {
        let input = self.check_input(pass, input)?;
        self.dueling(pass, false)?;
        let last = self.plan.ops.len() - 1;
        for (i, op) in self.plan.ops.iter().enumerate().rev() {
            let mut dy = self.output_delta(pass, i == last)?.unwrap_or_else(|| pass.delta(op.output));
            if op.is_normalised() {
                dy = self.normalise_backward(pass, op, dy)?;
            }
            let delta = Delta {
                params: self.online.address(),
                dy,
                x: pass.value(op.input, 0, self),
                dx: pass.delta(op.input),
                params_stride: self.plan.stride as i64,
                dy_stride: (pass.rows * self.plan.values[op.output]) as i64,
                x_stride: (pass.rows * self.plan.values[op.input]) as i64,
                dx_stride: (pass.rows * self.plan.values[op.input]) as i64,
                weight: op.weight as i32,
                rows: pass.rows as i32,
                tiles_n: op.geometry.channels.div_ceil(op.delta_n) as i32,
                add: i32::from(op.shares_input),
            };
            let weights = self.weights_parameters(pass, i, dy, if op.input == 0 { input } else { delta.x });
            self.run_backward(pass, i, delta, weights)?;
        }
        self.device.join()
    }

    /// The gradient of a linear head's outputs, as its kernels take it.
    fn output_delta(&self, pass: &Pass, is_last: bool) -> Result<Option<u64>> {
        if !is_last || pass.dueling.is_some() {
            return Ok(None);
        }
        let last = self.plan.ops.len() - 1;
        if self.plan.ops[last].thin {
            return Ok(Some(pass.out_grad.address()));
        }
        let size = pass.out_grad.len();
        let outputs = pass.out_grad.address();
        let gradient = pass.delta(self.plan.ops[last].output);
        let elements = Elements { outputs, gradient, size: size as i32, ..Elements::default() };
        self.kernels.round_all.run(&self.device, (size.div_ceil(256), 1, 1), 256, 0, elements)?;
        Ok(Some(gradient))
    }

    /// The gradient of a layer's sums from that of its output.
    fn normalise_backward(&self, pass: &Pass, op: &OpPlan, gradient: u64) -> Result<u64> {
        let (sums, out) = (pass.value(op.sums, 0, self), pass.delta(op.sums));
        let rows = self.copies * pass.rows;
        let normal = Normal { sums, gradient, out, ..self.normal_parameters(op, rows) };
        self.kernels.normal_backward.run(&self.device, (rows.div_ceil(8), 1, 1), 256, 0, normal)?;
        Ok(out)
    }

    fn weights_parameters(&self, pass: &Pass, i: usize, dy: u64, input: u64) -> Weights {
        let (op, slots) = (&self.plan.ops[i], pass.slots.of_op[i]);
        let partial = pass.weight_partial.address() + (slots.partial * size_of::<f32>()) as u64;
        Weights {
            input,
            dy,
            grads: self.grads.address(),
            partial,
            squares: pass.slots.squares.address(),
            input_stride: (pass.rows * self.plan.values[op.input]) as i64,
            dy_stride: (pass.rows * self.plan.values[op.output]) as i64,
            grads_stride: self.plan.stride as i64,
            partial_stride: pass.weight_partial_stride as i64,
            squares_stride: pass.slots.count as i64,
            weight: op.weight as i32,
            bias: op.bias as i32,
            slot: slots.weight as i32,
            bias_slot: slots.bias as i32,
            rows: pass.rows as i32,
            tiles_n: op.geometry.filters.div_ceil(op.weights_tile.n) as i32,
            splits: slots.splits as i32,
            split_tiles: slots.split_tiles as i32,
            scale: if op.input == 0 { self.observations.scale() } else { 1.0 },
        }
    }

    fn run_backward(&self, pass: &Pass, i: usize, delta: Delta, weights: Weights) -> Result<()> {
        let (op, device, copies) = (&self.plan.ops[i], &self.device, self.copies);
        match &self.kernels.ops[i] {
            OpKernels::Thin { backward, .. } => {
                let inputs = op.geometry.inputs();
                let delta_blocks = if op.input == 0 { 0 } else { (pass.rows * inputs).div_ceil(256) };
                let filters = op.geometry.filters;
                let blocks = delta_blocks + (inputs * filters).div_ceil(256) + filters.div_ceil(256);
                let bytes = op.input == 0 && matches!(self.observations, Observations::Bytes { .. });
                let thin =
                    Thin { delta, weights, bytes: i32::from(bytes), delta_blocks: delta_blocks as i32 };
                backward.run(device, (blocks, copies, 1), 256, 0, thin)
            }
            OpKernels::Pixels { weights: kernel, .. } => {
                let grid = (1, weights.splits as usize, copies);
                kernel.run_on(device.fork()?, grid, 128, pixels_weights_shared(&op.geometry), weights)
            }
            OpKernels::Images { tiled, delta: kernel, weights: kernels, images: [_, images], .. } => {
                self.run_image_weights(op, kernels, weights)?;
                let (g, blocks) = (&op.geometry, pass.rows.div_ceil(*images));
                if blocks * copies < self.multiprocessors {
                    return self.run_delta(pass, op, tiled, delta);
                }
                let (threads, shared) = (image_delta_threads(g, *images), image_delta_shared(g, *images));
                kernel.run(device, (blocks, 1, copies), threads, shared, delta)
            }
            OpKernels::Tiled { tiled, weights: kernel } => {
                // Gradients of weights need nothing of the deltas further down: they run beside them.
                let tile = op.weights_tile;
                let columns = (weights.tiles_n * weights.splits) as usize;
                let grid = (op.geometry.patch().div_ceil(tile.m), columns, copies);
                let shared = op.weights_shared(weights.split_tiles as usize);
                kernel.run_on(device.fork()?, grid, 128, shared, weights)?;
                self.run_delta(pass, op, tiled, delta)
            }
        }
    }

    fn run_delta(&self, pass: &Pass, op: &OpPlan, tiled: &Tiled, delta: Delta) -> Result<()> {
        let Some(kernels) = &tiled.delta else { return Ok(()) };
        let g = op.geometry;
        let classes = g.stride * g.stride;
        let rows = pass.rows * g.height.div_ceil(g.stride) * g.width.div_ceil(g.stride);
        let columns = delta.tiles_n as usize * classes;
        let variant = op.choose_height(rows, self.copies * columns, self.multiprocessors);
        let tile = Tile { m: op.heights()[variant], n: op.delta_n };
        let grid = (rows.div_ceil(tile.m), columns, self.copies);
        kernels[variant].run(&self.device, grid, 128, tile.delta_shared(), delta)
    }

    /// Blocks that share an image's weights where there are not enough otherwise; each warp's work is the same.
    fn run_image_weights(&self, op: &OpPlan, kernels: &[Kernel; 2], weights: Weights) -> Result<()> {
        let (g, splits) = (&op.geometry, weights.splits as usize);
        let choices = image_weights_blocks(g);
        let variant = usize::from(choices[1] * splits * self.copies <= self.multiprocessors);
        let (blocks, stream) = (choices[variant], self.device.fork()?);
        let threads = 32 * image_weights_warps(g) / blocks;
        let grid = (blocks, splits, self.copies);
        kernels[variant].run_on(stream, grid, threads, image_weights_shared(g), weights)
    }

    /// Adds up the parts of all weights' gradients.
    pub(super) fn sum_parts(&self, pass: &Pass) -> Result<()> {
        if pass.slots.count_parts() == 0 {
            return Ok(());
        }
        let (sums, grid) = (self.part_sums(pass), (pass.slots.count_parts(), self.copies, 1));
        self.kernels.weights_sum.run(&self.device, grid, 256, 0, sums)
    }

    pub(super) fn part_sums(&self, pass: &Pass) -> PartSums {
        PartSums {
            parts: pass.slots.parts.address(),
            partial: pass.weight_partial.address(),
            grads: self.grads.address(),
            squares: pass.slots.squares.address(),
            partial_stride: pass.weight_partial_stride as i64,
            grads_stride: self.plan.stride as i64,
            squares_stride: pass.slots.count as i64,
        }
    }

    /// Sets [`Pass::out_grad`] to the gradient of Σ weight · [`huber`](crate::huber)(output - target, δ) over the first
    /// view's outputs. Targets and weights are `[copy][row][output]`; longer buffers are read from their start.
    pub fn huber(
        &self,
        pass: &mut Pass,
        targets: &Buffer<f32>,
        weights: &Buffer<f32>,
        delta: f32,
    ) -> Result<()> {
        let size = pass.out_grad.len();
        for (what, found) in [("targets", targets.len()), ("weights", weights.len())] {
            if found < size {
                return Err(Error::Length { what, needed: size, found });
            }
        }
        let elements = Elements {
            outputs: pass.outputs().address(),
            targets: targets.address(),
            weights: weights.address(),
            gradient: pass.out_grad.address(),
            delta,
            size: size as i32,
        };
        self.kernels.huber.run(&self.device, (size.div_ceil(128), 1, 1), 128, 0, elements)
    }
}
