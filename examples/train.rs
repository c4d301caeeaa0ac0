//! Train, stop, resume, load, act, and read beliefs.

use adfq_deep::{Agent, Training};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join("adfq-example-train");
    let _ = std::fs::remove_dir_all(&folder);
    let training = Training::new("cartpole").agent("adfq").seeds([7]).steps(5_000);

    training.clone().stop_after(2_000).run(&folder)?; // as if Ctrl-C had been pressed
    let [summary] = &training.run(&folder)?[..] else { unreachable!() }; // goes on where it stopped
    println!("{summary}");

    let mut agent = Agent::load(&folder)?;
    let decision = agent.act(&[0.0, 0.0, 0.05, 0.5])?; // the pole leans and falls to the right
    let (beliefs, p_best) = (decision.beliefs.clone().unwrap(), decision.p_best()?.unwrap());
    for (action, (belief, p)) in ["left", "right"].iter().zip(beliefs.iter().zip(p_best)) {
        println!("{action:>5}: {:.2} ± {:.2}, best with probability {p:.2}", belief.mean(), belief.sd());
    }
    println!("it pushes {}", ["left", "right"][decision.action]);
    Ok(())
}
