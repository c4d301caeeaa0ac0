//! A small writer of SVG: elements, escaped attributes and text, short numbers.

use super::text::{Span, spans};
use std::fmt::{Display, Write};

/// SVG under construction. Every element opened is closed by its owner.
#[derive(Default)]
pub struct Canvas {
    svg: String,
}

/// An attribute of an element.
pub type Attribute<'a> = (&'a str, &'a dyn Display);

impl Canvas {
    /// An element that stays open until [`Canvas::close`].
    pub fn open(&mut self, tag: &str, attributes: &[Attribute]) {
        self.start(tag, attributes);
        self.svg.push('>');
    }

    /// The end of an element.
    pub fn close(&mut self, tag: &str) {
        self.push(format_args!("</{tag}>\n"));
    }

    /// An element without content.
    pub fn empty(&mut self, tag: &str, attributes: &[Attribute]) {
        self.start(tag, attributes);
        self.svg.push_str("/>\n");
    }

    /// An element with text in it.
    pub fn leaf(&mut self, tag: &str, attributes: &[Attribute], text: &str) {
        self.open(tag, attributes);
        self.svg.push_str(&escape(text));
        self.close(tag);
    }

    /// A visible text, each character in a font that has it.
    pub fn text(&mut self, attributes: &[Attribute], text: &str) {
        self.open("text", attributes);
        let mut lifted = false;
        for span in spans(text) {
            let back = if std::mem::take(&mut lifted) { " dy=\"0.39em\"" } else { "" };
            match span {
                Span::Plain(run) if back.is_empty() => self.svg.push_str(&escape(&run)),
                Span::Plain(run) => self.push(format_args!("<tspan{back}>{}</tspan>", escape(&run))),
                Span::Fallback(run) => {
                    self.push(format_args!(
                        "<tspan{back} font-family=\"Hack, system-ui\">{}</tspan>",
                        escape(&run)
                    ));
                }
                Span::RaisedMinus => {
                    // An em of the small font is 0.65 of the large one: 0.6 up here is 0.39 down there.
                    self.push(format_args!("<tspan dy=\"-0.6em\" font-size=\"65%\">−</tspan>"));
                    lifted = true;
                }
            }
        }
        self.close("text");
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.svg
    }

    fn start(&mut self, tag: &str, attributes: &[Attribute]) {
        self.push(format_args!("<{tag}"));
        for (name, value) in attributes {
            let value = escape(&value.to_string());
            self.push(format_args!(" {name}=\"{value}\""));
        }
    }

    fn push(&mut self, text: std::fmt::Arguments) {
        // Writing to a String cannot fail.
        let _ = self.svg.write_fmt(text);
    }
}

/// A coordinate, to a tenth of a unit: finer than any screen shows, and short.
pub struct Unit(pub f64);

impl Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        // Adding zero turns −0 into 0.
        write!(f, "{}", tenths + 0.0)
    }
}

/// Text for XML and HTML: markup becomes entities, and control characters, which XML does not allow, vanish.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut canvas = Canvas::default();
        canvas.leaf("text", &[("x", &Unit(-0.04)), ("class", &"a\"<b>")], "<script>&'\u{0}\u{7}");
        assert_eq!(
            canvas.finish(),
            "<text x=\"0\" class=\"a&quot;&lt;b&gt;\">&lt;script&gt;&amp;&#39;</text>\n"
        );
    }

    #[test]
    fn texts_change_fonts_where_they_must() {
        let mut canvas = Canvas::default();
        canvas.text(&[], "10⁻³ < a ∈ A");
        let expected = "<text>10<tspan dy=\"-0.6em\" font-size=\"65%\">−</tspan><tspan dy=\"0.39em\">³ &lt; a </tspan>\
                        <tspan font-family=\"Hack, system-ui\">∈</tspan> A</text>\n";
        assert_eq!(canvas.finish(), expected);
    }

    #[test]
    fn units_are_short() {
        let shown = [1.0, 0.25, -3.1234, 1e4, 99.96].map(|x| Unit(x).to_string());
        assert_eq!(shown, ["1", "0.3", "-3.1", "10000", "100"]);
    }
}
