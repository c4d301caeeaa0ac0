//! Deep Split ADFQ on DeepSea, where Q* is known: it finds the treasure, and its beliefs are honest while it looks.

use adfq::mdp::{DeepSea, policy_iteration};
use adfq_deep::{Config, Host, Trainer};

const SIZE: usize = 8;

fn trainer() -> Trainer {
    let (host, config) = (Host::default(), Config::for_env(&format!("deepsea-{SIZE}")).unwrap());
    let config = host.algorithms.with_agent(config, "split", Some("optimist")).unwrap();
    let mut config = config.with_steps(6_000).with("split.features=128").unwrap();
    (config.learning.warmup, config.learning.every) = (400, 2);
    Trainer::new(&config, &host).unwrap()
}

fn advance(trainer: &mut Trainer, to: u64) {
    while trainer.run().step() < to {
        trainer.advance().unwrap();
    }
}

/// The share of all pairs whose Q* lies within two sd of the belief.
fn coverage(trainer: &mut Trainer) -> f64 {
    let mdp = DeepSea { size: SIZE, ..DeepSea::default() }.mdp().unwrap();
    let solution = policy_iteration(&mdp).unwrap();
    let (mut within, mut pairs) = (0, 0);
    for state in 0..mdp.states() {
        let Some((depth, column)) = mdp.layout().unwrap().cell(state) else { continue };
        let at = depth * SIZE + column;
        let observation: Vec<f32> = (0..SIZE * SIZE).map(|i| f32::from(u8::from(i == at))).collect();
        let estimates = trainer.run_mut().estimates(&observation).unwrap();
        for (estimate, value) in estimates.iter().zip(solution.action_values(state)) {
            let sd = f64::from(estimate.sd);
            within += usize::from((f64::from(estimate.mean) - value).abs() <= 2.0 * sd);
            pairs += 1;
        }
    }
    within as f64 / pairs as f64
}

#[test]
fn the_optimist_finds_the_treasure_and_beliefs_cover_it() {
    let mut trainer = trainer();
    for step in [400, 1_500, 3_000, 4_500, 6_000] {
        advance(&mut trainer, step);
        let found = coverage(&mut trainer);
        assert!(found > 0.8, "{step}: {found}");
    }
    trainer.evaluate(1).unwrap();
    assert!(trainer.run().evaluation().unwrap().mean() > 0.9);
}
