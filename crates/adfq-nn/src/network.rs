//! A checked specification: the shapes of all values and where each tensor lies in the flat buffer of parameters.
//!
//! How it is laid out is decided in [`layout`](crate::layout); what runs it lives in [`pass`](crate::pass), the layers'
//! arithmetic in [`dense`](crate::dense),
//! [`conv`](crate::conv) and [`normal`](crate::normal).

use crate::layout::Layout;
use crate::{Result, Spec};
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
///     layers: vec![Layer::dense(64)],
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
    /// A value that is no image.
    pub fn vector(channels: usize) -> Self {
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
    /// The value that the product is written to: the output, unless it is normalised first.
    pub sums: usize,
    pub weight: Range<usize>,
    pub bias: Range<usize>,
    pub relu: bool,
    /// Whether an op further on reads the same value, so that gradients with respect to it add up.
    pub shares_input: bool,
    pub kind: Kind,
}

impl Op {
    /// Whether its sums are normalised before the ReLU.
    pub fn is_normalised(&self) -> bool {
        self.sums != self.output
    }
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
        Layout::of(spec)?.finish(spec)
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
