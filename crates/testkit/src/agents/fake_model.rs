//! A model that does what the texts it is sent tell it to: see [`script`](super::script).
//!
//! It runs as a process of its own behind the walls, because that is the only network the clients have.
//! A test binary starts itself for that, with a test that only calls [`serve`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::script::{Act, Decision, Event, decide};
use super::walls::Walls;
use super::{anthropic, chat, responses, wait_until};

/// Every test has a network of its own, so all of them can use the same port.
pub const ADDRESS: &str = "127.0.0.1:9001";

const LOG: &str = "UNDERSTORY_TEST_MODEL_LOG";
const RULES: &str = "UNDERSTORY_TEST_MODEL_RULES";

/// The running fake model, from the test's side. Dropping it ends it.
pub struct FakeModel {
    process: Child,
    log: PathBuf,
}

/// One request to the model, and what it did.
#[derive(Debug, Serialize, Deserialize)]
pub struct Asked {
    /// The path of the request.
    pub path: String,
    /// What the model was told, all texts of the request.
    pub heard: Vec<String>,
    /// What it did, as a line of a script.
    pub did: String,
}

impl FakeModel {
    /// Starts it: `test` is the name of the test in this binary that calls [`serve`], and `rules` are
    /// `ON` lines that hold from the beginning.
    pub fn start(walls: &Walls, test: &str, rules: &str) -> FakeModel {
        let log = walls.path("model.jsonl");
        let this = std::env::current_exe().expect("this binary");
        let process = walls
            .command(&this)
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(LOG, &log)
            .env(RULES, rules)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(walls.path("model.err")).expect("a file"))
            .spawn()
            .expect("the fake model starts");
        wait_until("the fake model listens", || log.exists().then_some(()));
        FakeModel { process, log }
    }

    /// Everything that it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        let log = fs::read_to_string(&self.log).expect("the model's log");
        let whole = log
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        whole
            .map(|line| serde_json::from_str(line).expect("a line of the log"))
            .collect()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the process does: answers until it is ended. Outside of the walls it has nothing to do.
pub fn serve() {
    let Some(log) = std::env::var_os(LOG) else {
        return;
    };
    let listener = TcpListener::bind(ADDRESS).expect("a network of its own");
    let server = Arc::new(Server::new(
        Path::new(&log),
        std::env::var(RULES).unwrap_or_default(),
    ));
    for stream in listener.incoming().flatten() {
        let server = Arc::clone(&server);
        // A client that hangs up in the middle of an answer does so on purpose.
        thread::spawn(move || server.answer(stream));
    }
}

struct Server {
    log: File,
    rules: String,
    count: AtomicUsize,
}

impl Server {
    fn new(log: &Path, rules: String) -> Server {
        let log = OpenOptions::new().create(true).append(true).open(log);
        Server {
            log: log.expect("a log"),
            rules,
            count: AtomicUsize::new(1),
        }
    }

    fn answer(&self, stream: TcpStream) -> io::Result<()> {
        let (path, body) = request(&stream)?;
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        if path.ends_with("/count_tokens") {
            return json_to(&stream, &json!({"input_tokens": body.len() / 4}));
        }
        if path.ends_with("/messages") {
            let asked: anthropic::Request = read(&body)?;
            let act = self.act(&path, asked.offers_tools(), &asked.conversation())?;
            return if asked.stream {
                stream_to(&stream, &asked.events(number, &act))
            } else {
                json_to(&stream, &asked.answer(number, &act))
            };
        }
        if path.ends_with("/responses") {
            let asked: responses::Request = read(&body)?;
            let act = self.act(&path, asked.offers_tools(), &asked.conversation())?;
            return stream_to(&stream, &asked.events(number, &act));
        }
        if path.ends_with("/chat/completions") {
            let asked: chat::Request = read(&body)?;
            let act = self.act(&path, asked.offers_tools(), &asked.conversation())?;
            return stream_to(&stream, &asked.events(number, &act));
        }
        if path.ends_with("/models") {
            let model = json!({"id": "fake", "object": "model", "type": "model",
                "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z"});
            return json_to(
                &stream,
                &json!({"object": "list", "data": [model], "models": [], "has_more": false}),
            );
        }
        self.note(&path, &[], "nothing: not found")?;
        head(&stream, "404 Not Found", "text/plain")
    }

    /// What to do about a conversation. A request without tools is one for a title or a summary.
    fn act(&self, path: &str, offers_tools: bool, conversation: &[Event]) -> io::Result<Act> {
        let decision = if offers_tools {
            decide(conversation, &self.rules)
        } else {
            Decision {
                pause: Default::default(),
                act: Act::Say("A title".to_owned()),
            }
        };
        let did = match &decision.act {
            Act::Say(words) => format!("SAY {words}"),
            Act::Call { tool, arguments } => format!("CALL {tool} {arguments}"),
        };
        self.note(path, conversation, &did)?;
        thread::sleep(decision.pause);
        Ok(decision.act)
    }

    fn note(&self, path: &str, conversation: &[Event], did: &str) -> io::Result<()> {
        let texts = conversation.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.clone()),
            _ => None,
        });
        let asked = Asked {
            path: path.to_owned(),
            heard: texts.collect(),
            did: did.to_owned(),
        };
        let line = serde_json::to_string(&asked)? + "\n";
        (&self.log).write_all(line.as_bytes())
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> io::Result<T> {
    serde_json::from_slice(body).map_err(|e| {
        eprintln!("a request that the fake model cannot read: {e}");
        e.into()
    })
}

/// The path and the body of a request.
fn request(stream: &TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((path, body))
}

/// The head of an answer that lasts until the connection is closed.
fn head(mut stream: &TcpStream, status: &str, kind: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n"
    )
}

fn json_to(mut stream: &TcpStream, answer: &Value) -> io::Result<()> {
    head(stream, "200 OK", "application/json")?;
    write!(stream, "{answer}")
}

fn stream_to(mut stream: &TcpStream, events: &[Value]) -> io::Result<()> {
    head(stream, "200 OK", "text/event-stream")?;
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        write!(stream, "event: {name}\ndata: {event}\n\n")?;
    }
    Ok(())
}
