//! The 6507: a 6502 with thirteen address lines and no interrupt pins.
//!
//! The clock of the bus moves on by all cycles of an instruction before the instruction reads or writes. On the chip the
//! access that matters is the last cycle of nearly every instruction, so the chips see it at the right time. Undocumented
//! instructions are here too, because games use them.

mod operation;

use super::bus::Bus;
use super::tape::Tape;

/// Cycles of each instruction, without those for a branch taken or a page crossed.
#[rustfmt::skip]
pub(super) const CYCLES: [u8; 256] = [
    7, 6, 2, 8, 3, 3, 5, 5, 3, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 4, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 3, 2, 2, 2, 3, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 4, 2, 2, 2, 5, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    2, 6, 2, 6, 3, 3, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4,  2, 6, 2, 6, 4, 4, 4, 4, 2, 5, 2, 5, 5, 5, 5, 5,
    2, 6, 2, 6, 3, 3, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4,  2, 5, 2, 5, 4, 4, 4, 4, 2, 4, 2, 4, 4, 4, 4, 4,
    2, 6, 2, 8, 3, 3, 5, 5, 2, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    2, 6, 2, 8, 3, 3, 5, 5, 2, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
];

/// Cycles of a load from INTIM and a branch back to it.
const ROUND: u64 = 7;

/// The registers. The flags are kept as the values that they were set from, which is cheaper than a status byte.
#[derive(Clone, Default)]
pub(super) struct Cpu {
    a: u8,
    x: u8,
    y: u8,
    sp: u8,
    pc: u16,
    /// The two bytes after the opcode. They mean nothing between instructions.
    operand: u16,
    /// Cycles since power on.
    pub(super) clock: u64,
    /// How many instructions may still run in this frame.
    instructions: u32,
    /// Bit 7 is the flag N.
    negative: u8,
    /// The flag Z is set if this is zero.
    nonzero: u8,
    carry: bool,
    overflow: bool,
    decimal: bool,
    interrupt: bool,
}

impl Cpu {
    /// The reset line: the program starts where the vector at $FFFC points.
    pub(super) fn reset(&mut self, bus: &mut Bus) {
        *self = Self { sp: 0xFF, nonzero: 1, clock: self.clock, ..Self::default() };
        self.pc = bus.read_word(0xFFFC, self.clock);
    }

    /// Runs until the frame is over, or for `limit` instructions.
    pub(super) fn run(&mut self, bus: &mut Bus, limit: u32) {
        // A local copy, so that the compiler keeps the registers in registers.
        let mut cpu = self.clone();
        cpu.instructions = limit;
        if bus.frame_over {
            cpu.instructions = 0;
        }
        while cpu.instructions > 0 {
            cpu.instructions -= 1;
            cpu.step(bus);
        }
        *self = cpu;
    }

