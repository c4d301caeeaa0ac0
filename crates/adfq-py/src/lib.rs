//! The extension module `adfq._adfq` of the Python package `adfq`: what Rust does for it. The rest of the package is Python, in
//! `python/adfq`, and decides how all this looks to a user.
//!
//! Training runs on a thread of its own without the interpreter's lock (`training`). Environments of Python are stepped
//! there under the lock (`outside`).

mod agent;
mod config;
mod errors;
mod host;
mod native;
mod outside;
mod picture;
mod shared;
mod tabular;
mod training;
mod update;

/// What the Python package `adfq` has from Rust.
#[pyo3::pymodule]
mod _adfq {
    #[pymodule_export]
    use super::agent::Agent;
    #[pymodule_export]
    use super::config::{Config, agents, env_names, folder_name, is_native, plan};
    #[pymodule_export]
    use super::errors::AdfqError;
    #[pymodule_export]
    use super::host::Host;
    #[pymodule_export]
    use super::native::{NativeEnv, NativeEnvs};
    #[pymodule_export]
    use super::picture::curve;
    #[pymodule_export]
    use super::tabular::{Mdp, mdp_names, p_best, tabular_agents};
    #[pymodule_export]
    use super::training::Training;
    #[pymodule_export]
    use super::update::{update_f32, update_f64};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("WORKER_SOURCE", adfq_env::PYTHON)
    }
}
