//! What runs keep on the device beside its networks: frames, slots, priorities, and the batch being learned from.

use super::downloads::Downloads;
use super::sizes::{DRAWS, Sizes};
use crate::Config;
use crate::Result;
use crate::algorithm::CudaLoss;
use crate::replay::Elsewhere;
use adfq_nn::cuda::{Buffer, Device, Input, Scalar};
use std::sync::Arc;

/// Numbers of a run's settings and state, in the order of `kernels/common.cu`.
const SETTINGS: usize = 9 + CudaLoss::OWN;
pub(super) const STATES: usize = 6;
/// Where in the settings the end of the run lies.
const END: usize = 4;
/// Where in the state they lie.
pub(super) const STEP: usize = 0;
pub(super) const LEAST: usize = 2;
pub(super) const GREATEST: usize = 3;
pub(super) const LARGEST: usize = 4;
pub(super) const FRESH: usize = 5;

/// A batch as a run drew it, and what it taught: for tests and for those who look closer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Where each transition lies in the run's memory: its environment times the slots of a ring, and its place there.
    pub places: Vec<u32>,
    /// The actions.
    pub action: Vec<u32>,
    /// The n-step rewards.
    pub reward: Vec<f32>,
    /// What the value of s' counts.
    pub discount: Vec<f32>,
    /// Whether the episode terminated on the way.
    pub terminal: Vec<bool>,
    /// Importance weights.
    pub weight: Vec<f32>,
    /// The bytes of the observations s, and those of s'.
    pub obs: Vec<u8>,
    /// The bytes of the observations s'.
    pub next: Vec<u8>,
    /// The targets: means, or values.
    pub mean: Vec<f32>,
    /// The targets' variances; 1 without beliefs.
    pub var: Vec<f32>,
    /// |e_μ| + |e_σ|, or |e|.
    pub errors: Vec<f32>,
}

/// Observations of a batch, `[run][row][number]`.
#[derive(Debug)]
enum Observed {
    Bytes(Buffer<u8>),
    Floats(Buffer<f32>),
}

impl Observed {
    fn new(device: &Device, sizes: &Sizes) -> Result<Self> {
        let len = sizes.runs * sizes.batch * sizes.observation();
        Ok(match sizes.floats {
            true => Self::Floats(Buffer::zeros(device, len)?),
            false => Self::Bytes(Buffer::zeros(device, len)?),
        })
    }

    fn input(&self) -> Input<'_> {
        match self {
            Self::Bytes(buffer) => Input::Bytes(buffer),
            Self::Floats(buffer) => Input::Floats(buffer),
        }
    }

    fn address(&self) -> u64 {
        match self {
            Self::Bytes(buffer) => buffer.address(),
            Self::Floats(buffer) => buffer.address(),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Bytes(buffer) => buffer.download()?,
            Self::Floats(buffer) => bytemuck::cast_slice(&buffer.download()?).to_vec(),
        })
    }
}

/// The memory, `[run][…]` throughout.
#[derive(Debug)]
pub(super) struct Memory {
    pub sizes: Sizes,
    /// All there are: the host keeps none of them.
    pub frames: Arc<Buffer<u8>>,
    downloads: Arc<Downloads>,
    pub slots: Buffer<u32>,
    pub leaves: Buffer<f32>,
    sums: Buffer<f64>,
    minima: Buffer<f32>,
    pub settings: Buffer<f64>,
    pub state: Buffer<f64>,
    powers: Buffer<f64>,
    pub draws: Buffer<f64>,
    pub places: Buffer<u32>,
    rows: Buffer<u32>,
    here: Observed,
    next: Observed,
    pub parts: Buffer<f32>,
    pub errors: Buffer<f32>,
    pub targets: Buffer<f32>,
    /// What was pushed, on its way to its places.
    pub pack: Buffer<u8>,
    pub finals: Buffer<u8>,
    /// Slots ever written, by environment.
    pub heads: Buffer<u64>,
}

impl Memory {
    /// Empty memories for these runs.
    pub fn new(device: &Device, sizes: Sizes, configs: &[Config], losses: &[CudaLoss]) -> Result<Self> {
        let (runs, rows) = (sizes.runs, sizes.runs * sizes.batch);
        let nodes = runs * sizes.nodes() * 16;
        let powers = configs.iter().flat_map(|config| {
            let gamma = f64::from(config.learning.discount);
            std::iter::successors(Some(1.0), move |power| Some(power * gamma)).take(sizes.powers)
        });
        // The largest priority starts at 1, as on the CPU, and so does its power.
        let start: [f64; STATES] = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        Ok(Self {
            frames: Arc::new(Buffer::zeros(device, runs * sizes.places() * sizes.frame_bytes)?),
            downloads: Arc::new(Downloads::new(device)),
            slots: Buffer::zeros(device, 2 * runs * sizes.places())?,
            leaves: Buffer::zeros(device, runs * sizes.leaf_blocks() * 16)?,
            sums: Buffer::zeros(device, nodes)?,
            minima: Buffer::of(device, &vec![f32::INFINITY; nodes])?,
            settings: Buffer::of(device, &settings(&sizes, configs, losses))?,
            state: Buffer::of(device, &start.repeat(runs))?,
            powers: Buffer::of(device, &powers.collect::<Vec<_>>())?,
            draws: Buffer::zeros(device, rows * DRAWS)?,
            places: Buffer::zeros(device, rows)?,
            rows: Buffer::zeros(device, 4 * rows)?,
            here: Observed::new(device, &sizes)?,
            next: Observed::new(device, &sizes)?,
            parts: Buffer::zeros(device, 4 * rows)?,
            errors: Buffer::zeros(device, rows)?,
            targets: Buffer::zeros(device, 2 * rows)?,
            pack: Buffer::zeros(device, sizes.pack_bytes())?,
            finals: Buffer::zeros(device, sizes.finals_bytes())?,
            heads: Buffer::zeros(device, runs * sizes.envs)?,
            sizes,
        })
    }

