//! Every wrong shape or setting gets an error that names it.

use adfq::random::stream;
use adfq_nn::{
    Adam, AdamSettings, Clip, Error, Head, Init, Layer, Network, Output, Padding, Spec, Weights, Workspace,
};

const HEAD: Head = Head { actions: 2, groups: 2, dueling: None };

fn spec(input: &[usize], layers: &[Layer], head: Head) -> Spec {
    Spec { input: input.to_vec(), layers: layers.to_vec(), head }
}

fn conv(filters: usize, kernel: usize, stride: usize, padding: Padding) -> Layer {
    Layer::Conv { filters, kernel, stride, padding }
}

fn message(spec: &Spec) -> String {
    Network::new(spec).expect_err("a wrong specification").to_string()
}

#[test]
fn specifications() {
    use Padding::{Same, Valid};
    let dense = Layer::dense;
    for (spec, part) in [
        (spec(&[], &[], HEAD), "shape []"),
        (spec(&[3, 3], &[], HEAD), "shape [3, 3]"),
        (spec(&[3, 0, 1], &[], HEAD), "every axis of the input must be positive"),
        (spec(&[3], &[dense(4), dense(0)], HEAD), "the units of layer 1"),
        (spec(&[3, 3, 1], &[conv(0, 1, 1, Valid)], HEAD), "the filters of layer 0"),
        (spec(&[3, 3, 1], &[conv(1, 0, 1, Valid)], HEAD), "the kernel of layer 0"),
        (spec(&[3, 3, 1], &[conv(1, 1, 0, Valid)], HEAD), "the stride of layer 0"),
        (spec(&[3, 5, 1], &[conv(1, 4, 1, Valid)], HEAD), "4 x 4 kernel on an image of 3 x 5"),
        (spec(&[9], &[conv(1, 1, 1, Same)], HEAD), "layer 0 is a convolution"),
        (spec(&[3, 3, 1], &[dense(9), conv(1, 1, 1, Same)], HEAD), "layer 1 is a convolution"),
        (spec(&[3], &[], Head { actions: 0, ..HEAD }), "the number of actions"),
        (spec(&[3], &[], Head { groups: 0, ..HEAD }), "the number of groups"),
        (spec(&[3], &[], Head { dueling: Some(0), ..HEAD }), "the hidden units of a dueling stream"),
        (spec(&[usize::MAX], &[], HEAD), "too large"),
        (spec(&[3], &[dense(usize::MAX / 2)], HEAD), "too large"),
        (spec(&[3, 3, 1], &[conv(1, usize::MAX / 2, 1, Same)], HEAD), "too large"),
    ] {
        let message = message(&spec);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn same_is_that_of_tensorflow() {
    let layers =
        [conv(32, 8, 4, Padding::Same), conv(64, 4, 2, Padding::Same), conv(64, 3, 1, Padding::Same)];
    let atari = Network::new(&spec(&[84, 84, 4], &[&layers[..], &[Layer::dense(256)]].concat(), HEAD));
    let atari = atari.expect("a network");
    let dense = atari.tensors().iter().find(|t| t.name == "layer3.weight").expect("the dense layer");
    assert_eq!(dense.shape, [11 * 11 * 64, 256]);
    let ends = atari.tensors().iter().map(|t| t.range.end);
    let starts = atari.tensors().iter().map(|t| t.range.start).skip(1).chain([atari.parameters()]);
    assert!(ends.eq(starts), "tensors without gaps");
}

#[test]
fn buffers() {
    let network = Network::new(&spec(&[3], &[Layer::dense(4)], HEAD)).expect("a network");
    // The same number of inputs and parameters, but another shape.
    let other = Network::new(&spec(&[1, 3, 1], &[Layer::dense(4)], HEAD)).expect("a network");
    let size = network.parameters();
    assert_eq!(other.parameters(), size);
    let (params, input, out_grad) = (vec![0.1; 2 * size], vec![0.5; 2 * 4 * 3], vec![1.0; 2 * 4 * 4]);
    let mut grads = vec![0.0; 2 * size];
    let mut ws = Workspace::new(&network, 2, 4).expect("a workspace");
    assert_eq!((ws.copies(), ws.batch()), (2, 4));

    let length = |what, needed, found| Error::Length { what, needed, found };
    let rows = |found| Error::Rows { found, batch: 4, inputs: 3, copies: 2 };
    let mut forward = |params: &[f32], input: &[f32]| network.forward(params, input, &mut ws).map(drop);
    assert_eq!(forward(&params[1..], &input), Err(length("params", 2 * size, 2 * size - 1)));
    assert_eq!(forward(&params, &[]), Err(rows(0)));
    assert_eq!(forward(&params, &input[..9]), Err(rows(9)));
    assert_eq!(forward(&params, &[0.0; 30]), Err(rows(30)));
    assert_eq!(other.forward(&params, &input, &mut ws).map(drop), Err(Error::Foreign { what: "workspace" }));

    let mut ws = Workspace::new(&network, 2, 4).expect("a workspace");
    let seen = |rows, seen| Err(Error::NoForward { rows, seen });
    assert_eq!(network.backward(&params, &input, &out_grad, &mut ws, &mut grads), seen(4, 0));
    network.forward(&params, &input[..6], &mut ws).expect("one row");
    assert_eq!(network.backward(&params, &input, &out_grad, &mut ws, &mut grads), seen(4, 1));
    network.forward(&params, &input, &mut ws).expect("four rows");
    let wrong = network.backward(&params, &input, &out_grad[1..], &mut ws, &mut grads);
    assert_eq!(wrong, Err(length("out_grad", 32, 31)));
    let wrong = network.backward(&params, &input, &out_grad, &mut ws, &mut grads[1..]);
    assert_eq!(wrong, Err(length("grads", 2 * size, 2 * size - 1)));
    assert!(Workspace::new(&network, 0, 4).is_err() && Workspace::new(&network, 1, 0).is_err());
}

#[test]
fn initialisation() {
    let network = Network::new(&spec(&[3], &[], HEAD)).expect("a network");
    let mut rng = stream(0, "shapes");
    let mut params = vec![0.0; network.parameters()];
    let constant = |constants| Init { hidden: Weights::He, output: Output::Constant(constants) };
    let wrong = network.init(&constant(vec![1.0]), &mut rng, &mut params);
    assert_eq!(wrong, Err(Error::Constants { groups: 2, found: 1 }));
    let short = network.init(&Init::default(), &mut rng, &mut params[1..]);
    assert_eq!(short, Err(Error::Length { what: "params", needed: 16, found: 15 }));
}

#[test]
fn optimiser() {
    let network = Network::new(&spec(&[3], &[Layer::dense(4)], HEAD)).expect("a network");
    let other = Network::new(&spec(&[3], &[Layer::dense(5)], HEAD)).expect("a network");
    let size = network.parameters();
    for settings in [
        AdamSettings { rate: 0.0, ..Default::default() },
        AdamSettings { rate: f32::NAN, ..Default::default() },
        AdamSettings { beta1: 1.0, ..Default::default() },
        AdamSettings { beta2: -0.1, ..Default::default() },
        AdamSettings { epsilon: 0.0, ..Default::default() },
    ] {
        assert!(matches!(Adam::new(settings, &network, 1), Err(Error::Setting { .. })), "{settings:?}");
    }
    let mut adam = Adam::new(AdamSettings::default(), &network, 2).expect("an optimiser");
    let (mut params, mut grads) = (vec![1.0; 2 * size], vec![0.5; 2 * size]);
    let wrong = adam.step(&other, Clip::None, &mut params, &grads);
    assert_eq!(wrong, Err(Error::Foreign { what: "optimiser" }));
    let wrong = adam.step(&network, Clip::None, &mut params[1..], &grads);
    assert_eq!(wrong, Err(Error::Length { what: "params", needed: 2 * size, found: 2 * size - 1 }));
    let wrong = adam.step(&network, Clip::None, &mut params, &grads[1..]);
    assert_eq!(wrong, Err(Error::Length { what: "grads", needed: 2 * size, found: 2 * size - 1 }));
    for clip in [Clip::PerTensor(0.0), Clip::Global(f32::NAN)] {
        let wrong = adam.step(&network, clip, &mut params, &grads);
        assert!(matches!(wrong, Err(Error::Setting { name: "clip", .. })), "{clip:?}");
    }

    // A gradient that is not finite changes nothing at all, in no copy.
    for poison in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for clip in [Clip::None, Clip::PerTensor(1.0), Clip::Global(1.0)] {
            let before = (params.clone(), adam.clone());
            grads[size + 3 * 4] = poison;
            let error = adam.step(&network, clip, &mut params, &grads);
            assert_eq!(error, Err(Error::Gradient { copy: 1, tensor: "layer0.bias".to_owned() }));
            assert_eq!((&params, &adam), (&before.0, &before.1));
        }
    }
    // Squares that would overflow in f32 do not.
    grads.fill(1e30);
    let norm = adam.step(&network, Clip::PerTensor(1.0), &mut params, &grads).expect("a step");
    assert!(norm.is_finite() && params.iter().all(|p| p.is_finite()));
}
