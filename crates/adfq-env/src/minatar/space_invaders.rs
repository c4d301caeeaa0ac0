//! Space Invaders: a cannon below, aliens above that march sideways and sink a row at each edge.
//!
//! Only the rules live here; who chooses actions and where chance comes from is in [`minatar`](super). No draw is
//! ever made: given the actions, the game is certain. Some rules one would not guess: a new wave keeps the heading
//! and the timers of the old one, and an alien drops its bomb *before* the shot that reached it kills it.

use super::{Action, Chance, Game, Over, SIDE, mark};
use serde::{Deserialize, Serialize};

/// Steps between two shots of the cannon.
const RELOAD: u8 = 5;
/// Steps between two bombs.
const BOMB_INTERVAL: u8 = 10;
/// Steps between two moves of many aliens: in the first wave, and the fewest that ramping comes to.
const FIRST_PACE: u8 = 12;
const LAST_PACE: u8 = 6;

/// A flag for each cell: bit x of row y.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cells([u16; SIDE]);

impl Cells {
    /// Four rows of six aliens.
    const WAVE: Self = {
        let row = 0b00_1111_1100;
        Self([row, row, row, row, 0, 0, 0, 0, 0, 0])
    };

    fn has(&self, x: usize, y: usize) -> bool {
        self.0[y] >> x & 1 == 1
    }

    fn set(&mut self, x: usize, y: usize) {
        self.0[y] |= 1 << x;
    }

    /// The cells that are set, as (x, y).
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().enumerate().flat_map(|(y, &row)| {
            // Each time without its lowest bit.
            let rests = std::iter::successors(Some(row), |rest| Some(rest & rest.wrapping_sub(1)));
            rests.take_while(|&rest| rest != 0).map(move |rest| (rest.trailing_zeros() as usize, y))
        })
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|row| row.count_ones()).sum()
    }

    /// Which columns hold anything.
    fn columns(&self) -> u16 {
        self.0.iter().fold(0, |any, row| any | row)
    }

    /// All a row up; the uppermost is lost.
    fn rise(&mut self) {
        self.0.rotate_left(1);
        self.0[SIDE - 1] = 0;
    }

    /// All a row down; the lowest comes back at the top.
    fn sink(&mut self) {
        self.0.rotate_right(1);
    }

    /// What both hold.
    fn common(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|y| self.0[y] & other.0[y]))
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(row, gone)| *row &= !gone);
    }
}

/// Space Invaders. An alien shot is worth 1. The game ends when a bomb or an alien hits the cannon, or the aliens cannot
/// sink further. Few aliens move faster, and each cleared wave is followed by one that moves faster.
///
/// Channels: cannon, alien, alien heading left, alien heading right, shot, bomb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpaceInvaders {
    ramping: bool,
    /// Column of the cannon, which stands in the lowest row.
    cannon: usize,
    shots: Cells,
    bombs: Cells,
    aliens: Cells,
    leftward: bool,
    /// The most steps between two moves of the aliens; fewer aliens than that move as often as they are few.
    pace: u8,
    until_move: u8,
    until_bomb: u8,
    until_shot: u8,
}

impl SpaceInvaders {
    const GROUND: usize = SIDE - 1;

    fn command(&mut self, action: Action) {
        match action {
            Action::Fire if self.until_shot == 0 => {
                self.shots.set(self.cannon, Self::GROUND);
                self.until_shot = RELOAD;
            }
            Action::Left => self.cannon = self.cannon.saturating_sub(1),
            Action::Right => self.cannon = (self.cannon + 1).min(SIDE - 1),
            _ => {}
        }
    }

    /// Shots rise, bombs fall. Returns whether the cannon is hit.
    fn fly(&mut self) -> bool {
        self.shots.rise();
        self.bombs.sink();
        self.bombs.0[0] = 0;
        self.bombs.has(self.cannon, Self::GROUND)
    }

    /// The aliens' move, when it is time. Returns whether they have won: one is where the cannon is, before the move or
    /// after, or one on the ground was to sink further.
    fn march(&mut self) -> bool {
        let mut won = self.aliens.has(self.cannon, Self::GROUND);
        if self.until_move > 0 {
            return won;
        }
        self.until_move = self.aliens.count().min(u32::from(self.pace)) as u8;
        let edge = if self.leftward { 0 } else { SIDE - 1 };
        if self.aliens.columns() >> edge & 1 == 1 {
            self.leftward = !self.leftward;
            won |= self.aliens.0[Self::GROUND] != 0;
            self.aliens.sink();
        } else if self.leftward {
            self.aliens.0.iter_mut().for_each(|row| *row >>= 1);
        } else {
            self.aliens.0.iter_mut().for_each(|row| *row <<= 1);
        }
        won || self.aliens.has(self.cannon, Self::GROUND)
    }

    /// The lowest alien of the column nearest to the cannon, the left one of two, drops a bomb where it is.
    fn bomb(&mut self) {
        if self.until_bomb > 0 {
            return;
        }
        self.until_bomb = BOMB_INTERVAL;
        let columns = (0..SIDE).filter(|x| self.aliens.columns() >> x & 1 == 1);
        if let Some(x) = columns.min_by_key(|x| x.abs_diff(self.cannon))
            && let Some(y) = (0..SIDE).rfind(|&y| self.aliens.has(x, y))
        {
            self.bombs.set(x, y);
        }
    }

    /// Removes each alien that a shot has reached, with the shot. Returns their number.
    fn hit(&mut self) -> u32 {
        let hits = self.aliens.common(&self.shots);
        self.aliens.remove(&hits);
        self.shots.remove(&hits);
        hits.count()
    }

    fn next_wave(&mut self) {
        if self.ramping && self.pace > LAST_PACE {
            self.pace -= 1;
        }
        self.aliens = Cells::WAVE;
    }
}

impl Game for SpaceInvaders {
    const NAME: &'static str = "space_invaders";
    const CHANNELS: usize = 6;
    const MINIMAL_ACTIONS: &'static [Action] = &[Action::Noop, Action::Left, Action::Right, Action::Fire];

    fn new(ramping: bool) -> Self {
        Self {
            ramping,
            cannon: 5,
            shots: Cells::default(),
            bombs: Cells::default(),
            aliens: Cells::WAVE,
            leftward: true,
            pace: FIRST_PACE,
            until_move: FIRST_PACE,
            until_bomb: BOMB_INTERVAL,
            until_shot: 0,
        }
    }

    fn reset(&mut self, _: &mut impl Chance) {
        *self = Self::new(self.ramping);
    }

    fn act(&mut self, action: Action, _: &mut impl Chance) -> (f64, Over) {
        self.command(action);
        let lost = self.fly() | self.march();
        self.bomb();
        let hits = self.hit();
        self.until_shot = self.until_shot.saturating_sub(1);
        self.until_move -= 1;
        self.until_bomb -= 1;
        if self.aliens.count() == 0 {
            self.next_wave();
        }
        (f64::from(hits), if lost { Over::Ended } else { Over::No })
    }

    fn draw(&self, frame: &mut [u8]) {
        mark::<Self>(frame, Self::GROUND, self.cannon, 0);
        let heading = if self.leftward { 2 } else { 3 };
        for (channel, cells) in
            [(1, &self.aliens), (heading, &self.aliens), (4, &self.shots), (5, &self.bombs)]
        {
            for (x, y) in cells.iter() {
                mark::<Self>(frame, y, x, channel);
            }
        }
    }
}
