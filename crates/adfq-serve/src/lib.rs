//! A local web page over run folders: runs as they train, their curves, what agents believe while they play, comparisons, and
//! the ADFQ update to play with.
//!
//! The folder is the only source of truth. Nothing is ever written there, and a server can be ended and started again at any
//! time. [`runs`] says what lies under the root, `scan` looks for changes, [`events`] tells the page of them. [`curves`],
//! [`watch`], [`compare`], [`explorer`] and [`files`] answer the page; [`guard`] decides who may ask at all, and `page` has the
//! files of the page itself. The numbers come from the other crates: nothing is measured or learned here.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! use adfq_serve::{Options, Server};
//! use std::io::{Read, Write};
//!
//! let server = Server::bind(&Options { port: 0, ..Options::new(folder.path()) })?;
//! let (link, address) = (server.link().to_owned(), server.address());
//! let running = server.start()?;
//! let mut client = std::net::TcpStream::connect(address).unwrap();
//! write!(client, "GET /api/runs HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).unwrap();
//! assert!(link.starts_with("http://127.0.0.1:") && answer.starts_with("HTTP/1.1 200"));
//! running.stop();
//! # Ok::<(), adfq_serve::Error>(())
//! ```

pub mod compare;
pub mod curves;
mod error;
pub mod events;
pub mod explorer;
pub mod files;
pub mod guard;
mod page;
mod picture;
pub mod runs;
mod scan;
mod series;
mod server;
mod tail;
pub mod watch;

pub use error::{Error, Result};
pub use server::{DEFAULT_PORT, Options, Running, Server};
