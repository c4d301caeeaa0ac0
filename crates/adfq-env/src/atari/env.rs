//! A game as an environment: what ALE's vector environment and the bridge's worker do around the console, with settings by ALE's names, and saved states.

use super::Action;
use super::games::{Game, Ram};
use super::machine::Machine;
use super::screen::{SIDE, Screen};
use crate::episode::{refuse, restore, save};
use crate::{Args, Element, Env, Error, Picture, Purpose, Result, Space, Step};
use adfq::random::{ChaCha8Rng, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a game is played, by the names of ALE's vector environment and with its values, but for the number of frames in an observation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The probability that the console is given the last action again, drawn at every frame.
    pub repeat_action_probability: f64,
    /// Whether there are all eighteen actions, and not just those that do something.
    pub full_action_space: bool,
    /// For how many frames an action is held.
    pub frameskip: u32,
    /// Whether the brighter of the last two frames is seen, or the last alone.
    pub maxpool: bool,
    /// A game starts with fewer frames without an action than this, if not 0.
    pub noop_max: u32,
    /// Whether it starts with FIRE, if that is an action.
    pub use_fire_reset: bool,
    /// A game is cut off after so many frames; 0 for no limit.
    pub max_num_frames_per_episode: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            repeat_action_probability: 0.0,
            full_action_space: false,
            frameskip: 4,
            maxpool: true,
            noop_max: 30,
            use_fire_reset: true,
            max_num_frames_per_episode: 108_000,
        }
    }
}

impl Settings {
    /// Those among the arguments of an environment, but for `leave_out`. The error is in words.
    pub fn from_args(args: &Args, leave_out: &str) -> std::result::Result<Self, String> {
        let args: Args =
            args.iter().filter(|(name, _)| *name != leave_out).map(|(k, v)| (k.clone(), v.clone())).collect();
        let settings: Self = serde_json::from_value(args.into()).map_err(|error| error.to_string())?;
        if !(0.0..=1.0).contains(&settings.repeat_action_probability) {
            return Err("repeat_action_probability is a probability, from 0 to 1".to_owned());
        }
        if settings.frameskip == 0 {
            return Err("frameskip is at least 1".to_owned());
        }
        Ok(settings)
    }
}

/// Where an episode stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// There is none: it ended, or none began yet.
    None,
    Running,
    /// A life was lost, which ends an episode of training. The next one goes on with the game.
    LifeLost,
}

/// What goes on besides the console.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Play {
    phase: Phase,
    lives: i32,
    /// Since the episode began.
    frames: u64,
    /// The number of the last action among [`Action::ALL`].
    last: u8,
    rng: ChaCha8Rng,
}

/// A game of Atari on the console of this crate.
#[derive(Clone)]
pub struct Atari {
    name: String,
    game: &'static Game,
    settings: Settings,
    purpose: Purpose,
    space: Space,
    actions: &'static [Action],
    /// As it is when a game was loaded.
    loaded: Arc<Machine>,
    machine: Machine,
    screen: Screen,
    play: Play,
}

/// What is saved of it.
#[derive(Serialize, Deserialize)]
struct Saved {
    settings: Settings,
    play: Play,
    machine: Vec<u8>,
    /// The frame before the last, if it is seen.
    held: Option<Vec<u8>>,
}

impl Atari {
    /// Before the first reset. `rom` is the cartridge.
    pub fn new(game: &'static Game, rom: &[u8], settings: Settings, purpose: Purpose) -> Result<Self> {
        let name = format!("atari:{}", game.name);
        let machine = game.console(rom).map_err(|error| refused(&name, error))?;
        let actions = if settings.full_action_space { Action::ALL } else { game.actions };
        let (frame, element) = (vec![SIDE, SIDE, 1], Element::U8 { scale: 1.0 / 255.0 });
        let space = Space { frame, element, stack: 4, actions: actions.len() };
        let screen = Screen::new(machine.height(), machine.palette());
        let play = Play { phase: Phase::None, lives: 0, frames: 0, last: 0, rng: stream(0, &name) };
        let loaded = Arc::new(machine.clone());
        let mut env = Self { name, game, settings, purpose, space, actions, loaded, machine, screen, play };
        // To load a game begins one.
        env.begin();
        env.loaded = Arc::new(env.machine.clone());
        env.screen.see(env.machine.screen());
        Ok(env)
    }

    /// The lives that are left.
    pub fn lives(&self) -> i32 {
        self.play.lives
    }

    /// The console's memory.
    pub fn ram(&self) -> &Ram {
        self.machine.ram()
    }

    /// Starts a game, with as many frames without an action as chance has it.
    fn start(&mut self) {
        self.begin();
        let Settings { noop_max, use_fire_reset, .. } = self.settings;
        let frames = if noop_max > 1 { self.play.rng.random_range(0..noop_max) } else { 0 };
        let fires = use_fire_reset && self.actions.contains(&Action::Fire);
        let frames = frames.max(u32::from(fires));
        for frame in 0..frames {
            let action = if fires && frame == 0 { Action::Fire } else { Action::Noop };
            if self.frame(action, true).1 {
                self.begin();
            }
        }
        // The limit counts from here.
        self.play.frames = 0;
        self.screen.see(self.machine.screen());
    }

