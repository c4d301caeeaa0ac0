//! What can go wrong in this crate, each with the value that is to blame and what to do about it.

/// The errors of the crate `adfq-nn`.
///
/// ```
/// use adfq_nn::{Head, Network, Spec};
///
/// let spec = Spec { input: vec![], layers: vec![], head: Head { actions: 2, groups: 1, dueling: None } };
/// let error = Network::new(&spec).unwrap_err();
/// assert_eq!(error.to_string(), "the network's input has shape []: give [n] or [height, width, channels]");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input's shape has neither one nor three axes.
    #[error("the network's input has shape {0:?}: give [n] or [height, width, channels]")]
    InputShape(Vec<usize>),
    /// A size that must be positive is zero.
    #[error("{what} must be positive, but it is 0")]
    Zero {
        /// What is zero.
        what: String,
    },
    /// A convolution where there is no image.
    #[error(
        "layer {layer} is a convolution, but what comes in is a vector: put it before the dense layers and give an input [height, width, channels]"
    )]
    NoImage {
        /// Index of the layer in the specification.
        layer: usize,
    },
    /// A kernel that does not fit into its image.
    #[error(
        "layer {layer} has a {kernel} x {kernel} kernel on an image of {height} x {width}: make it smaller or pad it with `same`"
    )]
    Kernel {
        /// Index of the layer in the specification.
        layer: usize,
        /// Side of the kernel.
        kernel: usize,
        /// Height of its image.
        height: usize,
        /// Width of its image.
        width: usize,
    },
    /// The network's sizes overflow.
    #[error("the network is too large for this machine's address space: make its layers smaller")]
    TooLarge,
    /// A buffer whose length does not fit the network.
    #[error("`{what}` must hold {needed} values, but it holds {found}")]
    Length {
        /// The buffer to blame.
        what: &'static str,
        /// Number of values that it needs.
        needed: usize,
        /// Number of values that it has.
        found: usize,
    },
    /// An input that is no whole number of rows for each copy, or none, or more than the workspace has room for.
    #[error(
        "the input holds {found} values, but it needs 1 to {batch} rows of {inputs} for each of {copies} copies: \
         pass whole rows, or make the workspace for a larger batch"
    )]
    Rows {
        /// Number of values of the input.
        found: usize,
        /// Rows for which the workspace was made.
        batch: usize,
        /// Values of a row.
        inputs: usize,
        /// Copies for which the workspace was made.
        copies: usize,
    },
    /// A workspace, or the state of an optimiser, that was made for another network.
    #[error("the {what} was made for another network: make one for this network")]
    Foreign {
        /// "workspace" or "optimiser".
        what: &'static str,
    },
    /// A backward pass without the forward pass whose activations it needs.
    #[error(
        "backward needs a forward pass of the same {rows} rows in this workspace first, but it saw {seen}"
    )]
    NoForward {
        /// Rows of the input given to backward.
        rows: usize,
        /// Rows of the last forward pass, 0 if there was none.
        seen: usize,
    },
    /// Constants of the output layer that are not one for each group.
    #[error("the output needs {groups} constants, one for each group, but {found} are given")]
    Constants {
        /// Groups of the head.
        groups: usize,
        /// Number of constants.
        found: usize,
    },
    /// A setting is outside what it may be.
    #[error("the setting `{name}` must be {need}, but it is {value}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// The value it was given.
        value: f64,
        /// What it may be.
        need: &'static str,
    },
    /// A gradient is infinite or NaN; nothing was changed.
    #[error(
        "the gradient of `{tensor}` (copy {copy}) is not finite; no parameter was changed: look for the loss or the target that is not finite"
    )]
    Gradient {
        /// The copy to blame.
        copy: usize,
        /// The first tensor of it that is to blame.
        tensor: String,
    },
    /// Bytes for an engine that takes floats, or floats for one that takes bytes.
    #[error("the input is not of the kind for which the engine was made: make one for these observations")]
    Observations,
    /// A GPU that cannot be used.
    #[error("the device cuda:{ordinal} cannot be used: {what}; {todo}")]
    NoDevice {
        /// Its number.
        ordinal: usize,
        /// What is missing.
        what: String,
        /// What to do about it.
        todo: String,
    },
    /// The driver or the run-time compiler failed.
    #[error("CUDA failed: {what}")]
    Cuda {
        /// What it says.
        what: String,
    },
}

/// A result whose error is, unless another is named, the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
