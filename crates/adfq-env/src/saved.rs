//! How states become bytes: the owner's tag, then the state, in `postcard`. The tag tells a foreign state from one's
//! own; bytes cut short or left over are refused. Whole files and their checksums live elsewhere.

use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

/// The bytes of a state that belongs to `env`.
pub(crate) fn save<T: Serialize>(env: &str, state: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(&(env, state)).map_err(|error| refuse(env, error))
}

/// The state in bytes that [`save`] gave for the same `env`.
pub(crate) fn restore<T: DeserializeOwned>(env: &str, bytes: &[u8]) -> Result<T> {
    let (tag, rest) = postcard::take_from_bytes::<&str>(bytes).map_err(|error| refuse(env, error))?;
    if tag != env {
        return Err(refuse(env, format!("it is one of {tag:?}")));
    }
    match postcard::take_from_bytes(rest) {
        Ok((state, [])) => Ok(state),
        Ok((_, rest)) => Err(refuse(env, format!("{} bytes are left over", rest.len()))),
        Err(error) => Err(refuse(env, error)),
    }
}

/// The error for a state that does not fit.
pub(crate) fn refuse(env: &str, reason: impl ToString) -> Error {
    Error::State { env: env.to_owned(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_short_and_long_bytes_are_refused() {
        let bytes = save("a", &(1.5, 300_u32)).unwrap();
        assert_eq!(restore::<(f64, u32)>("a", &bytes).unwrap(), (1.5, 300));
        let error = restore::<(f64, u32)>("b", &bytes).unwrap_err().to_string();
        assert!(error.starts_with("the saved state is not one of b: it is one of \"a\";"), "{error}");
        for length in 0..bytes.len() {
            assert!(restore::<(f64, u32)>("a", &bytes[..length]).is_err(), "{length}");
        }
        let error = restore::<(f64, u32)>("a", &[bytes, vec![0]].concat()).unwrap_err().to_string();
        assert!(error.contains("1 bytes are left over"), "{error}");
    }
}
