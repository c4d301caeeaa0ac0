use adfq::Belief;
use adfq::random::stream;
use adfq::update::*;
use rand::RngExt;
use std::hint::black_box;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rule = if a[1] == "exact" { Rule::Exact } else { Rule::Analytic };
    let n: usize = a[2].parse().unwrap();
    let reps: usize = a[3].parse().unwrap();
    let noise = if a.len() > 4 { Noise::Approximate(0.01) } else { Noise::None };
    let mut rng = stream(0, "benches/update");
    let mut belief = || {
        let mean = rng.random_range(-5.0..5.0);
        let var = 10_f64.powf(rng.random_range(-2.0..2.0));
        Belief::new(mean, var).expect("a valid belief")
    };
    let p: Vec<Vec<Belief>> = (0..256).map(|_| (0..=n).map(|_| belief()).collect()).collect();
    let t: Vec<_> =
        p.iter().map(|b| Transition::new(b[0], 0.5, 0.95, Next::Beliefs(&b[1..])).unwrap()).collect();
    let u = Update::new(rule);
    let mut ws = Workspace::default();
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let s = std::time::Instant::now();
        for _ in 0..reps {
            for t in &t {
                black_box(u.apply_in(&mut ws, black_box(t), noise).unwrap());
            }
        }
        best = best.min(s.elapsed().as_secs_f64() / (reps * 256) as f64 * 1e9);
    }
    println!("{} {} {:.1} ns", a[1], n, best);
}
