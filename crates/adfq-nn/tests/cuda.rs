//! The CUDA engine against the CPU engine, and against itself: twice, and for copies together or apart.
//!
//! Where there is no GPU the tests say so and pass.

use adfq::random::stream;
use adfq_nn::cuda::{Buffer, Device, Engine, Input, Observations, Precision, Stored, View, Which};
use adfq_nn::{Adam, AdamSettings, Clip, Head, Init, Layer, Network, Padding, Spec, Workspace};
use rand::RngExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const SETTINGS: AdamSettings = AdamSettings { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/// One for all tests, which take turns: what is captured is all that is on the stream. Each network's kernels are compiled
/// once, all at the same time.
fn device() -> Option<(Device, MutexGuard<'static, ()>)> {
    static DEVICE: OnceLock<adfq_nn::Result<Device>> = OnceLock::new();
    static TURN: Mutex<()> = Mutex::new(());
    let device = DEVICE.get_or_init(|| {
        let device = Device::open(0)?;
        std::thread::scope(|scope| {
            for (name, network, _) in networks() {
                for observations in [Observations::Floats, BYTES] {
                    for precision in [Precision::Full, Precision::Tf32] {
                        let (device, network) = (device.clone(), network.clone());
                        scope.spawn(move || {
                            Engine::new(&device, &network, 1, observations, precision).expect(name);
                        });
                    }
                }
            }
        });
        Ok(device)
    });
    let open = device.clone().map_err(|error| println!("not tested: no GPU ({error})")).ok();
    open.map(|device| (device, TURN.lock().unwrap_or_else(PoisonError::into_inner)))
}

const BYTES: Observations = Observations::Bytes { scale: 1.0 / 255.0 };

fn conv(filters: usize, kernel: usize, stride: usize, padding: Padding) -> Layer {
    Layer::Conv { filters, kernel, stride, padding }
}

fn dense(units: usize) -> Layer {
    Layer::dense(units)
}

fn normal(units: usize) -> Layer {
    Layer::Dense { units, normalised: true }
}

/// Networks of every kind and shape, each with a number of rows.
fn networks() -> Vec<(&'static str, Network, usize)> {
    use Padding::{Same, Valid};
    let linear = |actions| Head { actions, groups: 2, dueling: None };
    let dueling = |actions, units| Head { actions, groups: 2, dueling: Some(units) };
    let atari = vec![conv(32, 8, 4, Same), conv(64, 4, 2, Same), conv(64, 3, 1, Same), dense(256)];
    let specs = [
        ("mlp", vec![4], vec![dense(64), dense(64)], linear(2), 32),
        ("minatar", vec![10, 10, 6], vec![conv(16, 3, 1, Valid), dense(128)], linear(6), 32),
        ("atari", vec![84, 84, 4], atari, linear(6), 8),
        // Sizes that divide nothing, a stride greater than its kernel, strides that do not divide the kernel.
        (
            "odd",
            vec![20, 19, 3],
            vec![conv(13, 4, 2, Same), conv(20, 3, 1, Valid), dense(150), dense(70)],
            dueling(5, 33),
            7,
        ),
        (
            "strided",
            vec![23, 17, 4],
            vec![conv(12, 3, 2, Same), conv(9, 2, 3, Valid), conv(36, 3, 2, Valid)],
            linear(3),
            5,
        ),
        ("wide", vec![300], vec![dense(520)], linear(40), 70),
        ("dueling", vec![12, 12, 8], vec![conv(40, 5, 3, Same)], dueling(18, 96), 33),
        // Normalised by way of a thin product, of tiles, and of a sum in many parts.
        ("normal", vec![4], vec![dense(128), normal(128), normal(20)], linear(2), 33),
        ("normal grid", vec![10, 10, 6], vec![conv(16, 3, 1, Valid), normal(90)], dueling(6, 40), 32),
        ("normal wide", vec![21, 20, 8], vec![conv(16, 3, 1, Same), normal(256)], linear(6), 9),
        ("bare", vec![9], vec![], linear(3), 1),
    ];
    specs
        .into_iter()
        .map(|(name, input, layers, head, rows)| {
            (name, Network::new(&Spec { input, layers, head }).expect(name), rows)
        })
        .collect()
}

/// What goes in and what should come out.
#[derive(Clone)]
struct Problem {
    network: Network,
    copies: usize,
    rows: usize,
    params: Vec<f32>,
    bytes: Vec<u8>,
    out_grad: Vec<f32>,
    observations: Observations,
}

/// Outputs, gradients, parameters after a second step, first and second moments.
type Solution = [Vec<f32>; 5];
const PARTS: [&str; 5] = ["outputs", "gradients", "parameters", "m", "v"];

impl Problem {
    fn new(network: &Network, copies: usize, rows: usize, observations: Observations) -> Self {
        let mut params = vec![0.0; copies * network.parameters()];
        let mut rng = stream(7, "cuda/params");
        for params in params.chunks_exact_mut(network.parameters()) {
            network.init(&Init::default(), &mut rng, params).expect("parameters");
            // Biases too.
            params.iter_mut().for_each(|p| *p += rng.random_range(-0.01..0.01));
        }
        let mut rng = stream(7, "cuda/input");
        let bytes = (0..copies * rows * network.inputs()).map(|_| rng.random()).collect();
        let out_grad = (0..copies * rows * network.outputs()).map(|_| rng.random_range(-1.0..1.0)).collect();
        Self { network: network.clone(), copies, rows, params, bytes, out_grad, observations }
    }

    /// The same far from the kinks of the ReLUs: biases of either sign that outweigh the sums, so that rounding moves no
    /// sum across zero, where a gradient jumps.
    fn far_from_kinks(mut self) -> Self {
        let mut rng = stream(7, "cuda/kinks");
        // Of one sign, so that no gradient is a small difference of large sums.
        self.out_grad.iter_mut().for_each(|g| *g = 1.0 + 0.5 * *g);
        for params in self.params.chunks_exact_mut(self.network.parameters()) {
            for tensor in self.network.tensors() {
                let values = &mut params[tensor.range.clone()];
                if tensor.shape.len() == 1 {
                    values.fill_with(|| if rng.random() { 1.0 } else { -1.0 });
                } else {
                    // Activations are at most about 1.25: the sums stay below 1/4.
                    let fan_in: usize = tensor.shape[..tensor.shape.len() - 1].iter().product();
                    let bound = (0.4 / fan_in as f32).max(0.15 / (fan_in as f32).sqrt().max(1.0) / 3.0);
                    values.fill_with(|| rng.random_range(-bound..bound));
                }
            }
        }
        self
    }

    fn floats(&self) -> Vec<f32> {
        let scale = match self.observations {
            Observations::Bytes { scale } => scale,
            Observations::Floats => 1.0 / 255.0,
        };
        self.bytes.iter().map(|&byte| f32::from(byte) * scale).collect()
    }

    fn copy(&self, i: usize) -> Self {
        fn part<T: Clone>(all: &[T], copies: usize, i: usize) -> Vec<T> {
            all.chunks_exact(all.len() / copies).nth(i).expect("a copy").to_vec()
        }
        Self {
            copies: 1,
            params: part(&self.params, self.copies, i),
            bytes: part(&self.bytes, self.copies, i),
            out_grad: part(&self.out_grad, self.copies, i),
            ..self.clone()
        }
    }

    fn on_cpu(&self, clip: Clip) -> Solution {
        self.on_cpu_steps(clip, 2)
    }

    fn on_cpu_steps(&self, clip: Clip, steps: usize) -> Solution {
        let mut ws = Workspace::new(&self.network, self.copies, self.rows).expect("a workspace");
        let mut adam = Adam::new(SETTINGS, &self.network, self.copies).expect("an optimiser");
        let (mut params, mut grads) = (self.params.clone(), vec![0.0; self.params.len()]);
        let input = self.floats();
        let outputs = self.network.forward(&params, &input, &mut ws).expect("forward").to_vec();
        self.network.backward(&params, &input, &self.out_grad, &mut ws, &mut grads).expect("backward");
        for _ in 0..steps {
            adam.step(&self.network, clip, &mut params, &grads).expect("a step");
        }
        [outputs, grads, params, adam.m, adam.v]
    }

    fn on_gpu(&self, device: &Device, precision: Precision, clip: Clip) -> Solution {
        let (network, copies) = (&self.network, self.copies);
        let mut engine =
            Engine::new(device, network, copies, self.observations, precision).expect("an engine");
        engine.upload(Which::Online, &self.params).expect("parameters");
        let mut pass = engine.pass(1, self.rows).expect("a pass");
        let bytes = Buffer::of(device, &self.bytes).expect("bytes");
        let floats = Buffer::of(device, &self.floats()).expect("floats");
        let input = match self.observations {
            Observations::Floats => Input::Floats(&floats),
            Observations::Bytes { .. } => Input::Bytes(&bytes),
        };
        engine.forward(&mut pass, &[View { which: Which::Online, input }]).expect("forward");
        let outputs = pass.outputs().download().expect("outputs");
        pass.out_grad_mut().upload(&self.out_grad).expect("gradient");
        engine.backward(&mut pass, input).expect("backward");
        let grads = engine.gradients().expect("gradients");
        engine.adam(&pass, &SETTINGS, clip).expect("a step");
        engine.adam(&pass, &SETTINGS, clip).expect("a step");
        let params = engine.download(Which::Online).expect("parameters");
        let adam = engine.download_adam(SETTINGS).expect("moments");
        assert_eq!((adam.t, engine.skipped().expect("counts")), (2, vec![0; copies]));
        [outputs, grads, params, adam.m, adam.v]
    }
}

/// ‖a - b‖ / ‖b‖; infinite if there is a NaN.
fn error(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let square = |x: f64| x * x;
    let distance: f64 = a.iter().zip(b).map(|(&a, &b)| square(f64::from(a) - f64::from(b))).sum();
    let norm: f64 = b.iter().map(|&b| square(b.into())).sum();
    let error = (distance / norm).sqrt();
    if error.is_nan() { f64::INFINITY } else { error }
}

fn bits(solution: &Solution) -> Vec<Vec<u32>> {
    solution.iter().map(|values| values.iter().map(|x| x.to_bits()).collect()).collect()
}

/// Outputs and gradients, tensor by tensor, and two steps of Adam.
fn agree(precision: Precision, most: f64, problem: impl Fn(Problem) -> Problem) {
    let Some((device, _turn)) = device() else { return };
    let mut failures = Vec::new();
    for (name, network, rows) in networks() {
        for observations in [Observations::Floats, BYTES] {
            let problem = problem(Problem::new(&network, 2, rows, observations));
            let gpu = problem.on_gpu(&device, precision, Clip::Global(1.0));
            let cpu = problem.on_cpu(Clip::Global(1.0));
            let mut check = |what: &str, a: &[f32], b: &[f32]| {
                let error = error(a, b);
                println!("{name:8} {observations:?} {what:24} {error:.1e}");
                if error > most {
                    failures.push(format!("{name} {observations:?} {what}: {error:.2e}"));
                }
            };
            for ((what, a), b) in PARTS.iter().zip(&gpu).zip(&cpu) {
                check(what, a, b);
            }
            for tensor in network.tensors() {
                check(&tensor.name, &gpu[1][tensor.range.clone()], &cpu[1][tensor.range.clone()]);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn full_precision_agrees_with_the_cpu() {
    agree(Precision::Full, 1e-5, |problem| problem);
}

#[test]
fn tf32_agrees_with_the_cpu() {
    agree(Precision::Tf32, 1e-3, Problem::far_from_kinks);
}

/// Where sums are near zero, some ReLUs' gradients differ, but outputs do not.
#[test]
fn tf32_outputs_agree_with_the_cpu_near_kinks() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, rows) in networks() {
        let problem = Problem::new(&network, 2, rows, Observations::Floats);
        let gpu = problem.on_gpu(&device, Precision::Tf32, Clip::None);
        let error = error(&gpu[0], &problem.on_cpu(Clip::None)[0]);
        assert!(error < 1e-3, "{name}: {error:.2e}");
    }
}

#[test]
fn clipping() {
    let Some((device, _turn)) = device() else { return };
    let (_, network, rows) = networks().swap_remove(3);
    let problem = Problem::new(&network, 2, rows, Observations::Floats);
    let mut seen = Vec::new();
    for clip in [Clip::None, Clip::PerTensor(0.5), Clip::Global(1.0), Clip::Global(1e9)] {
        let (gpu, cpu) = (problem.on_gpu(&device, Precision::Full, clip), problem.on_cpu(clip));
        for ((what, a), b) in PARTS.iter().zip(&gpu).zip(&cpu) {
            assert!(error(a, b) < 1e-5, "{clip:?} {what}: {}", error(a, b));
        }
        seen.push(bits(&gpu));
    }
    assert!(seen[0] == seen[3] && seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
}

#[test]
fn the_same_bits() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, rows) in networks() {
        let problem = Problem::new(&network, 3, rows, BYTES);
        let solve = |problem: &Problem| bits(&problem.on_gpu(&device, Precision::Tf32, Clip::PerTensor(1.0)));
        let together = solve(&problem);
        assert!(together == solve(&problem), "{name} twice");
        for copy in 0..3 {
            let alone = solve(&problem.copy(copy));
            for ((what, together), alone) in PARTS.iter().zip(&together).zip(&alone) {
                let own = together.chunks_exact(alone.len()).nth(copy).expect("a copy");
                assert!(own == alone, "{name}, copy {copy}: {what}");
            }
        }
        // Many copies use other tiles.
        let many = Problem::new(&network, 40, rows, problem.observations);
        let together = solve(&many);
        let alone = solve(&many.copy(39));
        for ((what, together), alone) in PARTS.iter().zip(&together).zip(&alone) {
            assert!(together[39 * alone.len()..] == alone[..], "{name}, copy 39 of 40: {what}");
        }
    }
}

/// How a step is made.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    /// Backward, Adam and the soft copy one by one.
    OneByOne,
    LearnThenCopy,
    AtOnce,
    WithWorkBeside,
}

/// A step in which the target network follows in the same pass is a step and then a soft copy, bit for bit, of a copy that takes
/// no step too; and so is one with work beside it.
#[test]
fn targets_follow_in_the_same_pass() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, rows) in networks().into_iter().filter(|(name, ..)| *name != "atari") {
        for tau in [0.005, 1.0] {
            let problem = Problem::new(&network, 2, rows, Observations::Floats);
            let learn = |made: Made| {
                let mut engine = Engine::new(&device, &network, 2, problem.observations, Precision::Tf32)
                    .expect("an engine");
                let target: Vec<f32> = problem.params.iter().map(|param| 0.5 * param + 0.125).collect();
                engine.upload(Which::Online, &problem.params).expect("parameters");
                engine.upload(Which::Target, &target).expect("parameters");
                let (mut pass, floats) =
                    (engine.pass(1, rows).expect("a pass"), Buffer::of(&device, &problem.floats()));
                let floats = floats.expect("floats");
                let input = Input::Floats(&floats);
                let mut out_grad = problem.out_grad.clone();
                for step in 0..3 {
                    // The first copy takes no step the last time.
                    if step == 2 {
                        out_grad[0] = f32::NAN;
                    }
                    engine.forward(&mut pass, &[View { which: Which::Online, input }]).expect("forward");
                    pass.out_grad_mut().upload(&out_grad).expect("gradient");
                    let clip = Clip::PerTensor(0.5);
                    match made {
                        Made::OneByOne => {
                            engine.backward(&mut pass, input).expect("backward");
                            engine.adam(&pass, &SETTINGS, clip).expect("a step");
                            engine.update_target(tau).expect("a copy");
                        }
                        Made::LearnThenCopy => {
                            engine.learn(&mut pass, input, &SETTINGS, clip).expect("a step");
                            engine.update_target(tau).expect("a copy");
                        }
                        Made::AtOnce => {
                            engine.learn_and_follow(&mut pass, input, &SETTINGS, clip, tau).expect("a step");
                        }
                        Made::WithWorkBeside => {
                            let beside = |way: &Device| Buffer::of(way, &[1.0_f32; 1000]).map(drop);
                            engine
                                .learn_beside(&mut pass, input, &SETTINGS, clip, Some(tau), beside)
                                .expect("a step");
                        }
                    }
                }
                assert_eq!(engine.skipped().expect("counts"), [1, 0], "{name}");
                [Which::Online, Which::Target].map(|which| engine.download(which).expect("parameters"))
            };
            let at_once = learn(Made::AtOnce);
            assert!(at_once == learn(Made::LearnThenCopy), "{name} {tau}");
            assert!(at_once == learn(Made::WithWorkBeside), "{name} {tau}");
            // The sums of a small perceptron have another order one by one.
            if name == "minatar" {
                assert!(at_once == learn(Made::OneByOne), "{name} {tau}");
            }
            assert!(at_once[0] != at_once[1] || tau == 1.0, "{name}");
        }
    }
}

