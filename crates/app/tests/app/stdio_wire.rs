//! What arrives on the wire and how a session ends: noise, long lines, sockets, signals, many at once.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use crate::driver::{BOTH, Client, Revision, World, read_result};
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

/// The second of two requests with one id would take the answer of the first.
#[test]
fn an_id_that_is_still_in_use_is_refused() {
    for revision in BOTH {
        let world = World::new();
        let begin = |agent: &str| {
            let mut command = world.command(&["mcp"]);
            command.env("UNDERSTORY_AGENT", agent);
            Client::begin(command, revision)
        };
        let mut client = begin("ann");
        let wait = json!({"name": "wait_for_messages", "arguments": {"timeout_s": 250}});
        let first = client.post("tools/call", wait);
        let again = format!(r#"{{"jsonrpc":"2.0","id":{first},"method":"tools/list"}}"#);
        client.send(&again);
        let refused = client.answer(first);
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        let said = refused["error"]["message"].as_str().unwrap();
        assert!(said.contains("was not answered yet"), "{said}");
        // The first goes on and is answered.
        let hello = json!({"to": ["ann"], "body": "hello"});
        assert!(!begin("bob").call("post_message", hello).1);
        let (answer, failed) = read_result(&client.answer(first));
        assert!(
            !failed && answer["messages"][0]["body"] == "hello",
            "{answer}"
        );
        // An id that was answered may come again; one whose request was given up may not, because
        // that may be at work still.
        let params = client.with_meta(json!({"name": "graph_onboard", "arguments": {}}));
        let mut call =
            json!({"jsonrpc": "2.0", "id": first, "method": "tools/call", "params": params});
        client.send(&call.to_string());
        assert!(!read_result(&client.answer(first)).1);
        let wait = json!({"timeout_s": 250, "ack": answer["next"]});
        let wait = json!({"name": "wait_for_messages", "arguments": wait});
        let given_up = client.post("tools/call", wait);
        client.notify("notifications/cancelled", json!({"requestId": given_up}));
        call["id"] = given_up.into();
        client.send(&call.to_string());
        assert_eq!(client.answer(given_up)["error"]["code"], -32600);
        assert!(!client.call("graph_onboard", json!({})).1);
        assert_eq!(client.leave().code, Some(0));
    }
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
