//! Where runs have been, for algorithms that keep [`Visits`] on the device: random features of what was seen, and a matrix for
//! each action (`kernels/visits.cu`). The sums are those of the CPU, bit for bit.

use super::raw::launch;
use super::sizes::Sizes;
use crate::Result;
use crate::algorithm::{Keeps, Visits};
use adfq_nn::cuda::{Buffer, Device, Input, Kernel, Module, Scalar};

/// Visits of all runs.
#[derive(Debug)]
pub(super) struct Places {
    device: Device,
    runs: usize,
    envs: usize,
    actions: usize,
    weights: Buffer<f32>,
    inverse: Buffer<f64>,
    pub counts: Buffer<f64>,
    /// What each transition of a batch says for the end of it.
    notes: Buffer<f32>,
    /// What was left before each of the last visits, and their actions.
    before: Buffer<f64>,
    taken: Buffer<u32>,
    /// Of the batch being learned from.
    batch: Looked,
    kernels: Kernels,
}

#[derive(Debug)]
struct Kernels {
    looks: Vec<Looks>,
    visit: Kernel,
    count_pairs: Kernel,
}

/// Kernels whose blocks have so many rows.
#[derive(Debug)]
struct Looks {
    together: usize,
    look: Kernel,
    find_left: Kernel,
}

impl Looks {
    fn new(module: &Module, together: usize) -> Result<Self> {
        Ok(Self {
            together,
            look: module.kernel(&format!("look_{together}"))?,
            find_left: module.kernel(&format!("find_left_{together}"))?,
        })
    }
}

/// What was found of some observations of each run: features, and the share of the prior variance left of each action.
#[derive(Debug)]
pub(super) struct Looked {
    rows: usize,
    features: Buffer<f64>,
    pub left: Buffer<f64>,
}

/// Rows that a block may have, most first, as far as shared memory has room for their features (`kernels/visits.cu`).
fn together(features: usize) -> &'static [usize] {
    match features {
        ..=320 => &[16, 4, 1],
        321..=768 => &[4, 1],
        _ => &[1],
    }
}

/// Blocks that keep a large GPU busy. With fewer, the rows of a block are shared out to more of them.
const BUSY: usize = 128;

impl Places {
    /// Brings the visits of these runs to the device.
    pub fn new<'a>(
        device: &Device,
        module: &Module,
        sizes: &Sizes,
        runs: impl Iterator<Item = Keeps<'a>>,
    ) -> Result<Self> {
        let (mut weights, mut inverse, mut counts) = (vec![], vec![], vec![]);
        for keeps in runs {
            if let Keeps::Visits(visits) = keeps {
                weights.extend_from_slice(visits.weights);
                inverse.extend_from_slice(visits.inverse);
                counts.extend(visits.counts);
            }
        }
        let kernels = Kernels {
            looks: together(sizes.features)
                .iter()
                .map(|&rows| Looks::new(module, rows))
                .collect::<Result<_>>()?,
            visit: module.kernel("visit")?,
            count_pairs: module.kernel("count_pairs")?,
        };
        let &Sizes { runs, envs, actions, batch, .. } = sizes;
        Ok(Self {
            weights: Buffer::of(device, &weights)?,
            inverse: Buffer::of(device, &inverse)?,
            counts: Buffer::of(device, &counts)?,
            notes: Buffer::zeros(device, 4 * runs * batch)?,
            before: Buffer::zeros(device, runs * envs)?,
            taken: Buffer::zeros(device, runs * envs)?,
            batch: Looked::new(device, sizes, batch)?,
            device: device.clone(),
            runs,
            envs,
            actions,
            kernels,
        })
    }

    /// Room for what is found of so many observations of each run.
    pub fn room(&self, sizes: &Sizes, rows: usize) -> Result<Looked> {
        Looked::new(&self.device, sizes, rows)
    }

    /// Where a loss finds what is left, the counts and the notes.
    pub fn addresses(&self) -> [u64; 3] {
        [self.batch.left.address(), self.counts.address(), self.notes.address()]
    }

    /// Finds what is left in the states that follow the transitions of the batch.
    pub fn look_beyond(&self, next: Input) -> Result<()> {
        self.look(next, &self.batch)
    }

    /// Finds the features of observations, and what is left of each action.
    pub fn look(&self, seen: Input, found: &Looked) -> Result<()> {
        let seen = match seen {
            Input::Bytes(buffer) => buffer.address(),
            Input::Floats(buffer) => buffer.address(),
        };
        let Looks { together, look, find_left } = self.looks(found.rows);
        let blocks = found.rows.div_ceil(*together);
        let rows = Scalar::I32(found.rows as i32);
        let [features, left] = [found.features.address(), found.left.address()].map(Scalar::Address);
        let (weights, inverse) = (self.weights.address(), self.inverse.address());
        let arguments = [Scalar::Address(seen), Scalar::Address(weights), features, rows];
        launch(&self.device, look, (blocks, self.runs), 256, &arguments)?;
        let arguments = [features, Scalar::Address(inverse), left, rows];
        launch(&self.device, find_left, (blocks * self.actions, self.runs), 256, &arguments)
    }

    /// Kernels for so many rows of each run: those that read least, as long as all processors of the device have a block.
    fn looks(&self, rows: usize) -> &Looks {
        let looks = &self.kernels.looks;
        let fit = looks
            .iter()
            .find(|looks| rows >= looks.together && rows / looks.together * self.actions * self.runs >= BUSY);
        // Few rows: as many blocks as there can be.
        fit.or_else(|| looks.iter().find(|looks| looks.together <= rows.min(4))).unwrap_or(&looks[0])
    }

    /// Notes that these actions were taken on seeing what was looked at last, one of each environment of each run.
    pub fn visit(&mut self, found: &Looked, actions: &[u32], settings: &Buffer<f64>) -> Result<()> {
        if found.rows != self.envs {
            let (needed, found) = (self.envs, found.rows);
            return Err(adfq_nn::Error::Length { what: "observations", needed, found }.into());
        }
        self.taken.upload(actions)?;
        let arguments = [
            found.features.address(),
            self.taken.address(),
            settings.address(),
            self.inverse.address(),
            self.before.address(),
        ];
        let grid = (self.actions, self.runs);
        launch(&self.device, &self.kernels.visit, grid, 512, &arguments.map(Scalar::Address))?;
        let arguments = [self.before.address(), self.counts.address()].map(Scalar::Address);
        launch(&self.device, &self.kernels.count_pairs, (1, self.runs), 32, &arguments)
    }

    /// Counts and matrices of all runs. Waits.
    pub fn download(&self) -> Result<Downloaded> {
        Ok(Downloaded { counts: self.counts.download()?, inverse: self.inverse.download()?, runs: self.runs })
    }
}

impl Looked {
    fn new(device: &Device, sizes: &Sizes, rows: usize) -> Result<Self> {
        Ok(Self {
            rows,
            features: Buffer::zeros(device, sizes.runs * rows * sizes.features)?,
            left: Buffer::zeros(device, sizes.runs * rows * sizes.actions)?,
        })
    }
}

/// What the device has of all runs, on the host.
pub(super) struct Downloaded {
    counts: Vec<f64>,
    inverse: Vec<f64>,
    runs: usize,
}

impl Downloaded {
    /// The counts and matrices of a run.
    pub fn of(&self, run: usize) -> (&[f64], &[f64]) {
        let each = self.inverse.len() / self.runs;
        (&self.counts[run * Visits::COUNTS..][..Visits::COUNTS], &self.inverse[run * each..][..each])
    }
}
