//! What changes while training: an online and a target network, and Adam. One call makes one gradient step.

use crate::config::{AgentKind, Config, TargetUpdate};
use crate::replay::Sample;
use crate::split::Split;
use crate::stats::Learned;
use crate::target::{self, AdfqTarget, RewardRange, Rows};
use crate::{Error, Result};
use adfq::random::stream;
use adfq_env::Space;
use adfq_nn::{Adam, Network, Spec, Workspace, huber};

/// Learns from batches of transitions. Deterministic: no chance but that of its initial weights.
pub struct Learner {
    config: Config,
    network: Network,
    actions: usize,
    /// Parameters that learn.
    pub online: Vec<f32>,
    /// Parameters that targets come from.
    pub target: Vec<f32>,
    /// Adam's moments.
    pub adam: Adam,
    gradients: Vec<f32>,
    output_gradient: Vec<f32>,
    targets: Targets,
    online_pass: Workspace,
    /// Rewards that were received.
    pub rewards: RewardRange,
    /// |e_μ| + |e_σ|, or |e|, of the last batch.
    pub errors: Vec<f32>,
}

/// Each agent's way to its targets, with the memory it needs.
enum Targets {
    Adfq { beliefs: Box<AdfqTarget>, both: Workspace },
    Dqn { next: Workspace, target: Vec<f32> },
    Ddqn { next: Workspace, chooser: Workspace, target: Vec<f32> },
    Split { split: Box<Split>, next: Workspace },
}

impl Learner {
    /// A learner at its start.
    pub fn new(config: &Config, space: &Space) -> Result<Self> {
        let network = Network::new(&config.spec(space.observation_shape(), space.actions))?;
        let mut online = vec![0.0; network.parameters()];
        network.init(&config.init(), &mut stream(config.seed, "network"), &mut online)?;
        let batch = config.learning.batch;
        let pass = |rows| Workspace::new(&network, 1, rows);
        let targets = match config.agent {
            AgentKind::Adfq => {
                Targets::Adfq { beliefs: Box::new(AdfqTarget::new(config)?), both: pass(2 * batch)? }
            }
            AgentKind::Dqn => Targets::Dqn { next: pass(batch)?, target: vec![0.0; batch] },
            AgentKind::Ddqn => {
                Targets::Ddqn { next: pass(batch)?, chooser: pass(batch)?, target: vec![0.0; batch] }
            }
            AgentKind::Split => {
                let split = Split::new(config, network.inputs(), space.actions);
                Targets::Split { split: Box::new(split), next: pass(batch)? }
            }
        };
        let mut rewards = RewardRange::default();
        if config.agent == AgentKind::Split {
            let expected = config.split.clone().unwrap_or_default().rewards;
            expected.iter().for_each(|&reward| rewards.see(reward));
        }
        Ok(Self {
            adam: Adam::new(config.learning.adam, &network, 1)?,
            gradients: vec![0.0; network.parameters()],
            output_gradient: vec![0.0; batch * network.outputs()],
            online_pass: pass(batch)?,
            errors: vec![0.0; batch],
            rewards,
            target: online.clone(),
            actions: space.actions,
            config: config.clone(),
            targets,
            online,
            network,
        })
    }

    /// The network, without parameters.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What is known beside the network by the agent `split`.
    pub fn split(&self) -> Option<&Split> {
        match &self.targets {
            Targets::Split { split, .. } => Some(split),
            _ => None,
        }
    }

    pub(crate) fn split_mut(&mut self) -> Option<&mut Split> {
        match &mut self.targets {
            Targets::Split { split, .. } => Some(split),
            _ => None,
        }
    }

    /// What the agent believes for each of these observations, for as many as the workspace is for: a row is Q of every
    /// action; or μ and then -log σ; or μ, -log σ and then the hopeful value.
    pub fn beliefs(&self, observations: &[f32], pass: &mut Workspace, rows: &mut Vec<f32>) -> Result<()> {
        rows.clear();
        rows.extend_from_slice(self.network.forward(&self.online, observations, pass)?);
        if let Some(split) = self.split() {
            split.read(&self.rewards, observations, rows);
        }
        Ok(())
    }

    /// An error unless the network is one for this space.
    pub fn check_space(&self, space: &Space) -> Result<()> {
        let Spec { input, head, .. } = self.network.spec();
        if (input, head.actions) == (&space.observation_shape(), space.actions) {
            return Ok(());
        }
        Err(Error::Space {
            network: format!("{input:?} and {} actions", head.actions),
            env: format!("{:?} and {}", space.observation_shape(), space.actions),
        })
    }

    /// One gradient step on a batch, at this environment step. A quantity that is not finite is an error, and the
    /// parameters are then as they were.
    pub fn learn(&mut self, sample: &Sample, step: u64) -> Result<Learned> {
        self.compute_targets(sample).map_err(|error| match error {
            Error::Update(_) => diverged("belief", step),
            other => other,
        })?;
        let mut learned = self.compute_loss(sample)?;
        if !learned.loss.is_finite() {
            return Err(diverged("loss", step));
        }
        let (online, gradients) = (&mut self.online, &mut self.gradients);
        self.network.backward(
            online,
            sample.obs(),
            &self.output_gradient,
            &mut self.online_pass,
            gradients,
        )?;
        self.adam.settings.rate = self.config.rate(step);
        let taken = self.adam.step(&self.network, self.config.learning.clip, online, gradients);
        learned.gradient_norm = taken.map_err(|error| match error {
            adfq_nn::Error::Gradient { .. } => diverged("gradient", step),
            other => other.into(),
        })?;
        if let TargetUpdate::Soft(tau) = self.config.learning.target {
            for (target, online) in self.target.iter_mut().zip(&self.online) {
                *target += tau * (online - *target);
            }
        }
        Ok(learned)
    }

