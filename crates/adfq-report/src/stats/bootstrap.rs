//! Confidence intervals by the percentile bootstrap (Efron and Tibshirani 1993, ch. 13).

use super::{Estimate, Interval, mean, sorted_quantile};
use crate::{Error, Result};
use rand::{Rng, RngExt};

/// How to bootstrap: the number of resamples and the confidence level.
///
/// Every method takes the generator to draw from; the same stream gives the same interval, bit for bit.
///
/// ```
/// use rand::SeedableRng;
/// use adfq_report::stats::{Bootstrap, median};
///
/// let returns = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
/// let interval = |seed| {
///     Bootstrap::default().estimate(&returns, median, &mut rand_chacha::ChaCha8Rng::seed_from_u64(seed))
/// };
/// let estimate = interval(7)?;
/// assert_eq!(estimate.value, 3.5);
/// assert!(estimate.interval.contains(3.5) && !estimate.interval.contains(9.0));
/// assert_eq!(estimate, interval(7)?);
/// # Ok::<(), adfq_report::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    resamples: usize,
    level: f64,
}

impl Default for Bootstrap {
    /// 10 000 resamples, 95 %: the ends then move by about a hundredth of the interval's width between seeds.
    fn default() -> Self {
        Self { resamples: 10_000, level: 0.95 }
    }
}

impl Bootstrap {
    /// A bootstrap with so many resamples, for intervals at this level, which lies between 0 and 1.
    ///
    /// ```
    /// use adfq_report::stats::Bootstrap;
    ///
    /// assert!(Bootstrap::new(2000, 0.9).is_ok());
    /// assert!(Bootstrap::new(2000, 95.0).is_err());
    /// ```
    pub fn new(resamples: usize, level: f64) -> Result<Self> {
        if resamples == 0 {
            return Err(Error::Resamples(resamples));
        }
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Level(level));
        }
        Ok(Self { resamples, level })
    }

    /// A statistic of one sample and its interval.
    pub fn estimate<R: Rng + ?Sized>(
        &self,
        values: &[f64],
        statistic: impl Fn(&[f64]) -> f64,
        rng: &mut R,
    ) -> Result<Estimate> {
        check("a bootstrap interval", values)?;
        let mut resample = values.to_vec();
        Ok(self.percentiles(statistic(values), || {
            draw(values, &mut resample, rng);
            statistic(&resample)
        }))
    }

    /// The mean of `a[i] − b[i]` and its interval, where trial i of `a` and of `b` share their circumstances.
    ///
    /// ```
    /// use rand::SeedableRng;
    /// use adfq_report::stats::Bootstrap;
    ///
    /// let (a, b) = ([1.0, 5.0, 9.0], [2.0, 6.0, 10.0]);
    /// let difference = Bootstrap::default().paired(&a, &b, &mut rand_chacha::ChaCha8Rng::seed_from_u64(7))?;
    /// assert_eq!((difference.interval.low, difference.value, difference.interval.high), (-1.0, -1.0, -1.0));
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn paired<R: Rng + ?Sized>(&self, a: &[f64], b: &[f64], rng: &mut R) -> Result<Estimate> {
        if a.len() != b.len() {
            return Err(Error::Unpaired(a.len(), b.len()));
        }
        check("a paired difference", a)?;
        check("a paired difference", b)?;
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        self.estimate(&differences, mean, rng)
    }

    /// The ratio mean(a)/mean(b) and its interval, where trial i of `a` and of `b` share their circumstances, so that
    /// both are drawn together.
    ///
    /// ```
    /// use rand::SeedableRng;
    /// use adfq_report::stats::Bootstrap;
    ///
    /// let (a, b) = ([1.0, 5.0, 9.0], [2.0, 10.0, 18.0]);
    /// let ratio = Bootstrap::default().ratio(&a, &b, &mut rand_chacha::ChaCha8Rng::seed_from_u64(7))?;
    /// assert_eq!((ratio.interval.low, ratio.value, ratio.interval.high), (0.5, 0.5, 0.5));
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn ratio<R: Rng + ?Sized>(&self, a: &[f64], b: &[f64], rng: &mut R) -> Result<Estimate> {
        if a.len() != b.len() {
            return Err(Error::Unpaired(a.len(), b.len()));
        }
        check("a ratio of means", a)?;
        check("a ratio of means", b)?;
        Ok(self.percentiles(mean(a) / mean(b), || {
            let (mut above, mut below) = (0.0, 0.0);
            for _ in 0..a.len() {
                let trial = rng.random_range(0..a.len());
                above += a[trial];
                below += b[trial];
            }
            above / below
        }))
    }

    /// A statistic over several strata (tasks), each of them resampled on its own, so that every resample holds as
    /// many trials of each task as the data (Agarwal et al. 2021).
    ///
    /// ```
    /// use rand::SeedableRng;
    /// use adfq_report::stats::{Bootstrap, iqm};
    ///
    /// let tasks = [vec![0.1, 0.2, 0.3], vec![0.8, 0.9, 1.0]];
    /// let score = Bootstrap::default().stratified(&tasks, |s| iqm(&s.concat()), &mut rand_chacha::ChaCha8Rng::seed_from_u64(7))?;
    /// assert!((score.value - 0.55).abs() < 1e-12);
    /// // Both tasks take part in every resample, so the interval stays near the middle.
    /// assert!(score.interval.low > 0.4 && score.interval.high < 0.7);
    /// # Ok::<(), adfq_report::Error>(())
    /// ```
    pub fn stratified<R: Rng + ?Sized>(
        &self,
        strata: &[Vec<f64>],
        statistic: impl Fn(&[Vec<f64>]) -> f64,
        rng: &mut R,
    ) -> Result<Estimate> {
        if strata.is_empty() {
            return Err(Error::EmptySample("a stratified bootstrap"));
        }
        strata.iter().try_for_each(|stratum| check("each stratum of a stratified bootstrap", stratum))?;
        let mut resample = strata.to_vec();
        Ok(self.percentiles(statistic(strata), || {
            strata.iter().zip(&mut resample).for_each(|(stratum, into)| draw(stratum, into, rng));
            statistic(&resample)
        }))
    }

    /// The percentile interval of what `resampled` returns.
    fn percentiles(&self, value: f64, mut resampled: impl FnMut() -> f64) -> Estimate {
        let mut replicates: Vec<f64> = (0..self.resamples).map(|_| resampled()).collect();
        replicates.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.level) / 2.0;
        let end = |p| sorted_quantile(&replicates, p);
        Estimate { value, interval: Interval { low: end(tail), high: end(1.0 - tail) } }
    }
}

