//! Forward and backward passes on the device: which kernels run, in which order, on what.

use super::buffer::Buffer;
use super::engine::{Engine, Observations, OpKernels, Which};
use super::params::{
    self, Delta, Dueling, Elements, FUSED_VALUES, Forward, ForwardView, FusedForward, PartSums, Thin, VIEWS,
    Weights,
};
use super::plan::{CHUNK, OpPlan, PART, Tile};
use crate::{Error, Result};

/// Observations on the device: `[copies][rows][…]`.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// For an engine that takes [`Observations::Floats`].
    Floats(&'a Buffer<f32>),
    /// For an engine that takes [`Observations::Bytes`].
    Bytes(&'a Buffer<u8>),
}

/// Parameters and what goes through them.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The parameters.
    pub which: Which,
    /// The observations.
    pub input: Input<'a>,
}

/// The memory of passes: activations of some views, gradients of the first, outputs.
#[derive(Debug)]
pub struct Pass {
    views: usize,
    rows: usize,
    /// Each value but the input, `[view][copy][row][…]`.
    values: Vec<Option<Buffer<f32>>>,
    /// The loss's gradient with respect to each value of the first view, before its ReLU.
    deltas: Vec<Option<Buffer<f32>>>,
    /// Parts of the forward product that is split most.
    partial: Buffer<f32>,
    /// Parts of all weights' gradients, `[copy][op][split][…]`.
    weight_partial: Buffer<f32>,
    weight_partial_stride: usize,
    pub(super) slots: Slots,
    /// Outputs of a dueling head.
    dueling: Option<Buffer<f32>>,
    out_grad: Buffer<f32>,
}

/// Where the sums of squares of each op's weights and bias lie, and the parts that `weights_sum` adds up.
#[derive(Debug)]
pub(super) struct Slots {
    of_op: Vec<OpSlots>,
    parts: Buffer<i32>,
    /// The first slot of each tensor, and the end.
    pub of_tensor: Buffer<i32>,
    /// The sums: `[copy][slot]`.
    pub squares: Buffer<f64>,
    pub count: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpSlots {
    weight: usize,
    bias: usize,
    splits: usize,
    split_tiles: usize,
    /// Where the op's parts start in a copy's share of the buffer of parts.
    partial: usize,
}

impl Pass {
    pub(super) fn new(engine: &Engine, views: usize, rows: usize) -> Result<Self> {
        for (what, size) in [("the number of views", views), ("the batch", rows)] {
            if size == 0 {
                return Err(Error::Zero { what: what.to_owned() });
            }
        }
        if views > VIEWS {
            return Err(Error::Setting { name: "views", value: views as f64, need: "at most 4" });
        }
        let (plan, copies) = (&engine.plan, engine.copies);
        // Within a copy, the kernels count in i32; a grid has at most 65535 products.
        let largest = plan.values.iter().max().copied().unwrap_or(0).saturating_mul(rows);
        if largest > i32::MAX as usize || copies * views > 65535 {
            return Err(Error::TooLarge);
        }
        let device = &engine.device;
        let buffers = |count: usize| -> Result<Vec<_>> {
            let sizes = plan.values.iter().enumerate();
            sizes
                .map(|(i, &len)| (i > 0).then(|| Buffer::zeros(device, count * rows * len)).transpose())
                .collect()
        };
        let split = plan.ops.iter().filter(|op| op.splits > 1);
        let partial = split.map(|op| op.splits * op.geometry.outputs()).max().unwrap_or(0);
        let (slots, weight_partial_stride) = Slots::new(engine, rows)?;
        let outputs = copies * rows * engine.network.outputs();
        let is_dueling = engine.network.spec.head.dueling.is_some();
        Ok(Self {
            views,
            rows,
            values: buffers(views * copies)?,
            deltas: buffers(copies)?,
            partial: Buffer::zeros(device, views * copies * rows * partial)?,
            weight_partial: Buffer::zeros(device, copies * weight_partial_stride)?,
            weight_partial_stride,
            slots,
            dueling: is_dueling.then(|| Buffer::zeros(device, views * outputs)).transpose()?,
            out_grad: Buffer::zeros(device, outputs)?,
        })
    }

