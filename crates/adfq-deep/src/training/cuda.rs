//! Many runs on one GPU: which of them go together, and what became of each.

use super::{
    Begun, Ending, Job, Outcome, Ready, Watch, cores, ending, folders_of, in_order, name_checkpoint,
    note_times, noted,
};
use crate::trainer::Stop;
use crate::{Config, Error, Host, Result, Run, Timeline, Trainer};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Trains runs on one GPU. Those that fit together go step by step together, as many as `together` says.
pub(super) fn train(
    number: usize,
    jobs: Vec<Job>,
    host: &Host,
    together: Option<NonZeroUsize>,
    watch: &Watch,
    stop: Stop,
) -> Result<(Vec<Outcome>, Vec<Timeline>)> {
    let now = Instant::now();
    let order = folders_of(&jobs);
    let device = adfq_nn::cuda::Device::open(number)?;
    // Where there are more workers than cores, one that looks for its next task keeps another from its own.
    let mut host = host.clone();
    let gym = &mut host.registry.gym;
    gym.spin = gym.spin && 2 * jobs.len() * gym.workers.get() <= cores();
    // Each waits for its workers to start.
    let begun: Vec<_> = jobs.par_iter().map(|job| job.begin(&host, watch)).collect();
    let (mut outcomes, mut groups) = (vec![], BTreeMap::<String, Vec<Vec<_>>>::new());
    for (job, begun) in jobs.into_iter().zip(begun) {
        match begun {
            Err(error) => outcomes.push(Outcome { folder: job.folder, ending: Some(Err(error)) }),
            Ok(Begun::Finished(summary)) => {
                outcomes.push(Outcome { folder: job.folder, ending: Some(Ok(Ending::WasFinished(summary))) });
            }
            Ok(Begun::Ready(ready)) => {
                let groups = groups.entry(group_of(&ready.1)).or_default();
                match groups.last_mut().filter(|group| together.is_none_or(|most| group.len() < most.get())) {
                    Some(group) => group.push(*ready),
                    None => groups.push(vec![*ready]),
                }
            }
        }
    }
    let trained: Vec<_> = std::thread::scope(|scope| {
        let spawn = |group| scope.spawn(|| train_group(&device, group, now, stop));
        let threads: Vec<_> = groups.into_values().flatten().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let mut timelines = vec![];
    for (group, timeline) in trained {
        outcomes.extend(group);
        timelines.extend(timeline);
    }
    Ok((in_order(order, outcomes), timelines))
}

/// What runs must have in common to go step by step together on a GPU, as text.
fn group_of(run: &Run) -> String {
    let Config { env, envs, steps, earlier_ends, learning, replay, evaluation, logging, .. } = &run.config;
    let schedule = (learning.every, learning.warmup, learning.target, learning.batch, learning.clip);
    let adam = adfq_nn::AdamSettings { rate: 1.0, ..learning.adam };
    let memory = (replay.capacity, replay.priority.is_some());
    let network = (run.learner.network().spec(), run.learner.algorithm.keeps().shape());
    // What is due to a run whose memory has to fill again is not what is due to others, and one that stops at a return
    // stops alone.
    let alone = !run.lost.is_empty() || evaluation.stop_at.is_some();
    let alone = alone.then_some((&run.config.agent, &run.config.policy, run.config.seed));
    let place = (run.place(), alone, &run.lost);
    format!(
        "{env} {envs} {steps} {earlier_ends:?} {schedule:?} {adam:?} {memory:?} {evaluation:?} {logging:?} {network:?} {place:?}"
    )
}

/// Trains runs together that were begun at this moment.
fn train_group(
    device: &adfq_nn::cuda::Device,
    group: Vec<Ready>,
    begun: Instant,
    stop: Stop,
) -> (Vec<Outcome>, Option<Timeline>) {
    let (mut folders, mut runs, mut observers) = (vec![], vec![], vec![]);
    for (folder, run, own) in group {
        folders.push(folder);
        runs.push(run);
        observers.push(own);
    }
    let failed = |folder: PathBuf, error: Error| {
        let ending = Some(Err(noted(name_checkpoint(error, &folder), &folder)));
        Outcome { folder, ending }
    };
    // Groups have threads of their own: what one captures must not hold what another puts on a stream.
    let trainer = device.beside().map_err(Error::from).and_then(|device| Trainer::on_cuda(&device, runs));
    let mut trainer = match trainer {
        Ok(trainer) => trainer,
        Err(error) => {
            let said = error.to_string();
            return (
                folders.into_iter().map(|folder| failed(folder, Error::Group(said.clone()))).collect(),
                None,
            );
        }
    };
    trainer.begun_at(begun);
    let trained = trainer.train(&mut observers, stop);
    let timeline = *trainer.timeline();
    folders.par_iter().for_each(|folder| note_times(folder, &trained, &timeline, begun));
    // The folders are held until here.
    drop(observers);
    let trained = match trained {
        Ok(trained) => trained,
        Err(error) => {
            // The first error is for all that have none of their own.
            let said = error.to_string();
            let mut runs = trainer.into_runs();
            runs[0].failure = Some(error);
            let errors = runs.iter_mut().map(|run| run.take_failure().unwrap_or(Error::Group(said.clone())));
            return (
                folders.into_iter().zip(errors).map(|(folder, error)| failed(folder, error)).collect(),
                Some(timeline),
            );
        }
    };
    let outcome = |(folder, mut run): (PathBuf, Run)| {
        let trained = run.take_failure().map_or(Ok(trained), Err);
        let ending = Some(ending(&folder, &mut run, trained));
        Outcome { folder, ending }
    };
    (folders.into_iter().zip(trainer.into_runs()).map(outcome).collect(), Some(timeline))
}
