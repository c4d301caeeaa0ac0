//! Gradient steps, acting and their parts, on one and two threads: `cargo bench -p adfq-nn --bench step`.
//!
//! A step is what Deep ADFQ does for a batch of 32: the target network on s and s' (64 rows), the online network on s,
//! Huber's loss of both groups, the backward pass, clipping tensor by tensor, Adam.

use adfq::random::stream;
use adfq_nn::{Adam, AdamSettings, Clip, Head, Init, Layer, Network, Padding, Spec, Workspace, huber};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::RngExt;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::Duration;

const BATCH: usize = 32;

fn conv(filters: usize, kernel: usize, stride: usize, padding: Padding) -> Layer {
    Layer::Conv { filters, kernel, stride, padding }
}

fn specs() -> Vec<(&'static str, Spec)> {
    let head = |actions| Head { actions, groups: 2, dueling: None };
    let atari = |padding, units| Spec {
        input: vec![84, 84, 4],
        layers: vec![
            conv(32, 8, 4, padding),
            conv(64, 4, 2, padding),
            conv(64, 3, 1, padding),
            Layer::dense(units),
        ],
        head: head(6),
    };
    let mlp = Spec { input: vec![4], layers: vec![Layer::dense(64); 2], head: head(2) };
    let minatar = Spec {
        input: vec![10, 10, 4],
        layers: vec![conv(16, 3, 1, Padding::Valid), Layer::dense(128)],
        head: head(6),
    };
    vec![
        ("mlp", mlp),
        ("minatar", minatar),
        ("atari", atari(Padding::Same, 256)),
        ("nature", atari(Padding::Valid, 512)),
    ]
}

/// A network in the middle of training.
struct Training {
    network: Network,
    online: Vec<f32>,
    target: Vec<f32>,
    /// The states of a batch, then the next states.
    states: Vec<f32>,
    of_target: Workspace,
    of_online: Workspace,
    of_acting: Workspace,
    out_grad: Vec<f32>,
    grads: Vec<f32>,
    adam: Adam,
}

impl Training {
    fn new(spec: &Spec) -> Self {
        let network = Network::new(spec).expect("a network");
        let mut rng = stream(0, "benches/step");
        let mut online = vec![0.0; network.parameters()];
        network.init(&Init::default(), &mut rng, &mut online).expect("parameters");
        Self {
            target: online.clone(),
            states: (0..2 * BATCH * network.inputs()).map(|_| rng.random_range(0.0..1.0)).collect(),
            of_target: Workspace::new(&network, 1, 2 * BATCH).expect("a workspace"),
            of_online: Workspace::new(&network, 1, BATCH).expect("a workspace"),
            of_acting: Workspace::new(&network, 1, 1).expect("a workspace"),
            out_grad: vec![0.1; BATCH * network.outputs()],
            grads: vec![0.0; network.parameters()],
            adam: Adam::new(AdamSettings { rate: 1e-4, ..Default::default() }, &network, 1).expect("Adam"),
            online,
            network,
        }
    }

    fn act(&mut self) {
        let state = &self.states[..self.network.inputs()];
        black_box(self.network.forward(&self.online, state, &mut self.of_acting).expect("forward"));
    }

    fn forward(&mut self) {
        let states = &self.states[..BATCH * self.network.inputs()];
        black_box(self.network.forward(&self.online, states, &mut self.of_online).expect("forward"));
    }

    fn backward(&mut self) {
        let states = &self.states[..BATCH * self.network.inputs()];
        let (ws, grads) = (&mut self.of_online, &mut self.grads);
        self.network.backward(&self.online, states, &self.out_grad, ws, grads).expect("backward");
    }

    fn optimise(&mut self) {
        let clip = Clip::PerTensor(10.0);
        black_box(self.adam.step(&self.network, clip, &mut self.online, &self.grads).expect("a step"));
    }

    fn step(&mut self) {
        let states = &self.states[..BATCH * self.network.inputs()];
        let targets = self.network.forward(&self.target, &self.states, &mut self.of_target).expect("forward");
        let outputs = self.network.forward(&self.online, states, &mut self.of_online).expect("forward");
        for ((gradient, output), target) in self.out_grad.iter_mut().zip(outputs).zip(targets) {
            // Half a unit beside the target network's own belief stands for the ADFQ target.
            *gradient = huber(output - target - 0.5, 1.0).1 / BATCH as f32;
        }
        self.backward();
        self.optimise();
    }
}

type Part = (&'static str, fn(&mut Training));
const PARTS: [Part; 5] = [
    ("act", Training::act),
    ("forward", Training::forward),
    ("backward", Training::backward),
    ("adam", Training::optimise),
    ("step", Training::step),
];

fn bench(c: &mut Criterion, name: &str, spec: &Spec, threads: usize, pool: &ThreadPool) {
    let mut group = c.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2)).sample_size(20);
    let mut training = Training::new(spec);
    training.step();
    for (part, run) in PARTS {
        // The whole measurement runs inside the pool, as a training loop does.
        let id = BenchmarkId::new(part, threads);
        group.bench_function(id, |b| pool.install(|| b.iter(|| run(&mut training))));
    }
    group.finish();
}

fn steps(c: &mut Criterion) {
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for (name, spec) in specs() {
            bench(c, name, &spec, threads, &pool);
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
