use super::figure::{caption, figure};
use super::*;
use crate::plot::{Color, Dash, Layer};
use crate::stats::Interval;
use adfq_deep::run::folder::EVALUATIONS_HEADER;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, tempdir};

const DQN: &str = "agent = \"dqn\"\npolicy = \"epsilon\"";
const DDQN: &str = "agent = \"ddqn\"\npolicy = \"epsilon\"";

/// Run folders as the trainer writes them.
struct Runs(TempDir);

impl Runs {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A run whose evaluations have one episode every ten steps.
    fn add(&self, name: &str, env: &str, agent: &str, seed: u64, more: &str, returns: &[f64]) -> &Self {
        let rows = (1..).zip(returns).map(|(i, value)| format!("{},0,{value},7\n", 10 * i));
        let config = format!("env = \"{env}\"\n{agent}\nseed = {seed}\nsteps = 1000\n{more}");
        self.raw(name, &config, &format!("step,episode,return,length\n{}", rows.collect::<String>()))
    }

    fn raw(&self, name: &str, config: &str, evaluations: &str) -> &Self {
        fs::create_dir_all(self.path(name)).unwrap();
        fs::write(self.path(name).join("config.toml"), config).unwrap();
        fs::write(self.path(name).join("evaluations.csv"), evaluations).unwrap();
        self
    }

    fn compare(&self, seed: u64) -> Result<Comparison> {
        let folders = find(&[self.0.path().to_owned()])?;
        Comparison::of(
            folders.iter().map(|folder| Run::read(folder, Returns::Evaluation)).collect::<Result<_>>()?,
            seed,
        )
    }

    fn complaint(&self) -> String {
        let message = self.compare(0).unwrap_err().to_string();
        message.replace(&self.0.path().display().to_string(), "RUNS")
    }
}

fn labels(comparison: &Comparison) -> Vec<&str> {
    comparison.labels.iter().map(String::as_str).collect()
}

