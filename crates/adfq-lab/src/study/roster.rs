//! Who takes part in the study, and with which settings.
//!
//! A rival has the setting of its authors, or the best of a small grid that is tried on other seeds than those reported
//! (see [`tuning`](super::tuning)); ours have one setting everywhere, which may use the declared range of rewards.

use super::field::Ground;
use super::rivals::{
    adfq_exact, adfq_of_the_paper, adfq_tuned, all, bayesian_q, ktd_q, q_constant, q_of_the_paper,
    q_optimistic,
};
use crate::experiment::roster::{ADFQ, ADFQ_EXACT, BAYESIAN_Q, EPSILON, KTD_Q, Q_LEARNING};
use crate::learner::{Acting, Learner};
use crate::plot::{Color, Dash};
use adfq::agent::{NoiseFrom, SplitSettings, StreamSettings};

/// ADFQ of the paper with its best setting.
pub const ADFQ_TUNED: &str = "ADFQ tuned";
/// Q-learning with its best constant rate.
pub const Q_CONSTANT: &str = "Q-learning, constant rate";
/// The same from the largest possible value.
pub const Q_OPTIMISTIC: &str = "Q-learning, optimistic";

/// The winner: Split ADFQ with its one setting.
pub const SPLIT: &str = "Split ADFQ";

/// Labels that no other experiment has, with their looks, in the order of the legend.
pub const LOOKS: &[(&str, Color, Dash)] = &[
    (ADFQ_TUNED, Color::Sky, Dash::Dashed),
    (Q_CONSTANT, Color::Grey, Dash::Dashed),
    (Q_OPTIMISTIC, Color::Yellow, Dash::Dotted),
    (SPLIT, Color::Black, Dash::Solid),
];

/// What the targets of the study are about: the preset that is put to the test unless told otherwise.
pub const CANDIDATE: &str = SPLIT;

/// In which quality somebody takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of those whose best the targets are measured against.
    Rival,
    /// Somebody to compare with, beyond the targets.
    Reference,
    /// A variant of ours: one setting for all domains.
    Ours,
}

/// What an agent is to do, which may change its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To learn Q* from a random walk.
    Walk,
    /// To earn while learning.
    Online,
}

/// A learner with a way to act.
pub type Setting = (Learner, Acting);

/// The possible settings for a purpose and a number of steps.
type Options = fn(&Ground, Purpose, u64) -> Vec<Setting>;

/// Somebody who takes part.
pub struct Entrant {
    /// The name in figures and tables.
    pub label: &'static str,
    /// The name on the command line.
    pub id: &'static str,
    /// In which quality.
    pub role: Role,
    /// Its settings.
    source: Source,
}

/// Where settings come from.
enum Source {
    /// One, or a grid to choose from.
    Options(Options),
    /// A [variant](SplitSettings::VARIANTS) of Split ADFQ.
    Variant(&'static str),
    /// The full Split ADFQ that acts in another way; what it learns from a random walk is known already.
    Acting(Acting),
    /// Split ADFQ without a memory, which acts by Thompson sampling.
    Stream(StreamSettings),
}

impl Entrant {
    /// Its possible settings for a purpose and a number of steps; none if it does not take part in that.
    pub fn settings(&self, ground: &Ground, purpose: Purpose, steps: u64) -> Vec<Setting> {
        let split = |settings| vec![Learner::SplitAdfq { rewards: ground.rewards, settings }];
        match self.source {
            Source::Options(options) => options(ground, purpose, steps),
            Source::Variant(name) => {
                let learner = SplitSettings::variant(name).map(split).unwrap_or_default();
                all(learner, purpose, &[Acting::Optimist])
            }
            Source::Stream(settings) => {
                let learner = Learner::SplitStream { rewards: ground.rewards, settings };
                all(vec![learner], purpose, &[Acting::Thompson])
            }
            Source::Acting(_) if purpose == Purpose::Walk => Vec::new(),
            Source::Acting(acting) => all(split(SplitSettings::default()), purpose, &[acting]),
        }
    }

    const fn rival(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Rival, source: Source::Options(options) }
    }

    const fn reference(id: &'static str, label: &'static str, options: Options) -> Self {
        Self { label, id, role: Role::Reference, source: Source::Options(options) }
    }

    const fn variant(id: &'static str, label: &'static str, variant: &'static str) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Variant(variant) }
    }

    const fn stream(id: &'static str, label: &'static str, noise_from: NoiseFrom, drift: f64) -> Self {
        let settings = StreamSettings { noise_from, noise: 0.01, drift };
        Self { label, id, role: Role::Ours, source: Source::Stream(settings) }
    }

    const fn acting(id: &'static str, label: &'static str, acting: Acting) -> Self {
        Self { label, id, role: Role::Ours, source: Source::Acting(acting) }
    }
}

