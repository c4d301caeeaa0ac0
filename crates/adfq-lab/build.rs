//! A digest of the sources that compute trials: results in a cache are valid only for the code that made them.
//!
//! It covers this crate, the crates of the workspace that trials are computed with, and `Cargo.lock`. Outside the
//! workspace the other crates lie elsewhere; then their versions stand for them (see `cache::fingerprint`).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SOURCES: [&str; 4] = ["src", "../adfq/src", "../adfq-report/src", "../../Cargo.lock"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let present: Vec<PathBuf> =
        SOURCES.iter().map(|source| root.join(source)).filter(|path| path.exists()).collect();
    for path in &present {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    println!("cargo:rustc-env=ADFQ_CODE_DIGEST={:016x}", digest(&present)?);
    Ok(())
}

/// FNV-1a (64 bit) over the names and contents of all files in these places. Where they lie does not count.
pub fn digest(places: &[PathBuf]) -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for place in places {
        let mut files = vec![];
        list(place, &mut files)?;
        files.sort();
        for file in files {
            let name = file.strip_prefix(place).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let bytes = fs::read(&file)?;
            // Lengths keep the border between name and content, and between files.
            for part in [
                &(name.len() as u64).to_le_bytes(),
                name.as_bytes(),
                &(bytes.len() as u64).to_le_bytes(),
                &bytes,
            ] {
                hash = part
                    .iter()
                    .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
            }
        }
    }
    Ok(hash)
}

fn list(place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if place.is_file() {
        files.push(place.to_owned());
        return Ok(());
    }
    fs::read_dir(place)?.try_for_each(|entry| list(&entry?.path(), files))
}
