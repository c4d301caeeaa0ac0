//! Any text as the file of an MDP, CSV or JSON, and a good file with any changes: a model that can be written, read back
//! and solved, or an error. Never a panic, and no more memory than the file's size allows.

#![no_main]

use adfq::mdp::Mdp;
use adfq::mdp::file::{parse_csv, parse_json, to_csv, to_json};
use adfq_fuzz::{Edit, within};
use adfq_lab::solve::Solved;
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Csv(&'a str),
    Json(&'a str),
    Edits(bool, Vec<Edit>),
}

const GOOD: &str = "\
# gamma: 0.9
# start: \"home\"
state,action,probability,next_state,reward,terminal
home,stay,1,home,0.5,false
home,\"go\",0.25,home,0,false
home,\"go\",0.75,away,1e1,true
";

fuzz_target!(|input: Input| {
    let size = match &input {
        Input::Csv(text) | Input::Json(text) => text.len(),
        Input::Edits(_, edits) => edits.len() * 100,
    };
    // A line of six characters is a state with an action, its name, and a row of results.
    within((1 << 20) + 4096 * size, || match input {
        Input::Csv(text) => check(parse_csv(text).ok(), Form::Csv),
        Input::Json(text) => check(parse_json(text).ok(), Form::Json),
        Input::Edits(csv, edits) => {
            let (form, text) = match csv {
                true => (Form::Csv, GOOD.to_owned()),
                false => (Form::Json, to_json(&parse_csv(GOOD).unwrap())),
            };
            let text = edits.iter().take(8).fold(text, |text, edit| edit.apply(&text));
            check(form.parse(&text), form);
        }
    });
});

#[derive(Clone, Copy)]
enum Form {
    Csv,
    Json,
}

impl Form {
    fn parse(self, text: &str) -> Option<Mdp> {
        match self {
            Self::Csv => parse_csv(text).ok(),
            Self::Json => parse_json(text).ok(),
        }
    }

    fn write(self, mdp: &Mdp) -> String {
        match self {
            Self::Csv => to_csv(mdp),
            Self::Json => to_json(mdp),
        }
    }
}

fn check(mdp: Option<Mdp>, form: Form) {
    let Some(mdp) = mdp else { return };
    let text = form.write(&mdp);
    let again = form.parse(&text).unwrap_or_else(|| panic!("cannot be read back:\n{text}"));
    assert_eq!(form.write(&again), text);
    if let Ok(solved) = Solved::of(&mdp) {
        let _ = serde_json::to_string(&solved).unwrap();
    }
}
