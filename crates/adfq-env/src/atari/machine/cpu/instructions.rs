//! What each instruction does, and how one leads to the next.

use super::place::{
    CUT, ELSEWHERE, LOAD_A_AT, STORE_A_TIA, STORE_X_TIA, STORE_Y_TIA, WAIT, cycles, length, pairs,
};
use super::{Cpu, Operand, Place, Running, Stop, Time};

/// An instruction. It is given the registers of [`Running`], and the two bytes after the opcode. The last thing that it does is to call the next, which
/// the compiler makes a jump. So each instruction has a jump of its own, and the processor that this program runs on learns what
/// follows on what. Where the compiler makes no jump of it nothing is lost but time, because every so often one returns.
type Instruction = fn(&mut Cpu, u8, u16, Time, u16, u16);

/// An instruction for each number.
macro_rules! table {
    ($instruction:ident) => {
        table!($instruction:
            0x00 0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 0x09 0x0A 0x0B 0x0C 0x0D 0x0E 0x0F
            0x10 0x11 0x12 0x13 0x14 0x15 0x16 0x17 0x18 0x19 0x1A 0x1B 0x1C 0x1D 0x1E 0x1F
            0x20 0x21 0x22 0x23 0x24 0x25 0x26 0x27 0x28 0x29 0x2A 0x2B 0x2C 0x2D 0x2E 0x2F
            0x30 0x31 0x32 0x33 0x34 0x35 0x36 0x37 0x38 0x39 0x3A 0x3B 0x3C 0x3D 0x3E 0x3F
            0x40 0x41 0x42 0x43 0x44 0x45 0x46 0x47 0x48 0x49 0x4A 0x4B 0x4C 0x4D 0x4E 0x4F
            0x50 0x51 0x52 0x53 0x54 0x55 0x56 0x57 0x58 0x59 0x5A 0x5B 0x5C 0x5D 0x5E 0x5F
            0x60 0x61 0x62 0x63 0x64 0x65 0x66 0x67 0x68 0x69 0x6A 0x6B 0x6C 0x6D 0x6E 0x6F
            0x70 0x71 0x72 0x73 0x74 0x75 0x76 0x77 0x78 0x79 0x7A 0x7B 0x7C 0x7D 0x7E 0x7F
            0x80 0x81 0x82 0x83 0x84 0x85 0x86 0x87 0x88 0x89 0x8A 0x8B 0x8C 0x8D 0x8E 0x8F
            0x90 0x91 0x92 0x93 0x94 0x95 0x96 0x97 0x98 0x99 0x9A 0x9B 0x9C 0x9D 0x9E 0x9F
            0xA0 0xA1 0xA2 0xA3 0xA4 0xA5 0xA6 0xA7 0xA8 0xA9 0xAA 0xAB 0xAC 0xAD 0xAE 0xAF
            0xB0 0xB1 0xB2 0xB3 0xB4 0xB5 0xB6 0xB7 0xB8 0xB9 0xBA 0xBB 0xBC 0xBD 0xBE 0xBF
            0xC0 0xC1 0xC2 0xC3 0xC4 0xC5 0xC6 0xC7 0xC8 0xC9 0xCA 0xCB 0xCC 0xCD 0xCE 0xCF
            0xD0 0xD1 0xD2 0xD3 0xD4 0xD5 0xD6 0xD7 0xD8 0xD9 0xDA 0xDB 0xDC 0xDD 0xDE 0xDF
            0xE0 0xE1 0xE2 0xE3 0xE4 0xE5 0xE6 0xE7 0xE8 0xE9 0xEA 0xEB 0xEC 0xED 0xEE 0xEF
            0xF0 0xF1 0xF2 0xF3 0xF4 0xF5 0xF6 0xF7 0xF8 0xF9 0xFA 0xFB 0xFC 0xFD 0xFE 0xFF
        )
    };
    ($instruction:ident: $($what:literal)+) => { [$($instruction::<$what>),+] };
}

