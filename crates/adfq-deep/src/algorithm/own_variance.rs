//! What sampling has not settled yet: how much of the prior variance is left at (s,a), from where an agent has been alone.
//!
//! Bayesian linear regression on features φ(s) that are drawn once and never trained, |φ| = 1, one for each action: the
//! share of the prior variance left after visits φ_1 … φ_n with noise λ (in units of the prior variance) is
//!
//! ```text
//! h(s,a) = φᵀ P_a φ        P_a = (I + Σ φ_i φ_iᵀ / λ)⁻¹
//! ```
//!
//! 1 before any visit; λ/(λ + n) after n visits of the same state and none of others. Nothing that is learned enters it,
//! so nothing drifts and no bootstrapped target counts as evidence. A visit costs O(d²) (Sherman and Morrison 1950).

use adfq::random::stream;
use rand::RngExt;
use rand_distr::StandardNormal;

/// The input that is always there, beside the observation's: without it a state and its double were one.
const CONSTANT: f32 = 0.5;

/// Where an agent has been, as far as its own variance depends on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnVariance {
    size: usize,
    noise: f64,
    /// A row for each input of the random layer, and one for the constant.
    pub weights: Vec<f32>,
    /// P_a, row by row, for each action.
    pub inverse: Vec<f64>,
}

impl OwnVariance {
    /// Nowhere yet. There are `size` features, drawn from the seed; `noise` is λ.
    pub fn new(inputs: usize, actions: usize, size: usize, noise: f64, seed: u64) -> Self {
        let mut rng = stream(seed, "own variance");
        let weights = (0..(inputs + 1) * size).map(|_| rng.sample(StandardNormal)).collect();
        let identity = (0..size * size).map(|i| f64::from(u8::from(i % (size + 1) == 0)));
        Self { size, noise, weights, inverse: identity.collect::<Vec<_>>().repeat(actions) }
    }

    /// Bytes that it will take. Nothing is allocated to find out.
    pub fn bytes_needed(inputs: usize, actions: usize, size: usize) -> u64 {
        let (inputs, actions, size) = (inputs as u64, actions as u64, size as u64);
        let weights = inputs.saturating_add(1).saturating_mul(size).saturating_mul(4);
        let inverse = size.saturating_mul(size).saturating_mul(actions).saturating_mul(8);
        weights.saturating_add(inverse)
    }

    /// φ(s): a layer of rectified units, scaled to length 1.
    pub fn features(&self, observation: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0_f32; self.size];
        let inputs = observation.iter().chain([&CONSTANT]);
        for (&input, weights) in inputs.zip(self.weights.chunks_exact(self.size)) {
            // Most inputs of a grid of things are 0.
            if input != 0.0 {
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += input * weight);
            }
        }
        let mut features: Vec<f64> = sums.iter().map(|&sum| f64::from(sum.max(0.0))).collect();
        let length = features.iter().map(|feature| feature * feature).sum::<f64>().sqrt();
        // A length of 0, all units at rest, is a state like any other that is so: nothing is known about it.
        if length > 0.0 {
            features.iter_mut().for_each(|feature| *feature /= length);
        }
        features
    }

    /// The share h(s,a) of the prior variance that is left, in [0, 1].
    pub fn left(&self, features: &[f64], action: usize) -> f64 {
        let product = times(self.matrix(action), features);
        dot(&product, features).clamp(0.0, 1.0)
    }

    /// The action was taken in the state with these features. Returns what was left before.
    pub fn visit(&mut self, features: &[f64], action: usize) -> f64 {
        let product = times(self.matrix(action), features);
        let left = dot(&product, features).max(0.0);
        let (size, scale) = (self.size, 1.0 / (self.noise + left));
        let matrix = &mut self.inverse[action * size * size..][..size * size];
        for (row, &of_row) in matrix.chunks_exact_mut(size).zip(&product) {
            let factor = of_row * scale;
            row.iter_mut().zip(&product).for_each(|(entry, of_column)| *entry -= factor * of_column);
        }
        left.min(1.0)
    }

    fn matrix(&self, action: usize) -> &[f64] {
        &self.inverse[action * self.size * self.size..][..self.size * self.size]
    }
}

/// A symmetric matrix times a vector, as a sum of rows: half of the features are 0, and whole rows are added at once.
#[multiversion::multiversion(targets("x86_64+avx2", "x86_64+avx512f+avx512dq+avx512vl"))]
fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    for (row, &factor) in matrix.chunks_exact(vector.len()).zip(vector) {
        if factor != 0.0 {
            product.iter_mut().zip(row).for_each(|(sum, entry)| *sum += factor * entry);
        }
    }
    product
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_hot(inputs: usize, at: usize) -> Vec<f32> {
        (0..inputs).map(|i| if i == at { 1.0 } else { 0.0 }).collect()
    }

    #[test]
    fn a_visit_settles_its_pair_alone() {
        let mut own = OwnVariance::new(4, 2, 64, 0.01, 7);
        let (here, there) = (own.features(&one_hot(4, 0)), own.features(&one_hot(4, 3)));
        assert!((own.left(&here, 1) - 1.0).abs() < 1e-12);
        own.visit(&here, 1);
        assert!((own.left(&here, 1) - 0.01 / 1.01).abs() < 1e-12); // settled but for the noise
        assert!((own.left(&here, 0) - 1.0).abs() < 1e-12); // the other action was not tried
        assert!(own.left(&there, 1) > 0.4); // nor was this state
    }

    /// P after many visits is the inverse: P (I + Σ φφᵀ/λ) = I.
    #[test]
    fn the_inverse_does_not_drift() {
        let (inputs, size, noise) = (6, 24, 1e-3);
        let mut own = OwnVariance::new(inputs, 1, size, noise, 3);
        let mut rng = stream(1, "walk");
        let mut precision = vec![0.0; size * size];
        (0..size).for_each(|i| precision[i * (size + 1)] = 1.0);
        for _ in 0..20_000 {
            let observation: Vec<f32> = (0..inputs).map(|_| rng.random_range(-1.0..1.0)).collect();
            let phi = own.features(&observation);
            own.visit(&phi, 0);
            for i in 0..size {
                (0..size).for_each(|j| precision[i * size + j] += phi[i] * phi[j] / noise);
            }
        }
        for i in 0..size {
            let row = times(&precision, &own.inverse[i * size..][..size]);
            for (j, found) in row.iter().enumerate() {
                assert!((found - f64::from(u8::from(i == j))).abs() < 1e-6, "{i} {j} {found}");
            }
        }
    }

    #[test]
    fn visits_are_counted_where_they_were() {
        let mut own = OwnVariance::new(100, 2, 256, 1e-3, 0);
        let states: Vec<_> = (0..100).map(|at| own.features(&one_hot(100, at))).collect();
        for visits in 1..=5 {
            for state in &states[..50] {
                own.visit(state, 1);
            }
            for state in &states[..50] {
                let count = 1e-3 * (1.0 / own.left(state, 1) - 1.0);
                assert!((count / f64::from(visits) - 1.0).abs() < 0.05, "{visits} {count}");
            }
        }
        let least = |action| states[50..].iter().map(|s| own.left(s, action)).fold(1.0, f64::min);
        assert!(least(1) > 0.2 && least(0) > 1.0 - 1e-12, "{}", least(1));
    }
}
