//! The memory's model: every episode ever, kept whole, and every question answered by walking through them.

use super::{DISCOUNT, LEN, Script, Step};
use crate::replay::ReplaySettings;
use adfq_env::Space;

/// An episode of one environment.
struct Episode {
    /// The counter of its first frame.
    first: usize,
    frames: Vec<[u8; LEN]>,
    steps: Vec<Step>,
    interrupted: bool,
}

/// What a transition should be.
#[derive(Debug, PartialEq)]
pub struct Expected {
    pub index: u64,
    pub obs: Vec<f32>,
    pub next: Vec<f32>,
    pub action: u32,
    pub reward: f32,
    pub discount: f32,
    pub terminal: bool,
}

pub struct Naive {
    settings: ReplaySettings,
    space: Space,
    envs: Vec<Vec<Episode>>,
}

impl Naive {
    pub fn new(script: &Script) -> Self {
        let envs = (0..script.envs).map(|_| Vec::new()).collect();
        Self { settings: script.settings.clone(), space: script.space.clone(), envs }
    }

    pub fn push(&mut self, step: &Step) {
        let episodes = &mut self.envs[step.env];
        let head: usize = episodes.iter().map(|episode| episode.frames.len()).sum();
        if step.interrupts {
            if let Some(episode) = episodes.last_mut().filter(|episode| !episode.ended()) {
                episode.frames.push(step.frame);
                episode.interrupted = true;
            }
            return;
        }
        if episodes.last().is_none_or(Episode::ended) {
            episodes.push(Episode { first: head, frames: Vec::new(), steps: Vec::new(), interrupted: false });
        }
        let episode = episodes.last_mut().unwrap();
        episode.frames.push(step.frame);
        episode.frames.extend(step.last);
        episode.steps.push(step.clone());
    }

    /// All transitions that can be sampled, env by env in order of age.
    pub fn expected(&self) -> Vec<Expected> {
        let slots = self.settings.capacity / self.envs.len();
        let mut all = Vec::new();
        for (env, episodes) in self.envs.iter().enumerate() {
            let head: usize = episodes.iter().map(|episode| episode.frames.len()).sum();
            for episode in episodes {
                for t in 0..episode.steps.len() {
                    if let Some(expected) = self.transition(env, episode, t, head.saturating_sub(slots)) {
                        all.push(expected);
                    }
                }
            }
        }
        all
    }

    fn transition(&self, env: usize, episode: &Episode, t: usize, oldest: usize) -> Option<Expected> {
        let m = if episode.ended() {
            (episode.steps.len() - t).min(self.settings.n_step)
        } else {
            self.settings.n_step
        };
        let earliest = t.saturating_sub(self.space.stack - 1);
        if episode.first + earliest < oldest || t + m >= episode.frames.len() {
            return None;
        }
        let m = 1 + episode.steps[t + 1..t + m].iter().take_while(|step| !step.explored).count();
        let gamma = f64::from(DISCOUNT);
        let power = |k: usize| (0..k).fold(1.0, |power, _| power * gamma);
        let steps = &episode.steps[t..t + m];
        let reward: f64 = steps.iter().enumerate().map(|(k, step)| power(k) * f64::from(step.reward)).sum();
        Some(Expected {
            index: ((episode.first + t) * self.envs.len() + env) as u64,
            obs: self.observation(episode, t),
            next: self.observation(episode, t + m),
            action: episode.steps[t].action,
            reward: reward as f32,
            discount: power(m) as f32,
            terminal: steps.iter().any(|step| step.terminated),
        })
    }

    /// Frames of shape [LEN / 2, 2]: pixel by pixel, the frames of the stack, and their two channels.
    fn observation(&self, episode: &Episode, t: usize) -> Vec<f32> {
        let mut out = Vec::new();
        for pixel in 0..LEN / 2 {
            for back in (0..self.space.stack).rev() {
                for channel in 0..2 {
                    let frame = episode.frames[t.saturating_sub(back)];
                    out.push(f32::from(frame[2 * pixel + channel]) * 0.25);
                }
            }
        }
        out
    }
}

impl Episode {
    fn ended(&self) -> bool {
        self.interrupted || self.steps.last().is_some_and(|step| step.last.is_some())
    }
}
