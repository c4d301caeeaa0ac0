//! Posterior sampling for reinforcement learning (Strens 2000; Osband, Russo and Van Roy 2013).
//!
//! The agent keeps a posterior over whole MDPs: Dirichlet laws over next states and normal-gamma laws over mean rewards.
//! It draws one MDP, solves it, and acts best in it until it draws the next. The draws kept are its beliefs about Q.
//! How a world is drawn and solved lives in `world`; what acts by it is [`Thompson`](crate::policy::Thompson).

mod world;

use super::bayesian_q::NormalGamma;
use super::table::{discount, setting};
use super::tally::Tally;
use super::{Agent, QTable, Rewards, Step};
use crate::Result;
use crate::random::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use world::{Laws, World};

/// How many horizons of the discount a world may last where episodes end. Without a discount, the number of states is the
/// horizon.
const HORIZONS: f64 = 3.0;

/// What PSRL can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PsrlSettings {
    /// How many outcomes the Dirichlet prior is worth, spread evenly over all states and the end of the episode.
    pub mass: f64,
    /// The standard deviation expected of a reward about its mean, as a share of the range of rewards.
    pub noise: f64,
    /// How many of the latest worlds are kept as beliefs.
    pub worlds: u32,
    /// How many times the states of a world are swept at most; the values start from those of the world before.
    pub sweeps: u32,
}

impl Default for PsrlSettings {
    fn default() -> Self {
        Self { mass: 0.1, noise: 0.02, worlds: 10, sweeps: 100 }
    }
}

impl PsrlSettings {
    fn check(self) -> Result<()> {
        for (name, value) in [("mass", self.mass), ("noise", self.noise)] {
            setting(name, value, value > 0.0 && value.is_finite(), "positive and finite")?;
        }
        for (name, value) in [("worlds", self.worlds), ("sweeps", self.sweeps)] {
            setting(name, f64::from(value), value > 0, "at least 1")?;
        }
        Ok(())
    }
}

/// PSRL on a table.
///
/// A new world is drawn where an episode ends, and when the visits of a pair have doubled since the last draw: in some worlds
/// it looks best to try one thing for ever. It is also drawn after three times the horizon 1/(1 − γ) or, as long as no
/// episode has ended, when a world has lasted longer than the one before. In a continuing task that is TSDE (Ouyang et
/// al. 2017). The belief about Q(s,a) has the mean and
/// variance of Q in the worlds kept.
///
/// ```
/// use adfq::agent::{Agent, Psrl, PsrlSettings, Rewards, Step};
/// use adfq::random::stream;
///
/// let (rewards, settings) = (Rewards::within(0.0, 1.0), PsrlSettings::default());
/// let mut agent = Psrl::new(1, 2, 0.9, rewards, settings, stream(0, "agent"))?;
/// let before = agent.var(0, 0);
/// for _ in 0..50 {
///     agent.update(&Step { state: 0, action: 0, reward: 0.5, next_state: 0, terminal: true })?;
/// }
/// assert!((agent.means(0)[0] - 0.5).abs() < 0.05);
/// assert!(agent.var(0, 0) < 0.01 * before);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Psrl {
    /// The means of Q over the worlds kept.
    table: QTable,
    vars: Vec<f64>,
    tally: Tally,
    laws: Laws,
    settings: PsrlSettings,
    rng: ChaCha8Rng,
    /// The world in which the agent acts.
    world: World,
    /// Q in the latest worlds, and the place of the oldest of them.
    kept: Vec<Vec<f64>>,
    oldest: usize,
    age: Age,
}

/// For how long the world has lasted.
#[derive(Clone, Debug)]
struct Age {
    steps: u64,
    /// Steps of the world before.
    before: u64,
    /// The visits of every pair when the world was drawn.
    visits: Vec<u32>,
    /// Whether an episode has ever ended.
    episodic: bool,
    /// The most steps of a world in a task with episodes.
    most: u64,
}

