//! What runs find in this process: the environments of Python, and the interpreter for worker processes.

use crate::outside::Outside;
use adfq_env::{Modules, Registry};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Environments by name.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct Host {
    registry: Mutex<Registry>,
}

#[pymethods]
impl Host {
    /// Worker processes run this interpreter. Only with `trust` may a name import modules that are no installed packages.
    #[new]
    fn new(python: PathBuf, trust: bool) -> Self {
        let mut registry = Registry::default();
        registry.gym.python = Some(python);
        registry.gym.modules = if trust { Modules::Any } else { Modules::Installed };
        Self { registry: Mutex::new(registry) }
    }

    /// Environments of this name are made by calling `make` with an order, a dictionary. `wraps` says whether it
    /// puts wrappers around them.
    fn register(&self, name: &str, make: Py<PyAny>, wraps: bool) {
        let outside = Outside::new(make, wraps);
        self.registry.lock().unwrap_or_else(PoisonError::into_inner).register_maker(name, outside);
    }
}

impl Host {
    /// The host as it is now.
    pub fn get(&self) -> adfq_deep::Host {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner).clone();
        adfq_deep::Host { registry, ..adfq_deep::Host::here() }
    }
}
