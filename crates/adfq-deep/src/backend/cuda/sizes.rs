//! The sizes that all runs share, whether they do, and the text of the kernels written for them.

use crate::algorithm::{CudaLoss, Keeps, Passes};
use crate::learner::Learner;
use crate::{Config, Error, Result};
use adfq_env::{Element, Space};
use adfq_nn::AdamSettings;
use std::fmt::Write;

/// Gradient steps for which random numbers are uploaded at once.
pub(super) const DRAWS: usize = 64;
/// Rows of metrics that the host may be behind.
pub(super) const RING: usize = 1024;
/// Words of a row of metrics, and of what comes before the first.
pub(super) const ROW_WORDS: usize = 12;

/// Bytes of a batch's observations up to which one block puts all of them together, or a few where runs are few.
const FEW: usize = 1 << 16;
const BLOCKS: usize = 4;
const FEW_RUNS: usize = 32;

/// Bytes of shared memory that a block may have on any GPU. `absorb` has a run's pack in it.
const SHARED: usize = 48 << 10;

const BEFORE: [&str; 4] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/tree.cu"),
    include_str!("kernels/replay.cu"),
    include_str!("kernels/analytic.cu"),
];
/// The rules other than the analytic one are long, and take seconds to compile.
const EXACT: &str = include_str!("kernels/exact.cu");
const ANY_RULE: &str = "ANY_RULE";
/// For algorithms that keep visits.
const VISITS: &str = include_str!("kernels/visits.cu");
const LOSS: [&str; 2] = [include_str!("kernels/posterior.cu"), include_str!("kernels/loss.cu")];
const AFTER: [&str; 4] = [
    include_str!("kernels/teach.cu"),
    include_str!("kernels/batch.cu"),
    include_str!("kernels/finish.cu"),
    include_str!("kernels/acting.cu"),
];

/// Sizes, as `kernels/common.cu` names them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes {
    pub runs: usize,
    pub envs: usize,
    pub slots: usize,
    pub frame_bytes: usize,
    pub elements: usize,
    pub inner: usize,
    pub stack: usize,
    pub floats: bool,
    pub batch: usize,
    pub actions: usize,
    pub outputs: usize,
    pub views: usize,
    pub prioritised: bool,
    /// The passes there are.
    pub passes: Passes,
    /// Whether there are those of a fixed network, on s and on s'.
    pub fixed: bool,
    /// Random features of an observation; 0 where no algorithm has them.
    pub features: usize,
    /// What a byte of an observation is multiplied with.
    pub scale: f32,
    /// Names and texts of the losses, each once.
    pub losses: Vec<(&'static str, &'static str)>,
    /// Parts of the kernels that are needed.
    pub defines: Vec<&'static str>,
    pub powers: usize,
    /// Leaves that may change in one commit.
    pub changes: usize,
}

impl Sizes {
    /// The sizes of these runs, whose networks give so many outputs. Without losses these are computed on the host.
    pub fn new(
        configs: &[Config],
        space: &Space,
        outputs: usize,
        passes: Passes,
        losses: &[CudaLoss],
        keeps: Keeps,
    ) -> Result<Self> {
        let config = &configs[0];
        let fixed = matches!(keeps, Keeps::Network(_));
        let n_step = configs.iter().map(|config| config.replay.n_step).max().unwrap_or(1);
        let Passes { target, target_next, online_next } = passes;
        let mut texts: Vec<_> = losses.iter().map(|loss| (loss.name, loss.source)).collect();
        texts.sort_unstable();
        texts.dedup();
        let sizes = Self {
            runs: configs.len(),
            envs: config.envs,
            slots: config.replay.capacity / config.envs,
            frame_bytes: space.frame_bytes(),
            elements: space.frame_len(),
            inner: space.frame.last().copied().unwrap_or(1),
            stack: space.stack,
            floats: space.element == Element::F32,
            batch: config.learning.batch,
            actions: space.actions,
            outputs,
            views: 1 + [target, target_next, online_next, fixed, fixed]
                .iter()
                .filter(|&&wanted| wanted)
                .count(),
            prioritised: config.replay.priority.is_some(),
            passes,
            fixed,
            features: if let Keeps::Visits(visits) = keeps { visits.features } else { 0 },
            scale: if let Element::U8 { scale } = space.element { scale } else { 1.0 },
            losses: texts,
            defines: losses.iter().flat_map(|loss| loss.defines).copied().collect(),
            powers: n_step + 1,
            changes: config.envs * 2 * (2 * space.stack + 3 * n_step + 4),
        };
        let setting = |name, must| Err(Error::Setting { name, must });
        if sizes.actions > 32 {
            return setting("env", "a game of at most 32 actions on a GPU");
        }
        if sizes.batch > 1024 {
            return setting("learning.batch", "at most 1024 on a GPU");
        }
        if 4 * sizes.pack_words() > SHARED {
            return setting("envs", "fewer on a GPU");
        }
        if sizes.places() > i32::MAX as usize {
            return setting("replay.capacity", "below 2^31 on a GPU");
        }
        Ok(sizes)
    }

