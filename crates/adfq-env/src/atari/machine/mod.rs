//! The Atari 2600: processor, picture, timer and cartridge, as ALE runs them.
//!
//! The machine knows no game. What it is given is a cartridge and, for each frame, what the player does. It was written from
//! descriptions of the hardware and from watching what `ale-py` does; where the two differ, it does what `ale-py` does.

mod bus;
mod cartridge;
mod controller;
mod cpu;
mod dpc;
mod random;
mod riot;
mod tape;
mod tia;

pub use controller::Controller;

use super::palette::{self, Palette};
use bus::Bus;
use cartridge::Cartridge;
use controller::Ports;
use cpu::Cpu;
use random::MersenneTwister;
use tape::Tape;
pub use tia::Shown;
use tia::Tia;

/// Why there is no machine.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A cartridge of a size that no known type has.
    #[error("a cartridge of {bytes} bytes is of no known type: it has 2, 4, 8, 16 or 32 kilobytes")]
    Size {
        /// The size.
        bytes: usize,
    },
    /// Bytes that are not the state of this machine.
    #[error("these are not the bytes of a saved machine with this cartridge")]
    State,
}

/// What the player and the switches of the console do during a frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Input {
    /// The joystick.
    pub up: bool,
    /// The joystick.
    pub down: bool,
    /// The joystick, or the paddle that turns.
    pub left: bool,
    /// The joystick, or the paddle that turns.
    pub right: bool,
    /// The button.
    pub fire: bool,
    /// The switch that starts a game.
    pub reset: bool,
    /// The switch that selects a game.
    pub select: bool,
}

/// ALE's generator starts from this number, whatever seed is set.
const SEED: u32 = 4_753_849;

/// The console with a cartridge in it.
#[derive(Clone)]
pub struct Machine {
    cpu: Cpu,
    random: MersenneTwister,
    ports: Ports,
}

impl Machine {
    /// The machine as ALE has it when a game was loaded, before its start sequence.
    pub fn new(rom: &[u8]) -> Result<Self, Error> {
        Self::with(rom, Controller::Joystick, Shown { top: 34, rows: 210 })
    }

    /// The same with another controller.
    pub fn with(rom: &[u8], controller: Controller, shown: Shown) -> Result<Self, Error> {
        let mut random = MersenneTwister::new(SEED);
        let ram = std::array::from_fn(|_| random.draw() as u8);
        let bus = Bus::new(Cartridge::new(rom)?, ram, Tia::new(shown));
        let mut machine = Self { cpu: Cpu::new(bus), random, ports: Ports::new(controller) };
        // ALE sets the timer once more than it switches the console on.
        machine.random.draw();
        machine.power_on();
        machine.find_format();
        machine.power_on();
        Ok(machine)
    }

    /// ALE tells games for PAL from those for NTSC by their frames in the first second. Half of those from the thirtieth on
    /// are long if longer ones are cut in two.
    fn find_format(&mut self) {
        let mut long = 0;
        for frame in 1..=60 {
            self.frame(Input::default(), false);
            long += u32::from((30..60).contains(&frame) && self.cpu.bus.tia.long_frame(self.cpu.clock()));
        }
        self.cpu.bus.tia.pal = long >= 15;
    }

    /// The power switch: memory keeps its contents, the timer does not.
    pub fn power_on(&mut self) {
        let timer = 25 + (self.random.draw() % 75) as u8;
        let clock = self.cpu.clock();
        self.cpu.bus.riot.reset(timer, clock);
        self.cpu.bus.tia.reset(clock);
        self.cpu.bus.cartridge.power_on(&mut self.random);
        self.ports.reset();
        self.cpu.reset();
    }

    /// The same machine without the *comb*, the black bars at the left edge that HMOVE leaves. ALE leaves them out for some
    /// cartridges.
    pub fn without_comb(mut self) -> Self {
        self.cpu.bus.tia.without_comb();
        self
    }

    /// Runs one frame. `draw` false: the same in every respect, but the screen keeps its old picture.
    pub fn frame(&mut self, input: Input, draw: bool) {
        let pins = self.ports.apply(input);
        let clock = self.cpu.clock();
        let switches = 0x3F & !(u8::from(input.reset) | u8::from(input.select) << 1);
        self.cpu.bus.switches = [pins.directions, switches];
        self.cpu.bus.tia.set_pins(pins.buttons, pins.charge);
        self.cpu.bus.tia.begin_frame(clock, draw);
        self.cpu.run();
        self.cpu.bus.tia.pause(self.cpu.bus.last_write);
    }

    /// The 128 bytes of memory.
    pub fn ram(&self) -> &[u8; 128] {
        self.cpu.bus.ram()
    }

    /// Palette indices, [`height`](Self::height) rows of 160.
    pub fn screen(&self) -> &[u8] {
        self.cpu.bus.tia.screen()
    }

    /// Rows of the screen.
    pub fn height(&self) -> usize {
        self.screen().len() / 160
    }

    /// The colours of its picture.
    pub fn palette(&self) -> &'static Palette {
        if self.cpu.bus.tia.pal { &palette::PAL } else { &palette::NTSC }
    }

    /// Appends all state.
    pub fn save(&self, out: &mut Vec<u8>) {
        self.clone().state(&mut Tape::Save(out));
    }

    /// Takes up a state that was saved by a machine with the same cartridge.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut tape = Tape::Restore(Some(bytes));
        let mut machine = self.clone();
        machine.state(&mut tape);
        let Tape::Restore(Some([])) = tape else { return Err(Error::State) };
        let (bus, clock) = (&machine.cpu.bus, machine.cpu.clock());
        if clock > u64::MAX >> 17
            || bus.last_write > clock
            || !bus.tia.is_before(clock)
            || !bus.riot.is_before(clock)
        {
            return Err(Error::State);
        }
        *self = machine;
        Ok(())
    }

    fn state(&mut self, tape: &mut Tape) {
        self.cpu.state(tape);
        self.cpu.bus.state(tape);
        self.random.state(tape);
        self.ports.state(tape);
    }
}
