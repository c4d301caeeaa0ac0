//! Where an axis has ticks and what they say: round numbers, few of them, exact.

use super::Scale;

/// A labelled tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it stands.
    pub value: f64,
    /// What it says.
    pub label: String,
}

/// The ticks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    /// Ticks with labels, in increasing order.
    pub major: Vec<Tick>,
    /// Ticks without, on logarithmic axes only.
    pub minor: Vec<f64>,
}

/// Ticks between `low` and `high`, about `target` of them (at least 4 are aimed at).
///
/// Linear steps are 1, 2 or 5 times a power of ten. A logarithmic axis ticks decades, or every second, third, ...
/// of them; one with only two decades ticks 1 and 3, one with fewer 1, 2 and 5, and a very short one is ticked as if
/// it were linear.
/// There are none if the range is empty or not finite.
///
/// ```
/// use adfq_report::plot::{Scale, ticks};
///
/// let labels = |scale, low, high| ticks(scale, low, high, 5).major.into_iter().map(|t| t.label).collect::<Vec<_>>();
/// assert_eq!(labels(Scale::Linear, -0.3, 1.9), ["0.0", "0.5", "1.0", "1.5"]);
/// assert_eq!(labels(Scale::Linear, 0.0, 50_000.0), ["0", "10k", "20k", "30k", "40k", "50k"]);
/// assert_eq!(labels(Scale::Log10, 1e-7, 1e2), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]);
/// assert_eq!(labels(Scale::Log10, 3.0, 30.0), ["5", "10", "20"]);
/// ```
pub fn ticks(scale: Scale, low: f64, high: f64, target: usize) -> Ticks {
    if !(low.is_finite() && high.is_finite() && (high - low).is_finite() && low < high) {
        return Ticks::default();
    }
    let target = target.max(4);
    match scale {
        Scale::Linear => linear(low, high, target),
        Scale::Log10 if low > 0.0 => logarithmic(low, high, target),
        Scale::Log10 => Ticks::default(),
    }
}

fn linear(low: f64, high: f64, target: usize) -> Ticks {
    let (mantissa, exponent) = nice_step((high - low) / target as f64);
    let step = decimal(mantissa, exponent);
    let first = (low / step).ceil() as i128 - 1;
    let last = (high / step).floor() as i128 + 1;
    let values: Vec<f64> = (first..=last)
        .map(|k| decimal(k * mantissa, exponent))
        .filter(|value| (low..=high).contains(value))
        .collect();
    let labels = linear_labels(&values, exponent);
    let major = values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect();
    Ticks { major, minor: Vec::new() }
}

/// Of 1, 2 and 5 times a power of ten the one whose ratio to `raw` is nearest to one, as (mantissa, exponent).
fn nice_step(raw: f64) -> (i128, i32) {
    let exponent = libm::floor(libm::log10(raw)) as i32;
    // In two steps, since 10^exponent itself may be no float.
    let leading = raw / decimal(1, exponent / 2) / decimal(1, exponent - exponent / 2);
    // The borders are the geometric means of neighbours: √2, √10, √50.
    match leading {
        x if x < 1.414 => (1, exponent),
        x if x < 3.162 => (2, exponent),
        x if x < 7.071 => (5, exponent),
        _ => (1, exponent + 1),
    }
}

