//! The Mersenne Twister MT19937, from which ALE fills the memory at power on and sets the timer at every reset.

use super::tape::Tape;

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// The generator: Matsumoto and Nishimura, 1998.
#[derive(Clone)]
pub(super) struct MersenneTwister {
    words: [u32; WORDS],
    next: u16,
}

impl MersenneTwister {
    pub(super) fn new(seed: u32) -> Self {
        let mut words = [seed; WORDS];
        for i in 1..WORDS {
            let last = words[i - 1];
            words[i] = (last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Self { words, next: WORDS as u16 }
    }

    pub(super) fn draw(&mut self) -> u32 {
        if usize::from(self.next) == WORDS {
            self.twist();
        }
        let mut word = self.words[usize::from(self.next)];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9D2C_5680;
        word ^= word << 15 & 0xEFC6_0000;
        word ^ word >> 18
    }

    fn twist(&mut self) {
        for i in 0..WORDS {
            let both = self.words[i] & 0x8000_0000 | self.words[(i + 1) % WORDS] & 0x7FFF_FFFF;
            let odd = if both & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.words[i] = self.words[(i + MIDDLE) % WORDS] ^ both >> 1 ^ odd;
        }
        self.next = 0;
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        for word in &mut self.words {
            tape.double(word);
        }
        tape.word(&mut self.next);
        self.next = self.next.min(WORDS as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C++ standard fixes the ten thousandth draw from the seed 5489.
    #[test]
    fn the_ten_thousandth_draw_is_that_of_the_standard() {
        let mut random = MersenneTwister::new(5489);
        let last = (0..10_000).map(|_| random.draw()).last();
        assert_eq!(last, Some(4_123_659_995));
    }
}
