//! Units that go step by step together, as a GPU needs it: the runs of several settings whose networks are alike, and what is logged
//! of each. A unit alone is the simplest case.

use super::rows::Rows;
use super::unit::Unit;
use crate::{Error, Result};
use adfq_deep::{Device, Host, Run, Trainer};
use adfq_env::bsuite::Log;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps between looks at whether to stop.
const LOOK: u64 = 256;

/// What becomes of units, told as it happens.
pub(super) trait Watch {
    /// So many episodes of a unit have ended since it was told last.
    fn progress(&mut self, unit: &Unit, episodes: u64);
    /// A unit is at its end.
    fn ended(&mut self, unit: &Unit, rows: Result<Rows>);
}

/// A unit under way.
struct Begun<'a> {
    unit: &'a Unit,
    log: Log,
    rows: Rows,
    /// Episodes that were told of.
    told: u64,
    over: bool,
}

impl<'a> Begun<'a> {
    fn new(unit: &'a Unit) -> Self {
        Self { unit, log: Log::default(), rows: Rows::default(), told: 0, over: false }
    }

    /// Notes a step, unless the last episode has ended. Where several units go together, those that need fewer steps than
    /// others go on for a while, and nobody looks at them.
    fn note(&mut self, run: &Run, watch: &mut impl Watch) {
        if self.over {
            return;
        }
        let noted = match run.failure() {
            Some(error) => Err(adfq_deep::Error::Group(error.to_string()).into()),
            None => self.log_step(run),
        };
        match noted {
            Err(error) => self.end(Err(error), watch),
            Ok(()) if self.log.episodes() == self.unit.episodes => {
                let rows = std::mem::take(&mut self.rows);
                self.end(Ok(rows), watch);
            }
            Ok(()) => {}
        }
    }

    fn log_step(&mut self, run: &Run) -> Result<()> {
        self.log.step(&run.envs().steps()[0]);
        if self.log.is_due() {
            let row = self.log.row(&run.envs().info(0));
            self.rows.push(row.into_iter().map(|(name, number)| (name.to_owned(), number)))?;
        }
        Ok(())
    }

    fn tell(&mut self, watch: &mut impl Watch) {
        watch.progress(self.unit, self.log.episodes() - self.told);
        self.told = self.log.episodes();
    }

    fn end(&mut self, rows: Result<Rows>, watch: &mut impl Watch) {
        self.tell(watch);
        self.over = true;
        watch.ended(self.unit, rows);
    }
}

/// Runs all episodes of all units. What a unit logs does not depend on which others go with it.
pub(super) fn run(units: &[Unit], device: Device, host: &Host, stop: &AtomicBool, watch: &mut impl Watch) {
    let mut begun: Vec<_> = units.iter().map(Begun::new).collect();
    if let Err(error) = run_begun(&mut begun, device, host, stop, watch) {
        // The first of them has the error itself, the others what it says.
        let (said, mut error) = (error.to_string(), Some(error));
        for left in begun.iter_mut().filter(|begun| !begun.over) {
            let error = error.take().unwrap_or_else(|| adfq_deep::Error::Group(said.clone()).into());
            left.end(Err(error), watch);
        }
    }
}

fn run_begun(
    begun: &mut Vec<Begun>,
    device: Device,
    host: &Host,
    stop: &AtomicBool,
    watch: &mut impl Watch,
) -> Result<()> {
    let begin = |begun: &Begun| Ok(Run::new(&begun.unit.config, host)?);
    let runs = begun.iter().map(begin).collect::<Result<Vec<_>>>()?;
    let (mut trainer, mut steps) = (Trainer::on_device(device, runs)?, 0);
    while !begun.is_empty() {
        trainer.advance()?;
        begun.iter_mut().zip(trainer.runs()).for_each(|(begun, run)| begun.note(run, watch));
        steps += 1;
        if steps % LOOK == 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            begun.iter_mut().filter(|begun| !begun.over).for_each(|begun| begun.tell(watch));
        }
        // Those that are over cost as much as the others. To part with them takes a while, so half of them go at once.
        let left = begun.iter().filter(|begun| !begun.over).count();
        if left == 0 {
            break;
        }
        if 2 * left <= begun.len() {
            trainer = Trainer::on_device(device, trainer.into_some(|number| !begun[number].over)?)?;
            begun.retain(|begun| !begun.over);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sweep::{Entrant, Sweep, alike};
    use super::*;
    use crate::bsuite::choose;

    /// What units logged, by name.
    #[derive(Default)]
    struct Ended(Vec<(String, Rows)>);

    impl Watch for Ended {
        fn progress(&mut self, _: &Unit, _: u64) {}
        fn ended(&mut self, unit: &Unit, rows: Result<Rows>) {
            self.0.push((unit.name(), rows.unwrap()));
        }
    }

    fn ended(batches: &[Vec<Unit>], host: &Host) -> Vec<(String, Rows)> {
        let mut found = Ended::default();
        batches.iter().for_each(|units| run(units, Device::Cpu, host, &AtomicBool::new(false), &mut found));
        found.0.sort_by(|a, b| a.0.cmp(&b.0));
        found.0
    }

    /// Episodes of CartPole have many lengths, and those of the memory chains grow with the setting: some units are over long before
    /// others, and are parted with.
    #[test]
    fn what_a_unit_logs_does_not_depend_on_which_others_go_with_it() {
        let host = Host::default();
        let sweep = Sweep {
            entrants: vec![Entrant::parse("dqn", &host).unwrap()],
            seeds: vec![0],
            chosen: choose(
                &[
                    "cartpole/0",
                    "cartpole/1",
                    "cartpole_noise/3",
                    "cartpole_scale/2",
                    "memory_len/1",
                    "memory_len/9",
                ]
                .map(str::to_owned),
            )
            .unwrap(),
            episodes: Some(12),
            mnist: None,
            changes: vec![],
        };
        let units = sweep.units(std::path::Path::new("out"), &host).unwrap();
        let alone: Vec<_> = units.chunks(1).map(<[Unit]>::to_vec).collect();
        let together = Vec::from(alike(units, &host).unwrap());
        assert_eq!((alone.len(), together.len()), (6, 2));
        assert_eq!(ended(&alone, &host), ended(&together, &host));
    }
}