/// Each instruction by its number, for both ways to run it. The slow way has no two in one.
static FAST: [Instruction; 256] = {
    macro_rules! with {
        ($($both:literal: $first:tt $second:tt,)+) => {{
            let mut all: [Instruction; 256] = table!(fast);
            $(all[$both] = two::<$first, $second>;)+
            all
        }};
    }
    pairs!(with)
};
static SLOW: [Instruction; 256] = {
    macro_rules! with {
        ($($both:literal: $first:tt $second:tt,)+) => {{
            let mut all: [Instruction; 256] = table!(slow);
            $(all[$both] = slow::<$first>;)+
            all
        }};
    }
    pairs!(with)
};

/// The fast way: an instruction, and those that follow.
fn fast<const WHAT: u8>(cpu: &mut Cpu, a: u8, at: u16, time: Time, result: u16, word: u16) {
    if WHAT == ELSEWHERE || WHAT == CUT {
        return slow::<WHAT>(cpu, a, at, time, result, word);
    }
    let mut running = Running::<true> { cpu, a, at, time, result };
    match running.act::<WHAT>(word) {
        Ok(()) => running.go_on(),
        Err(Stop::Pause) => running.put_away(),
        Err(Stop::Elsewhere) => slow::<WHAT>(running.cpu, a, at, time, result, word),
    }
}

/// The fast way for two in one. It is given the byte after the opcode of each.
fn two<const FIRST: u8, const SECOND: u8>(
    cpu: &mut Cpu,
    a: u8,
    at: u16,
    time: Time,
    result: u16,
    bytes: u16,
) {
    let [first, second] = bytes.to_le_bytes();
    let mut running = Running::<true> { cpu, a, at, time, result };
    match running.act::<FIRST>(first.into()) {
        Ok(()) => {
            let Running { cpu, a, at, time, result } = running;
            fast::<SECOND>(cpu, a, at, time, result, second.into());
        }
        Err(Stop::Pause) => running.put_away(),
        Err(Stop::Elsewhere) => slow::<FIRST>(running.cpu, a, at, time, result, first.into()),
    }
}

/// The slow way: an instruction that may do anything. The fast way is taken again after it, unless it is to be the only one.
#[inline(never)]
fn slow<const WHAT: u8>(cpu: &mut Cpu, a: u8, at: u16, time: Time, result: u16, word: u16) {
    let mut running = Running::<false> { cpu, a, at, time, result };
    if WHAT == ELSEWHERE || WHAT == CUT {
        running.put_away();
        running.cpu.settle();
        running.take_up();
        let place = running.fetch();
        return running.go_to(place, &SLOW);
    }
    // Nothing is left to an even slower way, and whether to pause is asked here.
    let _ = running.act::<WHAT>(word);
    if running.bus.tia.is_over() || running.pause().is_err() {
        running.put_away();
    } else {
        let Running { cpu, a, at, time, result } = running;
        Running::<true> { cpu, a, at, time, result }.go_on();
    }
}

/// What comes of an instruction. Most cannot stop.
trait Outcome {
    fn outcome(self) -> Result<(), Stop>;
}

impl Outcome for () {
    #[inline(always)]
    fn outcome(self) -> Result<(), Stop> {
        Ok(())
    }
}

impl Outcome for Result<(), Stop> {
    #[inline(always)]
    fn outcome(self) -> Result<(), Stop> {
        self
    }
}

