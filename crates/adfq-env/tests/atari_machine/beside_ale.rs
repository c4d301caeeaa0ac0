//! Memory and screen after every frame, beside what `ale-py` shows of the same play (`record.py`).

use crate::interpreter::python;
use adfq_env::atari::machine::{Controller, Input, Machine, Shown};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// The games that are compared, and what ALE knows of each: see the first line of the file.
const GAMES: &str = include_str!("games.csv");

/// What stands for `reset_game` where an action could be.
const RESET: u8 = 255;

struct Game {
    name: String,
    controller: Controller,
    shown: Shown,
    comb: bool,
    /// What the switches and the joystick do after a second without them, when a game is reset.
    start: Vec<Input>,
}

impl Game {
    fn all() -> Vec<Self> {
        GAMES.lines().skip(1).map(Self::from_line).collect()
    }

    fn from_line(line: &str) -> Self {
        let fields: Vec<_> = line.split(',').collect();
        let [name, controller, top, rows, comb, start] = fields[..] else { panic!("{line}") };
        let controller = match controller {
            "joystick" => Controller::Joystick,
            "right joystick" => Controller::RightJoystick,
            "stick alone" => Controller::StickAlone,
            "paddles" => Controller::Paddles,
            "second paddle" => Controller::SecondPaddle,
            other => panic!("{other}"),
        };
        let shown = Shown { top: top.parse().unwrap(), rows: rows.parse().unwrap() };
        let start = start.split(' ').flat_map(presses).collect();
        Self { name: name.into(), controller, shown, comb: comb == "yes", start }
    }

    fn machine(&self, roms: &Path) -> Machine {
        let rom = std::fs::read(roms.join(format!("{}.bin", self.name))).unwrap();
        let machine = Machine::with(&rom, self.controller, self.shown).unwrap();
        if self.comb { machine } else { machine.without_comb() }
    }

    fn reset(&self, machine: &mut Machine) {
        machine.power_on();
        for _ in 0..60 {
            machine.frame(Input::default(), true);
        }
        for &input in &self.start {
            machine.frame(input, true);
        }
    }
}

/// `reset*8` stands for eight frames with the reset switch.
fn presses(text: &str) -> Vec<Input> {
    let (what, times) = text.split_once('*').unwrap_or((text, "1"));
    let is = |name: &str| what == name;
    let input = Input {
        up: is("up"),
        down: is("down"),
        left: is("left"),
        right: is("right"),
        fire: is("fire"),
        reset: is("reset"),
        select: is("select"),
    };
    assert!(input != Input::default() || is("nothing"), "{text}");
    vec![input; times.parse().unwrap()]
}

/// ALE's eighteen actions.
fn input(action: u8) -> Input {
    let (fire, direction) = match action {
        0 | 1 => (action == 1, 0),
        2..=9 => (false, action - 1),
        _ => (true, action - 9),
    };
    let among = |directions: &[u8]| directions.contains(&direction);
    Input {
        up: among(&[1, 5, 6]),
        right: among(&[2, 5, 7]),
        left: among(&[3, 6, 8]),
        down: among(&[4, 7, 8]),
        fire,
        ..Input::default()
    }
}

/// Where the package has its ROMs.
fn roms(python: &Path) -> std::path::PathBuf {
    let code = "import ale_py, os; print(os.path.join(os.path.dirname(ale_py.__file__), 'roms'), end='')";
    let output = Command::new(python).args(["-c", code]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().into()
}

/// Plays so many frames of each game.
fn compare(python: &Path, games: &[&Game], seed: u64, frames: usize) {
    let roms = roms(python);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari_machine/record.py");
    let mut ale = Command::new(python)
        .arg(script)
        .args([seed.to_string(), frames.to_string()])
        .args(games.iter().map(|game| &game.name))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut records = BufReader::with_capacity(1 << 20, ale.stdout.take().unwrap());
    for game in games {
        let mut machine = game.machine(&roms);
        let mut bytes = [0; 4];
        records.read_exact(&mut bytes).unwrap();
        let mut record = vec![0; 1 + 128 + u32::from_le_bytes(bytes) as usize];
        for frame in 0..frames {
            records.read_exact(&mut record).unwrap();
            match record[0] {
                RESET => game.reset(&mut machine),
                action => machine.frame(input(action), true),
            }
            let place = format!("{} from seed {seed}, frame {frame}", game.name);
            assert!(machine.ram()[..] == record[1..129], "the memory of {place}");
            assert!(machine.screen() == &record[129..], "the screen of {place}");
        }
    }
    assert!(ale.wait().unwrap().success());
}

#[test]
fn memory_and_screen_are_those_of_ale() {
    let Some(python) = python() else { return };
    let games = Game::all();
    assert!(games.len() > 80);
    compare(&python, &games.iter().collect::<Vec<_>>(), 1, 60);
}

/// The same at length: `cargo test --release -p adfq-env --test atari_machine -- --ignored --nocapture at_length`.
/// `ADFQ_GAMES` may name some games, `ADFQ_FRAMES` another number of frames than a million, and `ADFQ_SEED` another seed.
#[test]
#[ignore = "takes hours; docs/atari.md has the command and what it found"]
fn memory_and_screen_are_those_of_ale_at_length() {
    let Some(python) = python() else { return };
    let set = |name: &str| std::env::var(name).ok();
    let frames = set("ADFQ_FRAMES").map_or(1_000_000, |text| text.parse().unwrap());
    let seed = set("ADFQ_SEED").map_or(7, |text| text.parse().unwrap());
    let named = set("ADFQ_GAMES");
    for game in Game::all() {
        if named.as_ref().is_none_or(|names| names.split(' ').any(|name| name == game.name)) {
            compare(&python, &[&game], seed, frames);
            println!("{}: {frames} frames alike", game.name);
        }
    }
}
