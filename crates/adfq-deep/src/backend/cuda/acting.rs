//! From what environments show to a network's outputs: observations go up, one launch for all, outputs come down. Of stacked
//! observations that were there before, only the newest frames go up.

use super::learners::Learners;
use super::raw::{Pinned, launch};
use super::step::record;
use super::transfer::wait_until;
use super::visits::{Looked, Places};
use crate::Result;
use crate::algorithm::Visits;
use adfq_env::Element;
use adfq_nn::cuda::{Buffer, Device, Graph, Input, Pass, Scalar, View, Which};

/// Forward passes of what the host sees, some observations for each run: a graph with the copies to and fro, captured at
/// the first; one for whole observations, and one for their newest frames.
pub struct Acting {
    pass: Pass,
    input: Staged,
    observations: Pinned,
    outputs: Pinned,
    newest: Newest,
    visits: Option<Visited>,
    passes: Passes,
    /// Observations of each run.
    rows: usize,
    /// Bytes of one observation, outputs for it, and actions.
    row: usize,
    width: usize,
    actions: usize,
    whole: Option<Graph>,
    turned: Option<Graph>,
}

/// How many passes were started, and how many of them are done. The device counts those in memory of the host, so that to look takes
/// no call of the driver: calls of several threads wait for each other.
struct Passes {
    device: Device,
    started: u32,
    done: Buffer<u32>,
    told: Pinned,
}

impl Passes {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            started: 0,
            done: Buffer::zeros(device, 1)?,
            told: Pinned::new(4)?,
        })
    }

    fn put_tell(&self, learners: &Learners) -> Result<()> {
        let arguments = [self.done.address(), self.told.address()].map(Scalar::Address);
        launch(&self.device, &learners.kernels.tell, (1, 1), 1, &arguments)
    }

    /// Waits for all that were started.
    fn wait(&self) -> Result<()> {
        wait_until(&self.device, || self.told.word(0) == Some(self.started))
    }
}

/// The newest frame of each observation, and whether an episode has begun with it: on the host, and on the device.
struct Newest {
    frames: Pinned,
    began: Pinned,
    frames_there: Buffer<u8>,
    began_there: Buffer<u32>,
}

impl Newest {
    fn new(learners: &Learners, rows: usize) -> Result<Self> {
        let (device, sizes) = (learners.engine().device(), &learners.memory.sizes);
        let (count, bytes) = (sizes.runs * rows, sizes.runs * rows * sizes.padded_frame());
        Ok(Self {
            frames: Pinned::new(bytes)?,
            began: Pinned::new(4 * count)?,
            frames_there: Buffer::zeros(device, bytes)?,
            began_there: Buffer::zeros(device, count)?,
        })
    }
}

enum Staged {
    Bytes(Buffer<u8>),
    Floats(Buffer<f32>),
}

impl Staged {
    fn input(&self) -> Input<'_> {
        match self {
            Self::Bytes(buffer) => Input::Bytes(buffer),
            Self::Floats(buffer) => Input::Floats(buffer),
        }
    }
}

/// What was found of the observations where algorithms keep visits, and the same on the host.
struct Visited {
    found: Looked,
    left: Pinned,
    counts: Pinned,
}

impl Visited {
    fn new(learners: &Learners, places: &Places, rows: usize) -> Result<Self> {
        let found = places.room(&learners.memory.sizes, rows)?;
        let (left, counts) = (Pinned::new(8 * found.left.len())?, Pinned::new(8 * places.counts.len())?);
        Ok(Self { found, left, counts })
    }
}

/// What came down, by observation.
pub struct Found<'a> {
    outputs: &'a [f32],
    /// Outputs of the fixed network, if there is one.
    fixed: &'a [f32],
    left: &'a [f64],
    counts: &'a [f64],
    rows: usize,
    width: usize,
    actions: usize,
}

impl Found<'_> {
    /// The outputs for an observation, counted over all runs.
    pub fn row(&self, number: usize) -> &[f32] {
        &self.outputs[number * self.width..][..self.width]
    }

    /// Adds what was found of it beside, as [`State::beside`](crate::algorithm::State::beside) has it.
    pub fn beside(&self, number: usize, out: &mut Vec<f64>) {
        if !self.fixed.is_empty() {
            out.extend(
                self.fixed[number * self.width..][..self.width].iter().map(|&output| f64::from(output)),
            );
        }
        if !self.left.is_empty() {
            let run = number / self.rows;
            out.extend_from_slice(&self.counts[run * Visits::COUNTS..][..Visits::COUNTS]);
            out.extend_from_slice(&self.left[number * self.actions..][..self.actions]);
        }
    }
}

impl Acting {
    /// Room for `rows` observations of each run.
    pub fn new(learners: &Learners, rows: usize) -> Result<Self> {
        let (engine, space, sizes) = (learners.engine(), &learners.space, &learners.memory.sizes);
        let (device, numbers) = (engine.device(), sizes.runs * rows * space.observation_len());
        let input = match space.element {
            Element::U8 { .. } => Staged::Bytes(Buffer::zeros(device, numbers)?),
            Element::F32 => Staged::Floats(Buffer::zeros(device, numbers)?),
        };
        // A grid has no more blocks along its second axis.
        let newest =
            Newest::new(learners, if sizes.stack > 1 && sizes.runs * rows < 1 << 16 { rows } else { 0 })?;
        let pass = engine.pass(if sizes.fixed { 2 } else { 1 }, rows)?;
        let row = space.observation_len() * space.element.bytes();
        let visits =
            learners.places.as_ref().map(|places| Visited::new(learners, places, rows)).transpose()?;
        Ok(Self {
            observations: Pinned::new(sizes.runs * rows * row)?,
            outputs: Pinned::new(4 * pass.outputs().len())?,
            width: sizes.outputs,
            actions: sizes.actions,
            whole: None,
            turned: None,
            passes: Passes::new(device)?,
            newest,
            pass,
            input,
            visits,
            rows,
            row,
        })
    }

