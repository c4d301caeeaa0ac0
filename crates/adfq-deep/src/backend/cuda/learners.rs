//! N runs that learn side by side on one device: what they share, and what the host pushes.

use super::memory::{Drawn, LARGEST, Memory, STATES};
use super::raw::launch;
use super::sizes::{Sizes, check};
use super::step::Graphs;
use super::transfer::{Mail, Packs, Part, Uploads};
use super::visits::{Looked, Places};
use crate::algorithm::{CudaLoss, Keeps, Passes};
use crate::learner::Learner;
use crate::metrics::Learned;
use crate::replay::{Elsewhere, Replay, ReplayError, Transition, Written};
use crate::{Config, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Element, Space};
use adfq_nn::Adam;
use adfq_nn::cuda::{Device, Engine, Kernel, Observations, Pass, Precision, Scalar, Which};
use std::collections::VecDeque;
use std::sync::Arc;

/// N runs with the same space, network, batch and number of environments. Their seeds, algorithms and most numbers are their
/// own; how the target network follows is common.
///
/// ```
/// use adfq_deep::algorithm::Algorithms;
/// use adfq_deep::backend::cuda::{Learners, Member};
/// use adfq_deep::learner::Learner;
/// use adfq_deep::replay::{Replay, Transition};
/// use adfq_deep::Config;
/// use adfq_nn::cuda::{Device, Precision};
///
/// let env = adfq_env::make("cartpole")?;
/// let config = Config::for_env("cartpole")?;
/// let mut learner = Learner::new(&config, env.space(), &Algorithms::default())?;
/// let mut replay = Replay::new(&config.replay, 1, 0.99, env.space())?;
/// let Ok(device) = Device::open(0) else { return Ok(()) }; // no GPU here
/// let mut learners = Learners::new(&device, env.space(), &[&learner], Precision::Tf32)?;
/// for step in 0..100 {
///     let frame: Vec<u8> = [step as f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
///     learners.push(0, 0, &Transition::new(&frame, 1, 1.0), &mut replay)?;
///     learners.commit()?;
/// }
/// learners.learn(&mut [Member { replay: &replay, learner: &mut learner }])?;
/// learners.wait()?;
/// assert_eq!(learners.learned().len(), 1);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub struct Learners {
    pub(super) device: Device,
    pub(super) configs: Vec<Config>,
    pub(super) space: Space,
    pub(super) engine: Engine,
    pub(super) passes: Passes,
    pub(super) pass: Pass,
    pub(super) memory: Memory,
    /// Where runs have been, if their algorithms keep that.
    pub(super) places: Option<Places>,
    /// Whether losses are computed on the device; else on the host.
    pub(super) on_device: bool,
    /// Each run's generator, past the numbers that were uploaded.
    pub(super) samplers: Vec<ChaCha8Rng>,
    /// Steps for which numbers were drawn.
    pub(super) drawn: u64,
    /// Whether the batch of the next step is drawn already.
    pub(super) is_drawn: bool,
    pub(super) packs: Packs,
    pub(super) mail: Mail,
    pub(super) uploads: Uploads,
    pub(super) kernels: Kernels,
    pub(super) graphs: Graphs,
    /// Environment steps of each run.
    pub(super) steps: Vec<u64>,
    /// Gradient steps put on the stream, and those whose metrics have been taken.
    pub(super) launched: u64,
    pub(super) taken: u64,
    pub(super) reports: VecDeque<Reported>,
}

/// What a gradient step of a run was like, and the sums that it left for the algorithm's own metrics.
pub(super) struct Reported {
    pub run: usize,
    pub learned: Result<Learned>,
    pub sums: [f32; 3],
}

#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) absorb: Kernel,
    pub(super) rebuild: Kernel,
    pub(super) sample: Kernel,
    pub(super) teach: Kernel,
    pub(super) finish: Kernel,
    pub(super) turn: Kernel,
    pub(super) tell: Kernel,
}

