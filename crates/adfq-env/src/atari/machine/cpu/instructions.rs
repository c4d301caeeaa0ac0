//! What each instruction does.

use super::place::{
    BRK, CUT, ELSEWHERE, ISB_ABSX, LOAD_A_AT, STORE_A_TIA, STORE_X_TIA, STORE_Y_TIA, WAIT, cycles, length,
};
use super::{Bus, Cpu, Operand, Place};

/// What comes of an instruction: nothing, or whether to stop, since the frame is over or it is time to look how many instructions are left.
trait Outcome {
    fn stops(self) -> bool;
}

impl Outcome for () {
    #[inline(always)]
    fn stops(self) -> bool {
        false
    }
}

impl Outcome for bool {
    #[inline(always)]
    fn stops(self) -> bool {
        self
    }
}

impl Cpu {
    /// The instruction at a place and, unless there is to be just one, those that follow until one of them stops. Many instructions go
    /// through a part of the code that has few of them, so that the compiler does well with it: the rare ones are run by the other.
    #[inline(always)]
    #[rustfmt::skip]
    pub(super) fn steps<const ONE: bool>(&mut self, bus: &mut Bus, mut place: Place) {
        loop {
            // The two bytes after the opcode, and the first of them.
            let word = place.operand();
            let byte = word as u8;
            // Where the operand is, by its mode.
            macro_rules! target {
                (zp) => { Operand::zero_page(byte, 0) };
                (zpx) => { Operand::zero_page(byte, self.x) };
                (zpy) => { Operand::zero_page(byte, self.y) };
                (abs) => { Operand::indexed(word, 0) };
                (absx) => { Operand::indexed(word, self.x) };
                (absy) => { Operand::indexed(word, self.y) };
                (indx) => { self.indirect_x(bus, byte) };
                (indy) => { self.indirect_y(bus, byte) };
                (memory) => { Operand::indexed(bus.memory_word(byte), self.y) };
            }
            // The operand itself, for instructions that read it.
            macro_rules! operand {
                (imm) => { byte };
                (zp) => { self.read_page(bus, target!(zp)) };
                (zpx) => { self.read_page(bus, target!(zpx)) };
                (zpy) => { self.read_page(bus, target!(zpy)) };
                ($mode:ident) => {{ let operand = target!($mode); self.crossing(operand); self.read(bus, operand) }};
            }
            macro_rules! with {
                ($do:ident $mode:ident) => {{ let value = operand!($mode); self.$do(value) }};
            }
            macro_rules! store {
                ($value:expr, zp) => {{ let to = target!(zp).address; self.write_page(bus, to, $value) }};
                ($value:expr, zpx) => {{ let to = target!(zpx).address; self.write_page(bus, to, $value) }};
                ($value:expr, $mode:ident) => {{ let to = target!($mode).address; self.write(bus, to, $value) }};
            }
            macro_rules! modify {
                ($do:ident $mode:ident) => {{ let operand = target!($mode); self.modify(bus, operand, Self::$do).1 }};
            }
            macro_rules! both {
                ($do:ident $mode:ident) => {{ let operand = target!($mode); self.$do(bus, operand) }};
            }
            macro_rules! high {
                ($value:expr, $mode:ident) => {{ let to = target!($mode).address; self.store_high(bus, to, $value) }};
            }
            // The compiler knows the cycles and the length of each.
            macro_rules! instructions {
                (often { $($what:tt => $do:expr;)+ } seldom { $($rare:tt => $do_rarely:expr;)+ } never { $($no:tt)+ }) => {
                    match place.what() {
                        $($what => { begin!($what); if Outcome::stops($do) { break } })+
                        $($rare)|+ | $($no)|+ => if ONE {
                            match place.what() {
                                $($rare => { begin!($rare); if Outcome::stops($do_rarely) { break } })+
                                _ => {}
                            }
                        } else if self.run_rare(bus) { break },
                    }
                };
            }
            macro_rules! begin {
                ($what:tt) => {
                    self.time.pass(const { cycles($what) as u64 }, 1);
                    self.at = self.at.wrapping_add(const { length($what) as u16 });
                };
            }
            instructions! {
            often {
                STORE_A_TIA => self.write_tia(bus, byte, self.a);
                STORE_X_TIA => self.write_tia(bus, byte, self.x);
                STORE_Y_TIA => self.write_tia(bus, byte, self.y);
                WAIT => self.wait(bus);
                LOAD_A_AT => with!(load_a memory);
                0x05 => with!(or zp); 0x09 => with!(or imm); 0x0D => with!(or abs);
                0x11 => with!(or indy); 0x15 => with!(or zpx); 0x19 => with!(or absy); 0x1D => with!(or absx);
                0x25 => with!(and zp); 0x29 => with!(and imm); 0x2D => with!(and abs);
                0x31 => with!(and indy); 0x35 => with!(and zpx); 0x39 => with!(and absy); 0x3D => with!(and absx);
                0x45 => with!(exclusive_or zp); 0x49 => with!(exclusive_or imm); 0x4D => with!(exclusive_or abs);
                0x51 => with!(exclusive_or indy); 0x55 => with!(exclusive_or zpx);
                0x59 => with!(exclusive_or absy); 0x5D => with!(exclusive_or absx);
                0x65 => with!(add zp); 0x69 => with!(add imm); 0x6D => with!(add abs);
                0x71 => with!(add indy); 0x75 => with!(add zpx); 0x79 => with!(add absy); 0x7D => with!(add absx);
                0xE5 => with!(subtract zp); 0xE9 => with!(subtract imm); 0xED => with!(subtract abs);
                0xF1 => with!(subtract indy); 0xF5 => with!(subtract zpx);
                0xF9 => with!(subtract absy); 0xFD => with!(subtract absx);
                0xA5 => with!(load_a zp); 0xA9 => with!(load_a imm); 0xAD => with!(load_a abs);
                0xB5 => with!(load_a zpx); 0xB9 => with!(load_a absy); 0xBD => with!(load_a absx);
                0xA2 => with!(load_x imm); 0xA6 => with!(load_x zp); 0xAE => with!(load_x abs); 0xBE => with!(load_x absy);
                0xA0 => with!(load_y imm); 0xA4 => with!(load_y zp); 0xAC => with!(load_y abs);
                0xB4 => with!(load_y zpx); 0xBC => with!(load_y absx);
                0x85 => store!(self.a, zp); 0x8D => store!(self.a, abs);
                0x91 => store!(self.a, indy); 0x95 => store!(self.a, zpx);
                0x99 => store!(self.a, absy); 0x9D => store!(self.a, absx);
                0x86 => store!(self.x, zp); 0x8E => store!(self.x, abs);
                0x84 => store!(self.y, zp); 0x8C => store!(self.y, abs); 0x94 => store!(self.y, zpx);
                0xC5 => with!(compare_a zp); 0xC9 => with!(compare_a imm); 0xCD => with!(compare_a abs);
                0xD1 => with!(compare_a indy); 0xD5 => with!(compare_a zpx);
                0xD9 => with!(compare_a absy); 0xDD => with!(compare_a absx);
                0xE0 => with!(compare_x imm); 0xE4 => with!(compare_x zp); 0xEC => with!(compare_x abs);
                0xC0 => with!(compare_y imm); 0xC4 => with!(compare_y zp); 0xCC => with!(compare_y abs);
                0x24 => with!(bit zp); 0x2C => with!(bit abs);
                0x06 => modify!(shift_left zp); 0x16 => modify!(shift_left zpx);
                0x26 => modify!(rotate_left zp); 0x36 => modify!(rotate_left zpx);
                0x46 => modify!(shift_right zp); 0x56 => modify!(shift_right zpx);
                0x66 => modify!(rotate_right zp); 0x76 => modify!(rotate_right zpx);
                0xC6 => modify!(decrement zp); 0xD6 => modify!(decrement zpx);
                0xE6 => modify!(increment zp); 0xF6 => modify!(increment zpx);
                0x0A => self.a = self.shift_left(self.a);
                0x2A => self.a = self.rotate_left(self.a);
                0x4A => self.a = self.shift_right(self.a);
                0x6A => self.a = self.rotate_right(self.a);
                0xE8 => self.x = self.increment(self.x);
                0xC8 => self.y = self.increment(self.y);
                0xCA => self.x = self.decrement(self.x);
                0x88 => self.y = self.decrement(self.y);
                0xAA => self.load_x(self.a);
                0xA8 => self.load_y(self.a);
                0x8A => self.load_a(self.x);
                0x98 => self.load_a(self.y);
                0xBA => self.load_x(self.sp);
                0x9A => self.sp = self.x;
                0x18 => self.carry = false;
                0x38 => self.carry = true;
                0xB8 => self.overflow = 0;
                0xD8 => self.decimal = false;
                0xF8 => self.decimal = true;
                0x10 => self.branch(bus, byte as i8, !self.is_negative());
                0x30 => self.branch(bus, byte as i8, self.is_negative());
                0x50 => self.branch(bus, byte as i8, self.overflow & 0x80 == 0);
                0x70 => self.branch(bus, byte as i8, self.overflow & 0x80 != 0);
                0x90 => self.branch(bus, byte as i8, !self.carry);
                0xB0 => self.branch(bus, byte as i8, self.carry);
                0xD0 => self.branch(bus, byte as i8, !self.is_zero());
                0xF0 => self.branch(bus, byte as i8, self.is_zero());
                0x4C => self.jump(bus, word);
                0x20 => self.call(bus, word);
                0x60 => self.return_from_call(bus, byte);
                0x08 => self.push(bus, self.status());
                0x28 => { let status = self.pull(bus, byte); self.set_status(status) };
                0x48 => self.push(bus, self.a);
                0x68 => { let value = self.pull(bus, byte); self.load_a(value) };
                0xEA => ();
            }
            seldom {
                0x01 => with!(or indx); 0x21 => with!(and indx); 0x41 => with!(exclusive_or indx);
                0x61 => with!(add indx); 0xE1 => with!(subtract indx); 0xC1 => with!(compare_a indx);
                0xA1 => with!(load_a indx); 0x81 => store!(self.a, indx);
                0xB1 => with!(load_a indy); 0xB6 => with!(load_x zpy); 0x96 => store!(self.x, zpy);
                0x0E => modify!(shift_left abs); 0x1E => modify!(shift_left absx);
                0x2E => modify!(rotate_left abs); 0x3E => modify!(rotate_left absx);
                0x4E => modify!(shift_right abs); 0x5E => modify!(shift_right absx);
                0x6E => modify!(rotate_right abs); 0x7E => modify!(rotate_right absx);
                0xCE => modify!(decrement abs); 0xDE => modify!(decrement absx);
                0xEE => modify!(increment abs); 0xFE => modify!(increment absx);
                0x58 => self.interrupt = false;
                0x78 => self.interrupt = true;
                0x6C => self.jump_indirect(bus, word);
                0x40 => self.return_from_interrupt(bus, byte);
                BRK => self.software_interrupt(bus);
                // Undocumented from here on.
                0xA3 => with!(load_a_and_x indx); 0xA7 => with!(load_a_and_x zp); 0xAF => with!(load_a_and_x abs);
                0xB3 => with!(load_a_and_x indy); 0xB7 => with!(load_a_and_x zpy); 0xBF => with!(load_a_and_x absy);
                0x83 => store!(self.a & self.x, indx); 0x87 => store!(self.a & self.x, zp);
                0x8F => store!(self.a & self.x, abs); 0x97 => store!(self.a & self.x, zpy);
                0xC3 => both!(decrement_compare indx); 0xC7 => both!(decrement_compare zp); 0xCF => both!(decrement_compare abs);
                0xD3 => both!(decrement_compare indy); 0xD7 => both!(decrement_compare zpx);
                0xDB => both!(decrement_compare absy); 0xDF => both!(decrement_compare absx);
                0xE3 => both!(increment_subtract indx); 0xE7 => both!(increment_subtract zp); 0xEF => both!(increment_subtract abs);
                0xF3 => both!(increment_subtract indy); 0xF7 => both!(increment_subtract zpx);
                0xFB => both!(increment_subtract absy); ISB_ABSX => both!(increment_subtract absx);
                0x03 => both!(shift_left_or indx); 0x07 => both!(shift_left_or zp); 0x0F => both!(shift_left_or abs);
                0x13 => both!(shift_left_or indy); 0x17 => both!(shift_left_or zpx);
                0x1B => both!(shift_left_or absy); 0x1F => both!(shift_left_or absx);
                0x23 => both!(rotate_left_and indx); 0x27 => both!(rotate_left_and zp); 0x2F => both!(rotate_left_and abs);
                0x33 => both!(rotate_left_and indy); 0x37 => both!(rotate_left_and zpx);
                0x3B => both!(rotate_left_and absy); 0x3F => both!(rotate_left_and absx);
                0x43 => both!(shift_right_exclusive_or indx); 0x47 => both!(shift_right_exclusive_or zp);
                0x4F => both!(shift_right_exclusive_or abs); 0x53 => both!(shift_right_exclusive_or indy);
                0x57 => both!(shift_right_exclusive_or zpx); 0x5B => both!(shift_right_exclusive_or absy);
                0x5F => both!(shift_right_exclusive_or absx);
                0x63 => both!(rotate_right_add indx); 0x67 => both!(rotate_right_add zp); 0x6F => both!(rotate_right_add abs);
                0x73 => both!(rotate_right_add indy); 0x77 => both!(rotate_right_add zpx);
                0x7B => both!(rotate_right_add absy); 0x7F => both!(rotate_right_add absx);
                0x0B => { with!(and imm); self.carry = self.is_negative() };
                0x4B => { with!(and imm); self.a = self.shift_right(self.a) };
                0x6B => with!(and_rotate_right imm);
                0xAB => { with!(and imm); self.x = self.a };
                0xCB => with!(subtract_from_both imm);
                0x8B => self.load_a(self.x & byte);
                0xBB => { let value = operand!(absy) & self.sp; self.sp = value; self.load_a_and_x(value) };
                0x9B => { self.sp = self.a & self.x; high!(self.sp, absy) };
                0x9C => high!(self.y, absx);
                0x9E => high!(self.x, absy);
                0x9F => high!(self.a & self.x, absy);
                0x93 => high!(self.a & self.x, indy);
                // Instructions that do nothing, but may read.
                0x80 => ();
                0x04 => { operand!(zp); };
                0x14 => { operand!(zpx); };
                0x0C => { operand!(abs); };
                0x1C => { operand!(absx); };
                // The chip locks up: the program stands still on this instruction.
                0x02 => { self.at = self.at.wrapping_sub(1); self.has_few_left() };
            }
            // All numbers are named, so that the compiler need not check them.
            never {
                ELSEWHERE CUT 0x92 0xB2 0xD2 0xF2 0xEB 0x2B 0x82 0x89 0xC2 0xE2 0x44 0x64 0x34 0x54 0x74 0xD4 0xF4
                0x3C 0x5C 0x7C 0xDC 0xFC 0x1A 0x3A 0x5A 0x7A 0xDA 0xFA
            }
            }
            if ONE {
                break;
            }
            place = bus.cartridge.place(self.at);
        }
    }
}
