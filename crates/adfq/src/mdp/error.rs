//! What can be wrong with a Markov decision process, in the words (state and action labels) its author used.

/// An invalid MDP, a file that does not describe one, an unknown name, or a problem without a solution.
///
/// ```
/// use adfq::mdp::{MdpBuilder, Outcome};
///
/// let error = MdpBuilder::new("coin", 1, 1, 0.9).outcome(0, 0, Outcome::ends(0.4, 0, 1.0)).start(0).build();
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "the probabilities of state 0, action 0 sum to 0.4, not 1: add the missing outcome or correct one",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MdpError {
    /// The discount is not in [0, 1].
    #[error("the discount gamma must lie between 0 and 1, but it is {0}")]
    Gamma(f64),
    /// There are no states or no actions.
    #[error("an MDP needs at least one state and one action, but has {states} states and {actions} actions")]
    Empty {
        /// Number of states.
        states: usize,
        /// Number of actions.
        actions: usize,
    },
    /// There are more states and actions than memory can hold.
    #[error("{states} states with {actions} actions each do not fit into memory: use fewer of them")]
    Large {
        /// Number of states.
        states: usize,
        /// Number of actions.
        actions: usize,
    },
    /// An index is not one of a state or an action of this MDP.
    #[error("there is no {kind} {index}: the MDP has {count}, numbered from 0")]
    Index {
        /// What the index was meant for, "state" or "action".
        kind: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An outcome's probability is not in (0, 1].
    #[error(
        "state {state}, action {action}: a probability must lie above 0 and at most at 1, but it is {probability}"
    )]
    Probability {
        /// The state's label.
        state: String,
        /// The action's label.
        action: String,
        /// The probability.
        probability: f64,
    },
    /// The probabilities of a state and an action do not sum to 1.
    #[error(
        "the probabilities of state {state}, action {action} sum to {sum}, not 1: \
         add the missing outcome or correct one"
    )]
    ProbabilitySum {
        /// The state's label.
        state: String,
        /// The action's label.
        action: String,
        /// What they sum to.
        sum: f64,
    },
    /// A reward is infinite or NaN.
    #[error("state {state}, action {action}: a reward must be finite, but it is {reward}")]
    Reward {
        /// The state's label.
        state: String,
        /// The action's label.
        action: String,
        /// The reward.
        reward: f64,
    },
    /// A state has outcomes for some actions but not for this one.
    #[error(
        "state {state} has no outcome for action {action}: define every action in every state \
         (repeat the outcomes of another action where this one is not available)"
    )]
    Undefined {
        /// The state's label.
        state: String,
        /// The action's label.
        action: String,
    },
    /// An agent can find itself in a state that has no outcomes.
    #[error(
        "state {0} is unknown: it has no transitions of its own, yet an episode can start or go on there; \
         define its transitions, correct its name, or mark those that lead to it as terminal"
    )]
    DeadEnd(String),
    /// No state is given to start in.
    #[error("no start: say in which state an episode starts")]
    NoStart,
    /// The probabilities of the start states are not positive or do not sum to 1.
    #[error("the probabilities of the start states must be positive and sum to 1, but they sum to {0}")]
    Start(f64),
    /// The labels of states or actions are not one for each.
    #[error("{labels} labels for {count} {kind}s: give one for each")]
    LabelCount {
        /// What is labelled, "state" or "action".
        kind: &'static str,
        /// How many labels there are.
        labels: usize,
        /// How many are needed.
        count: usize,
    },
    /// A label is empty, used twice, or has control characters or blanks at its ends.
    #[error(
        "the {kind} label {label:?} is empty, used twice, or has line breaks or blanks at its ends: rename it"
    )]
    Label {
        /// What is labelled, "state", "action" or "MDP".
        kind: &'static str,
        /// The label.
        label: String,
    },
    /// A parameter of a ready-made domain is out of its range.
    #[error("{domain}: {parameter} must be {range}, but it is {value}")]
    Parameter {
        /// The domain.
        domain: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it may be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// The rows of a grid world cannot be read.
    #[error("the grid cannot be read: {0}")]
    Grid(String),
    /// No domain has this name.
    #[error("there is no MDP named {name:?}{}: {known}", crate::mdp::suggestion(closest))]
    Name {
        /// The name asked for.
        name: String,
        /// The known name most like it; empty if none is near.
        closest: String,
        /// All known names.
        known: String,
    },
    /// At γ = 1 some state has no finite value.
    #[error(
        "at gamma 1 every episode has to end, but from state {0} it need not: \
         use a gamma below 1 or make its end reachable"
    )]
    Endless(String),
    /// Value iteration has no error bound at γ = 1.
    #[error("value iteration needs a gamma below 1: use policy iteration")]
    Undiscounted,
    /// Value iteration cannot come this close.
    #[error(
        "value iteration cannot reach the tolerance {tolerance:e}, the bound on the error stays at {reached:.1e}: ask for less"
    )]
    Tolerance {
        /// What was asked for.
        tolerance: f64,
        /// The bound on the error that was reached.
        reached: f64,
    },
    /// A policy is not one action for each state.
    #[error("the policy has {actions} entries for {states} states: give one action for each")]
    Policy {
        /// Number of entries.
        actions: usize,
        /// Number of states.
        states: usize,
    },
    /// A file cannot be read, in the system's words.
    #[error("cannot read the file: {0}")]
    Io(String),
    /// A file's text is not in the format it should have.
    #[error("{0}")]
    Syntax(String),
    /// Something is wrong at a certain place of a file.
    #[error("{place}: {problem}")]
    At {
        /// The place, as "line 7" or "transition 3 (line 12)".
        place: String,
        /// What is wrong there.
        problem: Box<MdpError>,
    },
}
