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

/// Everything that the processor reaches.
#[derive(Clone)]
pub(super) struct Bus {
    pub(super) ram: [u8; 128],
    pub(super) riot: Riot,
    pub(super) tia: Tia,
    pub(super) cartridge: Cartridge,
    /// The byte on the data lines before an operand is read. The TIA drives two of the eight; the others keep what they had.
    pub(super) lines: u8,
    /// Whether the frame is over.
    pub(super) frame_over: bool,
    /// The clock of the last write to the TIA.
    pub(super) last_write: u64,
    /// What the ports A and B read: the joysticks and the switches of the console.
    pub(super) switches: [u8; 2],
}

impl Bus {
    pub(super) fn new(cartridge: Cartridge, ram: [u8; 128], tia: Tia) -> Self {
        Self {
            ram,
            riot: Riot::default(),
            tia,
            cartridge,
            lines: 0,
            frame_over: false,
            last_write: 0,
            switches: [0xFF, 0x3F],
        }
    }

    /// A read that ends at the given clock.
    #[inline(always)]
    pub(super) fn read(&mut self, address: u16, clock: u64) -> u8 {
        match self.cartridge.plain(address) {
            Some(value) => value,
            None => self.read_elsewhere(address, clock),
        }
    }

    /// A read in the zero page or the stack: memory, or else the TIA.
    #[inline(always)]
    pub(super) fn read_page(&mut self, page: u16, place: u8, clock: u64) -> u8 {
        if place & 0x80 != 0 {
            self.ram[usize::from(place & 0x7F)]
        } else {
            self.read_elsewhere(page | u16::from(place), clock)
        }
    }

    /// What is off the fast path: the chips, and the addresses of a cartridge at which something happens.
    #[inline(never)]
    fn read_elsewhere(&mut self, address: u16, clock: u64) -> u8 {
        if address & 0x1000 != 0 {
            self.cartridge.read(address, self.lines)
        } else if address & 0x80 == 0 {
            self.tia.read(address as u8 & 0x0F, clock) | self.lines & 0x3F
        } else if address & 0x200 == 0 {
            self.ram[usize::from(address & 0x7F)]
        } else {
            self.riot.read(address, clock, self.switches)
        }
    }

    /// A write that is not to memory and ends at the given clock. Gives the clock after it, which is later if the write stopped the processor.
    #[inline(never)]
    #[must_use]
    pub(super) fn write_elsewhere(&mut self, address: u16, value: u8, clock: u64) -> u64 {
        if address & 0x1080 == 0 {
            return self.write_tia(address as u8 & 0x3F, value, clock);
        }
        if address & 0x1000 != 0 {
            self.cartridge.write(address, value);
        } else {
            self.riot.write(address, value, clock);
        }
        clock
    }

    /// A write to the TIA may end the frame, and WSYNC stops the processor until the end of the line.
    #[inline]
    fn write_tia(&mut self, register: u8, value: u8, clock: u64) -> u64 {
        let after = if register == WSYNC {
            self.tia.next_line(clock)
        } else {
            self.tia.write(register, value, clock);
            clock
        };
        self.last_write = clock;
        self.frame_over = self.tia.frame_over(clock);
        after
    }

    /// What the program has at an address, without the effects of a read. Only the cartridge and the memory have any.
    pub(super) fn peek(&self, address: u16) -> u8 {
        if address & 0x1000 != 0 {
            self.cartridge.peek(address)
        } else if address & 0x280 == 0x80 {
            self.ram[usize::from(address & 0x7F)]
        } else {
            0
        }
    }

    pub(super) fn read_word(&mut self, address: u16, clock: u64) -> u16 {
        let low = self.read(address, clock);
        u16::from_le_bytes([low, self.read(address.wrapping_add(1), clock)])
    }

    /// A pointer in the zero page. Its high byte is the last on the data lines.
    #[inline(always)]
    pub(super) fn read_zero_page_word(&mut self, pointer: u8, clock: u64) -> u16 {
        let low = self.read_page(0, pointer, clock);
        let high = self.read_page(0, pointer.wrapping_add(1), clock);
        self.lines = high;
        u16::from_le_bytes([low, high])
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.bytes(&mut self.ram);
        tape.byte(&mut self.lines);
        tape.flag(&mut self.frame_over);
        tape.long(&mut self.last_write);
        tape.bytes(&mut self.switches);
        self.riot.state(tape);
        self.tia.state(tape);
        self.cartridge.state(tape);
    }
}
