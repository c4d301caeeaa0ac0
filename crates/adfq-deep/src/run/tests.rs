//! Environments that cannot be saved, as those in other processes: what a resumed run still promises.

use crate::metrics::Metrics;
use crate::replay::Sample;
use crate::run::checkpoint::{self, LogLengths, SegmentEntry, Snapshot};
use crate::run::writer::{Room, THREADS, Writer};
use crate::{Config, Error, Host, Observer, Observers, Run, RunFolder, Trainer};
use adfq_env::{Envs, Result, Space, Step, VecEnv};
use adfq_files::Folder;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};

/// Environments of this process that keep their state to themselves.
struct Unsaved {
    envs: VecEnv,
    /// The steps in which the second of them fails, counted down.
    fails_in: Vec<u64>,
}

impl Unsaved {
    fn named(name: &str, count: usize) -> Self {
        Self { envs: VecEnv::named(name, count).unwrap(), fails_in: vec![] }
    }
}

impl Envs for Unsaved {
    fn space(&self) -> &Space {
        self.envs.space()
    }

    fn len(&self) -> usize {
        self.envs.len()
    }

    fn reset(&mut self, seed: u64) -> Result<()> {
        self.envs.reset(seed)
    }

    fn begin(&mut self, actions: &[usize]) -> Result<()> {
        self.fails_in.iter_mut().for_each(|steps| *steps -= 1);
        self.envs.begin(actions)
    }

    fn finish(&mut self) -> Result<&[Step]> {
        match self.fails_in.contains(&0) {
            true => Err(adfq_env::Error::other("the second one fell over")),
            false => self.envs.finish(),
        }
    }

    /// The second one goes on as if it had begun anew.
    fn restart(&mut self, _: u64) -> Result<Option<Range<usize>>> {
        self.fails_in.retain(|&steps| steps > 0);
        Ok(Some(1..2))
    }

    fn frames(&self) -> &[u8] {
        self.envs.frames()
    }

    fn successors(&self) -> &[u8] {
        self.envs.successors()
    }

