//! Every golden case within the tolerance of `tests/golden/README.md`.

use adfq::Belief;
use adfq::update::{Next, Noise, Rule, Transition, Update};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::io::{BufRead, BufReader};

#[derive(Deserialize)]
struct Case {
    mu_sa: f64,
    var_sa: f64,
    r: f64,
    gamma: f64,
    var_w: f64,
    mu_next: Vec<f64>,
    var_next: Vec<f64>,
    mean: f64,
    var: f64,
    cond_mean: f64,
    cond_var: f64,
    tag: String,
}

fn cases(compressed: &'static [u8]) -> impl Iterator<Item = Case> {
    BufReader::new(GzDecoder::new(compressed))
        .lines()
        .map(|line| serde_json::from_str(&line.expect("readable")).expect("a golden case"))
}

/// Runs all cases; `class` is the tolerance of a perfectly conditioned one.
fn check(compressed: &'static [u8], rule: Rule, noise: fn(f64) -> Noise, class: f64) {
    let update = Update::new(rule).with_floor(0.0).expect("a floor");
    let mut worst = (0.0_f64, 0.0_f64);
    let mut failures = Vec::new();
    let mut count = 0;
    for (line, case) in cases(compressed).enumerate() {
        let next: Vec<Belief> = case
            .mu_next
            .iter()
            .zip(&case.var_next)
            .map(|(&mean, &var)| Belief::new(mean, var).unwrap())
            .collect();
        let prior = Belief::new(case.mu_sa, case.var_sa).unwrap();
        let transition = Transition::new(prior, case.r, case.gamma, Next::Beliefs(&next)).unwrap();
        let posterior = update.apply(&transition, noise(case.var_w)).unwrap();
        let mean_error = (posterior.mean() - case.mean).abs() / case.var.sqrt();
        let var_error = (posterior.var() / case.var - 1.0).abs();
        let mean_limit = class + 200.0 * case.cond_mean.max(1e-15);
        let var_limit = class + 200.0 * case.cond_var.max(1e-15);
        worst = (worst.0.max(mean_error / mean_limit), worst.1.max(var_error / var_limit));
        if !(mean_error <= mean_limit && var_error <= var_limit) {
            let actions = next.len();
            failures.push(format!(
                "line {}: {} |A| = {actions}: mean off by {mean_error:.1e} sd of {mean_limit:.1e}, \
                 variance by {var_error:.1e} of {var_limit:.1e}",
                line + 1,
                case.tag
            ));
        }
        count += 1;
    }
    println!("{count} cases; worst shares of the tolerance: mean {:.3}, variance {:.3}", worst.0, worst.1);
    assert_eq!(count, 999);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn analytic_rule_with_approximate_noise() {
    check(include_bytes!("golden/analytic.jsonl.gz"), Rule::Analytic, Noise::Approximate, 1e-12);
}

#[test]
fn exact_rule_without_noise() {
    check(include_bytes!("golden/exact.jsonl.gz"), Rule::Exact, |_| Noise::None, 1e-7);
}

#[test]
fn exact_rule_with_exact_noise() {
    check(include_bytes!("golden/noise.jsonl.gz"), Rule::Exact, Noise::Exact, 1e-7);
}
