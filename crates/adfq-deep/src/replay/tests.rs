//! The memory as a whole: against a model that keeps everything, against the formulas, and saved and restored.

mod away;
mod mirror;
mod naive;
mod saved;
mod weighing;

use super::*;
use adfq::random::stream;
use adfq_env::Element;
use naive::{Expected, Naive};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Numbers in a frame.
const LEN: usize = 6;
/// γ.
const DISCOUNT: f32 = 0.9;

/// One call of `push`, or of `interrupt`.
#[derive(Clone, Debug)]
struct Step {
    env: usize,
    /// The environment's episode is cut off at this frame; the rest means nothing.
    interrupts: bool,
    frame: [u8; LEN],
    action: u32,
    explored: bool,
    reward: f32,
    terminated: bool,
    truncated: bool,
    last: Option<[u8; LEN]>,
}

/// A memory and what is written to it.
#[derive(Clone, Debug)]
struct Script {
    settings: ReplaySettings,
    envs: usize,
    space: Space,
    steps: Vec<Step>,
}

impl Script {
    fn replay(&self) -> Replay {
        Replay::new(&self.settings, self.envs, DISCOUNT, &self.space).unwrap()
    }
}

fn push(replay: &mut Replay, step: &Step) {
    let Step { env, interrupts, frame, action, explored, reward, terminated, truncated, ref last } = *step;
    if interrupts {
        return replay.interrupt(env, &frame).unwrap();
    }
    let last = last.as_ref().map(|last| &last[..]);
    let transition = Transition { frame: &frame, action, explored, reward, terminated, truncated, last };
    replay.push(env, &transition).unwrap();
}

fn space(stack: usize) -> Space {
    Space { frame: vec![LEN / 2, 2], element: Element::U8 { scale: 0.25 }, stack, actions: 5 }
}

/// `often`: one step in so many ends its episode, by itself or because it is interrupted.
fn steps(envs: usize, often: u32) -> impl Strategy<Value = Step> {
    let end = (0..often, 0..4_u8).prop_map(|(draw, how)| if draw == 0 { how } else { 4 });
    let frames = (any::<[u8; LEN]>(), any::<[u8; LEN]>());
    let actions = (0..5_u32, any::<bool>());
    (0..envs, frames, actions, -9_i8..9, end).prop_map(
        |(env, (frame, last), (action, explored), reward, end)| {
            let (terminated, truncated) = (end == 0 || end == 2, end == 1 || end == 2);
            let last = (terminated || truncated).then_some(last);
            let reward = f32::from(reward) / 7.0;
            Step { env, interrupts: end == 3, frame, action, explored, reward, terminated, truncated, last }
        },
    )
}

fn scripts(priority: Option<PrioritySettings>) -> impl Strategy<Value = Script> {
    let sizes = (1..4_usize, 1..5_usize, 1..5_usize, 0..20_usize, 1..12_u32);
    sizes.prop_flat_map(move |(envs, stack, n_step, spare, often)| {
        // A few slots are left over where the capacity is no multiple of the environments.
        let capacity = envs * (stack + n_step) + spare;
        let settings = ReplaySettings { capacity, n_step, watkins: true, priority };
        let steps = prop::collection::vec(steps(envs, often), 0..150);
        steps.prop_map(move |steps| Script { settings: settings.clone(), envs, space: space(stack), steps })
    })
}

fn prioritised() -> Option<PrioritySettings> {
    Some(PrioritySettings { alpha: 0.6, beta: 0.4, epsilon: 0.01 })
}

