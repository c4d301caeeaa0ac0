//! How a network runs on the device: where its tensors lie, the tile of each product, into how many parts sums are split.
//!
//! What decides the order of a sum (parts, depth of a tile) depends on the network and the batch alone, never on the
//! number of copies; the height and width of tiles do not.

use super::engine::{Observations, Precision};
use super::params::FUSED_VALUES;
use super::resident::Resident;
use crate::network::{Kind, Network};

/// Depth of a tile: `BK` of the kernels.
pub(super) const DEPTH: usize = 32;
/// Numbers that a block of the sum of parts takes: four for each of its threads.
pub(super) const PART: usize = 1024;
/// Tiles of the weights' gradient in shared memory.
pub(super) const WEIGHTS_STAGES: usize = 3;
/// Largest side of a kernel: `MOST_PLACES` of the kernels.
pub(super) const MOST_PLACES: usize = 16;
/// Rows of a fused kernel's block: `CHUNK` of the kernels.
pub(super) const CHUNK: usize = 32;
/// Bytes of shared memory that a block can have on every GPU with TF32.
const FUSED_SHARED: usize = 96 << 10;
/// Numbers that a block of Adam takes.
pub(super) const ADAM_PART: usize = 1024;
/// Weights up to which a dense layer is thin; and outputs.
const THIN_WEIGHTS: usize = 1 << 12;
const THIN_OUTPUTS: usize = 24;

/// The smallest height of a tile.
pub(super) const LEAST_HEIGHT: usize = 32;
/// Parts of a forward product that its own blocks add up at most.
const FEW_SPLITS: usize = 4;

/// A layer as its kernels see it; a dense one is an image of one pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub out_height: usize,
    pub out_width: usize,
    pub filters: usize,
    pub kernel: usize,
    pub stride: usize,
    pub above: usize,
    pub left: usize,
}

impl Geometry {
    /// Numbers of a patch.
    pub fn patch(&self) -> usize {
        self.kernel * self.kernel * self.channels
    }

    pub fn positions(&self) -> usize {
        self.out_height * self.out_width
    }

    pub fn inputs(&self) -> usize {
        self.height * self.width * self.channels
    }

    pub fn outputs(&self) -> usize {
        self.positions() * self.filters
    }
}

/// A block's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub m: usize,
    pub n: usize,
}

impl Tile {
    pub fn warps_m(self) -> usize {
        match (self.m, self.n) {
            (128, 32) => 4,
            (32, _) => 1,
            _ => 2,
        }
    }

    pub fn stages(self) -> usize {
        match self.m {
            128 => 2,
            64 => 4,
            _ => 3,
        }
    }

    fn words(self, a: usize, b: usize) -> usize {
        4 * self.stages() * (a + b)
    }

    /// Bytes of shared memory of each of the three products.
    pub fn forward_shared(self) -> usize {
        self.words(self.m * (DEPTH + 4), DEPTH * (self.n + 8))
    }

    pub fn delta_shared(self) -> usize {
        self.words(self.m * (DEPTH + 4), self.n * (DEPTH + 4))
    }
}

#[derive(Clone, Debug)]
pub(super) struct OpPlan {
    pub geometry: Geometry,
    pub input: usize,
    pub output: usize,
    /// The value that the product is written to: the output, unless it is normalised first.
    pub sums: usize,
    pub relu: bool,
    pub shares_input: bool,
    /// Where weights and bias lie in a copy's parameters.
    pub weight: usize,
    pub bias: usize,
    /// Whether the matrix units are left alone.
    pub thin: bool,
    /// How whole images are kept in shared memory, if they are.
    pub resident: Option<Resident>,
    /// Parts of the forward product, and tiles of depth in each.
    pub splits: usize,
    pub split_tiles: usize,
    /// Widths of the tiles of the three products.
    pub forward_n: usize,
    pub delta_n: usize,
    pub weights_tile: Tile,
}

impl OpPlan {
    pub fn is_normalised(&self) -> bool {
        self.sums != self.output
    }

