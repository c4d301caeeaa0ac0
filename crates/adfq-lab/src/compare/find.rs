//! Which folders are runs. What is in them is read elsewhere.

use crate::{Error, Result};
use adfq_deep::run::folder::{CONFIG, EVALUATIONS};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The run folders among these paths and below them, each once, in the order of their names.
///
/// A folder with `config.toml` and `evaluations.csv` is a run, and nothing below it is looked at. Links are followed
/// where they are named, not where they are come across: so the search ends.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let runs = dir.path();
/// use adfq_lab::compare::find;
///
/// std::fs::create_dir_all(runs.join("dqn/seed-0")).unwrap();
/// std::fs::write(runs.join("dqn/seed-0/config.toml"), "").unwrap();
/// std::fs::write(runs.join("dqn/seed-0/evaluations.csv"), "").unwrap();
/// assert_eq!(find(&[runs.to_owned(), runs.join("dqn/seed-0")])?, [runs.join("dqn/seed-0")]);
/// assert!(find(&[runs.join("ddqn")]).is_err());
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let (mut found, mut seen) = (vec![], BTreeSet::new());
    for path in paths {
        let mut below = vec![];
        search(path, &mut below)?;
        if below.is_empty() {
            return Err(not_a_run(path));
        }
        for folder in below {
            let real =
                fs::canonicalize(&folder).map_err(|source| adfq_files::Error::io("read", &folder, source))?;
            if seen.insert(real) {
                found.push(folder);
            }
        }
    }
    Ok(found)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join(CONFIG).is_file() && folder.join(EVALUATIONS).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let failed = |source| adfq_files::Error::io("list", folder, source);
    let mut below = vec![];
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|folder| search(folder, found))
}

fn not_a_run(path: &Path) -> Error {
    let reason = match path.join(CONFIG).is_file() {
        true => format!("it has no {EVALUATIONS}"),
        false => format!("neither it nor a folder in it has {CONFIG} and {EVALUATIONS}"),
    };
    Error::NotARun { path: path.to_owned(), reason }
}
