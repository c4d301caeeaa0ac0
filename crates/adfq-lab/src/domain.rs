//! What a user names on the command line: a built-in domain or a file of their own.

use crate::Result;
use adfq::mdp::{self, Mdp};
use adfq_files::memory;
use std::path::Path;

/// Bytes of memory for each byte of a file, while it is read.
const TEXT_TO_MODEL: u64 = 6;

/// The MDP that `name` stands for: a path if it has an ending such as `.csv` or a slash, else a built-in domain.
///
/// ```
/// use adfq_lab::domain;
///
/// assert_eq!(domain::open("loop")?.states(), 9);
/// let error = domain::open("garden.csv").unwrap_err().to_string();
/// assert!(error.starts_with("garden.csv: cannot read the file"));
/// let error = domain::open("mase").unwrap_err().to_string();
/// assert!(error.starts_with("there is no MDP named \"mase\"; did you mean \"maze\"?"));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn open(name: &str) -> Result<Mdp> {
    let path = Path::new(name);
    let is_path = path.extension().is_some() || name.contains(['/', '\\']);
    // A model takes several times the memory of its text.
    let most = memory::available().map_or(u64::MAX, |bytes| bytes / TEXT_TO_MODEL);
    Ok(if is_path { mdp::file::load_at_most(path, most)? } else { mdp::named(name)? })
}

/// One line about each built-in domain: its name and what it is.
///
/// ```
/// let list = adfq_lab::domain::list();
/// assert!(list.contains(&("loop".to_owned(), "two rings of five steps, one pays 1 and the other 2")));
/// ```
pub fn list() -> Vec<(String, &'static str)> {
    mdp::names()
        .into_iter()
        .map(|name| {
            let text = describe(&name);
            (name, text)
        })
        .collect()
}

/// What the domain asks of an agent. A name that is not known here has no words.
fn describe(name: &str) -> &'static str {
    match name {
        "simple" => "one choice between two gambles, the example of the paper's section 5",
        "simple10" => "the same with ten gambles, of which one is good",
        "loop" => "two rings of five steps, one pays 1 and the other 2",
        "loop-stochastic" => "the same; one action in ten is replaced by the other",
        "chain" => "five states in a row, patience pays 10 and impatience 2; one action in five slips",
        "chain-deterministic" => "the same without slips",
        "maze" => "collect three flags, then leave through the goal, which pays one for each flag",
        "maze-stochastic" => "the same; one move in ten turns to the right",
        "minimaze" => "a smaller maze with three flags",
        "minimaze-stochastic" => "the same; one move in ten turns to the right",
        "deepsea-10" => "only ten steps to the right in a row find the treasure; any size, as in deepsea-30",
        "deepsea-10-stochastic" => "the same with slips and noisy rewards",
        "sixarms" => "six rooms: the rarer a room is reached, the more it pays, from 50 to 6000",
        "taxi" => "pick a passenger up and drop them off where they want to go; Gymnasium's table",
        "cliffwalking" => "thirteen steps along a cliff, which costs 100 and a new start; Gymnasium's table",
        "riverswim-6" => "5 at the left bank, 10000 at the right one, against the current; any length",
        "riverswim-20" => "the same with a longer way",
        "garnet-30" => "a random MDP with noisy rewards; any size, and another one by seed as in garnet-30-7",
        "garnet-100" => "the same with 100 states",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_has_a_line() {
        for (name, text) in list() {
            assert!(!text.is_empty(), "{name} has no description");
        }
    }

    #[test]
    fn a_path_is_told_from_a_name() {
        let error = |name| open(name).unwrap_err().to_string();
        assert!(error("./loop").contains("must end in .csv or .json"));
        assert!(error("notes.txt").contains("must end in .csv or .json"));
    }
}
