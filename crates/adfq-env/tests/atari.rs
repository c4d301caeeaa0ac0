//! Atari without Python, beside `ale-py`. `scripts/python.sh` installs what these tests need; without it they say so and
//! pass, except in CI.

#[path = "bridge/interpreter.rs"]
mod interpreter;

mod atari {
    mod colours;
    mod games;
    mod play;
    mod screen;
}
