//! Times gradient steps and acting on a GPU: `cargo run --release -p adfq-nn --features cuda --example cuda_step`.
//!
//! A step is what Deep ADFQ does for a batch of 32: the target network on s and s', the online network on s, Huber's
//! loss of both groups (towards the target network's belief of s, which stands for the ADFQ target), the backward pass,
//! clipping tensor by tensor, Adam. Times are medians of graph replays between events, after a warm-up, over rotating
//! inputs. Correctness is for `tests/cuda.rs` to check; this says what a step's parts cost, too.

use adfq::random::stream;
use adfq_nn::cuda::{Buffer, Device, Engine, Graph, Input, Observations, Precision, View, Which};
use adfq_nn::{AdamSettings, Clip, Head, Init, Layer, Network, Padding, Result, Spec};
use rand::RngExt;

const BATCH: usize = 32;
const INPUTS: usize = 4;
/// Bytes a second of a large copy, and operations a second of a large TF32 product, measured on an H200.
const BANDWIDTH: f64 = 4.3e12;
const TF32: f64 = 4.17e14;

fn conv(filters: usize, kernel: usize, stride: usize, padding: Padding) -> Layer {
    Layer::Conv { filters, kernel, stride, padding }
}

fn specs() -> [(&'static str, Spec); 3] {
    let head = |actions| Head { actions, groups: 2, dueling: None };
    let same = Padding::Same;
    [
        (
            "atari",
            Spec {
                input: vec![84, 84, 4],
                layers: vec![
                    conv(32, 8, 4, same),
                    conv(64, 4, 2, same),
                    conv(64, 3, 1, same),
                    Layer::dense(256),
                ],
                head: head(6),
            },
        ),
        ("mlp", Spec { input: vec![4], layers: vec![Layer::dense(64); 2], head: head(2) }),
        (
            "minatar",
            Spec {
                input: vec![10, 10, 4],
                layers: vec![conv(16, 3, 1, Padding::Valid), Layer::dense(128)],
                head: head(6),
            },
        ),
    ]
}

/// The median time of a graph's launch, in µs, of several that take turns.
fn time(device: &Device, graphs: &[Graph]) -> Result<f64> {
    for graph in graphs.iter().cycle().take(3 * graphs.len()) {
        graph.launch()?;
    }
    let inner = 8 * graphs.len();
    let mut times = Vec::new();
    for _ in 0..15 {
        let start = device.event()?;
        for graph in graphs.iter().cycle().take(inner) {
            graph.launch()?;
        }
        let end = device.event()?;
        device.synchronise()?;
        times.push(start.micros_until(&end)? / inner as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Multiply-adds of a forward pass of a row, without the first layer, and of the first layer.
fn work(spec: &Spec) -> (f64, f64) {
    let network = Network::new(spec).expect("a network");
    let (mut all, mut first) = (0.0, 0.0);
    let mut size = (spec.input[0], *spec.input.get(1).unwrap_or(&1));
    for tensor in network.tensors().iter().filter(|tensor| tensor.shape.len() > 1) {
        let mut positions = 1;
        if let (4, Some(Layer::Conv { kernel, stride, padding, .. })) = (
            tensor.shape.len(),
            tensor
                .name
                .strip_prefix("layer")
                .and_then(|n| n.split('.').next()?.parse::<usize>().ok())
                .map(|i| spec.layers[i]),
        ) {
            let along = |n: usize| match padding {
                Padding::Same => n.div_ceil(stride),
                Padding::Valid => (n - kernel) / stride + 1,
            };
            size = (along(size.0), along(size.1));
            positions = size.0 * size.1;
        }
        let macs = (tensor.range.len() * positions) as f64;
        all += macs;
        if tensor.range.start == 0 {
            first = macs;
        }
    }
    (all - first, first)
}

/// The least time of a step of one run, in µs: its operations, and its bytes (each parameter, gradient and moment as
/// often as it must be read and written, each observation once).
fn floors(spec: &Spec, network: &Network) -> (f64, f64) {
    let (rest, first) = work(spec);
    let operations = 2.0 * BATCH as f64 * (3.0 * (rest + first) + 2.0 * rest + first);
    let bytes = 4.0 * network.parameters() as f64 * 11.0 + (2 * BATCH * network.inputs()) as f64;
    (operations / TF32 * 1e6, bytes / BANDWIDTH * 1e6)
}

struct Bench {
    device: Device,
    engine: Engine,
    inputs: Vec<[Buffer<u8>; 2]>,
    weights: Buffer<f32>,
}

impl Bench {
    fn new(device: &Device, network: &Network, copies: usize) -> Result<Self> {
        let scale = 1.0 / 255.0;
        let mut engine =
            Engine::new(device, network, copies, Observations::Bytes { scale }, Precision::Tf32)?;
        let mut rng = stream(0, "cuda_step");
        for which in [Which::Online, Which::Target] {
            let mut params = vec![0.0; copies * network.parameters()];
            for params in params.chunks_exact_mut(network.parameters()) {
                network.init(&Init::default(), &mut rng, params)?;
            }
            engine.upload(which, &params)?;
        }
        let mut observations = || {
            let bytes: Vec<u8> = (0..copies * BATCH * network.inputs()).map(|_| rng.random()).collect();
            Buffer::of(device, &bytes)
        };
        let inputs = (0..INPUTS).map(|_| Ok([observations()?, observations()?])).collect::<Result<_>>()?;
        let weights = Buffer::of(device, &vec![1.0 / BATCH as f32; copies * BATCH * network.outputs()])?;
        Ok(Self { device: device.clone(), engine, inputs, weights })
    }

    /// Times a step and its parts: forward of three views, loss and backward, Adam.
    fn step(&mut self) -> Result<[f64; 4]> {
        let Self { device, engine, inputs, weights } = self;
        let mut pass = engine.pass(3, BATCH)?;
        let settings = AdamSettings { rate: 1e-4, ..Default::default() };
        let mut times = [0.0; 4];
        // An extra pass holds targets: the outputs of the target network on s.
        let targets = Buffer::of(device, &vec![0.1; weights.len()])?;
        for (part, time_of) in times.iter_mut().enumerate() {
            let mut graphs = Vec::new();
            for [s, next] in inputs.iter() {
                let views = [(Which::Online, s), (Which::Target, s), (Which::Target, next)]
                    .map(|(which, input)| View { which, input: Input::Bytes(input) });
                graphs.push(device.capture(|| {
                    if part <= 1 {
                        engine.forward(&mut pass, &views)?;
                    }
                    if part == 0 || part == 2 {
                        engine.huber(&mut pass, &targets, weights, 1.0)?;
                    }
                    if part == 0 {
                        engine.learn(&mut pass, Input::Bytes(s), &settings, Clip::PerTensor(10.0))?;
                    }
                    if part == 2 {
                        engine.backward(&mut pass, Input::Bytes(s))?;
                    }
                    if part == 3 {
                        engine.adam(&pass, &settings, Clip::PerTensor(10.0))?;
                    }
                    Ok(())
                })?);
            }
            *time_of = time(device, &graphs)?;
        }
        assert!(engine.skipped()?.iter().all(|&n| n == 0), "a gradient was not finite");
        Ok(times)
    }

    /// Times a forward pass of so many observations of each copy.
    fn act(&mut self, network: &Network, rows: usize) -> Result<f64> {
        let mut pass = self.engine.pass(1, rows)?;
        let mut graphs = Vec::new();
        let mut rng = stream(1, "cuda_step");
        let mut inputs = Vec::new();
        for _ in 0..INPUTS {
            let count = self.engine.copies() * rows * network.inputs();
            let bytes: Vec<u8> = (0..count).map(|_| rng.random()).collect();
            inputs.push(Buffer::of(&self.device, &bytes)?);
        }
        for input in &inputs {
            let view = View { which: Which::Online, input: Input::Bytes(input) };
            graphs.push(self.device.capture(|| self.engine.forward(&mut pass, &[view]))?);
        }
        time(&self.device, &graphs)
    }
}

/// `cuda_step profile atari 16`: three steps without a graph, for a profiler to look at.
fn profile(device: &Device, name: &str, copies: usize) -> Result<()> {
    let spec = specs().into_iter().find(|(other, _)| *other == name).expect("atari, mlp or minatar").1;
    let Bench { mut engine, inputs, weights, .. } = Bench::new(device, &Network::new(&spec)?, copies)?;
    let mut pass = engine.pass(3, BATCH)?;
    for [s, next] in inputs.iter().take(3) {
        let views = [(Which::Online, s), (Which::Target, s), (Which::Target, next)]
            .map(|(which, input)| View { which, input: Input::Bytes(input) });
        engine.forward(&mut pass, &views)?;
        engine.huber(&mut pass, &weights, &weights, 1.0)?;
        engine.learn(&mut pass, Input::Bytes(s), &AdamSettings::default(), Clip::PerTensor(10.0))?;
    }
    device.synchronise()
}

fn main() -> Result<()> {
    let device = Device::open(0)?;
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [_, name, copies] = &arguments[..] {
        return profile(&device, name, copies.parse().expect("a number of copies"));
    }
    println!("{}", device.name()?);
    let mut table = Vec::new();
    for (name, spec) in specs() {
        let network = Network::new(&spec)?;
        let (flops, bytes) = floors(&spec, &network);
        for copies in [1, 16, 64] {
            let mut bench = Bench::new(&device, &network, copies)?;
            let [step, forward, backward, adam] = bench.step()?.map(|time| time / copies as f64);
            table.push(format!(
                "{name:8} N={copies:<3} step {step:8.2} (forward {forward:7.2}, backward {backward:7.2}, Adam {adam:6.2})  \
                 floors: operations {flops:6.2}, bytes {bytes:6.2}"
            ));
            println!("{}", table[table.len() - 1]);
            if copies == 1 {
                for rows in [1, 16] {
                    let time = bench.act(&network, rows)?;
                    table.push(format!("{name:8} N=1   forward of {rows} observations {time:8.2}"));
                }
            }
        }
    }
    println!("\nµs for each run of a batch of {BATCH}, medians");
    table.iter().for_each(|line| println!("{line}"));
    Ok(())
}
