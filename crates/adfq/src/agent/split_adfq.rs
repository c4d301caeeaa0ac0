//! Split ADFQ: beliefs that grow sure no faster than what they rest on. Update: [`update::split`](crate::update::split).
//!
//! A pair remembers what it has led to and looks its belief up from that memory, so old targets are never stale and
//! nothing counts twice. After each step the pair itself is looked up, and then a few others, first of all those that
//! lead to what has changed. What was never tried stays unknown, whatever the rest is worth. What acts by it:
//! [`Optimist`](crate::policy::Optimist), or any policy that reads beliefs.

mod echo;
mod novelty;
mod population;
mod scale;
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
use novelty::Novelty;
use population::Population;
use scale::Scale;

/// By how many sd the value of a state has to move before the pairs that lead there are looked up again.
const NEWS: f64 = 0.05;

/// The share of new outcomes that may be a surprise.
const SURPRISING: f64 = 0.4;

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
/// // Loop pays 0, 1 or 2. It need not be declared (`None`); without it, rewards of other sizes are looked for first.
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
    scale: Scale,
    novelty: Novelty,
    echo: Echo,
    sweep: SweepQueue,
    /// The mean of the pairs that were never tried.
    untried: f64,
    /// What is believed of the pairs that were tried; all others have the population's.
    entries: Vec<Entry>,
    /// What states are worth, as of the last look at one of their pairs; nothing where no action was tried.
    values: Vec<Option<Value>>,
    /// How many states have such a value.
    visited: usize,
}

/// What is believed of a pair.
#[derive(Clone, Copy, Debug)]
struct Entry {
    member: Member,
    /// The value with luck, by which the optimist acts.
    hope: f64,
    /// The value if everything that is unknown were as good as it may be, and all that is known as believed.
    unknown: f64,
}

/// What a state is worth: V, its variance, V with luck, and V with the unknown at its best.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value {
    mean: f64,
    var: f64,
    hope: f64,
    unknown: f64,
}

/// What holds for all pairs at one moment.
#[derive(Clone, Copy, Debug)]
struct Outlook {
    prior: SplitPrior,
    /// A pair that was never tried.
    untried: Entry,
    /// How far the value of one that was tried may exceed all that is known if it does something new.
    late_surprise: f64,
    /// The share of states that nobody has visited.
    unvisited: f64,
}

