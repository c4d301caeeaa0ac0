//! The only unsafe code of this crate: launches of our kernels, and page-locked memory that the device reads and writes.
#![allow(unsafe_code)]

use crate::Result;
use adfq_nn::cuda::{Buffer, Device, Kernel, Scalar};
use cudarc::driver::{DeviceRepr, ValidAsZeroBits, result, sys};
use std::ops::Range;

/// Launches a kernel of `kernels/` in blocks of so many threads. Its arguments come from `memory`, `update` or `fleet`,
/// which made the buffers behind them as large as the sizes in the kernel's source say.
pub(super) fn launch(
    device: &Device,
    kernel: &Kernel,
    grid: (usize, usize),
    threads: u32,
    arguments: &[Scalar],
) -> Result<()> {
    let size = |n: usize| u32::try_from(n).map_err(|_| adfq_nn::Error::TooLarge);
    let grid = (size(grid.0)?, size(grid.1)?, 1);
    // SAFETY: the arguments are those of the kernel; it keeps within buffers that were made with the sizes of its source.
    Ok(unsafe { kernel.launch(device, grid, threads, 0, arguments) }?)
}

/// What a device and the host both can hold.
pub(super) trait Number: bytemuck::Pod + Default + DeviceRepr + ValidAsZeroBits + Send + Sync {}
impl Number for u8 {}
impl Number for f32 {}
impl Number for f64 {}
impl Number for u32 {}

/// Zeroed memory of the host that the device sees at the same address.
#[derive(Debug)]
pub(super) struct Pinned {
    start: *mut u8,
    len: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Pinned {}
// SAFETY: shared access is by volatile reads only.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// So many bytes, for the device whose context this thread used last.
    pub fn new(len: usize) -> Result<Self> {
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let cuda = |error: cudarc::driver::DriverError| adfq_nn::Error::from(error);
        // SAFETY: the memory is zeroed before anything reads it.
        let start = unsafe { result::malloc_host(len.max(1), flags) }.map_err(cuda)?.cast::<u8>();
        // SAFETY: it holds `len` bytes.
        unsafe { start.write_bytes(0, len) };
        Ok(Self { start, len })
    }

    /// Where it lies, for a kernel's argument.
    pub fn address(&self) -> u64 {
        self.start as u64
    }

    /// All of it, to be written. The caller has seen to it that the device is done with it.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes, initialised, and borrowed through `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    /// All of it as numbers.
    pub fn numbers<T: Number>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes())
    }

    /// Puts a copy of numbers of the device's to here on its stream. The caller waits before it looks, and before this goes.
    pub fn receive<T: Number>(&mut self, from: &Buffer<T>) -> Result<()> {
        // SAFETY: page-locked; nobody looks before the device is done.
        Ok(unsafe { from.download_later(self.numbers()) }?)
    }

    /// Puts a copy of some of the device's numbers, from `start` on, to these places here, on the stream of `way`. The caller
    /// waits for that before it looks, before this goes, and before it has these numbers written to.
    pub fn receive_part<T: Number>(
        &mut self,
        from: &Buffer<T>,
        start: usize,
        to: Range<usize>,
        way: &Device,
    ) -> Result<()> {
        // SAFETY: page-locked; nobody looks before the device is done.
        Ok(unsafe { from.read_later(start, &mut self.numbers()[to], way) }?)
    }

    /// A word as it is now: the device may be writing. None beyond the end.
    pub fn word(&self, at: usize) -> Option<u32> {
        // SAFETY: within the memory, and aligned, since it starts at a page.
        (at * 4 + 4 <= self.len).then(|| unsafe { self.start.cast::<u32>().add(at).read_volatile() })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: it came from `malloc_host`. If the context is gone, so is the memory, and nothing is left to do.
        let _ = unsafe { result::free_host(self.start.cast()) };
    }
}
