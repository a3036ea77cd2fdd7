//! A small MCP client for tests: speaks both lifecycles to a child process, line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Long enough for a slow machine, short enough to see a hang.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The two ways to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// `initialize`, then requests.
    Before,
    /// 2026-07-28: every request says who asks.
    Modern,
}

pub const BOTH: [Revision; 2] = [Revision::Before, Revision::Modern];

/// A folder to work in and a store beside it.
pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("garden")).unwrap();
        World { dir }
    }

    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("garden")
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `understory` with nothing of this machine's settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_understory"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if is_of_this_machine(&name) {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("HOME", self.dir.path())
            .env("UNDERSTORY_STORE", self.dir.path().join("store.db"));
        command
    }

    pub fn client(&self, revision: Revision) -> Client {
        Client::begin(self.command(&["mcp"]), revision)
    }
}

/// Whether a variable says something of whoever runs the tests, perhaps an agent.
pub fn is_of_this_machine(name: &str) -> bool {
    const STARTS: [&str; 8] = [
        "UNDERSTORY_",
        "XDG_",
        "CLAUDE",
        "CODEX_",
        "GEMINI_",
        "OPENCODE",
        "COPILOT_",
        "AI_AGENT",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// A connection that has begun.
pub struct Client {
    revision: Revision,
    child: Child,
    input: Option<Box<dyn Write + Send>>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    /// Messages that arrived while another was waited for.
    early: Vec<Value>,
    last_id: i64,
}

impl Client {
    /// Starts the process and sends nothing.
    pub fn start(mut command: Command, revision: Revision) -> Client {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input: Box<dyn Write + Send> = Box::new(child.stdin.take().unwrap());
        let output: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap());
        Client::over(child, input, output, revision)
    }

    /// Starts the process with sockets for its streams, as Node does.
    #[cfg(unix)]
    pub fn start_with_sockets(mut command: Command, revision: Revision) -> Client {
        use std::os::fd::OwnedFd;
        use std::os::unix::net::UnixStream;
        let (input, its_input) = UnixStream::pair().unwrap();
        let (output, its_output) = UnixStream::pair().unwrap();
        command
            .stdin(OwnedFd::from(its_input))
            .stdout(OwnedFd::from(its_output))
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The command holds the child's ends open until it is dropped.
        drop(command);
        Client::over(child, Box::new(input), Box::new(output), revision)
    }

    fn over(
        mut child: Child,
        input: Box<dyn Write + Send>,
        output: Box<dyn Read + Send>,
        revision: Revision,
    ) -> Client {
        let errors = lines_of(Box::new(child.stderr.take().unwrap()));
        let lines = lines_of(output);
        let input = Some(input);
        Client {
            revision,
            child,
            input,
            lines,
            errors,
            early: Vec::new(),
            last_id: 0,
        }
    }

    pub fn begin(command: Command, revision: Revision) -> Client {
        let mut client = Client::start(command, revision);
        client.handshake();
        client
    }

    /// The lifecycle's first exchange; what the server says of itself.
    pub fn handshake(&mut self) -> Value {
        match self.revision {
            Revision::Before => {
                let answer = self.ask(
                    "initialize",
                    json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "clientInfo": {"name": "test client", "version": "1"}
                    }),
                );
                self.notify("notifications/initialized", json!({}));
                answer["result"].clone()
            }
            Revision::Modern => self.ask("server/discover", json!({}))["result"].clone(),
        }
    }

    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and does not wait; its id.
    pub fn post(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method});
        message["params"] = self.with_meta(params);
        self.send(&message.to_string());
        self.last_id
    }

    pub fn with_meta(&self, mut params: Value) -> Value {
        if self.revision == Revision::Modern {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}
            });
            let fields = params["_meta"].take();
            params["_meta"] = meta;
            for (key, value) in fields.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        params
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(&message.to_string());
    }

    /// Sends a request and waits for its answer, a result or an error.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    pub fn answer(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Calls a tool; what it answered, and whether that was an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        read_result(&answer)
    }

    /// Waits for a notification.
    pub fn notice(&mut self, method: &str) -> Value {
        self.wait(|message| message["method"] == method)
    }

    pub fn wait(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait_for(PATIENCE, fits).expect("an answer in time")
    }

    pub fn wait_for(&mut self, time: Duration, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(place) = self.early.iter().position(&fits) {
            return Some(self.early.remove(place));
        }
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => panic!("the server is gone"),
            };
            let message: Value = serde_json::from_str(&line).expect("only JSON on the output");
            if fits(&message) {
                return Some(message);
            }
            self.early.push(message);
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the input; the exit code, how long that took, and what came on the two outputs.
    pub fn leave(mut self) -> Left {
        self.input = None;
        self.ended()
    }

    /// Waits for the process to end by itself.
    pub fn ended(mut self) -> Left {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = begun.elapsed();
        for line in self.lines.iter() {
            let message: Result<Value, _> = serde_json::from_str(&line);
            assert!(message.is_ok(), "not a message: {line}");
        }
        Left {
            code: status.code(),
            took,
            errors: self.errors.iter().collect(),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a process ended.
#[derive(Debug)]
pub struct Left {
    pub code: Option<i32>,
    pub took: Duration,
    pub errors: Vec<String>,
}

fn lines_of(stream: Box<dyn Read + Send>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A tool's answer: the same object in both places, and whether it is an error.
pub fn read_result(answer: &Value) -> (Value, bool) {
    let result = &answer["result"];
    let value = result["structuredContent"].clone();
    assert!(value.is_object(), "{answer}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    let read: Value = serde_json::from_str(text).expect("the text is JSON");
    assert_eq!(read, value, "text and object differ");
    assert_eq!(
        text.len(),
        value.to_string().len(),
        "the text is not compact"
    );
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    (value, result["isError"] == true)
}
