//! How large a memory is and how it is sampled, and the memory this takes.

use super::ring::{Layout, Ring};
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
    /// n: rewards that are summed before the bootstrap.
    pub n_step: usize,
    /// Whether transitions end before an action that was not the best when it was taken, as in Watkins's Q(λ) (1989). Otherwise all have n
    /// steps, as in most papers, and tell of exploration too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watkins: bool,
    /// How to prefer transitions with large errors; without it all are equally likely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<PrioritySettings>,
}

/// Proportional prioritisation (Schaul et al. 2016, §3.3): P(i) ∝ pᵢ^α with pᵢ = |δᵢ| + ε.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrioritySettings {
    /// α, from 0 (uniform) to 1 (in proportion).
    pub alpha: f32,
    /// The exponent β of the importance weights at the start of a run; it rises linearly to 1 at the end.
    pub beta: f32,
    /// ε > 0, so that a transition without error is seen again.
    pub epsilon: f32,
}

impl ReplaySettings {
    /// Slots of one ring.
    fn slots(&self, envs: usize) -> usize {
        self.capacity / envs.max(1)
    }

    /// Bytes that a memory with these settings takes when full. Nothing is allocated to find out.
    pub(crate) fn bytes_needed(&self, envs: usize, space: &Space) -> u64 {
        self.bytes_with_frames_of(envs, space.frame_bytes())
    }

    /// The same where its frames lie elsewhere.
    pub(crate) fn bytes_without_frames(&self, envs: usize) -> u64 {
        self.bytes_with_frames_of(envs, 0)
    }

    fn bytes_with_frames_of(&self, envs: usize, frame_bytes: usize) -> u64 {
        let slots = (self.slots(envs) as u64).saturating_mul(envs as u64);
        let tree = if self.priority.is_some() { SumTree::bytes_needed(slots) } else { 0 };
        slots.saturating_mul(Ring::slot_bytes(frame_bytes)).saturating_add(tree)
    }

    /// The layout of a ring, or the first setting that will not do.
    pub(super) fn layout(&self, envs: usize, discount: f32, space: &Space) -> Result<Layout> {
        check("envs", envs, envs > 0, "at least 1")?;
        let countable = self.capacity <= u32::MAX as usize;
        check("capacity", self.capacity, countable, "below 2^32")?;
        check("n_step", self.n_step, (1..1 << 16).contains(&self.n_step), "between 1 and 65535")?;
        check("discount", discount, (0.0..=1.0).contains(&discount), "between 0 and 1")?;
        check("stack", space.stack, (1..1 << 16).contains(&space.stack), "between 1 and 65535")?;
        let frame = format!("{:?}", space.frame);
        check("frame", frame, space.frame_bytes() > 0, "a shape with one number at least")?;
        if let Some(PrioritySettings { alpha, epsilon, .. }) = self.priority {
            check("alpha", alpha, (0.0..=1.0).contains(&alpha), "between 0 and 1")?;
            check("epsilon", epsilon, epsilon > 0.0 && epsilon.is_finite(), "positive and finite")?;
        }
        // The frames before the first of a transition, that one, and n on from it.
        let (slots, needed) = (self.slots(envs), space.stack + self.n_step);
        if slots < needed {
            return Err(ReplayError::Small { capacity: self.capacity, envs, slots, needed });
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
        let priority = Some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 1e-6 });
        let settings = ReplaySettings { capacity: 1_000_000, n_step: 1, watkins: false, priority };
        let pixels = Element::U8 { scale: 1.0 / 255.0 };
        (settings, Space { frame: vec![84, 84, 1], element: pixels, stack: 4, actions: 6 })
    }

    #[test]
    fn a_million_atari_transitions_take_about_seven_gigabytes() {
        let (settings, space) = atari();
        let bytes = settings.bytes_needed(1, &space);
        // A slot: 7056 bytes of frame and 12 of step; 4 of the tree's leaves, and 192/256 + 192/256² + … of its nodes.
        assert!((7_072_700_000..7_072_900_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn absurd_sizes_saturate() {
        let (settings, space) = atari();
        let huge = ReplaySettings { capacity: usize::MAX, ..settings };
        assert_eq!(huge.bytes_needed(1, &space), u64::MAX);
        assert!(huge.layout(1, 0.99, &space).is_err());
    }

    #[test]
    fn bad_settings_are_named() {
        type Change = fn(&mut ReplaySettings, &mut Space);
        let priority = |alpha, epsilon| Some(PrioritySettings { alpha, beta: 0.4, epsilon });
        let (none, negative): (Change, Change) = (|_, _| (), |s, _| s.n_step = 0);
        let cases: [(&str, usize, f32, Change); 6] = [
            ("envs = 0", 0, 0.99, none),
            ("n_step = 0", 1, 0.99, negative),
            ("discount = NaN", 1, f32::NAN, none),
            ("stack = 0", 1, 0.99, |_, space| space.stack = 0),
            ("frame = [84, 0, 1]", 1, 0.99, |_, space| space.frame[1] = 0),
            ("raise the capacity to 1250000", 250_000, 0.99, none),
        ];
        for (expected, envs, discount, change) in cases {
            let (mut settings, mut space) = atari();
            change(&mut settings, &mut space);
            let message = settings.layout(envs, discount, &space).expect_err(expected).to_string();
            assert!(message.contains(expected), "{message}");
        }
        for (expected, priority) in [("alpha = 1.5", priority(1.5, 1.0)), ("epsilon = 0", priority(0.5, 0.0))]
        {
            let (settings, space) = atari();
            let settings = ReplaySettings { priority, ..settings };
            let message = settings.layout(1, 0.99, &space).expect_err(expected).to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
