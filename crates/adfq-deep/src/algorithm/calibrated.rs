//! Calibrated Q-learning: the mean of Double DQN, a variance that is learned from errors and held against the agent's own
//! returns, and a table where states come again (docs/calibrated.md).
//!
//! The network's row for a state is μ, then ρ = -log √c, each for all actions. With b = argmax μ(s′,·) by the online network:
//!
//! ```text
//! y      = r + γ μ′(s′,b)                              the target of Double DQN
//! μ(s,a) → μ′(s,a) + g (y - μ′(s,a))                   y itself with the gain g = 1, half way with ADFQ's
//! c(s,a) → (μ(s,a) - y)² + γ² c′(s′,b)                 errors add up along the policy, in the logarithm
//! Q̂(s,a) = μ(s,a) - what is known to be too much       (`calibration.rs`)
//! v      = ē(μ, c)²                                    errors against own returns where μ and c were alike (`local_error.rs`)
//! σ²     = κ v                                         so that ±2σ hold 95 % of them (`calibration.rs`)
//! ```
//!
//! The network learns in a unit of rewards (`unit.rs`); what is believed is in rewards as they came.
//!
//! What was never met is not known, whatever the rest is worth. With the mean m and the variance S² of the values found, and w from 0
//! for what was met to 1 for what is like nothing that was (`novelty.rs`), w (S² + (μ - m)²) is added to σ².
//!
//! Where states come again, the table of [`EpisodicMemory`] stands beside the network: its Q is believed where it has been
//! no worse against returns, or promises clearly more. There σ = √κ S D with its doubt D and the spread S of values.
//!
//! An episode either follows the means or explores. Where states come again, exploring is to follow the doubt. Elsewhere it is
//! εz-greedy (Dabney et al. 2021): random actions, each repeated for a while.

mod settings;
#[cfg(test)]
mod tests;

pub use settings::CalibratedSettings;

use super::calibration::{Calibration, Held};
use super::episodic::{Episode, EpisodicMemory, LONGEST, Passed};
use super::exploration::{Mode, Repeated, Successes};
use super::novelty::Novelty;
use super::others::Others;
use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, Readout,
    Received, State, Sums, Unseen, bounds, largest,
};
use crate::{Config, Error, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::Space;
use adfq_nn::Output;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::iter::repeat;

/// The algorithm's name, and that of the table with its settings.
const NAME: &str = "calibrated";
/// How a checkpoint is to be read. Before there was this number, states were known by another hash.
const VERSION: u8 = 3;
/// The version that took all actions for as good as the best.
const ALIKE: u8 = 2;
/// The version that did not know whether episodes terminate, and at first not how long they had lasted.
const BEFORE: u8 = 1;
/// Outputs of the network for each action.
const OUTPUTS: usize = 2;
/// Steps over which the spread of values is averaged.
const MEMORY: f64 = 10_000.0;
/// Steps over which σ is averaged for the metrics.
const LATELY: f64 = 1_000.0;
/// The variance of a value is at most so many times that of all values.
const WIDEST: f32 = 4.0;
/// The least σ, as a share of the spread of values.
const LEAST: f32 = 1e-3;
/// Observations of more numbers, which are images, are not remembered.
const LARGEST: usize = 10_000;
/// The least ε of an episode that explores.
const DITHER: f64 = 0.05;
/// What the share of such episodes is multiplied with at least, where states do not come again.
const SELDOM: f64 = 0.2;

/// Steps after which it is decided anew what an episode is for, where states do not come again. Where they do, it is the longest piece
/// that the table learns from. An environment need not have an end, and who follows the means in a circle would never leave it.
const ANEW: u64 = 10_000;

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new(NAME, "Double DQN with beliefs that are held against its own returns", |config, space| {
        Ok(Box::new(Calibrated::new(config, space)?))
    })
    .policies(&["doubt", "thompson", "epsilon"])
    .general(settings::general)
    .settings::<CalibratedSettings>(CalibratedSettings::check)
    .demands(|config, space| {
        let settings: CalibratedSettings = config.own(NAME)?;
        let novelty = remembered(space).map_or(0, Novelty::bytes_needed);
        let bytes = EpisodicMemory::bytes_needed(settings.pairs) + novelty;
        Ok(Demand { outputs: OUTPUTS, bytes, less: "fewer calibrated.pairs", ..Demand::default() })
    })
}

