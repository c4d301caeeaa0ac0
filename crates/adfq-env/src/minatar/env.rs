//! A game as an environment: settings, generator, saved states, pictures.

use super::{Action, Game, Over, Play, SIDE, picture};
use crate::episode::check_frame;
use crate::{Element, Env, Error, Picture, Result, Space, Step, saved};
use adfq::random::{ChaCha8Rng, stream};
use serde::{Deserialize, Serialize};

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
    state: State<G>,
}

/// What changes from step to step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct State<G: Game> {
    play: Play<G>,
    /// Whether an episode has begun and is not over.
    running: bool,
    rng: ChaCha8Rng,
}

impl<G: Game> MinAtar<G> {
    /// Before the first reset; a first reset without a seed is one with seed 0.
    pub fn new(settings: Settings) -> Result<Self> {
        if !(0.0..=1.0).contains(&settings.sticky) {
            return Err(Error::Setting {
                setting: "sticky",
                value: settings.sticky,
                allowed: "a probability, from 0 to 1",
            });
        }
        let actions = if settings.minimal_actions { G::MINIMAL_ACTIONS } else { Action::ALL };
        let space = Space {
            frame: vec![SIDE, SIDE, G::CHANNELS],
            element: Element::U8 { scale: 1.0 },
            stack: 1,
            actions: actions.len(),
        };
        let play = Play::new(settings.sticky, settings.ramping);
        let mut state = State { play, running: false, rng: Self::generator(0) };
        // Something to render before the first episode, which draws the same numbers again.
        state.play.reset(&mut state.rng.clone());
        Ok(Self { settings, actions, space, state })
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
        check_frame(frame, self.space.frame_bytes())?;
        if let Some(seed) = seed {
            // Anew altogether: no action of an episode before sticks to this one.
            self.state.rng = Self::generator(seed);
            self.state.play = Play::new(self.settings.sticky, self.settings.ramping);
        }
        let State { play, running, rng } = &mut self.state;
        *running = true;
        play.reset(rng);
        play.draw(frame);
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        let Some(&chosen) = self.actions.get(action) else {
            return Err(Error::Action { action, actions: self.actions.len() });
        };
        check_frame(frame, self.space.frame_bytes())?;
        let State { play, running, rng } = &mut self.state;
        if !*running {
            return Err(Error::NoEpisode);
        }
        let (reward, over) = play.act(chosen, rng);
        *running = over == Over::No;
        play.draw(frame);
        let (terminated, truncated) = (over == Over::Ended, over == Over::TimeUp);
        Ok(Step { reward, terminated, truncated, ..Step::default() })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        saved::save(G::NAME, &(self.settings, &self.state)).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (settings, state): (Settings, State<G>) = saved::restore(G::NAME, state)?;
        if settings != self.settings {
            let reason = format!("it was played with {settings:?}, this one with {:?}", self.settings);
            return Err(saved::refuse(G::NAME, reason));
        }
        self.state = state;
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        let mut frame = vec![0; self.space.frame_bytes()];
        self.state.play.draw(&mut frame);
        Ok(picture::paint(&frame, G::CHANNELS))
    }

    fn action_names(&self) -> Vec<String> {
        self.actions.iter().map(|action| action.name().to_owned()).collect()
    }
}