/// Of five values the IQM drops the smallest and the largest.
#[test]
fn scores_are_interquartile_means_over_seeds() {
    let runs = Runs::new();
    for (seed, last) in [(0, 3.0), (1, -100.0), (2, 1.0), (3, 100.0), (4, 2.0)] {
        runs.add(&format!("deep/er/{seed}"), "cartpole", DQN, seed, "", &[0.0, last]);
    }
    let comparison = runs.compare(0).unwrap();
    let environment = &comparison.environments[0];
    let entry = &environment.entries[0];
    assert_eq!((environment.env.as_str(), &environment.steps[..]), ("cartpole", &[10, 20][..]));
    assert_eq!((entry.final_return.value, entry.area.value), (2.0, 1.0));
    assert_eq!(entry.runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(entry.curve[1].value, 1.2);
    let interval = entry.final_return.interval.unwrap();
    assert!(interval.low < 2.0 && interval.high > 2.0, "{interval:?}");
    assert_eq!(entry.curve[0].interval, Some(Interval { low: 0.0, high: 0.0 }));
}

/// A resample of two seeds is twice the lower or twice the upper with probability ¼ each.
#[test]
fn the_interval_of_two_seeds_spans_them() {
    let runs = Runs::new();
    runs.add("a", "cartpole", DQN, 0, "", &[5.0]).add("b", "cartpole", DQN, 1, "", &[6.0]);
    let score = runs.compare(3).unwrap().environments[0].entries[0].final_return;
    assert_eq!(score, Score { value: 5.5, interval: Some(Interval { low: 5.0, high: 6.0 }) });
}

#[test]
fn the_episodes_of_an_evaluation_are_averaged_and_a_torn_line_is_left_out() {
    let runs = Runs::new();
    let config = format!("env = \"cartpole\"\n{DQN}\nseed = 0\nsteps = 30\n");
    let rows = "step,episode,return,length\n10,0,1,1\n10,1,4,4\n20,0,8,8\n20,1,10,10\n";
    let read = |config: &str, rows: &str| {
        Run::read(&runs.raw("a", config, rows).path("a"), Returns::Evaluation).unwrap()
    };
    let steps = |run: &Run| run.evaluations.iter().map(|it| (it.step, it.mean())).collect::<Vec<_>>();
    assert_eq!(steps(&read(&config, rows)), [(10, 2.5), (20, 9.0)]);
    for torn in ["3", "30", "30,0,", "30,0,500,50", "\u{fffd}"] {
        assert_eq!(steps(&read(&config, &format!("{rows}{torn}"))), [(10, 2.5), (20, 9.0)], "{torn}");
    }
    // Torn between two lines: only the configuration knows that more was to come.
    let config = config + "[evaluation]\nepisodes = 2\nfinal_episodes = 3\n";
    assert_eq!(read(&config, &format!("{rows}30,0,1,1\n30,1,1,1\n30,2")).last_step(), 20);
    assert_eq!(read(&config, &format!("{rows}30,0,1,1\n30,1,1,1\n30,2,1,1\n")).last_step(), 30);
    assert_eq!(read(&config, "step,episode,return,length\n10,0,1,1\n10,1,4,4\n20,0,8,8\n").last_step(), 10);
    // Since there are clipped returns they stand beside the raw ones.
    let clipped = format!("{EVALUATIONS_HEADER}\n10,0,1,9,1\n10,1,4,9,4\n20,0,8,9,8\n20,1,10,9,10\n");
    assert_eq!(steps(&read(&config, &clipped)), [(10, 2.5), (20, 9.0)]);
}

/// A run without a training return is one whose first episode has not ended; columns may stand anywhere.
#[test]
fn training_returns_come_from_the_metrics() {
    let runs = Runs::new();
    let config = format!("env = \"cartpole\"\n{DQN}\nseed = 0\nsteps = 30\n[evaluation]\nepisodes = 2\n");
    runs.raw("a", &config, "");
    let read = |metrics: &str| {
        fs::write(runs.path("a/metrics.csv"), metrics).unwrap();
        Run::read(&runs.path("a"), Returns::Training)
    };
    let complaint = |metrics: &str| {
        read(metrics).unwrap_err().to_string().replace(&runs.0.path().display().to_string(), "RUNS")
    };
    let run = read("step,loss,train_return\n10,0.1,\n20,,5\n30,0.1,7.5\n40,0").unwrap();
    let comparison = Comparison::of(vec![run], 0).unwrap();
    assert_eq!(comparison.environments[0].steps, [20, 30]);
    assert_eq!(comparison.environments[0].entries[0].runs[0].curve, [5.0, 7.5]);
    let text = summary(&comparison);
    assert!(text.starts_with("cartpole: 2 rows of metrics up to step 30"), "{text}");
    assert!(text.contains("last 100 training episodes"), "{text}");
    assert!(complaint("step,train_return\n10,\n").contains("no training episode that ended yet"));
    let header = "RUNS/a/metrics.csv, line 1: the header is \"step,loss\", without";
    assert!(complaint("step,loss\n10,1\n").starts_with(header));
    assert!(complaint("step,train_return\n10,x\n").contains("line 2: the return is \"x\""));
}

/// Results once published can still be read, compared and run again: each committed configuration, with the returns of
/// its seed 0 written as evaluations in the format of that time.
#[test]
fn committed_runs_are_still_understood() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let runs = Runs::new();
    let mut understood = 0;
    for suite in ["deep", "deep-split", "gpu", "minatar", "atari"] {
        let seeds = fs::read_to_string(results.join(suite).join("seeds.csv")).unwrap();
        for entry in fs::read_dir(results.join(suite).join("configs")).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let config = adfq_deep::Config::from_toml(&text).unwrap();
            let returns = first_seed(&text, &seeds);
            let episodes = config.evaluation.final_episodes.max(config.evaluation.episodes);
            let rows = returns
                .iter()
                .flat_map(|(step, value)| (0..episodes).map(move |i| format!("{step},{i},{value},1\n")));
            runs.raw("a", &text, &format!("step,episode,return,length\n{}", rows.collect::<String>()));
            let run = Run::read(&runs.path("a"), Returns::Evaluation).unwrap();
            assert_eq!(run.head.seed, config.seed);
            assert_eq!(run.evaluations.len(), returns.len());
            assert_eq!(run.last_step(), returns.last().unwrap().0);
            // The runs on Atari were stopped early.
            assert!(run.last_step() == config.steps || suite == "atari" && run.last_step() < config.steps);
            understood += 1;
        }
    }
    assert!(understood >= 90, "{understood}");
}

