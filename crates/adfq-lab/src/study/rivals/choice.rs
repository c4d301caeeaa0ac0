//! Which settings rivals get: the best for each domain, and one for all. The latter is chosen for each domain on all
//! others: it is the setting with the best mean score there, so a domain never has a say in its own choice.

use super::score::Scales;
use crate::Result;
use crate::float::Real;
use crate::stats::mean;
use crate::study::tuning::Try;
use std::collections::BTreeMap;

/// The mean scores of the tuning trials, by label, domain and place in the grid.
pub struct Grid(BTreeMap<(&'static str, &'static str), Vec<f64>>);

impl Grid {
    pub fn new(outcomes: &[(Try, Vec<Real>)]) -> Result<Self> {
        let (mut grid, mut scales) = (BTreeMap::<_, Vec<f64>>::new(), Scales::default());
        for (unit, rewards) in outcomes {
            let scored = unit
                .trials
                .iter()
                .zip(rewards)
                .map(|(trial, &reward)| Ok(scales.of(trial)?.score(reward.into(), trial.steps)));
            let scores = scored.collect::<Result<Vec<f64>>>()?;
            let trial = &unit.trials[0];
            // Units come in the order of the grid.
            grid.entry((trial.contender.label, trial.domain)).or_default().push(mean(&scores));
        }
        Ok(Self(grid))
    }

    /// The best setting for a domain.
    pub fn tuned(&self, label: &str, domain: &str) -> usize {
        let scores = self.0.iter().find(|((known, place), _)| *known == label && *place == domain);
        scores.map_or(0, |(_, scores)| best(scores))
    }

    /// The setting with the best mean over all other domains; the first if there are none. A score below 0 counts as 0, or
    /// one bad domain would decide alone.
    pub fn single(&self, label: &str, domain: &str) -> usize {
        let others = self.0.iter().filter(|((known, place), _)| *known == label && *place != domain);
        let mut sums: Vec<f64> = Vec::new();
        for (_, scores) in others {
            sums.resize(scores.len(), 0.0);
            sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score.max(0.0));
        }
        best(&sums)
    }
}

/// The place of the largest number; the first of equals, and 0 if there is none.
fn best(scores: &[f64]) -> usize {
    let mut best = 0;
    for (place, &score) in scores.iter().enumerate() {
        if score > scores[best] || scores[best].is_nan() {
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_no_say_in_its_own_choice() {
        let of = |domain, scores: [f64; 2]| (("PSRL", domain), scores.to_vec());
        let grid =
            Grid([of("a", [0.9, 0.1]), of("b", [0.2, 0.6]), of("c", [0.5, 0.6])].into_iter().collect());
        assert_eq!(["a", "b", "c"].map(|domain| grid.tuned("PSRL", domain)), [0, 1, 1]);
        assert_eq!(["a", "b", "c"].map(|domain| grid.single("PSRL", domain)), [1, 0, 0]);
        assert_eq!((grid.single("BEB", "a"), grid.tuned("BEB", "a")), (0, 0));
    }

    #[test]
    fn what_is_no_number_is_never_best() {
        assert_eq!((best(&[f64::NAN, 0.1, 0.3]), best(&[])), (2, 0));
    }
}
