use super::*;
use adfq::mdp::named;

fn settings(domain: &str, steps: u64) -> (Mdp, LearnSettings) {
    let mdp = named(domain).unwrap();
    let settings = LearnSettings { steps, seed: 1, ..LearnSettings::for_mdp(&mdp) };
    (mdp, settings)
}

#[test]
fn every_agent_runs_with_every_policy_it_takes_and_refuses_the_others() {
    let (mdp, base) = settings("loop", 300);
    for agent in AgentKind::ALL {
        for policy in PolicyKind::ALL {
            let asked = LearnSettings { agent, policy, temperature: Some(1.0), ..base.clone() };
            let learned = learn(&mdp, &asked, |_| {});
            assert_eq!(learned.is_ok(), agent.policies().contains(&policy), "{agent} {policy}: {learned:?}");
        }
    }
    let asked = LearnSettings { agent: AgentKind::QLearning, policy: PolicyKind::Thompson, ..base };
    assert_eq!(
        learn(&mdp, &asked, |_| {}).unwrap_err().to_string(),
        "q-learning has no beliefs, so it cannot follow the policy thompson; it takes epsilon, greedy, boltzmann, uniform"
    );
}

#[test]
fn a_seed_decides_everything() {
    let (mdp, base) = settings("chain", 2_000);
    let run = |seed| learn(&mdp, &LearnSettings { seed, ..base.clone() }, |_| {}).unwrap();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).states, run(2).states);
}

#[test]
fn the_score_is_that_of_the_table() {
    let (mdp, base) = settings("loop", 10_000);
    let asked = LearnSettings { agent: AgentKind::Adfq, policy: PolicyKind::Uniform, ..base };
    let learned = learn(&mdp, &asked, |_| {}).unwrap();
    let score = learned.score;
    assert_eq!(score.right, 1.0);
    assert!((score.average_greedy - 0.4).abs() < 1e-12);
    assert!((score.average_learning * 10_000.0 - learned.reward).abs() < 1e-9);
    let squares = learned.states.iter().flat_map(|s| s.mean.iter().zip(&s.q)).map(|(m, q)| (m - q).powi(2));
    assert!((score.rmse - (squares.sum::<f64>() / 18.0).sqrt()).abs() < 1e-12);
    assert_eq!(learned.states.iter().map(|s| s.visits).sum::<u64>(), 10_000);
}

#[test]
fn q_learning_has_no_spread() {
    let (mdp, base) = settings("loop", 10_000);
    let asked = LearnSettings { agent: AgentKind::QLearning, policy: PolicyKind::Epsilon, ..base };
    let learned = learn(&mdp, &asked, |_| {}).unwrap();
    assert!(learned.states.iter().all(|state| state.sd.is_none() && state.best.is_none()));
    assert_eq!(learned.score.within_one_sd, None);
}

#[test]
fn progress_is_told_and_ends_at_the_last_step() {
    let (mdp, base) = settings("loop", 1_000);
    let mut told = vec![];
    learn(&mdp, &base, |done| told.push(done)).unwrap();
    assert_eq!((told.len(), told[99]), (100, 1_000));
}
