//! Any bytes as a line for `adfq update`: an updated line or an error, never a panic, and no NaN in what comes out.

#![no_main]

use adfq::update::{Grid, NoiseKind, Rule, Update};
use adfq_lab::lines::LineUpdate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, line @ ..] = data else { return };
    let Ok(line) = std::str::from_utf8(line) else { return };
    let rule = match choice % 3 {
        0 => Rule::Analytic,
        1 => Rule::Exact,
        _ => Rule::Grid(Grid::default()),
    };
    let noise = [NoiseKind::None, NoiseKind::Approximate, NoiseKind::Exact][usize::from(choice / 3 % 3)];
    let terminal_var = f64::from(choice / 9 % 2);
    let lines = LineUpdate { update: Update::new(rule), noise, terminal_var, components: choice / 18 % 2 == 1 };
    if let Ok(updated) = lines.apply(line) {
        assert!(!updated.contains("\"mean\":NaN") && !updated.contains("\"mean\":inf"), "{updated}");
    }
});
