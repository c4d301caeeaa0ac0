//! A frame of a video: the game, enlarged, and the overlay beside it.

use super::canvas::{Canvas, Ink};
use super::overlay::{self, Overlay, Step};
use crate::{Error, Result};
use adfq_env::Picture;

/// The game is enlarged to at least this height.
const TALL: usize = 400;
/// But not beyond this width.
const WIDE: usize = 960;
/// Around game and overlay: a macroblock, so that the game begins at the edge of one.
const MARGIN: usize = 16;

/// Where game and overlay stand, for games of one size.
pub struct Layout {
    canvas: Canvas,
    overlay: Overlay,
    /// The size of the game's pictures, and how much they are enlarged.
    game: (usize, usize),
    scale: usize,
    height: usize,
}

impl Layout {
    /// The layout for pictures like this one.
    pub fn new(game: &Picture, overlay: Overlay) -> Result<Self> {
        let (width, height) = (game.width, game.height);
        let refuse = |reason: &str| Error::VideoPicture { width, height, reason: reason.into() };
        if width == 0 || height == 0 {
            return Err(refuse("it has no pixels"));
        }
        let scale = TALL.div_ceil(height).min(WIDE / width).max(1);
        let tall = (height * scale).max(overlay.least_height()).next_multiple_of(2);
        let wide = (width * scale + overlay::WIDTH + 3 * MARGIN).next_multiple_of(2);
        let canvas = Canvas::new(wide, tall + 2 * MARGIN).ok_or_else(|| refuse("it is too large"))?;
        Ok(Self { canvas, overlay, game: (width, height), scale, height: tall })
    }

    /// The frame of one step.
    pub fn draw(&mut self, game: &Picture, step: &Step) -> Result<Picture> {
        if (game.width, game.height) != self.game || game.rgb.len() != 3 * game.width * game.height {
            let reason = format!("the first one had {} × {}", self.game.0, self.game.1);
            return Err(Error::VideoPicture { width: game.width, height: game.height, reason });
        }
        self.canvas.clear();
        let (width, height) = (game.width * self.scale, game.height * self.scale);
        let top = MARGIN + (self.height - height) / 2;
        let frame = [(MARGIN - 1) as f32, (top - 1) as f32];
        self.canvas.fill(frame, [(width + 2) as f32, (height + 2) as f32], Ink(0xcc_cc_cc, 1.0));
        self.canvas.copy(game, [MARGIN, top], self.scale);
        let corner = [(2 * MARGIN + width) as f32, MARGIN as f32];
        self.overlay.draw(&mut self.canvas, corner, self.height as f32, step);
        Ok(self.canvas.picture())
    }
}

#[cfg(test)]
mod tests {
    use super::super::overlay::Estimate;
    use super::*;

    fn grey(width: usize, height: usize) -> Picture {
        Picture { width, height, rgb: vec![77; 3 * width * height] }
    }

    fn overlay(actions: usize) -> Overlay {
        Overlay::new(
            ["game", "agent"].map(String::from),
            (0..actions).map(|i| format!("action {i}")).collect(),
        )
    }

    fn step(estimates: &[Estimate], chosen: usize) -> Step<'_> {
        Step { episode: 0, number: 7, score: -1.5, estimates, chosen }
    }

    #[test]
    fn games_are_enlarged_by_whole_numbers_and_rows_find_room() {
        for (width, height, scale, actions) in [
            (160, 210, 2, 6),
            (160, 210, 2, 18),
            (100, 100, 4, 3),
            (300, 200, 2, 2),
            (600, 400, 1, 4),
            (7, 900, 1, 50),
        ] {
            let game = grey(width, height);
            let mut layout = Layout::new(&game, overlay(actions)).unwrap();
            let estimates = vec![Estimate { mean: 1.0, sd: Some(0.5) }; actions];
            let frame = layout.draw(&game, &step(&estimates, 1)).unwrap();
            assert_eq!((frame.width % 2, frame.height % 2), (0, 0));
            let grey = frame.rgb.chunks_exact(3).filter(|rgb| **rgb == [77; 3]).count();
            assert!(grey >= width * height * scale * scale, "{width} × {height}: {grey}");
            assert!(frame.height >= height * scale + 32);
        }
    }

    #[test]
    fn the_chosen_action_and_its_belief_are_seen() {
        let game = grey(100, 100);
        let mut layout = Layout::new(&game, overlay(2)).unwrap();
        let estimates = [Estimate { mean: 1.0, sd: None }, Estimate { mean: 2.0, sd: None }];
        let first = layout.draw(&game, &step(&estimates, 0)).unwrap();
        // Whole pictures would fill the screen in a message.
        assert!(first != layout.draw(&game, &step(&estimates, 1)).unwrap());
        assert!(first == layout.draw(&game, &step(&estimates, 0)).unwrap());
        let sure = estimates.map(|estimate| Estimate { sd: Some(0.01), ..estimate });
        assert!(first != layout.draw(&game, &step(&sure, 0)).unwrap());
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        let game = grey(100, 100);
        let mut layout = Layout::new(&game, overlay(3)).unwrap();
        let odd = [f64::NAN, f64::INFINITY, -1e300].map(|mean| Estimate { mean, sd: Some(mean.abs()) });
        assert!(layout.draw(&game, &step(&odd, 9)).is_ok());
        assert!(matches!(
            layout.draw(&grey(9, 9), &step(&odd, 0)),
            Err(Error::VideoPicture { width: 9, .. })
        ));
        assert!(Layout::new(&grey(0, 5), overlay(1)).is_err());
    }
}
