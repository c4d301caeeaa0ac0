//! The games as environments: saved states, frames, pictures, and what is refused.

use adfq_env::minatar::{Asterix, Breakout, Freeway, Game, MinAtar, Seaquest, Settings, SpaceInvaders};
use adfq_env::{Element, Env, Error, Step};
use proptest::prelude::*;

/// Plays actions, with a reset after each end, and gives all that was seen.
fn play(env: &mut dyn Env, actions: &[usize]) -> Vec<(Step, Vec<u8>)> {
    let mut frame = vec![0; env.space().frame_bytes()];
    let mut seen = Vec::new();
    for &action in actions {
        let step = env.step(action, &mut frame).unwrap();
        seen.push((step, frame.clone()));
        if step.terminated || step.truncated {
            env.reset(None, &mut frame).unwrap();
            seen.push((Step::default(), frame.clone()));
        }
    }
    seen
}

fn make<G: Game>(seed: u64, settings: Settings) -> MinAtar<G> {
    let mut env = MinAtar::new(settings).unwrap();
    let mut frame = vec![0; env.space().frame_bytes()];
    env.reset(Some(seed), &mut frame).unwrap();
    env
}

fn six_actions(sticky: f64, ramping: bool) -> Settings {
    Settings { sticky, ramping, minimal_actions: false }
}

/// From any moment on, a restored game goes on as the one it was saved from.
fn goes_on_bit_for_bit<G: Game>(seed: u64, settings: Settings, before: &[usize], after: &[usize]) {
    let mut env = make::<G>(seed, settings);
    play(&mut env, before);
    let saved = env.save().unwrap().unwrap();
    let mut other = make::<G>(seed + 1, settings);
    other.restore(&saved).unwrap();
    assert_eq!(other.save().unwrap().unwrap(), saved);
    assert_eq!(play(&mut other, after), play(&mut env, after));
    assert_eq!(other.save().unwrap(), env.save().unwrap());
}