/// The evaluations of seed 0 in a committed `seeds.csv` that belong to a configuration: step and mean return.
fn first_seed(config: &str, seeds: &str) -> Vec<(u64, f64)> {
    let mut lines = seeds.lines();
    assert_eq!(
        lines.next(),
        Some("env,agent,policy,device,seed,step,measured,return,clipped_return,mean_sigma")
    );
    let mut returns = vec![];
    for line in lines {
        let row: Vec<&str> = line.split(',').collect();
        let head = format!(
            "env = \"{}\"\nagent = \"{}\"\npolicy = \"{}\"\nseed = {}\n",
            row[0], row[1], row[2], row[4]
        );
        if config.starts_with(&head) && row[6] == "evaluation" {
            returns.push((row[5].parse().unwrap(), row[7].parse().unwrap()));
        }
    }
    // One configuration of the suite `gpu` was run on the CPU as well.
    returns.sort_by_key(|&(step, _)| step);
    returns.dedup_by_key(|&mut (step, _)| step);
    returns
}

/// Comparisons that earlier versions wrote: before there were training returns, and since.
#[test]
fn comparisons_of_before_are_still_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compared");
    for (file, returns) in [
        ("before-training-returns.json", Returns::Evaluation),
        ("evaluation.json", Returns::Evaluation),
        ("training.json", Returns::Training),
    ] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let comparison: Comparison = serde_json::from_str(&text).unwrap();
        assert_eq!(comparison.returns, returns, "{file}");
    }
}

#[test]
fn runs_that_differ_in_more_than_the_seed_are_kept_apart() {
    let runs = Runs::new();
    let batch =
        |n| format!("[learning]\nbatch = {n}\nrate = 0.10000000149011612\n[logging]\nmetrics = {n}\n");
    let priority = "[learning]\nbatch = 32\nrate = 0.1\n[replay.priority]\nalpha = 0.6\n";
    runs.add("a", "cartpole", DQN, 0, &batch(32), &[1.0])
        .add("b", "cartpole", DQN, 0, &batch(64), &[2.0])
        .add("c", "cartpole", DQN, 0, &batch(64).replace("0.10000000149011612", "0.25"), &[2.0])
        .add("d", "cartpole", "agent = \"adfq\"\npolicy = \"thompson\"", 0, &batch(64), &[2.0])
        .add("e", "cartpole", DDQN, 0, &batch(32).replace("0.10000000149011612", "0.1"), &[1.0])
        .add("f", "cartpole", DDQN, 0, priority, &[1.0])
        .add("g", "acrobot", "agent = \"adfq\"\npolicy = \"thompson\"", 0, &batch(128), &[2.0])
        .add("h", "acrobot", "agent = \"adfq\"\npolicy = \"epsilon\"", 0, &batch(128), &[2.0]);
    let comparison = runs.compare(0).unwrap();
    assert_eq!(
        labels(&comparison),
        [
            "ADFQ-TS",
            "ADFQ-ε",
            "DQN (learning.batch=32, learning.rate=0.1)",
            "DQN (learning.batch=64, learning.rate=0.1)",
            "DQN (learning.batch=64, learning.rate=0.25)",
            "Double DQN",
            "Double DQN (replay.priority.alpha=0.6)",
        ]
    );
    assert!(comparison.aggregate.is_none());
    let note = "Not compared over environments, without runs of all labels: acrobot, cartpole.";
    assert_eq!(comparison.notes, [note]);
}

#[test]
fn the_same_run_twice_counts_once_and_may_be_named_twice() {
    let runs = Runs::new();
    runs.add("a", "cartpole", DQN, 4, "", &[1.0]);
    let named = [runs.path("a"), runs.0.path().to_owned(), runs.path("a/../a")];
    assert_eq!(find(&named).unwrap(), [runs.path("a")]);
    runs.add("b", "cartpole", DQN, 4, "[logging]\nmetrics = 5\n", &[2.0]);
    let comparison = runs.compare(0).unwrap();
    let environment = &comparison.environments[0];
    assert_eq!(environment.entries[0].finals(), [1.0]);
    let reason = format!("is the same as {}, DQN with seed 4", runs.path("a").display());
    let [left_out] = &environment.left_out[..] else { panic!("{:?}", environment.left_out) };
    assert_eq!((&left_out.folder, &left_out.reason), (&runs.path("b"), &reason));
    assert_eq!(environment.notes[0], format!("Left out: {} {reason}.", runs.path("b").display()));
}

