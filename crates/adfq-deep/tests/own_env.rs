//! An environment of the user's own, of three methods and a name: trained in, stopped, resumed and evaluated. With `save`
//! and `restore` a stopped run ends with the same bits as one that never stopped.

use adfq_deep::Checkpoint;
use adfq_deep::evaluate::Evaluator;
use adfq_deep::metrics::Metrics;
use adfq_deep::run::folder::{Loaded, read_learner};
use adfq_deep::training::{Ending, Job, Resources, train};
use adfq_deep::{Agent, Host, Observer, Observers, Result, Run, RunFolder, Summary, Trainer, Training};
use adfq_env::{Env, EnvSpec, Purpose, Registry, Space, Step};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Walk right along eleven cells: the last one pays 1 and the first one nothing, and both end it. Where an episode begins
/// is drawn from a generator of its own.
struct Corridor {
    space: Space,
    cell: u8,
    generator: u64,
    saves: bool,
}

impl Corridor {
    fn new(saves: bool) -> Self {
        Self { space: Space::flat(11, 2), cell: 0, generator: 1, saves }
    }

    fn write(&self, frame: &mut [u8]) -> adfq_env::Result<()> {
        let one_hot: Vec<f32> = (0..11).map(|cell| f32::from(u8::from(cell == self.cell))).collect();
        self.space.write(&one_hot, frame)
    }
}

impl Env for Corridor {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> adfq_env::Result<()> {
        // Knuth's MMIX generator: its high bits are good enough for a cell.
        let last = seed.unwrap_or(self.generator);
        self.generator = last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.cell = 3 + (self.generator >> 33) as u8 % 5;
        self.write(frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> adfq_env::Result<Step> {
        self.cell = if action == 1 { self.cell + 1 } else { self.cell - 1 };
        self.write(frame)?;
        let reward = f64::from(u8::from(self.cell == 10));
        Ok(Step { reward, terminated: self.cell == 10 || self.cell == 0, ..Step::default() })
    }

    fn save(&self) -> adfq_env::Result<Option<Vec<u8>>> {
        let state = [&[self.cell][..], &self.generator.to_le_bytes()].concat();
        Ok(self.saves.then_some(state))
    }

    fn restore(&mut self, state: &[u8]) -> adfq_env::Result<()> {
        let (cell, generator) = state.split_at(1);
        (self.cell, self.generator) = (cell[0], u64::from_le_bytes(generator.try_into().unwrap()));
        Ok(())
    }
}

fn host(saves: bool) -> Host {
    let mut registry = Registry::default();
    registry.register("corridor", move |_: &EnvSpec| Ok(Corridor::new(saves)));
    Host { registry, ..Host::default() }
}

fn training(saves: bool) -> Training {
    let training = Training::new("corridor").host(host(saves)).agent("dqn").steps(1_200);
    let settings = [
        "envs=2",
        "learning.warmup=200",
        "learning.discount=0.8",
        "learning.target={hard = 50}",
        "exploration.fraction=0.5",
        "logging.metrics=100",
        "evaluation.every=400",
        "evaluation.max_steps=50",
        "evaluation.episodes=3",
        "evaluation.final_episodes=20",
    ];
    settings.iter().fold(training, |training, setting| training.set(setting))
}

/// Stops a training when it has written so many rows of metrics.
struct StopAfter(usize, Arc<AtomicBool>);

impl Observer for StopAfter {
    fn metrics(&mut self, _: &Run, _: &Metrics) -> Result<()> {
        self.0 = self.0.saturating_sub(1);
        self.1.store(self.0 == 0, Ordering::Relaxed);
        Ok(())
    }
}

/// Trains until so many rows are written, and says at which step that was.
fn stopped(folder: &Path, saves: bool, rows: usize) -> u64 {
    let stop = Arc::new(AtomicBool::new(false));
    let watch = |_: &Path, _: &Run, _: &[String]| -> Observers<'static> {
        vec![Box::new(StopAfter(rows, stop.clone()))]
    };
    let jobs = training(saves).jobs(folder).unwrap();
    let (mut outcomes, _) = train(jobs, &host(saves), &Resources::default(), &watch, &*stop).unwrap();
    match outcomes.pop().unwrap().ending.unwrap().unwrap() {
        Ending::Stopped { step, steps: 1_200 } => step,
        other => panic!("{other:?}"),
    }
}

fn trained(folder: &Path, saves: bool) -> Summary {
    training(saves).run(folder).unwrap().remove(0)
}

#[test]
fn it_is_learned_and_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let summary = trained(folder.path(), false);
    assert_eq!((summary.env.as_str(), summary.steps, summary.episodes), ("corridor", 1_200, 20));
    assert_eq!(summary.mean_return, Some(1.0));
    // Its name is known to nobody else, but the agent needs no environment.
    assert!(Training::new("corridor").run(folder.path().join("other")).is_err());
    let mut agent = Agent::load(folder.path()).unwrap();
    for cell in 3..8 {
        let observation: Vec<f32> = (0..11).map(|i| f32::from(u8::from(i == cell))).collect();
        assert_eq!(agent.act(&observation).unwrap().action, 1, "{cell}");
    }
    let host = host(false);
    let Loaded { config, mut learner, .. } = read_learner(folder.path(), &host, Checkpoint::Last).unwrap();
    let mut evaluator = Evaluator::new(&config, &learner, host.env(&config, false).unwrap()).unwrap();
    let mut steps = 0;
    let played = evaluator.play(&mut learner, "test", 5, |seen| {
        steps += 1;
        assert_eq!((seen.action, seen.estimates.len()), (1, 2));
        Ok(())
    });
    let played = played.unwrap();
    assert!(played.iter().all(|episode| episode.total == 1.0 && (3..=7).contains(&episode.length)));
    assert_eq!(played.iter().map(|episode| episode.length).sum::<u64>(), steps);
}

