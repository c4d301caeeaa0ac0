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

/// The known name that is most like the one that was typed; empty if none is known.
///
/// ```
/// use adfq::mdp::closest;
///
/// assert_eq!(closest("lop", &["loop".into(), "maze".into()]), "loop");
/// ```
pub fn closest(typed: &str, known: &[String]) -> String {
    known.iter().min_by_key(|candidate| distance(typed, candidate)).cloned().unwrap_or_default()
}

/// How many letters have to be inserted, removed or replaced to turn one word into the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, c) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(c != *d);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "maze"), 4);
        assert_eq!(distance("maze", "maze"), 0);
    }

    #[test]
    fn suggests_the_closest_name() {
        for (typed, meant) in
            [("mini-maze", "minimaze"), ("Chain", "chain"), ("loop_stochastic", "loop-stochastic")]
        {
            let error = named(typed).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean {meant:?}?")), "{error}");
        }
    }
}