/// Backward and Adam in one, against the CPU engine and apart from its neighbours.
#[test]
fn learning_in_one_call() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, rows) in networks().into_iter().filter(|(name, ..)| *name != "atari") {
        for (rows, observations) in [(rows, Observations::Floats), (45, BYTES)] {
            let problem = Problem::new(&network, 3, rows, observations).far_from_kinks();
            let learn = |problem: &Problem| {
                let copies = problem.copies;
                let mut engine =
                    Engine::new(&device, &network, copies, observations, Precision::Tf32).expect("an engine");
                engine.upload(Which::Online, &problem.params).expect("parameters");
                let mut pass = engine.pass(1, rows).expect("a pass");
                let bytes = Buffer::of(&device, &problem.bytes).expect("bytes");
                let floats = Buffer::of(&device, &problem.floats()).expect("floats");
                let input = match observations {
                    Observations::Floats => Input::Floats(&floats),
                    Observations::Bytes { .. } => Input::Bytes(&bytes),
                };
                engine.forward(&mut pass, &[View { which: Which::Online, input }]).expect("forward");
                let outputs = pass.outputs().download().expect("outputs");
                pass.out_grad_mut().upload(&problem.out_grad).expect("gradient");
                engine.learn(&mut pass, input, &SETTINGS, Clip::PerTensor(0.5)).expect("a step");
                let adam = engine.download_adam(SETTINGS).expect("moments");
                let params = engine.download(Which::Online).expect("parameters");
                [outputs, engine.gradients().expect("gradients"), params, adam.m, adam.v]
            };
            let gpu = learn(&problem);
            let cpu = problem.on_cpu_steps(Clip::PerTensor(0.5), 1);
            for ((what, a), b) in PARTS.iter().zip(&gpu).zip(&cpu) {
                assert!(error(a, b) < 1e-3, "{name} {rows} {what}: {:.2e}", error(a, b));
            }
            for copy in 0..3 {
                let alone = bits(&learn(&problem.copy(copy)));
                for ((what, together), alone) in PARTS.iter().zip(bits(&gpu)).zip(&alone) {
                    assert!(
                        together.chunks_exact(alone.len()).nth(copy) == Some(alone),
                        "{name} {copy} {what}"
                    );
                }
            }
        }
    }
}