    /// Has the schedules of all runs end at this step.
    pub fn set_end(&self, step: u64) -> Result<()> {
        let write = |run| self.settings.write(run * SETTINGS + END, &[step as f64]);
        Ok((0..self.sizes.runs).try_for_each(write)?)
    }

    /// The observations s.
    pub fn here(&self) -> Input<'_> {
        self.here.input()
    }

    /// The observations s'.
    pub fn next(&self) -> Input<'_> {
        self.next.input()
    }

    /// `MEMORY` of `kernels/common.cu`.
    pub fn arguments(
        &self,
        outputs: &Buffer<f32>,
        gradient: &Buffer<f32>,
        norms: &Buffer<f32>,
        mail: u64,
        [left, counts, notes]: [u64; 3],
    ) -> Vec<Scalar> {
        [
            self.frames.address(),
            self.slots.address(),
            self.leaves.address(),
            self.sums.address(),
            self.minima.address(),
            self.settings.address(),
            self.state.address(),
            self.powers.address(),
            self.draws.address(),
            self.places.address(),
            self.rows.address(),
            self.here.address(),
            self.next.address(),
            outputs.address(),
            gradient.address(),
            self.parts.address(),
            self.errors.address(),
            self.targets.address(),
            norms.address(),
            mail,
            self.heads.address(),
            left,
            counts,
            notes,
        ]
        .map(Scalar::Address)
        .to_vec()
    }

    /// The batch that a run drew last. Waits for the device.
    pub fn drawn(&self, run: usize) -> Result<Drawn> {
        let batch = self.sizes.batch;
        let rows = self.rows.download()?;
        let rows: Vec<&[u32]> = rows.chunks_exact(4).skip(run * batch).take(batch).collect();
        let targets = self.targets.download()?;
        let targets = &targets[2 * run * batch..][..2 * batch];
        let bytes = self.sizes.observation() * if self.sizes.floats { 4 } else { 1 } * batch;
        let float = |i: usize| rows.iter().map(|row| f32::from_bits(row[i])).collect();
        Ok(Drawn {
            places: self.places.download()?[run * batch..][..batch].to_vec(),
            action: rows.iter().map(|row| row[3] & !(1 << 31)).collect(),
            terminal: rows.iter().map(|row| row[3] >> 31 == 1).collect(),
            reward: float(0),
            discount: float(1),
            weight: float(2),
            obs: self.here.bytes()?[run * bytes..][..bytes].to_vec(),
            next: self.next.bytes()?[run * bytes..][..bytes].to_vec(),
            mean: targets.iter().step_by(2).copied().collect(),
            var: targets.iter().skip(1).step_by(2).copied().collect(),
            errors: self.errors.download()?[run * batch..][..batch].to_vec(),
        })
    }
}

/// The frames of a run on the device.
struct OfRun {
    frames: Arc<Buffer<u8>>,
    start: usize,
    downloads: Arc<Downloads>,
}

impl Elsewhere for OfRun {
    fn read(&self, start: usize, out: &mut [u8]) -> std::result::Result<(), String> {
        self.downloads.read(&self.frames, self.start + start, out).map_err(|error| error.to_string())
    }
}

impl Memory {
    /// The frames of a run, as its memory on the host reads them.
    pub fn frames_of(&self, run: usize) -> Arc<dyn Elsewhere> {
        let start = run * self.sizes.places() * self.sizes.frame_bytes;
        Arc::new(OfRun { frames: self.frames.clone(), start, downloads: self.downloads.clone() })
    }
}

/// The numbers of all runs.
fn settings(sizes: &Sizes, configs: &[Config], losses: &[CudaLoss]) -> Vec<f64> {
    let mut all = vec![];
    for (run, config) in configs.iter().enumerate() {
        let (learning, loss) = (&config.learning, losses.get(run));
        let priority = config.replay.priority.as_ref();
        let mut own = [0.0; SETTINGS];
        let common = [
            priority.map_or(0.0, |priority| priority.alpha.into()),
            priority.map_or(1.0, |priority| priority.epsilon.into()),
            learning.discount.into(),
            priority.map_or(1.0, |priority| priority.beta.into()),
            config.steps as f64,
            loss.map_or(0.0, |loss| sizes.number_of(loss) as f64),
            learning.huber.into(),
            f64::from(u8::from(learning.bound_targets)),
            config.replay.n_step as f64,
        ];
        let numbers = common.iter().chain(loss.iter().flat_map(|loss| &loss.own));
        own.iter_mut().zip(numbers).for_each(|(own, number)| *own = *number);
        all.extend(own);
    }
    all
}
