//! Numbers for readers, and columns of text for a terminal.
//!
//! In reports and plots a minus is "−" and small numbers are powers of ten ([`short`], [`with_interval`]). In a terminal
//! all numbers of a column have the same decimals ([`decimals`], [`fixed`], [`align`]).

use crate::plot::power_of_ten;
use crate::stats::Interval;

/// A number to four significant digits, without trailing zeros.
pub fn short(x: f64) -> String {
    if !is_plain(x) {
        return scientific(x);
    }
    let fixed = format!("{x:.*}", places(x, 4));
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
        all.map(|x| minus(&format!("{:.*}", places(largest, 3), x + 0.0)))
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
fn places(x: f64, digits: i32) -> usize {
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

/// How many decimals show four significant digits of the largest of these values.
pub fn decimals<'a>(values: impl IntoIterator<Item = &'a f64>) -> usize {
    let largest = values.into_iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    places(largest, 4).min(9)
}

/// A value with these decimals; one that would show as 0 without being it gets an exponent.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) || x == 0.0 {
        true => text,
        false => format!("{x:.0e}"),
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A probability to two decimals, in which "almost 0" and "almost 1" do not look certain.
pub fn chance(p: f64) -> String {
    match p {
        p if p > 0.0 && p < 0.005 => "<.01".into(),
        p if p < 1.0 && p > 0.995 => ">.99".into(),
        p => format!("{p:.2}").trim_start_matches('0').into(),
    }
}

/// A count with its thousands apart.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Lines from a header and rows of the same length. The first column is flush left, the others flush right.
pub fn align(header: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let width = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..header.len())
        .map(|column| rows.iter().chain([&header]).map(|row| width(row, column)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in [&header].into_iter().chain(&rows) {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line += &format!("{cell:<width$}"),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
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

    #[test]
    fn numbers_fit_their_column() {
        assert_eq!(decimals(&[0.001, 7.2]), 3);
        assert_eq!(decimals(&[162.9]), 1);
        assert_eq!(decimals(&[0.0]), 3);
        assert_eq!(decimals(&[0.02]), 5);
        assert_eq!([fixed(1.0 / 3.0, 3), fixed(0.0, 3), fixed(-2e-5, 3)], ["0.333", "0.000", "-2e-5"]);
    }

    #[test]
    fn chances_are_honest_about_the_ends() {
        assert_eq!([0.0, 1e-9, 0.25, 0.999, 1.0].map(chance), [".00", "<.01", ".25", ">.99", "1.00"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(
            [0, 999, 1_000, 31_680, 1_234_567].map(count),
            ["0", "999", "1,000", "31,680", "1,234,567"]
        );
    }

    #[test]
    fn columns_line_up_by_character() {
        let row = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let text = align(row(&["state", "a"]), vec![row(&["0", "1 ± 2"]), row(&["längere", "3"])]);
        assert_eq!(text, "state        a\n0        1 ± 2\nlängere      3\n");
    }
}
