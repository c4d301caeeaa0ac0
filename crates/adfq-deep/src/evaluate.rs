//! Greedy episodes that measure what was learned, apart from training: other environments, other chance.
//!
//! A `Player` is an environment and the episode in it. `play` plays episodes in several players side by side, of one
//! run or of many; who computes the estimates is the caller's business.

use crate::algorithm::Estimate;
use crate::learner::{Asked, Learner};
use crate::metrics::Episode;
use crate::observation::Observation;
use crate::policy::greedy;
use crate::run::Restarts;
use crate::{Config, Error, Result};
use adfq::random::{ChaCha8Rng, stream};
use adfq_env::{Env, check_given};
use adfq_nn::Workspace;
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What is shown of each step of an evaluation.
pub struct Seen<'a> {
    /// The episode's number, from 0.
    pub episode: usize,
    /// The step in it, from 0.
    pub step: u64,
    /// The return so far.
    pub total: f64,
    /// The environment as the agent sees it, before the action.
    pub env: &'a dyn Env,
    /// What the agent believes of each action.
    pub estimates: &'a [Estimate],
    /// The action it takes.
    pub action: usize,
}

/// An environment to evaluate in, and the episode going on there. What happens in an episode depends on the seed and the
/// name it is played under alone.
pub(crate) struct Player {
    env: Box<dyn Env>,
    /// What the environment is called in errors.
    env_name: String,
    /// The run that plays here, by its number.
    pub owner: usize,
    pub observation: Observation,
    frame: Vec<u8>,
    /// What the owner believes of the present observation.
    pub estimates: Vec<Estimate>,
    seed: u64,
    max_steps: u64,
    /// What draws ties.
    rng: ChaCha8Rng,
    number: usize,
    episode: Episode,
    progress: Progress,
}

enum Progress {
    Idle,
    Playing,
    Over,
    Failed(Error),
}

impl Player {
    pub fn new(config: &Config, env: Box<dyn Env>) -> Self {
        let space = env.space();
        Self {
            observation: Observation::new(space),
            frame: vec![0; space.frame_bytes()],
            estimates: vec![],
            owner: 0,
            seed: config.seed,
            max_steps: config.evaluation.max_steps,
            rng: stream(config.seed, "evaluation"),
            number: 0,
            episode: Episode::default(),
            progress: Progress::Idle,
            env_name: config.env.clone(),
            env,
        }
    }

    /// Leaves an episode where it is: nothing of it counts.
    fn leave(&mut self) {
        self.progress = Progress::Idle;
    }

    pub fn is_playing(&self) -> bool {
        matches!(self.progress, Progress::Playing)
    }

    /// Whether its environment is worth a core of its own.
    pub fn is_slow(&self) -> bool {
        self.env.is_slow()
    }

    fn begin(&mut self, name: &str, number: usize) {
        self.number = number;
        self.rng = stream(self.seed, &format!("{name}/{number}"));
        self.episode = Episode::default();
        self.progress = match self.reset() {
            Ok(()) => Progress::Playing,
            Err(error) => Progress::Failed(error.into()),
        };
        self.observation.start(&self.frame);
    }

    fn reset(&mut self) -> adfq_env::Result<()> {
        self.env.reset(Some(self.rng.next_u64()), &mut self.frame)?;
        check_given(&self.env_name, 0, self.env.space(), &self.frame, 0.0)
    }

    /// An episode that failed in another process is played from its start in a new one, as long as that is allowed.
    fn begin_anew(&mut self, round: &Round, restarts: &mut Restarts) {
        while let Progress::Failed(Error::Env(error)) = &self.progress
            && restarts.left > 0
        {
            let restarted = self.env.restart();
            if let Ok(false) = restarted {
                return;
            }
            restarts.note(round.step, error);
            match restarted {
                Ok(_) => self.begin(&round.name, self.number),
                Err(again) => self.progress = Progress::Failed(again.into()),
            }
        }
    }

    /// Takes the greedy action.
    fn step(&mut self, see: &mut dyn FnMut(&Seen) -> Result<()>) {
        self.progress = self.try_step(see).unwrap_or_else(Progress::Failed);
    }

    fn try_step(&mut self, see: &mut dyn FnMut(&Seen) -> Result<()>) -> Result<Progress> {
        let action = greedy(&self.estimates, &mut self.rng);
        let (Episode { length: step, total, .. }, episode) = (self.episode, self.number);
        see(&Seen { episode, step, total, env: &*self.env, estimates: &self.estimates, action })?;
        let step = self.env.step(action, &mut self.frame)?;
        check_given(&self.env_name, 0, self.env.space(), &self.frame, step.reward)?;
        self.observation.push(&self.frame);
        self.episode.step(step.reward);
        let over = step.ended() || self.episode.length >= self.max_steps;
        Ok(if over { Progress::Over } else { Progress::Playing })
    }

    /// Adds a finished episode to those of its run; the first failure takes their place.
    fn count_in(&mut self, played: &mut Result<Vec<Episode>>) {
        match (std::mem::replace(&mut self.progress, Progress::Idle), &mut *played) {
            (Progress::Over, Ok(episodes)) => episodes.push(self.episode),
            (Progress::Failed(error), Ok(_)) => *played = Err(error),
            _ => {}
        }
    }
}

/// What came of the episodes of each run.
pub(crate) type Played = Vec<Result<Vec<Episode>>>;

/// What is played.
pub(crate) struct Round {
    /// The name under which its chance is drawn.
    pub name: String,
    /// How many episodes, for each run.
    pub episodes: usize,
    /// Whether environments step side by side.
    pub parallel: bool,
    /// The environment step of training.
    pub step: u64,
}

