use super::*;
use crate::plot::{Figure, Layer};
use crate::verdict::Verdict;

/// The points of the first line or area with this label.
fn points<'a>(figure: &'a Figure, panel: usize, label: &str) -> &'a [(f64, f64)] {
    let found = figure.panels[panel].layers.iter().find_map(|layer| match layer {
        Layer::Line(line) if line.label == label => Some(&line.points),
        Layer::Area(area) if area.label == label => Some(&area.points),
        Layer::Markers(markers) if markers.label == label => Some(&markers.points),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("panel {panel} has no {label:?}"))
}

/// ∫ y dx by the trapezium rule.
fn integral(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0)).sum()
}

#[test]
fn densities_integrate_to_one_and_terms_to_their_masses() {
    let scene = Scene::new().unwrap();
    let (update, factors) = (scene.update(), scene.factors());
    for label in ["prior", "exact posterior", "analytic mixture"] {
        assert!((integral(points(&update, 0, label)) - 1.0).abs() < 1e-6, "{label}");
    }
    for (b, action) in scene.actions.iter().enumerate() {
        assert!((integral(points(&factors, b, "prior × target")) - 1.0).abs() < 1e-4, "b = {b}");
        let term = integral(points(&factors, 6 + b, "term of the posterior"));
        assert!((term - action.exact.weight).abs() < 1e-6, "b = {b}: {term}");
    }
    let masses: f64 = scene.actions.iter().map(|action| action.exact.weight).sum();
    assert!((masses - 1.0).abs() < 1e-12);
}

#[test]
fn the_factors_have_the_values_of_their_formulas() {
    let scene = Scene::new().unwrap();
    let figure = scene.factors();
    assert_eq!(figure.panels.len(), 12);
    // c₁ = N(−1.8; 0, 1 + .81·2), by hand.
    let (error, weight) = points(&figure, 3, "c of this action")[0];
    assert!((error + 1.8).abs() < 1e-15 && (weight - 0.132_808_6).abs() < 1e-7, "{error} {weight}");
    // μ̄ = −1.8/(1 + 1.62) and σ̄² = 1.62/2.62.
    let product = scene.actions[0].product;
    assert!((product.mean() + 1.8 / 2.62).abs() < 1e-15 && (product.var() - 1.62 / 2.62).abs() < 1e-15);
}

#[test]
fn the_terms_outweigh_what_the_td_errors_say() {
    use Verdict::{DoesNotHold, Holds};
    let section = Scene::new().unwrap().section().unwrap();
    let verdicts: Vec<_> = section.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [Holds, DoesNotHold, Holds, DoesNotHold, Holds, Holds]);
}
