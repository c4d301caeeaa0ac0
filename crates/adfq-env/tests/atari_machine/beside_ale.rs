//! Memory and screen after every frame, beside what `ale-py` shows of the same play (`record.py`).

use crate::interpreter::python;
use adfq_env::atari::Game;
use adfq_env::atari::machine::{Controller, Input, Machine, Shown};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// What ALE knows of the games that have no line in the table of the crate: see the first line of the file.
const OTHERS: &str = include_str!("others.csv");

/// What stands for `reset_game` where an action could be.
const RESET: u8 = 255;

/// A game that is compared.
enum Compared {
    /// Its line in the table of the crate says what ALE knows of it.
    OfTable(&'static Game),
    Other {
        name: String,
        controller: Controller,
        shown: Shown,
        comb: bool,
        /// What the switches and the joystick do after a second without them, when a game is reset.
        start: Vec<Input>,
    },
}

impl Compared {
    fn all() -> Vec<Self> {
        let others = OTHERS.lines().skip(1).map(Self::from_line);
        Game::all().iter().map(Self::OfTable).chain(others).collect()
    }

    fn from_line(line: &str) -> Self {
        let fields: Vec<_> = line.split(',').collect();
        let [name, controller, top, rows, comb, start] = fields[..] else { panic!("{line}") };
        let controller = match controller {
            "joystick" => Controller::Joystick,
            "paddles" => Controller::Paddles,
            other => panic!("{other}"),
        };
        let shown = Shown { top: top.parse().unwrap(), rows: rows.parse().unwrap() };
        let start = start.split(' ').flat_map(presses).collect();
        Self::Other { name: name.into(), controller, shown, comb: comb == "yes", start }
    }

    fn name(&self) -> &str {
        match self {
            Self::OfTable(game) => game.name,
            Self::Other { name, .. } => name,
        }
    }

    fn machine(&self, roms: &Path) -> Machine {
        let rom = std::fs::read(roms.join(format!("{}.bin", self.name()))).unwrap();
        match self {
            Self::OfTable(game) => game.console(&rom).unwrap(),
            Self::Other { controller, shown, comb, .. } => {
                let machine = Machine::with(&rom, *controller, *shown).unwrap();
                if *comb { machine } else { machine.without_comb() }
            }
        }
    }

    fn start(&self, machine: &mut Machine) {
        match self {
            Self::OfTable(game) => game.start(machine),
            Self::Other { start, .. } => {
                machine.power_on();
                let second = [Input::default(); 60];
                second.iter().chain(start).for_each(|&input| machine.frame(input, true));
            }
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
fn compare(python: &Path, games: &[Compared], seed: u64, frames: usize) {
    let roms = roms(python);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari_machine/record.py");
    let mut ale = Command::new(python)
        .arg(script)
        .args([seed.to_string(), frames.to_string()])
        .args(games.iter().map(Compared::name))
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
                RESET => game.start(&mut machine),
                action => machine.frame(input(action), true),
            }
            let place = format!("{} from seed {seed}, frame {frame}", game.name());
            assert!(machine.ram()[..] == record[1..129], "the memory of {place}");
            assert!(machine.screen() == &record[129..], "the screen of {place}");
        }
    }
    assert!(ale.wait().unwrap().success());
}

#[test]
fn memory_and_screen_are_those_of_ale() {
    let Some(python) = python() else { return };
    let games = Compared::all();
    assert!(games.len() > 80);
    compare(&python, &games, 1, 60);
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
    for game in Compared::all() {
        let name = game.name().to_owned();
        if named.as_ref().is_none_or(|names| names.split(' ').any(|named| named == name)) {
            compare(&python, &[game], seed, frames);
            println!("{name}: {frames} frames alike");
        }
    }
}
