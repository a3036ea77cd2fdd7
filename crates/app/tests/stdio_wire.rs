//! What arrives on the wire and how a session ends: noise, long lines, sockets, signals, many at once.

mod driver;

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use driver::{BOTH, Client, Revision, World, read_result};
use serde_json::{Value, json};

#[test]
fn noise_is_passed_over() {
    for revision in BOTH {
        let world = World::new();
        let mut client = Client::start(world.command(&["mcp"]), revision);
        for noise in [
            "",
            "hello",
            "{",
            "\u{0}\u{1}",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
            r#"{"jsonrpc":"2.0","method":"$/lsp","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        ] {
            client.send(noise);
        }
        client.send_bytes(b"\xff\xfe\xfd\n\r\n");
        client.handshake();
        client.send("not JSON at all");
        client.send_bytes(b"\xEF\xBB\xBF");
        assert!(!client.call("graph_onboard", json!({})).1);
        client.send("[]");
        let refused = client.wait(|message| message["error"]["code"] == -32600);
        assert!(refused.get("id").is_none());
        client.send(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"#);
        assert_eq!(
            client.wait(|message| message["id"] == "x")["error"]["code"],
            -32700
        );
        assert!(!client.call("graph_onboard", json!({})).1);
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_by_its_id() {
    let world = World::new();
    let mut client = world.client(Revision::Before);
    let much = "x".repeat(17 << 20);
    client.send(&format!(
        r#"{{"method":"tools/call","params":{{"name":"graph_open","arguments":{{"goal":"{much}"}}}},"jsonrpc":"2.0","id":77}}"#
    ));
    let refused = client.wait(|message| message["id"] == 77);
    assert_eq!(refused["error"]["code"], -32600);
    assert!(!client.call("graph_onboard", json!({})).1);
    // Large, but not too large.
    let (answer, _) = client.call("graph_context", json!({"node_id": "x".repeat(4 << 20)}));
    assert!(answer.get("error").is_some());
    assert_eq!(client.leave().code, Some(0));
}

#[test]
fn leaving_is_a_good_end_at_any_time() {
    let world = World::new();
    let left = Client::start(world.command(&["mcp"]), Revision::Before).leave();
    assert_eq!((left.code, left.errors.len()), (Some(0), 0), "{left:?}");
    for revision in BOTH {
        let left = world.client(revision).leave();
        assert_eq!((left.code, left.errors.len()), (Some(0), 0), "{left:?}");
        assert!(left.took < Duration::from_secs(2));
    }
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let world = World::new();
    let mut child = world
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"graph_open","arguments":{"project":"p","goal":"g"}}}"#;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}"#;
    // The last line lacks its end, as `printf` would write it.
    write!(
        input,
        "{hello}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}}\n{call}"
    )
    .unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for id in 1..=3 {
        assert!(
            answers
                .iter()
                .any(|answer| answer["id"] == id && answer.get("result").is_some())
        );
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_well() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        for begun in [false, true] {
            let world = World::new();
            let mut client = Client::start(world.command(&["mcp"]), Revision::Before);
            client.send(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#);
            client.wait(|message| message["id"] == 0);
            if begun {
                client.handshake();
                client.call("graph_open", json!({"project": "p", "goal": "g"}));
            }
            let pid = client.pid().to_string();
            assert!(
                std::process::Command::new("kill")
                    .args([signal, &pid])
                    .status()
                    .unwrap()
                    .success()
            );
            let left = client.ended();
            assert_eq!(left.code, Some(0), "{signal} {left:?}");
            assert!(left.took < Duration::from_secs(3));
        }
    }
}

#[cfg(unix)]
#[test]
fn sockets_serve_as_well_as_pipes() {
    for revision in BOTH {
        let world = World::new();
        let mut client = Client::start_with_sockets(world.command(&["mcp"]), revision);
        client.handshake();
        assert!(!client.call("graph_onboard", json!({})).1);
        let left = client.leave();
        assert_eq!((left.code, left.errors.len()), (Some(0), 0), "{left:?}");
    }
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = World::new();
    let mut client = world.client(Revision::Before);
    let ids: Vec<i64> = (0..200)
        .map(|number| {
            let (tool, arguments) = match number % 2 {
                0 => ("graph_onboard", json!({})),
                _ => (
                    "graph_open",
                    json!({"project": format!("p{number}"), "goal": "g"}),
                ),
            };
            client.post("tools/call", json!({"name": tool, "arguments": arguments}))
        })
        .collect();
    for id in ids {
        let (answer, failed) = read_result(&client.answer(id));
        assert!(!failed, "{answer}");
    }
    assert_eq!(client.leave().code, Some(0));
}
