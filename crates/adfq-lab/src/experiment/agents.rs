//! The agents of the experiments: their labels, how each of them looks in every figure, and the paper's settings.

use crate::plot::{Color, Dash};
use adfq::agent::{AdfqSettings, KtdSettings, LearningRate, NoiseModel, Prior};
use adfq::spec::{AgentSpec, PolicySpec};
use adfq::update::{Grid, NoiseKind, Rule};

/// Who learns, how it acts, and what the legend calls it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    pub label: &'static str,
    pub agent: AgentSpec,
    pub policy: PolicySpec,
}

/// The prior of the paper's code unless told otherwise: N(.001, 100).
pub const NEUTRAL: Prior = Prior::Constant { mean: 0.001, var: 100.0 };

/// ε of all ε-greedy policies, the paper's.
pub const EPSILON: f64 = 0.1;

/// Temperature of Boltzmann's policy, which the paper does not give: the best of those we tried on each domain, by the
/// test reward on Loop and Maze and by the reward collected on Chain (see `docs/experiments.md`).
pub fn temperature(domain: &str) -> f64 {
    match domain {
        "chain" => 5.0,
        name if name.starts_with("loop") => 0.5,
        _ => 0.05,
    }
}

/// The contender called `label`, for a trial of `steps` steps in a domain that is stochastic or not, where the
/// beliefs of ADFQ and Bayesian Q-learning start at `prior`; nothing if nobody is called so.
///
/// In stochastic domains ADFQ has the authors' noise 10⁻³/(1+n) and, unless the label says otherwise, their replay.
/// With exact moments the noise is treated exactly too, and there is no replay: averaging posteriors is a
/// remedy for the approximation of the noise.
pub fn contender(label: &str, domain: &str, steps: u64, stochastic: bool, prior: Prior) -> Option<Contender> {
    let prior = if label.ends_with("(neutral prior)") { NEUTRAL } else { prior };
    let adfq = |rule, kind, replay| {
        let noise = if stochastic { NoiseModel::Decaying(kind, 1e-3) } else { NoiseModel::None };
        let terminal_var = AdfqSettings::default().terminal_var;
        AgentSpec::Adfq { rule, prior, noise, terminal_var, replay: replay && stochastic }
    };
    let analytic = adfq(Rule::Analytic, NoiseKind::Approximate, true);
    let exact = adfq(Rule::Exact, NoiseKind::Exact, false);
    let q_learning = AgentSpec::QLearning { rate: LearningRate::paper(steps), initial: 0.0 };
    let ktd_q = AgentSpec::KtdQ(KtdSettings::default());
    let bayesian = AgentSpec::BayesianQ { prior, noise_var: 1.0 };
    let greedy = PolicySpec::EpsilonGreedy(EPSILON);
    let (agent, policy) = match label {
        ADFQ => (analytic, PolicySpec::Uniform),
        ADFQ_PLAIN => (adfq(Rule::Analytic, NoiseKind::Approximate, false), PolicySpec::Uniform),
        ADFQ_EXACT => (exact, PolicySpec::Uniform),
        ADFQ_NUMERIC => (adfq(Rule::Grid(Grid::default()), NoiseKind::Exact, false), PolicySpec::Uniform),
        ADFQ_COARSE => {
            let grid = Grid::new(100, Grid::default().reach()).ok()?;
            (adfq(Rule::Grid(grid), NoiseKind::Exact, false), PolicySpec::Uniform)
        }
        Q_LEARNING => (q_learning, PolicySpec::Uniform),
        KTD_Q => (ktd_q, PolicySpec::Uniform),
        BAYESIAN_Q => (bayesian, PolicySpec::Uniform),
        ADFQ_TS | ADFQ_TS_NEUTRAL => (analytic, PolicySpec::Thompson),
        ADFQ_GREEDY | ADFQ_GREEDY_NEUTRAL => (analytic, greedy),
        ADFQ_EXACT_TS => (exact, PolicySpec::Thompson),
        Q_GREEDY => (q_learning, greedy),
        Q_BOLTZMANN => (q_learning, PolicySpec::Boltzmann(temperature(domain))),
        KTD_GREEDY => (ktd_q, greedy),
        KTD_ACTIVE => (ktd_q, PolicySpec::Active),
        BAYESIAN_SAMPLING => (bayesian, PolicySpec::Thompson),
        BAYESIAN_VPI => (bayesian, PolicySpec::Vpi),
        _ => return None,
    };
    let label = LOOKS.iter().map(|(known, ..)| *known).find(|known| *known == label)?;
    Some(Contender { label, agent, policy })
}

