//! N stacked copies of a network on a device: parameters, gradients, moments, and the kernels that work on them.

use super::buffer::Buffer;
use super::device::Device;
use super::kernels::Kernels;
use super::optimiser::Optimiser;
use super::pass::Pass;
use super::plan::{MOST_PLACES, Plan};
use super::source::source;
use crate::{Adam, AdamSettings, Error, Network, Result};

/// What observations are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observations {
    /// Numbers as they are.
    Floats,
    /// Bytes, each of them times this.
    Bytes {
        /// 1/255 for the pixels of an image.
        scale: f32,
    },
}

impl Observations {
    pub(super) fn scale(self) -> f32 {
        match self {
            Self::Floats => 1.0,
            Self::Bytes { scale } => scale,
        }
    }
}

/// How products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// On the matrix units: factors rounded to TF32 (11 bits), sums in f32.
    #[default]
    Tf32,
    /// In f32 throughout, and much slower: to compare with the CPU engine.
    Full,
}

/// Which parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that learn.
    Online,
    /// Those of the target network.
    Target,
    /// Those of a network that is never trained. There is none before the first [`Engine::upload`].
    Fixed,
}

/// What an engine stores of each copy: as many numbers of each as the network has parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The parameters that learn.
    Online,
    /// Those of the target network.
    Target,
    /// Adam's first moments.
    First,
    /// Adam's second moments.
    Second,
}

impl Stored {
    /// All of it.
    pub const ALL: [Self; 4] = [Self::Online, Self::Target, Self::First, Self::Second];
}

/// N stacked copies of a network on a device.
///
/// ```
/// use adfq_nn::cuda::{Buffer, Device, Engine, Input, Observations, Precision, View, Which};
/// use adfq_nn::{AdamSettings, Clip, Head, Network, Spec};
///
/// let spec = Spec { input: vec![1], layers: vec![], head: Head { actions: 1, groups: 1, dueling: None } };
/// let network = Network::new(&spec)?; // y = w·x + b
/// let Ok(device) = Device::open(0) else { return Ok(()) }; // no GPU here
/// let mut engine = Engine::new(&device, &network, 1, Observations::Floats, Precision::Tf32)?;
/// engine.upload(Which::Online, &[3.0, 1.0])?;
/// let mut pass = engine.pass(1, 2)?;
/// let input = Buffer::of(&device, &[2.0, 5.0])?;
/// engine.forward(&mut pass, &[View { which: Which::Online, input: Input::Floats(&input) }])?;
/// assert_eq!(pass.outputs().download()?, [7.0, 16.0]);
/// pass.out_grad_mut().upload(&[1.0, 10.0])?;
/// engine.backward(&mut pass, Input::Floats(&input))?;
/// assert_eq!(engine.gradients()?, [1.0 * 2.0 + 10.0 * 5.0, 1.0 + 10.0]);
/// engine.adam(&pass, &AdamSettings::default(), Clip::None)?;
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    pub(super) device: Device,
    pub(super) network: Network,
    pub(super) plan: Plan,
    pub(super) copies: usize,
    pub(super) observations: Observations,
    pub(super) multiprocessors: usize,
    pub(super) online: Buffer<f32>,
    pub(super) target: Buffer<f32>,
    /// Empty where nobody needs it.
    pub(super) fixed: Buffer<f32>,
    pub(super) grads: Buffer<f32>,
    pub(super) optimiser: Optimiser,
    pub(super) kernels: Kernels,
}

impl Engine {
    /// Compiles the kernels of a network and allocates zeros for so many copies of it.
    pub fn new(
        device: &Device,
        network: &Network,
        copies: usize,
        observations: Observations,
        precision: Precision,
    ) -> Result<Self> {
        if copies == 0 {
            return Err(Error::Zero { what: "the number of copies".to_owned() });
        }
        let head = &network.spec.head;
        if head.dueling.is_some() && head.groups > super::params::GROUPS {
            let value = head.groups as f64;
            return Err(Error::Setting {
                name: "groups",
                value,
                need: "at most 16 with a dueling head on a GPU",
            });
        }
        let plan = Plan::of(network, observations, precision, device.shared_memory()?);
        if let Some(op) = plan.ops.iter().find(|op| op.geometry.kernel > MOST_PLACES) {
            let value = op.geometry.kernel as f64;
            return Err(Error::Setting { name: "kernel", value, need: "at most 16 on a GPU" });
        }
        if plan.stride > i32::MAX as usize {
            return Err(Error::TooLarge);
        }
        let text = source(&plan, observations);
        // Without the matrix units nothing needs rounding.
        let precise = precision == Precision::Full || plan.ops.iter().all(|op| op.thin);
        let module = device.compile_with(&text, precise)?;
        let zeros = || Buffer::zeros(device, copies * plan.stride);
        Ok(Self {
            kernels: Kernels::of(&module, &plan)?,
            optimiser: Optimiser::new(device, network, &plan, copies)?,
            multiprocessors: device.multiprocessors()?,
            online: zeros()?,
            target: zeros()?,
            fixed: Buffer::zeros(device, 0)?,
            grads: zeros()?,
            device: device.clone(),
            network: network.clone(),
            copies,
            observations,
            plan,
        })
    }

