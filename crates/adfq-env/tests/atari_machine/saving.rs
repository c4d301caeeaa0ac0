//! Programs of random bytes: nothing else reaches so many corners of the machine.

use adfq_env::atari::machine::{Controller, Input, Machine, Shown};
use proptest::prelude::*;

const SHOWN: Shown = Shown { top: 34, rows: 210 };

fn machine(rom: &[u8], controller: Controller) -> Machine {
    Machine::with(rom, controller, SHOWN).unwrap()
}

fn input(bits: u8) -> Input {
    let on = |bit: u8| bits >> bit & 1 == 1;
    Input { up: on(0), down: on(1), left: on(2), right: on(3), fire: on(4), reset: on(5), select: on(6) }
}

fn saved(machine: &Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.save(&mut bytes);
    bytes
}

/// A cartridge, which a failing test shows by its size and seed.
struct Rom {
    bytes: Vec<u8>,
    made_from: (usize, u64, bool),
}

impl std::fmt::Debug for Rom {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{:?}", self.made_from)
    }
}

/// A cartridge of random bytes. Every other one is full of writes to the TIA and waits for the end of a line, so that
/// there is a picture.
fn rom() -> impl Strategy<Value = Rom> {
    let size = prop_oneof![Just(2048), Just(4096), Just(8192), Just(16384), Just(10495)];
    (size, any::<u64>(), any::<bool>()).prop_map(|(size, seed, picture)| {
        let mut state = seed;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut rom: Vec<u8> = (0..size).map(|_| random() as u8).collect();
        if picture {
            for code in rom.chunks_exact_mut(4) {
                // LDA #value, STA register; one in eight registers is WSYNC.
                let register = if random() % 8 == 0 { 2 } else { random() % 0x2D };
                code.copy_from_slice(&[0xA9, random() as u8, 0x85, register as u8]);
            }
        }
        Rom { bytes: rom, made_from: (size, seed, picture) }
    })
}

fn controller() -> impl Strategy<Value = Controller> {
    prop_oneof![
        Just(Controller::Joystick),
        Just(Controller::RightJoystick),
        Just(Controller::StickAlone),
        Just(Controller::Paddles),
        Just(Controller::SecondPaddle),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_saved_machine_goes_on_alike(
        rom in rom(), controller in controller(), inputs in prop::collection::vec(any::<u8>(), 2..12), at in any::<prop::sample::Index>(),
    ) {
        let mut first = machine(&rom.bytes, controller);
        let at = at.index(inputs.len());
        for &bits in &inputs[..at] {
            first.frame(input(bits), bits & 0x80 != 0);
        }
        let mut second = machine(&rom.bytes, controller);
        second.restore(&saved(&first)).unwrap();
        for &bits in &inputs[at..] {
            first.frame(input(bits), bits & 0x80 != 0);
            second.frame(input(bits), bits & 0x80 != 0);
            prop_assert_eq!(first.ram(), second.ram());
            prop_assert_eq!(first.screen(), second.screen());
        }
        prop_assert!(saved(&first) == saved(&second));
    }

    #[test]
    fn a_frame_that_is_not_drawn_is_the_same_otherwise(
        rom in rom(), inputs in prop::collection::vec(any::<u8>(), 1..10),
    ) {
        let mut drawn = machine(&rom.bytes, Controller::Joystick);
        let mut other = drawn.clone();
        for &bits in &inputs {
            drawn.frame(input(bits), true);
            other.frame(input(bits), false);
            prop_assert_eq!(drawn.ram(), other.ram());
        }
    }

    #[test]
    fn bytes_of_another_machine_are_refused_or_harmless(
        rom in rom(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), cut in 0..3usize,
    ) {
        let mut machine = machine(&rom.bytes, Controller::Paddles);
        let mut bytes = saved(&machine);
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(bytes.len() - cut);
        let restored = machine.restore(&bytes);
        prop_assert!(cut == 0 || restored.is_err());
        for _ in 0..3 {
            machine.frame(Input::default(), true);
        }
    }
}

#[test]
fn a_cartridge_of_no_known_size_is_refused() {
    let error = Machine::new(&[0; 100]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "a cartridge of 100 bytes is of no known type: it has 2, 4, 8, 16 or 32 kilobytes"
    );
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let mut machine = Machine::new(&[0; 4096]).unwrap();
    let error = machine.restore(&[1, 2, 3]).err().unwrap();
    assert_eq!(error.to_string(), "these are not the bytes of a saved machine with this cartridge");
}
