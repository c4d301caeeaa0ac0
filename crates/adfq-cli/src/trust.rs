//! Whether the code that a run folder names is run. A folder may come from a stranger, and the name of its environment or of
//! a wrapper may ask Python to import a module; what the user types is trusted.

use adfq_deep::{Config, Host};
use adfq_env::{Error, Modules};
use anyhow::Result;
use std::io::{IsTerminal, stderr, stdin};

// What `train --resume` and `eval` have in common. No doc comment: clap would make it the help text of both.
#[derive(clap::Args)]
pub struct TrustArgs {
    /// Let the environment and the wrappers of a run folder import a Python module that is not an installed package, or
    /// call a function of one. It runs that code
    #[arg(long)]
    pub trust: bool,
}

impl TrustArgs {
    /// Sets which modules the environments of these configurations, which came from folders, may import. At a terminal the
    /// user is asked; elsewhere a module that is not installed is an error.
    pub fn settle(&self, host: &mut Host, configs: &[Config]) -> Result<()> {
        let modules = |host: &mut Host, modules| host.registry.gym.modules = modules;
        if self.trust {
            modules(host, Modules::Any);
            return Ok(());
        }
        modules(host, Modules::Installed);
        for config in configs.iter().filter(|config| names_code(config)) {
            // Whatever else is wrong with it is said where it is used.
            if let Err(adfq_deep::Error::Env(error @ (Error::Untrusted { .. } | Error::Stranger { .. }))) =
                host.env(config, false)
            {
                if !agrees(&error)? {
                    return Err(error.into());
                }
                modules(host, Modules::Any);
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether making the environment runs code by name: that of a module, `gym:my_module:MyEnv-v0`, or of a wrapper.
fn names_code(config: &Config) -> bool {
    !config.wrappers.is_empty() || config.env.strip_prefix("gym:").is_some_and(|id| id.contains(':'))
}

/// Asks, if there is somebody to ask.
fn agrees(error: &Error) -> Result<bool> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(false);
    }
    eprintln!("{error}");
    eprint!("run it? [y/N] ");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
