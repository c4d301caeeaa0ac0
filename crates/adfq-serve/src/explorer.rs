//! The ADFQ update by hand: from a prior, a reward and the beliefs of the next state to posteriors, by every rule, with their
//! densities. Everything is computed by the crate `adfq`, as `adfq update` does it.

use crate::{Error, Result};
use adfq::Belief;
use adfq::density::{MixtureDensity, PosteriorDensity};
use adfq::update::split::{self, Member, SplitPrior};
use adfq::update::{Components, Next, Noise, Rule, Transition, Update, exact};
use axum::Json;
use serde::{Deserialize, Serialize};

/// No set of actions is larger: that of Atari has so many.
pub const MOST_ACTIONS: usize = 18;
/// Points of a density.
const POINTS: usize = 400;
/// How many standard deviations of each curve are shown.
const REACH: f64 = 4.0;

/// A belief as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The mean μ.
    pub mean: f64,
    /// The variance σ².
    pub var: f64,
}

impl Moments {
    fn of(belief: Belief) -> Self {
        Self { mean: belief.mean(), var: belief.var() }
    }

    fn belief(self) -> Result<Belief> {
        Ok(Belief::new(self.mean, self.var)?)
    }

    fn pdf(self, q: f64) -> f64 {
        let z = (q - self.mean) / self.var.sqrt();
        (-0.5 * z * z).exp() / (self.var * std::f64::consts::TAU).sqrt()
    }
}

/// What is updated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The belief over Q(s,a) before.
    pub prior: Moments,
    /// The reward r.
    pub reward: f64,
    /// The discount γ.
    pub discount: f64,
    /// The variance of the noise of the target.
    #[serde(default)]
    pub noise: f64,
    /// The beliefs over Q(s′,b), up to [`MOST_ACTIONS`] of them. With none the episode has ended.
    #[serde(default)]
    pub next: Vec<Moments>,
    /// The variance of the target where an episode has ended.
    #[serde(default = "terminal_var")]
    pub terminal_var: f64,
    /// How often Split ADFQ has seen this transition.
    #[serde(default = "one")]
    pub count: f64,
    /// The noise that Split ADFQ expects of targets.
    #[serde(default = "one")]
    pub expected_noise: f64,
}

fn terminal_var() -> f64 {
    1e-3
}

fn one() -> f64 {
    1.0
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Where the densities are given.
    pub q: Vec<f64>,
    /// The prior's density.
    pub prior: Vec<f64>,
    /// The targets r + γQ(s′,b).
    pub targets: Vec<Target>,
    /// The exact posterior.
    pub exact: Posterior,
    /// The paper's approximation.
    pub analytic: Posterior,
    /// What Split ADFQ makes of it.
    pub split: Split,
    /// How far the approximation is from the exact posterior.
    pub error: Distance,
}

/// A target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// Its mean and variance.
    #[serde(flatten)]
    pub moments: Moments,
    /// Its density.
    pub density: Vec<f64>,
}

/// A posterior: what is kept of it, and what it looks like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Posterior {
    /// The Gaussian that is kept.
    #[serde(flatten)]
    pub moments: Moments,
    /// Its density before that.
    pub density: Vec<f64>,
    /// One part for each next action.
    pub components: Vec<Part>,
}

/// The part of a posterior that belongs to one next action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Where it lies, and how wide it is.
    #[serde(flatten)]
    pub moments: Moments,
    /// Its share.
    pub weight: f64,
}

/// The belief of Split ADFQ, with its variance by origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// Mean and variance.
    #[serde(flatten)]
    pub moments: Moments,
    /// What sampling has left open.
    pub own: f64,
    /// What is inherited from the next state.
    pub inherited: f64,
    /// Its density.
    pub density: Vec<f64>,
}

/// How far the analytic posterior is from the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// Difference of the means, in standard deviations of the exact posterior.
    pub mean_in_sd: f64,
    /// Ratio of the standard deviations.
    pub sd_ratio: f64,
    /// Total variation: the share of probability that lies elsewhere.
    pub total_variation: f64,
}

/// `POST /api/update`.
pub(crate) async fn update(Json(question): Json<Question>) -> Result<Json<Answer>> {
    // Under a millisecond: no thread of its own.
    answer(&question).map(Json)
}

