//! From a specification to a network: checks each layer, sizes its values and gives its tensors their places.

use crate::network::{Block, Conv, Kind, Network, Op, Role, Tensor, Value};
use crate::{Error, Head, Layer, Padding, Result, Spec};
use std::ops::Range;

/// Parameters of a dense layer in one block: enough to be worth a thread's while, few enough to stay in its cache.
const DENSE_BLOCK: usize = 1 << 15;
/// Rows of a convolution's weights in one block.
const CONV_BLOCK: usize = 32;

/// A network while its layers are added one after the other.
#[derive(Default)]
pub(crate) struct Layout {
    values: Vec<Value>,
    ops: Vec<Op>,
    tensors: Vec<Tensor>,
    parameters: usize,
    /// Whether the last value is an image: a convolution can follow.
    is_image: bool,
}

impl Layout {
    /// All layers of a specification.
    pub fn of(spec: &Spec) -> Result<Self> {
        let mut layout = Self::default();
        let mut last = layout.input(&spec.input)?;
        for (i, layer) in spec.layers.iter().enumerate() {
            last = layout.layer(i, layer, last)?;
        }
        layout.head(&spec.head, last)?;
        Ok(layout)
    }

    fn input(&mut self, shape: &[usize]) -> Result<usize> {
        let value = match *shape {
            [n] => Value::vector(n),
            [height, width, channels] => Value { height, width, ..Value::vector(channels) },
            _ => return Err(Error::InputShape(shape.to_vec())),
        };
        positive("every axis of the input", shape.iter().copied().min().unwrap_or(0))?;
        self.is_image = shape.len() == 3;
        self.value(value)
    }

    fn value(&mut self, value: Value) -> Result<usize> {
        product(&[value.height, value.width, value.channels])?;
        self.values.push(value);
        Ok(self.values.len() - 1)
    }

    fn layer(&mut self, i: usize, layer: &Layer, input: usize) -> Result<usize> {
        match *layer {
            Layer::Dense { units, normalised } => {
                positive(&format!("the units of layer {i}"), units)?;
                let sums = self.dense(&format!("layer{i}"), input, units, [Role::Weight, Role::Bias])?;
                if normalised { self.normalise(sums) } else { Ok(sums) }
            }
            Layer::Conv { filters, kernel, stride, padding } => {
                for (what, size) in [("filters", filters), ("kernel", kernel), ("stride", stride)] {
                    positive(&format!("the {what} of layer {i}"), size)?;
                }
                self.conv(i, input, filters, (kernel, stride, padding))
            }
        }
    }

    fn dense(&mut self, name: &str, input: usize, units: usize, roles: [Role; 2]) -> Result<usize> {
        let shape = [self.values[input].len(), units];
        self.is_image = false;
        let output = self.value(Value::vector(units))?;
        self.op(name, &shape, roles, input, output, Kind::Dense)
    }

    /// Puts a value of their own behind the sums that the last op writes.
    fn normalise(&mut self, sums: usize) -> Result<usize> {
        let output = self.value(self.values[sums])?;
        if let Some(op) = self.ops.last_mut() {
            op.output = output;
        }
        Ok(output)
    }

    fn conv(
        &mut self,
        i: usize,
        input: usize,
        filters: usize,
        geometry: (usize, usize, Padding),
    ) -> Result<usize> {
        let (kernel, stride, padding) = geometry;
        let image = self.values[input];
        if !self.is_image {
            return Err(Error::NoImage { layer: i });
        }
        let too_large = || Error::Kernel { layer: i, kernel, height: image.height, width: image.width };
        let fit = |size| positions(size, kernel, stride, padding).ok_or_else(too_large);
        let ((height, above, below), (width, left, right)) = (fit(image.height)?, fit(image.width)?);
        let padded = Value { before: (above, left), after: (below, right), ..image };
        product(&[above + image.height + below, left + image.width + right, image.channels])?;
        self.values[input] = padded;
        let output = self.value(Value { height, width, ..Value::vector(filters) })?;
        let patches = grid(height, width, |y, x| y * stride * padded.line() + x * stride * padded.channels);
        let kind = Kind::Conv(Conv { kernel, stride, patches, pixels: Vec::new() });
        let shape = [kernel, kernel, image.channels, filters];
        self.op(&format!("layer{i}"), &shape, [Role::Weight, Role::Bias], input, output, kind)
    }