/// With `save` and `restore` a resumed run goes on bit for bit; the folder too is that of a run never stopped.
#[test]
fn what_can_be_saved_goes_on_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut] = ["whole", "cut"].map(|name| folder.path().join(name));
    let expected = trained(&whole, true);
    for rows in [2, 5, 3] {
        stopped(&cut, true, rows);
    }
    assert_eq!(trained(&cut, true), expected);
    for file in ["result.json", "metrics.csv", "evaluations.csv"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(read(&cut), read(&whole), "{file}");
    }
}

/// Without them the episodes under way are cut off where they were, at the frame seen last.
#[test]
fn what_cannot_be_saved_cuts_its_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut, exact] = ["whole", "cut", "exact"].map(|name| folder.path().join(name));
    let expected = trained(&whole, false);
    let step = stopped(&cut, false, 5);
    assert_eq!((step, stopped(&exact, true, 5)), (500, 500));
    // All but the environments is the same: one that saves them shows what the other had when it was stopped.
    let (_, saved, warnings) = RunFolder::resume(&exact, &host(true)).unwrap();
    let (run_folder, resumed, more) = RunFolder::resume(&cut, &host(false)).unwrap();
    assert_eq!((warnings.len(), more.len(), resumed.step()), (0, 0, 500));
    assert_eq!(resumed.learner().online, saved.learner().online);
    // The last step of an episode that was cut has a successor, and can be sampled.
    let (before, after) = (saved.replay().len(), resumed.replay().len());
    assert!(before < after && after <= before + 2, "{before} {after}");
    let mut observers = run_folder.observers(&resumed, Box::new(|| 0.0)).unwrap();
    let mut trainer = Trainer::on_cpu(vec![resumed]).unwrap();
    // Dropped in the midst of its way, and taken up by a training from where it was.
    (0..50).for_each(|_| trainer.advance().unwrap());
    observers.iter_mut().for_each(|observer| observer.checkpoint(trainer.run()).unwrap());
    drop((trainer, observers));
    let ended = trained(&cut, false);
    assert_eq!((ended.steps, ended.mean_return), (1_200, Some(1.0)));
    assert_ne!(ended.replay, expected.replay);
}

/// A job without a configuration goes on with what its folder holds.
#[test]
fn a_folder_is_enough_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut] = ["whole", "cut"].map(|name| folder.path().join(name));
    stopped(&cut, true, 4);
    let job = Job { folder: cut, ..Job::default() };
    let watch = |_: &Path, _: &Run, _: &[String]| vec![];
    let going = AtomicBool::new(false);
    let (mut outcomes, _) = train(vec![job], &host(true), &Resources::default(), &watch, &going).unwrap();
    let Ending::Finished(summary) = outcomes.pop().unwrap().ending.unwrap().unwrap() else { panic!() };
    assert_eq!(*summary, trained(&whole, true));
}

/// A corridor that shows a number that is not finite: at the start of an episode, or where it ends.
struct Flawed {
    corridor: Corridor,
    at_end: bool,
}

impl Env for Flawed {
    fn space(&self) -> &Space {
        self.corridor.space()
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> adfq_env::Result<()> {
        self.corridor.reset(seed, frame)?;
        if self.at_end { Ok(()) } else { self.space().write(&[f32::NAN; 11], frame) }
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> adfq_env::Result<Step> {
        let step = self.corridor.step(action, frame)?;
        if step.ended() {
            self.space().write(&[f32::INFINITY; 11], frame)?;
        }
        Ok(step)
    }
}

/// Neither training nor evaluation takes in a number that is not finite.
#[test]
fn what_is_not_finite_stops_training_and_evaluation() {
    for (flawed, at_end) in
        [Purpose::Training, Purpose::Evaluation].into_iter().flat_map(|p| [(p, true), (p, false)])
    {
        let mut registry = Registry::default();
        registry.register("corridor", move |spec: &EnvSpec| -> adfq_env::Result<Box<dyn Env>> {
            let corridor = Corridor::new(true);
            let is_flawed = spec.purpose == flawed;
            Ok(if is_flawed { Box::new(Flawed { corridor, at_end }) } else { Box::new(corridor) })
        });
        let folder = tempfile::tempdir().unwrap();
        let training = training(true).host(Host { registry, ..Host::default() });
        let error = training.run(folder.path().join("run")).unwrap_err().to_string();
        let line = "corridor gave an observation that is not finite (environment ";
        assert!(error.contains(line), "{flawed:?} {at_end}: {error}");
    }
}