impl Psrl {
    /// An agent that knows the range of its rewards. Everything it draws comes from `rng`.
    ///
    /// The prior mean of a reward is 0, or the possible reward next to 0; its sd half the range.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        rewards: Rewards,
        settings: PsrlSettings,
        rng: ChaCha8Rng,
    ) -> Result<Self> {
        settings.check()?;
        let values = rewards.values_with_ends(gamma)?;
        let table = QTable::new(states, actions, 0.0)?;
        let (width, center) = (rewards.max - rewards.min, 0.0_f64.clamp(rewards.min, rewards.max));
        let noise_var = (settings.noise * width).powi(2);
        let reward = NormalGamma::from_moments(center, (0.5 * width).powi(2), noise_var, 1.5)?;
        let laws = Laws {
            mass: settings.mass,
            reward,
            rewards: (rewards.min, rewards.max),
            values,
            gamma: discount(gamma)?,
            sweeps: settings.sweeps,
        };
        let horizon = if gamma < 1.0 { 1.0 / (1.0 - gamma) } else { states as f64 };
        let most = (HORIZONS * horizon).ceil() as u64;
        let age = Age { steps: 0, before: 0, visits: vec![0; table.len()], episodic: false, most };
        let mut agent = Self {
            vars: vec![0.0; table.len()],
            tally: Tally::new(table.shape),
            world: World::new(table.shape),
            kept: Vec::new(),
            oldest: 0,
            laws,
            settings,
            rng,
            age,
            table,
        };
        (0..settings.worlds).for_each(|_| agent.draw());
        Ok(agent)
    }

    /// How many transitions from (s,a) the agent has learned from.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.tally.visits(self.table.shape.index(state, action))
    }

    /// Draws a world, which replaces the oldest of those kept.
    fn draw(&mut self) {
        self.world.draw(&self.laws, &self.tally, &mut self.rng);
        self.world.solve(&self.laws);
        if self.kept.len() < self.settings.worlds as usize {
            self.kept.push(self.world.q.clone());
        } else {
            self.kept[self.oldest].copy_from_slice(&self.world.q);
            self.oldest = (self.oldest + 1) % self.kept.len();
        }
        self.believe();
    }

    /// Mean and variance of Q over the worlds kept.
    fn believe(&mut self) {
        let count = self.kept.len() as f64;
        for pair in 0..self.table.len() {
            let mean = self.kept.iter().map(|q| q[pair]).sum::<f64>() / count;
            let squares: f64 = self.kept.iter().map(|q| (q[pair] - mean) * (q[pair] - mean)).sum();
            self.table.means[pair] = mean;
            // One world tells nothing about its spread. Worlds that agree leave the least doubt there is.
            self.vars[pair] = (squares / (count - 1.0).max(1.0)).max(f64::MIN_POSITIVE);
        }
    }

    /// Whether the world has served its time after a step from this pair.
    fn is_over(&self, pair: usize, step: &Step) -> bool {
        let Age { steps, before, visits, episodic, most } = &self.age;
        let doubled = self.tally.visits(pair) > 2 * visits[pair].max(1);
        let long = if *episodic { step.terminal || steps >= most } else { steps > before };
        doubled || long
    }
}

