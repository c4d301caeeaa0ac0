//! Episodes: the agent of a checkpoint plays, and the page sees what it sees, does and believes, step by step.
//!
//! An episode is played on a thread of its own, no further ahead than the page has taken it. The code of a run folder is run by
//! the rule that resuming has: only modules that are installed, unless the server was told to trust the folders.

use crate::guard::MOST_EPISODES;
use crate::picture;
use crate::server::Shared;
use crate::{Error, Result};
use adfq::{Belief, MaxOfGaussians};
use adfq_deep::algorithm::Estimate;
use adfq_deep::evaluate::Seen;
use adfq_deep::run::folder::kept_steps;
use adfq_deep::{Agent, Checkpoint, Config, Host};
use adfq_env::Env;
use adfq_lab::learn::RECORDING;
use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};

/// Steps that are played ahead of the page.
const AHEAD: usize = 64;
/// Steps after which an episode is no longer shown.
const MOST_STEPS: u64 = 20_000;
/// The largest recording, in bytes.
const MOST_RECORDING: u64 = 256 << 20;

/// Which episode is asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct EpisodeRequest {
    /// The run.
    pub run: String,
    /// `last`, `best`, or the step of a checkpoint.
    #[serde(default = "last")]
    pub checkpoint: String,
    /// The seed of the episode, as that of `adfq eval`.
    #[serde(default)]
    pub seed: u64,
}

fn last() -> String {
    "last".to_owned()
}

/// What an episode begins with.
#[derive(Clone, Debug, Serialize)]
pub struct Start {
    /// The environment.
    pub env: String,
    /// What learned.
    pub agent: String,
    /// The step of the checkpoint.
    pub step: u64,
    /// What the actions are called.
    pub actions: Vec<String>,
    /// What is wrong with later checkpoints, if it is not that of the last one.
    pub warnings: Vec<String>,
}

/// One step of an episode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The step in the episode, from 0.
    pub step: u64,
    /// The return so far.
    pub total: f64,
    /// The action that is taken.
    pub action: usize,
    /// The mean of Q(s,a), for each action.
    pub mean: Vec<f64>,
    /// The standard deviation, if the agent has beliefs.
    pub sd: Option<Vec<f64>>,
    /// The probability of each action that it is the best, if the agent has beliefs.
    pub p_best: Option<Vec<f64>>,
    /// The environment, as a PNG in base 64; none if it has no picture.
    pub picture: Option<String>,
}

/// What an episode ends with.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct End {
    /// The return.
    pub total: f64,
    /// Steps.
    pub length: u64,
    /// Whether it went on beyond what is shown.
    pub cut: bool,
}

/// The checkpoints of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Checkpoints {
    /// Their steps, in order.
    pub steps: Vec<u64>,
}

/// Which run is meant.
#[derive(Clone, Debug, Deserialize)]
pub struct RunQuery {
    run: String,
}

/// `GET /api/checkpoints?run=ID`.
pub(crate) async fn checkpoints(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<RunQuery>,
) -> Result<Json<Checkpoints>> {
    shared
        .blocking(move |shared| {
            Ok(Json(Checkpoints { steps: kept_steps(shared.run_folder(&query.run)?.path())? }))
        })
        .await
}

/// `GET /api/recording?run=ID`: the beliefs of a tabular run at its moments, as `adfq learn --out` has written them.
pub(crate) async fn recording(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<RunQuery>,
) -> Result<Response> {
    shared
        .blocking(move |shared| {
            if !shared.table().recordings.iter().any(|recording| recording.id == query.run) {
                return Err(Error::NoRun(query.run));
            }
            let bytes = crate::files::read(&shared.folder(&query.run)?, RECORDING, MOST_RECORDING)?;
            Ok(([(header::CONTENT_TYPE, "application/json")], Body::from(bytes)).into_response())
        })
        .await
}

