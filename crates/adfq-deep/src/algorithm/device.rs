//! What an algorithm brings to a GPU: the text of its loss, and what has to lie there beside its networks.

/// A loss in CUDA. `source` defines a device function `loss_NAME`, where NAME is the algorithm's; see
/// `backend/cuda/kernels/loss.cu` for what it is given and what it must write.
#[derive(Clone, Debug, PartialEq)]
pub struct CudaLoss {
    /// The algorithm's name, as in the function's.
    pub name: &'static str,
    /// The text.
    pub source: &'static str,
    /// Numbers that the function finds in `own`, at most [`CudaLoss::OWN`].
    pub own: Vec<f64>,
    /// Parts of the kernels that are compiled only where somebody needs them.
    pub defines: &'static [&'static str],
}

impl CudaLoss {
    /// How many numbers of its own a loss may have.
    pub const OWN: usize = 8;
}

/// What an algorithm keeps on a GPU beside its networks. The GPU computes from it what the algorithm computes itself on the
/// CPU, and hands what it found of a state to [`Algorithm::estimate`](super::Algorithm::estimate) as
/// [`State::beside`](super::State::beside).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Keeps<'a> {
    /// Nothing.
    #[default]
    Nothing,
    /// A network of the same shape that is never trained: its parameters. The loss finds the outputs in `PASS_FIXED` and
    /// `PASS_FIXED_NEXT`; beside a state are those for its observation.
    Network(&'a [f32]),
    /// Which pairs were tried. The loss finds the share of the prior variance that is left in `left`; beside a state are the
    /// [`counts`](Visits::counts), and then that share for each action.
    Visits(Visits<'a>),
}

/// Where an agent has been, by random features of what it saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visits<'a> {
    /// How many features there are.
    pub features: usize,
    /// Weights of the random layer: a row for each number of an observation, and one for the constant.
    pub weights: &'a [f32],
    /// A matrix for each action, row by row.
    pub inverse: &'a [f64],
    /// What is counted beside: different pairs that were tried, batches, and two means over them.
    pub counts: [f64; Visits::COUNTS],
}

impl Visits<'_> {
    /// How many numbers are counted.
    pub const COUNTS: usize = 4;
    /// The most features for which a GPU has room.
    pub(crate) const MOST: usize = 2048;
}

impl Keeps<'_> {
    /// What runs must have in common to share launches: the kind and its size.
    #[cfg(feature = "cuda")]
    pub(crate) fn shape(&self) -> (u8, usize) {
        match self {
            Self::Nothing => (0, 0),
            Self::Network(_) => (1, 0),
            Self::Visits(visits) => (2, visits.features),
        }
    }
}
