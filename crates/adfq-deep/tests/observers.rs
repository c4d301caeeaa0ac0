//! Observers are a list, and runs that go together do not disturb each other: one loop for one run or many.

use adfq_deep::evaluate::Evaluation;
use adfq_deep::metrics::Metrics;
use adfq_deep::{Config, Error, Host, Observer, Observers, Result, Run, Summary, Trainer};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

fn config(agent: &str, seed: u64) -> Config {
    let host = Host::default();
    let config = host.algorithms.with_agent(Config::for_env("cartpole").unwrap(), agent, None).unwrap();
    let mut config = Config { seed, ..config.with_steps(600) };
    (config.learning.warmup, config.replay.capacity) = (100, 500);
    (config.logging.metrics, config.logging.checkpoint) = (200, 300);
    (config.evaluation.every, config.evaluation.episodes, config.evaluation.final_episodes) = (400, 2, 3);
    config
}

fn run(agent: &str, seed: u64) -> Run {
    Run::new(&config(agent, seed), &Host::default()).unwrap()
}

/// Writes down what it is told, and by whom.
#[derive(Clone)]
struct Scribe(&'static str, Arc<Mutex<Vec<String>>>);

impl Scribe {
    fn note(&self, run: &Run, what: &str) -> Result<()> {
        self.1.lock().unwrap().push(format!("{} {what} {} of {}", self.0, run.step(), run.config().seed));
        Ok(())
    }
}

impl Observer for Scribe {
    fn metrics(&mut self, run: &Run, metrics: &Metrics) -> Result<()> {
        assert_eq!(metrics.step, run.step());
        self.note(run, "metrics")
    }

    fn evaluated(&mut self, run: &Run, evaluation: &Evaluation) -> Result<()> {
        assert_eq!(run.evaluation(), Some(evaluation));
        self.note(run, "evaluated")
    }

    fn checkpoint(&mut self, run: &Run) -> Result<()> {
        self.note(run, "checkpoint")
    }

    fn finished(&mut self, run: &Run, summary: &Summary) -> Result<()> {
        assert_eq!((summary.steps, summary.seed), (run.step(), run.config().seed));
        self.note(run, "finished")
    }
}

/// Keeps the summary of a run.
struct Keep<'a>(&'a mut Option<Summary>);

impl Observer for Keep<'_> {
    fn finished(&mut self, _: &Run, summary: &Summary) -> Result<()> {
        *self.0 = Some(summary.clone());
        Ok(())
    }
}

/// Fails at the second row of metrics.
struct Fails(u32);

impl Observer for Fails {
    fn metrics(&mut self, _: &Run, _: &Metrics) -> Result<()> {
        self.0 += 1;
        if self.0 == 2 { Err(Error::State("the disk is full".to_owned())) } else { Ok(()) }
    }
}

/// Trains these runs together; the summary of each that came to its end.
fn train(runs: Vec<Run>) -> Vec<Option<Summary>> {
    let mut summaries = vec![None; runs.len()];
    let keep = |summary| -> Observers { vec![Box::new(Keep(summary))] };
    let mut observers: Vec<Observers> = summaries.iter_mut().map(keep).collect();
    let mut trainer = Trainer::on_cpu(runs).unwrap();
    assert!(trainer.train(&mut observers, &AtomicBool::new(false)).unwrap());
    drop(observers);
    summaries
}

#[test]
fn observers_are_told_in_their_order() {
    let notes = Arc::new(Mutex::new(vec![]));
    let scribe = |name| -> Box<dyn Observer + Send> { Box::new(Scribe(name, notes.clone())) };
    let mut trainer = Trainer::on_cpu(vec![run("dqn", 0), run("dqn", 1)]).unwrap();
    let mut observers = [vec![scribe("a"), scribe("b")], vec![scribe("c")]];
    assert!(trainer.train(&mut observers, &AtomicBool::new(false)).unwrap());
    let expected = [
        ("metrics", 200),
        ("checkpoint", 300),
        ("metrics", 400),
        ("evaluated", 400),
        ("metrics", 600),
        ("evaluated", 600),
        ("checkpoint", 600),
        ("finished", 600),
    ];
    let expected = expected.iter().flat_map(|(what, step)| {
        [("a", 0), ("b", 0), ("c", 1)].map(|(name, seed)| format!("{name} {what} {step} of {seed}"))
    });
    assert_eq!(*notes.lock().unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn a_stop_is_a_checkpoint_and_nothing_else() {
    let notes = Arc::new(Mutex::new(vec![]));
    let mut trainer = Trainer::on_cpu(vec![run("dqn", 7)]).unwrap();
    let observers: Observers = vec![Box::new(Scribe("a", notes.clone()))];
    assert!(!trainer.train(&mut [observers], &AtomicBool::new(true)).unwrap());
    assert_eq!(*notes.lock().unwrap(), ["a checkpoint 0 of 7"]);
}

/// Agents may differ: together or alone, each run has the same bits.
#[test]
fn runs_together_are_the_runs_alone() {
    let kinds = [("adfq", 3), ("adfq", 4), ("split", 3), ("bootstrapped", 3), ("calibrated", 3)];
    let together = train(kinds.iter().map(|&(agent, seed)| run(agent, seed)).collect());
    let alone: Vec<_> = kinds.iter().flat_map(|&(agent, seed)| train(vec![run(agent, seed)])).collect();
    assert!(alone.iter().all(Option::is_some));
    assert_eq!(together, alone);
}

#[test]
fn an_error_of_an_observer_ends_its_run_alone() {
    let alone = train(vec![run("adfq", 1)]);
    let (notes, mut kept) = (Arc::new(Mutex::new(vec![])), None);
    let mut observers: [Observers; 2] =
        [vec![Box::new(Fails(0)), Box::new(Scribe("a", notes.clone()))], vec![Box::new(Keep(&mut kept))]];
    let mut trainer = Trainer::on_cpu(vec![run("adfq", 0), run("adfq", 1)]).unwrap();
    assert!(trainer.train(&mut observers, &AtomicBool::new(false)).unwrap());
    drop(observers);
    let [failed, sound] = trainer.runs() else { panic!() };
    assert!(failed.failure().unwrap().to_string().contains("the disk is full"));
    assert_eq!((failed.step(), sound.step()), (400, 600));
    assert!(sound.failure().is_none());
    // Those after the one that failed hear no more of that run.
    assert_eq!(*notes.lock().unwrap(), ["a metrics 200 of 0", "a checkpoint 300 of 0"]);
    assert_eq!(vec![kept], alone);
}

#[test]
fn the_only_run_that_fails_is_an_error() {
    let mut trainer = Trainer::on_cpu(vec![run("adfq", 0)]).unwrap();
    let error = trainer.train(&mut [vec![Box::new(Fails(0))]], &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(trainer.run().step(), 400);
}

#[test]
fn runs_that_cannot_go_together_are_refused() {
    let other = Run::new(&config("dqn", 0).with_steps(700), &Host::default()).unwrap();
    let error = Trainer::on_cpu(vec![run("dqn", 0), other]).err().unwrap().to_string();
    assert!(error.contains("steps must be the same"), "{error}");
    assert!(Trainer::on_cpu(vec![]).err().unwrap().to_string().contains("at least one"));
    let mut ahead = Trainer::on_cpu(vec![run("dqn", 0)]).unwrap();
    ahead.advance().unwrap();
    let runs = ahead.into_runs().into_iter().chain([run("dqn", 1)]).collect();
    assert!(Trainer::on_cpu(runs).err().unwrap().to_string().contains("step must be the same"));
}