    /// For updates alone: a memory of nothing.
    pub fn of_batch() -> Self {
        Self {
            runs: 1,
            envs: 1,
            slots: 16,
            frame_bytes: 1,
            elements: 1,
            inner: 1,
            stack: 1,
            floats: false,
            batch: 1,
            actions: 1,
            outputs: 2,
            views: 1,
            prioritised: true,
            passes: Passes::default(),
            fixed: false,
            features: 0,
            scale: 1.0,
            losses: vec![],
            defines: vec![ANY_RULE],
            powers: 2,
            changes: 16,
        }
    }

    /// The number under which a loss is called.
    pub fn number_of(&self, loss: &CudaLoss) -> usize {
        self.losses.iter().position(|&(name, _)| name == loss.name).unwrap_or(0)
    }

    /// The passes with their numbers, as kernels name them, in the order in which they are computed.
    fn pass_names(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let Passes { target, target_next, online_next } = self.passes;
        let passes = [
            (true, "PASS_ONLINE"),
            (target, "PASS_TARGET"),
            (target_next, "PASS_TARGET_NEXT"),
            (online_next, "PASS_ONLINE_NEXT"),
            (self.fixed, "PASS_FIXED"),
            (self.fixed, "PASS_FIXED_NEXT"),
        ];
        passes.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).enumerate()
    }

    /// Slots of a run.
    pub fn places(&self) -> usize {
        self.envs * self.slots
    }

    /// Numbers of an observation.
    pub fn observation(&self) -> usize {
        self.elements * self.stack
    }

    pub fn leaf_blocks(&self) -> usize {
        self.places().div_ceil(16)
    }

    /// Where each level of the tree starts, and the end.
    fn levels(&self) -> Vec<usize> {
        let (mut starts, mut below) = (vec![0], self.leaf_blocks());
        while starts.len() == 1 || below > 1 {
            below = below.div_ceil(16);
            starts.push(starts[starts.len() - 1] + below);
        }
        starts
    }

    /// Nodes of a tree.
    pub fn nodes(&self) -> usize {
        self.levels().last().copied().unwrap_or(0)
    }

    /// Transitions that one block of `sample` puts together, or the blocks that share one: as many as a large GPU keeps
    /// busy. No number depends on them.
    fn rows_and_split(&self) -> (usize, usize) {
        let bytes = 2 * self.observation() * if self.floats { 4 } else { 1 };
        match self.batch * bytes <= FEW {
            true if self.runs <= FEW_RUNS => (self.batch.div_ceil(BLOCKS), 1),
            true => (self.batch, 1),
            false => (1, (256 / (self.batch * self.runs)).clamp(1, 8)),
        }
    }

    /// Blocks of `sample` for each run.
    pub fn sample_blocks(&self) -> usize {
        let (rows, split) = self.rows_and_split();
        self.batch.div_ceil(rows) * split
    }

    /// Words of a run in a pack, see `absorb`.
    pub fn pack_words(&self) -> usize {
        (6 * self.envs + 2 + self.changes).next_multiple_of(4)
    }

    /// Bytes of a frame in a pack.
    pub fn padded_frame(&self) -> usize {
        self.frame_bytes.next_multiple_of(16)
    }

    /// Bytes of the final frames that a pack may have.
    pub fn finals_bytes(&self) -> usize {
        self.runs * self.envs * self.padded_frame()
    }

    /// Bytes of a pack without them.
    pub fn pack_bytes(&self) -> usize {
        self.runs * 4 * self.pack_words() + self.finals_bytes()
    }

    /// The text of the kernels.
    pub fn source(&self) -> String {
        let mut levels = self.levels();
        let nodes = levels.pop().unwrap_or(0);
        let starts: Vec<_> = levels.iter().map(usize::to_string).collect();
        let mut text = String::new();
        for (name, size) in [
            ("PLACES", self.places()),
            ("SLOTS", self.slots),
            ("ENVS", self.envs),
            ("FRAME_BYTES", self.frame_bytes),
            ("ELEMENTS", self.elements),
            ("INNER", self.inner),
            ("STACK", self.stack),
            ("BATCH", self.batch),
            ("ACTIONS", self.actions),
            ("OUTPUTS", self.outputs),
            ("LEVELS", levels.len()),
            ("LEAF_BLOCKS", self.leaf_blocks()),
            ("NODES", nodes),
            ("PRIORITISED", usize::from(self.prioritised)),
            ("ROWS", self.rows_and_split().0),
            ("SPLIT", self.rows_and_split().1),
            ("POWERS", self.powers),
            ("DRAWS", DRAWS),
            ("RING", RING),
            ("ROW_WORDS", ROW_WORDS),
            ("FEATURES", self.features),
            ("SCALE_BITS", self.scale.to_bits() as usize),
            ("PACK_WORDS", self.pack_words()),
        ] {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "#define {name} {size}");
        }
        let element = if self.floats { "float" } else { "unsigned char" };
        let _ = writeln!(text, "#define LEVEL_STARTS {{{}}}\n#define ELEMENT {element}", starts.join(", "));
        for (number, name) in self.pass_names() {
            let _ = writeln!(text, "#define {name} {number}");
        }
        let any_rule = self.defines.contains(&ANY_RULE);
        let _ = writeln!(text, "#define {ANY_RULE} {}", u8::from(any_rule));
        let cases: String = self
            .losses
            .iter()
            .enumerate()
            .map(|(number, (name, _))| format!("case {number}: answer = loss_{name}(at); break; "))
            .collect();
        let _ = writeln!(text, "#define LOSSES {cases}");
        let losses = self.losses.iter().map(|(_, source)| source);
        let exact = any_rule.then_some(&EXACT);
        let visits = (self.features > 0).then_some(&VISITS);
        for part in BEFORE.iter().chain(exact).chain(&LOSS).chain(visits).chain(losses).chain(&AFTER) {
            text.push_str(part);
        }
        text
    }
}

