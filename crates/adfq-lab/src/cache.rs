//! Results of finished units of work on disk, so that a rerun continues with what is missing.
//!
//! One JSON file per unit, written atomically. Inside are a format version, the unit's key, the fingerprint of what
//! it was computed from, and a checksum. A file that is torn, foreign, or has another fingerprint is computed anew
//! and replaced, never trusted.

use crate::{Error, Result, float};
use adfq_files::Error as FileError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::PathBuf;

const FORMAT: &str = "adfq-lab cache";
const VERSION: u32 = 1;

/// A folder of results, one file per unit of work. Threads may share it; each unit is its own file.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// A digest of the sources that compute trials, made by `build.rs`.
const CODE: &str = env!("ADFQ_CODE_DIGEST");

/// The fingerprint of a unit: its settings in their `Debug` form, and the code that computes it. A change of a source, of
/// a dependency or of a version makes another one, so a result of other code is never reused.
pub(crate) fn fingerprint(unit: &impl Debug) -> String {
    format!("code {CODE}, adfq {}, adfq-report {}: {unit:?}", adfq::VERSION, adfq_report::VERSION)
}

/// What stands in a file.
#[derive(Serialize, Deserialize)]
struct Entry {
    format: String,
    version: u32,
    key: String,
    fingerprint: String,
    /// FNV-1a (64 bit, hexadecimal) over key, fingerprint and value: against accidents, not against forgers.
    fnv1a64: String,
    value: Box<RawValue>,
}

impl Cache {
    /// Opens the cache in this folder, which is made if missing, and removes what crashed runs left half-written.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        adfq_files::create_folder(&folder)?;
        adfq_files::remove_stale(&folder)?;
        Ok(Self { folder })
    }

    /// The stored result of the unit `key`, or what `compute` returns, which is then stored.
    ///
    /// `fingerprint` names everything the result depends on (settings, seed, code): a result
    /// stored under another one is computed anew. A fresh result, too, is returned as read back from its JSON, so
    /// a resumed run gets the same values, bit for bit, as one never stopped. Bare NaN and infinities are refused
    /// with [`Error::NotFinite`]; fields that may hold them are marked with [`float`]. An error of `compute` is
    /// passed on and nothing is stored.
    pub fn get_or_compute<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        fingerprint: &str,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(stored) = self.get(key, fingerprint)? {
            return Ok(stored);
        }
        let what = || format!("the result of \"{key}\"");
        let unstorable = |source| Error::Json { what: what(), source };
        let value = compute()?;
        float::check_finite(&what(), &value)?;
        let value = serde_json::value::to_raw_value(&value).map_err(unstorable)?;
        let fresh = serde_json::from_str(value.get()).map_err(unstorable)?;
        let entry = Entry {
            format: FORMAT.to_owned(),
            version: VERSION,
            key: key.to_owned(),
            fingerprint: fingerprint.to_owned(),
            fnv1a64: checksum(key, fingerprint, value.get()),
            value,
        };
        let json = serde_json::to_vec(&entry).map_err(unstorable)?;
        adfq_files::replace(&self.path(key), &json)?;
        Ok(fresh)
    }

    /// The stored result of the unit `key`, if there is one that can be trusted.
    pub fn get<T: DeserializeOwned>(&self, key: &str, fingerprint: &str) -> Result<Option<T>> {
        let path = self.path(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FileError::io("read", &path, source).into()),
        };
        Ok(serde_json::from_slice::<Entry>(&bytes)
            .ok()
            .filter(|entry| entry.is_sound() && entry.key == key && entry.fingerprint == fingerprint)
            .and_then(|entry| serde_json::from_str(entry.value.get()).ok()))
    }

    /// Forgets the unit `key`, if there is one.
    pub fn forget(&self, key: &str) -> Result<()> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::io("remove", &path, error).into())
            }
            _ => Ok(()),
        }
    }

    /// Forgets everything: removes the files of all units, and nothing else.
    pub fn clear(&self) -> Result<()> {
        let listed = |source| FileError::io("list", &self.folder, source);
        for entry in fs::read_dir(&self.folder).map_err(listed)? {
            let path = entry.map_err(listed)?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                fs::remove_file(&path).map_err(|source| FileError::io("remove", &path, source))?;
            }
        }
        Ok(())
    }

    /// A file name that a person can read, made unique by the hash of the key.
    fn path(&self, key: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        let readable: String = key.chars().map(plain).take(80).collect();
        self.folder.join(format!("{readable}.{:016x}.json", fnv1a64([key])))
    }
}

impl Entry {
    fn is_sound(&self) -> bool {
        self.format == FORMAT
            && self.version == VERSION
            && self.fnv1a64 == checksum(&self.key, &self.fingerprint, self.value.get())
    }
}

fn checksum(key: &str, fingerprint: &str, value: &str) -> String {
    format!("{:016x}", fnv1a64([key, fingerprint, value]))
}

