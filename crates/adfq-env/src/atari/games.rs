//! What ALE makes of a game's memory: the reward, the lives, and whether the game is over; and the actions that do something.
//!
//! All of it was found by playing and by changing single bytes of the memory in `ale-py`, and watching what it says then
//! (`tests/atari/ram.py` plays, `tests/atari/games.rs` compares). Scores mostly lie in binary-coded decimal, two digits a byte.

use super::Action;
use super::Action::*;
use super::machine::{self, Controller, Input, Machine, Shown};

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

use Score::*;

/// How the lives follow from the memory.
enum Lives {
    /// They are what it says.
    Are(fn(&Ram) -> i32),
    /// So many until what it says first changes.
    From(i32, fn(&Ram) -> i32),
    /// So many at first, and then what it says, but only when these lives and this memory let it count.
    When(i32, fn(i32, &Ram) -> bool, fn(&Ram) -> i32),
}

use Lives::*;

/// A game as ALE sees it.
pub struct Game {
    /// The name of its ROM in `ale-py`.
    pub name: &'static str,
    /// The MD5 sum of its ROM.
    pub md5: &'static str,
    /// The minimal set of actions, in ALE's order.
    pub actions: &'static [Action],
    score: Score,
    lives: Lives,
    /// Whether the game is over, from the memory before and after a frame.
    over: fn(&Ram, &Ram) -> bool,
}

impl Game {
    /// The game with this name.
    ///
    /// ```
    /// use adfq_env::atari::Game;
    ///
    /// assert_eq!(Game::named("breakout").unwrap().actions.len(), 4);
    /// assert!(Game::named("Breakout").is_none());
    /// ```
    pub fn named(name: &str) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.name == name)
    }

    /// Whether our console plays it exactly as ALE does, as far as is known.
    pub fn is_exact(&self) -> bool {
        EXACT.contains(&self.name)
    }

    /// The console with its cartridge in it, as ALE has it when a game was loaded.
    pub fn console(&self, rom: &[u8]) -> Result<Machine, machine::Error> {
        let console = Machine::with(rom, self.controller(), self.shown())?;
        Ok(if self.has_comb() { console } else { console.without_comb() })
    }

    /// What its players hold.
    fn controller(&self) -> Controller {
        match self.name {
            "breakout" => Controller::Paddles,
            "pong" => Controller::SecondPaddle,
            "surround" | "wizard_of_wor" => Controller::RightJoystick,
            "skiing" => Controller::StickAlone,
            _ => Controller::Joystick,
        }
    }

    /// The lines of the picture that ALE shows.
    fn shown(&self) -> Shown {
        let (top, rows) = match self.name {
            "air_raid" => (34, 250),
            "carnival" => (26, 214),
            "journey_escape" => (34, 230),
            "qbert" => (40, 210),
            "up_n_down" => (30, 210),
            _ => (34, 210),
        };
        Shown { top, rows }
    }

    /// Whether HMOVE leaves a comb at the left edge.
    fn has_comb(&self) -> bool {
        !["asteroids", "battle_zone", "ms_pacman"].contains(&self.name)
    }

    /// The console starts a game, as ALE does: power on, a second without the player, and then what the game wants pressed before ALE
    /// says that it has begun. To set a mode, which games with several do, is to hold the reset switch a little longer.
    pub fn start(&self, console: &mut Machine) {
        console.power_on();
        for _ in 0..60 {
            console.frame(Input::default(), true);
        }
        let own = STARTS.iter().find(|(name, _)| *name == self.name);
        for &(press, frames) in own.map_or(&[(Reset, 8)][..], |&(_, presses)| presses) {
            for _ in 0..frames {
                console.frame(press.input(), true);
            }
        }
    }

    /// All of them, by name.
    pub fn all() -> &'static [Self] {
        GAMES
    }

    /// What the frame between these two memories earned.
    pub fn reward(&self, before: &Ram, now: &Ram) -> i32 {
        match self.score {
            Points(score) => score(now) - score(before),
            Rolling(score, limit) => match score(now) - score(before) {
                fallen @ ..0 => fallen + limit,
                points => points,
            },
            Between(reward) => reward(before, now),
        }
    }

    /// The lives when a game begins with this memory.
    pub fn first_lives(&self, ram: &Ram) -> i32 {
        match self.lives {
            Are(said) => said(ram),
            From(first, _) | When(first, ..) => first,
        }
    }

    /// The lives after a frame that is not the last, from those before it.
    pub fn lives(&self, lives: i32, before: &Ram, now: &Ram) -> i32 {
        match self.lives {
            From(_, said) if said(before) == said(now) => lives,
            When(_, counts, _) if !counts(lives, now) => lives,
            Are(said) | From(_, said) | When(_, _, said) => said(now),
        }
    }

    /// Whether the frame between these two memories ended the game.
    pub fn over(&self, before: &Ram, now: &Ram) -> bool {
        (self.over)(before, now)
    }
}

