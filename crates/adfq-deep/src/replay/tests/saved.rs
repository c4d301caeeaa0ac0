//! Saved in increments and restored, a memory goes on as if nothing had happened.

use super::*;
use rand::RngExt;

/// What the code that writes checkpoints would keep.
#[derive(Default)]
struct Store {
    segments: Vec<Segment>,
    state: Option<ReplayState>,
    priorities: Vec<f32>,
}

impl Store {
    fn save(&mut self, replay: &Replay) {
        let saved =
            self.state.as_ref().map_or_else(|| vec![0; replay.rings.len()], |state| state.heads.clone());
        for (env, from) in saved.into_iter().enumerate() {
            self.segments.push(replay.since(env, from).unwrap());
        }
        self.segments.retain(|segment| segment.counters().end > replay.kept(segment.env).unwrap().start);
        self.state = Some(replay.state());
        self.priorities = replay.priorities();
    }

    fn restore(&self, script: &Script) -> Result<Replay> {
        let segments = self.segments.iter().cloned().map(Ok);
        script.replay().restore(self.state.as_ref().unwrap(), &self.priorities, segments)
    }

    fn restore_rest(&self, script: &Script) -> Result<Replay> {
        let segments = self.segments.iter().cloned().map(Ok);
        script.replay().restore_rest(self.state.as_ref().unwrap(), &self.priorities, segments)
    }
}

/// A step of a run: write, sample, and give the sampled new priorities.
fn live(replay: &mut Replay, step: &Step, rng: &mut adfq::random::ChaCha8Rng) -> Sample {
    push(replay, step);
    let mut sample = Sample::default();
    if replay.sample(5, 0.7, rng, &mut sample).is_ok() {
        let errors: Vec<f32> = sample.index.iter().map(|_| rng.random_range(-3.0..3.0)).collect();
        replay.update(&sample.index, &errors).unwrap();
    }
    sample
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn goes_on_as_if_never_stopped(
        script in prop_oneof![scripts(None), scripts(prioritised())],
        every in 1..40_usize,
        seed: u64,
    ) {
        let (mut replay, mut rng, mut store) = (script.replay(), stream(seed, "run"), Store::default());
        store.save(&replay);
        let half = script.steps.len() / 2;
        for (t, step) in script.steps[..half].iter().enumerate() {
            live(&mut replay, step, &mut rng);
            if t % every == 0 {
                store.save(&replay);
            }
        }
        store.save(&replay);
        // What a later, unfinished checkpoint left behind does no harm, nor does the order of the files.
        let ahead = script.steps[half..].iter().take(3).fold(replay.clone(), |mut ahead, step| {
            push(&mut ahead, step);
            ahead
        });
        store.segments.insert(0, ahead.since(0, 0).unwrap());
        let mut restored = store.restore(&script).unwrap();
        prop_assert_eq!(replay.digest(), restored.digest());
        prop_assert_eq!(contents(&replay), contents(&restored));
        let bits = |replay: &Replay| replay.priorities.as_ref().map(|p| (p.tree.clone(), p.tree.total().to_bits()));
        prop_assert_eq!(bits(&replay), bits(&restored));
        let mut again = rng.clone();
        for step in &script.steps[half..] {
            let (one, other) = (live(&mut replay, step, &mut rng), live(&mut restored, step, &mut again));
            prop_assert_eq!(one, other);
        }
        prop_assert_eq!(bits(&replay), bits(&restored));
        prop_assert_eq!(replay.digest(), restored.digest());
    }
}

