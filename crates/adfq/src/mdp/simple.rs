//! The simple MDP of the paper's §5: one step to a choice between rewards that are not always what they seem.

use super::{Mdp, MdpBuilder, MdpError, Outcome};
use crate::Result;

/// The chance that an action at s₁ returns the opposite of its usual reward.
const SURPRISE: f64 = 0.2;

/// The simple MDP with so many actions (at least 2; the paper shows 2, its authors also ran 10), γ = .9, episodic.
///
/// An episode starts at s₀, where every action leads to s₁ with reward 0. At s₁ action aᵢ ends it in a state of its
/// own, sᵢ₊₂. The usual reward is +5 for a₁ and −5 for all others; with probability .2 the sign flips.
///
/// The paper's text gives γ, the states, p = .2, that a₁ is optimal at s₁, that its reward is usually +5 and
/// sometimes −5, but not the rewards of the other actions nor the moves at s₀, which it leaves to a figure.
/// The mirrored rewards are the simplest that make a₁ the only optimal action, with the same variance everywhere.
///
/// ```
/// let mdp = adfq::mdp::simple(2)?;
/// let best = adfq::mdp::policy_iteration(&mdp)?;
/// assert_eq!(best.policy[1], 1);
/// assert!((best.value[0] - 0.9 * 3.0).abs() < 1e-14);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn simple(actions: usize) -> Result<Mdp> {
    if actions < 2 {
        let value = actions as f64;
        return Err(MdpError::Parameter {
            domain: "simple",
            parameter: "actions",
            range: "at least 2",
            value,
        }
        .into());
    }
    let name = if actions == 2 { "simple".into() } else { format!("simple{actions}") };
    let mut mdp = MdpBuilder::new(name, actions + 2, actions, 0.9)
        .start(0)
        .state_labels((0..actions + 2).map(|state| format!("s{state}")))
        .action_labels((0..actions).map(|action| format!("a{action}")));
    for action in 0..actions {
        let (end, usual) = (action + 2, if action == 1 { 5.0 } else { -5.0 });
        mdp.add(0, action, Outcome::goes(1.0, 1, 0.0));
        mdp.add(1, action, Outcome::ends(1.0 - SURPRISE, end, usual));
        mdp.add(1, action, Outcome::ends(SURPRISE, end, -usual));
    }
    mdp.build()
}