/// An environment of the training: the episode under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Under {
    mode: Mode,
    /// Whether the environment has paid in it.
    succeeded: bool,
    /// The sum of its rewards.
    total: f64,
    repeated: Repeated,
    passed: Vec<Passed>,
    held: Vec<Held>,
}

/// What was believed in the last state of an environment.
#[derive(Clone, Debug, Default)]
struct Last {
    state: u64,
    beliefs: Vec<Held>,
}

/// All that a checkpoint holds of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    rng: ChaCha8Rng,
    memory: Option<EpisodicMemory>,
    novelty: Option<Novelty>,
    calibration: Calibration,
    spread: Spread,
    successes: Successes,
    under: Vec<Under>,
}

/// How episodes go. A checkpoint holds it behind all else, because older ones do not have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Course {
    /// Steps of each environment since it was decided what its episode is for.
    lasted: Vec<u64>,
    /// Whether any episode has terminated.
    ends: bool,
}

impl Course {
    fn new(envs: usize) -> Self {
        Self { lasted: vec![0; envs], ends: false }
    }
}

/// Mean and mean square of the values of actions that were taken, and their mean σ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Spread {
    steps: u64,
    mean: f64,
    square: f64,
    sd: f64,
}

impl Spread {
    fn see(&mut self, value: f32, sd: f32) {
        self.steps += 1;
        let (rate, value) = (1.0 / (self.steps as f64).min(MEMORY), f64::from(value));
        self.mean += rate * (value - self.mean);
        self.square += rate * (value * value - self.square);
        let rate = 1.0 / (self.steps as f64).min(LATELY);
        self.sd += rate * (f64::from(sd) - self.sd);
    }

    /// S², the variance of values.
    fn var(&self) -> f32 {
        (self.square - self.mean.powi(2)).max(0.0) as f32
    }
}

/// The size of an observation, where observations are remembered.
fn remembered(space: &Space) -> Option<usize> {
    Some(space.observation_len()).filter(|size| *size <= LARGEST)
}

/// c from ρ, and at most `widest`.
fn var(rho: f32, widest: f32) -> f32 {
    (-2.0 * rho).clamp(-60.0, 60.0).exp().min(widest).max(f32::MIN_POSITIVE)
}

/// What a mean is moved to: the target, or a part of the way to it from the target network's own value of the pair.
fn goal(gain: f32, target: f32, prior: impl Fn() -> f32) -> f32 {
    if gain < 1.0 { prior() + gain * (target - prior()) } else { target }
}

/// The largest c that a batch teaches: a multiple of the variance of its own values. So c is soon of the right size, whatever the
/// scale of rewards.
fn widest(batch: &Batch, online: &[f32]) -> f32 {
    let value = |i: usize| f64::from(online[i * OUTPUTS * batch.actions + batch.action[i] as usize]);
    let mean_of =
        |of: &dyn Fn(f64) -> f64| (0..batch.len()).map(|i| of(value(i))).sum::<f64>() / batch.len() as f64;
    let (mean, square) = (mean_of(&|value| value), mean_of(&|value| value * value));
    WIDEST * (square - mean * mean).max(0.0) as f32
}

struct Calibrated {
    config: Config,
    settings: CalibratedSettings,
    actions: usize,
    kept: Kept,
    course: Course,
    others: Others,
    last: Vec<Last>,
}

impl Calibrated {
    fn new(config: &Config, space: &Space) -> Result<Self> {
        let settings: CalibratedSettings = config.own(NAME)?;
        let novelty = remembered(space).map(|size| Novelty::new(size, space.frame.len() == 3));
        let remembers = settings.pairs > 0 && novelty.is_some();
        let (discount, doubt_discount) = (config.learning.discount, settings.doubt_discount as f32);
        let memory =
            remembers.then(|| EpisodicMemory::new(settings.pairs, space.actions, discount, doubt_discount));
        let kept = Kept {
            rng: stream(config.seed, "modes"),
            calibration: Calibration::default(),
            spread: Spread::default(),
            successes: Successes::default(),
            under: vec![Under::default(); config.envs],
            memory,
            novelty,
        };
        let (course, others) = (Course::new(config.envs), Others::new(config.envs));
        let last = vec![Last::default(); config.envs];
        Ok(Self { config: config.clone(), actions: space.actions, settings, kept, course, others, last })
    }

