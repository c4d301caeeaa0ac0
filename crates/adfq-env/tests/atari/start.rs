//! temporary
use crate::interpreter::python;
use adfq_env::atari::{Action, Game, machine::Machine, roms::rom};
use adfq_env::Gym;
#[test]
#[ignore = "x"]
fn starts() {
    let Some(python) = python() else { return };
    let gym = Gym { python: Some(python.clone()), ..Gym::default() };
    for game in Game::all() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atari/ram.py");
        let out = std::process::Command::new(&python).arg(script).args([game.name, "1", "60"]).output().unwrap().stdout;
        let rec = |t: usize| &out[t * 135..][..128];
        let rom = rom(game, None, &gym).unwrap();
        let Ok(mut m) = Machine::with(&rom, game.controller()) else { println!("{} no machine", game.name); continue };
        let full = std::env::var("FULL").is_ok();
        m.start();
        for a in game.start() { m.frame(a.input(), true); }
        let second = |m: &Machine, acts: &[Action]| { let mut m = Machine::with(&rom, game.controller()).unwrap(); let _ = &m; for _ in 0..2 { m.start(); for a in acts { m.frame(a.input(), true); } } m };
        let _ = full;
        m = second(&m, game.start());
        let d: Vec<usize> = (0..128).filter(|&i| m.ram()[i] != rec(0)[i]).collect();
        if d.is_empty() { println!("{} start OK", game.name); continue; }
        // search: one to 20 frames of an action
        let mut found = vec![];
        for &action in Action::ALL {
            for k in [1, 2, 3, 4, 8, 10, 16, 20] { let acts = vec![action; k]; if second(&m, &acts).ram() == rec(0) { found.push((action, k)); } }
        }
        println!("{} start DIFFERS in {} {:?} found {:?}", game.name, d.len(), &d[..d.len().min(12)], found);
    }
}