/// mantissa × 10^exponent, rounded once.
fn decimal(mantissa: i128, exponent: i32) -> f64 {
    format!("{mantissa}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// All labels in one notation, with the decimals that steps of 10^exponent need.
fn linear_labels(values: &[f64], exponent: i32) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let places = |shift: i32| usize::try_from(shift - exponent).unwrap_or(0);
    let fixed = |unit: f64, shift: i32, suffix: &str| {
        values
            .iter()
            .map(|&value| match value {
                0.0 if !suffix.is_empty() => "0".to_owned(),
                _ => minus(format!("{:.*}{suffix}", places(shift), value / unit + 0.0)),
            })
            .collect()
    };
    match largest {
        0.0 => fixed(1.0, 0, ""),
        x if (1e6..1e9).contains(&x) && places(6) <= 2 => fixed(1e6, 6, "M"),
        x if (1e4..1e6).contains(&x) && places(3) <= 2 => fixed(1e3, 3, "k"),
        x if (1e-3..1e9).contains(&x) => fixed(1.0, 0, ""),
        x => {
            let shift = libm::floor(libm::log10(x) + 1e-12) as i32;
            values.iter().map(|&value| scientific(value, shift, places(shift))).collect()
        }
    }
}

fn scientific(value: f64, shift: i32, places: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // In two steps, since 10^shift itself may be no float.
    let scaled = value / decimal(1, shift / 2) / decimal(1, shift - shift / 2);
    minus(format!("{scaled:.places$}×{}", power_of_ten(shift)))
}

fn logarithmic(low: f64, high: f64, target: usize) -> Ticks {
    let within = |value: &f64| (low..=high).contains(value);
    let first = libm::floor(libm::log10(low)) as i32;
    let last = libm::ceil(libm::log10(high)) as i32;
    let decades: Vec<i32> = (first..=last).filter(|&e| within(&decimal(1, e))).collect();
    let parts = |mantissas: &[i128]| -> Vec<(i128, i32)> {
        let all = (first..=last).flat_map(|e| mantissas.iter().map(move |&m| (m, e)));
        all.filter(|&(m, e)| within(&decimal(m, e))).collect()
    };
    let values = |parts: Vec<(i128, i32)>| parts.into_iter().map(|(m, e)| decimal(m, e)).collect();
    if decades.len() < 3 {
        let two = decades.len() == 2;
        let major = parts(if two { &[1, 3] } else { &[1, 2, 5] });
        if major.len() < 3 {
            return linear(low, high, target);
        }
        return Ticks { major: log_labels(&major), minor: values(parts(&[2, 3, 4, 5, 6, 7, 8, 9])) };
    }
    let stride = decades.len().div_ceil(target) as i32;
    let (major, skipped): (Vec<i32>, Vec<i32>) = decades.into_iter().partition(|e| e.rem_euclid(stride) == 0);
    let ones = |exponents: Vec<i32>| exponents.into_iter().map(|e| (1, e)).collect::<Vec<_>>();
    let minor = if stride == 1 { parts(&[2, 3, 4, 5, 6, 7, 8, 9]) } else { ones(skipped) };
    Ticks { major: log_labels(&ones(major)), minor: values(minor) }
}

/// Plain numbers where all of them are short, powers of ten otherwise.
fn log_labels(parts: &[(i128, i32)]) -> Vec<Tick> {
    let short = parts.iter().all(|(_, exponent)| (-3..=3).contains(exponent));
    let label = |mantissa: i128, exponent: i32| match (short, mantissa) {
        (true, _) => format!("{:.*}", usize::try_from(-exponent).unwrap_or(0), decimal(mantissa, exponent)),
        (false, 1) => power_of_ten(exponent),
        (false, _) => format!("{mantissa}×{}", power_of_ten(exponent)),
    };
    parts.iter().map(|&(m, e)| Tick { value: decimal(m, e), label: label(m, e) }).collect()
}

/// 10ⁿ, with the exponent in raised digits.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        digit => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize - '0' as usize).unwrap_or(digit),
    };
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// With the minus sign of typography.
fn minus(label: String) -> String {
    label.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        ticks(scale, low, high, 5).major.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn labels_are_what_a_person_would_write() {
        use Scale::{Linear, Log10};
        assert_eq!(labels(Linear, -2.0, 2.0), ["−2", "−1", "0", "1", "2"]);
        assert_eq!(labels(Linear, 0.0, 0.3), ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"]);
        assert_eq!(labels(Linear, 0.0, 2.5e6), ["0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"]);
        assert_eq!(labels(Linear, 0.0, 4e-5), ["0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"]);
        assert_eq!(labels(Linear, 0.0, 2e12), ["0", "0.5×10¹²", "1.0×10¹²", "1.5×10¹²", "2.0×10¹²"]);
        assert_eq!(
            labels(Linear, 10_000.0, 10_002.0),
            ["10000.0", "10000.5", "10001.0", "10001.5", "10002.0"]
        );
        assert_eq!(labels(Log10, 0.005, 200.0), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(Log10, 0.2, 40.0), ["0.3", "1", "3", "10", "30"]);
        assert_eq!(labels(Log10, 2.0, 3.0), ["2.0", "2.2", "2.4", "2.6", "2.8", "3.0"]);
        assert_eq!(labels(Log10, 1e-300, 1e300).len(), 5);
    }

    #[test]
    fn impossible_ranges_have_no_ticks() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert_eq!(ticks(Scale::Linear, low, high, 5), Ticks::default());
        }
        assert_eq!(ticks(Scale::Log10, 0.0, 1.0, 5), Ticks::default());
    }

    fn distinct_and_increasing(ticks: &Ticks) -> bool {
        ticks.major.windows(2).all(|pair| pair[0].value < pair[1].value && pair[0].label != pair[1].label)
    }

    proptest! {
        #[test]
        fn linear_ticks_cover_the_range_in_nice_steps(
            centre in -1.0..1.0_f64, size in -290..290_i32, zoom in 0.0..6.0_f64, target in 4..9_usize,
        ) {
            let middle = centre * 10f64.powi(size);
            let half = 10f64.powf(f64::from(size) - zoom);
            let (low, high) = (middle - half, middle + half);
            let found = ticks(Scale::Linear, low, high, target);
            let values: Vec<f64> = found.major.iter().map(|tick| tick.value).collect();
            prop_assert!((2..=target * 8 / 5 + 1).contains(&values.len()), "{values:?}");
            prop_assert!(distinct_and_increasing(&found), "{found:?}");
            let step = (values[values.len() - 1] - values[0]) / (values.len() - 1) as f64;
            let slack = 1e-6 * step;
            prop_assert!(low <= values[0] && values[0] - low <= step + slack);
            prop_assert!(values[values.len() - 1] <= high && high - values[values.len() - 1] <= step + slack);
            prop_assert!(values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < slack));
            let leading = step / 10f64.powf((step * (1.0 + 1e-9)).log10().floor());
            prop_assert!([1.0, 2.0, 5.0].iter().any(|nice| (leading - nice).abs() < 1e-5), "step {step}");
        }

        #[test]
        fn log_ticks_cover_many_decades(from in -300.0..250.0_f64, decades in 0.02..50.0_f64, target in 4..9_usize) {
            let (low, high) = (10f64.powf(from), 10f64.powf(from + decades));
            let found = ticks(Scale::Log10, low, high, target);
            let values: Vec<f64> = found.major.iter().map(|tick| tick.value).collect();
            prop_assert!(values.len() >= 2 && values.len() <= target * 8 / 5 + 1, "{low} to {high}: {values:?}");
            prop_assert!(distinct_and_increasing(&found), "{found:?}");
            prop_assert!(values.iter().chain(&found.minor).all(|value| (low..=high).contains(value)));
            // No stretch without a tick is longer than what two strides would be.
            let gap = (decades / target as f64).ceil() + 1.0;
            prop_assert!(values[0].log10() - low.log10() <= gap && high.log10() - values[values.len() - 1].log10() <= gap);
        }
    }
}
