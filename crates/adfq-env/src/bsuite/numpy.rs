//! What numpy's `RandomState` draws from a seed, as far as the package's settings fix such draws: the order of a bandit's
//! arms and the actions of DeepSea. Nothing else here draws from it: all other chance comes from the run's own generator.

/// Words of the generator's state.
const WORDS: usize = 624;
/// The word that is mixed in lies this far ahead.
const AHEAD: usize = 397;

/// The generator MT19937 of Matsumoto and Nishimura (1998), seeded by a number as numpy does.
pub(super) struct RandomState {
    words: [u32; WORDS],
    next: usize,
}

impl RandomState {
    pub fn new(seed: u32) -> Self {
        let mut words = [seed; WORDS];
        for i in 1..WORDS {
            let before = words[i - 1];
            words[i] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(i as u32);
        }
        Self { words, next: WORDS }
    }

    /// 32 random bits.
    fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.refill();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn refill(&mut self) {
        for i in 0..WORDS {
            let joined = (self.words[i] & 0x8000_0000) | (self.words[(i + 1) % WORDS] & 0x7fff_ffff);
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[i] = self.words[(i + AHEAD) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// From [0, 1), with 53 bits.
    fn unit(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// As `binomial(1, 0.5)`.
    pub fn flip(&mut self) -> bool {
        self.unit() > 0.5
    }

    /// As `permutation(n)`: a shuffle from the back. Places are drawn by cutting words to the bits of the largest one, until one is
    /// small enough.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).collect();
        for last in (1..n).rev() {
            let mask = u32::MAX >> last.leading_zeros();
            let place = loop {
                let place = self.word() & mask;
                if place <= last {
                    break place;
                }
            };
            order.swap(last as usize, place as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Fixed {
        arms: Vec<Vec<u32>>,
        sea: String,
    }

    #[test]
    fn draws_are_those_of_the_package() {
        let fixed: Fixed =
            serde_json::from_str(include_str!("../../tests/recorded/bsuite/fixed.json")).unwrap();
        assert_eq!((fixed.arms.len(), fixed.sea.len()), (20, 2500));
        for (seed, arms) in fixed.arms.iter().enumerate() {
            assert_eq!(RandomState::new(seed as u32).permutation(11), *arms, "seed {seed}");
        }
        let mut random = RandomState::new(42);
        let sea: String = (0..2500).map(|_| if random.flip() { '1' } else { '0' }).collect();
        assert_eq!(sea, fixed.sea);
    }
}