/// The returns of a run of so many evaluations, of which the last is 500.
fn learns(evaluations: usize) -> Vec<f64> {
    (1..=evaluations).map(|i| 500.0 * i as f64 / evaluations as f64).collect()
}

impl Runs {
    /// A run that was asked for as many steps as it took, ten an evaluation.
    fn done(&self, name: &str, env: &str, agent: &str, seed: u64, returns: &[f64]) -> &Self {
        self.add(name, env, agent, seed, "", returns);
        let path = self.path(name).join("config.toml");
        let config = fs::read_to_string(&path).unwrap();
        fs::write(path, config.replace("steps = 1000", &format!("steps = {}", 10 * returns.len()))).unwrap();
        self
    }

    /// Why which folders are left out of the first environment.
    fn left_out(&self) -> Vec<(String, String)> {
        let comparison = self.compare(0).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        comparison.environments[0].left_out.iter().map(|it| (name(&it.folder), it.reason.clone())).collect()
    }
}

#[test]
fn a_short_run_does_not_cut_the_others() {
    let runs = Runs::new();
    for seed in 0..3 {
        runs.done(&format!("long-{seed}"), "cartpole", DQN, seed, &learns(200));
    }
    runs.done("other", "acrobot", DQN, 0, &learns(3));
    runs.done("quick", "cartpole", DDQN, 0, &learns(10)).done("quicker", "cartpole", DQN, 3, &learns(5));
    let comparison = runs.compare(0).unwrap();
    let [acrobot, cartpole] = &comparison.environments[..] else { panic!("two environments") };
    assert_eq!((acrobot.env.as_str(), acrobot.steps.len()), ("acrobot", 3));
    let [dqn] = &cartpole.entries[..] else { panic!("{:?}", cartpole.entries) };
    assert_eq!((dqn.label.as_str(), dqn.finals()), ("DQN", vec![500.0; 3]));
    assert_eq!(cartpole.steps.last(), Some(&2000));
    let path = |name: &str| runs.path(name).display().to_string();
    assert_eq!(cartpole.notes[0], format!("Left out: {} ends at step 50.", path("quicker")));
    assert_eq!(cartpole.notes[1], format!("Left out: {} ends at step 100.", path("quick")));
    assert_eq!(cartpole.notes[2], "No run of Double DQN is compared here.");
    assert_eq!(labels(&comparison), ["DQN"]);
}

/// Many quick tries are less training than three long runs; one very long run is compared with nothing.
#[test]
fn the_length_is_the_one_at_which_most_training_is_compared() {
    let runs = Runs::new();
    for seed in 0..3 {
        runs.done(&format!("long-{seed}"), "cartpole", DQN, seed, &learns(200));
    }
    for seed in 0..9 {
        runs.done(&format!("quick-{seed}"), "cartpole", DDQN, seed, &learns(10));
    }
    assert_eq!(runs.left_out().len(), 9);
    runs.done("very-long", "cartpole", DDQN, 20, &learns(2000));
    assert_eq!(runs.left_out().len(), 9);
    let notes = &runs.compare(0).unwrap().environments[0].notes;
    let further = format!("These go on: {} (to step 20,000).", runs.path("very-long").display());
    assert!(notes.iter().any(|note| note.ends_with(&further)), "{notes:?}");
}

#[test]
fn a_killed_run_is_left_out_and_runs_under_way_are_compared() {
    let runs = Runs::new();
    for seed in 0..3 {
        runs.done(&format!("done-{seed}"), "cartpole", DQN, seed, &learns(100));
    }
    runs.add("killed", "cartpole", DDQN, 0, "", &learns(90));
    let reason = "has reached step 900 of 1,000".to_owned();
    assert_eq!(runs.left_out(), [("killed".to_owned(), reason)]);
    let runs = Runs::new();
    for (seed, reached) in [(0, 80), (1, 81), (2, 83)] {
        runs.add(&format!("{seed}"), "cartpole", DQN, seed, "", &learns(reached));
    }
    assert_eq!(runs.left_out(), []);
    assert_eq!(runs.compare(0).unwrap().environments[0].steps.len(), 80);
}