    /// What the variance that is expected is multiplied with: κ, and a share for the actions that are not the best.
    fn ratio(&self) -> f32 {
        self.kept.calibration.ratio() + self.others.ratio(self.actions)
    }

    /// σ, calibrated, and no more than the largest errors that were seen. Sums of numbers with 24 bits are not known better than to a
    /// share of their spread.
    fn sd(&self, var: f32) -> f32 {
        let least = LEAST * self.kept.spread.var().sqrt();
        self.kept.calibration.sd(var, self.others.ratio(self.actions), self.others.worst()).max(least)
    }

    /// w of each action: whether the state, or the pair where there is a table, is like nothing that was met.
    fn unseen(&self, observation: &[f32], state: u64, leads: bool) -> Vec<f32> {
        let strange = || self.kept.novelty.as_ref().map_or(0.0, |novelty| novelty.weight(observation));
        let Some(table) = self.table().filter(|_| leads) else { return vec![strange(); self.actions] };
        let weight = |action| match table.was_tried(state, action) {
            Some(tried) => f32::from(u8::from(!tried)),
            None => strange(),
        };
        (0..self.actions).map(weight).collect()
    }

    /// σ with what is added where nothing was met.
    fn doubted(&self, belief: &Held, unseen: f32) -> f32 {
        let Spread { mean, .. } = self.kept.spread;
        let prior = self.kept.spread.var() + (belief.mean() - mean as f32).powi(2);
        self.sd(belief.var).hypot((unseen * prior).sqrt())
    }

    /// The table, where states come again.
    fn table(&self) -> Option<&EpisodicMemory> {
        self.kept.memory.as_ref().filter(|memory| memory.repeats())
    }

    /// Whether the table is believed in a state.
    fn table_leads(&self, state: u64, row: &[f32]) -> bool {
        let by_network = || largest(&row[..self.actions]).0;
        self.table()
            .is_some_and(|table| self.kept.calibration.prefers_table(|| table.promise(state, by_network())))
    }

    /// What is believed of each action, before calibration, where the table leads or where it does not.
    fn believe(&self, state: u64, row: &[f32], unit: f32, leads: bool) -> Vec<Held> {
        let table = self.table();
        let best = table.and_then(|table| table.best(state));
        let (widest, off) = (WIDEST * self.kept.spread.var(), self.kept.calibration.off());
        let square = unit * unit;
        let belief = |action: usize| {
            let own = square * var(row[self.actions + action], widest / square);
            let network = unit * row[action];
            let var = self.kept.calibration.expected(network, own);
            let Some((table, best)) = table.zip(best) else {
                return Held { means: [network; 2], off, believed: 0, own, var, reward: 0.0 };
            };
            // A pair that was never tried is no reason to leave those that were: that is what exploration is for.
            let value = table.value(state, action).unwrap_or(network.min(best));
            let believed = usize::from(leads);
            let doubt = table.doubt(state, action);
            let var = [var, self.kept.spread.var() * doubt * doubt][believed];
            Held { means: [network, value], off, believed, own, var, reward: 0.0 }
        };
        (0..self.actions).map(belief).collect()
    }

    /// Steps after which an episode that goes on is taken for another one.
    fn longest(&self) -> u64 {
        if self.table().is_some() { LONGEST as u64 } else { ANEW }
    }

    /// Whether an episode that follows the means has come back to where it was and is poorer for it. The means know no way from there.
    fn goes_in_a_circle(&self, env: usize, state: u64) -> bool {
        let Under { mode, passed, .. } = &self.kept.under[env];
        if *mode != Mode::Greedy || self.table().is_none() {
            return false;
        }
        let decided = passed.len().saturating_sub(self.course.lasted[env] as usize);
        let mut paid = 0.0;
        passed[decided..].iter().rev().any(|step| {
            paid += step.reward;
            step.state == state && paid < 0.0
        })
    }

