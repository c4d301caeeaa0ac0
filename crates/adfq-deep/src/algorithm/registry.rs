//! Algorithms by name, as configurations name them.

use super::{Algorithm, adfq, bootstrapped, calibrated, double_dqn, dqn, split};
use crate::{Config, Error, Result};
use adfq_env::Space;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

type Build = dyn Fn(&Config, &Space) -> Result<Box<dyn Algorithm>> + Send + Sync;
type Check = dyn Fn(&Config) -> Result<()> + Send + Sync;
/// What an algorithm changes in settings.
type Change = dyn Fn(Config) -> Result<Config> + Send + Sync;

type Needs = dyn Fn(&Config, &Space) -> Result<Demand> + Send + Sync;

/// The memory that an algorithm will take, known before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Outputs of the network for each action.
    pub outputs: usize,
    /// Further networks of the same size, for fixed priors and the like.
    pub networks: u64,
    /// Bytes of its own beside networks.
    pub bytes: u64,
    /// What a user can ask for to make these fewer, as "fewer split.features".
    pub less: &'static str,
}

impl Default for Demand {
    /// One output an action, and nothing else.
    fn default() -> Self {
        Self { outputs: 1, networks: 0, bytes: 0, less: "another agent" }
    }
}

/// An algorithm before there is a run: its name, how it may explore, its settings, and how to build it.
#[derive(Clone)]
pub struct Descriptor {
    /// The name, as in `config.toml`. The settings are the table of that name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The policies that it can follow, its default first. `epsilon` is for all; `thompson` needs beliefs; any other name
    /// is the algorithm's own policy, which takes the action with the largest [`Estimate::score`](super::Estimate::score).
    pub policies: &'static [&'static str],
    defaults: Option<toml::Table>,
    read: Arc<Check>,
    check: Arc<Check>,
    build: Arc<Build>,
    /// None where nobody has said.
    demand: Option<Arc<Needs>>,
    general: Arc<Change>,
}

impl Descriptor {
    /// An algorithm without settings that explores by ε-greedy actions.
    pub fn new(
        name: &'static str,
        about: &'static str,
        build: impl Fn(&Config, &Space) -> Result<Box<dyn Algorithm>> + Send + Sync + 'static,
    ) -> Self {
        let (policies, fine): (_, Arc<Check>) = (&["epsilon"], Arc::new(|_| Ok(())));
        let (read, check) = (fine.clone(), fine);
        let (build, general) = (Arc::new(build), Arc::new(Ok));
        Self { name, about, policies, defaults: None, read, check, build, demand: None, general }
    }

    /// With these policies, the default first.
    #[must_use]
    pub fn policies(self, policies: &'static [&'static str]) -> Self {
        Self { policies, ..self }
    }

    /// With general settings of its own: what it changes in those that all agents start from. Tuned settings, and what a user
    /// asks for, come after them. So it is with the settings of bsuite. Those of papers and of users are not changed.
    #[must_use]
    pub fn general(self, change: impl Fn(Config) -> Result<Config> + Send + Sync + 'static) -> Self {
        Self { general: Arc::new(change), ..self }
    }

    /// With settings of this type, which `check` looks at.
    #[must_use]
    pub fn settings<S: Serialize + DeserializeOwned + Default>(
        self,
        check: impl Fn(&S, &Config) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let name = self.name;
        let read = move |config: &Config| config.own::<S>(name).map(drop);
        let check = move |config: &Config| check(&config.own::<S>(name)?, config);
        let defaults = toml::Table::try_from(S::default()).ok();
        Self { defaults, read: Arc::new(read), check: Arc::new(check), ..self }
    }

    /// With this demand for memory. Without it, only what one output an action takes is compared with what there is.
    #[must_use]
    pub fn demands(self, demand: impl Fn(&Config, &Space) -> Result<Demand> + Send + Sync + 'static) -> Self {
        Self { demand: Some(Arc::new(demand)), ..self }
    }

    /// The memory that it will take, at the least.
    pub(crate) fn demand(&self, config: &Config, space: &Space) -> Result<Demand> {
        self.demand.as_ref().map_or(Ok(Demand::default()), |demand| demand(config, space))
    }

    /// Whether its demand is known.
    pub(crate) fn knows_demand(&self) -> bool {
        self.demand.is_some()
    }

    /// An error if its settings cannot be read; whether they make sense is asked only of the agent that learns.
    pub(crate) fn read(&self, config: &Config) -> Result<()> {
        match self.defaults {
            Some(_) => (self.read)(config),
            None => Err(Error::Toml(format!("there is no setting `{}`", self.name))),
        }
    }

    /// An error unless the configuration's policy is one of its own and its settings make sense.
    pub fn check(&self, config: &Config) -> Result<()> {
        if !self.policies.contains(&config.policy.as_str()) {
            let (policy, known) = (config.policy.clone(), self.policies.join(", "));
            return Err(Error::Policy { policy, agent: self.name.to_owned(), known });
        }
        (self.check)(config)
    }

    /// The algorithm of a run in environments with this space.
    pub fn build(&self, config: &Config, space: &Space) -> Result<Box<dyn Algorithm>> {
        self.check(config)?;
        (self.build)(config, space)
    }
}

