//! Frames and the numbers in them.

use adfq_env::{Element, Error, Space};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    /// What was read from a frame is written back as the same bytes: any f32 but NaN, whose bits may change.
    #[test]
    fn floats_survive(numbers in prop::collection::vec(any::<f32>(), 1..20)) {
        let space = Space::flat(numbers.len(), 1);
        let mut frame = vec![0; space.frame_bytes()];
        space.write(&numbers, &mut frame).unwrap();
        prop_assert_eq!(space.numbers(&frame), numbers);
    }

    #[test]
    fn bytes_survive(bytes in prop::collection::vec(any::<u8>(), 1..40), scale in 1e-6_f32..1e6) {
        let space = Space { frame: vec![bytes.len()], element: Element::U8 { scale }, stack: 1, actions: 1 };
        let mut frame = vec![0; bytes.len()];
        space.write(&space.numbers(&bytes), &mut frame).unwrap();
        prop_assert_eq!(frame, bytes);
    }

    /// A byte stands for the nearest of its 256 numbers.
    #[test]
    fn bytes_are_rounded_to_the_nearest(number in -100_f32..400.0, scale in 0.01_f32..2.0) {
        let space = Space { frame: vec![1], element: Element::U8 { scale }, stack: 1, actions: 1 };
        let mut frame = [0];
        space.write(&[number], &mut frame).unwrap();
        let distance = |byte: u8| (f32::from(byte) * scale - number).abs();
        let nearest = (0..=255).map(distance).fold(f32::INFINITY, f32::min);
        prop_assert!(distance(frame[0]) <= nearest + 1e-4, "{} for {number} of scale {scale}", frame[0]);
    }
}

#[test]
fn wrong_lengths_are_refused_and_nothing_is_written() {
    let space = Space::flat(2, 1);
    let mut frame = [7; 8];
    for numbers in [&[1.0][..], &[1.0, 2.0, 3.0]] {
        let error = space.write(numbers, &mut frame).unwrap_err();
        assert!(matches!(error, Error::Numbers { expected: 2, .. }), "{error}");
    }
    assert!(matches!(space.write(&[1.0, 2.0], &mut [0; 7]), Err(Error::Frame { bytes: 7, expected: 8 })));
    assert_eq!(frame, [7; 8]);
}
