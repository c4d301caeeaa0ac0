//! A memory whose frames lie elsewhere, as on a GPU, is the same memory: what is saved, its digest, and how it goes on when
//! they are brought back.

use super::*;
use std::sync::Mutex;

/// Frames by place, as a device has them.
struct There(Mutex<Vec<u8>>);

impl There {
    fn write(&self, place: usize, frame: &[u8; LEN]) {
        self.0.lock().unwrap()[place * LEN..][..LEN].copy_from_slice(frame);
    }
}

impl Elsewhere for There {
    fn read(&self, start: usize, out: &mut [u8]) -> std::result::Result<(), String> {
        let bytes = self.0.lock().unwrap();
        let from = bytes.get(start..start + out.len()).ok_or("beyond the end")?;
        out.copy_from_slice(from);
        Ok(())
    }
}

/// What a step writes to a memory whose frames lie there.
fn write(replay: &mut Replay, there: &There, step: &Step) {
    let (mut written, last) = (Written::default(), step.last.as_ref().map(|last| &last[..]));
    let Step { env, frame, action, explored, reward, terminated, truncated, .. } = *step;
    let frames = match step.interrupts {
        true => {
            replay.cut(env, &frame, &mut written).unwrap();
            [Some(frame), None]
        }
        false => {
            let transition =
                Transition { frame: &frame, action, explored, reward, terminated, truncated, last };
            replay.write(env, &transition, &mut written).unwrap();
            [Some(frame), step.last]
        }
    };
    let slots = written.slots.iter().zip(frames.into_iter().flatten());
    slots.for_each(|(entry, frame)| there.write(entry.place, &frame));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn frames_elsewhere_change_nothing(
        script in prop_oneof![scripts(None), scripts(prioritised())],
        leave_at in 0..60_usize,
        saved_at in 0..120_usize,
        seed: u64,
    ) {
        let (mut here, mut away) = (script.replay(), script.replay());
        let leave_at = leave_at.min(script.steps.len());
        let (before, after) = script.steps.split_at(leave_at);
        before.iter().for_each(|step| [&mut here, &mut away].into_iter().for_each(|replay| push(replay, step)));
        // The frames that are there already go along.
        let there = Arc::new(There(Mutex::new(vec![0; away.places() * LEN])));
        for (env, ring) in away.rings.iter().enumerate() {
            for counter in ring.kept() {
                there.write(away.entry(env, counter).place, ring.frame(counter).try_into().unwrap());
            }
        }
        away.leave_frames(&(there.clone() as Arc<dyn Elsewhere>));
        let mut heads = vec![0; script.envs];
        for (t, step) in after.iter().enumerate() {
            push(&mut here, step);
            write(&mut away, &there, step);
            if t == saved_at {
                heads = here.state().heads;
            }
        }
        prop_assert_eq!(here.digest(), away.digest());
        prop_assert!(here == away);
        for (env, &from) in heads.iter().enumerate() {
            prop_assert_eq!(here.since(env, from).unwrap(), away.since(env, from).unwrap());
        }
        let (mut expected, mut found) = (Sample::default(), Sample::default());
        if !here.is_empty() {
            let refused = away.sample(4, 0.5, &mut stream(seed, "draw"), &mut found);
            prop_assert!(matches!(refused, Err(ReplayError::Away(_))));
            away.bring_frames().unwrap();
            here.sample(4, 0.5, &mut stream(seed, "draw"), &mut expected).unwrap();
            away.sample(4, 0.5, &mut stream(seed, "draw"), &mut found).unwrap();
            prop_assert_eq!(expected, found);
        }
        // Brought back, it goes on by itself.
        away.bring_frames().unwrap();
        script.steps.iter().for_each(|step| [&mut here, &mut away].into_iter().for_each(|replay| push(replay, step)));
        prop_assert!(here == away);
    }
}

/// What cannot be read is an error, and a memory that cannot be read is equal to none.
#[test]
fn what_cannot_be_read_is_an_error() {
    let mut replay = small(None);
    (0..4).for_each(|_| replay.push(0, &Transition::new(&[1; LEN], 0, 0.0)).unwrap());
    let before = replay.clone();
    replay.leave_frames(&(Arc::new(There(Mutex::new(vec![]))) as Arc<dyn Elsewhere>));
    assert!(matches!(replay.since(0, 0), Err(ReplayError::Away(_))));
    assert!(matches!(replay.digest(), Err(ReplayError::Away(_))));
    assert!(replay.bring_frames().is_err());
    assert_ne!(replay, before);
}
