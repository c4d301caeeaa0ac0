//! Vectors of f32 under one trait: AVX-512, AVX2 with FMA, and plain arrays for every other machine.
//!
//! All of them round a fused multiply-add once, so that a sum of products in a fixed order has the same bits on all
//! (plain arrays on a machine without fused multiply-add round twice: emulating it would cost a factor of 20).

/// A vector of f32. The methods are unsafe to call where the processor lacks the instructions or a pointer is invalid.
pub(crate) trait Lanes: Copy {
    /// Numbers in a vector.
    const LANES: usize;
    /// Whether there are 32 registers rather than 16.
    const MANY_REGISTERS: bool;
    unsafe fn load(from: *const f32) -> Self;
    /// The first `count` numbers, zeros after them.
    unsafe fn load_part(from: *const f32, count: usize) -> Self;
    unsafe fn store(self, to: *mut f32);
    unsafe fn store_part(self, to: *mut f32, count: usize);
    unsafe fn splat(value: f32) -> Self;
    /// self + a·b
    unsafe fn fma(self, a: Self, b: Self) -> Self;
    /// max(self, 0), keeping a NaN.
    unsafe fn relu(self) -> Self;
}

/// Work that is compiled once for each kind of vector.
pub(crate) trait Work {
    /// Does it. Implementations are `#[inline(always)]`, so that they are compiled with the features of their caller.
    ///
    /// # Safety
    ///
    /// The processor has the instructions of `L`.
    unsafe fn run<L: Lanes>(self);
}

/// Does the work with the widest vectors that this processor has.
#[inline]
pub(crate) fn dispatch(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the features were just found.
            return unsafe { x86::with_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the features were just found.
            return unsafe { x86::with_avx2(work) };
        }
    }
    // SAFETY: arrays need no instructions of their own.
    unsafe { work.run::<[f32; 4]>() }
}

/// Does the work with AVX2, on a processor that was found to have it.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn with_avx2(work: impl Work) {
    assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"));
    // SAFETY: the features were just found.
    unsafe { x86::with_avx2(work) }
}

/// Does the work with AVX-512, on a processor that was found to have it.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn with_avx512(work: impl Work) {
    assert!(is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl"));
    // SAFETY: the features were just found.
    unsafe { x86::with_avx512(work) }
}

/// Arrays of four, which compilers turn into the 128-bit vectors of SSE2 and NEON.
impl Lanes for [f32; 4] {
    const LANES: usize = 4;
    const MANY_REGISTERS: bool = cfg!(target_arch = "aarch64");

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for four numbers.
        unsafe { from.cast::<Self>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller vouches for `count` numbers.
        std::array::from_fn(|i| if i < count { unsafe { *from.add(i) } } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for four numbers.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }
    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, count: usize) {
        for (i, value) in self.into_iter().enumerate().take(count) {
            // SAFETY: the caller vouches for `count` numbers.
            unsafe { *to.add(i) = value }
        }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [value; 4]
    }
    #[inline(always)]
    unsafe fn fma(self, a: Self, b: Self) -> Self {
        const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));
        std::array::from_fn(|i| if FUSED { a[i].mul_add(b[i], self[i]) } else { self[i] + a[i] * b[i] })
    }
    #[inline(always)]
    unsafe fn relu(self) -> Self {
        self.map(|x| if x < 0.0 { 0.0 } else { x })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Work};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
    pub(super) fn with_avx512(work: impl Work) {
        // SAFETY: this function has the features.
        unsafe { work.run::<__m512>() }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn with_avx2(work: impl Work) {
        // SAFETY: this function has the features.
        unsafe { work.run::<__m256>() }
    }

    // SAFETY of all that follows: the callers vouch for the processor and the pointers, see the trait.

    impl Lanes for __m512 {
        const LANES: usize = 16;
        const MANY_REGISTERS: bool = true;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm512_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn load_part(from: *const f32, count: usize) -> Self {
            unsafe { _mm512_maskz_loadu_ps((1_u16 << count) - 1, from) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm512_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn store_part(self, to: *mut f32, count: usize) {
            unsafe { _mm512_mask_storeu_ps(to, (1_u16 << count) - 1, self) }
        }
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            unsafe { _mm512_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn fma(self, a: Self, b: Self) -> Self {
            unsafe { _mm512_fmadd_ps(a, b, self) }
        }
        #[inline(always)]
        unsafe fn relu(self) -> Self {
            // The second operand is what `max` gives if one of them is NaN.
            unsafe { _mm512_max_ps(_mm512_setzero_ps(), self) }
        }
    }

    /// Ones for the first `count` of eight lanes.
    #[inline(always)]
    unsafe fn mask(count: usize) -> __m256i {
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
        }
    }

    impl Lanes for __m256 {
        const LANES: usize = 8;
        const MANY_REGISTERS: bool = false;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            unsafe { _mm256_loadu_ps(from) }
        }
        #[inline(always)]
        unsafe fn load_part(from: *const f32, count: usize) -> Self {
            unsafe { _mm256_maskload_ps(from, mask(count)) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            unsafe { _mm256_storeu_ps(to, self) }
        }
        #[inline(always)]
        unsafe fn store_part(self, to: *mut f32, count: usize) {
            unsafe { _mm256_maskstore_ps(to, mask(count), self) }
        }
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            unsafe { _mm256_set1_ps(value) }
        }
        #[inline(always)]
        unsafe fn fma(self, a: Self, b: Self) -> Self {
            unsafe { _mm256_fmadd_ps(a, b, self) }
        }
        #[inline(always)]
        unsafe fn relu(self) -> Self {
            unsafe { _mm256_max_ps(_mm256_setzero_ps(), self) }
        }
    }
}
