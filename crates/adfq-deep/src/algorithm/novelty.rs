//! Whether an observation is like those that were met.
//!
//! A sample of the observations of the whole training is kept: every k-th one, and k doubles when there is no more room. The
//! distance d of an observation is that to the nearest one in the sample. Each number is measured by its standard deviation there,
//! so units do not matter. Numbers of an image have one unit: none is measured by much less than the others are.
//! With q, the distance that 95 % of the observations had when they were met,
//!
//! ```text
//! w = max(0, 1 - q²/d²)          0 among observations that were met, 1 far away from all of them
//! ```
//!
//! Nothing that is learned enters w, and each observation counts once, however often it is replayed. What follows from w is not
//! known here.

use super::{mix, quantile};
use serde::{Deserialize, Serialize};

/// The most observations that are kept, and how many numbers they have together at most.
const ROOM: [usize; 2] = [1 << 10, 1 << 19];
/// Observations before anything is said, and distances.
const ENOUGH: usize = 64;
/// Distances that are remembered.
const LATELY: usize = 256;
/// The share of them that is usual.
const USUAL: f64 = 0.95;
/// An observation of more numbers is projected to so many.
const LONGEST: usize = 32;
/// Points that are compared at once.
const BLOCK: usize = 64;

/// A sample of the observations that were met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Novelty {
    /// Numbers in an observation.
    size: usize,
    /// Whether all of them have the same unit.
    one_unit: bool,
    /// Observations one after the other.
    kept: Vec<f32>,
    /// One of so many is kept.
    every: u64,
    /// Observations so far.
    met: u64,
    /// Squared distances of the last ones that were kept, and where the next one goes.
    distances: Vec<f32>,
    next: usize,
    /// Follows from what is kept.
    #[serde(skip)]
    neighbours: Option<Neighbours>,
}

impl Novelty {
    /// Nothing was met yet.
    pub fn new(size: usize, one_unit: bool) -> Self {
        let (kept, distances) = (vec![], vec![]);
        Self { size, one_unit, kept, every: 1, met: 0, distances, next: 0, neighbours: None }
    }

    /// Numbers in an observation.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes that it will take.
    pub fn bytes_needed(size: usize) -> u64 {
        let (room, numbers) = (capacity(size), size + size.min(LONGEST));
        (4 * room * numbers + 4 * size * size.min(LONGEST)) as u64
    }

    /// Whether it can be gone on with, for observations of this size. One that was read from a file may not.
    pub fn is_whole(&self, size: usize) -> bool {
        let rows = self.kept.len() / size.max(1);
        let place = if self.distances.len() < LATELY {
            self.next == self.distances.len()
        } else {
            self.next < LATELY
        };
        self.size == size
            && rows * size == self.kept.len()
            && rows < capacity(size)
            && self.every > 0
            && self.distances.len() <= LATELY
            && place
    }

    /// Works out what follows from what is kept.
    pub fn prepare(&mut self) {
        let rows = self.kept.len() / self.size;
        let fitted = if rows == 0 { 0 } else { 1 << rows.ilog2() };
        self.neighbours = None;
        if fitted >= ENOUGH {
            let (first, rest) = self.kept.split_at(fitted * self.size);
            let mut neighbours = Neighbours::fit(first, self.size, self.one_unit);
            rest.chunks(self.size).for_each(|observation| neighbours.add(observation));
            self.neighbours = Some(neighbours);
            self.look();
        }
    }

    /// An observation was met.
    pub fn see(&mut self, observation: &[f32]) {
        if self.met.is_multiple_of(self.every) {
            self.keep(observation);
        }
        self.met += 1;
    }

    fn keep(&mut self, observation: &[f32]) {
        if let Some(neighbours) = &mut self.neighbours {
            let distance = neighbours.distance(observation);
            match self.distances.len() < LATELY {
                true => self.distances.push(distance),
                false => self.distances[self.next] = distance,
            }
            self.next = (self.next + 1) % LATELY;
            neighbours.add(observation);
        }
        self.kept.extend_from_slice(observation);
        let rows = self.kept.len() / self.size;
        if rows == capacity(self.size) {
            self.kept = self.kept.chunks(self.size).step_by(2).flatten().copied().collect();
            self.every *= 2;
        }
        match rows.is_power_of_two() {
            true => self.prepare(),
            false => self.look(),
        }
    }

    /// The distance that is usual.
    fn look(&mut self) {
        let enough = self.distances.len() >= ENOUGH;
        let Some(neighbours) = self.neighbours.as_mut().filter(|_| enough) else { return };
        neighbours.usual = quantile(self.distances.clone(), USUAL);
    }

    /// w: 0 for an observation like those that were met, 1 for one that is like none of them. 0 before enough were met.
    pub fn weight(&self, observation: &[f32]) -> f32 {
        self.neighbours.as_ref().map_or(0.0, |neighbours| neighbours.weight(observation))
    }

    /// Where the sample lies, once that is known.
    pub fn neighbours(&self) -> Option<&Neighbours> {
        self.neighbours.as_ref()
    }
}

