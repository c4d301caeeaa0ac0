//! Sparse linear equations x = c + A x, in the memory of A: BiCGSTAB (van der Vorst 1992), preconditioned by one
//! Gauss–Seidel sweep.
//!
//! The equations are those of a Markov chain: A has no negative entries and its powers tend to 0. Then Gauss–Seidel
//! sweeps converge from anywhere; BiCGSTAB gets there in far fewer steps where they are slow. In an order in which each
//! unknown comes after those it depends on, one sweep is the solution.

/// No more than this many steps of BiCGSTAB from one start.
const STEPS: usize = 1_000;

/// Steps in which the residual has to halve; else they lead nowhere.
const PATIENCE: usize = 200;

/// Sweeps to and fro where BiCGSTAB fails.
const SWEEPS: usize = 50;

/// Starts from which the residual did not halve before the solver gives up: what is left is rounding.
const FRUITLESS: usize = 2;

/// A matrix A, row by row. In each row the entries left of the diagonal come first.
#[derive(Default)]
pub(super) struct Sparse {
    rows: Vec<Row>,
    entries: Vec<(u32, f64)>,
}

struct Row {
    /// Where the entries of the row begin, and those to the right of the diagonal.
    first: usize,
    right: usize,
    end: usize,
    /// 1 − A_ii.
    diagonal: f64,
}

impl Sparse {
    /// Room for so many rows and entries, asked for once.
    pub(super) fn with_capacity(rows: usize, entries: usize) -> Self {
        Self { rows: Vec::with_capacity(rows), entries: Vec::with_capacity(entries) }
    }

    /// Adds a row, given its columns and entries. Those of the same column add up.
    pub(super) fn push(&mut self, row: impl Iterator<Item = (usize, f64)> + Clone) {
        let (here, first) = (self.rows.len(), self.entries.len());
        let own: f64 = row.clone().filter(|&(column, _)| column == here).map(|(_, entry)| entry).sum();
        let narrow = |(column, entry): (usize, f64)| (column as u32, entry);
        self.entries.extend(row.clone().filter(|&(column, _)| column < here).map(narrow));
        let right = self.entries.len();
        self.entries.extend(row.filter(|&(column, _)| column > here).map(narrow));
        self.rows.push(Row { first, right, end: self.entries.len(), diagonal: 1.0 - own });
    }

    /// Improves `x` until no equation is wrong by more than `tolerance` or than rounding allows; returns by how much
    /// one still is.
    pub(super) fn solve(&self, c: &[f64], x: &mut [f64], tolerance: f64) -> f64 {
        let mut residual = vec![0.0; x.len()];
        let mut wrong = self.residual(c, x, &mut residual);
        let mut fruitless = 0;
        while wrong > tolerance.max(rounding(c, x)) && fruitless < FRUITLESS {
            let mut next = x.to_vec();
            self.krylov(&mut next, &residual, tolerance / 2.0);
            let mut left = self.residual(c, &next, &mut residual);
            if left < wrong {
                x.copy_from_slice(&next);
            } else {
                // BiCGSTAB broke down. Sweeps come nearer, even where the largest residual does not tell.
                (0..SWEEPS).for_each(|_| self.sweep(c, x));
                left = self.residual(c, x, &mut residual);
            }
            fruitless = if left <= wrong / 2.0 { 0 } else { fruitless + 1 };
            wrong = left;
        }
        wrong
    }

    /// residual = c + A x − x; returns its largest absolute entry, NaN if there is one.
    fn residual(&self, c: &[f64], x: &[f64], residual: &mut [f64]) -> f64 {
        let mut largest = 0.0_f64;
        for ((row, r), (c, x_own)) in self.rows.iter().zip(residual).zip(c.iter().zip(x)) {
            *r = c + dot(&self.entries[row.first..row.end], x) - row.diagonal * x_own;
            if r.is_nan() {
                return f64::NAN;
            }
            largest = largest.max(r.abs());
        }
        largest
    }

    /// Two Gauss–Seidel sweeps, first row first and then last row first.
    fn sweep(&self, c: &[f64], x: &mut [f64]) {
        let rows = || self.rows.iter().enumerate();
        for (index, row) in rows().chain(rows().rev()) {
            x[index] = (c[index] + dot(&self.entries[row.first..row.end], x)) / row.diagonal;
        }
    }

