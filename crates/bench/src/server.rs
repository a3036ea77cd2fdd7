//! A child process that speaks MCP over its standard streams, and how long it takes to answer.
//!
//! One call at a time: the next is sent when the last was answered.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;

/// A running server.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    last: u64,
}

/// What a process holds, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub resident: u64,
    pub peak: u64,
    /// The part of `resident` that is not backed by a file.
    pub own: u64,
}

impl Server {
    /// Starts the process and begins the session.
    pub fn begin(command: Command) -> Outcome<Server> {
        let mut server = Server::start(command)?;
        server.handshake()?;
        Ok(server)
    }

    fn start(mut command: Command) -> Outcome<Server> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Server {
            child,
            input,
            output,
            line: String::new(),
            last: 0,
        })
    }

    /// From nothing to the first list of tools: how long, and the server.
    pub fn cold(command: Command) -> Outcome<(Duration, Server)> {
        let begun = Instant::now();
        let mut server = Server::start(command)?;
        server.handshake()?;
        server.ask("tools/list", &json!({}))?;
        Ok((begun.elapsed(), server))
    }

    fn handshake(&mut self) -> Outcome {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}
        });
        self.ask("initialize", &hello)?;
        self.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
    }

    fn send(&mut self, text: &str) -> Outcome {
        let input = self.input.as_mut().ok_or("the input is closed")?;
        Ok(input.write_all(text.as_bytes())?)
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        self.last += 1;
        let id = self.last;
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
    }

    /// Reads until the answer to the last request has come.
    fn answer(&mut self) -> Outcome {
        let id = format!("\"id\":{}", self.last);
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line)? == 0 {
                return Err("the server ended".into());
            }
            // Notifications may come between.
            if self.line.contains(&id) {
                return Ok(());
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        let line = self.request(method, params);
        self.send(&line)?;
        self.answer()?;
        let answer: Value = serde_json::from_str(&self.line)?;
        if answer.get("error").is_some() || answer["result"]["isError"] == true {
            let shown: String = self.line.chars().take(600).collect();
            return Err(format!("{method} was refused: {shown}").into());
        }
        Ok(answer["result"].clone())
    }

    /// Calls a tool; the object that it answers.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        Ok(self.ask("tools/call", &params)?["structuredContent"].clone())
    }

    /// Calls a tool; how long the answer took to come.
    pub fn time(&mut self, tool: &str, arguments: &Value) -> Outcome<Duration> {
        let params = json!({ "name": tool, "arguments": arguments });
        let line = self.request("tools/call", &params);
        let begun = Instant::now();
        self.send(&line)?;
        self.answer()?;
        let took = begun.elapsed();
        self.check(tool)?;
        Ok(took)
    }

    /// Calls a tool without waiting for its answer.
    pub fn begin_call(&mut self, tool: &str, arguments: &Value) -> Outcome {
        let params = json!({ "name": tool, "arguments": arguments });
        let line = self.request("tools/call", &params);
        self.send(&line)
    }

    /// Waits for the answer to the last call.
    pub fn end_call(&mut self) -> Outcome {
        self.answer()?;
        self.check("a call")
    }

    /// Refuses an answer that is a fault.
    fn check(&self, what: &str) -> Outcome {
        if self.line.contains("\"isError\":true") || self.line.contains("\"error\":{") {
            Err(format!("{what} was refused: {}", self.line).into())
        } else {
            Ok(())
        }
    }

    pub fn memory(&self) -> Outcome<Memory> {
        memory_of(self.child.id())
    }

    /// Ends the session as clients do, and waits for the process.
    pub fn leave(mut self) -> Outcome {
        self.input = None;
        let _ = self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// What a process holds.
pub fn memory_of(process: u32) -> Outcome<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let bytes = |name: &str| -> Outcome<u64> {
        let line = status
            .lines()
            .find(|line| line.starts_with(name))
            .ok_or("no such line")?;
        let kilobytes = line.split_whitespace().nth(1).ok_or("no number")?;
        Ok(kilobytes.parse::<u64>()? * 1024)
    };
    Ok(Memory {
        resident: bytes("VmRSS:")?,
        peak: bytes("VmHWM:")?,
        own: bytes("RssAnon:")?,
    })
}
