//! Where the updates must go: to Q-learning as variances vanish, and to errors where there is no answer.

use adfq::update::limit::learning_rate;
use adfq::update::{Grid, Next, Noise, NoiseKind, Rule, RuleKind, Transition, Update};
use adfq::{Belief, Error};

fn belief(mean: f64, var: f64) -> Belief {
    Belief::new(mean, var).unwrap()
}

/// Theorems 1 and 2: with all variances multiplied by ε → 0, the mean approaches Q-learning with the rate α_τ. The
/// theorem's case (ii): the prior between the best target and the others, whose weights then vanish.
#[test]
fn both_rules_approach_q_learning_as_variances_vanish() {
    for actions in [2, 5] {
        for noise in [
            |_| Noise::None,
            |epsilon| Noise::Approximate(0.5 * epsilon),
            |epsilon| Noise::Exact(0.5 * epsilon),
        ] {
            for rule in [Rule::Analytic, Rule::Exact] {
                if rule == Rule::Exact && noise(1.0).kind() == NoiseKind::Approximate {
                    continue;
                }
                let error = |epsilon: f64| {
                    let next: Vec<_> = (0..actions)
                        .map(|b| belief(3.0 - f64::from(b), epsilon * (1.0 + f64::from(b))))
                        .collect();
                    let (prior, reward, gamma) = (belief(2.0, epsilon * 2.0), 0.2, 0.9);
                    let alpha = learning_rate(prior, gamma, next[0], noise(epsilon).var());
                    let q_learning = prior.mean() + alpha * (reward + gamma * next[0].mean() - prior.mean());
                    let transition = Transition::new(prior, reward, gamma, Next::Beliefs(&next)).unwrap();
                    let update = Update::new(rule).with_floor(0.0).unwrap();
                    (update.apply(&transition, noise(epsilon)).unwrap().mean() - q_learning).abs()
                };
                let errors = [1e-1, 1e-2, 1e-3, 1e-6].map(error);
                assert!(
                    errors.is_sorted_by(|a, b| a > b || *b < 1e-12),
                    "{rule:?}, {actions} actions: {errors:?}"
                );
                assert!(errors[3] < 1e-12, "{rule:?}, {actions} actions: {errors:?}");
            }
        }
    }
}

/// With fixed noise and vanishing beliefs the exact treatment of noise has the same limit.
#[test]
fn exact_noise_has_the_learning_rate_of_theorem_one() {
    let next = [belief(3.0, 1e-9), belief(1.0, 1e-9)];
    let prior = belief(2.0, 1e-3);
    let transition = Transition::new(prior, 0.0, 0.9, Next::Beliefs(&next)).unwrap();
    let alpha = learning_rate(prior, 0.9, next[0], 1e-2);
    for rule in [Rule::Analytic, Rule::Exact] {
        let mean = Update::new(rule).apply(&transition, Noise::Exact(1e-2)).unwrap().mean();
        assert!((mean - (2.0 + alpha * 0.7)).abs() < 1e-9, "{rule:?}: {mean}");
    }
}

#[test]
fn what_is_not_a_belief_is_an_error() {
    for mean in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(Belief::new(mean, 1.0), Err(Error::Mean(_))));
    }
    for var in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Belief::new(0.0, var), Err(Error::Variance(_))));
    }
}

#[test]
fn what_is_not_a_transition_is_an_error() {
    let (prior, next) = (belief(0.0, 1.0), [belief(0.0, 1.0)]);
    for reward in [f64::NAN, f64::INFINITY] {
        assert!(matches!(Transition::new(prior, reward, 0.9, Next::Beliefs(&next)), Err(Error::Reward(_))));
    }
    for discount in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            Transition::new(prior, 0.0, discount, Next::Beliefs(&next)),
            Err(Error::Discount(_))
        ));
    }
    assert_eq!(Transition::new(prior, 0.0, 0.9, Next::Beliefs(&[])), Err(Error::NoActions));
    for target_var in [-1.0, f64::NAN, f64::INFINITY] {
        let terminal = Transition::new(prior, 0.0, 0.9, Next::Terminal { target_var });
        assert!(matches!(terminal, Err(Error::TargetVariance(_))));
    }
}

