//! Looks at the folders under the root, again and again, and keeps the table of runs up to date.
//!
//! Everything is opened beneath the root without following links ([`Folder`]). A look at a run that has not changed opens its
//! files and reads nothing; of one that trains, the last rows are read. What is wrong with a run becomes its row.

use crate::runs::{RecordingRow, ReportRow, RunRow, State, Table};
use crate::tail::{last_bytes, whole_lines};
use adfq_deep::Summary;
use adfq_deep::run::folder::{CONFIG, EVALUATIONS, EVENTS, FAILURE, METRICS, RESULT};
use adfq_files::{Folder, Lock, tensorboard};
use adfq_lab::compare::Run;
use adfq_lab::learn::RECORDING;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

/// Folders below folders are looked at down to here.
const DEEPEST: usize = 8;
/// No more runs than this are listed.
const MOST_RUNS: usize = 20_000;
/// No more folders than this are looked at.
const MOST_FOLDERS: usize = 100_000;
/// A configuration, a result or a note of a failure that is longer is not ours.
const MOST_TEXT: u64 = 1 << 20;
/// What is read of the end of a log for the table.
const END: u64 = 16 << 10;
/// What a reader is told of a failure, in characters.
const MOST_WHY: usize = 600;

/// The pages that reports have.
const PAGES: [&str; 2] = ["index.html", "report.html"];

/// Length and time of the last change: while both are the same, a file is not read again.
type Stamp = Option<(u64, SystemTime)>;

/// A run that is being watched.
struct Watched {
    config: Stamp,
    metrics: Stamp,
    evaluations: Stamp,
    events: Stamp,
    result: Stamp,
    failure: Stamp,
    lock: Stamp,
    held: bool,
    /// What is run; none while the configuration cannot be understood.
    named: Option<Arc<Run>>,
    columns: Vec<String>,
    finished_at: Option<Summary>,
    failed: Option<String>,
    row: RunRow,
}

/// What is known of all runs, from one look to the next.
#[derive(Default)]
pub struct Scanner {
    watched: BTreeMap<String, Watched>,
    titles: BTreeMap<String, (Stamp, String)>,
}

/// What one look found.
#[derive(Default)]
struct Found {
    runs: BTreeMap<String, Watched>,
    recordings: Vec<RecordingRow>,
    reports: Vec<ReportRow>,
    titles: BTreeMap<String, (Stamp, String)>,
    folders: usize,
    notes: Vec<String>,
}

impl Scanner {
    /// Looks once, and says what is there.
    pub fn look(&mut self, root: &Folder) -> Table {
        let mut found = Found::default();
        self.search(root, String::new(), 0, &mut found);
        found.recordings.sort();
        found.reports.sort();
        let columns: BTreeSet<&String> = found.runs.values().flat_map(|run| &run.columns).collect();
        let quantities = columns.into_iter().cloned().collect();
        let rows = found.runs.iter().map(|(id, run)| (id.clone(), run.row.clone())).collect();
        (self.watched, self.titles) = (found.runs, found.titles);
        Table {
            runs: Arc::new(rows),
            recordings: found.recordings,
            reports: found.reports,
            quantities,
            notes: found.notes,
        }
    }

    /// What each run is, by id: for labels.
    pub fn named(&self) -> BTreeMap<String, Arc<Run>> {
        let named = |(id, run): (&String, &Watched)| Some((id.clone(), run.named.clone()?));
        self.watched.iter().filter_map(named).collect()
    }

