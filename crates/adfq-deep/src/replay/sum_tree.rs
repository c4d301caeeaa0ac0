//! Sums and minima over a row of weights, and the search for the weight under a point: a tree of blocks of sixteen.
//!
//! A block of weights is one cache line. Each node is a function of its block alone, added up anew in a fixed order
//! whenever a child changes: rounding cannot pile up, and the tree is the same bits however its weights came about.

/// Children of a node.
const WIDTH: usize = 16;

/// Searches that go down together, so that their cache misses overlap.
pub(super) const TOGETHER: usize = 32;

/// A block of weights. 0 stands for an absent one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Leaves([f32; WIDTH]);

/// The sums of sixteen blocks below, and their smallest weights that are not absent.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Node {
    sums: [f64; WIDTH],
    minima: [f32; WIDTH],
}

impl Leaves {
    const EMPTY: Self = Self([0.0; WIDTH]);

    fn summary(&self) -> (f64, f32) {
        let present = self.0.map(|weight| if weight > 0.0 { weight } else { f32::INFINITY });
        (sum(&self.0.map(f64::from)), minimum(&present))
    }
}

impl Node {
    const EMPTY: Self = Self { sums: [0.0; WIDTH], minima: [f32::INFINITY; WIDTH] };

    fn summary(&self) -> (f64, f32) {
        (sum(&self.sums), minimum(&self.minima))
    }
}

/// Four sums side by side, then pairs of them.
fn sum(values: &[f64; WIDTH]) -> f64 {
    let [a, b, c, d] = std::array::from_fn(|i| values[i] + values[i + 4] + values[i + 8] + values[i + 12]);
    (a + b) + (c + d)
}

fn minimum(values: &[f32; WIDTH]) -> f32 {
    let smaller = |a: f32, b: f32| if a < b { a } else { b };
    let four: [f32; 4] = std::array::from_fn(|i| {
        smaller(smaller(values[i], values[i + 4]), smaller(values[i + 8], values[i + 12]))
    });
    smaller(smaller(four[0], four[1]), smaller(four[2], four[3]))
}

/// The child under `point`, and the sum of those before it.
fn child(values: &[f64; WIDTH], point: f64) -> (usize, f64) {
    let (mut prefix, mut before, mut child) = (0.0, 0.0, 0);
    for value in values {
        prefix += value;
        let passed = prefix <= point;
        before = if passed { prefix } else { before };
        child += usize::from(passed);
    }
    if child < WIDTH { (child, before) } else { last_child(values) }
}

/// Where a point ends up that rounding put past the last child: an absent one must not be found.
#[cold]
fn last_child(values: &[f64; WIDTH]) -> (usize, f64) {
    let last = values.iter().rposition(|&value| value > 0.0).unwrap_or(0);
    (last, values[..last].iter().sum())
}

/// Weights ≥ 0 in a row.
#[derive(Clone, Debug)]
pub(super) struct SumTree {
    len: usize,
    leaves: Vec<Leaves>,
    /// From the nodes over the leaves up to the root alone.
    levels: Vec<Vec<Node>>,
    /// The blocks whose nodes are to be made anew; kept for its memory.
    touched: Vec<u32>,
}

impl PartialEq for SumTree {
    fn eq(&self, other: &Self) -> bool {
        (self.len, &self.leaves, &self.levels) == (other.len, &other.leaves, &other.levels)
    }
}

impl SumTree {
    /// So many absent weights.
    pub fn new(len: usize) -> Self {
        let leaves = vec![Leaves::EMPTY; len.div_ceil(WIDTH)];
        let mut levels = Vec::new();
        let mut below = leaves.len();
        while levels.is_empty() || below > 1 {
            below = below.div_ceil(WIDTH);
            levels.push(vec![Node::EMPTY; below]);
        }
        Self { len, leaves, levels, touched: Vec::new() }
    }

    /// Bytes of a tree over so many weights.
    pub fn bytes_needed(len: u64) -> u64 {
        let mut below = len.div_ceil(WIDTH as u64);
        let mut bytes = below.saturating_mul(size_of::<Leaves>() as u64);
        loop {
            below = below.div_ceil(WIDTH as u64);
            bytes = bytes.saturating_add(below.saturating_mul(size_of::<Node>() as u64));
            if below <= 1 {
                return bytes;
            }
        }
    }

    /// One weight.
    pub fn get(&self, at: usize) -> f32 {
        self.leaves[at / WIDTH].0[at % WIDTH]
    }

