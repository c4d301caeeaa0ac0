//! Finite MDPs, their exact solutions, and the tabular agents.

use crate::errors::PyResultOf;
use adfq::mdp::{MdpBuilder, Outcome, named, names, solve};
use adfq::spec::{AgentKind, RunSpec};
use adfq::{Belief, MaxOfGaussians};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::prelude::*;

/// How often a signal is looked for while an agent learns, in steps.
const LOOK_EVERY: u64 = 100_000;

/// A finite MDP.
#[pyclass(frozen, module = "adfq._adfq")]
pub struct Mdp(adfq::mdp::Mdp);

/// Q*, V*, an optimal policy, and the bound of the error where there is one.
type Solved<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Option<f64>);

/// Means, variances, and the steps, episodes and rewards so far.
type Learned<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, u64, u64, f64);

#[pymethods]
impl Mdp {
    /// A domain by its name.
    #[staticmethod]
    fn named(name: &str) -> PyResultOf<Self> {
        Ok(Self(named(name)?))
    }

    /// From outcomes: (state, action, probability, next state, reward, whether the episode ends), and the states in which it
    /// starts with their probabilities.
    #[staticmethod]
    fn from_outcomes(
        name: &str,
        states: usize,
        actions: usize,
        gamma: f64,
        outcomes: Vec<(usize, usize, f64, usize, f64, bool)>,
        starts: Vec<(usize, f64)>,
    ) -> PyResultOf<Self> {
        let mut builder = MdpBuilder::new(name, states, actions, gamma);
        for (state, action, probability, next_state, reward, terminal) in outcomes {
            let make = if terminal { Outcome::ends } else { Outcome::goes };
            builder.add(state, action, make(probability, next_state, reward));
        }
        let start = |builder: MdpBuilder, (state, probability)| builder.start_with(state, probability);
        Ok(Self(starts.into_iter().fold(builder, start).build()?))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn states(&self) -> usize {
        self.0.states()
    }

    #[getter]
    fn actions(&self) -> usize {
        self.0.actions()
    }

    #[getter]
    fn gamma(&self) -> f64 {
        self.0.gamma()
    }

    /// The same with another discount.
    fn with_gamma(&self, gamma: f64) -> PyResultOf<Self> {
        Ok(Self(self.0.clone().with_gamma(gamma)?))
    }

    fn solve<'py>(&self, py: Python<'py>) -> PyResultOf<Solved<'py>> {
        let solution = py.detach(|| solve(&self.0))?;
        let q = table(&self.0, |state, action| solution.action_values(state)[action]);
        let policy: Vec<i64> = solution.policy.iter().map(|&action| action as i64).collect();
        Ok((q.to_pyarray(py), solution.value.to_pyarray(py), policy.to_pyarray(py), solution.bound))
    }

    /// An agent learns by acting. Variances are 0 where it has no beliefs.
    #[pyo3(signature = (agent, policy, steps, seed, epsilon, temperature, prior))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        agent: &str,
        policy: Option<&str>,
        steps: Option<u64>,
        seed: u64,
        epsilon: Option<f64>,
        temperature: Option<f64>,
        prior: Option<&str>,
    ) -> PyResultOf<Learned<'py>> {
        let kind: AgentKind = agent.parse()?;
        let mut spec = RunSpec { seed, temperature, ..RunSpec::of(kind, &self.0) };
        spec.epsilon = epsilon.unwrap_or(spec.epsilon);
        spec.steps = steps.unwrap_or(spec.steps);
        if let Some(policy) = policy {
            spec.policy = policy.parse()?;
        }
        if let Some(prior) = prior {
            spec.prior = prior.parse()?;
        }
        let mut session = spec.session(&self.0)?;
        py.detach(|| -> PyResult<()> {
            while session.steps() < spec.steps {
                session
                    .run(LOOK_EVERY.min(spec.steps - session.steps()))
                    .map_err(crate::errors::Raised::from)?;
                Python::attach(|py| py.check_signals())?;
            }
            Ok(())
        })?;
        let agent = session.agent();
        let mean = table(&self.0, |state, action| agent.means(state)[action]);
        let var = table(&self.0, |state, action| agent.var(state, action));
        let (steps, episodes, reward) = (session.steps(), session.episodes(), session.reward());
        Ok((mean.to_pyarray(py), var.to_pyarray(py), steps, episodes, reward))
    }
}

fn table(mdp: &adfq::mdp::Mdp, of: impl Fn(usize, usize) -> f64) -> Array2<f64> {
    Array2::from_shape_fn((mdp.states(), mdp.actions()), |(state, action)| of(state, action))
}

/// The names of the domains.
#[pyfunction]
pub fn mdp_names() -> Vec<String> {
    names()
}

/// The names of the tabular agents, each with the policies it can follow.
#[pyfunction]
pub fn tabular_agents() -> Vec<(&'static str, Vec<&'static str>)> {
    let policies = |kind: &AgentKind| kind.policies().iter().map(|policy| policy.name()).collect();
    AgentKind::ALL.iter().map(|kind| (kind.name(), policies(kind))).collect()
}

/// The probability of each of several Gaussians that it is the largest.
#[pyfunction]
pub fn p_best(py: Python<'_>, mean: Vec<f64>, var: Vec<f64>) -> PyResultOf<Bound<'_, PyArray1<f64>>> {
    let beliefs = mean.into_iter().zip(var).map(|(mean, var)| Belief::new(mean, var));
    let beliefs = beliefs.collect::<adfq::Result<Vec<_>>>()?;
    Ok(MaxOfGaussians::new(&beliefs)?.probabilities()?.to_pyarray(py))
}
