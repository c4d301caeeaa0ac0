//! Adam (Kingma and Ba 2015) with the conventions of PyTorch, and clipping, in one pass over the parameters.

use crate::{Error, Network, Result, Tensor};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Parameters that one thread takes at a time; tensors of no more than this are done where the step is called.
const CHUNK: usize = 1 << 15;

/// What Adam does with a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamSettings {
    /// Learning rate α.
    pub rate: f32,
    /// Decay of the first moment β₁.
    pub beta1: f32,
    /// Decay of the second moment β₂.
    pub beta2: f32,
    /// ε, added outside the square root.
    pub epsilon: f32,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl AdamSettings {
    /// Whether all of them are what they may be; the error names the first that is not.
    pub fn check(&self) -> Result<()> {
        let decay = |value: f32| (0.0..1.0).contains(&value);
        let positive = |value: f32| value > 0.0 && value.is_finite();
        for (name, value, ok, need) in [
            ("rate", self.rate, positive(self.rate), "positive and finite"),
            ("beta1", self.beta1, decay(self.beta1), "at least 0 and below 1"),
            ("beta2", self.beta2, decay(self.beta2), "at least 0 and below 1"),
            ("epsilon", self.epsilon, positive(self.epsilon), "positive and finite"),
        ] {
            if !ok {
                return Err(Error::Setting { name, value: value.into(), need });
            }
        }
        Ok(())
    }
}

/// How gradients are clipped, each copy by itself: scaled to this norm if theirs is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clip {
    /// Not at all.
    #[default]
    None,
    /// Each tensor by its own norm.
    PerTensor(f32),
    /// All tensors by the norm of all.
    Global(f32),
}

/// The state of Adam for a flat buffer of parameters; its fields are all that a checkpoint needs.
///
/// ```
/// use adfq_nn::{Adam, AdamSettings, Clip, Head, Network, Spec};
///
/// let spec = Spec { input: vec![1], layers: vec![], head: Head { actions: 1, groups: 1, dueling: None } };
/// let network = Network::new(&spec)?;
/// let mut adam = Adam::new(AdamSettings { rate: 0.1, ..Default::default() }, &network, 1)?;
/// let mut params = [1.0, 2.0];
/// let norm = adam.step(&network, Clip::Global(1.0), &mut params, &[30.0, -40.0])?;
/// assert_eq!(norm, 50.0); // before clipping
/// assert!((params[0] - 0.9).abs() < 1e-6 && (params[1] - 2.1).abs() < 1e-6); // the first step has length α
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// Rate, decays and ε.
    pub settings: AdamSettings,
    /// First moments, copies × parameters.
    pub m: Vec<f32>,
    /// Second moments, copies × parameters.
    pub v: Vec<f32>,
    /// Steps taken.
    pub t: u64,
}

/// The numbers of a step that are the same for all parameters.
#[derive(Clone, Copy)]
struct Step {
    beta1: f32,
    beta2: f32,
    epsilon: f32,
    /// α / (1 - β₁ᵗ)
    rate: f32,
    /// 1 / √(1 - β₂ᵗ)
    root: f32,
}

impl Adam {
    /// No step taken yet, for so many copies of a network.
    pub fn new(settings: AdamSettings, network: &Network, copies: usize) -> Result<Self> {
        settings.check()?;
        let zeros = vec![0.0; copies * network.parameters()];
        Ok(Self { settings, m: zeros.clone(), v: zeros, t: 0 })
    }

    /// Clips the gradients and takes a step. Gives the greatest norm of a copy's gradients before clipping.
    ///
    /// If a gradient is infinite or NaN the error names its tensor, and nothing is changed.
    pub fn step(&mut self, network: &Network, clip: Clip, params: &mut [f32], grads: &[f32]) -> Result<f32> {
        let size = network.parameters();
        let copies = self.m.len() / size;
        if copies == 0 || copies * size != self.m.len() || self.v.len() != self.m.len() {
            return Err(Error::Foreign { what: "optimiser" });
        }
        network.check_length("params", copies, params.len())?;
        network.check_length("grads", copies, grads.len())?;
        clip.check()?;
        let tensors = network.tensors();
        // The square of each tensor's norm, copy after copy; on the stack unless there are many.
        let mut squared = SmallVec::<[f64; 64]>::with_capacity(copies * tensors.len());
        for (copy, grads) in grads.chunks_exact(size).enumerate() {
            for tensor in tensors {
                squared.push(finite_squares(copy, tensor, grads)?);
            }
        }
        self.t += 1;
        let step = self.settings.at(self.t);
        let mut greatest = 0.0_f64;
        for (copy, squared) in squared.chunks_exact(tensors.len()).enumerate() {
            let norm = squared.iter().sum::<f64>().sqrt();
            greatest = greatest.max(norm);
            for (tensor, squared) in tensors.iter().zip(squared) {
                let range = copy * size + tensor.range.start..copy * size + tensor.range.end;
                let (params, grads) = (&mut params[range.clone()], &grads[range.clone()]);
                let (m, v) = (&mut self.m[range.clone()], &mut self.v[range]);
                step.tensor(clip.scale(squared.sqrt(), norm), grads, params, m, v);
            }
        }
        Ok(greatest as f32)
    }
}

