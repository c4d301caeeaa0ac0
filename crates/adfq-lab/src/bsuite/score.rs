//! The score of an experiment from the logged rows of its settings, by the published rules of bsuite.
//!
//! Written anew after the paper and the package 0.3.6, whose own functions give the same numbers for the same rows
//! (`crates/adfq-cli/tests/bsuite.rs`). Each score is between 0 and 1. It is judged after the last logged episode, or after the
//! number of episodes of the experiment if there are more.
//!
//! | experiments | score |
//! |---|---|
//! | bandit, catch, mountain_car | how far the mean regret is below that of a bad agent |
//! | cartpole, cartpole_swingup | the same for one half, and for the other the share of settings with one good episode |
//! | mnist | the same for one half, and for the other the accuracy in the last tenth |
//! | with noise or scale | the mean over scales, and the mean less the deviation over scales: half of each |
//! | deep_sea | the share of sizes that are solved, and sooner than by luck |
//! | discounting_chain | how near the mean return is to the best |
//! | memory, umbrella | the share of sizes with a mean regret below a threshold |

use super::rows::Rows;
use crate::Result;
use crate::stats::mean;
use adfq_env::bsuite::{Experiment, Rewards, Setting, Task};

/// What a setting has logged.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The setting.
    pub setting: Setting,
    /// Its rows.
    pub rows: Rows,
}

/// The score of an experiment, given what some or all of its settings have logged. None where bsuite has none: without rows, and
/// where the runs were too short for the rule.
pub fn score(experiment: &Experiment, logged: &[Logged]) -> Result<Option<f64>> {
    let all: Vec<&Logged> = logged.iter().collect();
    let Some(first) = all.first() else { return Ok(None) };
    let rule = match first.setting.task {
        Task::Bandit { .. } => bandit,
        Task::Catch => catch,
        Task::MountainCar => mountain_car,
        Task::Cartpole => cartpole,
        Task::Mnist => mnist,
        Task::CartpoleSwingup { .. } => swing_up,
        Task::DeepSea { .. } | Task::DeepSeaStochastic { .. } => deep_sea,
        Task::DiscountingChain { .. } => discounting_chain,
        Task::MemoryLen { .. } | Task::MemorySize { .. } => memory,
        Task::UmbrellaLength { .. } | Task::UmbrellaDistract { .. } => umbrella,
    };
    let score = match first.setting.rewards {
        Rewards::Plain => rule(experiment, &all)?,
        Rewards::Noise { .. } | Rewards::Scale { .. } => over_scales(experiment, &all, rule)?,
    };
    Ok(Some(score).filter(|score| score.is_finite()))
}

/// A rule. Where there is nothing to judge the score is NaN, as in the package.
type Rule = fn(&Experiment, &[&Logged]) -> Result<f64>;

fn bandit(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    by_regret(experiment, logged, 0.5, |rows| rows.column("total_regret"))
}

fn catch(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    by_regret(experiment, logged, 1.6, |rows| rows.column("total_regret"))
}

/// An episode of 100 steps is a solved one.
fn mountain_car(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    by_regret(experiment, logged, 1000.0, |rows| below(rows, -100.0, "raw_return"))
}

fn cartpole(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    let regret = by_regret(experiment, logged, 1000.0, |rows| below(rows, 1000.0, "raw_return"))?;
    Ok(0.5 * (regret + share_with_best_above(experiment, logged, 500.0)?))
}

/// The mean over thresholds, each of which one setting has.
fn swing_up(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    let one = |logged: &&Logged| {
        let regret = by_regret(experiment, &[*logged], 700.0, |rows| below(rows, 700.0, "total_return"))?;
        Ok(0.5 * (regret + share_with_best_above(experiment, &[*logged], 100.0)?))
    };
    Ok(mean(&logged.iter().map(one).collect::<Result<Vec<f64>>>()?))
}

fn mnist(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    let regret = by_regret(experiment, logged, 1.8, |rows| rows.column("total_regret"))?;
    let mut accuracies = vec![];
    for logged in logged {
        let (episodes, regrets) = (logged.rows.column("episode")?, logged.rows.column("total_regret")?);
        for i in 1..episodes.len() {
            if episodes[i] > 0.9 * experiment.episodes as f64 {
                let regret = (regrets[i] - regrets[i - 1]) / (episodes[i] - episodes[i - 1]);
                // A wrong answer costs 2.
                accuracies.push(0.5 * (2.0 - regret));
            }
        }
    }
    Ok(0.5 * (regret + mean(&accuracies)))
}

