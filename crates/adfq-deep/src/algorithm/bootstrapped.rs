//! Bootstrapped DQN with randomised prior functions (Osband et al. 2016 and 2018).
//!
//! K heads share the hidden layers. Each head is a Q-function of its own: what the network gives, and β times a prior
//! that is drawn once and never trained,
//!
//! ```text
//! Q_k(s,a) = f_k(s,a) + β p_k(s,a)
//! target_k = r + γ max_b Q′_k(s′,b)
//! ```
//!
//! A mask says which heads learn from a transition: each one with the same probability, drawn once for the transition.
//! One head acts for a whole episode. The beliefs are mean and standard deviation over heads. docs/bootstrapped-dqn.md
//! has every deviation from the papers.

use super::{
    Algorithm, Batch, CudaLoss, Demand, Descriptor, Estimate, Gradient, Keeps, Loss, Outputs, Passes, State,
    Sums, largest, mix,
};
use crate::config::check;
use crate::{Config, Error, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::Space;
use adfq_nn::{Init, Network, Output, Workspace};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The algorithm's name, and that of the table with its settings.
const NAME: &str = "bootstrapped";

/// How it is registered.
pub(super) fn descriptor() -> Descriptor {
    Descriptor::new(NAME, "bootstrapped DQN with randomised priors, an ensemble of heads", |config, space| {
        Ok(Box::new(Bootstrapped::new(config, space)?))
    })
    .policies(&["head", "thompson", "epsilon"])
    .settings::<BootstrappedSettings>(BootstrappedSettings::check)
    .demands(|config, _| {
        let settings: BootstrappedSettings = config.own(NAME)?;
        // The fixed priors are one more network.
        Ok(Demand { outputs: settings.heads, networks: 1, ..Demand::default() })
    })
}

/// Its settings: the table `[bootstrapped]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BootstrappedSettings {
    /// K: how many heads there are.
    pub heads: usize,
    /// β: what a prior is multiplied with.
    pub prior: f64,
    /// The probability with which a head learns from a transition.
    pub mask: f64,
}

impl Default for BootstrappedSettings {
    fn default() -> Self {
        Self { heads: 10, prior: 5.0, mask: 0.5 }
    }
}

impl BootstrappedSettings {
    fn check(&self, _: &Config) -> Result<()> {
        check(&[
            ("bootstrapped.heads", (1..=1_000).contains(&self.heads), "between 1 and 1000"),
            ("bootstrapped.prior", self.prior >= 0.0 && self.prior.is_finite(), "0 or above"),
            ("bootstrapped.mask", self.mask > 0.0 && self.mask <= 1.0, "above 0 and at most 1"),
        ])
    }
}

struct Bootstrapped {
    config: Config,
    settings: BootstrappedSettings,
    actions: usize,
    prior: Prior,
    /// A number from which masks follow.
    masks: u64,
    acting: Acting,
}

/// Which head acts in each environment, and what draws the next one. A checkpoint holds it.
#[derive(Serialize, Deserialize)]
struct Acting {
    heads: Vec<usize>,
    rng: ChaCha8Rng,
}

/// The fixed priors of all heads: a network of the same shape.
struct Prior {
    network: Network,
    params: Vec<f32>,
    scale: f32,
    batch: Workspace,
    single: Workspace,
    /// β p_k(s,a) and β p_k(s′,b) of the last batch, row by row.
    here: Vec<f32>,
    next: Vec<f32>,
}

impl Prior {
    fn new(config: &Config, space: &Space, settings: &BootstrappedSettings) -> Result<Self> {
        let network = Network::new(&config.spec(space, settings.heads))?;
        let mut params = vec![0.0; network.parameters()];
        let init = Init { hidden: config.network.weights, output: Output::Hidden };
        network.init(&init, &mut stream(config.seed, "prior"), &mut params)?;
        Ok(Self {
            batch: Workspace::new(&network, 1, config.learning.batch)?,
            single: Workspace::new(&network, 1, 1)?,
            scale: settings.prior as f32,
            here: vec![],
            next: vec![],
            params,
            network,
        })
    }

