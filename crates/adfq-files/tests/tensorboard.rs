//! Event files against one that TensorBoard's own writer wrote; `golden/tensorboard.py` says how.

use adfq_files::tensorboard::{EventWriter, Setting};
use std::fs;
use std::path::Path;

const START: f64 = 1.7e9;

/// What `events()` in `golden/tensorboard.py` writes.
fn write(path: &Path) -> EventWriter {
    let mut events = EventWriter::open(path, 0, START).unwrap();
    events.text(START, 0, "config", "agent = \"adfq\"\nσ₀ = 1\n").unwrap();
    let mut scalars = |time: f64, step: u64, values: &[f64]| {
        let tagged: Vec<_> = ["train/return", "train/loss"].into_iter().zip(values.iter().copied()).collect();
        events.scalars(START + time, step, &tagged).unwrap();
    };
    scalars(0.0, 0, &[0.0, 1.5]);
    scalars(0.25, 1, &[-21.125, 0.1]);
    scalars(1e-6, 127, &[3.4e38, 1e-45]);
    scalars(3.0, 128, &[f64::INFINITY, f64::NEG_INFINITY]);
    scalars(4.0, 5_000_000_000, &[1.0 / 3.0]);
    let values: Vec<f32> = (0..200).map(|i| (i * i % 101) as f32 * 0.25).collect();
    events.histogram(START + 5.0, 300, "sigma", &values).unwrap();
    events.histogram(START + 6.0, 301, "sigma", &[2.5; 3]).unwrap();
    events.histogram(START + 7.0, 302, "sigma", &[]).unwrap();
    for (name, setting) in [
        ("learning.rate", Setting::Number(0.0)),
        ("agent", Setting::Text("adfq".to_owned())),
        ("dueling", Setting::Flag(false)),
    ] {
        events.settings(START + 8.0, &[(name.to_owned(), setting)]).unwrap();
    }
    events.finished(START + 9.0, 303).unwrap();
    events
}

/// The records of a file, each with its frame.
fn records(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let (record, rest) = bytes.split_at(12 + len + 4);
        records.push(record);
        bytes = rest;
    }
    records
}

/// The checksums are compared with the rest. Of the first event the name of the writer, its last field, differs.
#[test]
fn every_event_has_the_bytes_of_tensorboards_own_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.out.tfevents.test");
    let events = write(&path);
    let written = fs::read(&path).unwrap();
    assert_eq!(events.len(), written.len() as u64);
    let golden = include_bytes!("golden/golden.tfevents");
    let (ours, theirs) = (records(&written), records(golden));
    assert_eq!(ours.len(), 14);
    assert_eq!(ours[1..], theirs[1..]);
    let event = |record: &[u8]| record[12..record.len() - 4].to_vec();
    assert!(event(theirs[0]).starts_with(&event(ours[0])));
    assert!(event(ours[0]).ends_with(b"brain.Event:2"));
}

/// A run that is cut back to any of its events and goes on writes the file of one that never stopped.
#[test]
fn a_resumed_file_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.out.tfevents.test");
    let point = |events: &mut EventWriter, step: u64| {
        events.scalars(START + step as f64, step, &[("return", step as f64)]).unwrap();
    };
    let mut events = EventWriter::open(&path, 0, START).unwrap();
    let mut lengths = vec![events.len()];
    for step in 0..5 {
        point(&mut events, step);
        lengths.push(events.len());
    }
    events.sync().unwrap();
    let whole = fs::read(events.path()).unwrap();
    for (done, &keep) in lengths.iter().enumerate() {
        let mut resumed = EventWriter::open(&path, keep, START + 1e6).unwrap();
        (done as u64..5).for_each(|step| point(&mut resumed, step));
        assert_eq!(fs::read(&path).unwrap(), whole, "from step {done}");
    }
}
