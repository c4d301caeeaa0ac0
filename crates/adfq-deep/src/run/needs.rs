//! How much memory a run will take, compared with what there is before any of it is asked for. A configuration and a
//! checkpoint may name any sizes; no sum or product of them wraps around.

use crate::algorithm::Demand;
use crate::{Bytes, Config, Error, Host, Result};
use adfq_env::Space;
use adfq_nn::Size;

/// Buffers of parameters: the online and the target network, their gradient, and Adam's two moments.
const BUFFERS: u64 = 5;

/// Rows of all passes of a gradient step, for each transition of the batch: the online network on s, the target network
/// on s or s′, at the least.
const PASSES: u64 = 2;

/// What one environment takes at the least beside its frames.
const ENV: u64 = 256;

/// What the replay memory of this configuration will take in an environment with this space.
pub fn replay_bytes(config: &Config, space: &Space) -> Bytes {
    Bytes(config.replay.bytes_needed(config.envs, space))
}

/// An error if a run would take more than the host has, where that is known, or more than any machine. Frames that lie on a
/// GPU are not the host's.
pub(crate) fn check_memory(config: &Config, space: &Space, host: &Host) -> Result<()> {
    let replay = match host.frames_on_gpu {
        true => Bytes(config.replay.bytes_without_frames(config.envs)),
        false => replay_bytes(config, space),
    };
    check_with_replay(config, space, host, replay)
}

/// The same for a run that is read back: its frames are in the host's memory for a while, wherever they go then.
pub(crate) fn check_memory_read_back(config: &Config, space: &Space, host: &Host) -> Result<()> {
    check_with_replay(config, space, host, replay_bytes(config, space))
}

fn check_with_replay(config: &Config, space: &Space, host: &Host, replay: Bytes) -> Result<()> {
    let available = room(host);
    let envs = Part { what: "environments", bytes: envs_bytes(config, space), less: "fewer envs" };
    let parts = [learner_parts(config, space, host)?.as_slice(), &[envs]].concat();
    check_parts(&parts, available)?;
    // The replay memory gets what all else leaves.
    let rest = parts.iter().fold(available.0, |rest, part| rest - part.bytes);
    if replay.0 <= rest {
        return Ok(());
    }
    let fits = (config.replay.capacity as f64 * (rest as f64 / replay.0 as f64) * 0.9) as usize;
    Err(Error::Memory { needed: replay, available, fits })
}

/// An error if what learns would take more than the host has. The replay memory and the environments are left out.
pub(crate) fn check_learner_memory(config: &Config, space: &Space, host: &Host) -> Result<()> {
    check_parts(&learner_parts(config, space, host)?, room(host))
}

/// The parameters of the network that the configuration describes.
pub(crate) fn parameters(config: &Config, space: &Space, host: &Host) -> Result<u64> {
    Ok(network(config, space, host)?.1.parameters)
}

/// A part of a run, what it takes, and what to ask for instead.
#[derive(Clone, Copy)]
struct Part {
    what: &'static str,
    bytes: u64,
    less: &'static str,
}

/// An error that names the largest part if all of them are more than there is.
fn check_parts(parts: &[Part], available: Bytes) -> Result<()> {
    let needed = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.bytes));
    // Of equals the first: sizes that nobody can count are all the same.
    match parts.iter().rev().max_by_key(|part| part.bytes) {
        Some(&Part { what, bytes, less }) if needed > available.0 => {
            Err(Error::Needs { what, part: Bytes(bytes), needed: Bytes(needed), available, less })
        }
        _ => Ok(()),
    }
}

/// What there is: no machine has more than it can address.
fn room(host: &Host) -> Bytes {
    Bytes(host.memory.unwrap_or(u64::MAX).min(isize::MAX as u64))
}

fn network(config: &Config, space: &Space, host: &Host) -> Result<(Demand, Size)> {
    check_space(space)?;
    let demand = host.algorithms.get(&config.agent)?.demand(config, space)?;
    Ok((demand, config.spec(space, demand.outputs).size()))
}

fn learner_parts(config: &Config, space: &Space, host: &Host) -> Result<[Part; 3]> {
    let (demand, network) = network(config, space, host)?;
    let (batch, observation) = (config.learning.batch as u64, space.observation_len() as u64);
    // A batch holds s and s′ as numbers.
    let batch_bytes = batch.saturating_mul(observation).saturating_mul(8);
    let passes = network.pass_bytes(batch.saturating_mul(PASSES)).saturating_add(batch_bytes);
    let copies = BUFFERS.saturating_add(demand.networks);
    Ok([
        Part { what: "networks", bytes: network.parameter_bytes(copies), less: "smaller network.layers" },
        Part { what: "batches", bytes: passes, less: "a smaller learning.batch" },
        Part { what: "agent", bytes: demand.bytes, less: demand.less },
    ])
}

