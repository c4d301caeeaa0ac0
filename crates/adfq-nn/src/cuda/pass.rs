//! The memory of passes on the device. What runs in it lives in [`forward`](super::forward) and
//! [`backward`](super::backward).

use super::buffer::Buffer;
use super::engine::{Engine, Which};
use super::params::{FUSED_VALUES, VIEWS};
use super::plan::{LEAST_HEIGHT, PART};
use crate::{Error, Result};

/// Observations on the device: `[copies][rows][…]`.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// For an engine that takes [`Observations::Floats`](super::Observations::Floats).
    Floats(&'a Buffer<f32>),
    /// For an engine that takes [`Observations::Bytes`](super::Observations::Bytes).
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
    pub(super) views: usize,
    pub(super) rows: usize,
    /// Each value but the input, `[view][copy][row][…]`.
    values: Vec<Option<Buffer<f32>>>,
    /// The loss's gradient with respect to each value of the first view, before its ReLU.
    deltas: Vec<Option<Buffer<f32>>>,
    /// Parts of the forward product that is split most.
    pub(super) partial: Buffer<f32>,
    /// How many parts of each tile of such a product are there; 0 between launches.
    pub(super) arrived: Buffer<u32>,
    /// Parts of all weights' gradients, `[copy][op][split][…]`.
    pub(super) weight_partial: Buffer<f32>,
    pub(super) weight_partial_stride: usize,
    pub(super) slots: Slots,
    /// Outputs of a dueling head.
    pub(super) dueling: Option<Buffer<f32>>,
    pub(super) out_grad: Buffer<f32>,
}

/// Where the sums of squares of each op's weights and bias lie, and the parts that `weights_sum` adds up.
#[derive(Debug)]
pub(super) struct Slots {
    pub of_op: Vec<OpSlots>,
    pub parts: Buffer<i32>,
    /// The first slot of each tensor, and the end.
    pub of_tensor: Buffer<i32>,
    /// The sums: `[copy][slot]`.
    pub squares: Buffer<f64>,
    pub count: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpSlots {
    pub weight: usize,
    pub bias: usize,
    pub splits: usize,
    pub split_tiles: usize,
    /// Where the op's parts start in a copy's share of the buffer of parts.
    pub partial: usize,
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
        let partial = split.clone().map(|op| op.splits * op.geometry.outputs()).max().unwrap_or(0);
        let tiles = split.map(|op| {
            let (rows, columns) = (rows * op.geometry.positions(), op.geometry.filters);
            rows.div_ceil(LEAST_HEIGHT) * columns.div_ceil(op.forward_n)
        });
        let tiles = tiles.max().unwrap_or(0);
        let (slots, weight_partial_stride) = Slots::new(engine, rows)?;
        let outputs = copies * rows * engine.network.outputs();
        let is_dueling = engine.network.spec.head.dueling.is_some();
        Ok(Self {
            views,
            rows,
            values: buffers(views * copies)?,
            deltas: buffers(copies)?,
            partial: Buffer::zeros(device, views * copies * rows * partial)?,
            arrived: Buffer::zeros(device, views * copies * tiles)?,
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
    pub(super) fn value(&self, i: usize, view: usize, engine: &Engine) -> u64 {
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

    pub(super) fn delta(&self, i: usize) -> u64 {
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
            } else if splits == 1 && op.resident.is_none() {
                let columns = filters.div_ceil(op.weights_tile.n);
                [patch.div_ceil(op.weights_tile.m) * columns, columns]
            } else {
                [(patch * filters).div_ceil(PART), filters.div_ceil(PART)]
            };
            of_op.push(OpSlots { weight: slot, bias: slot + sizes[0], splits, split_tiles, partial });
            if splits > 1 || op.resident.is_some() {
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
    pub fn count_parts(&self) -> usize {
        self.parts.len() / 7
    }
}