impl AdamSettings {
    fn at(&self, t: u64) -> Step {
        let correction = |beta: f32| 1.0 - libm::pow(beta.into(), t as f64);
        Step {
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: self.epsilon,
            rate: (f64::from(self.rate) / correction(self.beta1)) as f32,
            root: (1.0 / correction(self.beta2).sqrt()) as f32,
        }
    }
}

impl Clip {
    /// Whether the norm is what it may be.
    pub fn check(self) -> Result<()> {
        match self {
            Self::PerTensor(most) | Self::Global(most) if !(most > 0.0 && most.is_finite()) => {
                Err(Error::Setting { name: "clip", value: most.into(), need: "positive and finite" })
            }
            _ => Ok(()),
        }
    }

    /// What the gradient of a tensor with this norm, of a copy with that, is multiplied by.
    fn scale(self, of_tensor: f64, of_copy: f64) -> f32 {
        let (norm, most) = match self {
            Self::None => return 1.0,
            Self::PerTensor(most) => (of_tensor, f64::from(most)),
            Self::Global(most) => (of_copy, f64::from(most)),
        };
        if norm > most { (most / norm) as f32 } else { 1.0 }
    }
}

fn finite_squares(copy: usize, tensor: &Tensor, grads: &[f32]) -> Result<f64> {
    let squares = squares(&grads[tensor.range.clone()]);
    if squares.is_finite() { Ok(squares) } else { Err(Error::Gradient { copy, tensor: tensor.name.clone() }) }
}

/// The sum of squares, in f64 so that it cannot overflow; the shape of the sum depends on the length alone.
fn squares(values: &[f32]) -> f64 {
    if values.len() > CHUNK {
        let (left, right) = values.split_at(CHUNK * (values.len().div_ceil(CHUNK) / 2));
        let (left, right) = rayon::join(|| squares(left), || squares(right));
        return left + right;
    }
    squares_of_chunk(values)
}

#[multiversion::multiversion(targets("x86_64+avx2+fma", "x86_64+avx512f+avx512dq+avx512vl"))]
fn squares_of_chunk(values: &[f32]) -> f64 {
    const LANES: usize = 32;
    let mut sums = [0.0_f64; LANES];
    let chunks = values.chunks_exact(LANES);
    for (i, &value) in chunks.remainder().iter().enumerate() {
        sums[i] = f64::from(value) * f64::from(value);
    }
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
    sums.iter().sum()
}

impl Step {
    fn tensor(self, scale: f32, grads: &[f32], params: &mut [f32], m: &mut [f32], v: &mut [f32]) {
        if grads.len() <= CHUNK {
            return update(self, scale, grads, params, m, v);
        }
        let moments = m.par_chunks_mut(CHUNK).zip_eq(v.par_chunks_mut(CHUNK));
        let chunks = params.par_chunks_mut(CHUNK).zip_eq(grads.par_chunks(CHUNK)).zip_eq(moments);
        chunks.for_each(|((params, grads), (m, v))| update(self, scale, grads, params, m, v));
    }
}

#[multiversion::multiversion(targets("x86_64+avx2+fma", "x86_64+avx512f+avx512dq+avx512vl"))]
fn update(step: Step, scale: f32, grads: &[f32], params: &mut [f32], m: &mut [f32], v: &mut [f32]) {
    let Step { beta1, beta2, epsilon, rate, root } = step;
    for (((&g, p), m), v) in grads.iter().zip(params).zip(m).zip(v) {
        let g = g * scale;
        *m = beta1 * *m + (1.0 - beta1) * g;
        *v = beta2 * *v + (1.0 - beta2) * (g * g);
        *p -= rate * *m / (v.sqrt() * root + epsilon);
    }
}
