//! An algorithm of the user's own: registered by name, with settings and state of its own; trained, killed, resumed to the
//! bit and evaluated like those of this crate.

use adfq_deep::algorithm::{
    Algorithm, Batch, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, RewardRange, State,
};
use adfq_deep::{Agent, Config, Error, Host, Observer, Result, Run, Summary, Training};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Expected SARSA of a softmax policy, on rewards above a running mean: the target is
///
/// ```text
/// r - r̄ + γ Σ_b π(b|s′) Q′(s′,b)        π(b|s′) ∝ exp(Q′(s′,b) / τ)
/// ```
struct ExpectedSarsa {
    settings: Settings,
    baseline: Baseline,
}

/// Its settings: the table `[expected_sarsa]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// τ.
    temperature: f32,
    /// How fast the mean reward follows.
    rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { temperature: 0.5, rate: 1e-3 }
    }
}

/// r̄ and how many batches it has seen: a state beside the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Baseline {
    mean: f64,
    batches: u64,
}

const NAME: &str = "expected_sarsa";

fn descriptor() -> Descriptor {
    Descriptor::new(NAME, "expected SARSA of a softmax policy", |config, _| {
        Ok(Box::new(ExpectedSarsa { settings: config.own(NAME)?, baseline: Baseline::default() }))
    })
    .policies(&["softest", "epsilon"])
    .settings::<Settings>(|settings, _| match settings.temperature > 0.0 {
        true => Ok(()),
        false => Err(Error::Setting { name: "expected_sarsa.temperature", must: "above 0" }),
    })
}

impl ExpectedSarsa {
    /// Σ_b π(b) Q(b).
    fn value(&self, row: &[f32]) -> f32 {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weights = row.iter().map(|q| ((q - most) / self.settings.temperature).exp());
        let (sum, total) = weights.zip(row).fold((0.0, 0.0), |(sum, total), (w, q)| (sum + w * q, total + w));
        sum / total
    }
}

impl Algorithm for ExpectedSarsa {
    fn groups(&self) -> usize {
        1
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, ..Passes::default() }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        let (mut loss, mut mean_q, share) = (0.0, 0.0, 1.0 / batch.len() as f32);
        for i in 0..batch.len() {
            let next = &outputs.target_next[i * batch.actions..][..batch.actions];
            let target = batch.bootstrap(i, || self.value(next)) - self.baseline.mean as f32;
            let at = i * batch.actions + batch.action[i] as usize;
            let error = outputs.online[at] - target;
            let weight = batch.weight[i] * share;
            gradient.outputs[at] = weight * error;
            gradient.errors[i] = error.abs();
            loss += 0.5 * weight * error * error;
            mean_q += share * outputs.online[at];
        }
        let mean = batch.reward.iter().map(|&reward| f64::from(reward)).sum::<f64>() / batch.len() as f64;
        self.baseline.mean += self.settings.rate * (mean - self.baseline.mean);
        self.baseline.batches += 1;
        Ok(Loss { loss, mean_q, mean_sigma: f32::NAN })
    }

    /// Its own policy prefers what it knows least of: the smaller value, to tell it from the greedy one.
    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        out.extend(state.row.iter().map(|&mean| Estimate { score: -mean, ..Estimate::value(mean) }));
        Ok(())
    }

    fn metrics(&self) -> &'static [&'static str] {
        &["mean_reward"]
    }

    fn take_metrics(&mut self) -> Vec<f64> {
        vec![self.baseline.mean]
    }

    fn save(&self) -> Result<Vec<u8>> {
        let Baseline { mean, batches } = self.baseline;
        Ok([mean.to_le_bytes(), batches.to_le_bytes()].concat())
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        let (numbers, []) = state.as_chunks::<8>() else { return Err("half a number".to_owned()) };
        let [mean, batches] = numbers else { return Err("not two numbers".to_owned()) };
        self.baseline = Baseline { mean: f64::from_le_bytes(*mean), batches: u64::from_le_bytes(*batches) };
        Ok(())
    }
}

