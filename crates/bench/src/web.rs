//! `understory serve` and the floor's own HTTP echo as child processes, and a client that keeps one
//! connection.
//!
//! The client is as little as can be (a socket and a buffer), so that what is measured is the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;
use crate::server::{Memory, memory_of};

/// A running HTTP server.
pub struct Web {
    child: Child,
    pub address: String,
}

impl Web {
    /// Starts a server that prints where it listens in its first line.
    pub fn start(mut command: Command) -> Outcome<Web> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        output.read_line(&mut line)?;
        // Whatever else it says is of no interest, but somebody has to read it.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let address = line.split("http://").nth(1).ok_or("no address")?;
        let ends = |c: char| !c.is_ascii_digit() && !".:".contains(c);
        let address = address.split(ends).next().unwrap_or_default();
        Ok(Web {
            child,
            address: address.trim_end_matches([':', '.']).to_string(),
        })
    }

    pub fn memory(&self) -> Outcome<Memory> {
        memory_of(self.child.id())
    }

    /// The processor time that it has used so far.
    pub fn worked(&self) -> Outcome<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let after = stat.rsplit(')').next().ok_or("no times")?;
        let ticks = after.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(|tick| tick.parse::<u64>().unwrap_or(0)).sum();
        Ok(Duration::from_millis(ticks * 10))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    token: String,
    body: Vec<u8>,
}

impl Client {
    pub fn new(web: &Web, token: &str) -> Outcome<Client> {
        let stream = TcpStream::connect(&web.address)?;
        stream.set_nodelay(true)?;
        Ok(Client {
            stream: BufReader::new(stream),
            host: web.address.clone(),
            token: token.to_string(),
            body: Vec::new(),
        })
    }

    /// Sends a request without waiting for its answer.
    pub fn send(&mut self, path: &str, body: &Value) -> Outcome {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            self.token,
            body.len()
        );
        Ok(self.stream.get_mut().write_all(request.as_bytes())?)
    }

    /// Waits for the answer to the last request; it must be a good one.
    pub fn receive(&mut self) -> Outcome<()> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let good = line.starts_with("HTTP/1.1 200");
        let mut length = 0;
        loop {
            let mut header = String::new();
            self.stream.read_line(&mut header)?;
            let header = header.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        if good {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&self.body).into_owned();
        Err(format!("{}: {body}", line.trim_end()).into())
    }

    /// Calls a tool; the object that it answers.
    pub fn call(&mut self, path: &str, body: &Value) -> Outcome<Value> {
        self.send(path, body)?;
        self.receive()?;
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// Calls a tool; how long the answer took to come.
    pub fn time(&mut self, path: &str, body: &Value) -> Outcome<Duration> {
        let begun = Instant::now();
        self.send(path, body)?;
        self.receive()?;
        Ok(begun.elapsed())
    }
}
