//! Fig. simple_mdp of the paper (§5): what one surprising reward does to the next update of Q(s₀,a₀), under ADFQ and
//! under Q-learning.

use super::picture::{Picture, computed, curve_with_needles, gaussian, numbers, target};
use crate::Result;
use crate::experiment::{Findings, Job, Plan};
use crate::plot::{Area, Axis, Bar, Bars, Color, Dash, Figure, Line, Panel, Rule};
use crate::report::Section;
use crate::table::Table;
use crate::verdict::{Claim, Direction};
use adfq::Belief;
use adfq::agent::{Agent, LearningRate, QLearning, Step};
use adfq::density::{MixtureDensity, PosteriorDensity};
use adfq::mdp::simple;
use adfq::update::{Next, Noise, Transition, exact};

/// The belief from which every Q-value starts; the authors' variance.
const PRIOR: (f64, f64) = (0.0, 100.0);
/// What (s₁,a₁) has paid so far, and what it may pay at t.
const SEEN: [f64; 3] = [5.0; 3];
const REWARDS: [f64; 2] = [5.0, -5.0];
/// Q-learning has the paper's learning rate for the run of Fig. rmse.
const HORIZON: u64 = 5_000;

/// The variances of a terminal target that are tried: that of the authors' code, and that of the reward itself,
/// which is ±5 with probabilities .8 and .2: 25 − 3².
const AUTHORS: f64 = 1e-3;
const TRUE_VARIANCE: f64 = 16.0;