/// `GET /api/episode?run=ID&checkpoint=last&seed=0`: an event `start`, an event `step` for each step, and an event `end` or
/// `failure`.
pub(crate) async fn episode(
    State(shared): State<Arc<Shared>>,
    Query(request): Query<EpisodeRequest>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let checkpoint: Checkpoint = request.checkpoint.parse().map_err(Error::Request)?;
    let seat = shared.episodes.clone().try_acquire_owned();
    let seat = seat.map_err(|_| Error::Busy(format!("{MOST_EPISODES} episodes are being played")))?;
    let folder = shared.run_folder(&request.run)?;
    let (sender, receiver) = mpsc::channel(AHEAD);
    let host = Host { memory: Host::here().memory, ..shared.host.clone() };
    // Held by whoever lasts longer: the thread that plays, or the page that watches.
    let seat = Arc::new(seat);
    let held = seat.clone();
    std::thread::spawn(move || {
        let _seat = seat;
        let played = play(folder.path(), &host, checkpoint, request.seed, &sender);
        let last = match played {
            Ok(end) => event("end", &end),
            Err(error) => event("failure", &serde_json::json!({ "error": said(&error) })),
        };
        // A page that is gone does not hear it.
        let _ = sender.blocking_send(Ok(last));
    });
    let stream = ReceiverStream::new(receiver).map(move |event| {
        let _seat = &held;
        event
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

type Events = Sender<Result<Event, Infallible>>;

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_default()
}

/// Whether the environment is code that nobody has allowed to run.
fn is_refused(error: &adfq_deep::Error) -> bool {
    use adfq_env::Error::{Stranger, Untrusted};
    matches!(error, adfq_deep::Error::Env(Untrusted { .. } | Stranger { .. }))
}

/// The error, and what helps.
fn said(error: &adfq_deep::Error) -> String {
    match is_refused(error) {
        true => format!("{error}. To allow it, start the server with --trust."),
        false => error.to_string(),
    }
}

/// Plays one episode, step by step into the channel.
fn play(
    folder: &Path,
    host: &Host,
    checkpoint: Checkpoint,
    seed: u64,
    events: &Events,
) -> adfq_deep::Result<End> {
    let mut agent = Agent::load_checkpoint(folder, checkpoint, host)?;
    let config = agent.config().clone();
    let (env, is_drawn) = environment(host, &config)?;
    let start = Start {
        env: config.env.clone(),
        agent: config.agent.clone(),
        step: agent.step(),
        actions: env.action_names(),
        warnings: agent.warnings().to_vec(),
    };
    send(folder, events, event("start", &start))?;
    let mut cut = None;
    let played = agent.play(env, &format!("eval/{seed}"), 1, |seen| {
        if seen.step >= MOST_STEPS {
            cut = Some(End { total: seen.total, length: seen.step, cut: true });
            return Err(gone(folder));
        }
        send(folder, events, event("step", &moment(seen, is_drawn)?))
    });
    match (cut, played) {
        (Some(end), _) => Ok(end),
        (None, played) => {
            let episode = played?.first().copied().unwrap_or_default();
            Ok(End { total: episode.total, length: episode.length, cut: false })
        }
    }
}

/// An environment to play in, and whether it can be drawn. One that cannot is watched by its beliefs. It is tried once: a worker
/// that fails to draw is lost.
fn environment(host: &Host, config: &Config) -> adfq_deep::Result<(Box<dyn Env>, bool)> {
    let mut env = match host.env(config, true) {
        Err(error) if !is_refused(&error) => return Ok((host.env(config, false)?, false)),
        env => env?,
    };
    let mut frame = vec![0; env.space().frame_bytes()];
    match env.reset(Some(0), &mut frame).and_then(|()| env.render()) {
        Ok(_) => Ok((env, true)),
        Err(_) => Ok((host.env(config, false)?, false)),
    }
}

fn send(folder: &Path, events: &Events, event: Event) -> adfq_deep::Result<()> {
    events.blocking_send(Ok(event)).map_err(|_| gone(folder))
}

/// What stops an episode that nobody watches any more.
fn gone(folder: &Path) -> adfq_deep::Error {
    adfq_files::Error::io("play", folder, std::io::ErrorKind::BrokenPipe.into()).into()
}

fn moment(seen: &Seen, is_drawn: bool) -> adfq_deep::Result<Moment> {
    let column =
        |of: fn(&Estimate) -> f32| seen.estimates.iter().map(|it| f64::from(of(it))).collect::<Vec<_>>();
    let believes = seen.estimates.iter().all(|estimate| estimate.sd > 0.0);
    let belief = |it: &Estimate| Belief::new(it.mean.into(), f64::from(it.sd).powi(2));
    let beliefs = believes.then(|| seen.estimates.iter().map(belief).collect::<adfq::Result<Vec<_>>>());
    let p_best = |beliefs: Vec<Belief>| MaxOfGaussians::new(&beliefs)?.probabilities();
    let picture = if is_drawn { seen.env.render().ok() } else { None };
    let picture = picture.and_then(|picture| picture::encode(&picture));
    Ok(Moment {
        step: seen.step,
        total: seen.total,
        action: seen.action,
        mean: column(|it| it.mean),
        sd: believes.then(|| column(|it| it.sd)),
        p_best: beliefs.transpose()?.map(p_best).transpose()?,
        picture: picture.map(|png| BASE64_STANDARD.encode(png)),
    })
}
