//! The one kernel: a product of matrices whose left rows may lie anywhere, so that a convolution is one as well.
//!
//! out[i][j] = begin + Σ_p left[rowᵢ + walk(p)] · right[p][j], summed in the order of p by fused multiply-adds. That
//! order is part of the contract: an element's bits depend neither on the tile that computed it nor on the number of
//! rows, of threads, or on the width of the vectors.
//!
//! A convolution needs no copy of its patches: the walk goes through the kernel's rows in the (padded) image.

use super::lanes::{Lanes, Work, dispatch};

/// Where each row starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// Every so many numbers.
    Every(usize),
    /// Where the table says.
    Table(&'a [usize]),
}

impl Rows<'_> {
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        match self {
            Self::Every(stride) => i * stride,
            Self::Table(table) => table[i],
        }
    }

    /// The furthest start of the first `count` rows. A convolution's tables ascend.
    fn last(&self, count: usize) -> usize {
        match self {
            Self::Every(stride) => (count - 1) * stride,
            Self::Table(table) => table[..count].iter().copied().max().unwrap_or(0),
        }
    }
}

/// How the sum walks through the left factor: `outer` times `inner` numbers, at these distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub outer: usize,
    pub outer_stride: usize,
    pub inner: usize,
    pub inner_stride: usize,
}

impl Walk {
    /// A walk along one line.
    pub fn line(count: usize, stride: usize) -> Self {
        Self { outer: 1, outer_stride: 0, inner: count, inner_stride: stride }
    }

    fn len(&self) -> usize {
        self.outer * self.inner
    }

    fn last(&self) -> usize {
        (self.outer - 1) * self.outer_stride + (self.inner - 1) * self.inner_stride
    }
}

/// What the sum starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Begin<'a> {
    Zero,
    /// One number for each column.
    Bias(&'a [f32]),
    /// What is in the output.
    Output,
}

/// What becomes of the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Store,
    /// max(sum, 0) is stored.
    Relu,
}

/// A product, see the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product<'a> {
    pub rows: usize,
    pub columns: usize,
    pub left: &'a [f32],
    pub left_rows: Rows<'a>,
    pub walk: Walk,
    pub right: &'a [f32],
    pub right_stride: usize,
    pub begin: Begin<'a>,
    pub end: End,
}

/// Terms of a line that are summed before the next columns are begun: their right factors stay in the cache.
const LINE_BLOCK: usize = 512;

impl Product<'_> {
    /// Computes the product into `out`, whose rows start where `out_rows` says and do not overlap.
    #[inline]
    pub fn into(self, out: &mut [f32], out_rows: Rows) {
        if self.rows == 0 || self.columns == 0 || self.walk.len() == 0 {
            debug_assert!(false, "an empty product");
            return;
        }
        self.check(out, out_rows);
        dispatch(Run { product: self, out, out_rows });
    }

    /// All lengths, once for a whole product: what makes the unchecked kernel sound.
    fn check(&self, out: &[f32], out_rows: Rows) {
        assert!(self.left_rows.last(self.rows) + self.walk.last() < self.left.len(), "left: {self:?}");
        assert!(
            (self.walk.len() - 1) * self.right_stride + self.columns <= self.right.len(),
            "right: {self:?}"
        );
        assert!(out_rows.last(self.rows) + self.columns <= out.len(), "output: {self:?}");
        if let Begin::Bias(bias) = self.begin {
            assert!(self.columns <= bias.len(), "bias: {self:?}");
        }
    }
}

struct Run<'a, 'o> {
    product: Product<'a>,
    out: &'o mut [f32],
    out_rows: Rows<'o>,
}

impl Work for Run<'_, '_> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let Self { product, out, out_rows } = self;
        let out = out.as_mut_ptr();
        let walk = product.walk;
        if walk.outer > 1 || walk.inner <= LINE_BLOCK {
            // SAFETY: the lengths were checked by `Product::into`.
            return unsafe { columns::<L>(&product, 0, out, out_rows) };
        }
        for first in (0..walk.inner).step_by(LINE_BLOCK) {
            let count = LINE_BLOCK.min(walk.inner - first);
            let block = Product {
                walk: Walk { inner: count, ..walk },
                right: &product.right[first * product.right_stride..],
                begin: if first == 0 { product.begin } else { Begin::Output },
                end: if first + count < walk.inner { End::Store } else { product.end },
                ..product
            };
            // SAFETY: as above; the block walks a part of the line.
            unsafe { columns::<L>(&block, first * walk.inner_stride, out, out_rows) };
        }
    }
}

