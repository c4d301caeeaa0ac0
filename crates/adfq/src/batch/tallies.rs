//! Many split updates at once: the tallies of B pairs, one behind the other, in columns.

use super::{CHUNK, Column};
use crate::update::split::{SplitBelief, SplitPrior, Target, update};
use crate::{Error, Result};
use rayon::prelude::*;

/// The outcomes of B pairs: those of pair i are `starts[i]..starts[i + 1]` of the other columns.
///
/// ```
/// use adfq::Belief;
/// use adfq::batch::{Column, Tallies};
/// use adfq::update::split::SplitPrior;
///
/// // A pair with two outcomes, one never tried, and one with a single outcome.
/// let tallies = Tallies {
///     starts: &[0, 2, 2, 3],
///     count: &[1.0, 3.0, 10.0],
///     mean: &[0.0, 4.0, 5.0],
///     scatter: Column::All(0.0),
///     var: &[0.0, 1.0, 0.5],
///     echo: Column::All(0.0),
/// };
/// let prior = SplitPrior { belief: Belief::new(0.0, 1e6)?, noise: 1e-6 };
/// let beliefs = tallies.update(&prior)?;
/// assert!((beliefs[0].mean - 3.0).abs() < 1e-4 && beliefs[1].var() == 1e6 && (beliefs[2].var() - 0.5).abs() < 1e-4);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tallies<'a> {
    /// Where the outcomes of each pair start, and the number of all outcomes at the end: B + 1 rising numbers.
    pub starts: &'a [usize],
    /// Counts n_j.
    pub count: &'a [f64],
    /// Means T_j.
    pub mean: &'a [f64],
    /// Scatters R_j of the rewards, one for each outcome or one for all.
    pub scatter: Column<'a, f64>,
    /// Variances t_j.
    pub var: &'a [f64],
    /// Echoes ρ, one for each pair or one for all.
    pub echo: Column<'a, f64>,
}

impl Tallies<'_> {
    /// The beliefs of all pairs, the same bits at any number of threads. The error names the first invalid pair.
    pub fn update(&self, prior: &SplitPrior) -> Result<Vec<SplitBelief>> {
        self.check_shape()?;
        let pairs = self.starts.len().saturating_sub(1);
        if pairs <= CHUNK {
            return (0..pairs).map(|pair| self.update_pair(prior, pair)).collect();
        }
        // Of several errors the one at the lowest index is reported, so all are collected before one is looked for.
        let found: Vec<_> = (0..pairs)
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|pair| self.update_pair(prior, pair))
            .collect();
        found.into_iter().collect()
    }

    fn update_pair(&self, prior: &SplitPrior, index: usize) -> Result<SplitBelief> {
        let outcomes = self.starts[index]..self.starts[index + 1];
        let tally = outcomes.map(|j| Target {
            count: self.count[j],
            mean: self.mean[j],
            scatter: self.scatter.at(j),
            var: self.var[j],
        });
        update(prior, tally, self.echo.at(index))
            .map_err(|source| Error::InBatch { index, source: Box::new(source) })
    }

    fn check_shape(&self) -> Result<()> {
        let pairs = self.starts.len().saturating_sub(1);
        let (first, outcomes) = (self.starts.first().copied(), self.starts.last().copied());
        let (first, outcomes) = (first.unwrap_or(0), outcomes.unwrap_or(0));
        let falls = self.starts.windows(2).position(|two| two[1] < two[0]);
        for (column, needed, found) in [
            ("starts", 0, first),
            ("starts", 0, falls.map_or(0, |pair| self.starts[pair])),
            ("count", outcomes, self.count.len()),
            ("mean", outcomes, self.mean.len()),
            ("scatter", outcomes, self.scatter.len_or(outcomes)),
            ("var", outcomes, self.var.len()),
            ("echo", pairs, self.echo.len_or(pairs)),
        ] {
            if needed != found {
                return Err(Error::BatchShape { column, expected: pairs, needed, found });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Belief;

    fn prior() -> SplitPrior {
        SplitPrior { belief: Belief::new(1.0, 9.0).unwrap(), noise: 0.1 }
    }

    /// More pairs than a chunk holds, with 0 to 4 outcomes each.
    #[test]
    fn a_batch_is_what_its_pairs_are() {
        let sizes: Vec<usize> = (0..3 * CHUNK + 5).map(|i| i % 5).collect();
        let starts: Vec<usize> = std::iter::once(0)
            .chain(sizes.iter().scan(0, |sum, size| {
                *sum += size;
                Some(*sum)
            }))
            .collect();
        let column = |f: fn(f64) -> f64| (0..starts[sizes.len()]).map(|j| f(j as f64)).collect::<Vec<f64>>();
        let (count, mean) = (column(|j| 1.0 + j % 7.0), column(|j| (j * 0.7).sin()));
        let var = column(|j| (j * 0.3).cos().abs());
        let echo: Vec<f64> = (0..sizes.len()).map(|i| 0.9 / (1.0 + i as f64)).collect();
        let tallies = Tallies {
            starts: &starts,
            count: &count,
            mean: &mean,
            scatter: Column::Each(&var),
            var: &var,
            echo: Column::Each(&echo),
        };
        let found = tallies.update(&prior()).unwrap();
        for (i, belief) in found.iter().enumerate() {
            let tally = (starts[i]..starts[i + 1]).map(|j| Target {
                count: count[j],
                mean: mean[j],
                scatter: var[j],
                var: var[j],
            });
            assert_eq!(*belief, update(&prior(), tally, echo[i]).unwrap(), "pair {i}");
        }
        assert_eq!(found.len(), sizes.len());
    }

    #[test]
    fn errors_name_the_column_or_the_pair() {
        let fine = Tallies {
            starts: &[0, 1, 2],
            count: &[1.0, 1.0],
            mean: &[0.0, f64::NAN],
            scatter: Column::All(0.0),
            var: &[0.0, 0.0],
            echo: Column::All(0.5),
        };
        assert!(matches!(fine.update(&prior()), Err(Error::InBatch { index: 1, .. })));
        for (bad, name) in [
            (Tallies { starts: &[0, 2, 1], ..fine }, "starts"),
            (Tallies { starts: &[1, 2, 2], ..fine }, "starts"),
            (Tallies { mean: &[0.0], ..fine }, "mean"),
            (Tallies { echo: Column::Each(&[0.5]), ..fine }, "echo"),
        ] {
            let error = bad.update(&prior());
            assert!(matches!(error, Err(Error::BatchShape { column, .. }) if column == name), "{error:?}");
        }
        assert_eq!(
            Tallies { starts: &[], count: &[], mean: &[], var: &[], ..fine }.update(&prior()),
            Ok(vec![])
        );
    }
}
