//! What random play and a good player score in an environment, so that returns of different environments can be put on
//! one scale. The numbers and their sources are data, in `references.csv`; those of finite MDPs follow from the model.

use crate::registry::{MDP_LIMIT, deep_sea, minatar};
use adfq::mdp::{self, Mdp};

const RECORDED: &str = include_str!("references.csv");
/// A larger DeepSea would take long to solve.
const LARGEST_SEA: usize = 200;

/// Two scores of one environment, each the mean undiscounted return of an episode.
///
/// ```
/// use adfq_env::reference;
///
/// let pong = reference("atari:pong", []).unwrap();
/// assert_eq!((pong.random, pong.good, pong.good_source.as_str()), (-20.7, 14.6, "Wang 2016"));
/// assert_eq!(pong.normalised(14.6), 1.0);
/// assert_eq!(reference("gym:ALE/Pong-v5", []), Some(pong));
/// // Another gravity is another environment, and a user's own has no published score.
/// assert_eq!(reference("gym:LunarLander-v3", ["gravity"]), None);
/// assert_eq!(reference("corridor", []), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The score of uniform random actions.
    pub random: f64,
    /// Where it comes from.
    pub random_source: String,
    /// The score of a good player: a published one, the one at which the environment counts as solved, or the best
    /// possible one.
    pub good: f64,
    /// Where it comes from.
    pub good_source: String,
}

impl Reference {
    /// A return on the scale on which random play is 0 and the good player is 1.
    pub fn normalised(&self, score: f64) -> f64 {
        (score - self.random) / (self.good - self.random)
    }
}

/// The reference scores of an environment, if they are known. `arguments` are the names of those that it is made with:
/// most of them make another environment of it.
pub fn reference<'a>(name: &str, arguments: impl IntoIterator<Item = &'a str>) -> Option<Reference> {
    let name = plain_name(name);
    let is_atari = name.starts_with("atari:");
    // The published scores of Atari games are used with and without sticky actions, at any size of the screen. Wrappers may
    // change rewards.
    let changes = |argument: &str| !is_atari || ["mode", "difficulty", "wrappers"].contains(&argument);
    if arguments.into_iter().any(changes) {
        return None;
    }
    recorded(&name).or_else(|| computed(&name))
}

/// The one name for all spellings of an environment.
///
/// ```
/// assert_eq!(adfq_env::plain_name("gym:CartPole-v1"), "cartpole");
/// assert_eq!(adfq_env::plain_name("gym:ALE/Pong-v5"), "atari:pong");
/// ```
pub fn plain_name(name: &str) -> String {
    let name = name.to_lowercase();
    let game = |game: &str| format!("atari:{}", game.replace(['-', '_'], ""));
    if let Some(rom) = name.strip_prefix("atari:") {
        return game(rom);
    }
    if let Some(rom) = name.strip_prefix("gym:ale/").and_then(|id| id.strip_suffix("-v5")) {
        return game(rom);
    }
    let own = name.strip_prefix("gym:").unwrap_or(&name);
    for (classic, version) in [("cartpole", "-v1"), ("acrobot", "-v1"), ("mountaincar", "-v0")] {
        if own.strip_prefix(classic) == Some(version) {
            return classic.to_owned();
        }
    }
    match minatar(own) {
        // Random play with all six actions is another random play.
        Some((game, true)) => game,
        _ => name,
    }
}

fn recorded(name: &str) -> Option<Reference> {
    let rows = RECORDED.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| row.split(',').collect::<Vec<_>>()).find_map(|row| match row[..] {
        [env, random, random_source, good, good_source] if env == name => Some(Reference {
            random: random.parse().ok()?,
            random_source: random_source.to_owned(),
            good: good.parse().ok()?,
            good_source: good_source.to_owned(),
        }),
        _ => None,
    })
}

/// The exact scores of a finite MDP: uniform random actions, and the best for the length of an episode.
fn computed(name: &str) -> Option<Reference> {
    let (model, limit) = match deep_sea(name) {
        Some(sea) if sea.size <= LARGEST_SEA => (sea.mdp().ok()?, sea.size as u64),
        Some(_) => return None,
        None => (mdp::named(name.strip_prefix("mdp/")?).ok()?, MDP_LIMIT),
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let best = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let source = || "the model".to_owned();
    let (random, good) = (episode_value(&model, limit, mean), episode_value(&model, limit, best));
    Some(Reference { random, random_source: source(), good, good_source: source() })
}

/// The expected undiscounted return of an episode of at most `limit` steps. `choose` makes the value of a state from
/// those of its actions.
fn episode_value(model: &Mdp, limit: u64, choose: impl Fn(&[f64]) -> f64) -> f64 {
    let mut values = vec![0.0; model.states()];
    let mut of_actions = vec![0.0; model.actions()];
    for _ in 0..limit {
        let after = values.clone();
        for (state, value) in values.iter_mut().enumerate() {
            for (action, of_action) in of_actions.iter_mut().enumerate() {
                let outcomes = model.outcomes(state, action).iter();
                let return_of = |outcome: &mdp::Outcome| {
                    let later = if outcome.terminal { 0.0 } else { after[outcome.next_state] };
                    outcome.probability * (outcome.reward + later)
                };
                *of_action = outcomes.map(return_of).sum();
            }
            *value = choose(&of_actions);
        }
    }
    model.starts().iter().map(|&(state, probability)| probability * values[state]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole_and_its_scale_goes_up() {
        let rows: Vec<&str> = RECORDED.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
        assert_eq!(rows.iter().filter(|row| row.starts_with("atari:")).count(), 57);
        for row in rows {
            let name = row.split(',').next().unwrap();
            let reference = reference(name, []).unwrap_or_else(|| panic!("{row}"));
            assert!(reference.good > reference.random, "{row}");
        }
    }

    #[test]
    fn spellings_of_one_environment_have_one_reference() {
        for names in [
            ["cartpole", "CartPole-v1", "gym:CartPole-v1"],
            ["minatar/space-invaders", "MinAtar/SpaceInvaders-v1", "gym:MinAtar/SpaceInvaders-v1"],
            ["atari:space-invaders", "atari:Space_Invaders", "gym:ALE/SpaceInvaders-v5"],
            ["deepsea-10", "DeepSea-10", "deepsea-10-shuffled-3"],
        ] {
            let [first, second, third] = names.map(|name| reference(name, []));
            assert!(first.is_some(), "{names:?}");
            assert!(first == second && second == third, "{names:?}");
        }
        for name in ["minatar/breakout-v0", "gym:CartPole-v0", "mdp/", "deepsea-9999", "atari:", ""] {
            assert_eq!(reference(name, []), None, "{name}");
        }
        assert!(reference("atari:pong", ["repeat_action_probability"]).is_some());
        assert!(reference("atari:pong", ["difficulty"]).is_none());
    }

    /// By hand: right in every row costs 0.01 in all and finds the treasure of 1. Random play goes right in half of the
    /// rows and finds it with probability 2⁻ᴺ.
    #[test]
    fn deep_seas_are_exact() {
        for size in [2_i32, 10, 20] {
            let sea = reference(&format!("deepsea-{size}"), []).unwrap();
            assert!((sea.good - 0.99).abs() < 1e-12, "{sea:?}");
            let random = 2_f64.powi(-size) - 0.005;
            assert!((sea.random - random).abs() < 1e-12, "{sea:?}");
        }
    }
}
