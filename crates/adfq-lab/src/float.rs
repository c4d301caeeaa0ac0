//! Floats in JSON, bit for bit: finite ones as numbers, the others as the strings `"NaN"`, `"inf"` and `"-inf"`.
//!
//! JSON has no NaN, and `serde_json` would quietly write `null`. A field that may hold one (a diverged trial, a gap
//! in a curve) says `#[serde(with = "crate::float")]`; for fields that do not, [`check_finite`] finds the offender
//! before anything is written. All NaNs are one NaN here: payload and sign are not kept.

mod check;

pub use check::check_finite;
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Shapes of floats that this module can write: `f64`, and vectors, pairs and options of such shapes.
pub trait Floats: Sized {
    /// The same shape with [`Real`] in place of `f64`.
    type Wire: Serialize + DeserializeOwned;
    /// To the shape that is written.
    fn to_wire(&self) -> Self::Wire;
    /// From the shape that was read.
    fn from_wire(wire: Self::Wire) -> Self;
}

/// A float as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub struct Real(f64);

impl From<f64> for Real {
    fn from(x: f64) -> Self {
        Self(x)
    }
}

impl From<Real> for f64 {
    fn from(real: Real) -> Self {
        real.0
    }
}

impl Floats for f64 {
    type Wire = Real;
    fn to_wire(&self) -> Real {
        Real(*self)
    }
    fn from_wire(wire: Real) -> Self {
        wire.0
    }
}

impl<T: Floats> Floats for Vec<T> {
    type Wire = Vec<T::Wire>;
    fn to_wire(&self) -> Self::Wire {
        self.iter().map(T::to_wire).collect()
    }
    fn from_wire(wire: Self::Wire) -> Self {
        wire.into_iter().map(T::from_wire).collect()
    }
}

impl<T: Floats> Floats for Option<T> {
    type Wire = Option<T::Wire>;
    fn to_wire(&self) -> Self::Wire {
        self.as_ref().map(T::to_wire)
    }
    fn from_wire(wire: Self::Wire) -> Self {
        wire.map(T::from_wire)
    }
}

impl<A: Floats, B: Floats> Floats for (A, B) {
    type Wire = (A::Wire, B::Wire);
    fn to_wire(&self) -> Self::Wire {
        (self.0.to_wire(), self.1.to_wire())
    }
    fn from_wire(wire: Self::Wire) -> Self {
        (A::from_wire(wire.0), B::from_wire(wire.1))
    }
}

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("NaN"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(f64),
            Word(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Number(x) => Ok(Self(x)),
            Either::Word(word) => match word.as_str() {
                "NaN" => Ok(Self(f64::NAN)),
                "inf" => Ok(Self(f64::INFINITY)),
                "-inf" => Ok(Self(f64::NEG_INFINITY)),
                other => Err(D::Error::invalid_value(Unexpected::Str(other), &"a number, NaN, inf or -inf")),
            },
        }
    }
}

/// Writes the floats; serde calls this for fields marked `#[serde(with = "crate::float")]`.
pub fn serialize<T: Floats, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_wire().serialize(serializer)
}

/// Reads the floats; serde calls this for fields marked `#[serde(with = "crate::float")]`.
pub fn deserialize<'de, T: Floats, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::Wire::deserialize(deserializer).map(T::from_wire)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Serialize, Deserialize)]
    struct Sample {
        plain: f64,
        #[serde(with = "super")]
        marked: Vec<(f64, Option<f64>)>,
    }

    fn round_trip(sample: &Sample) -> Sample {
        serde_json::from_str(&serde_json::to_string(sample).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn finite_floats_keep_their_bits(x in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            let back = round_trip(&Sample { plain: x, marked: vec![(x, Some(-x))] });
            prop_assert_eq!(back.plain.to_bits(), x.to_bits());
            prop_assert_eq!(back.marked[0].0.to_bits(), x.to_bits());
            prop_assert_eq!(back.marked[0].1.unwrap().to_bits(), (-x).to_bits());
        }
    }

    #[test]
    fn other_floats_round_trip_and_stay_apart_from_none() {
        let back = round_trip(&Sample {
            plain: 0.0,
            marked: vec![(f64::NAN, Some(f64::NAN)), (f64::INFINITY, None)],
        });
        assert!(back.marked[0].0.is_nan() && back.marked[0].1.unwrap().is_nan());
        assert_eq!(back.marked[1], (f64::INFINITY, None));
    }

    #[test]
    fn unknown_words_are_refused() {
        let error = serde_json::from_str::<Real>("\"many\"").unwrap_err();
        assert!(error.to_string().contains("a number, NaN, inf or -inf"), "{error}");
    }
}
