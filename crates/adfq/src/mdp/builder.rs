//! Putting an MDP together, and all the checks that make an [`Mdp`] one that can be trusted.

use super::{
    Layout, Mdp, MdpError, Outcome,
    model::{check_gamma, label},
};
use crate::Result;
use std::collections::BTreeSet;

/// How far the probabilities of a state and an action may be from a sum of 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// States are kept as numbers of 32 bits where there are many of them.
const MOST_STATES: usize = u32::MAX as usize;

/// Collects the outcomes of an MDP and checks them once, in [`build`](Self::build).
///
/// A state without outcomes that only terminal transitions lead to is where an episode ends: nothing is ever chosen
/// there, and it is given one outcome per action, which pays 0, stays there and is terminal, so that its value is 0.
///
/// ```
/// use adfq::mdp::{MdpBuilder, Outcome};
///
/// // One toss: heads (state 1) pays 1, tails (state 2) nothing; both end the episode.
/// let toss = MdpBuilder::new("toss", 3, 1, 0.9)
///     .outcome(0, 0, Outcome::ends(0.5, 1, 1.0))
///     .outcome(0, 0, Outcome::ends(0.5, 2, 0.0))
///     .start(0)
///     .build()?;
/// assert_eq!(toss.mean_reward(0, 0), 0.5);
/// assert_eq!(toss.mean_reward(1, 0), 0.0);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MdpBuilder {
    name: String,
    states: usize,
    actions: usize,
    gamma: f64,
    starts: Vec<(usize, f64)>,
    outcomes: Vec<(usize, usize, Outcome)>,
    state_labels: Option<Vec<String>>,
    action_labels: Option<Vec<String>>,
    layout: Option<Layout>,
}

impl MdpBuilder {
    /// An MDP with so many states and actions, both numbered from 0, and the discount γ, still without outcomes.
    pub fn new(name: impl Into<String>, states: usize, actions: usize, gamma: f64) -> Self {
        Self {
            name: name.into(),
            states,
            actions,
            gamma,
            starts: Vec::new(),
            outcomes: Vec::new(),
            state_labels: None,
            action_labels: None,
            layout: None,
        }
    }

    /// Adds something that can happen after `action` in `state`. Outcomes that coincide add their probabilities.
    pub fn outcome(mut self, state: usize, action: usize, outcome: Outcome) -> Self {
        self.add(state, action, outcome);
        self
    }

    /// [`outcome`](Self::outcome) for use in a loop.
    pub fn add(&mut self, state: usize, action: usize, outcome: Outcome) {
        self.outcomes.push((state, action, outcome));
    }

    /// Every episode starts in `state`.
    pub fn start(self, state: usize) -> Self {
        self.start_with(state, 1.0)
    }

    /// An episode starts in `state` with this probability; call it for each start state.
    pub fn start_with(mut self, state: usize, probability: f64) -> Self {
        self.starts.push((state, probability));
        self
    }

    /// Names for the states, one for each.
    pub fn state_labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.state_labels = Some(labels.into_iter().map(Into::into).collect());
        self
    }

    /// Names for the actions, one for each.
    pub fn action_labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.action_labels = Some(labels.into_iter().map(Into::into).collect());
        self
    }

    /// A map to draw the states on.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// The finished MDP, or the first thing that is wrong with it.
    pub fn build(mut self) -> Result<Mdp> {
        let (states, actions) = (self.states, self.actions);
        if states == 0 || actions == 0 {
            return Err(MdpError::Empty { states, actions }.into());
        }
        let pairs = states.checked_mul(actions).filter(|_| states <= MOST_STATES);
        let pairs = pairs.ok_or(MdpError::Large { states, actions })?;
        check_gamma(self.gamma)?;
        check_label("MDP", &self.name)?;
        let state_labels = check_labels("state", self.state_labels.take(), states)?;
        let action_labels = check_labels("action", self.action_labels.take(), actions)?;
        let names = Names { states: &state_labels, actions: &action_labels };

        self.check_indices()?;
        for (state, action, outcome) in &self.outcomes {
            check_outcome(outcome, || names.pair(*state, *action))?;
        }
        let starts = merge_starts(self.starts)?;
        let mut table = Table::group(pairs, actions, self.outcomes)?;
        table.close_ends(&starts, actions, &names)?;
        table.check_sums(actions, &names)?;
        let Table { offsets, outcomes } = table;
        let cumulative = offsets.windows(2).flat_map(|row| {
            outcomes[row[0]..row[1]].iter().scan(0.0, |sum, o| {
                *sum += o.probability;
                Some(*sum)
            })
        });
        Ok(Mdp {
            name: self.name,
            states,
            actions,
            gamma: self.gamma,
            starts,
            cumulative: cumulative.collect(),
            offsets,
            outcomes,
            state_labels,
            action_labels,
            layout: self.layout,
        })
    }

    fn check_indices(&self) -> Result<(), MdpError> {
        let visited = self.outcomes.iter().flat_map(|(state, _, outcome)| [*state, outcome.next_state]);
        let started = self.starts.iter().map(|&(state, _)| state);
        let taken = self.outcomes.iter().map(|&(_, action, _)| action);
        check_range("state", visited.chain(started), self.states)?;
        check_range("action", taken, self.actions)
    }
}

