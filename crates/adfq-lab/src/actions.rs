//! Actions as JSON lines: an observation in, the action and the beliefs of a trained agent out.
//!
//! Which input is read, and what happens after a bad line, is the caller's business.

use adfq_deep::{Agent, Decision};
use serde_json::{Map, Value, json};

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is neither an observation nor the start of an episode.
    #[error(
        "give an observation as an array, {{\"observation\": [...]}}, or {{\"reset\": true}} with or without one"
    )]
    Request,
    /// An observation of another shape.
    #[error("the observation must be numbers in the shape {shape:?}, or all of them in one array")]
    Shape {
        /// The shape of a frame.
        shape: Vec<usize>,
    },
    /// The agent refuses it.
    #[error(transparent)]
    Agent(#[from] adfq_deep::Error),
}

/// An agent that answers lines. Frames that it sees stacked are kept from line to line, up to the next reset.
pub struct ActionLines {
    agent: Agent,
}

impl ActionLines {
    /// Before the first frame of an episode.
    pub fn new(agent: Agent) -> Self {
        Self { agent }
    }

    /// The answer to a line: `action`, `mean` and `sd` of each action, `null` without beliefs. A reset without an
    /// observation is answered by `{"reset":true}`. A line with an error changes nothing.
    pub fn answer(&mut self, line: &str) -> Result<String, ActionError> {
        let (reset, observation) = match serde_json::from_str(line)? {
            Value::Object(fields) => request(fields)?,
            observation => (false, Some(observation)),
        };
        let frame = observation.map(|observation| self.frame(&observation)).transpose()?;
        // The frame is checked before an episode begins.
        if let Some(frame) = &frame {
            self.agent.check_frame(frame)?;
        }
        if reset {
            self.agent.begin_episode();
        }
        Ok(match frame {
            Some(frame) => decided(&self.agent.see(&frame)?).to_string(),
            None => json!({ "reset": true }).to_string(),
        })
    }

    /// The numbers of an observation, nested as the environment's frames are or in one array.
    fn frame(&self, observation: &Value) -> Result<Vec<f64>, ActionError> {
        let shape = &self.agent.space().frame;
        let is_flat = observation.as_array().is_some_and(|items| items.iter().all(Value::is_number));
        let mut numbers = vec![];
        let fits = match is_flat {
            true => collect(observation, &[observation.as_array().map_or(0, Vec::len)], &mut numbers),
            false => collect(observation, shape, &mut numbers),
        };
        fits.then_some(numbers).ok_or_else(|| ActionError::Shape { shape: shape.clone() })
    }
}

/// Whether an episode starts, and what is observed.
fn request(mut fields: Map<String, Value>) -> Result<(bool, Option<Value>), ActionError> {
    let observation = fields.remove("observation");
    let reset = match fields.remove("reset") {
        None => false,
        Some(Value::Bool(reset)) => reset,
        Some(_) => return Err(ActionError::Request),
    };
    if !fields.is_empty() || !reset && observation.is_none() {
        return Err(ActionError::Request);
    }
    Ok((reset, observation))
}

/// Collects the numbers of nested arrays; false unless they have this shape.
fn collect(value: &Value, shape: &[usize], out: &mut Vec<f64>) -> bool {
    match (shape, value) {
        ([], Value::Number(number)) => number.as_f64().map(|number| out.push(number)).is_some(),
        ([size, inner @ ..], Value::Array(items)) => {
            items.len() == *size && items.iter().all(|item| collect(item, inner, out))
        }
        _ => false,
    }
}

fn decided(decision: &Decision) -> Value {
    let sds = |beliefs: &Vec<adfq::Belief>| beliefs.iter().map(adfq::Belief::sd).collect::<Vec<_>>();
    json!({
        "action": decision.action,
        "mean": decision.means,
        "sd": decision.beliefs.as_ref().map(sds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_deep::Training;

    fn lines(env: &str, agent: &str) -> ActionLines {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        Training::new(env).agent(agent).steps(20).run(&run).unwrap();
        ActionLines::new(Agent::load(&run).unwrap())
    }

    #[test]
    fn answers_have_beliefs_where_there_are_any() {
        let mut adfq = lines("cartpole", "adfq");
        let answer: Value = serde_json::from_str(&adfq.answer("[0, 0.1, 0, 0]").unwrap()).unwrap();
        assert_eq!(
            (answer["mean"].as_array().unwrap().len(), answer["sd"].as_array().unwrap().len()),
            (2, 2)
        );
        let mut dqn = lines("cartpole", "dqn");
        let answer: Value = serde_json::from_str(&dqn.answer("[0, 0.1, 0, 0]").unwrap()).unwrap();
        assert!(answer["sd"].is_null() && answer["action"].as_u64().unwrap() < 2);
    }

    #[test]
    fn observations_are_nested_or_flat() {
        let mut sea = lines("deepsea-3", "dqn");
        let nested = sea.answer("[[[1], [0], [0]], [[0], [0], [0]], [[0], [0], [0]]]").unwrap();
        assert_eq!(sea.answer("[1, 0, 0, 0, 0, 0, 0, 0, 0]").unwrap(), nested);
        assert_eq!(
            sea.answer(r#"{"observation": [1, 0, 0, 0, 0, 0, 0, 0, 0], "reset": true}"#).unwrap(),
            nested
        );
        assert_eq!(sea.answer(r#"{"reset": true}"#).unwrap(), r#"{"reset":true}"#);
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let mut sea = lines("deepsea-3", "dqn");
        for (line, message) in [
            ("[1, 0", "not JSON"),
            ("7", "in the shape [3, 3, 1]"),
            ("[[1, 0, 0], [0, 0, 0], [0, 0, 0]]", "in the shape [3, 3, 1]"),
            (r#"[1, "a", 0, 0, 0, 0, 0, 0, 0]"#, "in the shape [3, 3, 1]"),
            ("[1, 0, 0]", "an observation has 9 numbers, and here are 3"),
            ("[1, 0, 0, 0.5, 0, 0, 0, 0, 0]", "number 3 of the observation is 0.5"),
            ("[1, 0, 0, 256, 0, 0, 0, 0, 0]", "number 3 of the observation is 256"),
            ("{}", "give an observation"),
            (r#"{"reset": 1}"#, "give an observation"),
            (r#"{"reset": true, "obs": []}"#, "give an observation"),
        ] {
            let error = sea.answer(line).unwrap_err().to_string();
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