    fn steps(&self) -> &[Step] {
        self.envs.steps()
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn restore(&mut self, _: &[u8]) -> Result<()> {
        unreachable!("nothing was saved")
    }
}

fn config() -> Config {
    let mut config = Config { steps: 2_000, envs: 3, ..Config::for_env("cartpole").unwrap() };
    (config.replay.capacity, config.replay.n_step, config.learning.warmup) = (600, 3, 200);
    (config.logging.metrics, config.logging.checkpoint) = (100, 300);
    (config.evaluation.every, config.evaluation.episodes, config.evaluation.final_episodes) = (1_000, 2, 2);
    config
}

fn unsaved(config: &Config) -> Box<dyn Envs> {
    Box::new(Unsaved::named(&config.env, config.envs))
}

fn trainer(config: &Config) -> Trainer {
    let host = Host::default();
    let run = Run::with_envs(config, &host, unsaved(config), host.env(config, false).unwrap()).unwrap();
    Trainer::on_cpu(vec![run]).unwrap()
}

fn advance(trainer: &mut Trainer, to: u64) {
    while trainer.run().step() < to {
        trainer.advance().unwrap();
    }
}

/// Writes what is new since the segments that there are, and then the checkpoint.
fn save(folder: &Path, run: &Run, segments: &mut Vec<SegmentEntry>) {
    let folder = Folder::open(folder).unwrap();
    for env in 0..run.config().envs {
        let ends = segments.iter().filter(|entry| entry.env == env).map(|entry| entry.first + entry.count);
        let segment = run.replay().since(env, ends.max().unwrap_or(0)).unwrap();
        if segment.count > 0 {
            let entry = SegmentEntry { env, first: segment.first, count: segment.count, step: run.step };
            checkpoint::write_segment(&folder, &entry, &segment).unwrap();
            segments.push(entry);
        }
    }
    Snapshot::of(run, segments, LogLengths::default()).unwrap().write(&folder, "step").unwrap();
}

fn load(folder: &Path) -> Trainer {
    let saved = checkpoint::read(&Folder::open(folder).unwrap(), "step", &Host::default()).unwrap();
    let (envs, evaluation) = (unsaved(&saved.config), Host::default().env(&saved.config, false).unwrap());
    Trainer::on_cpu(vec![saved.take_up(envs, evaluation).unwrap().run]).unwrap()
}

#[track_caller]
fn assert_same(one: &Run, other: &Run) {
    let parts = |run: &Run| {
        let learner = run.learner();
        let adam = (learner.adam.m.clone(), learner.adam.v.clone(), learner.adam.t);
        (
            run.step(),
            run.updates(),
            learner.online.clone(),
            learner.target.clone(),
            adam,
            learner.rewards,
            learner.unit,
            learner.algorithm.save().unwrap(),
        )
    };
    assert_eq!(parts(one), parts(other));
}

fn heads(run: &Run) -> Vec<u64> {
    run.replay().state().heads
}

/// Everything but the environments is as it was; each episode under way got one slot, its final frame.
#[test]
fn all_but_the_environments_is_as_it_was() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    for step in [3, 99, 450, 1_500] {
        let mut first = trainer(&config);
        advance(&mut first, step);
        save(folder.path(), first.run(), &mut vec![]);
        let resumed = load(folder.path());
        let resumed = resumed.run();
        assert_same(first.run(), resumed);
        let (before, after) = (heads(first.run()), heads(resumed));
        assert!(
            before != after && before.iter().zip(&after).all(|(b, a)| a - b <= 1),
            "{before:?} {after:?}"
        );
        // What could be sampled is the same but for what the new slots overwrote.
        let there: Vec<u64> = resumed.replay().indices().collect();
        let both: Vec<u64> = first.run().replay().indices().filter(|index| there.contains(index)).collect();
        assert!(both.len() + config.envs >= first.run().replay().len() && there.len() > both.len());
        let sampled = |run: &Run| {
            let mut sample = Sample { index: both.clone(), ..Sample::default() };
            run.replay().gather(&mut sample).unwrap();
            sample
        };
        assert_eq!(sampled(first.run()), sampled(resumed));
        advance(&mut first, step + 3);
        let bytes = adfq_env::make("cartpole").unwrap().space().frame_bytes();
        for env in (0..config.envs).filter(|&env| before[env] != after[env]) {
            // What the agent saw last is what it would have acted on next.
            let (goes_on, cut) = (first.run().replay(), resumed.replay().since(env, before[env]).unwrap());
            let goes_on = goes_on.since(env, before[env]).unwrap();
            let (cut, goes_on) = (cut.frames.stored(), goes_on.frames.stored());
            assert_eq!(cut[cut.len() - bytes..], goes_on[..bytes]);
        }
    }
}

#[test]
fn two_resumes_go_on_alike_and_later_checkpoints_hold_the_cut() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let (mut first, mut segments) = (trainer(&config), vec![]);
    advance(&mut first, 450);
    save(folder.path(), first.run(), &mut segments);
    let (mut one, mut other) = (load(folder.path()), load(folder.path()));
    assert_eq!(one.run().replay().digest(), other.run().replay().digest());
    for step in [600, 900, 1_800] {
        advance(&mut one, step);
        advance(&mut other, step);
        assert_same(one.run(), other.run());
        assert_eq!(one.run().replay().digest(), other.run().replay().digest());
        save(folder.path(), one.run(), &mut segments);
        // At the moment of saving, the memory is read back from segments written before and after the cut.
        let read = checkpoint::read(&Folder::open(folder.path()).unwrap(), "step", &Host::default()).unwrap();
        let exact = read.take_up(unsaved(&config), Host::default().env(&config, false).unwrap()).unwrap();
        assert_same(&exact.run, one.run());
        let [exact, one] = [&exact.run, one.run()].map(|run| run.replay().len());
        assert!(exact >= one, "{exact} {one}");
    }
    // Resuming changed the course: episodes were cut that otherwise would have gone on.
    advance(&mut first, 1_800);
    assert_ne!(first.run().replay().digest(), one.run().replay().digest());
}

