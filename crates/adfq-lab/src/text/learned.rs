//! What an agent learned, as text.

use super::grid::{Mark, arrows};
use super::{MOST_STATES, more};
use crate::learn::{AgentKind, Learned, LearnedState, PolicyKind};
use adfq::agent::NoiseModel;
use adfq::mdp::Mdp;
use adfq_report::text::{align, chance, count, decimals, fixed, percent};

/// With more actions than this a table has a line for each action rather than a column.
const MOST_COLUMNS: usize = 4;

/// What was run, the learned policy with its beliefs (on a map if there is one), and how good it is. A table shows the
/// [`MOST_STATES`] states visited most unless `all`.
///
/// ```
/// use adfq_lab::learn::{LearnSettings, learn};
///
/// let mdp = adfq::mdp::named("loop")?;
/// let learned = learn(&mdp, &LearnSettings::for_mdp(&mdp), |_| {})?;
/// let page = adfq_lab::text::learned(&mdp, &learned, false);
/// assert!(page.starts_with("split with optimist on loop: 9 states, 2 actions"));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn learned(mdp: &Mdp, learned: &Learned, all: bool) -> String {
    let mut text = header(mdp, learned);
    let maps = arrows(mdp, &marks(learned), all);
    if !maps.is_empty() {
        text += &format!(
            "The greedy action in each cell (! where another is better, · never visited):\n\n{maps}\n"
        );
    }
    text += &table(learned, all);
    text + &summary(mdp, learned)
}

fn header(mdp: &Mdp, learned: &Learned) -> String {
    let settings = &learned.settings;
    let agent = match settings.agent {
        AgentKind::Adfq => {
            let replay = if settings.replay { ", replay" } else { "" };
            format!("adfq ({} rule, {}{replay})", settings.rule.kind(), noise(settings.noise))
        }
        other => other.to_string(),
    };
    let policy = match (settings.policy, settings.temperature) {
        (PolicyKind::Epsilon, _) => format!("epsilon {}", settings.epsilon),
        (PolicyKind::Boltzmann, Some(temperature)) => format!("boltzmann {temperature}"),
        (policy, _) => policy.to_string(),
    };
    let start = match settings.agent {
        AgentKind::QLearning | AgentKind::QOptimistic => {
            fixed(learned.start.mean, decimals([&learned.start.mean]))
        }
        _ => format!("N({}, {})", short(learned.start.mean), short(learned.start.var)),
    };
    format!(
        "{agent} with {policy} on {mdp}\n{} steps, seed {}; every Q(s,a) starts at {start} ({})\n\n",
        count(settings.steps),
        settings.seed,
        learned.start.source
    )
}

fn noise(noise: NoiseModel) -> String {
    match noise {
        NoiseModel::None => "no noise".into(),
        NoiseModel::Constant(kind, var) => format!("{kind} noise {var}"),
        NoiseModel::Decaying(kind, var) => format!("{kind} noise {var}/(1+n)"),
    }
}

