//! What an agent acts in. The trait [`Env`] follows Gymnasium: reset with a seed, step with an action. A step tells an
//! episode that *terminated* from one that was *truncated*.
//!
//! Nothing here knows an agent. An environment emits *frames*: plain bytes, whose meaning its [`Space`] states. Stacking
//! and storing them happens elsewhere.
//!
//! ```
//! use adfq_env::{Env, make};
//!
//! let mut env = make("cartpole")?;
//! let mut frame = vec![0; env.space().frame_bytes()];
//! env.reset(Some(1), &mut frame)?;
//! let mut score = 0.0;
//! loop {
//!     // Push to the side to which the pole leans and moves.
//!     let [_, _, theta, theta_dot] = env.space().numbers(&frame)[..] else { unreachable!() };
//!     let step = env.step(usize::from(theta + theta_dot > 0.0), &mut frame)?;
//!     score += step.reward;
//!     if step.ended() {
//!         break;
//!     }
//! }
//! assert_eq!(score, 500.0);
//! # Ok::<(), adfq_env::Error>(())
//! ```
//!
//! # Your own environment
//!
//! Three methods make an environment, and a [`Registry`] makes it known by name:
//!
//! ```
//! use adfq_env::{Env, EnvSpec, Registry, Result, Space, Step};
//!
//! /// Walk to the right end of five cells.
//! struct Corridor {
//!     space: Space,
//!     cell: usize,
//! }
//!
//! impl Corridor {
//!     fn new() -> Self {
//!         // One number a frame, two actions.
//!         Self { space: Space::flat(1, 2), cell: 0 }
//!     }
//! }
//!
//! impl Env for Corridor {
//!     fn space(&self) -> &Space {
//!         &self.space
//!     }
//!
//!     fn reset(&mut self, _seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
//!         self.cell = 0;
//!         self.space.write(&[0.0], frame)
//!     }
//!
//!     fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
//!         self.cell = if action == 1 { self.cell + 1 } else { self.cell.saturating_sub(1) };
//!         self.space.write(&[self.cell as f32], frame)?;
//!         let terminated = self.cell == 4;
//!         Ok(Step { reward: if terminated { 1.0 } else { 0.0 }, terminated, ..Step::default() })
//!     }
//! }
//!
//! let mut registry = Registry::default();
//! registry.register("corridor", |_: &EnvSpec| Ok(Corridor::new()));
//!
//! let mut envs = registry.envs(&EnvSpec::new("corridor"), 8)?;
//! envs.reset(0)?;
//! assert_eq!(envs.step(&[1; 8])?.len(), 8);
//! # Ok::<(), adfq_env::Error>(())
//! ```

pub mod atari;
pub mod bsuite;
mod classic;
mod episode;
mod error;
mod given;
mod gym;
mod mdp;
pub mod minatar;
mod picture;
mod reference;
mod registry;
mod space;
mod time_limit;
mod vec_env;

pub use classic::{Acrobot, CartPole, MountainCar};
pub use error::{Error, Result};
pub use given::check_given;
pub use gym::{Gym, Modules, PYTHON, python_refused};
pub use mdp::MdpEnv;
pub use picture::{Picture, to_text};
pub use reference::{Reference, plain_name, reference};
pub use registry::{Args, EnvSpec, Maker, Purpose, Registry, make, names};
pub use space::{Element, Space};
pub use time_limit::TimeLimit;
pub use vec_env::{Envs, VecEnv, seed_of};

use adfq::mdp::Mdp;

/// Numbers that an environment reports of itself, by name; see [`Env::info`].
pub type Info = Vec<(&'static str, f64)>;

/// What one action led to, besides the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// The reward.
    pub reward: f64,
    /// The episode ended: there is no value beyond.
    pub terminated: bool,
    /// The episode was cut off, by a time limit say: the value beyond is there, but will not be seen.
    pub truncated: bool,
    /// The end is one for learning alone: a life was lost, and the game goes on. Returns are counted over whole games.
    pub life_lost: bool,
}

