//! One connection inside this process, with a store that opens when the test says so.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::watch;
use understory::config::{Flags, Settings, Surroundings};
use understory::identity::Identity;
use understory::mcp::handler::Handler;
use understory::mcp::lines::Lines;
use understory::store::Store;
use understory_engine::{Engine, Options};
use understory_model::Seq;
use understory_tools::sets::ToolSet;

struct Session {
    input: WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    store: Arc<Store>,
    identity: Identity,
    open: Sender<()>,
    _dir: tempfile::TempDir,
}

impl Session {
    /// A connection that has begun, to a store that has not.
    async fn begin() -> Session {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_owned();
        let around = Surroundings {
            env: Box::new(|_| None),
            folder: folder.clone(),
            home: None,
            config_dir: None,
            data_dir: Some(folder.clone()),
        };
        let flags = Flags {
            workspace: Some("w".into()),
            ..Flags::default()
        };
        let settings = Settings::read(&flags, &around).unwrap();
        let identity = Identity::agent(&settings, &around).unwrap();
        let (open, opened) = channel();
        let opened = std::sync::Mutex::new(opened);
        let path = settings.store.value.reveal().to_owned();
        let store = Store::with(move || {
            let _ = opened.lock().unwrap().recv();
            Engine::open(&path, Options::default())
        });
        store.begin();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let (over, end) = watch::channel(false);
        let lines = Lines::new(Box::new(reader), Box::new(writer), over);
        let handler = Handler::new(identity.clone(), store.clone(), ToolSet::default(), end);
        tokio::spawn(async move {
            let running = handler.serve(lines).await.unwrap();
            running.waiting().await.unwrap();
        });
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        let mut session = Session {
            input,
            output,
            store,
            identity,
            open,
            _dir: dir,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}
        });
        session
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
            .await;
        assert_eq!(session.next().await["id"], 0);
        session
    }

    async fn send(&mut self, message: Value) {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn call(&mut self, id: i64, tool: &str, arguments: Value, meta: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
    }

    /// A request that needs no store, and its answer.
    async fn list(&mut self, id: i64) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))
            .await;
        assert_eq!(self.next().await["id"], id);
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line()).await;
        serde_json::from_str(&line.expect("in time").unwrap().expect("a line")).unwrap()
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_does_not_run() {
    let mut session = Session::begin().await;
    let goal = json!({"project": "p", "goal": "g"});
    session.call(1, "graph_open", goal.clone(), json!({})).await;
    // Answered although a call waits for the store, which therefore has been handed on.
    session.list(2).await;
    let cancel = json!({"requestId": 1, "reason": "changed my mind"});
    session
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}))
        .await;
    session.list(3).await;
    session.open.send(()).unwrap();
    session.call(4, "graph_onboard", json!({}), json!({})).await;
    let answer = session.next().await;
    assert_eq!(
        answer["id"], 4,
        "nothing is sent for what was cancelled: {answer}"
    );
    // Time for it to do harm, if it were to run.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let caller = session.identity.caller(None);
    let engine = session.store.get().unwrap();
    assert_eq!(engine.head(&caller).unwrap(), Seq::ZERO);
    session.call(5, "graph_open", goal, json!({})).await;
    assert_eq!(session.next().await["id"], 5);
    assert!(engine.head(&caller).unwrap() > Seq::ZERO);
}

#[tokio::test]
async fn a_client_that_waits_is_told_that_it_goes_on() {
    let mut session = Session::begin().await;
    session
        .call(1, "graph_onboard", json!({}), json!({"progressToken": "t"}))
        .await;
    let first = session.next().await;
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "t");
    assert_eq!(first["params"]["message"], "waiting for the store");
    let second = session.next().await;
    assert!(second["params"]["progress"].as_f64() > first["params"]["progress"].as_f64());
    session.open.send(()).unwrap();
    loop {
        let message = session.next().await;
        if message["id"] == 1 {
            assert!(message["result"]["structuredContent"].is_object());
            return;
        }
    }
}

#[tokio::test]
async fn calls_that_wait_do_not_hold_up_others() {
    let mut session = Session::begin().await;
    for id in 1..=20 {
        session
            .call(id, "graph_onboard", json!({}), json!({}))
            .await;
    }
    session.list(21).await;
    session.open.send(()).unwrap();
    let mut ids: Vec<i64> = Vec::new();
    for _ in 1..=20 {
        ids.push(session.next().await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
}
