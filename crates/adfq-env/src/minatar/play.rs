//! A game being played: sticky actions, and nothing more happens after the end.

use super::{Action, Chance, Game, Over};
use serde::{Deserialize, Serialize};

/// A game with what the package keeps around every game: with some probability the last action is taken again in
/// place of the one chosen (Machado et al. 2018), and a game that is over stands still.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Play<G: Game> {
    game: G,
    sticky: f64,
    last: Action,
    over: Over,
}

impl<G: Game> Play<G> {
    /// Before the first [`Play::reset`]; `sticky` is the probability of repeating the last action.
    pub fn new(sticky: f64, ramping: bool) -> Self {
        Self { game: G::new(ramping), sticky, last: Action::default(), over: Over::No }
    }

    /// Starts an episode. As in the package, the last action of the episode before may stick to the first step.
    pub fn reset(&mut self, chance: &mut impl Chance) {
        self.over = Over::No;
        self.game.reset(chance);
    }

    /// One step: the reward, and whether the game is over. One number is drawn for the stickiness, whatever its
    /// probability, and then those of the game.
    pub fn act(&mut self, action: Action, chance: &mut impl Chance) -> (f64, Over) {
        if chance.unit() >= self.sticky {
            self.last = action;
        }
        if self.over != Over::No {
            return (0.0, self.over);
        }
        let (reward, over) = self.game.act(self.last, chance);
        self.over = over;
        (reward, over)
    }

    /// Writes the frame, all of it.
    pub fn draw(&self, frame: &mut [u8]) {
        frame.fill(0);
        self.game.draw(frame);
    }
}
