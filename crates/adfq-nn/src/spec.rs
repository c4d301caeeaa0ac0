//! What a network is, as data: input, layers, head. What it computes lives in [`Network`](crate::Network).

use serde::{Deserialize, Serialize};

/// A network: an input, layers each followed by a ReLU, and a linear (or dueling) head.
///
/// ```
/// use adfq_nn::{Head, Layer, Padding, Spec};
///
/// let atari = Spec {
///     input: vec![84, 84, 4],
///     layers: vec![
///         Layer::Conv { filters: 32, kernel: 8, stride: 4, padding: Padding::Same },
///         Layer::Conv { filters: 64, kernel: 4, stride: 2, padding: Padding::Same },
///         Layer::Conv { filters: 64, kernel: 3, stride: 1, padding: Padding::Same },
///         Layer::dense(256),
///     ],
///     head: Head { actions: 6, groups: 2, dueling: None },
/// };
/// let json = serde_json::to_string(&atari).unwrap();
/// assert!(json.contains(r#"{"conv":{"filters":32,"kernel":8,"stride":4,"padding":"same"}}"#));
/// assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), atari);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Shape of one observation: `[n]`, or `[height, width, channels]`.
    pub input: Vec<usize>,
    /// Hidden layers, from the input on.
    pub layers: Vec<Layer>,
    /// What the last layer's features become.
    pub head: Head,
}

/// A hidden layer; a ReLU follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Layer {
    /// A convolution over an image.
    Conv {
        /// Number of output channels.
        filters: usize,
        /// Side of the square kernel.
        kernel: usize,
        /// Step between positions, the same in both directions.
        stride: usize,
        /// What happens at the border.
        padding: Padding,
    },
    /// A dense layer; an image that comes in is flattened, channels fastest.
    Dense {
        /// Number of units.
        units: usize,
        /// Whether the sums of a row are brought to the mean 0 and the variance 1 before the ReLU (Ba et al. 2016), without
        /// a gain or an offset of their own. How large a row's input is then shows only beside the bias.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        normalised: bool,
    },
}

impl Layer {
    /// What is added to the variance of a row of sums that is normalised, so that equal ones stay finite.
    pub const EPSILON: f32 = 1e-5;

    /// A dense layer whose sums are taken as they are.
    ///
    /// ```
    /// use adfq_nn::Layer;
    ///
    /// assert_eq!(Layer::dense(64), Layer::Dense { units: 64, normalised: false });
    /// ```
    pub fn dense(units: usize) -> Self {
        Self::Dense { units, normalised: false }
    }
}

/// What a convolution does at the border of its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    /// Only positions at which the kernel lies within the image.
    Valid,
    /// TensorFlow's SAME: ⌈size / stride⌉ positions, zeros around the image, the odd one below and to the right.
    Same,
}

/// The head: `groups` outputs for each action, group-major: `[μ₁ … μ_A, ρ₁ … ρ_A]` for two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Number of actions A.
    pub actions: usize,
    /// Outputs of each action: 1 for Q, 2 for μ and -log σ.
    pub groups: usize,
    /// Hidden units of each stream of a dueling head, or none for a linear head. Each group has streams of its own:
    /// a value v and advantages a, each behind a hidden layer with ReLU, and outputs v + aᵢ - mean(a).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dueling: Option<usize>,
}
