//! Numbers in a column: as many decimals as its largest value needs.

/// How many decimals show four significant digits of the largest of these values.
pub(super) fn decimals<'a>(values: impl IntoIterator<Item = &'a f64>) -> usize {
    let largest = values.into_iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let leading = if largest > 0.0 { libm::floor(libm::log10(largest)) } else { 0.0 };
    (3.0 - leading).clamp(0.0, 9.0) as usize
}

/// A value with these decimals; one that would show as 0 without being it gets an exponent.
pub(super) fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    match text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) || x == 0.0 {
        true => text,
        false => format!("{x:.0e}"),
    }
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A probability to two decimals, in which "almost 0" and "almost 1" do not look certain.
pub(super) fn chance(p: f64) -> String {
    match p {
        p if p > 0.0 && p < 0.005 => "<.01".into(),
        p if p < 1.0 && p > 0.995 => ">.99".into(),
        p => format!("{p:.2}").trim_start_matches('0').into(),
    }
}

/// A count with its thousands apart.
pub(crate) fn count(n: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
