//! What `atari.py` plays. The tests of other crates use this file too.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes of a frame, and of the four that an observation stacks.
pub const FRAME: usize = 84 * 84;
pub const OBSERVATION: usize = 4 * FRAME;

/// The observations to act on, one more than actions; those that the actions led to, which differ where an episode ended;
/// rewards and ends.
pub struct Reference {
    pub observations: Vec<u8>,
    pub successors: Vec<u8>,
    pub rewards: Vec<f64>,
    pub flags: Vec<u8>,
}

impl Reference {
    /// Plays these actions with Gymnasium.
    pub fn play(python: &Path, game: &str, seed: u64, sticky: f64, actions: &[usize]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../adfq-env/tests/bridge/atari.py");
        let mut child = Command::new(python)
            .args([script, game, &seed.to_string(), &sticky.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let bytes: Vec<u8> = actions.iter().map(|&action| action as u8).collect();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let mut answer = vec![];
        child.stdout.take().unwrap().read_to_end(&mut answer).unwrap();
        assert!(child.wait().unwrap().success());
        let (observations, rest) = answer.split_at((actions.len() + 1) * OBSERVATION);
        let (successors, rest) = rest.split_at(actions.len() * OBSERVATION);
        let (rewards, flags) = rest.split_at(actions.len() * 8);
        let rewards = rewards.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
        let (observations, successors) = (observations.to_vec(), successors.to_vec());
        Self { observations, successors, rewards, flags: flags.to_vec() }
    }
}