/// Everybody, in the order of the tables.
pub static ENTRANTS: [Entrant; 23] = [
    Entrant::rival("adfq", ADFQ, adfq_of_the_paper),
    Entrant::rival("adfq-tuned", ADFQ_TUNED, adfq_tuned),
    Entrant::rival("q-learning", Q_LEARNING, q_of_the_paper),
    Entrant::rival("q-constant", Q_CONSTANT, q_constant),
    Entrant::rival("ktd-q", KTD_Q, ktd_q),
    Entrant::rival("bayesian-q", BAYESIAN_Q, bayesian_q),
    Entrant::reference("adfq-exact", ADFQ_EXACT, adfq_exact),
    Entrant::reference("q-optimistic", Q_OPTIMISTIC, q_optimistic),
    Entrant::variant("split", SPLIT, "full"),
    Entrant::variant("split-no-sweeps", "Split ADFQ, no sweeps", "no sweeps"),
    Entrant::variant("split-no-echo", "Split ADFQ, no echo", "no echo"),
    Entrant::variant("split-greedy-heir", "Split ADFQ, greedy heir", "greedy heir"),
    Entrant::variant("split-declared-noise", "Split ADFQ, declared noise", "declared noise"),
    Entrant::variant("split-declared-mean", "Split ADFQ, declared mean", "declared mean"),
    Entrant::variant("split-declared-spread", "Split ADFQ, declared spread", "declared spread"),
    Entrant::variant("split-three-sd", "Split ADFQ, three sd", "three sd"),
    Entrant::variant("split-memory-alone", "Split ADFQ, memory alone", "memory alone"),
    Entrant::acting("split-thompson", "Split ADFQ, Thompson", Acting::Thompson),
    Entrant::acting("split-vpi", "Split ADFQ, VPI", Acting::Vpi),
    Entrant::acting("split-epsilon", "Split ADFQ, ε-greedy", Acting::EpsilonGreedy(EPSILON)),
    Entrant::stream("stream", "Split stream", NoiseFrom::Differences, 1.0),
    Entrant::stream("stream-residuals", "Split stream, noise from residuals", NoiseFrom::Residuals, 1.0),
    Entrant::stream("stream-no-forgetting", "Split stream, no forgetting", NoiseFrom::Differences, 0.0),
];

/// The entrant of this label.
pub fn entrant(label: &str) -> Option<&'static Entrant> {
    ENTRANTS.iter().find(|entrant| entrant.label == label)
}

/// Whether the settings of this agent are chosen from a grid.
pub fn is_tuned(label: &str) -> bool {
    [ADFQ_TUNED, ADFQ_EXACT, Q_CONSTANT, Q_OPTIMISTIC, KTD_Q, BAYESIAN_Q].contains(&label)
}

#[cfg(test)]
mod tests {
    use super::super::field::FIELDS;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everybody_has_settings_and_a_name_of_its_own() {
        let ground = Ground::new(&FIELDS[2]).unwrap();
        let mut names = BTreeSet::new();
        for entrant in &ENTRANTS {
            let options = entrant.settings(&ground, Purpose::Online, 100);
            assert!(!options.is_empty(), "{}", entrant.id);
            assert_eq!(options.len() > 1, is_tuned(entrant.label), "{}", entrant.id);
            assert!(names.insert(entrant.id) && names.insert(entrant.label));
        }
    }

    #[test]
    fn the_stream_is_the_default_one() {
        let default = |entrant: &Entrant| matches!(entrant.source, Source::Stream(it) if it == StreamSettings::default());
        assert_eq!(
            ENTRANTS.iter().find(|entrant| default(entrant)).map(|entrant| entrant.id),
            Some("stream")
        );
    }

    #[test]
    fn every_variant_takes_part() {
        let takes_part =
            |name| ENTRANTS.iter().any(|entrant| matches!(entrant.source, Source::Variant(it) if it == name));
        assert!(SplitSettings::VARIANTS.iter().all(|&(name, _)| takes_part(name)));
    }

    /// Ours may know the declared range of rewards; the rest of their setting is the same everywhere.
    #[test]
    fn ours_have_one_setting() {
        for entrant in ENTRANTS.iter().filter(|entrant| entrant.role == Role::Ours) {
            let mut settings = BTreeSet::new();
            for field in &FIELDS {
                let ground = Ground::new(field).unwrap();
                for purpose in [Purpose::Walk, Purpose::Online] {
                    for (learner, _) in entrant.settings(&ground, purpose, 100) {
                        let (rewards, found) = match learner {
                            Learner::SplitAdfq { settings, rewards } => (rewards, format!("{settings:?}")),
                            Learner::SplitStream { settings, rewards } => (rewards, format!("{settings:?}")),
                            other => panic!("{other:?}"),
                        };
                        assert_eq!(rewards, ground.rewards);
                        settings.insert(found);
                    }
                }
            }
            assert_eq!(settings.len(), 1, "{}", entrant.id);
        }
    }
}
