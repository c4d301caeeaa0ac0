//! Draws boxes, lines, dots and texts on pixels, with the fonts of the plots. A glyph's outline is read once.

use adfq_env::Picture;
use adfq_report::plot::FONTS;
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::prelude::{FontRef, LocationRef, MetadataProvider, Size};
use std::collections::HashMap;
use tiny_skia::{
    Color, FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke, Transform,
};

/// A colour, and how much of it covers what is behind.
#[derive(Clone, Copy)]
pub struct Ink(pub u32, pub f32);

impl Ink {
    fn paint(self) -> Paint<'static> {
        let [_, red, green, blue] = self.0.to_be_bytes();
        let mut paint = Paint::default();
        paint.set_color_rgba8(red, green, blue, (self.1 * 255.0).round() as u8);
        paint
    }
}

/// Which point of a text stands at its x.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub struct Style {
    pub size: f32,
    pub ink: Ink,
    pub bold: bool,
}

struct Glyph {
    /// The outline in ems, downwards; none for a space.
    outline: Option<Path>,
    /// How far the next glyph is, in ems.
    advance: f32,
}

/// Pixels and what draws on them.
pub struct Canvas {
    pixels: Pixmap,
    fonts: Vec<FontRef<'static>>,
    glyphs: HashMap<char, Glyph>,
}

impl Canvas {
    /// White pixels; none where no picture has so many.
    pub fn new(width: usize, height: usize) -> Option<Self> {
        let pixels = Pixmap::new(u32::try_from(width).ok()?, u32::try_from(height).ok()?)?;
        let fonts = FONTS.iter().filter_map(|data| FontRef::new(data).ok()).collect();
        Some(Self { pixels, fonts, glyphs: HashMap::new() })
    }

    /// Makes everything white.
    pub fn clear(&mut self) {
        self.pixels.fill(Color::WHITE);
    }

    /// Fills a box.
    pub fn fill(&mut self, [x, y]: [f32; 2], [width, height]: [f32; 2], ink: Ink) {
        if let Some(rect) = Rect::from_xywh(x, y, width, height) {
            self.pixels.fill_rect(rect, &ink.paint(), Transform::identity(), None);
        }
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], width: f32, ink: Ink) {
        let mut path = PathBuilder::new();
        path.move_to(from[0], from[1]);
        path.line_to(to[0], to[1]);
        if let Some(path) = path.finish() {
            let stroke = Stroke { width, ..Stroke::default() };
            self.pixels.stroke_path(&path, &ink.paint(), &stroke, Transform::identity(), None);
        }
    }

    /// Fills a circle.
    pub fn dot(&mut self, [x, y]: [f32; 2], radius: f32, ink: Ink) {
        if let Some(circle) = PathBuilder::from_circle(x, y, radius) {
            self.pixels.fill_path(&circle, &ink.paint(), FillRule::Winding, Transform::identity(), None);
        }
    }

    /// Sets a text on the line y.
    pub fn text(&mut self, [x, y]: [f32; 2], anchor: Anchor, style: Style, text: &str) {
        let width = self.width(text, style.size);
        let mut x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let paint = style.ink.paint();
        // A light font looks bold with a line around it.
        let outer = Stroke { width: 0.045, ..Stroke::default() };
        for c in text.chars() {
            let Some(glyph) = self.glyphs.get(&c) else { continue };
            if let Some(outline) = &glyph.outline {
                let place = Transform::from_row(style.size, 0.0, 0.0, style.size, x, y);
                self.pixels.fill_path(outline, &paint, FillRule::Winding, place, None);
                if style.bold {
                    self.pixels.stroke_path(outline, &paint, &outer, place, None);
                }
            }
            x += style.size * glyph.advance;
        }
    }

    /// How wide a text is.
    pub fn width(&mut self, text: &str, size: f32) -> f32 {
        text.chars().map(|c| self.advance(c)).sum::<f32>() * size
    }

    /// The text, cut short such that it is no wider than `limit`.
    pub fn shortened(&mut self, text: &str, size: f32, limit: f32) -> String {
        if self.width(text, size) <= limit {
            return text.to_owned();
        }
        let mut short: Vec<char> = text.chars().collect();
        loop {
            short.pop();
            let candidate: String = short.iter().collect::<String>().trim_end().to_owned() + "…";
            if short.is_empty() || self.width(&candidate, size) <= limit {
                return candidate;
            }
        }
    }

    /// Copies a picture, each of its pixels `scale` wide and high, to where it fits.
    pub fn copy(&mut self, picture: &Picture, [left, top]: [usize; 2], scale: usize) {
        let width = self.pixels.width() as usize;
        let pixels = self.pixels.pixels_mut();
        let source = picture.rgb.chunks_exact(3 * picture.width.max(1)).take(picture.height);
        for (row, line) in source.enumerate() {
            let first = (top + row * scale) * width + left;
            let target = &mut pixels[first..first + picture.width * scale];
            for (rgb, wide) in line.chunks_exact(3).zip(target.chunks_exact_mut(scale)) {
                // Opaque, so that premultiplying changes nothing.
                wide.fill(PremultipliedColorU8::from_rgba(rgb[0], rgb[1], rgb[2], 255).unwrap_or(wide[0]));
            }
            for copy in 1..scale {
                pixels.copy_within(first..first + picture.width * scale, first + copy * width);
            }
        }
    }

    /// What has been drawn.
    pub fn picture(&self) -> Picture {
        let rgb = self.pixels.data().chunks_exact(4).flat_map(|rgba| [rgba[0], rgba[1], rgba[2]]).collect();
        Picture { width: self.pixels.width() as usize, height: self.pixels.height() as usize, rgb }
    }

    fn advance(&mut self, c: char) -> f32 {
        let fonts = &self.fonts;
        self.glyphs.entry(c).or_insert_with(|| glyph(fonts, c)).advance
    }
}

