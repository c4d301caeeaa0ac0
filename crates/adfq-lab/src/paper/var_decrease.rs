//! Fig. var_decrease of the paper (App. C): the variance after an update against that before, for two next actions;
//! and, by random settings, how often and how far it grows, which the paper says it does not.

use super::picture::{computed, numbers};
use crate::Result;
use crate::experiment::{Experiment, Findings, Job, Plan, Stop};
use crate::plot::{Axis, Color, Dash, Figure, Line, Panel, Rule};
use crate::report::Section;
use crate::stats::{Estimate, Interval, quantile};
use crate::table::Table;
use crate::verdict::{Claim, Direction};
use adfq::Belief;
use adfq::random::stream;
use adfq::update::{Next, Noise, Rule as UpdateRule, Transition, Update, Workspace};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

const DISCOUNT: f64 = 0.9;
/// How many random settings are tried.
const DRAWS: u64 = 100_000;
/// Where random settings come from: μ_{s',b} uniform, all variances uniform in their logarithm.
const MEANS: (f64, f64) = (-10.0, 10.0);
const VARIANCES: (f64, f64) = (0.01, 100.0);
/// The largest σ²_k of the curves, which the paper does not give, and their steps.
const HIGHEST: f64 = 2.0;
const STEPS: u32 = 200;
/// As good as zero, for the fixed point.
const TINY: f64 = 1e-9;

/// The beliefs (μ, σ²) over the two next actions. The prior mean is 0 and there is no reward: only differences count.
type NextTwo = [(f64, f64); 2];

struct VarDecrease {
    plan: Plan,
}

/// The experiment; a shorter plan tries fewer settings.
pub fn prepare(plan: &Plan, _domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(VarDecrease { plan: *plan })
}

/// A sample of random settings, the same for both rules.
#[derive(Debug)]
struct Sample {
    draws: u64,
    seed: u64,
}

/// What a sample shows of each rule.
#[derive(Serialize, Deserialize)]
struct Outcome {
    exact: Growth,
    analytic: Growth,
}

/// How the variance changes over a sample.
#[derive(Serialize, Deserialize)]
struct Growth {
    /// The number of settings, and of those where σ²_{k+1} > σ²_k.
    draws: u64,
    grown: u64,
    /// The 0 %, 1 %, … 100 % quantiles of σ²_{k+1} / σ²_k.
    quantiles: Vec<f64>,
    /// Where the ratio is largest: σ²_k and the next beliefs.
    worst_var: f64,
    worst_next: NextTwo,
}

impl Experiment for VarDecrease {
    type Unit = Sample;
    type Outcome = Outcome;

    fn units(&self) -> Vec<Sample> {
        vec![Sample { draws: self.plan.steps(DRAWS), seed: self.plan.seed }]
    }

    fn key(&self, _sample: &Sample) -> String {
        "var-decrease/sample".to_owned()
    }

    fn compute(&self, sample: &Sample, stop: &Stop) -> Result<Outcome> {
        let growth = |rule| growth(rule, sample, &mut stream(sample.seed, &self.key(sample)), stop);
        Ok(Outcome { exact: growth(UpdateRule::Exact)?, analytic: growth(UpdateRule::Analytic)? })
    }

    fn analyse(&self, outcomes: &[(Sample, Outcome)]) -> Result<Findings> {
        let Some((_, outcome)) = outcomes.first() else { return Ok(Findings::new(prose())) };
        let figure = figure(outcome)?;
        let section = claims(prose(), outcome)?.table("Random settings", summary(outcome)?);
        let data = numbers(&figure)?;
        Ok(Findings::new(section).figure("var_decrease", figure).data("var_decrease", data))
    }
}

