//! Properties that hold for every valid input: no NaN, invariances, bounds, special cases.

use adfq::Belief;
use adfq::update::{Grid, Next, Noise, Rule, Transition, Update, analytic, exact, grid};
use proptest::collection::vec;
use proptest::prelude::*;

/// A problem in plain numbers, so that tests can transform it.
#[derive(Clone, Debug)]
struct Case {
    prior: (f64, f64),
    reward: f64,
    gamma: f64,
    next: Vec<(f64, f64)>,
}

impl Case {
    fn with<T>(&self, f: impl FnOnce(&Transition) -> T) -> T {
        let belief = |&(mean, var): &(f64, f64)| Belief::new(mean, var).unwrap();
        let next: Vec<Belief> = self.next.iter().map(belief).collect();
        f(&Transition::new(belief(&self.prior), self.reward, self.gamma, Next::Beliefs(&next)).unwrap())
    }

    fn map(
        &self,
        means: impl Fn(f64) -> f64,
        rewards: impl Fn(f64) -> f64,
        vars: impl Fn(f64) -> f64,
    ) -> Case {
        Case {
            prior: (means(self.prior.0), vars(self.prior.1)),
            reward: rewards(self.reward),
            gamma: self.gamma,
            next: self.next.iter().map(|&(mean, var)| (means(mean), vars(var))).collect(),
        }
    }
}

/// Means to ±1e12, densest around 0; also exact zeros and repeats of round numbers, so that ties occur.
fn mean() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-12.0..12.0_f64, any::<bool>()).prop_map(|(e, s)| if s { 10_f64.powf(e) } else { -(10_f64.powf(e)) }),
        2 => (-4..4_i32).prop_map(f64::from),
        1 => Just(0.0),
        1 => prop_oneof![Just(1e12), Just(-1e12)],
    ]
}

/// Variances from 1e-12 to 1e12.
fn var() -> impl Strategy<Value = f64> {
    prop_oneof![8 => (-12.0..12.0_f64).prop_map(|e| 10_f64.powf(e)), 1 => Just(1e-12), 1 => Just(1e12), 1 => Just(1.0)]
}

fn gamma() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.01..1.0, 1 => Just(1.0), 1 => Just(0.5), 1 => Just(1e-6)]
}

