//! RiverSwim (Strehl and Littman 2008): a small reward at hand, a large one against the current.

use super::{Mdp, MdpBuilder, MdpError, Outcome};
use crate::Result;

/// The reward for staying at the left bank.
const NEAR: f64 = 5.0;
/// The reward for holding out at the right bank.
const FAR: f64 = 10_000.0;
/// The chances that a swimmer gets on, and that the current takes them back. Else they stay where they are.
const ON: f64 = 0.3;
const BACK: f64 = 0.1;

/// RiverSwim with so many states in a row (at least 3): actions left (0) and right (1), continuing.
///
/// Left always moves one state back; in state 0 it stays there and pays 5. Right swims against the current: it moves on
/// with probability .3 and is carried back with .1. In state 0 nothing carries the swimmer further back, and in the last state right
/// stays there with probability .3, which pays 10,000, and is carried back else. The start is state 1 or 2 with equal
/// probability. These are the numbers of Strehl and Littman, who have 6 states and γ = .95. With more than 10 states γ is
/// .99: at .95 the right bank would be out of sight.
///
/// ```
/// use adfq::mdp::{policy_iteration, river_swim};
///
/// let river = river_swim(6)?;
/// assert_eq!(river.to_string(), "riverswim-6: 6 states, 2 actions, gamma 0.95, continuing");
/// assert_eq!(policy_iteration(&river)?.policy, [1; 6]);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn river_swim(states: usize) -> Result<Mdp> {
    if !(3..=100_000).contains(&states) {
        let (parameter, range) = ("states", "from 3 to 100000");
        let value = states as f64;
        return Err(MdpError::Parameter { domain: "riverswim", parameter, range, value }.into());
    }
    let (gamma, last) = (if states > 10 { 0.99 } else { 0.95 }, states - 1);
    let mut mdp = MdpBuilder::new(format!("riverswim-{states}"), states, 2, gamma)
        .start_with(1, 0.5)
        .start_with(2, 0.5)
        .action_labels(["left", "right"]);
    for state in 0..states {
        let pay = if state == 0 { NEAR } else { 0.0 };
        mdp.add(state, 0, Outcome::goes(1.0, state.saturating_sub(1), pay));
        let right = match state {
            0 => vec![Outcome::goes(1.0 - ON, 0, 0.0), Outcome::goes(ON, 1, 0.0)],
            _ if state == last => {
                vec![Outcome::goes(1.0 - ON, last - 1, 0.0), Outcome::goes(ON, last, FAR)]
            }
            _ => vec![
                Outcome::goes(BACK, state - 1, 0.0),
                Outcome::goes(1.0 - ON - BACK, state, 0.0),
                Outcome::goes(ON, state + 1, 0.0),
            ],
        };
        right.into_iter().for_each(|outcome| mdp.add(state, 1, outcome));
    }
    mdp.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::{average_reward, policy_iteration};

    #[test]
    fn to_stay_left_is_worth_five_for_ever() {
        let river = river_swim(6).unwrap();
        assert!((average_reward(&river, &[0; 6]).unwrap() - 5.0).abs() < 1e-9);
    }

    /// Detailed balance of the chain that always swims right: π(i+1)/π(i) is .3/.1 inside and .3/.7 at the end, so with
    /// 6 states π is proportional to 1, 3, 9, 27, 81, 81·.3/.7.
    #[test]
    fn swimming_pays_what_the_stationary_law_says() {
        let weights = [1.0, 3.0, 9.0, 27.0, 81.0, 81.0 * 0.3 / 0.7];
        let last = weights[5] / weights.iter().sum::<f64>();
        let found = average_reward(&river_swim(6).unwrap(), &[1; 6]).unwrap();
        assert!((found - last * 0.3 * 10_000.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn the_far_bank_is_best_at_any_length() {
        for states in [6, 20] {
            let best = policy_iteration(&river_swim(states).unwrap()).unwrap();
            assert!(best.policy.iter().all(|&action| action == 1), "{states}: {:?}", best.policy);
        }
        assert!(river_swim(2).is_err());
    }
}
