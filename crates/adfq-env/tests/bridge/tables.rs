//! Taxi and CliffWalking are Gymnasium's tables, outcome by outcome.

use super::interpreter::python;
use adfq::mdp::{self, Outcome};
use std::process::Command;

/// Writes starts and table of an environment: `[probability of each start, [[[probability, state, reward, terminal], …]]]`.
const DUMP: &str = "
import json, sys, gymnasium
env = gymnasium.make(sys.argv[1]).unwrapped
table = [[[[float(p), int(s), float(r), bool(t)] for p, s, r, t in env.P[state][action]]
          for action in range(len(env.P[state]))] for state in range(len(env.P))]
print(json.dumps([[float(p) for p in env.initial_state_distrib], table]))
";

/// Start probabilities, and the outcomes of every action of every state.
type Table = (Vec<f64>, Vec<Vec<Vec<(f64, usize, f64, bool)>>>);

#[test]
fn taxi_and_cliff_walking_are_those_of_gymnasium() {
    let Some(python) = python() else { return };
    for (ours, theirs) in [("taxi", "Taxi-v4"), ("cliffwalking", "CliffWalking-v1")] {
        let mdp = mdp::named(ours).unwrap();
        let output = Command::new(&python).args(["-W", "ignore", "-c", DUMP, theirs]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (starts, table): Table = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((table.len(), table[0].len()), (mdp.states(), mdp.actions()));
        for (state, actions) in table.iter().enumerate() {
            for (action, outcomes) in actions.iter().enumerate() {
                let expected: Vec<Outcome> = outcomes
                    .iter()
                    .map(|&(probability, next_state, reward, terminal)| Outcome {
                        probability,
                        next_state,
                        reward,
                        terminal,
                    })
                    .collect();
                assert_eq!(mdp.outcomes(state, action), expected, "{ours}: state {state}, action {action}");
            }
        }
        for (state, &probability) in starts.iter().enumerate() {
            let own = mdp.starts().iter().find(|(start, _)| *start == state).map_or(0.0, |start| start.1);
            assert!((own - probability).abs() < 1e-12, "{ours}: start {state}");
        }
    }
}
