//! A GPU: its context, its stream, and what to say when there is none.

use super::compile::compile;
use super::graph::{Event, Graph};
use super::launch::{self, Module};
use crate::{Error, Result};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, sys};
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A GPU and the one stream on which everything of it runs, in order, but for what is put [`aside`](Device::aside) until it is
/// joined. Cheap to clone; a clone has the same stream, and [`Device::beside`] another.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

/// Streams beside the first. The gradients of as many layers are computed at once: those of one copy leave most of a GPU to
/// others.
const SIDES: usize = 3;

/// Memory that a captured graph uses.
pub(super) type Kept = Vec<Arc<dyn Any + Send + Sync>>;

#[derive(Debug)]
struct Inner {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// For work that does not depend on what follows on the first; joined before the call returns.
    sides: [Arc<CudaStream>; SIDES],
    /// The moment of the last fork or join. It is made once: to make one takes the driver as long as to launch a kernel.
    moment: Arc<CudaEvent>,
    /// How many forks there were since the last join: the sides take turns.
    forks: AtomicUsize,
    /// While a graph is captured: what it must keep alive.
    capture: Mutex<Option<Kept>>,
    /// What was compiled already.
    modules: Arc<Mutex<Modules>>,
}

/// Modules by source and precision.
type Modules = HashMap<(String, bool), Compiled>;

/// A module, once it is compiled. Others that need the same one wait for it.
type Compiled = Arc<Mutex<Option<Module>>>;

/// Whether there is a GPU, a driver and the run-time compiler.
pub fn available() -> bool {
    Device::open(0).is_ok()
}

impl Device {
    /// Opens the GPU of this number. The error says in one line what is missing and what to do.
    ///
    /// ```
    /// use adfq_nn::cuda::Device;
    ///
    /// match Device::open(0) {
    ///     Ok(device) => println!("{}", device.name()?),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok::<(), adfq_nn::Error>(())
    /// ```
    pub fn open(ordinal: usize) -> Result<Self> {
        let missing =
            |what: &str, todo: &str| Error::NoDevice { ordinal, what: what.into(), todo: todo.into() };
        let (driver, compiler) = launch::libraries();
        if !driver {
            return Err(missing("there is no NVIDIA driver (libcuda)", "install it, or use the CPU"));
        }
        if !compiler {
            let todo = "install the CUDA toolkit 12 or 13, or put its folder on LD_LIBRARY_PATH";
            return Err(missing("the run-time compiler (libnvrtc) is not found", todo));
        }
        let count = CudaContext::device_count().map_err(|error| {
            missing(&format!("the driver does not start ({error})"), "look at nvidia-smi")
        })?;
        if ordinal >= count.max(0) as usize {
            return Err(missing(&format!("there are {count} GPUs"), "name one of them, or use the CPU"));
        }
        let context = launch::open(ordinal)?;
        if context.compute_capability()?.0 < 8 {
            return Err(missing("it is too old for TF32", "use a GPU of compute capability 8.0 or later"));
        }
        Self::new(&context, &Arc::default())
    }

    fn new(context: &Arc<CudaContext>, modules: &Arc<Mutex<Modules>>) -> Result<Self> {
        let new = || launch::stream(context);
        let moment = Arc::new(context.new_event(None)?);
        Ok(Self::with_streams(context, modules, moment, new()?, [new()?, new()?, new()?]))
    }

    fn with_streams(
        context: &Arc<CudaContext>,
        modules: &Arc<Mutex<Modules>>,
        moment: Arc<CudaEvent>,
        stream: Arc<CudaStream>,
        sides: [Arc<CudaStream>; SIDES],
    ) -> Self {
        Self(Arc::new(Inner {
            context: context.clone(),
            stream,
            sides,
            moment,
            forks: AtomicUsize::new(0),
            capture: Mutex::new(None),
            modules: modules.clone(),
        }))
    }

    /// The same GPU with streams of its own: for another thread, whose work is neither captured here nor waited for. What was
    /// compiled is shared.
    pub fn beside(&self) -> Result<Self> {
        Self::new(&self.0.context, &self.0.modules)
    }

