//! Seaquest: a submarine that picks up divers, fights fish and submarines, and must surface for air.
//!
//! Only the rules live here; who chooses actions and where chance comes from is in [`minatar`](super). Some of them one
//! would not guess: an enemy submarine that swims into a torpedo may still fire, and setting a full load ashore leaves one
//! diver less than none aboard, so that the next surfacing needs none.

use super::{Action, Chance, Game, Over, SIDE, mark};
use serde::{Deserialize, Serialize};

/// Steps of air in a full tank.
const AIR: i32 = 200;
/// A full load of divers.
const LOAD: i32 = 6;
/// Steps between two torpedoes of the player, and of an enemy.
const RELOAD: u8 = 5;
const ENEMY_RELOAD: u8 = 10;
/// Steps between two divers, and a diver's between two strokes.
const DIVER_INTERVAL: u8 = 30;
const DIVER_PACE: u8 = 5;
/// Steps between two enemies and between an enemy's two strokes, at first and the fewest that ramping comes to.
const FIRST_INTERVAL: u8 = 20;
const LAST_INTERVAL: u8 = 1;
const FIRST_PACE: u8 = 5;
const LAST_PACE: u8 = 2;
/// The surface, and the lowest row with water; below is the row of gauges.
const SURFACE: i8 = 0;
const FLOOR: i8 = SIDE as i8 - 2;

/// What a step comes to.
#[derive(Default)]
struct Outcome {
    reward: i32,
    lost: bool,
}

/// A cell and which way it is faced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    x: i8,
    y: i8,
    rightward: bool,
}

impl Place {
    /// Where a newcomer enters: at the edge it leaves behind, in any row of water.
    fn entrance(rightward: bool, chance: &mut impl Chance) -> Self {
        let x = if rightward { 0 } else { SIDE as i8 - 1 };
        Self { x, y: 1 + chance.below(8) as i8, rightward }
    }

    fn meets(&self, other: &Self) -> bool {
        (self.x, self.y) == (other.x, other.y)
    }

    /// One cell forward; false if that is off the board.
    fn advance(&mut self) -> bool {
        self.x += if self.rightward { 1 } else { -1 };
        (0..SIDE as i8).contains(&self.x)
    }

    /// The cell behind, where the tail is drawn.
    fn behind(&self) -> Self {
        Self { x: if self.rightward { self.x - 1 } else { self.x + 1 }, ..*self }
    }
}

/// A diver, fish or enemy submarine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Swimmer {
    at: Place,
    /// Steps until it moves.
    wait: u8,
    /// Steps until it fires, for a submarine.
    reload: u8,
}

impl Swimmer {
    /// Whether it moves in this step; it then waits `pace` steps.
    fn stroke(&mut self, pace: u8) -> bool {
        let moves = self.wait == 0;
        self.wait = if moves { pace } else { self.wait - 1 };
        moves
    }

    /// A step of a fish or an enemy submarine: it ends the game where it meets the player, before or after its move, and
    /// is sunk where it swims into a torpedo. False if it is gone.
    fn hunt(&mut self, player: &Place, pace: u8, torpedoes: &mut Vec<Place>, outcome: &mut Outcome) -> bool {
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

/// Seaquest. Fish and enemy submarines sunk are worth 1 each, six divers brought up together as much as there are tenths
/// of air left. The game ends when something hits the player, without air, or at the surface with no diver aboard. Each
/// surfacing makes it harder.
///
/// Channels: the submarine's front, its back, its torpedoes, the tail of whatever swims, enemy torpedoes, fish, enemy
/// submarines, the gauge of air, the gauge of divers aboard, divers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seaquest {
    ramping: bool,
    player: Place,
    air: i32,
    /// Divers aboard. Each surfacing costs one, after a full load was set ashore too: so it can fall below zero.
    aboard: i32,
    surfaced: bool,
    torpedoes: Vec<Place>,
    enemy_torpedoes: Vec<Place>,
    fish: Vec<Swimmer>,
    submarines: Vec<Swimmer>,
    divers: Vec<Swimmer>,
    until_enemy: u8,
    until_diver: u8,
    until_torpedo: u8,
    /// Steps between two enemies.
    interval: u8,
    /// Steps between an enemy's strokes.
    pace: u8,
    /// How often the game has become harder.
    ramps: u32,
}

impl Seaquest {
    fn spawn_enemy(&mut self, chance: &mut impl Chance) {
        let rightward = chance.unit() < 0.5;
        let submarine = chance.unit() < 1.0 / 3.0;
        let at = Place::entrance(rightward, chance);
        let mut enemies = self.fish.iter().chain(&self.submarines);
        if enemies.any(|other| other.at.y == at.y && other.at.rightward != rightward) {
            return;
        }
        let kind = if submarine { &mut self.submarines } else { &mut self.fish };
        kind.push(Swimmer { at, wait: self.pace, reload: ENEMY_RELOAD });
    }

