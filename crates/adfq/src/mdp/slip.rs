//! Actions that do not always do what they should, the one kind of noise in Loop, Chain and the mazes.

use super::MdpError;
use crate::Result;

/// What is performed, and with which probability, when one means to do `intended` and may slip to `other`.
pub(super) fn slipping<T>(
    domain: &'static str,
    slip: f64,
    intended: T,
    other: T,
) -> Result<impl Iterator<Item = (f64, T)>, MdpError> {
    if !(0.0..=1.0).contains(&slip) {
        return Err(MdpError::Parameter { domain, parameter: "slip", range: "from 0 to 1", value: slip });
    }
    Ok([(1.0 - slip, intended), (slip, other)].into_iter().filter(|&(probability, _)| probability > 0.0))
}