    /// Decides at the first state of an episode what it is for, and anew after each circle.
    fn mode(&mut self, env: usize, state: u64) -> Mode {
        if self.goes_in_a_circle(env, state) {
            self.kept.under[env].mode = Mode::Undecided;
            self.course.lasted[env] = 0;
        }
        if self.kept.under[env].mode == Mode::Undecided {
            // In a world without end there is no episode that succeeds or fails.
            let endless = self.table().is_some() && !self.course.ends;
            let left = if endless { 1.0 } else { self.kept.successes.left() };
            // A known world is explored as long as there is something left within reach.
            let share = self.table().map_or(left.max(SELDOM), |table| {
                left * (4.0 * f64::from(table.largest_doubt(state))).min(1.0)
            });
            let explores = self.kept.rng.random::<f64>() < self.settings.explore * share;
            self.kept.under[env].mode = if explores { Mode::Explore } else { Mode::Greedy };
        }
        self.kept.under[env].mode
    }

    /// The action that is repeated in an exploring episode, if one is.
    fn repeated(&mut self, env: usize) -> Option<usize> {
        let most = self.settings.epsilon;
        let begin = (most * self.kept.successes.left()).max(DITHER.min(most));
        let Kept { rng, under, .. } = &mut self.kept;
        under[env].repeated.next(begin, self.actions, rng)
    }

    /// Learns from the steps of an environment since its episode began, or since the last time.
    fn learn_episode(&mut self, env: usize, terminated: bool) {
        let under = &mut self.kept.under[env];
        let (passed, held) = (std::mem::take(&mut under.passed), std::mem::take(&mut under.held));
        if let Some(memory) = &mut self.kept.memory {
            if terminated && !self.course.ends {
                memory.forget_backups();
                self.course.ends = true;
            }
            memory.learn(Episode { steps: passed, terminated }, self.course.ends, &mut self.kept.rng);
        }
        // Where it was cut off, the last step's own mean stands for what followed.
        if let Some((last, steps)) = held.split_last() {
            let (steps, beyond) = if terminated { (&held[..], None) } else { (steps, Some(last.mean())) };
            self.kept.calibration.learn(steps, self.config.learning.discount, beyond);
        }
    }
}

impl Algorithm for Calibrated {
    fn groups(&self) -> usize {
        OUTPUTS
    }

    fn output(&self) -> Output {
        Output::Constant(vec![0.0; OUTPUTS])
    }

