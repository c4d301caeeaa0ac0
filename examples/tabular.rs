//! A tabular agent on a named domain and on an MDP of one's own: train, stop, read beliefs, continue.
//!
//!     cargo run --release -p adfq --example tabular

use adfq::mdp::{self, Mdp, MdpBuilder, Outcome};
use adfq::spec::{AgentKind, RunSpec};
use adfq::{MaxOfGaussians, Result, Session};

fn main() -> Result<()> {
    // A named domain. Agents and policies have names too: "adfq".parse(), "thompson".parse().
    let chain = mdp::named("chain")?;
    let spec = RunSpec { policy: "thompson".parse()?, seed: 7, ..RunSpec::of("split".parse()?, &chain) };
    let mut session = spec.session(&chain)?;
    session.run(500)?;
    show(&chain, &session, "Chain after 500 steps")?;
    session.run(4_500)?;
    show(&chain, &session, "Chain after 5,000 steps")?;

    // An MDP of our own: a slot machine that mostly pays nothing, and a coin beside it.
    let slots = MdpBuilder::new("slots", 1, 2, 0.9)
        .action_labels(["pull", "coin"])
        .outcome(0, 0, Outcome::ends(0.9, 0, 0.0))
        .outcome(0, 0, Outcome::ends(0.1, 0, 20.0))
        .outcome(0, 1, Outcome::ends(1.0, 0, 1.0))
        .start(0)
        .build()?;
    let mut session = RunSpec::of(AgentKind::BayesianQ, &slots).session(&slots)?;
    session.run(2_000)?;
    show(&slots, &session, "Slots after 2,000 steps")
}

/// The beliefs about each state's actions: mean, standard deviation, and the probability to be the best one.
fn show(mdp: &Mdp, session: &Session<'_>, title: &str) -> Result<()> {
    println!("{title}: reward {:.0}", session.reward());
    for state in 0..mdp.states() {
        let beliefs = session.agent().beliefs(state).unwrap_or_default();
        let best = MaxOfGaussians::new(&beliefs)?.probabilities()?;
        for (action, (belief, best)) in beliefs.iter().zip(best).enumerate() {
            let (state, action) = (mdp.state_label(state), mdp.action_label(action));
            println!("  Q({state},{action}) = {:7.2} ± {:5.2}, best {:.3}", belief.mean(), belief.sd(), best);
        }
    }
    Ok(())
}
