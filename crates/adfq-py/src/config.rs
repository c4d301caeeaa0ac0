//! Configurations: made from what a user says, checked, and as text.

use crate::errors::PyResultOf;
use crate::host::Host;
use adfq_deep::algorithm::Algorithms;
use adfq_deep::training;
use pyo3::prelude::*;
use std::path::Path;

/// All that decides a run.
#[pyclass(frozen, eq, from_py_object, module = "adfq._adfq")]
#[derive(Clone, PartialEq)]
pub struct Config(pub adfq_deep::Config);

#[pymethods]
impl Config {
    /// Reads TOML and checks it.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResultOf<Self> {
        Ok(Self(adfq_deep::Config::from_toml(text)?))
    }

    /// The configuration of the run in a folder.
    #[staticmethod]
    fn of_folder(folder: &str) -> PyResultOf<Self> {
        Ok(Self(adfq_deep::run::folder::read_config(Path::new(folder))?))
    }

    fn to_toml(&self) -> PyResultOf<String> {
        Ok(self.0.to_toml()?)
    }

    /// As JSON, for Python to read.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    /// The same with settings changed, each as `learning.batch=64`.
    fn assigned(&self, settings: Vec<String>) -> PyResultOf<Self> {
        let config = settings.iter().try_fold(self.0.clone(), |config, setting| config.with(setting))?;
        Ok(Self(config))
    }
}

/// The configurations of runs: every agent and seed in every environment. What is None has its default.
#[pyfunction]
#[pyo3(signature = (host, envs, *, agents, policy, seeds, preset, config, steps, settings))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn plan(
    host: &Host,
    envs: Vec<String>,
    agents: Vec<String>,
    policy: Option<String>,
    seeds: Vec<u64>,
    preset: Option<String>,
    config: Option<Config>,
    steps: Option<u64>,
    settings: Vec<String>,
) -> PyResultOf<Vec<Config>> {
    let mut plan = training::Training::new("").host(host.get());
    if !agents.is_empty() {
        plan = plan.agents(agents.iter().map(String::as_str))?;
    }
    plan.preset = preset.unwrap_or(plan.preset);
    plan.config = config.map(|config| config.0);
    (plan.policy, plan.seeds, plan.steps, plan.settings) = (policy, seeds, steps, settings);
    let mut configs = vec![];
    for env in &envs {
        configs.extend(plan.configs(env)?.0.into_iter().map(Config));
    }
    Ok(configs)
}

/// The name of a run's folder among others, given the settings that were changed.
#[pyfunction]
pub fn folder_name(config: &Config, settings: Vec<String>) -> String {
    training::folder_name(&config.0, &settings)
}

/// Whether an environment of this name is one of Rust's.
#[pyfunction]
pub fn is_native(name: &str) -> bool {
    !name.starts_with("gym:") && !name.starts_with("atari:") && adfq_env::make(name).is_ok()
}

/// The names of Rust's environments.
#[pyfunction]
pub fn env_names() -> Vec<String> {
    adfq_env::names()
}

/// The agents, each with a line that says what it is.
#[pyfunction]
pub fn agents() -> Vec<(String, String)> {
    Algorithms::default().iter().map(|agent| (agent.name.to_owned(), agent.about.to_owned())).collect()
}