    /// Rows of each copy in a view.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.views
    }

    /// The outputs of the last forward pass: `[view][copy][row][output]`.
    pub fn outputs(&self) -> &Buffer<f32> {
        match (&self.dueling, self.values.last()) {
            (Some(outputs), _) | (None, Some(Some(outputs))) => outputs,
            // A network has at least its head.
            _ => &self.out_grad,
        }
    }

    /// The loss's gradient with respect to the first view's outputs: `[copy][row][output]`.
    pub fn out_grad(&self) -> &Buffer<f32> {
        &self.out_grad
    }

    /// The same, to be set.
    pub fn out_grad_mut(&mut self) -> &mut Buffer<f32> {
        &mut self.out_grad
    }

    /// Where a view of a value starts.
    fn value(&self, i: usize, view: usize, engine: &Engine) -> u64 {
        let offset = view * engine.copies * self.rows * engine.plan.values[i] * size_of::<f32>();
        self.values[i].as_ref().map_or(0, |buffer| buffer.address() + offset as u64)
    }

    /// Where the first view of each value starts.
    pub(super) fn value_addresses(&self, engine: &Engine) -> [u64; FUSED_VALUES] {
        let mut addresses = [0; FUSED_VALUES];
        for (i, address) in addresses.iter_mut().enumerate().take(self.values.len()) {
            *address = self.value(i, 0, engine);
        }
        addresses
    }

    fn delta(&self, i: usize) -> u64 {
        self.deltas[i].as_ref().map_or(0, Buffer::address)
    }
}

impl Slots {
    fn new(engine: &Engine, rows: usize) -> Result<(Self, usize)> {
        let (mut of_op, mut parts, mut slot, mut partial) = (Vec::new(), Vec::new(), 0, 0);
        for op in &engine.plan.ops {
            let (patch, filters) = (op.geometry.patch(), op.geometry.filters);
            let (splits, split_tiles) = if op.thin { (1, 0) } else { op.weight_splits(rows) };
            let sizes = if op.thin {
                [(patch * filters).div_ceil(256), filters.div_ceil(256)]
            } else if splits == 1 {
                let columns = filters.div_ceil(op.weights_tile.n);
                [patch.div_ceil(op.weights_tile.m) * columns, columns]
            } else {
                [(patch * filters).div_ceil(PART), filters.div_ceil(PART)]
            };
            of_op.push(OpSlots { weight: slot, bias: slot + sizes[0], splits, split_tiles, partial });
            if splits > 1 {
                let size = (patch + 1) * filters;
                let scale = if op.input == 0 { engine.observations.scale() } else { 1.0 };
                let mut add = |from: usize, to: usize, length: usize, first_slot: usize, scale: f32| {
                    for (i, start) in (0..length).step_by(PART).enumerate() {
                        let length = PART.min(length - start);
                        let numbers =
                            [partial + from + start, size, splits, to + start, length, first_slot + i];
                        parts.extend(numbers.map(|n| n as i32));
                        parts.push(scale.to_bits() as i32);
                    }
                };
                add(0, op.weight, patch * filters, slot, scale);
                add(patch * filters, op.bias, filters, slot + sizes[0], 1.0);
                partial += (splits * size).next_multiple_of(4);
            }
            slot += sizes[0] + sizes[1];
        }
        if partial > i32::MAX as usize {
            return Err(Error::TooLarge);
        }
        let starts = of_op.iter().flat_map(|slots: &OpSlots| [slots.weight, slots.bias]);
        let of_tensor: Vec<_> = starts.chain([slot]).map(|slot| slot as i32).collect();
        let slots = Self {
            parts: Buffer::of(&engine.device, &parts)?,
            of_tensor: Buffer::of(&engine.device, &of_tensor)?,
            squares: Buffer::zeros(&engine.device, engine.copies * slot)?,
            of_op,
            count: slot,
        };
        Ok((slots, partial))
    }

    /// Number of parts.
    fn parts(&self) -> usize {
        self.parts.len() / 7
    }
}

