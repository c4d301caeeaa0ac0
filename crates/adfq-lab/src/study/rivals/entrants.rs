//! The fair rivals of an agent that keeps counts of outcomes: others that do, and optimistic Q-learning. Each of them has
//! a small grid of settings, whose numbers are shares of the declared ranges, so that a setting means the same in every
//! domain.

use crate::experiment::agents::SPLIT;
use crate::study::domains::DomainFacts;
use crate::study::entrants::{Purpose, Setting, StudyAgent};
use adfq::agent::{Exploration, LearningRate, ModelSettings, PsrlSettings, SplitSettings};
use adfq::spec::{AgentSpec, PolicySpec};

/// Somebody who takes part, under two names if it has a grid.
pub struct Rival {
    pub agent: StudyAgent,
    /// With the best setting for each domain.
    pub tuned: &'static str,
    /// With one setting for all, chosen on all other domains.
    pub single: &'static str,
}

/// Everybody, in the order of the tables. The first has one setting and no grid.
pub static RIVALS: [Rival; 8] = [
    Rival { agent: StudyAgent::rival("split", SPLIT, split), tuned: SPLIT, single: SPLIT },
    Rival {
        agent: StudyAgent::rival("psrl", "PSRL", psrl),
        tuned: "PSRL, tuned",
        single: "PSRL, one setting",
    },
    Rival {
        agent: StudyAgent::rival("vi", "VI, ε-greedy", vi),
        tuned: "VI, ε-greedy, tuned",
        single: "VI, ε-greedy, one setting",
    },
    Rival {
        agent: StudyAgent::rival("rmax", "R-max", r_max),
        tuned: "R-max, tuned",
        single: "R-max, one setting",
    },
    Rival {
        agent: StudyAgent::rival("mbie", "MBIE-EB", mbie),
        tuned: "MBIE-EB, tuned",
        single: "MBIE-EB, one setting",
    },
    Rival { agent: StudyAgent::rival("beb", "BEB", beb), tuned: "BEB, tuned", single: "BEB, one setting" },
    Rival {
        agent: StudyAgent::rival("ucbvi", "UCBVI", ucbvi),
        tuned: "UCBVI, tuned",
        single: "UCBVI, one setting",
    },
    Rival {
        agent: StudyAgent::rival("q-optimistic", "optimistic Q", q_optimistic),
        tuned: "optimistic Q, tuned",
        single: "optimistic Q, one setting",
    },
];

/// Whether the label is that of a rival with its best setting for each domain.
pub fn is_tuned(label: &str) -> bool {
    label != SPLIT && RIVALS.iter().any(|rival| rival.tuned == label)
}

/// Rivals are compared by what they earn; nobody walks at random here.
fn online(purpose: Purpose, settings: Vec<Setting>) -> Vec<Setting> {
    if purpose == Purpose::Online { settings } else { Vec::new() }
}

fn split(_facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let learner = AgentSpec::SplitAdfq { rewards: None, settings: SplitSettings::default() };
    online(purpose, vec![(learner, PolicySpec::Optimist)])
}

fn psrl(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let of = |(mass, noise)| {
        let settings = PsrlSettings { mass, noise, ..PsrlSettings::default() };
        (AgentSpec::Psrl { rewards: facts.rewards, settings }, PolicySpec::Thompson)
    };
    online(purpose, [(0.01, 0.02), (0.001, 0.002), (0.1, 0.02), (1.0, 0.2)].map(of).to_vec())
}

fn vi(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let learner = AgentSpec::ModelBased { rewards: facts.rewards, settings: ModelSettings::default() };
    let of = |epsilon| (learner, PolicySpec::EpsilonGreedy(epsilon));
    online(purpose, [0.1, 0.01, 0.03, 0.3].map(of).to_vec())
}

/// A model with optimistic values.
fn optimist(facts: &DomainFacts, purpose: Purpose, grid: Vec<Exploration>) -> Vec<Setting> {
    let of = |exploration| {
        let settings = ModelSettings { exploration, ..ModelSettings::default() };
        (AgentSpec::ModelBased { rewards: facts.rewards, settings }, PolicySpec::Optimist)
    };
    online(purpose, grid.into_iter().map(of).collect())
}

fn r_max(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    optimist(facts, purpose, [10, 1, 3, 30, 100].map(|visits| Exploration::RMax { visits }).to_vec())
}

fn mbie(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    optimist(
        facts,
        purpose,
        [0.003, 0.0001, 0.0003, 0.001, 0.01, 0.03].map(|beta| Exploration::Mbie { beta }).to_vec(),
    )
}

fn beb(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    optimist(
        facts,
        purpose,
        [0.01, 0.0003, 0.001, 0.003, 0.03, 0.1].map(|beta| Exploration::Beb { beta }).to_vec(),
    )
}

fn ucbvi(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    optimist(facts, purpose, [0.1, 0.01, 0.03, 0.3, 1.0].map(|c| Exploration::Ucbvi { c }).to_vec())
}

/// Constant rates from the largest possible value, and from a tenth of the way to it.
fn q_optimistic(facts: &DomainFacts, purpose: Purpose, _steps: u64) -> Vec<Setting> {
    let (start, high) = facts.hopes;
    let of = |(share, rate)| {
        let initial = start + share * (high - start);
        let learner = AgentSpec::QLearning { rate: LearningRate::Constant(rate), initial };
        (learner, PolicySpec::EpsilonGreedy(0.0))
    };
    let grid = [(1.0, 0.1), (1.0, 0.02), (1.0, 0.4), (1.0, 1.0), (0.1, 0.1), (0.1, 0.4), (0.1, 1.0)];
    online(purpose, grid.map(of).to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::domains::DOMAINS;
    use super::*;
    use std::collections::BTreeSet;

    /// A place in a grid has to mean the same everywhere, or one setting for all would mean nothing.
    #[test]
    fn grids_are_the_same_in_every_domain() {
        for rival in &RIVALS {
            let mut found = BTreeSet::new();
            for domain in &DOMAINS {
                let facts = DomainFacts::new(domain).unwrap();
                let settings = rival.agent.settings(&facts, Purpose::Online, 100);
                let shown = settings.iter().map(|(learner, policy)| match learner {
                    AgentSpec::ModelBased { settings, .. } => format!("{settings:?} {policy:?}"),
                    AgentSpec::Psrl { settings, .. } => format!("{settings:?}"),
                    AgentSpec::QLearning { rate, .. } => format!("{rate:?}"),
                    other => format!("{}", matches!(other, AgentSpec::SplitAdfq { .. })),
                });
                found.insert(shown.collect::<Vec<_>>());
                assert!(rival.agent.settings(&facts, Purpose::Walk, 100).is_empty());
            }
            assert_eq!(found.len(), 1, "{}", rival.agent.id);
        }
    }

    #[test]
    fn nobody_has_the_name_of_another() {
        let names: BTreeSet<&str> =
            RIVALS.iter().skip(1).flat_map(|r| [r.tuned, r.single, r.agent.label]).collect();
        assert_eq!(names.len(), 3 * (RIVALS.len() - 1));
    }
}
