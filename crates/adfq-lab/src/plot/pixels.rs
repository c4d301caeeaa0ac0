//! From SVG to PNG, with the embedded fonts and nothing from the system.

use super::{Figure, Layer, text};
use crate::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{FontResolver, Options, Tree, fontdb::Database};
use std::sync::Arc;

/// Pixels per unit of the view box: sharp on screens of double density.
const DENSITY: f32 = 2.0;

impl Figure {
    /// The figure as PNG, two pixels per unit of [`Figure::svg`]. A character that the embedded fonts lack is an
    /// error, since it would silently be missing.
    pub fn png(&self) -> Result<Vec<u8>> {
        self.texts().try_for_each(text::check_glyphs)?;
        let tree = Tree::from_str(&self.svg()?, &options()).map_err(|e| Error::Png(e.to_string()))?;
        let size = tree.size();
        let side = |length: f32| (length * DENSITY).ceil() as u32;
        let mut pixels = Pixmap::new(side(size.width()), side(size.height())).ok_or_else(|| {
            Error::Png(format!("no picture has {} × {} units", size.width(), size.height()))
        })?;
        resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
        pixels.encode_png().map_err(|e| Error::Png(e.to_string()))
    }

    /// All texts that someone else wrote; those of ticks are ours.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let panels = self.panels.iter().flat_map(|panel| {
            let own = [&panel.title, &panel.x.label, &panel.y.label].map(String::as_str);
            own.into_iter().chain(panel.layers.iter().flat_map(layer_texts))
        });
        std::iter::once(self.title.as_str()).chain(panels)
    }
}

fn layer_texts(layer: &Layer) -> Vec<&str> {
    match layer {
        Layer::Line(line) => vec![&line.label],
        Layer::Markers(markers) => vec![&markers.label],
        Layer::Area(area) => vec![&area.label],
        Layer::Rule(rule) => vec![&rule.label],
        Layer::Note(note) => vec![&note.text],
        Layer::Bars(bars) => std::iter::once(bars.label.as_str())
            .chain(bars.bars.iter().map(|bar| bar.category.as_str()))
            .collect(),
    }
}

fn options() -> Options<'static> {
    let mut fonts = Database::new();
    text::FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    // Whatever family the SVG asks for, the first embedded one is meant.
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    if let Some(family) = family {
        fonts.set_sans_serif_family(family);
    }
    // The spans of a text name their fonts; resvg's own fallback would set the whole text in the second one.
    let font_resolver = FontResolver { select_fallback: Box::new(|_, _, _| None), ..FontResolver::default() };
    Options { fontdb: Arc::new(fonts), font_resolver, ..Options::default() }
}
