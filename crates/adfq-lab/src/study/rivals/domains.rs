//! Where the fair rivals are met: domains on which Split ADFQ was made, and families that nobody tuned on.

use crate::study::domains::{Group, StudyDomain};

/// All domains, in the order of the tables. The last seven were never tuned on.
pub static DOMAINS: [StudyDomain; 19] = [
    StudyDomain::continuing("chain", Group::Small, 10_000, true),
    StudyDomain::continuing("loop", Group::Small, 10_000, false),
    StudyDomain::continuing("loop-stochastic", Group::Small, 10_000, true),
    StudyDomain::episodic("minimaze-stochastic", Group::Mazes, 20_000, true),
    StudyDomain::episodic("maze", Group::Mazes, 30_000, false),
    StudyDomain::episodic("maze-stochastic", Group::Mazes, 30_000, true),
    StudyDomain::episodic("deepsea-10", Group::DeepSea, 20_000, false),
    StudyDomain::episodic("deepsea-10-stochastic", Group::DeepSea, 20_000, true),
    StudyDomain::episodic("deepsea-20", Group::DeepSea, 40_000, false),
    StudyDomain::episodic("deepsea-20-stochastic", Group::DeepSea, 40_000, true),
    StudyDomain::continuing("random-30", Group::Random, 20_000, true),
    StudyDomain::continuing("random-100", Group::Random, 40_000, true),
    StudyDomain::continuing("riverswim-6", Group::Unseen, 10_000, true),
    StudyDomain::continuing("riverswim-20", Group::Unseen, 40_000, true),
    StudyDomain::continuing("sixarms", Group::Unseen, 20_000, true),
    StudyDomain::continuing("garnet-30", Group::Unseen, 20_000, true),
    StudyDomain::continuing("garnet-100", Group::Unseen, 40_000, true),
    StudyDomain::continuing("taxi", Group::Unseen, 30_000, false),
    StudyDomain::continuing("cliffwalking", Group::Unseen, 10_000, false),
];

/// Whether the domain belongs to a family that nobody tuned on.
pub fn is_unseen(name: &str) -> bool {
    DOMAINS.iter().any(|domain| domain.name == name && domain.group == Group::Unseen)
}
