//! The one place with unsafe code: vectors of the processor, and the product that all layers are made of.
//!
//! [`Product::into`] is safe: it checks every length once for a whole product, then the inner loop reads without checks.
//!
//! Why not a library: it takes whole matrices, so patches would be copied (im2col), and its order of summation depends
//! on the processor and the shape. Speed alone does not decide. Microseconds of one product on one thread of an AMD Zen 4
//! (rows x terms x columns), against the crate `gemm` 0.19 with and without its feature `x86-v4` (AVX-512):
//!
//! | | here, with bias | gemm, AVX-512 | gemm, AVX2 |
//! |---|---|---|---|
//! | 32 x 64 x 64 | 2.43 | 2.41 | 2.59 |
//! | 32 x 4 x 64 | 0.33 | 0.33 | 0.51 |
//! | 32 x 64 x 4 | 0.65 | 1.08 | 0.81 |
//! | 1 x 64 x 64 | 0.17 | 0.52 | 0.34 |
#![allow(unsafe_code)]

mod lanes;
mod product;

pub(crate) use product::{Begin, End, Product, Rows, Walk};
