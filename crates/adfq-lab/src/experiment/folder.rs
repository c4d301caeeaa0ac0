//! The folder of a report: units are worked through into its cache, findings become files, and all is gathered in one
//! page.
//!
//! In the end it holds `index.html` (needs nothing else), `figures/*.svg` and `*.png`, `data/*.csv` and, of tables that
//! are not too long for it, `*.json`, and `.cache` with the outcome of every unit, from which a rerun continues. What is
//! run and said is the business of [`paper`](crate::paper) and [`study`](crate::study).

use super::{Findings, Stop, Task};
use crate::cache::Cache;
use crate::files::{check_writable, write_atomic, write_json};
use crate::report::{Report, Section};
use crate::verdict::Claim;
use crate::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of the outcomes, within that of the report.
const CACHE: &str = ".cache";

/// The longest table that is written as JSON too, where it takes twice the bytes to say the same.
const MOST_JSON_ROWS: usize = 10_000;

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
            write_atomic(self.out.join(format!("figures/{file}.svg")), figure.svg()?.as_bytes())?;
            write_atomic(self.out.join(format!("figures/{file}.png")), &figure.png()?)?;
            section = section
                .link(format!("{file}.svg"), format!("figures/{file}.svg"))
                .link(format!("{file}.png"), format!("figures/{file}.png"))
                .figure(figure);
        }
        for (file, table) in data {
            write_atomic(self.out.join(format!("data/{file}.csv")), table.csv().as_bytes())?;
            section = section.link(format!("{file}.csv"), format!("data/{file}.csv"));
            if table.rows().len() <= MOST_JSON_ROWS {
                let json = serde_json::to_vec(&table)
                    .map_err(|source| Error::Json { what: file.clone(), source })?;
                write_atomic(self.out.join(format!("data/{file}.json")), &json)?;
                section = section.link(format!("{file}.json"), format!("data/{file}.json"));
            }
        }
        let claims: &[Claim] = &section.claims;
        if !claims.is_empty() {
            let file = format!("data/{name}-claims.json");
            write_json(self.out.join(&file), claims)?;
            section = section.link(format!("{name}-claims.json"), file);
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