/// The experiment, whatever the plan.
pub fn prepare(_plan: &Plan, _domains: &[&'static str]) -> Box<dyn Job> {
    Box::new(Picture(findings))
}

fn findings() -> Result<Findings> {
    let (authors, true_variance) = (Scene::both(AUTHORS)?, Scene::both(TRUE_VARIANCE)?);
    let mut section = prose();
    section.claims.extend(claims("terminal variance 0.001", &authors));
    section.claims.extend(claims("terminal variance 16", &true_variance));
    section.claims.extend(q_learning_claims(&authors));
    let section = section.table("The updates in numbers", table(authors.iter().chain(&true_variance))?);
    let figures = [("simple_mdp", needles(&authors)), ("simple_mdp_true_variance", curves(&true_variance))];
    let mut findings = Findings::new(section);
    for (name, figure) in figures {
        let data = numbers(&figure)?;
        findings = findings.figure(name, figure).data(name, data);
    }
    Ok(findings)
}

/// What the learner believes at t + 1, after one reward at t, and the update of Q(s₀,a₀) then.
struct Scene {
    reward: f64,
    target_var: f64,
    /// The beliefs over Q(s₀,a₀) before, and over Q(s₁,a₀) and Q(s₁,a₁).
    prior: Belief,
    next: [Belief; 2],
    /// γQ(s₁,·), the targets of Q(s₀,a₀).
    targets: [Belief; 2],
    posterior: PosteriorDensity,
    mixture: MixtureDensity,
    exact: Belief,
    analytic: Belief,
    /// The mass of each action's term of the exact posterior, and w* of the analytic one.
    masses: [f64; 2],
    weights: [f64; 2],
    /// Q(s₁,·) of Q-learning, and its Q(s₀,a₀) after the update.
    q_next: [f64; 2],
    q_updated: f64,
}

impl Scene {
    /// After +5 and after −5.
    fn both(target_var: f64) -> Result<[Self; 2]> {
        let [expected, surprising] = REWARDS;
        Ok([Self::new(expected, target_var)?, Self::new(surprising, target_var)?])
    }

    fn new(reward: f64, target_var: f64) -> Result<Self> {
        let discount = simple(2)?.gamma();
        let prior = Belief::new(PRIOR.0, PRIOR.1)?;
        let mut visited = prior;
        for r in SEEN.into_iter().chain([reward]) {
            let ended = Transition::new(visited, r, discount, Next::Terminal { target_var })?;
            visited = exact::update(&ended, Noise::None)?; // a Gaussian product, the same by every rule
        }
        let next = [prior, visited];
        let transition = Transition::new(prior, 0.0, discount, Next::Beliefs(&next))?;
        let posterior = PosteriorDensity::new(&transition)?;
        let mixture = MixtureDensity::new(&transition, Noise::None)?;
        let terms = exact::components(&transition, Noise::None)?;
        let (terms, parts) = (terms.as_slice(), mixture.components().as_slice());
        let (q_next, q_updated) = q_learning(reward, discount)?;
        Ok(Self {
            reward,
            target_var,
            prior,
            next,
            targets: [target(0.0, discount, prior)?, target(0.0, discount, visited)?],
            exact: posterior.matched()?,
            analytic: Belief::new(mixture.components().mean(), mixture.components().var())?,
            masses: [terms[0].weight, terms[1].weight],
            weights: [parts[0].weight, parts[1].weight],
            posterior,
            mixture,
            q_next,
            q_updated,
        })
    }
}

/// The same history for Q-learning: its Q(s₁,·) at t + 1, and its Q(s₀,a₀) after the update.
fn q_learning(reward: f64, discount: f64) -> Result<([f64; 2], f64)> {
    let mut agent = QLearning::new(4, 2, discount, LearningRate::paper(HORIZON), PRIOR.0)?;
    for reward in SEEN.into_iter().chain([reward]) {
        agent.update(&Step { state: 1, action: 1, reward, next_state: 3, terminal: true })?;
    }
    agent.update(&Step { state: 0, action: 0, reward: 0.0, next_state: 1, terminal: false })?;
    Ok(([agent.means(1)[0], agent.means(1)[1]], agent.means(0)[0]))
}

fn prose() -> Section {
    Section::new("Fig. simple_mdp: one surprising reward")
        .paragraph(
            "The simple MDP of §5, γ = 0.9. At s₁ the learner has tried a₁ three times and got +5 each time. At t it \
             tries it again and gets +5 (left) or −5 (right); the episode ends. At t + 1 it goes from s₀ by a₀ to s₁ \
             and updates Q(s₀,a₀), for which it considers Q(s₁,a₀) and Q(s₁,a₁).",
        )
        .paragraph(
            "The paper leaves open what the learner believed at first and how it treats the end of an episode. Here \
             every Q-value starts as N(0, 100), Q(s₀,a₀) and Q(s₁,a₀) have never been updated, and a terminal reward \
             is a Gaussian target. Its variance is 0.001 in the first figure, as in the authors' code; the beliefs \
             become needles, hence the logarithmic axis. The second figure has 16, the true variance of the reward.",
        )
        .paragraph(
            "The paper says that σ(s₁,a₁) becomes larger after −5 than after +5. With a Gaussian target it does not: the \
             variance of a product of Gaussians depends on their variances alone, so both rewards give the same σ, \
             to the last bit. What the surprise moves is the mean. It does widen the belief over Q(s₀,a₀) one step \
             later, since with a lower Q(s₁,a₁) the unknown Q(s₁,a₀) is more often the better one; and this, not its \
             TD error, is why w* of a₁ is lower then. The TD error of a₁ is even smaller after −5.",
        )
        .paragraph(
            "The two rules part here. The exact posterior keeps the tail in which the untried a₀ is better; the analytic \
             one loses it, whatever weight it gives to a₀, and is the more certain for it.",
        )
}

/// What the paper says of ADFQ, for the scenes after +5 and after −5.
fn claims(name: &str, [expected, surprising]: &[Scene; 2]) -> Vec<Claim> {
    let error = |scene: &Scene| (scene.targets[1].mean() - scene.prior.mean()).abs();
    vec![
        computed(
            format!("σ(s₁,a₁) becomes larger after −5 than after +5 ({name})"),
            "standard deviation of Q(s₁,a₁), after −5 minus after +5",
            Direction::Greater,
            surprising.next[1].sd() - expected.next[1].sd(),
        ),
        computed(
            format!("The TD error of a₁ is larger after −5 than after +5 ({name})"),
            "size of the TD error of Q(s₀,a₀) by a₁, after −5 minus after +5",
            Direction::Greater,
            error(surprising) - error(expected),
        ),
        computed(
            format!("w* of a₁ is lower after −5 than after +5 ({name})"),
            "w* of a₁, after −5 minus after +5",
            Direction::Less,
            surprising.weights[1] - expected.weights[1],
        ),
        computed(
            format!("After −5 w* of a₁ is lower than that of a₀ ({name})"),
            "w* after −5, a₁ minus a₀",
            Direction::Less,
            surprising.weights[1] - surprising.weights[0],
        ),
        computed(
            format!("Ours: the belief over Q(s₀,a₀) is wider after −5 than after +5 ({name})"),
            "standard deviation by exact moments, after −5 minus after +5",
            Direction::Greater,
            surprising.exact.sd() - expected.exact.sd(),
        ),
        computed(
            format!("Ours: the analytic belief over Q(s₀,a₀) is narrower than the exact one ({name})"),
            "standard deviation after −5, analytic minus exact",
            Direction::Less,
            surprising.analytic.sd() - surprising.exact.sd(),
        ),
    ]
}

/// What the paper says of Q-learning, which knows no variances.
fn q_learning_claims([_, surprising]: &[Scene; 2]) -> Vec<Claim> {
    vec![computed(
        "After −5 Q-learning updates Q(s₀,a₀) from Q(s₁,a₀) alone",
        "Q-learning's Q(s₁,a₀) − Q(s₁,a₁)",
        Direction::Greater,
        surprising.q_next[0] - surprising.q_next[1],
    )]
}

fn table<'a>(scenes: impl Iterator<Item = &'a Scene>) -> Result<Table> {
    let mut table = Table::new([
        "terminal variance",
        "reward at t",
        "mean of Q(s₁,a₁)",
        "its sd",
        "Q(s₀,a₀), exact",
        "its sd",
        "Q(s₀,a₀), analytic",
        "its sd",
        "mass of a₁, exact",
        "w* of a₁, analytic",
        "Q-learning: Q(s₁,a₁)",
        "Q-learning: Q(s₀,a₀)",
    ]);
    for scene in scenes {
        let row = [
            scene.target_var,
            scene.reward,
            scene.next[1].mean(),
            scene.next[1].sd(),
            scene.exact.mean(),
            scene.exact.sd(),
            scene.analytic.mean(),
            scene.analytic.sd(),
            scene.masses[1],
            scene.weights[1],
            scene.q_next[1],
            scene.q_updated,
        ];
        table.push(row.map(Into::into))?;
    }
    Ok(table)
}