/// Plays a round for each run, of which there are as many as `restarts`, and gives the episodes in their order, or what the
/// first failure was. A run without players plays none. `judge` computes the estimates of all players that are playing; `see` is
/// shown every step, and stops its episode by an error. `stop` is asked before every step; once it says so, all episodes are
/// left and the answer is none. Which episodes are played at once decides nothing.
pub(crate) fn play(
    players: &mut [Player],
    round: &Round,
    restarts: &mut [Restarts],
    judge: &mut dyn FnMut(&mut [Player]) -> Result<()>,
    see: &mut dyn FnMut(&Seen) -> Result<()>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Played>> {
    let (runs, episodes) = (restarts.len(), round.episodes);
    let mut played: Played = (0..runs).map(|_| Ok(vec![])).collect();
    let mut begun = vec![0; runs];
    while begun
        .iter()
        .zip(0..)
        .any(|(&begun, run)| begun < episodes && players.iter().any(|p| p.owner == run))
    {
        for player in players.iter_mut() {
            let next = &mut begun[player.owner];
            if *next < episodes && played[player.owner].is_ok() {
                player.begin(&round.name, *next);
                player.begin_anew(round, &mut restarts[player.owner]);
            }
            *next += 1;
        }
        while players.iter().any(Player::is_playing) {
            if stop() {
                players.iter_mut().for_each(Player::leave);
                return Ok(None);
            }
            judge(players)?;
            let playing = players.iter_mut().filter(|player| player.is_playing());
            // A step of most environments is over before another thread has woken up.
            match round.parallel {
                true => playing
                    .collect::<Vec<_>>()
                    .into_par_iter()
                    .for_each(|player| player.step(&mut |_| Ok(()))),
                false => playing.for_each(|player| player.step(see)),
            }
            players.iter_mut().for_each(|player| player.begin_anew(round, &mut restarts[player.owner]));
        }
        players.iter_mut().for_each(|player| player.count_in(&mut played[player.owner]));
    }
    Ok(Some(played))
}

/// Computes estimates for one state at a time on the CPU.
pub(crate) struct Judge {
    input: Vec<f32>,
    pass: Workspace,
}

impl Judge {
    pub fn new(learner: &Learner) -> Result<Self> {
        let network = learner.network();
        Ok(Self { input: vec![0.0; network.inputs()], pass: Workspace::new(network, 1, 1)? })
    }

    /// What the learner believes of an observation.
    pub fn estimates(
        &mut self,
        learner: &mut Learner,
        asked: Asked,
        observation: &[f32],
        out: &mut Vec<Estimate>,
    ) -> Result<()> {
        let row = learner.network().forward(&learner.online, observation, &mut self.pass)?;
        learner.estimate(asked, observation, row, &[], out)
    }

    /// What the learner believes of what its player sees.
    pub fn player(&mut self, learner: &mut Learner, asked: Asked, player: &mut Player) -> Result<()> {
        let mut input = std::mem::take(&mut self.input);
        player.observation.decode(&mut input);
        let judged = self.estimates(learner, asked, &input, &mut player.estimates);
        self.input = input;
        judged
    }
}

/// Plays greedy episodes of a learner: what a trained agent does.
pub struct Evaluator {
    players: Vec<Player>,
    judge: Judge,
}

impl Evaluator {
    /// An evaluator in this environment, such as [`Host::env`](crate::Host::env) makes.
    pub fn new(config: &Config, learner: &Learner, env: Box<dyn Env>) -> Result<Self> {
        learner.check_space(env.space())?;
        Ok(Self { players: vec![Player::new(config, env)], judge: Judge::new(learner)? })
    }

    /// Plays `episodes` episodes with the largest mean's action. Ties, as before any learning, are drawn. `see` is called
    /// at every step; it stops the evaluation by an error.
    pub fn play(
        &mut self,
        learner: &mut Learner,
        name: &str,
        episodes: usize,
        mut see: impl FnMut(&Seen) -> Result<()>,
    ) -> Result<Vec<Episode>> {
        let judge = &mut self.judge;
        let mut judged = |players: &mut [Player]| judge.player(learner, Asked::Beliefs, &mut players[0]);
        let round = Round { name: name.to_owned(), episodes, parallel: false, step: 0 };
        let (players, restarts) = (&mut self.players, &mut [Restarts::default()]);
        let played = play(players, &round, restarts, &mut judged, &mut see, &|| false)?;
        played.and_then(|mut played| played.pop()).unwrap_or(Ok(vec![]))
    }
}

/// Returns of greedy episodes at one step of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The environment step.
    pub step: u64,
    /// The episodes.
    pub episodes: Vec<Episode>,
}

impl Evaluation {
    fn mean_of(&self, of: impl Fn(&Episode) -> f64) -> f64 {
        self.episodes.iter().map(of).sum::<f64>() / self.episodes.len() as f64
    }

    /// The mean return.
    pub fn mean(&self) -> f64 {
        self.mean_of(|episode| episode.total)
    }

    /// The mean return with only the signs of rewards summed.
    pub fn mean_clipped(&self) -> f64 {
        self.mean_of(|episode| episode.clipped)
    }

    /// The smallest return.
    pub fn least(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.total).fold(f64::INFINITY, f64::min)
    }

    /// The largest return.
    pub fn greatest(&self) -> f64 {
        self.episodes.iter().map(|episode| episode.total).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The mean's standard error; 0 for one episode.
    pub fn standard_error(&self) -> f64 {
        let (n, mean) = (self.episodes.len() as f64, self.mean());
        let squares: f64 = self.episodes.iter().map(|episode| (episode.total - mean).powi(2)).sum();
        if n < 2.0 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() }
    }
}
