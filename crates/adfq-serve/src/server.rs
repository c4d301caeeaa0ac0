//! The server: what it is told, what all requests share, which paths it answers, and how it begins and ends.

use crate::files::open_below;
use crate::guard::{self, Guard};
use crate::runs::Table;
use crate::scan::Scanner;
use crate::series::Columns;
use crate::{Error, Result, compare, curves, events, explorer, files, page, watch};
use adfq_deep::Host;
use adfq_files::Folder;
use adfq_lab::compare::Run;
use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, broadcast, watch as signal};

/// The port that is tried first.
pub const DEFAULT_PORT: u16 = 7717;

/// Looking at the folders takes at most one part in so many of the time.
const RARELY: u32 = 50;
/// Changes that a slow page may be behind before it gets the whole table again.
const BEHIND: usize = 64;
/// The name of all threads of the server.
const THREADS: &str = "adfq-serve";
/// The largest head of a request.
const MOST_HEAD: usize = 64 * 1024;

/// What is served, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder under which runs are looked for.
    pub root: PathBuf,
    /// The address to listen on. Any other than this machine's own asks for a token.
    pub host_name: String,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// Take another port if this one is in use.
    pub any_port: bool,
    /// Whether the folder may be missing yet.
    pub may_be_missing: bool,
    /// The least time between two looks at the folders.
    pub interval: Duration,
    /// The longest that the head of a request may take to arrive.
    pub head_time: Duration,
    /// The environments and agents that are known, to play episodes.
    pub host: Host,
}

impl Options {
    /// A folder, for this machine alone.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self {
            root: root.as_ref().to_owned(),
            host_name: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            any_port: true,
            may_be_missing: false,
            interval: Duration::from_secs(1),
            head_time: guard::MOST_HEAD_TIME,
            host: Host::here(),
        }
    }
}

/// What all requests share.
pub(crate) struct Shared {
    path: PathBuf,
    /// The root, as it was opened last.
    opened: RwLock<Option<Folder>>,
    table: RwLock<Table>,
    named: RwLock<Arc<BTreeMap<String, Arc<Run>>>>,
    changes: broadcast::Sender<Arc<str>>,
    pub columns: Mutex<Columns>,
    pub watchers: Arc<Semaphore>,
    pub episodes: Arc<Semaphore>,
    pub comparisons: Arc<Semaphore>,
    pub host: Host,
}

impl Shared {
    fn new(options: &Options) -> Self {
        let seats = |count| Arc::new(Semaphore::new(count));
        Self {
            path: options.root.clone(),
            opened: RwLock::new(None),
            table: RwLock::default(),
            named: RwLock::default(),
            changes: broadcast::channel(BEHIND).0,
            columns: Mutex::default(),
            watchers: seats(guard::MOST_WATCHERS),
            episodes: seats(guard::MOST_EPISODES),
            comparisons: seats(guard::MOST_COMPARISONS),
            host: options.host.clone(),
        }
    }

    /// What is known of all runs.
    pub fn table(&self) -> Table {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What each run is.
    pub fn named(&self) -> Arc<BTreeMap<String, Arc<Run>>> {
        self.named.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The present table, and all changes from there on.
    pub fn subscribe(&self) -> (broadcast::Receiver<Arc<str>>, Table) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        (self.changes.subscribe(), table.clone())
    }

    /// The root.
    pub fn root(&self) -> Result<Folder> {
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner).clone();
        opened.ok_or_else(|| Error::NoFile(".".to_owned()))
    }

    /// The folder of a run that is in the table.
    pub fn run_folder(&self, id: &str) -> Result<Folder> {
        match self.table().runs.contains_key(id) {
            true => self.folder(id),
            false => Err(Error::NoRun(id.to_owned())),
        }
    }

    /// A folder below the root.
    pub fn folder(&self, id: &str) -> Result<Folder> {
        open_below(&self.root()?, id).ok_or_else(|| Error::NoRun(id.to_owned()))
    }

    /// Does work that reads files, apart from the threads that answer requests.
    pub async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let done = tokio::task::spawn_blocking(move || work(&self)).await;
        done.map_err(|error| Error::Task(error.to_string()))?
    }

    /// Looks at the folders once, and tells who listens.
    fn look(&self, scanner: &mut Scanner) {
        let Ok(root) = Folder::open(&self.path) else { return };
        let table = scanner.look(&root);
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Some(root);
        *self.named.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(scanner.named());
        let mut known = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let change = table.since(&known);
        *known = table;
        if let Some(json) = change.and_then(|change| serde_json::to_string(&change).ok()) {
            // Nobody may be listening.
            let _ = self.changes.send(json.into());
        }
    }
}

/// A server that has its address and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    shared: Arc<Shared>,
    interval: Duration,
    head_time: Duration,
}