/// Saving at once what was just resumed, and resuming it again, cuts nothing twice.
#[test]
fn a_second_interruption_at_the_same_step_changes_nothing() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let (mut first, mut segments) = (trainer(&config), vec![]);
    advance(&mut first, 450);
    save(folder.path(), first.run(), &mut segments);
    let mut once = load(folder.path());
    save(folder.path(), once.run(), &mut segments);
    let mut twice = load(folder.path());
    assert_eq!(heads(once.run()), heads(twice.run()));
    advance(&mut once, 900);
    advance(&mut twice, 900);
    assert_same(once.run(), twice.run());
    assert_eq!(once.run().replay().digest(), twice.run().replay().digest());
}

#[test]
fn environments_that_changed_are_refused() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    save(folder.path(), trainer(&config).run(), &mut vec![]);
    let saved = checkpoint::read(&Folder::open(folder.path()).unwrap(), "step", &Host::default()).unwrap();
    let other = Config { env: "acrobot".to_owned(), ..config };
    let evaluation = Host::default().env(&other, false).unwrap();
    let error = saved.take_up(unsaved(&other), evaluation).err().unwrap();
    let Error::Checkpoint { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("[4] and 2 actions, but the environment has [6] and 3"), "{reason}");
}

/// Stops a run when it has written so many rows of metrics.
struct StopAfter<'a>(usize, &'a AtomicBool);

impl Observer for StopAfter<'_> {
    fn metrics(&mut self, _: &Run, _: &Metrics) -> crate::Result<()> {
        self.0 -= 1;
        self.1.store(self.0 == 0, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }
}

/// A run folder: stopped between checkpoints, copied, and both copies resumed.
#[test]
fn copies_of_a_stopped_run_end_alike() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let (path, stop) = (folder.path().join("run"), AtomicBool::new(false));
    let mut trainer = trainer(&config);
    let run_folder = RunFolder::create(&path, trainer.run()).unwrap();
    let mut observers: Observers = vec![Box::new(StopAfter(5, &stop))];
    observers.extend(run_folder.observers(trainer.run(), Box::new(|| 0.0)).unwrap());
    assert!(!trainer.train(&mut [observers], &stop).unwrap());
    let stopped = trainer.run().step();
    let copy = folder.path().join("copy");
    copy_folder(&path, &copy);
    let ends = [path, copy].map(|path| {
        let (folder, run, warnings) = RunFolder::resume(&path, &Host::default()).unwrap();
        assert_eq!((run.step(), warnings.len()), (stopped, 0));
        let observers = folder.observers(&run, Box::new(|| 0.0)).unwrap();
        let mut trainer = Trainer::on_cpu(vec![run]).unwrap();
        assert!(trainer.train(&mut [observers], &AtomicBool::new(false)).unwrap());
        ["result.json", "metrics.csv", "evaluations.csv"]
            .map(|file| fs::read_to_string(path.join(file)).unwrap())
    });
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0][2].starts_with("step,episode,return,clipped_return,length\n1002,0,"), "{}", ends[0][2]);
    assert_eq!(ends[0][1].lines().count(), 21);
}

/// A checkpoint is of the moment at which it was taken, however late it is written, and who takes it need not wait. While
/// the threads that write are held up the run goes on.
#[test]
fn a_run_goes_on_while_its_checkpoint_waits_to_be_written() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let path = folder.path().join("run");
    let mut trainer = trainer(&config);
    let run_folder = RunFolder::create(&path, trainer.run()).unwrap();
    let mut observers = run_folder.observers(trainer.run(), Box::new(|| 0.0)).unwrap();
    advance(&mut trainer, 450);
    let held = hold_up_all_writers();
    observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    let before = trainer.run().learner().online.clone();
    advance(&mut trainer, 900);
    let written = || fs::read_dir(path.join("checkpoints")).unwrap().count();
    assert_eq!(written(), 0);
    drop(held);
    observers.iter_mut().for_each(|observer| observer.settle().unwrap());
    // A segment of each environment, and the checkpoint.
    assert_eq!(written(), 4);
    drop(observers);
    let (_, run, warnings) = RunFolder::resume(&path, &Host::default()).unwrap();
    assert_eq!((run.step(), warnings.len()), (450, 0));
    assert!(run.learner().online == before && trainer.run().learner().online != before);
}

