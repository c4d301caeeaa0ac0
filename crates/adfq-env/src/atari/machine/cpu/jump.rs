//! Where the program goes on: branches, jumps, calls, and loops that wait for the timer.

use super::time::Time;
use super::{ADDRESSES, Bus, MOST, Operand, Running, Stop};

/// Cycles of a load from INTIM and a branch back to it.
const ROUND: u64 = 7;
/// How far the branch goes.
const WAITS: i8 = -5;

impl<const FAST: bool> Running<'_, FAST> {
    /// The program goes on there.
    #[inline(always)]
    pub(super) fn jump(&mut self, pc: u16) -> Result<(), Stop> {
        self.high = pc & !(ADDRESSES - 1);
        self.at = self.bus.cartridge.at(pc);
        self.pause()
    }

    /// Whether enough instructions followed on each other. Jumps ask for it.
    #[inline(always)]
    pub(super) fn pause(&self) -> Result<(), Stop> {
        if self.time.instructions() >= self.pause { Err(Stop::Pause) } else { Ok(()) }
    }

    #[inline(always)]
    pub(super) fn branch(&mut self, offset: i8, taken: bool) -> Result<(), Stop> {
        if !taken {
            return Ok(());
        }
        self.follow(offset)?;
        self.pause()
    }

    /// A branch that may be the end of a loop that waits.
    #[inline(always)]
    pub(super) fn branch_or_wait(&mut self, offset: i8, taken: bool) -> Result<(), Stop> {
        if !taken || offset != WAITS {
            return self.branch(offset, taken);
        }
        if FAST {
            return Err(Stop::Elsewhere);
        }
        self.follow(offset)?;
        self.time = Self::waiting(&self.bus, self.pc(), self.time);
        self.pause()
    }

    /// The program goes on so many bytes further.
    #[inline(always)]
    fn follow(&mut self, offset: i8) -> Result<(), Stop> {
        let target = self.at.wrapping_add_signed(offset.into());
        let crosses = (target ^ self.at) & 0xFF00 != 0;
        self.time = self.time.after(1 + u64::from(crosses), 0);
        if crosses {
            return self.jump(self.pc().wrapping_add_signed(offset.into()));
        }
        self.at = target;
        Ok(())
    }

    /// Programs wait for the timer in a loop of two instructions: load INTIM, branch back. This passes over all rounds that
    /// branch back again, and changes nothing but the clock and the count of instructions. The last round runs as usual.
    #[inline(never)]
    fn waiting(bus: &Bus, start: u16, time: Time) -> Time {
        let [load, low, high, branch] = [0, 1, 2, 3].map(|i| bus.peek(start.wrapping_add(i)));
        let loads = matches!(load, 0xAC..=0xAE);
        if !loads || [low, high] != [0x84, 0x02] {
            return time;
        }
        let crosses = (start ^ start.wrapping_add(5)) & 0xFF00 != 0;
        let round = ROUND + u64::from(crosses);
        // BNE waits for zero, BPL for what comes after it.
        let clock = time.clock();
        let ends = match branch {
            0xD0 => bus.riot.zero_at(clock, round),
            0x10 => bus.riot.below_zero_at(clock),
            _ => None,
        };
        // The next read is at the end of the load.
        let rounds = ends.map_or(0, |end| end.saturating_sub(clock + 4 + 1) / round);
        let rounds = rounds.min(u64::from((MOST - time.instructions()) / 2));
        time.after(rounds * round, 2 * rounds)
    }

    #[inline(always)]
    pub(super) fn software_interrupt(&mut self) -> Result<(), Stop> {
        if FAST {
            return Err(Stop::Elsewhere);
        }
        self.push_word(self.pc().wrapping_add(1))?;
        self.push(self.status())?;
        self.interrupt = true;
        let clock = self.clock();
        let target = self.bus.read_vector(0xFFFE, clock);
        self.jump(target)
    }

    #[inline(always)]
    pub(super) fn call(&mut self, target: u16) -> Result<(), Stop> {
        // What is pushed is the address of the last byte of the instruction.
        self.push_word(self.pc().wrapping_sub(1))?;
        self.jump(target)
    }

    #[inline(always)]
    pub(super) fn return_from_call(&mut self, lines: u8) -> Result<(), Stop> {
        let target = u16::from_le_bytes(self.pull(lines)?);
        self.jump(target.wrapping_add(1))
    }

    #[inline(always)]
    pub(super) fn return_from_interrupt(&mut self, lines: u8) -> Result<(), Stop> {
        let [status, low, high] = self.pull(lines)?;
        self.set_status(status);
        self.jump(u16::from_le_bytes([low, high]))
    }

    /// The chip does not carry into the high byte of the pointer.
    #[inline(always)]
    pub(super) fn jump_indirect(&mut self, pointer: u16) -> Result<(), Stop> {
        let [low, high] = pointer.to_le_bytes();
        let next = u16::from_le_bytes([low.wrapping_add(1), high]);
        let target = [self.read(Operand::new(pointer, high))?, self.read(Operand::new(next, high))?];
        self.jump(u16::from_le_bytes(target))
    }
}
