//! A game as an environment: [`Play`] adds sticky actions and the stop at the end, [`MinAtar`] settings, a generator, saved
//! states and pictures.

use super::{Action, Chance, Game, Over, SIDE};
use crate::episode::{Episode, refuse, restore, save};
use crate::{Element, Env, Error, Picture, Result, Space, Step};
use adfq::random::{ChaCha8Rng, stream};
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

/// How a game is played; the package's own settings by default, but for the actions that do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The probability that the last action is repeated in place of the one chosen.
    pub sticky: f64,
    /// Whether the game gets harder over time, if it is one that can.
    pub ramping: bool,
    /// Whether there are only the actions that do something, or all six.
    pub minimal_actions: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { sticky: 0.1, ramping: true, minimal_actions: true }
    }
}

/// A MinAtar game as an environment. A frame has a flag, 0 or 1, for every cell and channel; one frame is an observation.
///
/// A game whose own clock runs out (Freeway) is truncated, not terminated.
///
/// ```
/// use adfq_env::minatar::{Breakout, MinAtar, Settings};
/// use adfq_env::Env;
///
/// let mut breakout = MinAtar::<Breakout>::new(Settings::default())?;
/// assert_eq!(breakout.space().frame, [10, 10, 4]);
/// assert_eq!(breakout.action_names(), ["noop", "left", "right"]);
///
/// let mut frame = vec![0; breakout.space().frame_bytes()];
/// breakout.reset(Some(1), &mut frame)?;
/// let step = breakout.step(0, &mut frame)?;
/// assert_eq!((step.reward, step.terminated), (0.0, false));
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MinAtar<G: Game> {
    settings: Settings,
    actions: &'static [Action],
    space: Space,
    episode: Episode<Play<G>>,
}

impl<G: Game> MinAtar<G> {
    /// Before the first reset; a first reset without a seed is one with seed 0.
    pub fn new(settings: Settings) -> Result<Self> {
        if !(0.0..=1.0).contains(&settings.sticky) {
            let (setting, allowed) = ("sticky", "a probability, from 0 to 1");
            return Err(Error::Setting { setting, value: settings.sticky, allowed });
        }
        let actions = if settings.minimal_actions { G::MINIMAL_ACTIONS } else { Action::ALL };
        let (frame, element) = (vec![SIDE, SIDE, G::CHANNELS], Element::U8 { scale: 1.0 });
        let space = Space { frame, element, stack: 1, actions: actions.len() };
        let (mut state, rng) = (Play::new(settings.sticky, settings.ramping), Self::generator(0));
        // Something to render before the first episode, which draws the same numbers again.
        state.reset(&mut rng.clone());
        Ok(Self { settings, actions, space, episode: Episode { state, running: false, rng } })
    }

    fn generator(seed: u64) -> ChaCha8Rng {
        stream(seed, &format!("minatar/{}", G::NAME))
    }
}

impl<G: Game> Env for MinAtar<G> {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        if let Some(seed) = seed {
            // Anew altogether: no action of an episode before sticks to this one.
            self.episode.rng = Self::generator(seed);
            self.episode.state = Play::new(self.settings.sticky, self.settings.ramping);
        }
        let Episode { state, running, rng } = &mut self.episode;
        *running = true;
        state.reset(rng);
        state.draw(frame);
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.episode.check(&self.space, action, frame)?;
        let Episode { state, running, rng } = &mut self.episode;
        let (reward, over) = state.act(self.actions[action], rng);
        *running = over == Over::No;
        state.draw(frame);
        let (terminated, truncated) = (over == Over::Ended, over == Over::TimeUp);
        Ok(Step { reward, terminated, truncated, ..Step::default() })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        save(G::NAME, &(self.settings, &self.episode)).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (settings, episode): (Settings, Episode<Play<G>>) = restore(G::NAME, state)?;
        if settings != self.settings {
            let reason = format!("it was played with {settings:?}, this one with {:?}", self.settings);
            return Err(refuse(G::NAME, reason));
        }
        self.episode = episode;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.episode.seed(Some(seed));
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        let mut frame = vec![0; self.space.frame_bytes()];
        self.episode.state.draw(&mut frame);
        Ok(paint(&frame, G::CHANNELS))
    }

    fn action_names(&self) -> Vec<String> {
        self.actions.iter().map(|action| action.name().to_owned()).collect()
    }
}

/// Pixels along a cell's side, the last of which is left empty: neighbours stay apart.
const CELL: usize = 10;

/// Cells with nothing in them.
const EMPTY: [u8; 3] = [18, 20, 28];

/// A colour for each channel: bright for the player, grey for the third, which in most games is a trail.
const COLOURS: [[u8; 3]; 10] = [
    [255, 255, 255],
    [238, 84, 84],
    [104, 112, 136],
    [242, 190, 66],
    [92, 196, 122],
    [86, 156, 240],
    [186, 112, 224],
    [64, 208, 208],
    [246, 140, 60],
    [240, 130, 190],
];

/// Paints a frame; where several things share a cell, the one of the lowest channel is seen.
fn paint(frame: &[u8], channels: usize) -> Picture {
    let side = SIDE * CELL;
    let mut rgb = Vec::with_capacity(3 * side * side);
    for row in frame.chunks_exact(SIDE * channels) {
        let cells =
            row.chunks_exact(channels).map(|cell| [colour(cell).repeat(CELL - 1), EMPTY.to_vec()].concat());
        let line: Vec<u8> = cells.flatten().collect();
        (1..CELL).for_each(|_| rgb.extend_from_slice(&line));
        rgb.extend(EMPTY.repeat(side));
    }
    Picture { width: side, height: side, rgb }
}

/// The colour of a cell.
fn colour(cell: &[u8]) -> [u8; 3] {
    cell.iter().position(|&flag| flag != 0).map_or(EMPTY, |channel| COLOURS[channel % COLOURS.len()])
}