/// Refuses samples without values or with values that are not numbers.
fn check(what: &'static str, values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::EmptySample(what));
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::Sample { index, value: values[index] }),
        None => Ok(()),
    }
}

/// Fills `into` with draws from `values`, with replacement.
fn draw<R: Rng + ?Sized>(values: &[f64], into: &mut [f64], rng: &mut R) {
    into.fill_with(|| values[rng.random_range(0..values.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn rng(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// For a mean the bootstrap distribution is nearly normal with variance s²(n−1)/n².
    #[test]
    fn interval_of_a_mean_is_the_normal_one() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let estimate = Bootstrap::default().estimate(&values, mean, &mut rng(1)).unwrap();
        let half_width = 1.96 * ((200.0_f64 * 200.0 - 1.0) / 12.0 / 200.0).sqrt();
        assert_eq!(estimate.value, 99.5);
        assert!((estimate.interval.low - (99.5 - half_width)).abs() < 0.4, "{estimate:?}");
        assert!((estimate.interval.high - (99.5 + half_width)).abs() < 0.4, "{estimate:?}");
    }

    /// Of two values a resample of two has mean 0, ½, 1 with probability ¼, ½, ¼.
    #[test]
    fn interval_of_two_values_is_exact() {
        let interval = |level| {
            let bootstrap = Bootstrap::new(4000, level).unwrap();
            bootstrap.estimate(&[0.0, 1.0], mean, &mut rng(1)).unwrap().interval
        };
        assert_eq!(interval(0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(interval(0.3), Interval { low: 0.5, high: 0.5 });
    }

    /// The nominal 95 % is met by samples of size 30 within what 400 repetitions can show.
    #[test]
    fn paired_intervals_cover_the_truth() {
        let mut rng = rng(2);
        let bootstrap = Bootstrap::new(500, 0.95).unwrap();
        let covered = (0..400)
            .filter(|_| {
                let a: Vec<f64> = (0..30).map(|_| 3.0 + rng.random_range(-1.0..1.0)).collect();
                let b: Vec<f64> = (0..30).map(|_| 2.5 + rng.random_range(-1.0..1.0)).collect();
                bootstrap.paired(&a, &b, &mut rng).unwrap().interval.contains(0.5)
            })
            .count();
        assert!((364..=392).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn strata_do_not_mix() {
        let strata = [vec![0.0; 5], vec![10.0; 3]];
        let estimate = Bootstrap::default()
            .stratified(&strata, |s| s[0].iter().sum::<f64>() + s[1].len() as f64 + s[1][0], &mut rng(1))
            .unwrap();
        assert_eq!(estimate, Estimate { value: 13.0, interval: Interval { low: 13.0, high: 13.0 } });
    }

    #[test]
    fn samples_that_cannot_be_used_are_named() {
        let bootstrap = Bootstrap::default();
        let rng = &mut rng(1);
        let message = |result: Result<Estimate>| result.unwrap_err().to_string();
        assert!(message(bootstrap.estimate(&[], mean, rng)).contains("is empty"));
        assert!(
            message(bootstrap.estimate(&[1.0, f64::NAN], mean, rng))
                .starts_with("value 1 of the sample is NaN")
        );
        assert!(message(bootstrap.paired(&[1.0], &[1.0, 2.0], rng)).contains("1 and 2 values"));
        assert!(message(bootstrap.stratified(&[], |_| 0.0, rng)).contains("is empty"));
        assert!(Bootstrap::new(10, f64::NAN).is_err());
    }
}