fn whole(byte: u8) -> i32 {
    byte.into()
}

fn low(byte: u8) -> i32 {
    (byte & 15).into()
}

fn high(byte: u8) -> i32 {
    (byte >> 4).into()
}

/// The number in these bytes, two decimal digits each, the highest first.
fn bcd(ram: &Ram, bytes: &[usize]) -> i32 {
    bytes.iter().fold(0, |number, &byte| 100 * number + 10 * high(ram[byte]) + low(ram[byte]))
}

/// The number with these digits, the highest first, each in the lower half of a byte. A 10 is a blank.
fn digits(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |number, &byte| 10 * number + if byte & 15 == 10 { 0 } else { low(byte) })
}

/// The digits of Alien are the lines of their pictures, eight each; 128 is a blank.
fn alien_score(ram: &Ram) -> i32 {
    let digit = |byte: usize| if ram[byte] == 128 { 0 } else { whole(ram[byte] >> 3) };
    [3, 5, 7, 9, 11].iter().fold(0, |number, &byte| 10 * number + digit(byte)) * 10
}

/// Those of River Raid too, and 88 is a blank.
fn riverraid_score(ram: &Ram) -> i32 {
    let digit = |byte: usize| if ram[byte] == 88 { 0 } else { whole(ram[byte] >> 3) };
    [77, 79, 81, 83, 85, 87].iter().fold(0, |number, &byte| 10 * number + digit(byte))
}

fn riverraid_lives(ram: &Ram) -> i32 {
    match ram[64] {
        88 => 4,
        89 => 1,
        line => whole(line >> 3) + 1,
    }
}

/// A knockout counts for 100.
fn knockout(byte: u8) -> i32 {
    if byte == 0xc0 { 100 } else { 10 * high(byte) + low(byte) }
}

/// By knockout, or when the clock shows no minute and no second.
fn boxing_over(_: &Ram, ram: &Ram) -> bool {
    ram[18] == 0xc0 || ram[19] == 0xc0 || (high(ram[16]) == 0 && ram[17] == 0)
}

fn climber_score(ram: &Ram) -> i32 {
    [5, 4, 3, 2].iter().fold(0, |number, &byte| 10 * number + whole(ram[byte])) * 100
}

/// Memory has the cars still to be passed on this day, of 200 on the first and of 300 on each later one.
fn enduro_score(ram: &Ram) -> i32 {
    let left = bcd(ram, &[44, 43]);
    match whole(ram[45]) {
        0 => 0,
        1 => 200 - left,
        day => 200 + 300 * (day - 1) - left,
    }
}

fn pitfall_lives(ram: &Ram) -> i32 {
    match high(ram[0]) {
        10 => 3,
        8 => 2,
        _ => 1,
    }
}

