//! Split ADFQ: beliefs that grow sure no faster than what they rest on. Update: [`update::split`](crate::update::split).
//!
//! A pair remembers what it has led to and looks its belief up from that memory, so old targets are never stale and
//! nothing counts twice. After each step the pair itself is looked up, and then a few others, first of all those that
//! lead to what has changed. What acts by it: [`Optimist`](crate::policy::Optimist), or any policy that reads beliefs.

mod echo;
mod population;
mod settings;

pub use settings::{Heir, SplitSettings};

use super::sweep::SweepQueue;
use super::table::{argmax, discount, maximum};
use super::tally::Tally;
use super::{Agent, QTable, Rewards, Step};
use crate::Result;
use crate::normal::cdf;
use crate::random::ChaCha8Rng;
use crate::update::split::{self, Member, SplitPrior, Target};
use echo::Echo;
use population::Population;

/// By how many sd the value of a state has to move before the pairs that lead there are looked up again.
const NEWS: f64 = 0.05;

/// By how many sd the prior mean has to move before the means of pairs never tried follow.
const DRIFT: f64 = 0.01;

/// Split ADFQ on a table.
///
/// ```
/// use adfq::agent::{Agent, Rewards, SplitAdfq, SplitSettings};
/// use adfq::mdp;
/// use adfq::policy::{Optimist, Policy};
/// use adfq::random::stream;
///
/// // Loop pays 0, 1 or 2. Nothing else is declared, and nothing is tuned.
/// let (domain, rewards) = (mdp::named("loop")?, Rewards::within(0.0, 2.0));
/// let (states, actions, gamma) = (domain.states(), domain.actions(), domain.gamma());
/// let mut agent =
///     SplitAdfq::new(states, actions, gamma, rewards, SplitSettings::default(), stream(7, "agent"))?;
/// let (mut rng, mut state, mut collected) = (stream(7, "life"), 0, 0.0);
/// for _ in 0..1_000 {
///     let step = domain.step(state, Optimist.act(&agent, state, &mut rng), &mut rng);
///     agent.update(&step)?;
///     collected += step.reward;
///     state = step.next_state;
/// }
/// assert!(collected > 370.0); // of 400
/// assert!((agent.means(0)[1] - 7.201).abs() < 2.0 * agent.var(0, 1).sqrt());
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SplitAdfq {
    /// The means of all pairs.
    table: QTable,
    discount: f64,
    settings: SplitSettings,
    tally: Tally,
    population: Population,
    echo: Echo,
    sweep: SweepQueue,
    /// The mean of the pairs that were never tried.
    untried: f64,
    /// Beliefs and hopeful values of the pairs that were tried; all others have the population's.
    members: Vec<Member>,
    hopes: Vec<f64>,
}

/// What a state is worth: V, its variance, and V with luck.
#[derive(Clone, Copy, Debug)]
struct Value {
    mean: f64,
    var: f64,
    hope: f64,
}

