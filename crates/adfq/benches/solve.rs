//! How long MDPs of a million states take to solve: `cargo bench -p adfq --bench solve`, or with another number of states
//! after `--`. The table is in docs/performance.md.
//!
//! A model of each kind is built and solved once, on one thread; Criterion would repeat that for an hour. Times are those of
//! the processor, where the system tells.

use adfq::mdp::{Garnet, Mdp, MdpBuilder, Outcome, average_reward, solve};
use adfq::random::stream;
use rand::seq::SliceRandom;
use std::time::Instant;

/// A square room; four moves, of which one in ten goes to the side. Reaching the far corner pays 1 and ends.
fn room(states: usize, gamma: f64) -> Mdp {
    let side = states.isqrt();
    let mut mdp = MdpBuilder::new("room", side * side, 4, gamma).start(0);
    let moved = |cell: usize, action: usize| {
        let (row, column) = (cell / side, cell % side);
        match action {
            0 => row.saturating_sub(1) * side + column,
            1 => row * side + (column + 1).min(side - 1),
            2 => (row + 1).min(side - 1) * side + column,
            _ => row * side + column.saturating_sub(1),
        }
    };
    for cell in 0..side * side {
        for action in 0..4 {
            for (slip, probability) in [(0, 0.9), (1, 0.05), (3, 0.05)] {
                let next = moved(cell, (action + slip) % 4);
                let outcome = match next == side * side - 1 {
                    true => Outcome::ends(probability, next, 1.0),
                    false => Outcome::goes(probability, next, 0.0),
                };
                mdp.add(cell, action, outcome);
            }
        }
    }
    mdp.build().expect("a valid MDP")
}

/// A corridor whose cells are numbered at random: on or back, one step in ten fails. Its far end pays 1 a visit.
fn corridor(states: usize, gamma: f64, ends: bool) -> Mdp {
    let mut place: Vec<usize> = (0..states).collect();
    place.shuffle(&mut stream(1, "corridor"));
    let mut mdp = MdpBuilder::new("corridor", states, 2, gamma).start(place[0]);
    for cell in 0..states {
        let (on, back) = (place[(cell + 1).min(states - 1)], place[cell.saturating_sub(1)]);
        let far = cell + 1 == states;
        let reward = if far { 1.0 } else { 0.0 };
        for (action, next) in [back, on].into_iter().enumerate() {
            let outcome = |probability, next| match far && ends {
                true => Outcome::ends(probability, next, reward),
                false => Outcome::goes(probability, next, reward),
            };
            mdp.add(place[cell], action, outcome(0.9, next));
            mdp.add(place[cell], action, outcome(0.1, place[cell]));
        }
    }
    mdp.build().expect("a valid MDP")
}

/// A walk that chance leads as often back as on; a choice of two rewards in each cell.
fn walk(states: usize, gamma: f64) -> Mdp {
    let mut mdp = MdpBuilder::new("walk", states, 2, gamma).start(0);
    for cell in 0..states {
        for action in 0..2 {
            let reward = ((cell * (action + 1)) as f64).sin();
            mdp.add(cell, action, Outcome::goes(0.5, (cell + 1).min(states - 1), reward));
            mdp.add(cell, action, Outcome::goes(0.5, cell.saturating_sub(1), reward));
        }
    }
    mdp.build().expect("a valid MDP")
}

/// The most memory that this process has held, in MB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// Seconds of a processor that this process has used, or of the clock where the system does not tell: other programs may
/// share the machine for the minutes that this takes.
fn seconds(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in brackets, which may hold blanks; user and system time are 12 and 13 on.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => start.elapsed().as_secs_f64(),
    }
}

fn main() {
    let states = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(1_000_000);
    let random = |gamma| Garnet { states, actions: 2, branching: 5, gamma, ..Garnet::default() }.mdp(1);
    type Make<'a> = Box<dyn Fn() -> Mdp + 'a>;
    let models: [(&str, Make); 9] = [
        ("random, 5 successors, gamma 0.95", Box::new(|| random(0.95).expect("valid"))),
        ("random, 5 successors, gamma 0.9999", Box::new(|| random(0.9999).expect("valid"))),
        ("room, gamma 0.99", Box::new(|| room(states, 0.99))),
        ("room, gamma 0.9999", Box::new(|| room(states, 0.9999))),
        ("room, gamma 1", Box::new(|| room(states, 1.0))),
        ("corridor, gamma 0.99999", Box::new(|| corridor(states, 0.99999, false))),
        ("corridor with an end, gamma 1", Box::new(|| corridor(states, 1.0, true))),
        ("walk, gamma 0.99", Box::new(|| walk(states, 0.99))),
        ("walk, gamma 0.9999", Box::new(|| walk(states, 0.9999))),
    ];
    let start = Instant::now();
    for (name, make) in models {
        let begun = seconds(start);
        let mdp = make();
        let built = seconds(start);
        let best = solve(&mdp).expect("a solution");
        let solved = seconds(start);
        let average = average_reward(&mdp, &best.policy).expect("a policy");
        println!(
            "{name:<36} built {:5.1} s, solved {:5.1} s in {} rounds, bound {:.0e} of {:.3}, average {average:.6} in {:5.1} s, \
             peak {} MB",
            built - begun,
            solved - built,
            best.iterations,
            best.bound.unwrap_or(0.0),
            best.value.iter().fold(0.0_f64, |most, x| most.max(x.abs())),
            seconds(start) - solved,
            peak().unwrap_or(0),
        );
    }
}
