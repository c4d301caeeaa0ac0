//! The console of Atari beside `ale-py`, frame by frame, and by itself: saved and restored, drawn and not drawn.

#[path = "bridge/interpreter.rs"]
mod interpreter;

mod atari_machine {
    mod beside_ale;
    mod saving;
}