#[test]
fn a_point_mass_is_an_error_and_noise_or_a_target_variance_mends_it() {
    let next = [belief(0.0, 1.0), belief(1.0, 2.0)];
    let certain = Transition::new(belief(0.0, 1.0), 3.0, 0.0, Next::Beliefs(&next)).unwrap();
    let ended =
        |target_var| Transition::new(belief(0.0, 1.0), 3.0, 0.9, Next::Terminal { target_var }).unwrap();
    for rule in [Rule::Analytic, Rule::Exact, Rule::Grid(Grid::default())] {
        let update = Update::new(rule);
        assert_eq!(update.apply(&certain, Noise::None), Err(Error::PointMass));
        assert_eq!(update.apply(&certain, Noise::Exact(0.0)), Err(Error::PointMass));
        assert_eq!(update.apply(&ended(0.0), Noise::None), Err(Error::PointMass));
        // Prior N(0,1) and target 3 with variance ½ meet at 2 with variance ⅓.
        for posterior in [
            update.apply(&certain, Noise::Exact(0.5)),
            update.apply(&ended(0.5), Noise::None),
            update.apply(&ended(0.25), Noise::Exact(0.25)),
        ] {
            let posterior = posterior.unwrap();
            assert!((posterior.mean() - 2.0).abs() < 1e-15 && (posterior.var() - 1.0 / 3.0).abs() < 1e-15);
        }
    }
}

#[test]
fn a_discount_too_small_to_square_is_a_point_mass_too() {
    let next = [belief(0.0, 1.0), belief(1.0, 2.0)];
    let transition = Transition::new(belief(0.0, 1.0), 3.0, 1e-160, Next::Beliefs(&next)).unwrap();
    assert_eq!(Update::default().apply(&transition, Noise::None), Err(Error::PointMass));
}

#[test]
fn noise_that_is_none_or_unsupported_is_an_error() {
    let next = [belief(0.0, 1.0), belief(1.0, 2.0)];
    let transition = Transition::new(belief(0.0, 1.0), 3.0, 0.9, Next::Beliefs(&next)).unwrap();
    for w in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            Update::default().apply(&transition, Noise::Exact(w)),
            Err(Error::NoiseVariance(_))
        ));
    }
    for (rule, kind) in [(Rule::Exact, RuleKind::Exact), (Rule::Grid(Grid::default()), RuleKind::Grid)] {
        assert_eq!(
            Update::new(rule).apply(&transition, Noise::Approximate(0.1)),
            Err(Error::NoiseUnsupported { rule: kind, noise: NoiseKind::Approximate })
        );
    }
}

#[test]
fn the_floor_is_a_floor() {
    let next = [belief(1.0, 1e-11), belief(0.0, 1e-11)];
    let transition = Transition::new(belief(0.0, 1e-11), 0.0, 0.9, Next::Beliefs(&next)).unwrap();
    assert_eq!(Update::default().apply(&transition, Noise::None).unwrap().var(), 1e-10);
    assert!(
        Update::default().with_floor(0.0).unwrap().apply(&transition, Noise::None).unwrap().var() < 1e-11
    );
    assert!(matches!(Update::default().with_floor(f64::NAN), Err(Error::Floor(_))));
}

/// Beyond the promised range an answer may not exist in double precision; then there is an error, not a wrong number.
#[test]
fn inputs_beyond_double_precision_are_an_error_or_a_proper_belief() {
    for scale in [1e-300, 1e-160, 1e150, 1e300] {
        for mean in [-1e300, 0.0, 1e300] {
            let next = [belief(mean, scale), belief(0.0, 1.0), belief(1.0, scale)];
            let transition = Transition::new(belief(1.0, scale), mean, 1.0, Next::Beliefs(&next)).unwrap();
            for rule in [Rule::Analytic, Rule::Exact, Rule::Grid(Grid::default())] {
                match Update::new(rule).apply(&transition, Noise::None) {
                    Ok(posterior) => assert!(posterior.mean().is_finite() && posterior.var() > 0.0),
                    Err(error) => {
                        assert!(matches!(error, Error::NotRepresentable { .. } | Error::PointMass), "{error}")
                    }
                }
            }
        }
    }
}