#[test]
fn a_run_with_an_odd_schedule_is_left_out() {
    let runs = Runs::new();
    for seed in 0..3 {
        runs.done(&format!("{seed}"), "cartpole", DQN, seed, &learns(100));
    }
    let config = format!("env = \"cartpole\"\n{DDQN}\nseed = 0\nsteps = 1000\n");
    let header = "step,episode,return,length\n";
    runs.raw("odd", &config, &format!("{header}700,0,7,7\n1000,0,7,7\n"));
    runs.raw("odder", &config.replace("ddqn", "adfq"), &format!("{header}700,0,7,7\n1001,0,7,7\n"));
    let left_out = runs.left_out();
    assert_eq!(left_out[0], ("odder".to_owned(), "has no evaluation at step 1,000".to_owned()));
    assert_eq!(
        left_out[1],
        ("odd".to_owned(), "has 2 of the 100 evaluations that most runs have".to_owned())
    );
    assert_eq!(runs.compare(0).unwrap().environments[0].steps.len(), 100);
}

/// A quick try with the settings of a long run is the same label. Of the two that have a seed, the one is used that was
/// made for the length that is compared.
#[test]
fn the_number_of_steps_is_no_label() {
    let runs = Runs::new();
    runs.done("quick", "cartpole", DQN, 0, &learns(10));
    for seed in 0..3 {
        runs.done(&format!("right-{seed}"), "cartpole", DQN, seed, &learns(100));
    }
    runs.done("long", "cartpole", DQN, 1, &learns(150));
    let comparison = runs.compare(0).unwrap();
    assert_eq!(labels(&comparison), ["DQN"]);
    assert_eq!(comparison.environments[0].entries[0].finals(), [500.0; 3]);
    let same = format!("is the same as {}, DQN with seed 1", runs.path("right-1").display());
    let expected = [("quick".to_owned(), "ends at step 100".to_owned()), ("long".to_owned(), same)];
    assert_eq!(runs.left_out(), expected);
}

#[test]
fn a_run_can_be_cut() {
    let runs = Runs::new();
    runs.done("a", "cartpole", DQN, 0, &learns(100));
    let run = || Run::read(&runs.path("a"), Returns::Evaluation).unwrap();
    let cut = run().until(305).unwrap();
    assert_eq!((cut.last_step(), cut.head.steps), (300, 305));
    assert_eq!(run().until(2000).unwrap(), run());
    assert_eq!(run().until(9), None);
}

#[test]
fn evaluations_that_not_all_runs_have_are_left_out() {
    let runs = Runs::new();
    runs.add("a", "cartpole", DQN, 0, "", &[1.0, 2.0, 3.0, 4.0, 5.0]).raw(
        "b",
        &format!("env = \"cartpole\"\n{DQN}\nseed = 1\nsteps = 1000\n"),
        "step,episode,return,length\n20,0,7,7\n40,0,9,9\n60,0,11,11\n",
    );
    let comparison = runs.compare(0).unwrap();
    let environment = &comparison.environments[0];
    assert_eq!(environment.steps, [20, 40]);
    assert!(environment.notes[0].starts_with("Compared up to step 40, "), "{:?}", environment.notes);
    assert!(environment.notes[1].starts_with("2 evaluations before"), "{:?}", environment.notes);
    let odd = "step,episode,return,length\n5,0,7,7\n";
    runs.raw("b", &format!("env = \"cartpole\"\n{DQN}\nseed = 1\nsteps = 1000\n"), odd);
    assert_eq!(runs.left_out(), [("b".to_owned(), "has reached step 5 of 1,000".to_owned())]);
}

#[test]
fn one_seed_has_no_interval() {
    let runs = Runs::new();
    runs.add("a", "cartpole", DQN, 0, "", &[1.0, 2.0]).add("b", "cartpole", DDQN, 0, "", &[3.0, 4.0]).add(
        "c",
        "cartpole",
        DDQN,
        1,
        "",
        &[3.0, 4.5],
    );
    let comparison = runs.compare(0).unwrap();
    let [dqn, ddqn] = &comparison.environments[0].entries[..] else { panic!("two labels") };
    assert_eq!(dqn.final_return, Score { value: 2.0, interval: None });
    assert!(dqn.curve[0].interval.is_none() && ddqn.final_return.interval.is_some());
    // Which of two single runs is better says nothing about the next two.
    assert!(comparison.environments[0].improvement.is_empty());
    let page = summary(&comparison);
    assert!(
        page.contains("Intervals need two seeds or more, and P(row > column) needs them on both sides."),
        "{page}"
    );
    assert!(!page.contains("P(row > column) ["), "{page}");
    assert!(page.contains("final return [95 %]"), "{page}");
    assert!(page.contains("\nDQN             1                 2.000"), "{page}");
    assert!(page.contains("\nDouble DQN      2  4.250 [4.000, 4.500]"), "{page}");
}

