//! A serializer that writes nothing and only looks for floats that JSON cannot hold.

use crate::{Error, Result};
use serde::{Serialize, ser};
use std::fmt::{self, Display};

/// Fails with [`Error::NotFinite`] if `value`, called `what` in the message, would write a bare NaN or infinity.
pub fn check_finite<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<()> {
    match value.serialize(Finite) {
        Err(Found::NotFinite(value)) => Err(Error::NotFinite { what: what.to_owned(), value }),
        // Any other complaint is the value's own, and the real serializer will report it.
        Ok(()) | Err(Found::Other) => Ok(()),
    }
}

#[derive(Clone, Copy)]
struct Finite;

#[derive(Debug)]
enum Found {
    NotFinite(f64),
    Other,
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite(value) => write!(f, "{value}"),
            Self::Other => f.write_str("the value cannot be serialised"),
        }
    }
}

impl std::error::Error for Found {}

impl ser::Error for Found {
    fn custom<T: Display>(_: T) -> Self {
        Self::Other
    }
}

type Checked = std::result::Result<(), Found>;

/// Scalars that are always fine.
macro_rules! pass {
    ($($method:ident: $kind:ty),*) => { $(fn $method(self, _: $kind) -> Checked { Ok(()) })* };
}

/// Compounds: every one is checked by this same serializer.
macro_rules! enter {
    ($($method:ident($($kind:ty),*) -> $compound:ident),*) => {
        $(fn $method(self, $(_: $kind),*) -> std::result::Result<Self::$compound, Found> { Ok(self) })*
    };
}

impl ser::Serializer for Finite {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn serialize_f64(self, x: f64) -> Checked {
        if x.is_finite() { Ok(()) } else { Err(Found::NotFinite(x)) }
    }

    fn serialize_f32(self, x: f32) -> Checked {
        self.serialize_f64(x.into())
    }

    pass!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    );

    fn serialize_unit(self) -> Checked {
        Ok(())
    }

    fn serialize_none(self) -> Checked {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    enter!(
        serialize_seq(Option<usize>) -> SerializeSeq,
        serialize_tuple(usize) -> SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant,
        serialize_map(Option<usize>) -> SerializeMap,
        serialize_struct(&'static str, usize) -> SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant
    );
}

/// One implementation of a compound trait: check each part, and the end is always fine.
macro_rules! compound {
    ($($interface:ident: $method:ident($($name:ty)?)),*) => {
        $(impl ser::$interface for Finite {
            type Ok = ();
            type Error = Found;
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Checked {
                value.serialize(*self)
            }
            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

compound!(
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str),
    SerializeStructVariant: serialize_field(&'static str)
);

impl ser::SerializeMap for Finite {
    type Ok = ();
    type Error = Found;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Checked {
        key.serialize(*self)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
        value.serialize(*self)
    }
    fn end(self) -> Checked {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    enum Shape {
        Unit,
        Newtype(f64),
        Tuple(u8, f32),
        Struct { x: Option<f64> },
    }

    #[derive(Serialize)]
    struct Marked(#[serde(with = "crate::float")] f64);

    #[test]
    fn finds_offenders_in_every_kind_of_compound() {
        let bad = |found: Result<()>| matches!(found, Err(Error::NotFinite { .. }));
        assert!(bad(check_finite("v", &Shape::Newtype(f64::NAN))));
        assert!(bad(check_finite("v", &Shape::Tuple(0, f32::INFINITY))));
        assert!(bad(check_finite("v", &Shape::Struct { x: Some(f64::NEG_INFINITY) })));
        assert!(bad(check_finite("v", &BTreeMap::from([("a", (1.0, f64::NAN))]))));
        assert!(bad(check_finite("v", &[[0.0, f64::NAN]])));
    }

    #[test]
    fn passes_what_json_can_hold() {
        assert!(
            check_finite("v", &(Shape::Unit, Shape::Newtype(1.0), Shape::Struct { x: None }, "text")).is_ok()
        );
        assert!(check_finite("v", &Marked(f64::NAN)).is_ok());
    }
}
