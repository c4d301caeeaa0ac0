//! Batches: the same numbers as one by one, the same bits at any number of threads, errors that name the element.

use adfq::batch::{Batch, Column};
use adfq::random::stream;
use adfq::update::{Next, Noise, NoiseKind, Rule, Transition, Update};
use adfq::{Belief, Error};
use rand::RngExt;

const ACTIONS: usize = 5;

/// Columns of a random batch.
struct Columns {
    means: Vec<f64>,
    vars: Vec<f64>,
    rewards: Vec<f64>,
    discounts: Vec<f64>,
    terminal: Vec<bool>,
    next_means: Vec<f64>,
    next_vars: Vec<f64>,
}

impl Columns {
    fn random(size: usize) -> Self {
        let mut rng = stream(3, "tests/batch");
        let mut means = |n: usize| (0..n).map(|_| rng.random_range(-5.0..5.0)).collect::<Vec<f64>>();
        let (m, r, n) = (means(size), means(size), means(size * ACTIONS));
        let vars = |column: &[f64]| column.iter().map(|x| 10_f64.powf(x / 2.5)).collect::<Vec<f64>>();
        Self {
            vars: vars(&means(size)),
            discounts: (0..size).map(|i| 0.9 + 0.01 * (i % 10) as f64).collect(),
            terminal: (0..size).map(|i| i % 7 == 3).collect(),
            next_vars: vars(&means(size * ACTIONS)),
            means: m,
            rewards: r,
            next_means: n,
        }
    }

    fn batch(&self) -> Batch<'_, f64> {
        Batch {
            actions: ACTIONS,
            mu_sa: &self.means,
            var_sa: &self.vars,
            reward: &self.rewards,
            discount: Column::Each(&self.discounts),
            var_w: Column::All(0.01),
            terminal: &self.terminal,
            terminal_var: 1e-3,
            mu_next: &self.next_means,
            var_next: &self.next_vars,
        }
    }
}

fn run(batch: &Batch<f64>, update: &Update, noise: NoiseKind) -> (Vec<f64>, Vec<f64>) {
    let (mut mean, mut var) = (vec![0.0; batch.mu_sa.len()], vec![0.0; batch.mu_sa.len()]);
    batch.update(update, noise, &mut mean, &mut var).unwrap();
    (mean, var)
}

#[test]
fn a_batch_is_what_its_elements_are() {
    let columns = Columns::random(2_000);
    for (rule, noise) in [(Rule::Analytic, NoiseKind::Approximate), (Rule::Exact, NoiseKind::Exact)] {
        let update = Update::new(rule);
        let (means, vars) = run(&columns.batch(), &update, noise);
        for i in 0..2_000 {
            let row = i * ACTIONS..(i + 1) * ACTIONS;
            let pairs = columns.next_means[row.clone()].iter().zip(&columns.next_vars[row]);
            let next: Vec<_> = pairs.map(|(&mean, &var)| Belief::new(mean, var).unwrap()).collect();
            let next =
                if columns.terminal[i] { Next::Terminal { target_var: 1e-3 } } else { Next::Beliefs(&next) };
            let prior = Belief::new(columns.means[i], columns.vars[i]).unwrap();
            let transition = Transition::new(prior, columns.rewards[i], columns.discounts[i], next).unwrap();
            let single = update.apply(&transition, noise.with_var(0.01)).unwrap();
            assert_eq!((single.mean(), single.var()), (means[i], vars[i]), "element {i}");
        }
    }
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let columns = Columns::random(5_000);
    let at = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&columns.batch(), &Update::new(Rule::Exact), NoiseKind::Exact))
    };
    let one = at(1);
    assert_eq!(one, at(2));
    assert_eq!(one, at(8));
}

#[test]
fn single_precision_is_double_precision_rounded() {
    let columns = Columns::random(600);
    let narrow = |column: &[f64]| column.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let columns32 =
        [&columns.means, &columns.vars, &columns.rewards, &columns.next_means, &columns.next_vars]
            .map(|c| narrow(c));
    let [mu_sa, var_sa, reward, mu_next, var_next] = &columns32;
    let batch = Batch {
        actions: ACTIONS,
        mu_sa,
        var_sa,
        reward,
        discount: Column::All(0.99_f32),
        var_w: Column::All(0.0),
        terminal: &[],
        terminal_var: 0.0,
        mu_next,
        var_next,
    };
    let (mut mean, mut var) = (vec![0.0_f32; 600], vec![0.0_f32; 600]);
    batch.update(&Update::default(), NoiseKind::None, &mut mean, &mut var).unwrap();
    for i in 0..600 {
        let belief = |mean: f32, var: f32| Belief::new(f64::from(mean), f64::from(var)).unwrap();
        let row = i * ACTIONS..(i + 1) * ACTIONS;
        let next: Vec<_> =
            mu_next[row.clone()].iter().zip(&var_next[row]).map(|(&m, &v)| belief(m, v)).collect();
        let discount = f64::from(0.99_f32);
        let transition = Transition::new(
            belief(mu_sa[i], var_sa[i]),
            f64::from(reward[i]),
            discount,
            Next::Beliefs(&next),
        )
        .unwrap();
        let double = Update::default().apply(&transition, Noise::None).unwrap();
        assert_eq!((mean[i], var[i]), (double.mean() as f32, double.var() as f32));
    }
}

#[test]
fn errors_name_the_column_or_the_first_bad_element() {
    let mut columns = Columns::random(3_000);
    let (mut mean, mut var) = (vec![0.0; 3_000], vec![0.0; 3_000]);
    let short = Batch { reward: &[0.0], ..columns.batch() };
    let error = short.update(&Update::default(), NoiseKind::None, &mut mean, &mut var).unwrap_err();
    assert_eq!(error, Error::BatchShape { column: "reward", expected: 3_000, needed: 3_000, found: 1 });
    let error =
        columns.batch().update(&Update::default(), NoiseKind::None, &mut mean[1..], &mut var).unwrap_err();
    assert!(matches!(error, Error::BatchShape { column: "mean", .. }));

    columns.vars[2_900] = f64::NAN;
    columns.vars[1_700] = -1.0;
    let error = columns.batch().update(&Update::default(), NoiseKind::None, &mut mean, &mut var).unwrap_err();
    assert_eq!(error, Error::InBatch { index: 1_700, source: Box::new(Error::Variance(-1.0)) });
}

#[test]
fn an_empty_batch_is_no_error() {
    let columns = Columns::random(0);
    assert_eq!(run(&columns.batch(), &Update::default(), NoiseKind::None), (vec![], vec![]));
}
