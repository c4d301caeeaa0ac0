//! Outputs and gradients of random networks against a reference in f64 and its finite differences.

mod common;

use adfq::random::stream;
use adfq_nn::{Network, Spec, Workspace};
use common::{any_spec, forward, gradient};
use proptest::prelude::*;
use rand::RngExt;

fn uniform(name: &str, seed: u64, n: usize, bound: f32) -> Vec<f32> {
    let mut rng = stream(seed, name);
    (0..n).map(|_| rng.random_range(-bound..bound)).collect()
}

fn check(spec: &Spec, copies: usize, rows: usize, seed: u64) -> Result<(), TestCaseError> {
    let network = Network::new(spec).expect("a valid specification");
    let (inputs, outputs, size) = (network.inputs(), network.outputs(), network.parameters());
    let params = uniform("params", seed, copies * size, 0.7);
    let input = uniform("input", seed, copies * rows * inputs, 1.0);
    let out_grad = uniform("out_grad", seed, copies * rows * outputs, 1.0);
    // Room for more rows than there are, and gradients that must be overwritten.
    let mut ws = Workspace::new(&network, copies, rows + 1).expect("a workspace");
    let mut grads = vec![f32::NAN; copies * size];
    let y = network.forward(&params, &input, &mut ws).expect("a forward pass").to_vec();
    network.backward(&params, &input, &out_grad, &mut ws, &mut grads).expect("a backward pass");
    for copy in 0..copies {
        let params = &params[copy * size..][..size];
        let input = &input[copy * rows * inputs..][..rows * inputs];
        let params64: Vec<f64> = params.iter().map(|&p| p.into()).collect();
        for (row, y) in input.chunks(inputs).zip(y[copy * rows * outputs..].chunks(outputs)) {
            let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
            for (&ours, reference) in y.iter().zip(forward(spec, &params64, &row)) {
                prop_assert!((f64::from(ours) - reference).abs() < 2e-5 * (1.0 + reference.abs()));
            }
        }
        let expected = gradient(spec, params, input, &out_grad[copy * rows * outputs..]);
        for (i, (&ours, reference)) in grads[copy * size..][..size].iter().zip(expected).enumerate() {
            let error = (f64::from(ours) - reference).abs();
            prop_assert!(error < 1e-4 * (1.0 + reference.abs()), "parameter {i}: {ours} but {reference}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, rng_seed: proptest::test_runner::RngSeed::Fixed(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_networks(spec in any_spec(), copies in 1..=2_usize, rows in 1..=3_usize, seed in 0..1000_u64) {
        check(&spec, copies, rows, seed)?;
    }
}

/// A ReLU must not hide it: the trainer stops at the first value that is not finite.
#[test]
fn a_nan_reaches_outputs_and_gradients() {
    use adfq_nn::{Head, Layer};
    let head = Head { actions: 2, groups: 1, dueling: None };
    let spec = Spec { input: vec![3], layers: vec![Layer::dense(20); 2], head };
    let network = Network::new(&spec).expect("a network");
    let params = uniform("params", 0, network.parameters(), 1.0);
    let mut ws = Workspace::new(&network, 1, 2).expect("a workspace");
    let input = [0.1, 0.2, 0.3, 0.4, f32::NAN, 0.6];
    let outputs = network.forward(&params, &input, &mut ws).expect("a forward pass").to_vec();
    assert!(outputs[..2].iter().all(|y| y.is_finite()) && outputs[2..].iter().all(|y| y.is_nan()));
    let mut grads = vec![0.0; network.parameters()];
    network.backward(&params, &input, &[1.0; 4], &mut ws, &mut grads).expect("a backward pass");
    assert!(grads.iter().any(|g| g.is_nan()));
}