fn case(actions: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Case> {
    ((mean(), var()), mean(), gamma(), vec((mean(), var()), actions))
        .prop_map(|(prior, reward, gamma, next)| Case { prior, reward, gamma, next })
}

/// Problems on one scale, where a tolerance can be stated.
fn tame(actions: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Case> {
    let belief = || (-8.0..8.0, (-2.0..2.0).prop_map(|e: f64| 10_f64.powf(e)));
    (belief(), -4.0..4.0, 0.1..1.0, vec(belief(), actions)).prop_map(|(prior, reward, gamma, next)| Case {
        prior,
        reward,
        gamma,
        next,
    })
}

fn all_updates() -> Vec<(Rule, Noise)> {
    let noises = [Noise::None, Noise::Exact(1e-12), Noise::Exact(1.0), Noise::Exact(1e12)];
    let mut all: Vec<_> =
        noises.iter().flat_map(|&noise| [(Rule::Analytic, noise), (Rule::Exact, noise)]).collect();
    all.extend([1e-12, 1.0, 1e12].map(|w| (Rule::Analytic, Noise::Approximate(w))));
    all.push((Rule::Grid(Grid::default()), Noise::None));
    all
}

/// A proper belief and, for the components, proper shares.
fn check_sane(case: &Case, rule: Rule, noise: Noise) -> Result<(), TestCaseError> {
    let update = Update::new(rule).with_floor(0.0).unwrap();
    case.with(|transition| {
        let posterior = update.apply(transition, noise);
        prop_assert!(posterior.is_ok(), "{rule:?} {noise:?}: {posterior:?}");
        let components = update.components(transition, noise).unwrap();
        prop_assert_eq!(components.as_slice().len(), case.next.len());
        let total: f64 = components.as_slice().iter().map(|component| component.weight).sum();
        prop_assert!((total - 1.0).abs() < 1e-9, "{rule:?} {noise:?}: weights add to {total}");
        for component in components.as_slice() {
            prop_assert!(component.mean.is_finite() && component.var.is_finite() && component.var >= 0.0);
        }
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// `Belief` cannot hold a NaN or a variance that is not positive, so Ok is all that has to be checked.
    #[test]
    fn every_rule_gives_a_proper_belief(case in case(1..12)) {
        for (rule, noise) in all_updates() {
            check_sane(&case, rule, noise)?;
        }
    }

    /// Scaling means by 2^k and variances by 4^k is exact in binary: every bit must follow.
    #[test]
    fn scale_invariance_is_bit_for_bit(case in case(1..12), k in -8..8_i32) {
        let factor = 2_f64.powi(k);
        let scaled = case.map(|mean| mean * factor, |reward| reward * factor, |var| var * factor * factor);
        let plain = case.with(|t| analytic::update(t, Noise::None)).unwrap();
        let scaled = scaled.with(|t| analytic::update(t, Noise::None)).unwrap();
        prop_assert_eq!(scaled.mean(), plain.mean() * factor);
        prop_assert_eq!(scaled.var(), plain.var() * factor * factor);
    }

    /// The quadrature decides where to put its nodes by rough logarithms, which move with the scale.
    #[test]
    fn scale_invariance_of_the_exact_rule(case in tame(1..12), k in -8..8_i32) {
        let factor = 2_f64.powi(k);
        let scaled = case.map(|mean| mean * factor, |reward| reward * factor, |var| var * factor * factor);
        let plain = case.with(|t| exact::update(t, Noise::None)).unwrap();
        let scaled = scaled.with(|t| exact::update(t, Noise::None)).unwrap();
        prop_assert!((scaled.mean() - plain.mean() * factor).abs() <= 1e-9 * scaled.sd());
        prop_assert!((scaled.var() / (plain.var() * factor * factor) - 1.0).abs() <= 1e-9);
    }

    /// Adding c to all values and c(1-γ) to the reward adds c to the posterior.
    #[test]
    fn shift_invariance(case in tame(1..12), shift in -16..16_i32) {
        let shift = f64::from(shift);
        let by = shift * (1.0 - case.gamma);
        let shifted = case.map(|mean| mean + shift, |reward| reward + by, |var| var);
        for (rule, tolerance) in [(Rule::Analytic, 1e-8), (Rule::Exact, 1e-8)] {
            let update = Update::new(rule);
            let plain = case.with(|t| update.apply(t, Noise::None)).unwrap();
            let shifted = shifted.with(|t| update.apply(t, Noise::None)).unwrap();
            prop_assert!((shifted.mean() - shift - plain.mean()).abs() <= tolerance * plain.sd());
            // σ* jumps where a target crosses a peak, so the analytic variance has no such bound near there.
            if rule == Rule::Exact {
                prop_assert!((shifted.var() / plain.var() - 1.0).abs() <= tolerance);
            }
        }
    }

    #[test]
    fn permutation_invariance_is_bit_for_bit(case in case(2..20), rotation in 1..19_usize) {
        let mut permuted = case.clone();
        let actions = permuted.next.len();
        permuted.next.rotate_left(rotation % actions);
        permuted.next.swap(0, actions / 2);
        for (rule, noise) in all_updates() {
            let update = Update::new(rule).with_floor(0.0).unwrap();
            let plain = case.with(|t| update.apply(t, noise)).unwrap();
            prop_assert_eq!(plain, permuted.with(|t| update.apply(t, noise)).unwrap());
        }
    }

    /// The analytic mean is a mean of means; the exact one may exceed them all (the mean of a maximum does).
    #[test]
    fn the_analytic_mean_stays_among_prior_and_targets(case in case(1..20)) {
        let targets = case.next.iter().map(|&(mean, _)| case.reward + case.gamma * mean);
        let (least, greatest) = targets.fold((case.prior.0, case.prior.0), |(l, g), m| (l.min(m), g.max(m)));
        for noise in [Noise::None, Noise::Approximate(1.0), Noise::Exact(1.0)] {
            let mean = case.with(|t| analytic::update(t, noise)).unwrap().mean();
            prop_assert!(least <= mean && mean <= greatest, "{noise:?}: {mean} not in [{least}, {greatest}]");
        }
    }

    #[test]
    fn one_action_is_the_kalman_update(case in tame(1), w in 0.0..4.0) {
        let (mean, var) = case.next[0];
        let target = case.gamma * case.gamma * var + w;
        let gain = case.prior.1 / (case.prior.1 + target);
        let kalman = case.prior.0 + gain * (case.reward + case.gamma * mean - case.prior.0);
        for noise in [Noise::Approximate(w), Noise::Exact(w)] {
            let posterior = case.with(|t| analytic::update(t, noise)).unwrap();
            prop_assert!((posterior.mean() - kalman).abs() <= 1e-12 * (1.0 + kalman.abs()));
            prop_assert!((posterior.var() / (gain * target) - 1.0).abs() <= 1e-12);
        }
        let same = case.with(|t| (exact::update(t, Noise::Exact(w)).unwrap(), grid::update(t, Noise::Exact(w), &Grid::default()).unwrap(), analytic::update(t, Noise::Exact(w)).unwrap()));
        prop_assert_eq!(same.0, same.2);
        prop_assert_eq!(same.1, same.2);
    }

    /// A third action far below changes nothing, but takes the quadrature instead of the closed form.
    #[test]
    fn two_actions_in_closed_form_equal_quadrature(case in tame(2), w in prop_oneof![Just(0.0), 0.0..4.0]) {
        let mut three = case.clone();
        three.next.push((-1e9, 1e-6));
        let closed = case.with(|t| exact::update(t, Noise::Exact(w))).unwrap();
        let integrated = three.with(|t| exact::update(t, Noise::Exact(w))).unwrap();
        prop_assert!((closed.mean() - integrated.mean()).abs() <= 1e-8 * closed.sd(), "{closed:?} {integrated:?}");
        prop_assert!((closed.var() / integrated.var() - 1.0).abs() <= 1e-8, "{closed:?} {integrated:?}");
    }

    /// The mass, mean and variance of the terms are the posterior's, however they are computed.
    #[test]
    fn components_make_up_the_posterior(case in tame(2..8)) {
        for (rule, noise) in [(Rule::Analytic, Noise::Approximate(0.1)), (Rule::Exact, Noise::None), (Rule::Exact, Noise::Exact(0.1)), (Rule::Analytic, Noise::Exact(0.1))] {
            let update = Update::new(rule).with_floor(0.0).unwrap();
            let (posterior, components) = case.with(|t| (update.apply(t, noise).unwrap(), update.components(t, noise).unwrap()));
            prop_assert!((posterior.mean() - components.mean()).abs() <= 1e-8 * posterior.sd(), "{rule:?} {noise:?}");
            prop_assert!((posterior.var() / components.var() - 1.0).abs() <= 1e-8, "{rule:?} {noise:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn many_actions_give_a_proper_belief(case in case(900..=1024)) {
        for (rule, noise) in [(Rule::Analytic, Noise::None), (Rule::Analytic, Noise::Approximate(1.0)), (Rule::Exact, Noise::Exact(1.0))] {
            check_sane(&case, rule, noise)?;
        }
    }
}
