//! A dense layer: y = max(x·W + b, 0), its gradients with respect to x, W and b. W is `[in, out]`, rows contiguous.
//!
//! Wide inputs that are almost all 0 (a cell of a grid, one of many categories) are multiplied without their zeros. The
//! kernel sums in the order of the inputs, and 0·w adds nothing: the bits are the same.

use crate::kernel::{Begin, End, Product, Rows, Walk};

/// Inputs from which on it is worth looking for zeros.
const WIDE: usize = 64;
/// Inputs that are looked at together: a processor does so at once.
const PART: usize = 16;
/// Zeros are left out where at most one part in so many has another number.
const RARE: usize = 4;

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
        if inputs >= WIDE && is_sparse(x[..rows * inputs].chunks_exact(inputs)) {
            return self.forward_sparse(x, y);
        }
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

    /// The same without the terms that are 0.
    fn forward_sparse(self, x: &[f32], y: &mut [f32]) {
        let Self { rows, inputs, outputs, .. } = self;
        for (x, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(outputs)).take(rows) {
            y.copy_from_slice(self.bias);
            others(x).for_each(|(i, x)| add_row(x, &self.weight[i * outputs..][..outputs], y));
            // A NaN stays, as in the kernel.
            y.iter_mut().filter(|y| self.relu && **y <= 0.0).for_each(|y| *y = 0.0);
        }
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
    let count = grad.len() / outputs;
    let x_rows = || x.chunks_exact(inputs).take(rows).map(|x| &x[first..][..count]);
    if count >= WIDE && is_sparse(x_rows()) {
        if !add {
            grad.fill(0.0);
        }
        for (x, dy) in x_rows().zip(dy.chunks_exact(outputs)) {
            for (i, x) in others(x) {
                add_row(x, dy, &mut grad[i * outputs..][..outputs]);
            }
        }
        return;
    }
    let product = Product {
        rows: count,
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

/// Whether almost all of these numbers are 0.
fn is_sparse<'a>(rows: impl Iterator<Item = &'a [f32]>) -> bool {
    let (mut others, mut all) = (0, 0);
    for part in rows.flat_map(|row| row.chunks(PART)) {
        others += usize::from(!is_zero(part));
        all += 1;
    }
    others * RARE <= all
}

/// The numbers that are not 0, and where they are.
fn others(row: &[f32]) -> impl Iterator<Item = (usize, f32)> {
    let parts = row.chunks(PART).enumerate().filter(|(_, part)| !is_zero(part));
    parts.flat_map(|(at, part)| (at * PART..).zip(part.iter().copied())).filter(|(_, x)| *x != 0.0)
}

/// Whether all of these are 0, of either sign. Without a branch for each, so that it is a few instructions in all.
#[inline]
fn is_zero(part: &[f32]) -> bool {
    part.iter().fold(0, |bits, x| bits | x.to_bits()) << 1 == 0
}

/// Adds factor · row.
fn add_row(factor: f32, row: &[f32], out: &mut [f32]) {
    let product = Product {
        rows: 1,
        columns: row.len(),
        left: &[factor],
        left_rows: Rows::Every(1),
        walk: Walk::line(1, 1),
        right: row,
        right_stride: row.len(),
        begin: Begin::Output,
        end: End::Store,
    };
    product.into(out, Rows::Every(row.len()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;

    /// Rows with none, one and a few inputs that are not 0.
    fn sparse_rows(rows: usize, inputs: usize) -> Vec<f32> {
        let mut rng = stream(0, "sparse");
        let mut x = vec![0.0; rows * inputs];
        for row in 0..rows {
            (0..row % 4)
                .for_each(|_| x[row * inputs + rng.random_range(0..inputs)] = rng.random_range(-1.0..1.0));
        }
        x
    }

    fn numbers(name: &str, n: usize) -> Vec<f32> {
        let mut rng = stream(0, name);
        (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
    }

    /// One row at a time, every term in its order.
    #[test]
    fn leaving_out_zeros_changes_no_bit() {
        let (rows, inputs, outputs) = (9, 700, 37);
        let (x, dy) = (sparse_rows(rows, inputs), numbers("dy", rows * outputs));
        let (weight, bias) = (numbers("weight", inputs * outputs), numbers("bias", outputs));
        let layer = Dense { rows, inputs, outputs, weight: &weight, bias: &bias, relu: true };
        assert!(is_sparse(x.chunks_exact(inputs)));
        let (mut y, mut grad) = (vec![9.0; rows * outputs], vec![9.0; inputs * outputs]);
        layer.forward(&x, &mut y);
        weight_gradient(rows, (inputs, 0), outputs, &x, &dy, false, &mut grad);
        weight_gradient(rows, (inputs, 100), outputs, &x, &dy, true, &mut grad[100 * outputs..500 * outputs]);
        for j in 0..outputs {
            for row in 0..rows {
                let terms = (0..inputs).map(|i| (x[row * inputs + i], weight[i * outputs + j]));
                let sum = terms.fold(bias[j], |sum, (x, w)| x.mul_add(w, sum));
                assert_eq!(y[row * outputs + j].to_bits(), sum.max(0.0).to_bits(), "{row} {j}");
            }
            for i in 0..inputs {
                let terms = (0..rows).map(|row| (x[row * inputs + i], dy[row * outputs + j]));
                let once = |sum| terms.clone().fold(sum, |sum: f32, (x, dy)| x.mul_add(dy, sum));
                let sum = if (100..500).contains(&i) { once(once(0.0)) } else { once(0.0) };
                assert_eq!(grad[i * outputs + j].to_bits(), sum.to_bits(), "{i} {j}");
            }
        }
    }
}