impl Learners {
    /// Brings what learners know to a device, all of it but memories.
    pub fn new(device: &Device, space: &Space, learners: &[&Learner], precision: Precision) -> Result<Self> {
        let configs: Vec<Config> = learners.iter().map(|learner| learner.config().clone()).collect();
        check(&configs, learners)?;
        let observations = match space.element {
            Element::U8 { scale } => Observations::Bytes { scale },
            Element::F32 => Observations::Floats,
        };
        let network = learners[0].network();
        let engine = Engine::new(device, network, learners.len(), observations, precision)?;
        let wanted = learners.iter().map(|learner| learner.algorithm.passes());
        let passes = wanted.fold(Passes::default(), Passes::or);
        let losses: Option<Vec<CudaLoss>> = learners.iter().map(|learner| learner.algorithm.cuda()).collect();
        let on_device = losses.is_some();
        let losses = losses.unwrap_or_default();
        let keeps = if on_device { learners[0].algorithm.keeps() } else { Keeps::Nothing };
        let sizes = Sizes::new(&configs, space, network.outputs(), passes, &losses, keeps)?;
        let module = device.compile(&sizes.source())?;
        let all_keep = learners.iter().map(|learner| learner.algorithm.keeps());
        let places =
            (sizes.features > 0).then(|| Places::new(device, &module, &sizes, all_keep)).transpose()?;
        let kernels = Kernels {
            absorb: module.kernel("absorb")?,
            rebuild: module.kernel("rebuild")?,
            sample: module.kernel("sample")?,
            teach: module.kernel("teach")?,
            finish: module.kernel("finish")?,
            turn: module.kernel("turn")?,
            tell: module.kernel("tell")?,
        };
        let mut new = Self {
            pass: engine.pass(sizes.views, sizes.batch)?,
            memory: Memory::new(device, sizes.clone(), &configs, &losses)?,
            packs: Packs::new(&sizes)?,
            mail: Mail::new(sizes.runs)?,
            uploads: Uploads::new(&sizes)?,
            steps: vec![0; sizes.runs],
            samplers: configs.iter().map(|config| stream(config.seed, "replay")).collect(),
            device: device.clone(),
            space: space.clone(),
            drawn: 0,
            is_drawn: false,
            graphs: Graphs::default(),
            launched: 0,
            taken: 0,
            reports: VecDeque::new(),
            configs,
            on_device,
            places,
            passes,
            engine,
            kernels,
        };
        new.upload(learners)?;
        let rates = new.rates();
        new.engine.set_own_rates(&rates)?;
        Ok(new)
    }

    /// Parameters and moments.
    fn upload(&mut self, learners: &[&Learner]) -> Result<()> {
        let all = |part: fn(&Learner) -> &[f32]| -> Vec<f32> {
            learners.iter().flat_map(|learner| part(learner)).copied().collect()
        };
        self.engine.upload(Which::Online, &all(|learner| &learner.online))?;
        self.engine.upload(Which::Target, &all(|learner| &learner.target))?;
        if self.memory.sizes.fixed {
            self.engine.upload(Which::Fixed, &all(|learner| fixed(learner)))?;
        }
        let (m, v) = (all(|learner| &learner.adam.m), all(|learner| &learner.adam.v));
        let Adam { settings, t, .. } = learners[0].adam;
        Ok(self.engine.upload_adam(&Adam { settings, t, m, v })?)
    }

    /// How many runs there are.
    pub(crate) fn runs(&self) -> usize {
        self.configs.len()
    }

    /// The networks and optimisers of all runs.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The same, to set parameters.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Environment steps of a run that were committed.
    pub fn steps(&self, run: usize) -> u64 {
        self.steps.get(run).copied().unwrap_or(0)
    }

    /// Writes one step of an environment of a run to the run's memory. It reaches the device with the next
    /// [`Learners::commit`].
    pub fn push(
        &mut self,
        run: usize,
        env: usize,
        transition: &Transition,
        replay: &mut Replay,
    ) -> Result<()> {
        let mut written = Written::default();
        replay.write(env, transition, &mut written)?;
        self.part(run, env)?.wrote(env, transition, &written);
        Ok(())
    }

    /// Cuts off the episode of an environment, as [`Replay::interrupt`] does.
    pub fn interrupt(&mut self, run: usize, env: usize, frame: &[u8], replay: &mut Replay) -> Result<()> {
        self.part(run, env)?.cut(env, frame, replay)
    }

