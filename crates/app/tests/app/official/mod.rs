//! The official MCP clients: where they are, and how they are told what to call.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use understory_testkit::Backend;

/// Where `cargo xtask test` installed them.
pub fn clients() -> PathBuf {
    match std::env::var_os("UNDERSTORY_TEST_CLIENTS") {
        Some(folder) => PathBuf::from(folder),
        None => panic!("no MCP clients for this test: run `cargo xtask test`, which installs them"),
    }
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join("clients")
        .join(name)
}

pub fn python(environment: &str, name: &str) -> Command {
    let mut command = Command::new(clients().join(environment).join("bin").join("python"));
    command.arg(script(name));
    command
}

/// Node looks for packages beside the script, so the script goes to the packages.
pub fn node(name: &str) -> Command {
    let copy = clients()
        .join("node")
        .join(format!("{}-{name}", std::process::id()));
    std::fs::copy(script(name), &copy).expect("the script can be copied");
    let mut command = Command::new("node");
    command.arg(copy);
    command
}

/// A client that calls what it is told, while others do the same.
pub struct Driven {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Driven {
    /// One that starts a server of its own, over its standard streams.
    pub fn start(mut command: Command, backend: &Backend, agent: &str) -> Driven {
        command
            .arg(env!("CARGO_BIN_EXE_understory"))
            .env("UNDERSTORY_STORE", backend.store())
            .env("UNDERSTORY_WORKSPACE", "clients")
            .env("UNDERSTORY_AGENT", agent)
            .env("UNDERSTORY_SESSION", agent);
        Driven::spawn(command)
    }

    /// One that reaches a running server over HTTP, as whom its token says.
    pub fn over_http(mut command: Command, port: u16, token: &str) -> Driven {
        command
            .arg(format!("http://127.0.0.1:{port}/mcp"))
            .env("UNDERSTORY_TOKEN", token);
        Driven::spawn(command)
    }

    fn spawn(mut command: Command) -> Driven {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client starts");
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output")).lines();
        Driven {
            child,
            input,
            output,
        }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let asked = json!({ "tool": tool, "arguments": arguments });
        writeln!(self.input, "{asked}").expect("the client listens");
        let line = self.output.next().expect("an answer").expect("a line");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer
    }

    pub fn leave(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("it ends").success());
    }
}

/// A review by two clients: a finding, its fix, the word that it holds, and a thread resolved. Each
/// waits for the other, and neither is told its own words.
pub fn review(mut ada: Driven, mut bob: Driven) {
    let new =
        json!({ "title": "Review of the mapper", "type": "workflow", "participants": ["bob"] });
    let id = ada.call("create_thread", new)["thread_id"].clone();
    let found = json!({
        "thread_id": id, "kind": "event", "body": "The fallback of null is lost",
        "metadata": { "event_type": "finding_reported", "severity": "high" },
        "idempotency_key": "find-1",
    });
    let finding = ada.call("post_message", found.clone());
    assert_eq!(
        ada.call("post_message", found),
        finding,
        "a retry is the same message"
    );
    let told = bob.call("wait_for_messages", json!({ "timeout_s": 20 }));
    assert_eq!(
        told["messages"][0]["message_id"], finding["message_id"],
        "{told}"
    );
    assert_eq!(told["messages"][0]["sender_agent_id"], "ada");
    let fix = json!({
        "thread_id": id, "kind": "event", "body": "Kept as it was", "in_reply_to": finding["message_id"],
        "metadata": { "event_type": "fix_pushed", "commit": "abc1234" },
    });
    bob.call("post_message", fix);
    let told = ada.call(
        "wait_for_messages",
        json!({ "thread_ids": [id], "timeout_s": 20 }),
    );
    assert_eq!(told["messages"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told["messages"][0]["metadata"]["commit"], "abc1234");
    let holds = json!({
        "thread_id": id, "kind": "event", "body": "It holds", "in_reply_to": finding["message_id"],
        "metadata": { "event_type": "finding_verified" },
    });
    let last = ada.call("post_message", holds);
    let resolved = json!({ "thread_id": id, "status": "resolved", "reason": "verified" });
    assert_eq!(
        ada.call("update_thread_status", resolved)["status"],
        "resolved"
    );
    let read = json!({ "thread_id": id, "last_read_seq": last["seq"] });
    assert_eq!(bob.call("ack_read", read)["ok"], true);
    let told = bob.call("summarize_thread", json!({ "thread_id": id }));
    assert_eq!(
        (&told["last_status"], &told["open_items"]),
        (&json!("resolved"), &json!([]))
    );
    assert_eq!(
        (&told["commits"], &told["findings"]["verified"]),
        (&json!(["abc1234"]), &json!(1))
    );
    assert_eq!(
        bob.call("graph_onboard", json!({}))["unread"]["messages"],
        0
    );
    ada.leave();
    bob.leave();
}
