//! Adam, clipping and target copies on the device.

use super::buffer::Buffer;
use super::device::Device;
use super::engine::Engine;
use super::params;
use super::pass::{Input, Pass};
use super::plan::{ADAM_PART, Plan};
use crate::{AdamSettings, Clip, Error, Network, Result};

/// Parts of gradients that one block adds up at most, one after the other.
const FEW_PARTS: usize = 4;

/// The state of Adam, and what a step needs beside it.
#[derive(Debug)]
pub(super) struct Optimiser {
    pub m: Buffer<f32>,
    pub v: Buffer<f32>,
    /// Steps taken by each copy, and those not taken because a gradient was not finite.
    pub steps: Buffer<u64>,
    pub skipped: Buffer<u64>,
    /// The norm of each copy's last gradient before clipping.
    pub norms: Buffer<f32>,
    /// Start, length and tensor of each block's share of the parameters.
    parts: Buffer<i32>,
    own_rates: Buffer<f32>,
    scales: Buffer<f32>,
    rates: Buffer<f32>,
}

impl Optimiser {
    pub fn new(device: &Device, network: &Network, plan: &Plan, copies: usize) -> Result<Self> {
        let mut parts = Vec::new();
        for (i, (tensor, &start)) in network.tensors.iter().zip(&plan.tensors).enumerate() {
            let len = tensor.range.len();
            for first in (0..len).step_by(ADAM_PART) {
                parts.extend([start + first, ADAM_PART.min(len - first), i].map(|n| n as i32));
            }
        }
        Ok(Self {
            m: Buffer::zeros(device, copies * plan.stride)?,
            v: Buffer::zeros(device, copies * plan.stride)?,
            steps: Buffer::zeros(device, copies)?,
            skipped: Buffer::zeros(device, copies)?,
            norms: Buffer::zeros(device, copies)?,
            parts: Buffer::of(device, &parts)?,
            scales: Buffer::zeros(device, copies * network.tensors.len())?,
            own_rates: Buffer::zeros(device, copies)?,
            rates: Buffer::zeros(device, 2 * copies)?,
        })
    }
}

impl Engine {
    /// Clips the gradients of the last backward pass, which was in this pass, and takes a step with the online parameters.
    ///
    /// A copy whose gradient is infinite or NaN takes no step and changes nothing; see [`Engine::skipped`].
    pub fn adam(&mut self, pass: &Pass, settings: &AdamSettings, clip: Clip) -> Result<()> {
        let adam = self.adam_parameters(pass, settings, clip)?;
        self.run_adam(adam)
    }

    fn run_adam(&self, adam: params::Adam) -> Result<()> {
        self.run_prepare(adam)?;
        self.run_step(adam)
    }

    /// Norms, factors and rates.
    fn run_prepare(&self, adam: params::Adam) -> Result<()> {
        let shared = self.network.tensors.len() * size_of::<f64>();
        self.kernels.prepare.run(&self.device, (self.copies, 1, 1), 256, shared, adam)
    }

    /// Adds up the parts of gradients and prepares, in one launch where parts are few.
    fn sum_and_prepare(&self, pass: &Pass, adam: params::Adam) -> Result<()> {
        let parts = pass.slots.count_parts();
        if !(1..=FEW_PARTS).contains(&parts) {
            self.sum_parts(pass)?;
            return self.run_prepare(adam);
        }
        let both = params::SumAndPrepare { adam, sums: self.part_sums(pass), parts: parts as i32 };
        let shared = self.network.tensors.len() * size_of::<f64>();
        self.kernels.sum_and_prepare.run(&self.device, (self.copies, 1, 1), 256, shared, both)
    }

    /// The step itself.
    fn run_step(&self, adam: params::Adam) -> Result<()> {
        let parts = self.optimiser.parts.len() / 3;
        self.kernels.step.run(&self.device, (parts, self.copies, 1), 256, 0, adam)
    }

    /// A backward pass and a step of Adam: [`Engine::backward`] and [`Engine::adam`], in one launch for a small
    /// perceptron (whose sums then have another order).
    pub fn learn(
        &mut self,
        pass: &mut Pass,
        input: Input,
        settings: &AdamSettings,
        clip: Clip,
    ) -> Result<()> {
        let adam = self.adam_parameters(pass, settings, clip)?;
        self.run_learn(pass, input, adam)
    }

    /// The same, and in the same pass over the parameters the target ones move towards the online ones by this fraction, as
    /// [`Engine::update_target`] would move them afterwards.
    pub fn learn_and_follow(
        &mut self,
        pass: &mut Pass,
        input: Input,
        settings: &AdamSettings,
        clip: Clip,
        tau: f32,
    ) -> Result<()> {
        check_tau(tau)?;
        let adam = self.adam_parameters(pass, settings, clip)?;
        self.run_learn(pass, input, params::Adam { target: self.target.address(), tau, ..adam })
    }

