//! What instructions do with their operand: loads, sums, shifts and comparisons, each with its flags.
//!
//! Where the operand is, and what the program does next, is the business of the processor itself.

use super::{Operand, Running, Stop};

impl<const FAST: bool> Running<'_, FAST> {
    #[inline(always)]
    pub(super) fn flags(&mut self, value: u8) {
        self.result = value.into();
    }

    #[inline(always)]
    pub(super) fn load_a(&mut self, value: u8) {
        self.a = value;
        self.flags(value);
    }

    #[inline(always)]
    pub(super) fn load_x(&mut self, value: u8) {
        self.x = value;
        self.flags(value);
    }

    #[inline(always)]
    pub(super) fn load_y(&mut self, value: u8) {
        self.y = value;
        self.flags(value);
    }

    #[inline(always)]
    pub(super) fn or(&mut self, value: u8) {
        self.load_a(self.a | value);
    }

    #[inline(always)]
    pub(super) fn and(&mut self, value: u8) {
        self.load_a(self.a & value);
    }

    #[inline(always)]
    pub(super) fn exclusive_or(&mut self, value: u8) {
        self.load_a(self.a ^ value);
    }

    #[inline(always)]
    fn compare(&mut self, register: u8, value: u8) {
        self.carry = register >= value;
        self.flags(register.wrapping_sub(value));
    }

    #[inline(always)]
    pub(super) fn compare_a(&mut self, value: u8) {
        self.compare(self.a, value);
    }

    #[inline(always)]
    pub(super) fn compare_x(&mut self, value: u8) {
        self.compare(self.x, value);
    }

    #[inline(always)]
    pub(super) fn compare_y(&mut self, value: u8) {
        self.compare(self.y, value);
    }

    #[inline(always)]
    pub(super) fn bit(&mut self, value: u8) {
        self.result = u16::from_le_bytes([self.a & value, value]);
        self.overflow = value << 1;
    }

    #[inline(always)]
    pub(super) fn add(&mut self, value: u8) -> Result<(), Stop> {
        if self.is_decimal()? {
            let (result, carry, overflow) = add_decimal(self.a, value, self.carry);
            (self.carry, self.overflow) = (carry, overflow);
            self.load_a(result);
        } else {
            self.add_binary(value);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn subtract(&mut self, value: u8) -> Result<(), Stop> {
        if self.is_decimal()? {
            let (result, carry, overflow) = subtract_decimal(self.a, value, self.carry);
            (self.carry, self.overflow) = (carry, overflow);
            self.load_a(result);
        } else {
            self.add_binary(!value);
        }
        Ok(())
    }

    #[inline(always)]
    fn add_binary(&mut self, value: u8) {
        let sum = u16::from(self.a) + u16::from(value) + u16::from(self.carry);
        let result = sum as u8;
        self.overflow = (self.a ^ result) & (value ^ result);
        self.carry = sum > 0xFF;
        self.load_a(result);
    }

    /// Whether sums are of decimal digits. That is rare, and done the slow way: a call on the fast way would cost each sum time, made or not.
    #[inline(always)]
    fn is_decimal(&self) -> Result<bool, Stop> {
        if FAST && self.decimal { Err(Stop::Elsewhere) } else { Ok(self.decimal) }
    }

    #[inline(always)]
    pub(super) fn shift_left(&mut self, value: u8) -> u8 {
        self.carry = value & 0x80 != 0;
        let result = value << 1;
        self.flags(result);
        result
    }

    #[inline(always)]
    pub(super) fn shift_right(&mut self, value: u8) -> u8 {
        self.carry = value & 1 != 0;
        let result = value >> 1;
        self.flags(result);
        result
    }

    #[inline(always)]
    pub(super) fn rotate_left(&mut self, value: u8) -> u8 {
        let result = value << 1 | u8::from(self.carry);
        self.carry = value & 0x80 != 0;
        self.flags(result);
        result
    }

    #[inline(always)]
    pub(super) fn rotate_right(&mut self, value: u8) -> u8 {
        let result = value >> 1 | u8::from(self.carry) << 7;
        self.carry = value & 1 != 0;
        self.flags(result);
        result
    }

    #[inline(always)]
    pub(super) fn increment(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.flags(result);
        result
    }

    #[inline(always)]
    pub(super) fn decrement(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.flags(result);
        result
    }

    // --- Undocumented instructions: two operations in one.

    /// LAX.
    #[inline(always)]
    pub(super) fn load_a_and_x(&mut self, value: u8) {
        self.load_a(value);
        self.x = value;
    }

    /// DCP.
    #[inline(always)]
    pub(super) fn decrement_compare(&mut self, operand: Operand) -> Result<(), Stop> {
        let result = self.modify(operand, Self::decrement)?;
        self.compare(self.a, result);
        Ok(())
    }

    /// ISB.
    #[inline(always)]
    pub(super) fn increment_subtract(&mut self, operand: Operand) -> Result<(), Stop> {
        self.is_decimal()?;
        let result = self.modify(operand, Self::increment)?;
        self.subtract(result)
    }

    /// SLO.
    #[inline(always)]
    pub(super) fn shift_left_or(&mut self, operand: Operand) -> Result<(), Stop> {
        let result = self.modify(operand, Self::shift_left)?;
        self.or(result);
        Ok(())
    }

    /// RLA.
    #[inline(always)]
    pub(super) fn rotate_left_and(&mut self, operand: Operand) -> Result<(), Stop> {
        let result = self.modify(operand, Self::rotate_left)?;
        self.and(result);
        Ok(())
    }

    /// SRE.
    #[inline(always)]
    pub(super) fn shift_right_exclusive_or(&mut self, operand: Operand) -> Result<(), Stop> {
        let result = self.modify(operand, Self::shift_right)?;
        self.exclusive_or(result);
        Ok(())
    }

    /// RRA.
    #[inline(always)]
    pub(super) fn rotate_right_add(&mut self, operand: Operand) -> Result<(), Stop> {
        self.is_decimal()?;
        let result = self.modify(operand, Self::rotate_right)?;
        self.add(result)
    }

    /// The stores that mix the high byte of the address into the value.
    #[inline(always)]
    pub(super) fn store_high(&mut self, address: u16, value: u8) -> Result<(), Stop> {
        self.write(address, value & ((address >> 8) as u8).wrapping_add(1))
    }

    /// SBX: A and X less the operand, without a borrow, into X.
    #[inline(always)]
    pub(super) fn subtract_from_both(&mut self, value: u8) {
        let both = self.a & self.x;
        self.compare(both, value);
        self.x = both.wrapping_sub(value);
    }

    /// ARR: AND, then ROR with flags of its own.
    #[inline(always)]
    pub(super) fn and_rotate_right(&mut self, value: u8) {
        let both = self.a & value;
        let result = both >> 1 | u8::from(self.carry) << 7;
        self.load_a(result);
        self.carry = result & 0x40 != 0;
        self.overflow = (result ^ result << 1) << 1;
    }
}

/// ADC in decimal mode: the sum, carry, and overflow in the top bit.
#[cold]
#[inline(never)]
fn add_decimal(a: u8, value: u8, carry: bool) -> (u8, bool, u8) {
    let sum = decimal(a) + decimal(value) + i16::from(carry);
    let result = to_decimal(sum);
    (result, sum > 99, (a ^ result) & !(a ^ value))
}

/// SBC in decimal mode: the difference, carry, and overflow in the top bit. The carry is that of the bytes, which differs from that of the digits
/// where one is above 9: Tutankham subtracts places of the screen so.
#[cold]
#[inline(never)]
fn subtract_decimal(a: u8, value: u8, carry: bool) -> (u8, bool, u8) {
    let difference = decimal(a) - decimal(value) - i16::from(!carry);
    let result = to_decimal(difference + 100);
    let no_borrow = u16::from(a) >= u16::from(value) + u16::from(!carry);
    (result, no_borrow, (a ^ value) & (a ^ result))
}

/// The number that two decimal digits stand for.
fn decimal(byte: u8) -> i16 {
    i16::from(byte >> 4) * 10 + i16::from(byte & 0x0F)
}

/// The last two decimal digits of a number, as a byte.
fn to_decimal(number: i16) -> u8 {
    let rest = number.rem_euclid(100) as u8;
    ((rest / 10) << 4) | (rest % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_difference_borrows_as_its_bytes_do() {
        let difference = |a, value, carry| {
            let (result, carry, _) = subtract_decimal(a, value, carry);
            (result, carry)
        };
        assert_eq!(difference(0x3C, 0x40, true), (0x02, false)); // Its digits are those of 42 - 40.
        assert_eq!(difference(0x42, 0x3C, true), (0x00, true));
        assert_eq!(difference(0x42, 0x3C, false), (0x99, true));
        // Where all digits are at most 9, both carries are the same.
        for (a, value) in (0..100_u8).flat_map(|a| (0..100).map(move |value| (a, value))) {
            let byte = |number: u8| to_decimal(number.into());
            for carry in [false, true] {
                assert_eq!(difference(byte(a), byte(value), carry).1, a >= value + u8::from(!carry));
            }
        }
    }
}
