//! JSON-RPC lines, as a client on stdio sends them.
//!
//! Each line alone is held against the SDK's own reading. An input of several lines is also sent to
//! a real connection: every request is answered exactly once, and the connection lasts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use understory::config::{Flags, Settings, Surroundings};
use understory::identity::Identity;
use understory::mcp::handler::Handler;
use understory::mcp::lines::Lines as Transport;
use understory::mcp::listening::Listening;
use understory::mcp::message::{IdFinder, Line, read};
use understory::store::Store;
use understory_tools::registry;
use understory_tools::sets::ToolSet;

use super::calls::WAITS;
use crate::chance::Chance;
use crate::target::{Outcome, Target, check, shape, text, value};
use crate::{json, mutate};

/// A reply that takes longer than this does not come.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Lines {
    runtime: Runtime,
    identity: Identity,
    store: Arc<Store>,
    _folder: TempDir,
}

impl Lines {
    pub fn new() -> Lines {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let around = Surroundings {
            env: Box::new(|_| None),
            folder: folder.path().to_owned(),
            home: Some(at("home")),
            config_dir: Some(at("config")),
            data_dir: Some(at("data")),
        };
        let settings = Settings::read(&Flags::default(), &around).expect("settings");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Lines {
            identity: Identity::agent(&settings, &around).expect("an identity"),
            store: Store::new(&settings),
            runtime: runtime.expect("a runtime"),
            _folder: folder,
        }
    }

    /// Sends lines to a connection of its own and waits for what each is owed.
    fn connection(&self, lines: &[&[u8]]) -> Outcome {
        let set = ToolSet::parse("all").map_err(|fault| fault.to_string())?;
        self.runtime.block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (reader, writer) = tokio::io::split(theirs);
            let (over, end) = watch::channel(false);
            let transport = Transport::new(Box::new(reader), Box::new(writer), over);
            let handler = Handler::new(self.identity.clone(), Arc::clone(&self.store), set, end);
            let served = tokio::spawn(async move {
                match Listening(handler).serve(transport).await {
                    Ok(running) => drop(running.waiting().await),
                    Err(error) => drop(error),
                }
            });
            let mut owed = BTreeMap::new();
            let told = tokio::time::timeout(PATIENCE, talk(ours, lines, &mut owed)).await;
            served.abort();
            owed.retain(|_, count| *count > 0);
            told.unwrap_or_else(|_| Err(format!("no answer came; still owed, by id: {owed:?}")))
        })
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}"#;

async fn talk(
    stream: tokio::io::DuplexStream,
    lines: &[&[u8]],
    owed: &mut BTreeMap<String, i64>,
) -> Outcome {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut replies = BufReader::new(reader).lines();
    let mut count = 0;
    let began = [
        HELLO.as_bytes(),
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ];
    let ping = br#"{"jsonrpc":"2.0","id":"still there","method":"ping"}"#;
    for line in began
        .into_iter()
        .chain(lines.iter().copied())
        .chain([&ping[..]])
    {
        if let Some(id) = owes(line) {
            // The protocol forbids an id that is in use, and the SDK answers one of the two.
            if id != "null" && owed.contains_key(&id) {
                continue;
            }
            *owed.entry(id).or_default() += 1;
            count += 1;
        }
        let mut line = line.to_vec();
        line.push(b'\n');
        writer
            .write_all(&line)
            .await
            .map_err(|error| format!("not read: {error}"))?;
    }
    let mut kinds = String::new();
    while count > 0 {
        let line = replies
            .next_line()
            .await
            .map_err(|error| error.to_string())?;
        let Some(line) = line else {
            return Err(format!("the connection ended; still owed: {owed:?}"));
        };
        let reply: Value = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        if reply.get("method").is_some() {
            continue;
        }
        let internal = reply["result"]["structuredContent"]["error"]["code"] == "INTERNAL"
            || reply["error"]["code"] == -32603;
        check(!internal, || format!("an internal error: {line}"))?;
        let left = owed
            .entry(reply.get("id").unwrap_or(&Value::Null).to_string())
            .or_default();
        *left -= 1;
        let early = *left < 0;
        check(!early, || format!("nobody asked for this: {line}"))?;
        count -= 1;
        kinds.push(if reply.get("error").is_some() {
            'e'
        } else {
            '.'
        });
    }
    Ok(format!(
        "session {}",
        kinds.chars().take(12).collect::<String>()
    ))
}

/// The id of the reply that a line is owed, as JSON.
fn owes(line: &[u8]) -> Option<String> {
    let id = match read(line) {
        Line::Message(message) => match *message {
            ClientJsonRpcMessage::Request(request) => Some(request.id),
            _ => return None,
        },
        Line::Refused(id, _) => id,
        Line::Nothing => return None,
    };
    Some(json!(id).to_string())
}

