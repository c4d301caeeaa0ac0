//! What ALE knows of games: how they start, what it makes of their memory (the reward, the lives, and whether the game is over), and
//! the actions that do something.
//!
//! All of it was found by playing and by changing single bytes of the memory in `ale-py`, and watching what it says then
//! (`tests/atari/ram.py` plays, `tests/atari/games.rs` compares). Scores mostly lie in binary-coded decimal, two digits a byte.

mod rules;
mod start;
mod table;

use super::Action;
use super::machine::{self, Controller, Input, Machine, Shown};
use start::Presses;

/// The console's memory.
pub type Ram = [u8; 128];

/// How a reward follows from the memory.
enum Score {
    /// The difference of two scores.
    Points(fn(&Ram) -> i32),
    /// The same, but after so many points the score starts at 0 again, and never falls.
    Rolling(fn(&Ram) -> i32, i32),
    /// A rule of its own, from the memory before and after a frame.
    Between(fn(&Ram, &Ram) -> i32),
}

/// How the lives follow from the memory.
enum Lives {
    /// They are always so many.
    Always(i32),
    /// They are what it says.
    Are(fn(&Ram) -> i32),
    /// So many at first, and then what a rule makes of those before a frame and of the memory before and after it.
    Follow(i32, fn(i32, &Ram, &Ram) -> i32),
}

/// A game as ALE sees it.
pub struct Game {
    /// The name of its ROM in `ale-py`.
    pub name: &'static str,
    /// The MD5 sum of its ROM.
    pub md5: &'static str,
    /// The minimal set of actions, in ALE's order.
    pub actions: &'static [Action],
    /// What its players hold.
    controller: Controller,
    /// The lines of the picture that ALE shows.
    shown: Shown,
    /// Whether HMOVE leaves a comb at the left edge.
    comb: bool,
    /// Whether each frame is drawn, and not just those that are seen: a frame that the game cuts short shows what is left of the one
    /// before the last.
    pub(super) draw_all: bool,
    start: Presses,
    score: Score,
    lives: Lives,
    /// Whether the game is over, from the memory before and after a frame.
    over: fn(&Ram, &Ram) -> bool,
}

impl Game {
    /// The game with this name, if the console of this crate plays it.
    ///
    /// ```
    /// use adfq_env::atari::Game;
    ///
    /// assert_eq!(Game::named("breakout").unwrap().actions.len(), 4);
    /// assert!(Game::named("Breakout").is_none());
    /// ```
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|game| game.name == name)
    }

    /// All of them, by name. The tests hold each against ALE: its memory and picture, its rewards, lives and ends, and the whole
    /// environment.
    pub fn all() -> &'static [Self] {
        table::GAMES
    }

    /// The console with its cartridge in it, as ALE has it when a game was loaded.
    pub fn console(&self, rom: &[u8]) -> Result<Machine, machine::Error> {
        let console = Machine::with(rom, self.controller, self.shown)?;
        Ok(if self.comb { console } else { console.without_comb() })
    }

    /// The console starts a game, as ALE does: power on, a second without the player, and then what the game wants pressed before ALE
    /// says that it has begun.
    pub fn start(&self, console: &mut Machine) {
        console.power_on();
        for _ in 0..60 {
            console.frame(Input::default(), true);
        }
        for &(press, frames) in self.start {
            for _ in 0..frames {
                console.frame(press.input(), true);
            }
        }
    }

    /// What the frame between these two memories earned.
    pub fn reward(&self, before: &Ram, now: &Ram) -> i32 {
        match self.score {
            Score::Points(score) => score(now) - score(before),
            Score::Rolling(score, limit) => match score(now) - score(before) {
                fallen @ ..0 => fallen + limit,
                points => points,
            },
            Score::Between(reward) => reward(before, now),
        }
    }

    /// The lives when a game begins with this memory.
    pub fn first_lives(&self, ram: &Ram) -> i32 {
        match self.lives {
            Lives::Always(lives) => lives,
            Lives::Are(said) => said(ram),
            Lives::Follow(first, _) => first,
        }
    }

    /// The lives after a frame, from those before it.
    pub fn lives(&self, lives: i32, before: &Ram, now: &Ram) -> i32 {
        match self.lives {
            Lives::Always(lives) => lives,
            _ if self.over(before, now) => 0,
            Lives::Are(said) => said(now),
            Lives::Follow(_, rule) => rule(lives, before, now),
        }
    }

    /// Whether the frame between these two memories ended the game.
    pub fn over(&self, before: &Ram, now: &Ram) -> bool {
        (self.over)(before, now)
    }
}
