//! Calibrated by its parts. Whole trainings are in `tests/calibrated.rs`.

use super::super::tests::{BATCH, Rows, batch, config, practised, sample, space};
use super::super::{Algorithms, Gradient};
use super::*;

fn calibrated() -> Calibrated {
    Calibrated::new(&config(NAME), &space()).unwrap()
}

/// The gradient and the errors of a batch.
fn slopes(algorithm: &mut dyn Algorithm, batch: &Batch, outputs: &Outputs) -> (Vec<f32>, Vec<f32>) {
    let (mut slopes, mut errors) = (vec![0.0; outputs.online.len()], vec![0.0; BATCH]);
    let mut gradient = Gradient { outputs: &mut slopes, errors: &mut errors };
    algorithm.loss(batch, outputs, &mut gradient).unwrap();
    (slopes, errors)
}

/// Every row without what is said of errors is one of Double DQN.
#[test]
fn means_learn_as_in_double_dqn() {
    let (learner, sample) = (practised(NAME), sample());
    let (rows, batch) = (Rows::new(&learner, &sample), batch(&sample, learner.rewards));
    let means = |rows: &[f32]| rows.chunks(4).flat_map(|row| row[..2].to_vec()).collect::<Vec<_>>();
    let outputs = rows.outputs();
    let [online, target_next, online_next] =
        [outputs.online, outputs.target_next, outputs.online_next].map(means);
    let values =
        Outputs { online: &online, target_next: &target_next, online_next: &online_next, target: &[] };
    let mut double = Algorithms::default().get("ddqn").unwrap().build(&config("ddqn"), &space()).unwrap();
    let (expected, errors) = slopes(&mut *double, &batch, &values);
    let found = slopes(&mut calibrated(), &batch, &outputs);
    assert_eq!((means(&found.0), found.1), (expected, errors));
}

/// log √c moves towards that of δ² + γ² c′, where c′ is at most four times the variance of the batch's values.
#[test]
fn errors_add_up_along_the_policy() {
    let (learner, sample) = (practised(NAME), sample());
    let (rows, batch) = (Rows::new(&learner, &sample), batch(&sample, learner.rewards));
    let (mut algorithm, outputs) = (calibrated(), rows.outputs());
    let values: Vec<f64> =
        (0..BATCH).map(|i| outputs.online[i * 4 + batch.action[i] as usize].into()).collect();
    let mean = values.iter().sum::<f64>() / BATCH as f64;
    let widest = 4.0 * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / BATCH as f64;
    let (slopes, errors) = slopes(&mut algorithm, &batch, &outputs);
    for (i, error) in errors.iter().enumerate() {
        let row = i * 4;
        let best = usize::from(outputs.online_next[row + 1] > outputs.online_next[row]);
        let beyond = (-2.0 * f64::from(outputs.target_next[row + 2 + best])).exp().min(widest);
        let goes_on = f64::from(u8::from(!batch.terminal[i]));
        let var = f64::from(*error).powi(2) + goes_on * f64::from(batch.discount[i]).powi(2) * beyond;
        let at = row + 2 + batch.action[i] as usize;
        let off = (f64::from(outputs.online[at]) + 0.5 * var.ln()).clamp(-1.0, 1.0);
        let expected = 0.1 * off * f64::from(batch.weight[i]) / BATCH as f64;
        assert!((f64::from(slopes[at]) - expected).abs() < 1e-6, "{i}: {} {expected}", slopes[at]);
    }
}

/// With a gain of ½ a mean goes half way from the target network's own value. Errors, and what is learned of them, are those beside the
/// whole target. With a gradient of nothing ρ stays.
#[test]
fn a_gain_moves_means_a_part_of_the_way() {
    let (learner, sample) = (practised(NAME), sample());
    let (rows, batch) = (Rows::new(&learner, &sample), batch(&sample, learner.rewards));
    let outputs = rows.outputs();
    let slopes = |gain: f64, rho: f64| {
        let settings = CalibratedSettings { gain, rho, ..CalibratedSettings::default() };
        let mut config = config(NAME).with_own(NAME, &settings).unwrap();
        config.learning.huber = 1e6;
        let mut algorithm = Calibrated::new(&config, &space()).unwrap();
        assert_eq!(algorithm.passes().target, gain < 1.0);
        slopes(&mut algorithm, &batch, &outputs)
    };
    let ((whole, errors), (half, beside), (still, _)) =
        (slopes(1.0, 0.1), slopes(0.5, 0.1), slopes(1.0, 0.0));
    assert_eq!(errors, beside);
    for i in 0..BATCH {
        let (row, at) = (i * 4, i * 4 + batch.action[i] as usize);
        let share = batch.weight[i] / BATCH as f32;
        // μ - y is the slope of the whole way.
        let half_way = 0.5 * whole[at] + 0.5 * share * (outputs.online[at] - outputs.target[at]);
        assert!((half[at] - half_way).abs() < 1e-6, "{i}: {} {half_way}", half[at]);
        assert!(half[row + 2..row + 4] == whole[row + 2..row + 4] && still[at] == whole[at], "{i}");
        assert!(still[row + 2..row + 4].iter().all(|slope| *slope == 0.0), "{i}");
    }
    assert!(half.iter().zip(&whole).any(|(half, whole)| (half - whole).abs() > 1e-3));
}

