//! The ready-made domains by name, for programs and configuration files.

use super::{DeepSea, Mdp, MdpError, chain, loop_, maze, minimaze, simple};
use crate::Result;

/// A name and how to make what it stands for.
type Entry = (&'static str, fn() -> Result<Mdp>);

/// The domains without a number in their name. The slips are the paper's, and Dearden's for Chain.
const ENTRIES: [Entry; 10] = [
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
];

/// The names that [`named`] knows. A DeepSea may have any size, as in `deepsea-30`; here it has ten rows.
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
    let seas = ["deepsea-10", "deepsea-10-stochastic"];
    ENTRIES.iter().map(|&(name, _)| name).chain(seas).map(String::from).collect()
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
    let known = names();
    let closest = closest(name, &known);
    Err(MdpError::Name { name: name.into(), closest, known: known.join(", ") }.into())
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
    fn nothing_is_suggested_that_is_not_near() {
        for typed in ["pendulum", "race", "lake", "taxi", ""] {
            let error = named(typed).unwrap_err().to_string();
            assert!(error.starts_with(&format!("there is no MDP named {typed:?}; known names: ")), "{error}");
        }
    }
}
