//! Figures as data, drawn as SVG.
//!
//! A [`Figure`] holds [`Panel`]s, a panel holds two axes and [`Layer`]s, all of them plain data.
//! [`Figure::svg`] lays out and draws. Texts are measured with fonts that are part of this crate, so every machine makes
//! the same bytes. In the SVG each layer is a `<g class="series" data-kind=… data-label=… data-points=…>`.
//!
//! Points that are NaN or infinite, or not positive on a logarithmic axis, are missing: lines and bands break there.
//! Long series are thinned when drawn, keeping every local extreme, such that an SVG stays below 200 kB; the
//! figure itself keeps all its points.
//!
//! ```
//! use adfq_report::plot::{Axis, Color, Figure, Line, Panel};
//!
//! let rmse = Line::new("ADFQ", [(0.0, 8.0), (1e4, 0.5), (2e4, 0.03)])
//!     .color(Color::Blue)
//!     .band([(6.0, 9.0), (0.4, 0.7), (0.02, 0.05)]);
//! let panel = Panel::new("Loop", Axis::linear("step"), Axis::log("RMSE")).layer(rmse);
//! let figure = Figure::new("Convergence").panel(panel);
//!
//! assert!(figure.svg()?.contains(r#"data-label="ADFQ""#));
//! # Ok::<(), adfq_report::Error>(())
//! ```

mod canvas;
mod color;
mod draw;
mod figure;
mod frame;
mod layer;
mod layout;
mod legend;
mod marks;
mod radar;
mod range;
mod text;
mod thin;
mod ticks;

pub(crate) use canvas::escape;
pub use color::Color;
pub use figure::{Axis, Figure, Panel, Scale};
pub use layer::{
    Anchor, Area, Bar, BarStyle, Bars, Dash, Layer, Line, Markers, Note, Orientation, Rule, Shape, Web,
};
pub use text::FONTS;
pub use thin::extremes;
pub(crate) use ticks::power_of_ten;
pub use ticks::{Tick, Ticks, ticks};

#[cfg(test)]
mod tests;