/// The colour and stroke of an agent, the same in every figure: the colour says what learns, the stroke how.
pub fn look(label: &str) -> (Color, Dash) {
    let found = LOOKS.iter().find(|(known, ..)| *known == label);
    found.map_or((Color::Grey, Dash::Solid), |&(_, color, dash)| (color, dash))
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $label:literal, $color:ident, $dash:ident;)*) => {
        $($(#[$doc])* pub const $name: &str = $label;)*
        /// All labels in the order of every legend, with their looks.
        pub const LOOKS: &[(&str, Color, Dash)] = &[$(($name, Color::$color, Dash::$dash)),*];
    };
}

names! {
    /// The paper's ADFQ.
    ADFQ = "ADFQ", Blue, Solid;
    /// ADFQ without replay, where the paper's has it.
    ADFQ_PLAIN = "ADFQ without replay", Sky, Dashed;
    /// ADFQ with the true moments of the posterior.
    ADFQ_EXACT = "ADFQ exact", Green, Solid;
    /// The paper's ADFQ-Numeric.
    ADFQ_NUMERIC = "ADFQ-Numeric", Black, Dotted;
    /// The same with 100 samples in place of 1,000.
    ADFQ_COARSE = "ADFQ-Numeric (100)", Black, DashDot;
    /// ADFQ with Thompson sampling.
    ADFQ_TS = "ADFQ TS", Blue, Solid;
    /// ADFQ, ε-greedy.
    ADFQ_GREEDY = "ADFQ ε-greedy", Blue, Dashed;
    /// ADFQ with Thompson sampling from [`NEUTRAL`], whatever the others start from.
    ADFQ_TS_NEUTRAL = "ADFQ TS (neutral prior)", Sky, Solid;
    /// ADFQ ε-greedy from [`NEUTRAL`].
    ADFQ_GREEDY_NEUTRAL = "ADFQ ε-greedy (neutral prior)", Sky, Dashed;
    /// ADFQ with exact moments and Thompson sampling.
    ADFQ_EXACT_TS = "ADFQ exact TS", Green, Solid;
    /// Q-learning with the paper's rate.
    Q_LEARNING = "Q-learning", Vermillion, Solid;
    /// Q-learning, ε-greedy.
    Q_GREEDY = "Q-learning ε-greedy", Vermillion, Solid;
    /// Q-learning with Boltzmann's policy.
    Q_BOLTZMANN = "Q-learning Boltzmann", Vermillion, Dashed;
    /// KTD-Q.
    KTD_Q = "KTD-Q", Purple, Solid;
    /// KTD-Q, ε-greedy.
    KTD_GREEDY = "KTD-Q ε-greedy", Purple, Solid;
    /// KTD-Q with its active learning.
    KTD_ACTIVE = "KTD-Q active", Purple, Dashed;
    /// Bayesian Q-learning.
    BAYESIAN_Q = "Bayesian Q-learning", Orange, Solid;
    /// Bayesian Q-learning with Q-value sampling.
    BAYESIAN_SAMPLING = "Bayesian Q sampling", Orange, Solid;
    /// Bayesian Q-learning with myopic VPI.
    BAYESIAN_VPI = "Bayesian Q VPI", Orange, Dashed;
    /// ADFQ of the paper with its best setting.
    ADFQ_TUNED = "ADFQ tuned", Sky, Dashed;
    /// Q-learning with its best constant rate.
    Q_CONSTANT = "Q-learning, constant rate", Grey, Dashed;
    /// The same from the largest possible value.
    Q_OPTIMISTIC = "Q-learning, optimistic", Yellow, Dotted;
    /// Split ADFQ with its one setting.
    SPLIT = "Split ADFQ", Black, Solid;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_can_take_part() {
        // The last four are the study's, which settles them itself.
        let (papers, studys) = LOOKS.split_at(LOOKS.len() - 4);
        for (label, color, dash) in papers {
            let found = contender(label, "loop", 10_000, true, NEUTRAL).unwrap();
            assert_eq!((found.label, look(label)), (*label, (*color, *dash)));
        }
        assert!(studys.iter().all(|(label, ..)| contender(label, "loop", 10, true, NEUTRAL).is_none()));
        assert_eq!(contender("nobody", "loop", 10, false, NEUTRAL), None);
    }

    #[test]
    fn only_stochastic_domains_have_noise_and_replay() {
        let settings = |stochastic| match contender(ADFQ_TS, "loop", 10, stochastic, NEUTRAL).unwrap().agent {
            AgentSpec::Adfq { noise, replay, .. } => (noise, replay),
            other => panic!("{other:?}"),
        };
        assert_eq!(settings(false), (NoiseModel::None, false));
        assert_eq!(settings(true), (NoiseModel::AUTHORS, true));
    }
}
