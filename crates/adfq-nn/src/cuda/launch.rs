//! The unsafe code of this crate, but for the compiler: launches, copies, loading. Everything that calls it checks lengths first.
#![allow(unsafe_code)]

use super::buffer::Buffer;
use super::device::Device;
use crate::{Error, Result};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    LaunchConfig, PushKernelArg, ValidAsZeroBits, result, sys,
};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// Kernels compiled for a device.
#[derive(Clone, Debug)]
pub struct Module(Arc<CudaModule>);

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel(CudaFunction);

/// An argument of a kernel of the caller's.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Scalar {
    /// A pointer, from [`Buffer::address`](super::Buffer::address).
    Address(u64),
    /// `int`
    I32(i32),
    /// `unsigned int`
    U32(u32),
    /// `long long`
    I64(i64),
    /// `unsigned long long`
    U64(u64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
}

/// The one argument of each kernel of this crate, as the kernel sees it.
///
/// # Safety
/// The type is `repr(C)`, plain data, and the same as the kernel's parameter.
pub(super) unsafe trait Parameter: Copy {}

#[repr(transparent)]
struct Bits<P>(P);
// SAFETY: `Parameter` promises that the type may be handed to a kernel as it is.
unsafe impl<P: Parameter> DeviceRepr for Bits<P> {}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        Self::Cuda { what: error.to_string() }
    }
}

/// Whether the libraries of the driver and of the compiler can be loaded.
pub(super) fn libraries() -> (bool, bool) {
    // SAFETY: loading NVIDIA's libraries runs their initialisers, which have no preconditions.
    unsafe { (sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) }
}

/// A context for a device.
pub(super) fn open(ordinal: usize) -> Result<Arc<CudaContext>> {
    let context = CudaContext::new(ordinal)?;
    // SAFETY: all work of a device is on one stream, in order, or between a fork and a join of it, so no events are needed
    // between uses of a buffer.
    unsafe { context.disable_event_tracking() };
    Ok(context)
}

/// One stream more.
pub(super) fn stream(context: &Arc<CudaContext>) -> Result<Arc<CudaStream>> {
    Ok(context.new_stream()?)
}

/// Loads what was compiled for this device.
pub(super) fn load(context: &Arc<CudaContext>, code: Vec<u8>) -> Result<Module> {
    Ok(Module(context.load_module(Ptx::from_binary(code))?))
}

impl Module {
    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        Ok(Kernel(self.0.load_function(name)?))
    }
}

impl Kernel {
    /// Allows launches with so many bytes of dynamic shared memory.
    pub fn allow_shared(&self, bytes: u32) -> Result<()> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        Ok(self.0.set_attribute(attribute, bytes as i32)?)
    }

    /// Launches a kernel of the caller's on the device's stream: blocks along three axes, threads of each, and bytes of
    /// shared memory of each.
    ///
    /// # Safety
    /// The arguments are those of the kernel, in number, order and type, and it keeps within its buffers.
    pub unsafe fn launch(
        &self,
        device: &Device,
        grid: (u32, u32, u32),
        threads: u32,
        shared: u32,
        arguments: &[Scalar],
    ) -> Result<()> {
        let shape = LaunchConfig { grid_dim: grid, block_dim: (threads, 1, 1), shared_mem_bytes: shared };
        let mut builder = device.stream().launch_builder(&self.0);
        for argument in arguments {
            match argument {
                Scalar::Address(value) | Scalar::U64(value) => builder.arg(value),
                Scalar::I32(value) => builder.arg(value),
                Scalar::U32(value) => builder.arg(value),
                Scalar::I64(value) => builder.arg(value),
                Scalar::F32(value) => builder.arg(value),
                Scalar::F64(value) => builder.arg(value),
            };
        }
        // SAFETY: the caller's promise.
        unsafe { builder.launch(shape) }?;
        Ok(())
    }

    /// Launches a kernel of this crate, whose one parameter is `P`.
    pub(super) fn run<P: Parameter>(
        &self,
        device: &Device,
        grid: (usize, usize, usize),
        threads: usize,
        shared: usize,
        parameter: P,
    ) -> Result<()> {
        self.run_on(device.stream(), grid, threads, shared, parameter)
    }

    /// The same on a stream of the device.
    pub(super) fn run_on<P: Parameter>(
        &self,
        stream: &CudaStream,
        grid: (usize, usize, usize),
        threads: usize,
        shared: usize,
        parameter: P,
    ) -> Result<()> {
        let size = |n: usize| u32::try_from(n).map_err(|_| Error::TooLarge);
        let shape = LaunchConfig {
            grid_dim: (size(grid.0)?, size(grid.1)?, size(grid.2)?),
            block_dim: (size(threads)?, 1, 1),
            shared_mem_bytes: size(shared)?,
        };
        let parameter = Bits(parameter);
        let mut builder = stream.launch_builder(&self.0);
        builder.arg(&parameter);
        // SAFETY: the kernel was written for `P`; the plan that filled it in sized all buffers, which outlive the launch
        // because memory is freed in the order of the stream.
        unsafe { builder.launch(shape) }?;
        Ok(())
    }
}