    /// Where the observations go, in page-locked memory: those of the first run, of the second, and so on, each with its
    /// frames stacked and its numbers as they are in memory.
    pub fn rows(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.observations.bytes().chunks_exact_mut(self.row)
    }

    /// All of them, one after the other.
    pub(super) fn observations(&mut self) -> &mut [u8] {
        self.observations.bytes()
    }

    /// What is found of what was written to [`rows`](Self::rows), in the same order. Waits for it.
    pub fn forward(&mut self, learners: &Learners) -> Result<Found<'_>> {
        self.start(learners)?;
        self.found()
    }

    /// The same without waiting: [`found`](Self::found) does.
    pub(super) fn start(&mut self, learners: &Learners) -> Result<()> {
        if self.whole.is_none() {
            self.whole = Some(record(learners.engine().device(), || self.put_whole(learners))?);
        }
        self.launch(|acting| &acting.whole)
    }

    /// The newest frame of each observation, padded to a multiple of 16 bytes, and whether an episode has begun with it (1) or
    /// goes on (0): in page-locked memory, in the order of [`rows`](Self::rows). Both are empty where frames are not stacked.
    pub fn newest(&mut self) -> (&mut [u8], &mut [u32]) {
        (self.newest.frames.bytes(), self.newest.began.numbers())
    }

    /// The same as [`forward`](Self::forward) for observations that are one step on: what was written to
    /// [`newest`](Self::newest) follows what was there before.
    pub fn forward_newest(&mut self, learners: &Learners) -> Result<Found<'_>> {
        self.start_newest(learners)?;
        self.found()
    }

    /// The same without waiting.
    pub(super) fn start_newest(&mut self, learners: &Learners) -> Result<()> {
        if self.turned.is_none() {
            self.turned = Some(record(learners.engine().device(), || self.put_newest(learners))?);
        }
        self.launch(|acting| &acting.turned)
    }

    fn launch(&mut self, graph: fn(&Self) -> &Option<Graph>) -> Result<()> {
        if let Some(graph) = graph(self) {
            graph.launch()?;
            self.passes.started = self.passes.started.wrapping_add(1);
        }
        Ok(())
    }

    /// What has come down. Waits for it, and not for what was put on the stream since.
    pub(super) fn found(&mut self) -> Result<Found<'_>> {
        self.passes.wait()?;
        let outputs: &[f32] = self.outputs.numbers();
        let (outputs, fixed) = outputs.split_at(outputs.len() / self.pass.views());
        let (left, counts): (&[f64], &[f64]) = match &mut self.visits {
            Some(Visited { left, counts, .. }) => (left.numbers(), counts.numbers()),
            None => (&[], &[]),
        };
        let (rows, width, actions) = (self.rows, self.width, self.actions);
        Ok(Found { outputs, fixed, left, counts, rows, width, actions })
    }

    /// Notes that these actions were taken on seeing what went up last, one for each observation.
    pub fn acted(&self, learners: &mut Learners, actions: &[u32]) -> Result<()> {
        self.visits.as_ref().map_or(Ok(()), |visits| learners.visit(&visits.found, actions))
    }

    fn put_whole(&mut self, learners: &Learners) -> Result<()> {
        let observations = self.observations.bytes();
        match &mut self.input {
            Staged::Bytes(buffer) => buffer.upload(observations)?,
            Staged::Floats(buffer) => buffer.upload(bytemuck::cast_slice(observations))?,
        }
        self.put_passes(learners)
    }

    fn put_newest(&mut self, learners: &Learners) -> Result<()> {
        let (newest, sizes) = (&mut self.newest, &learners.memory.sizes);
        newest.frames_there.upload(newest.frames.bytes())?;
        newest.began_there.upload(newest.began.numbers())?;
        let seen = match &self.input {
            Staged::Bytes(buffer) => buffer.address(),
            Staged::Floats(buffer) => buffer.address(),
        };
        let arguments = [newest.frames_there.address(), newest.began_there.address(), seen];
        let blocks = (sizes.elements / sizes.inner).div_ceil(256);
        let (device, grid) = (learners.engine().device(), (blocks, newest.began_there.len()));
        launch(device, &learners.kernels.turn, grid, 256, &arguments.map(Scalar::Address))?;
        self.put_passes(learners)
    }

    fn put_passes(&mut self, learners: &Learners) -> Result<()> {
        let engine = learners.engine();
        let input = self.input.input();
        let views = [Which::Online, Which::Fixed].map(|which| View { which, input });
        let count = self.pass.views();
        engine.forward(&mut self.pass, &views[..count])?;
        self.outputs.receive(self.pass.outputs())?;
        if let (Some(places), Some(Visited { found, left, counts })) = (&learners.places, &mut self.visits) {
            places.look(input, found)?;
            left.receive(&found.left)?;
            counts.receive(&places.counts)?;
        }
        self.passes.put_tell(learners)
    }
}
