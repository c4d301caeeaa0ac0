//! What an update starts from, checked at the door: prior, reward, discount and what comes next.

use crate::{Belief, Error, Result};

/// What follows a transition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next<'a> {
    /// The beliefs over Q(s′, b), one for each next action b.
    Beliefs(&'a [Belief]),
    /// Nothing: the episode ended, V(s′) = 0 for certain, and the target is r itself.
    ///
    /// The paper is silent about terminals. The target's variance is explicit; the authors' code uses 1e-3. The
    /// noise variance, if there is any, comes on top.
    Terminal {
        /// Variance of the target.
        target_var: f64,
    },
}

/// The causally related tuple τ = ⟨s, a, r, s′⟩ as the update sees it: the prior belief over Q(s,a), the reward
/// r, the discount γ and what is believed about s′.
///
/// ```
/// use adfq::update::{Next, Transition};
/// use adfq::{Belief, Error};
///
/// let prior = Belief::new(0.0, 1.0)?;
/// let ended = Transition::new(prior, 1.0, 0.9, Next::Terminal { target_var: 1e-3 })?;
/// assert_eq!(ended.reward(), 1.0);
/// assert_eq!(Transition::new(prior, 1.0, 1.5, ended.next()), Err(Error::Discount(1.5)));
/// assert_eq!(Transition::new(prior, 1.0, 0.9, Next::Beliefs(&[])), Err(Error::NoActions));
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition<'a> {
    prior: Belief,
    reward: f64,
    discount: f64,
    next: Next<'a>,
}

impl<'a> Transition<'a> {
    /// A transition with a finite reward, a discount in [0, 1] and at least one next belief.
    pub fn new(prior: Belief, reward: f64, discount: f64, next: Next<'a>) -> Result<Self> {
        check_reward_and_discount(reward, discount)?;
        match next {
            Next::Beliefs([]) => return Err(Error::NoActions),
            Next::Beliefs(_) => {}
            Next::Terminal { target_var } => check_target_var(target_var)?,
        }
        Ok(Self { prior, reward, discount, next })
    }

    /// The prior belief over Q(s,a).
    pub fn prior(&self) -> Belief {
        self.prior
    }

    /// The reward r.
    pub fn reward(&self) -> f64 {
        self.reward
    }

    /// The discount γ.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// What follows.
    pub fn next(&self) -> Next<'a> {
        self.next
    }
}

#[inline]
pub(crate) fn check_reward_and_discount(reward: f64, discount: f64) -> Result<()> {
    if !reward.is_finite() {
        return Err(Error::Reward(reward));
    }
    if !(0.0..=1.0).contains(&discount) {
        return Err(Error::Discount(discount));
    }
    Ok(())
}

/// Whether nothing of what follows enters the target: at discount 0, or one so small that γ² is, the target is r for
/// certain, as where an episode ends.
#[inline]
pub(crate) fn ignores_next(discount: f64) -> bool {
    discount * discount == 0.0
}

#[inline]
pub(crate) fn check_target_var(target_var: f64) -> Result<()> {
    if !(target_var >= 0.0 && target_var.is_finite()) {
        return Err(Error::TargetVariance(target_var));
    }
    Ok(())
}