/// σ²_{k+1} after an update of N(0, σ²_k).
fn updated(rule: UpdateRule, var: f64, next: NextTwo, workspace: &mut Workspace) -> Result<f64> {
    let [first, second] = next;
    let next = [Belief::new(first.0, first.1)?, Belief::new(second.0, second.1)?];
    let transition = Transition::new(Belief::new(0.0, var)?, 0.0, DISCOUNT, Next::Beliefs(&next))?;
    let update = Update::new(rule).with_floor(0.0)?;
    Ok(update.apply_in(workspace, &transition, Noise::None)?.var())
}

fn growth(rule: UpdateRule, sample: &Sample, rng: &mut impl Rng, stop: &Stop) -> Result<Growth> {
    let (mut ratios, mut workspace) = (Vec::new(), Workspace::default());
    let (mut largest, mut worst_var, mut worst_next) = (0.0, f64::NAN, [(0.0, f64::NAN); 2]);
    for i in 0..sample.draws {
        if i % 10_000 == 0 {
            stop.check()?;
        }
        let (var, next) = draw(rng);
        let ratio = updated(rule, var, next, &mut workspace)? / var;
        if ratio > largest {
            (largest, worst_var, worst_next) = (ratio, var, next);
        }
        ratios.push(ratio);
    }
    let grown = ratios.iter().filter(|&&ratio| ratio > 1.0).count() as u64;
    ratios.sort_unstable_by(f64::total_cmp);
    let quantiles = (0..=100).map(|i| quantile(&ratios, f64::from(i) / 100.0)).collect();
    Ok(Growth { draws: sample.draws, grown, quantiles, worst_var, worst_next })
}

/// A random setting: σ²_k and the next beliefs.
fn draw(rng: &mut impl Rng) -> (f64, NextTwo) {
    let (low, high) = (libm::log(VARIANCES.0), libm::log(VARIANCES.1));
    let var = libm::exp(rng.random_range(low..high));
    let next =
        std::array::from_fn(|_| (rng.random_range(MEANS.0..MEANS.1), libm::exp(rng.random_range(low..high))));
    (var, next)
}

/// The left panel of the paper: one action below the prior mean, the other further and further above it.
fn by_mean() -> Vec<(String, NextTwo)> {
    let setting = |gap: f64| (format!("μ₂ − μ₁ = {gap}"), [(-2.0, 1.0), (gap - 2.0, 1.0)]);
    [0.0, 0.5, 1.0, 2.0, 4.0].map(setting).to_vec()
}

/// The right panel: both actions at the prior mean, the first more and more uncertain.
fn by_variance() -> Vec<(String, NextTwo)> {
    let setting = |ratio: f64| (format!("σ₁² / σ₂² = {ratio}"), [(0.0, ratio), (0.0, 1.0)]);
    [0.1, 0.5, 2.0, 10.0, 100.0].map(setting).to_vec()
}

/// The points (σ²_k, σ²_{k+1}) of a setting, for σ²_k from nearly 0 up to `highest`.
fn points(rule: UpdateRule, next: NextTwo, highest: f64) -> Result<Vec<(f64, f64)>> {
    let mut workspace = Workspace::default();
    let vars = (0..=STEPS).map(|i| TINY.max(highest * f64::from(i) / f64::from(STEPS)));
    vars.map(|var| Ok((var, updated(rule, var, next, &mut workspace)?))).collect()
}

