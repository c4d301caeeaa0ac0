//! The 6507: a 6502 with thirteen address lines and no interrupt pins.
//!
//! The clock of the bus moves on by all cycles of an instruction before the instruction reads or writes. On the chip the
//! access that matters is the last cycle of nearly every instruction, so the chips see it at the right time. Undocumented
//! instructions are here too, because games use them.

mod access;
mod instructions;
mod jump;
mod operation;
mod place;
mod time;

use super::bus::Bus;
use super::cartridge::ADDRESSES;
use super::tape::Tape;
pub(super) use access::Operand;
pub(super) use place::Place;
use place::{CUT, ELSEWHERE};
use time::Time;

/// A frame ends after this many instructions if the program does not end it.
const MOST: u32 = 25_000;
/// More instructions than can follow on each other without a jump.
const MANY: u32 = 8192;

/// The registers. The flags are kept as the values that they were set from, which is cheaper than a status byte.
#[derive(Clone, Default)]
pub(super) struct Cpu {
    a: u8,
    x: u8,
    y: u8,
    sp: u8,
    /// The program counter: its upper three bits, and where in the map of the cartridge the lower thirteen lead.
    high: u16,
    at: u16,
    time: Time,
    /// The flag Z is set if the lower byte is zero, and N if the top bit of either byte is set.
    result: u16,
    carry: bool,
    /// The flag V is the top bit.
    overflow: u8,
    decimal: bool,
    interrupt: bool,
}

impl Cpu {
    /// The reset line: the program starts where the vector at $FFFC points.
    pub(super) fn reset(&mut self, bus: &mut Bus) {
        *self = Self { sp: 0xFF, result: 1, time: self.time, ..Self::default() };
        let start = bus.read_vector(0xFFFC, self.clock());
        self.jump(bus, start);
    }

    /// Cycles since power on.
    #[inline(always)]
    pub(super) fn clock(&self) -> u64 {
        self.time.clock()
    }

    /// Runs until the frame is over, by the program or after so many instructions that it never is.
    pub(super) fn run(&mut self, bus: &mut Bus) {
        self.time = Time::at(self.clock());
        self.jump(bus, self.pc());
        while !bus.tia.is_over() && self.time.instructions() < MOST {
            if self.has_few_left() { self.run_one(bus) } else { self.run_on(bus) }
        }
        self.settle(bus);
    }

    /// Many instructions, counted but not limited.
    fn run_on(&mut self, bus: &mut Bus) {
        // A local copy, so that the compiler keeps the registers in registers.
        let mut cpu = self.clone();
        let place = bus.cartridge.place(cpu.at);
        cpu.steps::<false>(bus, place);
        *self = cpu;
    }

    /// One instruction, whatever and wherever it is.
    #[inline(never)]
    fn run_one(&mut self, bus: &mut Bus) {
        self.settle(bus);
        let place = bus.cartridge.place(self.at);
        let known = !matches!(place.what(), ELSEWHERE | CUT);
        let place = if known { place } else { Self::fetch(bus, self.pc(), self.clock()) };
        self.steps::<true>(bus, place);
    }

    /// One instruction that is rare. Whether to stop.
    #[inline(always)]
    fn run_rare(&mut self, bus: &mut Bus) -> bool {
        // By way of a copy, so that the registers themselves can stay in registers.
        let mut cpu = self.clone();
        cpu.run_one(bus);
        *self = cpu;
        bus.tia.is_over() | self.has_few_left()
    }

    /// A program that ran beyond the last address goes on at the first.
    fn settle(&mut self, bus: &Bus) {
        let here = bus.cartridge.at(self.at);
        if here != self.at {
            self.high = self.high.wrapping_add(ADDRESSES);
            self.at = here;
        }
    }

    /// All fields, to save or to restore them.
    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.byte(&mut self.a);
        tape.byte(&mut self.x);
        tape.byte(&mut self.y);
        tape.byte(&mut self.sp);
        let mut pc = self.pc();
        tape.word(&mut pc);
        (self.high, self.at) = (pc & !(ADDRESSES - 1), pc & (ADDRESSES - 1));
        let mut clock = self.clock();
        tape.long(&mut clock);
        self.time = Time::at(clock);
        let [mut nonzero, mut negative] = self.result.to_le_bytes();
        negative |= nonzero;
        tape.byte(&mut negative);
        tape.byte(&mut nonzero);
        self.result = u16::from_le_bytes([nonzero, negative]);
        tape.flag(&mut self.carry);
        let mut overflow = self.overflow >> 7;
        tape.byte(&mut overflow);
        self.overflow = overflow << 7;
        tape.flag(&mut self.decimal);
        tape.flag(&mut self.interrupt);
    }

    #[inline(always)]
    fn is_negative(&self) -> bool {
        self.result & 0x8080 != 0
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.result as u8 == 0
    }

    #[inline(always)]
    fn status(&self) -> u8 {
        u8::from(self.is_negative()) << 7
            | (self.overflow & 0x80) >> 1
            | 0x30
            | u8::from(self.decimal) << 3
            | u8::from(self.interrupt) << 2
            | u8::from(self.is_zero()) << 1
            | u8::from(self.carry)
    }

    #[inline(always)]
    fn set_status(&mut self, status: u8) {
        self.result = u16::from_le_bytes([!status & 0x02, status]);
        self.overflow = status << 1;
        self.decimal = status & 0x08 != 0;
        self.interrupt = status & 0x04 != 0;
        self.carry = status & 0x01 != 0;
    }
}
