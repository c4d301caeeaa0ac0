//! Where operands are, and how they are read and written.

use super::place::length;
use super::{Bus, Cpu, Place};

/// Where an operand is.
#[derive(Clone, Copy)]
pub(in super::super) struct Operand {
    pub(in super::super) address: u16,
    /// The byte on the data lines before it is read. The TIA drives two of the eight lines; the others keep what they had.
    pub(in super::super) lines: u8,
    /// What adding the index has carried into the high byte of the address.
    carry: u16,
}

impl Operand {
    #[inline(always)]
    pub(in super::super) fn new(address: u16, lines: u8) -> Self {
        Self { address, lines, carry: 0 }
    }

    #[inline(always)]
    pub(super) fn zero_page(byte: u8, index: u8) -> Self {
        Self::new(byte.wrapping_add(index).into(), byte)
    }

    /// An index is added to a pointer, of whose two bytes the high one is the last on the data lines.
    #[inline(always)]
    pub(super) fn indexed(pointer: u16, index: u8) -> Self {
        let low = (pointer & 0xFF) + u16::from(index);
        let high = pointer >> 8;
        Self { address: (high << 8).wrapping_add(low), lines: high as u8, carry: low >> 8 }
    }
}

/// The page of the stack.
const STACK: u16 = 0x100;

impl Cpu {
    // --- Addressing modes, by the two bytes after the opcode.

    #[inline(always)]
    pub(super) fn indirect_x(&self, bus: &mut Bus, byte: u8) -> Operand {
        Operand::indexed(self.read_pointer(bus, byte, self.x), 0)
    }

    #[inline(always)]
    pub(super) fn indirect_y(&self, bus: &mut Bus, byte: u8) -> Operand {
        Operand::indexed(self.read_pointer(bus, byte, 0), self.y)
    }

    #[inline(always)]
    fn read_pointer(&self, bus: &mut Bus, byte: u8, index: u8) -> u16 {
        let read = |index: u8| bus.read_page(Operand::zero_page(byte, index), self.clock());
        u16::from_le_bytes([index, index.wrapping_add(1)].map(read))
    }

    /// For instructions that only read: they take a cycle longer where adding the index carries into the high byte.
    #[inline(always)]
    pub(super) fn crossing(&mut self, operand: Operand) {
        self.time.pass(operand.carry.into(), 0);
    }

    /// An instruction where reading may have an effect: byte by byte, and no more bytes than it has.
    pub(super) fn fetch(bus: &mut Bus, pc: u16, clock: u64) -> Place {
        let mut bytes = [0; 3];
        let mut lines = (pc >> 8) as u8;
        for i in 0..3 {
            if i == 0 || i < length(Place::new(bytes).what()) {
                lines = bus.read(Operand::new(pc.wrapping_add(i.into()), lines), clock);
                bytes[usize::from(i)] = lines;
            }
        }
        Place::new(bytes)
    }

    // --- Reads. One in the cartridge may change what is visible.

    #[inline(always)]
    pub(super) fn read(&mut self, bus: &mut Bus, operand: Operand) -> u8 {
        match bus.cartridge.plain(operand.address) {
            Some(value) => value,
            None => {
                let value = bus.read_elsewhere(operand, self.clock());
                self.at = bus.cartridge.at(self.at);
                value
            }
        }
    }

    #[inline(always)]
    pub(super) fn read_page(&self, bus: &mut Bus, operand: Operand) -> u8 {
        bus.read_page(operand, self.clock())
    }

    // --- Writes. One to the TIA may end the frame: then no more instructions run.

    /// Whether the frame is over, as for all writes.
    #[inline(always)]
    pub(super) fn write(&mut self, bus: &mut Bus, address: u16, value: u8) -> bool {
        if address & 0x1280 == 0x80 {
            *bus.memory(address) = value;
            return false;
        }
        self.time.stop_until(bus.write_elsewhere(address, value, self.clock()));
        self.at = bus.cartridge.at(self.at);
        bus.tia.is_over()
    }

    /// In the zero page or the stack.
    #[inline(always)]
    pub(super) fn write_page(&mut self, bus: &mut Bus, address: u16, value: u8) -> bool {
        if address & 0x80 != 0 {
            *bus.memory(address) = value;
            return false;
        }
        self.time.stop_until(bus.write_elsewhere(address, value, self.clock()));
        bus.tia.is_over()
    }

    /// In a register of the TIA in the zero page.
    #[inline(always)]
    pub(super) fn write_tia(&mut self, bus: &mut Bus, register: u8, value: u8) -> bool {
        bus.write_tia(register & 0x3F, value, self.clock());
        bus.tia.is_over()
    }

    /// In the register of the TIA that stops the processor until the end of the line.
    #[inline(always)]
    pub(super) fn wait(&mut self, bus: &mut Bus) -> bool {
        self.time.stop_until(bus.wait(self.clock()));
        bus.tia.is_over()
    }

    /// Reads, changes and writes back. The result, and whether the frame is over.
    #[inline(always)]
    pub(super) fn modify(
        &mut self,
        bus: &mut Bus,
        operand: Operand,
        change: impl FnOnce(&mut Self, u8) -> u8,
    ) -> (u8, bool) {
        let value = self.read(bus, operand);
        let result = change(self, value);
        (result, self.write(bus, operand.address, result))
    }

    // --- The stack.

    #[inline(always)]
    pub(super) fn push(&mut self, bus: &mut Bus, value: u8) -> bool {
        let over = self.write_page(bus, STACK | u16::from(self.sp), value);
        self.sp = self.sp.wrapping_sub(1);
        over
    }

    #[inline(always)]
    pub(super) fn push_word(&mut self, bus: &mut Bus, value: u16) -> bool {
        let [low, high] = value.to_le_bytes();
        self.push(bus, high) | self.push(bus, low)
    }

    /// The stack is read before its pointer moves, too, and what is read there stays on the data lines. `lines` is what they had before.
    #[inline(always)]
    pub(super) fn pull(&mut self, bus: &mut Bus, lines: u8) -> u8 {
        let lines = self.read_page(bus, Operand::new(STACK | u16::from(self.sp), lines));
        self.pull_next(bus, lines)
    }

    #[inline(always)]
    pub(super) fn pull_next(&mut self, bus: &mut Bus, lines: u8) -> u8 {
        self.sp = self.sp.wrapping_add(1);
        self.read_page(bus, Operand::new(STACK | u16::from(self.sp), lines))
    }

    /// After a byte that was pulled.
    #[inline(always)]
    pub(super) fn pull_word_next(&mut self, bus: &mut Bus, lines: u8) -> u16 {
        let low = self.pull_next(bus, lines);
        u16::from_le_bytes([low, self.pull_next(bus, low)])
    }
}