    /// All weights.
    pub fn weights(&self) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.leaves.len() * WIDTH);
        self.leaves.iter().for_each(|block| weights.extend_from_slice(&block.0));
        weights.truncate(self.len);
        weights
    }

    /// The sum of all.
    pub fn total(&self) -> f64 {
        self.root().summary().0
    }

    /// The smallest that is not absent; infinite if all are.
    pub fn minimum(&self) -> f32 {
        self.root().summary().1
    }

    fn root(&self) -> &Node {
        &self.levels[self.levels.len() - 1][0]
    }

    /// Sets a weight. The sums are stale until [`SumTree::refresh`].
    pub fn set(&mut self, at: usize, weight: f32) {
        debug_assert!(at < self.len && weight >= 0.0 && weight.is_finite(), "{weight} at {at}");
        self.leaves[at / WIDTH].0[at % WIDTH] = weight;
        self.touched.push((at / WIDTH) as u32);
    }

    /// Sets all weights, and makes all nodes anew.
    pub fn set_all(&mut self, weights: &[f32]) {
        debug_assert!(weights.len() == self.len, "{} of {}", weights.len(), self.len);
        for (block, weights) in self.leaves.iter_mut().zip(weights.chunks(WIDTH)) {
            block.0[..weights.len()].copy_from_slice(weights);
        }
        self.touched.clear();
        self.touched.extend(0..self.leaves.len() as u32);
        self.refresh();
    }

    /// Makes anew the nodes over what was set, level by level.
    pub fn refresh(&mut self) {
        for level in 0..self.levels.len() {
            // Sampled places ascend, so that those which share a parent are neighbours.
            self.touched.dedup();
            let (done, rest) = self.levels.split_at_mut(level);
            for block in &mut self.touched {
                let at = *block as usize;
                let (sum, minimum) = match done.last() {
                    None => self.leaves[at].summary(),
                    Some(below) => below[at].summary(),
                };
                let node = &mut rest[0][at / WIDTH];
                node.sums[at % WIDTH] = sum;
                node.minima[at % WIDTH] = minimum;
                *block = (at / WIDTH) as u32;
            }
        }
        self.touched.clear();
    }

    /// Finds, for up to [`TOGETHER`] points of [0, total), the places whose weights lie under them when all are laid
    /// end to end. There must be a weight that is not absent.
    pub fn find(&self, points: &mut [f64], places: &mut [u32]) {
        places.fill(0);
        for level in self.levels.iter().rev() {
            for (point, place) in points.iter_mut().zip(&mut *places) {
                let (child, before) = child(&level[*place as usize].sums, *point);
                *point -= before;
                *place = *place * WIDTH as u32 + child as u32;
            }
        }
        for (point, place) in points.iter().zip(places) {
            let block = self.leaves[*place as usize].0.map(f64::from);
            *place = *place * WIDTH as u32 + child(&block, *point).0 as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use rand::RngExt;

    fn tree(weights: &[f32]) -> SumTree {
        let mut tree = SumTree::new(weights.len());
        weights.iter().enumerate().for_each(|(at, &weight)| tree.set(at, weight));
        tree.refresh();
        tree
    }

    fn find(tree: &SumTree, point: f64) -> usize {
        let mut place = [0];
        tree.find(&mut [point], &mut place);
        place[0] as usize
    }

    /// Whole numbers add up without rounding, so that the tree has to agree with the running sum exactly.
    #[test]
    fn finds_what_prefix_sums_find() {
        for len in [1, 15, 16, 17, 255, 256, 257, 4_096, 5_000, 70_000] {
            let mut rng = stream(len as u64, "sum tree");
            let mut weights: Vec<f32> = (0..len).map(|_| rng.random_range(0..4) as f32).collect();
            weights[len / 2] = 2.0;
            let tree = tree(&weights);
            let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
            let smallest = weights.iter().copied().filter(|&w| w > 0.0).fold(f32::INFINITY, f32::min);
            assert_eq!((tree.total(), tree.minimum()), (total, smallest));
            let mut prefix = 0.0;
            for (at, &weight) in weights.iter().enumerate() {
                if weight > 0.0 {
                    assert_eq!(find(&tree, prefix), at);
                    assert_eq!(find(&tree, prefix + f64::from(weight) - 0.5), at);
                }
                prefix += f64::from(weight);
            }
        }
    }

    #[test]
    fn a_point_past_the_end_finds_the_last_weight() {
        let mut weights = vec![0.1; 300];
        weights[211..].fill(0.0);
        let tree = tree(&weights);
        assert_eq!(find(&tree, tree.total()), 210);
        assert_eq!(find(&tree, 2.0 * tree.total()), 210);
    }

    #[test]
    fn an_empty_tree_has_no_sum_and_no_minimum() {
        let tree = SumTree::new(100);
        assert_eq!((tree.total(), tree.minimum()), (0.0, f32::INFINITY));
    }

    #[test]
    fn bytes_needed_are_those_of_the_blocks() {
        for len in [1, 16, 17, 256, 257, 65_536, 1_000_000] {
            let tree = SumTree::new(len);
            let nodes: usize = tree.levels.iter().map(Vec::len).sum();
            let bytes = size_of_val(&tree.leaves[..]) + nodes * size_of::<Node>();
            assert_eq!(SumTree::bytes_needed(len as u64), bytes as u64, "{len}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

        /// A tree that went through many changes is the tree made at once from the weights it ended with.
        #[test]
        fn no_drift(
            len in 1_usize..600,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0_f32..1e6, any::<bool>()), 1..400),
        ) {
            let mut weights = vec![0.0; len];
            let mut changed = SumTree::new(len);
            for (index, weight, refresh) in changes {
                let at = index.index(len);
                weights[at] = weight;
                changed.set(at, weight);
                if refresh {
                    changed.refresh();
                }
            }
            changed.refresh();
            prop_assert_eq!(&changed, &tree(&weights));
            prop_assert!(changed.weights() == weights);
            let mut all_at_once = tree(&vec![1.0; len]);
            all_at_once.set_all(&weights);
            prop_assert_eq!(&changed, &all_at_once);
            let naive: f64 = weights.iter().map(|&w| f64::from(w)).sum();
            prop_assert!((changed.total() - naive).abs() <= 1e-12 * naive);
        }
    }
}