/// The two rules with their names, looks and outcomes.
fn rules(outcome: &Outcome) -> [(&'static str, UpdateRule, (Color, Dash), &Growth); 2] {
    [
        ("exact moments", UpdateRule::Exact, (Color::Black, Dash::Solid), &outcome.exact),
        ("analytic", UpdateRule::Analytic, (Color::Vermillion, Dash::Dashed), &outcome.analytic),
    ]
}

impl Growth {
    fn share(&self) -> f64 {
        self.grown as f64 / self.draws as f64
    }

    fn largest(&self) -> f64 {
        self.quantiles.last().copied().unwrap_or(f64::NAN)
    }

    /// The share minus `limit`, with the 95 % interval of Wilson (1927).
    fn share_less(&self, limit: f64) -> Estimate {
        let (share, n, z) = (self.share(), self.draws as f64, 1.959_964);
        let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let variance = share * (1.0 - share) / n + z * z / (4.0 * n * n);
        let half = z * variance.sqrt() / (1.0 + z * z / n);
        let interval = Interval { low: centre - half - limit, high: centre + half - limit };
        Estimate { value: share - limit, interval }
    }
}

fn prose() -> Section {
    Section::new("Fig. var_decrease: does the variance shrink?")
        .paragraph(
            "The variance of Q(s,a) after an update against that before, for two next actions, γ = 0.9 and the exact \
             rule; below the diagonal it shrinks. The paper gives neither its ranges nor its other parameters. Here \
             the prior mean is 0 and r = 0 (only differences count). In (a) the first next belief is N(−2, 1), the \
             second N(μ₂, 1); in (b) both means are 0 and σ₂² = 1.",
        )
        .paragraph(
            "The paper takes such curves for evidence that the variance always shrinks, a condition of its Theorem 1. \
             Random settings say otherwise: next means uniform in [−10, 10], all three variances between 0.01 and \
             100, uniform in their logarithm. Panel (c) shows the setting with the largest growth by the exact rule, \
             for any variance before. It grows where two terms of the posterior have about the same mass and lie \
             apart: the posterior then has two modes.",
        )
        .paragraph(
            "That 0 is a fixed point holds: a belief without doubt is not moved. So near 0 the variance shrinks ever \
             more slowly, by a factor that tends to 1.",
        )
}

fn claims(mut section: Section, outcome: &Outcome) -> Result<Section> {
    let (mut steepest, mut highest) = (0.0_f64, 0.0_f64);
    for (_, next) in by_mean().into_iter().chain(by_variance()) {
        for (before, after) in points(UpdateRule::Exact, next, HIGHEST)? {
            if before == TINY {
                highest = highest.max(after);
            } else {
                steepest = steepest.max(after / before);
            }
        }
    }
    section = section.claim(computed(
        "The variance shrinks on all curves of (a) and (b)",
        "largest σ² after / σ² before, minus 1",
        Direction::Less,
        steepest - 1.0,
    ));
    for (name, _, _, growth) in rules(outcome) {
        section = section
            .claim(computed(
                format!("The variance always shrinks ({name})"),
                format!("largest σ² after / σ² before of {} random settings, minus 1", growth.draws),
                Direction::Less,
                growth.largest() - 1.0,
            ))
            .claim(Claim::new(
                format!(
                    "It shrinks for a large range of settings: at least 95 % of the random ones ({name})"
                ),
                "share of settings in which it grows, minus 0.05",
                Direction::Less,
                growth.share_less(0.05),
            ));
    }
    Ok(section.claim(computed(
        "0 is a fixed point: the variance after goes to 0 with that before",
        "largest σ² after on the curves of (a) and (b) where σ² before is 1e-9, in units of 1e-9, minus 10",
        Direction::Less,
        highest / TINY - 10.0,
    )))
}

fn summary(outcome: &Outcome) -> Result<Table> {
    let mut table = Table::new([
        "rule",
        "settings",
        "grown",
        "share grown",
        "median ratio",
        "largest ratio",
        "its σ²",
        "its μ₁",
        "its σ₁²",
        "its μ₂",
        "its σ₂²",
    ]);
    for (name, _, _, growth) in rules(outcome) {
        let [first, second] = growth.worst_next;
        let median = growth.quantiles.get(50).copied();
        table.push([
            name.into(),
            (growth.draws as usize).into(),
            (growth.grown as usize).into(),
            growth.share().into(),
            median.into(),
            growth.largest().into(),
            growth.worst_var.into(),
            first.0.into(),
            first.1.into(),
            second.0.into(),
            second.1.into(),
        ])?;
    }
    Ok(table)
}

fn figure(outcome: &Outcome) -> Result<Figure> {
    Ok(Figure::new("Variance after an update, by the variance before")
        .columns(2)
        .panel(curves_panel("(a) by μ₂ − μ₁", Dash::Solid, by_mean())?)
        .panel(curves_panel("(b) by σ₁² / σ₂²", Dash::DashDot, by_variance())?)
        .panel(worst_panel(outcome)?)
        .panel(quantile_panel(outcome)))
}

/// A panel with the diagonal, above which variances grow.
fn plane(title: &str, highest: f64) -> Panel {
    let (x, y) = (Axis::linear("σ² before").from(0.0).to(highest), Axis::linear("σ² after").from(0.0));
    let diagonal = Line::new("unchanged", [(0.0, 0.0), (highest, highest)]);
    Panel::new(title, x, y).layer(diagonal.color(Color::Grey).dash(Dash::Dashed))
}

/// A curve for each setting, by the exact rule.
fn curves_panel(title: &str, dash: Dash, settings: Vec<(String, NextTwo)>) -> Result<Panel> {
    let mut panel = plane(title, HIGHEST);
    panel.y.high = Some(1.0);
    for (i, (label, next)) in settings.into_iter().enumerate() {
        let line = Line::new(label, points(UpdateRule::Exact, next, HIGHEST)?);
        panel = panel.layer(line.color(Color::slot(i)).dash(dash));
    }
    Ok(panel)
}

/// The setting with the largest growth by the exact rule, and what the analytic rule does there.
fn worst_panel(outcome: &Outcome) -> Result<Panel> {
    let Growth { worst_var, worst_next, .. } = outcome.exact;
    let highest = 2.0 * worst_var;
    let mut panel = plane("(c) the largest growth found", highest);
    for (name, rule, (color, dash), _) in rules(outcome) {
        panel = panel.layer(Line::new(name, points(rule, worst_next, highest)?).color(color).dash(dash));
    }
    Ok(panel)
}

/// The share of settings by the ratio of the variances.
fn quantile_panel(outcome: &Outcome) -> Panel {
    let (x, y) = (Axis::log("σ² after / σ² before").from(0.01), Axis::linear("share of settings below"));
    let panel = Panel::new("(d) random settings", x, y.from(0.0).to(1.05));
    let panel = panel.layer(Rule::vertical("", 1.0));
    rules(outcome).into_iter().fold(panel, |panel, (name, _, (color, dash), growth)| {
        let shares = growth.quantiles.iter().enumerate().map(|(i, &ratio)| (ratio, i as f64 / 100.0));
        panel.layer(Line::new(name, shares).color(color).dash(dash))
    })
}

#[cfg(test)]
mod tests {
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
            let again =
                updated(rule, growth.worst_var, growth.worst_next, &mut Workspace::default()).unwrap();
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
        assert!(
            (interval.low - 0.2189).abs() < 1e-4 && (interval.high - 0.3958).abs() < 1e-4,
            "{interval:?}"
        );
    }

    #[test]
    fn the_figure_has_the_paper_s_curves_and_ours() {
        use crate::plot::Layer;
        let figure = figure(&outcome(1_000)).unwrap();
        let lines = |panel: usize| -> Vec<(String, usize)> {
            let layers = figure.panels[panel].layers.iter();
            let lines =
                layers.filter_map(|layer| if let Layer::Line(line) = layer { Some(line) } else { None });
            lines.map(|line| (line.label.clone(), line.points.len())).collect()
        };
        assert_eq!(lines(0)[..2], [("unchanged".to_owned(), 2), ("μ₂ − μ₁ = 0".to_owned(), 201)]);
        assert_eq!(lines(1)[1..].iter().map(|line| line.1).collect::<Vec<_>>(), [201; 5]);
        assert_eq!(lines(3), [("exact moments".to_owned(), 101), ("analytic".to_owned(), 101)]);
    }
}
