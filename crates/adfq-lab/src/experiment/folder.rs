//! The folder of a report: units are worked through into its cache, findings become files, and all is gathered in one
//! page.
//!
//! In the end it holds `index.html` (needs nothing else), `figures/*.svg`, `data/*.csv`, and `.cache` with the outcome of
//! every unit, from which a rerun continues. What is run and said is the business of [`paper`](crate::paper) and
//! [`study`](crate::study).

use super::{Findings, Stop, Task};
use crate::Result;
use crate::cache::Cache;
use crate::report::{Report, Section};
use crate::verdict::Claim;
use adfq_files::{check_writable, write_atomic};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of the outcomes, within that of the report.
const CACHE: &str = ".cache";

/// A folder that a report is written into.
pub struct Folder {
    out: PathBuf,
    /// The outcomes of units.
    pub cache: Cache,
}

impl Folder {
    /// The folder, made if missing. One that cannot be written is an error now, before any work is done.
    pub fn open(out: &Path) -> Result<Self> {
        let cache = Cache::open(out.join(CACHE))?;
        check_writable(out)?;
        write_atomic(out.join(CACHE).join(".gitignore"), b"*\n")?;
        Ok(Self { out: out.to_owned(), cache })
    }

    /// Removes the outcomes that earlier runs left in `out`.
    pub fn forget(out: &Path) -> Result<()> {
        Cache::open(out.join(CACHE))?.clear()
    }

    /// Computes what the cache does not hold yet, in parallel on the current thread pool of `rayon`. What several
    /// experiments share is computed once. `done` is called after each unit.
    pub fn work(&self, tasks: Vec<Task<'_>>, stop: &Stop, done: impl Fn() + Sync) -> Result<()> {
        distinct(tasks).par_iter().with_max_len(1).try_for_each(|task| {
            (task.work)(&self.cache, stop)?;
            done();
            Result::Ok(())
        })
    }

    /// Writes figures, data and claims of an experiment, and returns its section with figures and links in place.
    pub fn write(&self, name: &str, findings: Findings) -> Result<Section> {
        let Findings { mut section, figures, data } = findings;
        for (file, figure) in figures {
            let path = format!("figures/{file}.svg");
            self.write_text(&path, &figure.svg()?)?;
            section = section.link(format!("{file}.svg"), path).figure(figure);
        }
        let claims =
            (!section.claims.is_empty()).then(|| (format!("{name}-claims"), Claim::table(&section.claims)));
        for (file, table) in data.into_iter().chain(claims) {
            let path = format!("data/{file}.csv");
            self.write_text(&path, &table.csv())?;
            section = section.link(format!("{file}.csv"), path);
        }
        Ok(section)
    }

    /// Writes any other file beside the report.
    pub fn write_text(&self, file: &str, text: &str) -> Result<()> {
        Ok(write_atomic(self.out.join(file), text.as_bytes())?)
    }

    /// Writes the report.
    pub fn finish(&self, report: &Report) -> Result<()> {
        self.write_text("index.html", &report.html()?)
    }
}

/// The tasks without those that are there twice.
pub(crate) fn distinct(tasks: Vec<Task<'_>>) -> Vec<Task<'_>> {
    let mut seen = BTreeSet::new();
    tasks.into_iter().filter(|task| seen.insert(task.key.clone())).collect()
}