impl SplitAdfq {
    /// An agent that knows nothing, or the range of its rewards if one is given. Its imagined walk draws from `rng`.
    ///
    /// The prior mean is 0, or the possible value next to 0; the prior sd half the range of possible values. Without a
    /// declared range that follows the rewards seen. Both are learned from then on.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        rewards: impl Into<Option<Rewards>>,
        settings: SplitSettings,
        rng: ChaCha8Rng,
    ) -> Result<Self> {
        let (settings, gamma) = (settings.checked()?, discount(gamma)?);
        let pairs = states.saturating_mul(actions);
        let (scale, center) = match rewards.into() {
            Some(range) => (Scale::declared(range, states, pairs, gamma)?, range.prior(gamma)?.mean()),
            None => (Scale::learned(states, pairs, gamma), 0.0),
        };
        let table = QTable::new(states, actions, center)?;
        let shape = table.shape;
        let member = Member { mean: center, own: 0.0, var: 0.0 };
        Ok(Self {
            table,
            discount: gamma,
            settings,
            tally: Tally::new(shape),
            population: Population::new(shape.len(), center, settings),
            scale,
            novelty: Novelty::new(shape.actions),
            echo: Echo::new(shape, rng),
            sweep: SweepQueue::new(shape.len()),
            untried: center,
            entries: vec![Entry { member, hope: center, unknown: center }; shape.len()],
            values: vec![None; states],
            visited: 0,
        })
    }

    /// How many transitions from (s,a) the agent has learned from.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.tally.visits(self.table.shape.index(state, action))
    }

    /// What pairs are like by those that were tried. The variance of one that was never tried is larger: it also has what
    /// nobody has seen yet, see [`var`](Agent::var).
    pub fn prior(&self) -> SplitPrior {
        let scale = self.scale.belief(self.population.center());
        // A pair that was never tried may pay the largest reward at once, whatever all others did.
        let least = (0.5 * self.scale.unit()).powi(2).min(scale.var());
        self.population.prior(scale, least)
    }

    fn outlook(&self) -> Outlook {
        let (prior, tried) = (self.prior(), self.population.tried());
        let (surprise, late_surprise) = (self.scale.surprise(tried), self.scale.late_surprise(tried));
        let (mean, var) = (prior.belief.mean(), prior.belief.var());
        let most = (self.population.center() + self.scale.spread() + surprise).max(mean);
        let untried = Entry { member: Member { mean, own: var, var }, hope: most, unknown: most };
        let unvisited = 1.0 - self.visited as f64 / self.values.len() as f64;
        Outlook { prior, untried, late_surprise, unvisited }
    }

    #[inline]
    fn entry(&self, pair: usize, outlook: &Outlook) -> Entry {
        if self.tally.visits(pair) > 0 { self.entries[pair] } else { outlook.untried }
    }

    /// The value of a state by its entries.
    fn value(&self, state: usize, outlook: &Outlook) -> Value {
        let row = self.table.shape.row(state);
        let entries = row.clone().map(|pair| self.entry(pair, outlook));
        let (hope, unknown) =
            entries.clone().fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |(hope, unknown), entry| {
                (entry.hope.max(hope), entry.unknown.max(unknown))
            });
        let (mean, var) = match self.settings.heir {
            Heir::Maximum => split::maximum(entries.map(|entry| entry.member)),
            Heir::Greedy => {
                let greedy = self.entry(row.start + argmax(&self.table.means[row]), outlook).member;
                (greedy.mean, greedy.var)
            }
        };
        Value { mean, var, hope, unknown }
    }

    /// The echo of a pair: that of its state, as far as the pair may be what the greedy policy chooses there.
    fn echo(&self, pair: usize, outlook: &Outlook) -> f64 {
        if !self.settings.echo {
            return 0.0;
        }
        let state = pair / self.table.shape.actions;
        let behind = self.table.means[pair] - maximum(&self.table.means[self.table.shape.row(state)]);
        let chosen =
            if behind < 0.0 { 2.0 * cdf(behind / self.entry(pair, outlook).member.var.sqrt()) } else { 1.0 };
        chosen * self.echo.at(state, self.discount)
    }

    /// Looks the belief of a pair up from what it has led to.
    fn look_up(&mut self, pair: usize, outlook: &Outlook) -> Result<()> {
        let (prior, gamma, visits) = (&outlook.prior, self.discount, self.tally.visits(pair));
        let most = outlook.untried.hope;
        let mut blank = None;
        let (mut ahead, mut unknown) = (0.0, 0.0);
        let targets = self.tally.outcomes(pair).iter().map(|outcome| {
            let ended = Value { mean: 0.0, var: 0.0, hope: 0.0, unknown: 0.0 };
            let value = outcome.next.map_or(ended, |state| {
                self.values[state].unwrap_or_else(|| *blank.get_or_insert_with(|| self.value(state, outlook)))
            });
            ahead += outcome.count * (outcome.reward + gamma * value.hope);
            unknown += outcome.count * (outcome.reward + gamma * value.unknown);
            let (mean, var) = (outcome.reward + gamma * value.mean, gamma * gamma * value.var);
            Target { count: outcome.count, mean, scatter: outcome.scatter, var }
        });
        let belief = split::update(prior, targets, self.echo(pair, outlook))?;
        let (n, reach, mean) = (f64::from(visits), self.settings.reach, belief.mean);
        // The next visit may bring something new: a state where nobody has been, or a reward of a size that nobody has seen.
        let (action, outcomes) = (pair % self.table.shape.actions, self.tally.outcomes(pair).len());
        let (ahead, news) = (ahead / n, self.novelty.rate(action, outcomes, visits));
        let ahead = ahead + outlook.unvisited * news * (most - ahead).max(0.0);
        // Hopes were higher when less was known, and may still go round in circles: nothing is hoped for beyond
        // what a pair never tried may be worth, unless the pair itself has shown it.
        let hope = belief.hopeful(prior.belief.mean(), ahead, reach);
        let hope = hope.min(most.max(mean + reach * belief.sampling.sqrt()));
        let unknown = unknown / n + self.novelty.left(visits) * outlook.late_surprise;
        let member = Member { mean, own: belief.own, var: belief.var().max(f64::MIN_POSITIVE) };
        self.entries[pair] = Entry {
            member,
            hope: hope + SURPRISING * news * outlook.late_surprise,
            unknown: unknown.min(most).max(mean),
        };
        self.table.means[pair] = mean;
        self.population.note(pair, visits, &belief);
        Ok(())
    }

    /// Lets the means of all pairs never tried follow the prior's, once that has moved.
    fn follow(&mut self) {
        let prior = self.prior().belief;
        if (prior.mean() - self.untried).abs() > DRIFT * prior.sd() {
            self.untried = prior.mean();
            let untried = (0..self.table.shape.len()).filter(|&pair| self.tally.visits(pair) == 0);
            untried.for_each(|pair| self.table.means[pair] = prior.mean());
        }
    }

    /// Looks a pair up and, if that is news about its state, puts all that lead there into the queue of the sweep.
    fn renew(&mut self, pair: usize) -> Result<()> {
        let (state, outlook) = (pair / self.table.shape.actions, self.outlook());
        let before = self.values[state];
        self.visited += usize::from(before.is_none());
        self.look_up(pair, &outlook)?;
        let after = self.value(state, &outlook);
        self.values[state] = Some(after);
        if before.is_none_or(|before| is_news(&before, &after)) {
            self.tally.predecessors(state).iter().for_each(|&pair| self.sweep.push(pair));
        }
        Ok(())
    }

    /// Replaces the unit 1 by the size of the first reward. Until then nothing has paid, so all means are 0.
    fn measure_in(&mut self, unit: f64) {
        for Entry { member, hope, unknown } in &mut self.entries {
            (member.own, member.var) = (member.own * unit * unit, member.var * unit * unit);
            (*hope, *unknown) = (*hope * unit, *unknown * unit);
        }
        for value in self.values.iter_mut().flatten() {
            value.var *= unit * unit;
            (value.hope, value.unknown) = (value.hope * unit, value.unknown * unit);
        }
    }
}