#[test]
fn views_are_passes_of_their_own() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, rows) in networks() {
        let problem = Problem::new(&network, 2, rows, Observations::Floats);
        let other = Problem::new(&network, 2, rows, Observations::Floats).copy(1);
        let other: Vec<f32> = other.params.iter().chain(&other.params).copied().collect();
        let mut engine =
            Engine::new(&device, &network, 2, problem.observations, Precision::Tf32).expect("an engine");
        engine.upload(Which::Online, &problem.params).expect("parameters");
        engine.upload(Which::Target, &other).expect("parameters");
        let first = Buffer::of(&device, &problem.floats()).expect("floats");
        let second: Vec<f32> = problem.floats().iter().map(|x| 1.0 - x).collect();
        let second = Buffer::of(&device, &second).expect("floats");
        let views = [(Which::Online, &first), (Which::Target, &first), (Which::Target, &second)]
            .map(|(which, input)| View { which, input: Input::Floats(input) });
        let mut pass = engine.pass(3, rows).expect("a pass");
        engine.forward(&mut pass, &views).expect("forward");
        let together = pass.outputs().download().expect("outputs");
        let mut pass = engine.pass(1, rows).expect("a pass");
        for (view, together) in views.iter().zip(together.chunks_exact(together.len() / 3)) {
            engine.forward(&mut pass, &[*view]).expect("forward");
            assert!(pass.outputs().download().expect("outputs") == together, "{name} {:?}", view.which);
        }
    }
}

