//! From CUDA C++ to machine code of one GPU, by NVIDIA's run-time compiler; and a cache on disk, so that only the first
//! start waits for it (seconds for a network of convolutions).
#![allow(unsafe_code)]

use crate::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Machine code for a GPU of this compute capability: compiled now, or by an earlier start.
pub(super) fn compile(source: &str, (major, minor): (i32, i32), precise: bool) -> Result<Vec<u8>> {
    let mut options = vec![format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++17".to_owned()];
    if precise {
        options.push("-DPRECISE".to_owned());
    }
    let entry = Entry::new(format!("NVRTC {}\n{}\n{source}", version(), options.join(" ")));
    if let Some(code) = entry.read() {
        return Ok(code);
    }
    let code = compile_now(source, &options)?;
    entry.write(&code);
    Ok(code)
}

/// A file of the cache. It holds the whole key before the code, so a hash that two keys share does no harm. What cannot be
/// read or written is as if it were not there.
struct Entry {
    key: String,
    path: Option<PathBuf>,
}

impl Entry {
    fn new(key: String) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let path = folder().map(|folder| folder.join(format!("{:016x}", hasher.finish())));
        Self { key, path }
    }

    fn read(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.path.as_ref()?).ok()?;
        let rest = bytes.strip_prefix(self.key.as_bytes())?;
        let (len, code) = rest.split_first_chunk()?;
        (u64::from_le_bytes(*len) == code.len() as u64).then(|| code.to_vec())
    }

    fn write(&self, code: &[u8]) {
        let Some((path, folder)) = self.path.as_ref().and_then(|path| Some((path, path.parent()?))) else {
            return;
        };
        // Whole or not at all, also where several programs start at once.
        let own = path.with_extension(std::process::id().to_string());
        let bytes = [self.key.as_bytes(), &(code.len() as u64).to_le_bytes(), code].concat();
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&own, bytes))
            .and_then(|()| std::fs::rename(&own, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&own);
        }
    }
}

/// `adfq/kernels` in the user's folder for caches.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(caches.join("adfq").join("kernels"))
}

fn version() -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers are there to be written.
    let _ = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    format!("{major}.{minor}")
}

/// A program of the compiler's, given back in the end.
struct Program {
    program: sys::nvrtcProgram,
    _source: CString,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: it was made by `create_program`, and is not used again. There is nothing to be done about a failure.
        let _ = unsafe { result::destroy_program(self.program) };
    }
}

pub(super) fn compile_now(source: &str, options: &[String]) -> Result<Vec<u8>> {
    let failed = |error: result::NvrtcError| Error::Cuda { what: error.to_string() };
    let source = CString::new(source).map_err(|error| Error::Cuda { what: error.to_string() })?;
    let program = result::create_program(&source, None).map_err(failed)?;
    let program = Program { program, _source: source };
    // SAFETY: the program lives.
    if unsafe { result::compile_program(program.program, options) }.is_err() {
        return Err(Error::Cuda { what: program.log() });
    }
    program.code().map_err(failed)
}

impl Program {
    /// What the compiler has to say.
    fn log(&self) -> String {
        // SAFETY: the program lives.
        let log = unsafe { result::get_program_log(self.program) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|c| c as u8).collect();
        CStr::from_bytes_until_nul(&log)
            .map_or_else(|_| String::new(), |log| log.to_string_lossy().into_owned())
    }

    fn code(&self) -> std::result::Result<Vec<u8>, result::NvrtcError> {
        let mut len = 0;
        // SAFETY: the program lives, and the number is there to be written.
        unsafe { sys::nvrtcGetCUBINSize(self.program, &mut len) }.result()?;
        let mut code = vec![0; len];
        // SAFETY: there is room for as much as was asked for.
        unsafe { sys::nvrtcGetCUBIN(self.program, code.as_mut_ptr().cast()) }.result()?;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_entry_of_the_same_key_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |key: &str| Entry { key: key.to_owned(), path: Some(folder.path().join("a/b")) };
        assert_eq!(entry("key").read(), None);
        entry("key").write(b"code");
        assert_eq!(entry("key").read().as_deref(), Some(&b"code"[..]));
        assert_eq!(entry("kex").read(), None);
        let bytes = std::fs::read(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b"), &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(entry("key").read(), None);
        entry("key").write(b"other");
        assert_eq!(entry("key").read().as_deref(), Some(&b"other"[..]));
        assert_eq!(std::fs::read_dir(folder.path().join("a")).unwrap().count(), 1);
    }
}
