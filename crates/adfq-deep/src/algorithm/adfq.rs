//! Deep ADFQ (paper §6). The network gives μ and ρ = -log σ of a belief over every Q(s,a). The target is the posterior
//! of that belief after the transition, from the target network's beliefs in s and s′; the loss compares means, and
//! logarithms of deviations.

use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, Readout,
    State, Sums, bounds,
};
use crate::config::check;
use crate::{Config, Result};
use adfq::batch::{self, Column};
use adfq::update::{NoiseKind, RuleKind, Update};
use adfq_nn::Output;
use serde::{Deserialize, Serialize};

/// The algorithm's name, and that of the table with its settings.
pub(crate) const NAME: &str = "adfq";

/// A mean and a standard deviation for each action.
const OUTPUTS: usize = 2;

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new(NAME, "Deep ADFQ, a Gaussian belief on every Q(s,a)", |config, _| {
        Ok(Box::new(Adfq::new(config)?))
    })
    .policies(&["thompson", "epsilon"])
    .settings::<AdfqSettings>(AdfqSettings::check)
    .demands(|_, _| Ok(Demand { outputs: OUTPUTS, ..Demand::default() }))
}

/// Its settings: the table `[adfq]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdfqSettings {
    /// The update rule that makes the target.
    pub rule: RuleKind,
    /// Initial mean μ0.
    pub mean: f64,
    /// Initial standard deviation σ0.
    pub sd: f64,
    /// Least variance: of a belief that the network gives, and of a target.
    pub min_var: f64,
    /// Largest variance of a belief that the network gives.
    pub max_var: f64,
    /// Variance of the target where an episode ends.
    pub terminal_var: f64,
    /// How noise on the target is treated.
    pub noise: NoiseKind,
    /// Its variance σ_w².
    pub var_w: f64,
}

impl Default for AdfqSettings {
    /// Appendix E of the paper and, where it is silent, the authors' code.
    fn default() -> Self {
        Self {
            rule: RuleKind::Analytic,
            mean: 1.0,
            sd: 50.0,
            min_var: 1e-5,
            max_var: 1e10,
            terminal_var: 1e-3,
            noise: NoiseKind::None,
            var_w: 0.0,
        }
    }
}

impl AdfqSettings {
    fn check(&self, _: &Config) -> Result<()> {
        let Self { mean, sd, min_var, max_var, terminal_var, var_w, .. } = *self;
        check(&[
            ("adfq.mean", mean.is_finite(), "a finite number"),
            ("adfq.min_var", min_var > 0.0, "above 0"),
            ("adfq.max_var", max_var > min_var && (max_var as f32).is_finite(), "above adfq.min_var"),
            ("adfq.sd", (min_var..=max_var).contains(&sd.powi(2)), "within the variances' range"),
            ("adfq.terminal_var", terminal_var > 0.0 && terminal_var.is_finite(), "above 0"),
            ("adfq.var_w", var_w >= 0.0 && var_w.is_finite(), "0 or above"),
        ])?;
        self.update().map(drop)
    }

    /// The update that makes the target.
    fn update(&self) -> Result<Update> {
        Ok(Update::new(self.rule.into()).with_floor((self.min_var as f32).into())?)
    }

    fn limits(&self) -> Limits {
        Limits { min_var: self.min_var as f32, max_var: self.max_var as f32 }
    }
}

/// The limits of what a network may believe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Least variance.
    pub min_var: f32,
    /// Largest variance.
    pub max_var: f32,
}

impl Limits {
    /// The variance that the output ρ = -log σ stands for: exp(-2ρ), within the limits. NaN stays NaN.
    #[inline]
    pub fn var(&self, rho: f32) -> f32 {
        libm::expf(-2.0 * rho).clamp(self.min_var, self.max_var)
    }
}

struct Adfq {
    config: Config,
    settings: AdfqSettings,
    update: Update,
    limits: Limits,
    target: Target,
}

/// The columns of a batch update. They are kept between batches; `mean` and `var` hold the posteriors.
#[derive(Default)]
pub(super) struct Target {
    mu_sa: Vec<f32>,
    var_sa: Vec<f32>,
    mu_next: Vec<f32>,
    var_next: Vec<f32>,
    pub mean: Vec<f32>,
    pub var: Vec<f32>,
}

impl Adfq {
    fn new(config: &Config) -> Result<Self> {
        let settings: AdfqSettings = config.own(NAME)?;
        let (update, limits) = (settings.update()?, settings.limits());
        Ok(Self { config: config.clone(), settings, update, limits, target: Target::default() })
    }

