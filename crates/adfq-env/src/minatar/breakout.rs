//! Breakout: a ball, a paddle and three rows of bricks.

use super::{Action, Chance, Game, Over, SIDE, mark};
use serde::{Deserialize, Serialize};

/// The row of the paddle.
const BOTTOM: u8 = 9;
/// The ball starts in this row, at one of the walls.
const START_ROW: u8 = 3;
/// The bricks lie in rows 1 to 3.
const BRICK_ROWS: std::ops::RangeInclusive<u8> = 1..=3;
/// A bit for each of the thirty bricks.
const WALL: u32 = (1 << 30) - 1;

const PADDLE: usize = 0;
const BALL: usize = 1;
const TRAIL: usize = 2;
const BRICK: usize = 3;

/// Breakout. The ball flies along diagonals, turned back by walls, bricks and the paddle. A broken brick is worth 1; a
/// cleared wall is built again when the ball comes down. The game ends when the ball gets past the paddle. It does not
/// get harder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakout {
    paddle: u8,
    ball: Cell,
    /// Where the ball was a step ago.
    trail: Cell,
    down: bool,
    right: bool,
    bricks: u32,
    /// The ball was in a brick a step ago; it then flies through the next one, so as not to eat up a whole column.
    struck: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    row: u8,
    column: u8,
}

impl Breakout {
    /// The bit of the brick that can be at this cell.
    fn brick_at(cell: Cell) -> u32 {
        if BRICK_ROWS.contains(&cell.row) {
            1 << (usize::from(cell.row - BRICK_ROWS.start()) * SIDE + usize::from(cell.column))
        } else {
            0
        }
    }

    fn move_paddle(&mut self, action: Action) {
        match action {
            Action::Left => self.paddle = self.paddle.saturating_sub(1),
            Action::Right => self.paddle = (self.paddle + 1).min(9),
            _ => {}
        }
    }

    /// Where the ball is going, turned back by the side walls: it then stays in its column.
    fn next_column(&mut self) -> u8 {
        let column = self.ball.column;
        match (self.right, column) {
            (true, 9) | (false, 0) => {
                self.right = !self.right;
                column
            }
            (true, _) => column + 1,
            (false, _) => column - 1,
        }
    }

    /// The ball comes down to the paddle's row: back up the way it came where the paddle is at its new column, mirrored
    /// where the paddle is below its old one, or lost.
    fn come_down(&mut self, column: u8) -> Over {
        if self.bricks == 0 {
            self.bricks = WALL;
        }
        if self.trail.column != self.paddle && column != self.paddle {
            return Over::Ended;
        }
        self.down = false;
        if self.trail.column != self.paddle {
            self.right = !self.right;
        }
        Over::No
    }
}

impl Game for Breakout {
    const NAME: &'static str = "breakout";
    const CHANNELS: usize = 4;
    const MINIMAL_ACTIONS: &'static [Action] = &[Action::Noop, Action::Left, Action::Right];

    fn new(_ramping: bool) -> Self {
        let ball = Cell { row: START_ROW, column: 0 };
        Self { paddle: 4, ball, trail: ball, down: true, right: true, bricks: WALL, struck: false }
    }

    fn reset(&mut self, chance: &mut impl Chance) {
        *self = Self::new(false);
        if chance.below(2) == 1 {
            self.ball.column = 9;
            self.right = false;
        }
        self.trail = self.ball;
    }

    fn act(&mut self, action: Action, _chance: &mut impl Chance) -> (f64, Over) {
        self.move_paddle(action);
        self.trail = self.ball;
        self.ball.column = self.next_column();
        let struck = std::mem::take(&mut self.struck);
        let (mut reward, mut over) = (0.0, Over::No);
        // Where the ball is turned back by anything but a side wall, it stays in its row.
        if self.ball.row == 0 && !self.down {
            self.down = true;
            return (reward, over);
        }
        let row = if self.down { self.ball.row + 1 } else { self.ball.row - 1 };
        let ahead = Self::brick_at(Cell { row, ..self.ball });
        if self.bricks & ahead != 0 {
            self.struck = true;
            if !struck {
                self.bricks ^= ahead;
                self.down = !self.down;
                reward = 1.0;
                return (reward, over);
            }
        } else if row == BOTTOM {
            over = self.come_down(self.ball.column);
            if over == Over::No {
                return (reward, over);
            }
        }
        self.ball.row = row;
        (reward, over)
    }

    fn draw(&self, frame: &mut [u8]) {
        let rows = usize::from(*BRICK_ROWS.start()) * SIDE * Self::CHANNELS;
        for (i, cell) in frame[rows..].chunks_exact_mut(Self::CHANNELS).take(3 * SIDE).enumerate() {
            cell[BRICK] = (self.bricks >> i & 1) as u8;
        }
        mark::<Self>(frame, BOTTOM.into(), self.paddle.into(), PADDLE);
        mark::<Self>(frame, self.ball.row.into(), self.ball.column.into(), BALL);
        mark::<Self>(frame, self.trail.row.into(), self.trail.column.into(), TRAIL);
    }
}
