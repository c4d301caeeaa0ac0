//! What moves along a row of Seaquest: where it is, when it swims, and what it meets.

use super::{Outcome, SIDE};
use crate::minatar::Chance;
use serde::{Deserialize, Serialize};

/// A cell and which way it is faced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub x: i8,
    pub y: i8,
    pub rightward: bool,
}

impl Place {
    /// Where a newcomer enters: at the edge it leaves behind, in any row of water.
    pub fn entrance(rightward: bool, chance: &mut impl Chance) -> Self {
        let x = if rightward { 0 } else { SIDE as i8 - 1 };
        Self { x, y: 1 + chance.below(8) as i8, rightward }
    }

    pub fn meets(&self, other: &Self) -> bool {
        (self.x, self.y) == (other.x, other.y)
    }

    /// One cell forward; false if that is off the board.
    pub fn advance(&mut self) -> bool {
        self.x += if self.rightward { 1 } else { -1 };
        (0..SIDE as i8).contains(&self.x)
    }

    /// The cell behind, where the tail is drawn.
    pub fn behind(&self) -> Self {
        Self { x: if self.rightward { self.x - 1 } else { self.x + 1 }, ..*self }
    }
}

/// A diver, fish or enemy submarine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swimmer {
    pub at: Place,
    /// Steps until it moves.
    pub wait: u8,
    /// Steps until it fires, for a submarine.
    pub reload: u8,
}

impl Swimmer {
    /// Whether it moves in this step; it then waits `pace` steps.
    pub fn stroke(&mut self, pace: u8) -> bool {
        let moves = self.wait == 0;
        self.wait = if moves { pace } else { self.wait - 1 };
        moves
    }

    /// A step of a fish or an enemy submarine: it ends the game where it meets the player, before or after its move, and
    /// is sunk where it swims into a torpedo. False if it is gone.
    pub fn hunt(
        &mut self,
        player: &Place,
        pace: u8,
        torpedoes: &mut Vec<Place>,
        outcome: &mut Outcome,
    ) -> bool {
        outcome.lost |= self.at.meets(player);
        if !self.stroke(pace) {
            return true;
        }
        if !self.at.advance() {
            return false;
        }
        outcome.lost |= self.at.meets(player);
        let hit = torpedoes.iter().position(|torpedo| torpedo.meets(&self.at));
        if let Some(hit) = hit {
            torpedoes.remove(hit);
            outcome.reward += 1;
        }
        hit.is_none()
    }
}
