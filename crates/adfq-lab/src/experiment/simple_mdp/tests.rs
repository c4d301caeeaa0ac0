use super::*;
use crate::plot::{Figure, Layer};
use crate::verdict::Verdict;

#[test]
fn beliefs_at_s1_are_the_gaussian_products() {
    for target_var in [AUTHORS, TRUE_VARIANCE] {
        for (scene, sum) in Scene::both(target_var).unwrap().iter().zip([20.0, 10.0]) {
            // Precisions add: that of N(0, 100) and those of four rewards with the given sum.
            let precision = 0.01 + 4.0 / target_var;
            assert!((scene.next[1].var() * precision - 1.0).abs() < 1e-12);
            assert!((scene.next[1].mean() - sum / target_var / precision).abs() < 1e-12);
            assert_eq!(scene.next[0], scene.prior);
        }
    }
}

#[test]
fn the_true_variance_is_that_of_the_reward() {
    let mdp = simple(2).unwrap();
    let outcomes = mdp.outcomes(1, 1);
    let mean: f64 = outcomes.iter().map(|o| o.probability * o.reward).sum();
    let square: f64 = outcomes.iter().map(|o| o.probability * o.reward * o.reward).sum();
    assert!((square - mean * mean - TRUE_VARIANCE).abs() < 1e-12);
}

/// ∫ y dx over the area with this label in a panel.
fn integral(figure: &Figure, panel: usize, label: &str) -> f64 {
    let points = figure.panels[panel].layers.iter().find_map(|layer| match layer {
        Layer::Area(area) if area.label == label => Some(&area.points),
        _ => None,
    });
    let pairs = points.unwrap().windows(2);
    pairs.map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0)).sum()
}

#[test]
fn drawn_densities_integrate_to_one_even_as_needles() {
    let figures = [
        panels::needles(&Scene::both(AUTHORS).unwrap()),
        panels::curves(&Scene::both(TRUE_VARIANCE).unwrap()),
    ];
    for figure in figures {
        assert_eq!(figure.panels.len(), 6);
        for column in 0..2 {
            for (panel, label) in [(column, "Q(s₁,a₁), tried four times"), (2 + column, "exact posterior")]
            {
                let mass = integral(&figure, panel, label);
                assert!((mass - 1.0).abs() < 2e-3, "{} {label}: {mass}", figure.title);
            }
        }
    }
}

#[test]
fn sigma_does_not_depend_on_the_reward() {
    for target_var in [AUTHORS, TRUE_VARIANCE] {
        let claims = claims("", &Scene::both(target_var).unwrap());
        assert_eq!((claims[0].difference, claims[0].verdict), (0.0, Verdict::DoesNotHold));
        assert_eq!(claims[2].verdict, Verdict::Holds, "{claims:?}");
    }
}

#[test]
fn q_learning_takes_the_untried_action_after_a_surprise() {
    let [expected, surprising] = Scene::both(AUTHORS).unwrap();
    assert_eq!((surprising.q_next[0], surprising.q_updated), (0.0, 0.0));
    assert!(surprising.q_next[1] < 0.0 && expected.q_next[1] > 4.0);
    assert!((expected.q_updated - 0.5 * 0.9 * expected.q_next[1]).abs() < 1e-12);
}
