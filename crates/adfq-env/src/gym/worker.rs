//! One worker process: how it is started, what is said to it, and how it ends.

use super::Kind;
use super::failure::Failure;
use super::memory::{Layout, Memory};
use super::python::without_current_folder;
use crate::{Args, Element, EnvSpec, Error, Gym, Modules, Picture, Purpose, Result, Space};
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

/// Four files and a call. The first makes sure that the others import from nowhere foreign.
const SCRIPT: &str = concat!(
    include_str!("worker.py"),
    include_str!("environments.py"),
    include_str!("modules.py"),
    include_str!("spaces.py"),
    "\n\nmain()\n"
);

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
/// How long a worker may take at least until its environments are made: imports take as long as they take.
const STARTING: Duration = Duration::from_secs(60);

/// What to make, as the worker reads it.
#[derive(Serialize)]
struct Order<'a> {
    kind: &'a str,
    id: &'a str,
    count: usize,
    args: &'a Args,
    wrappers: &'a [String],
    path: &'a [PathBuf],
    modules: Modules,
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

/// A running worker.
pub(super) struct Worker {
    child: Child,
    control: UnixStream,
    name: String,
    python: PathBuf,
    /// How long it may take for what it does now, and for every answer once it has started.
    timeout: Duration,
    answer_timeout: Duration,
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
        let path = std::env::var_os("PYTHONPATH").and_then(|path| without_current_folder(&path));
        let child = Command::new(&python)
            .args(["-c", SCRIPT])
            .envs(path.map(|path| ("PYTHONPATH", path)))
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(theirs))
            // A group of its own: Ctrl-C is for the program, which saves first.
            .process_group(0)
            .spawn()
            .map_err(|source| match source.kind() {
                ErrorKind::NotFound => Error::NoPython { tried: python.display().to_string() },
                _ => Error::Start { python: python.clone(), source },
            })?;
        // It may come from a file: what would move the cursor is written out.
        let name = spec.name.escape_debug().to_string();
        let (first, count) = (part.start, part.len());
        let mut worker = Self {
            child,
            control,
            name,
            python,
            timeout: timeout.max(STARTING),
            answer_timeout: timeout,
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
        let EnvSpec { args, wrappers, pictures, .. } = spec;
        let (path, modules, pictures) = (&gym.path, gym.modules, *pictures);
        worker.say(&Order {
            kind: kind.name(),
            id,
            count,
            args,
            wrappers,
            path,
            modules,
            purpose,
            pictures,
        })?;
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
        self.hear::<Args>()?;
        self.timeout = self.answer_timeout;
        Ok(())
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
            if !self.listen(begun)? {
                continue;
            }
            match self.answer()? {
                RING if memory.done(self.index) => return Ok(()),
                RING => {}
                answer => return Err(self.failure(answer)),
            }
        }
    }

    /// Waits a moment for something to read, and says whether there is. An error if the worker is gone, though a child of
    /// it may still hold the socket, or if it has taken too long since `begun`.
    fn listen(&mut self, begun: Instant) -> Result<bool> {
        if self.has_spoken(&NAP)? {
            return Ok(true);
        }
        let is_gone = self.child.try_wait().is_ok_and(|status| status.is_some());
        match () {
            // Its last words may have come in between.
            () if is_gone && self.has_spoken(&Timespec::default())? => Ok(true),
            () if is_gone => Err(self.lost(ErrorKind::UnexpectedEof.into())),
            () if begun.elapsed() > self.timeout => Err(self.lost(ErrorKind::TimedOut.into())),
            () => Ok(false),
        }
    }

    fn has_spoken(&mut self, within: &Timespec) -> Result<bool> {
        match poll(&mut [PollFd::new(&self.control, PollFlags::IN)], Some(within)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(self.lost(error.into())),
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
        let (begun, mut rest) = (Instant::now(), bytes);
        while !rest.is_empty() {
            if !self.listen(begun)? {
                continue;
            }
            match (&self.control).read(rest) {
                Ok(0) => return Err(self.lost(ErrorKind::UnexpectedEof.into())),
                Ok(count) => rest = &mut rest[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(error)),
            }
        }
        Ok(())
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
            Ok(failure) => Failure::error(failure, env, &python, self.first),
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

    /// Whether it still answers.
    pub fn is_sound(&self) -> bool {
        self.sound
    }

    /// Makes sure that the process and its children are gone, and says how it ended if that was before.
    pub fn end(&mut self) -> String {
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
        if self.sound {
            self.timeout = FAREWELL;
            // Whatever goes wrong now, the end is the same.
            let _ = self.say(&Request::Close).and_then(|()| self.hear::<Args>());
        }
        self.end();
    }
}
