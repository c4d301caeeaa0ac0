//! Pictures to look at: what they are, a small rasteriser to draw them, and how a terminal shows them. Nothing here
//! takes part in learning.

mod canvas;
mod text;

pub(crate) use canvas::Canvas;
pub use text::to_text;

/// A picture: `height` rows of `width` pixels of red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 3 × width × height bytes.
    pub rgb: Vec<u8>,
}
