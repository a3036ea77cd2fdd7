//! Raw bytes at a real server on loopback.
//!
//! In an input `HOST` stands for the server's address and `TOKEN` for a good token.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::Runtime;
use understory::http::care::Care;
use understory::http::hosts::Hosts;
use understory::http::mcp::Product;
use understory::http::server;
use understory::http::state::Plan;
use understory::store::Store;
use understory::token;
use understory::token::keys::Keys;
use understory::token::verify::Verifier;
use understory_engine::kernel::clock::{Clock, System};
use understory_engine::{Engine, Options};
use understory_testkit::World;
use understory_tools::registry;
use understory_tools::sets::ToolSet;

use crate::chance::Chance;
use crate::target::{Outcome, Target, check};
use crate::{json, mutate};

/// An answer that takes longer, or is larger, has no end.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a whole request is answered in, mostly; only then is the end of sending told.
const MOMENT: Duration = Duration::from_millis(25);
const LARGEST: u64 = 8 << 20;
/// How often the server is asked whether it is well.
const WELL: u64 = 50;

pub struct Http {
    address: SocketAddr,
    token: String,
    count: u64,
    _runtime: Runtime,
    _folder: TempDir,
}

impl Http {
    pub fn new() -> Http {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let keys = Keys::in_folder(folder.path().join("keys"));
        let key = keys.signing().expect("a key");
        let now = System.now().0 / 1_000_000;
        let (token, _) = token::issue(&key, &World::caller("ada"), now, 86_400).expect("a token");
        let file = folder
            .path()
            .join("understory.db")
            .to_string_lossy()
            .into_owned();
        let store = Store::with(move || Engine::open(&file, Options::default()));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let plan = Plan {
            store: Arc::clone(&store),
            verifier: Verifier::new(keys, None, "default".into()),
            hosts: Hosts::new(address, None).expect("hosts"),
            tls: None,
            set: ToolSet::parse("all").expect("all tools"),
            rate_per_second: 1_000_000,
            person: World::caller("olga"),
            door: None,
            care: Care::without_settings(folder.path().join("keys")),
        };
        runtime.spawn(server::run::<Product>(listener, plan));
        Http {
            address,
            token,
            count: 0,
            _runtime: runtime,
            _folder: folder,
        }
    }

    /// Sends bytes and reads to the end. The sending half ends if no answer did within a moment.
    fn exchange(&self, bytes: &[u8], brief: Duration) -> Result<Vec<u8>, String> {
        let told = |error: std::io::Error| format!("the server does not answer: {error}");
        let mut stream = TcpStream::connect(self.address).map_err(told)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(told)?;
        // A server that has heard enough may close before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let mut patience = brief;
        loop {
            stream.set_read_timeout(Some(patience)).map_err(told)?;
            let room = LARGEST + 1 - answer.len() as u64;
            match Read::by_ref(&mut stream)
                .take(room)
                .read_to_end(&mut answer)
            {
                // Whoever waits for more of the request learns that there is none.
                Err(error) if error.kind() == ErrorKind::WouldBlock && patience == brief => {
                    let _ = stream.shutdown(Shutdown::Write);
                    patience = PATIENCE;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err("an answer without end".into());
                }
                _ => break,
            }
        }
        check(answer.len() as u64 <= LARGEST, || {
            "an answer too long".into()
        })?;
        Ok(answer)
    }

    fn filled(&self, input: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(input.len() + 512);
        let mut rest = input;
        while let Some(first) = rest.first() {
            if let Some(after) = rest.strip_prefix(b"TOKEN") {
                out.extend_from_slice(self.token.as_bytes());
                rest = after;
            } else if let Some(after) = rest.strip_prefix(b"HOST") {
                out.extend_from_slice(self.address.to_string().as_bytes());
                rest = after;
            } else {
                out.push(*first);
                rest = &rest[1..];
            }
        }
        out
    }
}

/// The statuses of the answers in what came back.
fn statuses(answer: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(answer);
    let heads = text.split("HTTP/1.").skip(1);
    heads
        .filter_map(|head| head.get(2..5))
        .map(str::to_owned)
        .collect()
}

impl Target for Http {
    fn run(&mut self, input: &[u8]) -> Outcome {
        self.count += 1;
        let answer = self.exchange(&self.filled(input), MOMENT)?;
        let statuses = statuses(&answer);
        let broken = statuses.iter().any(|status| status == "500");
        check(!broken, || format!("{}", String::from_utf8_lossy(&answer)))?;
        let leaks = answer
            .windows(self.token.len())
            .any(|part| part == self.token.as_bytes());
        check(!leaks, || "the answer shows the token".into())?;
        if self.count.is_multiple_of(WELL) {
            let asked = format!(
                "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                self.address
            );
            let well = self.exchange(asked.as_bytes(), PATIENCE / 2)?;
            check(well.starts_with(b"HTTP/1.1 200"), || {
                format!("the server is not well: {}", String::from_utf8_lossy(&well))
            })?;
        }
        Ok(statuses
            .iter()
            .take(4)
            .cloned()
            .collect::<Vec<_>>()
            .join(" "))
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = match chance.below(3) {
            0 => request(chance, self.words()),
            _ => chance.pick(known).clone(),
        };
        if !chance.one_in(5) {
            mutate::mutate(chance, &mut input, self.words(), known);
        }
        input
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "GET ",
            "POST ",
            "DELETE ",
            "OPTIONS ",
            "HTTP/1.1\r\n",
            "HTTP/1.0\r\n",
            "Host: HOST\r\n",
            "Authorization: Bearer TOKEN\r\n",
            "Authorization: Basic YTpi\r\n",
            "Content-Length: 5\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: chunked\r\n",
            "0\r\n\r\n",
            "ffffffffffffffff\r\n",
            "Expect: 100-continue\r\n",
            "Connection: Upgrade\r\n",
            "Content-Type: application/json\r\n",
            "Accept: application/json, text/event-stream\r\n",
            "Origin: http://evil.example\r\n",
            "Mcp-Session-Id: x\r\n",
            "Mcp-Protocol-Version: 2026-07-28\r\n",
            "Mcp-Method: tools/call\r\n",
            "Last-Event-ID: 1\r\n",
            "/mcp ",
            "/v1/toolset ",
            "/v1/openapi.json ",
            "/login/x ",
            "/api/v1/entities/",
            "/.well-known/jwks.json ",
            "/metrics ",
            "Cookie: a=b\r\n",
            "If-None-Match: \"x\"\r\n",
            "Range: bytes=0-\r\n",
            "\r\n\r\n",
            "%2e%2e%2f",
            "?tools=all",
            "Understory-Tools: all\r\n",
        ]
    }
}

/// A request that has the right form: a call of a tool, a message, or a look at a page.
fn request(chance: &mut Chance, words: &[&str]) -> Vec<u8> {
    let tool = chance.pick(registry::tools());
    let mut args = serde_json::from_str(tool.example).unwrap_or_default();
    for _ in 0..chance.few(3) {
        json::mutate(chance, &mut args, words);
    }
    // Nobody waits here.
    if let Some(seconds) = args.get_mut("timeout_s") {
        *seconds = 0.into();
    }
    let (path, body) = if chance.one_in(2) {
        (format!("/v1/{}", tool.name), args.to_string())
    } else {
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool.name, "arguments": args}});
        ("/mcp".to_owned(), body.to_string())
    };
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