impl<const FAST_WAY: bool> Running<'_, FAST_WAY> {
    /// The instruction where the program is and, unless it is to be the only one, those that follow.
    #[inline(always)]
    pub(super) fn go_on(mut self) {
        // A compiler that does not optimise makes no jump of a call.
        if cfg!(debug_assertions) && FAST_WAY && self.pause().is_err() {
            return self.put_away();
        }
        let place = self.bus.cartridge.place(self.at);
        self.go_to(place, if FAST_WAY { &FAST } else { &SLOW });
    }

    #[inline(always)]
    fn go_to(self, place: Place, instructions: &[Instruction; 256]) {
        let Self { cpu, a, at, time, result } = self;
        instructions[usize::from(place.what())](cpu, a, at, time, result, place.operand());
    }

    /// The instruction with this number, and these two bytes after the opcode.
    #[inline(always)]
    #[rustfmt::skip]
    fn act<const WHAT: u8>(&mut self, word: u16) -> Result<(), Stop> {
        let byte = word as u8;
        // Where the operand is, by its mode.
        macro_rules! target {
            (zp) => { Operand::zero_page(byte, 0) };
            (zpx) => { Operand::zero_page(byte, self.x) };
            (zpy) => { Operand::zero_page(byte, self.y) };
            (abs) => { Operand::indexed(word, 0) };
            (absx) => { Operand::indexed(word, self.x) };
            (absy) => { Operand::indexed(word, self.y) };
            (indx) => { self.indirect_x(byte)? };
            (indy) => { self.indirect_y(byte)? };
            (memory) => { Operand::indexed(self.bus.memory_word(byte), self.y) };
        }
        // The operand itself, for instructions that read it.
        macro_rules! operand {
            (imm) => { byte };
            (zp) => { self.read_page(target!(zp))? };
            (zpx) => { self.read_page(target!(zpx))? };
            (zpy) => { self.read_page(target!(zpy))? };
            ($mode:ident) => {{ let operand = target!($mode); self.crossing(operand); self.read(operand)? }};
        }
        macro_rules! with {
            ($do:ident $mode:ident) => {{ let value = operand!($mode); self.$do(value) }};
        }
        macro_rules! store {
            ($value:expr, zp) => {{ let to = target!(zp).address; self.write_page(to, $value) }};
            ($value:expr, zpx) => {{ let to = target!(zpx).address; self.write_page(to, $value) }};
            ($value:expr, $mode:ident) => {{ let to = target!($mode).address; self.write(to, $value) }};
        }
        macro_rules! modify {
            ($do:ident $mode:ident) => {{ let operand = target!($mode); self.modify(operand, Self::$do)?; }};
        }
        macro_rules! both {
            ($do:ident $mode:ident) => {{ let operand = target!($mode); self.$do(operand) }};
        }
        macro_rules! high {
            ($value:expr, $mode:ident) => {{ let to = target!($mode).address; self.store_high(to, $value) }};
        }
        macro_rules! instructions {
            ($($what:tt => $do:expr;)+) => {
                match WHAT {
                    $($what => {
                        self.time = self.time.after(const { cycles($what) as u64 }, 1);
                        self.at = self.at.wrapping_add(const { length($what) as u16 });
                        Outcome::outcome($do)
                    })+
                    // No place has one of these numbers.
                    _ => Ok(()),
                }
            };
        }
        instructions! {
            STORE_A_TIA => self.write_tia(byte, self.a);
            STORE_X_TIA => self.write_tia(byte, self.x);
            STORE_Y_TIA => self.write_tia(byte, self.y);
            WAIT => self.wait();
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
            0x10 => self.branch_or_wait(byte as i8, !self.is_negative());
            0x30 => self.branch(byte as i8, self.is_negative());
            0x50 => self.branch(byte as i8, self.overflow & 0x80 == 0);
            0x70 => self.branch(byte as i8, self.overflow & 0x80 != 0);
            0x90 => self.branch(byte as i8, !self.carry);
            0xB0 => self.branch(byte as i8, self.carry);
            0xD0 => self.branch_or_wait(byte as i8, !self.is_zero());
            0xF0 => self.branch(byte as i8, self.is_zero());
            0x4C => self.jump(word);
            0x20 => self.call(word);
            0x60 => self.return_from_call(byte);
            0x08 => self.push(self.status());
            0x28 => { let [status] = self.pull(byte)?; self.set_status(status) };
            0x48 => self.push(self.a);
            0x68 => { let [value] = self.pull(byte)?; self.load_a(value) };
            0xEA => ();
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
            0x6C => self.jump_indirect(word);
            0x40 => self.return_from_interrupt(byte);
            0x00 => self.software_interrupt();
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
            0xFB => both!(increment_subtract absy); 0xFF => both!(increment_subtract absx);
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
            0x02 => { self.at = self.at.wrapping_sub(1); self.pause() };
        }
    }
}
