//! Pins of the policies' random streams: if one of these fails, recorded results change with it.

use adfq::agent::{Agent, BayesianQ, KtdQ, KtdSettings, NormalGamma, Replay, Step, Updating};
use adfq::policy::{Active, Boltzmann, Epsilon, EpsilonGreedy, Policy, Thompson, Uniform, Vpi};
use adfq::random::stream;

/// Four actions of which one has not been tried, one has paid 1 and two have paid ½, among others.
fn learned<A: Agent>(mut agent: A) -> A {
    for (action, reward) in [(0, 0.5), (1, 1.0), (2, 0.5), (0, 0.5), (2, 0.5)] {
        agent.update(&Step { state: 0, action, reward, next_state: 0, terminal: true }).expect("a good step");
    }
    agent
}

fn gaussian() -> KtdQ {
    learned(KtdQ::new(1, 4, 0.9, KtdSettings::default()).expect("good settings"))
}

fn normal_gamma() -> BayesianQ {
    let prior = NormalGamma::from_moments(0.0, 10.0, 1.0, 1.5).expect("a belief");
    learned(BayesianQ::new(1, 4, 0.9, prior, Updating::Moment).expect("good settings"))
}

/// Sixteen actions as digits.
fn acts<A: Agent, P: Policy<A>>(agent: &A, mut policy: P) -> String {
    let mut rng = stream(42, "policy");
    (0..16).map(|_| char::from(b'0' + policy.act(agent, 0, &mut rng) as u8)).collect()
}

#[test]
fn actions() {
    let agent = gaussian();
    let epsilon = Epsilon::Linear { from: 1.0, to: 0.5, steps: 8 };
    let untrained = KtdQ::new(1, 4, 0.9, KtdSettings::default()).expect("good settings");
    let drawn = [
        acts(&agent, Uniform),
        acts(&agent, EpsilonGreedy::new(epsilon).expect("probabilities")),
        acts(&untrained, EpsilonGreedy::greedy()),
        acts(&agent, Boltzmann::new(0.7).expect("a temperature")),
        acts(&agent, Active),
        acts(&agent, Thompson),
        acts(&normal_gamma(), Thompson),
        acts(&untrained, Vpi),
    ];
    assert_eq!(
        drawn,
        [
            "2312003231232321",
            "1033131100311221",
            "2312003231232321",
            "2201123110011132",
            "3303133331112233",
            "1103030012133321",
            "1011132111312313",
            "2312003231232321"
        ]
    );
}

fn bits<A: Agent>(agent: &A) -> [String; 3] {
    let mut rng = stream(42, "sample");
    std::array::from_fn(|action| format!("{:016x}", agent.sample(0, action, &mut rng).to_bits()))
}

#[test]
fn samples() {
    assert_eq!(
        [bits(&gaussian()), bits(&normal_gamma())],
        [
            ["bfd2b52d156c3024", "3ffc258a83ec72c8", "3fe2d434e4a7d947"],
            ["3fe1efe8d47be534", "3fbacef1d26283b8", "3fee0564b0ae2ab6"]
        ]
    );
}

#[test]
fn replayed() {
    let mut replay = Replay::new(1, 1, 8).expect("room");
    for reward in 0..11 {
        let step = Step { state: 0, action: 0, reward: f64::from(reward), next_state: 0, terminal: false };
        replay.push(&step).expect("a good step");
    }
    let mut rng = stream(42, "replay");
    let drawn: Vec<f64> = replay.draw(0, 0, 8, &mut rng).map(|step| step.reward).collect();
    assert_eq!(drawn, [7.0, 6.0, 8.0, 8.0, 10.0, 6.0, 8.0, 10.0]);
}