/// How errors call the states and the actions.
struct Names<'a> {
    states: &'a Option<Vec<String>>,
    actions: &'a Option<Vec<String>>,
}

impl Names<'_> {
    fn state(&self, state: usize) -> String {
        label(self.states, state).into_owned()
    }

    fn pair(&self, state: usize, action: usize) -> (String, String) {
        (self.state(state), label(self.actions, action).into_owned())
    }
}

/// An outcome on its own: a probability in (0, 1] and a finite reward. `pair` names its state and its action.
pub(super) fn check_outcome(outcome: &Outcome, pair: impl Fn() -> (String, String)) -> Result<(), MdpError> {
    let &Outcome { probability, reward, .. } = outcome;
    if !(probability > 0.0 && probability <= 1.0) {
        let (state, action) = pair();
        return Err(MdpError::Probability { state, action, probability });
    }
    if !reward.is_finite() {
        let (state, action) = pair();
        return Err(MdpError::Reward { state, action, reward });
    }
    Ok(())
}

fn check_range(
    kind: &'static str,
    indices: impl IntoIterator<Item = usize>,
    count: usize,
) -> Result<(), MdpError> {
    match indices.into_iter().find(|&index| index >= count) {
        Some(index) => Err(MdpError::Index { kind, index, count }),
        None => Ok(()),
    }
}

/// Labels have to survive a line of a file, so that any MDP can be written to one.
fn check_label(kind: &'static str, label: &str) -> Result<(), MdpError> {
    if label.is_empty() || label.trim() != label || label.chars().any(char::is_control) {
        return Err(MdpError::Label { kind, label: label.into() });
    }
    Ok(())
}

/// Labels that are just the indices say nothing and are dropped.
fn check_labels(
    kind: &'static str,
    labels: Option<Vec<String>>,
    count: usize,
) -> Result<Option<Vec<String>>, MdpError> {
    let Some(labels) = labels else { return Ok(None) };
    if labels.len() != count {
        return Err(MdpError::LabelCount { kind, labels: labels.len(), count });
    }
    let mut seen = BTreeSet::new();
    for label in &labels {
        check_label(kind, label)?;
        if !seen.insert(label) {
            return Err(MdpError::Label { kind, label: label.clone() });
        }
    }
    let plain = labels.iter().enumerate().all(|(index, label)| *label == index.to_string());
    Ok((!plain).then_some(labels))
}

/// The start states in rising order, each once.
fn merge_starts(mut starts: Vec<(usize, f64)>) -> Result<Vec<(usize, f64)>, MdpError> {
    if starts.is_empty() {
        return Err(MdpError::NoStart);
    }
    let sum: f64 = starts.iter().map(|&(_, probability)| probability).sum();
    let positive = starts.iter().all(|&(_, probability)| probability > 0.0);
    if !(positive && (sum - 1.0).abs() <= SUM_TOLERANCE) {
        return Err(MdpError::Start(sum));
    }
    starts.sort_by_key(|&(state, _)| state);
    starts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    Ok(starts)
}