/// The one in the middle, or the smaller of two.
fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    let middle = numbers.len().checked_sub(1)? / 2;
    Some(*numbers.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// How many observations there is room for: a power of two.
fn capacity(size: usize) -> usize {
    let [rows, numbers] = ROOM;
    let room = (numbers / size.max(1)).max(2 * ENOUGH);
    rows.min(1 << room.ilog2())
}

/// Where the sample of observations lies, to find the nearest one.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// An observation x has the place x A + b: A, a row for each number of x, and b.
    pub weights: Vec<f32>,
    /// b.
    pub offsets: Vec<f32>,
    /// The squared distance that is usual. Infinite before enough is known.
    usual: f32,
    /// Blocks of points, the same number of all points of a block together. The points that are missing in the last are far away.
    blocks: Vec<f32>,
    count: usize,
}

impl Neighbours {
    /// The least squared distance that counts.
    pub const LEAST: f32 = 1e-12;

    /// The places of these observations, where each number has the variance 1 among them.
    fn fit(observations: &[f32], size: usize, one_unit: bool) -> Self {
        let rows = (observations.len() / size) as f64;
        let (mut means, mut squares) = (vec![0.0; size], vec![0.0; size]);
        for observation in observations.chunks(size) {
            means.iter_mut().zip(observation).for_each(|(mean, &x)| *mean += f64::from(x) / rows);
        }
        for observation in observations.chunks(size) {
            let off = observation.iter().zip(&means).map(|(&x, mean)| (f64::from(x) - mean).powi(2));
            squares.iter_mut().zip(off).for_each(|(sum, square)| *sum += square);
        }
        // One more observation, in which a number that never changed has changed as others do.
        let typical = median(squares.iter().map(|sum| sum / rows).filter(|var| *var > 0.0)).unwrap_or(1.0);
        let least = if one_unit { typical / 10.0 } else { 0.0 };
        let var = |sum: f64| if sum > 0.0 { sum / rows } else { typical / (rows + 1.0) };
        let scale = |sum: f64| 1.0 / var(sum).max(least).sqrt();
        let width = size.min(LONGEST);
        let weight = |i: usize, j: usize| match size <= LONGEST {
            true => f64::from(u8::from(i == j)),
            false => (1.0 - 2.0 * (mix(i as u64) >> j & 1) as f64) / (width as f64).sqrt(),
        };
        let all = (0..size * width).map(|at| (at / width, at % width));
        let weights: Vec<f64> = all.map(|(i, j)| weight(i, j) * scale(squares[i])).collect();
        let offset =
            |j: usize| -means.iter().zip(weights.chunks(width)).map(|(mean, row)| mean * row[j]).sum::<f64>();
        let offsets = (0..width).map(|j| offset(j) as f32).collect();
        let weights = weights.into_iter().map(|weight| weight as f32).collect();
        let mut found = Self { weights, offsets, usual: f32::INFINITY, blocks: vec![], count: 0 };
        observations.chunks(size).for_each(|observation| found.add(observation));
        found
    }

