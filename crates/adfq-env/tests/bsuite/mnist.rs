//! MNIST from the user's files: made-up ones here, plain and gzipped, and those that are refused.

use adfq_env::{Env, EnvSpec, Registry, Result};
use std::fs;
use std::path::Path;

fn make(arg: &str, value: serde_json::Value) -> Result<Box<dyn Env>> {
    let args = [(arg.to_owned(), value)].into_iter().collect();
    Registry::default().env(&EnvSpec { args, ..EnvSpec::new("bsuite:mnist/0") })
}

fn refusal(folder: &Path) -> String {
    make("data", folder.to_str().into()).err().unwrap().to_string()
}

/// An IDX file of bytes.
fn idx(sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let sizes_of = sizes.iter().flat_map(|size| size.to_be_bytes());
    [0, 0, 8, sizes.len() as u8].into_iter().chain(sizes_of).chain(bytes.iter().copied()).collect()
}

fn write(folder: &Path, images: &[u8], labels: &[u8]) {
    fs::write(folder.join("train-images-idx3-ubyte"), images).unwrap();
    fs::write(folder.join("train-labels-idx1-ubyte"), labels).unwrap();
}

#[test]
fn digits_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &idx(&[2, 2, 3], &[0, 1, 127, 128, 254, 255, 0, 0, 0, 0, 0, 51]),
        &idx(&[2], &[7, 3]),
    );
    let mut env = make("data", folder.path().to_str().into()).unwrap();
    assert_eq!((env.space().frame.as_slice(), env.space().actions), (&[2, 3, 1][..], 10));
    let mut frame = vec![0; env.space().frame_bytes()];
    let (mut seen, mut regret) = ([false; 2], 0.0);
    for seed in 0..20 {
        env.reset(Some(seed), &mut frame).unwrap();
        // As the package has it: bytes with a sign.
        let images = [[0.0, 1.0, 127.0, -128.0, -2.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 51.0]];
        let images = images.map(|image| image.map(|pixel: f32| pixel / 255.0));
        let shown = images.iter().position(|image| env.space().numbers(&frame) == image).unwrap();
        seen[shown] = true;
        let step = env.step(7, &mut frame).unwrap();
        assert_eq!((step.reward, step.terminated), (if shown == 0 { 1.0 } else { -1.0 }, true));
        assert!(frame.iter().all(|&byte| byte == 0));
        regret += 1.0 - step.reward;
        assert_eq!(env.info(), [("total_regret", regret)]);
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn without_files_the_error_says_what_to_do() {
    let error = adfq_env::make("bsuite:mnist_noise/3").err().unwrap().to_string();
    assert!(error.starts_with("bsuite:mnist_noise/3 shows the images of MNIST"), "{error}");
    assert!(
        error.contains("train-images-idx3-ubyte.gz") && error.contains("\"data\" (env_args.data)"),
        "{error}"
    );
    assert_eq!(make("data", 3.into()).err().unwrap().to_string(), error.replace("mnist_noise/3", "mnist/0"));
    let error = make("folder", "x".into()).err().unwrap().to_string();
    assert_eq!(error, "bsuite:mnist/0 takes no argument \"folder\": the one that it takes is \"data\"");
}

#[test]
fn broken_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let error = refusal(folder);
    assert!(error.contains("train-images-idx3-ubyte.gz cannot be used: "), "{error}");
    let (images, labels) = (idx(&[1, 2, 2], &[1, 2, 3, 4]), idx(&[1], &[5]));
    for (images, labels, reason) in [
        (
            &b"text"[..],
            &labels[..],
            "images-idx3-ubyte cannot be used: it is no IDX file of bytes in 3 dimensions",
        ),
        (&labels, &labels, "images-idx3-ubyte cannot be used: it is no IDX file"),
        (&images[..19], &labels, "3 bytes are not [1, 2, 2] of them"),
        (&idx(&[u32::MAX; 3], &[1]), &labels, "1 bytes are not [4294967295,"),
        (&idx(&[0, 2, 2], &[]), &idx(&[0], &[]), "there is no image in it"),
        (&images, &idx(&[2], &[5, 6]), "labels-idx1-ubyte cannot be used: it has 2 labels for 1 images"),
        (&images, &idx(&[1], &[10]), "labels-idx1-ubyte cannot be used: 10 is no digit"),
    ] {
        write(folder, images, labels);
        let error = refusal(folder);
        assert!(error.contains(reason), "{error}");
    }
    write(folder, &images, &labels);
    assert!(make("data", folder.to_str().into()).is_ok());
}
