//! The registers of the TIA: what a write changes, from which pixel on, and what a read gives.

use super::mask::WIDTH;
use super::motion::Motion;
use super::objects::{COPIES, wrap};
use super::stars::Look;
use super::{BALL, LINE, M0, M1, P0, P1, PLAYFIELD, Tia};

/// How many pixels after a write each register takes effect. For the playfield that depends on the pixel.
static DELAYS: [u8; 64] = {
    let mut table = [0; 64];
    let mut register = 0;
    while register < 64 {
        table[register] = match register {
            0x01 | 0x0B | 0x0C | 0x1B | 0x1C => 1,
            0x04 | 0x05 | 0x12 | 0x13 => 8,
            0x0D..=0x0F => FETCHED,
            _ => 0,
        };
        register += 1;
    }
    table
};
const FETCHED: u8 = 0xFF;

impl Tia {
    /// A write to any register but WSYNC. Many are not seen: no pixel and no collision shows them. They are to registers of sound and motion,
    /// of values that are there already, to what is delayed, of colours of a frame that is not drawn. Then nothing needs to be drawn first.
    #[inline(never)]
    #[expect(
        clippy::manual_range_patterns,
        reason = "the compiler makes comparisons of ranges, and a table of these"
    )]
    pub(in super::super) fn write(&mut self, register: u8, value: u8, now: u64) {
        self.end_if_long(now);
        let seen = match register {
            0x01 => self.vblank != value,
            0x04 => self.is_new_size(0, value),
            0x05 => self.is_new_size(1, value),
            0x06 | 0x07 | 0x08 | 0x09 => {
                let value = self.colours.of(value);
                let drawn = self.picture.is_drawn();
                let colour = self.colours.register(register);
                let seen = *colour != value && drawn;
                if !seen {
                    *colour = value;
                }
                seen
            }
            0x0A => self.ctrlpf != value || self.reflected_playfield != (value & 1 != 0),
            0x0B | 0x0C => self.reflected[usize::from(register - 0x0B)] != (value & 8 != 0),
            0x0D | 0x0E | 0x0F => self.playfield[usize::from(register - 0x0D)] != value,
            0x1B => {
                let seen = !self.delayed[0] && self.graphics[0] != value
                    || self.delayed[1] && self.old_graphics[1] != self.graphics[1];
                if !seen {
                    self.write_first_graphics(value);
                }
                seen
            }
            0x1C => {
                let seen = !self.delayed[1] && self.graphics[1] != value
                    || self.delayed[0] && self.old_graphics[0] != self.graphics[0]
                    || self.delayed_ball && self.old_ball != self.ball;
                if !seen {
                    self.write_second_graphics(value);
                }
                seen
            }
            0x1D | 0x1E => self.missiles[usize::from(register - 0x1D)] != (value & 2 != 0),
            0x1F => {
                let seen = !self.delayed_ball && self.ball != (value & 2 != 0);
                if !seen {
                    self.ball = value & 2 != 0;
                }
                seen
            }
            0x22 => {
                self.stars.change(self.motion[M0], value, now.wrapping_sub(self.moved_at));
                self.motion[M0] = value;
                false
            }
            0x20 | 0x21 | 0x23 | 0x24 => {
                self.motion[usize::from(register - 0x20)] = value;
                false
            }
            0x2B => {
                self.motion = [0; 5];
                false
            }
            0x00 | 0x10 | 0x11 | 0x12 | 0x13 | 0x14 | 0x25 | 0x26 | 0x27 | 0x28 | 0x29 | 0x2A | 0x2C => true,
            _ => false,
        };
        if seen {
            self.write_seen(register, value, now);
        }
    }

    /// Whether a size is not the one that is there, or changes more than the size.
    #[inline]
    fn is_new_size(&self, i: usize, value: u8) -> bool {
        self.nusiz[i] != value || !self.main[i] || self.stars.look != Look::Usual
    }

    #[inline(never)]
    fn write_seen(&mut self, register: u8, value: u8, now: u64) {
        self.catch_up(now, self.delay(register, now));
        self.like_above = false;
        match register {
            0x00 => self.write_vsync(value, now),
            0x01 => self.write_vblank(value, now),
            0x04 | 0x05 => {
                let i = usize::from(register - 0x04);
                self.nusiz[i] = value;
                self.main[i] = true;
                self.usual_look(i);
                self.stale |= 1 << (P0 + i) | 1 << (M0 + i);
            }
            0x06..=0x09 => *self.colours.register(register) = self.colours.of(value),
            0x0A => self.write_ctrlpf(value, now),
            0x0B | 0x0C => {
                let i = usize::from(register - 0x0B);
                self.reflected[i] = value & 8 != 0;
                self.stale |= 1 << (P0 + i);
            }
            0x0D..=0x0F => {
                self.playfield[usize::from(register - 0x0D)] = value;
                self.stale |= 1 << PLAYFIELD;
            }
            0x10 | 0x11 => self.reset_player(usize::from(register - 0x10), now),
            0x12 | 0x13 => self.reset_small(M0 + usize::from(register - 0x12), now),
            0x14 => self.reset_small(BALL, now),
            0x1B => {
                self.write_first_graphics(value);
                self.stale |= u8::from(!self.delayed[0]) << P0 | u8::from(self.delayed[1]) << P1;
            }
            0x1C => {
                self.write_second_graphics(value);
                self.stale |= u8::from(!self.delayed[1]) << P1
                    | u8::from(self.delayed[0]) << P0
                    | u8::from(self.delayed_ball) << BALL;
            }
            0x1D | 0x1E => {
                let i = usize::from(register - 0x1D);
                self.missiles[i] = value & 2 != 0;
                self.stale |= 1 << (M0 + i);
            }
            0x1F => {
                self.ball = value & 2 != 0;
                self.stale |= 1 << BALL;
            }
            0x25 | 0x26 => {
                let i = usize::from(register - 0x25);
                self.delayed[i] = value & 1 != 0;
                self.stale |= 1 << (P0 + i);
            }
            0x27 => {
                self.delayed_ball = value & 1 != 0;
                self.stale |= 1 << BALL;
            }
            0x28 | 0x29 => self.lock(usize::from(register - 0x28), value & 2 != 0),
            0x2A => self.move_objects(now),
            0x2C => self.collisions.clear(),
            _ => {}
        }
    }

    /// How many pixels after the write a register takes effect.
    #[inline]
    fn delay(&self, register: u8, now: u64) -> i32 {
        match DELAYS[usize::from(register & 0x3F)] {
            // The playfield is fetched for four pixels at a time.
            FETCHED => {
                let pixel = self.pixel(now);
                ((pixel + 2 + 3) & !3) - pixel
            }
            delay => delay.into(),
        }
    }

    /// GRP0. Vertical delay works by copies: each player shows the graphics it had when the other's were last written.
    fn write_first_graphics(&mut self, value: u8) {
        self.graphics[0] = value;
        self.old_graphics[1] = self.graphics[1];
    }

    /// GRP1, which delays the ball too.
    fn write_second_graphics(&mut self, value: u8) {
        self.graphics[1] = value;
        self.old_graphics[0] = self.graphics[0];
        self.old_ball = self.ball;
    }

    fn write_vsync(&mut self, value: u8, clock: u64) {
        if value & 2 != 0 {
            self.vsync_since = clock;
        } else if self.vsync & 2 != 0 && clock - self.vsync_since >= LINE {
            self.ended = true;
        }
        self.vsync = value;
    }

    /// Bit 1 blanks the picture. Bit 7 grounds the pins of the paddles.
    fn write_vblank(&mut self, value: u8, clock: u64) {
        if self.vblank & 0x80 != 0 && value & 0x80 == 0 {
            self.charging_since = clock;
        }
        self.vblank = value;
    }

    /// The second half of the line is reflected or not as it was when the beam came near it.
    fn write_ctrlpf(&mut self, value: u8, clock: u64) {
        self.ctrlpf = value;
        self.stale |= 1 << BALL;
        if self.pixel(clock) < WIDTH / 2 - 1 {
            self.reflected_playfield = value & 1 != 0;
            self.stale |= 1 << PLAYFIELD;
        }
    }

    /// RESP0 and RESP1. The new position is five pixels on. Its first copy is drawn only from the next line on, except where
    /// the player was just about to be drawn. A copy that is being drawn is finished first.
    fn reset_player(&mut self, i: usize, clock: u64) {
        let x = reset_position(self.pixel(clock), 3, 5);
        let (copies, scale) = COPIES[usize::from(self.nusiz[i] & 7)];
        let mut main = false;
        for &copy in copies {
            let begun = (i32::from(x) - i32::from(wrap(self.x[P0 + i] + copy))).rem_euclid(WIDTH);
            if begun < 4 {
                main = true;
            } else if begun < 4 + 8 * i32::from(scale) {
                self.catch_up(clock, 11);
            }
        }
        self.x[P0 + i] = x;
        self.main[i] = main;
        self.stale |= 1 << (P0 + i);
    }

    /// RESM0, RESM1 and RESBL: four pixels on.
    fn reset_small(&mut self, object: usize, clock: u64) {
        self.x[object] =
            self.reset_after_motion(object, clock).unwrap_or_else(|| reset_position(self.pixel(clock), 2, 4));
        if object == M0 {
            self.usual_look(0);
        }
        self.stale |= 1 << object;
    }

    /// A reset while the clocks of HMOVE still come lets the object end up elsewhere. ALE knows the moments at which some
    /// games do it: the cycles in the line of HMOVE and of the reset, and the position.
    fn reset_after_motion(&self, object: usize, clock: u64) -> Option<u8> {
        const KNOWN: [(usize, u64, u64, u8); 6] = [
            (BALL, 3, 6, 3),
            (BALL, 3, 9, 5),
            (BALL, 3, 10, 6),
            (BALL, 5, 23, 10),
            (M0, 3, 23, 8),
            (M1, 3, 6, 3),
        ];
        let moved = self.moved_at.checked_sub(self.line_start)?;
        let now = clock - self.line_start;
        KNOWN.iter().find(|known| (known.0, known.1, known.2) == (object, moved, now)).map(|known| known.3)
    }

    /// RESMP0 and RESMP1: a missile that is locked is hidden, and lies in the middle of its player when it is let go.
    fn lock(&mut self, i: usize, locked: bool) {
        if self.locked[i] && !locked {
            let middle = match COPIES[usize::from(self.nusiz[i] & 7)].1 {
                1 => 4,
                2 => 8,
                _ => 16,
            };
            self.x[M0 + i] = wrap(self.x[P0 + i] + middle);
        }
        self.locked[i] = locked;
        self.usual_look(i);
        self.stale |= 1 << (M0 + i);
    }

    /// On the line of a star, a write to its size or position shows the missile as usual again.
    fn usual_look(&mut self, missile: usize) {
        if missile == 0 {
            self.stars.look = Look::Usual;
        }
    }

    fn move_objects(&mut self, clock: u64) {
        self.moved_at = clock;
        if self.stars.stop() {
            self.stale |= 1 << M0;
        }
        let motion = Motion::at(((clock - self.line_start) as i32 - 1).max(0));
        if self.combs && motion.late {
            self.comb_next = true;
        } else if self.combs {
            self.comb |= motion.comb;
        }
        // Many programs strobe on each line, and move nothing.
        let stays = self.motion == [0; 5] && motion.left(0) == 0;
        if !stays {
            // Which objects move differs from line to line, so no branch asks for it.
            for object in P0..BALL + 1 {
                let left = motion.left(self.motion[object]);
                // By less than a line in either direction.
                let x = i32::from(self.x[object]) - left;
                self.x[object] =
                    (x + if x < 0 { WIDTH } else { 0 } - if x >= WIDTH { WIDTH } else { 0 }) as u8;
                self.stale |= u8::from(left != 0) << object;
            }
        }
        self.show_main();
    }

    /// From here on the players are drawn with their first copies again.
    pub(super) fn show_main(&mut self) {
        for player in 0..2 {
            if !self.main[player] {
                self.main[player] = true;
                self.stale |= 1 << player;
            }
        }
    }

    /// A read: the two bits that the chip drives.
    pub(in super::super) fn read(&mut self, register: u8, clock: u64) -> u8 {
        match register {
            0x00..=0x07 => {
                self.catch_up(clock, 0);
                self.collisions.read(register)
            }
            0x0C | 0x0D => {
                let i = usize::from(register - 0x0C);
                if self.buttons[i] { 0 } else { 0x80 }
            }
            0x08..=0x0B => {
                let charge = self.charge[usize::from(register - 0x08)];
                let high = self.vblank & 0x80 == 0 && clock - self.charging_since > u64::from(charge);
                if high && charge != u32::MAX { 0x80 } else { 0 }
            }
            _ => 0,
        }
    }
}

/// Where an object comes to lie that is reset at this pixel. Resets in the blank part all give the same position.
fn reset_position(pixel: i32, least: i32, delay: i32) -> u8 {
    ((pixel + delay).max(least) % WIDTH) as u8
}