fn state(env: Option<usize>) -> State<'static> {
    State {
        env,
        only_means: false,
        observation: &[0.1, 0.2, 0.3],
        row: &[1.0, 2.0, 0.0, 0.0],
        beside: &[],
        actions: 2,
        rewards: Default::default(),
        unit: 1.0,
    }
}

fn scores(algorithm: &mut Calibrated, env: Option<usize>) -> Vec<f32> {
    let mut found = vec![];
    algorithm.estimate(&state(env), &mut found).unwrap();
    found.iter().map(|estimate| estimate.score).collect()
}

/// About half of the episodes follow the means at every step. In an evaluation all do.
#[test]
fn an_episode_explores_or_does_not() {
    let (mut algorithm, mut explored) = (calibrated(), 0);
    for _ in 0..400 {
        algorithm.begin_episode(0);
        let turned = (0..40).filter(|_| scores(&mut algorithm, Some(0)) != [1.0, 2.0]).count();
        assert_eq!(turned > 0, algorithm.kept.under[0].mode == Mode::Explore);
        explored += usize::from(turned > 0);
        assert_eq!(scores(&mut algorithm, None), [1.0, 2.0]);
    }
    // 4 sd of a fair coin.
    assert!((160..=240).contains(&explored), "{explored}");
}

/// In an environment without an end, whether its states come again or not, it is decided again and again what the agent does. A run that
/// was saved goes on alike.
#[test]
fn an_episode_without_end_is_decided_anew() {
    for comes_again in [true, false] {
        let (mut algorithm, mut modes) = (calibrated(), vec![]);
        for step in 0..200_000_u32 {
            let observation = [if comes_again { 0.5 } else { step as f32 }, 0.0, 0.0];
            sd_in(&mut algorithm, &observation, Some(0));
            modes.push(algorithm.kept.under[0].mode);
            algorithm.received(0, Received { action: 1, reward: -1.0, terminated: false, ended: false });
            if step == 1_234 {
                let saved = algorithm.save().unwrap();
                algorithm = calibrated();
                algorithm.restore(&saved).unwrap();
            }
        }
        assert_eq!(algorithm.table().is_some(), comes_again);
        let changes: Vec<usize> = (1..modes.len()).filter(|&i| modes[i] != modes[i - 1]).collect();
        assert!(changes.len() > 3, "{changes:?}");
        // Where nothing comes again, after every ten thousand steps.
        assert!(comes_again || changes.iter().all(|change| change % 10_000 == 0), "{changes:?}");
    }
}

/// In a world of two states, through which an episode goes in turn: the share of episodes that explore in the end, where each step pays so
/// much, and episodes are cut off or terminate. One of the actions is never tried, so there is always something to explore.
fn explore_in_the_end(reward: f32, terminates: bool) -> f64 {
    let (mut algorithm, mut explored) = (calibrated(), 0);
    for step in 0..100_000_u32 {
        let ended = step % 100 == 99;
        sd_in(&mut algorithm, &[(step % 2) as f32, 0.0, 0.0], Some(0));
        explored += u32::from(ended && algorithm.kept.under[0].mode == Mode::Explore);
        algorithm.received(0, Received { action: 1, reward, terminated: terminates && ended, ended });
        if ended {
            algorithm.begin_episode(0);
        }
    }
    assert!(algorithm.table().is_some());
    f64::from(explored) / 1_000.0
}

/// Who follows the means and comes back to a state poorer than before is in a circle, and it is decided anew after each round. A circle that
/// costs nothing may be all there is to do.
#[test]
fn a_circle_that_costs_is_decided_anew() {
    let shares = [-1.0, 0.0].map(|reward| explore_in_the_end(reward, false));
    assert!(shares[0] > 0.95 && (0.4..0.6).contains(&shares[1]), "{shares:?}");
}

