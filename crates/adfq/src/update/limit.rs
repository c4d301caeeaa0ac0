//! The limit of small variances, in which ADFQ is Q-learning (paper Theorems 1 and 2).

use crate::Belief;

/// The learning rate α_τ = σ²_{s,a} / (σ²_{s,a} + γ² σ²_{s′,b⁺} + σ_w²) of Theorem 1, where b⁺ is the next action
/// with the largest mean. As all variances shrink, the mean of either rule approaches
/// (1-α_τ) μ_{s,a} + α_τ (r + γ max_b μ_{s′,b}): the Q-learning update.
///
/// ```
/// use adfq::update::limit::learning_rate;
/// use adfq::Belief;
///
/// let (prior, best) = (Belief::new(0.0, 1.0)?, Belief::new(2.0, 3.0)?);
/// assert_eq!(learning_rate(prior, 1.0, best, 0.0), 0.25);
/// assert_eq!(learning_rate(prior, 1.0, best, 4.0), 0.125);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn learning_rate(prior: Belief, discount: f64, best_next: Belief, var_w: f64) -> f64 {
    prior.var() / (prior.var() + discount * discount * best_next.var() + var_w)
}