/// Two environments with reference scores and one without. By hand, 0 is −0.005 + 2⁻ᴺ and 1 is 0.99.
fn three_environments() -> Runs {
    let runs = Runs::new();
    for (env, dqn, ddqn) in [
        ("deepsea-40", [0.0, 0.0], [0.99, 0.99]),
        ("deepsea-50", [0.0, 0.4], [0.4, 0.99]),
        ("own", [5.0, 5.0], [5.0, 5.0]),
    ] {
        for seed in [0, 1] {
            let i = seed as usize;
            runs.add(&format!("{env}-dqn-{seed}"), env, DQN, seed, "", &[0.0, dqn[i]]);
            runs.add(&format!("{env}-ddqn-{seed}"), env, DDQN, seed, "", &[0.0, ddqn[i]]);
        }
    }
    runs
}

#[test]
fn environments_are_put_on_the_scale_of_their_reference_scores() {
    let comparison = three_environments().compare(0).unwrap();
    let aggregate = comparison.aggregate.as_ref().unwrap();
    assert_eq!(
        aggregate.ranges.iter().map(|it| it.env.as_str()).collect::<Vec<_>>(),
        ["deepsea-40", "deepsea-50"]
    );
    for range in &aggregate.ranges {
        assert!((range.low + 0.005).abs() < 1e-9 && (range.high - 0.99).abs() < 1e-9, "{range:?}");
        assert_eq!(range.source, "the model");
    }
    // The IQM of four is the mean of the middle two.
    let scores: Vec<_> = aggregate.scores.iter().map(|of| (of.label.as_str(), of.iqm.value)).collect();
    let [("DQN", dqn), ("Double DQN", ddqn)] = scores[..] else { panic!("{scores:?}") };
    assert!((dqn - 0.005 / 0.995).abs() < 1e-9 && (ddqn - 1.0).abs() < 1e-9, "{scores:?}");
    assert!(aggregate.scores.iter().all(|of| of.iqm.interval.unwrap().contains(of.iqm.value)));
    // On the first every seed is better; on the second three of four pairs are, and one is a tie.
    let better = aggregate.improvement.iter().find(|pair| pair.label == "Double DQN").unwrap();
    assert_eq!((better.over.as_str(), better.probability.value), ("DQN", (1.0 + 0.875) / 2.0));
    let pair: Vec<f64> = aggregate.improvement.iter().map(|pair| pair.probability.value).collect();
    assert_eq!(pair.iter().sum::<f64>(), 1.0);
    assert_eq!(comparison.notes, ["Not compared over environments, without reference scores: own."]);
    assert_eq!(comparison.environments[2].improvement[0].probability.value, 0.5);
}

/// Another gravity is another environment, whose random play nobody has measured.
#[test]
fn arguments_of_an_environment_may_void_its_reference() {
    let runs = Runs::new();
    runs.add("a", "gym:LunarLander-v3", DQN, 0, "[env_args]\ngravity = -5.0\n", &[1.0]);
    runs.add("b", "atari:pong", DQN, 0, "[env_args]\nrepeat_action_probability = 0.25\n", &[1.0]);
    let environments = runs.compare(0).unwrap().environments;
    let high: Vec<_> = environments.iter().map(|it| it.range.as_ref().map(|range| range.high)).collect();
    assert_eq!(high, [Some(14.6), None]);
}

/// So are a wrapper and arguments of the environment that is evaluated in.
#[test]
fn wrappers_and_arguments_of_evaluation_void_a_reference() {
    let runs = Runs::new();
    runs.add("a", "gym:CartPole-v1", DQN, 0, "wrappers = [\"TimeLimit(9)\"]\n", &[1.0]);
    runs.add("b", "gym:LunarLander-v3", DQN, 0, "[evaluation.env_args]\ngravity = -5.0\n", &[1.0]);
    runs.add("c", "gym:MountainCar-v0", DQN, 0, "", &[1.0]);
    let environments = runs.compare(0).unwrap().environments;
    let known: Vec<_> = environments.iter().map(|it| it.range.is_some()).collect();
    assert_eq!(known, [false, false, true]);
}

