//! What is plugged into the two ports: joysticks, or paddles.

use super::Input;
use super::tape::Tape;

/// How the player's controller is connected.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Controller {
    /// A stick with a button in the left port.
    #[default]
    Joystick,
    /// A stick with a button in the right port.
    RightJoystick,
    /// A stick whose button is not connected.
    StickAlone,
    /// A pair of knobs with buttons in the left port. The player turns the first.
    Paddles,
    /// The same, but the player turns the second, and the pins of the right port are always high.
    SecondPaddle,
}

/// A paddle is a resistor that charges a capacitor. These are the ohms that ALE lets it have, and how many a frame of
/// turning changes.
const LEAST: u32 = 27_450;
const MOST: u32 = 790_196;
const STEP: u32 = 23_000;

/// Cycles until the capacitor is charged, for each ohm: 1.6 RC with 0.01 µF, at 1.19 MHz.
const CYCLES_PER_OHM: f64 = 1.6 * 0.01e-6 * 1.19e6;

/// What the two ports show to the console.
#[derive(Clone)]
pub(super) struct Ports {
    controller: Controller,
    /// The player's paddle, in ohms.
    paddle: u32,
}

/// The pins in a frame.
pub(super) struct Pins {
    /// Port A of the RIOT: the directions of both sticks, and the buttons of paddles. Low is pressed.
    pub(super) directions: u8,
    /// INPT4 and INPT5: the buttons of the sticks.
    pub(super) buttons: [bool; 2],
    /// INPT0 to INPT3: cycles until the pin is high after it was grounded; `u32::MAX` for never.
    pub(super) charge: [u32; 4],
}

impl Ports {
    pub(super) fn new(controller: Controller) -> Self {
        Self { controller, paddle: (LEAST + MOST) / 2 }
    }

    /// Power on: the paddles are in the middle.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.controller);
    }

    /// The player does something for a frame.
    pub(super) fn apply(&mut self, input: Input) -> Pins {
        let bit = |pressed: bool, bit: u8| u8::from(pressed) << bit;
        let stick = bit(input.up, 4) | bit(input.down, 5) | bit(input.left, 6) | bit(input.right, 7);
        let mut pins = Pins { directions: 0xFF, buttons: [false; 2], charge: [u32::MAX; 4] };
        match self.controller {
            Controller::Joystick => {
                pins.directions = !stick;
                pins.buttons[0] = input.fire;
            }
            Controller::StickAlone => pins.directions = !stick,
            Controller::RightJoystick => {
                pins.directions = !(stick >> 4);
                pins.buttons[1] = input.fire;
            }
            Controller::Paddles => {
                self.turn(input);
                pins.directions = !bit(input.fire, 7);
                pins.charge[..2].copy_from_slice(&[cycles(self.paddle), cycles((LEAST + MOST) / 2)]);
            }
            Controller::SecondPaddle => {
                self.turn(input);
                pins.directions = !bit(input.fire, 6);
                pins.charge = [cycles((LEAST + MOST) / 2), cycles(self.paddle), 0, 0];
            }
        }
        pins
    }

    /// Turning to the right lowers the resistance.
    fn turn(&mut self, input: Input) {
        if input.left {
            self.paddle = (self.paddle + STEP).min(MOST);
        } else if input.right {
            self.paddle = (self.paddle - STEP).max(LEAST);
        }
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.double(&mut self.paddle);
        self.paddle = self.paddle.clamp(LEAST, MOST);
    }
}

fn cycles(ohms: u32) -> u32 {
    (f64::from(ohms) * CYCLES_PER_OHM) as u32
}
