//! What both formats come down to: rows with names in them and where they stand in the file.

use super::at;
use crate::mdp::{Mdp, MdpBuilder, MdpError, Outcome, builder::check_outcome};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// One outcome as it stands in a file.
pub(super) struct Row {
    /// The line, counted from 1.
    pub(super) line: usize,
    /// In JSON, which transition this is, counted from 1.
    pub(super) transition: Option<usize>,
    pub(super) state: String,
    pub(super) action: String,
    pub(super) next_state: String,
    pub(super) probability: f64,
    pub(super) reward: f64,
    pub(super) terminal: bool,
}

/// An MDP as it stands in a file.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) gamma: Option<f64>,
    pub(super) starts: Vec<(String, f64)>,
    /// Where the start is given.
    pub(super) start_place: String,
    pub(super) rows: Vec<Row>,
}

impl Draft {
    /// The MDP, called `unnamed` if the file does not name it.
    pub(super) fn build(self, unnamed: &str) -> Result<Mdp> {
        let missing = |what: &str| Err(MdpError::Syntax(what.into()).into());
        let Some(gamma) = self.gamma else {
            return missing(
                "no gamma: add the line \"# gamma: 0.95\" (CSV) or the field \"gamma\": 0.95 (JSON)",
            );
        };
        if self.starts.is_empty() {
            return missing(
                "no start: add the line \"# start: STATE\" (CSV) or the field \"start\": \"STATE\" (JSON)",
            );
        }
        if self.rows.is_empty() {
            return missing("no transitions: add what can happen after each action in each state");
        }
        let states =
            number(self.rows.iter().map(|r| &r.state).chain(self.rows.iter().map(|r| &r.next_state)));
        let actions = number(self.rows.iter().map(|r| &r.action));
        let name = self.name.as_deref().unwrap_or(unnamed);
        let mut mdp = MdpBuilder::new(name, states.len(), actions.len(), gamma)
            .state_labels(in_order(&states))
            .action_labels(in_order(&actions));
        for row in &self.rows {
            let &Row { probability, reward, terminal, .. } = row;
            let outcome = Outcome { probability, next_state: states[&row.next_state], reward, terminal };
            check_outcome(&outcome, || (row.state.clone(), row.action.clone()))
                .map_err(|e| at(place(&[row]), e))?;
            mdp.add(states[&row.state], actions[&row.action], outcome);
        }
        for (state, probability) in &self.starts {
            let known =
                states.get(state).ok_or_else(|| at(&self.start_place, MdpError::DeadEnd(state.clone())))?;
            mdp = mdp.start_with(*known, *probability);
        }
        mdp.build().map_err(|error| match error {
            Error::Mdp(problem) => self.locate(problem).into(),
            other => other,
        })
    }

    /// Adds to a problem the places that cause it.
    fn locate(&self, problem: MdpError) -> MdpError {
        let rows =
            |blamed: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| blamed(row)).collect::<Vec<_>>();
        let blamed = match &problem {
            MdpError::ProbabilitySum { state, action, .. } => {
                rows(&|row| row.state == *state && row.action == *action)
            }
            MdpError::Undefined { state, .. } => rows(&|row| row.state == *state),
            MdpError::DeadEnd(state) => rows(&|row| row.next_state == *state && !row.terminal),
            MdpError::Start(_) => vec![],
            _ => return problem,
        };
        at(if blamed.is_empty() { self.start_place.clone() } else { place(&blamed) }, problem)
    }
}

/// "line 7", "lines 7, 9", "transition 1 (line 7)" or "transitions 1, 3 (lines 7, 9)".
pub(super) fn place(rows: &[&Row]) -> String {
    let list = |word: &str, numbers: Vec<usize>| {
        let plural = if numbers.len() == 1 { "" } else { "s" };
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        format!("{word}{plural} {}", numbers.join(", "))
    };
    let lines = list("line", rows.iter().map(|row| row.line).collect());
    let transitions: Vec<usize> = rows.iter().filter_map(|row| row.transition).collect();
    if transitions.is_empty() { lines } else { format!("{} ({lines})", list("transition", transitions)) }
}

/// Gives every name a number: itself if the names are 0, 1, … without a gap, else the order of first appearance.
fn number<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, usize> {
    let mut numbers = BTreeMap::new();
    for name in names {
        let next = numbers.len();
        numbers.entry(name.clone()).or_insert(next);
    }
    if (0..numbers.len()).all(|index| numbers.contains_key(&index.to_string())) {
        return (0..numbers.len()).map(|index| (index.to_string(), index)).collect();
    }
    numbers
}

fn in_order(numbers: &BTreeMap<String, usize>) -> Vec<String> {
    let mut names: Vec<(&String, &usize)> = numbers.iter().collect();
    names.sort_by_key(|&(_, index)| index);
    names.into_iter().map(|(name, _)| name.clone()).collect()
}