fn host() -> Host {
    let mut host = Host::default();
    host.algorithms.register(descriptor()).unwrap();
    host
}

fn training() -> Training {
    let training = Training::new("cartpole").host(host()).agent(NAME).steps(900).seeds([5]);
    let settings = ["envs=2", "learning.warmup=200", "replay.capacity=600", "logging.metrics=100"];
    settings.iter().fold(training, |training, setting| training.set(setting))
}

fn trained(folder: &Path) -> Summary {
    training().run(folder).unwrap().remove(0)
}

/// Fails in the midst of the way and saves nothing: what a killed process looks like to its folder.
struct Killed;

impl Observer for Killed {
    fn metrics(&mut self, run: &Run, _: &adfq_deep::metrics::Metrics) -> Result<()> {
        if run.step() >= 600 { Err(Error::State("killed".to_owned())) } else { Ok(()) }
    }
}

#[test]
fn it_is_trained_by_name_and_killed_and_resumed_to_the_bit() {
    use adfq_deep::training::{Resources, train};
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut] = ["whole", "cut"].map(|name| folder.path().join(name));
    let training = training().set("logging.checkpoint=250");
    let expected = training.run(&whole).unwrap();
    let watch = |_: &Path, _: &Run, _: &[String]| -> adfq_deep::Observers<'static> { vec![Box::new(Killed)] };
    let going = std::sync::atomic::AtomicBool::new(false);
    let jobs = training.jobs(&cut).unwrap();
    let (mut outcomes, _) = train(jobs, &host(), &Resources::default(), &watch, &going).unwrap();
    let error = outcomes.pop().unwrap().ending.unwrap().unwrap_err().to_string();
    assert!(error.contains("killed"), "{error}");
    // The last checkpoint is from before: the state that it holds is not that of the end.
    assert_eq!(Agent::load_with(&cut, &host()).unwrap().step(), 500);
    assert_eq!(training.run(&cut).unwrap(), expected);
    let metrics = |folder: &Path| std::fs::read_to_string(folder.join("metrics.csv")).unwrap();
    assert_eq!(metrics(&cut), metrics(&whole));
    assert!(metrics(&whole).lines().next().unwrap().ends_with(",epsilon,mean_reward"));
    // Every reward of CartPole is 1: the mean is 1 - (1 - 1e-3)^700 by now.
    let last: f64 = metrics(&whole).lines().last().unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert!((last - (1.0 - 0.999_f64.powi(700))).abs() < 1e-6, "{last}");
}

#[test]
fn its_agent_acts_where_the_name_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let summary = trained(folder.path());
    assert_eq!((summary.agent.as_str(), summary.policy.as_str(), summary.updates), (NAME, "softest", 700));
    let mut agent = Agent::load_with(folder.path(), &host()).unwrap();
    assert_eq!(agent.config().own::<Settings>(NAME).unwrap(), Settings::default());
    let decision = agent.act(&[0.0, 0.1, 0.05, -0.1]).unwrap();
    assert_eq!((decision.means.len(), decision.beliefs.is_none()), (2, true));
    let error = Agent::load(folder.path()).err().unwrap().to_string();
    assert!(
        error.contains(NAME) && error.contains("adfq, bootstrapped, calibrated, ddqn, dqn, split"),
        "{error}"
    );
}

/// A state that is not the algorithm's is named, and so is the file.
#[test]
fn a_state_of_another_size_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    trained(folder.path());
    let mut other = host();
    let stateless =
        |_: &Config, _: &adfq_env::Space| -> Result<Box<dyn Algorithm>> { Ok(Box::new(Stateless)) };
    let descriptor = Descriptor::new(NAME, "another of the same name", stateless);
    let descriptor = descriptor.policies(&["softest"]).settings::<Settings>(|_, _| Ok(()));
    other.algorithms.register(descriptor).unwrap();
    let taken = Descriptor::new("dqn", "a name that is taken", |_, _| Ok(Box::new(Stateless)));
    assert!(other.algorithms.register(taken).unwrap_err().to_string().contains("built-in"));
    let error = Agent::load_with(folder.path(), &other).err().unwrap().to_string();
    assert!(error.contains("step-000000000900") && error.contains("keeps no state of its own"), "{error}");
}