/// `GET /api/presets`.
pub(crate) async fn presets() -> Result<Json<Vec<Preset>>> {
    Preset::all().map(Json)
}

/// Computes every rule.
///
/// ```
/// use adfq_serve::explorer::{Moments, Question, answer};
///
/// let prior = Moments { mean: 0.0, var: 1.0 };
/// let question: Question = serde_json::from_str(
///     r#"{"prior": {"mean": 0, "var": 1}, "reward": 0, "discount": 1, "next": [{"mean": 2, "var": 1}]}"#,
/// ).unwrap();
/// let answer = answer(&question)?;
/// assert_eq!((answer.exact.moments.mean, answer.exact.moments.var), (1.0, 0.5));
/// # Ok::<(), adfq_serve::Error>(())
/// ```
pub fn answer(question: &Question) -> Result<Answer> {
    if question.next.len() > MOST_ACTIONS {
        return Err(Error::Request(format!("there may be at most {MOST_ACTIONS} next beliefs")));
    }
    let next: Vec<Belief> = question.next.iter().map(|moments| moments.belief()).collect::<Result<_>>()?;
    let prior = question.prior.belief()?;
    let transition = |prior| {
        let next = match next.is_empty() {
            true => Next::Terminal { target_var: question.terminal_var },
            false => Next::Beliefs(&next),
        };
        Transition::new(prior, question.reward, question.discount, next)
    };
    let (this, noise) = (transition(prior)?, Noise::Exact(question.noise));
    let kept = |rule| Update::new(rule).with_floor(0.0)?.apply(&this, noise);
    let (exact, analytic) = (kept(Rule::Exact)?, kept(Rule::Analytic)?);
    let targets = targets(question);
    let split = split(question)?;
    let shown = [prior, exact, analytic].map(Moments::of).into_iter().chain([split.0]).chain(targets.clone());
    let q = points(shown);
    let on = |density: &dyn Fn(f64) -> f64| q.iter().map(|&q| density(q)).collect::<Vec<f64>>();
    let exact_density = match question.noise > 0.0 {
        true => on(&noisy(question, &transition(widened(question)?)?)?),
        false => {
            let density = PosteriorDensity::new(&this)?;
            on(&|q| density.pdf(q))
        }
    };
    let mixture = MixtureDensity::new(&this, noise)?;
    let analytic_density = on(&|q| mixture.pdf(q));
    let error = Distance {
        mean_in_sd: (analytic.mean() - exact.mean()) / exact.sd(),
        sd_ratio: analytic.sd() / exact.sd(),
        total_variation: total_variation(&q, &exact_density, &analytic_density),
    };
    let target = |moments: Moments| Target { moments, density: on(&|q| moments.pdf(q)) };
    Ok(Answer {
        prior: on(&|q| question.prior.pdf(q)),
        targets: targets.into_iter().map(target).collect(),
        exact: Posterior {
            moments: Moments::of(exact),
            density: exact_density,
            components: parts(&exact::components(&this, noise)?),
        },
        analytic: Posterior {
            moments: Moments::of(analytic),
            density: analytic_density,
            components: parts(mixture.components()),
        },
        split: Split { moments: split.0, own: split.1, inherited: split.2, density: on(&|q| split.0.pdf(q)) },
        error,
        q,
    })
}

/// The target of each next action; of an end, the reward itself.
fn targets(question: &Question) -> Vec<Moments> {
    let Question { reward, discount, .. } = *question;
    let target =
        |next: &Moments| Moments { mean: reward + discount * next.mean, var: discount * discount * next.var };
    match question.next.is_empty() {
        true => vec![Moments { mean: reward, var: question.terminal_var }],
        false => question.next.iter().map(target).collect(),
    }
}

/// The belief of Split ADFQ after `count` such transitions, with its own and its inherited part.
fn split(question: &Question) -> Result<(Moments, f64, f64)> {
    let member = |next: &Moments| Member { mean: next.mean, own: next.var, var: next.var };
    let (value, var) = split::maximum(question.next.iter().map(member));
    let target = split::Target {
        count: question.count,
        mean: question.reward + question.discount * value,
        scatter: 0.0,
        var: question.discount * question.discount * var,
    };
    let prior = SplitPrior { belief: question.prior.belief()?, noise: question.expected_noise };
    let belief = split::update(&prior, [target], 0.0)?;
    Ok((Moments { mean: belief.mean, var: belief.var() }, belief.own, belief.inherited))
}

