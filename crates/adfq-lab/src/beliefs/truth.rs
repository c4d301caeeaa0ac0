//! Q of an agent's own greedy policy in states that it met, by rollouts, and Q* where the model is known.
//!
//! Two rollouts of every action come first, each with its own chance. If no two of them differ anywhere, the environment
//! is taken for deterministic and the values are exact. Otherwise every action gets 16 rollouts, then twice as many and so
//! on, until the standard error of the mean is a fifth of σ, or the limit is reached.

use super::Settings;
use crate::stats::{mean, sd};
use crate::{Error, Result};
use adfq::mdp::{self, Solution};
use adfq_deep::rollout::{Play, Rollout, Rollouts, TAIL, Visited};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rollouts that show whether there is chance.
const FIRST: usize = 2;
/// Fewer do not tell their own spread.
const LEAST: usize = 16;
/// The standard error is to be at most this share of σ.
const PRECISION: f64 = 0.2;

/// What is believed of one action in one state, and what is true.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// How the state was met.
    pub play: Play,
    /// The state's number among those met so.
    pub state: usize,
    /// The action.
    pub action: usize,
    /// The mean of the belief.
    pub mean: f64,
    /// Its standard deviation σ.
    pub sd: f64,
    /// The mean return of the rollouts.
    pub truth: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// How many rollouts there were.
    pub rollouts: usize,
    /// Q*, where it is known.
    pub optimum: Option<f64>,
}

impl Pair {
    /// Whether the standard error is small beside σ.
    pub fn is_precise(&self) -> bool {
        self.standard_error <= PRECISION * self.sd
    }
}

/// All values that were found.
pub(super) struct Truth {
    /// State by state.
    pub pairs: Vec<Pair>,
    pub deterministic: bool,
    /// Rollouts in all.
    pub rollouts: usize,
    /// The share of them that were cut off.
    pub cut: f64,
    /// The mean σ of each observation that lies far from all that were met.
    pub far: Vec<f64>,
}

/// An action in a state.
struct Choice<'a> {
    play: Play,
    state: usize,
    action: usize,
    from: &'a Visited,
}

impl Choice<'_> {
    fn sd(&self) -> f64 {
        self.from.estimates[self.action].sd.into()
    }

    /// Adds rollouts until there are so many. Each has a name and thereby a chance of its own.
    fn roll(&self, worker: &mut Rollouts, returns: &mut Vec<Rollout>, count: usize, seed: u64) -> Result<()> {
        for number in returns.len()..count {
            let name = format!("{}/{}/{}/{number}", self.play.name(), self.state, self.action);
            returns.push(worker.roll_out(self.from, self.action, seed, &name)?);
        }
        Ok(())
    }
}

/// Finds the values of all actions in the states that are met. Every worker is the same agent.
pub(super) fn find(workers: &mut [Rollouts], settings: Settings) -> Result<Truth> {
    let (seed, optimum) = (settings.seed, optimum(&workers[0]));
    let met = meet(&mut workers[0], settings)?;
    let far = far(&mut workers[0], &met)?;
    let choices = choices(&met);
    let first = each(workers, &choices, |worker, choice| {
        let mut returns = vec![];
        choice.roll(worker, &mut returns, FIRST, seed).map(|()| returns)
    })?;
    let deterministic = first.iter().all(|returns| returns.iter().all(|it| it == &returns[0]));
    let items: Vec<(&Choice, Vec<Rollout>)> = choices.iter().zip(first).collect();
    let returns = each(workers, &items, |worker, (choice, first)| match deterministic {
        true => Ok(first.clone()),
        false => refine(worker, choice, first.clone(), settings),
    })?;
    let all = || returns.iter().flatten();
    let (rollouts, cut) = (all().count(), all().filter(|it| it.rest >= TAIL).count());
    let pairs = choices.iter().zip(&returns).map(|(choice, returns)| {
        let best = choice.from.exact.zip(optimum.as_ref());
        pair(choice, returns, best.map(|(state, solution)| solution.action_values(state)[choice.action]))
    });
    Ok(Truth { pairs: pairs.collect(), deterministic, rollouts, cut: cut as f64 / rollouts as f64, far })
}

