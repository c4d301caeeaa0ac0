//! A server over a folder of fixtures, and a client that speaks to it byte by byte.

#![allow(dead_code)]

use adfq_serve::{Options, Running, Server};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Serves a folder. It is looked at often, so that tests do not wait.
pub fn serve(root: &Path) -> Running {
    let options = Options { port: 0, interval: Duration::from_millis(20), ..Options::new(root) };
    Server::bind(&options).unwrap().start().unwrap()
}

/// A run of these values, a row every 100 steps, with as many evaluations of one episode.
pub fn write_run(folder: &Path, agent: &str, seed: u64, values: &[f64]) {
    fs::create_dir_all(folder).unwrap();
    let steps = 100 * values.len();
    let policy = if agent == "dqn" { "epsilon" } else { "thompson" };
    let config = format!(
        "env = \"cartpole\"\nagent = \"{agent}\"\npolicy = \"{policy}\"\nseed = {seed}\nsteps = {steps}\n"
    );
    fs::write(folder.join("config.toml"), config).unwrap();
    let mut metrics = "step,episodes,train_return,loss\n".to_owned();
    let mut evaluations = "step,episode,return,clipped_return,length\n".to_owned();
    for (i, value) in values.iter().enumerate() {
        let step = 100 * (i + 1);
        metrics += &format!("{step},{i},{value},{}\n", 1.0 / (i + 1) as f64);
        evaluations += &format!("{step},0,{},0,9\n", 2.0 * value);
    }
    fs::write(folder.join("metrics.csv"), metrics).unwrap();
    fs::write(folder.join("evaluations.csv"), evaluations).unwrap();
}

/// What comes back for these bytes: everything until the server closes.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // A server that refuses may close before all is written.
    let _ = stream.write_all(bytes);
    let mut answer = vec![];
    let _ = stream.read_to_end(&mut answer);
    answer
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Status and body of a request.
pub fn request(address: SocketAddr, method: &str, target: &str, headers: &str, body: &str) -> (u16, String) {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    parse(&raw(address, (head + body).as_bytes()))
}

fn parse(answer: &[u8]) -> (u16, String) {
    let text = String::from_utf8_lossy(answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

pub fn get(address: SocketAddr, target: &str) -> (u16, String) {
    request(address, "GET", target, "", "")
}

pub fn post(address: SocketAddr, target: &str, body: &str) -> (u16, String) {
    request(address, "POST", target, "Content-Type: application/json\r\n", body)
}

/// The answer to a request that succeeds, as JSON.
pub fn json(answer: (u16, String)) -> Value {
    assert_eq!(answer.0, 200, "{}", answer.1);
    serde_json::from_str(&answer.1).unwrap()
}

/// Server-sent events, one after the other.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub fn open(address: SocketAddr, target: &str) -> Self {
        let mut stream = connect(address);
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut events = Self(BufReader::new(stream));
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            events.0.read_line(&mut line).unwrap();
        }
        events
    }

    /// The name and the data of the next event.
    pub fn next(&mut self) -> (String, Value) {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            // Chunks of the transfer have lengths between them, which are no fields.
            if let Some(found) = line.trim_end().strip_prefix("event: ") {
                name = found.to_owned();
            } else if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return (name, serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The next event of which this holds.
    pub fn find(&mut self, holds: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next();
            if holds(&name, &data) {
                return data;
            }
        }
    }
}