impl Engine {
    /// Computes the outputs of all views of all copies. As many views as the pass was made for.
    pub fn forward(&self, pass: &mut Pass, views: &[View]) -> Result<()> {
        if views.len() != pass.views {
            return Err(Error::Length { what: "views", needed: pass.views, found: views.len() });
        }
        let mut inputs = [0; VIEWS];
        for (address, view) in inputs.iter_mut().zip(views) {
            *address = self.check_input(pass, view.input)?;
        }
        if let Some([kernel, _]) = &self.kernels.fused {
            let mut fused = FusedForward {
                values: pass.value_addresses(self),
                params_stride: self.plan.stride as i64,
                view_count: pass.views as i32,
                rows: pass.rows as i32,
                scale: self.observations.scale(),
                ..FusedForward::default()
            };
            for (v, view) in views.iter().enumerate() {
                let (params, input) = (self.parameters(view.which).address(), inputs[v]);
                let output = pass.value(self.plan.values.len() - 1, v, self);
                fused.views[v] = ForwardView { params, input, output };
            }
            let grid = (pass.rows.div_ceil(CHUNK), pass.views, self.copies);
            return kernel.run(&self.device, grid, 512, self.plan.forward_shared(), fused);
        }
        for (i, op) in self.plan.ops.iter().enumerate() {
            let mut forward = self.forward_parameters(pass, op);
            for (v, view) in views.iter().enumerate() {
                forward.views[v] = ForwardView {
                    params: self.parameters(view.which).address(),
                    input: if op.input == 0 { inputs[v] } else { pass.value(op.input, v, self) },
                    output: pass.value(op.output, v, self),
                };
            }
            self.run_forward(pass, i, forward)?;
        }
        self.dueling(pass, true)
    }

    fn forward_parameters(&self, pass: &Pass, op: &OpPlan) -> Forward {
        Forward {
            params_stride: self.plan.stride as i64,
            input_stride: (pass.rows * self.plan.values[op.input]) as i64,
            output_stride: (pass.rows * self.plan.values[op.output]) as i64,
            weight: op.weight as i32,
            bias: op.bias as i32,
            view_count: pass.views as i32,
            rows: pass.rows as i32,
            tiles_n: op.geometry.filters.div_ceil(op.forward_n) as i32,
            splits: op.splits as i32,
            split_tiles: op.split_tiles as i32,
            scale: if op.input == 0 { self.observations.scale() } else { 1.0 },
            partial: if op.splits > 1 { pass.partial.address() } else { 0 },
            ..Forward::default()
        }
    }

    fn run_forward(&self, pass: &Pass, i: usize, forward: Forward) -> Result<()> {
        let (op, device) = (&self.plan.ops[i], &self.device);
        let products = pass.views * self.copies;
        match &self.kernels.ops[i] {
            OpKernels::Thin { forward: kernel, .. } => {
                let columns = op.geometry.filters.div_ceil(8);
                kernel.run(device, (pass.rows.div_ceil(4), columns, products), 256, 0, forward)
            }
            OpKernels::Tiled { forward: kernels, sum, .. } => {
                let rows = pass.rows * op.geometry.positions();
                let columns = forward.tiles_n as usize * op.splits;
                let variant = op.choose_height(rows, products * columns, self.multiprocessors);
                let tile = Tile { m: op.heights()[variant], n: op.forward_n };
                let grid = (rows.div_ceil(tile.m), columns, products);
                kernels[variant].run(device, grid, 128, tile.forward_shared(), forward)?;
                let Some(sum) = sum else { return Ok(()) };
                let size = rows * op.geometry.filters;
                sum.run(device, (size.div_ceil(128), 1, products), 128, 0, forward)
            }
        }
    }

