use super::*;
use crate::verdict::Verdict;

fn outcome(draws: u64) -> Outcome {
    let experiment = VarDecrease { plan: Plan::default() };
    experiment.compute(&Sample { draws, seed: 7 }, &Stop::default()).unwrap()
}

#[test]
fn one_belief_twice_has_the_variance_of_a_maximum() {
    // A prior that knows nothing takes over the maximum of two N(0, γ²): its variance is γ² (1 − 1/π).
    let var = updated(UpdateRule::Exact, 1e8, [(0.0, 1.0); 2], &mut Workspace::default()).unwrap();
    assert!((var - 0.81 * (1.0 - std::f64::consts::FRAC_1_PI)).abs() < 1e-6, "{var}");
}

#[test]
fn curves_start_at_the_fixed_point_and_stay_below_the_diagonal() {
    for (label, next) in by_mean().into_iter().chain(by_variance()) {
        let curve = points(UpdateRule::Exact, next, HIGHEST).unwrap();
        assert_eq!(curve.len(), STEPS as usize + 1);
        assert!((curve[0].1 / TINY - 1.0).abs() < 1e-6, "{label}: {:?}", curve[0]);
        assert!(curve.iter().all(|&(before, after)| after < before), "{label}");
    }
}

#[test]
fn some_random_settings_grow_under_both_rules() {
    let outcome = outcome(20_000);
    for (name, _, _, growth) in rules(&outcome) {
        assert!(growth.quantiles.is_sorted() && growth.quantiles.len() == 101, "{name}");
        assert!(growth.grown > 0 && growth.largest() > 1.0, "{name}");
        // The worst setting is the one that was recorded.
        let rule = if name == "analytic" { UpdateRule::Analytic } else { UpdateRule::Exact };
        let again = updated(rule, growth.worst_var, growth.worst_next, &mut Workspace::default()).unwrap();
        assert_eq!(again / growth.worst_var, growth.largest());
    }
    let verdict = |i: usize| claims(prose(), &outcome).unwrap().claims[i].verdict;
    assert_eq!(
        [verdict(0), verdict(1), verdict(3)],
        [Verdict::Holds, Verdict::DoesNotHold, Verdict::DoesNotHold]
    );
}

#[test]
fn wilson_interval_by_hand() {
    // 30 of 100: [.2189, .3958], the textbook's.
    let growth =
        Growth { draws: 100, grown: 30, quantiles: vec![], worst_var: 1.0, worst_next: [(0.0, 1.0); 2] };
    let Estimate { value, interval } = growth.share_less(0.0);
    assert_eq!(value, 0.3);
    assert!((interval.low - 0.2189).abs() < 1e-4 && (interval.high - 0.3958).abs() < 1e-4, "{interval:?}");
}

#[test]
fn the_figure_has_the_paper_s_curves_and_ours() {
    use crate::plot::Layer;
    let figure = panels::figure(&outcome(1_000)).unwrap();
    let lines = |panel: usize| -> Vec<(String, usize)> {
        let layers = figure.panels[panel].layers.iter();
        let lines = layers.filter_map(|layer| if let Layer::Line(line) = layer { Some(line) } else { None });
        lines.map(|line| (line.label.clone(), line.points.len())).collect()
    };
    assert_eq!(lines(0)[..2], [("unchanged".to_owned(), 2), ("μ₂ − μ₁ = 0".to_owned(), 201)]);
    assert_eq!(lines(1)[1..].iter().map(|line| line.1).collect::<Vec<_>>(), [201; 5]);
    assert_eq!(lines(3), [("exact moments".to_owned(), 101), ("analytic".to_owned(), 101)]);
}