    fn place(&self, observation: &[f32]) -> Vec<f32> {
        let mut place = self.offsets.clone();
        for (&x, weights) in observation.iter().zip(self.weights.chunks(place.len())) {
            // Most numbers of a grid of things are 0.
            if x != 0.0 {
                place.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight);
            }
        }
        place
    }

    fn add(&mut self, observation: &[f32]) {
        let place = self.place(observation);
        let (block, at) = (self.count / BLOCK * place.len() * BLOCK, self.count % BLOCK);
        self.blocks.resize(block + place.len() * BLOCK, f32::INFINITY);
        for (number, &x) in place.iter().enumerate() {
            self.blocks[block + number * BLOCK + at] = x;
        }
        self.count += 1;
    }

    /// The squared distance to the nearest point.
    fn distance(&self, observation: &[f32]) -> f32 {
        let place = self.place(observation);
        let nearest = |block: &[f32]| {
            let mut sums = [0.0_f32; BLOCK];
            for (x, others) in place.iter().zip(block.chunks_exact(BLOCK)) {
                sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += (x - other) * (x - other));
            }
            sums.into_iter().fold(f32::INFINITY, f32::min)
        };
        self.blocks.chunks_exact(place.len() * BLOCK).map(nearest).fold(f32::INFINITY, f32::min)
    }

    /// w of an observation.
    fn weight(&self, observation: &[f32]) -> f32 {
        (1.0 - self.usual() / self.distance(observation).max(Self::LEAST)).max(0.0)
    }

    /// q², and the largest number there is before enough is known.
    pub fn usual(&self) -> f32 {
        self.usual.clamp(Self::LEAST, f32::MAX)
    }

    /// The places of the sample, one after the other.
    pub fn points(&self) -> Vec<f32> {
        let width = self.offsets.len();
        let at = |point: usize, j: usize| self.blocks[(point / BLOCK * width + j) * BLOCK + point % BLOCK];
        (0..self.count * width).map(|i| at(i / width, i % width)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Numbers of different units: the second is a thousand times the first, and the others never change.
    fn observation(rng: &mut impl RngExt, size: usize) -> Vec<f32> {
        let (a, b): (f32, f32) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
        let mut all = vec![0.5; size];
        (all[0], all[1]) = (a, 1_000.0 * b);
        all
    }

    fn practised(size: usize, count: usize) -> Novelty {
        let (mut novelty, mut rng) = (Novelty::new(size, false), stream(7, "observations"));
        (0..count).for_each(|_| novelty.see(&observation(&mut rng, size)));
        novelty
    }

    /// Of what is met about 5 % is a little unusual. Nothing of the sort was seen 6 sd away, in either number, or where one that
    /// never changed does.
    #[test]
    fn what_was_not_met_is_told() {
        for size in [3, 40] {
            let (novelty, mut rng) = (practised(size, 20_000), stream(8, "others"));
            let others: Vec<f32> = (0..1_000).map(|_| novelty.weight(&observation(&mut rng, size))).collect();
            let unusual = others.iter().filter(|weight| **weight > 0.0).count();
            assert!((10..=120).contains(&unusual), "{size}: {unusual}");
            assert!(others.iter().sum::<f32>() < 40.0);
            for (at, value) in [(0, 6.0), (1, -6_000.0), (2, 1.5)] {
                let mut strange = vec![0.5; size];
                (strange[1], strange[at]) = (0.0, value);
                assert!(novelty.weight(&strange) > 0.9, "{size}, {at}: {}", novelty.weight(&strange));
            }
        }
    }

    /// There is no more than there is room for, it is of all times, and of all times alike.
    #[test]
    fn the_sample_is_of_the_whole_training() {
        let mut novelty = Novelty::new(1, false);
        for step in 0..100_000_u32 {
            novelty.see(&[step as f32]);
            assert!(novelty.kept.len() < capacity(1));
        }
        let apart: Vec<f32> = novelty.kept.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(apart.iter().all(|apart| *apart == novelty.every as f32) && novelty.kept[0] == 0.0);
        assert!(novelty.kept.last() >= Some(&(100_000.0 - novelty.every as f32)));
    }

    /// What follows from the sample is the same if it is worked out at once, at any time.
    #[test]
    fn it_goes_on_to_the_bit() {
        for count in [0, 1, 63, 64, 100, 129, 1_023, 1_024, 1_500, 4_097] {
            let novelty = practised(3, count);
            assert!(novelty.is_whole(3) && !novelty.is_whole(2));
            let saved = postcard::to_stdvec(&novelty).unwrap();
            let mut restored: Novelty = postcard::from_bytes(&saved).unwrap();
            restored.prepare();
            assert_eq!(restored, novelty, "{count}");
        }
    }

    #[test]
    fn one_with_missing_parts_is_told() {
        let broken: [fn(&mut Novelty); 5] = [
            |it| it.kept.truncate(100),
            |it| it.kept.resize(3 * 1_024, 0.0),
            |it| it.every = 0,
            |it| it.next = 999,
            |it| it.distances.resize(LATELY + 1, 0.0),
        ];
        for breaks in broken {
            let mut novelty = practised(3, 500);
            breaks(&mut novelty);
            assert!(!novelty.is_whole(3));
        }
    }

    /// Where every observation is the same, every other one is new.
    #[test]
    fn observations_may_all_be_the_same() {
        let mut novelty = Novelty::new(2, false);
        assert_eq!(novelty.weight(&[9.0, 9.0]), 0.0);
        (0..500).for_each(|_| novelty.see(&[1.0, 2.0]));
        assert_eq!(novelty.weight(&[1.0, 2.0]), 0.0);
        assert!(novelty.weight(&[1.0, 2.5]) > 0.99);
    }

    /// Things that are seldom seen in an image do not make all others look usual.
    #[test]
    fn rare_things_do_not_hide_the_rest() {
        let (mut novelty, mut rng) = (Novelty::new(200, true), stream(9, "images"));
        let mut image = || {
            let mut image = vec![0.0; 200];
            (0..10).for_each(|_| image[rng.random_range(0..50)] = 1.0);
            image[50 + rng.random_range(0..150)] = 1.0;
            image
        };
        (0..20_000).for_each(|_| novelty.see(&image()));
        let [usual, twice] = [image(), image().iter().map(|x| 3.0 * x).collect()];
        assert!(novelty.weight(&usual) < 0.2 && novelty.weight(&twice) > 0.5);
        assert!(novelty.weight(&[1.0; 200]) > 0.8);
    }

    #[test]
    fn points_stand_one_after_the_other() {
        let novelty = practised(3, 100);
        let neighbours = novelty.neighbours().unwrap();
        let expected: Vec<f32> = novelty.kept.chunks(3).flat_map(|row| neighbours.place(row)).collect();
        assert_eq!(neighbours.points(), expected);
    }
}