#[test]
fn graphs_targets_and_gradients_that_are_not_finite() {
    let Some((device, _turn)) = device() else { return };
    let (_, network, rows) = networks().swap_remove(1);
    let problem = Problem::new(&network, 2, rows, Observations::Floats);
    let make = || {
        let mut engine =
            Engine::new(&device, &network, 2, problem.observations, Precision::Tf32).expect("an engine");
        engine.upload(Which::Online, &problem.params).expect("parameters");
        let pass = engine.pass(1, rows).expect("a pass");
        (engine, pass)
    };
    let input = Buffer::of(&device, &problem.floats()).expect("floats");
    let input = Input::Floats(&input);
    let targets = Buffer::of(&device, &problem.out_grad).expect("targets");
    let weights = Buffer::of(&device, &vec![0.5; problem.out_grad.len()]).expect("weights");
    let (mut engine, mut pass) = make();
    let mut step = |engine: &mut Engine| {
        engine.forward(&mut pass, &[View { which: Which::Online, input }])?;
        engine.huber(&mut pass, &targets, &weights, 1.0)?;
        engine.backward(&mut pass, input)?;
        engine.adam(&pass, &SETTINGS, Clip::PerTensor(1.0))
    };
    for _ in 0..5 {
        step(&mut engine).expect("a step");
    }
    let plain = engine.download(Which::Online).expect("parameters");
    engine.upload(Which::Online, &problem.params).expect("parameters");
    engine.upload_adam(&Adam::new(SETTINGS, &network, 2).expect("an optimiser")).expect("moments");
    let graph = device.capture(|| step(&mut engine)).expect("a graph");
    for _ in 0..5 {
        graph.launch().expect("a launch");
    }
    assert!(engine.download(Which::Online).expect("parameters") == plain, "a graph's bits");

    engine.upload(Which::Target, &problem.params).expect("parameters");
    engine.update_target(0.25).expect("a soft copy");
    let soft = engine.download(Which::Target).expect("parameters");
    let expected: Vec<f32> = problem.params.iter().zip(&plain).map(|(t, o)| t + 0.25 * (o - t)).collect();
    assert!(error(&soft, &expected) < 1e-6);
    engine.update_target(1.0).expect("a copy");
    assert_eq!(engine.download(Which::Target).expect("parameters"), plain);

    let (mut engine, mut pass) = make();
    let mut out_grad = problem.out_grad.clone();
    out_grad[0] = f32::NAN;
    engine.forward(&mut pass, &[View { which: Which::Online, input }]).expect("forward");
    pass.out_grad_mut().upload(&out_grad).expect("gradient");
    engine.backward(&mut pass, input).expect("backward");
    engine.adam(&pass, &SETTINGS, Clip::None).expect("a step");
    assert_eq!(engine.skipped().expect("counts"), [1, 0]);
    let params = engine.download(Which::Online).expect("parameters");
    let half = network.parameters();
    assert!(params[..half] == problem.params[..half] && params[half..] != problem.params[half..]);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let Some((device, _turn)) = device() else { return };
    let (_, network, _) = networks().swap_remove(0);
    let mut engine =
        Engine::new(&device, &network, 1, Observations::Floats, Precision::Tf32).expect("an engine");
    assert!(engine.upload(Which::Online, &[1.0]).is_err());
    assert!(engine.pass(0, 1).is_err() && engine.pass(5, 1).is_err() && engine.pass(1, 0).is_err());
    let mut pass = engine.pass(1, 2).expect("a pass");
    let (short, bytes) =
        (Buffer::<f32>::zeros(&device, 7).expect("zeros"), Buffer::<u8>::zeros(&device, 8).expect("zeros"));
    for input in [Input::Floats(&short), Input::Bytes(&bytes)] {
        assert!(engine.forward(&mut pass, &[View { which: Which::Online, input }]).is_err());
    }
    assert!(engine.update_target(0.0).is_err());
}