#[test]
fn the_seed_of_the_bootstrap_decides_all_chance() {
    let runs = Runs::new();
    for seed in 0..6 {
        let x = (seed as f64).sqrt();
        runs.add(&format!("dqn-{seed}"), "a", DQN, seed, "", &[x, x + 1.0]);
        runs.add(&format!("ddqn-{seed}"), "a", DDQN, seed, "", &[x, x * 2.0]);
    }
    let comparison = runs.compare(0).unwrap();
    assert_eq!(comparison, runs.compare(0).unwrap());
    let other = runs.compare(1).unwrap();
    let last = |comparison: &Comparison| comparison.environments[0].entries[0].final_return;
    assert_eq!(last(&comparison).value, last(&other).value);
    assert_ne!(comparison.environments[0].entries, other.environments[0].entries);
}

#[test]
fn everything_is_written_down() {
    let (runs, out) = (three_environments(), tempdir().unwrap());
    runs.add("pong", "ALE/Pong-v5", DQN, 0, "", &[1.0, 2.0]);
    runs.add("pong-2", "ALE/Pong-v5", DDQN, 0, "", &[1.0, 2.0]);
    let comparison = runs.compare(0).unwrap();
    let folder = out.path().join("new");
    write(&comparison, &folder, "adfq compare RUN").unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&read("compare.json")).unwrap(), comparison);
    assert!(
        read("curves.csv").starts_with("env,label,seeds,step,mean,low,high\nALE/Pong-v5,DQN,1,10,1.0,,\n")
    );
    assert!(read("seeds.csv").contains("\nown,Double DQN,1,20,5.0\n"));
    let html = read("report.html");
    assert!(html.contains("Over all environments") && html.contains("0.94 [0.75,\u{a0}1.00]"), "{html}");
    for name in ["deepsea-40", "deepsea-50", "own", "ALE-Pong-v5"] {
        assert!(read(&format!("{name}.svg")).contains("evaluation return"));
    }
}

/// What the lines of a figure look like: label, whether a hairline, and points of the band.
fn lines(comparison: &Comparison) -> Vec<(String, bool, usize)> {
    let figure = figure(comparison, &comparison.environments[0]);
    let line = |layer: &Layer| match layer {
        Layer::Line(line) => (line.label.clone(), line.thin, line.band.len()),
        other => panic!("{other:?}"),
    };
    figure.panels[0].layers.iter().map(line).collect()
}

fn many(labels: u32, seeds: u64, evaluations: usize) -> Comparison {
    let runs = Runs::new();
    for label in 0..labels {
        for seed in 0..seeds {
            let more = format!("[learning]\nbatch = {}\n", 10 + label);
            runs.add(&format!("{label}-{seed}"), "cartpole", DQN, seed, &more, &learns(evaluations));
        }
    }
    runs.compare(0).unwrap()
}

#[test]
fn few_seeds_are_hairlines_many_are_bands_and_never_both() {
    let shown = |comparison: &Comparison| {
        let lines = lines(comparison);
        let hairlines = lines.iter().filter(|(_, thin, _)| *thin).count();
        let bands = lines.iter().filter(|(.., band)| *band > 0).count();
        (hairlines, bands, lines.len(), caption(comparison, &comparison.environments[0]))
    };
    for (labels, seeds, hairlines, bands, said) in [
        (2, 1, 0, 0, "cartpole: evaluation return of one seed of each label."),
        (2, 3, 6, 0, "over 3 seeds, hairlines are single seeds."),
        (3, 30, 0, 3, "over 30 seeds, bands are 95 % bootstrap intervals of the mean."),
        (5, 3, 0, 5, "over 3 seeds, bands are 95 % bootstrap intervals of the mean."),
        (10, 3, 0, 0, "over 3 seeds, the table has the intervals."),
    ] {
        let (found_hairlines, found_bands, all, caption) = shown(&many(labels, seeds, 2));
        assert_eq!((found_hairlines, found_bands), (hairlines, bands), "{labels} labels, {seeds} seeds");
        assert_eq!(all, labels as usize + hairlines);
        assert!(caption.ends_with(said), "{caption}");
    }
}

