//! A solved MDP as text.

use super::grid::{Mark, arrows};
use super::{MOST_STATES, more};
use crate::solve::Solved;
use adfq::mdp::Mdp;
use adfq_report::text::{align, decimals, fixed};

/// Q*, V* and the optimal policy in a table, on a map if there is one; at most [`MOST_STATES`] states unless `all`.
///
/// ```
/// use adfq_lab::{solve::Solved, text};
///
/// let mdp = adfq::mdp::named("loop")?;
/// let page = text::solved(&mdp, &Solved::of(&mdp)?, false);
/// assert!(page.contains("\n0      6.387  7.201  7.201       b\n"));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn solved(mdp: &Mdp, solved: &Solved, all: bool) -> String {
    let mut text = format!("{mdp}\n\n");
    let marks: Vec<Mark> = solved
        .states
        .iter()
        .map(|state| match state.reachable {
            true => Mark::Action { action: state.best(), wrong: false },
            false => Mark::Nothing,
        })
        .collect();
    let maps = arrows(mdp, &marks, all);
    if !maps.is_empty() {
        text += &format!("An optimal action in each cell:\n\n{maps}\n");
    }
    text += &table(solved, all);
    let places = decimals([&solved.start_value]).max(6);
    let earns = match solved.average_reward.is_nan() {
        true => "what it earns a step in the long run cannot be computed".to_owned(),
        false => format!("it earns {} a step in the long run", fixed(solved.average_reward, places)),
    };
    text += &format!(
        "\nAt the start the optimal policy is worth {}; {earns}.\n",
        fixed(solved.start_value, places)
    );
    if let Some(bound) = solved.bound {
        text += &format!("No value is further than {bound:.1e} from the exact one.\n");
    }
    text
}

fn table(solved: &Solved, all: bool) -> String {
    let states: Vec<_> = solved.states.iter().filter(|state| all || state.reachable).collect();
    let shown = if all { states.len() } else { states.len().min(MOST_STATES) };
    let places = decimals(states.iter().flat_map(|state| &state.q));
    let q_of = solved.actions.iter().map(|action| format!("Q*({action})"));
    let header = ["state".to_owned()].into_iter().chain(q_of).chain(["V*".into(), "best".into()]).collect();
    let rows = states[..shown].iter().map(|state| {
        let labels = solved.actions.iter().zip(&state.optimal).filter(|&(_, &optimal)| optimal);
        let best: Vec<&str> = labels.map(|(label, _)| label.as_str()).collect();
        let values = state.q.iter().chain([&state.value]).map(|&x| fixed(x, places));
        [state.state.clone()].into_iter().chain(values).chain([best.join(" or ")]).collect()
    });
    align(header, rows.collect()) + &more(states.len() - shown)
}
