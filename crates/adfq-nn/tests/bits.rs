//! The same bits at any number of threads, for copies together or apart, and for a batch whole or in parts.

use adfq::random::stream;
use adfq_nn::{Adam, AdamSettings, Clip, Head, Init, Layer, Network, Padding, Spec, Workspace};
use rand::RngExt;
use rayon::ThreadPoolBuilder;

/// Large enough that rows, blocks of weights and the optimiser's chunks run in parallel, with sizes that do not divide.
fn large() -> Network {
    let conv = |filters, kernel, stride, padding| Layer::Conv { filters, kernel, stride, padding };
    Network::new(&Spec {
        input: vec![20, 19, 3],
        layers: vec![
            conv(13, 4, 2, Padding::Same),
            conv(20, 3, 1, Padding::Valid),
            Layer::dense(150),
            Layer::Dense { units: 70, normalised: true },
        ],
        head: Head { actions: 5, groups: 2, dueling: Some(33) },
    })
    .expect("a network")
}

fn small() -> Network {
    let layers = vec![Layer::dense(64), Layer::Dense { units: 64, normalised: true }];
    let head = Head { actions: 2, groups: 2, dueling: None };
    Network::new(&Spec { input: vec![4], layers, head }).expect("a network")
}

struct Problem {
    network: Network,
    copies: usize,
    rows: usize,
    params: Vec<f32>,
    input: Vec<f32>,
    out_grad: Vec<f32>,
}

impl Problem {
    fn new(network: Network, copies: usize, rows: usize) -> Self {
        let mut params = vec![0.0; copies * network.parameters()];
        for (copy, params) in params.chunks_exact_mut(network.parameters()).enumerate() {
            let mut rng = stream(copy as u64, "bits/params");
            network.init(&Init::default(), &mut rng, params).expect("parameters");
        }
        let mut rng = stream(0, "bits/input");
        let mut uniform = |n: usize| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let input = uniform(copies * rows * network.inputs());
        let out_grad = uniform(copies * rows * network.outputs());
        Self { network, copies, rows, params, input, out_grad }
    }

    /// One copy of the problem.
    fn copy(&self, i: usize) -> Self {
        let part = |all: &[f32]| all.chunks_exact(all.len() / self.copies).nth(i).expect("a copy").to_vec();
        Self {
            network: self.network.clone(),
            copies: 1,
            rows: self.rows,
            params: part(&self.params),
            input: part(&self.input),
            out_grad: part(&self.out_grad),
        }
    }

    /// Two steps of training: the last outputs, gradients, parameters, moments and norm, as bits.
    fn solve(&self) -> [Vec<u32>; 6] {
        let mut ws = Workspace::new(&self.network, self.copies, self.rows).expect("a workspace");
        let mut adam = Adam::new(AdamSettings::default(), &self.network, self.copies).expect("an optimiser");
        let mut params = self.params.clone();
        let (mut outputs, mut grads, mut norm) = (Vec::new(), vec![0.0; params.len()], 0.0);
        for _ in 0..2 {
            outputs = self.network.forward(&params, &self.input, &mut ws).expect("forward").to_vec();
            self.network
                .backward(&params, &self.input, &self.out_grad, &mut ws, &mut grads)
                .expect("backward");
            norm = adam.step(&self.network, Clip::Global(1.0), &mut params, &grads).expect("a step");
        }
        [outputs, grads, params, adam.m, adam.v, vec![norm]].map(bits)
    }
}

fn bits(values: Vec<f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn threads() {
    for (network, copies, rows) in [(large(), 1, 37), (large(), 3, 9), (small(), 8, 32)] {
        let problem = Problem::new(network, copies, rows);
        let solve = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| problem.solve())
        };
        let one = solve(1);
        assert_eq!(one, solve(2), "two threads, {copies} copies");
        assert_eq!(one, solve(8), "eight threads, {copies} copies");
        assert_eq!(one, problem.solve(), "no pool, {copies} copies");
    }
}

#[test]
fn copies() {
    for (network, rows) in [(large(), 5), (large(), 18), (small(), 32)] {
        let problem = Problem::new(network, 3, rows);
        let together = problem.solve();
        for copy in 0..3 {
            let alone = problem.copy(copy).solve();
            // All but the norm, which is the greatest of the copies.
            for (together, alone) in together.iter().zip(&alone).take(5) {
                assert_eq!(together.chunks_exact(alone.len()).nth(copy), Some(&alone[..]), "copy {copy}");
            }
        }
    }
}

#[test]
fn a_row_does_not_depend_on_its_batch() {
    for network in [large(), small()] {
        let problem = Problem::new(network, 1, 37);
        let network = &problem.network;
        let forward = |batch, input: &[f32]| {
            let mut ws = Workspace::new(network, 1, batch).expect("a workspace");
            bits(network.forward(&problem.params, input, &mut ws).expect("forward").to_vec())
        };
        let whole = forward(37, &problem.input);
        let rows: Vec<_> = problem.input.chunks(network.inputs()).flat_map(|row| forward(1, row)).collect();
        assert_eq!(whole, rows);
        assert_eq!(whole[..20 * network.outputs()], forward(64, &problem.input[..20 * network.inputs()]));
    }
}

#[test]
fn nothing_is_left_from_an_earlier_pass() {
    let problem = Problem::new(large(), 1, 37);
    let mut ws = Workspace::new(&problem.network, 1, 37).expect("a workspace");
    let mut pass = |rows: usize| {
        let (input, out_grad) = (
            &problem.input[..rows * problem.network.inputs()],
            &problem.out_grad[..rows * problem.network.outputs()],
        );
        let mut grads = vec![f32::NAN; problem.params.len()];
        problem.network.forward(&problem.params, input, &mut ws).expect("forward");
        problem.network.backward(&problem.params, input, out_grad, &mut ws, &mut grads).expect("backward");
        bits(grads)
    };
    let fresh = pass(20);
    pass(37);
    assert_eq!(fresh, pass(20));
}
