//! Who is calling over stdio: each window of a client is an agent of its own, present while its
//! process lives, and what it held is free when it ends.

use std::process::Command;
use std::time::Duration;

use crate::driver::{BOTH, Client, Revision, read_result};
use crate::shell::Shell;
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

/// A window of a client, whose chat has this id.
fn window(shell: &Shell, chat: &str) -> Client {
    Client::begin(started(shell, chat), Revision::Before)
}

fn started(shell: &Shell, chat: &str) -> Command {
    let mut command = shell.command(&["mcp", "--tools", "all"]);
    command.env("CLAUDECODE", "1");
    command.env("CLAUDE_CODE_SESSION_ID", chat);
    command
}

#[track_caller]
fn ok(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let (answer, failed) = client.call(tool, arguments);
    assert!(!failed, "{tool}: {answer}");
    answer
}

#[track_caller]
fn you(client: &mut Client) -> String {
    let answer = ok(client, "graph_onboard", json!({}));
    answer["you"].as_str().expect("you").to_owned()
}

fn record(title: &str) -> Value {
    json!({"parent_id": null, "type": "question", "title": title, "summary": "s", "body": "b"})
}

/// Two tasks, planned by a person.
fn planned(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}]}"#;
    shell.ok(&["call", "graph_plan", plan]);
    shell
}

/// On a server nobody sees a process die; what it would have said by now, it did not say.
fn silent_for_two_minutes(shell: &Shell) {
    if !shell.backend.is_sqlite() {
        let late = "UPDATE live_session SET at = at - 120000000";
        shell.backend.raw().run(late).unwrap();
    }
}

fn sessions(client: &mut Client, of: Value) -> Vec<(String, String, bool)> {
    let answer = ok(client, "get_active_sessions", of);
    let sessions = answer["sessions"].as_array().expect("sessions");
    let text = |one: &Value, name: &str| one[name].as_str().expect("a text").to_owned();
    sessions
        .iter()
        .map(|one| {
            (
                text(one, "agent"),
                text(one, "session_id"),
                one["alive"] == true,
            )
        })
        .collect()
}

fn names_of_all(shell: &Shell, count: usize, first_write: bool) -> Vec<String> {
    std::thread::scope(|scope| {
        let windows: Vec<_> = (0..count)
            .map(|at| {
                scope.spawn(move || {
                    let mut client = window(shell, &format!("chat-{at}"));
                    if first_write {
                        let goal = json!({"nodes": [{"ref": "a", "summary": format!("{at}")}]});
                        ok(&mut client, "graph_plan", goal);
                    }
                    let name = you(&mut client);
                    (client, name)
                })
            })
            .collect();
        // All of them live until the last has its name.
        let all: Vec<(Client, String)> =
            windows.into_iter().map(|one| one.join().unwrap()).collect();
        let mut names: Vec<String> = all.into_iter().map(|(_, name)| name).collect();
        names.sort();
        names
    })
}

fn numbered(count: usize) -> Vec<String> {
    let mut names: Vec<String> = (2..=count).map(|n| format!("test-client-{n}")).collect();
    names.push("test-client".into());
    names.sort();
    names
}

#[on_both]
fn two_windows_of_one_client_are_two_agents(backend: Backend) {
    let shell = planned(backend);
    let (mut one, mut other) = (window(&shell, "c1"), window(&shell, "c2"));
    assert_eq!(
        (you(&mut one), you(&mut other)),
        ("test-client".into(), "test-client-2".into())
    );
    let claim = |client: &mut Client| {
        let taken = ok(client, "graph_next", json!({"claim": true}));
        taken["nodes"][0]["node"]["id"]
            .as_str()
            .expect("a task")
            .to_owned()
    };
    let (first, second) = (claim(&mut one), claim(&mut other));
    assert_ne!(first, second, "nothing is taken twice");
    let thread = json!({"title": "t", "participants": ["test-client-2"]});
    let thread = ok(&mut one, "create_thread", thread)["thread_id"].clone();
    ok(
        &mut one,
        "post_message",
        json!({"thread_id": thread, "body": "hello"}),
    );
    assert_eq!(
        ok(&mut other, "graph_onboard", json!({}))["unread"]["messages"],
        1
    );
    assert_eq!(
        ok(&mut one, "graph_onboard", json!({}))["unread"]["messages"],
        0
    );
    let here = ok(&mut other, "graph_onboard", json!({}))["here"].clone();
    assert_eq!(
        (&here[0]["agent"], &here[0]["alive"], &here[0]["on"]),
        (&json!("test-client"), &json!(true), &json!([first]))
    );
    assert!(sessions(&mut one, json!({})).contains(&("test-client-2".into(), "c2".into(), true)));
    let readers = ok(&mut other, "get_thread", json!({"thread_id": thread}))["readers"].clone();
    assert!(
        readers
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["alive"] == true && one["last_seen"].is_string()),
        "{readers}"
    );
}

