//! One worker process: how it is started, what is said to it, and how it ends.

use super::Kind;
use super::memory::{Layout, Memory};
use crate::{Args, Element, EnvSpec, Error, Gym, Picture, Purpose, Result, Space};
use adfq::mdp::closest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("worker.py");

const RING: u8 = b'r';
const MESSAGE: u8 = b'm';
const FAILED: u8 = b'f';

/// How often the end of a step is looked for before the program goes to sleep, others being let in between, and how often
/// at a time: some 1,000 microseconds in all, in which an Atari game is emulated.
const LOOKS: u32 = 2_000;
const GLANCES: u32 = 16;
/// Every so many steps it is tried again whether looking pays.
const TRY_AGAIN: u32 = 64;
/// A sleeper looks again after this time: Python has no fence, so its ring may, very rarely, be forgotten.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// How long environments may take to close.
const FAREWELL: Duration = Duration::from_secs(5);

/// What to make, as the worker reads it.
#[derive(Serialize)]
struct Order<'a> {
    kind: &'a str,
    id: &'a str,
    count: usize,
    args: &'a Args,
    path: &'a [PathBuf],
    purpose: &'a str,
    pictures: bool,
}

/// What was made, as the worker says it.
#[derive(Deserialize)]
struct Made {
    frame: Vec<usize>,
    element: String,
    scale: f32,
    stack: usize,
    actions: usize,
    names: Option<Vec<String>>,
}

/// The memory, and which of its environments are the worker's.
#[derive(Serialize)]
struct Share {
    #[serde(flatten)]
    layout: Layout,
    first: usize,
    count: usize,
    done: usize,
    asleep: usize,
    spin: bool,
}

#[derive(Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request<'a> {
    Reset { seeds: &'a [Option<u64>] },
    Render,
    Close,
}

/// Why a worker cannot go on, as it says it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Failure {
    Package { package: String, install: String },
    Id { reason: String },
    Game { games: Vec<String> },
    Space { what: String, space: String },
    Raised { error: String, traceback: String, env: Option<usize> },
}

/// A running worker.
pub(super) struct Worker {
    child: Child,
    control: UnixStream,
    name: String,
    python: PathBuf,
    timeout: Duration,
    /// Its number, and that of its first environment.
    index: usize,
    first: usize,
    /// Whether both sides look for each other before they sleep.
    spin: bool,
    /// Whether the last answer came while it was looked for.
    quick: bool,
    waits: u32,
    /// Whether it still answers.
    sound: bool,
}

impl Worker {
    /// Starts a worker and tells it what to make; [`Worker::made`] waits until it has. So several start side by side.
    pub fn start(
        spec: &EnvSpec,
        gym: &Gym,
        (kind, id): (Kind, &str),
        index: usize,
        part: Range<usize>,
    ) -> Result<Self> {
        let &Gym { timeout, spin, .. } = gym;
        let python = gym.interpreter()?;
        let no_socket = |source| Error::Start { python: python.clone(), source };
        let (control, theirs) = UnixStream::pair().map_err(no_socket)?;
        control.set_read_timeout(Some(timeout.max(Duration::from_millis(1)))).map_err(no_socket)?;
        let child = Command::new(&python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(theirs))
            // A group of its own: Ctrl-C is for the program, which saves first.
            .process_group(0)
            .spawn()
            .map_err(|source| match source.kind() {
                ErrorKind::NotFound => Error::NoPython { tried: python.display().to_string() },
                _ => Error::Start { python: python.clone(), source },
            })?;
        let name = spec.name.clone();
        let (first, count) = (part.start, part.len());
        let mut worker = Self {
            child,
            control,
            name,
            python,
            timeout,
            index,
            first,
            spin,
            quick: spin,
            waits: 0,
            sound: true,
        };
        let purpose = match spec.purpose {
            Purpose::Training => "training",
            Purpose::Evaluation => "evaluation",
        };
        let (args, path, pictures) = (&spec.args, &gym.path, spec.pictures);
        worker.say(&Order { kind: kind.name(), id, count, args, path, purpose, pictures })?;
        Ok(worker)
    }

    /// The space of what it made, and what the actions are called.
    pub fn made(&mut self) -> Result<(Space, Option<Vec<String>>)> {
        let Made { frame, element, scale, stack, actions, names } = self.hear()?;
        let element = if element == "f32" { Element::F32 } else { Element::U8 { scale } };
        Ok((Space { frame, element, stack, actions }, names))
    }

