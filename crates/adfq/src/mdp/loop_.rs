//! Loop (Dearden, Friedman and Russell 1998; paper App. E): two rings that share state 0, one easy, one rewarding.

use super::{Mdp, MdpBuilder, Outcome, slip::slipping};
use crate::Result;

const A: usize = 0;

/// Loop: 9 states, two actions a (0) and b (1), γ = .95, continuing.
///
/// From 0, a enters the ring 1, 2, 3, 4 and b the ring 5, 6, 7, 8. In 1 to 4 both actions go on; leaving 4 pays 1.
/// In 5 to 7 only b goes on and a returns to 0 without a reward; in 8 both return to 0 and pay 2. With probability
/// `slip` the other action is performed (.1 in the paper's stochastic version).
///
/// ```
/// let still = adfq::mdp::loop_(0.0)?;
/// assert_eq!(still.outcomes(6, 0)[0].next_state, 0);
/// assert_eq!(still.mean_reward(8, 0), 2.0);
/// // Slipping in 6: the other action returns to 0.
/// assert_eq!(adfq::mdp::loop_(0.1)?.outcomes(6, 1).len(), 2);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn loop_(slip: f64) -> Result<Mdp> {
    let name = if slip == 0.0 { "loop" } else { "loop-stochastic" };
    let mut mdp = MdpBuilder::new(name, 9, 2, 0.95).start(0).action_labels(["a", "b"]);
    for state in 0..9 {
        for action in 0..2 {
            for (probability, performed) in slipping("loop", slip, action, 1 - action)? {
                let (next_state, reward) = go(state, performed);
                mdp.add(state, action, Outcome::goes(probability, next_state, reward));
            }
        }
    }
    mdp.build()
}

fn go(state: usize, action: usize) -> (usize, f64) {
    match (state, action) {
        (0, A) => (1, 0.0),
        (0, _) => (5, 0.0),
        (4, _) => (0, 1.0),
        (8, _) => (0, 2.0),
        (5..=7, A) => (0, 0.0),
        _ => (state + 1, 0.0),
    }
}
