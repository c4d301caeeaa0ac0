//! The 6532 (RIOT): the timer and the two ports. Its 128 bytes of memory are in [`Bus`](super::bus::Bus), which reads them
//! on its fast path.

use super::tape::Tape;

/// The timer and the ports.
#[derive(Clone, Default)]
pub(super) struct Riot {
    /// What the program wrote into the timer.
    start: u8,
    /// The timer counts down once in `1 << shift` cycles: 1, 8, 64 or 1024.
    shift: u8,
    /// The clock at which it was written.
    written_at: u64,
    /// Whether it was read since it fell below zero, and how many cycles after that.
    read_below_zero: bool,
    cycles_below_zero: u8,
    /// Which bits of port A are outputs, and what the program put there.
    direction_a: u8,
    output_a: u8,
    direction_b: u8,
    output_b: u8,
}

impl Riot {
    /// Power on: the timer runs with the divider of 64 from a value that ALE draws.
    pub(super) fn reset(&mut self, timer: u8, clock: u64) {
        *self = Self { start: timer, shift: 6, written_at: clock, ..Self::default() };
    }

    #[inline]
    pub(super) fn read(&mut self, address: u16, clock: u64, switches: [u8; 2]) -> u8 {
        match address & 7 {
            0 => self.output_a & self.direction_a | switches[0] & !self.direction_a,
            1 => self.direction_a,
            2 => self.output_b & self.direction_b | switches[1] & !self.direction_b,
            3 => self.direction_b,
            4 | 6 => self.timer(clock),
            _ => self.timer_status(clock),
        }
    }

    pub(super) fn write(&mut self, address: u16, value: u8, clock: u64) {
        if address & 0x14 == 0x14 {
            self.start = value;
            self.shift = [0, 3, 6, 10][usize::from(address & 3)];
            self.written_at = clock;
            self.read_below_zero = false;
        } else if address & 4 == 0 {
            match address & 3 {
                0 => self.output_a = value,
                1 => self.direction_a = value,
                2 => self.output_b = value,
                _ => self.direction_b = value,
            }
        }
    }

    /// The timer counts down for the first time in the cycle after it was written.
    ///
    /// On the chip it counts every cycle once it is below zero, until it is read. ALE takes the cycles from zero to that
    /// read off the count, then and from then on, and otherwise goes on with the divider. A read in the very first of these
    /// cycles does not count.
    #[inline]
    fn timer(&mut self, clock: u64) -> u8 {
        let count = self.count(clock);
        if count >= 0 {
            return count as u8;
        }
        if !self.read_below_zero {
            let cycles = clock - self.written_at - 1 - (u64::from(self.start) << self.shift);
            self.read_below_zero = cycles > 0;
            self.cycles_below_zero = cycles as u8;
        }
        (count as u8).wrapping_sub(self.cycles_below_zero)
    }

    /// The clock at which the timer comes to zero, if it is above now and stays at zero for more than `least` cycles.
    pub(super) fn zero_at(&self, clock: u64, least: u64) -> Option<u64> {
        let above = self.count(clock) > 0 && 1 << self.shift > least;
        above.then(|| self.written_at + 1 + ((u64::from(self.start) - 1) << self.shift))
    }

    /// The clock at which the timer falls below zero, if it reads as a positive number until then.
    pub(super) fn below_zero_at(&self, clock: u64) -> Option<u64> {
        let positive = (0..128).contains(&self.count(clock));
        positive.then(|| self.written_at + 1 + (u64::from(self.start) << self.shift))
    }

    /// Bit 7 is set from zero on, until the timer is read.
    fn timer_status(&self, clock: u64) -> u8 {
        if self.count(clock) < 0 && !self.read_below_zero { 0x80 } else { 0 }
    }

    #[inline]
    fn count(&self, clock: u64) -> i64 {
        i64::from(self.start) - 1 - (((clock - self.written_at) as i64 - 1) >> self.shift)
    }

    /// Whether the clock of a state that was restored can be.
    pub(super) fn is_before(&self, clock: u64) -> bool {
        self.written_at <= clock
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.byte(&mut self.start);
        tape.byte(&mut self.shift);
        self.shift = self.shift.min(10);
        tape.long(&mut self.written_at);
        tape.flag(&mut self.read_below_zero);
        tape.byte(&mut self.cycles_below_zero);
        tape.byte(&mut self.direction_a);
        tape.byte(&mut self.output_a);
        tape.byte(&mut self.direction_b);
        tape.byte(&mut self.output_b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INTIM, and the write to TIM8T.
    const TIMER: u16 = 0x284;
    const BY_EIGHT: u16 = 0x295;

    /// What is read at these clocks of a timer that was set to 2 at clock 0 and falls below zero at clock 17.
    fn reads<const N: usize>(clocks: [u64; N]) -> [u8; N] {
        let mut riot = Riot::default();
        riot.write(BY_EIGHT, 2, 0);
        clocks.map(|clock| riot.read(TIMER, clock, [0xFF; 2]))
    }

    #[test]
    fn the_first_read_below_zero_is_taken_off_the_timer() {
        assert_eq!(reads([1, 8, 9, 16]), [1, 1, 0, 0]);
        assert_eq!(reads([18, 19, 25]), [0xFE, 0xFE, 0xFD]);
        assert_eq!(reads([20, 25]), [0xFC, 0xFB]);
    }

    #[test]
    fn a_read_in_the_first_cycle_below_zero_does_not_count() {
        assert_eq!(reads([17, 18, 25]), [0xFF, 0xFE, 0xFD]);
        assert_eq!(reads([17, 20, 25]), [0xFF, 0xFC, 0xFB]);
    }
}
