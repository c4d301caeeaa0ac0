//! An episodic memory: a table of the pairs (s,a) that were tried, for worlds in which states come again.
//!
//! A state is known by a hash of its observation. When an episode ends, it is gone through from its end to its beginning, and
//! each pair learns two things from what followed it:
//!
//! ```text
//! Q(s,a) ← r + γ max_b Q(s′,b)                    over the actions b that were tried in s′
//! N(s,a) ← η max_b D(s′,b)                        0 where the episode terminated
//! D(s,a) = max{ 1/(1+n), N(s,a) }                 n: how often the pair was tried
//! ```
//!
//! D is the doubt: 1 for a pair that was never tried, and η^k for one from which such a pair is k steps away. It has no
//! unit, so it needs no scale of rewards. Who follows the largest D goes to the nearest pair that was tried least.
//!
//! Where a pair was always followed by the same, the new value replaces the old one. Elsewhere it is averaged in, at the rate
//! n^-.8. Nothing here depends on a network.
//!
//! An episode that was cut off teaches something as far as it passed states with a value. In a world without end no state would ever have
//! one. So until an episode terminates for the first time, a state without a value is worth 0.

use super::mix;
use adfq::random::ChaCha8Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Places in which a pair may stand.
const PLACES: usize = 8;
/// Steps over which the share of pairs that come again is averaged.
const MEMORY: f64 = 2_000.0;
/// The share of such pairs from which on a world is taken for one that repeats itself.
const REPEATS: f64 = 0.9;
/// Earlier episodes that are kept, how many of them are gone through again after each one, and the most steps of one.
const EARLIER: usize = 200;
const AGAIN: usize = 3;
pub(super) const LONGEST: usize = 1_000;
/// A multiplier that mixes bits upwards: 2⁶⁴ over the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The exponent of the rate at which values are averaged.
const EXPONENT: f32 = 0.8;

/// What is known of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cell {
    /// Which pair it is. 0 stands for none.
    pair: u64,
    /// n.
    count: u32,
    /// Q(s,a), if anything was backed up to it.
    value: Option<f32>,
    /// N(s,a).
    ahead: f32,
    /// A hash of what followed: the reward and the next state. 0 before anything did.
    followed: u32,
    /// Whether it was not always the same.
    varies: bool,
}

impl Cell {
    /// Nothing is known of what follows, so there may be much to find.
    const NEW: Self = Self { pair: 0, count: 0, value: None, ahead: 1.0, followed: 0, varies: false };

    /// The rate at which a new value is averaged in where what follows varies.
    fn rate(&self) -> f32 {
        (self.count.max(1) as f32).powf(-EXPONENT)
    }
}

/// A step of an episode: the state by its hash, the action, and what it paid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Passed {
    pub state: u64,
    pub action: usize,
    pub reward: f32,
}

/// An episode, or a piece of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Episode {
    pub steps: Vec<Passed>,
    /// Whether it ended in a terminal state.
    pub terminated: bool,
}

/// What the table promises beyond another action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Promise {
    /// How much more the best action is worth.
    pub more: f32,
    /// The share of one return's variance that is left in the best action's value.
    pub noise: f32,
}

/// The memory of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EpisodicMemory {
    actions: usize,
    /// γ.
    discount: f32,
    /// η.
    doubt_discount: f32,
    #[serde(with = "occupied")]
    cells: Vec<Cell>,
    /// The share of steps whose pair had been tried before.
    again: f64,
    steps: u64,
    earlier: Vec<Episode>,
}

impl EpisodicMemory {
    /// An empty memory with room for so many pairs.
    pub fn new(room: usize, actions: usize, discount: f32, doubt_discount: f32) -> Self {
        let cells = vec![Cell::default(); room.max(PLACES).next_power_of_two()];
        Self { actions, discount, doubt_discount, cells, again: 0.0, steps: 0, earlier: vec![] }
    }

    /// Bytes that it will take.
    pub fn bytes_needed(room: usize) -> u64 {
        room.max(PLACES).next_power_of_two() as u64 * size_of::<Cell>() as u64
    }

    /// How many pairs it has room for, and of how many actions.
    pub fn shape(&self) -> (usize, usize) {
        (self.cells.len(), self.actions)
    }

