//! The small domains of the paper: the simple MDP of its §5, and (App. E, after Dearden, Friedman and Russell 1998) Chain,
//! Loop, Maze and MiniMaze.

use super::grid_world::slipping;
use super::{Grid, Mdp, MdpBuilder, MdpError, Outcome};
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
        let (domain, parameter, range) = ("simple", "actions", "at least 2");
        return Err(MdpError::Parameter { domain, parameter, range, value: actions as f64 }.into());
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

/// The first action of Chain and Loop; b is the other one.
const A: usize = 0;
/// The last state of Chain.
const LAST: usize = 4;

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
                let (next_state, reward) = in_loop(state, performed);
                mdp.add(state, action, Outcome::goes(probability, next_state, reward));
            }
        }
    }
    mdp.build()
}

fn in_loop(state: usize, action: usize) -> (usize, f64) {
    match (state, action) {
        (0, A) => (1, 0.0),
        (0, _) => (5, 0.0),
        (4, _) => (0, 1.0),
        (8, _) => (0, 2.0),
        (5..=7, A) => (0, 0.0),
        _ => (state + 1, 0.0),
    }
}

const MAZE: [&str; 6] = ["SWFOWOG", "OWOOWOO", "OOOOOOO", "WWOOOWW", "OOOOOOF", "FOOOOOW"];
const MINIMAZE: [&str; 4] = ["SWFWG", "OOOOO", "WOOOW", "FOWFW"];

/// Maze: three flags, 33 cells × 8 sets of flags = 264 states, four moves, γ = .95, episodic.
///
/// With probability `slip` a move turns to the right (.1 in the paper's stochastic version).
///
/// ```
/// let maze = adfq::mdp::maze(0.0)?;
/// assert_eq!((maze.states(), maze.actions(), maze.is_continuing()), (264, 4, false));
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn maze(slip: f64) -> Result<Mdp> {
    build("maze", &MAZE, slip)
}

/// MiniMaze: three flags, 14 cells × 8 sets of flags = 112 states, four moves, γ = .95, episodic.
///
/// ```
/// assert_eq!(adfq::mdp::minimaze(0.1)?.states(), 112);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn minimaze(slip: f64) -> Result<Mdp> {
    build("minimaze", &MINIMAZE, slip)
}

fn build(name: &str, rows: &[&str], slip: f64) -> Result<Mdp> {
    let suffix = if slip == 0.0 { "" } else { "-stochastic" };
    Grid::parse(rows)?.mdp(&format!("{name}{suffix}"), slip, 0.95)
}