/// The outcomes of each (s,a), one list after the other.
struct Table {
    offsets: Vec<usize>,
    outcomes: Vec<Outcome>,
}

impl Table {
    /// The outcomes of each (s,a) in the order they were added, coincident ones merged. All of them lie in one piece of
    /// memory: there may be many millions.
    fn group(
        pairs: usize,
        actions: usize,
        mut added: Vec<(usize, usize, Outcome)>,
    ) -> Result<Self, MdpError> {
        let too_large = |_| MdpError::Large { states: pairs / actions, actions };
        let mut offsets: Vec<usize> = Vec::new();
        offsets.try_reserve_exact(pairs.saturating_add(1)).map_err(too_large)?;
        // A stable sort keeps the order within a pair; models are mostly in order already.
        added.sort_by_key(|&(state, action, _)| state * actions + action);
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(added.len());
        let mut added = added.into_iter().peekable();
        for pair in 0..pairs {
            let first = outcomes.len();
            offsets.push(first);
            while let Some((_, _, outcome)) =
                added.next_if(|&(state, action, _)| state * actions + action == pair)
            {
                match outcomes[first..].iter_mut().find(|kept| kept.coincides(&outcome)) {
                    Some(kept) => kept.probability += outcome.probability,
                    None => outcomes.push(outcome),
                }
            }
        }
        offsets.push(outcomes.len());
        Ok(Self { offsets, outcomes })
    }

    fn row(&self, pair: usize) -> &[Outcome] {
        &self.outcomes[self.offsets[pair]..self.offsets[pair + 1]]
    }

    /// Gives the states in which episodes end, and only those, outcomes worth 0.
    fn close_ends(&mut self, starts: &[(usize, f64)], actions: usize, names: &Names) -> Result<(), MdpError> {
        let states = (self.offsets.len() - 1) / actions;
        let mut lived_in = vec![false; states];
        starts.iter().for_each(|&(state, _)| lived_in[state] = true);
        self.outcomes.iter().filter(|o| !o.terminal).for_each(|o| lived_in[o.next_state] = true);

        let empty = |state: &usize| self.offsets[state * actions] == self.offsets[(state + 1) * actions];
        let ends: Vec<usize> = (0..states).filter(empty).collect();
        if let Some(&state) = ends.iter().find(|&&state| lived_in[state]) {
            return Err(MdpError::DeadEnd(names.state(state)));
        }
        self.insert_ends(&ends, actions)
    }

    /// Adds one outcome for each action of the states in which episodes end.
    fn insert_ends(&mut self, ends: &[usize], actions: usize) -> Result<(), MdpError> {
        if ends.is_empty() {
            return Ok(());
        }
        let states = (self.offsets.len() - 1) / actions;
        let mut outcomes = Vec::new();
        let room = ends.len().saturating_mul(actions).saturating_add(self.outcomes.len());
        outcomes.try_reserve_exact(room).map_err(|_| MdpError::Large { states, actions })?;
        let (mut ends, mut first) = (ends.iter().peekable(), 0);
        for state in 0..states {
            let is_end = ends.next_if_eq(&&state).is_some();
            for pair in state * actions..(state + 1) * actions {
                let end = self.offsets[pair + 1];
                self.offsets[pair] = outcomes.len();
                match is_end {
                    true => outcomes.push(Outcome::ends(1.0, state, 0.0)),
                    false => outcomes.extend_from_slice(&self.outcomes[first..end]),
                }
                first = end;
            }
        }
        self.offsets[states * actions] = outcomes.len();
        self.outcomes = outcomes;
        Ok(())
    }

