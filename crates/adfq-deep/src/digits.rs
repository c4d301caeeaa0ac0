//! Numbers for people.

use std::fmt::{Display, Formatter, Result};

/// A number with as many digits as say something.
///
/// ```
/// use adfq_deep::Digits;
///
/// let shown = |number: f64| Digits(number).to_string();
/// assert_eq!([3_599.009, 195.34, 0.99, -0.0].map(shown), ["3,599", "195.3", "0.99", "0"]);
/// assert_eq!([-0.04, 0.000_12, -1_234_567.8, f64::NAN].map(shown), ["-0.04", "1.2e-4", "-1,234,568", "?"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digits(pub f64);

impl Display for Digits {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = match self.0.abs() {
            size if size.is_nan() => "?".to_owned(),
            size if size.is_infinite() => self.0.to_string(),
            0.0 => "0".to_owned(),
            size if size >= 999.95 => whole(self.0),
            size if size >= 9.995 => format!("{:.1}", self.0),
            size if size >= 0.01 => format!("{:.2}", self.0),
            _ => format!("{:.1e}", self.0),
        };
        f.pad(&text)
    }
}

/// Without a fraction, and with a comma at every thousand.
fn whole(number: f64) -> String {
    let text = format!("{:.0}", number.abs());
    let groups: Vec<&str> =
        text.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    format!("{}{}", if number < 0.0 { "-" } else { "" }, groups.join(","))
}