/// Zeros on the device.
pub(super) fn zeros<T: DeviceRepr + ValidAsZeroBits>(
    stream: &Arc<CudaStream>,
    len: usize,
) -> Result<CudaSlice<T>> {
    Ok(stream.alloc_zeros(len.max(1))?)
}

/// Where a buffer starts.
pub(super) fn address<T>(stream: &Arc<CudaStream>, slice: &CudaSlice<T>) -> u64 {
    slice.device_ptr(stream).0
}

/// Copies to the device, in the order of the stream.
pub(super) fn upload<T: DeviceRepr>(stream: &CudaStream, to: u64, from: &[T]) -> Result<()> {
    stream.context().bind_to_thread()?;
    // SAFETY: the caller checked that `to` has room. `from` is pageable memory, which the driver has read on return.
    Ok(unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }?)
}

/// Copies from the device and waits for it.
pub(super) fn download<T: DeviceRepr>(stream: &CudaStream, from: u64, to: &mut [T]) -> Result<()> {
    stream.context().bind_to_thread()?;
    // SAFETY: the caller checked that `from` holds as much; `to` stays borrowed until the stream is done.
    unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }?;
    Ok(stream.synchronize()?)
}

impl<T: DeviceRepr + ValidAsZeroBits + Copy + Default + Send + Sync + 'static> Buffer<T> {
    /// Puts a copy of all of it to the host on the stream, and does not wait.
    ///
    /// # Safety
    /// `to` is page-locked memory that nothing touches before the device has come to the end of the stream.
    pub unsafe fn download_later(&self, to: &mut [T]) -> Result<()> {
        if to.len() != self.len() {
            return Err(Error::Length { what: "download", needed: self.len(), found: to.len() });
        }
        let stream = self.stream();
        stream.context().bind_to_thread()?;
        // SAFETY: there is as much on both sides; the rest is the caller's promise.
        Ok(unsafe { result::memcpy_dtoh_async(to, self.address(), stream.cu_stream()) }?)
    }

    /// Puts a copy of the numbers from `start` on to the host on the stream of `way`, which may be another than the buffer's
    /// ([`Device::beside`]), and does not wait. It comes after everything that is on the buffer's own stream now.
    ///
    /// # Safety
    /// `to` is page-locked memory that nothing touches before `way` has come to the end of its stream, and what is put on the
    /// buffer's own stream meanwhile does not write to these numbers.
    pub unsafe fn read_later(&self, start: usize, to: &mut [T], way: &Device) -> Result<()> {
        let from = self.part("read", start, to.len())?;
        if to.is_empty() {
            return Ok(());
        }
        let stream = way.stream();
        stream.context().bind_to_thread()?;
        if !Arc::ptr_eq(stream, self.stream()) {
            stream.join(self.stream())?;
        }
        // SAFETY: there is as much on both sides; the rest is the caller's promise.
        Ok(unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }?)
    }
}

mod parameters {
    use super::{super::params, Parameter};
    // SAFETY: all are `repr(C)` and mirror the structs of the kernels' sources, field by field.
    unsafe impl Parameter for params::Forward {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Delta {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Weights {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Thin {}
    // SAFETY: as above.
    unsafe impl Parameter for params::PartSums {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Dueling {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Normal {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Elements {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Adam {}
    // SAFETY: as above.
    unsafe impl Parameter for params::SumAndPrepare {}
    // SAFETY: as above.
    unsafe impl Parameter for params::Target {}
    // SAFETY: as above.
    unsafe impl Parameter for params::FusedForward {}
    // SAFETY: as above.
    unsafe impl Parameter for params::FusedLearn {}
}
