//! How large a memory is and how it is sampled, and the memory this takes.

use super::lane::{Lane, Layout};
use super::sum_tree::SumTree;
use super::{ReplayError, Result};
use adfq_env::Space;
use serde::{Deserialize, Serialize};

/// The settings of a [`Replay`](super::Replay).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// Slots in all, shared out evenly. A step takes one, and so does the final frame of an episode.
    pub capacity: usize,
    /// The number of environments that write side by side.
    pub envs: usize,
    /// n: rewards that are summed before the bootstrap.
    pub n_step: usize,
    /// The discount factor γ.
    pub discount: f32,
    /// How to prefer transitions with large errors; without it all are equally likely.
    pub priority: Option<PrioritySettings>,
}

/// Proportional prioritisation (Schaul et al. 2016, §3.3): P(i) ∝ pᵢ^α with pᵢ = |δᵢ| + ε.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrioritySettings {
    /// α, from 0 (uniform) to 1 (in proportion).
    pub alpha: f32,
    /// ε > 0, so that a transition without error is seen again.
    pub epsilon: f32,
}

impl ReplaySettings {
    /// Slots of one lane.
    pub(super) fn slots(&self) -> usize {
        self.capacity / self.envs.max(1)
    }

    /// Bytes that a memory with these settings takes when full.
    pub(super) fn bytes_needed(&self, space: &Space) -> u64 {
        let slots = (self.slots() as u64).saturating_mul(self.envs as u64);
        let tree = if self.priority.is_some() { SumTree::bytes_needed(slots) } else { 0 };
        slots.saturating_mul(Lane::slot_bytes(space.frame_bytes())).saturating_add(tree)
    }

    /// The layout of a lane, or the first setting that will not do.
    pub(super) fn layout(&self, space: &Space) -> Result<Layout> {
        check("envs", self.envs, self.envs > 0, "at least 1")?;
        let countable = self.capacity <= u32::MAX as usize;
        check("capacity", self.capacity, countable, "below 2^32")?;
        check("n_step", self.n_step, (1..1 << 16).contains(&self.n_step), "between 1 and 65535")?;
        check("discount", self.discount, (0.0..=1.0).contains(&self.discount), "between 0 and 1")?;
        check("stack", space.stack, (1..1 << 16).contains(&space.stack), "between 1 and 65535")?;
        let frame = format!("{:?}", space.frame);
        check("frame", frame, space.frame_bytes() > 0, "a shape with one number at least")?;
        if let Some(PrioritySettings { alpha, epsilon }) = self.priority {
            check("alpha", alpha, (0.0..=1.0).contains(&alpha), "between 0 and 1")?;
            check("epsilon", epsilon, epsilon > 0.0 && epsilon.is_finite(), "positive and finite")?;
        }
        // The frames before the first of a transition, that one, and n on from it.
        let (slots, needed) = (self.slots(), space.stack + self.n_step);
        if slots < needed {
            return Err(ReplayError::Small { capacity: self.capacity, envs: self.envs, slots, needed });
        }
        Ok(Layout { slots, frame_bytes: space.frame_bytes(), stack: space.stack, n_step: self.n_step })
    }
}

fn check(name: &'static str, value: impl ToString, good: bool, need: &'static str) -> Result<()> {
    if good { Ok(()) } else { Err(ReplayError::Setting { name, value: value.to_string(), need }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::Element;

    fn atari() -> (ReplaySettings, Space) {
        let priority = Some(PrioritySettings { alpha: 0.6, epsilon: 1e-6 });
        let settings = ReplaySettings { capacity: 1_000_000, envs: 1, n_step: 1, discount: 0.99, priority };
        let pixels = Element::U8 { scale: 1.0 / 255.0 };
        (settings, Space { frame: vec![84, 84, 1], element: pixels, stack: 4, actions: 6 })
    }

    #[test]
    fn a_million_atari_transitions_take_about_seven_gigabytes() {
        let (settings, space) = atari();
        let bytes = settings.bytes_needed(&space);
        // A slot: 7056 bytes of frame and 12 of step; 4 of the tree's leaves, and 192/256 + 192/256² + … of its nodes.
        assert!((7_072_700_000..7_072_900_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn absurd_sizes_saturate() {
        let (settings, space) = atari();
        let huge = ReplaySettings { capacity: usize::MAX, ..settings };
        assert_eq!(huge.bytes_needed(&space), u64::MAX);
        assert!(huge.layout(&space).is_err());
    }

    #[test]
    fn bad_settings_are_named() {
        type Change = fn(&mut ReplaySettings, &mut Space);
        let cases: [(&str, Change); 8] = [
            ("envs = 0", |s, _| s.envs = 0),
            ("n_step = 0", |s, _| s.n_step = 0),
            ("discount = NaN", |s, _| s.discount = f32::NAN),
            ("stack = 0", |_, space| space.stack = 0),
            ("frame = [84, 0, 1]", |_, space| space.frame[1] = 0),
            ("alpha = 1.5", |s, _| s.priority = Some(PrioritySettings { alpha: 1.5, epsilon: 1.0 })),
            ("epsilon = 0", |s, _| s.priority = Some(PrioritySettings { alpha: 0.5, epsilon: 0.0 })),
            ("raise the capacity to 1250000", |s, _| s.envs = 250_000),
        ];
        for (expected, change) in cases {
            let (mut settings, mut space) = atari();
            assert!(settings.layout(&space).is_ok());
            change(&mut settings, &mut space);
            let message = settings.layout(&space).expect_err(expected).to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
