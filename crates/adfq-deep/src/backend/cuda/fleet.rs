//! N runs that learn side by side on one device.

use super::host::{Mail, Packs, Uploads};
use super::memory::{Drawn, LARGEST, Memory, STATES};
use super::raw::launch;
use super::sizes::{Sizes, check};
use crate::Result;
use crate::config::{AgentKind, Config};
use crate::replay::ledger::Ledger;
use crate::replay::{Lived, ReplayError};
use crate::stats::Learned;
use crate::trainer::replay_settings;
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Element, Space};
use adfq_nn::Network;
use adfq_nn::cuda::{Device, Engine, Graph, Kernel, Observations, Pass, Precision, Scalar, Which};
use std::collections::VecDeque;

/// N runs with the same space, network, batch and number of environments. Their seeds, agents and most numbers are their
/// own; how the target network follows is common, and DQN and Double DQN may share a fleet, but not
/// with ADFQ, whose network is another.
///
/// ```
/// use adfq_deep::{Config, cuda::Fleet, replay::Lived};
/// use adfq_nn::cuda::{Device, Precision};
///
/// let env = adfq_env::make("cartpole")?;
/// let configs: Vec<_> = (0..3).map(|seed| Ok(Config { seed, ..Config::for_env("cartpole")? })).collect::<adfq_deep::Result<_>>()?;
/// let Ok(device) = Device::open(0) else { return Ok(()) }; // no GPU here
/// let mut fleet = Fleet::new(&device, env.space(), &configs, Precision::Tf32)?;
/// for step in 0..100 {
///     let frame: Vec<u8> = [step as f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
///     (0..3).try_for_each(|run| fleet.push(run, 0, &Lived::new(&frame, 1, 1.0)))?;
///     fleet.commit()?;
/// }
/// fleet.learn()?;
/// fleet.wait()?;
/// assert_eq!(fleet.learned().len(), 3);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub struct Fleet {
    pub(super) device: Device,
    pub(super) configs: Vec<Config>,
    pub(super) space: Space,
    pub(super) engine: Engine,
    pub(super) pass: Pass,
    pub(super) memory: Memory,
    pub(super) ledgers: Vec<Ledger>,
    /// Each run's generator, past the numbers that were uploaded.
    pub(super) samplers: Vec<ChaCha8Rng>,
    /// Steps for which numbers were drawn.
    pub(super) drawn: u64,
    pub(super) packs: Packs,
    pub(super) mail: Mail,
    pub(super) uploads: Uploads,
    pub(super) kernels: Kernels,
    pub(super) graph: Option<Graph>,
    /// Environment steps of each run.
    pub(super) steps: Vec<u64>,
    /// Gradient steps put on the stream, and those whose metrics have been taken.
    pub(super) launched: u64,
    pub(super) taken: u64,
    pub(super) reports: VecDeque<(usize, Result<Learned>)>,
}

#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) absorb: Kernel,
    pub(super) rebuild: Kernel,
    pub(super) fetch: Kernel,
    pub(super) sample: Kernel,
    pub(super) teach: Kernel,
    pub(super) finish: Kernel,
}

impl Fleet {
    /// Runs at their start, on this device.
    pub fn new(device: &Device, space: &Space, configs: &[Config], precision: Precision) -> Result<Self> {
        check(configs)?;
        let network = Network::new(&configs[0].spec(space.observation_shape(), space.actions))?;
        let observations = match space.element {
            Element::U8 { scale } => Observations::Bytes { scale },
            Element::F32 => Observations::Floats,
        };
        let engine = Engine::new(device, &network, configs.len(), observations, precision)?;
        let ledger = |config: &Config| Ledger::new(&replay_settings(config), space);
        let ledgers: Vec<_> = configs.iter().map(ledger).collect::<crate::replay::Result<_>>()?;
        let any = |agent| configs.iter().any(|config| config.agent == agent);
        let views = if any(AgentKind::Adfq) || any(AgentKind::Ddqn) { 3 } else { 2 };
        let sizes = Sizes::new(configs, space, &ledgers[0], views)?;
        let module = device.compile(&sizes.source())?;
        let kernels = Kernels {
            absorb: module.kernel("absorb")?,
            rebuild: module.kernel("rebuild")?,
            fetch: module.kernel("fetch")?,
            sample: module.kernel("sample")?,
            teach: module.kernel("teach")?,
            finish: module.kernel("finish")?,
        };
        let samplers: Vec<_> = configs.iter().map(|config| stream(config.seed, "replay")).collect();
        let mut fleet = Self {
            pass: engine.pass(views, sizes.batch)?,
            memory: Memory::new(device, sizes.clone(), configs)?,
            packs: Packs::new(&sizes)?,
            mail: Mail::new(sizes.runs)?,
            uploads: Uploads::new(&sizes)?,
            steps: vec![0; sizes.runs],
            device: device.clone(),
            configs: configs.to_vec(),
            space: space.clone(),
            drawn: 0,
            samplers,
            ledgers,
            engine,
            kernels,
            graph: None,
            launched: 0,
            taken: 0,
            reports: VecDeque::new(),
        };
        let mut params = vec![0.0; sizes.runs * network.parameters()];
        for (config, params) in configs.iter().zip(params.chunks_exact_mut(network.parameters())) {
            network.init(&config.init(), &mut stream(config.seed, "network"), params)?;
        }
        fleet.engine.upload(Which::Online, &params)?;
        fleet.engine.upload(Which::Target, &params)?;
        let rates = fleet.rates();
        fleet.engine.set_own_rates(&rates)?;
        Ok(fleet)
    }

