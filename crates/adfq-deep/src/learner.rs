//! What changes while training on the CPU: an online and a target network, Adam, and the algorithm's own state. One call
//! makes one gradient step.

use crate::algorithm::{
    Algorithm, Algorithms, Batch, Estimate, Gradient, Loss, Outputs, Passes, RewardRange, RewardUnit, State,
};
use crate::config::{Config, TargetUpdate};
use crate::metrics::Learned;
use crate::replay::Sample;
use crate::{Error, Result};
use adfq::random::stream;
use adfq_env::Space;
use adfq_nn::{Adam, Init, Network, Spec, Workspace};

/// What is asked of a learner in a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    /// What its policy needs in this environment of the training.
    Training(usize),
    /// The means. Nothing else will be looked at.
    Means,
    /// All that it believes.
    Beliefs,
}

/// Learns from batches of transitions. Deterministic: no chance but that of its initial weights.
pub struct Learner {
    config: Config,
    network: Network,
    space: Space,
    /// Parameters that learn.
    pub online: Vec<f32>,
    /// Parameters that targets come from.
    pub target: Vec<f32>,
    /// Adam's moments.
    pub adam: Adam,
    /// What is learned.
    pub algorithm: Box<dyn Algorithm>,
    /// Rewards that were received.
    pub rewards: RewardRange,
    /// What rewards are divided by before they are learned from.
    pub unit: RewardUnit,
    /// The magnitude of each transition's error in the last batch.
    pub errors: Vec<f32>,
    /// The rewards of a batch in their unit.
    reward: Vec<f32>,
    gradients: Vec<f32>,
    output_gradient: Vec<f32>,
    passes: Workspaces,
}

/// Memory for the forward passes of a gradient step.
struct Workspaces {
    wanted: Passes,
    online: Workspace,
    /// The target network on s and s′ at once, or on s′ alone.
    target: Workspace,
    online_next: Option<Workspace>,
}

impl Workspaces {
    fn new(network: &Network, wanted: Passes, batch: usize) -> Result<Self> {
        let pass = |rows| Workspace::new(network, 1, rows);
        Ok(Self {
            wanted,
            online: pass(batch)?,
            target: pass(if wanted.target { 2 * batch } else { batch })?,
            online_next: wanted.online_next.then(|| pass(batch)).transpose()?,
        })
    }
}

impl Learner {
    /// A learner at its start.
    pub fn new(config: &Config, space: &Space, algorithms: &Algorithms) -> Result<Self> {
        let algorithm = algorithms.get(&config.agent)?.build(config, space)?;
        let network = Network::new(&config.spec(space, algorithm.groups()))?;
        let mut online = vec![0.0; network.parameters()];
        let init = Init { hidden: config.network.weights, output: algorithm.output() };
        network.init(&init, &mut stream(config.seed, "network"), &mut online)?;
        let batch = config.learning.batch;
        Ok(Self {
            adam: Adam::new(config.learning.adam, &network, 1)?,
            gradients: vec![0.0; network.parameters()],
            output_gradient: vec![0.0; batch * network.outputs()],
            passes: Workspaces::new(&network, algorithm.passes(), batch)?,
            errors: vec![0.0; batch],
            reward: Vec::with_capacity(batch),
            rewards: RewardRange::default(),
            unit: if algorithm.learns_in_units() { RewardUnit::default() } else { RewardUnit::ONE },
            target: online.clone(),
            space: space.clone(),
            config: config.clone(),
            algorithm,
            online,
            network,
        })
    }

    /// The configuration of its run.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The network, without parameters.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// What its environment gives and takes.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// What is believed, given the online network's outputs for a state and what a GPU found beside them.
    pub(crate) fn estimate(
        &mut self,
        asked: Asked,
        observation: &[f32],
        row: &[f32],
        beside: &[f64],
        out: &mut Vec<Estimate>,
    ) -> Result<()> {
        out.clear();
        let (actions, rewards, unit) = (self.space.actions, self.rewards, self.unit.size());
        let env = if let Asked::Training(env) = asked { Some(env) } else { None };
        let only_means = asked == Asked::Means;
        let state = State { env, only_means, observation, row, beside, actions, rewards, unit };
        self.algorithm.estimate(&state, out)
    }