/// The mean σ of observations that are like those of an evaluation, and further away than any of them.
fn far(worker: &mut Rollouts, met: &[(Play, Vec<Visited>)]) -> Result<Vec<f64>> {
    let mut sds = vec![];
    for (_, states) in met.iter().filter(|(play, _)| *play == Play::Evaluation) {
        for estimates in worker.far_away(states)? {
            sds.push(mean(&estimates.iter().map(|estimate| estimate.sd.into()).collect::<Vec<f64>>()));
        }
    }
    Ok(sds)
}

/// The states of each kind of play. It is an error if nothing is believed in any of them.
fn meet(worker: &mut Rollouts, settings: Settings) -> Result<Vec<(Play, Vec<Visited>)>> {
    let visit = |play| Ok((play, worker.visit(play, settings.states, settings.seed)?));
    let met: Vec<(Play, Vec<Visited>)> = Play::ALL.into_iter().map(visit).collect::<Result<_>>()?;
    let mut estimates = met.iter().flat_map(|(_, states)| states).flat_map(|state| &state.estimates);
    // An ensemble of one has no spread; DQN has no σ at all.
    match estimates.any(|estimate| estimate.sd > 0.0) {
        true => Ok(met),
        false => Err(Error::NoBeliefs { agent: worker.config().agent.clone() }),
    }
}

fn choices(met: &[(Play, Vec<Visited>)]) -> Vec<Choice<'_>> {
    let mut choices = vec![];
    for (play, visited) in met {
        for (state, from) in visited.iter().enumerate() {
            let choice = |action| Choice { play: *play, state, action, from };
            choices.extend((0..from.estimates.len()).map(choice));
        }
    }
    choices
}

/// Adds rollouts until their standard error is small beside σ, or there are as many as are allowed.
fn refine(
    worker: &mut Rollouts,
    choice: &Choice,
    mut returns: Vec<Rollout>,
    settings: Settings,
) -> Result<Vec<Rollout>> {
    let mut count = LEAST;
    loop {
        choice.roll(worker, &mut returns, count.min(settings.rollouts), settings.seed)?;
        if count >= settings.rollouts || standard_error(&returns) <= PRECISION * choice.sd() {
            return Ok(returns);
        }
        count *= 2;
    }
}

fn pair(choice: &Choice, returns: &[Rollout], optimum: Option<f64>) -> Pair {
    let values: Vec<f64> = returns.iter().map(|it| it.value).collect();
    let estimate = choice.from.estimates[choice.action];
    Pair {
        play: choice.play,
        state: choice.state,
        action: choice.action,
        mean: estimate.mean.into(),
        sd: estimate.sd.into(),
        truth: mean(&values),
        standard_error: standard_error(returns),
        rollouts: values.len(),
        optimum,
    }
}

fn standard_error(returns: &[Rollout]) -> f64 {
    let values: Vec<f64> = returns.iter().map(|it| it.value).collect();
    sd(&values) / (values.len() as f64).sqrt()
}

/// Q* at the discount of the run, if the environment is a finite MDP and training sees its rewards as they are.
fn optimum(rollouts: &Rollouts) -> Option<Solution> {
    let (model, _) = rollouts.env().exact()?;
    let learning = &rollouts.config().learning;
    let model = (!learning.clip_rewards).then(|| model.clone().with_gamma(learning.discount.into()))?;
    // Without a discount an MDP that never ends has no values.
    mdp::solve(&model.ok()?).ok()
}

/// Does the work on each item and gives what came of it in the order of the items. Which worker does what decides nothing.
fn each<I: Sync, T: Send>(
    workers: &mut [Rollouts],
    items: &[I],
    work: impl Fn(&mut Rollouts, &I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let share = |worker: &mut Rollouts| {
        let mut done = vec![];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return Ok(done) };
            done.push((number, work(worker, item)?));
        }
    };
    let shares: Vec<Vec<(usize, T)>> = workers.par_iter_mut().map(share).collect::<Result<_>>()?;
    let mut done: Vec<(usize, T)> = shares.into_iter().flatten().collect();
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, it)| it).collect())
}
