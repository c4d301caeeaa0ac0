//! Which Python runs the worker.

use crate::{Error, Gym, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where a virtual environment says that it is active: venv and virtualenv, then conda.
const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// What is tried on the search path otherwise.
const COMMANDS: [&str; 2] = ["python3", "python"];

impl Gym {
    /// The interpreter: the one asked for, that of the active virtual environment, or the first on the search path.
    pub fn interpreter(&self) -> Result<PathBuf> {
        choose(self.python.as_deref(), |name| std::env::var_os(name))
    }
}

/// A `PYTHONPATH` without empty entries, if it has some. Python takes an empty one for the current folder, and
/// `PYTHONPATH=$PYTHONPATH:more` makes one by accident.
pub(super) fn without_current_folder(path: &OsStr) -> Option<OsString> {
    let is_named = |folder: &PathBuf| !folder.as_os_str().is_empty();
    let folders: Vec<_> = std::env::split_paths(path).collect();
    let named = folders.iter().filter(|&folder| is_named(folder));
    if folders.iter().all(is_named) { None } else { std::env::join_paths(named).ok() }
}

fn choose(asked: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    if let Some(path) = asked {
        return match path.components().count() > 1 && !path.exists() {
            true => Err(Error::NoPython { tried: path.display().to_string() }),
            false => Ok(path.to_owned()),
        };
    }
    let active =
        ACTIVE.iter().filter_map(|name| variable(name)).map(|home| Path::new(&home).join("bin/python"));
    let path = variable("PATH").unwrap_or_default();
    let found =
        COMMANDS.iter().flat_map(|command| std::env::split_paths(&path).map(move |dir| dir.join(command)));
    let tried = || [&["$VIRTUAL_ENV", "$CONDA_PREFIX"][..], &COMMANDS[..]].concat().join(", ");
    active.chain(found).find(|path| path.exists()).ok_or_else(|| Error::NoPython { tried: tried() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn home(root: &Path, name: &str, command: &str) -> OsString {
        let home = root.join(name);
        create_dir_all(home.join("bin")).unwrap();
        write(home.join("bin").join(command), "").unwrap();
        home.into()
    }

    #[test]
    fn the_one_asked_for_then_the_active_one_then_the_path() {
        let root = tempfile::tempdir().unwrap();
        let venv = home(root.path(), "venv", "python");
        let conda = home(root.path(), "conda", "python");
        let path = root.path().join("usr/bin").into_os_string();
        home(root.path(), "usr", "python");
        let variable = |active: Option<&OsString>, prefix: Option<&OsString>| {
            let (active, prefix, path) = (active.cloned(), prefix.cloned(), path.clone());
            move |name: &str| match name {
                "VIRTUAL_ENV" => active.clone(),
                "CONDA_PREFIX" => prefix.clone(),
                _ => Some(path.clone()),
            }
        };
        let chosen = |asked, variables: &dyn Fn(&str) -> Option<OsString>| choose(asked, variables).unwrap();
        let both = variable(Some(&venv), Some(&conda));
        assert_eq!(chosen(None, &both), Path::new(&venv).join("bin/python"));
        assert_eq!(chosen(Some(Path::new("python3.12")), &both), Path::new("python3.12"));
        assert_eq!(chosen(None, &variable(None, Some(&conda))), Path::new(&conda).join("bin/python"));
        assert_eq!(chosen(None, &variable(None, None)), root.path().join("usr/bin/python"));
        // A virtual environment that was removed is passed over.
        let gone = root.path().join("gone").into_os_string();
        assert_eq!(chosen(None, &variable(Some(&gone), None)), root.path().join("usr/bin/python"));
    }

    #[test]
    fn empty_entries_of_a_path_are_dropped() {
        let cleaned = |path: &str| without_current_folder(OsStr::new(path));
        assert_eq!(cleaned("/a:/b"), None);
        for path in [":/a:/b", "/a::/b", "/a:/b:"] {
            assert_eq!(cleaned(path), Some("/a:/b".into()), "{path}");
        }
    }

    #[test]
    fn what_was_tried_is_said() {
        let error = choose(None, |_| None).unwrap_err().to_string();
        assert!(error.contains("tried $VIRTUAL_ENV, $CONDA_PREFIX, python3, python"), "{error}");
        assert!(error.contains("Gym::python"), "{error}");
        let error = choose(Some(Path::new("no/such/python")), |_| None).unwrap_err().to_string();
        assert!(error.contains("no/such/python"), "{error}");
    }
}