/// Where episodes end, few explore after many that have paid. In a world without end, half of them do as long as there is doubt.
#[test]
fn a_world_without_end_is_explored_as_long_as_there_is_doubt() {
    let shares = [true, false].map(|terminates| explore_in_the_end(1.0, terminates));
    assert!(shares[0] < 0.1 && (0.4..0.6).contains(&shares[1]), "{shares:?}");
}

/// Returns are samples of the agent's own Q from the last action on that was not the best.
#[test]
fn an_exploring_episode_is_held_against_its_end() {
    let steps_held = |mode: Mode, actions: &[usize]| {
        let mut algorithm = calibrated();
        for (i, &action) in actions.iter().enumerate() {
            algorithm.kept.under[0].mode = mode;
            scores(&mut algorithm, Some(0));
            let ended = i + 1 == actions.len();
            algorithm.received(0, Received { action, reward: 1.0, terminated: ended, ended });
        }
        algorithm.kept.calibration.known()
    };
    // The second action has the larger mean.
    assert_eq!(steps_held(Mode::Explore, &[1, 0, 1, 0, 1, 1]), 3);
    assert_eq!(steps_held(Mode::Explore, &[1, 1, 0]), 1);
    assert_eq!(steps_held(Mode::Greedy, &[1, 1, 1, 1]), 4);
}

#[test]
fn a_state_of_another_size_does_not_fit() {
    let saved = calibrated().save().unwrap();
    calibrated().restore(&saved).unwrap();
    let settings = CalibratedSettings { pairs: 1 << 10, ..CalibratedSettings::default() };
    let small = config(NAME).with_own(NAME, &settings).unwrap();
    assert!(Calibrated::new(&small, &space()).unwrap().restore(&saved).unwrap_err().contains("pairs"));
    for missing in 1..=5 {
        assert!(calibrated().restore(&saved[..saved.len() - missing]).is_err());
    }
}

/// Where the table is not believed, nothing is lost with it.
#[test]
fn states_known_by_another_hash_are_forgotten_or_refused() {
    let mut algorithm = calibrated();
    let memory = algorithm.kept.memory.as_mut().unwrap();
    memory.visit(7, 0);
    let before = |algorithm: &Calibrated| postcard::to_stdvec(&algorithm.kept).unwrap();
    let mut restored = calibrated();
    restored.restore(&before(&algorithm)).unwrap();
    assert_eq!(restored.kept.memory.unwrap().was_tried(7, 0), Some(false));
    let memory = algorithm.kept.memory.as_mut().unwrap();
    (0..10_000).for_each(|_| memory.visit(7, 0));
    assert!(calibrated().restore(&before(&algorithm)).unwrap_err().contains("another version"));
    calibrated().restore(&postcard::to_stdvec(&(&algorithm.kept, BEFORE)).unwrap()).unwrap();
    calibrated().restore(&algorithm.save().unwrap()).unwrap();
}

/// In an older checkpoint the table has values if, and only if, an episode has terminated.
#[test]
fn an_older_checkpoint_is_read() {
    for terminated in [false, true] {
        let mut algorithm = calibrated();
        for ended in [false, true] {
            scores(&mut algorithm, Some(0));
            algorithm
                .received(0, Received { action: 1, reward: 1.0, terminated: terminated && ended, ended });
        }
        if !terminated {
            algorithm.kept.memory.as_mut().unwrap().forget_backups();
        }
        let (kept, course) = (&algorithm.kept, &algorithm.course);
        assert_eq!((&course.lasted, course.ends), (&vec![2], terminated));
        let mut restored = calibrated();
        restored.restore(&postcard::to_stdvec(&(kept, BEFORE, &course.lasted)).unwrap()).unwrap();
        assert!(restored.kept == *kept && restored.course == *course);
        let mut restored = calibrated();
        restored.restore(&postcard::to_stdvec(&(kept, ALIKE, course)).unwrap()).unwrap();
        assert!(restored.kept == *kept && restored.course == *course);
    }
}

