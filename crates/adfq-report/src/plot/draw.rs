//! From a figure to SVG: lays out, then draws back to front.

use super::canvas::{Canvas, Unit};
use super::layout::{LEADING, Layout, Placed, TITLE};
use super::{Figure, frame, legend, marks, radar, text};
use crate::Result;

/// How many path vertices one figure may have; with some twelve bytes each they stay well below 200 kB.
const VERTICES: usize = 12_000;
/// More points a series than this no screen can show.
const FINEST: usize = 1_200;

impl Figure {
    /// The figure as SVG, which scales with the page. The limits of an axis that make no range are an error.
    pub fn svg(&self) -> Result<String> {
        let layout = Layout::new(self)?;
        let mut canvas = Canvas::default();
        let view = format!("0 0 {} {}", Unit(layout.width), Unit(layout.height));
        // Pages may shrink the figure at will and enlarge it a little.
        let style = format!("width:100%;height:auto;max-width:{}px", (layout.width * 1.25).round());
        canvas.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("class", &"figure"),
                ("role", &"img"),
                ("viewBox", &view),
                ("style", &style),
                ("font-family", &text::FAMILY),
                ("fill", &"#333"),
            ],
        );
        if !self.title.is_empty() {
            canvas.leaf("title", &[], &self.title);
        }
        let (width, height) = (Unit(layout.width), Unit(layout.height));
        canvas.empty("rect", &[("width", &width), ("height", &height), ("rx", &6), ("fill", &"#fff")]);
        self.draw_title(&mut canvas, &layout);
        let budget = self.budget();
        layout.panels.iter().for_each(|placed| draw_panel(&mut canvas, placed, budget));
        legend::draw(&mut canvas, &layout.legend);
        canvas.close("svg");
        Ok(canvas.finish())
    }

    fn draw_title(&self, canvas: &mut Canvas, layout: &Layout) {
        for (i, line) in layout.title.iter().enumerate() {
            let y = 12.0 + TITLE * (0.85 + LEADING * i as f64);
            let attributes: [super::canvas::Attribute; 7] = [
                ("class", &"figure-title"),
                ("x", &Unit(layout.width / 2.0)),
                ("y", &Unit(y)),
                ("text-anchor", &"middle"),
                ("font-size", &TITLE),
                ("font-weight", &600),
                ("fill", &"#111"),
            ];
            canvas.text(&attributes, line);
        }
    }

    /// How many points a series may have, when all of them share the vertices of the figure.
    fn budget(&self) -> usize {
        let cost: usize = self.panels.iter().flat_map(|panel| &panel.layers).map(marks::cost).sum();
        (VERTICES / cost.max(1)).clamp(8, FINEST)
    }
}

fn draw_panel(canvas: &mut Canvas, placed: &Placed, budget: usize) {
    let frame = placed.frame;
    canvas.open("g", &[("class", &"panel"), ("data-title", &placed.panel.title)]);
    if !radar::webs(placed.panel).is_empty() {
        radar::draw(canvas, placed);
        canvas.close("g");
        return;
    }
    frame::grid(canvas, placed);
    // An inner <svg> clips to the frame without an id, which could clash when figures share a page.
    let view = format!("0 0 {} {}", Unit(frame.width), Unit(frame.height));
    canvas.open(
        "svg",
        &[
            ("x", &Unit(frame.x)),
            ("y", &Unit(frame.y)),
            ("width", &Unit(frame.width)),
            ("height", &Unit(frame.height)),
            ("viewBox", &view),
            ("overflow", &"hidden"),
        ],
    );
    marks::draw(canvas, placed, budget);
    canvas.close("svg");
    frame::axes(canvas, placed);
    canvas.close("g");
}