    /// Room for passes of `rows` rows of each copy through `views` networks at once; the first view can go backward.
    pub fn pass(&self, views: usize, rows: usize) -> Result<Pass> {
        Pass::new(self, views, rows)
    }

    /// The device on which it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of copies.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Sets the parameters of all copies, in the layout of the CPU engine.
    pub fn upload(&mut self, which: Which, params: &[f32]) -> Result<()> {
        let padded = self.padded("params", params)?;
        match which {
            Which::Online => self.online.upload(&padded),
            Which::Target => self.target.upload(&padded),
            Which::Fixed => {
                self.fixed = Buffer::of(&self.device, &padded)?;
                Ok(())
            }
        }
    }

    /// The parameters of all copies, in the layout of the CPU engine.
    pub fn download(&self, which: Which) -> Result<Vec<f32>> {
        Ok(self.compact(&self.parameters(which)?.download()?))
    }

    /// The gradients of the last backward pass, before clipping.
    pub fn gradients(&self) -> Result<Vec<f32>> {
        Ok(self.compact(&self.grads.download()?))
    }

    /// Sets the state of the optimiser. Its settings are for [`Engine::adam`] to be given.
    pub fn upload_adam(&mut self, adam: &Adam) -> Result<()> {
        let (m, v) = (self.padded("m", &adam.m)?, self.padded("v", &adam.v)?);
        self.optimiser.m.upload(&m)?;
        self.optimiser.v.upload(&v)?;
        self.optimiser.steps.upload(&vec![adam.t; self.copies])
    }

    /// The state of the optimiser, with these settings; its steps are those of the copy that took most.
    pub fn download_adam(&self, settings: AdamSettings) -> Result<Adam> {
        let m = self.compact(&self.optimiser.m.download()?);
        let v = self.compact(&self.optimiser.v.download()?);
        Ok(Adam { settings, m, v, t: self.adam_steps()? })
    }

    /// Steps of the optimiser: those of the copy that took most.
    pub fn adam_steps(&self) -> Result<u64> {
        Ok(self.optimiser.steps.download()?.into_iter().max().unwrap_or(0))
    }

    /// What it stores, as it lies on the device: [`Engine::stride`] numbers of each copy, with gaps between tensors.
    pub fn stored(&self, what: Stored) -> &Buffer<f32> {
        match what {
            Stored::Online => &self.online,
            Stored::Target => &self.target,
            Stored::First => &self.optimiser.m,
            Stored::Second => &self.optimiser.v,
        }
    }

    /// Numbers from copy to copy in [`Engine::stored`].
    pub fn stride(&self) -> usize {
        self.plan.stride
    }

    /// Writes one copy of [`Engine::stored`] in the layout of the CPU engine.
    pub fn without_gaps(&self, copy: &[f32], out: &mut [f32]) -> Result<()> {
        self.network.check_length("numbers of a copy", 1, out.len())?;
        if copy.len() != self.plan.stride {
            let (needed, found) = (self.plan.stride, copy.len());
            return Err(Error::Length { what: "stored numbers", needed, found });
        }
        for (tensor, &start) in self.network.tensors.iter().zip(&self.plan.tensors) {
            out[tensor.range.clone()].copy_from_slice(&copy[start..][..tensor.range.len()]);
        }
        Ok(())
    }

    pub(super) fn parameters(&self, which: Which) -> Result<&Buffer<f32>> {
        match which {
            Which::Online => Ok(&self.online),
            Which::Target => Ok(&self.target),
            Which::Fixed if self.fixed.is_empty() => {
                Err(Error::Length { what: "fixed parameters", needed: self.online.len(), found: 0 })
            }
            Which::Fixed => Ok(&self.fixed),
        }
    }

    /// From the CPU's layout to the device's.
    fn padded(&self, what: &'static str, values: &[f32]) -> Result<Vec<f32>> {
        self.network.check_length(what, self.copies, values.len())?;
        let mut padded = vec![0.0; self.copies * self.plan.stride];
        let copies = padded.chunks_exact_mut(self.plan.stride);
        for (padded, values) in copies.zip(values.chunks_exact(self.network.parameters)) {
            for (tensor, &start) in self.network.tensors.iter().zip(&self.plan.tensors) {
                padded[start..][..tensor.range.len()].copy_from_slice(&values[tensor.range.clone()]);
            }
        }
        Ok(padded)
    }

    /// From the device's layout to the CPU's.
    fn compact(&self, padded: &[f32]) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.copies * self.network.parameters);
        for copy in padded.chunks_exact(self.plan.stride) {
            for (tensor, &start) in self.network.tensors.iter().zip(&self.plan.tensors) {
                values.extend_from_slice(&copy[start..][..tensor.range.len()]);
            }
        }
        values
    }
}