impl Step {
    /// Whether the episode is over, one way or the other.
    #[inline]
    pub fn ended(&self) -> bool {
        self.terminated || self.truncated
    }

    /// Whether the game is over too, and not just a life lost.
    #[inline]
    pub fn game_over(&self) -> bool {
        self.ended() && !self.life_lost
    }
}

/// An environment with finitely many actions. [`Env::space`], [`Env::reset`] and [`Env::step`] are enough to train in it;
/// `save` and `restore` make a resumed run go on bit for bit, `render` gives pictures.
pub trait Env: Send {
    /// The shape of frames and the number of actions.
    fn space(&self) -> &Space;

    /// Starts an episode and writes its first frame, of [`Space::frame_bytes`] bytes. With a seed the environment's
    /// generator starts anew from it; without, it goes on.
    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()>;

    /// Takes an action and writes the frame that follows. After a step that ended the episode comes a reset. Where the
    /// episode was only truncated, a further step is allowed to go on beyond the limit, or to be refused with
    /// [`Error::NoEpisode`].
    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step>;

    /// Everything that decides what follows, the generator included: [`Env::restore`] goes on from there bit for bit.
    /// `None` if this environment cannot be saved; a training run that is resumed then cuts the episode and resets.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Takes up what [`Env::save`] gave.
    fn restore(&mut self, _state: &[u8]) -> Result<()> {
        Err(Error::NoRestore)
    }

    /// Draws all further chance from a generator that starts anew from this seed. The state stays as it is. So a restored
    /// state can be played on several times, each time with other luck.
    ///
    /// ```
    /// use adfq_env::{Env, make};
    ///
    /// let mut env = make("minatar/breakout")?;
    /// let mut frame = vec![0; env.space().frame_bytes()];
    /// env.reset(Some(1), &mut frame)?;
    /// let start = env.save()?.unwrap();
    /// env.reseed(7)?;
    /// assert_ne!(env.save()?.unwrap(), start);
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    fn reseed(&mut self, _seed: u64) -> Result<()> {
        Err(Error::NoReseed)
    }

    /// The exact model and the present state in it, if this environment is a finite MDP.
    fn exact(&self) -> Option<(&Mdp, usize)> {
        None
    }

    /// A picture of the present state, to look at.
    fn render(&self) -> Result<Picture> {
        Err(Error::NoPicture)
    }

    /// Starts the worker of an environment anew that failed there; a reset comes next. False if there is none, or if it did
    /// not fail.
    fn restart(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Whether a step takes so long that it is worth waking another core for it: some tens of microseconds. Slow environments of a run
    /// are stepped side by side, each with the same result as by itself.
    fn is_slow(&self) -> bool {
        false
    }

    /// Numbers that the environment counts over its whole life besides rewards, by name: the regrets of [`bsuite`]. Most have none.
    fn info(&self) -> Info {
        Vec::new()
    }

    /// What the actions are called, for people.
    fn action_names(&self) -> Vec<String> {
        (0..self.space().actions).map(|action| action.to_string()).collect()
    }
}

impl<E: Env + ?Sized> Env for Box<E> {
    fn space(&self) -> &Space {
        (**self).space()
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        (**self).reset(seed, frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        (**self).step(action, frame)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        (**self).save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        (**self).restore(state)
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        (**self).reseed(seed)
    }

    fn exact(&self) -> Option<(&Mdp, usize)> {
        (**self).exact()
    }

    fn render(&self) -> Result<Picture> {
        (**self).render()
    }

    fn restart(&mut self) -> Result<bool> {
        (**self).restart()
    }

    fn is_slow(&self) -> bool {
        (**self).is_slow()
    }

    fn info(&self) -> Info {
        (**self).info()
    }

    fn action_names(&self) -> Vec<String> {
        (**self).action_names()
    }
}
