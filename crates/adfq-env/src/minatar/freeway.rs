//! Freeway: a chicken crosses a road of eight lanes.

use super::{Action, Chance, Game, Over, SIDE, mark};
use serde::{Deserialize, Serialize};

/// The chicken's column; it never leaves it.
const COLUMN: u8 = 4;
/// Where it starts and is sent back to; row 0 is the other side.
const HOME: u8 = 9;
/// Steps from one move of the chicken until it can make the next.
const REST: u8 = 3;
/// An episode has one step more than this.
const CLOCK: u16 = 2500;

const CHICKEN: usize = 0;
const CAR: usize = 1;
/// The trail of a car that pauses for one step between its moves; the channels of longer pauses follow.
const TRAIL: usize = 2;

/// Freeway. To reach the other side is worth 1, and the cars then drive at new speeds; a car that hits the chicken sends it
/// home. The trails tell how fast a car drives and where it comes from. The only end is that of a clock, which cannot be
/// seen: [`Over::TimeUp`]. It does not get harder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freeway {
    row: u8,
    /// Steps until the chicken can move.
    rest: u8,
    clock: u16,
    /// In rows 1 to 8.
    cars: [Car; 8],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Car {
    column: u8,
    right: bool,
    /// From 1 to 5: how many steps it waits between its moves.
    pause: u8,
    /// Steps left of the present pause.
    wait: u8,
}

impl Car {
    /// The cell ahead or behind; the road goes round.
    fn beside(&self, ahead: bool) -> u8 {
        (self.column + if ahead == self.right { 1 } else { 9 }) % SIDE as u8
    }

    fn drive(&mut self) {
        if self.wait == 0 {
            self.column = self.beside(true);
            self.wait = self.pause;
        } else {
            self.wait -= 1;
        }
    }
}

impl Freeway {
    /// New speeds and directions; the cars stay where they are.
    fn speed_up(&mut self, chance: &mut impl Chance) {
        for car in &mut self.cars {
            car.pause = 1 + chance.below(5) as u8;
            car.wait = car.pause;
        }
        for car in &mut self.cars {
            car.right = chance.unit() >= 0.5;
        }
    }

    /// The chicken moves, or rests; whether it got to the other side.
    fn walk(&mut self, action: Action) -> bool {
        if self.rest == 0 && matches!(action, Action::Up | Action::Down) {
            self.rest = REST;
            self.row =
                if action == Action::Up { self.row.saturating_sub(1) } else { (self.row + 1).min(HOME) };
        }
        self.rest = self.rest.saturating_sub(1);
        self.row == 0
    }

    /// The cars move one after the other, and may hit the chicken before and after.
    fn traffic(&mut self) {
        for (row, car) in (1..).zip(&mut self.cars) {
            let here = row == self.row;
            let before = car.column == COLUMN;
            car.drive();
            if here && (before || car.column == COLUMN) {
                self.row = HOME;
            }
        }
    }
}

impl Game for Freeway {
    const NAME: &'static str = "freeway";
    const CHANNELS: usize = 7;
    const MINIMAL_ACTIONS: &'static [Action] = &[Action::Noop, Action::Up, Action::Down];

    fn new(_ramping: bool) -> Self {
        Self { row: HOME, rest: REST, clock: CLOCK, cars: [Car { pause: 1, ..Car::default() }; 8] }
    }

    fn reset(&mut self, chance: &mut impl Chance) {
        *self = Self::new(false);
        self.speed_up(chance);
    }

    fn act(&mut self, action: Action, chance: &mut impl Chance) -> (f64, Over) {
        let mut reward = 0.0;
        if self.walk(action) {
            reward = 1.0;
            self.speed_up(chance);
            self.row = HOME;
        }
        self.traffic();
        if self.clock == 0 {
            return (reward, Over::TimeUp);
        }
        self.clock -= 1;
        (reward, Over::No)
    }

    fn draw(&self, frame: &mut [u8]) {
        mark::<Self>(frame, self.row.into(), COLUMN.into(), CHICKEN);
        for (row, car) in (1..).zip(&self.cars) {
            mark::<Self>(frame, row, car.column.into(), CAR);
            mark::<Self>(frame, row, car.beside(false).into(), TRAIL + usize::from(car.pause) - 1);
        }
    }
}