    /// Whether the product itself ends in the ReLU.
    pub fn ends_in_relu(&self) -> bool {
        self.relu && !self.is_normalised()
    }

    /// Heights of tiles of the forward product and the delta: the more blocks there are, the larger one.
    pub fn heights(&self) -> &'static [usize] {
        let is_dense = self.geometry.positions() == 1 && self.geometry.height * self.geometry.width == 1;
        if is_dense || self.resident.is_some() { &[64, LEAST_HEIGHT] } else { &[128, 96, 64, LEAST_HEIGHT] }
    }

    /// Whether the parts of the forward product are added up by a kernel of their own: where they are many, the last block of a
    /// tile would be long at it. The bits are the same.
    pub fn sums_apart(&self) -> bool {
        self.splits > FEW_SPLITS
    }

    /// Which of them, for so many rows of a product of which there are `products` side by side.
    pub fn choose_height(&self, rows: usize, products: usize, multiprocessors: usize) -> usize {
        let heights = self.heights();
        // Rounds of blocks, each of which takes as long as its rows and a bit more.
        // The largest tiles leave room for few loads in flight and need two blocks on a multiprocessor.
        let cost = |m: usize| {
            let rounds = (rows.div_ceil(m) * products).div_ceil(multiprocessors);
            if m == 128 && rounds < 2 { usize::MAX } else { rounds * (m + 24) }
        };
        (0..heights.len()).min_by_key(|&i| cost(heights[i])).unwrap_or(0)
    }

    /// Bytes of shared memory of the weights' gradient, for so many tiles of depth: tiles, and where each position's patch is.
    pub fn weights_shared(&self, tiles: usize) -> usize {
        let (Tile { m, n }, positions) = (self.weights_tile, self.geometry.positions());
        let stages = if positions > 1 { WEIGHTS_STAGES } else { tiles.min(WEIGHTS_STAGES) };
        4 * stages * DEPTH * (m + n + 16) + 8 * positions
    }

    /// Parts of the weights' gradient for so many rows, and tiles of depth (or images) in each.
    pub fn weight_splits(&self, rows: usize) -> (usize, usize) {
        if let Some(resident) = self.resident {
            let images = rows.div_ceil(resident.splits());
            return (rows.div_ceil(images), images);
        }
        let tiles = (rows * self.geometry.positions()).div_ceil(DEPTH);
        let Tile { m, n } = self.weights_tile;
        let blocks = self.geometry.patch().div_ceil(m) * self.geometry.filters.div_ceil(n);
        // One round of blocks on a large GPU if there is but one copy, and at least four tiles of depth in each.
        let splits = (128 / blocks).min(tiles.div_ceil(4)).max(1);
        let split_tiles = tiles.div_ceil(splits);
        (tiles.div_ceil(split_tiles), split_tiles)
    }
}

/// A network on the device.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub ops: Vec<OpPlan>,
    /// Numbers of each value of a row.
    pub values: Vec<usize>,
    /// Where each tensor starts: multiples of 4, so that all reads can be of 16 bytes.
    pub tensors: Vec<usize>,
    /// From copy to copy.
    pub stride: usize,
    /// Whether it is a perceptron small enough for a block.
    pub fused: bool,
}

impl Plan {
    /// The plan for GPUs whose blocks can have so many bytes of shared memory.
    pub fn of(network: &Network, observations: Observations, precision: Precision, shared: usize) -> Self {
        let mut end = 0;
        let tensors: Vec<_> = network
            .tensors
            .iter()
            .map(|tensor| {
                let start = end;
                end += tensor.range.len().next_multiple_of(4);
                start
            })
            .collect();
        let values = network.values.iter().map(crate::network::Value::len).collect();
        let mut ops: Vec<_> = (0..network.ops.len()).map(|i| op(network, i, &tensors)).collect();
        if precision == Precision::Tf32 {
            let bytes = matches!(observations, Observations::Bytes { .. });
            ops.iter_mut()
                .for_each(|op| op.resident = Resident::of(&op.geometry, op.input == 0, bytes, shared));
        }
        let mut plan = Self { ops, values, tensors, stride: end.next_multiple_of(32), fused: false };
        plan.fused = network.spec.head.dueling.is_none()
            && plan.ops.iter().all(|op| op.thin && !op.is_normalised())
            && plan.values.len() <= FUSED_VALUES
            && plan.learn_shared() <= FUSED_SHARED;
        plan
    }

