//! ADFQ (paper Alg. 1): a Gaussian belief per (s,a), updated by any rule of [`update`](crate::update).

use super::table::{discount, setting};
use super::{Agent, QTable, Replay, Step};
use crate::random::ChaCha8Rng;
use crate::update::{Moments, Noise, NoiseKind, Update, Workspace, ignores_next};
use crate::{Belief, Result};
use serde::{Deserialize, Serialize};

/// The noise variance σ_w² of an update, and how it is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "NoiseFields", into = "NoiseFields")]
pub enum NoiseModel {
    /// No noise: deterministic domains.
    #[default]
    None,
    /// The same σ_w² at every update.
    Constant(NoiseKind, f64),
    /// σ_w² / (1 + n(s,a)), with n the number of earlier updates of the pair. The authors take 1e-3.
    Decaying(NoiseKind, f64),
}

/// How a [`NoiseModel`] is stored.
#[derive(Serialize, Deserialize)]
struct NoiseFields {
    kind: NoiseKind,
    var: f64,
    decays: bool,
}

impl From<NoiseModel> for NoiseFields {
    fn from(noise: NoiseModel) -> Self {
        let (kind, var, decays) = match noise {
            NoiseModel::None => (NoiseKind::None, 0.0, false),
            NoiseModel::Constant(kind, var) => (kind, var, false),
            NoiseModel::Decaying(kind, var) => (kind, var, true),
        };
        Self { kind, var, decays }
    }
}

impl From<NoiseFields> for NoiseModel {
    fn from(NoiseFields { kind, var, decays }: NoiseFields) -> Self {
        match (kind, decays) {
            (NoiseKind::None, _) => Self::None,
            (kind, false) => Self::Constant(kind, var),
            (kind, true) => Self::Decaying(kind, var),
        }
    }
}

impl NoiseModel {
    /// What the authors use in stochastic domains.
    pub const AUTHORS: Self = Self::Decaying(NoiseKind::Approximate, 1e-3);

    #[inline]
    fn at(self, visits: u32) -> Noise {
        match self {
            Self::None => Noise::None,
            Self::Constant(kind, var_w) => kind.with_var(var_w),
            Self::Decaying(kind, var_w) => kind.with_var(var_w / (1.0 + f64::from(visits))),
        }
    }
}

/// Settings of [`Adfq`] beside its prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdfqSettings {
    /// The update rule and the variance floor.
    pub update: Update,
    /// The noise on targets.
    pub noise: NoiseModel,
    /// Variance of the target of a terminal transition; the authors take 1e-3. At discount 0 that of every transition:
    /// nothing that follows counts, and the target is the reward.
    pub terminal_var: f64,
}

impl Default for AdfqSettings {
    /// The paper's rule and floor, no noise, and the authors' variance at a terminal.
    fn default() -> Self {
        Self { update: Update::default(), noise: NoiseModel::None, terminal_var: 1e-3 }
    }
}

/// Tabular ADFQ.
///
/// ```
/// use adfq::agent::{Adfq, AdfqSettings, Agent, Step};
/// use adfq::Belief;
///
/// let mut agent = Adfq::new(2, 2, 0.9, Belief::new(0.0, 100.0)?, AdfqSettings::default())?;
/// agent.update(&Step { state: 1, action: 0, reward: 2.0, next_state: 0, terminal: true })?;
/// assert!((agent.means(1)[0] - 2.0).abs() < 1e-4);
/// assert!(agent.var(1, 0) < 1e-3 && agent.var(1, 1) == 100.0);
/// # Ok::<(), adfq::Error>(())
/// ```
pub struct Adfq {
    table: QTable,
    discount: f64,
    settings: AdfqSettings,
    vars: Vec<f64>,
    visits: Vec<u32>,
    workspace: Box<Workspace>,
    replay: Option<(Replay, ChaCha8Rng)>,
}

impl Adfq {
    /// An agent whose beliefs all start at `prior`.
    pub fn new(
        states: usize,
        actions: usize,
        gamma: f64,
        prior: Belief,
        settings: AdfqSettings,
    ) -> Result<Self> {
        let table = QTable::new(states, actions, prior.mean())?;
        let pairs = table.len();
        let AdfqSettings { noise, terminal_var, .. } = settings;
        noise.at(0).checked_var()?;
        setting(
            "terminal_var",
            terminal_var,
            terminal_var >= 0.0 && terminal_var.is_finite(),
            "finite, not negative",
        )?;
        Ok(Self {
            table,
            discount: discount(gamma)?,
            settings,
            vars: vec![prior.var(); pairs],
            visits: vec![0; pairs],
            workspace: Box::default(),
            replay: None,
        })
    }

