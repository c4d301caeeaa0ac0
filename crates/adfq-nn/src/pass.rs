//! The forward and the backward pass: which layers run on which rows, and what runs at once.
//!
//! Rows are independent of each other on the way forward and on the way back, so chunks of rows run in parallel; then
//! blocks of the weights' gradients do, each summed over all rows in order by one thread. No sum is split, so the bits
//! depend on neither the number of threads nor the chunks.

use crate::conv::Convolution;
use crate::dense::{self, Dense};
use crate::network::{Block, Kind, Network, Op};
use crate::normal;
use crate::workspace::{Chunk, Room, Workspace};
use crate::{Error, Result};
use rayon::prelude::*;

impl Network {
    /// The outputs for each row of `input`: copies × rows × outputs. A row's outputs are group-major.
    ///
    /// `params` holds the parameters of all copies of the workspace one after the other; `input` holds as many rows for
    /// each copy, at most the workspace's batch, copy after copy.
    pub fn forward<'w>(&self, params: &[f32], input: &[f32], ws: &'w mut Workspace) -> Result<&'w [f32]> {
        let rows = self.check(params, input, ws)?;
        ws.rows = rows;
        let (inputs, outputs) = (rows * self.inputs(), rows * self.outputs());
        let output = &mut ws.output[..ws.copies.len() * outputs];
        type Job<'a> = (((&'a mut Room, &'a [f32]), &'a [f32]), &'a mut [f32]);
        let job = |(((room, params), input), output): Job| {
            self.forward_copy(params, input, room, output);
        };
        let parameters = self.parameters;
        if parallel_copies(&ws.copies) {
            let copies = ws.copies.par_iter_mut().zip_eq(params.par_chunks_exact(parameters));
            copies
                .zip_eq(input.par_chunks_exact(inputs))
                .zip_eq(output.par_chunks_exact_mut(outputs))
                .for_each(job);
        } else {
            let copies = ws.copies.iter_mut().zip(params.chunks_exact(parameters));
            copies.zip(input.chunks_exact(inputs)).zip(output.chunks_exact_mut(outputs)).for_each(job);
        }
        Ok(output)
    }

    /// The loss's gradient with respect to the parameters, written to `grads`, from its gradient with respect to the
    /// outputs. It follows a [`forward`](Network::forward) of the same parameters and input in the same workspace.
    ///
    /// ```
    /// use adfq_nn::{Head, Network, Spec, Workspace};
    ///
    /// let spec = Spec { input: vec![1], layers: vec![], head: Head { actions: 1, groups: 1, dueling: None } };
    /// let network = Network::new(&spec)?; // y = w·x + b
    /// let mut workspace = Workspace::new(&network, 1, 2)?;
    /// let (params, input, mut grads) = ([3.0, 1.0], [2.0, 5.0], [0.0; 2]);
    /// network.forward(&params, &input, &mut workspace)?;
    /// network.backward(&params, &input, &[1.0, 10.0], &mut workspace, &mut grads)?;
    /// assert_eq!(grads, [1.0 * 2.0 + 10.0 * 5.0, 1.0 + 10.0]);
    /// # Ok::<(), adfq_nn::Error>(())
    /// ```
    pub fn backward(
        &self,
        params: &[f32],
        input: &[f32],
        out_grad: &[f32],
        ws: &mut Workspace,
        grads: &mut [f32],
    ) -> Result<()> {
        let rows = self.check(params, input, ws)?;
        if rows != ws.rows {
            return Err(Error::NoForward { rows, seen: ws.rows });
        }
        let copies = ws.copies.len();
        self.check_length("grads", copies, grads.len())?;
        check_length("out_grad", copies * rows * self.outputs(), out_grad.len())?;
        let (inputs, outputs, parameters) = (rows * self.inputs(), rows * self.outputs(), self.parameters);
        type Job<'a> = ((((&'a mut Room, &'a mut [f32]), &'a [f32]), &'a [f32]), &'a [f32]);
        let job = |((((room, grads), params), input), out_grad): Job| {
            self.backward_copy(params, input, out_grad, room, grads);
        };
        if parallel_copies(&ws.copies) {
            let copies = ws.copies.par_iter_mut().zip_eq(grads.par_chunks_exact_mut(parameters));
            let copies = copies.zip_eq(params.par_chunks_exact(parameters));
            copies
                .zip_eq(input.par_chunks_exact(inputs))
                .zip_eq(out_grad.par_chunks_exact(outputs))
                .for_each(job);
        } else {
            let copies = ws.copies.iter_mut().zip(grads.chunks_exact_mut(parameters));
            let copies = copies.zip(params.chunks_exact(parameters));
            copies.zip(input.chunks_exact(inputs)).zip(out_grad.chunks_exact(outputs)).for_each(job);
        }
        Ok(())
    }

    /// Checks what both passes take, and gives the number of rows.
    fn check(&self, params: &[f32], input: &[f32], ws: &Workspace) -> Result<usize> {
        if ws.spec != self.spec {
            return Err(Error::Foreign { what: "workspace" });
        }
        let copies = ws.copies.len();
        self.check_length("params", copies, params.len())?;
        let row = copies * self.inputs();
        let rows = input.len() / row;
        if rows == 0 || rows > ws.batch || rows * row != input.len() {
            let (found, batch, inputs) = (input.len(), ws.batch, self.inputs());
            return Err(Error::Rows { found, batch, inputs, copies });
        }
        Ok(rows)
    }

    /// Whether a buffer holds the parameters of so many copies.
    pub(crate) fn check_length(&self, what: &'static str, copies: usize, found: usize) -> Result<()> {
        check_length(what, copies * self.parameters, found)
    }

    fn forward_copy(&self, params: &[f32], input: &[f32], room: &mut Room, output: &mut [f32]) {
        let capacity = room.chunks[0].capacity;
        let (inputs, outputs) = (capacity * self.inputs(), capacity * self.outputs());
        let used = output.len().div_ceil(outputs);
        let (chunks, unused) = room.chunks.split_at_mut(used);
        unused.iter_mut().for_each(|chunk| chunk.rows = 0);
        let job = |((chunk, input), output): ((&mut Chunk, &[f32]), &mut [f32])| {
            self.forward_rows(params, input, chunk, output);
        };
        if room.parallel && used > 1 {
            let chunks = chunks.par_iter_mut().zip_eq(input.par_chunks(inputs));
            chunks.zip_eq(output.par_chunks_mut(outputs)).for_each(job);
        } else {
            chunks.iter_mut().zip(input.chunks(inputs)).zip(output.chunks_mut(outputs)).for_each(job);
        }
    }

    fn forward_rows(&self, params: &[f32], input: &[f32], chunk: &mut Chunk, output: &mut [f32]) {
        let rows = input.len() / self.inputs();
        chunk.rows = rows;
        self.pad_input(input, chunk);
        for op in &self.ops {
            let (earlier, later) = chunk.values.split_at_mut(op.sums);
            let x = if op.input == 0 && earlier[0].is_empty() { input } else { &earlier[op.input] };
            let (weight, bias) = (&params[op.weight.clone()], &params[op.bias.clone()]);
            match &op.kind {
                Kind::Dense => self.dense(op, params, rows).forward(x, &mut later[0]),
                Kind::Conv(conv) => {
                    let layer = self.convolution(op, conv);
                    let images = x.chunks_exact(layer.input.padded_len()).take(rows);
                    let outputs = later[0].chunks_exact_mut(layer.output.padded_len());
                    images.zip(outputs).for_each(|(x, y)| layer.forward(x, weight, bias, y));
                }
            }
            if op.is_normalised() {
                let (sums, output) = later.split_at_mut(1);
                let width = bias.len();
                normal::forward(width, &sums[0][..rows * width], &mut output[0]);
            }
        }
        self.head_forward(&chunk.values, output);
    }

    fn pad_input(&self, input: &[f32], chunk: &mut Chunk) {
        let value = self.values[0];
        if !value.is_padded() {
            return;
        }
        let width = value.width * value.channels;
        let images =
            input.chunks_exact(value.len()).zip(chunk.values[0].chunks_exact_mut(value.padded_len()));
        for (image, padded) in images {
            for (y, line) in image.chunks_exact(width).enumerate() {
                padded[value.pixel(y, 0)..][..width].copy_from_slice(line);
            }
        }
    }

    /// The dense layer `op` on so many rows.
    fn dense<'a>(&self, op: &Op, params: &'a [f32], rows: usize) -> Dense<'a> {
        Dense {
            rows,
            inputs: self.values[op.input].len(),
            outputs: self.values[op.output].len(),
            weight: &params[op.weight.clone()],
            bias: &params[op.bias.clone()],
            relu: op.relu && !op.is_normalised(),
        }
    }

    fn convolution<'a>(&self, op: &Op, conv: &'a crate::network::Conv) -> Convolution<'a> {
        Convolution { conv, input: self.values[op.input], output: self.values[op.output] }
    }

    fn backward_copy(
        &self,
        params: &[f32],
        input: &[f32],
        out_grad: &[f32],
        room: &mut Room,
        grads: &mut [f32],
    ) {
        for (op, turned) in self.ops.iter().zip(&mut room.turned).filter(|(_, turned)| !turned.is_empty()) {
            let filters = self.values[op.output].channels;
            dense::turn(&params[op.weight.clone()], filters, turned);
        }
        let outputs = room.chunks[0].capacity * self.outputs();
        let turned = &room.turned;
        let used = out_grad.len().div_ceil(outputs);
        let job =
            |(chunk, out_grad): (&mut Chunk, &[f32])| self.backward_rows(params, turned, out_grad, chunk);
        let in_parallel = room.parallel && used > 1;
        if in_parallel {
            room.chunks[..used].par_iter_mut().zip_eq(out_grad.par_chunks(outputs)).for_each(job);
        } else {
            room.chunks.iter_mut().zip(out_grad.chunks(outputs)).for_each(job);
        }
        self.weight_gradients(&self.blocks, input, &room.chunks[..used], grads, in_parallel);
    }

    /// The gradients with respect to all values of some rows, from the outputs down.
    fn backward_rows(&self, params: &[f32], turned: &[Vec<f32>], out_grad: &[f32], chunk: &mut Chunk) {
        self.head_backward(out_grad, &mut chunk.deltas);
        for (op, turned) in self.ops.iter().zip(turned).rev() {
            let (earlier, later) = chunk.deltas.split_at_mut(op.sums);
            if op.is_normalised() {
                let (sums, output) = later.split_at_mut(1);
                let (width, z) = (op.bias.len(), &chunk.values[op.sums]);
                normal::backward(width, z, &output[0][..chunk.rows * width], &mut sums[0]);
            }
            if op.input == 0 {
                continue;
            }
            let (dx, dy, x) = (&mut earlier[op.input], &later[0], &chunk.values[op.input]);
            match &op.kind {
                Kind::Dense => {
                    let layer = self.dense(op, params, chunk.rows);
                    layer.delta(dy, x, dx, op.shares_input, &mut chunk.scratch);
                }
                Kind::Conv(conv) => {
                    let layer = self.convolution(op, conv);
                    let scratch = &mut chunk.scratch[..layer.input.padded_len()];
                    let x = x.chunks_exact(layer.input.padded_len()).take(chunk.rows);
                    let images = dy.chunks_exact(layer.output.len()).zip(x);
                    for ((dy, x), dx) in images.zip(dx.chunks_exact_mut(layer.input.len())) {
                        layer.delta(turned, dy, x, dx, scratch);
                    }
                }
            }
        }
    }

    /// The gradients of some blocks of parameters, which `grads` holds without gaps.
    fn weight_gradients(
        &self,
        blocks: &[Block],
        input: &[f32],
        chunks: &[Chunk],
        grads: &mut [f32],
        in_parallel: bool,
    ) {
        if in_parallel && blocks.len() > 1 {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            let (left_grads, right_grads) = grads.split_at_mut(right[0].range.start - left[0].range.start);
            rayon::join(
                || self.weight_gradients(left, input, chunks, left_grads, true),
                || self.weight_gradients(right, input, chunks, right_grads, true),
            );
            return;
        }
        let start = blocks[0].range.start;
        for block in blocks {
            let grads = &mut grads[block.range.start - start..block.range.end - start];
            self.weight_gradient(block, input, chunks, grads);
        }
    }

    fn weight_gradient(&self, block: &Block, input: &[f32], chunks: &[Chunk], grad: &mut [f32]) {
        let op = &self.ops[block.op];
        let (inputs, outputs) = (self.values[op.input], self.values[op.output]);
        let Some(first) = block.first_row else {
            grad.fill(0.0);
            let all = chunks.iter().map(|chunk| &chunk.deltas[op.sums][..chunk.rows * outputs.len()]);
            return all.for_each(|dy| dense::bias_gradient(dy, grad));
        };
        let mut unread = input;
        for (i, chunk) in chunks.iter().enumerate() {
            let (own, rest) = unread.split_at(chunk.rows * self.inputs());
            unread = rest;
            let x = if chunk.values[op.input].is_empty() { own } else { &chunk.values[op.input] };
            let dy = &chunk.deltas[op.sums];
            match &op.kind {
                Kind::Dense => {
                    let (rows, width) = (chunk.rows, (inputs.len(), first));
                    dense::weight_gradient(rows, width, outputs.len(), x, dy, i > 0, grad);
                }
                Kind::Conv(conv) => {
                    let layer = self.convolution(op, conv);
                    let images = x.chunks_exact(inputs.padded_len()).zip(dy.chunks_exact(outputs.len()));
                    for (image, (x, dy)) in images.enumerate().take(chunk.rows) {
                        layer.weight_gradient(first, x, dy, i + image > 0, grad);
                    }
                }
            }
        }
    }
}

fn parallel_copies(copies: &[Room]) -> bool {
    // A copy that is too small to be split may still be worth a thread of its own beside the others.
    copies.len() > 1 && copies[0].worth_a_thread
}

fn check_length(what: &'static str, needed: usize, found: usize) -> Result<()> {
    if needed == found { Ok(()) } else { Err(Error::Length { what, needed, found }) }
}
