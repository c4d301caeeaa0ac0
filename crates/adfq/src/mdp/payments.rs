//! How many rewards an episode can pay: what bounds the values of a task without a discount.

use super::{Mdp, Outcome, components::components};

/// The most rewards other than 0 that an episode can pay, at least 1. States that lead to each other in a circle could pay
/// for ever; each of them counts once then, as in the longest way that goes nowhere twice.
pub(super) fn most_payments(mdp: &Mdp) -> u32 {
    // An outcome that ends the episode leads to the state itself here: that joins no two states.
    let successor = |state: usize, edge: usize| {
        let outcome = mdp.outcomes_of(state).get(edge)?;
        Some(if outcome.terminal { state } else { outcome.next_state })
    };
    let mut most = vec![0_u64; mdp.states()];
    let mut component_of = vec![usize::MAX; mdp.states()];
    for (number, component) in components(mdp.states(), successor).into_iter().enumerate() {
        component.iter().for_each(|&state| component_of[state] = number);
        let all = || component.iter().flat_map(|&state| mdp.outcomes_of(state));
        let stays = |o: &Outcome| !o.terminal && component_of[o.next_state] == number;
        let pays = |o: &Outcome| u64::from(o.reward != 0.0);
        let within = if all().any(|o| stays(o) && pays(o) > 0) { component.len() as u64 } else { 0 };
        let after = |o: &Outcome| pays(o) + if o.terminal { 0 } else { most[o.next_state] };
        let leaving = all().filter(|o| !stays(o)).map(after).max().unwrap_or(0);
        component.iter().for_each(|&state| most[state] = within + leaving);
    }
    let counts = most.iter().zip(mdp.reachable()).filter(|&(_, reached)| reached).map(|(&count, _)| count);
    counts.max().unwrap_or(0).clamp(1, u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::{MdpBuilder, named};

    #[test]
    fn flags_and_games_pay_once() {
        assert_eq!(most_payments(&named("maze").unwrap()), 1);
        // A step to the right costs something, and the last one pays too.
        assert_eq!(most_payments(&named("deepsea-5").unwrap()), 5);
    }

    /// 0 → 1 ⇄ 2 → end: each of the two that lead to each other counts once.
    #[test]
    fn a_circle_that_pays_counts_each_of_its_states_once() {
        let mdp = |inner: f64| {
            MdpBuilder::new("circle", 3, 2, 1.0)
                .outcome(0, 0, Outcome::goes(1.0, 1, 2.0))
                .outcome(0, 1, Outcome::goes(1.0, 1, 0.0))
                .outcome(1, 0, Outcome::goes(1.0, 2, inner))
                .outcome(1, 1, Outcome::goes(1.0, 2, 0.0))
                .outcome(2, 0, Outcome::goes(1.0, 1, 0.0))
                .outcome(2, 1, Outcome::ends(1.0, 2, 5.0))
                .start(0)
                .build()
                .unwrap()
        };
        assert_eq!((most_payments(&mdp(0.0)), most_payments(&mdp(-1.0))), (2, 4));
    }
}
