//! What a trainer needs of its environments: several of them, stepped together, in flat buffers.

use crate::{Error, Result, Space, Step};
use adfq::random::stream;
use rand::Rng;

/// M environments with the same space. An episode that ends starts anew at once, and both frames are kept: the last of
/// the old one and the first of the next.
#[expect(clippy::len_without_is_empty, reason = "it is never empty")]
pub trait Envs: Send {
    /// The shape of frames and the number of actions of each.
    fn space(&self) -> &Space;

    /// How many environments there are; never 0.
    fn len(&self) -> usize;

    /// Starts an episode in each; environment i draws from the stream `env i` of this seed, however many there are.
    fn reset(&mut self, seed: u64) -> Result<()>;

    /// Takes one action in each. Where the step ended or cut off an episode, the next one has started already. Actions
    /// are checked before any environment moves; if one fails all the same, reset or restore before going on.
    fn step(&mut self, actions: &[usize]) -> Result<&[Step]> {
        self.begin(actions)?;
        self.finish()
    }

    /// The first half of [`Envs::step`]: what happens in other processes begins. Between the halves of one, those of others
    /// can begin too.
    fn begin(&mut self, actions: &[usize]) -> Result<()>;

    /// The second half: waits until it is done.
    fn finish(&mut self) -> Result<&[Step]>;

    /// The frames to act on now, one after the other: after an end, the first of the new episode.
    fn frames(&self) -> &[u8];

    /// The last frame of the old episode, for each environment whose latest step ended one. Elsewhere meaningless.
    fn successors(&self) -> &[u8];

    /// What the latest steps gave.
    fn steps(&self) -> &[Step];

    /// Everything that decides what follows, the present frames included; `None` if that is out of reach, as it is for
    /// an environment in another process. Such environments go on from a reset instead.
    fn save(&self) -> Result<Option<Vec<u8>>>;

    /// Takes up what [`Envs::save`] gave. If one environment refuses its state, reset or restore before going on.
    fn restore(&mut self, state: &[u8]) -> Result<()>;

    /// An error unless there is one action for each environment, and each is one of its own.
    fn check(&self, actions: &[usize]) -> Result<()> {
        if actions.len() != self.len() {
            return Err(Error::Actions { actions: actions.len(), environments: self.len() });
        }
        let known = self.space().actions;
        match actions.iter().find(|&&action| action >= known) {
            Some(&action) => Err(Error::Action { action, actions: known }),
            None => Ok(()),
        }
    }
}

/// The seed of environment `i` under the seed of all.
pub(crate) fn seed_of(seed: u64, i: usize) -> u64 {
    stream(seed, &format!("env {i}")).next_u64()
}