    /// Computes the posteriors of a batch.
    fn compute_targets(&mut self, batch: &Batch, outputs: &Outputs) -> Result<()> {
        let (width, actions, limits) = (2 * batch.actions, batch.actions, self.limits);
        let Target { mu_sa, var_sa, mu_next, var_next, mean, var } = &mut self.target;
        for column in [&mut *mu_sa, var_sa, mu_next, var_next] {
            column.clear();
        }
        for (row, &action) in outputs.target.chunks_exact(width).zip(batch.action) {
            mu_sa.push(row[action as usize]);
            var_sa.push(limits.var(row[actions + action as usize]));
        }
        for row in outputs.target_next.chunks_exact(width) {
            mu_next.extend_from_slice(&row[..actions]);
            var_next.extend(row[actions..].iter().map(|&rho| limits.var(rho)));
        }
        mean.resize(batch.len(), 0.0);
        var.resize(batch.len(), 0.0);
        let columns = batch::Batch {
            actions,
            mu_sa,
            var_sa,
            reward: batch.reward,
            discount: Column::Each(batch.discount),
            var_w: Column::All(self.settings.var_w as f32),
            terminal: batch.terminal,
            terminal_var: self.settings.terminal_var,
            mu_next,
            var_next,
        };
        Ok(columns.update(&self.update, self.settings.noise, mean, var)?)
    }
}

impl Algorithm for Adfq {
    fn groups(&self) -> usize {
        OUTPUTS
    }

    /// The prior everywhere (paper App. E).
    fn output(&self) -> Output {
        Output::Constant(vec![self.settings.mean as f32, -libm::logf(self.settings.sd as f32)])
    }

    fn passes(&self) -> Passes {
        Passes { target: true, target_next: true, online_next: false }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        self.compute_targets(batch, outputs)?;
        let (least, greatest) = bounds(&self.config, &batch.rewards);
        let mut sums = Sums::new(self.config.learning.huber, batch.len());
        for i in 0..batch.len() {
            let mu_at = i * 2 * batch.actions + batch.action[i] as usize;
            let rho_at = mu_at + batch.actions;
            let (mu, rho) = (outputs.online[mu_at], outputs.online[rho_at]);
            // The loss is Huber(log σ - log σ_T), and the output ρ = -log σ: its gradient changes sign.
            let rho_error = -rho - 0.5 * libm::logf(self.target.var[i]);
            gradient.outputs[rho_at] = -sums.add(rho_error, batch.weight[i]);
            let mu_error = mu - self.target.mean[i].clamp(least, greatest);
            gradient.outputs[mu_at] = sums.add(mu_error, batch.weight[i]);
            gradient.errors[i] = rho_error.abs() + mu_error.abs();
            sums.see_q(mu);
            sums.see_sigma(libm::expf(-rho));
        }
        Ok(sums.loss())
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        let (mu, rho) = state.row.split_at(state.actions);
        let estimate = |(&mean, &rho)| Estimate { mean, sd: self.limits.var(rho).sqrt(), score: mean };
        out.extend(mu.iter().zip(rho).map(estimate));
        Ok(())
    }

    fn readout(&self) -> Option<Readout> {
        let Limits { min_var, max_var } = self.limits;
        Some(Readout::Gaussian { off: 0.0, ratio: 1.0, min_var, max_var, local: None, unseen: None })
    }

    fn cuda(&self) -> Option<CudaLoss> {
        let AdfqSettings { rule, noise, var_w, terminal_var, min_var, max_var, .. } = self.settings;
        let own = vec![
            f64::from(rule as u8),
            f64::from(noise as u8),
            f64::from(var_w as f32),
            terminal_var,
            f64::from(min_var as f32),
            f64::from(max_var as f32),
        ];
        // The other rules are long, and take seconds to compile.
        let defines: &[&str] = if rule == RuleKind::Analytic { &[] } else { &["ANY_RULE"] };
        Some(CudaLoss { name: NAME, source: include_str!("kernels/adfq.cu"), own, defines })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BATCH, Rows, batch, config, practised, sample};
    use super::*;
    use adfq::Belief;
    use adfq::update::{Next, Noise, Transition};
    use adfq_nn::Workspace;

    #[test]
    fn targets_are_the_posteriors_of_the_target_network() {
        let (learner, sample) = (practised(NAME), sample());
        let mut adfq = Adfq::new(&config(NAME)).unwrap();
        let rows = Rows::new(&learner, &sample);
        adfq.compute_targets(&batch(&sample, learner.rewards), &rows.outputs()).unwrap();
        let mut pass = Workspace::new(learner.network(), 1, 1).unwrap();
        let beliefs = |row: &[f32]| -> Vec<Belief> {
            let var = |rho: f32| f64::from((-2.0 * rho).exp());
            (0..2).map(|a| Belief::new(row[a].into(), var(row[2 + a])).unwrap()).collect()
        };
        for i in 0..BATCH {
            let mut at = |observation: &[f32]| {
                beliefs(learner.network().forward(&learner.target, observation, &mut pass).unwrap())
            };
            let prior = at(&sample.obs()[i * 3..][..3])[sample.action[i] as usize];
            let after = at(&sample.next()[i * 3..][..3]);
            let next = match i {
                5 => Next::Terminal { target_var: adfq.settings.terminal_var },
                _ => Next::Beliefs(&after),
            };
            let transition =
                Transition::new(prior, sample.reward[i].into(), f64::from(0.9_f32), next).unwrap();
            let posterior = Update::default().apply(&transition, Noise::None).unwrap();
            assert!((posterior.mean() - f64::from(adfq.target.mean[i])).abs() < 1e-5, "{i}");
            assert!((posterior.var() / f64::from(adfq.target.var[i]) - 1.0).abs() < 1e-4, "{i}");
        }
    }
}
