//! What environments give is checked where it enters, wherever they run: in a vector of this process, in a worker, and in
//! evaluation. A number that is not finite would be found much later, in the network, and be hard to trace.

use crate::{Element, Error, Result, Space};

/// An error unless the reward of a step and every number of the frame that it led to are finite. The reward is learned
/// from as an f32. `env` and `index` say whose they are. After a reset there is no reward: it is 0.
///
/// ```
/// use adfq_env::{Space, check_given};
///
/// let (space, mut frame) = (Space::flat(1, 2), [0; 4]);
/// space.write(&[0.5], &mut frame)?;
/// assert!(check_given("mine", 3, &space, &frame, 1.0).is_ok());
/// let error = check_given("mine", 3, &space, &frame, f64::NAN).unwrap_err().to_string();
/// assert!(error.starts_with("mine gave the reward NaN, which is not finite as an f32 (environment 3)"), "{error}");
/// space.write(&[f32::INFINITY], &mut frame)?;
/// let error = check_given("mine", 3, &space, &frame, 1.0).unwrap_err().to_string();
/// assert!(error.starts_with("mine gave an observation that is not finite (environment 3)"), "{error}");
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[inline]
pub fn check_given(env: &str, index: usize, space: &Space, frame: &[u8], reward: f64) -> Result<()> {
    let is_finite = |&bytes: &[u8; 4]| f32::from_ne_bytes(bytes).is_finite();
    let what = match space.element {
        _ if !(reward as f32).is_finite() => format!("the reward {reward}, which is not finite as an f32"),
        Element::F32 if !frame.as_chunks().0.iter().all(is_finite) => {
            "an observation that is not finite".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Error::Gave { env: env.to_owned(), index, what })
}