/// What a memory can still sample is what the whole one would say of it, priorities included.
fn check_is_part(rest: &Replay, whole: &Replay) -> std::result::Result<(), TestCaseError> {
    let index: Vec<u64> = rest.indices().collect();
    let gathered = |replay: &Replay| {
        let mut sample = Sample { index: index.clone(), ..Sample::default() };
        replay.gather(&mut sample).map(|()| sample)
    };
    prop_assert_eq!(gathered(rest), gathered(whole));
    prop_assert_eq!(index.len(), rest.len());
    let (own, all) = (rest.priorities(), whole.priorities());
    for (place, (&own, &all)) in own.iter().zip(&all).enumerate() {
        prop_assert_eq!(own, if rest.holds_place(place) { all } else { 0.0 });
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    /// Any files are lost. What is left is right at every step, is saved and restored again, and once as much was written
    /// as fits the memory is the one that nothing was lost of.
    #[test]
    fn goes_on_without_what_is_lost(
        script in prop_oneof![scripts(None), scripts(prioritised())],
        every in 1..40_usize,
        lost: u64,
        again in 0..40_usize,
        seed: u64,
    ) {
        let (mut whole, mut rng, mut store) = (script.replay(), stream(seed, "run"), Store::default());
        let half = script.steps.len() / 2;
        for (t, step) in script.steps[..half].iter().enumerate() {
            live(&mut whole, step, &mut rng);
            if t % every == 0 {
                store.save(&whole);
            }
        }
        store.save(&whole);
        let mut number = 0;
        store.segments.retain(|_| {
            number += 1;
            lost >> (number % 64) & 1 == 0
        });
        let mut rest = store.restore_rest(&script).unwrap();
        check_is_part(&rest, &whole)?;
        for (t, step) in script.steps[half..].iter().enumerate() {
            push(&mut whole, step);
            push(&mut rest, step);
            check_is_part(&rest, &whole)?;
            if t == again {
                store.save(&rest);
                prop_assert_eq!(store.restore(&script).unwrap().digest(), rest.digest());
                rest = store.restore(&script).unwrap();
                check_is_part(&rest, &whole)?;
            }
        }
        let stack = script.space.stack as u64;
        if rest.rings.iter().all(|ring| ring.kept().start >= ring.floor() + stack) {
            prop_assert_eq!(rest.digest(), whole.digest());
            prop_assert_eq!(rest.len(), whole.len());
        }
    }
}

/// 50 steps, an end now and then, in rings of ten.
fn example() -> (Script, Replay, Store) {
    let settings = ReplaySettings { capacity: 20, n_step: 2, watkins: false, priority: prioritised() };
    let mut script = Script { settings, envs: 2, space: space(2), steps: Vec::new() };
    let (mut replay, mut store) = (script.replay(), Store::default());
    for t in 0..50_u8 {
        let last = (t % 7 == 6).then_some([t; LEN]);
        let (env, terminated) = (usize::from(t % 2), last.is_some());
        script.steps.push(Step {
            env,
            interrupts: false,
            frame: [t; LEN],
            action: 1,
            explored: false,
            reward: 1.0,
            terminated,
            truncated: false,
            last,
        });
        push(&mut replay, &script.steps[usize::from(t)]);
        if t % 4 == 0 {
            store.save(&replay);
        }
    }
    store.save(&replay);
    (script, replay, store)
}

#[test]
fn overwritten_segments_are_dropped_and_the_rest_is_small() {
    let (_, replay, store) = example();
    let slots: u64 = store.segments.iter().map(|segment| segment.count).sum();
    // Ten slots of each environment are kept, and a segment that straddles the end of them has three at most in addition.
    assert!((20..=26).contains(&slots), "{slots}");
    let segment = replay.since(1, replay.kept(1).unwrap().end).unwrap();
    assert_eq!((segment.count, segment.stored_bytes()), (0, 0));
    assert_eq!(replay.since(2, 0), Err(ReplayError::Env { env: 2, envs: 2 }));
}

/// A frame of cells that are there or not takes an eighth, as long as all are.
#[test]
fn frames_of_bits_are_packed() {
    let settings = ReplaySettings { capacity: 20, n_step: 1, watkins: false, priority: None };
    let script = Script { settings, envs: 1, space: space(1), steps: Vec::new() };
    let mut replay = script.replay();
    let stored = |replay: &Replay| replay.since(0, 0).unwrap().frames;
    // The ring is overwritten in part: what is saved lies in two pieces.
    for t in 0..27_usize {
        let frame: [u8; LEN] = std::array::from_fn(|cell| u8::from((cell + t) % 3 == 0));
        replay.push(0, &Transition::new(&frame, 0, 1.0)).unwrap();
    }
    let Frames::Bits(bits) = stored(&replay) else { panic!() };
    assert_eq!(bits.len(), 20 * LEN.div_ceil(8));
    let restored = |replay: &Replay| {
        let segment = Ok::<_, ReplayError>(replay.since(0, 0).unwrap());
        script.replay().restore(&replay.state(), &[], [segment]).unwrap()
    };
    assert_eq!(restored(&replay).digest(), replay.digest());
    replay.push(0, &Transition::new(&[2; LEN], 0, 1.0)).unwrap();
    assert!(matches!(stored(&replay), Frames::Bytes(bytes) if bytes.len() == 20 * LEN));
    assert_eq!(restored(&replay).digest(), replay.digest());
}

#[test]
fn state_survives_postcard() {
    let (_, replay, _) = example();
    let bytes = postcard::to_stdvec(&replay.state()).unwrap();
    assert_eq!(postcard::from_bytes::<ReplayState>(&bytes).unwrap(), replay.state());
}

#[test]
fn damage_is_named() {
    type Harm = fn(&mut Script, &mut Store);
    let cases: [(&str, Harm); 10] = [
        ("no segment holds slot", |_, store| drop(store.segments.pop())),
        ("a segment of", |_, store| store.segments[0].steps.push(0)),
        ("there is no environment 9", |_, store| store.segments[0].env = 9),
        ("holds no step", |_, store| store.segments.last_mut().unwrap().steps[7] = 1),
        ("does not follow", |_, store| store.segments.last_mut().unwrap().steps[8] = 99),
        ("21 priorities, where there must be 20", |_, store| store.priorities.push(0.0)),
        ("the priority of place", |_, store| store.priorities.fill(1.0)),
        ("the priority of place 0 is NaN", |_, store| store.priorities[0] = f32::NAN),
        ("the largest priority is 0", |_, store| store.state.as_mut().unwrap().largest = 0.0),
        ("2 environments were saved, and there are 1", |script, _| script.envs = 1),
    ];
    for (expected, harm) in cases {
        let (mut script, replay, mut store) = example();
        assert_eq!(store.restore(&script).unwrap(), replay);
        harm(&mut script, &mut store);
        let message = store.restore(&script).expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// The order of slots is checked: a final frame comes after a step, and only before a first.
#[test]
fn a_final_frame_in_the_wrong_place_is_damage() {
    const FINAL: u8 = 8;
    let settings = ReplaySettings { capacity: 20, n_step: 1, watkins: false, priority: None };
    let script = Script { settings, envs: 1, space: space(1), steps: Vec::new() };
    let mut replay = script.replay();
    (0..4).for_each(|t| replay.push(0, &Transition::new(&[t; LEN], 0, 1.0)).unwrap());
    let restored = |slots: &[usize]| {
        let mut segment = replay.since(0, 0).unwrap();
        slots.iter().for_each(|slot| segment.steps[slot * 9 + 8] = FINAL);
        script.replay().restore(&replay.state(), &[], [Ok(segment)])
    };
    assert_eq!(restored(&[]).unwrap(), replay);
    assert_eq!(restored(&[3]).unwrap().len(), 3);
    for wrong in [&[0][..], &[1], &[2, 3]] {
        let error: ReplayError = restored(wrong).unwrap_err();
        assert!(error.to_string().contains("does not follow"), "{error}");
    }
}

#[test]
fn failures_to_read_a_segment_are_handed_on() {
    let (script, replay, store) = example();
    #[derive(Debug, PartialEq)]
    enum Failure {
        Read,
        Replay(ReplayError),
    }
    impl From<ReplayError> for Failure {
        fn from(error: ReplayError) -> Self {
            Self::Replay(error)
        }
    }
    let restore = |segments: Vec<std::result::Result<Segment, Failure>>| {
        script.replay().restore(&replay.state(), &store.priorities, segments)
    };
    assert_eq!(restore(vec![Err(Failure::Read)]), Err(Failure::Read));
    assert!(matches!(restore(vec![]), Err(Failure::Replay(ReplayError::State(_)))));
}

#[test]
fn the_digest_sees_every_part() {
    let (script, replay, _) = example();
    let with = |change: fn(&mut Step)| {
        let mut changed = script.replay();
        for (t, step) in script.steps.iter().enumerate() {
            let mut step = step.clone();
            if t == 45 {
                change(&mut step);
            }
            push(&mut changed, &step);
        }
        changed
    };
    assert_eq!(with(|_| ()).digest(), replay.digest());
    let mut updated = replay.clone();
    let first = replay.indices().next().unwrap();
    updated.update(&[first], &[0.5]).unwrap();
    let all = [
        replay.digest(),
        with(|step| step.frame[LEN - 1] ^= 1).digest(),
        with(|step| step.action = 2).digest(),
        with(|step| step.reward = 0.5).digest(),
        with(|step| (step.truncated, step.last) = (true, Some([0; LEN]))).digest(),
        updated.digest(),
    ];
    let distinct: std::collections::BTreeSet<u64> = all.iter().flatten().copied().collect();
    assert_eq!(distinct.len(), all.len());
}
