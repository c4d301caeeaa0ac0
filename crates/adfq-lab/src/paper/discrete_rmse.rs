//! Fig. discrete_rmse of the paper (App. F): convergence to Q* on Loop and Maze from shared random trajectories.

use super::rmse;
use crate::Result;
use crate::experiment::agents::{ADFQ, ADFQ_EXACT, ADFQ_PLAIN, KTD_Q, NEUTRAL, Q_LEARNING};
use crate::experiment::results::{LearningTrials, Results, Score, area, last_finite};
use crate::experiment::solved_domain::title;
use crate::experiment::trial::{Setting, Trial};
use crate::experiment::{Findings, Job, Plan};
use crate::report::Section;
use crate::verdict::Direction;

/// The domains of the figure, row by row.
pub const DOMAINS: &[&str] = &["loop", "loop-stochastic", "maze", "maze-stochastic"];

/// The random walks of this experiment, which [`calibration`](super::calibration) looks at too.
pub fn walks(plan: &Plan, domains: &[&'static str], labels: &[&str]) -> Vec<Trial> {
    let setting = |&domain: &&'static str| Setting {
        family: "walk",
        domain,
        steps: if domain.starts_with("maze") { 30_000 } else { 10_000 },
        looks: 100,
        tests: false,
        prior: NEUTRAL,
    };
    domains.iter().map(setting).flat_map(|setting| setting.trials(plan, labels)).collect()
}

/// The experiment on some of its [`DOMAINS`].
pub fn prepare(plan: &Plan, domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(LearningTrials { trials: trials(plan, domains), conclude })
}

fn trials(plan: &Plan, domains: &[&'static str]) -> Vec<Trial> {
    let labels = [ADFQ, ADFQ_PLAIN, ADFQ_EXACT, Q_LEARNING, KTD_Q];
    let mut trials = walks(plan, domains, &labels);
    // Without chance there is no replay to do without.
    trials.retain(|trial| trial.contender.label != ADFQ_PLAIN || trial.domain.ends_with("-stochastic"));
    trials
}

fn conclude(results: &Results<'_>) -> Result<Findings> {
    let mut section = Section::new("Convergence on Loop and Maze (Fig. discrete_rmse)")
        .paragraph(
            "Random actions, 10,000 of them in Loop and 30,000 in Maze; all algorithms of a trial learn from the \
             same trajectory. ADFQ starts at N(0.001, 100). In the stochastic domains it has the authors' noise \
             0.001/(1 + n) and replay (each update averages the posteriors of 20 of the pair's last 200 \
             transitions); exact moments treat that noise exactly and go without replay. The error is averaged \
             over every state that an agent can be in, ends left out, and all its actions.",
        )
        .paragraph(ktd_note(results));
    if results.domains().iter().any(|domain| domain.starts_with("maze")) {
        section = section.paragraph(
            "On Maze a prior variance of 100 is far beyond the values, which lie between 0 and 3. Exact moments \
             know that the maximum of many wide beliefs is large, and pay for this prior; the analytic ones \
             miss it, and here that helps.",
        );
    }
    let title = "RMSE to Q* from shared random trajectories";
    rmse::findings(results, "discrete_rmse", title, claims(results, section)?)
}

/// How often KTD-Q diverged, or that it did not take part.
fn ktd_note(results: &Results<'_>) -> String {
    let part = |domain: &&str| match results.records(domain, KTD_Q).len() {
        0 => format!("not run on {}", title(domain)),
        trials => format!("{} of {trials} on {}", results.diverged(domain, KTD_Q), title(domain)),
    };
    let parts: Vec<String> = results.domains().iter().map(part).collect();
    format!("Trials in which KTD-Q diverged (an estimate beyond 10¹² or no number): {}.", parts.join("; "))
}

fn claims(results: &Results<'_>, mut section: Section) -> Result<Section> {
    let whole: (&str, Score<'_>) = ("area under the RMSE", &|record| area(&record.rmse));
    let progress: (&str, Score<'_>) =
        ("RMSE at the end over RMSE at the start", &|record| last_finite(&record.rmse) / record.rmse[0]);
    for domain in results.domains() {
        let name = title(domain);
        let quicker = |than: &str| format!("ADFQ finds Q* quicker than {than} ({name})");
        let mut found = vec![
            results.compare(quicker(Q_LEARNING), whole, domain, (ADFQ, Direction::Less, Q_LEARNING))?,
            results.compare(quicker(KTD_Q), whole, domain, (ADFQ, Direction::Less, KTD_Q))?,
            if domain == "loop" {
                let text = "KTD-Q comes near Q*: less than a tenth of the first error is left (Loop)";
                results.against(text.into(), progress, domain, (KTD_Q, Direction::Less, 0.1))?
            } else {
                let text = format!("KTD-Q moves away from Q*: its error grows ({name})");
                results.against(text, progress, domain, (KTD_Q, Direction::Greater, 1.0))?
            },
        ];
        let text = format!("Ours: exact moments find Q* quicker than the paper's analytic ones ({name})");
        found.push(results.compare(text, whole, domain, (ADFQ_EXACT, Direction::Less, ADFQ))?);
        let text = format!("Ours: the authors' replay makes ADFQ quicker ({name})");
        found.push(results.compare(text, whole, domain, (ADFQ, Direction::Less, ADFQ_PLAIN))?);
        section.claims.extend(found.into_iter().flatten());
    }
    Ok(section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Stop;
    use crate::experiment::trial::Record;
    use crate::stats::{mean, sd};

    /// Another program's means of 10 trials (prior N(.001, 100), no replay): RMSE after 10 % and after 100 % of Loop.
    const REFERENCE: [(&str, &str, [f64; 2]); 6] = [
        ("loop", ADFQ_EXACT, [0.29, 0.0016]),
        ("loop", ADFQ_PLAIN, [2.54, 0.0096]),
        ("loop", Q_LEARNING, [3.64, 0.127]),
        ("loop-stochastic", ADFQ_EXACT, [0.52, 0.28]),
        ("loop-stochastic", ADFQ_PLAIN, [2.86, 0.45]),
        ("loop-stochastic", Q_LEARNING, [2.39, 0.144]),
    ];

    /// The difference of a mean of 200 trials and one of 10, of the same law with standard deviation s, has the
    /// standard error s √(1/200 + 1/10). Of twelve differences none should reach three of them. The last errors are
    /// skewed, some trials being ten times worse than most: with fewer trials s comes out too small.
    #[test]
    fn an_independent_program_found_the_same_errors_on_loop() {
        let plan = Plan { trials: 200, ..Plan::default() };
        for (domain, label, expected) in REFERENCE {
            let trials = walks(&plan, &[domain], &[label]);
            let records: Vec<Record> =
                trials.iter().map(|trial| trial.run(&Stop::default()).unwrap()).collect();
            for (look, expected) in [10, 100].into_iter().zip(expected) {
                let errors: Vec<f64> = records.iter().map(|record| record.rmse[look]).collect();
                let standard_error = sd(&errors) * (1.0 / 200.0 + 1.0 / 10.0_f64).sqrt();
                let away = (mean(&errors) - expected) / standard_error;
                assert!(
                    away.abs() < 3.0,
                    "{domain}, {label}, look {look}: {} ± {standard_error}, not {expected}",
                    mean(&errors)
                );
            }
        }
    }
}
