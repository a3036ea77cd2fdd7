//! `understory serve` as callers meet it: the real process on a port of its own, and a small HTTP
//! client that can also say what no honest client would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use understory::token::keys::Keys;
use understory::token::{self, jws};
use understory_model::{Caller, Role};
use understory_testkit::Backend;

use crate::shell::Shell;

pub const PATIENCE: Duration = Duration::from_secs(20);

/// A store with its keys, for any number of servers.
pub struct AppState {
    pub shell: Shell,
}

impl AppState {
    pub fn new(backend: Backend) -> AppState {
        AppState {
            shell: Shell::new(backend),
        }
    }

    pub fn keys_folder(&self) -> PathBuf {
        self.shell.path("keys")
    }

    pub fn keys(&self) -> Keys {
        Keys::in_folder(self.keys_folder())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.shell.command(arguments);
        command.env("UNDERSTORY_KEYS", self.keys_folder());
        command
    }

    pub fn serve(&self) -> Server {
        self.serve_with(&[], &[])
    }

    pub fn serve_with(&self, arguments: &[&str], vars: &[(&str, &str)]) -> Server {
        self.start(self.serving(arguments, vars), usize::MAX)
    }

    /// The command that serves.
    pub fn serving(&self, arguments: &[&str], vars: &[(&str, &str)]) -> Command {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = self.command(&all);
        command
            .env("UNDERSTORY_LOG", "info")
            .envs(vars.iter().copied());
        command
    }

    /// Starts a server, and reads so many lines of what it says on each stream and no more.
    pub fn start(&self, mut command: Command, lines: usize) -> Server {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = lines_of(child.stdout.take().unwrap(), lines);
        let err = lines_of(child.stderr.take().unwrap(), lines);
        let hello = out.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let said: Vec<String> = err.try_iter().collect();
            panic!("the server does not begin: {said:?}")
        });
        let port = hello
            .split("127.0.0.1:")
            .nth(1)
            .and_then(|rest| rest.split([':', ' ']).next())
            .and_then(|port| port.parse().ok());
        let login = out.recv_timeout(PATIENCE).unwrap();
        Server {
            child,
            port: port.unwrap_or_else(|| panic!("{hello}")),
            login: login.split("/login/").nth(1).unwrap().to_owned(),
            out,
            err,
        }
    }

    /// A token for an agent of a workspace.
    pub fn token(&self, agent: &str, workspace: &str, role: Role) -> String {
        let key = self.keys().signing().unwrap();
        token::issue(&key, &caller(agent, workspace, role), now(), 3_600)
            .unwrap()
            .0
    }

    /// A token with any header and claims, signed by the store's key.
    pub fn signed(&self, header: &Value, claims: &Value) -> String {
        let key = self.keys().signing().unwrap();
        jws::compact(header, claims, |bytes| key.sign(bytes))
    }

    /// What a good token's header and claims are.
    pub fn good(&self) -> (Value, Value) {
        let header = json!({
            "alg": "EdDSA", "typ": "JWT", "kid": self.keys().signing().unwrap().kid(),
        });
        let claims = json!({
            "iss": "understory", "aud": "understory", "agent_id": "ada", "workspace_id": "garden",
            "role": "worker", "session_id": "s1", "jti": "j1", "iat": now(), "exp": now() + 60,
        });
        (header, claims)
    }
}

pub fn caller(agent: &str, workspace: &str, role: Role) -> Caller {
    Caller {
        workspace: workspace.into(),
        origin: None,
        agent: agent.into(),
        session: format!("sess_{agent}"),
        role,
        project: "default".into(),
        via: understory_model::Via::Token,
    }
}

/// Whole seconds since 1970.
pub fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    passed.as_secs() as i64
}

/// A running server.
pub struct Server {
    child: Child,
    pub port: u16,
    /// The code of the link that it printed first.
    pub login: String,
    pub out: Receiver<String>,
    pub err: Receiver<String>,
}

