//! Where the cartridges are: in a folder that the user names, or in the user's `ale-py` package. They are told by their contents, since a file may
//! have any name. None is part of this project.

use super::Game;
use crate::{Error, Gym, Result};
use md5::{Digest, Md5};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Names a folder of ROMs where none is given.
pub const VARIABLE: &str = "ADFQ_ROMS";

/// Prints the folder of ale-py's ROMs without importing the package. What is in the current folder is no package.
const FIND: &str = "\
import sys
sys.path[:] = sys.argv[1:] + [folder for folder in sys.path if folder]
from importlib.util import find_spec
package = find_spec('ale_py')
print(package.submodule_search_locations[0] if package else '')
";

/// No cartridge is larger.
const MOST_BYTES: u64 = 64 * 1024;

/// The ROM of a game: from this folder, or that of [`VARIABLE`], or else from the `ale-py` of the Python that `gym` names.
pub fn rom(game: &Game, folder: Option<&Path>, gym: &Gym) -> Result<Vec<u8>> {
    let named = || std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = match folder.map(Path::to_owned).or_else(named) {
        Some(folder) => folder,
        None => package(game, gym)?.join("roms"),
    };
    in_folder(game, &folder)
}

/// The ROM of a game in this folder: the file of its name if it is the right one, or any other with its contents.
fn in_folder(game: &Game, folder: &Path) -> Result<Vec<u8>> {
    let env = || format!("atari:{}", game.name);
    let usual = folder.join(format!("{}.bin", game.name));
    if let Some(rom) = fs::read(&usual).ok().filter(|rom| md5(rom) == game.md5) {
        return Ok(rom);
    }
    let entries = fs::read_dir(folder).map_err(|source| Error::Roms {
        env: env(),
        folder: folder.to_owned(),
        reason: source.to_string(),
    })?;
    let small = |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES);
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(small).collect();
    files.sort();
    let found = files.iter().filter_map(|path| fs::read(path).ok()).find(|rom| md5(rom) == game.md5);
    let reason = if usual.exists() {
        format!(
            "{}.bin is another version of the game; the MD5 sum of the one that ALE plays is {}",
            game.name, game.md5
        )
    } else {
        format!("no file there has the MD5 sum {}", game.md5)
    };
    found.ok_or_else(|| Error::Roms { env: env(), folder: folder.to_owned(), reason })
}

fn md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of the `ale-py` package. Python is asked once for each interpreter.
fn package(game: &Game, gym: &Gym) -> Result<PathBuf> {
    static FOUND: Mutex<BTreeMap<(PathBuf, Vec<PathBuf>), PathBuf>> = Mutex::new(BTreeMap::new());
    let key = (gym.interpreter()?, gym.path.clone());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = found.get(&key) {
        return Ok(folder.clone());
    }
    let python = &key.0;
    let output = Command::new(python).args(["-c", FIND]).args(&gym.path).output();
    let output = output.map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoPython { tried: python.display().to_string() },
        _ => Error::Start { python: python.clone(), source },
    })?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if folder.is_empty() {
        return Err(Error::NoRoms { env: format!("atari:{}", game.name), python: python.clone() });
    }
    found.insert(key, folder.clone().into());
    Ok(folder.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        let game = Game::named("pong").unwrap();
        let refused = || in_folder(game, folder.path()).unwrap_err().to_string();
        let text = refused();
        assert!(text.starts_with("there is no ROM of atari:pong in "), "{text}");
        assert!(text.contains("no file there has the MD5 sum 60e0ea3cbe0913d39803477945e9e5ec"), "{text}");
        fs::write(folder.path().join("pong.bin"), [0; 2048]).unwrap();
        assert!(refused().contains("pong.bin is another version of the game"), "{}", refused());
        let gone = in_folder(game, &folder.path().join("gone")).unwrap_err().to_string();
        assert!(gone.contains("gone"), "{gone}");
    }

    #[test]
    fn sums_are_those_of_the_standard() {
        assert_eq!(md5(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
    }
}
