//! Names under which runs are pooled over seeds, such that unlike things are never pooled.

use super::run::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Agents and policies in the order in which reports name them. Others follow.
const AGENTS: [&str; 6] = ["calibrated", "adfq", "dqn", "ddqn", "split", "bootstrapped"];
const POLICIES: [&str; 3] = ["thompson", "epsilon", "optimist"];

/// What ranks and names a run: agent, policy, and what sets it apart from others of the same agent and policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    rank: [usize; 2],
    kind: Kind,
    note: String,
}

impl Label {
    fn new(kind: Kind, note: String) -> Self {
        let rank = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
        let rank = [rank(&AGENTS, &kind.0), rank(&POLICIES, &kind.1)].map(|at| at.unwrap_or(usize::MAX));
        Self { rank, kind, note }
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.kind.0.as_str(), self.kind.1.as_str()) {
            ("adfq", "thompson") => f.write_str("ADFQ-TS"),
            ("adfq", _) => f.write_str("ADFQ-ε"),
            ("dqn", _) => f.write_str("DQN"),
            ("ddqn", _) => f.write_str("Double DQN"),
            ("split", "thompson") => f.write_str("Split ADFQ-TS"),
            ("split", "epsilon") => f.write_str("Split ADFQ-ε"),
            ("split", _) => f.write_str("Split ADFQ"),
            ("calibrated", "doubt") => f.write_str("Calibrated"),
            ("bootstrapped", "head") => f.write_str("Bootstrapped DQN"),
            (agent, policy) => write!(f, "{agent} with {policy}"),
        }?;
        if self.note.is_empty() { Ok(()) } else { write!(f, " ({})", self.note) }
    }
}

/// The name of an agent with a policy, as tables have it.
pub(crate) fn label_of(agent: &str, policy: &str) -> String {
    Label::new((agent.to_owned(), policy.to_owned()), String::new()).to_string()
}

/// Runs by environment and label, each group by increasing seed.
pub type Groups = BTreeMap<String, BTreeMap<Label, Vec<Run>>>;

/// Pools runs of one environment that differ in nothing but the seed and the number of steps.
pub fn group(runs: Vec<Run>) -> Groups {
    let apart = differing(&runs);
    let mut groups = Groups::new();
    for run in runs {
        let label = label(&run, &apart);
        groups.entry(run.head.env.clone()).or_default().entry(label).or_default().push(run);
    }
    groups.values_mut().flatten().for_each(|(_, group)| group.sort_by_key(|run| run.head.seed));
    groups
}

/// The label of each of these runs, as a comparison of all of them has it.
pub fn labels(runs: &[Run]) -> Vec<String> {
    let apart = differing(runs);
    runs.iter().map(|run| label(run, &apart).to_string()).collect()
}

/// Agent and policy.
type Kind = (String, String);

/// The settings in which runs of one agent and policy differ within some environment. Between environments they may
/// differ as they like: an agent has its settings for each.
fn differing(runs: &[Run]) -> BTreeMap<Kind, BTreeSet<String>> {
    let mut first: BTreeMap<(Kind, &str), &Run> = BTreeMap::new();
    let mut apart: BTreeMap<Kind, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let kind = (run.head.agent.clone(), run.head.policy.clone());
        let other = first.entry((kind.clone(), &run.head.env)).or_insert(run);
        let names = run.settings.keys().chain(other.settings.keys());
        let names = names.filter(|name| run.settings.get(*name) != other.settings.get(*name));
        apart.entry(kind).or_default().extend(names.cloned());
    }
    apart
}

/// A setting that a run does not have is not named: who has it says so, and that sets the two apart.
fn label(run: &Run, apart: &BTreeMap<Kind, BTreeSet<String>>) -> Label {
    let kind = (run.head.agent.clone(), run.head.policy.clone());
    let names = apart.get(&kind).into_iter().flatten();
    let notes: Vec<String> =
        names.filter_map(|name| Some(format!("{name}={}", run.settings.get(name)?))).collect();
    Label::new(kind, notes.join(", "))
}
