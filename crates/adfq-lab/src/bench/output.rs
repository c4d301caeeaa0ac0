//! The table as text, a line at a time, and the machine it was measured on: a figure without it says little.

use super::{Bench, Group, Row};
use adfq_report::text::count;
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

/// Makes the lines of a table whose rows are not known yet.
pub struct Lines {
    /// The longest name that will come.
    width: usize,
    group: Option<Group>,
}

impl Lines {
    /// For a table of these benches.
    pub fn new(benches: &[Bench]) -> Self {
        Self { width: benches.iter().map(|bench| bench.name.len()).max().unwrap_or(0), group: None }
    }

    /// The machine and the heads of the columns.
    pub fn head(&self, machine: &Machine) -> String {
        let Machine { cpu, processors, version } = machine;
        let plural = if *processors == 1 { "processor" } else { "processors" };
        let heads = self.line("", ["threads", "median µs", "minimum µs", "steps/s"].map(String::from));
        format!("adfq {version} on {cpu}, {processors} {plural}\n\n{heads}")
    }

    /// One row, under the name of its group if it is the first of it.
    pub fn row(&mut self, row: &Row) -> String {
        let cells = [
            row.threads.to_string(),
            microseconds(row.median_us),
            microseconds(row.min_us),
            count(row.steps_per_s.round() as u64),
        ];
        let line = self.line(&row.name, cells);
        match self.group.replace(row.group) {
            Some(group) if group == row.group => line,
            _ => format!("{}\n{line}", row.group.name()),
        }
    }

    fn line(&self, name: &str, [threads, median, least, rate]: [String; 4]) -> String {
        format!("  {name:width$}  {threads:>7}  {median:>11}  {least:>11}  {rate:>12}\n", width = self.width)
    }
}

/// Four digits, more before the point.
fn microseconds(us: f64) -> String {
    match us {
        us if us < 10.0 => format!("{us:.3}"),
        us if us < 100.0 => format!("{us:.2}"),
        us if us < 1000.0 => format!("{us:.1}"),
        us => count(us.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, group: Group, median_us: f64) -> Row {
        let machine = Machine { cpu: "CPU".into(), processors: 2, version: "1" };
        let (min_us, steps_per_s) = (median_us / 2.0, 1e6 / median_us);
        let (name, samples, operations) = (name.into(), 3, 8);
        Row {
            name,
            group,
            threads: 1,
            median_us,
            min_us,
            steps_per_s,
            samples,
            operations,
            gradient_steps: None,
            machine,
        }
    }

    #[test]
    fn lines_of_equal_length_under_their_groups() {
        let benches = super::super::select(&["replay".into()], &Default::default()).unwrap();
        let mut lines = Lines::new(&benches);
        let rows = [row("replay push", Group::Replay, 0.05), row("replay draw", Group::Replay, 12_345.6)];
        let head = lines.head(&rows[0].machine);
        assert!(head.starts_with("adfq 1 on CPU, 2 processors\n\n"), "{head}");
        let [first, second] = rows.each_ref().map(|row| lines.row(row));
        assert!(first.starts_with("replay\n  replay push "), "{first}");
        assert!(first.contains("0.050        0.025    20,000,000\n"), "{first}");
        assert!(second.contains("12,346        6,173            81\n"), "{second}");
        let width = |text: &str| text.lines().last().unwrap().chars().count();
        assert_eq!([width(&head), width(&first)], [width(&second); 2]);
        assert!(lines.row(&row("env x", Group::Environments, 1.0)).starts_with("environments\n"));
    }

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
