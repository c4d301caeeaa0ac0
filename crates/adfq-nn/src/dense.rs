//! A dense layer: y = max(x·W + b, 0), its gradients with respect to x, W and b. W is `[in, out]`, rows contiguous.

use crate::kernel::{Begin, End, Product, Rows, Walk};

/// A batch of rows that passes through a layer, and the layer's parameters.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a> {
    pub rows: usize,
    pub inputs: usize,
    pub outputs: usize,
    pub weight: &'a [f32],
    pub bias: &'a [f32],
    pub relu: bool,
}

impl Dense<'_> {
    pub fn forward(self, x: &[f32], y: &mut [f32]) {
        let Self { rows, inputs, outputs, .. } = self;
        let product = Product {
            rows,
            columns: outputs,
            left: x,
            left_rows: Rows::Every(inputs),
            walk: Walk::line(inputs, 1),
            right: self.weight,
            right_stride: outputs,
            begin: Begin::Bias(self.bias),
            end: if self.relu { End::Relu } else { End::Store },
        };
        product.into(y, Rows::Every(outputs));
    }

    /// Gradient with respect to the sum before the ReLU that gave `x`, set or added to `dx`.
    ///
    /// It is computed as dxᵀ = W·dyᵀ: turning dy and dx is cheap beside turning W.
    pub fn delta(self, dy: &[f32], x: &[f32], dx: &mut [f32], add: bool, scratch: &mut [f32]) {
        let Self { rows, inputs, outputs, .. } = self;
        let (dy_turned, dx_turned) = scratch.split_at_mut(outputs * rows);
        turn(&dy[..rows * outputs], outputs, dy_turned);
        let product = Product {
            rows: inputs,
            columns: rows,
            left: self.weight,
            left_rows: Rows::Every(outputs),
            walk: Walk::line(outputs, 1),
            right: dy_turned,
            right_stride: rows,
            begin: Begin::Zero,
            end: End::Store,
        };
        product.into(dx_turned, Rows::Every(rows));
        for (row, (dx, x)) in dx.chunks_exact_mut(inputs).zip(x.chunks_exact(inputs)).enumerate().take(rows) {
            for (i, (dx, &x)) in dx.iter_mut().zip(x).enumerate() {
                let gradient = if x > 0.0 { dx_turned[i * rows + row] } else { 0.0 };
                *dx = if add { *dx + gradient } else { gradient };
            }
        }
    }

    /// Length of the scratch that `delta` needs for so many rows.
    pub fn scratch(rows: usize, inputs: usize, outputs: usize) -> usize {
        rows * (inputs + outputs)
    }
}

/// Gradient of rows `first..` of W, as many as `grad` has: xᵀ·dy, set or added.
pub(crate) fn weight_gradient(
    rows: usize,
    (inputs, first): (usize, usize),
    outputs: usize,
    x: &[f32],
    dy: &[f32],
    add: bool,
    grad: &mut [f32],
) {
    let product = Product {
        rows: grad.len() / outputs,
        columns: outputs,
        left: &x[first..],
        left_rows: Rows::Every(1),
        walk: Walk::line(rows, inputs),
        right: dy,
        right_stride: outputs,
        begin: if add { Begin::Output } else { Begin::Zero },
        end: End::Store,
    };
    product.into(grad, Rows::Every(outputs));
}

/// Adds the rows of `dy` to `grad`.
pub(crate) fn bias_gradient(dy: &[f32], grad: &mut [f32]) {
    for row in dy.chunks_exact(grad.len()) {
        for (sum, &value) in grad.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

/// The transpose of a matrix with this many columns.
pub(crate) fn turn(matrix: &[f32], columns: usize, turned: &mut [f32]) {
    let rows = matrix.len() / columns;
    for (j, out) in turned.chunks_exact_mut(rows).enumerate().take(columns) {
        for (i, value) in out.iter_mut().enumerate() {
            *value = matrix[i * columns + j];
        }
    }
}
