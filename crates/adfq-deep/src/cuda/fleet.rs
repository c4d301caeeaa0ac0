//! N runs that learn side by side on one device.

use super::host::{Mail, Packs, Uploads};
use super::memory::{Drawn, LARGEST, Memory, STATES};
use super::raw::launch;
use super::sizes::{DRAWS, RING, Sizes};
use crate::config::{AgentKind, Config, TargetUpdate};
use crate::replay::ReplayError;
use crate::replay::ledger::Ledger;
use crate::stats::Learned;
use crate::trainer::replay_settings;
use crate::{Error, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Element, Space};
use adfq_nn::cuda::{Device, Engine, Graph, Kernel, Observations, Pass, Precision, Scalar, View, Which};
use adfq_nn::{AdamSettings, Network};
use rand::RngExt;
use std::collections::VecDeque;

/// What went wrong, as the device numbers it.
const QUANTITIES: [&str; 4] = ["batch", "belief", "loss", "gradient"];

/// N runs with the same space, network, batch and number of environments. Their seeds, agents and most numbers are their
/// own; the learning rate and how the target network follows are common, and DQN and Double DQN may share a fleet, but not
/// with ADFQ, whose network is another.
///
/// ```
/// use adfq_deep::{Config, cuda::Fleet};
/// use adfq_nn::cuda::{Device, Precision};
///
/// let env = adfq_env::make("cartpole")?;
/// let configs: Vec<_> = (0..3).map(|seed| Ok(Config { seed, ..Config::for_env("cartpole")? })).collect::<adfq_deep::Result<_>>()?;
/// let Ok(device) = Device::open(0) else { return Ok(()) }; // no GPU here
/// let mut fleet = Fleet::new(&device, env.space(), &configs, Precision::Tf32)?;
/// for step in 0..100 {
///     let frame: Vec<u8> = [step as f32; 4].iter().flat_map(|x| x.to_ne_bytes()).collect();
///     (0..3).try_for_each(|run| fleet.push(run, 0, &frame, 1, 1.0, false, false, None))?;
///     fleet.commit()?;
/// }
/// fleet.learn()?;
/// fleet.wait()?;
/// assert_eq!(fleet.learned()?.len(), 3);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub struct Fleet {
    pub(super) device: Device,
    pub(super) configs: Vec<Config>,
    pub(super) space: Space,
    engine: Engine,
    pass: Pass,
    pub(super) memory: Memory,
    pub(super) ledgers: Vec<Ledger>,
    /// Each run's generator, past the numbers that were uploaded.
    pub(super) samplers: Vec<ChaCha8Rng>,
    /// Steps for which numbers were drawn.
    pub(super) drawn: u64,
    pub(super) packs: Packs,
    mail: Mail,
    uploads: Uploads,
    pub(super) kernels: Kernels,
    graphs: Option<Graphs>,
    /// Environment steps of each run.
    pub(super) steps: Vec<u64>,
    /// Gradient steps put on the stream, and those whose metrics have been taken.
    pub(super) launched: u64,
    taken: u64,
    reports: VecDeque<(usize, Learned)>,
}

#[derive(Debug)]
pub(super) struct Kernels {
    absorb: Kernel,
    pub(super) rebuild: Kernel,
    pub(super) fetch: Kernel,
    sample: Kernel,
    teach: Kernel,
    finish: Kernel,
}

