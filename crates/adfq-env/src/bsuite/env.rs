//! A problem as an environment: settings, a generator, saved states and pictures.

use super::{Chance, Info, Problem, Rewards};
use crate::episode::{Episode, refuse};
use crate::picture::Canvas;
use crate::{Env, Picture, Result, Space, Step};

/// An environment of bsuite, whichever it is. Besides [`Env`] it can be driven by chance from elsewhere, so that it can be compared with the
/// package.
pub trait BsuiteEnv: Env {
    /// As [`Env::reset`] without a seed.
    fn reset_by(&mut self, chance: &mut dyn Chance, frame: &mut [u8]) -> Result<()>;

    /// As [`Env::step`].
    fn step_by(&mut self, action: usize, chance: &mut dyn Chance, frame: &mut [u8]) -> Result<Step>;
}

/// A problem of bsuite as an environment. What it reports is counted over its whole life: resets leave it alone, with and without a seed.
///
/// ```
/// use adfq_env::bsuite::{Bsuite, Catch, Rewards};
/// use adfq_env::Env;
///
/// let mut env = Bsuite::new("catch, in hundreds", Catch, Rewards::Scale { reward_scale: 100.0 });
/// let mut frame = vec![0; env.space().frame_bytes()];
/// env.reset(Some(3), &mut frame)?;
/// let last = (0..9).map(|_| env.step(1, &mut frame)).last().unwrap()?;
/// assert!(last.terminated && last.reward.abs() == 100.0);
/// assert_eq!(env.info(), [("total_regret", 1.0 - last.reward / 100.0)]);
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bsuite<P: Problem> {
    name: String,
    problem: P,
    rewards: Rewards,
    space: Space,
    episode: Episode<P::State>,
    /// The numbers of the latest frame.
    numbers: Vec<f32>,
}

impl<P: Problem> Bsuite<P> {
    /// Before the first reset. States are saved under this name, and refused by an environment of another.
    pub fn new(name: &str, problem: P, rewards: Rewards) -> Self {
        let space = problem.space();
        let numbers = vec![0.0; space.frame_len()];
        let episode = Episode::new(P::State::default());
        Self { name: name.to_owned(), problem, rewards, space, episode, numbers }
    }

    /// Starts an episode with this chance, or that of the generator.
    fn begin(&mut self, chance: Option<&mut dyn Chance>, frame: &mut [u8]) -> Result<()> {
        let Episode { state, running, rng } = &mut self.episode;
        self.problem.start(state, chance.unwrap_or(rng));
        *running = true;
        self.write(frame)
    }

    /// Takes a step with this chance, or that of the generator.
    fn go_on(&mut self, action: usize, chance: Option<&mut dyn Chance>, frame: &mut [u8]) -> Result<Step> {
        self.episode.check(&self.space, action, frame)?;
        let Episode { state, running, rng } = &mut self.episode;
        let chance = chance.unwrap_or(rng);
        let (reward, terminated) = self.problem.act(state, action, chance);
        let reward = self.rewards.change(reward, chance);
        *running = !terminated;
        self.write(frame)?;
        Ok(Step { reward, terminated, ..Step::default() })
    }

    fn write(&mut self, frame: &mut [u8]) -> Result<()> {
        self.problem.observe(&self.episode.state, &mut self.numbers);
        self.space.write(&self.numbers, frame)
    }
}

impl<P: Problem> BsuiteEnv for Bsuite<P> {
    fn reset_by(&mut self, chance: &mut dyn Chance, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        self.begin(Some(chance), frame)
    }

    fn step_by(&mut self, action: usize, chance: &mut dyn Chance, frame: &mut [u8]) -> Result<Step> {
        self.go_on(action, Some(chance), frame)
    }
}

impl<P: Problem> Env for Bsuite<P> {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        self.episode.seed(seed);
        self.begin(None, frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.go_on(action, None, frame)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        self.episode.save(&self.name)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let episode = Episode::restore(&self.name, state, |_| Ok(()))?;
        if !self.problem.holds(&episode.state, episode.running) {
            return Err(refuse(&self.name, format!("{:?} cannot be", episode.state)));
        }
        self.episode = episode;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.episode.seed(Some(seed));
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        Ok(self.problem.draw(&self.episode.state).unwrap_or_else(|| {
            let mut numbers = vec![0.0; self.space.frame_len()];
            self.problem.observe(&self.episode.state, &mut numbers);
            paint(&numbers, &self.space.frame)
        }))
    }

    fn action_names(&self) -> Vec<String> {
        self.problem.action_names()
    }

    fn info(&self) -> Info {
        self.problem.info(&self.episode.state)
    }
}

/// A cell for each number: grey for 0, orange for what is more and blue for what is less, all of it from 1 and -1 on. A vector is one row
/// of a few cells, then the next.
fn paint(numbers: &[f32], frame: &[usize]) -> Picture {
    let columns = if let [_, width, _] = frame { *width } else { numbers.len().clamp(1, 10) };
    let rows = numbers.len().div_ceil(columns);
    let side = (320 / columns.max(rows)).clamp(1, 32);
    let mut canvas = Canvas::new(columns * side, rows * side, [255; 3]);
    let gap = if side > 4 { 1.0 } else { 0.0 };
    for (cell, &number) in numbers.iter().enumerate() {
        let full = if number > 0.0 { [220, 90, 40] } else { [40, 110, 200] };
        let share = number.abs().min(1.0);
        let mixed = full.map(|channel: u8| (225.0 + (f32::from(channel) - 225.0) * share) as u8);
        let [left, top] = [cell % columns, cell / columns].map(|i| (i * side) as f64);
        let size = side as f64 - gap;
        canvas.rectangle([left, top], [left + size, top + size], mixed);
    }
    canvas.finish()
}