/// Dropped, the folder is free, and all that was taken is there.
#[test]
fn what_was_taken_is_written_before_the_folder_is_free() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let path = folder.path().join("run");
    let mut trainer = trainer(&config);
    let run_folder = RunFolder::create(&path, trainer.run()).unwrap();
    let mut observers = run_folder.observers(trainer.run(), Box::new(|| 0.0)).unwrap();
    for step in [300, 600, 900] {
        advance(&mut trainer, step);
        observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    }
    drop(observers);
    let (_, run, warnings) = RunFolder::resume(&path, &Host::default()).unwrap();
    assert_eq!((run.step(), warnings.len()), (900, 0));
    let names = fs::read_dir(path.join("checkpoints")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().starts_with("step-")).count(), 2);
}

/// The error of a checkpoint comes with a step after it, and once.
#[test]
fn a_checkpoint_that_cannot_be_written_is_told_at_a_step() {
    let (config, folder) = (config(), tempfile::tempdir().unwrap());
    let path = folder.path().join("run");
    let mut trainer = trainer(&config);
    let run_folder = RunFolder::create(&path, trainer.run()).unwrap();
    let mut observers = run_folder.observers(trainer.run(), Box::new(|| 0.0)).unwrap();
    let held = hold_up_all_writers();
    observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    drop(held);
    let error = loop {
        trainer.advance().unwrap();
        let told = observers.iter_mut().try_for_each(|observer| observer.stepped(trainer.run()));
        if let Err(error) = told {
            break error.to_string();
        }
    };
    assert!(error.contains(&format!("the folder {} is gone: it was moved", path.display())), "{error}");
    assert!(observers.iter_mut().all(|observer| observer.settle().is_ok()));
}

/// Keeps all threads that write busy until it is dropped: what is added later comes after these.
fn hold_up_all_writers() -> Vec<(Sender<()>, Writer)> {
    (0..*THREADS.end())
        .map(|_| {
            let ((open, closed), writer) = (channel::<()>(), Writer::default());
            writer.add(Room::take(0), move || {
                let _ = closed.recv();
                Ok(())
            });
            (open, writer)
        })
        .collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The episode of an environment that failed is cut off in the replay memory, and the others take their step.
#[test]
fn a_failed_environment_is_cut_off_and_the_others_go_on() {
    let config = config();
    let failing = |fails_in: &[u64], restarts: u64| {
        let host = Host { restarts, ..Host::default() };
        let envs = Unsaved { fails_in: fails_in.to_vec(), ..Unsaved::named(&config.env, config.envs) };
        let evaluation = host.env(&config, false).unwrap();
        let run = Run::with_envs(&config, &host, Box::new(envs), evaluation).unwrap();
        Trainer::on_cpu(vec![run]).unwrap()
    };
    let mut trainer = failing(&[5, 7], 1);
    advance(&mut trainer, 12);
    let (before, seen) = (heads(trainer.run()), trainer.run().observations[1].latest().to_vec());
    trainer.advance().unwrap();
    let run = trainer.run();
    // Each has one slot more: a step, or the final frame. The vector step counts.
    assert_eq!(heads(run), before.iter().map(|head| head + 1).collect::<Vec<_>>());
    assert_eq!((run.step(), run.restarts()), (15, 1));
    let [restart] = &run.restarts.untold[..] else { panic!("{:?}", run.restarts) };
    assert_eq!((restart.step, restart.count, restart.left), (12, 1, 0));
    assert_eq!(restart.error, "the second one fell over");
    // The last frame that the agent saw is the final one, and a stack of frames begins with the next.
    let last = run.replay().since(1, before[1]).unwrap();
    assert!(
        last.frames.stored().windows(seen.len()).any(|bytes| bytes == seen),
        "the final frame is the one seen last"
    );
    assert_eq!(run.observations[1].latest(), &run.envs.frames()[seen.len()..][..seen.len()]);
    // No restart is left for the second failure.
    trainer.advance().unwrap();
    let error = trainer.advance().unwrap_err().to_string();
    assert!(error.contains("the second one fell over"), "{error}");
    assert_eq!(trainer.run().restarts(), 1);
    let mut trainer = failing(&[5], 0);
    advance(&mut trainer, 12);
    assert!(trainer.advance().is_err());
}
