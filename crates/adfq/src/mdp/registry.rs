//! The ready-made domains by name, for programs and configuration files.

use super::{
    DeepSea, Garnet, Mdp, MdpError, chain, cliff_walking, loop_, maze, minimaze, river_swim, simple,
    six_arms, taxi,
};
use crate::Result;

/// A name and how to make what it stands for.
type Entry = (&'static str, fn() -> Result<Mdp>);

/// The domains without a number in their name. The slips are the paper's, and Dearden's for Chain.
const ENTRIES: [Entry; 13] = [
    ("simple", || simple(2)),
    ("simple10", || simple(10)),
    ("loop", || loop_(0.0)),
    ("loop-stochastic", || loop_(0.1)),
    ("chain", || chain(0.2)),
    ("chain-deterministic", || chain(0.0)),
    ("maze", || maze(0.0)),
    ("maze-stochastic", || maze(0.1)),
    ("minimaze", || minimaze(0.0)),
    ("minimaze-stochastic", || minimaze(0.1)),
    ("sixarms", six_arms),
    ("taxi", taxi),
    ("cliffwalking", cliff_walking),
];

/// Of those with a number, the sizes that the list shows.
const SIZED: [&str; 6] =
    ["deepsea-10", "deepsea-10-stochastic", "riverswim-6", "riverswim-20", "garnet-30", "garnet-100"];

/// The names that [`named`] knows. A DeepSea, a RiverSwim and a Garnet may have any size, as in `deepsea-30`; here they
/// have a few. `garnet-30-7` is the Garnet with 30 states that seed 7 draws, `garnet-30` that of seed 0.
///
/// ```
/// use adfq::mdp;
///
/// for name in mdp::names() {
///     assert_eq!(mdp::named(&name)?.name(), name);
/// }
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn names() -> Vec<String> {
    ENTRIES.iter().map(|&(name, _)| name).chain(SIZED).map(String::from).collect()
}

/// A ready-made domain.
///
/// ```
/// use adfq::mdp;
///
/// assert_eq!(mdp::named("deepsea-20")?.states(), 211);
/// let error = mdp::named("lop").unwrap_err().to_string();
/// assert!(error.starts_with("there is no MDP named \"lop\"; did you mean \"loop\"? Known names: simple, simple10,"));
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn named(name: &str) -> Result<Mdp> {
    if let Some((_, make)) = ENTRIES.iter().find(|(known, _)| *known == name) {
        return make();
    }
    if let Some(rest) = name.strip_prefix("deepsea-") {
        let size = rest.strip_suffix("-stochastic");
        if let Ok(number) = size.unwrap_or(rest).parse() {
            return DeepSea { size: number, stochastic: size.is_some(), ..DeepSea::default() }.mdp();
        }
    }
    if let Some(states) = name.strip_prefix("riverswim-").and_then(|rest| rest.parse().ok()) {
        return river_swim(states);
    }
    if let Some(made) = name.strip_prefix("garnet-").and_then(|rest| garnet(name, rest)) {
        return made;
    }
    let known = names();
    let closest = closest(name, &known);
    Err(MdpError::Name { name: name.into(), closest, known: known.join(", ") }.into())
}

/// The Garnet of `STATES` or `STATES-SEED`: four actions, five next states each, rewards that vary by .5 about their mean.
fn garnet(name: &str, rest: &str) -> Option<Result<Mdp>> {
    let (states, seed) = rest.split_once('-').unwrap_or((rest, "0"));
    let (states, seed) = (states.parse().ok()?, seed.parse().ok()?);
    let garnet = Garnet { states, actions: 4, branching: 5, sigma: 0.5, ..Garnet::default() };
    Some(garnet.mdp(seed).map(|mdp| Mdp { name: name.to_owned(), ..mdp }))
}

/// Names less like each other than this are not suggested: at most one letter of three is wrong. 1 is equality, 0 has no
/// letter in common.
const NEAR: f64 = 2.0 / 3.0;

/// The known name that is most like the one that was typed, in upper or lower case; empty if none is near. The last part of
/// a name is as near as the whole of it.
///
/// ```
/// use adfq::mdp::closest;
///
/// let known = ["loop", "maze", "minatar/freeway"].map(String::from);
/// assert_eq!(closest("lop", &known), "loop");
/// assert_eq!(closest("Freeway", &known), "minatar/freeway");
/// assert_eq!(closest("race", &known), "");
/// ```
pub fn closest(typed: &str, known: &[String]) -> String {
    let typed = typed.to_lowercase();
    let likeness = |name: &String| {
        let parts = [name.as_str(), name.rsplit('/').next().unwrap_or(name)];
        parts.map(|part| strsim::normalized_damerau_levenshtein(&typed, part)).into_iter().fold(0.0, f64::max)
    };
    let near = known.iter().map(|name| (likeness(name), name)).filter(|&(likeness, _)| likeness >= NEAR);
    // Of equals the first.
    let best = near.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map_or(String::new(), |(_, name)| name.clone())
}

/// The middle of an error about a name that does not exist, before the list of those that do.
///
/// ```
/// use adfq::mdp::suggestion;
///
/// assert_eq!(suggestion("loop"), "; did you mean \"loop\"? Known names");
/// assert_eq!(suggestion(""), "; known names");
/// ```
pub fn suggestion(closest: &str) -> String {
    match closest {
        "" => "; known names".to_owned(),
        name => format!("; did you mean {name:?}? Known names"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_closest_name() {
        for (typed, meant) in
            [("mini-maze", "minimaze"), ("Chain", "chain"), ("loop_stochastic", "loop-stochastic")]
        {
            let error = named(typed).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean {meant:?}?")), "{error}");
        }
    }

    #[test]
    fn a_garnet_has_a_size_and_a_seed() {
        let drawn = |name: &str| named(name).unwrap();
        assert_eq!(
            drawn("garnet-40-7").to_string(),
            "garnet-40-7: 40 states, 4 actions, gamma 0.95, continuing"
        );
        assert_eq!(drawn("garnet-30").outcomes(1, 1), drawn("garnet-30-0").outcomes(1, 1));
        assert_ne!(drawn("garnet-30").outcomes(1, 1), drawn("garnet-30-1").outcomes(1, 1));
        assert!(named("garnet-4").is_err(), "five next states need five states");
    }

    #[test]
    fn nothing_is_suggested_that_is_not_near() {
        for typed in ["pendulum", "race", "lake", "tram", ""] {
            let error = named(typed).unwrap_err().to_string();
            assert!(error.starts_with(&format!("there is no MDP named {typed:?}; known names: ")), "{error}");
        }
    }
}