/// Before a game of Demon Attack its score is no number.
fn demon_attack_score(ram: &Ram) -> i32 {
    if [ram[1], ram[3], ram[5]] == [0xAB, 0xCD, 0xEA] { 0 } else { bcd(ram, &[1, 3, 5]) }
}

/// The lives of Q*bert start at 2, go down through 1, 0 and -1, and start again when the game does.
fn qbert_over(before: &Ram, ram: &Ram) -> bool {
    ram[8] == 254 || (ram[8] == 2 && before[8] == 255)
}

/// A game won or lost, or else a point.
fn tennis_reward(before: &Ram, ram: &Ram) -> i32 {
    let ahead = |ram: &Ram, byte: usize| whole(ram[byte]) - whole(ram[byte + 1]);
    let [games, points] = [71, 69].map(|byte| ahead(ram, byte) - ahead(before, byte));
    if games != 0 { games } else { points }
}

/// By two games from six on, or with the seventh.
fn tennis_over(_: &Ram, ram: &Ram) -> bool {
    let (own, other) = (whole(ram[71]), whole(ram[72]));
    let most = own.max(other);
    most >= 7 || (most == 6 && (own - other).abs() >= 2)
}

const ALL: &[Action] = Action::ALL;

/// What is pressed when a game starts.
#[derive(Clone, Copy)]
enum Press {
    Nothing,
    Reset,
    Select,
    Do(Action),
}

use Press::*;

impl Press {
    fn input(self) -> Input {
        match self {
            Nothing => Input::default(),
            Reset => Input { reset: true, ..Input::default() },
            Select => Input { select: true, ..Input::default() },
            Do(action) => action.input(),
        }
    }
}

/// What games want pressed, and for how many frames. All others want the reset switch, for eight frames.
const STARTS: &[(&str, &[(Press, usize)])] = &[
    ("air_raid", &[(Reset, 8), (Do(Fire), 1)]),
    ("alien", &[(Reset, 12)]),
    ("asterix", &[(Reset, 8), (Do(Fire), 1)]),
    ("asteroids", &[(Reset, 12)]),
    ("atlantis", &[(Reset, 12)]),
    ("bank_heist", &[(Reset, 12)]),
    ("battle_zone", &[(Reset, 12)]),
    ("beam_rider", &[(Reset, 8), (Do(Right), 1)]),
    ("berzerk", &[(Reset, 12), (Do(Fire), 20)]),
    ("bowling", &[(Reset, 12)]),
    ("breakout", &[(Reset, 12)]),
    ("centipede", &[(Reset, 12)]),
    ("chopper_command", &[(Reset, 12)]),
    ("crazy_climber", &[(Reset, 12)]),
    ("defender", &[(Reset, 12)]),
    ("demon_attack", &[(Reset, 12)]),
    ("enduro", &[(Reset, 8), (Do(Fire), 1)]),
    ("freeway", &[(Reset, 12)]),
    ("frostbite", &[(Reset, 12)]),
    ("gopher", &[(Reset, 16), (Do(Fire), 1)]),
    ("gravitar", &[(Reset, 8), (Do(Fire), 16)]),
    ("hero", &[(Reset, 12)]),
    ("ice_hockey", &[(Reset, 12)]),
    ("jamesbond", &[(Reset, 12)]),
    ("journey_escape", &[(Reset, 8), (Do(Fire), 1)]),
    ("kangaroo", &[(Reset, 12)]),
    ("ms_pacman", &[(Reset, 12)]),
    ("pitfall", &[(Reset, 8), (Do(Up), 1)]),
    ("pong", &[(Reset, 12)]),
    ("private_eye", &[(Reset, 12), (Do(Up), 1)]),
    ("skiing", &[(Reset, 8), (Do(Down), 16)]),
    ("space_invaders", &[(Reset, 12)]),
    ("star_gunner", &[(Reset, 12)]),
    ("surround", &[(Select, 7), (Reset, 8)]),
    ("tennis", &[(Reset, 12)]),
    ("tutankham", &[(Reset, 12)]),
    ("up_n_down", &[(Reset, 8), (Do(Fire), 1)]),
    ("video_pinball", &[(Reset, 12)]),
    ("yars_revenge", &YARS),
    ("zaxxon", &[(Reset, 12)]),
];

