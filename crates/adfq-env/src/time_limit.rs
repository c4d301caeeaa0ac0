//! Time limits: an episode of so many steps is cut off, which is not its end.

use crate::episode::{refuse, restore, save};
use crate::{Env, Info, Picture, Result, Space, Step};
use adfq::mdp::Mdp;
use serde::{Deserialize, Serialize};

const NAME: &str = "TimeLimit";

/// An environment whose episodes are truncated after a number of steps. As in Gymnasium a last step can both end the
/// episode and be cut off. The count belongs to the saved state, and so does the limit: a state saved under another
/// is refused.
///
/// ```
/// use adfq_env::{Env, MountainCar, TimeLimit};
///
/// let (mut env, mut frame) = (TimeLimit::new(MountainCar::new(), 2), [0; 8]);
/// env.reset(Some(0), &mut frame)?;
/// assert!(!env.step(1, &mut frame)?.truncated);
/// let last = env.step(1, &mut frame)?;
/// assert!(last.truncated && !last.terminated);
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeLimit<E> {
    env: E,
    limit: u64,
    steps: u64,
}

/// What is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    limit: u64,
    steps: u64,
    env: Vec<u8>,
}

impl<E: Env> TimeLimit<E> {
    /// Truncates the episodes of `env` after `limit` steps, at least one.
    pub fn new(env: E, limit: u64) -> Self {
        Self { env, limit: limit.max(1), steps: 0 }
    }

    /// The environment inside.
    pub fn env(&self) -> &E {
        &self.env
    }

    /// The environment inside, to change it; the count of steps stays.
    pub fn env_mut(&mut self) -> &mut E {
        &mut self.env
    }

    /// The steps taken in this episode.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

impl<E: Env> Env for TimeLimit<E> {
    fn space(&self) -> &Space {
        self.env.space()
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.env.reset(seed, frame)?;
        self.steps = 0;
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        let mut step = self.env.step(action, frame)?;
        self.steps += 1;
        step.truncated |= self.steps >= self.limit;
        Ok(step)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let Self { limit, steps, .. } = *self;
        let saved = |env| save(NAME, &Saved { limit, steps, env });
        self.env.save()?.map(saved).transpose()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let Saved { limit, steps, env } = restore(NAME, state)?;
        if limit != self.limit {
            let reason = format!("its limit is {limit} steps and not {}", self.limit);
            return Err(refuse(NAME, reason));
        }
        self.env.restore(&env)?;
        self.steps = steps;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.env.reseed(seed)
    }

    fn exact(&self) -> Option<(&Mdp, usize)> {
        self.env.exact()
    }

    fn render(&self) -> Result<Picture> {
        self.env.render()
    }

    fn restart(&mut self) -> Result<bool> {
        self.env.restart()
    }

    fn is_slow(&self) -> bool {
        self.env.is_slow()
    }

    fn info(&self) -> Info {
        self.env.info()
    }

    fn action_names(&self) -> Vec<String> {
        self.env.action_names()
    }
}
