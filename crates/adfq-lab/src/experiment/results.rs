//! Records of learning trials, and the questions one asks them: curves, tables and claims.

use super::agents;
use super::solved_domain::title;
use super::trial::{Record, Trial};
use super::{Experiment, Findings, Stop};
use crate::Result;
use crate::plot::{Line, Markers, Panel, Shape};
use crate::stats::{Bootstrap, Estimate, Interval, mean};
use crate::table::Table;
use crate::verdict::{Claim, Direction};
use adfq::random::stream;

/// A point of a line at which nothing is drawn.
const GAP: (f64, f64) = (f64::NAN, f64::NAN);

/// A number that a record boils down to.
pub type Score<'a> = &'a dyn Fn(&Record) -> f64;

/// Outcomes of trials, and the questions one asks them.
pub struct Results<'a>(pub &'a [(Trial, Record)]);

impl<'a> Results<'a> {
    /// The domains, in the order of the trials.
    pub fn domains(&self) -> Vec<&'static str> {
        let mut domains: Vec<&str> = self.0.iter().map(|(trial, _)| trial.domain).collect();
        domains.dedup();
        domains
    }

    /// The labels of a domain's contenders, in the order of the trials.
    pub fn labels(&self, domain: &str) -> Vec<&'static str> {
        let trials = self.0.iter().filter(|(trial, _)| trial.domain == domain);
        let mut labels: Vec<&str> = trials.map(|(trial, _)| trial.contender.label).collect();
        labels.dedup();
        labels
    }

    /// The records of a contender in a domain, by trial.
    pub fn records(&self, domain: &str, label: &str) -> Vec<&'a Record> {
        let found = |(trial, _): &&(Trial, Record)| trial.domain == domain && trial.contender.label == label;
        self.0.iter().filter(found).map(|(_, record)| record).collect()
    }

    /// A score of each trial of a contender.
    pub fn scores(&self, domain: &str, label: &str, score: Score<'_>) -> Vec<f64> {
        self.records(domain, label).into_iter().map(score).collect()
    }

    /// How many trials of a contender diverged.
    pub fn diverged(&self, domain: &str, label: &str) -> usize {
        self.records(domain, label).iter().filter(|record| record.diverged.is_some()).count()
    }

    /// The mean curve over trials and its 95 % interval at each look; NaN from where a trial has diverged.
    pub fn curve(
        &self,
        domain: &str,
        label: &str,
        pick: impl Fn(&Record) -> Vec<f64>,
    ) -> Vec<(u64, Estimate)> {
        let records = self.records(domain, label);
        let curves: Vec<Vec<f64>> = records.iter().map(|record| pick(record)).collect();
        let steps = records.first().map_or(&[][..], |record| &record.steps);
        let mut rng = stream(0, &format!("curve/{domain}/{label}"));
        let at = |(look, &step): (usize, &u64)| {
            let values: Vec<f64> = curves.iter().filter_map(|curve| curve.get(look).copied()).collect();
            (step, interval_of_mean(&values, &mut rng))
        };
        steps.iter().enumerate().map(at).collect()
    }

    /// All labels, in the order of every legend.
    fn all_labels(&self) -> impl Iterator<Item = &'static str> + '_ {
        let takes_part = |label: &&str| self.0.iter().any(|(trial, _)| trial.contender.label == *label);
        agents::LOOKS.iter().map(|(label, ..)| *label).filter(takes_part)
    }

    /// Adds the mean curves of a domain to a panel, and a triangle where a trial diverged. Who does not take part in
    /// this domain has a line that is one gap, so that the legend always has the same order.
    pub fn draw(&self, mut panel: Panel, domain: &str, pick: impl Fn(&Record) -> Vec<f64> + Copy) -> Panel {
        for label in self.all_labels() {
            let curve = self.curve(domain, label, pick);
            let point = |(step, estimate): &(u64, Estimate)| (*step as f64, estimate.value);
            let ends = |(_, estimate): &(u64, Estimate)| (estimate.interval.low, estimate.interval.high);
            let mut points: Vec<(f64, f64)> = curve.iter().map(point).collect();
            let mut band: Vec<(f64, f64)> = curve.iter().map(ends).collect();
            if curve.is_empty() {
                (points, band) = (vec![GAP], vec![GAP]);
            }
            let (color, dash) = agents::look(label);
            panel = panel.layer(Line::new(label, points).band(band).color(color).dash(dash));
            let last: Vec<(f64, f64)> = self
                .records(domain, label)
                .into_iter()
                .filter_map(|record| Some((record.diverged? as f64, last_finite(&pick(record)))))
                .collect();
            if !last.is_empty() {
                let name = format!("{label}: diverged");
                panel = panel.layer(Markers::new(name, last).color(color).shape(Shape::Triangle));
            }
        }
        panel
    }

    /// The curves as a table: domain, agent, step, mean, and the ends of its interval.
    pub fn table(&self, what: &str, pick: impl Fn(&Record) -> Vec<f64> + Copy) -> Result<Table> {
        let [low, high] = ["low", "high"].map(|end| format!("{what}, {end}"));
        let mut table = Table::new(["domain", "agent", "step", what, &low, &high]);
        for domain in self.domains() {
            for label in self.labels(domain) {
                for (step, Estimate { value, interval }) in self.curve(domain, label, pick) {
                    let step = usize::try_from(step).unwrap_or(usize::MAX);
                    let numbers = [value, interval.low, interval.high].map(Into::into);
                    table.push([domain.into(), label.into(), step.into()].into_iter().chain(numbers))?;
                }
            }
        }
        Ok(table)
    }

    /// Scores of all contenders as a table: domain, agent, trials, diverged trials, and the mean of each score.
    pub fn summary(&self, scores: &[(&str, Score<'_>)]) -> Result<Table> {
        let names = scores.iter().map(|(name, _)| *name);
        let mut table = Table::new(["domain", "agent", "trials", "diverged"].into_iter().chain(names));
        for domain in self.domains() {
            for label in self.labels(domain) {
                let counts = [self.records(domain, label).len(), self.diverged(domain, label)];
                let means = scores.iter().map(|(_, score)| mean(&self.scores(domain, label, score)).into());
                let head = [title(domain).into(), label.into(), counts[0].into(), counts[1].into()];
                table.push(head.into_iter().chain(means))?;
            }
        }
        Ok(table)
    }

    /// The claim that contender `a` and contender `b` of a domain differ in a score, judged by the paired bootstrap
    /// over trials; nothing if one of them did not take part.
    pub fn compare(
        &self,
        text: String,
        (what, score): (&str, Score<'_>),
        domain: &str,
        (a, direction, b): (&str, Direction, &str),
    ) -> Result<Option<Claim>> {
        let (of_a, of_b) = (self.scores(domain, a, score), self.scores(domain, b, score));
        let comparison = format!("{what}, {a} − {b}");
        judge(text, comparison, direction, &of_a, &of_b)
    }

    /// The claim that a score of one contender lies above or below a number.
    pub fn against(
        &self,
        text: String,
        (what, score): (&str, Score<'_>),
        domain: &str,
        (a, direction, bound): (&str, Direction, f64),
    ) -> Result<Option<Claim>> {
        let of_a = self.scores(domain, a, score);
        let comparison = format!("{what}, {a} − {bound}");
        judge(text, comparison, direction, &of_a, &vec![bound; of_a.len()])
    }
}

/// An experiment whose units are learning trials.
pub struct LearningTrials<C> {
    pub trials: Vec<Trial>,
    pub conclude: C,
}

impl<C: Fn(&Results<'_>) -> Result<Findings> + Sync> Experiment for LearningTrials<C> {
    type Unit = Trial;
    type Outcome = Record;

    fn units(&self) -> Vec<Trial> {
        self.trials.clone()
    }

    fn key(&self, trial: &Trial) -> String {
        trial.key()
    }

    fn compute(&self, trial: &Trial, stop: &Stop) -> Result<Record> {
        trial.run(stop)
    }

    fn analyse(&self, outcomes: &[(Trial, Record)]) -> Result<Findings> {
        (self.conclude)(&Results(outcomes))
    }
}

/// The claim that a − b lies on one side of zero; nothing without trials.
pub fn judge(
    text: String,
    comparison: String,
    direction: Direction,
    a: &[f64],
    b: &[f64],
) -> Result<Option<Claim>> {
    if a.is_empty() || b.is_empty() {
        return Ok(None);
    }
    // The interval depends on the data and the claim alone, not on the seed of the run nor on other claims.
    let difference = Bootstrap::default().paired(a, b, &mut stream(0, &format!("claim/{text}")))?;
    let comparison = format!("{comparison}, mean of {} paired trials", a.len());
    Ok(Some(Claim::new(text, comparison, direction, difference)))
}

/// The mean over looks: the area under the curve, on the scale of the curve. A trial that diverged keeps its last
/// value, however large.
pub fn area(curve: &[f64]) -> f64 {
    let mut last = f64::NAN;
    let held: Vec<f64> = curve
        .iter()
        .map(|&value| {
            last = if value.is_finite() { value } else { last };
            last
        })
        .collect();
    mean(&held)
}

/// The last value, or the last before divergence.
pub fn last_finite(curve: &[f64]) -> f64 {
    curve.iter().rev().copied().find(|value| value.is_finite()).unwrap_or(f64::NAN)
}

/// The mean of the values and its interval; NaN if there are none or one is no number.
fn interval_of_mean(values: &[f64], rng: &mut impl rand::Rng) -> Estimate {
    let nothing = Estimate { value: f64::NAN, interval: Interval { low: f64::NAN, high: f64::NAN } };
    // A figure shows no more than two digits of a band: fewer resamples do.
    Bootstrap::new(1_000, 0.95).and_then(|bootstrap| bootstrap.estimate(values, mean, rng)).unwrap_or(nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::agents::Contender;
    use crate::plot::{Axis, Layer};
    use crate::verdict::Verdict;

    /// Two contenders on Loop: one errs less in each of three trials; the other diverges in the last one.
    fn outcomes() -> Vec<(Trial, Record)> {
        let of = |contender: Contender, number: usize, rmse: [f64; 3]| {
            let record = Record {
                steps: vec![0, 5, 10],
                rmse: rmse.to_vec(),
                diverged: rmse[2].is_nan().then_some(7),
                ..Record::default()
            };
            let (family, domain, steps, looks, tests, seed) = ("t", "loop", 10, 2, false, 0);
            (Trial { family, domain, contender, number, steps, looks, tests, seed }, record)
        };
        let named = |label| agents::contender(label, "loop", 10, false, agents::NEUTRAL).unwrap();
        let (adfq, ktd) = (named(agents::ADFQ), named(agents::KTD_Q));
        vec![
            of(adfq, 0, [4.0, 2.0, 1.0]),
            of(adfq, 1, [4.0, 3.0, 2.0]),
            of(adfq, 2, [4.0, 1.0, 0.0]),
            of(ktd, 0, [4.0, 4.0, 4.0]),
            of(ktd, 1, [4.0, 5.0, 6.0]),
            of(ktd, 2, [4.0, 100.0, f64::NAN]),
        ]
    }

    fn rmse(record: &Record) -> Vec<f64> {
        record.rmse.clone()
    }

    #[test]
    fn curves_are_means_and_break_where_a_trial_diverged() {
        let outcomes = outcomes();
        let results = Results(&outcomes);
        let curve = results.curve("loop", agents::ADFQ, rmse);
        let means: Vec<(u64, f64)> = curve.iter().map(|(step, estimate)| (*step, estimate.value)).collect();
        assert_eq!(means, [(0, 4.0), (5, 2.0), (10, 1.0)]);
        assert!(curve[2].1.interval.low >= 0.0 && curve[2].1.interval.high <= 2.0);
        assert!(results.curve("loop", agents::KTD_Q, rmse)[2].1.value.is_nan());
        assert_eq!(results.diverged("loop", agents::KTD_Q), 1);
    }

    #[test]
    fn figures_show_who_diverged_and_keep_the_order_of_the_legend() {
        let outcomes = outcomes();
        let panel = Results(&outcomes).draw(Panel::new("", Axis::default(), Axis::default()), "loop", rmse);
        let shown: Vec<(&str, usize)> = panel
            .layers
            .iter()
            .map(|layer| match layer {
                Layer::Line(line) => (line.label.as_str(), line.points.len()),
                Layer::Markers(markers) => (markers.label.as_str(), markers.points.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shown, [("ADFQ", 3), ("KTD-Q", 3), ("KTD-Q: diverged", 1)]);
        let elsewhere =
            Results(&outcomes).draw(Panel::new("", Axis::default(), Axis::default()), "maze", rmse);
        assert_eq!(elsewhere.layers.len(), 2, "absent contenders keep their place in the legend");
    }

    #[test]
    fn claims_are_judged_by_paired_trials() {
        let outcomes = outcomes();
        let results = Results(&outcomes);
        let score: (&str, Score<'_>) = ("area", &|record| area(&record.rmse));
        let claim = |a, b| results.compare("claim".into(), score, "loop", (a, Direction::Less, b)).unwrap();
        assert_eq!(claim(agents::ADFQ, agents::KTD_Q).unwrap().verdict, Verdict::Holds);
        assert_eq!(claim(agents::KTD_Q, agents::ADFQ).unwrap().verdict, Verdict::DoesNotHold);
        assert_eq!(claim(agents::ADFQ, agents::Q_LEARNING), None);
        let bound = results.against("bound".into(), score, "loop", (agents::ADFQ, Direction::Less, 2.3));
        assert_eq!(bound.unwrap().unwrap().verdict, Verdict::NotDecided);
    }

    #[test]
    fn a_diverged_trial_keeps_its_last_value() {
        assert_eq!(area(&[4.0, 100.0, f64::NAN]), 68.0);
        assert_eq!(last_finite(&[4.0, 100.0, f64::NAN]), 100.0);
        assert!(area(&[]).is_nan() && last_finite(&[]).is_nan());
    }
}
