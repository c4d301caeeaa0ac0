//! Dense linear equations: LU factorisation with partial pivoting.

/// Solves A x = b in place of `b`, where `a` holds the rows of A one after another. A must not be singular.
pub(super) fn solve(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    debug_assert_eq!(a.len(), n * n);
    for column in 0..n {
        let pivot = (column..n).fold(column, |best, row| {
            if a[row * n + column].abs() > a[best * n + column].abs() { row } else { best }
        });
        swap_rows(a, n, column, pivot);
        b.swap(column, pivot);

        let (above, below) = a.split_at_mut((column + 1) * n);
        let head = &above[column * n + column..];
        let known = b[column];
        for (row, value) in below.chunks_exact_mut(n).zip(&mut b[column + 1..]) {
            let factor = row[column] / head[0];
            // Many entries below the pivot are 0 where states have few successors.
            if factor != 0.0 {
                row[column..].iter_mut().zip(head).for_each(|(x, h)| *x -= factor * h);
                *value -= factor * known;
            }
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|column| a[row * n + column] * b[column]).sum();
        b[row] = (b[row] - known) / a[row * n + row];
    }
}

fn swap_rows(a: &mut [f64], n: usize, i: usize, j: usize) {
    if i != j {
        let (first, second) = a.split_at_mut(i.max(j) * n);
        first[i.min(j) * n..][..n].swap_with_slice(&mut second[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_where_the_first_pivot_is_zero() {
        let mut a = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0, -1.0];
        let mut b = [7.0, 3.0, 0.0];
        solve(&mut a, &mut b);
        for (x, want) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - want).abs() < 1e-15, "{b:?}");
        }
    }
}
