//! A batch drawn from memory: who is drawn, and what they are.

use super::priority::Priorities;
use super::ring::Ring;
use super::{Replay, ReplayError, Result};
use rand::{Rng, RngExt};

/// A batch of B transitions (s, a, r, s'). Its buffers are reused from one [`Replay::sample`] to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// 2B observations, row by row: every s, then every s', since the target network runs on both at once.
    pub both: Vec<f32>,
    /// The actions a.
    pub action: Vec<u32>,
    /// The n-step rewards Σ γᵏ rₖ.
    pub reward: Vec<f32>,
    /// What the value of s' counts: γᵐ after m steps.
    pub discount: Vec<f32>,
    /// Whether the episode terminated on the way: then s' has no value.
    pub terminal: Vec<bool>,
    /// Which transitions they are, for [`Replay::update`].
    pub index: Vec<u64>,
    /// Importance weights in (0, 1]; 1 if all transitions are equally likely.
    pub weight: Vec<f32>,
}

impl Sample {
    /// The observations s.
    pub fn obs(&self) -> &[f32] {
        &self.both[..self.both.len() / 2]
    }

    /// The observations s'.
    pub fn next(&self) -> &[f32] {
        &self.both[self.both.len() / 2..]
    }

    fn resize(&mut self, batch: usize, observation: usize) {
        self.both.resize(2 * batch * observation, 0.0);
        self.action.resize(batch, 0);
        self.reward.resize(batch, 0.0);
        self.discount.resize(batch, 0.0);
        self.terminal.resize(batch, false);
    }
}

impl Replay {
    /// Draws a batch, with replacement: [`Replay::draw`], then [`Replay::gather`]. `beta` corrects for the bias of
    /// prioritised sampling, from 0 (not at all) to 1 (in full); uniform sampling has none and ignores it.
    pub fn sample(&self, batch: usize, beta: f32, rng: &mut impl Rng, out: &mut Sample) -> Result<()> {
        self.draw(batch, beta, rng, out)?;
        self.gather(out)
    }

    /// Draws the indices and weights of a batch and leaves the rest of `out` as it is.
    pub fn draw(&self, batch: usize, beta: f32, rng: &mut impl Rng, out: &mut Sample) -> Result<()> {
        if !(0.0..=1.0).contains(&beta) {
            return Err(ReplayError::Beta(beta));
        }
        if self.is_empty() {
            return Err(ReplayError::Empty);
        }
        out.index.clear();
        out.weight.clear();
        match &self.priorities {
            Some(priorities) => self.draw_prioritised(priorities, batch, beta, rng, out),
            None => self.draw_uniform(batch, rng, out),
        }
        Ok(())
    }

    fn draw_prioritised(
        &self,
        priorities: &Priorities,
        batch: usize,
        beta: f32,
        rng: &mut impl Rng,
        out: &mut Sample,
    ) {
        let slots = self.layout.slots;
        priorities.draw(batch, beta, rng, |place, weight| {
            let env = place / slots;
            out.index.push(self.index(env, self.rings[env].counter_at(place % slots)));
            out.weight.push(weight);
        });
    }

    /// Draws places, all transitions equally likely, as [`Replay::draw`] does without priorities.
    #[cfg(feature = "cuda")]
    pub(crate) fn draw_places(&self, rng: &mut impl Rng, places: &mut [u32]) -> Result<()> {
        if self.is_empty() {
            return Err(ReplayError::Empty);
        }
        let mut drawn = places.iter_mut();
        draw_uniform(&self.rings, drawn.len(), rng, |env, counter| {
            if let Some(place) = drawn.next() {
                *place = (env * self.layout.slots + self.rings[env].place(counter)) as u32;
            }
        });
        Ok(())
    }

    fn draw_uniform(&self, batch: usize, rng: &mut impl Rng, out: &mut Sample) {
        draw_uniform(&self.rings, batch, rng, |env, counter| out.index.push(self.index(env, counter)));
        out.weight.resize(batch, 1.0);
    }

    /// Looks up the transitions of `out.index` and fills in all that [`Replay::draw`] does not.
    pub fn gather(&self, out: &mut Sample) -> Result<()> {
        let (batch, len) = (out.index.len(), self.decoder.len);
        if self.rings.iter().any(Ring::is_away) {
            return Err(ReplayError::Away("they are learned from where they lie".to_owned()));
        }
        out.resize(batch, len);
        let (obs, next) = out.both.split_at_mut(batch * len);
        let rows = obs.chunks_exact_mut(len).zip(next.chunks_exact_mut(len));
        for (i, (obs, next)) in rows.enumerate() {
            let (env, counter) = self.locate(out.index[i]).ok_or(ReplayError::Stale(out.index[i]))?;
            let transition = self.rings[env].transition(counter, &self.powers);
            self.observe(env, counter, obs);
            self.observe(env, transition.next, next);
            out.action[i] = transition.action;
            out.reward[i] = transition.reward;
            out.discount[i] = transition.discount;
            out.terminal[i] = transition.terminal;
        }
        Ok(())
    }

    /// The observation that ends with this frame. Before the first frame of an episode come copies of it.
    fn observe(&self, env: usize, counter: u64, out: &mut [f32]) {
        let ring = &self.rings[env];
        let (newest, history) = (self.layout.stack as u64 - 1, ring.history(counter));
        self.decoder.decode(|k| ring.frame(counter - (newest - k as u64).min(history)), out);
    }
}

/// A ring, then a place in a window as wide as the widest; again, if there is no transition there. Rings are of about
/// equal length, so that few draws are lost.
fn draw_uniform(rings: &[Ring], batch: usize, rng: &mut impl Rng, mut take: impl FnMut(usize, u64)) {
    let width = |window: &std::ops::Range<u64>| window.end - window.start;
    let widest = rings.iter().map(|ring| width(ring.window())).max().unwrap_or(0);
    let mut drawn = 0;
    while drawn < batch {
        let env = rng.random_range(0..rings.len());
        let counter = rings[env].window().start + rng.random_range(0..widest);
        if rings[env].holds(counter) {
            take(env, counter);
            drawn += 1;
        }
    }
}