/// A gradient step. Where the learning rate changes, the launches that need it lie between two graphs.
enum Graphs {
    Whole(Graph),
    Around { before: Graph, after: Graph },
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
            graphs: None,
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
    #[expect(clippy::too_many_arguments, reason = "a step is so many things")]
    pub fn push(
        &mut self,
        run: usize,
        lane: usize,
        frame: &[u8],
        action: u32,
        reward: f32,
        terminated: bool,
        truncated: bool,
        last: Option<&[u8]>,
    ) -> Result<()> {
        self.make_room(run, lane)?;
        let (ledger, sizes, mut changes) = (&mut self.ledgers[run], &self.memory.sizes, Vec::new());
        let mut changed = |place, present| changes.push((place, present));
        let (step, end) =
            ledger.push(lane, frame, action, reward, terminated, truncated, last, &mut changed)?;
        self.packs.write(sizes, run, lane, 0, step, frame);
        if let (Some(end), Some(last)) = (end, last) {
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
        let (has_finals, number) = (self.packs.has_finals, self.packs.number as u32);
        let (pack, finals) = self.packs.present();
        self.memory.pack.upload(pack)?;
        if has_finals {
            self.memory.finals.upload(finals)?;
        }
        let mut arguments = self.arguments();
        let addresses = [self.memory.pack.address(), self.memory.finals.address()];
        arguments.extend(addresses.map(Scalar::Address));
        arguments.push(Scalar::U32(number));
        let sizes = &self.memory.sizes;
        launch(&self.device, &self.kernels.absorb, (2 * sizes.lanes + 1, sizes.runs), 512, &arguments)?;
        self.steps.iter_mut().zip(&self.packs.steps).for_each(|(all, new)| *all += new);
        self.packs.turn(sizes, &self.device, &self.mail)
    }

    /// One gradient step of every run. Returns before it is done; what it was like comes from [`Fleet::learned`].
    pub fn learn(&mut self) -> Result<()> {
        self.commit()?;
        if self.is_empty() {
            return Err(ReplayError::Empty.into());
        }
        if self.launched - self.taken >= RING as u64 / 2 {
            let due = self.launched - RING as u64 / 4;
            self.mail.wait(&self.device, |mail| mail.rows(due - 1).is_some())?;
            self.collect()?;
        }
        if self.configs[0].learning.final_rate != 1.0 && self.steps.iter().any(|&step| step != self.steps[0])
        {
            let must = "1 for runs that are not at the same environment step";
            return Err(Error::Setting { name: "learning.final_rate", must });
        }
        self.upload_draws()?;
        if self.graphs.is_none() {
            self.graphs = Some(self.capture()?);
        }
        match &self.graphs {
            Some(Graphs::Whole(graph)) => graph.launch()?,
            Some(Graphs::Around { before, after }) => {
                before.launch()?;
                let config = &self.configs[0];
                // A rate that has fallen to nothing changes nothing, but is no setting of Adam's.
                let rate = config.rate(self.steps[0]).max(f32::MIN_POSITIVE);
                let settings = AdamSettings { rate, ..config.learning.adam };
                self.engine.learn(&mut self.pass, self.memory.here(), &settings, config.learning.clip)?;
                after.launch()?;
            }
            None => {}
        }
        self.launched += 1;
        Ok(())
    }

    /// Copies the online parameters of every run to its target network.
    pub fn copy_target(&mut self) -> Result<()> {
        Ok(self.engine.update_target(1.0)?)
    }

    /// What gradient steps were like, with the number of the run, in order; those that have been reported since the last
    /// call. It does not wait. A run whose quantities are not finite any more is an error; its parameters are then those
    /// before that step.
    pub fn learned(&mut self) -> Result<Vec<(usize, Learned)>> {
        self.collect()?;
        Ok(self.reports.drain(..).collect())
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

    fn collect(&mut self) -> Result<()> {
        while self.taken < self.launched
            && let Some(rows) = self.mail.rows(self.taken)
        {
            self.taken += 1;
            for (run, row) in rows.into_iter().enumerate() {
                if row.failed != 0 {
                    let quantity = QUANTITIES[row.failed as usize % QUANTITIES.len()];
                    return Err(Error::Diverged { quantity, step: row.step, good: None });
                }
                self.reports.push_back((run, row.learned));
            }
        }
        Ok(())
    }

    /// Random numbers for the next steps, or the places themselves where all are equally likely.
    fn upload_draws(&mut self) -> Result<()> {
        let block = DRAWS as u64;
        if !self.memory.sizes.prioritised {
            if let Some(before) = self.launched.checked_sub(block) {
                self.mail.wait(&self.device, |mail| mail.rows(before).is_some())?;
            }
            let places: &mut [u32] = bytemuck::cast_slice_mut(self.uploads.area(self.launched));
            let runs = self.ledgers.iter().zip(&mut self.samplers);
            for ((ledger, sampler), places) in runs.zip(places.chunks_exact_mut(self.memory.sizes.batch)) {
                ledger.draw(sampler, places)?;
            }
            return Ok(self.memory.places.upload(places)?);
        }
        // A block of numbers goes up at its first step; the next is drawn meanwhile, a step's worth with every step.
        if self.drawn == 0 {
            (0..block).for_each(|_| self.draw_ahead());
        }
        if self.launched.is_multiple_of(block) {
            let draws: &[f64] = bytemuck::cast_slice(self.uploads.area(self.launched / block));
            self.memory.draws.upload(draws)?;
        }
        // The other area went up a block ago, and that copy is done when a step after it is.
        if let Some(before) = self.launched.checked_sub(block) {
            self.mail.wait(&self.device, |mail| mail.rows(before).is_some())?;
        }
        self.draw_ahead();
        Ok(())
    }

    /// Draws the numbers of one more step of every run.
    fn draw_ahead(&mut self) {
        let (batch, block) = (self.memory.sizes.batch, DRAWS as u64);
        let area: &mut [f64] = bytemuck::cast_slice_mut(self.uploads.area(self.drawn / block));
        let first = (self.drawn % block) as usize * batch;
        for (sampler, draws) in self.samplers.iter_mut().zip(area.chunks_exact_mut(batch * DRAWS)) {
            draws[first..][..batch].iter_mut().for_each(|draw| *draw = sampler.random());
        }
        self.drawn += 1;
    }

    fn capture(&mut self) -> Result<Graphs> {
        let device = self.device.clone();
        let learning = self.configs[0].learning.clone();
        if learning.final_rate == 1.0 {
            let whole = record(&device, || {
                self.run_until_loss()?;
                self.engine.learn(&mut self.pass, self.memory.here(), &learning.adam, learning.clip)?;
                self.run_after_step()
            })?;
            return Ok(Graphs::Whole(whole));
        }
        let before = record(&device, || self.run_until_loss())?;
        let after = record(&device, || self.run_after_step())?;
        Ok(Graphs::Around { before, after })
    }

    fn run_until_loss(&mut self) -> Result<()> {
        let (arguments, device) = (self.arguments(), &self.device);
        let (runs, batch, views) = {
            let sizes = &self.memory.sizes;
            (sizes.runs, sizes.batch, sizes.views)
        };
        launch(device, &self.kernels.sample, (self.memory.sizes.sample_blocks(), runs), 256, &arguments)?;
        let (here, next) = (self.memory.here(), self.memory.next());
        let view = |which, input| View { which, input };
        let networks = match self.configs[0].agent {
            AgentKind::Adfq => {
                [view(Which::Online, here), view(Which::Target, here), view(Which::Target, next)]
            }
            AgentKind::Dqn | AgentKind::Ddqn => {
                [view(Which::Online, here), view(Which::Target, next), view(Which::Online, next)]
            }
        };
        self.engine.forward(&mut self.pass, &networks[..views])?;
        launch(device, &self.kernels.teach, (batch.div_ceil(4), runs), 128, &arguments)
    }

    fn run_after_step(&mut self) -> Result<()> {
        launch(&self.device, &self.kernels.finish, (1, self.memory.sizes.runs), 128, &self.arguments())?;
        if let TargetUpdate::Soft(tau) = self.configs[0].learning.target {
            self.engine.update_target(tau)?;
        }
        Ok(())
    }
}

impl Drop for Fleet {
    /// The device reads and writes memory of the host that is about to go.
    fn drop(&mut self) {
        // A device that failed does neither any more.
        let _ = self.device.synchronise();
    }
}

/// Captures work of this crate.
fn record(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
    let mut done = Ok(());
    let graph = device.capture(|| {
        done = work();
        Ok(())
    });
    done?;
    Ok(graph?)
}

/// Whether these runs can share a fleet; the error names the setting in which they differ.
fn check(configs: &[Config]) -> Result<()> {
    let same =
        |name, fits: &dyn Fn(&Config, &Config) -> bool| match configs.iter().all(|c| fits(c, &configs[0])) {
            true => Ok(()),
            false => Err(Error::Setting { name, must: "the same in all runs that share a GPU's launches" }),
        };
    if configs.is_empty() {
        return Err(Error::Setting { name: "seeds", must: "at least 1" });
    }
    configs.iter().try_for_each(Config::check)?;
    same("envs", &|a, b| a.envs == b.envs)?;
    same("agent", &|a, b| a.agent.groups() == b.agent.groups())?;
    same("network", &|a, b| {
        (&a.network.layers, a.network.dueling) == (&b.network.layers, b.network.dueling)
    })?;
    same("replay.capacity", &|a, b| a.replay.capacity == b.replay.capacity)?;
    same("replay.priority", &|a, b| a.replay.priority.is_some() == b.replay.priority.is_some())?;
    same("learning.batch", &|a, b| a.learning.batch == b.learning.batch)?;
    same("learning.target", &|a, b| a.learning.target == b.learning.target)?;
    same("learning.clip", &|a, b| a.learning.clip == b.learning.clip)?;
    same("learning.adam", &|a, b| {
        let of = |c: &Config| (c.learning.adam, c.learning.final_rate, c.learning.decay);
        of(a) == of(b) && (a.learning.final_rate == 1.0 || a.steps == b.steps)
    })
}