/// What is stored, with its gaps taken out, is what comes down.
#[test]
fn stored_numbers_are_those_that_come_down() {
    let Some((device, _turn)) = device() else { return };
    for (name, network, _) in networks() {
        let mut engine =
            Engine::new(&device, &network, 3, Observations::Floats, Precision::Full).expect(name);
        let size = network.parameters();
        let numbers = |from: usize| (0..3 * size).map(|i| (from + i) as f32).collect::<Vec<f32>>();
        engine.upload(Which::Online, &numbers(1)).expect("online");
        engine.upload(Which::Target, &numbers(2)).expect("target");
        let adam = Adam { settings: SETTINGS, t: 9, m: numbers(3), v: numbers(4) };
        engine.upload_adam(&adam).expect("moments");
        assert_eq!(engine.adam_steps().expect("steps"), 9);
        for (number, what) in Stored::ALL.into_iter().enumerate() {
            let (stored, mut found) = (engine.stored(what).download().expect("a download"), vec![0.0; size]);
            for (copy, stored) in stored.chunks_exact(engine.stride()).enumerate() {
                engine.without_gaps(stored, &mut found).expect("a copy");
                assert!(found == numbers(number + 1)[copy * size..][..size], "{name}: {what:?} of {copy}");
            }
        }
        assert!(engine.without_gaps(&[0.0], &mut vec![0.0; size]).is_err());
        assert!(engine.without_gaps(&vec![0.0; engine.stride()], &mut [0.0]).is_err());
    }
}
