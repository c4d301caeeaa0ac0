//! The star field of Cosmic Ark: a missile that goes on moving by itself.
//!
//! The chip stops the extra clocks of HMOVE when a counter matches the motion register. A program that changes the register
//! just before the match makes it miss, and the missile is clocked on every line until the next HMOVE. ALE knows this for the
//! first missile, one value and one moment: from 7 to 6, 21 cycles after the strobe. It then repeats a pattern of four lines.

use super::super::tape::Tape;

/// How the missile looks on a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// As its registers say.
    Usual,
    /// With an odd size: one pixel becomes two, four become eight.
    Wide,
    /// Not at all.
    Hidden,
}

/// What happens from one line to the next: how far to the left, and how it looks there.
const LINES: [(u8, Look); 4] = [(18, Look::Usual), (33, Look::Wide), (0, Look::Hidden), (17, Look::Usual)];

/// Whether the missile moves, and how it looks on this line.
#[derive(Clone)]
pub(super) struct Stars {
    moving: bool,
    next: u8,
    pub(super) look: Look,
}

impl Stars {
    pub(super) fn new() -> Self {
        Self { moving: false, next: 0, look: Look::Usual }
    }

    /// HMM0 is changed so many cycles after HMOVE.
    pub(super) fn change(&mut self, from: u8, to: u8, cycles: u64) {
        if from >> 4 == 7 && to >> 4 == 6 && cycles == 21 {
            self.moving = true;
            self.next = 1;
        }
    }

    /// HMOVE ends it. Whether the missile looks different now.
    pub(super) fn stop(&mut self) -> bool {
        self.moving = false;
        std::mem::replace(&mut self.look, Look::Usual) != Look::Usual
    }

    /// A line ends: how far the missile moves to the left, if it does.
    pub(super) fn end_line(&mut self) -> Option<u8> {
        if !self.moving {
            return None;
        }
        let (left, look) = LINES[usize::from(self.next & 3)];
        self.next = (self.next + 1) & 3;
        self.look = look;
        Some(left)
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.flag(&mut self.moving);
        tape.byte(&mut self.next);
        let mut look = self.look as u8;
        tape.byte(&mut look);
        self.look = [Look::Usual, Look::Wide, Look::Hidden][usize::from(look.min(2))];
    }
}