impl Server {
    /// Takes the address, and looks at the folders for the first time.
    pub fn bind(options: &Options) -> Result<Self> {
        if let Err(error) = Folder::open(&options.root)
            && !(options.may_be_missing && error.is_not_found())
        {
            return Err(Error::Root { path: options.root.clone(), reason: reason(&error) });
        }
        let listener = listen(options)?;
        let address = listener.local_addr().map_err(Error::Start)?;
        let guard = Guard::new(address, &options.host_name)?;
        let shared = Arc::new(Shared::new(options));
        let Options { interval, head_time, .. } = *options;
        Ok(Self { listener, address, guard, shared, interval, head_time })
    }

    /// The link to open in a browser.
    pub fn link(&self) -> String {
        self.guard.link()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests, on threads of its own, until it is stopped.
    pub fn start(self) -> Result<Running> {
        let Self { listener, address, guard, shared, interval, head_time } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(16)
            .thread_name(THREADS)
            .enable_all()
            .build()
            .map_err(Error::Start)?;
        listener.set_nonblocking(true).map_err(Error::Start)?;
        let mut scanner = Scanner::default();
        shared.look(&mut scanner);
        let ended = Arc::new((Mutex::new(false), Condvar::new()));
        let (stop, stopped) = signal::channel(false);
        let (kept, told) = (shared.clone(), ended.clone());
        let looking = thread(move || keep_looking(&kept, scanner, interval, &told))?;
        let serving = thread(move || {
            let app = router(guard, shared);
            runtime.block_on(serve(listener, app, head_time, stopped));
            // Pages that still listen, and episodes that are played, do not keep the program.
            runtime.shutdown_background();
        })?;
        Ok(Running { address, stop, ended, threads: vec![looking, serving] })
    }
}

/// A thread by whose name one sees what the server takes of the machine.
fn thread(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(THREADS.to_owned()).spawn(work).map_err(Error::Start)
}

/// The words of the system, without the path that is named beside them.
fn reason(error: &adfq_files::Error) -> String {
    match error {
        adfq_files::Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

fn listen(options: &Options) -> Result<TcpListener> {
    let Options { host_name, port, any_port, .. } = options;
    let failed = |source| Error::Listen { address: format!("{host_name}:{port}"), source };
    let addresses: Vec<SocketAddr> = (host_name.as_str(), *port).to_socket_addrs().map_err(failed)?.collect();
    match TcpListener::bind(&addresses[..]) {
        Err(error) if *any_port && error.kind() == std::io::ErrorKind::AddrInUse => {
            let free: Vec<SocketAddr> = addresses.iter().map(|it| SocketAddr::new(it.ip(), 0)).collect();
            TcpListener::bind(&free[..]).map_err(failed)
        }
        bound => bound.map_err(failed),
    }
}

/// A server that answers requests. It stops when this is dropped.
pub struct Running {
    address: SocketAddr,
    stop: signal::Sender<bool>,
    ended: Arc<(Mutex<bool>, Condvar)>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it.
    pub fn stop(self) {}
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.1.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Looks at the folders until the end, rarely enough that a training beside it does not notice.
fn keep_looking(
    shared: &Shared,
    mut scanner: Scanner,
    interval: Duration,
    (ended, signal): &(Mutex<bool>, Condvar),
) {
    let mut took = Duration::ZERO;
    loop {
        let pause = interval.max(took * (RARELY - 1));
        let guard = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let (over, _) =
            signal.wait_timeout_while(guard, pause, |over| !*over).unwrap_or_else(PoisonError::into_inner);
        if *over {
            return;
        }
        drop(over);
        let begun = Instant::now();
        shared.look(&mut scanner);
        took = begun.elapsed();
    }
}

fn router(guard: Guard, shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/page/{*name}", get(page::other))
        .route("/api/runs", get(runs))
        .route("/api/events", get(events::events))
        .route("/api/curves", post(curves::curves))
        .route("/api/bands", post(curves::bands))
        .route("/api/checkpoints", get(watch::checkpoints))
        .route("/api/episode", get(watch::episode))
        .route("/api/recording", get(watch::recording))
        .route("/api/compare", post(compare::compare))
        .route("/api/compare/report", post(compare::report))
        .route("/api/presets", get(explorer::presets))
        .route("/api/update", post(explorer::update))
        .route("/report/{*path}", get(files::report))
        .layer(DefaultBodyLimit::max(guard::MOST_BODY))
        .layer(middleware::from_fn_with_state(Arc::new(guard), guard::guarded))
        .with_state(shared)
}

/// `GET /api/runs`: everything that is known of the runs.
async fn runs(State(shared): State<Arc<Shared>>) -> Json<Table> {
    Json(shared.table())
}

/// Answers connections until it is told to stop. The head of a request must arrive in time, and there is a limit to the number
/// of connections.
async fn serve(listener: TcpListener, app: Router, head_time: Duration, mut stopped: signal::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let seats = Arc::new(Semaphore::new(guard::MOST_CONNECTIONS));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head_time).max_buf_size(MOST_HEAD);
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, say: what is open may end.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let connection =
            builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
        tokio::spawn(async move {
            let _seat = seat;
            // A client that breaks off is its own business.
            let _ = connection.await;
        });
    }
}