/// All that a memory can give, in its order.
fn contents(replay: &Replay) -> Vec<Expected> {
    let mut sample = Sample { index: replay.indices().collect(), ..Sample::default() };
    replay.gather(&mut sample).unwrap();
    let len = replay.decoder.len;
    (0..sample.index.len())
        .map(|i| Expected {
            index: sample.index[i],
            obs: sample.obs()[i * len..][..len].to_vec(),
            next: sample.next()[i * len..][..len].to_vec(),
            action: sample.action[i],
            reward: sample.reward[i],
            discount: sample.discount[i],
            terminal: sample.terminal[i],
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// After every step: which transitions can be sampled, and every number of each.
    #[test]
    fn agrees_with_the_model(script in prop_oneof![scripts(None), scripts(prioritised())]) {
        let (mut replay, mut naive) = (script.replay(), Naive::new(&script));
        for step in &script.steps {
            push(&mut replay, step);
            naive.push(step);
            let expected = naive.expected();
            prop_assert_eq!(replay.len(), expected.len());
            prop_assert_eq!(contents(&replay), expected);
            if script.settings.priority.is_some() {
                let present = replay.priorities().iter().filter(|&&weight| weight > 0.0).count();
                prop_assert_eq!(present, replay.len());
            }
        }
    }

    /// What is drawn can be sampled; and an index once overwritten is refused, or passed over, ever after.
    #[test]
    fn draws_what_is_there(script in prop_oneof![scripts(None), scripts(prioritised())], seed: u64) {
        let (mut replay, mut rng, mut sample) = (script.replay(), stream(seed, "draws"), Sample::default());
        let mut seen = std::collections::BTreeSet::new();
        for step in &script.steps {
            push(&mut replay, step);
            let there: std::collections::BTreeSet<u64> = replay.indices().collect();
            match replay.sample(7, 0.5, &mut rng, &mut sample) {
                Err(error) => prop_assert!(error == ReplayError::Empty && there.is_empty()),
                Ok(()) => prop_assert!(sample.index.iter().all(|index| there.contains(index))),
            }
            seen.extend(&there);
            let gone: Vec<u64> = seen.difference(&there).copied().collect();
            let before = replay.clone();
            replay.update(&gone, &vec![100.0; gone.len()]).unwrap();
            prop_assert!(replay == before);
            if let Some(&first) = gone.first() {
                let mut stale = Sample { index: gone, ..Sample::default() };
                prop_assert_eq!(replay.gather(&mut stale), Err(ReplayError::Stale(first)));
            }
        }
    }
}

fn small(priority: Option<PrioritySettings>) -> Replay {
    let settings = ReplaySettings { capacity: 20, n_step: 1, watkins: false, priority };
    Replay::new(&settings, 2, DISCOUNT, &space(1)).unwrap()
}

#[test]
fn bad_steps_are_refused_and_leave_no_trace() {
    let frame = [1; LEN];
    let mut replay = small(prioritised());
    let step = Transition::new(&frame, 0, 0.0);
    replay.push(1, &Transition::new(&frame, 4, 1.0)).unwrap();
    let before = replay.clone();
    let env = replay.push(2, &step);
    assert_eq!(env, Err(ReplayError::Env { env: 2, envs: 2 }));
    let short = replay.push(0, &Transition::new(&frame[1..], 0, 0.0));
    assert_eq!(short, Err(ReplayError::Frame { got: LEN - 1, want: LEN }));
    let short = replay.push(0, &step.ended_at(&frame[1..]));
    assert_eq!(short, Err(ReplayError::Frame { got: LEN - 1, want: LEN }));
    let action = replay.push(0, &Transition { action: 5, ..step });
    assert_eq!(action, Err(ReplayError::Action { action: 5, actions: 5 }));
    let reward = replay.push(0, &Transition { reward: f32::INFINITY, ..step });
    assert_eq!(reward, Err(ReplayError::Reward(f32::INFINITY)));
    assert_eq!(replay.push(0, &Transition { truncated: true, ..step }), Err(ReplayError::Last));
    assert_eq!(replay.push(0, &Transition { last: Some(&frame), ..step }), Err(ReplayError::Last));
    assert_eq!(replay.interrupt(2, &frame), Err(ReplayError::Env { env: 2, envs: 2 }));
    assert_eq!(replay.interrupt(1, &frame[1..]), Err(ReplayError::Frame { got: LEN - 1, want: LEN }));
    // Nor does an interruption where no episode is under way.
    assert_eq!(replay.interrupt(0, &frame), Ok(()));
    assert_eq!(replay, before);
}

#[test]
fn bad_errors_are_refused_and_leave_no_trace() {
    for priority in [None, prioritised()] {
        let mut replay = small(priority);
        (0..9).for_each(|t| replay.push(0, &Transition::new(&[t; LEN], 0, 0.0)).unwrap());
        let before = replay.clone();
        let refused = replay.update(&[0, 2], &[1.0, f32::NAN]);
        assert!(matches!(refused, Err(ReplayError::Priority { index: 2, value }) if value.is_nan()));
        let refused = replay.update(&[0, 2], &[1.0]);
        assert_eq!(refused, Err(ReplayError::Lengths { indices: 2, priorities: 1 }));
        let mut sample = Sample::default();
        let refused = replay.sample(4, 1.5, &mut stream(0, "beta"), &mut sample);
        assert_eq!(refused, Err(ReplayError::Beta(1.5)));
        assert_eq!(replay, before);
    }
}

#[test]
fn memory_that_there_is_not_is_an_error() {
    let settings = ReplaySettings { capacity: u32::MAX as usize, n_step: 1, watkins: false, priority: None };
    let huge = Space { frame: vec![1 << 34], ..space(1) };
    assert!(matches!(Replay::new(&settings, 1, DISCOUNT, &huge), Err(ReplayError::Memory { .. })));
}

#[test]
fn steady_state_reuses_the_buffers() {
    let mut replay = small(prioritised());
    (0..9).for_each(|t| replay.push(0, &Transition::new(&[t; LEN], 0, 0.0)).unwrap());
    let (mut sample, mut rng) = (Sample::default(), stream(0, "buffers"));
    replay.sample(32, 0.5, &mut rng, &mut sample).unwrap();
    let at = |s: &Sample| {
        (s.both.as_ptr(), s.action.as_ptr(), s.reward.as_ptr(), s.index.as_ptr(), s.weight.as_ptr())
    };
    let before = at(&sample);
    (0..10).for_each(|_| replay.sample(32, 0.5, &mut rng, &mut sample).unwrap());
    assert_eq!(at(&sample), before);
}