/// Whether these runs can share launches; the error names the setting in which they differ.
pub(super) fn check(configs: &[Config], learners: &[&Learner]) -> Result<()> {
    let same =
        |name, fits: &dyn Fn(&Config, &Config) -> bool| match configs.iter().all(|c| fits(c, &configs[0])) {
            true => Ok(()),
            false => Err(Error::Setting { name, must: "the same in all runs that share a GPU's launches" }),
        };
    if configs.is_empty() {
        return Err(Error::Setting { name: "runs", must: "at least one" });
    }
    if learners.iter().any(|learner| learner.network().spec() != learners[0].network().spec()) {
        return Err(Error::Setting {
            name: "agent or network",
            must: "of the same shape in all runs that share a GPU's launches",
        });
    }
    let shape = |learner: &Learner| learner.algorithm.keeps().shape();
    if learners.iter().any(|learner| shape(learner) != shape(learners[0])) {
        return Err(Error::Setting {
            name: "agent",
            must: "one that keeps the same on the device in all runs that share a GPU's launches",
        });
    }
    same("envs", &|a, b| a.envs == b.envs)?;
    same("replay.capacity", &|a, b| a.replay.capacity == b.replay.capacity)?;
    same("replay.priority", &|a, b| a.replay.priority.is_some() == b.replay.priority.is_some())?;
    same("learning.batch", &|a, b| a.learning.batch == b.learning.batch)?;
    same("learning.target", &|a, b| a.learning.target == b.learning.target)?;
    same("learning.clip", &|a, b| a.learning.clip == b.learning.clip)?;
    same("learning.adam", &|a, b| {
        // Rates are each run's own.
        let of = |c: &Config| AdamSettings { rate: 1.0, ..c.learning.adam };
        of(a) == of(b)
    })
}
