//! `adfq eval --video` as a user runs it. The structure of the video is always checked; a real decoder looks at it too
//! where there is a Python with OpenCV (`scripts/python.sh` makes one).

mod common;
#[path = "../../adfq-env/tests/bridge/interpreter.rs"]
mod interpreter;

use common::adfq_in;
use interpreter::python;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::{TempDir, tempdir};

/// Trains for a moment; `run` is then in the folder.
fn trained(agent: &str) -> TempDir {
    let folder = tempdir().unwrap();
    let settings =
        ["steps=1000", "learning.warmup=300", "replay.capacity=1000", "evaluation.final_episodes=1"];
    let mut arguments = vec!["train", "cartpole", "--agent", agent, "--out", "run"];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let outcome = adfq_in(folder.path(), &arguments);
    assert!(outcome.success, "{}", outcome.stderr);
    folder
}

/// Records two episodes and gives the number of their steps.
fn film(folder: &Path, arguments: &[&str]) -> usize {
    let outcome = adfq_in(folder, &[&["eval", "run", "--episodes", "2", "--json"], arguments].concat());
    assert!(outcome.success, "{}", outcome.stderr);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    (0..2).map(|i| json["episodes"][i]["length"].as_u64().unwrap() as usize).sum()
}

/// The body of the box at this path of names.
fn find<'a>(mut bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    for kind in path {
        loop {
            let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert!(length >= 8 && length <= bytes.len(), "{kind}: a box of {length} bytes");
            if bytes[4..8] == *kind.as_bytes() {
                bytes = &bytes[8..length];
                break;
            }
            bytes = &bytes[length..];
        }
    }
    bytes
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Frames, width and height as the boxes tell them, which have to fit together.
fn structure(film: &[u8], rate: usize) -> [usize; 3] {
    let tables = find(film, &["moov", "trak", "mdia", "minf", "stbl"]);
    let sizes = find(tables, &["stsz"]);
    let frames = number(sizes, 8);
    let total: usize = (0..frames).map(|i| number(sizes, 12 + 4 * i)).sum();
    let media = find(film, &["mdat"]);
    assert_eq!(total, media.len());
    // The first chunk begins where the frames do; each frame is a row of units after their lengths, of which the last
    // is the picture: of type 5 for a key frame, else 1.
    let start = media.as_ptr() as usize - film.as_ptr() as usize;
    assert_eq!(number(find(tables, &["stco"]), 8), start);
    let mut at = 0;
    for i in 0..frames {
        let end = at + number(sizes, 12 + 4 * i);
        let mut kind = 0;
        while at < end {
            kind = media[at + 4] & 31;
            at += 4 + number(media, at);
        }
        assert_eq!((at, kind), (end, if i % 250 == 0 { 5 } else { 1 }), "frame {i}");
    }
    let header = find(film, &["moov", "trak", "mdia", "mdhd"]);
    assert_eq!(number(header, 16) * rate, number(header, 12) * frames, "the duration");
    let size = find(film, &["moov", "trak", "tkhd"]);
    [frames, number(size, 76) >> 16, number(size, 80) >> 16]
}

/// Prints width, height and the mean of red, green and blue of each frame, a line each.
const DECODE: &str = "
import sys, cv2
film = cv2.VideoCapture(sys.argv[1])
while True:
    good, frame = film.read()
    if not good:
        break
    print(frame.shape[1], frame.shape[0], *frame.mean(axis=(0, 1))[::-1])
";

/// Width, height and mean colour of each frame of an MP4.
fn decoded(python: &Path, film: &Path) -> Vec<[f64; 5]> {
    let output = Command::new(python).args(["-c", DECODE]).arg(film).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| line.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
    text.lines().map(|text| line(text).try_into().unwrap()).collect()
}

/// The same of a GIF, whose frames hold what changed.
fn unfolded(film: &[u8]) -> Vec<[f64; 5]> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(film).unwrap();
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    let mut shown = vec![[0; 3]; width * height];
    let mut frames = vec![];
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let (left, top, columns) = (frame.left as usize, frame.top as usize, frame.width as usize);
        for (i, rgba) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, rgba)| rgba[3] > 0) {
            shown[(top + i / columns) * width + left + i % columns] = [rgba[0], rgba[1], rgba[2]];
        }
        let mean = |i: usize| shown.iter().map(|rgb| f64::from(rgb[i])).sum::<f64>() / shown.len() as f64;
        frames.push([width as f64, height as f64, mean(0), mean(1), mean(2)]);
    }
    frames
}

#[test]
fn beliefs_and_values_are_recorded_in_both_formats() {
    let python = python();
    match &python {
        Some(python) => println!("videos are decoded by OpenCV of {}", python.display()),
        None => println!("videos are not decoded, their boxes are checked alone"),
    }
    for agent in ["adfq", "dqn"] {
        let folder = trained(agent);
        let steps = film(folder.path(), &["--video", "new/film.mp4", "--fps", "30"]);
        let path = folder.path().join("new/film.mp4");
        let [frames, width, height] = structure(&fs::read(&path).unwrap(), 30);
        // 20 s of CartPole at 25 frames a second are to be at most 1 MB.
        let bytes = fs::metadata(&path).unwrap().len() as usize;
        assert!(bytes / frames < 2_000, "{bytes} bytes for {frames} frames");
        // CartPole's 300 × 200 pixels twice as large, and the beliefs.
        assert_eq!((frames, width > 1000, height > 400), (steps, true, true));
        assert_eq!(film(folder.path(), &["--gif", "film.gif"]), steps);
        let exact = unfolded(&fs::read(folder.path().join("film.gif")).unwrap());
        assert!(
            exact.iter().all(|frame| frame[..2] == [width as f64, height as f64]) && exact.len() == frames
        );
        if let Some(python) = &python {
            let seen = decoded(python, &path);
            assert_eq!(seen.len(), frames);
            // Both videos show the same, but a GIF's colours are exact, and an MP4's a little coarse.
            for (i, (seen, exact)) in seen.iter().zip(&exact).enumerate() {
                assert_eq!(seen[..2], exact[..2]);
                let apart = (2..5).map(|j| (seen[j] - exact[j]).abs()).fold(0.0, f64::max);
                assert!(apart < 1.0, "frame {i}: {seen:?} and {exact:?}");
            }
        }
    }
}

#[test]
fn the_same_command_makes_the_same_video() {
    let folder = trained("adfq");
    let films = ["a.mp4", "b.mp4"].map(|name| {
        film(folder.path(), &["--video", name]);
        fs::read(folder.path().join(name)).unwrap()
    });
    assert!(films[0] == films[1]);
}

#[test]
fn mistakes_get_one_clear_line_before_anything_is_played() {
    let folder = trained("adfq");
    let refused = |arguments: &[&str]| {
        let outcome = adfq_in(folder.path(), &[&["eval", "run", "--episodes", "1"], arguments].concat());
        assert!(!outcome.success && outcome.stdout.is_empty(), "{arguments:?}");
        outcome.stderr
    };
    let format = refused(&["--video", "film.avi"]);
    assert!(format.contains("film.avi is neither .mp4 nor .gif"), "{format}");
    let rate = refused(&["--video", "film.gif", "--fps", "60"]);
    assert!(rate.contains("1 to 50 frames a second") && rate.contains("60"), "{rate}");
    assert!(refused(&["--video", "film.mp4", "--fps", "0"]).contains("frames a second"));
    assert!(refused(&["--fps", "30"]).contains("--video"));
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(refused(&["--video", "file/film.mp4"]).contains("file"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