    /// The part of a run in the present pack. It has room for one step of an environment: what was there before goes first.
    pub(super) fn part(&mut self, run: usize, env: usize) -> Result<Part<'_>> {
        let Sizes { runs, envs, .. } = self.memory.sizes;
        let beyond = || ReplayError::Env { env: run * envs + env, envs: runs * envs };
        if env >= envs {
            return Err(beyond().into());
        }
        if self.packs.part(&self.memory.sizes, run).is_some_and(|part| part.holds(env)) {
            self.commit()?;
        }
        Ok(self.packs.part(&self.memory.sizes, run).ok_or_else(beyond)?)
    }

    /// The parts of all runs, each with room for one step of every environment: what was there before goes first.
    pub(super) fn parts(&mut self) -> Result<Vec<Part<'_>>> {
        self.commit()?;
        Ok(self.packs.parts(&self.memory.sizes).collect())
    }

    /// Sends what was pushed to the device. Call it when every environment has taken its step.
    pub fn commit(&mut self) -> Result<()> {
        if self.packs.is_empty() {
            return Ok(());
        }
        let way = self.device.clone();
        self.commit_by(&way)
    }

    /// The same on the stream of `way`; there must be something to send.
    pub(super) fn commit_by(&mut self, way: &Device) -> Result<()> {
        self.steps.iter_mut().zip(self.packs.steps()).for_each(|(all, new)| *all += new);
        let rates = self.rates();
        self.packs.parts(&self.memory.sizes).zip(rates).for_each(|(mut part, rate)| part.rate(rate));
        let (has_finals, number) = (self.packs.has_finals(), self.packs.number as u32);
        let (pack, finals) = self.packs.present();
        self.memory.pack.upload_by(pack, way)?;
        if has_finals {
            self.memory.finals.upload_by(finals, way)?;
        }
        let mut arguments = self.arguments();
        let addresses =
            [self.memory.pack.address(), self.memory.finals.address(), self.engine.own_rates().address()];
        arguments.extend(addresses.map(Scalar::Address));
        arguments.push(Scalar::U32(number));
        let sizes = &self.memory.sizes;
        launch(way, &self.kernels.absorb, (2 * sizes.envs + 1, sizes.runs), 512, &arguments)?;
        self.packs.turn(sizes, &self.device, &self.mail)
    }

    /// The learning rate of each run now. One that has fallen to nothing changes nothing, but 0 would stand for Adam's.
    pub(super) fn rates(&self) -> Vec<f32> {
        let rates = self.configs.iter().zip(&self.steps).map(|(config, &step)| config.rate(step));
        rates.map(|rate| rate.max(f32::MIN_POSITIVE)).collect()
    }

    /// Copies the online parameters of every run to its target network.
    pub fn copy_target(&mut self) -> Result<()> {
        Ok(self.engine.update_target(1.0)?)
    }

    /// Waits until the device is done with everything.
    pub fn wait(&self) -> Result<()> {
        Ok(self.device.synchronise()?)
    }

    /// The batch that a run drew last, and what it taught. Waits.
    pub fn drawn(&self, run: usize) -> Result<Drawn> {
        self.memory.drawn(run)
    }

    /// The priorities of a run to the power of α, by place, and the largest so far, as [`ReplayState`] and
    /// [`Replay::priorities`](crate::replay::Replay::priorities) have them. Waits.
    ///
    /// [`ReplayState`]: crate::replay::ReplayState
    pub fn priorities(&self, run: usize) -> Result<(Vec<f32>, f64)> {
        let sizes = &self.memory.sizes;
        let (mut priorities, mut state) = (vec![0.0; sizes.places()], [0.0; STATES]);
        self.memory.leaves.read(run * sizes.leaf_blocks() * 16, &mut priorities)?;
        self.memory.state.read(run * STATES, &mut state)?;
        Ok((priorities, state[LARGEST]))
    }

    /// What was counted of a run's visits and its matrices, as [`Visits`](crate::algorithm::Visits) has them; none where no
    /// algorithm keeps them. Waits.
    pub fn visits(&self, run: usize) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
        let Some(places) = &self.places else { return Ok(None) };
        let all = places.download()?;
        let (counts, inverse) = all.of(run);
        Ok(Some((counts.to_vec(), inverse.to_vec())))
    }

    /// The generator of a run's draws, as a trainer on the CPU would have it now.
    pub fn sampler(&self, run: usize) -> ChaCha8Rng {
        let mut sampler = self.samplers[run].clone();
        // A number takes two words of the generator.
        let ahead = (self.drawn.saturating_sub(self.launched)) as u128 * self.memory.sizes.batch as u128;
        sampler.set_word_pos(sampler.get_word_pos() - 2 * ahead);
        sampler
    }

    pub(super) fn arguments(&self) -> Vec<Scalar> {
        let (pass, norms) = (&self.pass, self.engine.norms());
        let visits = self.places.as_ref().map_or([0; 3], Places::addresses);
        self.memory.arguments(pass.outputs(), pass.out_grad(), norms, self.mail.address(), visits)
    }

    /// The frames of a run, as its memory on the host reads them.
    pub(super) fn frames_of(&self, run: usize) -> Arc<dyn Elsewhere> {
        self.memory.frames_of(run)
    }

    /// Notes that these actions were taken on seeing what was looked at last, one of each environment of each run.
    pub(super) fn visit(&mut self, found: &Looked, actions: &[u32]) -> Result<()> {
        let settings = &self.memory.settings;
        self.places.as_mut().map_or(Ok(()), |places| places.visit(found, actions, settings))
    }
}

/// The parameters of a learner's network that is never trained.
fn fixed(learner: &Learner) -> &[f32] {
    if let Keeps::Network(params) = learner.algorithm.keeps() { params } else { &[] }
}

impl Drop for Learners {
    /// The device reads and writes memory of the host that is about to go.
    fn drop(&mut self) {
        // A device that failed does neither any more.
        let _ = self.device.synchronise();
    }
}
