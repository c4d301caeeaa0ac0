//! The memory map: which chip answers at which of the 8192 addresses.
//!
//! Address line 12 selects the cartridge. Otherwise line 7 tells the TIA from the RIOT, and line 9 the memory of the RIOT
//! from its timer and ports.

use super::cartridge::Cartridge;
use super::cpu::Operand;
use super::riot::Riot;
use super::tape::Tape;
use super::tia::Tia;

/// The register of the TIA that stops the processor.
const WSYNC: u8 = 0x02;

/// Everything that the processor reaches.
#[derive(Clone)]
pub(super) struct Bus {
    /// The zero page. Its upper half is the memory. The lower half is never used: it is there so that an address need not be changed.
    page: [u8; 256],
    pub(super) riot: Riot,
    pub(super) tia: Tia,
    pub(super) cartridge: Cartridge,
    /// The clock of the last write to the TIA.
    pub(super) last_write: u64,
    /// What the ports A and B read: the joysticks and the switches of the console.
    pub(super) switches: [u8; 2],
}

impl Bus {
    pub(super) fn new(cartridge: Cartridge, ram: [u8; 128], tia: Tia) -> Self {
        Self {
            page: std::array::from_fn(|i| if i < 128 { 0 } else { ram[i - 128] }),
            riot: Riot::default(),
            tia,
            cartridge,
            last_write: 0,
            switches: [0xFF, 0x3F],
        }
    }

    /// The memory.
    pub(super) fn ram(&self) -> &[u8; 128] {
        &self.page.as_chunks().0[1]
    }

    /// A byte of memory, whose address has bit 7 set.
    #[inline(always)]
    pub(super) fn memory(&mut self, address: u16) -> &mut u8 {
        &mut self.page[usize::from(address as u8)]
    }

    /// A pointer in memory.
    #[inline(always)]
    pub(super) fn memory_word(&self, address: u8) -> u16 {
        let place = usize::from(address.min(0xFE));
        u16::from_le_bytes([self.page[place], self.page[place + 1]])
    }

    /// A read that ends at the given clock.
    #[inline(always)]
    pub(super) fn read(&mut self, operand: Operand, clock: u64) -> u8 {
        match self.cartridge.plain(operand.address) {
            Some(value) => value,
            None => self.read_elsewhere(operand, clock),
        }
    }

    /// What is off the fast path: the chips, and the addresses of a cartridge at which something happens.
    #[inline(never)]
    pub(super) fn read_elsewhere(&mut self, operand: Operand, clock: u64) -> u8 {
        let Operand { address, lines, .. } = operand;
        if address & 0x1000 != 0 {
            self.cartridge.read(address)
        } else if address & 0x80 == 0 {
            self.tia.read(address as u8 & 0x0F, clock) | lines & 0x3F
        } else if address & 0x200 == 0 {
            *self.memory(address)
        } else {
            self.riot.read(address, clock, self.switches)
        }
    }

    /// A write that is not to memory and ends at the given clock. Gives the clock after it, which is later if the write stopped the processor.
    #[inline(never)]
    #[must_use]
    pub(super) fn write_elsewhere(&mut self, address: u16, value: u8, clock: u64) -> u64 {
        if address & 0x1080 == 0 {
            let register = address as u8 & 0x3F;
            if register == WSYNC {
                return self.wait(clock);
            }
            self.write_tia(register, value, clock);
        } else if address & 0x1000 != 0 {
            self.cartridge.write(address, value);
        } else {
            self.riot.write(address, value, clock);
        }
        clock
    }

    /// A write to any register of the TIA but WSYNC. It may end the frame.
    #[inline(always)]
    pub(super) fn write_tia(&mut self, register: u8, value: u8, clock: u64) {
        self.last_write = clock;
        self.tia.write(register, value, clock);
    }

    /// A write to WSYNC, which stops the processor: the clock when it goes on.
    #[inline(always)]
    #[must_use]
    pub(super) fn wait(&mut self, clock: u64) -> u64 {
        self.last_write = clock;
        self.tia.wait(clock)
    }

    /// What the program has at an address, without the effects of a read. Only the cartridge and the memory have any.
    pub(super) fn peek(&self, address: u16) -> u8 {
        if address & 0x1000 != 0 {
            self.cartridge.peek(address)
        } else if address & 0x280 == 0x80 {
            self.page[usize::from(address as u8)]
        } else {
            0
        }
    }

    /// A pointer to where the program begins.
    pub(super) fn read_vector(&mut self, address: u16, clock: u64) -> u16 {
        let mut read = |address: u16| self.read(Operand::new(address, 0xFF), clock);
        u16::from_le_bytes([read(address), read(address + 1)])
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.bytes(&mut self.page[128..]);
        // Two bytes that had a meaning once.
        tape.bytes(&mut [0; 2]);
        tape.long(&mut self.last_write);
        tape.bytes(&mut self.switches);
        self.riot.state(tape);
        self.tia.state(tape);
        self.cartridge.state(tape);
    }
}