    fn search(&mut self, folder: &Folder, id: String, depth: usize, found: &mut Found) {
        found.folders += 1;
        let Ok(names) = folder.names() else { return };
        let has = |name: &str| names.iter().any(|found| found == name);
        let own = if id.is_empty() { ".".to_owned() } else { id.clone() };
        if has(CONFIG) && (has(METRICS) || has(EVALUATIONS) || has("checkpoints")) {
            if found.runs.len() < MOST_RUNS {
                let watched = self.watched.remove(&own);
                found.runs.insert(own.clone(), Watched::look(watched, &own, folder));
            } else if found.notes.is_empty() {
                found.notes.push(format!("There are more than {MOST_RUNS} runs: the others are not shown."));
            }
            return;
        }
        if has(RECORDING) {
            found.recordings.push(RecordingRow { id: own.clone() });
        }
        if let Some(page) = PAGES.into_iter().find(|page| has(page)) {
            let known = self.titles.remove(&own);
            let (stamp, title) = title(known, folder, page, &own);
            found.reports.push(ReportRow { id: own.clone(), page: page.to_owned(), title: title.clone() });
            found.titles.insert(own, (stamp, title));
        }
        if depth == DEEPEST || found.folders >= MOST_FOLDERS {
            return;
        }
        let visible = names.iter().filter_map(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        for name in visible {
            if let Ok(child) = folder.child(name) {
                let below = if id.is_empty() { name.to_owned() } else { format!("{id}/{name}") };
                self.search(&child, below, depth + 1, found);
            }
        }
    }
}

/// The title of a report, read again only where the file has changed.
fn title(known: Option<(Stamp, String)>, folder: &Folder, page: &str, id: &str) -> (Stamp, String) {
    let now = stamp(folder, page);
    if let Some((stamp, title)) = known
        && stamp == now
    {
        return (stamp, title);
    }
    let mut head = vec![];
    let read = folder.open_file(page).map(|file| file.take(4096).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head);
    let title =
        text.split_once("<title>").and_then(|(_, rest)| Some(rest.split_once("</title>")?.0.to_owned()));
    (now, title.filter(|_| read.is_ok()).unwrap_or_else(|| id.to_owned()))
}

impl Watched {
    fn new() -> Self {
        Self {
            config: None,
            metrics: None,
            evaluations: None,
            events: None,
            result: None,
            failure: None,
            lock: None,
            held: false,
            named: None,
            columns: vec![],
            finished_at: None,
            failed: None,
            row: RunRow::malformed("", String::new()),
        }
    }

    /// Brings what is known of a run up to date.
    fn look(known: Option<Self>, id: &str, folder: &Folder) -> Self {
        let mut run = known.unwrap_or_else(Self::new);
        let config = stamp(folder, CONFIG);
        if run.named.is_none() || config != run.config {
            run.config = config;
            match read_named(folder) {
                Ok(named) => {
                    run.row = row_of(id, &named);
                    run.named = Some(Arc::new(named));
                    (run.metrics, run.evaluations, run.events, run.result) = (None, None, None, None);
                }
                Err(why) => {
                    run.named = None;
                    run.row = RunRow::malformed(id, shorten(&why));
                    return run;
                }
            }
        }
        let wrong = run.look_at_logs(folder).err();
        run.look_at_end(folder);
        run.look_at_lock(folder);
        let ended = |summary: &Summary| summary.ended_early || summary.steps >= run.row.steps;
        (run.row.state, run.row.why) = match (run.held, wrong, &run.failed) {
            (_, Some(wrong), _) => (State::Malformed, Some(shorten(&wrong))),
            (true, ..) => (State::Training, None),
            (_, _, Some(why)) => (State::Failed, Some(why.clone())),
            _ if run.finished_at.as_ref().is_some_and(ended) => (State::Finished, None),
            _ => (State::Stopped, None),
        };
        run
    }

    /// The ends of the logs, where they have changed.
    fn look_at_logs(&mut self, folder: &Folder) -> Result<(), String> {
        let metrics = stamp(folder, METRICS);
        if metrics != self.metrics {
            let mut file = folder.open_file(METRICS).map_err(|error| error.to_string())?;
            self.columns = header(&mut file).map_err(|error| format!("{METRICS} cannot be read: {error}"))?;
            let end = last_bytes(&mut file, END).map_err(|error| error.to_string())?;
            self.read_metrics(&end)?;
            self.row.changed = metrics.and_then(|(_, time)| seconds(time));
            self.metrics = metrics;
        }
        let evaluations = stamp(folder, EVALUATIONS);
        if evaluations != self.evaluations {
            let mut file = folder.open_file(EVALUATIONS).map_err(|error| error.to_string())?;
            let end = last_bytes(&mut file, END).map_err(|error| error.to_string())?;
            self.row.evaluation = last_evaluation(&end);
            self.evaluations = evaluations;
        }
        let events = stamp(folder, EVENTS);
        if events != self.events {
            if let Ok(mut file) = folder.open_file(EVENTS) {
                let end = last_bytes(&mut file, END).map_err(|error| error.to_string())?;
                self.row.speed = speed(&end);
            }
            self.events = events;
        }
        Ok(())
    }