/// Each of ten labels has a look of its own, and none but the first, at the bottom, hides one below it.
#[test]
fn lines_that_lie_on_each_other_are_told_apart() {
    let comparison = many(10, 1, 3);
    let figure = figure(&comparison, &comparison.environments[0]);
    let mut looks: Vec<(Color, Dash, f64)> = vec![];
    for layer in &figure.panels[0].layers {
        let Layer::Line(line) = layer else { panic!("{layer:?}") };
        assert!(looks.is_empty() == (line.dash == Dash::Solid), "{line:?}");
        let strokes = (line.dash, line.shift);
        assert!(looks.iter().all(|&(_, dash, shift)| (dash, shift) != strokes), "{line:?}");
        assert!(looks.iter().all(|&(color, dash, _)| (color, dash) != (line.color, line.dash)), "{line:?}");
        looks.push((line.color, line.dash, line.shift));
    }
}

#[test]
fn one_evaluation_is_shown_as_dots() {
    let comparison = many(3, 2, 1);
    let figure = figure(&comparison, &comparison.environments[0]);
    let [Layer::Bars(dots)] = &figure.panels[0].layers[..] else { panic!("{figure:?}") };
    assert_eq!(dots.bars.len(), 3);
    assert!(dots.bars.iter().all(|dot| dot.value == 500.0 && dot.interval.is_some()));
    assert_eq!(figure.panels[0].x.label, "evaluation return at step 10");
    let caption = caption(&comparison, &comparison.environments[0]);
    assert!(caption.contains("over 2 seeds, at step 10, the only one; bars are 95 %"), "{caption}");
}

#[test]
fn long_labels_are_numbered_in_the_table_of_pairs() {
    let page = summary(&many(4, 2, 1));
    assert!(page.contains("\n1 DQN (learning.batch=10)  "), "{page}");
    let header = page.lines().find(|line| line.split_whitespace().eq(["1", "2", "3", "4"]));
    assert!(header.is_some(), "{page}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let config = format!("env = \"cartpole\"\n{DQN}\nseed = 0\nsteps = 1000\n");
    let header = "step,episode,return,length\n";
    for (rows, message) in [
        (
            format!("{header}10,0,5,5\n10,1,x,5\n"),
            "evaluations.csv, line 3: the return is \"x\", which is no finite number",
        ),
        (
            format!("{header}10,0,NaN,5\n"),
            "evaluations.csv, line 2: the return is \"NaN\", which is no finite number",
        ),
        (
            format!("{header}ten,0,1,5\n"),
            "evaluations.csv, line 2: the step is \"ten\", which is no whole number",
        ),
        (format!("{header}10,0,1\n"), "evaluations.csv, line 2: 3 fields, but the header has 4"),
        (format!("{header}10,0,1,1,5\n"), "evaluations.csv, line 2: 5 fields, but the header has 4"),
        (
            format!("{EVALUATIONS_HEADER}\n10,0,1,5\n"),
            "evaluations.csv, line 2: 4 fields, but the header has 5",
        ),
        (format!("{header}20,0,1,5\n10,0,1,5\n"), "evaluations.csv, line 3: step 10 comes after step 20"),
        (
            "a,b\n".into(),
            "evaluations.csv, line 1: the header is \"a,b\", not \"step,episode,return,clipped_return,length\"",
        ),
        (header.into(), " has no evaluations yet; wait for its first one, or leave it out"),
        ("step,epis".into(), " has no evaluations yet; wait for its first one, or leave it out"),
    ] {
        let runs = Runs::new();
        let complaint = runs.raw("a", &config, &rows).complaint();
        assert_eq!(complaint.strip_prefix("RUNS/a").unwrap().trim_start_matches('/'), message);
    }
    for (wrong, message) in [
        (config.replace("\"dqn\"", "5"), "invalid type: integer `5`"),
        (config.replace("seed", "sed"), "missing field `seed`"),
        (config.replace("seed = 0", "seed = ["), "config.toml cannot be understood ("),
    ] {
        let runs = Runs::new();
        let complaint = runs.raw("a", &wrong, header).complaint();
        assert!(
            complaint.starts_with("RUNS/a is not a run: config.toml cannot be understood ("),
            "{complaint}"
        );
        assert!(complaint.contains(message) && !complaint.contains('\n'), "{complaint}");
    }
    assert_eq!(
        Runs::new().complaint(),
        "RUNS is not a run: neither it nor a folder in it has config.toml and evaluations.csv"
    );
    assert!(find(&[Path::new("nowhere").to_owned()]).unwrap_err().to_string().contains("nowhere"));
}