/// All columns: two vectors at a time, then one, then a part of one.
#[inline(always)]
unsafe fn columns<L: Lanes>(product: &Product, left_offset: usize, out: *mut f32, out_rows: Rows) {
    let n = product.columns;
    let mut j = 0;
    // SAFETY: columns j.. stay below n.
    unsafe {
        while product.rows < 4 && n - j >= 4 * L::LANES {
            rows::<L, 4, false>(product, left_offset, j, L::LANES, out, out_rows);
            j += 4 * L::LANES;
        }
        while n - j >= 2 * L::LANES {
            rows::<L, 2, false>(product, left_offset, j, L::LANES, out, out_rows);
            j += 2 * L::LANES;
        }
        if n - j >= L::LANES {
            rows::<L, 1, false>(product, left_offset, j, L::LANES, out, out_rows);
            j += L::LANES;
        }
        if n > j {
            rows::<L, 1, true>(product, left_offset, j, n - j, out, out_rows);
        }
    }
}

/// All rows of `V` vectors of columns from `j` on; the last vector has `last` numbers if it is a part of one.
#[inline(always)]
unsafe fn rows<L: Lanes, const V: usize, const PART: bool>(
    product: &Product,
    left_offset: usize,
    j: usize,
    last: usize,
    out: *mut f32,
    out_rows: Rows,
) {
    let mut i = 0;
    // SAFETY: rows i.. stay below the number of rows.
    unsafe {
        while L::MANY_REGISTERS && V <= 2 && product.rows - i >= 8 {
            tile::<L, 8, V, PART>(product, left_offset, i, j, last, out, out_rows);
            i += 8;
        }
        while V <= 2 && product.rows - i >= 4 {
            tile::<L, 4, V, PART>(product, left_offset, i, j, last, out, out_rows);
            i += 4;
        }
        while product.rows - i >= 2 {
            tile::<L, 2, V, PART>(product, left_offset, i, j, last, out, out_rows);
            i += 2;
        }
        if product.rows > i {
            tile::<L, 1, V, PART>(product, left_offset, i, j, last, out, out_rows);
        }
    }
}

#[inline(always)]
unsafe fn load<L: Lanes, const V: usize, const PART: bool>(from: *const f32, last: usize) -> [L; V] {
    // SAFETY: the caller vouches for (V - 1)·LANES + last numbers.
    std::array::from_fn(|v| unsafe {
        if PART && v == V - 1 {
            L::load_part(from.add(v * L::LANES), last)
        } else {
            L::load(from.add(v * L::LANES))
        }
    })
}

/// `R` rows from `i` on and `V` vectors of columns from `j` on, in registers.
#[inline(always)]
unsafe fn tile<L: Lanes, const R: usize, const V: usize, const PART: bool>(
    product: &Product,
    left_offset: usize,
    i: usize,
    j: usize,
    last: usize,
    out: *mut f32,
    out_rows: Rows,
) {
    // SAFETY: `Product::check` has checked the furthest row, the end of the walk and the last column of each factor.
    unsafe {
        let left: [*const f32; R] =
            std::array::from_fn(|r| product.left.as_ptr().add(product.left_rows.at(i + r) + left_offset));
        let out: [*mut f32; R] = std::array::from_fn(|r| out.add(out_rows.at(i + r) + j));
        let mut sum: [[L; V]; R] = match product.begin {
            Begin::Zero => [[L::splat(0.0); V]; R],
            Begin::Bias(bias) => [load::<L, V, PART>(bias.as_ptr().add(j), last); R],
            Begin::Output => std::array::from_fn(|r| load::<L, V, PART>(out[r], last)),
        };
        let mut right = product.right.as_ptr().add(j);
        for outer in 0..product.walk.outer {
            let mut at = outer * product.walk.outer_stride;
            for _ in 0..product.walk.inner {
                let b = load::<L, V, PART>(right, last);
                for r in 0..R {
                    let a = L::splat(*left[r].add(at));
                    for v in 0..V {
                        sum[r][v] = sum[r][v].fma(a, b[v]);
                    }
                }
                at += product.walk.inner_stride;
                // Past the last row this points outside, but is not read.
                right = right.wrapping_add(product.right_stride);
            }
        }
        for (out, sum) in out.into_iter().zip(sum) {
            for (v, sum) in sum.into_iter().enumerate() {
                let to = out.add(v * L::LANES);
                let part = PART && v == V - 1;
                let value = match product.end {
                    End::Store => sum,
                    End::Relu => sum.relu(),
                };
                if part { value.store_part(to, last) } else { value.store(to) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
