//! Chain (Dearden, Friedman and Russell 1998): forgoing small rewards for a large one at the end.

use super::{Mdp, MdpBuilder, Outcome, slip::slipping};
use crate::Result;

const LAST: usize = 4;
const A: usize = 0;

/// Chain: 5 states, two actions a (0) and b (1), γ = .95, continuing.
///
/// a advances without a reward, and in the last state stays there and pays 10; b returns to 0 and pays 2. With
/// probability `slip` the other action is performed (.2 in Dearden's version).
///
/// ```
/// let chain = adfq::mdp::chain(0.2)?;
/// assert_eq!(chain.states(), 5);
/// assert!((chain.mean_reward(0, 1) - 0.8 * 2.0).abs() < 1e-15);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn chain(slip: f64) -> Result<Mdp> {
    let name = if slip == 0.0 { "chain-deterministic" } else { "chain" };
    let mut mdp = MdpBuilder::new(name, LAST + 1, 2, 0.95).start(0).action_labels(["a", "b"]);
    for state in 0..=LAST {
        for action in 0..2 {
            for (probability, performed) in slipping("chain", slip, action, 1 - action)? {
                let (next_state, reward) = match (state, performed) {
                    (LAST, A) => (LAST, 10.0),
                    (_, A) => (state + 1, 0.0),
                    _ => (0, 2.0),
                };
                mdp.add(state, action, Outcome::goes(probability, next_state, reward));
            }
        }
    }
    mdp.build()
}
