//! The belief update: from a prior on Q(s,a), a reward and the beliefs of the next state to a posterior.
//!
//! Each rule is a pure function in a file of its own:
//!
//! | rule | what it computes | cost |
//! |---|---|---|
//! | [`analytic`] | the paper's ADFQ: a mixture of Gaussians, one per next action | O(\|A\| log \|A\|) |
//! | [`exact`] | the true moments of the posterior, for any \|A\| | closed form for \|A\| ≤ 2, else quadrature |
//! | [`grid`] | the paper's ADFQ-Numeric: evenly spaced samples; kept for comparison | O(samples · \|A\|) |
//!
//! These three go from one belief to the next. [`split`] instead looks a belief up from all that a pair has led to, and keeps
//! apart what sampling has left open and what the next states are unsure of: O(\|A\|).
//!
//! Noise is treated in [`noise`], the limit that makes ADFQ Q-learning in [`limit`]. [`Update`] picks a rule by
//! value and applies the variance floor; [`batch`](crate::batch) runs it over arrays. The symbols are those of
//! the paper; `y_b` is a target's mean seen from the prior's, `(r + γ μ_{s′,b}) - μ_{s,a}`.

pub mod analytic;
mod components;
pub mod exact;
pub mod grid;
pub mod limit;
mod nodes;
pub mod noise;
mod posterior;
mod problem;
mod quadrature;
pub mod split;
mod transition;

pub use components::{Component, Components};
pub use grid::Grid;
pub use noise::{Noise, NoiseKind};
pub use transition::{Next, Transition};

pub(crate) use problem::{Moments, Problem, Shape};
pub(crate) use quadrature::Quadrature;
pub(crate) use transition::{check_reward_and_discount, check_target_var, ignores_next};

use crate::{Belief, Error, Result};
use serde::{Deserialize, Serialize};

/// Which update rule to use.
///
/// ```
/// use adfq::update::{Grid, Rule};
///
/// assert_eq!(Rule::default(), Rule::Analytic);
/// assert_eq!(Rule::Grid(Grid::default()).kind().to_string(), "grid");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rule {
    /// The paper's ADFQ, [`analytic`].
    #[default]
    Analytic,
    /// True moment matching, [`exact`].
    Exact,
    /// The paper's ADFQ-Numeric, [`grid`].
    Grid(Grid),
}

/// A rule's name, without its settings.
///
/// ```
/// use adfq::update::{Rule, RuleKind};
///
/// assert_eq!(Rule::from(RuleKind::Exact), Rule::Exact);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// See [`analytic`].
    Analytic,
    /// See [`exact`].
    Exact,
    /// See [`grid`].
    Grid,
}

impl Rule {
    /// The rule's name, without its settings.
    pub fn kind(&self) -> RuleKind {
        match self {
            Self::Analytic => RuleKind::Analytic,
            Self::Exact => RuleKind::Exact,
            Self::Grid(_) => RuleKind::Grid,
        }
    }
}

impl From<RuleKind> for Rule {
    /// The rule of this name with its default settings.
    fn from(kind: RuleKind) -> Self {
        match kind {
            RuleKind::Analytic => Self::Analytic,
            RuleKind::Exact => Self::Exact,
            RuleKind::Grid => Self::Grid(Grid::default()),
        }
    }
}

impl std::fmt::Display for RuleKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Analytic => "analytic",
            Self::Exact => "exact",
            Self::Grid => "grid",
        })
    }
}

/// A rule with the smallest variance it may return: what an agent applies at every step.
///
/// The paper bounds variances by 1e-10 from below (App. F), "since their values dramatically drop"; that is the
/// default. The rules themselves know no floor.
///
/// ```
/// use adfq::update::{Next, Noise, Rule, Transition, Update};
/// use adfq::Belief;
///
/// let next = [Belief::new(-2.0, 2.0)?, Belief::new(-2.0, 0.5)?, Belief::new(4.5, 0.5)?];
/// let transition = Transition::new(Belief::new(0.0, 1.0)?, 0.0, 0.9, Next::Beliefs(&next))?;
/// let posterior = Update::new(Rule::Exact).apply(&transition, Noise::Exact(0.1))?;
/// assert!((posterior.mean() - 2.6911).abs() < 1e-4);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    rule: Rule,
    floor: f64,
}

impl Update {
    /// The paper's variance floor.
    pub const DEFAULT_FLOOR: f64 = 1e-10;

    /// This rule with the default floor.
    pub const fn new(rule: Rule) -> Self {
        Self { rule, floor: Self::DEFAULT_FLOOR }
    }

    /// This rule as a pure function: no floor.
    pub(crate) const fn bare(rule: Rule) -> Self {
        Self { rule, floor: 0.0 }
    }

    /// The same with another variance floor; 0 means none.
    pub fn with_floor(self, floor: f64) -> Result<Self> {
        if !(floor >= 0.0 && floor.is_finite()) {
            return Err(Error::Floor(floor));
        }
        Ok(Self { floor, ..self })
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The variance floor.
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The posterior belief over Q(s,a) after this transition.
    pub fn apply(&self, transition: &Transition, noise: Noise) -> Result<Belief> {
        self.apply_in(&mut Workspace::default(), transition, noise)
    }

    /// The same in memory that is kept: for loops, where it saves up to a third of the time.
    #[inline]
    pub fn apply_in(
        &self,
        workspace: &mut Workspace,
        transition: &Transition,
        noise: Noise,
    ) -> Result<Belief> {
        workspace.problem.load(transition)?;
        self.solve(workspace, noise)
    }

    /// The components of the posterior, one for each next action (see [`Components`]). The floor does not enter.
    pub fn components(&self, transition: &Transition, noise: Noise) -> Result<Components> {
        match self.rule {
            Rule::Analytic => analytic::components(transition, noise),
            Rule::Exact => exact::components(transition, noise),
            Rule::Grid(grid) => grid::components(transition, noise, &grid),
        }
    }

    /// Solves the problem that has been loaded into the workspace.
    #[inline]
    pub(crate) fn solve(&self, workspace: &mut Workspace, noise: Noise) -> Result<Belief> {
        let moments = match self.rule {
            Rule::Analytic => analytic::solve(workspace, noise),
            Rule::Exact => exact::solve(workspace, noise),
            Rule::Grid(grid) => grid::solve(workspace, noise, &grid),
        }?;
        workspace.problem.belief(moments, self.floor)
    }
}

impl Default for Update {
    fn default() -> Self {
        Self::new(Rule::default())
    }
}

/// Memory that an update needs while it runs. Kept between updates, it is allocated once.
///
/// ```
/// use adfq::update::{Next, Noise, Transition, Update, Workspace};
/// use adfq::Belief;
///
/// let (update, mut workspace) = (Update::default(), Workspace::default());
/// let mut belief = Belief::new(0.0, 100.0)?;
/// for _ in 0..10 {
///     let next = [Belief::new(1.0, 1.0)?, Belief::new(-5.0, 1.0)?];
///     let transition = Transition::new(belief, 0.0, 0.9, Next::Beliefs(&next))?;
///     belief = update.apply_in(&mut workspace, &transition, Noise::None)?;
/// }
/// assert!((belief.mean() - 0.9).abs() < 0.01);
/// # Ok::<(), adfq::Error>(())
/// ```
#[derive(Default)]
pub struct Workspace {
    pub(crate) problem: Problem,
    pub(crate) analytic: analytic::Scratch,
    pub(crate) quadrature: Quadrature,
}
