//! Fig. discrete_eval of the paper (App. F): what the greedy policy earns while agents learn by their own actions.

use crate::Result;
use crate::experiment::agents::{
    ADFQ_GREEDY, ADFQ_GREEDY_NEUTRAL, ADFQ_TS, ADFQ_TS_NEUTRAL, KTD_ACTIVE, KTD_GREEDY, Q_BOLTZMANN, Q_GREEDY,
};
use crate::experiment::results::{LearningTrials, Results, Score, area, judge};
use crate::experiment::solved_domain::{Domain, title};
use crate::experiment::trial::{Record, Setting, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::plot::{Axis, Figure, Panel, Rule};
use crate::report::Section;
use crate::stats::moving_average;
use crate::verdict::{Claim, Direction};
use adfq::agent::Prior;

pub use super::discrete_rmse::DOMAINS;

const LABELS: [&str; 8] = [
    ADFQ_TS,
    ADFQ_GREEDY,
    ADFQ_TS_NEUTRAL,
    ADFQ_GREEDY_NEUTRAL,
    Q_GREEDY,
    Q_BOLTZMANN,
    KTD_GREEDY,
    KTD_ACTIVE,
];

/// The window of the moving average, in tests; the paper's.
const WINDOW: usize = 4;

/// What counts as similar: a share of the best possible test reward.
const SIMILAR: f64 = 0.1;

/// The experiment on some of its [`DOMAINS`].
pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(LearningTrials { trials: trials(plan, domains), conclude })
}

fn trials(plan: &Plan, domains: &[&'static str]) -> Vec<Trial> {
    let setting = |&domain: &&'static str| Setting {
        family: "eval",
        domain,
        steps: if domain.starts_with("maze") { 30_000 } else { 10_000 },
        looks: 100,
        tests: true,
        prior: Prior::AUTHORS,
    };
    domains.iter().map(setting).flat_map(|setting| setting.trials(plan, &LABELS)).collect()
}

fn conclude(results: &Results<'_>) -> Result<Findings> {
    let smooth = |record: &Record| moving_average(&record.test, WINDOW);
    let mut figure =
        Figure::new("Reward of the greedy policy during learning, moving average of 4 tests").columns(2);
    let mut section = prose();
    for domain in results.domains() {
        let model = Domain::named(domain)?;
        let best = model.best_test();
        let panel = Panel::new(
            title(domain),
            Axis::linear("step"),
            Axis::linear(format!("reward in {} steps", model.test_steps())),
        )
        .layer(Rule::horizontal("optimal policy", best));
        figure = figure.panel(results.draw(panel, domain, smooth));
        section.claims.extend(claims(results, domain, best)?);
    }
    let section = section.table(
        "Test reward, mean over trials",
        results.summary(&[
            ("after 10 %", &|record| record.test[record.test.len() / 10]),
            ("end", &|record| record.test[record.test.len() - 1]),
            ("area", &|record| area(&record.test)),
            ("collected while learning", &|record| record.reward[record.reward.len() - 1]),
        ])?,
    );
    let data = results.table("test reward", |record| record.test.clone())?;
    Ok(Findings::new(section).figure("discrete_eval", figure).data("discrete_eval", data))
}

fn prose() -> Section {
    Section::new("Performance during learning (Fig. discrete_eval)")
        .paragraph(
            "Agents act and learn; 100 times in a run learning pauses and the greedy policy (most likely best \
             action, ties drawn) is tested from the start. A test of Maze ends at the goal or after 1.5 times the \
             length of the optimal path; Loop never ends, and there a test lasts 100 steps. In stochastic domains \
             ten tests are averaged.",
        )
        .paragraph(
            "ADFQ starts at the authors' data-driven prior: variance 100 and, as mean, the first positive reward \
             that a random walk meets, divided by 1 − γ in Loop. For comparison it also starts at the neutral prior \
             N(0.001, 100), from which it settles for the first reward it finds. ε is 0.1; the temperature of Boltzmann's policy, which the paper does not give, is \
             0.5 in Loop and 0.05 in Maze.",
        )
}

fn claims(results: &Results<'_>, domain: &'static str, best: f64) -> Result<Vec<Claim>> {
    let name = title(domain);
    let whole: (&str, Score<'_>) = ("area under the test reward", &|record| area(&record.test));
    let better = |a: &str, b: &str| format!("{a} reaches good policies sooner than {b} ({name})");
    let greater = |a, b| results.compare(better(a, b), whole, domain, (a, Direction::Greater, b));
    let mut found = vec![
        similar(results, domain, best)?,
        greater(ADFQ_TS, Q_GREEDY)?,
        greater(ADFQ_GREEDY, Q_GREEDY)?,
        greater(ADFQ_TS, Q_BOLTZMANN)?,
        greater(ADFQ_TS, KTD_ACTIVE)?,
        greater(ADFQ_GREEDY_NEUTRAL, Q_GREEDY)?,
    ];
    if !domain.ends_with("-stochastic") {
        let text = format!("Q-learning ε-greedy learns almost as fast as ADFQ ({name})");
        let of = |label| results.scores(domain, label, whole.1);
        let lead: Vec<f64> = of(ADFQ_GREEDY).iter().zip(of(Q_GREEDY)).map(|(a, q)| (a - q) / best).collect();
        let comparison = format!("ADFQ's lead in area over the optimum − {SIMILAR}");
        found.push(judge(text, comparison, Direction::Less, &lead, &vec![SIMILAR; lead.len()])?);
    }
    if domain == "loop" {
        found.push(greater(KTD_ACTIVE, Q_GREEDY)?);
        let last: (&str, Score<'_>) = ("last test reward", &|record| record.test[record.test.len() - 1]);
        let text = "KTD-Q with active learning ends at an optimal policy: above 95 % of the optimum (Loop)";
        found.push(results.against(
            text.into(),
            last,
            domain,
            (KTD_ACTIVE, Direction::Greater, 0.95 * best),
        )?);
    }
    Ok(found.into_iter().flatten().collect())
}

/// "Similar results" as a claim that data can refute: the mean absolute difference is below a tenth of the optimum.
fn similar(results: &Results<'_>, domain: &str, best: f64) -> Result<Option<Claim>> {
    let of = |label| results.scores(domain, label, &|record| area(&record.test));
    let apart = of(ADFQ_TS).into_iter().zip(of(ADFQ_GREEDY)).map(|(ts, greedy)| (ts - greedy).abs() / best);
    let apart: Vec<f64> = apart.collect();
    let text = format!("ADFQ does similarly with Thompson sampling and ε-greedy ({})", title(domain));
    let comparison = format!("|difference in area| over the optimum − {SIMILAR}");
    judge(text, comparison, Direction::Less, &apart, &vec![SIMILAR; apart.len()])
}