    /// A whole step as the two above, with or without targets that follow. What `beside` puts on the stream that it is given runs
    /// beside the last part of the step: the norms of the gradients are there, and parameters and moments must be left alone.
    pub fn learn_beside<E: From<Error>>(
        &mut self,
        pass: &mut Pass,
        input: Input,
        settings: &AdamSettings,
        clip: Clip,
        tau: Option<f32>,
        beside: impl FnOnce(&Device) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let adam = self.adam_parameters(pass, settings, clip)?;
        let adam = match tau {
            Some(tau) => {
                check_tau(tau)?;
                params::Adam { target: self.target.address(), tau, ..adam }
            }
            None => adam,
        };
        if self.kernels.fused.is_some() {
            self.run_learn(pass, input, adam)?;
            return beside(&self.device);
        }
        self.backward_in_parts(pass, input)?;
        self.sum_and_prepare(pass, adam)?;
        beside(&self.device.aside()?)?;
        self.run_step(adam)?;
        Ok(self.device.join()?)
    }

    fn run_learn(&mut self, pass: &mut Pass, input: Input, adam: params::Adam) -> Result<()> {
        let Some([_, kernel]) = &self.kernels.fused else {
            self.backward_in_parts(pass, input)?;
            self.sum_and_prepare(pass, adam)?;
            return self.run_step(adam);
        };
        let learn = params::FusedLearn {
            adam,
            input: self.check_input(pass, input)?,
            values: pass.value_addresses(self),
            out_grad: pass.out_grad().address(),
            rows: pass.rows() as i32,
            scale: self.observations.scale(),
        };
        kernel.run(&self.device, (self.copies, 1, 1), 512, self.plan.learn_shared(), learn)
    }

    fn adam_parameters(&self, pass: &Pass, settings: &AdamSettings, clip: Clip) -> Result<params::Adam> {
        settings.check()?;
        clip.check()?;
        let (kind, most) = match clip {
            Clip::None => (0, 0.0),
            Clip::PerTensor(most) => (1, most),
            Clip::Global(most) => (2, most),
        };
        let (optimiser, tensors) = (&self.optimiser, self.network.tensors.len());
        Ok(params::Adam {
            rate: settings.rate.into(),
            beta1: settings.beta1,
            beta2: settings.beta2,
            epsilon: settings.epsilon,
            most,
            clip: kind,
            squares: pass.slots.squares.address(),
            tensor_slots: pass.slots.of_tensor.address(),
            parts: optimiser.parts.address(),
            scales: optimiser.scales.address(),
            own_rates: optimiser.own_rates.address(),
            rates: optimiser.rates.address(),
            steps: optimiser.steps.address(),
            skipped: optimiser.skipped.address(),
            norms: optimiser.norms.address(),
            params: self.online.address(),
            m: optimiser.m.address(),
            v: optimiser.v.address(),
            grads: self.grads.address(),
            target: 0,
            tau: 0.0,
            stride: self.plan.stride as i64,
            slots: pass.slots.count as i32,
            tensors: tensors as i32,
        })
    }

    /// A learning rate for each copy, which takes the place of that in the settings where it is not 0. Steps that were
    /// captured follow it too.
    pub fn own_rates(&self) -> &Buffer<f32> {
        &self.optimiser.own_rates
    }

    /// Sets [`Engine::own_rates`].
    pub fn set_own_rates(&mut self, rates: &[f32]) -> Result<()> {
        self.optimiser.own_rates.upload(rates)
    }

    /// Moves the target parameters towards the online ones by this fraction: 1 for a copy.
    pub fn update_target(&mut self, tau: f32) -> Result<()> {
        check_tau(tau)?;
        let size = self.online.len() / 4;
        let (online, target) = (self.online.address(), self.target.address());
        let update = params::Target { online, target, size: size as i64, tau };
        self.kernels.target.run(&self.device, (size.div_ceil(256), 1, 1), 256, 0, update)
    }

    /// The norm of each copy's gradient in the last step, before clipping.
    pub fn norms(&self) -> &Buffer<f32> {
        &self.optimiser.norms
    }

    /// Steps that each copy did not take because its gradient was not finite.
    pub fn skipped(&self) -> Result<Vec<u64>> {
        self.optimiser.skipped.download()
    }
}

fn check_tau(tau: f32) -> Result<()> {
    match tau > 0.0 && tau <= 1.0 {
        true => Ok(()),
        false => Err(Error::Setting { name: "tau", value: tau.into(), need: "above 0 and at most 1" }),
    }
}
