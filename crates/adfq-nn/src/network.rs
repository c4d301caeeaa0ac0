//! A checked specification: the shapes of all values and where each tensor lies in the flat buffer of parameters.
//!
//! What runs it lives in [`pass`](crate::pass), the layers' arithmetic in [`dense`](crate::dense) and
//! [`conv`](crate::conv).

use crate::{Error, Head, Layer, Padding, Result, Spec};
use std::ops::Range;

/// A network ready to run: a checked [`Spec`]. It holds no parameters; those are flat buffers of [`Network::parameters`]
/// numbers that the caller owns.
///
/// ```
/// use adfq::random::stream;
/// use adfq_nn::{Head, Init, Layer, Network, Spec, Workspace};
///
/// let spec = Spec {
///     input: vec![4],
///     layers: vec![Layer::Dense { units: 64 }],
///     head: Head { actions: 2, groups: 2, dueling: None },
/// };
/// let network = Network::new(&spec)?;
/// assert_eq!((network.inputs(), network.outputs(), network.parameters()), (4, 4, 4 * 64 + 64 + 64 * 4 + 4));
///
/// let mut params = vec![0.0; network.parameters()];
/// network.init(&Init::default(), &mut stream(0, "network"), &mut params)?;
/// let mut workspace = Workspace::new(&network, 1, 32)?;
/// let outputs = network.forward(&params, &[0.1, -0.2, 0.3, 0.4], &mut workspace)?;
/// assert_eq!(outputs.len(), 4);
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub(crate) spec: Spec,
    pub(crate) values: Vec<Value>,
    pub(crate) ops: Vec<Op>,
    pub(crate) tensors: Vec<Tensor>,
    /// The buffer of parameters in blocks whose gradients are computed apart.
    pub(crate) blocks: Vec<Block>,
    pub(crate) parameters: usize,
    /// Number of multiply-adds of a forward pass of one row.
    pub(crate) work: usize,
}

/// A tensor of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name, such as `layer0.weight` or `group1.value.out.bias`.
    pub name: String,
    /// Its shape: `[in, out]` for a dense layer, `[height, width, in, out]` for a convolution, `[out]` for a bias.
    pub shape: Vec<usize>,
    /// Where it lies in a buffer of parameters.
    pub range: Range<usize>,
    /// What it is for, which decides how it starts.
    pub role: Role,
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Weights of a layer with a ReLU.
    Weight,
    /// Bias of a layer with a ReLU.
    Bias,
    /// Weights of a layer that ends in the outputs.
    OutputWeight,
    /// Bias of the advantages of a dueling head: they start at zero.
    AdvantageBias,
    /// Bias of a whole linear head, group after group.
    OutputBias,
    /// Bias of the value of this group of a dueling head.
    ValueBias(usize),
}

/// A value of each row: the input, or what a layer gives. An image that a padded convolution reads has its border of
/// zeros around it in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    /// Rows above and columns to the left of the image.
    pub before: (usize, usize),
    /// Rows below and columns to the right.
    pub after: (usize, usize),
}

impl Value {
    fn vector(channels: usize) -> Self {
        Self { height: 1, width: 1, channels, before: (0, 0), after: (0, 0) }
    }

    /// Numbers without the border.
    pub fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    pub fn is_padded(&self) -> bool {
        (self.before, self.after) != ((0, 0), (0, 0))
    }

    /// Numbers of a row of the image, border included.
    pub fn line(&self) -> usize {
        (self.before.1 + self.width + self.after.1) * self.channels
    }

    /// Numbers with the border.
    pub fn padded_len(&self) -> usize {
        (self.before.0 + self.height + self.after.0) * self.line()
    }

    /// Where the image's pixel (y, x) starts.
    pub fn pixel(&self, y: usize, x: usize) -> usize {
        (self.before.0 + y) * self.line() + (self.before.1 + x) * self.channels
    }
}

/// A layer: reads the value `input`, writes the value `output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub input: usize,
    pub output: usize,
    pub weight: Range<usize>,
    pub bias: Range<usize>,
    pub relu: bool,
    /// Whether an op further on reads the same value, so that gradients with respect to it add up.
    pub shares_input: bool,
    pub kind: Kind,
}

/// A bias, or some rows of a layer's weights (of one piece of a convolution's patch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub op: usize,
    /// The first row of the weights; none for a bias.
    pub first_row: Option<usize>,
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dense,
    Conv(Conv),
}

/// The geometry of a convolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conv {
    pub kernel: usize,
    pub stride: usize,
    /// Where the patch of each position starts in the padded input.
    pub patches: Vec<usize>,
    /// Where each position starts in the (perhaps padded) output.
    pub pixels: Vec<usize>,
}

impl Network {
    /// Checks a specification and lays out its tensors.
    pub fn new(spec: &Spec) -> Result<Self> {
        let mut builder = Builder::default();
        let mut last = builder.input(&spec.input)?;
        for (i, layer) in spec.layers.iter().enumerate() {
            last = builder.layer(i, layer, last)?;
        }
        builder.head(&spec.head, last)?;
        builder.finish(spec)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Numbers of one observation.
    pub fn inputs(&self) -> usize {
        self.values[0].len()
    }

    /// Numbers that come out for one observation: groups × actions.
    pub fn outputs(&self) -> usize {
        self.spec.head.groups * self.spec.head.actions
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// All tensors in the order in which they lie in a buffer of parameters, without gaps.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }
}

/// Parameters of a dense layer in one block: enough to be worth a thread's while, few enough to stay in its cache.
const DENSE_BLOCK: usize = 1 << 15;
/// Rows of a convolution's weights in one block.
const CONV_BLOCK: usize = 32;

#[derive(Default)]
struct Builder {
    values: Vec<Value>,
    ops: Vec<Op>,
    tensors: Vec<Tensor>,
    parameters: usize,
    /// Whether the last value is an image: a convolution can follow.
    is_image: bool,
}

impl Builder {
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
            Layer::Dense { units } => {
                positive(&format!("the units of layer {i}"), units)?;
                self.dense(&format!("layer{i}"), input, units, [Role::Weight, Role::Bias])
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
        self.ops.push(Op { input, output, weight, bias, relu, shares_input: false, kind });
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

    fn finish(mut self, spec: &Spec) -> Result<Network> {
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
fn positions(size: usize, kernel: usize, stride: usize, padding: Padding) -> Option<(usize, usize, usize)> {
    match padding {
        Padding::Valid => Some((size.checked_sub(kernel)? / stride + 1, 0, 0)),
        Padding::Same => {
            let count = size.div_ceil(stride);
            let zeros = (count - 1).checked_mul(stride)?.checked_add(kernel)?.saturating_sub(size);
            Some((count, zeros / 2, zeros - zeros / 2))
        }
    }
}
