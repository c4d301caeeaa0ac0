//! The environments of bsuite against recordings of the package, step by step, and as environments.

mod bsuite {
    mod environment;
    mod mnist;
    mod recorded;
    mod sweep;
}