/// The algorithms that are known by name: the built-in ones, and those that a user registers. A clone is cheap.
#[derive(Clone)]
pub struct Algorithms(Arc<BTreeMap<&'static str, Descriptor>>);

impl Default for Algorithms {
    /// All built-in algorithms, one line each.
    fn default() -> Self {
        let built_in = [
            adfq::descriptor(),
            dqn::descriptor(),
            double_dqn::descriptor(),
            split::descriptor(),
            bootstrapped::descriptor(),
            calibrated::descriptor(),
        ];
        Self(Arc::new(built_in.into_iter().map(|descriptor| (descriptor.name, descriptor)).collect()))
    }
}

impl fmt::Debug for Algorithms {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Algorithms {
    /// Adds an algorithm. It replaces one that was registered before under the same name; a built-in one keeps its name.
    pub fn register(&mut self, descriptor: Descriptor) -> Result<()> {
        if Self::default().0.contains_key(descriptor.name) {
            return Err(Error::Setting { name: "name", must: "one that no built-in algorithm has" });
        }
        Arc::make_mut(&mut self.0).insert(descriptor.name, descriptor);
        Ok(())
    }

    /// The algorithm of this name.
    pub fn get(&self, name: &str) -> Result<&Descriptor> {
        let unknown = || Error::Agent { name: name.to_owned(), known: self.names().join(", ") };
        self.0.get(name).ok_or_else(unknown)
    }

    /// All names.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }

    /// All algorithms.
    pub fn iter(&self) -> impl Iterator<Item = &Descriptor> {
        self.0.values()
    }

    /// The same configuration for another algorithm and policy; without a policy the algorithm's default. Its default
    /// settings are written out if there are none. The settings of others that a user has registered are left out.
    pub fn with_agent(&self, config: Config, agent: &str, policy: Option<&str>) -> Result<Config> {
        let descriptor = self.get(agent)?;
        let (agent, policy) = (agent.to_owned(), policy.unwrap_or(descriptor.policies[0]).to_owned());
        let mut config = Config { agent, policy, ..config };
        let built_in = Self::default();
        let others = |name: &str| self.0.contains_key(name) && !built_in.0.contains_key(name);
        config.own.retain(|name, _| *name == config.agent || !others(name));
        if let (Some(defaults), false) = (&descriptor.defaults, config.own.contains_key(descriptor.name)) {
            config.own.insert(descriptor.name.to_owned(), defaults.clone().into());
        }
        descriptor.check(&config)?;
        Ok(config)
    }

    /// General settings as the agent of this configuration has them: with what its [descriptor](Descriptor::general) changes.
    ///
    /// ```
    /// use adfq_deep::{Config, algorithm::Algorithms};
    ///
    /// let algorithms = Algorithms::default();
    /// let config = algorithms.with_agent(Config::for_env("cartpole")?, "calibrated", None)?;
    /// assert!(!config.network.normalise && algorithms.with_general(config)?.network.normalise);
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn with_general(&self, config: Config) -> Result<Config> {
        (self.get(&config.agent)?.general)(config)
    }

    /// An agent and a policy from one word: `adfq-ts`, `adfq-eps` and `split-ts`, or an agent's name, which stands for
    /// its default policy. `boot-dqn` is what bsuite calls `bootstrapped`.
    ///
    /// ```
    /// let algorithms = adfq_deep::algorithm::Algorithms::default();
    /// assert_eq!(algorithms.parse("adfq-eps")?, ("adfq".to_owned(), "epsilon".to_owned()));
    /// assert_eq!(algorithms.parse("dqn")?, ("dqn".to_owned(), "epsilon".to_owned()));
    /// assert_eq!(algorithms.parse("boot-dqn")?, algorithms.parse("bootstrapped")?);
    /// assert!(algorithms.parse("dqn-ts").is_err());
    /// # Ok::<(), adfq_deep::Error>(())
    /// ```
    pub fn parse(&self, word: &str) -> Result<(String, String)> {
        let word = if word == "boot-dqn" { "bootstrapped" } else { word };
        if let Some(descriptor) = self.0.get(word) {
            return Ok((word.to_owned(), descriptor.policies[0].to_owned()));
        }
        for (suffix, policy) in [("-ts", "thompson"), ("-eps", "epsilon")] {
            if let Some(agent) = word.strip_suffix(suffix).and_then(|name| self.0.get(name))
                && agent.policies.contains(&policy)
            {
                return Ok((agent.name.to_owned(), policy.to_owned()));
            }
        }
        Err(Error::Agent { name: word.to_owned(), known: self.names().join(", ") })
    }
}