#[on_both]
fn a_killed_process_lets_go_and_its_name_is_free(backend: Backend) {
    let shell = planned(backend);
    let mut one = window(&shell, "c1");
    let made = ok(&mut one, "create_record", record("Q"))["record"]["id"].clone();
    ok(&mut one, "activate", json!({"id": made}));
    let mut other = window(&shell, "c2");
    let met = ok(&mut other, "activate", json!({"id": made}));
    assert_eq!(
        (&met["conflict"]["agent"], &met["conflict"]["alive"]),
        (&json!("test-client"), &json!(true)),
        "{met}"
    );
    // The driver kills what it drops.
    drop(one);
    silent_for_two_minutes(&shell);
    let of = |client: &mut Client| sessions(client, json!({"record_id": made}));
    let found = of(&mut other);
    assert!(
        found.contains(&("test-client".into(), "c1".into(), false)),
        "{found:?}"
    );
    silent_for_two_minutes(&shell);
    let mut third = window(&shell, "c3");
    assert_eq!(you(&mut third), "test-client");
    assert_eq!(
        you(&mut window(&shell, "c1")),
        match shell.backend.is_sqlite() {
            true => "test-client-3",
            false => "test-client-2",
        },
        "its name has gone to another"
    );
}

#[on_both]
fn the_end_of_input_ends_the_session(backend: Backend) {
    let shell = planned(backend);
    for revision in BOTH {
        let mut one = Client::begin(started(&shell, "c1"), revision);
        let made = ok(&mut one, "create_record", record("Q"))["record"]["id"].clone();
        ok(&mut one, "activate", json!({"id": made}));
        let left = one.leave();
        assert_eq!((left.code, left.errors.len()), (Some(0), 0), "{left:?}");
        let mut other = window(&shell, "c2");
        let found = ok(
            &mut other,
            "get_active_sessions",
            json!({"record_id": made}),
        );
        assert_eq!(found, json!({"sessions": []}));
        assert_eq!(
            ok(&mut other, "activate", json!({"id": made})).get("conflict"),
            None
        );
        let told = ok(
            &mut other,
            "get_recent_activity",
            json!({"types": ["session_closed"]}),
        )["activity"][0]
            .clone();
        assert_eq!(
            (&told["summary"], &told["session_id"]),
            (&json!("session ended"), &json!("c1"))
        );
        assert!(
            told["details"]["released"]
                .as_str()
                .unwrap()
                .contains(made.as_str().unwrap())
        );
        assert!(
            !sessions(&mut other, json!({}))
                .iter()
                .any(|(_, session, alive)| session == "c1" && *alive)
        );
    }
    let log = shell.ok(&["log"]);
    assert!(
        log.contains("ended") && log.contains("released R001"),
        "{log}"
    );
    shell.ok(&["verify"]);
}

#[on_both]
fn a_chat_that_comes_back_gets_its_name_back(backend: Backend) {
    let shell = planned(backend);
    let (mut one, mut other) = (window(&shell, "c1"), window(&shell, "c2"));
    assert_eq!(
        (you(&mut one), you(&mut other)),
        ("test-client".into(), "test-client-2".into())
    );
    one.leave();
    other.leave();
    let mut other = window(&shell, "c2");
    assert_eq!(you(&mut other), "test-client-2");
    assert_eq!(you(&mut window(&shell, "c1")), "test-client");
}

#[on_both]
fn many_that_come_at_once_get_a_name_each(backend: Backend) {
    let shell = planned(backend);
    assert_eq!(names_of_all(&shell, 5, false), numbered(5));
}

