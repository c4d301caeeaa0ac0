//! Fewer points for the same picture: what a pixel cannot show is not written.

/// The indices of at most about `budget` of `n` points, among them the first, the last and, of every stretch
/// between, the one with the least `low` and the one with the greatest `high`: spikes survive.
pub fn extremes(
    n: usize,
    budget: usize,
    low: impl Fn(usize) -> f64,
    high: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let budget = budget.max(4);
    if n <= budget {
        return (0..n).collect();
    }
    let stretches = (budget - 2) / 2;
    let border = |i: usize| 1 + i * (n - 2) / stretches;
    let mut kept = vec![0];
    for i in 0..stretches {
        let stretch = border(i)..border(i + 1);
        let least = stretch.clone().min_by(|&a, &b| low(a).total_cmp(&low(b)));
        let greatest = stretch.max_by(|&a, &b| high(a).total_cmp(&high(b)));
        if let (Some(a), Some(b)) = (least, greatest) {
            kept.push(a.min(b));
            kept.push(a.max(b));
        }
    }
    kept.push(n - 1);
    kept.dedup();
    kept
}

/// The maximal stretches of points that are there, as slices; if more than `budget`, evenly chosen ones.
pub fn runs<T>(points: &[Option<T>], budget: usize) -> Vec<Vec<&T>> {
    let all: Vec<Vec<&T>> = points
        .split(Option::is_none)
        .filter(|run| !run.is_empty())
        .map(|run| run.iter().flatten().collect())
        .collect();
    let stride = all.len().div_ceil(budget.max(1)).max(1);
    all.into_iter().step_by(stride).collect()
}

/// The indices of at most `budget` points such that every crowded place keeps one: the first in each cell of a grid
/// that is coarsened until few enough cells are occupied.
pub fn scatter(points: &[(f64, f64)], budget: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..points.len()).collect();
    let mut cell = 0.5;
    while kept.len() > budget.max(1) {
        let mut seen = std::collections::BTreeSet::new();
        let place = |i: usize| ((points[i].0 / cell).floor() as i64, (points[i].1 / cell).floor() as i64);
        kept.retain(|&i| seen.insert(place(i)));
        cell *= 1.5;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spikes_survive() {
        let y = |i: usize| if i == 54_321 { 9.0 } else { (i % 7) as f64 / 7.0 };
        let kept = extremes(100_000, 200, y, y);
        assert!(kept.len() <= 200 && kept.contains(&54_321));
    }

    #[test]
    fn gaps_split_runs() {
        let points = [None, Some(1), Some(2), None, None, Some(3)];
        assert_eq!(runs(&points, 10), [vec![&1, &2], vec![&3]]);
        assert_eq!(runs(&points, 1), [vec![&1, &2]]);
    }

    #[test]
    fn crowds_are_thinned_and_hermits_stay() {
        let mut points: Vec<(f64, f64)> =
            (0..10_000).map(|i| (f64::from(i % 100) * 0.1, f64::from(i / 100) * 0.1)).collect();
        points.push((300.0, 200.0));
        let kept = scatter(&points, 100);
        assert!(kept.len() <= 100 && kept.len() > 20 && kept.contains(&10_000), "{}", kept.len());
    }

    proptest! {
        #[test]
        fn indices_increase_and_hold_the_ends(n in 1..3000_usize, budget in 0..300_usize, seed in 0..1000_usize) {
            let y = |i: usize| ((i * 7919 + seed) % 1009) as f64;
            let kept = extremes(n, budget, y, y);
            prop_assert!(kept.len() <= budget.max(4));
            prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (0, n - 1));
            let peak = |indices: &mut dyn Iterator<Item = usize>| indices.map(y).fold(f64::MIN, f64::max);
            prop_assert_eq!(peak(&mut kept.iter().copied()), peak(&mut (0..n)));
        }
    }
}
