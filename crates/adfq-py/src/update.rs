//! The batched belief update on arrays of numpy.

use crate::errors::PyResultOf;
use adfq::batch::{Batch, Column, Float};
use adfq::update::{NoiseKind, Rule, Update};
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Posterior<'py, T> = (Bound<'py, PyArray1<T>>, Bound<'py, PyArray1<T>>);

/// The update of f64 and of f32 arrays, which must be contiguous.
macro_rules! update_of {
    ($name:ident, $number:ty) => {
        /// Posterior means and variances. Arrays are contiguous; of `discount` and `noise_var`, one of one element is for all.
        #[pyfunction]
        #[pyo3(signature = (mean, var, reward, discount, next_mean, next_var, terminal, terminal_var, rule, noise, noise_var, floor))]
        #[expect(clippy::too_many_arguments, reason = "the columns of a batch")]
        pub fn $name<'py>(
            py: Python<'py>,
            mean: PyReadonlyArray1<'py, $number>,
            var: PyReadonlyArray1<'py, $number>,
            reward: PyReadonlyArray1<'py, $number>,
            discount: PyReadonlyArray1<'py, $number>,
            next_mean: PyReadonlyArray2<'py, $number>,
            next_var: PyReadonlyArray2<'py, $number>,
            terminal: PyReadonlyArray1<'py, bool>,
            terminal_var: f64,
            rule: &str,
            noise: &str,
            noise_var: PyReadonlyArray1<'py, $number>,
            floor: f64,
        ) -> PyResultOf<Posterior<'py, $number>> {
            let batch = Batch {
                actions: next_mean.as_array().ncols(),
                mu_sa: numbers(&mean)?,
                var_sa: numbers(&var)?,
                reward: numbers(&reward)?,
                discount: column(&discount)?,
                var_w: column(&noise_var)?,
                terminal: numbers(&terminal)?,
                terminal_var,
                mu_next: next_mean.as_slice().map_err(scattered)?,
                var_next: next_var.as_slice().map_err(scattered)?,
            };
            let update = Update::new(rule_named(rule)?).with_floor(floor)?;
            posterior(py, &batch, &update, noise_named(noise)?)
        }
    };
}

update_of!(update_f64, f64);
update_of!(update_f32, f32);

fn posterior<'py, T: Float + Element + Default>(
    py: Python<'py>,
    batch: &Batch<'_, T>,
    update: &Update,
    noise: NoiseKind,
) -> PyResultOf<Posterior<'py, T>> {
    let rows = batch.mu_sa.len();
    let (mut mean, mut var) = (vec![T::default(); rows], vec![T::default(); rows]);
    py.detach(|| batch.update(update, noise, &mut mean, &mut var))?;
    Ok((mean.into_pyarray(py), var.into_pyarray(py)))
}

fn numbers<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(scattered)
}

fn column<'a, T: Element + Copy>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<Column<'a, T>> {
    Ok(match numbers(array)? {
        [one] => Column::All(*one),
        each => Column::Each(each),
    })
}

fn scattered(_: numpy::AsSliceError) -> PyErr {
    PyValueError::new_err("an array is not contiguous")
}

fn rule_named(name: &str) -> PyResult<Rule> {
    match name {
        "analytic" => Ok(Rule::Analytic),
        "exact" => Ok(Rule::Exact),
        "grid" => Ok(Rule::Grid(Default::default())),
        _ => Err(PyValueError::new_err(format!(
            "there is no rule {name:?}; choose one of analytic, exact, grid"
        ))),
    }
}

fn noise_named(name: &str) -> PyResult<NoiseKind> {
    match name {
        "none" => Ok(NoiseKind::None),
        "approximate" => Ok(NoiseKind::Approximate),
        "exact" => Ok(NoiseKind::Exact),
        _ => Err(PyValueError::new_err(format!(
            "there is no noise {name:?}; choose one of none, approximate, exact"
        ))),
    }
}
