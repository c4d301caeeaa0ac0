//! The colours of both television formats, beside what `ale-py` shows (`colours.py`).

use crate::interpreter::python;
use adfq_env::atari::palette::{NTSC, PAL, Palette};
use std::path::Path;
use std::process::Command;

/// Compares the colours that this game shows, and gives their number.
fn compare(python: &Path, game: &str, palette: &Palette) -> usize {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari/colours.py");
    let shown = Command::new(python).arg(script).args([game, "1000"]).output().unwrap().stdout;
    let (shown, rest) = shown.as_chunks::<5>();
    assert_eq!((shown.len(), rest.len()), (256, 0));
    let seen = || shown.iter().enumerate().filter(|(_, colour)| colour[4] != 0);
    for (index, &[red, green, blue, luminance, _]) in seen() {
        let ours = (palette.rgb[index], palette.luminance[index]);
        assert_eq!(ours, ([red, green, blue], luminance), "colour {index} of {game}");
    }
    seen().count()
}

#[test]
fn colours_are_those_of_ale() {
    let Some(python) = python() else { return };
    assert!(compare(&python, "yars_revenge", &NTSC) > 100);
    // Frames of PAL with and without colour.
    assert!(compare(&python, "air_raid", &PAL) > 200);
}