/// The glyph of the first font that has one, or a question mark.
fn glyph(fonts: &[FontRef], c: char) -> Glyph {
    let known = |c: char| fonts.iter().find_map(|font| Some((font, font.charmap().map(c)?)));
    let Some((font, id)) = known(c).or_else(|| known('?')) else {
        return Glyph { outline: None, advance: 0.5 };
    };
    let em = f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em.max(1));
    let advance = font.glyph_metrics(Size::unscaled(), LocationRef::default()).advance_width(id);
    let mut tracer = Tracer(PathBuilder::new());
    let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
    let drawn =
        font.outline_glyphs().get(id).is_some_and(|outline| outline.draw(settings, &mut tracer).is_ok());
    // Fonts count upwards, pixels downwards.
    let upright = Transform::from_scale(1.0 / em, -1.0 / em);
    let outline = tracer.0.finish().filter(|_| drawn).and_then(|path| path.transform(upright));
    Glyph { outline, advance: advance.unwrap_or(em / 2.0) / em }
}

/// Takes down a font's outline.
struct Tracer(PathBuilder);

impl OutlinePen for Tracer {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.0.cubic_to(ax, ay, bx, by, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Ink = Ink(0, 1.0);

    fn darkness(draw: impl Fn(&mut Canvas)) -> f64 {
        let mut canvas = Canvas::new(100, 40).unwrap();
        canvas.clear();
        draw(&mut canvas);
        canvas.picture().rgb.iter().map(|&value| f64::from(255 - value) / 765.0).sum()
    }

    #[test]
    fn shapes_have_their_area() {
        assert!((darkness(|canvas| canvas.fill([10.0, 10.0], [20.0, 5.0], BLACK)) - 100.0).abs() < 0.01);
        assert!((darkness(|canvas| canvas.fill([10.0, 10.0], [20.0, 5.0], Ink(0, 0.2))) - 20.0).abs() < 0.5);
        assert!((darkness(|canvas| canvas.line([5.0, 9.0], [45.0, 9.0], 2.0, BLACK)) - 80.0).abs() < 0.5);
        let dot = darkness(|canvas| canvas.dot([50.0, 20.0], 8.0, BLACK));
        // Circles are made of curves that lie a little inside.
        assert!((195.0..202.0).contains(&dot), "{dot}");
    }

    #[test]
    fn texts_are_drawn_and_measured() {
        let style = Style { size: 20.0, ink: BLACK, bold: false };
        let set = |text: &'static str, style| {
            darkness(move |canvas| canvas.text([2.0, 30.0], Anchor::Start, style, text))
        };
        assert_eq!(set(" ", style), 0.0);
        assert!(set("μ ± 2σ", style) > 50.0);
        assert!(set("step", Style { bold: true, ..style }) > 1.2 * set("step", style));
        // No font has this one.
        assert_eq!(set("\u{10ffff}", style), set("?", style));
        let mut canvas = Canvas::new(9, 9).unwrap();
        assert_eq!(canvas.shortened("left", 12.0, 100.0), "left");
        let short = canvas.shortened("a very long name of an action", 12.0, 60.0);
        assert!(short.ends_with('…') && canvas.width(&short, 12.0) <= 60.0, "{short}");
    }

    #[test]
    fn pictures_are_enlarged_without_smoothing() {
        let mut canvas = Canvas::new(6, 4).unwrap();
        canvas.clear();
        canvas.copy(&Picture { width: 2, height: 1, rgb: vec![1, 2, 3, 4, 5, 6] }, [1, 1], 2);
        let rows: Vec<_> = canvas.picture().rgb.chunks(18).map(|row| row.to_vec()).collect();
        assert_eq!(rows[1], [[255; 3], [1, 2, 3], [1, 2, 3], [4, 5, 6], [4, 5, 6], [255; 3]].concat());
        assert_eq!((&rows[1], &rows[0], &rows[3]), (&rows[2], &vec![255; 18], &vec![255; 18]));
    }
}
