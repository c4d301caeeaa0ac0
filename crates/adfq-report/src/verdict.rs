//! What the data say about a claim: it holds, it does not, or they cannot tell.

use crate::stats::{Estimate, Interval};
use crate::table::Table;
use std::fmt;

/// Which side of zero a claim puts the difference A − B on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The claim is A < B.
    Less,
    /// The claim is A > B.
    Greater,
}

/// The answer to a claim.
///
/// ```
/// use adfq_report::stats::Interval;
/// use adfq_report::verdict::{Direction, Verdict};
///
/// let interval = Interval { low: -0.4, high: -0.1 };
/// assert_eq!(Verdict::of(interval, Direction::Less), Verdict::Holds);
/// assert_eq!(Verdict::of(interval, Direction::Greater), Verdict::DoesNotHold);
/// assert_eq!(Verdict::of(Interval { low: -0.4, high: 0.1 }, Direction::Less), Verdict::NotDecided);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies on the claimed side.
    Holds,
    /// The whole interval lies on the other side.
    DoesNotHold,
    /// The interval reaches zero: these trials cannot tell.
    NotDecided,
}

impl Verdict {
    /// Reads off on which side of zero the interval of A − B lies. An interval that touches zero decides nothing,
    /// and neither does one with a NaN.
    pub fn of(interval: Interval, claimed: Direction) -> Self {
        let (less, greater) = match claimed {
            Direction::Less => (Self::Holds, Self::DoesNotHold),
            Direction::Greater => (Self::DoesNotHold, Self::Holds),
        };
        if interval.low <= interval.high && interval.high < 0.0 {
            less
        } else if interval.low <= interval.high && interval.low > 0.0 {
            greater
        } else {
            Self::NotDecided
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::NotDecided => "not decided",
        })
    }
}

/// A claim about a difference between two methods, with the evidence and the verdict.
///
/// ```
/// use rand::SeedableRng;
/// use adfq_report::stats::Bootstrap;
/// use adfq_report::verdict::{Claim, Direction, Verdict};
///
/// let (adfq, q_learning) = ([0.5, 0.6, 0.4, 0.7], [1.5, 1.4, 1.6, 1.8]);
/// let difference = Bootstrap::default().paired(&adfq, &q_learning, &mut rand_chacha::ChaCha8Rng::seed_from_u64(7))?;
/// let claim = Claim::new("ADFQ errs less than Q-learning", "RMSE, ADFQ − Q-learning", Direction::Less, difference);
/// assert_eq!(claim.verdict, Verdict::Holds);
/// # Ok::<(), adfq_report::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim in words.
    pub text: String,
    /// What is subtracted from what.
    pub comparison: String,
    /// Which side is claimed.
    pub direction: Direction,
    /// The estimated difference.
    pub difference: f64,
    /// Its confidence interval.
    pub interval: Interval,
    /// The verdict of the interval.
    pub verdict: Verdict,
}

impl Claim {
    /// The claim that the difference lies on the side of `direction`, judged by its estimate.
    pub fn new(
        text: impl Into<String>,
        comparison: impl Into<String>,
        direction: Direction,
        difference: Estimate,
    ) -> Self {
        let Estimate { value, interval } = difference;
        let verdict = Verdict::of(interval, direction);
        Self {
            text: text.into(),
            comparison: comparison.into(),
            direction,
            difference: value,
            interval,
            verdict,
        }
    }

    /// The claims as a table, a row each.
    pub fn table(claims: &[Self]) -> Table {
        let columns = ["claim", "comparison", "claimed", "difference", "low", "high", "verdict"];
        let row = |claim: &Self| {
            let claimed = match claim.direction {
                Direction::Less => "less",
                Direction::Greater => "greater",
            };
            let Interval { low, high } = claim.interval;
            [
                claim.text.as_str().into(),
                claim.comparison.as_str().into(),
                claimed.into(),
                claim.difference.into(),
                low.into(),
                high.into(),
                claim.verdict.to_string().into(),
            ]
        };
        Table::of(columns, claims.iter().map(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, high: f64) -> [Verdict; 2] {
        [Direction::Less, Direction::Greater].map(|claimed| Verdict::of(Interval { low, high }, claimed))
    }

    #[test]
    fn the_side_of_the_interval_decides() {
        use Verdict::{DoesNotHold, Holds, NotDecided};
        assert_eq!(verdict(-2.0, -1.0), [Holds, DoesNotHold]);
        assert_eq!(verdict(1.0, 2.0), [DoesNotHold, Holds]);
        assert_eq!(verdict(-1.0, 1.0), [NotDecided, NotDecided]);
    }

    #[test]
    fn touching_zero_or_nan_decides_nothing() {
        for (low, high) in
            [(-1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (f64::NAN, -1.0), (1.0, f64::NAN), (2.0, 1.0)]
        {
            assert_eq!(verdict(low, high), [Verdict::NotDecided; 2], "[{low}, {high}]");
        }
    }

    #[test]
    fn claims_are_a_table() {
        let estimate = Estimate { value: 0.5, interval: Interval { low: 0.25, high: 0.75 } };
        let claim = Claim::new("A beats B", "return, A − B", Direction::Greater, estimate);
        let csv = "claim,comparison,claimed,difference,low,high,verdict\n\
                   A beats B,\"return, A − B\",greater,0.5,0.25,0.75,holds\n";
        assert_eq!(Claim::table(&[claim]).csv(), csv);
    }
}
