//! Outputs, gradients and Adam steps against values from JAX and Optax (reference/generate.py).

use adfq_nn::{Adam, AdamSettings, Clip, Network, Spec, Workspace, huber};
use serde_json::{Value, from_str, from_value};

fn numbers(case: &Value, key: &str) -> Vec<f32> {
    from_value(case[key].clone()).expect("a list of numbers")
}

fn assert_close(what: &str, case: &Value, ours: &[f32], theirs: &[f32], tolerance: f32) {
    assert_eq!(ours.len(), theirs.len(), "{what} of {}", case["name"]);
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert!((ours - theirs).abs() <= tolerance, "{what} {i} of {}: {ours} but {theirs}", case["name"]);
    }
}

#[test]
fn agrees_with_jax_and_optax() {
    let cases: Vec<Value> = from_str(include_str!("reference/jax.json")).expect("the committed file");
    assert_eq!(cases.len(), 4);
    for case in &cases {
        check(case);
    }
}

fn check(case: &Value) {
    let spec: Spec = from_value(case["spec"].clone()).expect("a specification");
    let clip: Clip = from_value(case["clip"].clone()).expect("clipping");
    let settings: AdamSettings = from_value(case["adam"].clone()).expect("settings");
    let network = Network::new(&spec).expect("a network");
    let (mut params, input, target) =
        (numbers(case, "params"), numbers(case, "input"), numbers(case, "target"));
    let rows = input.len() / network.inputs();
    let mut ws = Workspace::new(&network, 1, rows).expect("a workspace");
    let mut adam = Adam::new(settings, &network, 1).expect("an optimiser");
    let mut grads = vec![0.0; params.len()];
    for step in 0..3 {
        let outputs = network.forward(&params, &input, &mut ws).expect("a forward pass");
        let losses: Vec<_> = outputs.iter().zip(&target).map(|(y, t)| huber(y - t, 0.5)).collect();
        if step == 0 {
            assert_close("output", case, outputs, &numbers(case, "outputs"), 2e-6);
            let loss = losses.iter().map(|(loss, _)| loss).sum::<f32>() / rows as f32;
            assert_close("loss", case, &[loss], &[case["loss"].as_f64().expect("a number") as f32], 2e-6);
        }
        let out_grad: Vec<_> = losses.iter().map(|(_, gradient)| gradient / rows as f32).collect();
        network.backward(&params, &input, &out_grad, &mut ws, &mut grads).expect("a backward pass");
        if step == 0 {
            assert_close("gradient", case, &grads, &numbers(case, "grads"), 1e-6);
        }
        adam.step(&network, clip, &mut params, &grads).expect("a step");
    }
    assert_close("parameter", case, &params, &numbers(case, "trained"), 5e-6);
}
