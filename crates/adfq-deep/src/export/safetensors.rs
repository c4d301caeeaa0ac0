//! The tensors of a network in the format of safetensors: the length of a header as u64, the header as JSON, and the numbers
//! one tensor after the other, all little-endian.

use super::origin;
use crate::{Agent, Result};
use serde_json::{Map, Value, json};

/// Headers are filled up with spaces to a multiple of this, so that the numbers are aligned.
const ALIGNED: usize = 8;

/// The online network's tensors as f32, under the names and in the shapes of [`adfq_nn::Tensor`]. The metadata has one
/// entry, `adfq`: JSON that says where they come from, with the network's layers, the environment's frames
/// and the unit of its values: what one of them is in rewards.
pub fn safetensors(agent: &Agent) -> Result<Vec<u8>> {
    let (network, params) = (agent.learner().network(), &agent.learner().online);
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({ "adfq": origin(agent).to_string() }));
    for tensor in network.tensors() {
        // Tensors lie in the buffer of parameters as in the file: in order, without gaps.
        let place = [tensor.range.start, tensor.range.end].map(|number| number * size_of::<f32>());
        let entry = json!({ "dtype": "F32", "shape": tensor.shape, "data_offsets": place });
        header.insert(tensor.name.clone(), entry);
    }
    let mut header = Value::Object(header).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(ALIGNED) - header.len()));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(params.iter().flat_map(|number| number.to_le_bytes()));
    Ok(bytes)
}
