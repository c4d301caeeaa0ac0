//! Many runs on one GPU: which of them go together, and what became of each.

use super::{
    Begun, Ending, Job, Outcome, Ready, Watch, cores, ending, folders_of, in_order, name_checkpoint,
    note_times, noted,
};
use crate::evaluate::Player;
use crate::trainer::Stop;
use crate::{Config, Error, Host, Result, Run, Timeline, Trainer};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Trains runs on one GPU. Those that fit together go step by step together, as many as `together` says, or in a few groups.
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
    let mut host = Host { frames_on_gpu: true, ..host.clone() };
    let gym = &mut host.registry.gym;
    gym.spin = gym.spin && 2 * jobs.len() * gym.workers.get() <= cores();
    // Each waits for its workers to start.
    let begun: Vec<_> = jobs.par_iter().map(|job| job.begin(&host, watch)).collect();
    let (mut outcomes, mut kinds) = (vec![], BTreeMap::<String, Vec<_>>::new());
    for (job, begun) in jobs.into_iter().zip(begun) {
        match begun {
            Err(error) => outcomes.push(Outcome { folder: job.folder, ending: Some(Err(error)) }),
            Ok(Begun::Finished(summary)) => {
                outcomes.push(Outcome { folder: job.folder, ending: Some(Ok(Ending::WasFinished(summary))) });
            }
            Ok(Begun::Ready(ready)) => {
                kinds.entry(kind_of(&ready.1)).or_default().push(*ready);
            }
        }
    }
    let groups = grouped(kinds.into_values().collect(), together);
    let slow = groups.iter().flatten().any(|(_, run, _)| run.players.iter().any(Player::is_slow));
    let threads = threads_of_each(groups.len(), cores(), slow);
    let trained: Vec<_> = std::thread::scope(|scope| {
        let spawn = |group| scope.spawn(|| train_beside(&device, group, threads, now, stop));
        let threads: Vec<_> = groups.into_iter().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let mut timelines = vec![];
    for (group, timeline) in trained {
        outcomes.extend(group);
        timelines.extend(timeline);
    }
    Ok((in_order(order, outcomes), timelines))
}

/// Groups at most, where runs that could all go together are split. While one group waits for the GPU, others step their
/// environments and have it work for them, and kernels too small for a whole GPU run side by side.
const GROUPS: usize = 4;
/// Runs of such a group at least: each launch costs the same for one run and for a few.
const LEAST: usize = 4;

/// Splits runs of the same kind into groups of about the same size: as many together as is said, or a few groups in all. No
/// result depends on it.
fn grouped<T>(kinds: Vec<Vec<T>>, together: Option<NonZeroUsize>) -> Vec<Vec<T>> {
    let parts_of_kind = GROUPS / kinds.len().max(1);
    let mut groups = vec![];
    for mut runs in kinds {
        let parts = match together {
            Some(most) => runs.len().div_ceil(most.get()),
            None => parts_of_kind.min(runs.len() / LEAST).max(1),
        };
        for left in (1..=parts).rev() {
            let rest = runs.split_off(runs.len().div_ceil(left));
            groups.push(std::mem::replace(&mut runs, rest));
        }
    }
    groups
}

/// Threads of each group. They are its own: what a thread does while it waits for others is then the work of its own group.
/// Where environments are slow, there are two threads for a core. While some groups wait for the GPU, and when those with
/// faster games have finished, the others then have the cores.
fn threads_of_each(groups: usize, cores: usize, slow: bool) -> usize {
    let threads = if slow { 2 * cores } else { cores };
    (threads / groups.max(1)).clamp(1, cores)
}

/// What runs must have in common to go step by step together on a GPU, as text.
fn kind_of(run: &Run) -> String {
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

/// Trains runs together on so many threads of their own.
fn train_beside(
    device: &adfq_nn::cuda::Device,
    group: Vec<Ready>,
    threads: usize,
    begun: Instant,
    stop: Stop,
) -> (Vec<Outcome>, Option<Timeline>) {
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| train_group(device, group, begun, stop)),
        // The threads that all share are there.
        Err(_) => train_group(device, group, begun, stop),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(kinds: &[usize], together: Option<usize>) -> Vec<usize> {
        let kinds = kinds.iter().map(|&runs| (0..runs).collect()).collect();
        grouped(kinds, together.and_then(NonZeroUsize::new)).iter().map(Vec::len).collect()
    }

    #[test]
    fn many_runs_go_in_a_few_groups() {
        assert_eq!(sizes(&[100], None), [25; 4]);
        assert_eq!(sizes(&[10], None), [5, 5]);
        assert_eq!(sizes(&[14], None), [5, 5, 4]);
        assert_eq!(sizes(&[18], None), [5, 5, 4, 4]);
        for few in 1..8 {
            assert_eq!(sizes(&[few], None), [few]);
        }
        assert_eq!(sizes(&[20, 20], None), [10; 4]);
        assert_eq!(sizes(&[20; 5], None), [20; 5]);
        assert_eq!(sizes(&[], None), [0; 0]);
    }

    #[test]
    fn as_many_go_together_as_is_said() {
        assert_eq!(sizes(&[10], Some(4)), [4, 3, 3]);
        assert_eq!(sizes(&[3, 2], Some(1)), [1; 5]);
        assert_eq!(sizes(&[100], Some(100)), [100]);
        assert_eq!(sizes(&[100], Some(1000)), [100]);
    }

    #[test]
    fn slow_environments_have_two_threads_for_a_core() {
        let of = |groups, slow| threads_of_each(groups, 16, slow);
        assert_eq!([of(1, false), of(4, false), of(12, false), of(40, false)], [16, 4, 1, 1]);
        assert_eq!([of(1, true), of(4, true), of(12, true), of(40, true)], [16, 8, 2, 1]);
    }

    #[test]
    fn each_run_is_in_one_group_and_they_stay_in_order() {
        let groups = grouped(vec![(0..101).collect(), (101..150).collect::<Vec<_>>()], None);
        assert!(groups.into_iter().flatten().eq(0..150));
    }
}