impl Server {
    pub fn ask(&self, method: &str, path: &str) -> Ask {
        Ask {
            port: self.port,
            method: method.into(),
            path: path.into(),
            host: Some(format!("127.0.0.1:{}", self.port)),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send()
    }

    /// Calls a tool.
    pub fn call(&self, token: &str, tool: &str, arguments: Value) -> Answer {
        self.ask("POST", &format!("/v1/{tool}"))
            .token(token)
            .json(&arguments)
            .send()
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    pub fn ok(&self, token: &str, tool: &str, arguments: Value) -> Value {
        let answer = self.call(token, tool, arguments);
        assert_eq!(answer.status, 200, "{tool}: {}", answer.body);
        answer.json()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to stop, and does not wait.
    pub fn tell_to_stop(&self) {
        let pid = self.pid().to_string();
        let done = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(done.unwrap().success());
    }

    /// Waits for its end; the exit code, how long that took, and what it logged.
    pub fn ended(mut self) -> (Option<i32>, Duration, Vec<String>) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status.code(), begun.elapsed(), self.err.iter().collect())
    }

    pub fn stop(self) -> (Option<i32>, Duration, Vec<String>) {
        self.tell_to_stop();
        self.ended()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request.
#[derive(Clone)]
pub struct Ask {
    port: u16,
    method: String,
    path: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub fn header(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn host(mut self, host: Option<&str>) -> Ask {
        self.host = host.map(str::to_owned);
        self
    }

    pub fn token(self, token: &str) -> Ask {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub fn json(self, value: &Value) -> Ask {
        self.header("Content-Type", "application/json")
            .body(value.to_string())
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Ask {
        self.body = body.into();
        self
    }

    /// The headers that an MCP client sends.
    pub fn mcp(self) -> Ask {
        self.header("Accept", "application/json, text/event-stream")
    }

    /// Sends it; what can be read of the answer.
    pub fn open(&self) -> BufReader<TcpStream> {
        self.over(TcpStream::connect(("127.0.0.1", self.port)).unwrap())
    }

    /// Sends it, unless nobody listens any more.
    pub fn try_send(&self) -> Option<Answer> {
        self.try_open().map(read)
    }

    /// As `open`, unless nobody listens any more.
    pub fn try_open(&self) -> Option<BufReader<TcpStream>> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        Some(self.over(stream))
    }

    /// The same to another port.
    pub fn at(mut self, port: u16) -> Ask {
        self.port = port;
        self.host = Some(format!("127.0.0.1:{port}"));
        self
    }

    fn over(&self, mut stream: TcpStream) -> BufReader<TcpStream> {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has refused the head may have left already.
        let _ = stream.write_all(&self.head(false));
        let _ = stream.write_all(&self.body);
        BufReader::new(stream)
    }

    /// Sends it over any connection, which may be used again if it is `kept`.
    pub fn send_over(&self, stream: &mut (impl Read + Write), kept: bool) -> Option<Answer> {
        stream.write_all(&self.head(kept)).ok()?;
        stream.write_all(&self.body).ok()?;
        stream.flush().ok()?;
        let mut stream = BufReader::new(stream);
        let mut answer = head(&mut stream);
        if answer.status == 0 {
            return None;
        }
        let length = answer.header("content-length")?.parse().ok()?;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Some(answer)
    }

    /// The request as it is sent, without its body.
    pub fn head(&self, kept: bool) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if let Some(host) = &self.host {
            head.push_str(&format!("Host: {host}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        head.push_str(match kept {
            true => "\r\n",
            false => "Connection: close\r\n\r\n",
        });
        head.into_bytes()
    }

    pub fn send(&self) -> Answer {
        read(self.open())
    }
}

fn read(mut stream: BufReader<TcpStream>) -> Answer {
    let mut answer = head(&mut stream);
    let mut body = Vec::new();
    let _ = stream.read_to_end(&mut body);
    if answer.header("transfer-encoding") == Some("chunked") {
        body = unchunked(&body);
    }
    answer.body = String::from_utf8_lossy(&body).into_owned();
    answer
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    /// The message in an event stream or a body.
    #[track_caller]
    pub fn message(&self) -> Value {
        let event = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .rfind(|data| !data.trim().is_empty());
        serde_json::from_str(event.unwrap_or(&self.body))
            .unwrap_or_else(|_| panic!("no message: {}", self.body))
    }

    /// The code of a refusal, which must be in the envelope and named like the request.
    #[track_caller]
    pub fn code(&self) -> String {
        let error = &self.json()["error"];
        assert_eq!(
            error["request_id"].as_str(),
            self.header("x-request-id"),
            "{self:?}"
        );
        assert!(error["message"].is_string(), "{self:?}");
        error["code"].as_str().unwrap().to_owned()
    }
}

/// Reads an answer's head.
pub fn head(stream: &mut impl BufRead) -> Answer {
    let mut line = String::new();
    let _ = stream.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|text| text.parse().ok());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(n) if n > 2 => {}
            _ => break,
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    Answer {
        status: status.unwrap_or_default(),
        headers,
        body: String::new(),
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else {
            return whole;
        };
        let size = std::str::from_utf8(&bytes[..end]).unwrap_or_default();
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        let chunk = bytes.get(end + 2..end + 2 + size).unwrap_or_default();
        if size == 0 || chunk.is_empty() {
            return whole;
        }
        whole.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + size..).unwrap_or_default();
    }
}

/// Reads so many lines, byte by byte if not all, so that what follows stays in the pipe; and keeps
/// the pipe open while anybody listens.
fn lines_of(stream: impl Read + Send + 'static, most: usize) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let capacity = if most == usize::MAX { 8 << 10 } else { 1 };
        let mut stream = BufReader::with_capacity(capacity, stream);
        for line in stream.by_ref().lines().map_while(Result::ok).take(most) {
            if sender.send(line).is_err() {
                return;
            }
        }
        if most < usize::MAX {
            std::thread::sleep(2 * PATIENCE);
        }
    });
    receiver
}