    /// Hands over the memory, `count` of whose environments are the worker's.
    pub fn share(&mut self, memory: &Memory, count: usize) -> Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let (mut buffer, files) = (SendAncillaryBuffer::new(&mut space), [memory.file().as_fd()]);
        buffer.push(SendAncillaryMessage::ScmRights(&files));
        let sent = sendmsg(&self.control, &[IoSlice::new(&[MESSAGE])], &mut buffer, SendFlags::NOSIGNAL);
        sent.map_err(|error| self.lost(error.into()))?;
        let (done, asleep) = memory.worker(self.index);
        let share =
            Share { layout: *memory.layout(), first: self.first, count, done, asleep, spin: self.spin };
        self.say_body(&share)?;
        self.hear::<Args>().map(drop)
    }

    /// Starts an episode in each of its environments.
    pub fn reset(&mut self, seeds: &[Option<u64>]) -> Result<()> {
        self.say(&Request::Reset { seeds })
    }

    /// Waits for the end of [`Worker::reset`].
    pub fn was_reset(&mut self) -> Result<()> {
        self.hear::<Args>().map(drop)
    }

    /// A picture of its first environment.
    pub fn render(&mut self) -> Result<Picture> {
        #[derive(Deserialize)]
        struct Size {
            width: usize,
            height: usize,
        }
        self.say(&Request::Render)?;
        let Size { width, height } = self.hear()?;
        let mut rgb = vec![0; 3 * width * height];
        self.read(&mut rgb)?;
        Ok(Picture { width, height, rgb })
    }

    /// Wakes the worker if it does not see by itself that a step was asked for.
    pub fn step(&mut self, memory: &Memory) -> Result<()> {
        if self.spin && !memory.sleeps(self.index) { Ok(()) } else { self.write(&[RING]) }
    }

    /// Waits until the step is done.
    pub fn stepped(&mut self, memory: &Memory) -> Result<()> {
        if self.look(memory) {
            return Ok(());
        }
        memory.sleep(true);
        let awake = self.sleep(memory);
        memory.sleep(false);
        awake
    }

    /// Looks for the end of the step without sleeping, if that paid the last time: waking up takes longer than a step of
    /// a small environment.
    fn look(&mut self, memory: &Memory) -> bool {
        self.waits = self.waits.wrapping_add(1);
        if !(self.quick || self.spin && self.waits.is_multiple_of(TRY_AGAIN)) {
            return false;
        }
        for _ in 0..LOOKS {
            for _ in 0..GLANCES {
                if memory.done(self.index) {
                    self.quick = true;
                    return true;
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        self.quick = false;
        false
    }

    /// Sleeps until the worker rings or says that it failed.
    fn sleep(&mut self, memory: &Memory) -> Result<()> {
        let begun = Instant::now();
        loop {
            if self.spin && memory.done(self.index) {
                return Ok(());
            }
            let mut files = [PollFd::new(&self.control, PollFlags::IN)];
            match poll(&mut files, Some(&NAP)) {
                Ok(0) if begun.elapsed() > self.timeout => return Err(self.lost(ErrorKind::TimedOut.into())),
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(self.lost(error.into())),
            }
            match self.answer()? {
                RING if memory.done(self.index) => return Ok(()),
                RING => {}
                answer => return Err(self.failure(answer)),
            }
        }
    }

    fn answer(&mut self) -> Result<u8> {
        let mut answer = [0];
        self.read(&mut answer)?;
        Ok(answer[0])
    }

    fn say(&mut self, message: &impl Serialize) -> Result<()> {
        self.write(&[MESSAGE])?;
        self.say_body(message)
    }

    fn say_body(&mut self, message: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(message).map_err(|error| self.lost(error.into()))?;
        let length = (text.len() as u32).to_le_bytes();
        self.write(&[&length[..], &text].concat())
    }

    fn hear<T: DeserializeOwned>(&mut self) -> Result<T> {
        loop {
            match self.answer()? {
                MESSAGE => return self.hear_body(),
                // It woke a program that had woken up already.
                RING => {}
                answer => return Err(self.failure(answer)),
            }
        }
    }

    fn hear_body<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut length = [0; 4];
        self.read(&mut length)?;
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        self.read(&mut text)?;
        serde_json::from_slice(&text).map_err(|error| self.lost(error.into()))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        (&self.control).read_exact(bytes).map_err(|error| self.lost(error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        (&self.control).write_all(bytes).map_err(|error| self.lost(error))
    }

    /// The worker says that it cannot go on.
    fn failure(&mut self, answer: u8) -> Error {
        let failure = match answer {
            FAILED => self.hear_body(),
            other => Err(self.lost(io::Error::other(format!("it said {other} where that has no meaning")))),
        };
        self.end();
        let (env, python) = (self.name.clone(), self.python.clone());
        match failure {
            Err(error) => error,
            Ok(Failure::Package { package, install }) => Error::Package { env, python, package, install },
            Ok(Failure::Id { reason }) => Error::Gymnasium { env, reason },
            Ok(Failure::Game { games }) => {
                let wanted = env.trim_start_matches("atari:").to_lowercase();
                let (closest, known) = (closest(&wanted, &games), games.join(", "));
                let closest = if closest.is_empty() { closest } else { format!("atari:{closest}") };
                Error::Name { name: env, closest, known }
            }
            Ok(Failure::Space { what, space }) => Error::Space { env, what, space },
            Ok(Failure::Raised { error, traceback, env: place }) => {
                let place = place.map_or_else(String::new, |i| format!(" (environment {})", self.first + i));
                Error::Raised { env: env + &place, error, traceback }
            }
        }
    }

    /// The worker does not answer any more: it took too long, or it is gone.
    fn lost(&mut self, error: io::Error) -> Error {
        let env = self.name.clone();
        let status = self.end();
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Error::Hung { env, seconds: self.timeout.as_secs_f64() }
            }
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                Error::Died { env, status }
            }
            _ => Error::Talk { env, source: error },
        }
    }

    /// Makes sure that the process and its children are gone, and says how it ended if that was before.
    fn end(&mut self) -> String {
        self.sound = false;
        let ended = self.child.try_wait().ok().flatten();
        // The group outlives its leader while it has other members.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let status = ended.or_else(|| self.child.wait().ok());
        status.map_or_else(|| "for reasons unknown".to_owned(), |status| status.to_string())
    }
}

impl Drop for Worker {
    /// Environments are closed, which may stop programs of their own.
    fn drop(&mut self) {
        if self.sound && self.control.set_read_timeout(Some(FAREWELL)).is_ok() {
            // Whatever goes wrong now, the end is the same.
            let _ = self.say(&Request::Close).and_then(|()| self.hear::<Args>());
        }
        self.end();
    }
}
