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
pub(super) use place::{LONGEST, Place};
use std::ops::{Deref, DerefMut};
use time::Time;

/// The processor and all that it reaches. The flags are kept as the values that they were set from, which is cheaper than a status byte.
#[derive(Clone)]
pub(super) struct Cpu {
    pub(super) bus: Bus,
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
    /// The count of instructions at which those that run now pause.
    pause: u16,
}

/// A frame ends after this many instructions if the program does not end it.
const MOST: u16 = 25_000;
/// More instructions than can follow on each other without a jump.
const MANY: u16 = 8192;
/// About so many run one after the other before somebody looks whether that was all.
const TOGETHER: u16 = 256;

/// Why an instruction is not followed by the next at once.
enum Stop {
    /// It is to do what only the slow way can do. It has done nothing yet.
    Elsewhere,
    /// The frame is over, or it is time to look how many instructions are left.
    Pause,
}

/// The processor while instructions run. Some of its registers are outside of its memory, so that one instruction hands them to the next in
/// registers of the machine that this program runs on. What runs fast does nothing but read and write memory, read plain addresses of the
/// cartridge and write to the TIA. All else is done by the same code with `FAST` false, one instruction at a time.
struct Running<'a, const FAST: bool> {
    cpu: &'a mut Cpu,
    a: u8,
    at: u16,
    time: Time,
    result: u16,
}

impl<const FAST: bool> Deref for Running<'_, FAST> {
    type Target = Cpu;

    #[inline(always)]
    fn deref(&self) -> &Cpu {
        self.cpu
    }
}

impl<const FAST: bool> DerefMut for Running<'_, FAST> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Cpu {
        self.cpu
    }
}

impl Cpu {
    /// Without power.
    pub(super) fn new(bus: Bus) -> Self {
        Self {
            bus,
            a: 0,
            x: 0,
            y: 0,
            sp: 0xFF,
            high: 0,
            at: 0,
            time: Time::default(),
            result: 1,
            carry: false,
            overflow: 0,
            decimal: false,
            interrupt: false,
            pause: 0,
        }
    }

    /// The reset line: the program starts where the vector at $FFFC points.
    pub(super) fn reset(&mut self) {
        let clock = self.clock();
        (self.a, self.x, self.y, self.sp, self.result) = (0, 0, 0, 0xFF, 1);
        (self.carry, self.overflow, self.decimal, self.interrupt) = (false, 0, false, false);
        let start = self.bus.read_vector(0xFFFC, clock);
        self.set_pc(start);
    }

    /// Cycles since power on.
    pub(super) fn clock(&self) -> u64 {
        self.time.clock()
    }

    /// Runs until the frame is over, by the program or after so many instructions that it never is.
    pub(super) fn run(&mut self) {
        self.time = Time::at(self.clock());
        self.set_pc(self.pc());
        while !self.bus.tia.is_over() && self.time.instructions() < MOST {
            if self.time.instructions() < MOST - MANY {
                self.pause = self.time.instructions() + TOGETHER;
                Running::<true>::of(self).go_on();
            } else {
                self.pause = 0;
                Running::<false>::of(self).go_on();
            }
        }
        self.settle();
    }

    /// The program counter.
    #[inline(always)]
    fn pc(&self) -> u16 {
        self.high | self.at & (ADDRESSES - 1)
    }

    /// A program that ran beyond the last address goes on at the first.
    fn settle(&mut self) {
        let here = self.bus.cartridge.at(self.at);
        if here != self.at {
            self.high = self.high.wrapping_add(ADDRESSES);
            self.at = here;
        }
    }

    fn set_pc(&mut self, pc: u16) {
        self.high = pc & !(ADDRESSES - 1);
        self.at = self.bus.cartridge.at(pc);
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
}

impl<'a, const FAST: bool> Running<'a, FAST> {
    #[inline(always)]
    fn of(cpu: &'a mut Cpu) -> Self {
        let Cpu { a, at, time, result, .. } = *cpu;
        Self { cpu, a, at, time, result }
    }

    /// Puts all registers into memory.
    #[inline(always)]
    fn put_away(&mut self) {
        let Self { a, at, time, result, .. } = *self;
        (self.cpu.a, self.cpu.at, self.cpu.time, self.cpu.result) = (a, at, time, result);
    }

    /// Takes them up again.
    #[inline(always)]
    fn take_up(&mut self) {
        let Cpu { a, at, time, result, .. } = *self.cpu;
        (self.a, self.at, self.time, self.result) = (a, at, time, result);
    }

    /// Cycles since power on.
    #[inline(always)]
    fn clock(&self) -> u64 {
        self.time.clock()
    }

    /// The program counter.
    #[inline(always)]
    fn pc(&self) -> u16 {
        self.high | self.at & (ADDRESSES - 1)
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
