//! The MinAtar games against recordings of the package, step by step, and as environments.

mod minatar {
    mod environment;
    mod recorded;
}
