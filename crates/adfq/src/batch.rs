//! Many updates at once, over arrays: structure of arrays in, two arrays out.
//!
//! A batch of B transitions with |A| next actions each is a handful of contiguous columns. Elements do not depend on
//! each other, so large batches run in parallel and give the same bits at any number of threads. No element allocates.

mod tallies;

pub use tallies::Tallies;

use crate::update::{
    NoiseKind, Update, Workspace, check_reward_and_discount, check_target_var, ignores_next,
};
use crate::{Belief, Error, Result};
use rayon::prelude::*;

/// Elements that one thread takes at a time; a batch of no more than this runs where it is called.
const CHUNK: usize = 512;

/// A floating-point type that a batch can hold. Whatever it is, the update itself is done in f64.
pub trait Float: Copy + Send + Sync + Into<f64> {
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The least positive normal value: what a variance is rounded up to.
    const LEAST: Self;
}

impl Float for f64 {
    const LEAST: Self = f64::MIN_POSITIVE;
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Float for f32 {
    const LEAST: Self = f32::MIN_POSITIVE;
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

/// A column with one value for each element, or one value for all.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a, T> {
    /// One value for each element.
    Each(&'a [T]),
    /// The same value for all.
    All(T),
}

impl<T: Float> Column<'_, T> {
    #[inline]
    fn at(&self, i: usize) -> f64 {
        match self {
            Self::Each(values) => values[i].into(),
            Self::All(value) => (*value).into(),
        }
    }

    fn len_or(&self, all: usize) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::All(_) => all,
        }
    }
}

/// B transitions in columns.
///
/// ```
/// use adfq::batch::{Batch, Column};
/// use adfq::update::{NoiseKind, Rule, Update};
///
/// let batch = Batch {
///     actions: 2,
///     mu_sa: &[0.0_f32, 1.0],
///     var_sa: &[1.0, 1.0],
///     reward: &[0.5, -1.0],
///     discount: Column::All(0.99),
///     var_w: Column::All(0.0),
///     terminal: &[false, true],
///     terminal_var: 1e-3,
///     mu_next: &[1.0, 2.0, 0.0, 0.0],
///     var_next: &[1.0, 1.0, 1.0, 1.0],
/// };
/// let (mut mean, mut var) = ([0.0; 2], [0.0; 2]);
/// batch.update(&Update::new(Rule::Analytic), NoiseKind::None, &mut mean, &mut var)?;
/// assert!(mean[0] > 0.5 && (mean[1] + 1.0).abs() < 0.01);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// Number of next actions |A|.
    pub actions: usize,
    /// Prior means μ_{s,a}; their number is the size B of the batch.
    pub mu_sa: &'a [T],
    /// Prior variances σ²_{s,a}.
    pub var_sa: &'a [T],
    /// Rewards r.
    pub reward: &'a [T],
    /// Discounts γ: one for each element where returns of several steps are cut short by the end of an episode.
    pub discount: Column<'a, T>,
    /// Noise variances σ_w².
    pub var_w: Column<'a, T>,
    /// Which transitions ended an episode; empty if none did.
    pub terminal: &'a [bool],
    /// Target variance of those, and of transitions with discount 0: their target is the reward alone, too.
    pub terminal_var: f64,
    /// Next means μ_{s′,b}, B × |A|, the actions of an element contiguous.
    pub mu_next: &'a [T],
    /// Next variances σ²_{s′,b}, B × |A|.
    pub var_next: &'a [T],
}

impl<T: Float> Batch<'_, T> {
    /// Updates all elements and writes the posterior means and variances. If an element is invalid the error names the
    /// first one; what has been written by then is unspecified.
    pub fn update(&self, update: &Update, noise: NoiseKind, mean: &mut [T], var: &mut [T]) -> Result<()> {
        self.check_shape(mean.len(), var.len())?;
        if mean.len() <= CHUNK {
            return self.update_chunk(update, noise, 0, mean, var);
        }
        // Of several errors the one at the lowest index is reported, whichever thread met it first.
        mean.par_chunks_mut(CHUNK)
            .zip(var.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(i, (mean, var))| self.update_chunk(update, noise, i * CHUNK, mean, var))
            .find_first(Result::is_err)
            .unwrap_or(Ok(()))
    }

    fn update_chunk(
        &self,
        update: &Update,
        noise: NoiseKind,
        first: usize,
        mean: &mut [T],
        var: &mut [T],
    ) -> Result<()> {
        let mut workspace = Workspace::default();
        for (offset, (mean, var)) in mean.iter_mut().zip(var).enumerate() {
            let index = first + offset;
            let posterior = self
                .update_element(update, noise, index, &mut workspace)
                .map_err(|source| Error::InBatch { index, source: Box::new(source) })?;
            *mean = T::from_f64(posterior.mean());
            *var = T::from_f64(posterior.var().max(T::LEAST.into()));
        }
        Ok(())
    }

    #[inline]
    fn update_element(
        &self,
        update: &Update,
        noise: NoiseKind,
        i: usize,
        workspace: &mut Workspace,
    ) -> Result<Belief> {
        let prior = Belief::new(self.mu_sa[i].into(), self.var_sa[i].into())?;
        let (reward, discount) = (self.reward[i].into(), self.discount.at(i));
        check_reward_and_discount(reward, discount)?;
        if !self.terminal.is_empty() && self.terminal[i] || ignores_next(discount) {
            check_target_var(self.terminal_var)?;
            workspace.problem.load_terminal(prior, reward, self.terminal_var);
        } else {
            let row = i * self.actions..(i + 1) * self.actions;
            let next = self.mu_next[row.clone()].iter().zip(&self.var_next[row]);
            let next = next.map(|(&mean, &var)| (mean.into(), var.into()));
            next.clone().try_for_each(|(mean, var)| Belief::new(mean, var).map(drop))?;
            let next = next.map(|(mean, var)| Belief::trusted(mean, var));
            workspace.problem.load_beliefs(prior, reward, discount, next)?;
        }
        update.solve(workspace, noise.with_var(self.var_w.at(i)))
    }

    fn check_shape(&self, mean: usize, var: usize) -> Result<()> {
        let expected = self.mu_sa.len();
        let table = expected * self.actions;
        let terminal = if self.terminal.is_empty() { expected } else { self.terminal.len() };
        for (column, needed, found) in [
            ("var_sa", expected, self.var_sa.len()),
            ("reward", expected, self.reward.len()),
            ("discount", expected, self.discount.len_or(expected)),
            ("var_w", expected, self.var_w.len_or(expected)),
            ("terminal", expected, terminal),
            ("mu_next", table, self.mu_next.len()),
            ("var_next", table, self.var_next.len()),
            ("mean", expected, mean),
            ("var", expected, var),
        ] {
            if needed != found {
                return Err(Error::BatchShape { column, expected, needed, found });
            }
        }
        Ok(())
    }
}