/// What the panels show of Q: enough of N(0, 100), whichever way the needles stand.
const WIDE: (f64, f64) = (-25.0, 25.0);
/// Densities between those of the prior's flanks and above those of the needles.
const DENSITIES: (f64, f64) = (1e-5, 1e2);

/// The figure on logarithmic axes, for beliefs as narrow as needles.
fn needles(scenes: &[Scene; 2]) -> Figure {
    let density = || Axis::log("density").from(DENSITIES.0).to(DENSITIES.1);
    figure("One surprising reward: terminal variance 0.001, the authors'", scenes, density)
}

/// The figure on linear axes.
fn curves(scenes: &[Scene; 2]) -> Figure {
    figure("One surprising reward: terminal variance 16, the reward's own", scenes, || {
        Axis::linear("density").from(0.0).to(0.26)
    })
}

fn figure(title: &str, scenes: &[Scene; 2], density: impl Fn() -> Axis) -> Figure {
    let rows: [&dyn Fn(&Scene) -> Panel; 3] =
        [&|scene| next_panel(scene, density()), &|scene| update_panel(scene, density()), &weight_panel];
    let panels = rows.iter().flat_map(|row| scenes.iter().map(row));
    panels.fold(Figure::new(title).columns(2).panel_size(400.0, 220.0), Figure::panel)
}

/// After which reward, for the titles.
fn after(scene: &Scene) -> String {
    let sign = if scene.reward < 0.0 { "−" } else { "+" };
    format!("after {sign}{}", scene.reward.abs())
}

/// A density as points, fine enough for the needles of the scene.
fn density(scene: &Scene, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let [_, target] = scene.targets;
    let [_, next] = scene.next;
    curve_with_needles(WIDE, &[target, next], f)
}

/// First row: what is believed about s₁.
fn next_panel(scene: &Scene, y: Axis) -> Panel {
    let belief = |belief: Belief| density(scene, gaussian(belief));
    Panel::new(format!("{}: beliefs at s₁", after(scene)), Axis::linear("q"), y)
        .layer(Line::new("Q(s₁,a₀), never tried", belief(scene.next[0])).color(Color::Green))
        .layer(Area::new("Q(s₁,a₁), tried four times", belief(scene.next[1])).color(Color::Orange))
}