/// Flags are 0 or 1 whatever was in the frame before, a step after the end is refused, and nothing panics.
fn stands_any_play<G: Game>(seed: u64, settings: Settings, actions: &[usize]) {
    let mut env = make::<G>(seed, settings);
    let mut frame = vec![9; env.space().frame_bytes()];
    for &action in actions {
        frame.fill(9);
        let step = env.step(action, &mut frame).unwrap();
        assert!(frame.iter().all(|&flag| flag <= 1));
        if step.ended() {
            let error = env.step(action, &mut frame).unwrap_err();
            assert!(matches!(error, Error::NoEpisode), "{error}");
            env.reset(None, &mut frame).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restored_games_go_on(
        seed in 0_u64..1000,
        (sticky, ramping) in (0.0..=1.0, any::<bool>()),
        before in prop::collection::vec(0_usize..6, 0..400),
        after in prop::collection::vec(0_usize..6, 0..200),
    ) {
        let settings = six_actions(sticky, ramping);
        goes_on_bit_for_bit::<Breakout>(seed, settings, &before, &after);
        goes_on_bit_for_bit::<Asterix>(seed, settings, &before, &after);
        goes_on_bit_for_bit::<Freeway>(seed, settings, &before, &after);
        goes_on_bit_for_bit::<Seaquest>(seed, settings, &before, &after);
        goes_on_bit_for_bit::<SpaceInvaders>(seed, settings, &before, &after);
    }

    #[test]
    fn any_play_is_stood(
        seed in 0_u64..1000,
        (sticky, ramping) in (0.0..=1.0, any::<bool>()),
        actions in prop::collection::vec(0_usize..6, 0..3000),
    ) {
        let settings = six_actions(sticky, ramping);
        stands_any_play::<Breakout>(seed, settings, &actions);
        stands_any_play::<Asterix>(seed, settings, &actions);
        stands_any_play::<Freeway>(seed, settings, &actions);
        stands_any_play::<Seaquest>(seed, settings, &actions);
        stands_any_play::<SpaceInvaders>(seed, settings, &actions);
    }
}

/// A seed decides everything, also for an environment that has played before.
#[test]
fn same_seed_same_game() {
    let actions: Vec<usize> = (0..500).map(|i| i * 7 % 3).collect();
    let mut fresh = make::<Breakout>(3, Settings::default());
    let mut used = make::<Breakout>(8, Settings::default());
    play(&mut used, &actions[..77]);
    used.reset(Some(3), &mut vec![0; 400]).unwrap();
    let first = play(&mut fresh, &actions);
    assert_eq!(play(&mut used, &actions), first);
    let mut other = make::<Breakout>(4, Settings::default());
    assert_ne!(play(&mut other, &actions), first);
}

/// Freeway's clock cuts off, after 2501 steps; it does not end.
#[test]
fn freeway_is_truncated() {
    let mut env = make::<Freeway>(0, Settings::default());
    let mut frame = vec![0; 700];
    let steps: Vec<Step> = (0..2501).map(|_| env.step(0, &mut frame).unwrap()).collect();
    assert!(steps.iter().all(|step| !step.terminated));
    assert_eq!(steps.iter().position(|step| step.truncated), Some(2500));
}

/// With the minimal actions, the number is the place among them: in Freeway, 1 is up.
#[test]
fn minimal_actions() {
    let settings = |minimal_actions| Settings { sticky: 0.0, minimal_actions, ..Settings::default() };
    let (mut minimal, mut full) = (make::<Freeway>(5, settings(true)), make::<Freeway>(5, settings(false)));
    assert_eq!(minimal.action_names(), ["noop", "up", "down"]);
    assert_eq!(full.action_names(), ["noop", "left", "up", "right", "down", "fire"]);
    assert_eq!(play(&mut minimal, &[1; 300]), play(&mut full, &[2; 300]));
    let space = full.space();
    assert_eq!((space.actions, space.stack, space.element), (6, 1, Element::U8 { scale: 1.0 }));
}

#[test]
fn refusals() {
    let mut breakout = make::<Breakout>(0, Settings::default());
    let error = breakout.step(3, &mut [0; 400]).unwrap_err();
    assert!(matches!(error, Error::Action { action: 3, actions: 3 }));

    let foreign = make::<Asterix>(0, Settings::default()).save().unwrap().unwrap();
    let message = breakout.restore(&foreign).unwrap_err().to_string();
    assert!(message.contains("one of breakout: it is one of \"asterix\""), "{message}");

    let slippery = make::<Breakout>(0, six_actions(0.5, true)).save().unwrap().unwrap();
    let message = breakout.restore(&slippery).unwrap_err().to_string();
    assert!(message.contains("sticky: 0.5"), "{message}");

    let saved = breakout.save().unwrap().unwrap();
    for cut in 0..saved.len() {
        assert!(breakout.restore(&saved[..cut]).is_err(), "{cut} of {} bytes", saved.len());
    }
    assert!(breakout.restore(&[saved.as_slice(), &[0]].concat()).is_err());
    assert_eq!(breakout.save().unwrap().unwrap(), saved, "a refused state leaves things as they were");

    for sticky in [-0.1, 1.1, f64::NAN] {
        let error = MinAtar::<Breakout>::new(Settings { sticky, ..Settings::default() }).unwrap_err();
        assert!(error.to_string().contains("from 0 to 1"), "{error}");
    }
}

/// Ten pixels a cell: a picture tells things from each other and from nothing.
#[test]
fn pictures() {
    let picture = make::<Breakout>(0, Settings::default()).render().unwrap();
    assert_eq!((picture.width, picture.height, picture.rgb.len()), (100, 100, 30_000));
    let pixel = |row: usize, column: usize| &picture.rgb[3 * (row * 100 + column)..][..3];
    let (nothing, brick, paddle) = (pixel(0, 0), pixel(15, 15), pixel(95, 45));
    assert!(nothing != brick && brick != paddle && nothing != paddle);
    assert_eq!((pixel(9, 99), pixel(10, 10), pixel(90, 40)), (nothing, brick, paddle));
    assert_eq!((pixel(18, 18), pixel(19, 15), pixel(15, 19)), (brick, nothing, nothing));
}