    fn read_metrics(&mut self, end: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(&end[..whole_lines(end)]).into_owned();
        let Some(last) = text.lines().next_back().filter(|line| !line.starts_with("step")) else {
            return Ok(());
        };
        let fields: Vec<&str> = last.split(',').collect();
        if fields.len() != self.columns.len() {
            let found = fields.len();
            return Err(format!(
                "{METRICS} cannot be understood: the last row has {found} fields, and the header has {}",
                self.columns.len()
            ));
        }
        let value = |name: &str| {
            let at = self.columns.iter().position(|column| column == name)?;
            fields[at].parse::<f64>().ok().filter(|value| value.is_finite())
        };
        self.row.step = fields[0].parse().map_err(|_| {
            format!("{METRICS} cannot be understood: the step of the last row is {:?}", fields[0])
        })?;
        self.row.train_return = value("train_return");
        Ok(())
    }

    /// Whether it has come to its end, one way or the other.
    fn look_at_end(&mut self, folder: &Folder) {
        let result = stamp(folder, RESULT);
        if result != self.result {
            self.result = result;
            let read = read_text(folder, RESULT).ok();
            self.finished_at = read.and_then(|text| serde_json::from_str(&text).ok());
        }
        let failure = stamp(folder, FAILURE);
        if failure != self.failure {
            self.failure = failure;
            let read = failure.and_then(|_| read_text(folder, FAILURE).ok());
            self.failed = read.map(|text| shorten(text.trim()));
        }
    }

    /// Whether a process holds the folder. One that is held may be looked at as often as one likes. One that is not is tried
    /// again only when the lock has changed: a try could get in the way of a process that takes it.
    fn look_at_lock(&mut self, folder: &Folder) {
        let lock = stamp(folder, ".lock");
        if self.held || lock != self.lock {
            self.lock = lock;
            self.held = Lock::is_held(folder).unwrap_or(false);
        }
    }
}

/// Length and time of the last change of a file; none if there is none that could be read.
fn stamp(folder: &Folder, name: &str) -> Stamp {
    let data = folder.open_file(name).ok()?.metadata().ok()?;
    Some((data.len(), data.modified().ok()?))
}

fn seconds(time: SystemTime) -> Option<f64> {
    time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|time| time.as_secs_f64())
}

