//! What was learned, for other programs: the online network as ONNX, with beliefs as outputs, or its tensors as
//! safetensors. Both give bytes; where they are written is the caller's business.

mod onnx;
mod safetensors;

pub use onnx::onnx;
pub use safetensors::safetensors;

use crate::Agent;
use serde_json::{Value, json};

/// What the files say about where they come from.
fn origin(agent: &Agent) -> Value {
    let config = agent.config();
    json!({
        "adfq": env!("CARGO_PKG_VERSION"),
        "env": config.env,
        "agent": config.agent,
        "policy": config.policy,
        "seed": config.seed,
        "step": agent.step(),
        "space": agent.space(),
        "network": agent.learner().network().spec(),
        "unit": agent.learner().unit.size(),
    })
}
