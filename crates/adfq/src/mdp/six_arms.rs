//! SixArms (Strehl and Littman 2008): the rarer a room is reached, the more it pays.

use super::{Mdp, MdpBuilder, Outcome};
use crate::Result;

/// The chance of each action to reach its room from the hall.
const REACHED: [f64; 6] = [1.0, 0.15, 0.1, 0.05, 0.03, 0.01];
/// What a step in each room pays.
const PAYS: [f64; 6] = [50.0, 133.0, 300.0, 800.0, 1660.0, 6000.0];

/// SixArms: a hall (state 0) and six rooms (states 1 to 6), six actions, γ = .95, continuing.
///
/// In the hall action a reaches room a + 1 with probability 1, .15, .1, .05, .03 and .01, without a reward. In room
/// a + 1 action a stays and pays 50, 133, 300, 800, 1660 and 6000; every other action returns to the hall without a
/// reward. The first room is generous: there every action but action 4 stays and pays. γ is Strehl and Littman's.
///
/// ```
/// use adfq::mdp::{policy_iteration, six_arms};
///
/// let best = policy_iteration(&six_arms()?)?;
/// // Wait for the last room and stay there. The poorer rooms, but for the fifth, are worth leaving at once.
/// assert_eq!((best.policy[0], best.policy[5], best.policy[6]), (5, 4, 5));
/// assert!((best.value[6] - 6000.0 / 0.05).abs() < 1e-6);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn six_arms() -> Result<Mdp> {
    let mut mdp = MdpBuilder::new("sixarms", 7, 6, 0.95).start(0);
    for arm in 0..6 {
        mdp.add(0, arm, Outcome::goes(REACHED[arm], arm + 1, 0.0));
        if REACHED[arm] < 1.0 {
            mdp.add(0, arm, Outcome::goes(1.0 - REACHED[arm], 0, 0.0));
        }
        for action in 0..6 {
            let stays = if arm == 0 { action != 4 } else { action == arm };
            let outcome =
                if stays { Outcome::goes(1.0, arm + 1, PAYS[arm]) } else { Outcome::goes(1.0, 0, 0.0) };
            mdp.add(arm + 1, action, outcome);
        }
    }
    mdp.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::policy_iteration;

    /// From the hall, Q(0, a) = γ p V(room) / (1 − γ (1 − p)) as long as a is repeated; the last arm is the best.
    #[test]
    fn the_rarest_room_is_worth_the_wait() {
        let best = policy_iteration(&six_arms().unwrap()).unwrap();
        let waiting = 0.95 * 0.01 * 120_000.0 / (1.0 - 0.95 * 0.99);
        assert!((best.value[0] - waiting).abs() < 1e-6, "{} {waiting}", best.value[0]);
    }
}
