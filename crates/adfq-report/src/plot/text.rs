//! The embedded fonts: which characters they have, and how wide a text will be.
//!
//! Ubuntu Light draws nearly everything; Hack helps with what it lacks, such as ∈ and ⁻.

use skrifa::prelude::{FontRef, LocationRef, MetadataProvider, Size};

/// The families for browsers. The first is the embedded one.
pub const FAMILY: &str = "Ubuntu, system-ui, sans-serif";

/// The embedded font files, in the order in which they are tried.
pub const FONTS: [&[u8]; 2] = [epaint_default_fonts::UBUNTU_LIGHT, epaint_default_fonts::HACK_REGULAR];

/// A browser without Ubuntu takes a font that is up to so much wider.
const SLACK: f64 = 1.15;

/// How wide `text` is at font size `size`, generously.
pub fn width(text: &str, size: f64) -> f64 {
    let fonts = FONTS.map(|data| FontRef::new(data).ok());
    let advance = |c: char| {
        fonts.iter().flatten().find_map(|font| {
            let glyph = font.charmap().map(c)?;
            font.glyph_metrics(Size::new(1.0), LocationRef::default()).advance_width(glyph)
        })
    };
    text.chars().map(|c| f64::from(advance(c).unwrap_or(0.6))).sum::<f64>() * size * SLACK
}

/// A stretch of text and how it is set.
#[derive(Debug, PartialEq)]
pub enum Span {
    /// In the first font.
    Plain(String),
    /// In the second, which has what the first lacks.
    Fallback(String),
    /// The minus of an exponent: the first font has raised digits but no raised minus, so a small one is lifted.
    RaisedMinus,
}

/// Splits a text into spans.
pub fn spans(text: &str) -> Vec<Span> {
    let first = FontRef::new(FONTS[0]).ok();
    let plain =
        |c: char| c.is_control() || first.as_ref().is_some_and(|font| font.charmap().map(c).is_some());
    let mut spans: Vec<Span> = Vec::new();
    for c in text.chars() {
        match (spans.last_mut(), c) {
            (_, '⁻') => spans.push(Span::RaisedMinus),
            (Some(Span::Plain(run)), c) if plain(c) => run.push(c),
            (Some(Span::Fallback(run)), c) if !plain(c) => run.push(c),
            (_, c) if plain(c) => spans.push(Span::Plain(c.into())),
            (_, c) => spans.push(Span::Fallback(c.into())),
        }
    }
    spans
}

/// Breaks `text` at spaces into lines no wider than `limit`; a single word may be wider.
pub fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbols_of_the_paper_can_be_drawn() {
        let fonts = FONTS.map(|data| FontRef::new(data).unwrap());
        let drawable = |c: char| fonts.iter().any(|font| font.charmap().map(c).is_some());
        let symbols = "μ σ γ α ε τ π κ λ δ Δ φ Φ θ ρ β η ω Σ ± × − ≤ ≥ ∈ ² * ₀₁₂ ⁻¹⁰ – — √ ∞ ≈ · … ′ →";
        assert!(symbols.chars().all(drawable) && !drawable('ₜ'));
    }

    #[test]
    fn spans_name_the_font_of_every_character() {
        use Span::{Fallback, Plain, RaisedMinus};
        assert_eq!(spans("a ∈ A"), [Plain("a ".into()), Fallback("∈".into()), Plain(" A".into())]);
        assert_eq!(spans("10⁻³"), [Plain("10".into()), RaisedMinus, Plain("³".into())]);
        assert!(spans("").is_empty());
    }

    #[test]
    fn wider_texts_are_wider() {
        assert_eq!(width("", 12.0), 0.0);
        assert!(width("MMM", 12.0) > 1.8 * width("iii", 12.0));
        assert!((width("abc", 24.0) - 2.0 * width("abc", 12.0)).abs() < 1e-9);
    }

    #[test]
    fn lines_break_at_spaces() {
        let text = "Root mean square error of the mean beliefs";
        let lines = wrap(text, 12.0, 120.0);
        assert!(lines.len() >= 2 && lines.iter().all(|line| width(line, 12.0) <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrap("incomprehensibilities", 12.0, 20.0), ["incomprehensibilities"]);
        assert!(wrap("  ", 12.0, 20.0).is_empty());
    }
}