    /// The same with the authors' experience replay for stochastic domains: an update draws
    /// [`Replay::DRAWS`] of the pair's last [`Replay::CAPACITY`] transitions and averages the means and the variances
    /// of the posteriors that each gives with the same prior. Draws come from the agent's own generator.
    pub fn with_replay(self, rng: ChaCha8Rng) -> Result<Self> {
        let replay = Replay::new(self.table.states(), self.table.actions(), Replay::CAPACITY)?;
        Ok(Self { replay: Some((replay, rng)), ..self })
    }

    /// The belief over Q(s,a).
    #[inline]
    pub fn belief(&self, state: usize, action: usize) -> Belief {
        let i = self.table.shape.index(state, action);
        Belief::trusted(self.table.means[i], self.vars[i])
    }

    /// How many updates the pair has had.
    pub fn visits(&self, state: usize, action: usize) -> u32 {
        self.visits[self.table.shape.index(state, action)]
    }

    /// The posterior after one transition from the current belief of its pair.
    #[inline]
    fn posterior(&mut self, step: &Step, noise: Noise) -> Result<Belief> {
        let prior = self.belief(step.state, step.action);
        let problem = &mut self.workspace.problem;
        if step.terminal || ignores_next(self.discount) {
            problem.load_terminal(prior, step.reward, self.settings.terminal_var);
        } else {
            let row = self.table.shape.row(step.next_state);
            let next = self.table.means[row.clone()].iter().zip(&self.vars[row]);
            let next = next.map(|(&mean, &var)| Belief::trusted(mean, var));
            problem.load_beliefs(prior, step.reward, self.discount, next)?;
        }
        self.settings.update.solve(&mut self.workspace, noise)
    }

    /// The average over replayed transitions.
    fn replayed_posterior(&mut self, step: &Step, noise: Noise) -> Result<Belief> {
        let Some((mut replay, mut rng)) = self.replay.take() else { return self.posterior(step, noise) };
        replay.push(step)?;
        let mut sum = Moments { mean: 0.0, var: 0.0 };
        let mut result = Ok(());
        for drawn in replay.draw(step.state, step.action, Replay::DRAWS, &mut rng) {
            match self.posterior(&drawn, noise) {
                Ok(belief) => {
                    sum.mean += belief.mean();
                    sum.var += belief.var();
                }
                Err(error) => result = Err(error),
            }
        }
        self.replay = Some((replay, rng));
        result?;
        Belief::new(sum.mean / Replay::DRAWS as f64, sum.var / Replay::DRAWS as f64)
    }
}

impl Agent for Adfq {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    #[inline]
    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        let i = self.table.shape.index(step.state, step.action);
        let noise = self.settings.noise.at(self.visits[i]);
        let belief = match self.replay {
            None => self.posterior(step, noise)?,
            Some(_) => self.replayed_posterior(step, noise)?,
        };
        (self.table.means[i], self.vars[i]) = (belief.mean(), belief.var());
        self.visits[i] = self.visits[i].saturating_add(1);
        Ok(())
    }

    #[inline]
    fn var(&self, state: usize, action: usize) -> f64 {
        self.vars[self.table.shape.index(state, action)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::toy;
    use crate::random::stream;
    use crate::update::Rule;

    fn agent(rule: Rule) -> Adfq {
        let settings = AdfqSettings { update: Update::new(rule), ..AdfqSettings::default() };
        Adfq::new(9, 2, toy::DISCOUNT, Belief::new(0.001, 100.0).unwrap(), settings).unwrap()
    }

    #[test]
    fn both_rules_learn_loop_from_random_actions() {
        for rule in [Rule::Analytic, Rule::Exact] {
            let mut learner = agent(rule);
            toy::walk_loop(&mut learner, 10_000, &mut stream(1, "loop"));
            assert!(toy::loop_error(&learner) < 0.05, "{rule:?}: {}", toy::loop_error(&learner));
        }
    }

    #[test]
    fn replay_of_a_certain_transition_changes_nothing() {
        let step = Step { state: 0, action: 1, reward: 1.0, next_state: 5, terminal: false };
        let (mut plain, mut replaying) =
            (agent(Rule::Analytic), agent(Rule::Analytic).with_replay(stream(0, "r")).unwrap());
        plain.update(&step).unwrap();
        replaying.update(&step).unwrap();
        assert!((plain.means(0)[1] - replaying.means(0)[1]).abs() < 1e-12);
        assert!((plain.var(0, 1) / replaying.var(0, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn noise_decays_with_visits() {
        assert_eq!(NoiseModel::AUTHORS.at(0), Noise::Approximate(1e-3));
        assert_eq!(NoiseModel::AUTHORS.at(9), Noise::Approximate(1e-4));
    }
}