impl Agent for Psrl {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        self.tally.count(step);
        self.age.steps += 1;
        self.age.episodic |= step.terminal;
        let pair = self.table.shape.index(step.state, step.action);
        if self.is_over(pair, step) {
            self.draw();
            self.age.before = std::mem::take(&mut self.age.steps);
            let tally = &self.tally;
            self.age.visits.iter_mut().enumerate().for_each(|(pair, visits)| *visits = tally.visits(pair));
        }
        Ok(())
    }

    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        self.vars[self.table.shape.index(state, action)]
    }

    /// Q(s,a) in the world in which the agent acts: all states and actions of an episode are one draw.
    #[inline]
    fn sample(&self, state: usize, action: usize, _rng: &mut ChaCha8Rng) -> f64 {
        self.world.q[self.table.shape.index(state, action)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::{Mdp, average_reward, named, policy_iteration};
    use crate::policy::{Policy, Thompson};
    use crate::random::stream;

    fn agent_for(mdp: &Mdp, settings: PsrlSettings, seed: u64) -> Psrl {
        let (states, actions, gamma) = (mdp.states(), mdp.actions(), mdp.gamma());
        Psrl::new(states, actions, gamma, mdp.rewards(), settings, stream(seed, "psrl")).unwrap()
    }

    fn live(agent: &mut Psrl, mdp: &Mdp, steps: usize) -> f64 {
        let mut rng = stream(1, "life");
        let (mut state, mut sum) = (mdp.start(&mut rng), 0.0);
        for _ in 0..steps {
            let step = mdp.step(state, Thompson.act(agent, state, &mut rng), &mut rng);
            agent.update(&step).unwrap();
            sum += step.reward;
            state = if step.terminal { mdp.start(&mut rng) } else { step.next_state };
        }
        sum / steps as f64
    }

    #[test]
    fn it_swims() {
        let river = named("riverswim-6").unwrap();
        let optimum = average_reward(&river, &policy_iteration(&river).unwrap().policy).unwrap();
        let mut agent = agent_for(&river, PsrlSettings::default(), 2);
        let earned = live(&mut agent, &river, 20_000) / optimum;
        assert!(earned > 0.85, "{earned} of the optimum");
        let best = policy_iteration(&river).unwrap();
        let off = (agent.means(5)[1] - best.action_values(5)[1]) / best.action_values(5)[1];
        assert!(off.abs() < 0.1, "{off}");
    }

    #[test]
    fn a_world_lasts_for_an_episode() {
        let mdp = named("deepsea-5").unwrap();
        let mut agent = agent_for(&mdp, PsrlSettings::default(), 3);
        live(&mut agent, &mdp, 5);
        let world = agent.world.q.clone();
        live(&mut agent, &mdp, 4);
        assert_eq!(agent.world.q, world);
        live(&mut agent, &mdp, 5);
        assert_ne!(agent.world.q, world);
    }

    /// All rewards of CliffWalking are negative, and ends cut the loss: −9.73 at the start, where −1 for ever would be −20.
    #[test]
    fn values_of_short_episodes_are_not_cut_off() {
        let mdp = named("cliffwalking").unwrap();
        let best = policy_iteration(&mdp).unwrap().value[36];
        let mut agent = agent_for(&mdp, PsrlSettings::default(), 7);
        live(&mut agent, &mdp, 10_000);
        let found = agent.means(36).iter().fold(f64::NEG_INFINITY, |most: f64, &q| most.max(q));
        assert!((found - best).abs() < 1.0, "{found} {best}");
    }

    /// In Maze a world may promise more for circling than for the goal.
    #[test]
    fn it_does_not_go_round_in_circles_for_ever() {
        let mdp = named("maze").unwrap();
        let mut agent = agent_for(&mdp, PsrlSettings::default(), 6);
        let earned = live(&mut agent, &mdp, 20_000);
        assert!(earned > 0.01, "{earned}");
        assert!(agent.age.steps <= 60, "{}", agent.age.steps);
    }

    /// Worlds last 1, 2, 3, … steps at most, so 21 steps draw at least 5 new ones in a continuing task.
    #[test]
    fn worlds_last_longer_and_longer_where_nothing_ends() {
        let mdp = named("chain").unwrap();
        let mut agent = agent_for(&mdp, PsrlSettings::default(), 4);
        live(&mut agent, &mdp, 3_000);
        assert!(agent.age.before > 5 && agent.age.before <= 80, "{}", agent.age.before);
    }

    #[test]
    fn beliefs_narrow_and_hold_the_truth() {
        let mdp = named("chain").unwrap();
        let best = policy_iteration(&mdp).unwrap();
        let mut agent = agent_for(&mdp, PsrlSettings::default(), 5);
        let before = agent.var(0, 0);
        live(&mut agent, &mdp, 10_000);
        assert!(agent.var(0, 0) < 0.1 * before, "{} {before}", agent.var(0, 0));
        let (mean, sd) = (agent.means(0)[0], agent.var(0, 0).sqrt());
        assert!((mean - best.q[0]).abs() < 4.0 * sd, "{mean} ± {sd}, {}", best.q[0]);
    }
}