    /// The console starts a game.
    fn begin(&mut self) {
        self.game.start(&mut self.machine);
        self.play.lives = self.game.first_lives(self.machine.ram());
        self.play.last = 0;
    }

    /// One frame: what it earned, and whether the game is over.
    fn frame(&mut self, action: Action, draw: bool) -> (i32, bool) {
        let sticky = self.settings.repeat_action_probability;
        if sticky == 0.0 || self.play.rng.random::<f64>() >= sticky {
            self.play.last = action as u8;
        }
        let before = *self.machine.ram();
        let draw = draw || self.game.draw_all;
        self.machine.frame(Action::ALL[usize::from(self.play.last)].input(), draw);
        let (now, game) = (self.machine.ram(), self.game);
        self.play.frames += 1;
        let over = game.over(&before, now);
        self.play.lives = game.lives(self.play.lives, &before, now);
        (game.reward(&before, now), over)
    }

    /// Whether the time is up.
    fn is_late(&self) -> bool {
        let limit = self.settings.max_num_frames_per_episode;
        limit != 0 && self.play.frames >= limit
    }

    /// An action for all its frames: what it earned, and whether the game is over. The frames to be seen are drawn. ALE looks at none after the end.
    fn act(&mut self, action: Action) -> (i32, bool) {
        let Settings { frameskip, maxpool, .. } = self.settings;
        let mut total = 0;
        for left in (0..frameskip).rev() {
            let (reward, over) = self.frame(action, left < 2);
            total += reward;
            match left {
                _ if over || self.is_late() => {
                    if left == 0 && maxpool && frameskip > 1 {
                        self.screen.see_held();
                    }
                    return (total, over);
                }
                1 if maxpool => self.screen.hold(self.machine.screen()),
                0 if maxpool && frameskip > 1 => self.screen.see_both(self.machine.screen()),
                0 => self.screen.see(self.machine.screen()),
                _ => {}
            }
        }
        (total, false)
    }

    fn check(&self, action: usize, frame: &[u8]) -> Result<()> {
        if action >= self.actions.len() {
            return Err(Error::Action { action, actions: self.actions.len() });
        }
        self.space.check_frame(frame)?;
        if self.play.phase == Phase::Running { Ok(()) } else { Err(Error::NoEpisode) }
    }
}

impl Env for Atari {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        if let Some(seed) = seed {
            self.reseed(seed)?;
            self.machine = (*self.loaded).clone();
        }
        if seed.is_some() || self.play.phase != Phase::LifeLost {
            self.start();
        }
        self.play.phase = Phase::Running;
        self.screen.write(frame);
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.check(action, frame)?;
        let lives = self.play.lives;
        let (reward, over) = self.act(self.actions[action]);
        self.screen.write(frame);
        let truncated = !over && self.is_late();
        let fewer = (1..lives).contains(&self.play.lives);
        let life_lost = self.purpose == Purpose::Training && !over && !truncated && fewer;
        self.play.phase = match (over || truncated, life_lost) {
            (true, _) => Phase::None,
            (_, true) => Phase::LifeLost,
            _ => Phase::Running,
        };
        Ok(Step { reward: reward.into(), terminated: over || life_lost, truncated, life_lost })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let mut machine = vec![];
        self.machine.save(&mut machine);
        let held = self.screen.held().map(<[u8]>::to_vec);
        let saved = Saved { settings: self.settings, play: self.play.clone(), machine, held };
        save(&self.name, &saved).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let Saved { settings, play, machine, held } = restore(&self.name, state)?;
        if settings != self.settings {
            let reason = format!("it was played with {settings:?}, this one with {:?}", self.settings);
            return Err(refuse(&self.name, reason));
        }
        if usize::from(play.last) >= Action::ALL.len() {
            return Err(refuse(&self.name, "it has an action that there is not"));
        }
        let mut other = self.machine.clone();
        other.restore(&machine).map_err(|error| refuse(&self.name, error))?;
        if !self.screen.restore(held.as_deref(), other.screen()) {
            return Err(refuse(&self.name, "its picture has another size"));
        }
        (self.machine, self.play) = (other, play);
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.play.rng = stream(seed, &self.name);
        Ok(())
    }

    /// Four frames of the console.
    fn is_slow(&self) -> bool {
        true
    }

    /// The brighter of the last two frames, colour by colour.
    fn render(&self) -> Result<Picture> {
        let last = self.machine.screen();
        let (held, rgb) = (self.screen.held().unwrap_or(last), &self.machine.palette().rgb);
        let brighter = |(&one, &other): (&u8, &u8)| {
            let [one, other] = [one, other].map(|colour| rgb[usize::from(colour)]);
            std::array::from_fn::<_, 3, _>(|i| one[i].max(other[i]))
        };
        let rgb: Vec<u8> = last.iter().zip(held).flat_map(brighter).collect();
        Ok(Picture { width: super::screen::WIDTH, height: self.machine.height(), rgb })
    }

    fn action_names(&self) -> Vec<String> {
        self.actions.iter().map(|action| action.name()).collect()
    }
}

fn refused(env: &str, reason: impl ToString) -> Error {
    Error::Atari { env: env.to_owned(), reason: reason.to_string() }
}
