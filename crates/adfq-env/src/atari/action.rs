//! What a player can do with the joystick: ALE's eighteen actions, by its names and in its order.

use super::machine::Input;

/// An action of ALE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Action {
    #[default]
    Noop,
    Fire,
    Up,
    Right,
    Left,
    Down,
    UpRight,
    UpLeft,
    DownRight,
    DownLeft,
    UpFire,
    RightFire,
    LeftFire,
    DownFire,
    UpRightFire,
    UpLeftFire,
    DownRightFire,
    DownLeftFire,
}

use Action::*;

impl Action {
    /// All of them, in ALE's order.
    pub const ALL: &'static [Self] = &[
        Noop,
        Fire,
        Up,
        Right,
        Left,
        Down,
        UpRight,
        UpLeft,
        DownRight,
        DownLeft,
        UpFire,
        RightFire,
        LeftFire,
        DownFire,
        UpRightFire,
        UpLeftFire,
        DownRightFire,
        DownLeftFire,
    ];

    /// What ALE calls it.
    ///
    /// ```
    /// assert_eq!(adfq_env::atari::Action::UpRightFire.name(), "UPRIGHTFIRE");
    /// ```
    pub fn name(self) -> String {
        format!("{self:?}").to_uppercase()
    }

    /// What is pressed for it.
    pub fn input(self) -> Input {
        Input {
            up: matches!(self, Up | UpRight | UpLeft | UpFire | UpRightFire | UpLeftFire),
            down: matches!(self, Down | DownRight | DownLeft | DownFire | DownRightFire | DownLeftFire),
            left: matches!(self, Left | UpLeft | DownLeft | LeftFire | UpLeftFire | DownLeftFire),
            right: matches!(self, Right | UpRight | DownRight | RightFire | UpRightFire | DownRightFire),
            fire: self == Fire || self as u8 >= UpFire as u8,
            ..Input::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_pressed() {
        for action in Action::ALL {
            let (name, input) = (action.name(), action.input());
            let pressed = [
                ("UP", input.up),
                ("DOWN", input.down),
                ("LEFT", input.left),
                ("RIGHT", input.right),
                ("FIRE", input.fire),
            ];
            let said: String = pressed.iter().filter(|(_, is)| *is).map(|(part, _)| *part).collect();
            let letters = |text: &str| {
                let mut letters: Vec<char> = text.chars().collect();
                letters.sort_unstable();
                letters
            };
            assert_eq!(letters(name.trim_start_matches("NOOP")), letters(&said));
        }
    }
}
