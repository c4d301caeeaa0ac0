//! Any numbers through the constructors and every rule: a proper belief or an error, never a panic.

#![no_main]

use adfq::update::{Grid, Next, Noise, Rule, Transition, Update};
use adfq::{Belief, MaxOfGaussians};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    prior: (f64, f64),
    reward: f64,
    discount: f64,
    next: Vec<(f64, f64)>,
    terminal: Option<f64>,
    var_w: f64,
    rule: u8,
}

fuzz_target!(|input: Input| {
    let belief = |&(mean, var): &(f64, f64)| Belief::new(mean, var);
    let Ok(prior) = belief(&input.prior) else { return };
    let Ok(next) = input.next.iter().take(64).map(belief).collect::<Result<Vec<_>, _>>() else { return };
    if let Ok(maximum) = MaxOfGaussians::new(&next) {
        assert!(maximum.mean().is_finite() && maximum.var() > 0.0, "{maximum:?}");
    }
    let next = input.terminal.map_or(Next::Beliefs(&next), |target_var| Next::Terminal { target_var });
    let Ok(transition) = Transition::new(prior, input.reward, input.discount, next) else { return };
    let rule = [Rule::Analytic, Rule::Exact, Rule::Grid(Grid::default())][usize::from(input.rule % 3)];
    let noise = [Noise::None, Noise::Approximate(input.var_w), Noise::Exact(input.var_w)][usize::from(input.rule / 3 % 3)];
    if let Ok(posterior) = Update::new(rule).apply(&transition, noise) {
        assert!(posterior.mean().is_finite() && posterior.var() > 0.0, "{posterior:?}");
    }
});
