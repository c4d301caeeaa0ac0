//! How honest a deep agent's beliefs are on DeepSea, where Q* is known: the share of all pairs (s,a) whose Q*(s,a) lies
//! within one and two sd of the belief, while it learns. A line of CSV for each seed and each of twenty moments.
//!
//! `cargo run --release -p adfq-deep --example deep_sea_coverage -- 10 split 20000 5 > coverage.csv`

use adfq::mdp::{DeepSea, policy_iteration};
use adfq_deep::{Config, Host, Run, Trainer};
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
    fn judge(&self, run: &mut Run) -> Result<[f64; 4], Box<dyn Error>> {
        let mut sums = [0.0; 4];
        for (observation, values) in self.observations.iter().zip(&self.values) {
            for (estimate, value) in run.estimates(observation)?.iter().zip(values) {
                let (off, sd) = ((f64::from(estimate.mean) - value).abs(), f64::from(estimate.sd));
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
        return Err("say: SIZE adfq|split|bootstrapped STEPS SEEDS".into());
    };
    if !["adfq", "split", "bootstrapped"].contains(&agent.as_str()) {
        return Err(format!("{agent} has no beliefs to judge: adfq, split or bootstrapped").into());
    }
    let host = Host::default();
    let (sea, steps): (_, u64) = (Sea::new(size.parse()?)?, steps.parse()?);
    println!("agent,seed,step,rmse,within_1sd,within_2sd,mean_sd");
    for seed in 0..seeds.parse()? {
        let config = Config::for_env(&format!("deepsea-{size}"))?;
        let config = host.algorithms.with_agent(config, agent, None)?;
        let config = Config { seed, ..config.with_steps(steps) }.with("learning.warmup=1000")?;
        let mut trainer = Trainer::new(&config, &host)?;
        for moment in 1..=MOMENTS {
            while trainer.run().step() < steps * moment / MOMENTS {
                trainer.advance()?;
            }
            let [rmse, one, two, sd] = sea.judge(trainer.run_mut())?;
            println!("{},{seed},{},{rmse:.4},{one:.3},{two:.3},{sd:.4}", agent, trainer.run().step());
        }
    }
    Ok(())
}