    fn check_sums(&self, actions: usize, names: &Names) -> Result<(), MdpError> {
        for pair in 0..self.offsets.len() - 1 {
            let row = self.row(pair);
            let sum: f64 = row.iter().map(|o| o.probability).sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                let (state, action) = names.pair(pair / actions, pair % actions);
                return Err(match row.is_empty() {
                    true => MdpError::Undefined { state, action },
                    false => MdpError::ProbabilitySum { state, action, sum },
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two states that lead to each other.
    fn pair() -> MdpBuilder {
        MdpBuilder::new("pair", 2, 1, 0.9).outcome(0, 0, Outcome::goes(1.0, 1, 0.0)).outcome(
            1,
            0,
            Outcome::goes(1.0, 0, 1.0),
        )
    }

    #[test]
    fn outcomes_that_coincide_are_merged() {
        let mdp = MdpBuilder::new("merged", 1, 1, 0.9)
            .outcome(0, 0, Outcome::goes(0.25, 0, 1.0))
            .outcome(0, 0, Outcome::ends(0.25, 0, 1.0))
            .outcome(0, 0, Outcome::goes(0.5, 0, 1.0))
            .start(0);
        assert_eq!(
            mdp.build().unwrap().outcomes(0, 0),
            [Outcome::goes(0.75, 0, 1.0), Outcome::ends(0.25, 0, 1.0)]
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let error = |builder: MdpBuilder| match builder.build() {
            Err(crate::Error::Mdp(error)) => error,
            other => panic!("{other:?}"),
        };
        let extra = |state, action, outcome| error(pair().start(0).outcome(state, action, outcome));
        let sure = Outcome::goes(1.0, 0, 0.0);
        let index = |kind, index, count| MdpError::Index { kind, index, count };

        assert_eq!(error(MdpBuilder::new("none", 0, 1, 0.9)), MdpError::Empty { states: 0, actions: 1 });
        assert_eq!(error(MdpBuilder::new("x", 1, 1, 1.5)), MdpError::Gamma(1.5));
        assert!(matches!(error(MdpBuilder::new("x", 1, 1, f64::NAN)), MdpError::Gamma(_)));
        assert_eq!(error(pair()), MdpError::NoStart);
        assert_eq!(error(pair().start_with(0, 0.5)), MdpError::Start(0.5));
        assert_eq!(error(pair().start_with(0, 1.5).start_with(1, -0.5)), MdpError::Start(1.0));
        assert_eq!(error(pair().start(2)), index("state", 2, 2));
        assert_eq!(extra(2, 0, sure), index("state", 2, 2));
        assert_eq!(extra(0, 1, sure), index("action", 1, 1));
        assert_eq!(extra(0, 0, Outcome::goes(1.0, 3, 0.0)), index("state", 3, 2));
        let (state, action) = ("0".to_string(), "0".to_string());
        assert_eq!(extra(0, 0, sure), MdpError::ProbabilitySum { state, action, sum: 2.0 });
        assert!(matches!(extra(0, 0, Outcome::goes(f64::NAN, 0, 0.0)), MdpError::Probability { .. }));
        assert!(matches!(extra(0, 0, Outcome::goes(0.0, 0, 0.0)), MdpError::Probability { .. }));
        assert!(matches!(extra(0, 0, Outcome::goes(1.0, 0, f64::NAN)), MdpError::Reward { .. }));

        let labels = error(pair().start(0).state_labels(["only"]));
        assert_eq!(labels, MdpError::LabelCount { kind: "state", labels: 1, count: 2 });
        for wrong in ["", " x", "x\ny", "a"] {
            let labelled = pair().start(0).state_labels(["a", wrong]);
            assert_eq!(error(labelled), MdpError::Label { kind: "state", label: wrong.into() });
        }
    }

    #[test]
    fn only_ends_may_be_without_outcomes() {
        let two_actions = |end: Outcome| MdpBuilder::new("end", 2, 2, 0.9).outcome(0, 0, end).start(0);
        let (ends, goes) = (Outcome::ends(1.0, 1, 3.0), Outcome::goes(1.0, 1, 3.0));
        let error =
            |builder: MdpBuilder| builder.state_labels(["here", "there"]).build().unwrap_err().to_string();
        assert!(error(two_actions(ends)).starts_with("state here has no outcome for action 1"));
        assert!(error(two_actions(goes).outcome(0, 1, ends)).starts_with("state there is unknown"));
        let mdp = two_actions(ends).outcome(0, 1, ends).build().unwrap();
        assert_eq!(mdp.outcomes(1, 1), [Outcome::ends(1.0, 1, 0.0)]);
        assert_eq!(mdp.reachable(), [true, false]);
    }
}
