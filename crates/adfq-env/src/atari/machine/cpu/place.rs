//! What is at an address: a byte, and the instruction that starts with it.

/// An instruction as the processor runs it: a byte that says what to do, and the two bytes after the opcode.
///
/// What to do is the opcode itself for nearly all of them. Many opcodes of the chip do what another does; their numbers are free,
/// and stand for instructions about whose operand more is known, and for two in one.
#[derive(Clone, Copy)]
#[repr(align(4))]
pub(in super::super) struct Place {
    what: u8,
    byte: u8,
    operand: u16,
}

/// Nothing is known: reading the byte, or one of those after it, may have an effect.
pub(super) const ELSEWHERE: u8 = 0x12;
/// Reading the byte has no effect, but the instruction is not known.
pub(super) const CUT: u8 = 0x22;
/// Stores in a register of the TIA, and in the one that stops the processor.
pub(super) const STORE_A_TIA: u8 = 0x32;
pub(super) const STORE_X_TIA: u8 = 0x42;
pub(super) const STORE_Y_TIA: u8 = 0x52;
pub(super) const WAIT: u8 = 0x62;
/// LDA (pointer),Y where the pointer is in memory.
pub(super) const LOAD_A_AT: u8 = 0x72;

/// Two instructions in one: a number, and what each of them does. These are among the pairs that programs run most often, counted over 49
/// games. Neither has more than one byte after its opcode, and the first is no jump.
macro_rules! pairs {
    ($with:ident) => {
        $with! {
            0x92: LOAD_A_AT STORE_A_TIA,
            0xB2: 0xA9 STORE_A_TIA,
            0xD2: 0xA5 STORE_A_TIA,
            0xF2: 0xCA 0x10,
            0x1A: 0x88 0x10,
            0x3A: 0xCA 0xD0,
            0x5A: 0x88 0xD0,
            0x7A: 0xEA 0xEA,
            0xDA: 0x4A 0x4A,
            0xFA: 0x0A 0x0A,
            0x34: 0x38 0xE5,
            0x54: 0xE5 0xC9,
            0x74: 0xC9 0x90,
            0xD4: 0xC9 0xB0,
            0xF4: 0xC9 0xF0,
            0x44: 0xC0 0xB0,
            0x64: 0xC4 0xD0,
            0x82: 0xA8 LOAD_A_AT,
            0x89: STORE_A_TIA STORE_A_TIA,
        }
    };
}
pub(super) use pairs;

/// The register of the TIA that stops the processor.
const WSYNC: u8 = 0x02;

/// Bytes of what may be put together.
pub(in super::super) const LONGEST: usize = 4;

impl Place {
    pub(in super::super) const ELSEWHERE: Self = Self { what: ELSEWHERE, byte: 0, operand: 0 };

    /// The instruction with these bytes, of which just so many count as it has.
    pub(in super::super) fn new([opcode, low, high]: [u8; 3]) -> Self {
        Self { what: what(opcode, low), byte: opcode, operand: u16::from_le_bytes([low, high]) }
    }

    /// The same, or two instructions in one if the program goes on with these bytes.
    pub(in super::super) fn with_next(bytes: [u8; LONGEST]) -> Self {
        let [opcode, low, high, last] = bytes;
        let first = Self::new([opcode, low, high]);
        let second = match length(first.what) {
            1 => Self::new([low, high, last]),
            _ => Self::new([high, last, 0]),
        };
        let operands = [first.operand as u8, second.operand as u8];
        match pair(first.what, second.what) {
            Some(what) => Self { what, operand: u16::from_le_bytes(operands), ..first },
            None => first,
        }
    }

    /// From now on nothing is known.
    pub(in super::super) fn hide(&mut self) {
        self.what = ELSEWHERE;
    }

    /// From now on only the byte is known.
    pub(in super::super) fn cut(&mut self) {
        self.what = CUT;
    }

    /// The byte, if reading it has no effect.
    #[inline(always)]
    pub(in super::super) fn plain(self) -> Option<u8> {
        (self.what != ELSEWHERE).then_some(self.byte)
    }

