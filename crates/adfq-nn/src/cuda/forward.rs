//! Forward passes on the device: which kernels run, in which order, on what.

use super::engine::{Engine, Observations};
use super::kernels::OpKernels;
use super::params::{Dueling, Forward, ForwardView, FusedForward, Normal, VIEWS};
use super::pass::{Input, Pass, View};
use super::plan::{CHUNK, OpPlan, Tile};
use super::resident::{image_forward_shared, pixels_forward_shared};
use crate::{Error, Layer, Result};

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
                let (params, input) = (self.parameters(view.which)?.address(), inputs[v]);
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
                    params: self.parameters(view.which)?.address(),
                    input: if op.input == 0 { inputs[v] } else { pass.value(op.input, v, self) },
                    output: pass.value(op.sums, v, self),
                };
            }
            self.run_forward(pass, i, forward)?;
            if op.is_normalised() {
                self.normalise(pass, op)?;
            }
        }
        self.dueling(pass, true)
    }

    /// The output of a layer from its sums, in all views at once.
    fn normalise(&self, pass: &Pass, op: &OpPlan) -> Result<()> {
        let (sums, out) = (pass.value(op.sums, 0, self), pass.value(op.output, 0, self));
        let rows = pass.views * self.copies * pass.rows;
        let normal = Normal { sums, out, ..self.normal_parameters(op, rows) };
        self.kernels.normal_forward.run(&self.device, (rows.div_ceil(8), 1, 1), 256, 0, normal)
    }

    pub(super) fn normal_parameters(&self, op: &OpPlan, rows: usize) -> Normal {
        let width = self.plan.values[op.output] as i32;
        Normal { width, rows: rows as i32, epsilon: Layer::EPSILON, ..Normal::default() }
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
            images: 1,
            scale: if op.input == 0 { self.observations.scale() } else { 1.0 },
            partial: if op.splits > 1 { pass.partial.address() } else { 0 },
            arrived: if op.splits > 1 && !op.sums_apart() { pass.arrived.address() } else { 0 },
            ..Forward::default()
        }
    }

    fn run_forward(&self, pass: &Pass, i: usize, mut forward: Forward) -> Result<()> {
        let (op, device) = (&self.plan.ops[i], &self.device);
        let products = pass.views * self.copies;
        let g = &op.geometry;
        match &self.kernels.ops[i] {
            OpKernels::Thin { forward: kernel, .. } => {
                let columns = op.geometry.filters.div_ceil(8);
                kernel.run(device, (pass.rows.div_ceil(4), columns, products), 256, 0, forward)
            }
            OpKernels::Pixels { forward: kernel, .. } => {
                let images = self.choose_images(pass.rows, products);
                let blocks = pass.rows.div_ceil(images) * products;
                let most = g.positions().div_ceil(64);
                let parts = (2 * self.multiprocessors / blocks).clamp(1, most);
                forward.images = images as i32;
                let grid = (pass.rows.div_ceil(images), parts, products);
                kernel.run(device, grid, 128, pixels_forward_shared(g), forward)
            }
            &OpKernels::Images { forward: ref kernel, images: [images, _], .. }
                if pass.rows.div_ceil(images) * products >= self.multiprocessors =>
            {
                let grid = (pass.rows.div_ceil(images), 1, products);
                kernel.run(device, grid, 128 * images, image_forward_shared(g, images), forward)
            }
            OpKernels::Tiled { tiled, .. } | OpKernels::Images { tiled, .. } => {
                let rows = pass.rows * g.positions();
                let columns = forward.tiles_n as usize * op.splits;
                let variant = op.choose_height(rows, products * columns, self.multiprocessors);
                let tile = Tile { m: op.heights()[variant], n: op.forward_n };
                let grid = (rows.div_ceil(tile.m), columns, products);
                tiled.forward[variant].run(device, grid, 128, tile.forward_shared(), forward)?;
                let Some(sum) = &tiled.sum else { return Ok(()) };
                let size = rows * g.filters;
                sum.run(device, (size.div_ceil(128), 1, products), 128, 0, forward)
            }
        }
    }

    /// How many images a block of `pixels_forward` takes one after the other: its start costs as much as most of an image.
    fn choose_images(&self, rows: usize, products: usize) -> usize {
        let cost = |images: &usize| {
            let rounds = (rows.div_ceil(*images) * products).div_ceil(2 * self.multiprocessors);
            rounds * (10 * images + 7)
        };
        [1, 2, 4, 8].into_iter().min_by_key(cost).unwrap_or(1)
    }

    /// The outputs of a dueling head from its streams, or their gradients from those of the outputs.
    pub(super) fn dueling(&self, pass: &Pass, is_forward: bool) -> Result<()> {
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