#[on_both]
fn many_whose_write_is_the_first_get_a_name_each(backend: Backend) {
    let shell = Shell::new(backend);
    assert_eq!(names_of_all(&shell, 4, true), numbered(4));
    let log = shell.ok(&["log", "-n", "100", "--json"]);
    let log: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut pairs: Vec<(String, String)> = log
        .iter()
        .map(|item| (item["session"].to_string(), item["actor"].to_string()))
        .collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 4, "no chat wrote under two names: {pairs:?}");
}

#[on_both]
fn a_name_that_was_chosen_is_kept(backend: Backend) {
    let shell = planned(backend);
    let named = |chat: &str| {
        let mut command = started(&shell, chat);
        command.env("UNDERSTORY_AGENT", "bob");
        Client::begin(command, Revision::Before)
    };
    let (mut one, mut other) = (named("c1"), named("c2"));
    assert_eq!(
        (you(&mut one), you(&mut other)),
        ("bob".into(), "bob".into())
    );
    let both = sessions(&mut one, json!({"agent": "bob"}));
    assert_eq!(
        both.iter().filter(|(_, _, alive)| *alive).count(),
        2,
        "{both:?}"
    );
}

#[on_both]
fn one_process_may_serve_several_chats(backend: Backend) {
    let shell = planned(backend);
    let mut client = Client::begin(shell.command(&["mcp", "--tools", "all"]), Revision::Before);
    let in_thread = |client: &mut Client, meta: Value, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let (answer, failed) = read_result(&client.ask("tools/call", params));
        assert!(!failed, "{answer}");
        answer
    };
    let (one, other) = (
        json!({"threadId": "t1"}),
        json!({"x-codex-turn-metadata": {"thread_id": "t2"}}),
    );
    assert_eq!(
        in_thread(&mut client, one.clone(), "graph_onboard", json!({}))["you"],
        "test-client"
    );
    assert_eq!(
        in_thread(&mut client, other.clone(), "graph_onboard", json!({}))["you"],
        "test-client-2"
    );
    let made = in_thread(&mut client, other, "create_record", record("Q"))["record"]["id"].clone();
    let held = in_thread(
        &mut client,
        one,
        "get_active_sessions",
        json!({"record_id": made}),
    );
    assert_eq!(held["sessions"][0]["session_id"], "t2");
    client.leave();
    let left = shell.json(&[
        "call",
        "get_active_sessions",
        &json!({"record_id": made}).to_string(),
    ]);
    assert_eq!(left, json!({"sessions": []}));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_session_too() {
    for signal in ["-TERM", "-HUP"] {
        let shell = planned(Backend::sqlite());
        let mut client = window(&shell, "c1");
        ok(&mut client, "create_record", record("Q"));
        let told = Command::new("kill")
            .args([signal, &client.pid().to_string()])
            .status();
        assert!(told.unwrap().success());
        assert_eq!(client.ended().code, Some(0));
        let held = shell.json(&["call", "get_active_sessions", r#"{"record_id": "R001"}"#]);
        assert_eq!(held, json!({"sessions": []}), "{signal}");
        assert!(
            !shell
                .backend
                .file()
                .with_file_name("understory.db-sessions")
                .exists()
        );
    }
}

#[test]
fn an_idle_process_writes_nothing_and_reading_makes_nothing() {
    let shell = Shell::sqlite();
    let mut client = window(&shell, "c1");
    assert_eq!(you(&mut client), "test-client");
    let (_, failed) = client.call("graph_update", json!({"updates": 5}));
    assert!(failed);
    assert!(
        !shell.backend.file().exists(),
        "a refused write makes no store"
    );
    client.leave();
    let folder = shell.backend.file().parent().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);

    let shell = planned(Backend::sqlite());
    let mut client = window(&shell, "c1");
    assert_eq!(you(&mut client), "test-client");
    let seen = || {
        let log = shell.backend.file().with_file_name("understory.db-wal");
        let wal = std::fs::metadata(log).ok();
        wal.map(|found| (found.len(), found.modified().unwrap()))
    };
    let before = seen();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(seen(), before);
}