/// A text that should be short.
fn read_text(folder: &Folder, name: &str) -> Result<String, String> {
    let file = folder.open_file(name).map_err(|error| error.to_string())?;
    let mut bytes = vec![];
    file.take(MOST_TEXT + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > MOST_TEXT {
        true => Err(format!("{name} is too long to be one of ours")),
        false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// What is run, if the configuration can be understood.
fn read_named(folder: &Folder) -> Result<Run, String> {
    read_text(folder, CONFIG)?;
    Run::named(folder.path()).map_err(|error| match error {
        adfq_lab::Error::NotARun { reason, .. } => reason,
        other => other.to_string(),
    })
}

fn row_of(id: &str, run: &Run) -> RunRow {
    let head = &run.head;
    RunRow {
        env: head.env.clone(),
        agent: head.agent.clone(),
        policy: head.policy.clone(),
        seed: head.seed,
        steps: head.steps,
        state: State::Stopped,
        why: None,
        ..RunRow::malformed(id, String::new())
    }
}

/// The names of the columns.
fn header(file: &mut File) -> std::io::Result<Vec<String>> {
    let mut head = vec![];
    file.by_ref().take(4096).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head);
    Ok(text.lines().next().unwrap_or_default().split(',').map(str::to_owned).collect())
}

/// The mean return of the last evaluation whose end this is.
fn last_evaluation(end: &[u8]) -> Option<f64> {
    let text = String::from_utf8_lossy(&end[..whole_lines(end)]).into_owned();
    let rows = text.lines().rev().map_while(|line| {
        let mut fields = line.split(',');
        let (step, value) = (fields.next()?.parse::<u64>().ok()?, fields.nth(1)?.parse::<f64>().ok()?);
        value.is_finite().then_some((step, value))
    });
    let rows: Vec<(u64, f64)> = rows.collect();
    let last = rows.first()?.0;
    let values: Vec<f64> = rows.into_iter().take_while(|row| row.0 == last).map(|row| row.1).collect();
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Environment steps a second over the events whose end this is. The first bytes may be the rest of a record.
fn speed(end: &[u8]) -> Option<f64> {
    let times = (0..end.len()).find_map(|at| {
        let (times, read) = tensorboard::times(&end[at..]);
        (read > 0).then_some(times)
    })?;
    let ((first, begun), (last, ended)) = (*times.first()?, *times.last()?);
    let (steps, seconds) = (last.checked_sub(first)?, ended - begun);
    (steps > 0 && seconds > 0.0).then(|| steps as f64 / seconds)
}

fn shorten(why: &str) -> String {
    match why.char_indices().nth(MOST_WHY) {
        Some((end, _)) => format!("{}…", &why[..end]),
        None => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_files::tensorboard::EventWriter;
    use std::fs;

    fn write_run(path: &std::path::Path, metrics: &str) {
        fs::create_dir_all(path).unwrap();
        let config = "env = \"cartpole\"\nagent = \"dqn\"\npolicy = \"epsilon\"\nseed = 3\nsteps = 400\n";
        fs::write(path.join(CONFIG), config).unwrap();
        fs::write(path.join(METRICS), metrics).unwrap();
        fs::write(path.join(EVALUATIONS), "step,episode,return,clipped_return,length\n").unwrap();
    }

    #[test]
    fn a_run_is_what_its_files_say_and_changes_with_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/seed-3");
        write_run(&path, "step,train_return\n100,\n200,17.5\n300,2");
        let (root, mut scanner) = (Folder::open(dir.path()).unwrap(), Scanner::default());
        let first = scanner.look(&root);
        let row = &first.runs["a/seed-3"];
        assert_eq!((row.step, row.steps, row.train_return), (200, 400, Some(17.5)));
        assert_eq!((row.state, row.env.as_str(), row.seed), (State::Stopped, "cartpole", 3));
        assert!(scanner.look(&root).since(&first).is_none());
        fs::write(path.join(EVALUATIONS), "step,episode,return\n100,0,1\n200,0,4\n200,1,5\n").unwrap();
        fs::write(path.join(FAILURE), "the loss is not a number\n").unwrap();
        let second = scanner.look(&root);
        let change = second.since(&first).unwrap();
        assert_eq!((change.runs.len(), change.runs[0].evaluation), (1, Some(4.5)));
        assert_eq!(change.runs[0].why.as_deref(), Some("the loss is not a number"));
        let lock = Lock::acquire(&path).unwrap();
        assert_eq!(scanner.look(&root).runs["a/seed-3"].state, State::Training);
        drop(lock);
        assert_eq!(scanner.look(&root).runs["a/seed-3"].state, State::Failed);
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(scanner.look(&root).since(&second).unwrap().gone, ["a/seed-3"]);
    }

    #[test]
    fn a_malformed_run_is_a_row_that_says_so() {
        let dir = tempfile::tempdir().unwrap();
        for (name, config, metrics) in [
            ("toml", "seed = [", "step\n"),
            ("missing", "env = \"cartpole\"\n", "step\n"),
            ("long", &"#".repeat(2 << 20), "step\n"),
        ] {
            write_run(&dir.path().join(name), metrics);
            fs::write(dir.path().join(name).join(CONFIG), config).unwrap();
        }
        write_run(&dir.path().join("row"), "step,train_return\n1,2,3\n");
        write_run(&dir.path().join("step"), "step,train_return\nx,2\n");
        let table = Scanner::default().look(&Folder::open(dir.path()).unwrap());
        assert_eq!(table.runs.len(), 5);
        for row in table.runs.values() {
            assert!(row.state == State::Malformed && row.why.is_some(), "{row:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_run(&outside.path().join("run"), "step\n");
        std::os::unix::fs::symlink(outside.path(), dir.path().join("link")).unwrap();
        write_run(&dir.path().join("own"), "step\n");
        fs::remove_file(dir.path().join("own").join(CONFIG)).unwrap();
        let config = outside.path().join("run").join(CONFIG);
        std::os::unix::fs::symlink(config, dir.path().join("own").join(CONFIG)).unwrap();
        let table = Scanner::default().look(&Folder::open(dir.path()).unwrap());
        assert_eq!(table.runs.keys().collect::<Vec<_>>(), ["own"]);
        assert_eq!(table.runs["own"].state, State::Malformed);
    }

    #[test]
    fn speed_is_that_of_the_last_events() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(EVENTS);
        let mut events = EventWriter::open(&path, 0, 1.7e9).unwrap();
        for i in 1..=400_u64 {
            events.scalars(1.7e9 + i as f64 * 2.0, 1000 * i, &[("train/return", i as f64)]).unwrap();
        }
        let bytes = last_bytes(&mut File::open(&path).unwrap(), 4096).unwrap();
        assert!(bytes.len() == 4096 && (speed(&bytes).unwrap() - 500.0).abs() < 1e-9);
        assert_eq!(speed(&bytes[..10]), None);
    }
}