    /// The hash by which a state is known. Eight hashes go side by side: in one, every number would wait for the one before it, which took
    /// a quarter of the time of a step that learns nothing.
    pub fn state(observation: &[f32]) -> u64 {
        let bits = |number: &f32| u64::from((number + 0.0).to_bits());
        let (rows, rest) = observation.as_chunks::<8>();
        let mut hashes: [u64; 8] = std::array::from_fn(|lane| mix(lane as u64));
        for row in rows {
            for (hash, number) in hashes.iter_mut().zip(row) {
                *hash = (*hash ^ bits(number)).wrapping_mul(ODD);
                *hash ^= *hash >> 32;
            }
        }
        let all = hashes.into_iter().chain(rest.iter().map(bits));
        all.fold(observation.len() as u64, |hash, next| mix(hash ^ next))
    }

    /// Forgets all states, because they are known by another hash. Says whether nothing is lost by it: where states come again, their
    /// values may be what is believed.
    pub fn forget(&mut self) -> bool {
        self.cells.fill(Cell::default());
        self.earlier.clear();
        !self.repeats()
    }

    /// Whether states come again, so that a table of them is worth something.
    pub fn repeats(&self) -> bool {
        self.again >= REPEATS
    }

    /// The share of steps whose pair had been tried before.
    pub fn again(&self) -> f64 {
        self.again
    }

    /// A pair is tried.
    pub fn visit(&mut self, state: u64, action: usize) {
        self.steps += 1;
        let cell = self.enter(state, action);
        let before = f64::from(u8::from(cell.count > 0));
        cell.count = cell.count.saturating_add(1);
        self.again += (before - self.again) / (self.steps as f64).min(MEMORY);
    }

    /// Q(s,a), where something was backed up to it.
    pub fn value(&self, state: u64, action: usize) -> Option<f32> {
        self.cell(state, action).and_then(|cell| cell.value)
    }

    /// The largest Q of a state.
    pub fn best(&self, state: u64) -> Option<f32> {
        (0..self.actions).filter_map(|action| self.value(state, action)).reduce(f32::max)
    }

    /// What the best action of a state promises beyond another one, where both have a value.
    pub fn promise(&self, state: u64, other: usize) -> Option<Promise> {
        let known = |action| self.cell(state, action).and_then(|cell| Some((cell.value?, cell)));
        let (best, cell) = (0..self.actions).filter_map(known).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (value, _) = known(other)?;
        // An average at the rate α has the share α/(2 - α) of the variance of what it averages.
        let rate = if cell.varies { cell.rate() } else { 0.0 };
        Some(Promise { more: best - value, noise: rate / (2.0 - rate) })
    }

    /// D(s,a).
    pub fn doubt(&self, state: u64, action: usize) -> f32 {
        self.cell(state, action).map_or(1.0, |cell| (1.0 / (1.0 + cell.count as f32)).max(cell.ahead))
    }

    /// Whether a pair was tried. A pair that is missing may have lost its place to another, unless a place for it is free.
    pub fn was_tried(&self, state: u64, action: usize) -> Option<bool> {
        let free = |place: usize| self.cells[place].pair == 0;
        match self.cell(state, action) {
            Some(_) => Some(true),
            None => self.places(pair(state, action)).any(free).then_some(false),
        }
    }

    /// The largest D of a state.
    pub fn largest_doubt(&self, state: u64) -> f32 {
        (0..self.actions).map(|action| self.doubt(state, action)).fold(0.0, f32::max)
    }

    /// Whether any pair has a value.
    pub fn has_values(&self) -> bool {
        self.cells.iter().any(|cell| cell.value.is_some())
    }

    /// Forgets what was backed up, because the world turns out to have an end. What was tried stays known.
    pub fn forget_backups(&mut self) {
        for cell in self.cells.iter_mut().filter(|cell| cell.pair != 0) {
            (cell.value, cell.ahead) = (None, Cell::NEW.ahead);
        }
    }