impl SplitAdfq {
    /// An agent that knows nothing but the range of its rewards. Its imagined walk draws from `rng`.
    ///
    /// The prior mean is 0, or the possible value next to 0; the prior sd half the range of all possible values. Both are
    /// learned from then on.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        rewards: Rewards,
        settings: SplitSettings,
        rng: ChaCha8Rng,
    ) -> Result<Self> {
        let settings = settings.checked()?;
        let prior = rewards.prior(gamma)?;
        let table = QTable::new(states, actions, prior.mean())?;
        let shape = table.shape;
        // A pair that was never tried may pay the largest reward at once, whatever all others did.
        let least = (0.5 * (rewards.max - rewards.min)).powi(2).min(prior.var());
        Ok(Self {
            table,
            discount: discount(gamma)?,
            settings,
            tally: Tally::new(shape),
            population: Population::new(shape.len(), prior, least, settings),
            echo: Echo::new(shape, rng),
            sweep: SweepQueue::new(shape.len()),
            untried: prior.mean(),
            members: vec![Member { mean: prior.mean(), own: prior.var(), var: prior.var() }; shape.len()],
            hopes: vec![0.0; shape.len()],
        })
    }

    /// How many transitions from (s,a) the agent has learned from.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.tally.visits(self.table.shape.index(state, action))
    }

    /// What is believed of a pair that was never tried.
    pub fn prior(&self) -> SplitPrior {
        self.population.prior()
    }

    #[inline]
    fn member(&self, pair: usize, prior: &SplitPrior) -> Member {
        if self.tally.visits(pair) > 0 {
            return self.members[pair];
        }
        let (mean, var) = (prior.belief.mean(), prior.belief.var());
        Member { mean, own: var, var }
    }

    #[inline]
    fn hope(&self, pair: usize, prior: &SplitPrior) -> f64 {
        if self.tally.visits(pair) > 0 { self.hopes[pair] } else { self.top(prior) }
    }

    /// The hopeful value of a pair that was never tried.
    fn top(&self, prior: &SplitPrior) -> f64 {
        prior.belief.mean() + self.settings.reach * prior.belief.sd()
    }

    fn value(&self, state: usize, prior: &SplitPrior) -> Value {
        let row = self.table.shape.row(state);
        let hope = row.clone().fold(f64::NEG_INFINITY, |best, pair| best.max(self.hope(pair, prior)));
        let (mean, var) = match self.settings.heir {
            Heir::Maximum => split::maximum(row.map(|pair| self.member(pair, prior))),
            Heir::Greedy => {
                let greedy = self.member(row.start + argmax(&self.table.means[row]), prior);
                (greedy.mean, greedy.var)
            }
        };
        Value { mean, var, hope }
    }

    /// The echo of a pair: that of its state, as far as the pair may be what the greedy policy chooses there.
    fn echo(&self, pair: usize, prior: &SplitPrior) -> f64 {
        if !self.settings.echo {
            return 0.0;
        }
        let state = pair / self.table.shape.actions;
        let behind = self.table.means[pair] - maximum(&self.table.means[self.table.shape.row(state)]);
        let chosen = if behind < 0.0 { 2.0 * cdf(behind / self.member(pair, prior).var.sqrt()) } else { 1.0 };
        chosen * self.echo.at(state, self.discount)
    }

    /// Looks the belief of a pair up from what it has led to.
    fn look_up(&mut self, pair: usize) -> Result<()> {
        let (prior, gamma) = (self.population.prior(), self.discount);
        let (mut ahead, visits) = (0.0, self.tally.visits(pair));
        let targets = self.tally.outcomes(pair).iter().map(|outcome| {
            let ended = Value { mean: 0.0, var: 0.0, hope: 0.0 };
            let value = outcome.next.map_or(ended, |state| self.value(state, &prior));
            ahead += outcome.count * (outcome.reward + gamma * value.hope);
            let (mean, var) = (outcome.reward + gamma * value.mean, gamma * gamma * value.var);
            Target { count: outcome.count, mean, scatter: outcome.scatter, var }
        });
        let belief = split::update(&prior, targets, self.echo(pair, &prior))?;
        let var = belief.var().max(f64::MIN_POSITIVE);
        let reach = self.settings.reach;
        let hope = belief.hopeful(prior.belief.mean(), ahead / f64::from(visits), reach);
        // Hopes were higher when less was known, and may still go round in circles: nothing is hoped for beyond
        // what a pair never tried may be worth, unless the pair itself has shown it.
        let hope = hope.min(self.top(&prior).max(belief.mean + reach * belief.sampling.sqrt()));
        self.members[pair] = Member { mean: belief.mean, own: belief.own, var };
        (self.table.means[pair], self.hopes[pair]) = (belief.mean, hope);
        self.population.note(pair, visits, &belief);
        Ok(())
    }

    /// Lets the means of all pairs never tried follow the prior's, once that has moved.
    fn follow(&mut self) {
        let prior = self.population.prior().belief;
        if (prior.mean() - self.untried).abs() > DRIFT * prior.sd() {
            self.untried = prior.mean();
            let untried = (0..self.table.shape.len()).filter(|&pair| self.tally.visits(pair) == 0);
            untried.for_each(|pair| self.table.means[pair] = prior.mean());
        }
    }

    /// Looks a pair up and, if that is news about its state, puts all that lead there into the queue of the sweep.
    fn renew(&mut self, pair: usize) -> Result<()> {
        let state = pair / self.table.shape.actions;
        let before = self.value(state, &self.population.prior());
        self.look_up(pair)?;
        let after = self.value(state, &self.population.prior());
        let enough = NEWS * after.var.sqrt();
        let news = (after.mean - before.mean).abs() > enough
            || (after.hope - before.hope).abs() > enough
            || (after.var.sqrt() - before.var.sqrt()).abs() > enough;
        if news {
            self.tally.predecessors(state).iter().for_each(|&pair| self.sweep.push(pair));
        }
        Ok(())
    }
}

impl Agent for SplitAdfq {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        let pair = self.table.shape.index(step.state, step.action);
        self.tally.count(step);
        if self.tally.visits(pair) == 1 {
            self.sweep.welcome(pair);
            self.population.welcome();
        }
        if self.settings.echo {
            self.echo.step(step.state, self.discount, self.table.shape, &self.table.means, &self.tally);
        }
        self.renew(pair)?;
        for _ in 0..self.settings.sweeps {
            let Some(pair) = self.sweep.next() else { break };
            self.renew(pair)?;
        }
        self.follow();
        Ok(())
    }

    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        self.member(self.table.shape.index(state, action), &self.population.prior()).var
    }

    /// The value [`reach`](SplitSettings::reach) sd of luck away, here and in all that follows.
    #[inline]
    fn hopeful(&self, state: usize, action: usize) -> f64 {
        self.hope(self.table.shape.index(state, action), &self.population.prior())
    }
}
