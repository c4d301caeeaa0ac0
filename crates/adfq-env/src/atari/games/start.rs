//! What is pressed when a game starts.

use crate::atari::Action::{self, *};
use crate::atari::machine::Input;

/// What is pressed in a frame.
#[derive(Clone, Copy)]
pub(super) enum Press {
    Nothing,
    Reset,
    Select,
    Do(Action),
}

pub(super) use Press::*;

impl Press {
    pub(super) fn input(self) -> Input {
        match self {
            Nothing => Input::default(),
            Reset => Input { reset: true, ..Input::default() },
            Select => Input { select: true, ..Input::default() },
            Do(action) => action.input(),
        }
    }
}

/// One thing after the other, and for how many frames.
pub(super) type Presses = &'static [(Press, usize)];

/// Most games want the reset switch for eight frames.
pub(super) const SHORT: Presses = &[(Reset, 8)];

/// To set a mode, which games with several do, is to hold it a little longer.
pub(super) const LONG: Presses = &[(Reset, 12)];

/// Some want the button then.
pub(super) const FIRE: Presses = &[(Reset, 8), (Do(Fire), 1)];

/// In Double Dunk a menu goes before, which the button and the stick together leave.
pub(super) const DOUBLE_DUNK: Presses =
    &[(Reset, 8), (Nothing, 203), (Do(UpFire), 1), (Reset, 5), (Do(UpFire), 1)];

/// The mode of these is chosen by strokes of the select switch.
pub(super) const BASIC_MATH: [(Press, usize); 10] = strokes(&[], 4, (1, 2), &[(Nothing, 10), (Reset, 8)]);
pub(super) const FLAG_CAPTURE: [(Press, usize); 16] = strokes(&[(Reset, 8)], 7, (1, 2), &[(Reset, 4)]);
pub(super) const MR_DO: [(Press, usize); 6] = strokes(&[], 2, (1, 1), &[(Reset, 8), (Nothing, 1)]);
pub(super) const YARS: [(Press, usize); 16] = strokes(&[], 7, (1, 1), &[(Reset, 8), (Do(Fire), 1)]);

/// So many strokes of the select switch, each of which is pressed and let go for so many frames, and what goes before and after them.
const fn strokes<const N: usize>(
    before: &[(Press, usize)],
    number: usize,
    (down, up): (usize, usize),
    after: &[(Press, usize)],
) -> [(Press, usize); N] {
    assert!(N == before.len() + 2 * number + after.len());
    let mut presses = [(Nothing, up); N];
    let mut i = 0;
    while i < N {
        if i < before.len() {
            presses[i] = before[i];
        } else if i >= N - after.len() {
            presses[i] = after[i + after.len() - N];
        } else if (i - before.len()).is_multiple_of(2) {
            presses[i] = (Select, down);
        }
        i += 1;
    }
    presses
}
