//! Counts on the command line: `100000` or `1e5`, for steps, episodes and environments.

/// The largest whole number up to which every whole number has a floating-point value of its own.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// A whole number from 1 on. The notation of floating-point numbers is taken too, if the number is whole.
pub fn parse(text: &str) -> Result<u64, String> {
    let count = text.parse().or_else(|_| whole(text))?;
    if count >= 1 { Ok(count) } else { Err(format!("{text} is not in 1..")) }
}

/// The same for what is counted in memory.
pub fn parse_usize(text: &str) -> Result<usize, String> {
    usize::try_from(parse(text)?).map_err(|_| format!("{text} is too large"))
}

fn whole(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a whole number, such as 100000 or 1e5");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    match number.fract() == 0.0 && number.abs() <= EXACT {
        // A negative number becomes 0, which the caller refuses.
        true => Ok(number as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_in_either_notation() {
        for (text, count) in [("7", 7), ("1e5", 100_000), ("1.5e3", 1_500), ("2E2", 200), ("3.0", 3)] {
            assert_eq!(parse(text), Ok(count), "{text}");
        }
        assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "1.5", "1e-1", "1e17", "inf", "nan", "many", "1e5x"] {
            assert!(parse(text).unwrap_err().contains("is not a whole number"), "{text}");
        }
        for text in ["0", "0e3", "-3", "-1e5"] {
            assert_eq!(parse(text).unwrap_err(), format!("{text} is not in 1.."));
        }
    }
}
