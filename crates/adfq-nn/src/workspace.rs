//! The memory of a pass: allocated once, used by every forward and backward pass after that.

use crate::dense::Dense;
use crate::network::{Kind, Network};
use crate::{Error, Result, Spec};

/// Multiply-adds of a forward pass of the whole batch below which nothing runs in parallel: to wake a core takes as long.
const PARALLEL_WORK: usize = 1 << 22;
/// The same for copies that run beside each other.
const COPY_WORK: usize = 1 << 16;
/// Rows that one thread takes at a time, where rows run in parallel.
const CHUNK: usize = 16;

/// Room for a forward and a backward pass of `copies` independent networks, each with up to `batch` rows.
///
/// ```
/// use adfq_nn::{Head, Network, Spec, Workspace};
///
/// let spec = Spec { input: vec![1], layers: vec![], head: Head { actions: 1, groups: 1, dueling: None } };
/// let network = Network::new(&spec)?; // y = w·x + b
/// let mut workspace = Workspace::new(&network, 2, 3)?;
/// // Two copies with parameters of their own: w = 1, b = 0 and w = -1, b = 10.
/// let params = [1.0, 0.0, -1.0, 10.0];
/// assert_eq!(network.forward(&params, &[1.0, 2.0, 1.0, 2.0], &mut workspace)?, [1.0, 2.0, 9.0, 8.0]);
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) copies: Vec<Room>,
    pub(crate) output: Vec<f32>,
    pub(crate) batch: usize,
    /// Rows of the last forward pass.
    pub(crate) rows: usize,
    /// What it was made for.
    pub(crate) spec: Spec,
}

/// Room for one copy.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub chunks: Vec<Chunk>,
    /// The transposed weights of each convolution whose input needs a gradient.
    pub turned: Vec<Vec<f32>>,
    /// Whether its rows run in parallel.
    pub parallel: bool,
    /// Whether copies run in parallel.
    pub worth_a_thread: bool,
}

/// Room for some rows.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// Most rows that fit, and how many there are.
    pub capacity: usize,
    pub rows: usize,
    /// Each value, with its border; the input only if it has one.
    pub values: Vec<Vec<f32>>,
    /// The loss's gradient with respect to each value before its ReLU, without border; none for the input.
    pub deltas: Vec<Vec<f32>>,
    pub scratch: Vec<f32>,
}

impl Workspace {
    /// Allocates all of it.
    pub fn new(network: &Network, copies: usize, batch: usize) -> Result<Self> {
        for (what, size) in [("the number of copies", copies), ("the batch", batch)] {
            if size == 0 {
                return Err(Error::Zero { what: what.to_owned() });
            }
        }
        let room = Room::new(network, batch);
        let output = vec![0.0; copies * batch * network.outputs()];
        Ok(Self { copies: vec![room; copies], output, batch, rows: 0, spec: network.spec.clone() })
    }

    /// Number of copies.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Most rows of a pass.
    pub fn batch(&self) -> usize {
        self.batch
    }
}

impl Room {
    fn new(network: &Network, batch: usize) -> Self {
        let work = network.work.saturating_mul(batch);
        let parallel = work >= PARALLEL_WORK && batch > CHUNK;
        let size = if parallel { CHUNK } else { batch };
        let chunks =
            (0..batch).step_by(size).map(|first| Chunk::new(network, size.min(batch - first))).collect();
        let turned = |op: &crate::network::Op| match op.kind {
            Kind::Conv(_) if op.input > 0 => vec![0.0; op.weight.len()],
            _ => Vec::new(),
        };
        Self {
            chunks,
            turned: network.ops.iter().map(turned).collect(),
            parallel,
            worth_a_thread: work >= COPY_WORK,
        }
    }
}

impl Chunk {
    fn new(network: &Network, capacity: usize) -> Self {
        let values = &network.values;
        let scratch = network.ops.iter().filter(|op| op.input > 0).map(|op| match op.kind {
            Kind::Dense => Dense::scratch(capacity, values[op.input].len(), values[op.output].len()),
            Kind::Conv(_) => values[op.input].padded_len(),
        });
        let scratch = vec![0.0; scratch.max().unwrap_or(0)];
        let frame = |(i, value): (usize, &crate::network::Value)| {
            if i == 0 && !value.is_padded() { Vec::new() } else { vec![0.0; capacity * value.padded_len()] }
        };
        let delta = |(i, value): (usize, &crate::network::Value)| {
            if i == 0 { Vec::new() } else { vec![0.0; capacity * value.len()] }
        };
        Self {
            capacity,
            rows: 0,
            values: values.iter().enumerate().map(frame).collect(),
            deltas: values.iter().enumerate().map(delta).collect(),
            scratch,
        }
    }
}