    fn spawn(&mut self, chance: &mut impl Chance) {
        if self.until_enemy == 0 {
            self.spawn_enemy(chance);
            self.until_enemy = self.interval;
        }
        if self.until_diver == 0 {
            let rightward = chance.unit() < 0.5;
            self.divers.push(Swimmer { at: Place::entrance(rightward, chance), wait: DIVER_PACE, reload: 0 });
            self.until_diver = DIVER_INTERVAL;
        }
    }

    fn command(&mut self, action: Action) {
        let player = &mut self.player;
        match action {
            Action::Noop => {}
            Action::Left => (player.x, player.rightward) = ((player.x - 1).max(0), false),
            Action::Right => (player.x, player.rightward) = ((player.x + 1).min(SIDE as i8 - 1), true),
            Action::Up => player.y = (player.y - 1).max(SURFACE),
            Action::Down => player.y = (player.y + 1).min(FLOOR),
            Action::Fire if self.until_torpedo == 0 => {
                self.torpedoes.push(*player);
                self.until_torpedo = RELOAD;
            }
            Action::Fire => {}
        }
    }

    /// Torpedoes run; each sinks the first fish, or else submarine, that it meets.
    fn run_torpedoes(&mut self, outcome: &mut Outcome) {
        let (fish, submarines) = (&mut self.fish, &mut self.submarines);
        self.torpedoes.retain_mut(|torpedo| {
            if !torpedo.advance() {
                return false;
            }
            for kind in [&mut *fish, &mut *submarines] {
                if let Some(hit) = kind.iter().position(|enemy| enemy.at.meets(torpedo)) {
                    kind.remove(hit);
                    outcome.reward += 1;
                    return false;
                }
            }
            true
        });
    }

    /// Divers swim, and board where they meet the player. The latest comes first: it matters who gets the last place.
    fn swim_divers(&mut self) {
        for index in (0..self.divers.len()).rev() {
            let (player, room, diver) = (self.player, self.aboard < LOAD, &mut self.divers[index]);
            let mut boards = room && diver.at.meets(&player);
            let mut away = false;
            if !boards && diver.stroke(DIVER_PACE) {
                away = !diver.at.advance();
                boards = room && diver.at.meets(&player);
            }
            self.aboard += i32::from(boards);
            if boards || away {
                self.divers.remove(index);
            }
        }
    }

    /// Enemy submarines swim and fire, even if sunk in this very step.
    fn swim_submarines(&mut self, outcome: &mut Outcome) {
        let (player, pace) = (self.player, self.pace);
        let (torpedoes, enemy_torpedoes) = (&mut self.torpedoes, &mut self.enemy_torpedoes);
        self.submarines.retain_mut(|enemy| {
            let stays = enemy.hunt(&player, pace, torpedoes, outcome);
            if enemy.reload == 0 {
                enemy.reload = ENEMY_RELOAD;
                enemy_torpedoes.push(enemy.at);
            } else {
                enemy.reload -= 1;
            }
            stays
        });
    }

    fn run_enemy_torpedoes(&mut self, outcome: &mut Outcome) {
        let player = self.player;
        self.enemy_torpedoes.retain_mut(|torpedo| {
            outcome.lost |= torpedo.meets(&player);
            let stays = torpedo.advance();
            outcome.lost |= torpedo.meets(&player);
            stays
        });
    }

