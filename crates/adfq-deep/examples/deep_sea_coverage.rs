//! How honest a deep agent's beliefs are on DeepSea, where Q* is known: the share of all pairs (s,a) whose Q*(s,a) lies
//! within one and two sd of the belief, while it learns. A line of CSV for each seed and each of twenty moments.
//!
//! `cargo run --release -p adfq-deep --example deep_sea_coverage -- 10 split 20000 5 > coverage.csv`

use adfq::mdp::{DeepSea, policy_iteration};
use adfq_deep::config::AgentKind;
use adfq_deep::{Config, Host, Trainer};
use adfq_nn::Workspace;
use std::error::Error;

const MOMENTS: u64 = 20;

/// Every state's observation, and Q* of its two actions.
struct Sea {
    observations: Vec<Vec<f32>>,
    values: Vec<Vec<f64>>,
}

impl Sea {
    fn new(size: usize) -> Result<Self, Box<dyn Error>> {
        let mdp = DeepSea { size, ..DeepSea::default() }.mdp()?;
        let solution = policy_iteration(&mdp)?;
        let (mut observations, mut values) = (vec![], vec![]);
        for state in 0..mdp.states() {
            if let Some((row, column)) = mdp.layout().and_then(|layout| layout.cell(state)) {
                let at = row * size + column;
                observations.push((0..size * size).map(|i| f32::from(u8::from(i == at))).collect());
                values.push((0..2).map(|action| solution.q[state * 2 + action]).collect());
            }
        }
        Ok(Self { observations, values })
    }

    /// RMSE, coverage of ±σ and ±2σ, and mean σ over all pairs.
    fn judge(&self, trainer: &Trainer) -> Result<[f64; 4], Box<dyn Error>> {
        let learner = trainer.learner();
        let (mut pass, mut row) = (Workspace::new(learner.network(), 1, 1)?, vec![]);
        let mut sums = [0.0; 4];
        for (observation, values) in self.observations.iter().zip(&self.values) {
            learner.beliefs(observation, &mut pass, &mut row)?;
            for (action, value) in values.iter().enumerate() {
                let (off, sd) = ((f64::from(row[action]) - value).abs(), (-f64::from(row[2 + action])).exp());
                let within = |reach: f64| f64::from(u8::from(off <= reach * sd));
                let found = [off * off, within(1.0), within(2.0), sd];
                sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
            }
        }
        let pairs = (2 * self.values.len()) as f64;
        Ok([(sums[0] / pairs).sqrt(), sums[1] / pairs, sums[2] / pairs, sums[3] / pairs])
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [size, agent, steps, seeds] = &arguments[..] else {
        return Err("say: SIZE adfq|split STEPS SEEDS".into());
    };
    let agent = match agent.as_str() {
        "adfq" => AgentKind::Adfq,
        "split" => AgentKind::Split,
        other => return Err(format!("{other} has no beliefs to judge: adfq or split").into()),
    };
    let (sea, steps): (_, u64) = (Sea::new(size.parse()?)?, steps.parse()?);
    println!("agent,seed,step,rmse,within_1sd,within_2sd,mean_sd");
    for seed in 0..seeds.parse()? {
        let config = Config::for_env(&format!("deepsea-{size}"))?.with_agent(agent, agent.policy());
        let config = Config { seed, ..config.with_steps(steps) }.with("learning.warmup=1000")?;
        let mut trainer = Trainer::new(&config, &Host::default())?;
        for moment in 1..=MOMENTS {
            while trainer.step() < steps * moment / MOMENTS {
                trainer.advance()?;
            }
            let [rmse, one, two, sd] = sea.judge(&trainer)?;
            println!("{},{seed},{},{rmse:.4},{one:.3},{two:.3},{sd:.4}", agent.name(), trainer.step());
        }
    }
    Ok(())
}
