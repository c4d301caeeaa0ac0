use adfq_env::*; use std::time::Instant;
fn main(){
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap(); let k: u64 = a[3].parse().unwrap();
    let args = if a.len()>4 { serde_json::from_str(&a[4]).unwrap() } else { Default::default() };
    let mut e = Maker{args, ..Maker::new(&a[1])}.envs(n).unwrap();
    e.reset(0).unwrap();
    let acts=vec![0;n];
    for _ in 0..k/10 { e.step(&acts).unwrap(); }
    for _ in 0..5 { let t=Instant::now(); for _ in 0..k { e.step(&acts).unwrap(); } let s=t.elapsed().as_secs_f64();
    println!("{n}: {:.0} vector steps/s  {:.2} us  {:.0} env steps/s", k as f64/s, s/k as f64*1e6, (k*n as u64) as f64/s); }
}
