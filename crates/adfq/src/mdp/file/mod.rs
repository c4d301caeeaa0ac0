//! A user's own MDP from a file, and any MDP to one.
//!
//! **CSV**: one outcome a line, under the header `state,action,probability,next_state,reward,terminal`. Comments say
//! the rest: the discount, where episodes start (several states as `# start: s0=0.5, s1=0.5`) and a name.
//!
//! ```
//! let mdp = adfq::mdp::file::parse_csv("
//! ## gamma: 0.9
//! ## start: home
//! state,action,probability,next_state,reward,terminal
//! home,stay,1,home,1,false
//! home,leave,0.8,away,5,true
//! home,leave,0.2,home,0,false
//! ")?;
//! assert_eq!((mdp.states(), mdp.actions()), (2, 2));
//! assert!((adfq::mdp::policy_iteration(&mdp)?.value[0] - 10.0).abs() < 1e-12);
//! # Ok::<(), adfq::Error>(())
//! ```
//!
//! **JSON**: the same as an object, in which `terminal` may be left out where it is false.
//!
//! ```
//! let mdp = adfq::mdp::file::parse_json(r#"{
//!     "gamma": 0.9,
//!     "start": "home",
//!     "transitions": [
//!         {"state": "home", "action": "leave", "probability": 1, "next_state": "away", "reward": 5, "terminal": true}
//!     ]
//! }"#)?;
//! assert_eq!(mdp.state_label(1), "away");
//! # Ok::<(), adfq::Error>(())
//! ```
//!
//! States and actions are names or whole numbers. If the names are 0, 1, … without a gap they are the indices;
//! otherwise they are numbered as they first appear, states that only appear as next states last. Those need no
//! outcomes of their own if every way into them is terminal. Errors name the lines to blame. Maps for drawing
//! ([`Layout`](super::Layout)) are not written.

mod csv;
mod draft;
mod json;

use super::{Mdp, MdpError};
use crate::Result;
pub use csv::to_csv;
pub use json::to_json;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What an MDP is called if nothing says so.
const UNNAMED: &str = "unnamed";

/// Reads an MDP from the text of a CSV file; see the [module](self) for its format.
///
/// ```
/// let text = "# gamma: 0.9\n# start: 0\nstate,action,probability,next_state,reward,terminal\n0,0,0.5,0,1,false\n";
/// let error = adfq::mdp::file::parse_csv(text).unwrap_err().to_string();
/// assert!(error.starts_with("line 4: the probabilities of state 0, action 0 sum to 0.5, not 1"));
/// ```
pub fn parse_csv(text: &str) -> Result<Mdp> {
    csv::read(text)?.build(UNNAMED)
}

/// Reads an MDP from the text of a JSON file; see the [module](self) for its format.
///
/// ```
/// let text = "{\n\"gamma\": 0.9, \"transitions\": [\n{\"state\": 0}]}";
/// let error = adfq::mdp::file::parse_json(text).unwrap_err().to_string();
/// assert_eq!(error, "transition 1 (line 3): missing field `action`");
/// ```
pub fn parse_json(text: &str) -> Result<Mdp> {
    json::read(text)?.build(UNNAMED)
}

/// Reads an MDP from a file whose name ends in `.csv` or `.json`. Unless the file says otherwise it is named after it.
///
/// ```no_run
/// let mdp = adfq::mdp::file::load("garden.csv")?;
/// assert_eq!(mdp.name(), "garden");
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<Mdp> {
    load_at_most(path, u64::MAX)
}

/// The same, unless the file has more bytes than this. No more of it is read, whatever it is.
pub fn load_at_most(path: impl AsRef<Path>, bytes: u64) -> Result<Mdp> {
    let path = path.as_ref();
    let place = path.display().to_string();
    let read = match path.extension().and_then(|end| end.to_str()) {
        Some("csv") => csv::read,
        Some("json") => json::read,
        _ => {
            return Err(
                at(place, MdpError::Syntax("the name of the file must end in .csv or .json".into())).into()
            );
        }
    };
    let text = read_text(path, bytes).map_err(|e| at(place.clone(), MdpError::Io(e.to_string())))?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(UNNAMED);
    read(&text).map_err(Into::into).and_then(|draft| draft.build(stem)).map_err(|error| match error {
        crate::Error::Mdp(error) => at(place, error).into(),
        other => other,
    })
}

fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    match read as u64 > most {
        true => {
            Err(io::Error::other(format!("it is larger than the {most} bytes for which there is memory")))
        }
        false => Ok(text),
    }
}

fn at(place: impl Into<String>, problem: MdpError) -> MdpError {
    MdpError::At { place: place.into(), problem: Box::new(problem) }
}