    /// What a sweep that starts from 0 makes of `c`: M⁻¹ c, M being the part of I − A up to its diagonal.
    fn precondition(&self, c: &[f64], x: &mut [f64]) {
        for (index, row) in self.rows.iter().enumerate() {
            x[index] = (c[index] + dot(&self.entries[row.first..row.right], x)) / row.diagonal;
        }
    }

    /// (I − A) M⁻¹ y, given y and x = M⁻¹ y: only the part right of the diagonal is left to do.
    fn apply(&self, y: &[f64], x: &[f64], out: &mut [f64]) {
        for ((row, y), out) in self.rows.iter().zip(y).zip(out) {
            *out = y - dot(&self.entries[row.right..row.end], x);
        }
    }

    /// BiCGSTAB from `x`, whose residual is given, until it believes to be within the tolerance or breaks down.
    fn krylov(&self, x: &mut [f64], residual: &[f64], tolerance: f64) {
        let n = x.len();
        let zeros = || vec![0.0; n];
        let (mut r, mut p, mut v, mut t) = (residual.to_vec(), zeros(), zeros(), zeros());
        let (mut y, mut z) = (zeros(), zeros());
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        let start = size(&r);
        let (mut least, mut reached) = (start, 0);
        for step in 0..STEPS {
            let rho_before = std::mem::replace(&mut rho, product(residual, &r));
            let beta = rho / rho_before * (alpha / omega);
            for ((p, r), v) in p.iter_mut().zip(&r).zip(&v) {
                *p = r + beta * (*p - omega * v);
            }
            self.precondition(&p, &mut y);
            self.apply(&p, &y, &mut v);
            alpha = rho / product(residual, &v);
            if !alpha.is_finite() {
                return;
            }
            add(x, alpha, &y);
            add(&mut r, -alpha, &v);
            if size(&r) <= tolerance {
                return;
            }
            self.precondition(&r, &mut z);
            self.apply(&r, &z, &mut t);
            omega = product(&t, &r) / product(&t, &t);
            if !omega.is_finite() || omega == 0.0 {
                return;
            }
            add(x, omega, &z);
            add(&mut r, -omega, &t);
            let left = size(&r);
            // It may grow for a while, but not without end. Fourteen digits are all that one start can bring.
            if left <= tolerance.max(1e-14 * start) || left > 1e6 * start || step > reached + PATIENCE {
                return;
            }
            if left <= least / 2.0 {
                (least, reached) = (left, step);
            }
        }
    }
}

/// The residual that rounding alone leaves.
fn rounding(c: &[f64], x: &[f64]) -> f64 {
    4.0 * f64::EPSILON * (size(c) + size(x))
}

#[inline]
fn dot(entries: &[(u32, f64)], x: &[f64]) -> f64 {
    entries.iter().map(|&(column, entry)| entry * x[column as usize]).sum()
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
}

/// The largest absolute entry.
fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[Vec<(usize, f64)>]) -> Sparse {
        let mut matrix = Sparse::default();
        rows.iter().for_each(|row| matrix.push(row.iter().copied()));
        matrix
    }

    #[test]
    fn what_comes_in_order_is_solved_at_once() {
        // x0 = 1 + x0 / 2, x1 = x0, x2 = 1 + x0 + x1.
        let a = matrix(&[vec![(0, 0.5)], vec![(0, 1.0)], vec![(0, 1.0), (1, 1.0)]]);
        let mut x = [0.0; 3];
        assert_eq!(a.solve(&[1.0, 0.0, 1.0], &mut x, 0.0), 0.0);
        assert_eq!(x, [2.0, 2.0, 5.0]);
    }

    /// A walk to and fro that forgets γ a step: sweeps alone would need a hundred thousand.
    #[test]
    fn diffusion_is_fast() {
        let (n, gamma) = (1_000, 0.9999);
        let step = |i: usize| vec![(i.max(1) - 1, gamma / 2.0), ((i + 1).min(n - 1), gamma / 2.0)];
        let a = matrix(&(0..n).map(step).collect::<Vec<_>>());
        let c: Vec<f64> = (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let mut x = vec![0.0; n];
        let wrong = a.solve(&c, &mut x, 1e-14);
        assert!(wrong <= 1e-13, "{wrong}");
        // The sum of all equations: Σ x = Σ c + γ Σ x.
        assert!((x.iter().sum::<f64>() * (1.0 - gamma) - 1.0).abs() < 1e-9);
    }
}