    /// Learns from an episode and, where states come again, once more from some earlier ones. `ends` says whether any episode has
    /// terminated so far.
    pub fn learn(&mut self, episode: Episode, ends: bool, rng: &mut ChaCha8Rng) {
        self.note(&episode);
        self.go_back(&episode, ends);
        if !self.repeats() {
            return;
        }
        for _ in 0..AGAIN.min(self.earlier.len()) {
            let at = rng.random_range(0..self.earlier.len());
            let earlier = std::mem::take(&mut self.earlier[at].steps);
            let episode = Episode { steps: earlier, terminated: self.earlier[at].terminated };
            self.go_back(&episode, ends);
            self.earlier[at] = episode;
        }
        match self.earlier.len() < EARLIER {
            true => self.earlier.push(episode),
            false => self.earlier[rng.random_range(0..EARLIER)] = episode,
        }
    }

    /// Notes what followed on each pair. What followed on the last one of an episode that was cut off is not known.
    fn note(&mut self, episode: &Episode) {
        let end = episode.terminated.then_some(0);
        let next = episode.steps.iter().skip(1).map(|step| Some(step.state)).chain([end]);
        for (step, next) in episode.steps.iter().zip(next) {
            let Some(next) = next else { continue };
            let followed = (mix(next ^ u64::from(step.reward.to_bits())) as u32).max(1);
            let cell = self.enter(step.state, step.action);
            cell.varies |= cell.followed > 0 && cell.followed != followed;
            cell.followed = followed;
        }
    }

    /// The backups, from the end to the beginning.
    fn go_back(&mut self, episode: &Episode, ends: bool) {
        let without_value = (!ends).then_some(0.0);
        let mut next = episode.terminated.then_some((0.0, 0.0));
        for step in episode.steps.iter().rev() {
            if let Some((value, doubt)) = next {
                let (discount, doubt_discount) = (self.discount, self.doubt_discount);
                let cell = self.enter(step.state, step.action);
                let rate = if cell.varies { cell.rate() } else { 1.0 };
                let target = step.reward + discount * value;
                cell.value = Some(cell.value.map_or(target, |value| value + rate * (target - value)));
                cell.ahead += rate * (doubt_discount * doubt - cell.ahead);
            }
            let value = self.best(step.state).or(without_value);
            next = value.map(|value| (value, self.largest_doubt(step.state)));
        }
    }

    fn cell(&self, state: u64, action: usize) -> Option<&Cell> {
        let pair = pair(state, action);
        self.places(pair).map(|place| &self.cells[place]).find(|cell| cell.pair == pair)
    }

    /// The cell of a pair. A new pair takes the place of the one that was tried least.
    fn enter(&mut self, state: u64, action: usize) -> &mut Cell {
        let pair = pair(state, action);
        let there = self.places(pair).find(|&place| self.cells[place].pair == pair);
        let place = there.unwrap_or_else(|| {
            let least = self.places(pair).min_by_key(|&place| self.cells[place].count).unwrap_or(0);
            self.cells[least] = Cell { pair, ..Cell::NEW };
            least
        });
        &mut self.cells[place]
    }

    fn places(&self, pair: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.cells.len() - 1;
        (0..PLACES).map(move |k| (pair as usize).wrapping_add(k) & mask)
    }
}

/// A pair's number. It is never 0.
fn pair(state: u64, action: usize) -> u64 {
    mix(state ^ mix(action as u64)) | 1 << 63
}