    fn passes(&self) -> Passes {
        Passes { target: self.settings.gain < 1.0, target_next: true, online_next: true }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        let (actions, share) = (self.actions, 1.0 / batch.len() as f32);
        let (least, greatest) = bounds(&self.config, &batch.rewards);
        let (gain, rho_share) = (self.settings.gain as f32, self.settings.rho as f32);
        let widest = widest(batch, outputs.online);
        let mut sums = Sums::new(self.config.learning.huber, batch.len());
        for i in 0..batch.len() {
            let (row, action) = (i * OUTPUTS * actions, batch.action[i] as usize);
            let (best, _) = largest(&outputs.online_next[row..][..actions]);
            let next = &outputs.target_next[row..];
            let target = batch.bootstrap(i, || next[best]).clamp(least, greatest);
            let (mu, rho) = (outputs.online[row + action], outputs.online[row + actions + action]);
            let error = mu - target;
            let goal = goal(gain, target, || outputs.target[row + action]);
            gradient.outputs[row + action] = sums.add(mu - goal, batch.weight[i]);
            gradient.errors[i] = error.abs();
            let beyond = if batch.terminal[i] { 0.0 } else { var(next[actions + best], widest) };
            let wanted = (error * error + batch.discount[i].powi(2) * beyond).max(f32::MIN_POSITIVE);
            let off = (rho + 0.5 * libm::logf(wanted)).clamp(-1.0, 1.0);
            gradient.outputs[row + actions + action] = rho_share * off * batch.weight[i] * share;
            sums.see_q(mu);
            sums.see_sigma(var(rho, widest).sqrt());
        }
        Ok(sums.loss())
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        let known = if self.sees_observations() { EpisodicMemory::state(state.observation) } else { 0 };
        let leads = self.table_leads(known, state.row);
        let beliefs = self.believe(known, state.row, state.unit, leads);
        // While it trains, σ is asked for by one policy alone.
        let asked = !state.only_means && (state.env.is_none() || self.config.policy == "thompson");
        let unseen = if asked { self.unseen(state.observation, known, leads) } else { vec![] };
        out.extend(beliefs.iter().zip(unseen.into_iter().chain(repeat(0.0))).map(|(belief, unseen)| {
            let (mean, sd) = (belief.corrected(), self.doubted(belief, unseen));
            // What is taken off may be so much larger than small means that differences between them are lost.
            Estimate { mean, sd, score: if state.env.is_some() { belief.mean() } else { mean } }
        }));
        let Some(env) = state.env.filter(|&env| env < self.last.len()) else { return Ok(()) };
        let best = beliefs.iter().map(Held::corrected).fold(f32::NEG_INFINITY, f32::max);
        self.others.led_to(env, self.config.learning.discount * best);
        if let Some(novelty) = &mut self.kept.novelty {
            novelty.see(state.observation);
        }
        if self.mode(env, known) == Mode::Explore {
            match self.table() {
                Some(table) => {
                    let doubts = (0..self.actions).map(|action| table.doubt(known, action));
                    out.iter_mut().zip(doubts).for_each(|(estimate, doubt)| estimate.score = doubt);
                }
                None => {
                    if let Some(action) = self.repeated(env) {
                        out[action].score = f32::MAX;
                    }
                }
            }
        }
        self.last[env] = Last { state: known, beliefs };
        Ok(())
    }

    /// Where the table is believed, outputs alone do not say what is.
    fn readout(&self) -> Option<Readout> {
        if self.table().is_some() {
            return None;
        }
        let Kept { calibration, spread, novelty, .. } = &self.kept;
        let (widest, local) = (WIDEST * spread.var(), calibration.local().cloned());
        let [least, most] =
            [0.0, if local.is_some() { f32::INFINITY } else { widest }].map(|var| self.sd(var));
        let local = local.map(|local| (local, widest));
        let (min_var, max_var) = (least * least, most * most);
        let neighbours = novelty.as_ref().and_then(Novelty::neighbours).cloned();
        let (mean, var) = (spread.mean as f32, spread.var());
        let unseen = neighbours.map(|neighbours| Unseen { neighbours, mean, var });
        let (off, ratio) = (calibration.off(), self.ratio());
        Some(Readout::Gaussian { off, ratio, min_var, max_var, local, unseen })
    }

    fn learns_in_units(&self) -> bool {
        true
    }

    fn sees_observations(&self) -> bool {
        self.kept.novelty.is_some()
    }

    fn begin_episode(&mut self, env: usize) {
        if let Some(under) = self.kept.under.get_mut(env) {
            *under = Under::default();
            self.course.lasted[env] = 0;
            self.others.leave(env);
        }
    }

    fn received(&mut self, env: usize, received: Received) {
        let success = self.kept.successes.see(&received);
        self.kept.under[env].succeeded |= success;
        let Received { action, reward, terminated, ended } = received;
        // Where the table leads, an exploring episode goes to what is in doubt as long as it lasts.
        let seeks = self.table().is_some() && self.kept.under[env].mode == Mode::Explore;
        let Last { state, beliefs } = &self.last[env];
        let Some(&held) = beliefs.get(action) else { return };
        let sd = self.sd(held.var);
        self.kept.spread.see(held.mean(), sd);
        let under = &mut self.kept.under[env];
        if let Some(memory) = &mut self.kept.memory {
            memory.visit(*state, action);
            under.passed.push(Passed { state: *state, action, reward });
        }
        // From the last action on that was not the best by the means, an episode follows them.
        let explored = beliefs.iter().any(|other| other.mean() > held.mean());
        if seeks || explored {
            under.held.clear();
        }
        // Before it is known where errors are large, variances have another size.
        if explored && !seeks && self.kept.calibration.local().is_some() {
            self.others.took(env, Held { reward, ..held });
        }
        match (terminated, ended) {
            (true, _) => self.others.led_to(env, 0.0),
            (_, true) => self.others.leave(env),
            _ => {}
        }
        if !seeks {
            under.held.push(Held { reward, ..held });
        }
        under.total += f64::from(reward);
        self.course.lasted[env] = self.course.lasted[env].saturating_add(1);
        let ends = ended || self.course.lasted[env] >= self.longest();
        let under = &mut self.kept.under[env];
        if ends {
            self.kept.successes.end(under.mode, under.succeeded, under.total);
            (under.succeeded, under.total) = (false, 0.0);
        }
        if ends || under.passed.len().max(under.held.len()) >= LONGEST {
            self.learn_episode(env, terminated);
        }
        if ends && !ended {
            self.begin_episode(env);
        }
    }

