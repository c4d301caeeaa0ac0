//! Numbers for readers: few digits, a proper minus, the same decimals within an interval.

use crate::plot::ticks::power_of_ten;
use crate::stats::Interval;

/// A number to four significant digits, without idle zeros.
pub fn short(x: f64) -> String {
    if !is_plain(x) {
        return scientific(x);
    }
    let fixed = format!("{x:.*}", decimals(x, 4));
    let trimmed =
        if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.') } else { &fixed };
    minus(trimmed)
}

/// A difference and its interval: `−0.512 [−0.61, −0.43]`, all with the decimals that the largest of them needs. A
/// number without uncertainty stands alone.
pub fn with_interval(value: f64, interval: Interval) -> String {
    if interval.low == value && interval.high == value {
        return short(value);
    }
    let all = [value, interval.low, interval.high];
    let largest = all.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let [value, low, high] = if is_plain(largest) && all.iter().all(|x| x.is_finite()) {
        all.map(|x| minus(&format!("{:.*}", decimals(largest, 3), x + 0.0)))
    } else {
        all.map(short)
    };
    format!("{value} [{low}, {high}]")
}

/// Whether fixed notation suits the number.
fn is_plain(x: f64) -> bool {
    x == 0.0 || (1e-3..1e6).contains(&x.abs())
}

/// How many decimals show so many significant digits of `x`.
fn decimals(x: f64, digits: i32) -> usize {
    let leading = if x == 0.0 { 0 } else { libm::floor(libm::log10(x.abs())) as i32 };
    usize::try_from(digits - 1 - leading).unwrap_or(0)
}

fn scientific(x: f64) -> String {
    let text = format!("{x:.2e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            format!("{}×{}", minus(mantissa), power_of_ten(exponent.parse().unwrap_or(0)))
        }
        None => minus(&text),
    }
}

fn minus(text: &str) -> String {
    text.replace('-', "−").replace("inf", "∞")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown =
            [0.0, 1.0, -0.5, 0.123456, 1234.5678, 123456.0, 1e-9, -2.5e7, f64::NAN, f64::NEG_INFINITY]
                .map(short);
        assert_eq!(
            shown,
            ["0", "1", "−0.5", "0.1235", "1235", "123456", "1.00×10⁻⁹", "−2.50×10⁷", "NaN", "−∞"]
        );
    }

    #[test]
    fn intervals_share_their_decimals() {
        let interval = |low, high| Interval { low, high };
        assert_eq!(with_interval(-0.5123, interval(-0.61, -0.4)), "−0.512 [−0.610, −0.400]");
        assert_eq!(with_interval(0.01, interval(-0.02, 12.0)), "0.0 [−0.0, 12.0]");
        assert_eq!(with_interval(0.0, interval(0.0, 0.0)), "0");
        assert_eq!(with_interval(-2.25, interval(-2.25, -2.25)), "−2.25");
        assert_eq!(with_interval(1e-5, interval(-1e-5, 3e-5)), "1.00×10⁻⁵ [−1.00×10⁻⁵, 3.00×10⁻⁵]");
        assert_eq!(with_interval(f64::NAN, interval(0.0, 1.0)), "NaN [0, 1]");
    }
}
