//! Bits in the order of H.264: most significant first, with Exp-Golomb codes, wrapped in NAL units.

/// Bits under construction.
#[derive(Default)]
pub struct Bits {
    bytes: Vec<u8>,
    /// The bits of the byte that is not full yet, and how many there are.
    open: u64,
    count: u32,
}

impl Bits {
    /// The `count` lowest bits of `value`, at most 32.
    pub fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && (count == 32 || value >> count == 0), "{value} in {count} bits");
        self.open = self.open << count | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.open >> self.count) as u8);
        }
        self.open &= (1 << self.count) - 1;
    }

    /// One bit.
    pub fn flag(&mut self, value: bool) {
        self.put(u32::from(value), 1);
    }

    /// ue(v): value + 1 in binary, after as many zeros as it has bits beyond the first (H.264, 9.1).
    pub fn unsigned(&mut self, value: u32) {
        debug_assert!(value < u32::MAX);
        let length = 32 - (value + 1).leading_zeros();
        self.put(0, length - 1);
        self.put(value + 1, length);
    }

    /// se(v): 0, 1, −1, 2, −2, … as ue(v) of 0, 1, 2, 3, 4, … (H.264, 9.1.1).
    pub fn signed(&mut self, value: i32) {
        let twice = 2 * value.unsigned_abs();
        self.unsigned(if value > 0 { twice - 1 } else { twice });
    }

    /// Zeros up to the next whole byte.
    pub fn align(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    /// The end of every payload: a one, and zeros up to a whole byte.
    pub fn finish(mut self) -> Vec<u8> {
        self.flag(true);
        self.align();
        self.bytes
    }
}

/// A NAL unit: its header byte and the payload, in which a 3 breaks up what could be taken for the start of another
/// unit: two zeros before a byte of at most 3 (H.264, 7.4.1).
pub fn unit(header: u8, payload: &[u8]) -> Vec<u8> {
    let mut unit = Vec::with_capacity(payload.len() + payload.len() / 64 + 2);
    unit.push(header);
    let mut zeros = 0;
    for &byte in payload {
        if zeros == 2 && byte <= 3 {
            unit.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        unit.push(byte);
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn binary(write: impl Fn(&mut Bits)) -> String {
        let mut bits = Bits::default();
        write(&mut bits);
        let bytes = bits.finish();
        let text: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        // Without the one at the end and the zeros after it.
        text[..text.rfind('1').unwrap()].to_owned()
    }

    /// Table 9-2 and 9-3 of the standard.
    #[test]
    fn exp_golomb_codes_are_those_of_the_standard() {
        let unsigned = [0, 1, 2, 3, 6, 7, 8].map(|value| binary(|bits| bits.unsigned(value)));
        assert_eq!(unsigned, ["1", "010", "011", "00100", "00111", "0001000", "0001001"]);
        let signed = [0, 1, -1, 2, -2].map(|value| binary(|bits| bits.signed(value)));
        assert_eq!(signed, ["1", "010", "011", "00100", "00101"]);
    }

    #[test]
    fn bits_follow_each_other() {
        let text = binary(|bits| {
            bits.put(0b101, 3);
            bits.put(u32::MAX, 32);
            bits.flag(false);
            bits.align();
            bits.put(0x0f, 8);
        });
        assert_eq!(text, format!("101{}0000000001111", "1".repeat(32)));
    }

    #[test]
    fn start_codes_cannot_occur() {
        assert_eq!(unit(0x65, &[0, 0, 1]), [0x65, 0, 0, 3, 1]);
        assert_eq!(unit(0x65, &[0, 0, 0, 0, 0]), [0x65, 0, 0, 3, 0, 0, 3, 0]);
        assert_eq!(unit(0x65, &[0, 0, 4, 0, 1]), [0x65, 0, 0, 4, 0, 1]);
    }

    /// What a decoder does.
    fn payload(unit: &[u8]) -> Vec<u8> {
        let mut payload: Vec<u8> = vec![];
        let mut zeros = 0;
        for &byte in &unit[1..] {
            if zeros == 2 && byte == 3 {
                zeros = 0;
                continue;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            payload.push(byte);
        }
        payload
    }

    proptest! {
        #[test]
        fn units_hold_their_payload(bytes in proptest::collection::vec(0..5_u8, 0..200)) {
            let unit = unit(0x41, &bytes);
            prop_assert!(!unit.windows(3).any(|three| three[..2] == [0, 0] && three[2] < 3));
            prop_assert_eq!(payload(&unit), bytes);
        }
    }
}
