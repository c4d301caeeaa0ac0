//! The domains of the study: how long agents walk and act in each, and what is declared about its rewards.

use crate::Result;
use crate::experiment::solved_domain::Domain;
use adfq::agent::{Prior, Rewards};

/// Which domains stand together in a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The §5 MDPs, Chain and Loop.
    Small,
    Mazes,
    DeepSea,
    Random,
    /// Families that nobody tuned on; only the comparison with fair rivals has them.
    Unseen,
}

impl Group {
    /// The groups of the study with the names of their files and their titles, in the order of the report.
    pub const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Small, "small", "small domains"),
        (Self::Mazes, "mazes", "mazes"),
        (Self::DeepSea, "deepsea", "DeepSea"),
        (Self::Random, "random", "random MDPs"),
    ];

    /// Whether a domain belongs to it.
    pub fn contains(self, name: &str) -> bool {
        DOMAINS.iter().any(|domain| domain.name == name && domain.group == self)
    }
}

/// A domain of the study.
#[derive(Debug)]
pub struct StudyDomain {
    /// Its name, see [`Domain::of_trial`].
    pub name: &'static str,
    pub group: Group,
    pub walk: u64,
    pub online: u64,
    /// Steps of each of two phases, if rewards are counted so.
    pub phase: Option<u64>,
    /// How many rewards an episode can pay (the most, declared); nothing where there is no such bound.
    payments: Option<u32>,
    /// Whether ADFQ of the paper is told that transitions are random. Those of the §5 MDPs are not, only their rewards.
    pub noisy: bool,
}

impl StudyDomain {
    pub(super) const fn continuing(name: &'static str, group: Group, steps: u64, noisy: bool) -> Self {
        Self { name, group, walk: steps, online: steps, phase: None, payments: None, noisy }
    }

    /// A domain with episodes that pay once.
    pub(super) const fn episodic(name: &'static str, group: Group, steps: u64, noisy: bool) -> Self {
        Self { payments: Some(1), ..Self::continuing(name, group, steps, noisy) }
    }

    /// With two phases of so many steps.
    const fn phases(self, steps: u64) -> Self {
        Self { phase: Some(steps), ..self }
    }
}

/// The steps of 2,000 episodes of DeepSea with so many rows.
const fn deep_sea(rows: u64) -> u64 {
    2_000 * rows
}

/// All domains, in the order of the report.
pub static DOMAINS: [StudyDomain; 21] = [
    StudyDomain::episodic("simple", Group::Small, 5_000, false),
    StudyDomain::episodic("simple10", Group::Small, 5_000, false),
    StudyDomain::continuing("chain", Group::Small, 10_000, true).phases(1_000),
    StudyDomain::continuing("loop", Group::Small, 10_000, false).phases(1_000),
    StudyDomain::continuing("loop-stochastic", Group::Small, 10_000, true),
    StudyDomain::episodic("minimaze", Group::Mazes, 20_000, false),
    StudyDomain::episodic("minimaze-stochastic", Group::Mazes, 20_000, true),
    StudyDomain::episodic("maze", Group::Mazes, 30_000, false),
    StudyDomain::episodic("maze-stochastic", Group::Mazes, 30_000, true).phases(20_000),
    StudyDomain::episodic("deepsea-8", Group::DeepSea, deep_sea(8), false),
    StudyDomain::episodic("deepsea-8-stochastic", Group::DeepSea, deep_sea(8), true),
    StudyDomain::episodic("deepsea-10", Group::DeepSea, deep_sea(10), false),
    StudyDomain::episodic("deepsea-10-stochastic", Group::DeepSea, deep_sea(10), true),
    StudyDomain::episodic("deepsea-14", Group::DeepSea, deep_sea(14), false),
    StudyDomain::episodic("deepsea-14-stochastic", Group::DeepSea, deep_sea(14), true),
    StudyDomain::episodic("deepsea-20", Group::DeepSea, deep_sea(20), false),
    StudyDomain::episodic("deepsea-20-stochastic", Group::DeepSea, deep_sea(20), true),
    StudyDomain::continuing("random-10", Group::Random, 10_000, true),
    StudyDomain::continuing("random-30", Group::Random, 20_000, true),
    StudyDomain::continuing("random-30-episodic", Group::Random, 20_000, true),
    StudyDomain::continuing("random-100", Group::Random, 40_000, true),
];

/// A domain with what agents may be told about it.
pub struct DomainFacts {
    pub domain: &'static StudyDomain,
    /// The declared range of rewards, without a bound on how many an episode pays: all that variants of ours are told.
    pub rewards: Rewards,
    /// The prior of the same range, with that bound, for the grids of rivals.
    pub range: Prior,
    /// The moments of that prior: mean and variance.
    pub moments: (f64, f64),
    /// The largest value that the declared range allows.
    pub top: f64,
    /// Without a bound on how many rewards an episode pays: the possible value next to 0, and the largest one.
    pub hopes: (f64, f64),
    /// The number of pairs (s,a), reachable or not.
    pub pairs: usize,
}

impl DomainFacts {
    /// Looks the domain up. The range of random MDPs is that of the law they are drawn from.
    pub fn new(domain: &'static StudyDomain) -> Result<Self> {
        let Domain { mdp, .. } = Domain::of_trial(domain.name, 0)?;
        let rewards = match domain.group {
            Group::Random => Rewards::within(-1.0, 1.0),
            Group::Unseen if domain.name.starts_with("garnet-") => Rewards::within(-1.5, 1.5),
            _ => mdp.rewards(),
        };
        let hopes = (rewards.prior(mdp.gamma())?.mean(), rewards.values_with_ends(mdp.gamma())?.1);
        let Rewards { min, max, .. } = rewards;
        let range = Prior::RewardRange { min, max, horizon: domain.payments };
        let belief = range.belief(mdp.gamma(), Prior::no_walk)?;
        // The moments of a uniform law: its end lies √3 standard deviations from its mean.
        let top = belief.mean() + 3.0_f64.sqrt() * belief.sd();
        let (moments, pairs) = ((belief.mean(), belief.var()), mdp.states() * mdp.actions());
        Ok(Self { domain, rewards, range, moments, top, hopes, pairs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_range_bounds_the_values() {
        for domain in &DOMAINS {
            let facts = DomainFacts::new(domain).unwrap();
            let best = Domain::of_trial(domain.name, 0).unwrap().best;
            let largest = best.value.iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
            assert!(largest <= facts.top + 1e-9, "{}: {largest} > {}", domain.name, facts.top);
        }
    }
}