    /// That of the actions taken: what the network gives in a batch is not of the same size.
    fn mean_sigma(&self) -> Option<f64> {
        Some(self.kept.spread.sd)
    }

    fn metrics(&self) -> &'static [&'static str] {
        &["own_error", "own_bias", "calibration", "seen_before"]
    }

    /// The root mean square and the mean of errors against own returns, κ, and the share of steps whose pair was tried before.
    fn take_metrics(&mut self) -> Vec<f64> {
        let (bias, error) = self.kept.calibration.errors();
        let again = self.kept.memory.as_ref().map_or(f64::NAN, EpisodicMemory::again);
        vec![error, bias, f64::from(self.ratio()), again]
    }

    fn save(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&(&self.kept, VERSION, &self.course, &self.others))
            .map_err(|error| Error::State(error.to_string()))
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        let (mut kept, more): (Kept, &[u8]) =
            postcard::take_from_bytes(state).map_err(|error| error.to_string())?;
        let room = |kept: &Kept| kept.memory.as_ref().map(EpisodicMemory::shape);
        if kept.under.len() != self.kept.under.len() || room(&kept) != room(&self.kept) {
            return Err("it has other environments, or room for other pairs".to_owned());
        }
        if !kept.calibration.is_whole()
            || kept.under.iter().flat_map(|one| &one.held).any(|held| held.believed > 1)
        {
            return Err("what it remembers of its errors is not whole".to_owned());
        }
        // Older versions had values only where an episode had terminated.
        let ends = kept.memory.as_ref().is_some_and(EpisodicMemory::has_values);
        let mut course = Course { ends, ..Course::new(kept.under.len()) };
        let mut others = Others::new(kept.under.len());
        match more {
            [VERSION, more @ ..] => {
                (course, others) = postcard::from_bytes(more).map_err(|error| error.to_string())?;
            }
            [ALIKE, more @ ..] => course = postcard::from_bytes(more).map_err(|error| error.to_string())?,
            [BEFORE] => {}
            [BEFORE, more @ ..] => {
                course.lasted = postcard::from_bytes(more).map_err(|error| error.to_string())?
            }
            [] if kept.memory.as_mut().is_none_or(EpisodicMemory::forget) => {
                kept.under.iter_mut().for_each(|under| under.passed.clear());
            }
            _ => return Err("its table knows states in the way of another version".to_owned()),
        }
        match (&mut kept.novelty, &self.kept.novelty) {
            (Some(novelty), Some(own)) if novelty.is_whole(own.size()) => novelty.prepare(),
            (None, None) => {}
            _ => return Err("the observations that it remembers are not whole".to_owned()),
        }
        if course.lasted.len() != kept.under.len() || !others.is_whole(kept.under.len()) {
            return Err("it has other environments".to_owned());
        }
        (self.kept, self.course, self.others) = (kept, course, others);
        Ok(())
    }

    fn cuda(&self) -> Option<CudaLoss> {
        let [rho, gain] = [self.settings.rho, self.settings.gain].map(|number| f64::from(number as f32));
        let own = vec![rho, WIDEST.into(), gain];
        Some(CudaLoss { name: NAME, source: include_str!("kernels/calibrated.cu"), own, defines: &[] })
    }
}