/// The size is solved once few enough episodes were bad, and this counts where chance alone would have taken longer.
fn deep_sea(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    let mut beaten = vec![];
    for logged in logged {
        let (size, bad, first) = match logged.setting.task {
            Task::DeepSeaStochastic { size, .. } => (size, 0.8, 100.0),
            Task::DeepSea { size, .. } => (size, 0.9, 0.0),
            _ => continue,
        };
        let bads = logged.rows.column("total_bad_episodes")?;
        let rows: Vec<(f64, f64)> = up_to_end(experiment, logged)?
            .into_iter()
            .filter(|&(_, episode)| episode >= first)
            .map(|(row, episode)| (episode, bads[row] / episode))
            .collect();
        if rows.is_empty() {
            continue;
        }
        let solved = rows.iter().find(|(_, share)| *share < bad);
        let by_luck = 2.0_f64.powi(size as i32) + 100.0;
        beaten.push(f64::from(u8::from(solved.is_some_and(|&(episode, _)| episode < by_luck))));
    }
    Ok(mean(&beaten))
}

fn discounting_chain(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    let returned = mean_at_end(experiment, logged, |rows| rows.column("total_return"))?;
    Ok(clip(1.0 - 10.0 * (1.1 - returned)))
}

/// Random answers make half of all episodes perfect: a ratio of 1.
fn memory(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    share_below(experiment, logged, 0.75, |rows| {
        Ok(below(rows, 1.0, "total_perfect")?.into_iter().map(|regret| regret / 0.5).collect())
    })
}

fn umbrella(experiment: &Experiment, logged: &[&Logged]) -> Result<f64> {
    share_below(experiment, logged, 0.5, |rows| rows.column("total_regret"))
}

/// Over the scales of noise or of rewards: the mean, and the mean less one standard deviation, half of each.
fn over_scales(experiment: &Experiment, logged: &[&Logged], rule: Rule) -> Result<f64> {
    let scale = |logged: &&Logged| match logged.setting.rewards {
        Rewards::Noise { noise_scale } => noise_scale,
        Rewards::Scale { reward_scale } => reward_scale,
        Rewards::Plain => 1.0,
    };
    let mut scores = vec![];
    // Settings of one scale follow one another.
    for group in logged.chunk_by(|a, b| scale(a) == scale(b)) {
        scores.push(rule(experiment, group)?);
    }
    let centre = mean(&scores);
    let deviation = mean(&scores.iter().map(|score| (score - centre).powi(2)).collect::<Vec<_>>()).sqrt();
    Ok(0.5 * (clip(centre) + clip(centre - deviation)))
}

/// How far the mean regret of an episode is below that of a bad agent.
fn by_regret(
    experiment: &Experiment,
    logged: &[&Logged],
    bad: f64,
    regret: impl Fn(&Rows) -> Result<Vec<f64>>,
) -> Result<f64> {
    Ok(clip((bad - mean_at_end(experiment, logged, regret)?) / bad))
}

/// The share of sizes whose mean regret of an episode is below this. Each size is one setting.
fn share_below(
    experiment: &Experiment,
    logged: &[&Logged],
    threshold: f64,
    regret: impl Fn(&Rows) -> Result<Vec<f64>>,
) -> Result<f64> {
    let mut learned = vec![];
    for logged in logged {
        let regret = mean_at_end(experiment, &[*logged], &regret)?;
        learned.push(f64::from(u8::from(regret < threshold)));
    }
    Ok(mean(&learned))
}

/// The share of settings whose best episode returned more than this.
fn share_with_best_above(experiment: &Experiment, logged: &[&Logged], good: f64) -> Result<f64> {
    let mut solved = vec![];
    for logged in logged {
        let best = logged.rows.column("best_episode")?;
        let rows = up_to_end(experiment, logged)?;
        let is_good = rows.into_iter().any(|(row, _)| best[row] > good);
        solved.push(f64::from(u8::from(is_good)));
    }
    Ok(mean(&solved))
}

/// A total by episodes at the end, averaged over the settings that came that far.
fn mean_at_end(
    experiment: &Experiment,
    logged: &[&Logged],
    total: impl Fn(&Rows) -> Result<Vec<f64>>,
) -> Result<f64> {
    let mut last = 0.0_f64;
    for logged in logged {
        last = logged.rows.column("episode")?.into_iter().fold(last, f64::max);
    }
    let last = last.min(experiment.episodes as f64);
    let mut totals = vec![];
    for logged in logged {
        let (episodes, all) = (logged.rows.column("episode")?, total(&logged.rows)?);
        totals.extend(episodes.into_iter().zip(all).filter(|(episode, _)| *episode == last).map(|at| at.1));
    }
    Ok(mean(&totals) / last)
}