    /// The same with one stream, for copies.
    pub fn for_copies(&self) -> Result<Self> {
        // Another thread has it, so it needs a moment of its own.
        let moment = Arc::new(self.0.context.new_event(None)?);
        Ok(self.on(launch::stream(&self.0.context)?, moment))
    }

    /// This GPU with this stream alone: nothing runs beside it.
    fn on(&self, stream: Arc<CudaStream>, moment: Arc<CudaEvent>) -> Self {
        let sides = std::array::from_fn(|_| stream.clone());
        Self::with_streams(&self.0.context, &self.0.modules, moment, stream, sides)
    }

    /// What the driver calls it.
    pub fn name(&self) -> Result<String> {
        Ok(self.0.context.name()?)
    }

    /// Number of multiprocessors.
    pub fn multiprocessors(&self) -> Result<usize> {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        Ok(self.0.context.attribute(attribute)? as usize)
    }

    /// Bytes of shared memory that a block can have.
    pub(super) fn shared_memory(&self) -> Result<usize> {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        Ok(self.0.context.attribute(attribute)? as usize)
    }

    /// Waits until everything is done.
    pub fn synchronise(&self) -> Result<()> {
        Ok(self.0.stream.synchronize()?)
    }

    /// Compiles CUDA C++ of the caller's, whose kernels are `extern "C"`.
    pub fn compile(&self, source: &str) -> Result<Module> {
        self.compile_with(source, false)
    }

    pub(super) fn compile_with(&self, source: &str, precise: bool) -> Result<Module> {
        let key = (source.to_owned(), precise);
        let compiled = locked(&self.0.modules).entry(key).or_default().clone();
        let mut compiled = locked(&compiled);
        if let Some(module) = &*compiled {
            return Ok(module.clone());
        }
        let code = compile(source, self.0.context.compute_capability()?, precise)?;
        let module = launch::load(&self.0.context, code)?;
        Ok(compiled.insert(module).clone())
    }

    /// The same GPU with another stream as its first, after everything that is on the first now: for work that may run beside
    /// what is put on the first, until [`Device::join`].
    pub fn aside(&self) -> Result<Self> {
        Ok(self.on(self.fork()?.clone(), self.0.moment.clone()))
    }

    /// Captures what `work` puts on the stream instead of running it. It may neither wait nor allocate.
    pub fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        *self.kept() = Some(Vec::new());
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let begun = self.0.stream.begin_capture(mode);
        let done = if begun.is_ok() { work() } else { Ok(()) };
        let graph = begun.and_then(|()| self.0.stream.end_capture(sys::CUgraphInstantiate_flags(0)));
        let kept = self.kept().take().unwrap_or_default();
        done?;
        let graph = graph?.ok_or_else(|| Error::Cuda { what: "nothing was captured".into() })?;
        Ok(Graph::new(graph, kept))
    }

    /// A moment on the stream, to measure time from or to.
    pub fn event(&self) -> Result<Event> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        Ok(Event::new(self.0.stream.record_event(Some(flags))?))
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        &self.0.stream
    }

    /// Another stream, after everything that is on the first now.
    pub(super) fn fork(&self) -> Result<&Arc<CudaStream>> {
        let side = &self.0.sides[self.0.forks.fetch_add(1, Ordering::Relaxed) % SIDES];
        self.follow(side, &self.0.stream)?;
        Ok(side)
    }

    /// What follows on the first stream waits for what was put on others since the last time.
    pub fn join(&self) -> Result<()> {
        let forks = self.0.forks.swap(0, Ordering::Relaxed);
        self.0.sides.iter().take(forks).try_for_each(|side| self.follow(&self.0.stream, side))
    }

    /// What is put on a stream from now on waits for everything that is on another now.
    fn follow(&self, stream: &CudaStream, other: &CudaStream) -> Result<()> {
        self.0.moment.record(other)?;
        Ok(stream.wait(&self.0.moment)?)
    }

    /// Notes that a graph in capture uses this memory.
    pub(super) fn keep(&self, memory: impl FnOnce() -> Arc<dyn Any + Send + Sync>) {
        if let Some(kept) = self.kept().as_mut() {
            kept.push(memory());
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        locked(&self.0.capture)
    }
}

/// What a panicking thread leaves behind is whole: it is put in place in one step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