fn parts(components: &Components) -> Vec<Part> {
    let part = |part: &adfq::update::Component| Part {
        moments: Moments { mean: part.mean, var: part.var },
        weight: part.weight,
    };
    components.as_slice().iter().map(part).collect()
}

/// Evenly spaced points over all that is shown; a curve so narrow that it would fall between them gets points of its own.
fn points(shown: impl Iterator<Item = Moments> + Clone) -> Vec<f64> {
    let low = shown.clone().map(|it| it.mean - REACH * it.var.sqrt()).fold(f64::INFINITY, f64::min);
    let high = shown.clone().map(|it| it.mean + REACH * it.var.sqrt()).fold(f64::NEG_INFINITY, f64::max);
    let step = (high - low) / (POINTS - 1) as f64;
    let mut q: Vec<f64> = (0..POINTS).map(|i| low + step * i as f64).collect();
    for Moments { mean, var } in shown.filter(|it| it.var.sqrt() < 8.0 * step) {
        q.extend((-24..=24).map(|i| mean + var.sqrt() * REACH * f64::from(i) / 24.0));
    }
    q.sort_by(f64::total_cmp);
    q.dedup();
    q
}

/// The prior of the noisy target: that of Q(s,a) and the noise on top.
fn widened(question: &Question) -> Result<Belief> {
    Moments { mean: question.prior.mean, var: question.prior.var + question.noise }.belief()
}

/// The exact posterior under noise. With the noise w, the noisy target T has the posterior of the prior N(m, v + w), and
/// given T, Q(s,a) is N(m + (T - m) v/(v+w), vw/(v+w)): the density is the integral of one over the other.
fn noisy(question: &Question, transition: &Transition) -> Result<impl Fn(f64) -> f64> {
    let Question { prior: Moments { mean, var }, noise, .. } = *question;
    let (of_t, share) = (PosteriorDensity::new(transition)?, var / (var + noise));
    let t = Moments::of(of_t.matched()?);
    let nodes = points([t].into_iter());
    let weights: Vec<(f64, f64)> = nodes
        .windows(2)
        .map(|pair| (0.5 * (pair[0] + pair[1]), pair[1] - pair[0]))
        .map(|(t, width)| (t, width * of_t.pdf(t)))
        .collect();
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    Ok(move |q: f64| {
        let given = |t: f64| Moments { mean: mean + share * (t - mean), var: share * noise };
        weights.iter().map(|&(t, weight)| weight * given(t).pdf(q)).sum::<f64>() / all
    })
}

/// Half of the area between two densities.
fn total_variation(q: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let gap = |i: usize| (a[i] - b[i]).abs();
    (1..q.len()).map(|i| 0.25 * (gap(i) + gap(i - 1)) * (q[i] - q[i - 1])).sum()
}

/// A question that the paper asks.
#[derive(Clone, Debug, Serialize)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The question.
    pub question: Question,
}

impl Preset {
    /// Those of the paper's three figures.
    ///
    /// ```
    /// let presets = adfq_serve::explorer::Preset::all()?;
    /// assert_eq!(presets[0].question.next.len(), 3);
    /// # Ok::<(), adfq_serve::Error>(())
    /// ```
    pub fn all() -> Result<Vec<Self>> {
        let question = |prior: (f64, f64), next: &[(f64, f64)]| {
            let moments = |&(mean, var): &(f64, f64)| Moments { mean, var };
            Question {
                prior: moments(&prior),
                reward: 0.0,
                discount: 0.9,
                noise: 0.0,
                next: next.iter().map(moments).collect(),
                terminal_var: terminal_var(),
                count: 1.0,
                expected_noise: 1.0,
            }
        };
        let simple = |reward: f64, target_var: f64| -> Result<Question> {
            let visited = after(reward, target_var)?;
            Ok(question((0.0, 100.0), &[(0.0, 100.0), (visited.mean(), visited.var())]))
        };
        Ok(vec![
            Self {
                name: "Illustration (§3.1)",
                about: "Three next actions, of which one is clearly the best.",
                question: question((0.0, 1.0), &[(-2.0, 2.0), (-2.0, 0.5), (4.5, 0.5)]),
            },
            Self {
                name: "Simple MDP, +5 again (§5)",
                about: "a₁ has paid +5 three times and pays +5 once more; a₀ was never tried.",
                question: simple(5.0, 16.0)?,
            },
            Self {
                name: "Simple MDP, −5 (§5)",
                about: "a₁ has paid +5 three times and now pays −5: a surprise.",
                question: simple(-5.0, 16.0)?,
            },
            Self {
                name: "Variance decrease (App. C)",
                about: "Two next actions. Make the prior narrower and see when the variance grows.",
                question: question((0.0, 1.0), &[(2.0, 1.0), (2.0, 1.0)]),
            },
        ])
    }
}

