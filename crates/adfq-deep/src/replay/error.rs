//! What can go wrong in a replay memory.

/// The errors of [`replay`](super).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A setting, or a part of the space, of which no memory can be made.
    #[error("replay: {name} = {value} will not do: it must be {need}")]
    Setting {
        /// What the setting is called.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it has to be.
        need: &'static str,
    },
    /// Lanes so short that no transition would ever be complete.
    #[error(
        "replay: a capacity of {capacity} gives each of {envs} environments {slots} slots, and stacked frames and \
         n-step returns need {needed} at least: raise the capacity to {}", needed * envs
    )]
    Small {
        /// The capacity asked for.
        capacity: usize,
        /// The number of environments.
        envs: usize,
        /// Slots of one ring.
        slots: usize,
        /// Slots that one env needs.
        needed: usize,
    },
    /// Memory that the system does not give.
    #[error("replay: the system refuses {bytes} bytes of memory: lower the capacity")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// An environment that there is not.
    #[error("replay: there is no environment {env}: there are {envs}, counted from 0")]
    Env {
        /// The environment asked for.
        env: usize,
        /// How many there are.
        envs: usize,
    },
    /// A frame of the wrong size.
    #[error("replay: a frame of {got} bytes, where the space says {want}")]
    Frame {
        /// Bytes given.
        got: usize,
        /// Bytes of a frame.
        want: usize,
    },
    /// An action that the space does not have.
    #[error("replay: there is no action {action}: the space has {actions}, counted from 0")]
    Action {
        /// The action given.
        action: u32,
        /// How many there are.
        actions: usize,
    },
    /// A reward from which nothing can be learnt.
    #[error("replay: the reward {0} is not finite: look at the environment")]
    Reward(f32),
    /// A final frame that is missing, or that came in the middle of an episode.
    #[error("replay: a final frame comes with a step that ends its episode, and only with one")]
    Last,
    /// Nothing to sample from.
    #[error("replay: no transition is complete yet: push more steps before sampling")]
    Empty,
    /// An exponent of the importance weights outside [0, 1].
    #[error("replay: beta = {0} will not do: it must lie between 0 and 1")]
    Beta(f32),
    /// An error that cannot be made a priority.
    #[error("replay: the error {value} of transition {index} is not finite and makes no priority")]
    Priority {
        /// The index of the transition, as sampled.
        index: u64,
        /// The value given.
        value: f32,
    },
    /// Two lists that belong together, of different lengths.
    #[error("replay: {indices} indices and {priorities} priorities: there must be one for each")]
    Lengths {
        /// How many indices.
        indices: usize,
        /// How many priorities.
        priorities: usize,
    },
    /// An index that stands for no transition, or for none any more.
    #[error("replay: the transition {0} is not in the memory (any more): sample again")]
    Stale(u64),
    /// Frames that lie on a GPU and cannot be read from there.
    #[error("replay: the frames lie on a GPU, and are not read from there: {0}")]
    Away(String),
    /// A saved memory that does not fit.
    #[error("replay: the saved memory does not fit: {0}; it is damaged, or was saved under other settings")]
    State(String),
}

/// A result of [`replay`](super).
pub type Result<T> = std::result::Result<T, ReplayError>;