/// Whether the value of a state has moved by enough to look at the pairs that lead there.
fn is_news(before: &Value, after: &Value) -> bool {
    let enough = NEWS * after.var.sqrt();
    let unknown = enough + NEWS * (after.unknown - after.mean);
    (after.mean - before.mean).abs() > enough
        || (after.hope - before.hope).abs() > enough
        || (after.unknown - before.unknown).abs() > unknown
        || (after.var.sqrt() - before.var.sqrt()).abs() > enough
}

impl Agent for SplitAdfq {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        let pair = self.table.shape.index(step.state, step.action);
        if let Some(unit) = self.scale.note(pair, step) {
            self.measure_in(unit);
        }
        let (before, outcomes) = (self.tally.visits(pair), self.tally.outcomes(pair).len());
        let new = self.tally.count(step);
        self.novelty.note(step.action, outcomes, before, new);
        if before == 0 {
            self.entries[pair] = self.outlook().untried;
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

    /// What sampling and the next states leave open, and what may lie in the unknown: two sd reach what the value would be
    /// if everything unknown were as good as it may be.
    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        let Entry { member, unknown, .. } =
            self.entry(self.table.shape.index(state, action), &self.outlook());
        let gap = (unknown - member.mean).min(self.scale.most_open());
        member.var + (0.5 * gap).powi(2)
    }

    /// The value [`reach`](SplitSettings::reach) sd of luck away, here and in all that follows.
    #[inline]
    fn hopeful(&self, state: usize, action: usize) -> f64 {
        self.entry(self.table.shape.index(state, action), &self.outlook()).hope
    }
}