/// As little as an algorithm may be.
struct Stateless;

impl Algorithm for Stateless {
    fn groups(&self) -> usize {
        1
    }

    fn passes(&self) -> Passes {
        Passes::default()
    }

    fn loss(&mut self, _: &Batch, _: &Outputs, _: &mut Gradient) -> Result<Loss> {
        Ok(Loss::default())
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        out.extend(state.row.iter().map(|&mean| Estimate::value(mean)));
        Ok(())
    }
}

/// Its own policy takes the largest score, an evaluation the largest mean: on a bandit of two arms they are opposites.
#[test]
fn its_own_policy_explores_by_its_scores() {
    let mut sarsa = ExpectedSarsa { settings: Settings::default(), baseline: Baseline::default() };
    let (row, rewards) = ([0.25, -0.5], RewardRange::default());
    let mut found = vec![];
    sarsa
        .estimate(
            &State {
                env: Some(0),
                only_means: false,
                observation: &[],
                row: &row,
                beside: &[],
                actions: 2,
                rewards,
                unit: 1.0,
            },
            &mut found,
        )
        .unwrap();
    assert_eq!(found.iter().map(|e| (e.mean, e.score)).collect::<Vec<_>>(), [(0.25, -0.25), (-0.5, 0.5)]);
    let pi = 1.0 / (1.0 + (-0.75_f32 / 0.5).exp());
    assert!((sarsa.value(&row) - (pi * 0.25 - (1.0 - pi) * 0.5)).abs() < 1e-6);
    let folder = tempfile::tempdir().unwrap();
    let softest = training().run(folder.path().join("softest")).unwrap();
    let config = |policy: &str| Training { policy: Some(policy.to_owned()), ..training() };
    let epsilon = config("epsilon").run(folder.path().join("epsilon")).unwrap();
    assert_eq!((softest[0].policy.as_str(), epsilon[0].policy.as_str()), ("softest", "epsilon"));
    assert_ne!(softest[0].replay, epsilon[0].replay);
}

/// A configuration with its settings is one for the others too: they leave them out.
#[test]
fn it_is_compared_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let config = training().jobs(folder.path()).unwrap().remove(0).config.unwrap();
    let both = Training { config: Some(config.clone()), ..Training::new("cartpole") };
    let both = both.host(host()).agents([NAME, "dqn"]).unwrap().jobs(folder.path()).unwrap();
    let configs: Vec<&Config> = both.iter().map(|job| job.config.as_ref().unwrap()).collect();
    assert_eq!(configs[0], &config);
    assert!(config.own.contains_key(NAME) && !configs[1].own.contains_key(NAME));
    assert_eq!(Config::from_toml(&configs[1].to_toml().unwrap()).unwrap(), *configs[1]);
}

#[test]
fn what_it_does_not_know_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |training: Training| training.run(folder.path().join("none")).unwrap_err().to_string();
    let error = run(training().set("expected_sarsa.temprature=2"));
    assert!(error.contains(NAME) && error.contains("temprature"), "{error}");
    let error = run(training().set("expected_sarsa.temperature=0"));
    assert_eq!(error, "the setting expected_sarsa.temperature must be above 0");
    let error = run(training().set("policy=thompson"));
    assert!(
        error.contains(NAME) && error.contains("thompson") && error.contains("softest, epsilon"),
        "{error}"
    );
    let error = run(training().set("nobody.temperature=2"));
    assert!(error.contains("`nobody`"), "{error}");
    let error = run(Training { host: Host::default(), ..training() });
    assert!(error.contains(NAME) && error.contains("there are adfq"), "{error}");
    let set = training().set("expected_sarsa.temperature=2.0").jobs(folder.path()).unwrap();
    let settings: Settings = set[0].config.as_ref().unwrap().own(NAME).unwrap();
    assert_eq!(settings, Settings { temperature: 2.0, ..Settings::default() });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