    /// The byte.
    pub(in super::super) fn byte(self) -> u8 {
        self.byte
    }

    /// What to do.
    #[inline(always)]
    pub(super) fn what(self) -> u8 {
        self.what
    }

    /// The two bytes after the opcode.
    #[inline(always)]
    pub(super) fn operand(self) -> u16 {
        self.operand
    }
}

/// The number for both in one, if there is one.
fn pair(first: u8, second: u8) -> Option<u8> {
    macro_rules! find {
        ($($both:literal: $first:tt $second:tt,)+) => {
            match (first, second) {
                $(($first, $second) => Some($both),)+
                _ => None,
            }
        };
    }
    pairs!(find)
}

/// What to do for an opcode, if this byte is its operand.
fn what(opcode: u8, operand: u8) -> u8 {
    match (opcode, operand) {
        (0x84..=0x86, WSYNC | 0x42) => WAIT,
        (0x84, ..0x80) => STORE_Y_TIA,
        (0x85, ..0x80) => STORE_A_TIA,
        (0x86, ..0x80) => STORE_X_TIA,
        (0xB1, 0x80..=0xFE) => LOAD_A_AT,
        _ => same(opcode),
    }
}

/// The opcode that stands for all that do the same.
fn same(opcode: u8) -> u8 {
    match opcode {
        // The chip locks up.
        0x12 | 0x22 | 0x32 | 0x42 | 0x52 | 0x62 | 0x72 | 0x92 | 0xB2 | 0xD2 | 0xF2 => 0x02,
        0xEB => 0xE9,
        0x2B => 0x0B,
        // They do nothing, but may read.
        0x82 | 0x89 | 0xC2 | 0xE2 => 0x80,
        0x44 | 0x64 => 0x04,
        0x34 | 0x54 | 0x74 | 0xD4 | 0xF4 => 0x14,
        0x3C | 0x5C | 0x7C | 0xDC | 0xFC => 0x1C,
        0x1A | 0x3A | 0x5A | 0x7A | 0xDA | 0xFA => 0xEA,
        _ => opcode,
    }
}

/// Cycles of what there is to do, without those for a branch taken or a page crossed.
pub(super) const fn cycles(what: u8) -> u8 {
    match what {
        STORE_A_TIA | STORE_X_TIA | STORE_Y_TIA | WAIT => 3,
        LOAD_A_AT => 5,
        _ => CYCLES[what as usize],
    }
}

/// Bytes of an instruction. The low five bits of an opcode tell its addressing mode, but for some.
pub(super) const fn length(what: u8) -> u8 {
    match what {
        STORE_A_TIA | STORE_X_TIA | STORE_Y_TIA | WAIT | LOAD_A_AT => 2,
        _ => match what & 0x1F {
            0x00 if what == 0x20 => 3,
            0x00 | 0x02 if what >= 0x80 => 2,
            0x00 | 0x02 | 0x08 | 0x0A | 0x12 | 0x18 | 0x1A => 1,
            0x0C..=0x0F | 0x19 | 0x1B..=0x1F => 3,
            _ => 2,
        },
    }
}

/// Cycles of each opcode.
#[rustfmt::skip]
const CYCLES: [u8; 256] = [
    7, 6, 2, 8, 3, 3, 5, 5, 3, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 4, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 3, 2, 2, 2, 3, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    6, 6, 2, 8, 3, 3, 5, 5, 4, 2, 2, 2, 5, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    2, 6, 2, 6, 3, 3, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4,  2, 6, 2, 6, 4, 4, 4, 4, 2, 5, 2, 5, 5, 5, 5, 5,
    2, 6, 2, 6, 3, 3, 3, 3, 2, 2, 2, 2, 4, 4, 4, 4,  2, 5, 2, 5, 4, 4, 4, 4, 2, 4, 2, 4, 4, 4, 4, 4,
    2, 6, 2, 8, 3, 3, 5, 5, 2, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
    2, 6, 2, 8, 3, 3, 5, 5, 2, 2, 2, 2, 4, 4, 6, 6,  2, 5, 2, 8, 4, 4, 6, 6, 2, 4, 2, 7, 4, 4, 7, 7,
];
