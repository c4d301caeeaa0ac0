//! Any text as a configuration, and a good configuration with any changes: settings that make sense and can be written
//! and read back, or an error. Never a panic.

#![no_main]

use adfq_deep::{Config, Host};
use adfq_fuzz::{Edit, within};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Edits(u8, Vec<Edit>),
    Assignments(u8, Vec<(&'a str, &'a str)>),
}

const ENVS: [&str; 3] = ["cartpole", "minatar/breakout", "mountaincar"];

fuzz_target!(|input: Input| {
    within(1 << 24, || {
        let config = |env: u8| Config::for_env(ENVS[usize::from(env) % ENVS.len()]).unwrap();
        match input {
            Input::Text(text) => check(text),
            Input::Edits(env, edits) => {
                let text = config(env).to_toml().unwrap();
                check(&edits.iter().take(8).fold(text, |text, edit| edit.apply(&text)));
            }
            Input::Assignments(env, pairs) => {
                let mut config = config(env);
                let host = Host::default();
                for (name, value) in pairs.iter().take(8) {
                    config = config.with(&format!("{name}={value}")).unwrap_or(config);
                }
                let _ = host.check(&config);
            }
        }
    });
});

fn check(text: &str) {
    let Ok(config) = Config::from_toml(text) else { return };
    if Host::default().check(&config).is_ok() {
        let written = config.to_toml().unwrap();
        assert_eq!(Config::from_toml(&written).unwrap(), config, "{written}");
    }
}
