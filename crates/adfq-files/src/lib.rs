//! Files that are whole or absent, versioned and checksummed, and folders that one process holds at a time.
//!
//! A [`Folder`] is held open, and no link in it is ever followed; [`write_atomic`] replaces a file in one step; a [`Container`] is such a file with named sections, for checkpoints;
//! an [`Appender`] grows and can be cut back to a checkpoint; a [`Lock`] keeps other processes out of a folder;
//! [`tensorboard`] writes event files, in the encoding of [`protobuf`]; [`memory`] says how much may still be taken. What stands in the files is
//! decided elsewhere. Nothing here reads a clock.

mod append;
mod atomic;
mod container;
mod error;
mod folder;
mod lock;
pub mod memory;
pub mod protobuf;
pub mod tensorboard;

pub use append::{Appender, Syncer};
pub use atomic::{check_writable, create_folder, remove_stale, replace, write_atomic, write_atomic_with};
pub use container::Container;
pub use error::{Error, Result};
pub use folder::Folder;
pub use lock::Lock;
