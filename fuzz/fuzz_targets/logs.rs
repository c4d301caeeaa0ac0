//! Any bytes as the logs and the configuration of a run that is compared with others: a comparison or an error, never a
//! panic, and no more memory than the files' sizes allow.

#![no_main]

use adfq_deep::Config;
use adfq_deep::run::folder::{CONFIG, EVALUATIONS, EVALUATIONS_HEADER, METRICS};
use adfq_fuzz::{Edit, within};
use adfq_lab::compare::{Comparison, Returns, Run, summary};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::fs::write;
use std::path::PathBuf;
use std::sync::LazyLock;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// Where one and the same folder is left as it is.
    config: Vec<Edit>,
    evaluations: Rows<'a>,
    metrics: Rows<'a>,
    training: bool,
}

#[derive(Arbitrary, Debug)]
enum Rows<'a> {
    Bytes(&'a [u8]),
    Below(&'a [u8]),
    Edits(Vec<Edit>),
}

const GOOD_METRICS: &str = "step,episodes,train_return,train_clipped_return\n100,5,21.5,21.5\n200,9,34,34\n";

impl Rows<'_> {
    fn bytes(&self, header: &str, good: &str) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Below(bytes) => [header.as_bytes(), b"\n", bytes].concat(),
            Self::Edits(edits) => {
                edits.iter().take(8).fold(good.to_owned(), |text, edit| edit.apply(&text)).into_bytes()
            }
        }
    }
}

/// A folder that lasts as long as the program.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| tempfile::tempdir().unwrap().keep());

fuzz_target!(|input: Input| {
    let good = format!("{EVALUATIONS_HEADER}\n100,0,21,21,21\n100,1,34,34,34\n200,0,55,55,55\n200,1,89,89,89\n");
    let config = Config::for_env("cartpole").unwrap().to_toml().unwrap();
    let config = input.config.iter().take(8).fold(config, |text, edit| edit.apply(&text));
    let evaluations = input.evaluations.bytes(EVALUATIONS_HEADER, &good);
    let metrics = input.metrics.bytes("step,train_return,train_clipped_return", GOOD_METRICS);
    let size = config.len() + evaluations.len() + metrics.len();
    write(FOLDER.join(CONFIG), &config).unwrap();
    write(FOLDER.join(EVALUATIONS), &evaluations).unwrap();
    write(FOLDER.join(METRICS), &metrics).unwrap();
    let returns = if input.training { Returns::Training } else { Returns::Evaluation };
    within((1 << 22) + 256 * size, || {
        let Ok(run) = Run::read(&FOLDER, returns) else { return };
        // The bootstrap takes long: only so many of the runs that can be read are compared.
        if size.is_multiple_of(16) {
            let mut other = run.clone();
            other.head.seed = run.head.seed.wrapping_add(1);
            if let Ok(comparison) = Comparison::of(vec![run, other], 0) {
                let _ = summary(&comparison);
            }
        }
    });
});