    fn swim_fish(&mut self, outcome: &mut Outcome) {
        let (player, pace, torpedoes) = (self.player, self.pace, &mut self.torpedoes);
        self.fish.retain_mut(|fish| fish.hunt(&player, pace, torpedoes, outcome));
    }

    /// Air is spent below and renewed above, for those who bring a diver. Once it is at 0, surfacing is too late.
    fn breathe(&mut self, outcome: &mut Outcome) {
        outcome.lost |= self.air <= 0;
        if self.player.y > SURFACE {
            self.air -= 1;
            self.surfaced = false;
        } else if !self.surfaced {
            if self.aboard == 0 {
                outcome.lost = true;
            } else {
                outcome.reward += self.surface();
            }
        }
    }

    /// Sets a full load ashore, takes air and loses a diver; the game gets harder. Returns the reward: 10 for a full load
    /// with full air.
    fn surface(&mut self) -> i32 {
        self.surfaced = true;
        let mut reward = 0;
        if self.aboard == LOAD {
            self.aboard = 0;
            reward = self.air * 10 / AIR;
        }
        self.air = AIR;
        self.aboard -= 1;
        if self.ramping && (self.interval > LAST_INTERVAL || self.pace > LAST_PACE) {
            if self.pace > LAST_PACE && self.ramps % 2 == 1 {
                self.pace -= 1;
            }
            if self.interval > LAST_INTERVAL {
                self.interval -= 1;
            }
            self.ramps += 1;
        }
        reward
    }
}

impl Game for Seaquest {
    const NAME: &'static str = "seaquest";
    const CHANNELS: usize = 10;
    const MINIMAL_ACTIONS: &'static [Action] =
        &[Action::Noop, Action::Left, Action::Up, Action::Right, Action::Down, Action::Fire];

    fn new(ramping: bool) -> Self {
        Self {
            ramping,
            player: Place { x: 5, y: SURFACE, rightward: false },
            air: AIR,
            aboard: 0,
            surfaced: true,
            torpedoes: Vec::new(),
            enemy_torpedoes: Vec::new(),
            fish: Vec::new(),
            submarines: Vec::new(),
            divers: Vec::new(),
            until_enemy: FIRST_INTERVAL,
            until_diver: DIVER_INTERVAL,
            until_torpedo: 0,
            interval: FIRST_INTERVAL,
            pace: FIRST_PACE,
            ramps: 0,
        }
    }

    fn reset(&mut self, _: &mut impl Chance) {
        *self = Self::new(self.ramping);
    }

    fn act(&mut self, action: Action, chance: &mut impl Chance) -> (f64, Over) {
        let mut outcome = Outcome::default();
        self.spawn(chance);
        self.command(action);
        self.run_torpedoes(&mut outcome);
        self.swim_divers();
        self.swim_submarines(&mut outcome);
        self.run_enemy_torpedoes(&mut outcome);
        self.swim_fish(&mut outcome);
        for timer in [&mut self.until_enemy, &mut self.until_diver, &mut self.until_torpedo] {
            *timer = timer.saturating_sub(1);
        }
        self.breathe(&mut outcome);
        (f64::from(outcome.reward), if outcome.lost { Over::Ended } else { Over::No })
    }

    fn draw(&self, frame: &mut [u8]) {
        // A negative column becomes a huge one, which is not drawn.
        let mut put = |x: i8, y: i8, channel| mark::<Self>(frame, y as usize, x as usize, channel);
        put(self.player.x, self.player.y, 0);
        let back = self.player.behind();
        put(back.x, back.y, 1);
        for (channel, torpedoes) in [(2, &self.torpedoes), (4, &self.enemy_torpedoes)] {
            torpedoes.iter().for_each(|at| put(at.x, at.y, channel));
        }
        for (channel, kind) in [(5, &self.fish), (6, &self.submarines), (9, &self.divers)] {
            for swimmer in kind {
                put(swimmer.at.x, swimmer.at.y, channel);
                let tail = swimmer.at.behind();
                put(tail.x, tail.y, 3);
            }
        }
        let gauges = SIDE as i8 - 1;
        (0..(self.air * 10 / AIR) as i8).for_each(|x| put(x, gauges, 7));
        (gauges - self.aboard.max(0) as i8..gauges).for_each(|x| put(x, gauges, 8));
    }
}
