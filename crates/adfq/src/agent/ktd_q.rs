//! KTD-Q (Geist and Pietquin 2010), the paper's Bayesian opponent: one joint Gaussian over the whole table,
//! filtered with the unscented transform. Here a step takes O(n²), n = |S||A|, where the published one takes O(n³).
//!
//! The parameters θ are the table itself and the reward is the observation,
//!
//! r = g(θ) + noise,   g(θ) = θ(s,a) - γ maxᵦ θ(s′,b),
//!
//! a model that assumes deterministic transitions. Sigma points are θ̂ and θ̂ ± c Lⱼ with c = √(n+κ), the columns
//! Lⱼ of the Cholesky factor of P, and weights κ/c² and 1/(2c²). Let rⱼ± be g at the j-th pair and, for each
//! pair, vⱼ = rⱼ⁺ - rⱼ⁻ and mⱼ = (rⱼ⁺ + rⱼ⁻)/2. Then (the θ̂ and r̂ inside the sums cancel)
//!
//! - r̂ = r₀ + Σⱼ (mⱼ - r₀)/c²,
//! - P_θr = L v/(2c),
//! - P_r = vᵀv/(4c²) + rest, rest = noise + κ/c² (r₀ - r̂)² + Σⱼ (mⱼ - r̂)²/c².
//!
//! As g reads |A| + 1 components, v needs only those rows of L. The gain is K = P_θr/P_r, and the covariance
//! P - K P_r Kᵀ is L (I - qqᵀ) Lᵀ with q = v/(2c√P_r), where 1 - qᵀq = rest/P_r > 0 whatever the rounding:
//! [`Factor::contract`] turns L into the factor of that in one sweep, and finds K on the way.

mod factor;
#[cfg(test)]
mod tests;

use super::table::{discount, maximum, setting};
use super::{Agent, QTable, Step};
use crate::{Error, Result};
use factor::Factor;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// An estimate beyond ± this is called divergence: no task with rewards of ordinary size has such values.
const DIVERGED: f64 = 1e12;

/// What KTD-Q can be told. The default is what the ADFQ authors chose.
///
/// ```
/// use adfq::agent::KtdSettings;
///
/// let settings = KtdSettings { process_noise: 1e-5, ..KtdSettings::default() };
/// assert_eq!((settings.kappa, settings.observation_noise), (1.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KtdSettings {
    /// Mean of every Q(s,a) before the first step.
    pub initial_mean: f64,
    /// Variance of every Q(s,a) before the first step; they start uncorrelated.
    pub initial_var: f64,
    /// The κ ≥ 0 that spreads the sigma points.
    pub kappa: f64,
    /// Variance of the observation noise.
    pub observation_noise: f64,
    /// Variance that every Q(s,a) gains per step (the authors' code adds 10⁻⁵). It is added to a pair when the
    /// pair is next read, see `docs/ktd-q.md`.
    pub process_noise: f64,
    /// Whether to learn from the end of an episode as though it went on, a bug of the authors' code.
    pub bootstrap_at_end: bool,
}

impl Default for KtdSettings {
    fn default() -> Self {
        Self {
            initial_mean: 0.0,
            initial_var: 10.0,
            kappa: 1.0,
            observation_noise: 1.0,
            process_noise: 0.0,
            bootstrap_at_end: false,
        }
    }
}

impl KtdSettings {
    fn check(&self) -> Result<()> {
        let positive = |name, x: f64| setting(name, x, x > 0.0 && x.is_finite(), "positive and finite");
        let weight = |name, x: f64| setting(name, x, x >= 0.0 && x.is_finite(), "finite and not negative");
        setting("initial_mean", self.initial_mean, self.initial_mean.is_finite(), "finite")?;
        positive("initial_var", self.initial_var)?;
        positive("observation_noise", self.observation_noise)?;
        weight("kappa", self.kappa)?;
        weight("process_noise", self.process_noise).map(drop)
    }
}

/// KTD-Q on a table.
///
/// ```
/// use adfq::agent::{Agent, KtdQ, KtdSettings, Step};
///
/// let mut agent = KtdQ::new(2, 2, 0.95, KtdSettings::default())?;
/// agent.update(&Step { state: 1, action: 0, reward: 2.0, next_state: 0, terminal: true })?;
/// // One Gaussian observation with noise 1 of a value with prior N(0, 10).
/// assert!((agent.means(1)[0] - 20.0 / 11.0).abs() < 1e-12);
/// assert!((agent.var(1, 0) - 10.0 / 11.0).abs() < 1e-12);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KtdQ {
    table: QTable,
    discount: f64,
    settings: KtdSettings,
    factor: Factor,
    steps: u64,
    /// The step up to which each pair has received its process noise.
    loaded: Vec<u64>,
    /// Scratch space: v, then q, of a step; and L q.
    q: Vec<f64>,
    image: Vec<f64>,
}

/// What the unscented transform predicts of the next reward.
struct Prediction {
    reward: f64,
    /// P_r, and the part `rest` of it.
    var: f64,
    rest: f64,
}

impl KtdQ {
    /// A table with independent beliefs.
    pub fn new(states: usize, actions: usize, gamma: f64, settings: KtdSettings) -> Result<Self> {
        settings.check()?;
        let table = QTable::new(states, actions, settings.initial_mean)?;
        let n = table.len();
        Ok(Self {
            table,
            discount: discount(gamma)?,
            settings,
            factor: Factor::scaled_identity(n, settings.initial_var.sqrt()),
            steps: 0,
            loaded: vec![0; n],
            q: Vec::with_capacity(n),
            image: vec![0.0; n],
        })
    }

