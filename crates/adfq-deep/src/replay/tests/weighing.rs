//! How often each transition is drawn, and what its weight is.

use super::*;
use std::collections::HashMap;

/// 100 transitions in two rings, among them final frames that must never be drawn.
fn filled(priority: Option<PrioritySettings>) -> Replay {
    let settings = ReplaySettings { capacity: 140, n_step: 1, watkins: false, priority };
    let mut replay = Replay::new(&settings, 2, DISCOUNT, &space(1)).unwrap();
    for t in 0..100 {
        let end = t % 10 > 7;
        let frame = [t as u8; LEN];
        let step = Transition::new(&frame, 0, 0.0);
        replay.push(t % 2, &if end { step.ended_at(&[0; LEN]) } else { step }).unwrap();
    }
    assert_eq!(replay.len(), 100);
    replay
}

/// Σ (observed - expected)² / expected. With ν degrees of freedom its mean is ν and its sd √(2ν).
fn chi_square(replay: &Replay, chance: impl Fn(u64) -> f64, batches: usize, batch: usize) -> f64 {
    let (mut counts, mut sample) = (HashMap::<u64, f64>::new(), Sample::default());
    let mut rng = stream(3, "frequencies");
    for _ in 0..batches {
        replay.draw(batch, 0.4, &mut rng, &mut sample).unwrap();
        sample.index.iter().for_each(|&index| *counts.entry(index).or_default() += 1.0);
    }
    let draws = (batches * batch) as f64;
    let term = |index| {
        let expected = draws * chance(index);
        (counts.get(&index).copied().unwrap_or(0.0) - expected).powi(2) / expected
    };
    replay.indices().map(term).sum()
}

#[test]
fn uniform_draws_are_uniform() {
    let replay = filled(None);
    let chi = chi_square(&replay, |_| 0.01, 10_000, 32);
    assert!((chi - 99.0).abs() < 4.0 * 198_f64.sqrt(), "{chi}");
    let mut sample = Sample::default();
    replay.sample(50, 0.4, &mut stream(0, "weights"), &mut sample).unwrap();
    assert_eq!(sample.weight, [1.0; 50]);
}

/// Batches of one are plain draws, and the statistic is χ². In larger ones the strata only lower it.
#[test]
fn prioritised_draws_are_in_proportion() {
    let mut replay = filled(prioritised());
    let indices: Vec<u64> = replay.indices().collect();
    let errors: Vec<f32> =
        (0..100).map(|i| if i % 2 == 0 { i as f32 / 10.0 } else { -i as f32 / 10.0 }).collect();
    replay.update(&indices, &errors).unwrap();
    let error: HashMap<u64, f32> = indices.iter().copied().zip(errors).collect();
    let power = |index: &u64| (f64::from(error[index].abs()) + 0.01).powf(f64::from(0.6_f32));
    let total: f64 = indices.iter().map(power).sum();
    let single = chi_square(&replay, |index| power(&index) / total, 200_000, 1);
    assert!((single - 99.0).abs() < 4.0 * 198_f64.sqrt(), "{single}");
    let strata = chi_square(&replay, |index| power(&index) / total, 6_000, 33);
    assert!(strata < 99.0 + 4.0 * 198_f64.sqrt(), "{strata}");

    // wᵢ = (N P(i))^-β, over the largest of the whole memory.
    let weight = |index: &u64| (100.0 * power(index) / total).powf(-f64::from(0.4_f32));
    let largest = indices.iter().map(weight).fold(0.0, f64::max);
    let mut sample = Sample::default();
    replay.sample(64, 0.4, &mut stream(1, "weights"), &mut sample).unwrap();
    for (index, &got) in sample.index.iter().zip(&sample.weight) {
        let want = weight(index) / largest;
        assert!((f64::from(got) - want).abs() < 1e-6 * want, "{got}, not {want}");
    }
}

/// One draw from each part: a transition with k parts of the sum to itself is drawn k - 1 times at least.
#[test]
fn draws_are_stratified() {
    let mut replay = filled(Some(PrioritySettings { alpha: 1.0, beta: 0.4, epsilon: 1e-6 }));
    let indices: Vec<u64> = replay.indices().collect();
    // Of a sum of 198, one transition has 99.
    let errors: Vec<f32> = (0..100).map(|i| if i == 40 { 99.0 } else { 1.0 }).collect();
    replay.update(&indices, &errors).unwrap();
    let (mut sample, mut rng) = (Sample::default(), stream(2, "strata"));
    for _ in 0..1_000 {
        replay.draw(32, 0.4, &mut rng, &mut sample).unwrap();
        let often = sample.index.iter().filter(|&&index| index == indices[40]).count();
        assert!((15..=17).contains(&often), "{often}");
    }
}

#[test]
fn new_transitions_get_the_largest_priority_so_far() {
    let mut replay = small(Some(PrioritySettings { alpha: 0.5, beta: 0.4, epsilon: 0.5 }));
    let step = Transition::new(&[0; LEN], 0, 0.0).ended_at(&[0; LEN]);
    let push = |replay: &mut Replay| replay.push(0, &step).unwrap();
    push(&mut replay);
    assert_eq!(replay.priorities()[0], 1.0);
    replay.update(&[0], &[-15.5]).unwrap();
    push(&mut replay);
    replay.update(&[0], &[0.0]).unwrap();
    push(&mut replay);
    let weights = replay.priorities();
    assert_eq!([weights[0], weights[2], weights[4]], [0.5_f32.sqrt(), 4.0, 4.0]);
    assert_eq!(replay.state().largest, 16.0);
}
