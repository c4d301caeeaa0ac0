//! How everybody stands to the best tuned rival, domain by domain and on average.

use super::domains::is_unseen;
use super::entrants::{RIVALS, is_tuned};
use super::score::Scales;
use crate::Result;
use crate::experiment::Findings;
use crate::experiment::agents::SPLIT;
use crate::experiment::results::{Results, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Record, Trial};
use crate::report::Section;
use crate::stats::{Bootstrap, Estimate, mean};
use crate::table::{Cell, Table};
use adfq::random::stream;
use adfq_report::text::{short, with_interval};

/// The share of the best tuned rival's score that counts as level.
const LEVEL: f64 = 0.95;

/// The scores of all trials, in their order.
struct Scored<'a> {
    results: Results<'a>,
    scores: Vec<f64>,
}

/// A domain with its best tuned rival.
struct Field {
    domain: &'static str,
    best: &'static str,
    /// The scores of that rival, by trial.
    scores: Vec<f64>,
}

/// An agent over many domains.
struct Summary {
    /// The mean over domains of its score over that of the best tuned rival, a negative score counting as 0.
    ratio: Estimate,
    /// Domains in which it is level with the best tuned rival.
    level: usize,
    domains: usize,
}

pub fn conclude(results: &Results<'_>) -> Result<Findings> {
    let scored = Scored::new(results.0)?;
    let fields = scored.fields();
    let labels = scored.labels();
    let section = Section::new(heading(&scored, &fields)?)
        .paragraph(
            "Split ADFQ keeps counts of outcomes and plans with them. Its fair rivals do the same: PSRL, value iteration on the \
             empirical model with ε-greedy actions, R-max, MBIE-EB, BEB and UCBVI with Bernstein bonuses. All of them are told \
             the range of rewards; Split ADFQ is not. Optimistic Q-learning is here for comparison.",
        )
        .paragraph(
            "Each rival takes part twice: tuned for each domain (the best of its grid on other seeds), and with one setting for \
             all domains. That one is chosen for each domain on all others, by the mean score there; Split ADFQ has \
             one setting everywhere. Score = (reward − random) / (optimal − random), both per step in the long run and exact. \
             Numbers below are scores over that of the best tuned rival of the domain; the same trials decide who that is, which favours \
             it a little. Intervals are 95 % bootstrap intervals over trials.",
        )
        .paragraph(
            "Families marked “never tuned on” had no part in the making of Split ADFQ: its setting, and the ideas behind it, were \
             found on the other domains.",
        )
        .table("Everybody over all domains", everybody(&scored, &fields, &labels)?)
        .table("Split ADFQ domain by domain", by_domain(&scored, &fields)?)
        .table("Beliefs at the end, mean over trials", beliefs(&scored)?);
    Ok(Findings::new(section)
        .data("rivals", everybody(&scored, &fields, &labels)?)
        .data("rivals_by_domain", all_by_domain(&scored, &fields, &labels)?)
        .data("rivals_scores", by_trial(&scored)?))
}

impl<'a> Scored<'a> {
    fn new(outcomes: &'a [(Trial, Record)]) -> Result<Self> {
        let mut scales = Scales::default();
        let score = |(trial, record): &(Trial, Record)| {
            Ok(scales.of(trial)?.score(last_finite(&record.reward), trial.steps))
        };
        Ok(Self { scores: outcomes.iter().map(score).collect::<Result<_>>()?, results: Results(outcomes) })
    }

    /// The scores of an agent in a domain, by trial.
    fn of(&self, domain: &str, label: &str) -> Vec<f64> {
        let all = self.results.0.iter().zip(&self.scores);
        all.filter(|((trial, _), _)| trial.domain == domain && trial.contender.label == label)
            .map(|(_, &score)| score)
            .collect()
    }

    /// Who took part, in the order of the tables: tuned rivals last.
    fn labels(&self) -> Vec<&'static str> {
        let took_part =
            |label: &&str| self.results.0.iter().any(|(trial, _)| trial.contender.label == *label);
        let single = RIVALS.iter().map(|rival| rival.single);
        let tuned = RIVALS.iter().map(|rival| rival.tuned).filter(|label| is_tuned(label));
        single.chain(tuned).filter(took_part).collect()
    }

    /// Every domain in which a tuned rival took part.
    fn fields(&self) -> Vec<Field> {
        let field = |domain: &'static str| {
            let rivals = self.results.labels(domain).into_iter().filter(|label| is_tuned(label));
            let best =
                rivals.max_by(|a, b| mean(&self.of(domain, a)).total_cmp(&mean(&self.of(domain, b))))?;
            Some(Field { domain, best, scores: self.of(domain, best) })
        };
        self.results.domains().into_iter().filter_map(field).collect()
    }

    /// An agent over the domains that `counts`.
    fn summary(
        &self,
        label: &str,
        fields: &[Field],
        counts: impl Fn(&Field) -> bool,
    ) -> Result<Option<Summary>> {
        let shares = |field: &Field| {
            let (scores, best) = (self.of(field.domain, label), mean(&field.scores));
            scores.into_iter().map(|score| score / best).collect::<Vec<f64>>()
        };
        let strata: Vec<Vec<f64>> =
            fields.iter().filter(|field| counts(field)).map(shares).filter(|s| !s.is_empty()).collect();
        if strata.is_empty() {
            return Ok(None);
        }
        let over_domains = |strata: &[Vec<f64>]| {
            mean(&strata.iter().map(|shares| mean(shares).max(0.0)).collect::<Vec<f64>>())
        };
        let mut rng = stream(0, &format!("rivals/{label}/{}", strata.len()));
        let ratio = Bootstrap::default().stratified(&strata, over_domains, &mut rng)?;
        let level = strata.iter().filter(|shares| mean(shares) >= LEVEL).count();
        Ok(Some(Summary { ratio, level, domains: strata.len() }))
    }
}