/// Second row: the update of Q(s₀,a₀).
fn update_panel(scene: &Scene, y: Axis) -> Panel {
    let (posterior, mixture) =
        (density(scene, |q| scene.posterior.pdf(q)), density(scene, |q| scene.mixture.pdf(q)));
    Panel::new(format!("{}: update of Q(s₀,a₀)", after(scene)), Axis::linear("q"), y)
        .layer(Line::new("prior of Q(s₀,a₀)", density(scene, gaussian(scene.prior))).color(Color::Grey))
        .layer(Area::new("exact posterior", posterior).color(Color::Blue))
        .layer(Line::new("analytic mixture", mixture).color(Color::Vermillion).dash(Dash::Dashed))
        .layer(
            Rule::vertical("Q-learning's new Q(s₀,a₀)", scene.q_updated)
                .color(Color::Black)
                .dash(Dash::Dotted),
        )
}

/// Third row: how much each next action counts.
fn weight_panel(scene: &Scene) -> Panel {
    let bars =
        |values: [f64; 2]| ["a₀", "a₁"].into_iter().zip(values).map(|(name, value)| Bar::new(name, value));
    let q = if scene.q_next[1] > scene.q_next[0] { [0.0, 1.0] } else { [1.0, 0.0] };
    let x = Axis::linear("share of the update").from(0.0).to(1.0);
    Panel::new(format!("{}: what each next action counts", after(scene)), x, Axis::linear(""))
        .layer(Bars::new("mass of the exact term", bars(scene.masses)).color(Color::Blue))
        .layer(Bars::new("w* of the analytic mixture", bars(scene.weights)).color(Color::Vermillion))
        .layer(Bars::new("Q-learning", bars(q)).color(Color::Black))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Layer;
    use crate::verdict::Verdict;

    #[test]
    fn beliefs_at_s1_are_the_gaussian_products() {
        for target_var in [AUTHORS, TRUE_VARIANCE] {
            for (scene, sum) in Scene::both(target_var).unwrap().iter().zip([20.0, 10.0]) {
                // Precisions add: that of N(0, 100) and those of four rewards with the given sum.
                let precision = 0.01 + 4.0 / target_var;
                assert!((scene.next[1].var() * precision - 1.0).abs() < 1e-12);
                assert!((scene.next[1].mean() - sum / target_var / precision).abs() < 1e-12);
                assert_eq!(scene.next[0], scene.prior);
            }
        }
    }

    #[test]
    fn the_true_variance_is_that_of_the_reward() {
        let mdp = simple(2).unwrap();
        let outcomes = mdp.outcomes(1, 1);
        let mean: f64 = outcomes.iter().map(|o| o.probability * o.reward).sum();
        let square: f64 = outcomes.iter().map(|o| o.probability * o.reward * o.reward).sum();
        assert!((square - mean * mean - TRUE_VARIANCE).abs() < 1e-12);
    }

    /// ∫ y dx over the area with this label in a panel.
    fn integral(figure: &Figure, panel: usize, label: &str) -> f64 {
        let points = figure.panels[panel].layers.iter().find_map(|layer| match layer {
            Layer::Area(area) if area.label == label => Some(&area.points),
            _ => None,
        });
        let pairs = points.unwrap().windows(2);
        pairs.map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0)).sum()
    }

    #[test]
    fn drawn_densities_integrate_to_one_even_as_needles() {
        let figures = [needles(&Scene::both(AUTHORS).unwrap()), curves(&Scene::both(TRUE_VARIANCE).unwrap())];
        for figure in figures {
            assert_eq!(figure.panels.len(), 6);
            for column in 0..2 {
                for (panel, label) in
                    [(column, "Q(s₁,a₁), tried four times"), (2 + column, "exact posterior")]
                {
                    let mass = integral(&figure, panel, label);
                    assert!((mass - 1.0).abs() < 2e-3, "{} {label}: {mass}", figure.title);
                }
            }
        }
    }

    #[test]
    fn sigma_does_not_depend_on_the_reward() {
        for target_var in [AUTHORS, TRUE_VARIANCE] {
            let claims = claims("", &Scene::both(target_var).unwrap());
            assert_eq!((claims[0].difference, claims[0].verdict), (0.0, Verdict::DoesNotHold));
            assert_eq!(claims[2].verdict, Verdict::Holds, "{claims:?}");
        }
    }

    #[test]
    fn q_learning_takes_the_untried_action_after_a_surprise() {
        let [expected, surprising] = Scene::both(AUTHORS).unwrap();
        assert_eq!((surprising.q_next[0], surprising.q_updated), (0.0, 0.0));
        assert!(surprising.q_next[1] < 0.0 && expected.q_next[1] > 4.0);
        assert!((expected.q_updated - 0.5 * 0.9 * expected.q_next[1]).abs() < 1e-12);
    }
}
