//! The one place with unsafe code: vectors of the processor, and the product that all layers are made of.
//!
//! [`Product::into`] is safe: it checks every length once for a whole product, then the inner loop reads without checks.
//!
//! Why not a library: measured against the crate `gemm` 0.19, see MEASURED.
#![allow(unsafe_code)]

mod lanes;
mod product;

pub(crate) use product::{Begin, End, Product, Rows, Walk};