    /// What lies where in the shared memory of a fused kernel.
    pub fn fused_layout(&self) -> FusedLayout {
        let (mut params, mut room) = (0, 0);
        let take = |end: &mut usize, size: usize| std::mem::replace(end, *end + size.next_multiple_of(4));
        let weights = self.ops.iter().map(|op| {
            let filters = op.geometry.filters;
            let weight = take(&mut params, op.geometry.patch() * weight_line(filters));
            [weight, take(&mut params, filters)]
        });
        let weights = weights.collect();
        let values = self.values.iter().map(|&len| take(&mut room, CHUNK * line_of(len))).collect();
        FusedLayout { params, weights, values, room }
    }

    /// Bytes of shared memory of the fused kernels: parameters and values; gradients and deltas beside them.
    pub fn forward_shared(&self) -> usize {
        let layout = self.fused_layout();
        4 * (layout.params + layout.room)
    }

    pub fn learn_shared(&self) -> usize {
        let tensors = self.tensors.len();
        self.forward_shared() + 4 * (self.fused_layout().room + self.stride + tensors + 2) + 8 * 16 * tensors
    }
}

/// The shared memory of a fused kernel: numbers of all parameters, where each layer's weights and bias lie among them, where
/// each value lies among the values, and numbers of all values.
pub(super) struct FusedLayout {
    pub params: usize,
    pub weights: Vec<[usize; 2]>,
    pub values: Vec<usize>,
    pub room: usize,
}

/// From row to row of a fused kernel's values and weights: functions of the same names there.
fn line_of(length: usize) -> usize {
    length.next_multiple_of(8) + 4
}

pub(super) fn weight_line(filters: usize) -> usize {
    filters.next_multiple_of(16) + 8
}

fn op(network: &Network, i: usize, tensors: &[usize]) -> OpPlan {
    let op = &network.ops[i];
    let (input, output) = (network.values[op.input], network.values[op.output]);
    let geometry = match &op.kind {
        Kind::Dense => Geometry {
            height: 1,
            width: 1,
            channels: input.len(),
            out_height: 1,
            out_width: 1,
            filters: output.len(),
            kernel: 1,
            stride: 1,
            above: 0,
            left: 0,
        },
        Kind::Conv(conv) => Geometry {
            height: input.height,
            width: input.width,
            channels: input.channels,
            out_height: output.height,
            out_width: output.width,
            filters: output.channels,
            kernel: conv.kernel,
            stride: conv.stride,
            above: input.before.0,
            left: input.before.1,
        },
    };
    let is_dense = matches!(op.kind, Kind::Dense);
    let thin = is_dense && (op.weight.len() <= THIN_WEIGHTS || output.len() <= THIN_OUTPUTS);
    let width = |n: usize| if n > 32 { 64 } else { 32 };
    let tiles = geometry.patch().div_ceil(DEPTH);
    let split_tiles = match tiles {
        128.. if is_dense => 22,
        32.. if is_dense => 8,
        _ => tiles,
    };
    OpPlan {
        geometry,
        input: op.input,
        output: op.output,
        sums: op.sums,
        relu: op.relu,
        shares_input: op.shares_input,
        weight: tensors[2 * i],
        bias: tensors[2 * i + 1],
        thin,
        resident: None,
        splits: tiles.div_ceil(split_tiles),
        split_tiles,
        forward_n: width(geometry.filters),
        delta_n: width(geometry.channels),
        weights_tile: Tile { m: 64, n: width(geometry.filters) },
    }
}