    /// The networks and optimisers of all runs.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The same, to set parameters or to act.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Environment steps of a run that were committed.
    pub fn steps(&self, run: usize) -> u64 {
        self.steps.get(run).copied().unwrap_or(0)
    }

    /// How many transitions of a run can be sampled.
    pub fn len(&self, run: usize) -> usize {
        self.ledgers.get(run).map_or(0, Ledger::len)
    }

    /// Whether there is nothing to sample in some run.
    pub fn is_empty(&self) -> bool {
        self.ledgers.iter().any(|ledger| ledger.len() == 0)
    }

    /// Writes one step of environment `lane` of a run, as [`Replay::push`](crate::replay::Replay::push) does. It reaches the
    /// device with the next [`Fleet::commit`].
    pub fn push(&mut self, run: usize, lane: usize, lived: &Lived) -> Result<()> {
        self.make_room(run, lane)?;
        let (ledger, sizes, mut changes) = (&mut self.ledgers[run], &self.memory.sizes, Vec::new());
        let mut changed = |place, present| changes.push((place, present));
        let (step, end) = ledger.push(lane, lived, &mut changed)?;
        self.packs.write(sizes, run, lane, 0, step, lived.frame);
        if let (Some(end), Some(last)) = (end, lived.last) {
            self.packs.write(sizes, run, lane, 1, end, last);
        }
        self.packs.change(sizes, run, &changes);
        Ok(())
    }

    /// Cuts off the episode of an environment, as [`Replay::interrupt`](crate::replay::Replay::interrupt) does.
    pub fn interrupt(&mut self, run: usize, lane: usize, frame: &[u8]) -> Result<()> {
        self.make_room(run, lane)?;
        let (ledger, sizes, mut changes) = (&mut self.ledgers[run], &self.memory.sizes, Vec::new());
        let end = ledger.interrupt(lane, frame, &mut |place, present| changes.push((place, present)))?;
        if let Some(end) = end {
            self.packs.write(sizes, run, lane, 1, end, frame);
            self.packs.change(sizes, run, &changes);
        }
        Ok(())
    }

    /// A pack has room for one step of a lane: what was there before goes first.
    fn make_room(&mut self, run: usize, lane: usize) -> Result<()> {
        let sizes = &self.memory.sizes;
        if run >= sizes.runs || lane >= sizes.lanes {
            let (lane, lanes) = (run * sizes.lanes + lane, sizes.runs * sizes.lanes);
            return Err(ReplayError::Lane { lane, lanes }.into());
        }
        if [0, 1].iter().any(|&kind| self.packs.holds(sizes, run, lane, kind)) {
            self.commit()?;
        }
        Ok(())
    }

    /// Sends what was pushed to the device. Call it when every environment has taken its step.
    pub fn commit(&mut self) -> Result<()> {
        if self.packs.is_empty {
            return Ok(());
        }
        self.steps.iter_mut().zip(&self.packs.steps).for_each(|(all, new)| *all += new);
        for (run, rate) in self.rates().into_iter().enumerate() {
            self.packs.rate(&self.memory.sizes, run, rate);
        }
        let (has_finals, number) = (self.packs.has_finals, self.packs.number as u32);
        let (pack, finals) = self.packs.present();
        self.memory.pack.upload(pack)?;
        if has_finals {
            self.memory.finals.upload(finals)?;
        }
        let mut arguments = self.arguments();
        let addresses =
            [self.memory.pack.address(), self.memory.finals.address(), self.engine.own_rates().address()];
        arguments.extend(addresses.map(Scalar::Address));
        arguments.push(Scalar::U32(number));
        let sizes = &self.memory.sizes;
        launch(&self.device, &self.kernels.absorb, (2 * sizes.lanes + 1, sizes.runs), 512, &arguments)?;
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
        let (places, leaves) = (self.memory.sizes.places(), self.memory.sizes.leaf_blocks() * 16);
        let all = self.memory.leaves.download()?;
        let largest = self.memory.state.download()?[run * STATES + LARGEST];
        Ok((all[run * leaves..][..places].to_vec(), largest))
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
        self.memory.arguments(pass.outputs(), pass.out_grad(), norms, self.mail.address())
    }
}

impl Drop for Fleet {
    /// The device reads and writes memory of the host that is about to go.
    fn drop(&mut self) {
        // A device that failed does neither any more.
        let _ = self.device.synchronise();
    }
}
