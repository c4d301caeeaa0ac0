//! DeepSea (Osband et al. 2019): a treasure that only one sequence of N actions finds.

use super::{Layout, Mdp, MdpBuilder, MdpError, Outcome};
use crate::{Result, random::stream};
use rand::RngExt;

/// What all steps to the right of one dive cost together.
const COST: f64 = 0.01;

/// DeepSea as in `bsuite`, as an exact finite model. Each step sinks one row; after N the episode ends.
///
/// The agent starts at the top left. Right moves one column on and costs .01/N, left one back (or stays at the
/// border); right in the last column pays 1. A column is never larger than its row, so the states are the N(N+1)/2
/// cells of that triangle and one for the end.
///
/// In the stochastic version right stays in its column with probability 1/N, and the two corners of the last row
/// pay ±1 with equal probability on top, in place of `bsuite`'s standard normal: the same mean and variance in a
/// finite model.
///
/// ```
/// use adfq::mdp::{DeepSea, policy_iteration};
///
/// let sea = DeepSea { size: 10, ..DeepSea::default() }.mdp()?;
/// assert_eq!((sea.states(), sea.actions()), (56, 2));
/// // All the way right: the treasure after nine steps, less the cost of ten.
/// let cost: f64 = (0..10).map(|t| 0.99f64.powi(t) * 0.001).sum();
/// assert!((policy_iteration(&sea)?.value[0] - (0.99f64.powi(9) - cost)).abs() < 1e-14);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DeepSea {
    /// The number N of rows and of steps.
    pub size: usize,
    /// Whether moves and the corners' rewards are noisy.
    pub stochastic: bool,
    /// The seed that decides, for each cell, which of the actions is right; without one it is always action 1.
    pub shuffle: Option<u64>,
    /// The discount γ.
    pub gamma: f64,
}

impl Default for DeepSea {
    /// Ten rows, deterministic, action 1 is right, γ = .99.
    fn default() -> Self {
        Self { size: 10, stochastic: false, shuffle: None, gamma: 0.99 }
    }
}

impl DeepSea {
    /// The MDP.
    pub fn mdp(&self) -> Result<Mdp> {
        let n = self.size;
        // Beyond this the states would not fit into memory anyway.
        if !(1..=10_000).contains(&n) {
            let (parameter, range) = ("size", "from 1 to 10000");
            return Err(MdpError::Parameter { domain: "deepsea", parameter, range, value: n as f64 }.into());
        }
        let cells = || (0..n).flat_map(|row| (0..=row).map(move |column| (row, column)));
        let rows = (0..n).map(|row| "O".repeat(row + 1) + &"W".repeat(n - row - 1));
        let end = state_of(n, 0);
        let mut mdp = MdpBuilder::new(self.name(), end + 1, 2, self.gamma)
            .start(0)
            .state_labels(cells().map(|(row, column)| format!("r{row}c{column}")).chain(["end".into()]))
            .layout(Layout::new(rows.collect(), cells().map(Some).chain([None]).collect()));
        let mut rng = self.shuffle.map(|seed| stream(seed, "deep sea"));
        for (row, column) in cells() {
            let right = rng.as_mut().is_none_or(|rng| rng.random()) as usize;
            for action in 0..2 {
                for outcome in self.dive(row, column, action == right) {
                    mdp.add(state_of(row, column), action, outcome);
                }
            }
        }
        mdp.build()
    }

    fn name(&self) -> String {
        let stochastic = if self.stochastic { "-stochastic" } else { "" };
        let shuffled = self.shuffle.map(|seed| format!("-shuffled-{seed}")).unwrap_or_default();
        format!("deepsea-{}{stochastic}{shuffled}", self.size)
    }

    fn dive(&self, row: usize, column: usize, right: bool) -> Vec<Outcome> {
        let n = self.size;
        let last_column = column == n - 1;
        let treasure = if right && last_column { 1.0 } else { 0.0 };
        let reward = treasure - if right { COST / n as f64 } else { 0.0 };
        if row == n - 1 {
            let end = |probability, reward| Outcome::ends(probability, state_of(n, 0), reward);
            return match self.stochastic && (column == 0 || last_column) {
                true => vec![end(0.5, reward - 1.0), end(0.5, reward + 1.0)],
                false => vec![end(1.0, reward)],
            };
        }
        let go = |probability, column| Outcome::goes(probability, state_of(row + 1, column), reward);
        // Above the last row the agent is never in the last column, so it can always move right.
        match (right, self.stochastic) {
            (false, _) => vec![go(1.0, column.saturating_sub(1))],
            (true, false) => vec![go(1.0, column + 1)],
            (true, true) => vec![go(1.0 - 1.0 / n as f64, column + 1), go(1.0 / n as f64, column)],
        }
    }
}

/// Cells are numbered row by row; row N, column 0 is the end.
fn state_of(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::policy_iteration;

    #[test]
    fn shuffled_actions_change_the_path_but_not_its_value() {
        let plain = DeepSea::default();
        let shuffled = DeepSea { shuffle: Some(3), ..plain.clone() };
        let (plain, shuffled) = (plain.mdp().unwrap(), shuffled.mdp().unwrap());
        let (plain, shuffled) = (policy_iteration(&plain).unwrap(), policy_iteration(&shuffled).unwrap());
        assert_eq!(plain.value, shuffled.value);
        assert_ne!(plain.policy, shuffled.policy);
    }

    /// The start's value when right slips with 1/3, by hand: two successes in a row reach the treasure.
    #[test]
    fn stochastic_value_by_hand() {
        let sea = DeepSea { size: 3, stochastic: true, gamma: 1.0, ..DeepSea::default() }.mdp().unwrap();
        let best = policy_iteration(&sea).unwrap();
        let cost = 0.01 / 3.0;
        let at_r1c1 = 2.0 / 3.0 * (1.0 - cost) - cost;
        assert!((best.value[0] - (2.0 / 3.0 * at_r1c1 - cost)).abs() < 1e-15);
        // In both lower corners the noise has mean 0.
        assert_eq!(sea.outcomes(3, 0), [Outcome::ends(0.5, 6, -1.0), Outcome::ends(0.5, 6, 1.0)]);
        assert!((sea.mean_reward(5, 1) - (1.0 - cost)).abs() < 1e-15);
    }

    #[test]
    fn sizes_at_the_border() {
        assert_eq!(DeepSea { size: 1, ..DeepSea::default() }.mdp().unwrap().states(), 2);
        let error = DeepSea { size: 0, ..DeepSea::default() }.mdp().unwrap_err();
        assert_eq!(error.to_string(), "deepsea: size must be from 1 to 10000, but it is 0");
    }
}