/// The belief over Q(s₁,a₁) of the paper's simple MDP after three rewards of 5 and this one.
fn after(reward: f64, target_var: f64) -> Result<Belief> {
    let prior = Belief::new(0.0, 100.0)?;
    [5.0, 5.0, 5.0, reward].into_iter().try_fold(prior, |belief, reward| {
        let ended = Transition::new(belief, reward, 0.9, Next::Terminal { target_var })?;
        Ok(exact::update(&ended, Noise::None)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integral(q: &[f64], density: &[f64]) -> f64 {
        (1..q.len()).map(|i| 0.5 * (density[i] + density[i - 1]) * (q[i] - q[i - 1])).sum()
    }

    fn moment(q: &[f64], density: &[f64], of: impl Fn(f64) -> f64) -> f64 {
        integral(q, &q.iter().zip(density).map(|(&q, p)| of(q) * p).collect::<Vec<f64>>())
    }

    #[test]
    fn densities_have_the_moments_that_are_told() {
        for noise in [0.0, 0.5] {
            for mut preset in Preset::all().unwrap() {
                preset.question.noise = noise;
                let Answer { q, exact, analytic, .. } = answer(&preset.question).unwrap();
                for (posterior, slack) in [(&exact, 0.02), (&analytic, 0.02)] {
                    let mass = integral(&q, &posterior.density);
                    assert!((mass - 1.0).abs() < slack, "{}: {mass}", preset.name);
                    let mean = moment(&q, &posterior.density, |q| q) / mass;
                    let Moments { mean: told, var } = posterior.moments;
                    assert!(
                        (mean - told).abs() < 0.03 * var.sqrt().max(0.1),
                        "{} {mean} {told}",
                        preset.name
                    );
                }
            }
        }
    }

    #[test]
    fn too_many_actions_and_nonsense_are_refused() {
        let mut question = Preset::all().unwrap().remove(0).question;
        question.next = vec![question.prior; MOST_ACTIONS + 1];
        assert!(matches!(answer(&question), Err(Error::Request(_))));
        question.next.truncate(1);
        question.discount = 1.5;
        assert!(matches!(answer(&question), Err(Error::Update(_))));
    }

    proptest! {
        /// Whatever is asked, the answer is finite numbers or an error.
        #[test]
        fn any_question_is_answered_or_refused(
            prior in (-1e6..1e6f64, 1e-12..1e12f64),
            next in prop::collection::vec((-1e6..1e6f64, 1e-12..1e12f64), 0..6),
            reward in -1e6..1e6f64,
            discount in 0.0..1.2f64,
            noise in prop_oneof![Just(0.0), 0.0..1e6f64],
        ) {
            let moments = |(mean, var)| Moments { mean, var };
            let question = Question {
                prior: moments(prior), reward, discount, noise,
                next: next.into_iter().map(moments).collect(),
                terminal_var: 1e-3, count: 1.0, expected_noise: 1.0,
            };
            if let Ok(answer) = answer(&question) {
                prop_assert!(answer.q.iter().all(|q| q.is_finite()));
                prop_assert!(answer.exact.moments.var > 0.0 && answer.analytic.moments.mean.is_finite());
                prop_assert!(answer.exact.density.iter().all(|p| p.is_finite() && *p >= 0.0));
            }
        }
    }
}