    /// c² = n + κ.
    fn spread(&self) -> f64 {
        self.table.shape.len() as f64 + self.settings.kappa
    }

    /// Process noise that pair `i` has not received yet.
    fn pending(&self, i: usize) -> f64 {
        self.settings.process_noise * (self.steps - self.loaded[i]) as f64
    }

    /// Gives pair `i` the process noise of all steps since it was last read.
    fn load(&mut self, i: usize) {
        let amount = self.pending(i);
        self.loaded[i] = self.steps;
        if amount > 0.0 {
            self.factor.load(i, amount, &mut self.image);
        }
    }

    /// L(i, j), which is 0 above the diagonal.
    fn entry(&self, i: usize, j: usize) -> f64 {
        if j <= i { self.factor.at(i, j) } else { 0.0 }
    }

    /// maxᵦ θ(s′,b) at the two sigma points of pair j; `row` says where s′ is, and is empty where nothing follows.
    fn maxima(&self, row: Range<usize>, j: usize, c: f64) -> (f64, f64) {
        if row.is_empty() {
            return (0.0, 0.0);
        }
        row.fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |(plus, minus), b| {
            let (mean, shift) = (self.table.means[b], c * self.entry(b, j));
            let larger = |x, y| if x > y { x } else { y };
            (larger(mean + shift, plus), larger(mean - shift, minus))
        })
    }

    /// The unscented transform of g, which reads `state_action` and `row`; leaves v in `self.q`.
    fn predict(&mut self, state_action: usize, row: Range<usize>) -> Prediction {
        let (c2, gamma) = (self.spread(), self.discount);
        let c = c2.sqrt();
        let greedy = if row.is_empty() { 0.0 } else { maximum(&self.table.means[row.clone()]) };
        // Columns beyond the last row that g reads are zero there: their pairs have v = 0 and m = r₀.
        let columns = row.end.max(state_action + 1);
        self.q.clear();
        // Sums of dⱼ = mⱼ - r₀, by which the maximum bends g, of dⱼ² and of vⱼ².
        let (mut bend, mut bend2, mut v2) = (0.0, 0.0, 0.0);
        for j in 0..columns {
            let (plus, minus) = self.maxima(row.clone(), j, c);
            let v = 2.0 * c * self.entry(state_action, j) - gamma * (plus - minus);
            let d = gamma * (greedy - 0.5 * (plus + minus));
            bend += d;
            bend2 += d * d;
            v2 += v * v;
            self.q.push(v);
        }
        // r̂ = r₀ + d̄ with d̄ = Σdⱼ/c², and so rest = noise + Σdⱼ²/c² - d̄².
        let mean_bend = bend / c2;
        let rest = self.settings.observation_noise + (bend2 / c2 - mean_bend * mean_bend).max(0.0);
        let reward = self.table.means[state_action] - gamma * greedy + mean_bend;
        Prediction { reward, var: v2 / (4.0 * c2) + rest, rest }
    }

    fn diverged(&self, quantity: &'static str, value: f64) -> Error {
        Error::Diverged { agent: "KTD-Q", step: self.steps, quantity, value }
    }
}

impl Agent for KtdQ {
    #[inline]
    fn table(&self) -> &QTable {
        &self.table
    }

    /// Learns from one transition. [`Error::Diverged`] says that an estimate left all bounds; the agent is then
    /// of no further use.
    fn update(&mut self, step: &Step) -> Result<()> {
        self.table.check(step)?;
        self.steps += 1;
        let state_action = self.table.shape.index(step.state, step.action);
        let goes_on = !step.terminal || self.settings.bootstrap_at_end;
        let row = if goes_on { self.table.shape.row(step.next_state) } else { 0..0 };
        if self.settings.process_noise > 0.0 {
            self.load(state_action);
            row.clone().for_each(|i| self.load(i));
        }
        let predicted = self.predict(state_action, row);
        if !(predicted.var.is_finite() && predicted.reward.is_finite()) {
            return Err(self.diverged("the variance of the predicted reward", predicted.var));
        }
        let scale = 1.0 / (4.0 * self.spread() * predicted.var).sqrt();
        self.q.iter_mut().for_each(|v| *v *= scale);
        self.factor.contract(&self.q, predicted.rest / predicted.var, &mut self.image);
        // K (r - r̂) with K = P_θr/P_r = L q/√P_r.
        let surprise = (step.reward - predicted.reward) / predicted.var.sqrt();
        for (mean, gain) in self.table.means.iter_mut().zip(&self.image) {
            *mean += gain * surprise;
        }
        match self.table.means.iter().find(|mean| mean.abs() > DIVERGED || mean.is_nan()) {
            None => Ok(()),
            Some(&mean) => Err(self.diverged("an estimate", mean)),
        }
    }

    /// One draw of [`Agent::sample`] is from the marginal belief: draws for two pairs are independent though the beliefs are
    /// not. Takes O(n): the variance is the squared length of a row of the factor.
    fn var(&self, state: usize, action: usize) -> f64 {
        let i = self.table.shape.index(state, action);
        self.factor.variance(i) + self.pending(i)
    }
}
