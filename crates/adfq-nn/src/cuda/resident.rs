//! Which convolutions keep whole images in shared memory (`pixels.cu`, `image.cu`), and how many at a time.

use super::plan::{DEPTH, Geometry};

/// Bytes of shared memory of which two blocks fit on a multiprocessor that has the most.
const HALF: usize = 113 << 10;
/// Tiles of weights in shared memory: `IMAGE_STAGES` of the kernels.
const STAGES: usize = 3;

/// What the images are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resident {
    /// Observations of bytes: `pixels.cu`.
    Bytes,
    /// Values, so many images in a block of the forward pass and of the delta: `image.cu`.
    Values { forward: usize, delta: usize },
}

impl Resident {
    /// What fits a convolution, if so many bytes of shared memory are there.
    pub fn of(g: &Geometry, is_first: bool, bytes: bool, shared: usize) -> Option<Self> {
        if g.positions() == 1 {
            return None;
        }
        let (patch, filters) = (g.patch(), g.filters);
        if is_first {
            let fits = bytes
                && g.channels.is_multiple_of(4)
                && (g.kernel * g.channels).is_multiple_of(16)
                && patch.is_multiple_of(64)
                && [8, 16, 32].contains(&filters)
                && patch * filters <= 8192
                && pixels_forward_shared(g).max(pixels_weights_shared(g)) <= shared;
            return fits.then_some(Self::Bytes);
        }
        let fits = [32, 64].contains(&g.channels)
            && filters == 64
            && [1, 2].contains(&g.stride)
            && g.kernel >= 2
            && g.kernel.is_multiple_of(g.stride)
            && g.positions() <= 128
            && g.height.div_ceil(g.stride) * g.width.div_ceil(g.stride) <= 128
            && patch.is_multiple_of(64)
            && (8..=10).contains(&(patch / 64));
        let images = |two: usize| if two <= HALF { 2 } else { 1 };
        let forward = images(image_forward_shared(g, 2));
        let delta = if g.stride == 1 { images(image_delta_shared(g, 2)) } else { 1 };
        let most =
            image_forward_shared(g, forward).max(image_delta_shared(g, delta)).max(image_weights_shared(g));
        (fits && most <= shared).then_some(Self::Values { forward, delta })
    }

    /// Parts of the weights' gradient: about a block for each multiprocessor of a large GPU if there are 16 copies.
    pub fn splits(self) -> usize {
        match self {
            Self::Bytes => 16,
            Self::Values { .. } => 8,
        }
    }
}

/// Blocks that share the rows of an image's weights, one or a few for large and small numbers of copies: each of the
/// [`warps`](image_weights_warps) takes 64 rows.
pub(super) fn image_weights_blocks(g: &Geometry) -> [usize; 2] {
    let warps = image_weights_warps(g);
    let few = [4, 3, 5].into_iter().find(|blocks| warps.is_multiple_of(*blocks));
    [1, few.unwrap_or(1)]
}

pub(super) fn image_weights_warps(g: &Geometry) -> usize {
    g.patch() / 64
}

/// Threads of a block of `image_delta` with so many images.
pub(super) fn image_delta_threads(g: &Geometry, images: usize) -> usize {
    64 * g.stride * g.stride * (g.channels / 32) * images
}

/// Words of an image of bytes with its border: `SIZE` of `pixels.cu`.
fn pixels_size(g: &Geometry) -> usize {
    let words = g.channels / 4;
    let rows = (g.out_height - 1) * g.stride + g.kernel;
    let width = ((g.out_width - 1) * g.stride + g.kernel) * words;
    let evens = |line: &usize| {
        (g.stride * (line + 32 * g.out_width * words - g.out_width * words)).is_multiple_of(32)
    };
    let line = (width..).find(evens).unwrap_or(width);
    (rows * line).next_multiple_of(4)
}

/// Bytes of shared memory of each kernel.
pub(super) fn pixels_forward_shared(g: &Geometry) -> usize {
    8 * pixels_size(g) + 2 * g.patch() * g.filters + 4 * 128
}

pub(super) fn pixels_weights_shared(g: &Geometry) -> usize {
    let positions = g.positions().next_multiple_of(8);
    4 * (pixels_size(g) + positions * (g.filters + 1))
}

pub(super) fn image_forward_shared(g: &Geometry, images: usize) -> usize {
    4 * (images * g.inputs() + g.channels + STAGES * DEPTH * (g.filters + 8))
}

pub(super) fn image_delta_shared(g: &Geometry, images: usize) -> usize {
    4 * (images * g.outputs() + g.filters + STAGES * g.stride * g.stride * g.channels * (DEPTH + 4))
}

pub(super) fn image_weights_shared(g: &Geometry) -> usize {
    let positions = g.positions().next_multiple_of(8);
    let x = (g.height * g.width + 1) * (g.channels + 8 / g.stride.min(8));
    8 * (x + positions * (g.filters + 8)) + 8 * positions
}
