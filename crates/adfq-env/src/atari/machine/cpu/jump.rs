//! Where the program goes on: branches, jumps, calls, and loops that wait for the timer.

use super::{ADDRESSES, Bus, Cpu, MANY, MOST, Operand};

/// Cycles of a load from INTIM and a branch back to it.
const ROUND: u64 = 7;

impl Cpu {
    /// The program counter.
    #[inline(always)]
    pub(super) fn pc(&self) -> u16 {
        self.high | self.at & (ADDRESSES - 1)
    }

    /// The program goes on there. Whether to stop, as for all jumps.
    #[inline(always)]
    pub(super) fn jump(&mut self, bus: &Bus, pc: u16) -> bool {
        self.high = pc & !(ADDRESSES - 1);
        self.at = bus.cartridge.at(pc);
        self.has_few_left()
    }

    /// Whether it is time to look how many instructions are left. After jumps is often enough.
    #[inline(always)]
    pub(super) fn has_few_left(&self) -> bool {
        self.time.instructions() > MOST - MANY
    }

    #[inline(always)]
    pub(super) fn branch(&mut self, bus: &mut Bus, offset: i8, taken: bool) -> bool {
        if !taken {
            return false;
        }
        let target = self.at.wrapping_add_signed(offset.into());
        let crosses = (target ^ self.at) & 0xFF00 != 0;
        self.time.pass(1 + u64::from(crosses), 0);
        if crosses {
            self.jump(bus, self.pc().wrapping_add_signed(offset.into()));
        } else {
            self.at = target;
        }
        if offset == -5 {
            self.skip_waiting(bus);
        }
        self.has_few_left()
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
    fn skip_waiting(&mut self, bus: &mut Bus) {
        let start = self.pc();
        let rounds = Self::waiting(bus, start, self.clock(), MOST - self.time.instructions());
        if rounds > 0 {
            let crosses = (start ^ start.wrapping_add(5)) & 0xFF00 != 0;
            let rounds = u64::from(rounds);
            self.time.pass(rounds * (ROUND + u64::from(crosses)), 2 * rounds);
        }
    }

    #[inline(always)]
    pub(super) fn software_interrupt(&mut self, bus: &mut Bus) -> bool {
        let over = self.push_word(bus, self.pc().wrapping_add(1)) | self.push(bus, self.status());
        self.interrupt = true;
        let target = bus.read_vector(0xFFFE, self.clock());
        self.jump(bus, target) | over
    }

    #[inline(always)]
    pub(super) fn call(&mut self, bus: &mut Bus, target: u16) -> bool {
        // What is pushed is the address of the last byte of the instruction.
        let over = self.push_word(bus, self.pc().wrapping_sub(1));
        self.jump(bus, target) | over
    }

    #[inline(always)]
    pub(super) fn return_from_call(&mut self, bus: &mut Bus, lines: u8) -> bool {
        let low = self.pull(bus, lines);
        let target = u16::from_le_bytes([low, self.pull_next(bus, low)]);
        self.jump(bus, target.wrapping_add(1))
    }

    #[inline(always)]
    pub(super) fn return_from_interrupt(&mut self, bus: &mut Bus, lines: u8) -> bool {
        let status = self.pull(bus, lines);
        self.set_status(status);
        let target = self.pull_word_next(bus, status);
        self.jump(bus, target)
    }

    /// The chip does not carry into the high byte of the pointer.
    #[inline(always)]
    pub(super) fn jump_indirect(&mut self, bus: &mut Bus, pointer: u16) -> bool {
        let [low, high] = pointer.to_le_bytes();
        let target = [low, low.wrapping_add(1)]
            .map(|low| self.read(bus, Operand::new(u16::from_le_bytes([low, high]), high)));
        self.jump(bus, u16::from_le_bytes(target))
    }
}