/// Whether a line may be sent to a connection that is to answer each request once: nothing that
/// waits, stays open or takes another request back.
fn plain(line: &[u8]) -> bool {
    let Line::Message(message) = read(line) else {
        return true;
    };
    match *message {
        ClientJsonRpcMessage::Request(request) => match request.request {
            ClientRequest::SubscriptionsListenRequest(_) => false,
            ClientRequest::CallToolRequest(call) => !WAITS.contains(&&*call.params.name),
            _ => true,
        },
        ClientJsonRpcMessage::Notification(notification) => !matches!(
            notification.notification,
            ClientNotification::CancelledNotification(_)
        ),
        _ => true,
    }
}

/// One line: read as the SDK would read it.
fn alone(line: &[u8]) -> Outcome {
    let ours = read(line);
    let bytes = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let parsed: Option<Value> = serde_json::from_slice(bytes.trim_ascii()).ok();
    let theirs = parsed
        .as_ref()
        .and_then(|value| ClientJsonRpcMessage::deserialize(value).ok());
    if let Some(Value::Object(fields)) = &parsed {
        found_id(line, fields.get("id"))?;
    }
    match (ours, theirs) {
        (Line::Message(ours), Some(theirs)) => {
            let (ours, theirs) = (json!(ours), json!(theirs));
            check(ours == theirs, || {
                format!("the SDK reads {theirs}, we {ours}")
            })?;
            Ok(format!(
                "message {}",
                shape(ours["method"].as_str().unwrap_or_default())
            ))
        }
        (Line::Message(ours), None) => Err(format!("the SDK reads nothing, we {}", json!(ours))),
        (Line::Refused(_, error), theirs) => {
            let number = error.code.0 == -32602;
            check(theirs.is_none() || number, || format!("refused: {error:?}"))?;
            Ok(format!("refused {}", shape(&error.message)))
        }
        (Line::Nothing, Some(theirs)) => Err(format!("ignored: {}", json!(theirs))),
        (Line::Nothing, None) => Ok("nothing".into()),
    }
}

/// The finder of ids in what is too long or broken finds the same as a parser in what is not.
fn found_id(line: &[u8], id: Option<&Value>) -> Result<(), String> {
    let said = text(line);
    let plain = said.matches("\"id\"").count() == 1 && !said.contains('\\') && line.len() < 200;
    let mut finder = IdFinder::default();
    line.chunks(5).for_each(|chunk| finder.feed(chunk));
    let wanted = id.and_then(|id| RequestId::deserialize(id).ok());
    check(!plain || finder.id() == wanted, || {
        format!("found {:?}, not {wanted:?}", finder.id())
    })
}

impl Target for Lines {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
        let mut way = String::new();
        for line in &lines {
            way = alone(line)?;
        }
        if lines.len() > 1 && lines.iter().all(|line| plain(line)) {
            way = self.connection(&lines)?;
        }
        Ok(way)
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let count = if chance.one_in(60) {
            chance.between(2, 12)
        } else {
            1
        };
        let mut lines = Vec::new();
        for _ in 0..count {
            let base = chance.pick(known).clone();
            let mut line = match (value(&base), chance.below(4)) {
                (Some(mut message), 0 | 1) => {
                    json::mutate(chance, &mut message, self.words());
                    json::spelled(chance, &message).into_bytes()
                }
                (_, 2) => call(chance, self.words()),
                _ => {
                    let mut line = base;
                    mutate::mutate(chance, &mut line, self.words(), known);
                    line
                }
            };
            line.retain(|byte| *byte != b'\n');
            lines.push(line);
        }
        lines.join(&b'\n')
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\"jsonrpc\":\"2.0\"",
            "\"id\":",
            "\"id\":null",
            "\"method\":\"tools/call\"",
            "\"params\":{",
            "\"name\":\"toolset\"",
            "\"arguments\":{",
            "\"_meta\":{\"progressToken\":1}",
            "\"result\":{}",
            "\"error\":{}",
            "initialize",
            "ping",
            "tools/list",
            "resources/list",
            "resources/read",
            "prompts/get",
            "completion/complete",
            "logging/setLevel",
            "server/discover",
            "notifications/cancelled",
            "notifications/progress",
            "subscriptions/listen",
            "id",
            "method",
            "params",
            "jsonrpc",
            "\u{feff}",
            "uri",
            "understory://overview",
            "cursor",
            "requestState",
        ]
    }
}

/// A call of some tool with arguments that it may take.
fn call(chance: &mut Chance, words: &[&str]) -> Vec<u8> {
    let tool = chance.pick(registry::tools());
    let mut arguments = if chance.one_in(3) {
        json::any(chance, 3, words)
    } else {
        serde_json::from_str(tool.example).unwrap_or_default()
    };
    if chance.one_in(2) {
        json::mutate(chance, &mut arguments, words);
    }
    let message = json!({"jsonrpc": "2.0", "id": chance.below(9), "method": "tools/call",
                         "params": {"name": tool.name, "arguments": arguments}});
    json::spelled(chance, &message).into_bytes()
}
