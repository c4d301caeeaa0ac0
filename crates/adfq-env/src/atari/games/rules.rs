//! How the numbers of games lie in their memory, and the rules that take more than a line of the table.

use super::Ram;

pub(super) fn whole(byte: u8) -> i32 {
    byte.into()
}

pub(super) fn low(byte: u8) -> i32 {
    (byte & 15).into()
}

pub(super) fn high(byte: u8) -> i32 {
    (byte >> 4).into()
}

/// The number in these bytes, two decimal digits each, the highest first.
pub(super) fn bcd(ram: &Ram, bytes: &[usize]) -> i32 {
    bytes.iter().fold(0, |number, &byte| 100 * number + 10 * high(ram[byte]) + low(ram[byte]))
}

/// The number with these digits, the highest first, each in the lower half of a byte. A 10 is a blank.
pub(super) fn digits(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |number, &byte| 10 * number + if byte & 15 == 10 { 0 } else { low(byte) })
}

/// The digits of Alien are the lines of their pictures, eight each; 128 is a blank.
pub(super) fn alien_score(ram: &Ram) -> i32 {
    let digit = |byte: usize| if ram[byte] == 128 { 0 } else { whole(ram[byte] >> 3) };
    [3, 5, 7, 9, 11].iter().fold(0, |number, &byte| 10 * number + digit(byte)) * 10
}

/// Those of River Raid too, and 88 is a blank.
pub(super) fn riverraid_score(ram: &Ram) -> i32 {
    let digit = |byte: usize| if ram[byte] == 88 { 0 } else { whole(ram[byte] >> 3) };
    [77, 79, 81, 83, 85, 87].iter().fold(0, |number, &byte| 10 * number + digit(byte))
}

pub(super) fn riverraid_lives(ram: &Ram) -> i32 {
    match ram[64] {
        88 => 4,
        89 => 1,
        line => whole(line >> 3) + 1,
    }
}

/// A knockout counts for 100.
pub(super) fn knockout(byte: u8) -> i32 {
    if byte == 0xc0 { 100 } else { 10 * high(byte) + low(byte) }
}

/// By knockout, or when the clock shows no minute and no second.
pub(super) fn boxing_over(_: &Ram, ram: &Ram) -> bool {
    knockout(ram[18]) == 100 || knockout(ram[19]) == 100 || (high(ram[16]) == 0 && ram[17] == 0)
}

pub(super) fn climber_score(ram: &Ram) -> i32 {
    [5, 4, 3, 2].iter().fold(0, |number, &byte| 10 * number + whole(ram[byte])) * 100
}

/// Memory has the cars still to be passed on this day, of 200 on the first and of 300 on each later one.
pub(super) fn enduro_score(ram: &Ram) -> i32 {
    let left = bcd(ram, &[44, 43]);
    match whole(ram[45]) {
        0 => 0,
        1 => 200 - left,
        day => 200 + 300 * (day - 1) - left,
    }
}

pub(super) fn pitfall_lives(ram: &Ram) -> i32 {
    match high(ram[0]) {
        10 => 3,
        8 => 2,
        _ => 1,
    }
}

/// Before a game of Demon Attack its score is no number.
pub(super) fn demon_attack_score(ram: &Ram) -> i32 {
    if [ram[1], ram[3], ram[5]] == [0xAB, 0xCD, 0xEA] { 0 } else { bcd(ram, &[1, 3, 5]) }
}

/// The lives of Q*bert start at 2, go down through 1, 0 and -1, and start again when the game does.
pub(super) fn qbert_over(before: &Ram, ram: &Ram) -> bool {
    ram[8] == 254 || (ram[8] == 2 && before[8] == 255)
}

/// A game won or lost, or else a point.
pub(super) fn tennis_reward(before: &Ram, ram: &Ram) -> i32 {
    let ahead = |ram: &Ram, byte: usize| whole(ram[byte]) - whole(ram[byte + 1]);
    let [games, points] = [71, 69].map(|byte| ahead(ram, byte) - ahead(before, byte));
    if games != 0 { games } else { points }
}

/// By two games from six on, or with the seventh.
pub(super) fn tennis_over(_: &Ram, ram: &Ram) -> bool {
    let (own, other) = (whole(ram[71]), whole(ram[72]));
    let most = own.max(other);
    most >= 7 || (most == 6 && (own - other).abs() >= 2)
}

/// Their byte blinks while one is lost.
pub(super) fn beam_rider_lives(lives: i32, _: &Ram, ram: &Ram) -> i32 {
    let told = whole(ram[5]) + 1;
    if told != lives - 1 || ram[12] == 1 { told } else { lives }
}

/// ALE believes the memory, which has six at first, from the first five on.
pub(super) fn star_gunner_lives(lives: i32, before: &Ram, ram: &Ram) -> i32 {
    let believed = whole(before[7]) == lives;
    if believed || ram[7] == 5 { low(ram[7]) } else { lives }
}

/// The money that a game starts with is no reward.
pub(super) fn journey_escape_reward(before: &Ram, ram: &Ram) -> i32 {
    match bcd(ram, &[16, 17, 18]) - bcd(before, &[16, 17, 18]) {
        50_000 => 0,
        money => money,
    }
}
