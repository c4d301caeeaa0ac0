//! Who takes part: the contenders with the paper's settings, and how each of them looks in every figure.

use super::run::Contender;
use crate::learner::{Acting, Learner};
use crate::plot::{Color, Dash};
use adfq::agent::{AdfqSettings, KtdSettings, LearningRate, NoiseModel, Prior};
use adfq::update::{Grid, NoiseKind, Rule};

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
///
/// ```
/// use adfq_lab::learner::Acting;
/// use adfq_lab::experiment::roster::{ADFQ_TS, NEUTRAL, contender};
///
/// let found = contender(ADFQ_TS, "loop", 10_000, false, NEUTRAL).unwrap();
/// assert_eq!((found.label, found.acting), ("ADFQ TS", Acting::Thompson));
/// assert_eq!(contender("ADFQ with luck", "loop", 10_000, false, NEUTRAL), None);
/// ```
pub fn contender(label: &str, domain: &str, steps: u64, stochastic: bool, prior: Prior) -> Option<Contender> {
    let prior = if label.ends_with("(neutral prior)") { NEUTRAL } else { prior };
    let adfq = |rule, kind, replay| {
        let noise = if stochastic { NoiseModel::Decaying(kind, 1e-3) } else { NoiseModel::None };
        let terminal_var = AdfqSettings::default().terminal_var;
        Learner::Adfq { rule, prior, noise, terminal_var, replay: replay && stochastic }
    };
    let analytic = adfq(Rule::Analytic, NoiseKind::Approximate, true);
    let exact = adfq(Rule::Exact, NoiseKind::Exact, false);
    let q_learning = Learner::QLearning { rate: LearningRate::paper(steps), initial: 0.0 };
    let ktd_q = Learner::KtdQ(KtdSettings::default());
    let bayesian = Learner::BayesianQ { prior, noise_var: 1.0 };
    let greedy = Acting::EpsilonGreedy(EPSILON);
    let (learner, acting) = match label {
        ADFQ => (analytic, Acting::Uniform),
        ADFQ_PLAIN => (adfq(Rule::Analytic, NoiseKind::Approximate, false), Acting::Uniform),
        ADFQ_EXACT => (exact, Acting::Uniform),
        ADFQ_NUMERIC => (adfq(Rule::Grid(Grid::default()), NoiseKind::Exact, false), Acting::Uniform),
        ADFQ_COARSE => {
            let grid = Grid::new(100, Grid::default().reach()).ok()?;
            (adfq(Rule::Grid(grid), NoiseKind::Exact, false), Acting::Uniform)
        }
        Q_LEARNING => (q_learning, Acting::Uniform),
        KTD_Q => (ktd_q, Acting::Uniform),
        BAYESIAN_Q => (bayesian, Acting::Uniform),
        ADFQ_TS | ADFQ_TS_NEUTRAL => (analytic, Acting::Thompson),
        ADFQ_GREEDY | ADFQ_GREEDY_NEUTRAL => (analytic, greedy),
        ADFQ_EXACT_TS => (exact, Acting::Thompson),
        Q_GREEDY => (q_learning, greedy),
        Q_BOLTZMANN => (q_learning, Acting::Boltzmann(temperature(domain))),
        KTD_GREEDY => (ktd_q, greedy),
        KTD_ACTIVE => (ktd_q, Acting::Active),
        BAYESIAN_SAMPLING => (bayesian, Acting::Thompson),
        BAYESIAN_VPI => (bayesian, Acting::Vpi),
        _ => return None,
    };
    let label = LOOKS.iter().map(|(known, ..)| *known).find(|known| *known == label)?;
    Some(Contender { label, learner, acting })
}

/// The colour and stroke of a contender, the same in every figure: the colour says what learns, the stroke how.
pub fn look(label: &str) -> (Color, Dash) {
    let found = looks().find(|(known, ..)| *known == label);
    found.map_or((Color::Grey, Dash::Solid), |&(_, color, dash)| (color, dash))
}

/// Everybody of the paper's experiments and of the study, in the order of every legend.
pub fn looks() -> impl Iterator<Item = &'static (&'static str, Color, Dash)> {
    LOOKS.iter().chain(crate::study::roster::LOOKS)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_can_take_part() {
        for (label, color, dash) in LOOKS {
            let found = contender(label, "loop", 10_000, true, NEUTRAL).unwrap();
            assert_eq!((found.label, look(label)), (*label, (*color, *dash)));
        }
        assert_eq!(contender("nobody", "loop", 10, false, NEUTRAL), None);
    }

    #[test]
    fn only_stochastic_domains_have_noise_and_replay() {
        let settings = |stochastic| match contender(ADFQ_TS, "loop", 10, stochastic, NEUTRAL).unwrap().learner
        {
            Learner::Adfq { noise, replay, .. } => (noise, replay),
            other => panic!("{other:?}"),
        };
        assert_eq!(settings(false), (NoiseModel::None, false));
        assert_eq!(settings(true), (NoiseModel::AUTHORS, true));
    }
}
