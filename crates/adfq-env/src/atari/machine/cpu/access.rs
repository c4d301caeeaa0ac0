//! Where operands are, and how they are read and written.

use super::place::length;
use super::{Place, Running, Stop};

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

/// Whether an address is one of the memory of the console.
#[inline(always)]
fn is_memory(address: u16) -> bool {
    address & 0x1280 == 0x80
}

impl<const FAST: bool> Running<'_, FAST> {
    // --- Addressing modes, by the two bytes after the opcode.

    #[inline(always)]
    pub(super) fn indirect_x(&mut self, byte: u8) -> Result<Operand, Stop> {
        let index = self.x;
        Ok(Operand::indexed(self.read_pointer(byte, index)?, 0))
    }

    #[inline(always)]
    pub(super) fn indirect_y(&mut self, byte: u8) -> Result<Operand, Stop> {
        Ok(Operand::indexed(self.read_pointer(byte, 0)?, self.y))
    }

    #[inline(always)]
    fn read_pointer(&mut self, byte: u8, index: u8) -> Result<u16, Stop> {
        let low = self.read_page(Operand::zero_page(byte, index))?;
        let high = self.read_page(Operand::zero_page(byte, index.wrapping_add(1)))?;
        Ok(u16::from_le_bytes([low, high]))
    }

    /// For instructions that only read: they take a cycle longer where adding the index carries into the high byte.
    #[inline(always)]
    pub(super) fn crossing(&mut self, operand: Operand) {
        self.time = self.time.after(operand.carry.into(), 0);
    }

    // --- Reads. One in the cartridge may change what is visible.

    #[inline(always)]
    pub(super) fn read(&mut self, operand: Operand) -> Result<u8, Stop> {
        if let Some(value) = self.bus.cartridge.plain(operand.address) {
            Ok(value)
        } else if is_memory(operand.address) {
            Ok(*self.bus.memory(operand.address))
        } else if FAST {
            Err(Stop::Elsewhere)
        } else {
            let clock = self.clock();
            let value = self.bus.read_elsewhere(operand, clock);
            self.at = self.bus.cartridge.at(self.at);
            Ok(value)
        }
    }

    /// In the zero page or the stack.
    #[inline(always)]
    pub(super) fn read_page(&mut self, operand: Operand) -> Result<u8, Stop> {
        if operand.address & 0x80 != 0 {
            Ok(*self.bus.memory(operand.address))
        } else if FAST {
            Err(Stop::Elsewhere)
        } else {
            let clock = self.clock();
            Ok(self.bus.read_elsewhere(operand, clock))
        }
    }

    // --- Writes.

    #[inline(always)]
    pub(super) fn write(&mut self, address: u16, value: u8) -> Result<(), Stop> {
        if is_memory(address) {
            *self.bus.memory(address) = value;
        } else if FAST {
            return Err(Stop::Elsewhere);
        } else {
            let clock = self.clock();
            self.time = self.time.until(self.bus.write_elsewhere(address, value, clock));
            self.at = self.bus.cartridge.at(self.at);
        }
        Ok(())
    }

    /// In the zero page or the stack.
    #[inline(always)]
    pub(super) fn write_page(&mut self, address: u16, value: u8) -> Result<(), Stop> {
        if address & 0x80 != 0 {
            *self.bus.memory(address) = value;
        } else if FAST {
            return Err(Stop::Elsewhere);
        } else {
            let clock = self.clock();
            self.time = self.time.until(self.bus.write_elsewhere(address, value, clock));
        }
        Ok(())
    }

    /// In a register of the TIA in the zero page.
    #[inline(always)]
    pub(super) fn write_tia(&mut self, register: u8, value: u8) -> Result<(), Stop> {
        // Until it has come back there is nothing to keep in registers.
        let clock = self.clock();
        self.put_away();
        self.bus.write_tia(register & 0x3F, value, clock);
        self.take_up();
        self.stop_if_over()
    }

    /// In the register of the TIA that stops the processor until the end of the line.
    #[inline(always)]
    pub(super) fn wait(&mut self) -> Result<(), Stop> {
        let clock = self.clock();
        self.time = self.time.until(self.bus.wait(clock));
        self.stop_if_over()
    }

    #[inline(always)]
    fn stop_if_over(&self) -> Result<(), Stop> {
        if self.bus.tia.is_over() { Err(Stop::Pause) } else { Ok(()) }
    }

    /// Reads, changes and writes back. The result.
    #[inline(always)]
    pub(super) fn modify(
        &mut self,
        operand: Operand,
        change: impl FnOnce(&mut Self, u8) -> u8,
    ) -> Result<u8, Stop> {
        if FAST && !is_memory(operand.address) {
            return Err(Stop::Elsewhere);
        }
        let value = self.read(operand)?;
        let result = change(self, value);
        self.write(operand.address, result)?;
        Ok(result)
    }

    // --- The stack. Its pointer moves when all is read and written.

    #[inline(always)]
    fn top(&self, above: u8) -> u16 {
        STACK | u16::from(self.sp.wrapping_add(above))
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: u8) -> Result<(), Stop> {
        self.write_page(self.top(0), value)?;
        self.sp = self.sp.wrapping_sub(1);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push_word(&mut self, value: u16) -> Result<(), Stop> {
        let [low, high] = value.to_le_bytes();
        self.write_page(self.top(0), high)?;
        self.write_page(self.top(0xFF), low)?;
        self.sp = self.sp.wrapping_sub(2);
        Ok(())
    }

    /// Several bytes. The stack is read before its pointer moves, too, and what is read there stays on the data lines; `lines` is what they
    /// had before.
    #[inline(always)]
    pub(super) fn pull<const N: usize>(&mut self, lines: u8) -> Result<[u8; N], Stop> {
        let mut lines = self.read_page(Operand::new(self.top(0), lines))?;
        let mut bytes = [0; N];
        for (above, byte) in (1..).zip(&mut bytes) {
            lines = self.read_page(Operand::new(self.top(above), lines))?;
            *byte = lines;
        }
        self.sp = self.sp.wrapping_add(N as u8);
        Ok(bytes)
    }
}

impl Running<'_, false> {
    /// The instruction where the program is, byte by byte, and no more bytes than it has: reading them may have an effect.
    pub(super) fn fetch(&mut self) -> Place {
        let (pc, clock) = (self.pc(), self.clock());
        let (mut bytes, mut lines) = ([0; 3], (pc >> 8) as u8);
        for i in 0..3 {
            if i == 0 || i < length(Place::new(bytes).what()) {
                lines = self.bus.read(Operand::new(pc.wrapping_add(i.into()), lines), clock);
                bytes[usize::from(i)] = lines;
            }
        }
        self.at = self.bus.cartridge.at(self.at);
        Place::new(bytes)
    }
}
