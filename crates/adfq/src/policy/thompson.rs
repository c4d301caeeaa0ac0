//! Thompson sampling: act best in one world drawn from the belief (paper §4.3).

use super::Policy;
use crate::agent::Agent;
use crate::random::ChaCha8Rng;

/// Draws each Q(s,a) once from its belief, independently, and takes the action with the largest draw. In Bayesian
/// Q-learning this is Dearden's Q-value sampling.
///
/// ```
/// use adfq::agent::{Agent, KtdQ, KtdSettings, Step};
/// use adfq::policy::{Policy, Thompson};
/// use adfq::random::stream;
///
/// let mut agent = KtdQ::new(1, 2, 0.9, KtdSettings::default())?;
/// for action in [0, 1].into_iter().cycle().take(200) {
///     agent.update(&Step { state: 0, action, reward: action as f64, next_state: 0, terminal: true })?;
/// }
/// // Means 0 and 1 with an sd of .1 each: action 0 looks better in one world of 10¹².
/// assert_eq!(Thompson.act(&agent, 0, &mut stream(0, "thompson")), 1);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thompson;

impl<A: Agent + ?Sized> Policy<A> for Thompson {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let (mut best, mut largest) = (0, f64::NEG_INFINITY);
        for action in 0..agent.actions() {
            let drawn = agent.sample(state, action, rng);
            if drawn > largest {
                (best, largest) = (action, drawn);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Agent, KtdQ, KtdSettings, Step};
    use crate::random::stream;

    /// Two Gaussians: the first is larger with probability Φ((μ₀ - μ₁)/√(σ₀² + σ₁²)).
    #[test]
    fn frequencies_are_the_chances_to_be_best() {
        let mut agent = KtdQ::new(1, 2, 0.9, KtdSettings::default()).unwrap();
        agent.update(&Step { state: 0, action: 0, reward: 2.2, next_state: 0, terminal: true }).unwrap();
        // Now N(2, 10/11) against N(0, 10): Φ(2/√(120/11)) = Φ(.605530) = .727590.
        let (mut rng, mut firsts) = (stream(1, "thompson"), 0);
        (0..40_000).for_each(|_| firsts += i32::from(Thompson.act(&agent, 0, &mut rng) == 0));
        let share = f64::from(firsts) / 40_000.0;
        assert!((share - 0.727590).abs() < 0.009, "{share}"); // 4 sd
    }
}