/// A checkpoint holds the cells that are taken, and how many there are in all.
mod occupied {
    use super::Cell;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(cells: &[Cell], to: S) -> Result<S::Ok, S::Error> {
        let taken: Vec<(usize, &Cell)> =
            cells.iter().enumerate().filter(|(_, cell)| cell.pair != 0).collect();
        (cells.len(), taken).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Cell>, D::Error> {
        let (count, taken): (usize, Vec<(usize, Cell)>) = Deserialize::deserialize(from)?;
        // What comes from a file may be anything: no more is allocated than a memory may have.
        if count > 1 << 26 || !count.is_power_of_two() {
            return Err(D::Error::custom("a memory of another size"));
        }
        let mut cells = vec![Cell::default(); count];
        for (place, cell) in taken {
            *cells.get_mut(place).ok_or_else(|| D::Error::custom("a cell outside the memory"))? = cell;
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::random::stream;

    fn memory() -> EpisodicMemory {
        EpisodicMemory::new(1 << 10, 2, 0.9, 0.5)
    }

    fn episode(steps: &[(u64, usize, f32)], terminated: bool) -> Episode {
        let passed = |&(state, action, reward): &(u64, usize, f32)| Passed { state, action, reward };
        Episode { steps: steps.iter().map(passed).collect(), terminated }
    }

    fn live(memory: &mut EpisodicMemory, steps: &[(u64, usize, f32)], terminated: bool) {
        live_where(memory, steps, terminated, true);
    }

    fn live_where(memory: &mut EpisodicMemory, steps: &[(u64, usize, f32)], terminated: bool, ends: bool) {
        steps.iter().for_each(|&(state, action, _)| memory.visit(state, action));
        memory.learn(episode(steps, terminated), ends, &mut stream(0, "test"));
    }

    #[test]
    fn one_episode_carries_a_reward_back_to_its_start() {
        let mut memory = memory();
        live(&mut memory, &[(1, 0, 0.0), (2, 1, 0.0), (3, 0, 10.0)], true);
        assert_eq!(memory.value(3, 0), Some(10.0));
        assert_eq!(memory.value(2, 1), Some(9.0));
        assert!((memory.value(1, 0).unwrap() - 8.1).abs() < 1e-6);
        assert_eq!((memory.value(1, 1), memory.best(4)), (None, None));
    }

    /// The untried action of state 2 is one step from (1, 0). Beyond the end there is nothing to doubt.
    #[test]
    fn doubt_is_discounted_by_the_steps_to_what_was_never_tried() {
        let mut memory = memory();
        let steps = [(1, 0, 0.0), (2, 1, 0.0)];
        live(&mut memory, &steps, true);
        assert_eq!((memory.doubt(2, 0), memory.doubt(2, 1), memory.doubt(1, 0)), (1.0, 0.5, 0.5));
        (0..98).for_each(|_| live(&mut memory, &steps, true));
        assert_eq!((memory.doubt(2, 1), memory.doubt(1, 0)), (0.01, 0.5));
        // When everything was tried often, no doubt is left.
        (0..99).for_each(|_| live(&mut memory, &[(1, 0, 0.0), (2, 0, 0.0)], true));
        (0..99).for_each(|_| live(&mut memory, &[(1, 1, 0.0)], true));
        assert!((0..2).all(|action| memory.doubt(1, action) <= 0.01), "{}", memory.largest_doubt(1));
    }

    /// A coin that pays 0 or 1 is worth its mean.
    #[test]
    fn outcomes_that_vary_are_averaged() {
        let (mut memory, mut coin, mut rng) = (memory(), stream(1, "coin"), stream(1, "again"));
        for _ in 0..4_000 {
            memory.visit(7, 0);
            memory.learn(episode(&[(7, 0, f32::from(coin.random::<bool>()))], true), true, &mut rng);
        }
        let value = memory.value(7, 0).unwrap();
        // Most backups are of 200 earlier episodes, whose mean has an sd of .5/√200 = .035.
        assert!((value - 0.5).abs() < 4.0 * 0.035, "{value}");
    }

    /// Of two actions one pays 1 and the other 3, each always the same; later the better one varies.
    #[test]
    fn a_promise_is_sure_where_outcomes_do_not_vary() {
        let mut memory = memory();
        (0..9).for_each(|_| live(&mut memory, &[(1, 0, 1.0)], true));
        assert_eq!(memory.promise(1, 1), None);
        (0..99).for_each(|_| live(&mut memory, &[(1, 1, 3.0)], true));
        assert_eq!(memory.promise(1, 0), Some(Promise { more: 2.0, noise: 0.0 }));
        assert_eq!(memory.promise(1, 1), Some(Promise { more: 0.0, noise: 0.0 }));
        live(&mut memory, &[(1, 1, 4.0)], true);
        let noise = memory.promise(1, 0).unwrap().noise;
        // α = 100^-.8.
        assert!((noise - 0.025119 / (2.0 - 0.025119)).abs() < 1e-5, "{noise}");
    }

    #[test]
    fn what_followed_a_cut_is_not_known() {
        let mut memory = memory();
        live(&mut memory, &[(1, 0, 5.0), (2, 1, 5.0)], false);
        assert_eq!(memory.value(2, 1), None);
        // It is not known what (1, 0) is worth either: nothing is backed up from a state without a value.
        assert_eq!((memory.value(1, 0), memory.doubt(1, 0)), (None, 1.0));
        assert!(!memory.has_values());
    }

    /// Two states in turn, and each step pays 1: Q = 1/(1 - γ). The other action pays once and goes on as before. When both were tried, there
    /// is nothing left to doubt.
    #[test]
    fn a_world_without_end_is_learned() {
        let mut memory = memory();
        let in_turn = |action, reward| (0..200).map(|step| (step % 2, action, reward)).collect::<Vec<_>>();
        live_where(&mut memory, &in_turn(0, 1.0), false, false);
        for state in [0, 1] {
            let value = memory.value(state, 0).unwrap();
            assert!((value - 10.0).abs() < 1e-3, "{value}");
            assert_eq!((memory.doubt(state, 0), memory.doubt(state, 1)), (0.5, 1.0));
        }
        for _ in 0..9 {
            live_where(&mut memory, &in_turn(1, 0.0), false, false);
            live_where(&mut memory, &in_turn(0, 1.0), false, false);
        }
        assert!((memory.value(0, 1).unwrap() - 9.0).abs() < 1e-3);
        assert!(memory.largest_doubt(0) < 0.01, "{}", memory.largest_doubt(0));
    }

    /// What was backed up from states that were worth nothing yet is gone. What was tried is not.
    #[test]
    fn a_world_that_turns_out_to_end_is_learned_anew() {
        let mut memory = memory();
        live_where(&mut memory, &[(1, 0, 5.0), (2, 1, 5.0)], false, false);
        assert_eq!((memory.value(1, 0), memory.has_values()), (Some(5.0), true));
        memory.forget_backups();
        assert_eq!(
            (memory.value(1, 0), memory.was_tried(1, 0), memory.has_values()),
            (None, Some(true), false)
        );
        assert_eq!(memory.doubt(1, 0), 1.0);
    }

    #[test]
    fn a_world_repeats_itself_when_most_pairs_come_again() {
        let mut memory = memory();
        (0..300).for_each(|state| memory.visit(state, 0));
        assert!(!memory.repeats() && memory.again() == 0.0);
        (0..12_000).for_each(|step| memory.visit(step % 300, 0));
        assert!(memory.repeats());
    }

    /// More pairs than there is room for: those that were tried often stay.
    #[test]
    fn a_full_memory_keeps_what_was_tried_often() {
        let mut memory = EpisodicMemory::new(64, 1, 0.9, 0.9);
        (0..20).for_each(|_| (0..16).for_each(|state| memory.visit(state, 0)));
        (100..3_000).for_each(|state| memory.visit(state, 0));
        let kept = (0..16).filter(|&state| memory.doubt(state, 0) < 1.0 || memory.cell(state, 0).is_some());
        assert!(kept.count() >= 12);
        assert_eq!(memory.cells.len(), 64);
    }

    #[test]
    fn states_are_told_apart_by_every_number() {
        let states = [&[0.0, 1.0][..], &[1.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 1.0 + f32::EPSILON]];
        let hashes: std::collections::BTreeSet<u64> = states.into_iter().map(EpisodicMemory::state).collect();
        assert_eq!(hashes.len(), 4);
        // Each of many numbers, alone and together with another one.
        let of = |ones: [usize; 2]| {
            let numbers: Vec<f32> = (0..45).map(|at| f32::from(u8::from(ones.contains(&at)))).collect();
            EpisodicMemory::state(&numbers)
        };
        let hashes: std::collections::BTreeSet<u64> =
            (0..45).flat_map(|one| (0..=one).map(move |other| of([one, other]))).collect();
        assert_eq!(hashes.len(), 45 * 46 / 2);
        // The two zeros are the same number.
        assert_eq!(EpisodicMemory::state(&[-0.0]), EpisodicMemory::state(&[0.0]));
    }

    #[test]
    fn a_checkpoint_holds_all_of_it() {
        let mut memory = memory();
        (0..40).for_each(|k| live(&mut memory, &[(k % 5, 0, 1.0), (k % 7, 1, 0.5)], k % 2 == 0));
        let saved = postcard::to_stdvec(&memory).unwrap();
        assert!(saved.len() < 3_000, "{}", saved.len());
        assert_eq!(postcard::from_bytes::<EpisodicMemory>(&saved).unwrap(), memory);
    }
}