/// FNV-1a, 64 bit, over the texts, each followed by a byte that UTF-8 never uses, so that borders count too.
fn fnv1a64<const N: usize>(texts: [&str; N]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use tempfile::{TempDir, tempdir};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Trial {
        curve: Vec<f64>,
        #[serde(with = "crate::float")]
        last: f64,
    }

    fn trial() -> Trial {
        Trial { curve: vec![0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0, 1e300], last: f64::INFINITY }
    }

    struct Bench {
        cache: Cache,
        computed: Cell<u32>,
        _dir: TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempdir().unwrap();
            Self { cache: Cache::open(dir.path().join("cache")).unwrap(), computed: Cell::new(0), _dir: dir }
        }

        /// Asks for the unit "a/b" and tells whether it was computed.
        fn ask(&self, fingerprint: &str) -> bool {
            let before = self.computed.get();
            let value = self.cache.get_or_compute("a/b", fingerprint, || {
                self.computed.set(before + 1);
                Ok(trial())
            });
            let bits = |t: &Trial| t.curve.iter().chain([&t.last]).map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&value.unwrap()), bits(&trial()));
            self.computed.get() > before
        }

        fn edit(&self, change: impl FnOnce(String) -> String) {
            let path = self.cache.path("a/b");
            fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
        }
    }

    #[test]
    fn the_fingerprint_holds_the_code_and_the_unit() {
        assert_eq!(CODE.len(), 16);
        let found = fingerprint(&("loop", 7));
        assert!(found.contains(CODE) && found.ends_with(": (\"loop\", 7)"), "{found}");
    }

    #[test]
    fn computes_once_per_fingerprint() {
        let bench = Bench::new();
        assert!(bench.ask("seed 1"));
        assert!(!bench.ask("seed 1"));
        assert!(bench.ask("seed 2"));
        assert!(bench.ask("seed 1"), "one file per unit: the newer fingerprint has replaced the older");
    }

    #[test]
    fn damaged_files_are_computed_anew() {
        let bench = Bench::new();
        bench.ask("f");
        let length = fs::read(bench.cache.path("a/b")).unwrap().len();
        for cut in [0, 1, length / 2, length - 1] {
            bench.edit(|text| text[..cut].to_owned());
            assert!(bench.ask("f"), "torn after {cut} bytes");
            assert!(!bench.ask("f"));
        }
        bench.edit(|text| text.replace("1e300", "1e301").replace("1e+300", "1e+301"));
        assert!(bench.ask("f"), "a changed number");
        bench.edit(|text| text.replace("\"version\":1", "\"version\":2"));
        assert!(bench.ask("f"), "another version");
        bench.edit(|_| "{\"curve\":[1.0],\"last\":2.0}".to_owned());
        assert!(bench.ask("f"), "a foreign file");
        fs::copy(bench.cache.path("a/b"), bench.cache.path("other")).unwrap();
        assert_eq!(bench.cache.get::<Trial>("other", "f").unwrap(), None, "another unit's file");
        assert_eq!(bench.cache.get::<String>("a/b", "f").unwrap(), None, "a value of another type");
    }

    #[test]
    fn errors_pass_through_and_store_nothing() {
        let bench = Bench::new();
        let failed = bench.cache.get_or_compute::<f64>("u", "f", || Err(Error::Interrupted));
        assert!(matches!(failed, Err(Error::Interrupted)));
        let refused = bench.cache.get_or_compute("u", "f", || Ok(vec![Some(f64::NAN)]));
        assert!(refused.unwrap_err().to_string().starts_with("the result of \"u\" contains the number NaN"));
        assert_eq!(fs::read_dir(&bench.cache.folder).unwrap().count(), 0);
    }

    #[test]
    fn similar_keys_have_their_own_files() {
        let cache = Bench::new().cache;
        let long = "é".repeat(500);
        let keys = ["a/b", "a-b", "a b", "", "..", "CON", long.as_str()];
        let paths: std::collections::BTreeSet<_> = keys.iter().map(|key| cache.path(key)).collect();
        assert_eq!(paths.len(), keys.len());
        assert!(paths.iter().all(|path| path.parent() == Some(&cache.folder)));
        assert!(paths.iter().all(|path| path.file_name().unwrap().len() < 120));
    }

    /// Reference value: FNV-1a of "foobar" is 85944171f73967e8; the closing 0xff byte is one more round.
    #[test]
    fn the_checksum_is_fnv1a() {
        assert_eq!(fnv1a64(["foobar"]), (0x8594_4171_f739_67e8_u64 ^ 0xff).wrapping_mul(0x100_0000_01b3));
        assert_ne!(fnv1a64(["a", "bc"]), fnv1a64(["ab", "c"]));
    }

    #[test]
    fn opening_cleans_up_and_names_what_blocks_it() {
        let dir = tempdir().unwrap();
        let stale = dir.path().join(".a.json.9-9.adfq-partial");
        fs::write(&stale, "{").unwrap();
        Cache::open(dir.path()).unwrap();
        assert!(!stale.exists());
        fs::write(dir.path().join("file"), "").unwrap();
        let error = Cache::open(dir.path().join("file")).unwrap_err();
        assert!(error.to_string().contains("cannot create the folder"), "{error}");
    }
}