/// The mode of Yars' Revenge is chosen by seven strokes of the select switch.
const YARS: [(Press, usize); 16] = {
    let mut presses = [(Reset, 8); 16];
    let mut stroke = 0;
    while stroke < 7 {
        presses[2 * stroke] = (Select, 1);
        presses[2 * stroke + 1] = (Nothing, 1);
        stroke += 1;
    }
    presses[15] = (Do(Fire), 1);
    presses
};

/// The games that our console plays exactly as ALE does: memory, picture, rewards, lives and ends.
const EXACT: &[&str] = &["asterix", "boxing", "breakout", "enduro", "kung_fu_master", "pong"];

/// By name. The order of the fields is that of [`Game`].
#[rustfmt::skip]
const GAMES: &[Game] = &[
    Game {
        name: "air_raid", md5: "35be55426c1fec32dfb503b4f0651572",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[40, 41, 42])),
        lives: Are(|_| 1), over: |_, r| r[39] == 255,
    },
    Game {
        name: "alien", md5: "f1a0a23e6464d954e3a9579c4ccd01c8",
        actions: ALL,
        score: Points(alien_score),
        lives: Are(|r| low(r[64])), over: |_, r| low(r[64]) == 0,
    },
    Game {
        name: "amidar", md5: "acb7750b4d0c4bd34969802a7deb2990",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| bcd(r, &[91, 90, 89])),
        lives: Are(|r| low(r[86])), over: |_, r| r[86] == 128,
    },
    Game {
        name: "assault", md5: "de78b3a064d374390ac0710f95edde92",
        actions: &[Noop, Fire, Up, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[0, 1, 2])),
        lives: Are(|r| whole(r[101])), over: |_, r| r[101] == 0,
    },
    Game {
        name: "asterix", md5: "89a68746eff7f266bbf08de2483abe55",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Points(|r| bcd(r, &[94, 95, 96])),
        lives: Are(|r| low(r[83])), over: |_, r| r[71] == 1 && low(r[83]) == 1,
    },
    Game {
        name: "asteroids", md5: "ccbd36746ed4525821a8083b0d6d2c2c",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpRight, UpLeft, UpFire, RightFire, LeftFire, DownFire,
            UpRightFire, UpLeftFire],
        score: Rolling(|r| 10 * bcd(r, &[61, 62]), 100_000),
        lives: Are(|r| high(r[60])), over: |_, r| high(r[60]) == 0,
    },
    Game {
        name: "atlantis", md5: "9ad36e699ef6f45d9eb6c4cf90475c9f",
        actions: &[Noop, Fire, RightFire, LeftFire],
        score: Points(|r| 100 * bcd(r, &[33, 35, 34])),
        lives: Are(|r| whole(r[113])), over: |_, r| r[113] == 255,
    },
    Game {
        name: "bank_heist", md5: "00ce0bdd43aed84a983bef38fe7f5ee3",
        actions: ALL,
        score: Points(|r| bcd(r, &[88, 89, 90])),
        lives: Are(|r| whole(r[85])), over: |_, r| r[78] == 1 && r[85] == 0,
    },
    Game {
        name: "battle_zone", md5: "41f252a66c6301f1e8ab3612c19bc5d4",
        actions: ALL,
        score: Points(|r| 1000 * digits(&[r[30] >> 4, r[30], r[29] >> 4])),
        lives: Are(|r| low(r[58])), over: |_, r| low(r[58]) == 0,
    },
    Game {
        name: "beam_rider", md5: "79ab4123a83dc11d468fb2108ea09e2e",
        actions: &[Noop, Fire, Up, Right, Left, UpRight, UpLeft, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[11, 10, 9])),
        // Their byte blinks while one is lost.
        lives: When(3, |lives, r| whole(r[5]) + 1 != lives - 1 || r[12] == 1, |r| whole(r[5]) + 1),
        over: |_, r| r[5] == 255,
    },
    Game {
        name: "berzerk", md5: "136f75c4dd02c29283752b7e5799f978",
        actions: ALL,
        score: Points(|r| bcd(r, &[93, 94, 95])),
        lives: Are(|r| whole(r[90].wrapping_add(1))), over: |_, r| r[90] == 255,
    },
    Game {
        name: "bowling", md5: "c9b7afad3bfd922e006a6bfc1d4f3fe7",
        actions: &[Noop, Fire, Up, Down, UpFire, DownFire],
        score: Points(|r| bcd(r, &[38, 33])),
        lives: Are(|_| 0), over: |_, r| r[36] > 16,
    },
    Game {
        name: "boxing", md5: "c3ef5c4653212088eda54dc91d787870",
        actions: ALL,
        score: Points(|r| knockout(r[18]) - knockout(r[19])),
        lives: Are(|_| 0), over: boxing_over,
    },
    Game {
        name: "breakout", md5: "f34f08e5eb96e500e851a80be3277a56",
        actions: &[Noop, Fire, Right, Left],
        score: Points(|r| 100 * low(r[76]) + bcd(r, &[77])),
        lives: Are(|r| whole(r[57])), over: |_, r| r[57] == 0,
    },
    Game {
        name: "carnival", md5: "028024fb8e5e5f18ea586652f9799c96",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| 10 * bcd(r, &[45, 46])),
        lives: Are(|_| 0), over: |_, r| r[3] == 0,
    },
    Game {
        name: "centipede", md5: "91c2098e88a6b13f977af8c003e0bca5",
        actions: ALL,
        score: Points(|r| bcd(r, &[116, 117, 118])),
        lives: Are(|r| (high(r[109]) & 7) + 1), over: |_, r| r[38] & 64 != 0,
    },
    Game {
        name: "chopper_command", md5: "c1cb228470a87beb5f36e90ac745da26",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[108, 110])),
        lives: Are(|r| low(r[100])), over: |_, r| low(r[100]) == 0,
    },
    Game {
        name: "crazy_climber", md5: "55ef7b65066428367844342ed59f956c",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Between(|b, r| (climber_score(r) - climber_score(b)).max(0)),
        lives: Are(|r| whole(r[42])), over: |_, r| r[42] == 0,
    },
    Game {
        name: "defender", md5: "0f643c34e40e3f1daafd9c524d3ffe64",
        actions: ALL,
        score: Points(|r| digits(&[r[33], r[32], r[31], r[30], r[29], r[28]])),
        lives: Are(|r| whole(r[66])), over: |_, r| r[66] == 0,
    },
    Game {
        name: "demon_attack", md5: "f0e0addc07971561ab80d9abe1b8d333",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(demon_attack_score),
        lives: Are(|r| whole(r[114]) + 1), over: |_, r| r[114] == 0 && r[113] == 189,
    },
    Game {
        name: "enduro", md5: "94b92a882f6dbaa6993a46e2dcc58402",
        actions: &[Noop, Fire, Right, Left, Down, DownRight, DownLeft, RightFire, LeftFire],
        score: Points(enduro_score),
        lives: Are(|_| 0), over: |_, r| r[47] == 255,
    },
    Game {
        name: "fishing_derby", md5: "b8865f05676e64f3bec72b9defdacfa7",
        actions: ALL,
        score: Points(|r| bcd(r, &[61]) - bcd(r, &[62])),
        lives: Are(|_| 0), over: |_, r| r[61] == 0x99 || r[62] == 0x99,
    },
    Game {
        name: "freeway", md5: "8e0ab801b1705a740b476b7f588c6d16",
        actions: &[Noop, Up, Down],
        score: Points(|r| bcd(r, &[103])),
        lives: Are(|_| 0), over: |_, r| r[22] == 1,
    },
    Game {
        name: "frostbite", md5: "4ca73eb959299471788f0b685c3ba0b5",
        actions: ALL,
        score: Points(|r| bcd(r, &[72, 73, 74])),
        lives: Are(|r| low(r[76]) + 1), over: |_, r| r[113] & 128 != 0 && low(r[76]) == 0,
    },
    Game {
        name: "gopher", md5: "c16c79aad6272baffb8aae9a7fff0864",
        actions: &[Noop, Fire, Up, Right, Left, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[48, 49, 50])),
        lives: Are(|r| (r[52] & 7).count_ones() as i32), over: |_, r| r[52] & 7 == 0,
    },
    Game {
        name: "gravitar", md5: "8ac18076d01a6b63acf6e2cab4968940",
        actions: ALL,
        score: Points(|r| bcd(r, &[7, 8, 9])),
        lives: Are(|r| whole(r[4]) + 1), over: |_, r| r[1] == 1,
    },
    Game {
        name: "hero", md5: "fca4a5be1251927027f2c24774a02160",
        actions: ALL,
        score: Points(|r| bcd(r, &[55, 56, 57])),
        lives: Are(|r| whole(r[51])), over: |_, r| r[51] == 0,
    },
    Game {
        name: "ice_hockey", md5: "a4c08c4994eb9d24fb78be1793e82e26",
        actions: ALL,
        score: Points(|r| bcd(r, &[10]) - bcd(r, &[11])),
        lives: Are(|_| 0), over: |_, r| r[6] == 0 && r[7] == 0,
    },
    Game {
        name: "jamesbond", md5: "e51030251e440cffaab1ac63438b44ae",
        actions: ALL,
        score: Points(|r| bcd(r, &[94, 93, 92])),
        lives: Are(|r| low(r[6]) + 1), over: |_, r| r[12] == 104 && low(r[6]) == 0,
    },
    Game {
        name: "journey_escape", md5: "718ae62c70af4e5fd8e932fee216948a",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft, RightFire, LeftFire,
            DownFire, UpRightFire, UpLeftFire, DownRightFire, DownLeftFire],
        score: Points(|r| bcd(r, &[16, 17, 18])),
        lives: Are(|_| 0), over: |_, r| r[22] == 0,
    },
    Game {
        name: "kangaroo", md5: "4326edb70ff20d0ee5ba58fa5cb09d60",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[39, 40])),
        lives: Are(|r| whole(r[45] & 7) + 1), over: |_, r| r[45] == 255,
    },
    Game {
        name: "krull", md5: "4baada22435320d185c95b7dd2bcdb24",
        actions: ALL,
        score: Points(|r| bcd(r, &[28, 29, 30])),
        lives: Are(|r| whole(r[31] & 7) + 1), over: |_, r| r[31] == 0 && r[0] == 128 && r[34] == 3,
    },
    Game {
        name: "kung_fu_master", md5: "5b92a93b23523ff16e2789b820e2a4c5",
        actions: &[Noop, Up, Right, Left, Down, DownRight, DownLeft, RightFire, LeftFire, DownFire,
            UpRightFire, UpLeftFire, DownRightFire, DownLeftFire],
        score: Points(|r| bcd(r, &[24, 25, 26])),
        lives: Are(|r| whole(r[29] & 7) + 1), over: |_, r| r[29] == 255,
    },
    Game {
        name: "montezuma_revenge", md5: "3347a6dd59049b15a38394aa2dafa585",
        actions: ALL,
        score: Points(|r| bcd(r, &[19, 20, 21])),
        lives: Are(|r| whole(r[58] & 7) + 1), over: |_, r| r[58] == 0 && r[126] == 96,
    },
    Game {
        name: "ms_pacman", md5: "87e79cd41ce136fd4f72cc6e2c161bee",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Points(|r| bcd(r, &[122, 121, 120])),
        lives: Are(|r| whole(r[123] & 7) + 1), over: |_, r| r[39] == 83 && low(r[123]) == 0,
    },
    Game {
        name: "name_this_game", md5: "36306070f0c90a72461551a7a4f3a209",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[68, 69, 70])),
        lives: Are(|r| whole(r[71] & 7)), over: |_, r| r[71] & 7 == 0,
    },
    Game {
        name: "phoenix", md5: "7e52a95074a66640fcfde124fffd491a",
        actions: &[Noop, Fire, Right, Left, Down, RightFire, LeftFire, DownFire],
        score: Points(|r| 100 * bcd(r, &[73, 72]) + 10 * high(r[71])),
        lives: Are(|r| whole(r[75] & 7)), over: |_, r| r[76] == 128,
    },
    Game {
        name: "pitfall", md5: "3e90cf23106f2e08b2781e41299de556",
        actions: ALL,
        score: Points(|r| bcd(r, &[85, 86, 87])),
        lives: Are(pitfall_lives), over: |_, r| r[30] != 0 && high(r[0]) == 0,
    },
    Game {
        name: "pong", md5: "60e0ea3cbe0913d39803477945e9e5ec",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| whole(r[14]) - whole(r[13])),
        lives: Are(|_| 0), over: |_, r| r[13] == 21 || r[14] == 21,
    },
    Game {
        name: "private_eye", md5: "ef3a4f64b6494ba770862768caf04b86",
        actions: ALL,
        score: Points(|r| bcd(r, &[72, 73, 74])),
        lives: Are(|_| 0), over: |_, r| r[66] > 1,
    },
    Game {
        name: "qbert", md5: "484b0076816a104875e00467d431c2d2",
        actions: &[Noop, Fire, Up, Right, Left, Down],
        score: Between(|b, r| if qbert_over(b, r) { 0 } else { bcd(r, &[89, 90, 91]) - bcd(b, &[89, 90, 91]) }),
        lives: From(4, |r| 2 + i32::from(r[8] as i8)), over: qbert_over,
    },
    Game {
        name: "riverraid", md5: "393948436d1f4cc3192410bb918f9724",
        actions: ALL,
        score: Points(riverraid_score),
        lives: Are(riverraid_lives), over: |b, r| b[64] == 89 && r[64] == 88,
    },
    Game {
        name: "road_runner", md5: "ce5cc62608be2cd3ed8abd844efb8919",
        actions: ALL,
        score: Points(|r| 100 * digits(&[r[76], r[75], r[74], r[73]])),
        lives: Are(|r| whole(r[68] & 7) + 1), over: |_, r| r[68] & 7 == 0 && (r[57] != 0 || r[61] != 0),
    },
    Game {
        name: "robotank", md5: "4f618c2429138e0280969193ed6c107e",
        actions: ALL,
        score: Points(|r| whole(r[53]) + 12 * whole(r[54])),
        lives: Are(|r| low(r[40]) + 1), over: |_, r| low(r[40]) == 0 && r[52] == 255,
    },
    Game {
        name: "seaquest", md5: "240bfbac5163af4df5ae713985386f92",
        actions: ALL,
        score: Points(|r| bcd(r, &[56, 57, 58])),
        lives: Are(|r| whole(r[59]) + 1), over: |_, r| r[35] != 0,
    },
    Game {
        name: "skiing", md5: "b76fbadc8ffb1f83e2ca08b6fb4d6c9f",
        actions: &[Noop, Right, Left],
        score: Points(|r| -(6000 * bcd(r, &[104]) + bcd(r, &[105, 106]))),
        lives: Are(|_| 0), over: |_, r| r[17] == 255,
    },
    Game {
        name: "solaris", md5: "e72eb8d4410152bdcb69e7fba327b420",
        actions: ALL,
        score: Points(|r| 10 * bcd(r, &[94, 93, 92])),
        lives: Are(|r| low(r[89])), over: |_, r| low(r[89]) == 0,
    },
    Game {
        name: "space_invaders", md5: "72ffbef6504b75e69ee1045af9075f66",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Rolling(|r| bcd(r, &[102, 104]), 10_000),
        lives: Are(|r| whole(r[73])), over: |_, r| r[24] & 128 != 0 || r[73] == 0,
    },
    Game {
        name: "star_gunner", md5: "a3c1c70024d7aabb41381adbfb6d3b25",
        actions: ALL,
        score: Points(|r| 100 * digits(&[r[6], r[5], r[4], r[3]])),
        lives: From(5, |r| low(r[7])), over: |_, r| r[7] == 0,
    },
    Game {
        name: "surround", md5: "4d7517ae69f95cfbc053be01312b7dba",
        actions: &[Noop, Up, Right, Left, Down],
        score: Points(|r| bcd(r, &[119]) - bcd(r, &[118])),
        lives: Are(|_| 1), over: |_, r| [118, 119].iter().any(|&i| bcd(r, &[i]) == 10),
    },
    Game {
        name: "tennis", md5: "42cdd6a9e42a3639e190722b8ea3fc51",
        actions: ALL,
        score: Between(tennis_reward),
        lives: Are(|_| 0), over: tennis_over,
    },
    Game {
        name: "time_pilot", md5: "fc2104dd2dadf9a6176c1c1c8f87ced9",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| 100 * bcd(r, &[15, 13])),
        lives: When(5, |_, r| low(r[0]) == 2, |r| whole(r[11] & 7) + 1), over: |_, r| r[32] != 0,
    },
    Game {
        name: "tutankham", md5: "085322bae40d904f53bdcc56df0593fc",
        actions: &[Noop, Up, Right, Left, Down, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[26, 28])),
        lives: Are(|r| whole(r[30] & 3)), over: |_, r| r[30] == 0,
    },
    Game {
        name: "up_n_down", md5: "a499d720e7ee35c62424de882a3351b6",
        actions: &[Noop, Fire, Up, Down, UpFire, DownFire],
        score: Points(|r| bcd(r, &[0, 1, 2])),
        lives: Are(|r| low(r[6]) + 1), over: |_, r| low(r[6]) == 0 && r[20] & 128 != 0,
    },
    Game {
        name: "venture", md5: "3e899eba0ca8cd2972da1ae5479b4f0d",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[71, 72])),
        lives: Are(|r| whole(r[70] & 7) + 1), over: |_, r| r[70] == 0 && r[77] == 255 && r[63] & 128 != 0,
    },
    Game {
        name: "video_pinball", md5: "107cc025334211e6d29da0b6be46aec7",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[52, 50, 48])),
        lives: Are(|r| 4 + whole(r[40] & 1) - whole(r[25] & 7)), over: |_, r| r[47] & 1 != 0,
    },
    Game {
        name: "wizard_of_wor", md5: "7e8aa18bc9502eb57daaf5e7c1e94da7",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| 10_000 * (10 * (high(r[8]) & 7) + low(r[8])) + 100 * bcd(r, &[6])),
        // The memory has those in reserve while one plays.
        lives: When(3, |_, r| r[87] & 1 == 0, |r| low(r[13])), over: |_, r| r[13] == 0 && r[116] == 248,
    },
    Game {
        name: "yars_revenge", md5: "c5930d0e8cdae3e037349bfa08e871be",
        actions: ALL,
        score: Points(|r| bcd(r, &[96, 97, 98])),
        lives: Are(|r| high(r[30])), over: |_, r| high(r[30]) == 0,
    },
    Game {
        name: "zaxxon", md5: "eea0da9b987d661264cce69a7c13c3bd",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[104, 105])),
        lives: Are(|r| whole(r[106] & 7)), over: |_, r| r[106] & 7 == 0,
    },
];