/// The rows that count, each with its episode.
fn up_to_end(experiment: &Experiment, logged: &Logged) -> Result<Vec<(usize, f64)>> {
    let episodes = logged.rows.column("episode")?.into_iter().enumerate();
    Ok(episodes.filter(|(_, episode)| *episode <= experiment.episodes as f64).collect())
}

/// By how much a total is below so much for each episode.
fn below(rows: &Rows, of_each: f64, column: &str) -> Result<Vec<f64>> {
    let (episodes, totals) = (rows.column("episode")?, rows.column(column)?);
    Ok(episodes.into_iter().zip(totals).map(|(episode, total)| of_each * episode - total).collect())
}

fn clip(score: f64) -> f64 {
    score.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::bsuite::setting;

    /// Rows with these columns.
    fn logged(id: &str, columns: &[&str], rows: &[&[f64]]) -> Logged {
        let setting = setting(id).unwrap();
        let mut kept = Rows::default();
        for row in rows {
            let columns = columns.iter().map(|name| (*name).to_owned());
            kept.push(columns.zip(row.iter().copied())).unwrap();
        }
        Logged { setting, rows: kept }
    }

    fn scored(logged: &[Logged]) -> Option<f64> {
        score(logged[0].setting.experiment, logged).unwrap()
    }

    #[test]
    fn the_last_logged_episode_decides_about_regret() {
        let at = |id, regret| {
            logged(id, &["episode", "total_regret"], &[&[1.0, 1.0], &[10_000.0, regret], &[12_000.0, 0.0]])
        };
        assert_eq!(scored(&[at("bandit/0", 1_000.0), at("bandit/1", 2_000.0)]), Some(0.7));
        assert_eq!(scored(&[at("bandit/0", 9_000.0)]), Some(0.0));
        assert_eq!(scored(&[at("catch/3", 1_600.0)]), Some(0.9));
    }

    /// Scores 1 and 0: the mean is .5, the deviation .5.
    #[test]
    fn scales_that_differ_lower_the_score() {
        let at = |id, regret| logged(id, &["episode", "total_regret"], &[&[10_000.0, regret]]);
        assert_eq!(scored(&[at("bandit_noise/0", 0.0), at("bandit_noise/4", 5_000.0)]), Some(0.25));
        assert_eq!(scored(&[at("bandit_scale/0", 0.0), at("bandit_scale/4", 0.0)]), Some(1.0));
    }

    #[test]
    fn a_sea_counts_if_it_is_solved_before_luck_would_have() {
        let at = |id, episode, bad| {
            logged(id, &["episode", "total_bad_episodes"], &[&[1.0, 1.0], &[episode, bad]])
        };
        // Ten rows take 1,024 episodes by luck, and 100 are forgiven.
        assert_eq!(scored(&[at("deep_sea/0", 1_000.0, 800.0)]), Some(1.0));
        assert_eq!(scored(&[at("deep_sea/0", 1_200.0, 800.0)]), Some(0.0));
        assert_eq!(scored(&[at("deep_sea/0", 1_000.0, 950.0)]), Some(0.0));
        assert_eq!(scored(&[at("deep_sea_stochastic/0", 1_000.0, 850.0)]), Some(0.0));
        // Before 100 episodes a stochastic sea is not judged.
        assert_eq!(scored(&[at("deep_sea_stochastic/0", 50.0, 10.0)]), None);
    }

    #[test]
    fn sizes_count_for_themselves() {
        let at = |id, perfect| logged(id, &["episode", "total_perfect"], &[&[10_000.0, perfect]]);
        // Three quarters of the regret of a guess is a share of .625 that is perfect.
        assert_eq!(scored(&[at("memory_len/0", 6_300.0), at("memory_len/9", 6_200.0)]), Some(0.5));
    }

    #[test]
    fn a_file_without_the_column_is_an_error() {
        let wrong = logged("catch/0", &["episode", "regret"], &[&[1.0, 1.0]]);
        assert!(score(wrong.setting.experiment, std::slice::from_ref(&wrong)).is_err());
        assert_eq!(score(wrong.setting.experiment, &[]).unwrap(), None);
    }
}