    /// All fields, to save or to restore them.
    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.byte(&mut self.a);
        tape.byte(&mut self.x);
        tape.byte(&mut self.y);
        tape.byte(&mut self.sp);
        tape.word(&mut self.pc);
        tape.long(&mut self.clock);
        tape.byte(&mut self.negative);
        tape.byte(&mut self.nonzero);
        tape.flag(&mut self.carry);
        tape.flag(&mut self.overflow);
        tape.flag(&mut self.decimal);
        tape.flag(&mut self.interrupt);
    }

    #[inline(always)]
    fn status(&self) -> u8 {
        self.negative & 0x80
            | u8::from(self.overflow) << 6
            | 0x30
            | u8::from(self.decimal) << 3
            | u8::from(self.interrupt) << 2
            | u8::from(self.nonzero == 0) << 1
            | u8::from(self.carry)
    }

    #[inline(always)]
    fn set_status(&mut self, status: u8) {
        self.negative = status;
        self.overflow = status & 0x40 != 0;
        self.decimal = status & 0x08 != 0;
        self.interrupt = status & 0x04 != 0;
        self.nonzero = !status & 0x02;
        self.carry = status & 0x01 != 0;
    }

    // --- Where the operand is.

    /// The byte after the opcode.
    #[inline(always)]
    fn byte(&mut self, bus: &mut Bus) -> u8 {
        self.pc = self.pc.wrapping_add(1);
        bus.lines = self.operand as u8;
        self.operand as u8
    }

    /// The two bytes after the opcode.
    #[inline(always)]
    fn absolute(&mut self, bus: &mut Bus) -> u16 {
        self.pc = self.pc.wrapping_add(2);
        bus.lines = (self.operand >> 8) as u8;
        self.operand
    }

    #[inline(always)]
    fn absolute_plus(&mut self, bus: &mut Bus, index: u8) -> u16 {
        self.absolute(bus).wrapping_add(u16::from(index))
    }

    /// For instructions that only read: they take a cycle longer where adding the index carries into the high byte.
    #[inline(always)]
    fn absolute_plus_read(&mut self, bus: &mut Bus, index: u8) -> u16 {
        let base = self.absolute(bus);
        let address = base.wrapping_add(u16::from(index));
        self.clock += u64::from((base ^ address) & 0xFF00 != 0);
        address
    }

    #[inline(always)]
    fn indirect_x(&mut self, bus: &mut Bus) -> u16 {
        let pointer = self.byte(bus).wrapping_add(self.x);
        bus.read_zero_page_word(pointer, self.clock)
    }

    #[inline(always)]
    fn indirect_y(&mut self, bus: &mut Bus) -> u16 {
        let pointer = self.byte(bus);
        bus.read_zero_page_word(pointer, self.clock).wrapping_add(u16::from(self.y))
    }

    #[inline(always)]
    fn indirect_y_read(&mut self, bus: &mut Bus) -> u16 {
        let pointer = self.byte(bus);
        let base = bus.read_zero_page_word(pointer, self.clock);
        let address = base.wrapping_add(u16::from(self.y));
        self.clock += u64::from((base ^ address) & 0xFF00 != 0);
        address
    }

    /// An instruction where reading may have an effect: byte by byte, and no more bytes than it has.
    #[inline(never)]
    fn fetch_slowly(bus: &mut Bus, pc: u16, clock: u64) -> u32 {
        let opcode = bus.read(pc, clock);
        let mut code = u32::from(opcode);
        for i in 1..length(opcode) {
            code |= u32::from(bus.read(pc.wrapping_add(u16::from(i)), clock)) << (8 * i);
        }
        code | u32::from(CYCLES[usize::from(opcode)]) << 24
    }

    // --- Writes. One to the TIA may end the frame: then no more instructions run.

    #[inline(always)]
    fn write(&mut self, bus: &mut Bus, address: u16, value: u8) {
        if address & 0x1280 == 0x80 {
            bus.ram[usize::from(address & 0x7F)] = value;
        } else {
            self.write_elsewhere(bus, address, value);
        }
    }

    /// In the zero page or the stack.
    #[inline(always)]
    fn write_page(&mut self, bus: &mut Bus, page: u16, place: u8, value: u8) {
        if place & 0x80 != 0 {
            bus.ram[usize::from(place & 0x7F)] = value;
        } else {
            self.write_elsewhere(bus, page | u16::from(place), value);
        }
    }

    #[inline(always)]
    fn write_elsewhere(&mut self, bus: &mut Bus, address: u16, value: u8) {
        self.clock = bus.write_elsewhere(address, value, self.clock);
        if bus.frame_over {
            self.instructions = 0;
        }
    }

    // --- The stack.

    #[inline(always)]
    fn push(&mut self, bus: &mut Bus, value: u8) {
        self.write_page(bus, 0x100, self.sp, value);
        self.sp = self.sp.wrapping_sub(1);
    }

    #[inline(always)]
    fn pull(&mut self, bus: &mut Bus) -> u8 {
        self.sp = self.sp.wrapping_add(1);
        bus.read_page(0x100, self.sp, self.clock)
    }

    /// PLA and PLP read the stack before they move its pointer, too. What they read there stays on the data lines.
    #[inline(always)]
    fn pull_one(&mut self, bus: &mut Bus) -> u8 {
        bus.lines = bus.read_page(0x100, self.sp, self.clock);
        self.pull(bus)
    }

    /// Reads, changes and writes back.
    #[inline(always)]
    fn modify(&mut self, bus: &mut Bus, address: u16, change: impl FnOnce(&mut Self, u8) -> u8) -> u8 {
        let value = bus.read(address, self.clock);
        let result = change(self, value);
        self.write(bus, address, result);
        result
    }

    #[inline(always)]
    fn branch(&mut self, bus: &mut Bus, taken: bool) {
        let offset = self.byte(bus) as i8;
        if taken {
            let target = self.pc.wrapping_add_signed(i16::from(offset));
            self.clock += 1 + u64::from((target ^ self.pc) & 0xFF00 != 0);
            if offset == -5 {
                self.skip_waiting(bus, target);
            }
            self.pc = target;
        }
    }

    /// Programs wait for the timer in a loop of two instructions: load INTIM, branch back. This passes over all rounds that
    /// branch back again, and changes nothing but the clock and the count of instructions. The last round runs as usual.
    #[inline(never)]
    fn waiting(bus: &mut Bus, start: u16, clock: u64, limit: u32) -> u32 {
        let [load, low, high, branch] = [0, 1, 2, 3].map(|i| bus.peek(start.wrapping_add(i)));
        let loads = matches!(load, 0xAC..=0xAE);
        if !loads || [low, high] != [0x84, 0x02] {
            return 0;
        }
        let crosses = (start ^ start.wrapping_add(5)) & 0xFF00 != 0;
        let round = ROUND + u64::from(crosses);
        // BNE waits for zero, BPL for what comes after it.
        let ends = match branch {
            0xD0 => bus.riot.zero_at(clock, round),
            0x10 => bus.riot.below_zero_at(clock),
            _ => None,
        };
        // The next read is at the end of the load.
        let rounds = ends.map_or(0, |end| end.saturating_sub(clock + 4 + 1) / round);
        rounds.min(u64::from(limit / 2)) as u32
    }

    #[inline(always)]
    fn skip_waiting(&mut self, bus: &mut Bus, start: u16) {
        let rounds = Self::waiting(bus, start, self.clock, self.instructions);
        if rounds > 0 {
            let crosses = (start ^ start.wrapping_add(5)) & 0xFF00 != 0;
            self.clock += u64::from(rounds) * (ROUND + u64::from(crosses));
            self.instructions -= 2 * rounds;
        }
    }

    /// One instruction.
    #[inline(always)]
    #[rustfmt::skip]
    fn step(&mut self, bus: &mut Bus) {
        let mut code = bus.cartridge.code(self.pc);
        if code == 0 {
            code = Self::fetch_slowly(bus, self.pc, self.clock);
        }
        let opcode = code as u8;
        self.operand = (code >> 8) as u16;
        self.pc = self.pc.wrapping_add(1);
        self.clock += u64::from(code >> 24);
        // An operand that is read, at the address of a mode.
        macro_rules! operand {
            (imm) => { self.byte(bus) };
            (zp) => {{ let place = self.byte(bus); bus.read_page(0, place, self.clock) }};
            (zpx) => {{ let place = self.byte(bus).wrapping_add(self.x); bus.read_page(0, place, self.clock) }};
            (zpy) => {{ let place = self.byte(bus).wrapping_add(self.y); bus.read_page(0, place, self.clock) }};
            (abs) => {{ let address = self.absolute(bus); bus.read(address, self.clock) }};
            (absx) => {{ let address = self.absolute_plus_read(bus, self.x); bus.read(address, self.clock) }};
            (absy) => {{ let address = self.absolute_plus_read(bus, self.y); bus.read(address, self.clock) }};
            (indx) => {{ let address = self.indirect_x(bus); bus.read(address, self.clock) }};
            (indy) => {{ let address = self.indirect_y_read(bus); bus.read(address, self.clock) }};
        }
        // The address of an operand that is written.
        macro_rules! target {
            (zp) => { u16::from(self.byte(bus)) };
            (zpx) => { u16::from(self.byte(bus).wrapping_add(self.x)) };
            (zpy) => { u16::from(self.byte(bus).wrapping_add(self.y)) };
            (abs) => { self.absolute(bus) };
            (absx) => { self.absolute_plus(bus, self.x) };
            (absy) => { self.absolute_plus(bus, self.y) };
            (indx) => { self.indirect_x(bus) };
            (indy) => { self.indirect_y(bus) };
        }
        macro_rules! with {
            ($do:ident $mode:ident) => {{ let value = operand!($mode); self.$do(value) }};
        }
        macro_rules! store {
            ($value:expr, zp) => {{ let place = self.byte(bus); self.write_page(bus, 0, place, $value) }};
            ($value:expr, zpx) => {{ let place = self.byte(bus).wrapping_add(self.x); self.write_page(bus, 0, place, $value) }};
            ($value:expr, $mode:ident) => {{ let address = target!($mode); self.write(bus, address, $value) }};
        }
        macro_rules! modify {
            ($do:ident $mode:ident) => {{ let address = target!($mode); self.modify(bus, address, Self::$do); }};
        }
        macro_rules! both {
            ($do:ident $mode:ident) => {{ let address = target!($mode); self.$do(bus, address) }};
        }
        match opcode {
            0x00 => self.software_interrupt(bus),
            0x01 => with!(or indx), 0x05 => with!(or zp), 0x09 => with!(or imm), 0x0D => with!(or abs),
            0x11 => with!(or indy), 0x15 => with!(or zpx), 0x19 => with!(or absy), 0x1D => with!(or absx),
            0x21 => with!(and indx), 0x25 => with!(and zp), 0x29 => with!(and imm), 0x2D => with!(and abs),
            0x31 => with!(and indy), 0x35 => with!(and zpx), 0x39 => with!(and absy), 0x3D => with!(and absx),
            0x41 => with!(exclusive_or indx), 0x45 => with!(exclusive_or zp),
            0x49 => with!(exclusive_or imm), 0x4D => with!(exclusive_or abs),
            0x51 => with!(exclusive_or indy), 0x55 => with!(exclusive_or zpx),
            0x59 => with!(exclusive_or absy), 0x5D => with!(exclusive_or absx),
            0x61 => with!(add indx), 0x65 => with!(add zp), 0x69 => with!(add imm), 0x6D => with!(add abs),
            0x71 => with!(add indy), 0x75 => with!(add zpx), 0x79 => with!(add absy), 0x7D => with!(add absx),
            0xE1 => with!(subtract indx), 0xE5 => with!(subtract zp),
            0xE9 | 0xEB => with!(subtract imm), 0xED => with!(subtract abs),
            0xF1 => with!(subtract indy), 0xF5 => with!(subtract zpx),
            0xF9 => with!(subtract absy), 0xFD => with!(subtract absx),
            0xA1 => with!(load_a indx), 0xA5 => with!(load_a zp), 0xA9 => with!(load_a imm), 0xAD => with!(load_a abs),
            0xB1 => with!(load_a indy), 0xB5 => with!(load_a zpx), 0xB9 => with!(load_a absy), 0xBD => with!(load_a absx),
            0xA2 => with!(load_x imm), 0xA6 => with!(load_x zp), 0xAE => with!(load_x abs),
            0xB6 => with!(load_x zpy), 0xBE => with!(load_x absy),
            0xA0 => with!(load_y imm), 0xA4 => with!(load_y zp), 0xAC => with!(load_y abs),
            0xB4 => with!(load_y zpx), 0xBC => with!(load_y absx),
            0x81 => store!(self.a, indx), 0x85 => store!(self.a, zp), 0x8D => store!(self.a, abs),
            0x91 => store!(self.a, indy), 0x95 => store!(self.a, zpx), 0x99 => store!(self.a, absy), 0x9D => store!(self.a, absx),
            0x86 => store!(self.x, zp), 0x8E => store!(self.x, abs), 0x96 => store!(self.x, zpy),
            0x84 => store!(self.y, zp), 0x8C => store!(self.y, abs), 0x94 => store!(self.y, zpx),
            0xC1 => { let value = operand!(indx); self.compare(self.a, value) }
            0xC5 => { let value = operand!(zp); self.compare(self.a, value) }
            0xC9 => { let value = operand!(imm); self.compare(self.a, value) }
            0xCD => { let value = operand!(abs); self.compare(self.a, value) }
            0xD1 => { let value = operand!(indy); self.compare(self.a, value) }
            0xD5 => { let value = operand!(zpx); self.compare(self.a, value) }
            0xD9 => { let value = operand!(absy); self.compare(self.a, value) }
            0xDD => { let value = operand!(absx); self.compare(self.a, value) }
            0xE0 => { let value = operand!(imm); self.compare(self.x, value) }
            0xE4 => { let value = operand!(zp); self.compare(self.x, value) }
            0xEC => { let value = operand!(abs); self.compare(self.x, value) }
            0xC0 => { let value = operand!(imm); self.compare(self.y, value) }
            0xC4 => { let value = operand!(zp); self.compare(self.y, value) }
            0xCC => { let value = operand!(abs); self.compare(self.y, value) }
            0x24 => with!(bit zp), 0x2C => with!(bit abs),
            0x06 => modify!(shift_left zp), 0x0E => modify!(shift_left abs),
            0x16 => modify!(shift_left zpx), 0x1E => modify!(shift_left absx),
            0x26 => modify!(rotate_left zp), 0x2E => modify!(rotate_left abs),
            0x36 => modify!(rotate_left zpx), 0x3E => modify!(rotate_left absx),
            0x46 => modify!(shift_right zp), 0x4E => modify!(shift_right abs),
            0x56 => modify!(shift_right zpx), 0x5E => modify!(shift_right absx),
            0x66 => modify!(rotate_right zp), 0x6E => modify!(rotate_right abs),
            0x76 => modify!(rotate_right zpx), 0x7E => modify!(rotate_right absx),
            0xC6 => modify!(decrement zp), 0xCE => modify!(decrement abs),
            0xD6 => modify!(decrement zpx), 0xDE => modify!(decrement absx),
            0xE6 => modify!(increment zp), 0xEE => modify!(increment abs),
            0xF6 => modify!(increment zpx), 0xFE => modify!(increment absx),
            0x0A => self.a = self.shift_left(self.a),
            0x2A => self.a = self.rotate_left(self.a),
            0x4A => self.a = self.shift_right(self.a),
            0x6A => self.a = self.rotate_right(self.a),
            0xE8 => self.x = self.increment(self.x),
            0xC8 => self.y = self.increment(self.y),
            0xCA => self.x = self.decrement(self.x),
            0x88 => self.y = self.decrement(self.y),
            0xAA => self.load_x(self.a),
            0xA8 => self.load_y(self.a),
            0x8A => self.load_a(self.x),
            0x98 => self.load_a(self.y),
            0xBA => self.load_x(self.sp),
            0x9A => self.sp = self.x,
            0x18 => self.carry = false,
            0x38 => self.carry = true,
            0x58 => self.interrupt = false,
            0x78 => self.interrupt = true,
            0xB8 => self.overflow = false,
            0xD8 => self.decimal = false,
            0xF8 => self.decimal = true,
            0x10 => self.branch(bus, self.negative & 0x80 == 0),
            0x30 => self.branch(bus, self.negative & 0x80 != 0),
            0x50 => self.branch(bus, !self.overflow),
            0x70 => self.branch(bus, self.overflow),
            0x90 => self.branch(bus, !self.carry),
            0xB0 => self.branch(bus, self.carry),
            0xD0 => self.branch(bus, self.nonzero != 0),
            0xF0 => self.branch(bus, self.nonzero == 0),
            0x4C => self.pc = self.absolute(bus),
            0x6C => self.jump_indirect(bus),
            0x20 => self.call(bus),
            0x60 => self.return_from_call(bus),
            0x40 => self.return_from_interrupt(bus),
            0x08 => self.push(bus, self.status()),
            0x28 => { let status = self.pull_one(bus); self.set_status(status) }
            0x48 => self.push(bus, self.a),
            0x68 => { let value = self.pull_one(bus); self.load_a(value) }
            // Undocumented from here on.
            0xA3 => with!(load_a_and_x indx), 0xA7 => with!(load_a_and_x zp), 0xAF => with!(load_a_and_x abs),
            0xB3 => with!(load_a_and_x indy), 0xB7 => with!(load_a_and_x zpy), 0xBF => with!(load_a_and_x absy),
            0x83 => store!(self.a & self.x, indx), 0x87 => store!(self.a & self.x, zp),
            0x8F => store!(self.a & self.x, abs), 0x97 => store!(self.a & self.x, zpy),
            0xC3 => both!(decrement_compare indx), 0xC7 => both!(decrement_compare zp), 0xCF => both!(decrement_compare abs),
            0xD3 => both!(decrement_compare indy), 0xD7 => both!(decrement_compare zpx),
            0xDB => both!(decrement_compare absy), 0xDF => both!(decrement_compare absx),
            0xE3 => both!(increment_subtract indx), 0xE7 => both!(increment_subtract zp), 0xEF => both!(increment_subtract abs),
            0xF3 => both!(increment_subtract indy), 0xF7 => both!(increment_subtract zpx),
            0xFB => both!(increment_subtract absy), 0xFF => both!(increment_subtract absx),
            0x03 => both!(shift_left_or indx), 0x07 => both!(shift_left_or zp), 0x0F => both!(shift_left_or abs),
            0x13 => both!(shift_left_or indy), 0x17 => both!(shift_left_or zpx),
            0x1B => both!(shift_left_or absy), 0x1F => both!(shift_left_or absx),
            0x23 => both!(rotate_left_and indx), 0x27 => both!(rotate_left_and zp), 0x2F => both!(rotate_left_and abs),
            0x33 => both!(rotate_left_and indy), 0x37 => both!(rotate_left_and zpx),
            0x3B => both!(rotate_left_and absy), 0x3F => both!(rotate_left_and absx),
            0x43 => both!(shift_right_exclusive_or indx), 0x47 => both!(shift_right_exclusive_or zp),
            0x4F => both!(shift_right_exclusive_or abs), 0x53 => both!(shift_right_exclusive_or indy),
            0x57 => both!(shift_right_exclusive_or zpx), 0x5B => both!(shift_right_exclusive_or absy),
            0x5F => both!(shift_right_exclusive_or absx),
            0x63 => both!(rotate_right_add indx), 0x67 => both!(rotate_right_add zp), 0x6F => both!(rotate_right_add abs),
            0x73 => both!(rotate_right_add indy), 0x77 => both!(rotate_right_add zpx),
            0x7B => both!(rotate_right_add absy), 0x7F => both!(rotate_right_add absx),
            0x0B | 0x2B => { with!(and imm); self.carry = self.negative & 0x80 != 0 }
            0x4B => { with!(and imm); self.a = self.shift_right(self.a) }
            0x6B => with!(and_rotate_right imm),
            0xAB => { with!(and imm); self.x = self.a }
            0xCB => {
                let value = operand!(imm);
                let both = self.a & self.x;
                self.carry = both >= value;
                self.load_x(both.wrapping_sub(value));
            }
            0x8B => { let value = operand!(imm); self.load_a(self.x & value) }
            0xBB => {
                let value = operand!(absy) & self.sp;
                self.sp = value;
                self.load_a_and_x(value);
            }
            0x9B => { let address = target!(absy); self.sp = self.a & self.x; self.store_high(bus, address, self.sp) }
            0x9C => { let address = target!(absx); self.store_high(bus, address, self.y) }
            0x9E => { let address = target!(absy); self.store_high(bus, address, self.x) }
            0x9F => { let address = target!(absy); self.store_high(bus, address, self.a & self.x) }
            0x93 => { let address = target!(indy); self.store_high(bus, address, self.a & self.x) }
            // Instructions that do nothing, but may read.
            0x80 | 0x82 | 0x89 | 0xC2 | 0xE2 => { operand!(imm); }
            0x04 | 0x44 | 0x64 => { operand!(zp); }
            0x14 | 0x34 | 0x54 | 0x74 | 0xD4 | 0xF4 => { operand!(zpx); }
            0x0C => { operand!(abs); }
            0x1C | 0x3C | 0x5C | 0x7C | 0xDC | 0xFC => { operand!(absx); }
            0x1A | 0x3A | 0x5A | 0x7A | 0xDA | 0xEA | 0xFA => {}
            // The chip locks up: the program stands still on this instruction.
            0x02 | 0x12 | 0x22 | 0x32 | 0x42 | 0x52 | 0x62 | 0x72 | 0x92 | 0xB2 | 0xD2 | 0xF2 => {
                self.pc = self.pc.wrapping_sub(1);
            }
        }
    }

    #[inline(always)]
    fn software_interrupt(&mut self, bus: &mut Bus) {
        self.pc = self.pc.wrapping_add(1);
        let [low, high] = self.pc.to_le_bytes();
        self.push(bus, high);
        self.push(bus, low);
        self.push(bus, self.status());
        self.interrupt = true;
        self.pc = bus.read_word(0xFFFE, self.clock);
    }

    #[inline(always)]
    fn call(&mut self, bus: &mut Bus) {
        // What is pushed is the address of the last byte of the instruction.
        let [low, high] = self.pc.wrapping_add(1).to_le_bytes();
        self.push(bus, high);
        self.push(bus, low);
        self.pc = self.operand;
    }

    #[inline(always)]
    fn return_from_call(&mut self, bus: &mut Bus) {
        let low = self.pull(bus);
        let high = self.pull(bus);
        self.pc = u16::from_le_bytes([low, high]).wrapping_add(1);
    }

    #[inline(always)]
    fn return_from_interrupt(&mut self, bus: &mut Bus) {
        let status = self.pull(bus);
        self.set_status(status);
        let low = self.pull(bus);
        let high = self.pull(bus);
        self.pc = u16::from_le_bytes([low, high]);
    }

    /// The chip does not carry into the high byte of the pointer.
    #[inline(always)]
    fn jump_indirect(&mut self, bus: &mut Bus) {
        let pointer = self.absolute(bus);
        let low = bus.read(pointer, self.clock);
        let high = bus.read(pointer & 0xFF00 | pointer.wrapping_add(1) & 0x00FF, self.clock);
        self.pc = u16::from_le_bytes([low, high]);
    }
}

/// Bytes of an instruction. The low five bits of an opcode tell its addressing mode, but for some.
const fn length(opcode: u8) -> u8 {
    match opcode & 0x1F {
        0x00 if opcode == 0x20 => 3,
        0x00 | 0x02 if opcode >= 0x80 => 2,
        0x00 | 0x02 | 0x08 | 0x0A | 0x12 | 0x18 | 0x1A => 1,
        0x0C..=0x0F | 0x19 | 0x1B..=0x1F => 3,
        _ => 2,
    }
}