    fn see_batch(&mut self, batch: &Batch) -> Result<()> {
        for (observations, out) in [(batch.obs, &mut self.here), (batch.next, &mut self.next)] {
            let priors = self.network.forward(&self.params, observations, &mut self.batch)?;
            out.clear();
            out.extend(priors.iter().map(|prior| self.scale * prior));
        }
        Ok(())
    }
}

impl Bootstrapped {
    fn new(config: &Config, space: &Space) -> Result<Self> {
        let settings: BootstrappedSettings = config.own(NAME)?;
        let mut rng = stream(config.seed, "heads");
        let masks = rng.next_u64();
        let heads = (0..config.envs).map(|_| rng.random_range(0..settings.heads)).collect();
        Ok(Self {
            prior: Prior::new(config, space, &settings)?,
            config: config.clone(),
            actions: space.actions,
            acting: Acting { heads, rng },
            settings,
            masks,
        })
    }

    /// Whether a head learns from a transition. The same for ever: no mask is stored.
    fn learns(&self, index: u64, head: usize) -> bool {
        let word = mix(mix(self.masks ^ index) ^ head as u64);
        (word >> 11) as f64 * 2.0_f64.powi(-53) < self.settings.mask
    }
}

impl Algorithm for Bootstrapped {
    fn groups(&self) -> usize {
        self.settings.heads
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, ..Passes::default() }
    }

    /// Huber's loss, averaged over heads and transitions.
    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        self.prior.see_batch(batch)?;
        let (actions, heads) = (self.actions, self.settings.heads);
        let mut sums = Sums::new(self.config.learning.huber, batch.len());
        let mut beyond = vec![0.0; actions];
        for i in 0..batch.len() {
            let (row, action) = (i * heads * actions, batch.action[i] as usize);
            let weight = batch.weight[i] / heads as f32;
            let (mut total, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for head in 0..heads {
                let first = row + head * actions;
                for (b, value) in beyond.iter_mut().enumerate() {
                    *value = outputs.target_next[first + b] + self.prior.next[first + b];
                }
                // Not bounded by the rewards received: a prior may promise what was never paid yet, and that is why it
                // explores.
                let target = batch.bootstrap(i, || largest(&beyond).1);
                let q = outputs.online[first + action] + self.prior.here[first + action];
                let error = q - target;
                if self.learns(batch.index[i], head) {
                    gradient.outputs[first + action] = sums.add(error, weight);
                }
                total += error.abs();
                sum += q;
                squares += q * q;
            }
            let mean = sum / heads as f32;
            gradient.errors[i] = total / heads as f32;
            sums.see_q(mean);
            sums.see_sigma((squares / heads as f32 - mean * mean).max(0.0).sqrt());
        }
        Ok(sums.loss())
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        let Prior { network, params, scale, single, here, .. } = &mut self.prior;
        let priors = match state.beside {
            [] => network.forward(params, state.observation, single)?,
            beside => {
                here.clear();
                here.extend(beside.iter().map(|&prior| prior as f32));
                here
            }
        };
        let (actions, heads) = (self.actions, self.settings.heads);
        let acting = state.env.and_then(|env| self.acting.heads.get(env));
        for action in 0..actions {
            let q =
                |head: usize| state.row[head * actions + action] + *scale * priors[head * actions + action];
            let mean = (0..heads).map(q).sum::<f32>() / heads as f32;
            let var = (0..heads).map(|head| (q(head) - mean).powi(2)).sum::<f32>() / heads as f32;
            let score = acting.map_or(mean, |&head| q(head));
            out.push(Estimate { mean, sd: var.sqrt(), score });
        }
        Ok(())
    }

    fn sees_observations(&self) -> bool {
        true
    }

    fn begin_episode(&mut self, env: usize) {
        let head = self.acting.rng.random_range(0..self.settings.heads);
        if let Some(acting) = self.acting.heads.get_mut(env) {
            *acting = head;
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.acting).map_err(|error| Error::State(error.to_string()))
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        let acting: Acting = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        if acting.heads.len() != self.config.envs
            || acting.heads.iter().any(|&head| head >= self.settings.heads)
        {
            return Err("it has other heads or environments".to_owned());
        }
        self.acting = acting;
        Ok(())
    }

    fn cuda(&self) -> Option<CudaLoss> {
        let word = |shift: u32| f64::from((self.masks >> shift) as u32);
        let own = vec![
            self.settings.heads as f64,
            f64::from(self.prior.scale),
            self.settings.mask,
            word(32),
            word(0),
        ];
        Some(CudaLoss { name: NAME, source: include_str!("kernels/bootstrapped.cu"), own, defines: &[] })
    }

    fn keeps(&self) -> Keeps<'_> {
        Keeps::Network(&self.prior.params)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{config, learner, practised, sample, space};
    use super::*;
    use crate::learner::Asked;
    use crate::{Host, Trainer};

    fn bootstrapped(config: &Config) -> Bootstrapped {
        Bootstrapped::new(config, &space()).unwrap()
    }

    fn close(found: f64, expected: f64, sd: f64) {
        assert!((found - expected).abs() < 4.0 * sd, "{found} {expected}");
    }

    #[test]
    fn masks_are_drawn_once_for_each_transition_at_the_configured_rate() {
        const COUNT: u64 = 20_000;
        for mask in [0.1, 0.5, 1.0] {
            let settings = BootstrappedSettings { heads: 8, mask, ..BootstrappedSettings::default() };
            let config = config(NAME).with_own(NAME, &settings).unwrap();
            let (one, again) = (bootstrapped(&config), bootstrapped(&config));
            let other = bootstrapped(&Config { seed: 1, ..config });
            let share = |learns: &dyn Fn(u64) -> bool| {
                (0..COUNT).filter(|&index| learns(index)).count() as f64 / COUNT as f64
            };
            let sd = |p: f64| (p * (1.0 - p) / COUNT as f64).sqrt() + 1e-12;
            for head in 0..8 {
                assert!((0..COUNT).all(|i| one.learns(i, head) == again.learns(i, head)));
                close(share(&|index| one.learns(index, head)), mask, sd(mask));
                // Heads, neighbouring transitions and other runs are independent.
                let (both, next) = (mask * mask, (head + 1) % 8);
                close(share(&|i| one.learns(i, head) && one.learns(i, next)), both, sd(both));
                close(share(&|i| one.learns(i, head) && one.learns(i + 1, head)), both, sd(both));
                close(share(&|i| one.learns(i, head) && other.learns(i, head)), both, sd(both));
            }
        }
    }

    /// A masked head gets no gradient from a transition.
    #[test]
    fn only_heads_in_the_mask_learn() {
        let (mut learner, sample) = (practised(NAME), sample());
        let masks = bootstrapped(&config(NAME));
        learner.loss(&sample).unwrap();
        for (i, &action) in sample.action.iter().enumerate() {
            for head in 0..8 {
                let at = (i * 8 + head) * 2 + action as usize;
                assert_eq!(learner.output_gradient()[at] != 0.0, masks.learns(i as u64, head), "{i} {head}");
            }
        }
    }

    /// Where the network gives 0, a head is β times its prior.
    #[test]
    fn priors_never_change() {
        let priors = |learner: &mut crate::learner::Learner| {
            let mut found = vec![];
            learner.estimate(Asked::Training(0), &[0.3, -0.7, 0.2], &[0.0; 16], &[], &mut found).unwrap();
            found
        };
        let (mut fresh, mut old) = (learner(NAME), practised(NAME));
        assert_ne!(fresh.online, old.online);
        assert_eq!(priors(&mut fresh), priors(&mut old));
        assert!(priors(&mut fresh).iter().all(|prior| prior.sd > 0.1));
        // The prior is no part of the network: the heads of another run have others.
        assert_eq!(bootstrapped(&config(NAME)).prior.params, bootstrapped(&config(NAME)).prior.params);
        let other = bootstrapped(&Config { seed: 1, ..config(NAME) });
        assert_ne!(bootstrapped(&config(NAME)).prior.params, other.prior.params);
        assert_ne!(fresh.online, bootstrapped(&config(NAME)).prior.params);
    }

    #[test]
    fn beliefs_are_mean_and_deviation_over_heads() {
        let mut bootstrapped = bootstrapped(&config(NAME));
        let row: Vec<f32> = (0..16_u8).map(|i| f32::from(i % 7) - 3.0).collect();
        let (observation, rewards) = ([0.5, -0.1, 0.9], Default::default());
        let mut at = |env, head| {
            bootstrapped.acting.heads[0] = head;
            let mut found = vec![];
            let state = State {
                env,
                only_means: false,
                observation: &observation,
                row: &row,
                beside: &[],
                actions: 2,
                rewards,
                unit: 1.0,
            };
            bootstrapped.estimate(&state, &mut found).unwrap();
            found
        };
        let heads: Vec<Vec<Estimate>> = (0..8).map(|head| at(Some(0), head)).collect();
        let judged = at(None, 3);
        for action in 0..2 {
            let scores: Vec<f64> = heads.iter().map(|of| f64::from(of[action].score)).collect();
            let mean = scores.iter().sum::<f64>() / 8.0;
            let sd = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / 8.0).sqrt();
            let Estimate { mean: found, sd: found_sd, score } = judged[action];
            assert!((f64::from(found) - mean).abs() < 1e-5 && (f64::from(found_sd) - sd).abs() < 1e-5);
            // In an evaluation no head acts alone.
            assert_eq!(score, found);
            assert!(heads.iter().all(|of| (of[action].mean, of[action].sd) == (found, found_sd)));
        }
    }

    /// A head is drawn when a game ends and at no other step, in that environment alone; a checkpoint keeps all of it.
    #[test]
    fn heads_act_for_whole_episodes() {
        let config = crate::algorithm::Algorithms::default();
        let config = config.with_agent(Config::for_env("cartpole").unwrap(), NAME, None).unwrap();
        let config = Config { envs: 3, ..config };
        let mut trainer = Trainer::new(&config, &Host::default()).unwrap();
        let acting = |trainer: &Trainer| -> Acting {
            postcard::from_bytes(&trainer.run().learner.algorithm.save().unwrap()).unwrap()
        };
        let (mut before, mut switches, mut ends, mut used) = (acting(&trainer).heads, 0, 0, [false; 10]);
        for _ in 0..600 {
            trainer.advance().unwrap();
            let after = acting(&trainer).heads;
            for env in 0..3 {
                let ended = trainer.run().envs.steps()[env].ended();
                assert!(ended || before[env] == after[env]);
                ends += usize::from(ended);
                switches += usize::from(before[env] != after[env]);
                used[after[env]] = true;
            }
            before = after;
        }
        // One draw in ten finds the same head again.
        assert!(ends > 40 && switches > ends * 3 / 4 && switches < ends, "{switches} {ends}");
        assert_eq!(used, [true; 10]);
        let saved = trainer.run().learner.algorithm.save().unwrap();
        let mut fresh = Bootstrapped::new(&config, &trainer.run().space).unwrap();
        fresh.restore(&saved).unwrap();
        assert_eq!(fresh.save().unwrap(), saved);
        let mut same: Acting = acting(&trainer);
        fresh.begin_episode(1);
        same.heads[1] = same.rng.random_range(0..10);
        assert_eq!(fresh.acting.heads, same.heads);
        assert!(fresh.restore(&saved[..saved.len() - 1]).is_err());
        let fewer = BootstrappedSettings { heads: 2, ..BootstrappedSettings::default() };
        let fewer = config.with_own(NAME, &fewer).unwrap();
        let refused = Bootstrapped::new(&fewer, &trainer.run().space).unwrap().restore(&saved);
        assert!(refused.unwrap_err().contains("other heads"));
    }
}
