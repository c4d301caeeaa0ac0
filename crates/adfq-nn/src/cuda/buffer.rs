//! Memory on the device.

use super::device::Device;
use super::launch;
use crate::{Error, Result};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, ValidAsZeroBits};
use std::sync::Arc;

/// Numbers on the device.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Device,
    memory: Arc<CudaSlice<T>>,
    len: usize,
}

impl<T: DeviceRepr + ValidAsZeroBits + Copy + Default + Send + Sync + 'static> Buffer<T> {
    /// So many zeros.
    pub fn zeros(device: &Device, len: usize) -> Result<Self> {
        let memory = Arc::new(launch::zeros(device.stream(), len)?);
        Ok(Self { device: device.clone(), memory, len })
    }

    /// A copy of these numbers.
    pub fn of(device: &Device, values: &[T]) -> Result<Self> {
        let mut buffer = Self::zeros(device, values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }

    /// Number of numbers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Overwrites all of it.
    pub fn upload(&mut self, values: &[T]) -> Result<()> {
        self.upload_by(values, &self.device.clone())
    }

    /// The same on the stream of `way`, as [`Device::aside`] gives one. The caller sees to the order of both streams.
    pub fn upload_by(&mut self, values: &[T], way: &Device) -> Result<()> {
        if values.len() != self.len {
            return Err(Error::Length { what: "upload", needed: self.len, found: values.len() });
        }
        launch::upload(way.stream(), self.address(), values)
    }

    /// All of it, when everything before on the stream is done.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.len];
        launch::download(self.device.stream(), self.address(), &mut values)?;
        Ok(values)
    }

    /// Reads from number `start` on as many as there is room for, when everything before on the stream is done.
    pub fn read(&self, start: usize, out: &mut [T]) -> Result<()> {
        let from = self.part("read", start, out.len())?;
        if out.is_empty() { Ok(()) } else { launch::download(self.device.stream(), from, out) }
    }

    /// Overwrites numbers from `start` on. Others that hold this buffer may be reading it: all do so in the stream's order.
    pub fn write(&self, start: usize, values: &[T]) -> Result<()> {
        let to = self.part("write", start, values.len())?;
        if values.is_empty() { Ok(()) } else { launch::upload(self.device.stream(), to, values) }
    }

    /// Where so many numbers lie, if they are within.
    pub(super) fn part(&self, what: &'static str, start: usize, len: usize) -> Result<u64> {
        match start.checked_add(len).filter(|&end| end <= self.len) {
            Some(_) => Ok(self.address() + (start * size_of::<T>()) as u64),
            None => Err(Error::Length { what, needed: start.saturating_add(len), found: self.len }),
        }
    }

    pub(super) fn stream(&self) -> &Arc<CudaStream> {
        self.device.stream()
    }

    /// Where it lies, for a kernel's argument. A graph in capture keeps it alive.
    pub fn address(&self) -> u64 {
        self.device.keep(|| self.memory.clone());
        launch::address(self.device.stream(), &self.memory)
    }
}
