//! The program `adfq`: reads arguments, calls the libraries, prints. No logic of its own.
fn main() {}