/// The result in one line.
fn heading(scored: &Scored<'_>, fields: &[Field]) -> Result<String> {
    let Some(split) = scored.summary(SPLIT, fields, |_| true)? else {
        return Ok("Fair rivals".to_owned());
    };
    let Summary { ratio, level, domains } = split;
    Ok(format!(
        "Fair rivals: {SPLIT} earns {:.2} of the best tuned rival on average, and at least {LEVEL} of it in {level} of {domains} domains",
        ratio.value
    ))
}

fn everybody(scored: &Scored<'_>, fields: &[Field], labels: &[&'static str]) -> Result<Table> {
    let mut table = Table::new([
        "agent",
        "score ÷ best tuned",
        "at least 95 %",
        "the same, never tuned on",
        "at least 95 %, never tuned on",
    ]);
    for label in labels {
        let cells = |summary: Option<Summary>| -> [Cell; 2] {
            summary.map_or(["–".into(), "–".into()], |Summary { ratio, level, domains }| {
                [with_interval(ratio.value, ratio.interval).into(), format!("{level} of {domains}").into()]
            })
        };
        let all = cells(scored.summary(label, fields, |_| true)?);
        let unseen = cells(scored.summary(label, fields, |field| is_unseen(field.domain))?);
        table.push([(*label).into()].into_iter().chain(all).chain(unseen))?;
    }
    Ok(table)
}

/// Ratio to the best tuned rival, with its interval.
fn ratio(scored: &Scored<'_>, field: &Field, label: &str) -> Result<Option<Estimate>> {
    let scores = scored.of(field.domain, label);
    if scores.is_empty() {
        return Ok(None);
    }
    let mut rng = stream(0, &format!("rivals/{}/{label}", field.domain));
    Ok(Some(Bootstrap::default().ratio(&scores, &field.scores, &mut rng)?))
}

fn by_domain(scored: &Scored<'_>, fields: &[Field]) -> Result<Table> {
    let mut table = Table::new([
        "domain",
        "never tuned on",
        "best tuned rival",
        "its score",
        "best with one setting",
        "its score",
        "score of Split ADFQ",
        "÷ best tuned",
        "level",
    ]);
    for field in fields {
        let single = RIVALS.iter().skip(1).map(|rival| rival.single);
        let score = |label: &str| mean(&scored.of(field.domain, label));
        let single = single
            .filter(|label| score(label).is_finite())
            .max_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap_or("–");
        let split = ratio(scored, field, SPLIT)?;
        let level = split.is_some_and(|split| split.value >= LEVEL);
        table.push([
            title(field.domain).into(),
            if is_unseen(field.domain) { "yes" } else { "" }.into(),
            field.best.trim_end_matches(", tuned").into(),
            short(mean(&field.scores)).into(),
            single.trim_end_matches(", one setting").into(),
            short(score(single)).into(),
            short(score(SPLIT)).into(),
            split.map(|split| with_interval(split.value, split.interval)).into(),
            if level { "yes" } else { "no" }.into(),
        ])?;
    }
    Ok(table)
}

/// Everybody's score and ratio in every domain, as data.
fn all_by_domain(scored: &Scored<'_>, fields: &[Field], labels: &[&'static str]) -> Result<Table> {
    let mut table =
        Table::new(["domain", "agent", "best tuned rival", "score", "over the best", "low", "high"]);
    for field in fields {
        for label in labels {
            let Some(Estimate { value, interval }) = ratio(scored, field, label)? else { continue };
            let score = mean(&scored.of(field.domain, label));
            let numbers = [score, value, interval.low, interval.high].map(Into::into);
            let head = [field.domain.into(), (*label).into(), field.best.into()];
            table.push(head.into_iter().chain(numbers))?;
        }
    }
    Ok(table)
}

/// Coverage and CRPS of those who have beliefs.
fn beliefs(scored: &Scored<'_>) -> Result<Table> {
    let mut table = Table::new(["domain", "agent", "±2 sd, visited", "±2 sd, all", "CRPS"]);
    for domain in scored.results.domains() {
        for label in scored.results.labels(domain) {
            let of = |curve: fn(&Record) -> &Vec<f64>| {
                mean(&scored.results.scores(domain, label, &|record| last_finite(curve(record))))
            };
            let visited = of(|record| &record.visited_2);
            if visited.is_finite() {
                let numbers = [visited, of(|record| &record.within_2), of(|record| &record.crps)];
                let head = [title(domain).into(), label.into()];
                table.push(head.into_iter().chain(numbers.map(|number| short(number).into())))?;
            }
        }
    }
    Ok(table)
}

fn by_trial(scored: &Scored<'_>) -> Result<Table> {
    let mut table =
        Table::new(["domain", "agent", "trial", "reward", "score", "visited within 2 sd", "crps"]);
    for ((trial, record), &score) in scored.results.0.iter().zip(&scored.scores) {
        let head = [trial.domain.into(), trial.contender.label.into(), trial.number.into()];
        let numbers =
            [last_finite(&record.reward), score, last_finite(&record.visited_2), last_finite(&record.crps)];
        table.push(head.into_iter().chain(numbers.map(Into::into)))?;
    }
    Ok(table)
}
