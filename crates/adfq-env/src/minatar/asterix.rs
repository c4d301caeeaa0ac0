//! Asterix: treasure to gather, enemies to avoid, both crossing the screen.

use super::{Action, Chance, Game, Over, mark};
use serde::{Deserialize, Serialize};

/// Steps from one newcomer to the next, at the start.
const SPAWN_PAUSE: u8 = 10;
/// Steps from one move of things to the next, at the start.
const MOVE_PAUSE: u8 = 5;
/// Steps at one level of difficulty, before the one in which it rises.
const LEVEL: u8 = 101;

const PLAYER: usize = 0;
const ENEMY: usize = 1;
const TRAIL: usize = 2;
const GOLD: usize = 3;

/// Asterix. Enemies and treasure come in from the sides, at most one in each of the rows 1 to 8, and cross the screen.
/// Treasure is worth 1; the game ends when the player meets an enemy. It gets harder by things coming and moving more
/// often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asterix {
    ramping: bool,
    row: u8,
    column: u8,
    /// What is in rows 1 to 8.
    things: [Option<Thing>; 8],
    spawn: Timer,
    step: Timer,
    /// Steps until it gets harder.
    level: u8,
    /// Whether the next time things will also move more often: every second time they do.
    quicken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Thing {
    column: u8,
    right: bool,
    gold: bool,
}

/// Comes round every `pause` steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Timer {
    pause: u8,
    left: u8,
}

impl Timer {
    fn new(pause: u8) -> Self {
        Self { pause, left: pause }
    }

    /// One step: whether it has come round.
    fn tick(&mut self) -> bool {
        let round = self.left == 0;
        if round {
            self.left = self.pause;
        }
        self.left -= 1;
        round
    }

    fn quicken(&mut self) {
        self.pause = (self.pause - 1).max(1);
    }
}

impl Thing {
    /// The cell ahead or behind, if there is one.
    fn beside(&self, ahead: bool) -> Option<u8> {
        if ahead == self.right {
            Some(self.column + 1).filter(|&c| c < 10)
        } else {
            self.column.checked_sub(1)
        }
    }
}

impl Asterix {
    /// Something comes in from a side, in one of the free rows; if there is none, it does not come.
    fn spawn(&mut self, chance: &mut impl Chance) {
        let right = chance.unit() < 0.5;
        let gold = chance.unit() < 1.0 / 3.0;
        let free = self.things.iter().filter(|thing| thing.is_none()).count();
        if free == 0 {
            return;
        }
        let chosen = chance.below(free as u32) as usize;
        if let Some(thing) = self.things.iter_mut().filter(|thing| thing.is_none()).nth(chosen) {
            *thing = Some(Thing { column: if right { 0 } else { 9 }, right, gold });
        }
    }

    fn walk(&mut self, action: Action) {
        match action {
            Action::Left => self.column = self.column.saturating_sub(1),
            Action::Right => self.column = (self.column + 1).min(9),
            Action::Up => self.row = (self.row - 1).max(1),
            Action::Down => self.row = (self.row + 1).min(8),
            Action::Noop | Action::Fire => {}
        }
    }

    /// What happens where the player is: only a thing in the player's row can be met.
    fn meet(&mut self) -> (f64, Over) {
        let here = &mut self.things[usize::from(self.row) - 1];
        match *here {
            Some(thing) if thing.column == self.column => {
                if thing.gold {
                    *here = None;
                    (1.0, Over::No)
                } else {
                    (0.0, Over::Ended)
                }
            }
            _ => (0.0, Over::No),
        }
    }

    fn move_things(&mut self) {
        for slot in &mut self.things {
            *slot = slot.and_then(|thing| Some(Thing { column: thing.beside(true)?, ..thing }));
        }
    }

    /// Every level, as long as anything can get quicker, things come more often, and every second time move more often.
    fn get_harder(&mut self) {
        if !self.ramping || self.spawn.pause == 1 && self.step.pause == 1 {
            return;
        }
        if self.level > 0 {
            self.level -= 1;
            return;
        }
        self.level = LEVEL;
        if self.quicken {
            self.step.quicken();
        }
        self.quicken = !self.quicken;
        self.spawn.quicken();
    }
}

impl Game for Asterix {
    const NAME: &'static str = "asterix";
    const CHANNELS: usize = 4;
    const MINIMAL_ACTIONS: &'static [Action] =
        &[Action::Noop, Action::Left, Action::Up, Action::Right, Action::Down];

    fn new(ramping: bool) -> Self {
        Self {
            ramping,
            row: 5,
            column: 5,
            things: [None; 8],
            spawn: Timer::new(SPAWN_PAUSE),
            step: Timer::new(MOVE_PAUSE),
            level: LEVEL,
            quicken: false,
        }
    }

    fn reset(&mut self, _chance: &mut impl Chance) {
        *self = Self::new(self.ramping);
    }

    fn act(&mut self, action: Action, chance: &mut impl Chance) -> (f64, Over) {
        if self.spawn.tick() {
            self.spawn(chance);
        }
        self.walk(action);
        let (mut reward, mut over) = self.meet();
        if self.step.tick() {
            self.move_things();
            let (more, met) = self.meet();
            reward += more;
            if met != Over::No {
                over = met;
            }
        }
        self.get_harder();
        (reward, over)
    }

    fn draw(&self, frame: &mut [u8]) {
        mark::<Self>(frame, self.row.into(), self.column.into(), PLAYER);
        for (row, thing) in (1..).zip(&self.things).filter_map(|(row, thing)| Some((row, (*thing)?))) {
            mark::<Self>(frame, row, thing.column.into(), if thing.gold { GOLD } else { ENEMY });
            if let Some(behind) = thing.beside(false) {
                mark::<Self>(frame, row, behind.into(), TRAIL);
            }
        }
    }
}
