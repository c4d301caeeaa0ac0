//! Finite MDPs as environments: the state is shown as a single one among zeros. The models, DeepSea's among them, are
//! those of [`adfq::mdp`], and are stepped, not written again.

use crate::episode::{Episode, refuse};
use crate::picture::Canvas;
use crate::{Element, Env, Picture, Result, Space, Step};
use adfq::mdp::{DeepSea, Mdp};

/// A finite MDP as an environment. A frame has one byte a state, 1 for the present state and 0 for all others; for
/// DeepSea, one a cell of the square.
///
/// ```
/// use adfq::mdp;
/// use adfq_env::{Env, MdpEnv};
///
/// let mut env = MdpEnv::new(mdp::named("loop")?);
/// let mut frame = vec![0; env.space().frame_bytes()];
/// env.reset(Some(0), &mut frame)?;
/// assert_eq!(frame, [1, 0, 0, 0, 0, 0, 0, 0, 0]);
/// env.step(1, &mut frame)?;
/// assert_eq!(frame, [0, 0, 0, 0, 0, 1, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MdpEnv {
    mdp: Mdp,
    space: Space,
    /// For each state which byte of the frame is 1, if any.
    places: Vec<Option<usize>>,
    episode: Episode<usize>,
}

impl MdpEnv {
    /// The environment with this model.
    pub fn new(mdp: Mdp) -> Self {
        let places = (0..mdp.states()).map(Some).collect();
        let frame = vec![mdp.states()];
        Self::with_places(mdp, frame, places)
    }

    /// DeepSea with `bsuite`'s frames, N × N × 1: the cell of the diver is 1; after the last dive all are 0. Rewards
    /// and moves are those of [`DeepSea`], which states where its stochastic version departs from `bsuite`.
    ///
    /// ```
    /// use adfq::mdp::DeepSea;
    /// use adfq_env::{Env, MdpEnv};
    ///
    /// let mut env = MdpEnv::deep_sea(&DeepSea { size: 2, ..DeepSea::default() })?;
    /// let mut frame = [9; 4];
    /// env.reset(None, &mut frame)?;
    /// assert_eq!(frame, [1, 0, 0, 0]);
    /// assert_eq!(env.step(1, &mut frame)?.reward, -0.005);
    /// assert_eq!(frame, [0, 0, 0, 1]);
    /// let last = env.step(1, &mut frame)?;
    /// assert_eq!((last.reward, last.terminated, frame), (0.995, true, [0; 4]));
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    pub fn deep_sea(sea: &DeepSea) -> Result<Self> {
        let mdp = sea.mdp()?;
        let cell = |state| mdp.layout().and_then(|layout| layout.cell(state));
        let places = (0..mdp.states()).map(|state| cell(state).map(|(row, column)| row * sea.size + column));
        let places = places.collect();
        Ok(Self::with_places(mdp, vec![sea.size, sea.size, 1], places))
    }

    fn with_places(mdp: Mdp, frame: Vec<usize>, places: Vec<Option<usize>>) -> Self {
        let space = Space { frame, element: Element::U8 { scale: 1.0 }, stack: 1, actions: mdp.actions() };
        let start = mdp.starts()[0].0;
        Self { mdp, space, places, episode: Episode::new(start) }
    }

    /// The model.
    pub fn mdp(&self) -> &Mdp {
        &self.mdp
    }

    /// The present state.
    pub fn state(&self) -> usize {
        self.episode.state
    }

    fn write(&self, frame: &mut [u8]) {
        frame.fill(0);
        if let Some(place) = self.places[self.episode.state] {
            frame[place] = 1;
        }
    }

    /// How bytes are marked as belonging to this model.
    fn tag(&self) -> String {
        format!("MdpEnv {}", self.mdp.name())
    }

    /// A character for each cell of the picture, with `@` for the present state: the model's map, or, without one,
    /// the states in reading order.
    fn map(&self) -> Vec<Vec<char>> {
        if let Some(layout) = self.mdp.layout() {
            return layout.picture(self.episode.state).lines().map(|line| line.chars().collect()).collect();
        }
        let cells = |state| if state == self.episode.state { '@' } else { 'O' };
        let columns = self.mdp.states().clamp(1, 10);
        (0..self.mdp.states()).map(cells).collect::<Vec<_>>().chunks(columns).map(<[char]>::to_vec).collect()
    }
}

impl Env for MdpEnv {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.space.check_frame(frame)?;
        self.episode.seed(seed);
        let start = self.mdp.start(&mut self.episode.rng);
        self.episode.start(start);
        self.write(frame);
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.episode.check(&self.space, action, frame)?;
        let step = self.mdp.step(self.episode.state, action, &mut self.episode.rng);
        (self.episode.state, self.episode.running) = (step.next_state, !step.terminal);
        self.write(frame);
        Ok(Step { reward: step.reward, terminated: step.terminal, ..Step::default() })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        self.episode.save(&self.tag())
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (tag, states) = (self.tag(), self.mdp.states());
        self.episode = Episode::restore(&tag, state, |&state| match state < states {
            true => Ok(()),
            false => Err(refuse(&tag, format!("there is no state {state} among {states}"))),
        })?;
        Ok(())
    }

    fn reseed(&mut self, seed: u64) -> Result<()> {
        self.episode.seed(Some(seed));
        Ok(())
    }

    fn exact(&self) -> Option<(&Mdp, usize)> {
        Some((&self.mdp, self.episode.state))
    }

    fn render(&self) -> Result<Picture> {
        let map = self.map();
        let columns = map.iter().map(Vec::len).max().unwrap_or(0);
        // Cells of 32 pixels, smaller where there are many, with a gap between them.
        let side = (320 / columns.max(map.len()).max(1)).clamp(1, 32);
        let gap = if side > 4 { 1.0 } else { 0.0 };
        let mut canvas = Canvas::new(columns * side, map.len() * side, [255; 3]);
        for (row, line) in map.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                let [left, top] = [column, row].map(|i| (i * side) as f64);
                let colour = match cell {
                    '@' => [220, 90, 40],
                    'W' => [90, 98, 110],
                    'O' => [205, 222, 238],
                    _ => [205, 190, 90],
                };
                let size = side as f64 - gap;
                canvas.rectangle([left, top], [left + size, top + size], colour);
            }
        }
        Ok(canvas.finish())
    }

    fn action_names(&self) -> Vec<String> {
        (0..self.mdp.actions()).map(|action| self.mdp.action_label(action).into_owned()).collect()
    }
}