/// Six significant digits without idle zeros.
fn short(x: f64) -> String {
    let text = fixed(x, decimals([&x]) + 2);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn marks(learned: &Learned) -> Vec<Mark> {
    let mark = |state: &LearnedState| match (state.reachable, state.visits) {
        (false, _) => Mark::Nothing,
        (true, 0) => Mark::Unknown,
        (true, _) => Mark::Action { action: state.greedy, wrong: !state.is_right() },
    };
    learned.states.iter().map(mark).collect()
}

/// The states to show, in order: all that can be reached, or those visited most.
fn shown(learned: &Learned, all: bool) -> (Vec<&LearnedState>, usize) {
    let mut states: Vec<(usize, &LearnedState)> =
        learned.states.iter().enumerate().filter(|(_, state)| all || state.reachable).collect();
    let left_out = if all { 0 } else { states.len().saturating_sub(MOST_STATES) };
    if left_out > 0 {
        states.sort_by_key(|(index, state)| (std::cmp::Reverse(state.visits), *index));
        states.truncate(MOST_STATES);
        states.sort_by_key(|(index, _)| *index);
    }
    (states.into_iter().map(|(_, state)| state).collect(), left_out)
}

fn table(learned: &Learned, all: bool) -> String {
    let (states, left_out) = shown(learned, all);
    let places = decimals(states.iter().flat_map(|state| state.mean.iter().chain(&state.q)));
    let table = match learned.actions.len() <= MOST_COLUMNS {
        true => wide(learned, &states, places),
        false => long(learned, &states, places),
    };
    let legend = match learned.states.iter().any(|state| state.sd.is_some()) {
        true => {
            "mean ± sd of each Q(s,a), and the probability that the action is the best; * is the greedy one\n"
        }
        false => "the estimate of each Q(s,a); * is the greedy one\n",
    };
    legend.to_owned() + &table + &more(left_out)
}

/// One line for each state, one column for each action.
fn wide(learned: &Learned, states: &[&LearnedState], places: usize) -> String {
    let header =
        [&["state".to_owned(), "visits".into()], &learned.actions[..], &["optimal?".into()]].concat();
    let rows = states.iter().map(|state| {
        let cells = (0..state.mean.len()).map(|action| {
            let star = if action == state.greedy { '*' } else { ' ' };
            match &state.best {
                Some(best) => format!("{} {:>4}{star}", belief(state, action, places), chance(best[action])),
                None => format!("{}{star}", belief(state, action, places)),
            }
        });
        let visits = count(state.visits);
        [state.state.clone(), visits].into_iter().chain(cells).chain([verdict(learned, state)]).collect()
    });
    align(header, rows.collect())
}

/// One line for each state and action.
fn long(learned: &Learned, states: &[&LearnedState], places: usize) -> String {
    let header = ["state", "visits", "action", "Q(s,a)", "best", "Q*", "optimal?"].map(String::from).to_vec();
    let mut rows = vec![];
    for state in states {
        for (action, label) in learned.actions.iter().enumerate() {
            let first = |text: String| if action == 0 { text } else { String::new() };
            let is_greedy = action == state.greedy;
            rows.push(vec![
                first(state.state.clone()),
                first(count(state.visits)),
                if is_greedy { format!("{label} *") } else { format!("{label}  ") },
                belief(state, action, places),
                state.best.as_ref().map_or(String::new(), |best| chance(best[action])),
                fixed(state.q[action], places),
                if is_greedy { verdict(learned, state) } else { String::new() },
            ]);
        }
    }
    align(header, rows)
}

fn belief(state: &LearnedState, action: usize, places: usize) -> String {
    let mean = fixed(state.mean[action], places);
    match &state.sd {
        Some(sd) => format!("{mean} ± {}", fixed(sd[action], places)),
        None => mean,
    }
}

/// "yes", or which action would be.
fn verdict(learned: &Learned, state: &LearnedState) -> String {
    if state.visits == 0 {
        return "never visited".into();
    }
    match state.optimal.iter().position(|&optimal| optimal) {
        Some(action) if !state.is_right() => format!("no, {}", learned.actions[action]),
        _ => "yes".into(),
    }
}

fn summary(mdp: &Mdp, learned: &Learned) -> String {
    let score = &learned.score;
    let of_optimal = |average: f64| match score.average_optimal > 0.0 {
        true => {
            format!("{} a step, {} of the optimum", short(average), percent(average / score.average_optimal))
        }
        false => format!("{} a step; the optimum is {}", short(average), short(score.average_optimal)),
    };
    let at_start = |value: &dyn Fn(&LearnedState) -> f64| -> f64 {
        mdp.starts().iter().map(|&(state, p)| p * value(&learned.states[state])).sum()
    };
    let episodes =
        if mdp.is_continuing() { String::new() } else { format!("{} episodes, ", count(learned.episodes)) };
    let mut lines = vec![
        (
            "while learning",
            format!("{episodes}reward {}: {}", short(learned.reward), of_optimal(score.average_learning)),
        ),
        (
            "greedy policy",
            format!("{}; right in {} of the states", of_optimal(score.average_greedy), percent(score.right)),
        ),
        (
            "value at the start",
            format!(
                "{}, truly {}",
                short(at_start(&|s| s.mean[s.greedy])),
                short(at_start(&|s| largest(&s.q)))
            ),
        ),
        ("distance to Q*", format!("{} root mean square", short(score.rmse))),
    ];
    if let (Some(one), Some(two)) = (score.within_one_sd, score.within_two_sd) {
        let text = format!(
            "{} of Q* within ±1 sd and {} within ±2 sd (calibrated: 68.3 % and 95.4 %)",
            percent(one),
            percent(two)
        );
        lines.push(("beliefs", text));
    }
    lines.iter().fold("\n".to_owned(), |text, (name, value)| format!("{text}{name:<20}{value}\n"))
}

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{LearnSettings, learn};
    use adfq::mdp::named;

    fn page(domain: &str, steps: u64, all: bool) -> String {
        let mdp = named(domain).unwrap();
        let settings = LearnSettings { steps, ..LearnSettings::for_mdp(&mdp) };
        learned(&mdp, &learn(&mdp, &settings, |_| {}).unwrap(), all)
    }

    #[test]
    fn many_actions_have_a_line_each() {
        let text = page("simple10", 2_000, false);
        // Ten lines for each of the two states in which there is something to choose.
        assert_eq!(text.lines().skip(4).filter(|line| line.contains(" ± ")).count(), 20, "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("a7 ")).count(), 2, "{text}");
    }

    #[test]
    fn the_most_visited_states_are_shown_in_order() {
        let text = page("minimaze", 5_000, false);
        assert!(text.contains("(52 more states are not shown)"), "{text}");
        let rows: Vec<&str> =
            text.lines().filter(|line| line.contains(" ± ") && line.starts_with('r')).collect();
        assert_eq!(rows.len(), MOST_STATES);
        assert!(rows[0].starts_with("r0c0 "), "{text}");
        // With all, even the cells that nobody can be in.
        let rows = page("minimaze", 5_000, true);
        assert_eq!(rows.lines().filter(|line| line.contains(" ± ") && line.starts_with('r')).count(), 112);
    }

    #[test]
    fn a_state_never_visited_is_not_judged() {
        let text = page("loop", 1, false);
        assert_eq!(text.matches("never visited").count(), 8, "{text}");
    }
}
