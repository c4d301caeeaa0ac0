//! What a write tells is enough to keep a copy elsewhere, as a GPU does: which transitions can be sampled there, and what
//! they are.

use super::*;
use std::collections::BTreeSet;

/// A copy of the memory by places, which knows only what it is told.
#[derive(Default)]
struct Mirror {
    slots: Vec<Option<(Entry, [u8; LEN])>>,
    there: BTreeSet<usize>,
}

impl Mirror {
    /// A copy of what a memory holds now.
    fn of(replay: &Replay) -> Self {
        let mut mirror = Self { slots: vec![None; replay.places()], there: BTreeSet::new() };
        for (env, ring) in replay.rings.iter().enumerate() {
            for counter in ring.kept() {
                let frame = ring.frame(counter).try_into().unwrap();
                let entry = replay.entry(env, counter);
                mirror.slots[entry.place] = Some((entry, frame));
            }
        }
        mirror.there = replay.indices().map(|index| place(replay, index)).collect();
        mirror
    }

    fn follow(&mut self, step: &Step, written: &Written) {
        for (&entry, frame) in written.slots.iter().zip([Some(step.frame), step.last].into_iter().flatten()) {
            self.slots[entry.place] = Some((entry, frame));
        }
        for &(place, present) in &written.changes {
            let news = if present { self.there.insert(place) } else { self.there.remove(&place) };
            assert!(news, "place {place} was told twice");
        }
    }

    /// The first frame, the action, the n-step reward and the frame after it, of the transition that starts at a place.
    fn transition(&self, script: &Script, place: usize) -> ([u8; LEN], u32, f32, [u8; LEN]) {
        let ring = script.settings.capacity / script.envs;
        let at = |step: usize| self.slots[place / ring * ring + (place + step) % ring].unwrap();
        let (first, frame) = at(0);
        let (mut steps, mut reward, mut power) = (0, 0.0, 1.0);
        let goes_on = |steps: usize| {
            let flags = at(steps).0.flags;
            flags & ring::FINAL == 0 && (steps == 0 || flags & ring::EXPLORED == 0)
        };
        while steps < script.settings.n_step && goes_on(steps) {
            reward += power * f64::from(at(steps).0.reward);
            power *= f64::from(DISCOUNT);
            steps += 1;
        }
        (frame, first.action, reward as f32, at(steps).1)
    }
}

/// Where a transition lies, counted over all environments.
fn place(replay: &Replay, index: u64) -> usize {
    let (env, counter) = replay.locate(index).unwrap();
    env * replay.layout.slots + replay.rings[env].place(counter)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn a_mirror_that_is_told_what_was_written_agrees(
        script in prop_oneof![scripts(None), scripts(prioritised())],
    ) {
        // A number of slots that all environments share out leaves none over.
        let capacity = script.settings.capacity / script.envs * script.envs;
        let script = Script { settings: ReplaySettings { capacity, ..script.settings.clone() }, ..script };
        let (mut replay, mut written) = (script.replay(), Written::default());
        let mut mirror = Mirror::of(&replay);
        for step in &script.steps {
            if step.interrupts {
                // Only a run that is taken up is interrupted, and the mirror is made after that.
                replay.interrupt(step.env, &step.frame).unwrap();
                mirror = Mirror::of(&replay);
                continue;
            }
            let Step { frame, action, explored, reward, terminated, truncated, ref last, .. } = *step;
            let last = last.as_ref().map(|last| &last[..]);
            let transition =
                Transition { frame: &frame, action, explored, reward, terminated, truncated, last };
            replay.write(step.env, &transition, &mut written).unwrap();
            mirror.follow(step, &written);
            let there: BTreeSet<usize> = replay.indices().map(|index| place(&replay, index)).collect();
            prop_assert_eq!(&mirror.there, &there);
            for (index, expected) in replay.indices().zip(contents(&replay)) {
                let (frame, action, reward, next) = mirror.transition(&script, place(&replay, index));
                prop_assert_eq!((action, reward), (expected.action, expected.reward));
                // The newest frame of a stacked observation is the last in each row of the innermost axis.
                let newest = |observation: &[f32]| -> Vec<u8> {
                    let rows = observation.chunks_exact(2 * script.space.stack);
                    rows.flat_map(|row| row[row.len() - 2..].iter().map(|n| (n * 4.0) as u8)).collect()
                };
                prop_assert_eq!(newest(&expected.obs), frame);
                prop_assert_eq!(newest(&expected.next), next);
            }
            #[cfg(feature = "cuda")]
            draws_agree(&replay);
        }
    }
}

/// Places are drawn as transitions are.
#[cfg(feature = "cuda")]
fn draws_agree(replay: &Replay) {
    if replay.is_empty() || replay.priorities.is_some() {
        return;
    }
    let (mut sample, mut places) = (Sample::default(), [0; 9]);
    replay.draw(9, 0.0, &mut stream(5, "draw"), &mut sample).unwrap();
    replay.draw_places(&mut stream(5, "draw"), &mut places).unwrap();
    assert!(sample.index.iter().zip(places).all(|(&index, at)| place(replay, index) == at as usize));
}
