//! Colours that stay apart for colour-blind eyes (Okabe and Ito 2008).

/// A colour of the palette; [`Color::slot`] numbers them for series without a colour of their own.
///
/// ```
/// use adfq_report::plot::Color;
///
/// assert_eq!(Color::slot(1), Color::Vermillion);
/// assert_eq!(Color::slot(8), Color::slot(0));
/// assert_eq!(Color::Blue.hex(), "#0072b2");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// The first slot.
    #[default]
    Blue,
    /// The second.
    Vermillion,
    /// Bluish green, the third.
    Green,
    /// Reddish purple, the fourth.
    Purple,
    /// The fifth.
    Orange,
    /// Sky blue, the sixth.
    Sky,
    /// Nearly black, the seventh.
    Black,
    /// The eighth, and the hardest to see.
    Yellow,
    /// For references, outside the numbered slots.
    Grey,
}

impl Color {
    /// The colour of slot `i`, starting anew after eight.
    pub fn slot(i: usize) -> Self {
        use Color::{Black, Blue, Green, Orange, Purple, Sky, Vermillion, Yellow};
        [Blue, Vermillion, Green, Purple, Orange, Sky, Black, Yellow][i % 8]
    }

    /// The colour as `#rrggbb`.
    pub fn hex(self) -> &'static str {
        match self {
            Self::Blue => "#0072b2",
            Self::Vermillion => "#d55e00",
            Self::Green => "#009e73",
            Self::Purple => "#cc79a7",
            Self::Orange => "#e69f00",
            Self::Sky => "#56b4e9",
            Self::Black => "#1a1a1a",
            Self::Yellow => "#d9c400", // Okabe and Ito's #f0e442, darkened to be seen on white
            Self::Grey => "#767676",
        }
    }
}