/// The first action is worth 1 less than the second, and is believed to be worth δ more than one step shows: half of δ² / 4 is added to
/// σ², which is for both actions alike.
#[test]
fn actions_that_are_not_the_best_have_their_own_errors() {
    let settings = CalibratedSettings { pairs: 0, ..CalibratedSettings::default() };
    let mut algorithm = Calibrated::new(&config(NAME).with_own(NAME, &settings).unwrap(), &space()).unwrap();
    let held = Held { own: 1.0, var: 1.0, means: [1.0; 2], off: 0.0, believed: 0, reward: 0.0 };
    algorithm.kept.calibration.learn(&[held, Held { reward: 2.0, ..held }].repeat(150), 0.0, None);
    let sd = |algorithm: &mut Calibrated| sd_in(algorithm, &[0.1, 0.2, 0.3], None);
    let before = sd(&mut algorithm);
    assert!(before > 0.4 && algorithm.kept.calibration.off() == 0.0);
    let (delta, discount) = (3.0, algorithm.config.learning.discount);
    let mut explore = |steps: usize, cut: bool| {
        for _ in 0..steps {
            algorithm.kept.under[0].mode = Mode::Greedy;
            scores(&mut algorithm, Some(0));
            let reward = 1.0 - delta - discount * 2.0;
            algorithm.received(0, Received { action: 0, reward, terminated: false, ended: cut });
        }
        sd(&mut algorithm)
    };
    assert_eq!(explore(100, true), before);
    let after = explore(100, false);
    assert!((after.powi(2) - before.powi(2) - delta.powi(2) / 8.0).abs() < 1e-3, "{before} {after}");
}

/// σ of the first action in a state with this observation, for a network that says the same everywhere.
fn sd_in(algorithm: &mut Calibrated, observation: &[f32], env: Option<usize>) -> f32 {
    let mut found = vec![];
    algorithm.estimate(&State { observation, ..state(env) }, &mut found).unwrap();
    found[0].sd
}

/// Far away from everything that was met, σ is at least the spread of the values that were found.
#[test]
fn what_was_never_met_is_doubted() {
    let (mut algorithm, mut rng) = (calibrated(), stream(4, "observations"));
    for step in 0..2_000_u32 {
        let observation: [f32; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        sd_in(&mut algorithm, &observation, Some(0));
        let ended = step % 10 == 9;
        let reward = f32::from(u8::from(ended));
        algorithm.received(0, Received { action: 1, reward, terminated: ended, ended });
    }
    // As if values had been 1 and 3.
    (algorithm.kept.spread.mean, algorithm.kept.spread.square) = (2.0, 5.0);
    let met = sd_in(&mut algorithm, &[0.1, -0.2, 0.3], None);
    let strange = sd_in(&mut algorithm, &[0.1, 40.0, 0.3], None);
    // The prior's: S² + (μ - m)² = 1 + 1.
    assert!((strange - met.hypot(2.0_f32.sqrt())).abs() < 0.01, "{met} {strange}");
    let saved = algorithm.save().unwrap();
    let mut restored = calibrated();
    restored.restore(&saved).unwrap();
    assert_eq!(sd_in(&mut restored, &[0.1, 40.0, 0.3], None), strange);
    // Thompson sampling draws from these beliefs while it trains.
    restored.config.policy = "thompson".to_owned();
    assert_eq!(sd_in(&mut restored, &[0.1, 40.0, 0.3], Some(0)), strange);
}

/// Where states come again, a pair that was never tried is doubted, whatever κ is.
#[test]
fn a_pair_that_was_never_tried_is_doubted() {
    let mut algorithm = calibrated();
    for _ in 0..300 {
        algorithm.kept.under[0].mode = Mode::Greedy;
        scores(&mut algorithm, Some(0));
        algorithm.received(0, Received { action: 1, reward: 2.0, terminated: true, ended: true });
    }
    assert!(algorithm.table().is_some());
    algorithm.kept.spread.square = algorithm.kept.spread.mean.powi(2) + 9.0;
    let mut found = vec![];
    algorithm.estimate(&state(None), &mut found).unwrap();
    assert!(found[0].sd >= 3.0 && found[1].sd < 0.1, "{found:?}");
}

/// All means are 100 too large. That is taken off, and training still tells the smallest difference between two of them.
#[test]
fn what_is_taken_off_hides_no_difference() {
    let settings = CalibratedSettings { pairs: 0, ..CalibratedSettings::default() };
    let config = config(NAME).with_own(NAME, &settings).unwrap();
    let mut algorithm = Calibrated::new(&config, &space()).unwrap();
    let small = State { row: &[1e-7, 2e-7, 0.0, 0.0], ..state(Some(0)) };
    let mut found = vec![];
    for _ in 0..400 {
        algorithm.kept.under[0].mode = Mode::Greedy;
        found.clear();
        algorithm.estimate(&small, &mut found).unwrap();
        assert!(found[1].score > found[0].score);
        algorithm.received(0, Received { action: 1, reward: -100.0, terminated: true, ended: true });
    }
    assert!((found[1].mean + 100.0).abs() < 0.01, "{found:?}");
}

/// Observations of images are not remembered, nor decoded.
#[test]
fn images_have_no_table() {
    let image = Space { frame: vec![84, 84, 1], stack: 4, ..space() };
    assert!(!Calibrated::new(&config(NAME), &image).unwrap().sees_observations());
    assert!(calibrated().sees_observations());
}