    /// The outputs of a dueling head from its streams, or their gradients from those of the outputs.
    fn dueling(&self, pass: &Pass, is_forward: bool) -> Result<()> {
        let Some(outputs) = &pass.dueling else { return Ok(()) };
        let head = &self.network.spec.head;
        let first = self.plan.values.len() - 4 * head.groups;
        let at = |i: usize| if is_forward { pass.value(i, 0, self) } else { pass.delta(i) };
        let views = if is_forward { pass.views } else { 1 };
        let rows = views * self.copies * pass.rows;
        let mut dueling = Dueling {
            outputs: if is_forward { outputs.address() } else { pass.out_grad.address() },
            groups: head.groups as i32,
            actions: head.actions as i32,
            rows: rows as i32,
            ..Dueling::default()
        };
        for group in 0..head.groups {
            dueling.value[group] = at(first + 4 * group + 1);
            dueling.advantage[group] = at(first + 4 * group + 3);
        }
        let kernels = &self.kernels;
        let kernel = if is_forward { &kernels.dueling_forward } else { &kernels.dueling_backward };
        kernel.run(&self.device, ((rows * head.groups).div_ceil(128), 1, 1), 128, 0, dueling)
    }

    /// Computes the gradients of the online parameters from [`Pass::out_grad`], after a forward pass whose first view
    /// was that of the online parameters and this input.
    pub fn backward(&mut self, pass: &mut Pass, input: Input) -> Result<()> {
        let input = self.check_input(pass, input)?;
        self.dueling(pass, false)?;
        let last = self.plan.ops.len() - 1;
        for (i, op) in self.plan.ops.iter().enumerate().rev() {
            let dy = self.output_delta(pass, i == last)?.unwrap_or_else(|| pass.delta(op.output));
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
        self.sum_parts(pass)
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
            OpKernels::Tiled { delta: kernels, weights: kernel, .. } => {
                if let Some(kernels) = kernels {
                    let g = op.geometry;
                    let classes = g.stride * g.stride;
                    let rows = pass.rows * g.height.div_ceil(g.stride) * g.width.div_ceil(g.stride);
                    let columns = delta.tiles_n as usize * classes;
                    let variant = op.choose_height(rows, copies * columns, self.multiprocessors);
                    let tile = Tile { m: op.heights()[variant], n: op.delta_n };
                    let grid = (rows.div_ceil(tile.m), columns, copies);
                    kernels[variant].run(device, grid, 128, tile.delta_shared(), delta)?;
                }
                let tile = op.weights_tile;
                let columns = (weights.tiles_n * weights.splits) as usize;
                let grid = (op.geometry.patch().div_ceil(tile.m), columns, copies);
                kernel.run(device, grid, 128, op.weights_shared(), weights)
            }
        }
    }

    /// Adds up the parts of all weights' gradients.
    fn sum_parts(&self, pass: &Pass) -> Result<()> {
        if pass.slots.parts() == 0 {
            return Ok(());
        }
        let sums = PartSums {
            parts: pass.slots.parts.address(),
            partial: pass.weight_partial.address(),
            grads: self.grads.address(),
            squares: pass.slots.squares.address(),
            partial_stride: pass.weight_partial_stride as i64,
            grads_stride: self.plan.stride as i64,
            squares_stride: pass.slots.count as i64,
        };
        self.kernels.weights_sum.run(&self.device, (pass.slots.parts(), self.copies, 1), 256, 0, sums)
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
        let elements = params::Elements {
            outputs: pass.outputs().address(),
            targets: targets.address(),
            weights: weights.address(),
            gradient: pass.out_grad.address(),
            delta,
            size: size as i32,
        };
        self.kernels.huber.run(&self.device, (size.div_ceil(128), 1, 1), 128, 0, elements)
    }

    /// Whether an input fits, and where it lies.
    pub(super) fn check_input(&self, pass: &Pass, input: Input) -> Result<u64> {
        let needed = self.copies * pass.rows * self.network.inputs();
        let (found, address) = match (input, self.observations) {
            (Input::Floats(buffer), Observations::Floats) => (buffer.len(), buffer.address()),
            (Input::Bytes(buffer), Observations::Bytes { .. }) => (buffer.len(), buffer.address()),
            _ => return Err(Error::Observations),
        };
        if found == needed { Ok(address) } else { Err(Error::Length { what: "input", needed, found }) }
    }
}