/// Of each environment: the frames of an observation, that observation as numbers, and the frame before and after a step.
fn envs_bytes(config: &Config, space: &Space) -> u64 {
    let (frame, stack) = (space.frame_bytes() as u64, space.stack as u64);
    let frames = frame.saturating_mul(stack.saturating_add(2));
    let each = (space.observation_len() as u64).saturating_mul(4).saturating_add(frames).saturating_add(ENV);
    each.saturating_mul(config.envs as u64)
}

/// An error if the numbers of an observation cannot even be counted, as in a checkpoint that somebody made up.
pub(crate) fn check_space(space: &Space) -> Result<()> {
    let sizes = space.frame.iter().chain([&space.stack, &8]);
    let fits = sizes.into_iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    match fits.filter(|&bytes| bytes <= isize::MAX as usize) {
        Some(_) => Ok(()),
        None => Err(Error::SpaceSize { frame: format!("{:?}", space.frame), stack: space.stack }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(memory: u64) -> Host {
        Host { memory: Some(memory), ..Host::default() }
    }

    fn refused(change: &str, memory: u64) -> String {
        let config = Config::for_env("cartpole").unwrap().with(change).unwrap();
        check_memory(&config, &Space::flat(4, 2), &host(memory)).expect_err(change).to_string()
    }

    #[test]
    fn the_largest_part_is_named() {
        let config = Config::for_env("cartpole").unwrap();
        check_memory(&config, &Space::flat(4, 2), &host(1 << 30)).unwrap();
        for (change, said) in [
            (
                "network.layers=[{dense={units=100000}},{dense={units=100000}}]",
                "networks take 200.0 GB of it; ask for smaller network.layers",
            ),
            ("network.dueling=1000000000000000000", "ask for smaller network.layers"),
            ("learning.batch=40000", "batches take"),
        ] {
            let message = refused(change, 100 << 20);
            assert!(message.contains(said) && message.lines().count() == 1, "{message}");
        }
    }

    #[test]
    fn made_up_sizes_are_refused_whatever_the_machine() {
        let config = Config::for_env("cartpole").unwrap();
        for frame in [
            vec![1 << 31, 1 << 31, 4],
            vec![1 << 62],
            vec![usize::MAX, 2, 1],
            vec![1_000_000_000_000_000_000],
        ] {
            for stack in [1, 4, usize::MAX] {
                let space = Space { frame: frame.clone(), stack, ..Space::flat(1, 2) };
                assert!(check_learner_memory(&config, &space, &Host::default()).is_err(), "{space:?}");
            }
        }
        let actions = Space::flat(4, usize::MAX);
        assert!(check_learner_memory(&config, &actions, &Host::default()).is_err());
    }

    /// A gigabyte of frames, of which the host has room for a tenth.
    #[test]
    fn frames_on_a_gpu_take_none_of_the_hosts_memory() {
        let config = Config::for_env("minatar/breakout").unwrap().with("replay.capacity=2500000").unwrap();
        let space = adfq_env::make("minatar/breakout").unwrap().space().clone();
        let here = host(100 << 20);
        let there = Host { frames_on_gpu: true, ..here.clone() };
        assert!(matches!(check_memory(&config, &space, &here), Err(Error::Memory { .. })));
        check_memory(&config, &space, &there).unwrap();
        assert!(matches!(check_memory_read_back(&config, &space, &there), Err(Error::Memory { .. })));
        // Steps and priorities are the host's all the same.
        let small = Host { memory: Some(20 << 20), ..there };
        assert!(matches!(check_memory(&config, &space, &small), Err(Error::Memory { .. })));
    }

    #[test]
    fn environments_and_agents_count() {
        let config = Config { envs: 1 << 40, ..Config::for_env("cartpole").unwrap() };
        let config = Config {
            replay: crate::replay::ReplaySettings { capacity: 1, ..config.replay.clone() },
            ..config
        };
        let error = check_memory(&config, &Space::flat(4, 2), &host(1 << 30)).unwrap_err().to_string();
        assert!(error.ends_with("ask for fewer envs"), "{error}");
        let host = host(1 << 30);
        let split = host.algorithms.with_agent(Config::for_env("cartpole").unwrap(), "split", None).unwrap();
        let split = split.with("split.features=1000000").unwrap();
        let error = check_memory(&split, &Space::flat(4, 2), &host).unwrap_err().to_string();
        assert!(error.ends_with("ask for fewer split.features"), "{error}");
    }
}
