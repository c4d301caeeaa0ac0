//! An algorithm of your own: expected SARSA, whose target is the mean of Q(s′,·) under a softmax policy. It is trained by
//! name, checkpointed with its own state (a running mean of rewards), resumed to the bit, and compared with DQN.

use adfq_deep::algorithm::{Algorithm, Batch, Descriptor, Estimate, Gradient, Loss, Outputs, Passes, State};
use adfq_deep::{Device, Host, Result, Training};

const TEMPERATURE: f32 = 1.0;

#[derive(Default)]
struct ExpectedSarsa {
    mean_reward: f32,
}

impl Algorithm for ExpectedSarsa {
    fn groups(&self) -> usize {
        1 // The network gives one number for each action.
    }

    fn passes(&self) -> Passes {
        Passes { target_next: true, ..Passes::default() }
    }

    fn loss(&mut self, batch: &Batch, outputs: &Outputs, gradient: &mut Gradient) -> Result<Loss> {
        let (mut loss, mut mean_q) = (0.0, 0.0);
        for i in 0..batch.len() {
            self.mean_reward += 0.001 * (batch.reward[i] - self.mean_reward);
            let next = &outputs.target_next[i * batch.actions..(i + 1) * batch.actions];
            let target = batch.bootstrap(i, || expected(next));
            let at = i * batch.actions + batch.action[i] as usize;
            let (error, weight) = (outputs.online[at] - target, batch.weight[i] / batch.len() as f32);
            gradient.outputs[at] = weight * error;
            gradient.errors[i] = error.abs();
            loss += 0.5 * weight * error * error;
            mean_q += outputs.online[at] / batch.len() as f32;
        }
        Ok(Loss { loss, mean_q, mean_sigma: f32::NAN })
    }

    fn estimate(&mut self, state: &State, out: &mut Vec<Estimate>) -> Result<()> {
        out.extend(state.row.iter().map(|&q| Estimate::value(q)));
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.mean_reward.to_le_bytes().to_vec())
    }

    fn restore(&mut self, state: &[u8]) -> std::result::Result<(), String> {
        self.mean_reward = f32::from_le_bytes(state.try_into().map_err(|_| "not four bytes".to_owned())?);
        Ok(())
    }
}

/// Σ p(b) Q(b) with p ∝ exp(Q / temperature).
fn expected(q: &[f32]) -> f32 {
    let most = q.iter().fold(f32::NEG_INFINITY, |most, &value| most.max(value));
    let weight = |value: f32| ((value - most) / TEMPERATURE).exp();
    let (sum, total) = q.iter().fold((0.0, 0.0), |(sum, total), &v| (sum + weight(v) * v, total + weight(v)));
    sum / total
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join("adfq-example-own-agent");
    let _ = std::fs::remove_dir_all(&folder);
    let mut host = Host::here();
    let build = |_: &_, _: &_| Ok(Box::new(ExpectedSarsa::default()) as Box<dyn Algorithm>);
    host.algorithms.register(Descriptor::new("expected-sarsa", "expected SARSA with a softmax", build))?;

    let device = if std::env::args().any(|word| word == "cuda") { Device::Cuda(0) } else { Device::Cpu };
    let training = Training::new("cartpole").host(host).agents(["expected-sarsa", "dqn"])?.steps(4_000);
    let training = training.device(device);
    training.clone().stop_after(1_000).run(folder.join("stopped"))?; // as if Ctrl-C had been pressed
    let resumed = training.run(folder.join("stopped"))?;
    assert_eq!(resumed, training.run(folder.join("whole"))?); // digests of all that was learned
    resumed.iter().for_each(|summary| println!("{summary}"));
    Ok(())
}
