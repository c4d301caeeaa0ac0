//! How parameters start: distributions, constants, and the very numbers.

use adfq::random::stream;
use adfq_nn::{Head, Init, Layer, Network, Output, Padding, Role, Spec, Weights, Workspace};

fn network(dueling: Option<usize>) -> Network {
    Network::new(&Spec {
        input: vec![12, 12, 8],
        layers: vec![
            Layer::Conv { filters: 32, kernel: 5, stride: 1, padding: Padding::Valid },
            Layer::dense(40),
        ],
        head: Head { actions: 3, groups: 2, dueling },
    })
    .expect("a network")
}

fn start(network: &Network, init: &Init) -> Vec<f32> {
    let mut params = vec![f32::NAN; network.parameters()];
    network.init(init, &mut stream(1, "init"), &mut params).expect("parameters");
    params
}

#[test]
fn weights_have_their_bounds_and_variances() {
    let network = network(Some(50));
    for (hidden, he) in [(Weights::Xavier, false), (Weights::He, true)] {
        let params = start(&network, &Init { hidden, output: Output::Hidden });
        for tensor in network.tensors() {
            let values = &params[tensor.range.clone()];
            let [.., inputs, outputs] = tensor.shape[..] else {
                assert!(values.iter().all(|&b| b == 0.0), "{} starts at zero", tensor.name);
                continue;
            };
            let kernel: usize = tensor.shape[..tensor.shape.len() - 2].iter().product();
            let (fan_in, fan_out) = ((kernel * inputs) as f64, (kernel * outputs) as f64);
            let variance = if he { 2.0 / fan_in } else { 2.0 / (fan_in + fan_out) };
            let (bound, n) = ((3.0 * variance).sqrt(), values.len() as f64);
            let greatest = values.iter().fold(0.0_f64, |most, &w| most.max(f64::from(w).abs()));
            assert!(greatest <= bound * 1.000_001, "{}: {greatest} > {bound}", tensor.name);
            let mean = values.iter().map(|&w| f64::from(w)).sum::<f64>() / n;
            let square = values.iter().map(|&w| f64::from(w).powi(2)).sum::<f64>() / n;
            // Four standard errors; the square of a uniform has variance 4/5 of its squared mean.
            assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{}: mean {mean}", tensor.name);
            let error = (square / variance - 1.0).abs();
            assert!(error < 4.0 * (0.8 / n).sqrt(), "{}: variance {square} but {variance}", tensor.name);
        }
    }
}

#[test]
fn constant_outputs_start_exactly_there() {
    for dueling in [None, Some(50)] {
        let network = network(dueling);
        let init = Init { hidden: Weights::He, output: Output::Constant(vec![1.7, -0.3]) };
        let params = start(&network, &init);
        let hidden = network.tensors().iter().filter(|t| t.role == Role::Weight);
        assert!(hidden.flat_map(|t| &params[t.range.clone()]).any(|&w| w != 0.0));
        let mut ws = Workspace::new(&network, 1, 2).expect("a workspace");
        let input: Vec<f32> = (0..2 * network.inputs()).map(|i| (i % 7) as f32 - 3.0).collect();
        let outputs = network.forward(&params, &input, &mut ws).expect("outputs");
        assert_eq!(outputs, [1.7, 1.7, 1.7, -0.3, -0.3, -0.3].repeat(2));
    }
}

/// Every recorded training run rests on these numbers: if this test fails, all of them change.
#[test]
fn value_stability() {
    let spec = Spec {
        input: vec![2],
        layers: vec![Layer::dense(2)],
        head: Head { actions: 1, groups: 1, dueling: None },
    };
    let network = Network::new(&spec).expect("a network");
    let mut params = [0.0; 9];
    network.init(&Init::default(), &mut stream(42, "pin"), &mut params).expect("parameters");
    let bits = [3183849822, 3201409224, 1051339238, 1056246336, 0, 0, 3215268366, 1054956533, 0];
    assert_eq!(params.map(f32::to_bits), bits);
}
