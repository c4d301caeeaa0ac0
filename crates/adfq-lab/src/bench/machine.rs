//! Where a measurement was made: a figure without it says little.

use serde::Serialize;

/// The machine and the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// The processor's name, or its architecture where the system does not tell.
    pub cpu: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// The version of this program.
    pub version: &'static str,
}

impl Machine {
    /// This one.
    ///
    /// ```
    /// let machine = adfq_lab::bench::Machine::here();
    /// assert!(!machine.cpu.is_empty() && machine.processors > 0);
    /// ```
    pub fn here() -> Self {
        let told = std::fs::read_to_string("/proc/cpuinfo").ok();
        let cpu = told.as_deref().and_then(model).unwrap_or(std::env::consts::ARCH).to_owned();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cpu, processors, version: env!("CARGO_PKG_VERSION") }
    }
}

/// The name in Linux's `/proc/cpuinfo`, which has a line for each processor.
fn model(cpuinfo: &str) -> Option<&str> {
    let (_, name) = cpuinfo.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(name.trim()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_processor() {
        assert_eq!(
            model("processor\t: 0\nmodel name\t: Some: CPU @ 2GHz\nmodel name\t: b\n"),
            Some("Some: CPU @ 2GHz")
        );
        assert_eq!(model("processor\t: 0\nmodel name\t:\n"), None);
        assert_eq!(model("Features: fp asimd\n"), None);
    }
}
