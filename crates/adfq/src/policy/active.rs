//! The active learning scheme of KTD-Q (Geist and Pietquin 2010): act where the value is least known.

use super::{Policy, weighted};
use crate::agent::Agent;
use crate::random::ChaCha8Rng;
use smallvec::SmallVec;

/// Chooses action a with probability ∝ the sd of the belief over Q(s,a); the means play no part.
///
/// ```
/// use adfq::agent::{KtdQ, KtdSettings};
/// use adfq::policy::{Active, Policy};
/// use adfq::random::stream;
///
/// let agent = KtdQ::new(1, 2, 0.9, KtdSettings::default())?;
/// let mut rng = stream(0, "active");
/// let ones: usize = (0..1000).map(|_| Active.act(&agent, 0, &mut rng)).sum();
/// assert!((400..600).contains(&ones)); // equally unknown
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Active;

impl<A: Agent + ?Sized> Policy<A> for Active {
    fn act(&mut self, agent: &A, state: usize, rng: &mut ChaCha8Rng) -> usize {
        let sds: SmallVec<[f64; 16]> = (0..agent.actions()).map(|a| agent.var(state, a).sqrt()).collect();
        weighted::draw(&sds, rng)
    }
}