    /// Copies the online parameters to the target network.
    pub fn copy_target(&mut self) {
        self.target.copy_from_slice(&self.online);
    }

    fn compute_targets(&mut self, sample: &Sample) -> Result<()> {
        let rows = Rows {
            actions: self.actions,
            action: &sample.action,
            reward: &sample.reward,
            discount: &sample.discount,
            terminal: &sample.terminal,
        };
        let targets = match &mut self.targets {
            Targets::Adfq { beliefs, both } => {
                let outputs = self.network.forward(&self.target, &sample.both, both)?;
                let (here, next) = outputs.split_at(outputs.len() / 2);
                beliefs.compute(&rows, here, next)?;
                &mut beliefs.mean
            }
            Targets::Dqn { next, target } => {
                target::dqn(&rows, self.network.forward(&self.target, sample.next(), next)?, target);
                target
            }
            Targets::Ddqn { next, chooser, target } => {
                let chosen = self.network.forward(&self.online, sample.next(), chooser)?;
                let judged = self.network.forward(&self.target, sample.next(), next)?;
                target::double_dqn(&rows, chosen, judged, target);
                target
            }
            Targets::Split { split, next } => {
                let outputs = self.network.forward(&self.target, sample.next(), next)?;
                split.compute(&rows, &self.rewards, sample.next(), outputs);
                &mut split.mean
            }
        };
        if self.config.learning.bound_targets {
            let (least, greatest) = self.rewards.values(self.config.learning.discount);
            targets.iter_mut().for_each(|target| *target = target.clamp(least, greatest));
            if let Some(split) = self.split_mut() {
                split.ahead.iter_mut().for_each(|target| *target = target.clamp(least, greatest));
            }
        }
        Ok(())
    }

    /// The weighted Huber loss, averaged over the batch, and its gradient with respect to the outputs.
    fn compute_loss(&mut self, sample: &Sample) -> Result<Learned> {
        let outputs = self.network.forward(&self.online, sample.obs(), &mut self.online_pass)?;
        let (batch, width, actions) = (sample.action.len(), self.network.outputs(), self.actions);
        let (delta, share) = (self.config.learning.huber, 1.0 / batch as f32);
        self.output_gradient.fill(0.0);
        let (mut loss, mut mean_q, mut mean_sigma) = (0.0, 0.0, 0.0);
        let (mut squares, mut residuals, mut weights) = (0.0, 0.0, 0.0);
        for i in 0..batch {
            let row = &outputs[i * width..(i + 1) * width];
            let gradient = &mut self.output_gradient[i * width..(i + 1) * width];
            let (action, weight) = (sample.action[i] as usize, sample.weight[i] * share);
            let error = match &self.targets {
                Targets::Adfq { beliefs, .. } => {
                    // The loss is Huber(log σ - log σ_T), and the output ρ = -log σ: its gradient changes sign.
                    let rho = row[actions + action];
                    let error = -rho - 0.5 * libm::logf(beliefs.var[i]);
                    let (value, slope) = huber(error, delta);
                    loss += weight * value;
                    gradient[actions + action] = -weight * slope;
                    self.errors[i] = error.abs();
                    mean_sigma += libm::expf(-rho) * share;
                    row[action] - beliefs.mean[i]
                }
                Targets::Dqn { target, .. } | Targets::Ddqn { target, .. } => {
                    self.errors[i] = 0.0;
                    row[action] - target[i]
                }
                Targets::Split { split, .. } => {
                    let error = -row[actions + action] - 0.5 * libm::logf(split.inherited[i]);
                    let (value, slope) = huber(error, delta);
                    loss += weight * value;
                    gradient[actions + action] = -weight * slope;
                    let error = row[2 * actions + action] - split.ahead[i];
                    let (value, slope) = huber(error, delta);
                    loss += weight * value;
                    gradient[2 * actions + action] = weight * slope;
                    self.errors[i] = error.abs();
                    let error = row[action] - split.mean[i];
                    squares += weight * split.mean[i] * split.mean[i];
                    residuals += weight * error * error;
                    weights += weight;
                    error
                }
            };
            let (value, slope) = huber(error, delta);
            loss += weight * value;
            gradient[action] = weight * slope;
            self.errors[i] += error.abs();
            mean_q += row[action] * share;
        }
        match &mut self.targets {
            Targets::Adfq { .. } => {}
            Targets::Dqn { .. } | Targets::Ddqn { .. } => mean_sigma = f32::NAN,
            Targets::Split { split, .. } => {
                mean_sigma = split.mean_sd;
                split.note((squares / weights).into(), (residuals / weights).into());
            }
        }
        Ok(Learned { loss, gradient_norm: 0.0, mean_q, mean_sigma })
    }
}

/// The trainer adds where the last checkpoint lies.
fn diverged(quantity: &'static str, step: u64) -> Error {
    Error::Diverged { quantity, step, good: None }
}

#[cfg(test)]
mod tests;
