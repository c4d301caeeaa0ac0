//! The solution of an MDP as plain data, labelled for people and programs. The solver itself is
//! [`adfq::mdp::solve`](fn@adfq::mdp::solve).

use crate::Result;
use crate::table::{Cell, Table};
use adfq::mdp::{self, Mdp, average_reward};
use serde::Serialize;

/// Actions whose values are closer than this, relative to the largest value, are equally good.
const TIE: f64 = 1e-9;

/// States of one piece of a CSV file.
const PIECE: usize = 10_000;

/// What is optimal in an MDP. Lists over actions are in the order of `actions`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solved {
    /// The MDP's name.
    pub domain: String,
    /// The discount γ.
    pub gamma: f64,
    /// V*, averaged over the start states.
    pub start_value: f64,
    /// The long-run reward per step of the optimal policy; an episode that ends is followed by the next. NaN, `null` in
    /// JSON, where many states lead to each other so slowly that it cannot be computed.
    pub average_reward: f64,
    /// How many policies the solver evaluated.
    pub iterations: usize,
    /// How far a value can be from V*, where there are so many states that the solution is not exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The labels of the actions.
    pub actions: Vec<String>,
    /// All states, in order.
    pub states: Vec<SolvedState>,
}

/// What is optimal in one state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolvedState {
    /// Its label.
    pub state: String,
    /// Whether an agent can find itself here having to choose.
    pub reachable: bool,
    /// V*(s).
    pub value: f64,
    /// Q*(s,a) for each action.
    pub q: Vec<f64>,
    /// For each action, whether it is optimal; ties are.
    pub optimal: Vec<bool>,
}

impl SolvedState {
    /// The first optimal action.
    pub fn best(&self) -> usize {
        self.optimal.iter().position(|&optimal| optimal).unwrap_or(0)
    }
}

impl Solved {
    /// Solves an MDP.
    ///
    /// ```
    /// use adfq_lab::solve::Solved;
    ///
    /// let solved = Solved::of(&adfq::mdp::named("loop")?)?;
    /// assert!((solved.start_value - 7.201040).abs() < 1e-6);
    /// assert!((solved.average_reward - 0.4).abs() < 1e-12);
    /// assert_eq!(solved.states[0].optimal, [false, true]);
    /// assert_eq!(solved.states[4].optimal, [true, true]);
    /// # Ok::<(), adfq_lab::Error>(())
    /// ```
    pub fn of(mdp: &Mdp) -> Result<Self> {
        let solution = mdp::solve(mdp)?;
        let scale = solution.q.iter().fold(0.0_f64, |largest, q| largest.max(q.abs()));
        let state = |(state, reachable): (usize, bool)| {
            let (value, q) = (solution.value[state], solution.action_values(state).to_vec());
            let optimal = q.iter().map(|q| *q >= value - TIE * scale).collect();
            SolvedState { state: mdp.state_label(state).into_owned(), reachable, value, q, optimal }
        };
        Ok(Self {
            domain: mdp.name().to_owned(),
            gamma: mdp.gamma(),
            start_value: mdp.starts().iter().map(|&(s, p)| p * solution.value[s]).sum(),
            average_reward: average_reward(mdp, &solution.policy)?,
            iterations: solution.iterations,
            bound: solution.bound,
            actions: (0..mdp.actions()).map(|action| mdp.action_label(action).into_owned()).collect(),
            states: mdp.reachable().into_iter().enumerate().map(state).collect(),
        })
    }

    /// The solution as CSV, one line for each state and action, in pieces: the whole may be larger than the model.
    ///
    /// ```
    /// use adfq_lab::solve::Solved;
    ///
    /// let solved = Solved::of(&adfq::mdp::named("simple")?)?;
    /// let csv = solved.csv().collect::<adfq_lab::Result<String>>()?;
    /// assert!(csv.starts_with("state,action,q,value,optimal\n"));
    /// # Ok::<(), adfq_lab::Error>(())
    /// ```
    pub fn csv(&self) -> impl Iterator<Item = Result<String>> + '_ {
        self.states.chunks(PIECE).enumerate().map(|(piece, states)| {
            let csv = self.table(states)?.csv();
            // The header stands once.
            Ok(if piece == 0 {
                csv
            } else {
                csv.split_once('\n').map_or(csv.clone(), |(_, rest)| rest.to_owned())
            })
        })
    }

    fn table(&self, states: &[SolvedState]) -> Result<Table> {
        let mut table = Table::new(["state", "action", "q", "value", "optimal"]);
        for state in states {
            for ((action, &q), &optimal) in self.actions.iter().zip(&state.q).zip(&state.optimal) {
                let row: [Cell; 5] = [
                    state.state.as_str().into(),
                    action.as_str().into(),
                    q.into(),
                    state.value.into(),
                    optimal.to_string().into(),
                ];
                table.push(row)?;
            }
        }
        Ok(table)
    }
}