    /// An error unless the network is one for this space.
    pub(crate) fn check_space(&self, space: &Space) -> Result<()> {
        let Spec { input, head, .. } = self.network.spec();
        if (input, head.actions) == (&space.observation_shape(), space.actions) {
            return Ok(());
        }
        Err(Error::Space {
            network: format!("{input:?} and {} actions", head.actions),
            env: format!("{:?} and {}", space.observation_shape(), space.actions),
        })
    }

    /// Follows the schedules of this configuration from now on, one of the same run.
    pub(crate) fn set_config(&mut self, config: &Config) {
        self.config = config.clone();
    }

    /// One gradient step on a batch, at this environment step. A quantity that is not finite is an error, and the
    /// parameters are then as they were.
    pub fn learn(&mut self, sample: &Sample, step: u64) -> Result<Learned> {
        let Loss { loss, mean_q, mean_sigma } = self.loss(sample).map_err(|error| match error {
            Error::Update(_) => diverged("belief", step),
            other => other,
        })?;
        if !loss.is_finite() {
            return Err(diverged("loss", step));
        }
        let (online, gradients) = (&mut self.online, &mut self.gradients);
        let pass = &mut self.passes.online;
        self.network.backward(online, sample.obs(), &self.output_gradient, pass, gradients)?;
        self.adam.settings.rate = self.config.rate(step);
        let taken = self.adam.step(&self.network, self.config.learning.clip, online, gradients);
        let gradient_norm = taken.map_err(|error| match error {
            adfq_nn::Error::Gradient { .. } => diverged("gradient", step),
            other => other.into(),
        })?;
        if let TargetUpdate::Soft(tau) = self.config.learning.target {
            for (target, online) in self.target.iter_mut().zip(&self.online) {
                *target += tau * (online - *target);
            }
        }
        Ok(Learned { loss, gradient_norm, mean_q, mean_sigma })
    }

    /// Copies the online parameters to the target network.
    pub fn copy_target(&mut self) {
        self.target.copy_from_slice(&self.online);
    }

    /// The loss of a batch; its gradient with respect to the outputs is left in `output_gradient`.
    pub(crate) fn loss(&mut self, sample: &Sample) -> Result<Loss> {
        let (network, passes) = (&self.network, &mut self.passes);
        let inputs = if passes.wanted.target { &sample.both[..] } else { sample.next() };
        let judged = match passes.wanted.target || passes.wanted.target_next {
            true => network.forward(&self.target, inputs, &mut passes.target)?,
            false => &[],
        };
        let (target, target_next) = judged.split_at(if passes.wanted.target { judged.len() / 2 } else { 0 });
        let online_next = match &mut passes.online_next {
            Some(pass) => network.forward(&self.online, sample.next(), pass)?,
            None => &[],
        };
        let online = network.forward(&self.online, sample.obs(), &mut passes.online)?;
        self.reward.clear();
        self.reward.extend(sample.reward.iter().map(|&reward| self.unit.of(reward)));
        let batch = Batch {
            actions: self.space.actions,
            action: &sample.action,
            reward: &self.reward,
            discount: &sample.discount,
            terminal: &sample.terminal,
            weight: &sample.weight,
            index: &sample.index,
            obs: sample.obs(),
            next: sample.next(),
            rewards: self.rewards.in_unit(&self.unit),
        };
        self.output_gradient.fill(0.0);
        let mut gradient = Gradient { outputs: &mut self.output_gradient, errors: &mut self.errors };
        self.algorithm.loss(&batch, &Outputs { online, target, target_next, online_next }, &mut gradient)
    }

    /// The gradient of the last [`Learner::loss`].
    #[cfg(test)]
    pub(crate) fn output_gradient(&self) -> &[f32] {
        &self.output_gradient
    }
}

/// Where the last good checkpoint lies is known elsewhere.
pub(crate) fn diverged(quantity: &'static str, step: u64) -> Error {
    Error::Diverged { quantity, step, good: None }
}
