//! What both formats come down to: rows with names in them and where they stand in the file.

use super::at;
use crate::mdp::{Mdp, MdpBuilder, MdpError, Outcome, builder::check_outcome};
use crate::{Error, Result};
use std::collections::HashMap;

/// Names in the order in which they were first met, each kept once: a file may hold millions of rows.
#[derive(Default)]
pub(super) struct Names(HashMap<String, u32>);

impl Names {
    /// The number of a name, a new one if it was never met.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.0.get(name) {
            return number;
        }
        let next = self.0.len() as u32;
        self.0.insert(name.to_owned(), next);
        next
    }

    /// All names by their numbers.
    fn in_order(&self) -> Vec<&str> {
        let mut names = vec![""; self.0.len()];
        self.0.iter().for_each(|(name, &number)| names[number as usize] = name);
        names
    }
}

/// One outcome as it stands in a file. States and actions are numbers of [`Names`].
pub(super) struct Row {
    /// The line, counted from 1.
    pub(super) line: usize,
    pub(super) state: u32,
    pub(super) action: u32,
    pub(super) next_state: u32,
    pub(super) terminal: bool,
    pub(super) probability: f64,
    pub(super) reward: f64,
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
    pub(super) states: Names,
    pub(super) actions: Names,
    /// Whether errors count the transitions beside the lines, as in JSON.
    pub(super) counted: bool,
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
        let rows = || self.rows.iter();
        let states =
            Numbering::new(&self.states, rows().map(|r| r.state).chain(rows().map(|r| r.next_state)));
        let actions = Numbering::new(&self.actions, rows().map(|r| r.action));
        let name = self.name.as_deref().unwrap_or(unnamed);
        let mut mdp = MdpBuilder::new(name, states.len(), actions.len(), gamma);
        if let Some(labels) = states.labels() {
            mdp = mdp.state_labels(labels);
        }
        if let Some(labels) = actions.labels() {
            mdp = mdp.action_labels(labels);
        }
        for (at_row, row) in rows().enumerate() {
            let &Row { probability, reward, terminal, .. } = row;
            let outcome = Outcome { probability, next_state: states.index(row.next_state), reward, terminal };
            check_outcome(&outcome, || (states.name(row.state), actions.name(row.action)))
                .map_err(|e| at(self.place(&[at_row]), e))?;
            mdp.add(states.index(row.state), actions.index(row.action), outcome);
        }
        for (state, probability) in &self.starts {
            let known = self.states.0.get(state);
            let known = known.ok_or_else(|| at(&self.start_place, MdpError::DeadEnd(state.clone())))?;
            mdp = mdp.start_with(states.index(*known), *probability);
        }
        mdp.build().map_err(|error| match error {
            Error::Mdp(problem) => self.locate(problem).into(),
            other => other,
        })
    }

    /// Adds to a problem the places that cause it.
    fn locate(&self, problem: MdpError) -> MdpError {
        let rows = |blamed: &dyn Fn(&Row) -> bool| {
            let rows = self.rows.iter().enumerate().filter(|(_, row)| blamed(row));
            rows.map(|(at_row, _)| at_row).collect::<Vec<_>>()
        };
        let is_state = |number: u32, name: &str| self.states.0.get(name) == Some(&number);
        let blamed = match &problem {
            MdpError::ProbabilitySum { state, action, .. } => {
                rows(&|row| is_state(row.state, state) && self.actions.0.get(action) == Some(&row.action))
            }
            MdpError::Undefined { state, .. } => rows(&|row| is_state(row.state, state)),
            MdpError::DeadEnd(state) => rows(&|row| is_state(row.next_state, state) && !row.terminal),
            MdpError::Start(_) => vec![],
            _ => return problem,
        };
        at(if blamed.is_empty() { self.start_place.clone() } else { self.place(&blamed) }, problem)
    }

    /// "line 7", "lines 7, 9", "transition 1 (line 7)" or "transitions 1, 3 (lines 7, 9)". Of many the first few.
    fn place(&self, rows: &[usize]) -> String {
        let list = |word: &str, numbers: Vec<usize>| {
            let plural = if rows.len() == 1 { "" } else { "s" };
            let more = if rows.len() > MOST_PLACES { ", ..." } else { "" };
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            format!("{word}{plural} {}{more}", numbers.join(", "))
        };
        let shown = || rows.iter().take(MOST_PLACES);
        let lines = list("line", shown().map(|&row| self.rows[row].line).collect());
        match self.counted {
            true => format!("{} ({lines})", list("transition", shown().map(|&row| row + 1).collect())),
            false => lines,
        }
    }
}

/// Lines that an error names.
const MOST_PLACES: usize = 20;

/// The numbers that the MDP gives to names: a name is its own number if the names are 0, 1, … without a gap, else they
/// are in the order of first appearance.
struct Numbering<'a> {
    names: Vec<&'a str>,
    /// The number in the MDP, by that in [`Names`].
    index: Vec<u32>,
    plain: bool,
}

impl<'a> Numbering<'a> {
    fn new(known: &'a Names, appearing: impl Iterator<Item = u32>) -> Self {
        let names = known.in_order();
        let count = names.len();
        let plain = (0..count).all(|number| known.0.contains_key(&number.to_string()));
        let mut index: Vec<u32> = match plain {
            true => names.iter().map(|name| name.parse().unwrap_or(u32::MAX)).collect(),
            false => vec![u32::MAX; count],
        };
        let mut next = 0;
        for number in appearing.filter(|_| !plain) {
            let place = &mut index[number as usize];
            if *place == u32::MAX {
                *place = next;
                next += 1;
            }
        }
        Self { names, index, plain }
    }

    fn len(&self) -> usize {
        self.names.len()
    }

    fn index(&self, number: u32) -> usize {
        self.index[number as usize] as usize
    }

    fn name(&self, number: u32) -> String {
        self.names[number as usize].to_owned()
    }

    /// The names in the order of the MDP, unless they are the numbers themselves.
    fn labels(&self) -> Option<Vec<&'a str>> {
        let mut labels = vec![""; self.len()];
        self.index.iter().zip(&self.names).for_each(|(&index, name)| labels[index as usize] = name);
        (!self.plain).then_some(labels)
    }
}
