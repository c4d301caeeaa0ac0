//! The only unsafe code of this crate: memory that an array of numpy owns, that Python writes to, and that Rust reads.
#![allow(unsafe_code)]

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// An array of numpy whose memory is also a slice here. Nobody else may hold a view of it but those it was made for: code
/// that writes there only while Rust calls it, which takes `&mut` of what owns this.
pub struct Shared<T> {
    array: Py<PyArray1<T>>,
    start: *mut T,
    len: usize,
}

// SAFETY: the memory belongs to the array, which this holds; it moves to no other place while it lives.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above. Through `&self` it is only read.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Element> Shared<T> {
    /// Zeros.
    pub fn zeros(py: Python<'_>, len: usize) -> Self {
        let array = PyArray1::zeros(py, len, false);
        Self { start: array.data(), len, array: array.unbind() }
    }

    /// The array, for those that write to it.
    pub fn array<'py>(&self, py: Python<'py>) -> &Bound<'py, PyArray1<T>> {
        self.array.bind(py)
    }

    /// What is there now.
    pub fn get(&self) -> &[T] {
        // SAFETY: an array of one axis that was just made is contiguous and has `len` elements. It cannot be resized while views
        // of it exist, and there is one. Python writes only while the owner is borrowed mutably.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// The same, to write to.
    pub fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `get`; `&mut self` says that nobody reads.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}
