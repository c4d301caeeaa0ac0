//! How parameters start.

use crate::network::Role;
use crate::{Error, Network, Result};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// How a network's parameters start. Biases start at zero unless the output says otherwise.
///
/// ```
/// use adfq::random::stream;
/// use adfq_nn::{Head, Init, Layer, Network, Output, Spec, Weights, Workspace};
///
/// // The paper's: whatever the state, every action starts as N(5, 1/e²).
/// let init = Init { hidden: Weights::Xavier, output: Output::Constant(vec![5.0, 1.0]) };
/// let spec = Spec {
///     input: vec![3],
///     layers: vec![Layer::dense(8)],
///     head: Head { actions: 2, groups: 2, dueling: Some(16) },
/// };
/// let network = Network::new(&spec)?;
/// let mut params = vec![0.0; network.parameters()];
/// network.init(&init, &mut stream(0, "init"), &mut params)?;
/// let mut workspace = Workspace::new(&network, 1, 1)?;
/// assert_eq!(network.forward(&params, &[0.3, 0.1, 9.0], &mut workspace)?, [5.0, 5.0, 1.0, 1.0]);
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Init {
    /// Weights of the layers with a ReLU.
    pub hidden: Weights,
    /// The layers that end in the outputs.
    pub output: Output,
}

/// A distribution of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// Uniform with variance 2 / (fan-in + fan-out) (Glorot and Bengio 2010).
    #[default]
    Xavier,
    /// Uniform with variance 2 / fan-in (He et al. 2015).
    He,
}

/// How the layers that end in the outputs start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Weights as in the hidden layers, biases zero.
    #[default]
    Hidden,
    /// Zero weights, and biases such that a group's outputs start as its constant: `[μ₀, -log σ₀]`.
    Constant(Vec<f32>),
}

impl Network {
    /// Draws the parameters of one copy.
    pub fn init(&self, init: &Init, rng: &mut impl Rng, params: &mut [f32]) -> Result<()> {
        self.check_length("params", 1, params.len())?;
        if let Output::Constant(constants) = &init.output {
            let groups = self.spec.head.groups;
            if constants.len() != groups {
                return Err(Error::Constants { groups, found: constants.len() });
            }
        }
        params.fill(0.0);
        for tensor in &self.tensors {
            let values = &mut params[tensor.range.clone()];
            match (tensor.role, &init.output) {
                (Role::Weight, _) | (Role::OutputWeight, Output::Hidden) => {
                    init.hidden.draw(&tensor.shape, rng, values);
                }
                (Role::ValueBias(group), Output::Constant(constants)) => values.fill(constants[group]),
                (Role::OutputBias, Output::Constant(constants)) => {
                    let groups = values.chunks_exact_mut(self.spec.head.actions);
                    groups.zip(constants).for_each(|(values, &constant)| values.fill(constant));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Weights {
    fn draw(self, shape: &[usize], rng: &mut impl Rng, values: &mut [f32]) {
        // [.., in, out]: the leading axes are those of a convolution's kernel and count for both.
        let (last, outer) = (shape[shape.len() - 1], shape[..shape.len() - 1].iter().product::<usize>());
        let kernel: usize = shape[..shape.len() - 2].iter().product();
        let (fan_in, fan_out) = (outer as f64, (kernel * last) as f64);
        let variance = match self {
            Self::Xavier => 2.0 / (fan_in + fan_out),
            Self::He => 2.0 / fan_in,
        };
        // A uniform on [-b, b) has variance b²/3.
        let bound = (3.0 * variance).sqrt() as f32;
        values.fill_with(|| (2.0 * rng.random::<f32>() - 1.0) * bound);
    }
}