    fn op(
        &mut self,
        name: &str,
        shape: &[usize],
        roles: [Role; 2],
        input: usize,
        output: usize,
        kind: Kind,
    ) -> Result<usize> {
        let weight = self.tensor(format!("{name}.weight"), shape, roles[0])?;
        let bias = self.tensor(format!("{name}.bias"), &shape[shape.len() - 1..], roles[1])?;
        let relu = roles[0] == Role::Weight;
        for op in self.ops.iter_mut().filter(|op| op.input == input) {
            op.shares_input = true;
        }
        self.ops.push(Op { input, output, sums: output, weight, bias, relu, shares_input: false, kind });
        Ok(output)
    }

    fn tensor(&mut self, name: String, shape: &[usize], role: Role) -> Result<Range<usize>> {
        let size = product(shape)?;
        let end = self.parameters.checked_add(size).ok_or(Error::TooLarge)?;
        let range = self.parameters..end;
        self.parameters = end;
        self.tensors.push(Tensor { name, shape: shape.to_vec(), range: range.clone(), role });
        Ok(range)
    }

    fn head(&mut self, head: &Head, features: usize) -> Result<()> {
        positive("the number of actions", head.actions)?;
        positive("the number of groups", head.groups)?;
        let Some(units) = head.dueling else {
            let outputs = head.actions.checked_mul(head.groups).ok_or(Error::TooLarge)?;
            return self.dense("head", features, outputs, [Role::OutputWeight, Role::OutputBias]).map(drop);
        };
        positive("the hidden units of a dueling stream", units)?;
        for group in 0..head.groups {
            for (stream, width, bias) in
                [("value", 1, Role::ValueBias(group)), ("advantage", head.actions, Role::AdvantageBias)]
            {
                let name = |part| format!("group{group}.{stream}.{part}");
                let hidden = self.dense(&name("hidden"), features, units, [Role::Weight, Role::Bias])?;
                self.dense(&name("out"), hidden, width, [Role::OutputWeight, bias])?;
            }
        }
        Ok(())
    }

    /// What depends on the whole network, and the network.
    pub fn finish(mut self, spec: &Spec) -> Result<Network> {
        let mut work = 0_usize;
        for op in &mut self.ops {
            let output = self.values[op.output];
            let mut positions = 1;
            if let Kind::Conv(conv) = &mut op.kind {
                conv.pixels = grid(output.height, output.width, |y, x| output.pixel(y, x));
                positions = conv.pixels.len();
            }
            work = work.saturating_add(op.weight.len().saturating_mul(positions));
        }
        let blocks = self.blocks();
        let Self { values, ops, tensors, parameters, .. } = self;
        Ok(Network { spec: spec.clone(), values, ops, tensors, blocks, parameters, work })
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (i, op) in self.ops.iter().enumerate() {
            let (input, columns) = (self.values[op.input], op.bias.len());
            let (piece, most) = match &op.kind {
                Kind::Dense => (input.len(), (DENSE_BLOCK / columns).max(8)),
                Kind::Conv(conv) => (conv.kernel * input.channels, CONV_BLOCK),
            };
            for start in (0..op.weight.len() / columns).step_by(piece) {
                for first in (start..start + piece).step_by(most) {
                    let end = (first + most).min(start + piece);
                    let range = op.weight.start + first * columns..op.weight.start + end * columns;
                    blocks.push(Block { op: i, first_row: Some(first), range });
                }
            }
            blocks.push(Block { op: i, first_row: None, range: op.bias.clone() });
        }
        blocks
    }
}

fn positive(what: &str, size: usize) -> Result<()> {
    if size == 0 { Err(Error::Zero { what: what.to_owned() }) } else { Ok(()) }
}

/// The product of some sizes, in bytes of f32 within the address space.
fn product(sizes: &[usize]) -> Result<usize> {
    let product = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size));
    product.filter(|&n| n <= isize::MAX as usize / size_of::<f32>()).ok_or(Error::TooLarge)
}

fn grid(height: usize, width: usize, at: impl Fn(usize, usize) -> usize) -> Vec<usize> {
    (0..height * width).map(|i| at(i / width, i % width)).collect()
}

/// Number of positions along an axis, and the zeros before and after it; `None` if the kernel does not fit.
pub(crate) fn positions(
    size: usize,
    kernel: usize,
    stride: usize,
    padding: Padding,
) -> Option<(usize, usize, usize)> {
    match padding {
        Padding::Valid => Some((size.checked_sub(kernel)? / stride + 1, 0, 0)),
        Padding::Same => {
            let count = size.div_ceil(stride);
            let zeros = (count - 1).checked_mul(stride)?.checked_add(kernel)?.saturating_sub(size);
            Some((count, zeros / 2, zeros - zeros / 2))
        }
    }
}
