//! A convolution over one image, as products over its patches where they lie: no patch is copied.
//!
//! The kernel is `[height, width, in, out]`. A patch is `kernel` pieces of kernel × channels contiguous numbers, one in
//! each row of the padded image. Both loops over images and which of them run at once are decided elsewhere.

use crate::kernel::{Begin, End, Product, Rows, Walk};
use crate::network::{Conv, Value};

/// A convolution between two values.
#[derive(Clone, Copy)]
pub(crate) struct Convolution<'a> {
    pub conv: &'a Conv,
    pub input: Value,
    pub output: Value,
}

impl Convolution<'_> {
    /// Contiguous numbers of a patch.
    fn piece(&self) -> usize {
        self.conv.kernel * self.input.channels
    }

    pub fn forward(self, x: &[f32], weight: &[f32], bias: &[f32], y: &mut [f32]) {
        let product = Product {
            rows: self.conv.patches.len(),
            columns: self.output.channels,
            left: x,
            left_rows: Rows::Table(&self.conv.patches),
            walk: Walk {
                outer: self.conv.kernel,
                outer_stride: self.input.line(),
                inner: self.piece(),
                inner_stride: 1,
            },
            right: weight,
            right_stride: self.output.channels,
            begin: Begin::Bias(bias),
            end: End::Relu,
        };
        product.into(y, Rows::Table(&self.conv.pixels));
    }

    /// Gradient with respect to the sum before the ReLU that gave `x`. `turned` is the transpose of the weights;
    /// `scratch` holds a padded image.
    pub fn delta(self, turned: &[f32], dy: &[f32], x: &[f32], dx: &mut [f32], scratch: &mut [f32]) {
        let (filters, channels, kernel) = (self.output.channels, self.input.channels, self.conv.kernel);
        scratch.fill(0.0);
        // Patches overlap, but what lies at one place of each does not. So a pixel's sum goes through the kernel in
        // order, whatever the width of the vectors.
        for place in 0..kernel * kernel {
            let product = Product {
                rows: self.conv.patches.len(),
                columns: channels,
                left: dy,
                left_rows: Rows::Every(filters),
                walk: Walk::line(filters, 1),
                right: &turned[place * channels..],
                right_stride: kernel * kernel * channels,
                begin: Begin::Output,
                end: End::Store,
            };
            let start = place / kernel * self.input.line() + place % kernel * channels;
            product.into(&mut scratch[start..], Rows::Table(&self.conv.patches));
        }
        let width = self.input.width * self.input.channels;
        for (y, dx) in dx.chunks_exact_mut(width).enumerate() {
            let start = self.input.pixel(y, 0);
            let (x, padded) = (&x[start..start + width], &scratch[start..start + width]);
            for ((dx, &x), &gradient) in dx.iter_mut().zip(x).zip(padded) {
                *dx = if x > 0.0 { gradient } else { 0.0 };
            }
        }
    }

    /// Gradient of rows `first..` of the weights (as a matrix with a row for each number of a patch), as many as `grad`
    /// has and all in one piece of the patch, set or added.
    pub fn weight_gradient(self, first: usize, x: &[f32], dy: &[f32], add: bool, grad: &mut [f32]) {
        let (filters, piece) = (self.output.channels, self.piece());
        let (line, step) = (self.input.line(), self.conv.stride);
        let product = Product {
            rows: grad.len() / filters,
            columns: filters,
            left: &x[first / piece * line + first % piece..],
            left_rows: Rows::Every(1),
            walk: Walk {
                outer: self.output.height,
                outer_stride: step * line,
                inner: self.output.width,
                inner_stride: step * self.input.channels,
            },
            right: dy,
            right_stride: filters,
            begin: if add { Begin::Output } else { Begin::Zero },
            end: End::Store,
        };
        product.into(grad, Rows::Every(filters));
    }
}
