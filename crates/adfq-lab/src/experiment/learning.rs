//! What all learning experiments share: trials of several contenders on several domains, their curves and claims.

use super::domain::Domain;
use super::roster;
use super::run::{Record, Trial};
use super::{Experiment, Findings, Plan, Stop};
use crate::Result;
use crate::plot::{Line, Markers, Panel, Shape};
use crate::stats::{Bootstrap, Estimate, Interval, mean};
use crate::table::Table;
use crate::verdict::{Claim, Direction};
use adfq::agent::Prior;
use adfq::random::stream;

/// An experiment whose units are learning trials.
pub trait Learning: Sync {
    /// The trials.
    fn trials(&self) -> Vec<Trial>;
    /// What they show.
    fn conclude(&self, results: &Results<'_>) -> Result<Findings>;
}

impl<L: Learning> Experiment for L {
    type Unit = Trial;
    type Outcome = Record;

    fn units(&self) -> Vec<Trial> {
        self.trials()
    }

    fn key(&self, trial: &Trial) -> String {
        trial.key()
    }

    fn compute(&self, trial: &Trial, stop: &Stop) -> Result<Record> {
        trial.run(stop)
    }

    fn analyse(&self, outcomes: &[(Trial, Record)]) -> Result<Findings> {
        self.conclude(&Results(outcomes))
    }
}

/// The trials of one domain, all of the same kind.
pub struct Setting {
    /// See [`Trial::family`].
    pub family: &'static str,
    /// The domain's name.
    pub domain: &'static str,
    /// Steps of the full experiment; the plan may shorten them.
    pub steps: u64,
    /// See [`Trial::looks`].
    pub looks: u64,
    /// See [`Trial::tests`].
    pub tests: bool,
    /// Where beliefs start.
    pub prior: Prior,
}

impl Setting {
    /// One trial per label and number. KTD-Q stays away from Maze if the plan says so.
    pub fn trials(&self, plan: &Plan, labels: &[&str]) -> Vec<Trial> {
        let steps = plan.steps(self.steps);
        let stochastic = is_stochastic(self.domain);
        let takes_part = |label: &&&str| {
            plan.ktd_on_maze || !(label.starts_with("KTD") && self.domain.starts_with("maze"))
        };
        let contenders = labels
            .iter()
            .filter(takes_part)
            .filter_map(|label| roster::contender(label, self.domain, steps, stochastic, self.prior));
        let trial = |contender| {
            (0..plan.trials).map(move |number| Trial {
                family: self.family,
                domain: self.domain,
                contender,
                number,
                steps,
                looks: self.looks,
                tests: self.tests,
                seed: plan.seed,
            })
        };
        contenders.flat_map(trial).collect()
    }
}

/// Whether ADFQ is told that a domain's transitions are random. The simple MDP's are not, only its rewards.
fn is_stochastic(domain: &str) -> bool {
    domain == "chain" || domain.ends_with("-stochastic")
}

/// What figures call a domain.
pub fn title(domain: &str) -> &str {
    match domain {
        "simple" => "simple MDP, |A| = 2",
        "simple10" => "simple MDP, |A| = 10",
        "loop" => "Loop",
        "loop-stochastic" => "Loop, slip 0.1",
        "maze" => "Maze",
        "maze-stochastic" => "Maze, slip 0.1",
        "chain" => "Chain, slip 0.2",
        other => other,
    }
}

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

    /// All labels, in the order of the roster.
    fn all_labels(&self) -> impl Iterator<Item = &'static str> + '_ {
        let takes_part = |label: &&str| self.0.iter().any(|(trial, _)| trial.contender.label == *label);
        roster::LOOKS.iter().map(|(label, ..)| *label).filter(takes_part)
    }

    /// Adds the mean curves of a domain to a panel, and a triangle where a trial diverged. Who does not take part in
    /// this domain has a line without points, so that every legend has the same order.
    pub fn draw(&self, mut panel: Panel, domain: &str, pick: impl Fn(&Record) -> Vec<f64> + Copy) -> Panel {
        for label in self.all_labels() {
            let curve = self.curve(domain, label, pick);
            let (color, dash) = roster::look(label);
            let points = curve.iter().map(|(step, estimate)| (*step as f64, estimate.value));
            let band = curve.iter().map(|(_, estimate)| (estimate.interval.low, estimate.interval.high));
            panel = panel.layer(Line::new(label, points).band(band).color(color).dash(dash));
            let ends: Vec<(f64, f64)> = self
                .records(domain, label)
                .into_iter()
                .filter_map(|record| Some((record.diverged? as f64, last_finite(&pick(record)))))
                .collect();
            if !ends.is_empty() {
                let name = format!("{label}: diverged");
                panel = panel.layer(Markers::new(name, ends).color(color).shape(Shape::Triangle));
            }
        }
        panel
    }

    /// The curves as a table: domain, agent, step, mean, and the ends of its interval.
    pub fn table(&self, what: &str, pick: impl Fn(&Record) -> Vec<f64> + Copy) -> Result<Table> {
        let ends = [format!("{what}, low"), format!("{what}, high")];
        let [low, high] = ends;
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
        let comparison = format!("{what}, {a} − {}", bound);
        judge(text, comparison, direction, &of_a, &vec![bound; of_a.len()])
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

/// The domains, loaded.
pub fn load(domains: &[&'static str]) -> Result<Vec<Domain>> {
    domains.iter().map(|name| Ok(Domain::named(name)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::run::Contender;
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
        let named = |label| roster::contender(label, "loop", 10, false, roster::NEUTRAL).unwrap();
        let (adfq, ktd) = (named(roster::ADFQ), named(roster::KTD_Q));
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
        let curve = results.curve("loop", roster::ADFQ, rmse);
        let means: Vec<(u64, f64)> = curve.iter().map(|(step, estimate)| (*step, estimate.value)).collect();
        assert_eq!(means, [(0, 4.0), (5, 2.0), (10, 1.0)]);
        assert!(curve[2].1.interval.low >= 0.0 && curve[2].1.interval.high <= 2.0);
        assert!(results.curve("loop", roster::KTD_Q, rmse)[2].1.value.is_nan());
        assert_eq!(results.diverged("loop", roster::KTD_Q), 1);
    }

    #[test]
    fn figures_show_who_diverged_and_keep_the_order_of_the_roster() {
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
        assert_eq!(claim(roster::ADFQ, roster::KTD_Q).unwrap().verdict, Verdict::Holds);
        assert_eq!(claim(roster::KTD_Q, roster::ADFQ).unwrap().verdict, Verdict::DoesNotHold);
        assert_eq!(claim(roster::ADFQ, roster::Q_LEARNING), None);
        let bound = results.against("bound".into(), score, "loop", (roster::ADFQ, Direction::Less, 2.3));
        assert_eq!(bound.unwrap().unwrap().verdict, Verdict::NotDecided);
    }

    #[test]
    fn a_diverged_trial_keeps_its_last_value() {
        assert_eq!(area(&[4.0, 100.0, f64::NAN]), 68.0);
        assert_eq!(last_finite(&[4.0, 100.0, f64::NAN]), 100.0);
        assert!(area(&[]).is_nan() && last_finite(&[]).is_nan());
    }
}
