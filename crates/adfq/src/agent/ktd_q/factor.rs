//! The Cholesky factor L of KTD-Q's covariance P = L Lᵀ, changed in place in O(n²).
//!
//! The lower triangle is packed column by column: every operation below walks whole columns, so it streams
//! memory in order, and at n = 1,056 the factor takes 4.5 MB.

/// A lower triangular matrix with a positive diagonal.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    n: usize,
    packed: Vec<f64>,
    /// Where each column starts in `packed`, less its first row: entry (i, j) is at `offsets[j] + i`.
    offsets: Vec<usize>,
}

impl Factor {
    /// `sd` times the identity.
    pub fn scaled_identity(n: usize, sd: f64) -> Self {
        let offsets: Vec<usize> = (0..n).map(|j| j * n - j * (j + 1) / 2).collect();
        let mut packed = vec![0.0; n * (n + 1) / 2];
        for (j, offset) in offsets.iter().enumerate() {
            packed[offset + j] = sd;
        }
        Self { n, packed, offsets }
    }

    /// L(i, j), for j ≤ i.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.packed[self.offsets[j] + i]
    }

    /// Rows j to n of column j.
    fn column(&mut self, j: usize) -> &mut [f64] {
        let start = self.offsets[j] + j;
        &mut self.packed[start..start + self.n - j]
    }

    /// P(i, i), the squared length of row i.
    pub fn variance(&self, i: usize) -> f64 {
        self.offsets[..=i].iter().map(|offset| self.packed[offset + i].powi(2)).sum()
    }

    /// Replaces P by P - (Lq)(Lq)ᵀ and leaves L q in `image`, given `rest` = 1 - qᵀq > 0; q may be shorter
    /// than n, and is 0 from there on.
    ///
    /// Both come out of one sweep. P - (Lq)(Lq)ᵀ = L (I - qqᵀ) Lᵀ, and with ρⱼ = 1 - Σ_{i<j} qᵢ² the factor C
    /// of I - qqᵀ has Cⱼⱼ = √(ρⱼ₊₁/ρⱼ) and Cᵢⱼ = -qᵢqⱼ/√(ρⱼρⱼ₊₁) below it. So the new column j, of L C, is
    /// Cⱼⱼ Lⱼ - qⱼ/√(ρⱼρⱼ₊₁) Σ_{i>j} qᵢLᵢ, and from the last column to the first that sum is a running one,
    /// which ends as L q. Since every ρ is `rest` plus squares, nothing here can lose positive definiteness.
    pub fn contract(&mut self, q: &[f64], rest: f64, image: &mut [f64]) {
        image.fill(0.0);
        let mut after = rest;
        for (j, &qj) in q.iter().enumerate().rev() {
            if qj == 0.0 {
                continue;
            }
            let before = after + qj * qj;
            let (keep, take) = ((after / before).sqrt(), qj / (before * after).sqrt());
            after = before;
            for (l, sum) in self.column(j).iter_mut().zip(&mut image[j..]) {
                let old = *l;
                *l = keep * old - take * *sum;
                *sum += qj * old;
            }
        }
    }

    /// Adds `amount` ≥ 0 to the variance P(k, k) alone, by Givens rotations of the columns from k on.
    ///
    /// `x` is scratch space of length n.
    pub fn load(&mut self, k: usize, amount: f64, x: &mut [f64]) {
        x[k..].fill(0.0);
        x[k] = amount.sqrt();
        for j in k..self.n {
            let xj = x[j];
            if xj == 0.0 {
                continue;
            }
            let column = self.column(j);
            let diagonal = column[0];
            let radius = (diagonal * diagonal + xj * xj).sqrt();
            let (cos, sin) = (diagonal / radius, xj / radius);
            for (l, x) in column.iter_mut().zip(&mut x[j..]) {
                let (old, other) = (*l, *x);
                *l = cos * old + sin * other;
                *x = cos * other - sin * old;
            }
        }
    }
}
