//! The memory map: which chip answers at which of the 8192 addresses.
//!
//! Address line 12 selects the cartridge. Otherwise line 7 tells the TIA from the RIOT, and line 9 the memory of the RIOT
//! from its timer and ports.

use super::cartridge::Cartridge;
use super::riot::Riot;
use super::tape::Tape;
use super::tia::Tia;

/// The register of the TIA that stops the processor.
const WSYNC: u8 = 0x02;

/// Everything that the processor reaches, and its clock.
#[derive(Clone)]
pub(super) struct Bus {
    /// Cycles of the processor since power on.
    pub(super) clock: u64,
    pub(super) ram: [u8; 128],
    pub(super) riot: Riot,
    pub(super) tia: Tia,
    pub(super) cartridge: Cartridge,
    /// The last byte on the data lines. The TIA drives two of the eight; the others keep what they had.
    lines: u8,
    /// How many instructions may run until the frame is over.
    pub(super) instructions: u32,
    /// What the ports A and B read: the joysticks and the switches of the console.
    pub(super) switches: [u8; 2],
}

impl Bus {
    pub(super) fn new(cartridge: Cartridge, ram: [u8; 128], tia: Tia) -> Self {
        Self { clock: 0, ram, riot: Riot::default(), tia, cartridge, lines: 0, instructions: 0, switches: [0xFF, 0x3F] }
    }

    #[inline(always)]
    pub(super) fn read(&mut self, address: u16) -> u8 {
        let value = if address & 0x1000 != 0 {
            self.cartridge.read(address, self.lines)
        } else if address & 0x280 == 0x80 {
            self.ram[usize::from(address & 0x7F)]
        } else {
            self.read_chip(address)
        };
        self.lines = value;
        value
    }

    #[inline(always)]
    pub(super) fn write(&mut self, address: u16, value: u8) {
        if address & 0x1000 != 0 {
            self.cartridge.write(address, value);
        } else if address & 0x280 == 0x80 {
            self.ram[usize::from(address & 0x7F)] = value;
        } else if address & 0x80 == 0 {
            self.write_tia(address as u8 & 0x3F, value);
        } else {
            self.riot.write(address, value, self.clock);
        }
        self.lines = value;
    }

    /// A write to the TIA may end the frame, and WSYNC stops the processor until the end of the line.
    #[inline(never)]
    fn write_tia(&mut self, register: u8, value: u8) {
        let now = self.clock;
        if register == WSYNC {
            self.clock = self.tia.next_line(now);
        } else {
            self.tia.write(register, value, now);
        }
        if self.tia.frame_over(now) {
            self.instructions = 0;
        }
    }

    #[inline(never)]
    fn read_chip(&mut self, address: u16) -> u8 {
        if address & 0x80 == 0 {
            self.tia.read(address as u8 & 0x0F, self.clock) | self.lines & 0x3F
        } else {
            self.riot.read(address, self.clock, self.switches)
        }
    }

    pub(super) fn read_word(&mut self, address: u16) -> u16 {
        let low = self.read(address);
        u16::from_le_bytes([low, self.read(address.wrapping_add(1))])
    }

    #[inline(always)]
    pub(super) fn read_zero_page_word(&mut self, pointer: u8) -> u16 {
        let low = self.read(u16::from(pointer));
        u16::from_le_bytes([low, self.read(u16::from(pointer.wrapping_add(1)))])
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.long(&mut self.clock);
        tape.bytes(&mut self.ram);
        tape.byte(&mut self.lines);
        tape.bytes(&mut self.switches);
        self.riot.state(tape);
        self.tia.state(tape);
        self.cartridge.state(tape);
    }
}
