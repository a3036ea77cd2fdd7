//! Hooks that are given anything but what a client writes, in places where nothing works: they are
//! silent, and never keep a client.

use std::process::Command;

use serde_json::{Value, json};
use understory_model::limits;
use understory_testkit::{Backend, on_both};

use crate::chats::{input, planned, say};
use crate::shell::{Done, Shell, fed};

const CLIENTS: [&str; 6] = ["claude", "codex", "gemini", "copilot", "cursor", "opencode"];
const EVENTS: [&str; 6] = [
    "session-start",
    "prompt",
    "stop",
    "pre-compact",
    "session-end",
    "wake",
];

/// What each client calls its last event.
fn name(client: &str) -> &'static str {
    match client {
        "gemini" => "AfterAgent",
        "copilot" => "agentStop",
        "cursor" => "stop",
        _ => "Stop",
    }
}

/// Ended well, said nothing to a person, and to the client only what it can read.
#[track_caller]
fn is_harmless(done: &Done, what: &str) {
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{what}: {done:?}");
    assert!(done.out.chars().count() <= 2 * limits::HOOK_CHARS, "{what}");
    if !done.out.is_empty() {
        let said = serde_json::from_str::<Value>(&done.out);
        assert!(said.is_ok(), "{what}: {}", done.out);
    }
}

/// What a client would write, with fields that are what none would.
fn hostile(shell: &Shell, client: &str) -> Vec<String> {
    let good = json!({
        "session_id": "c1", "sessionId": "c1", "conversation_id": "c1", "generation_id": "g",
        "transcript_path": "/t", "cwd": shell.path("garden"), "turn_id": "t", "prompt_id": "p",
        "workspace_roots": [shell.path("garden")], "hook_event_name": name(client),
        "timestamp": "2026-11-17T10:00:00Z", "prompt": "x", "stop_hook_active": false,
        "status": "completed", "loop_count": 0,
    });
    let mut all = vec!["[".repeat(100_000), "{\"a\":".repeat(100_000), "\0".into()];
    let mut with = |field: &str, value: Value| {
        let mut one = good.clone();
        one[field] = value;
        all.push(one.to_string());
    };
    for field in good.as_object().unwrap().keys() {
        with(field, json!([[{"a": -1.5e300}]]));
    }
    let long = "x/".repeat(50_000);
    for folder in [
        "relative",
        "",
        "/nowhere",
        "/dev/null",
        "a\u{0}b",
        "\u{1b}]0;x\u{7}",
        &long,
    ] {
        with("cwd", json!(folder));
        with("workspace_roots", json!([folder]));
    }
    for session in [
        "",
        "a\nb",
        "\u{0}",
        "--help",
        "../../etc",
        "\u{1b}[2J",
        &long,
    ] {
        for field in ["session_id", "sessionId", "conversation_id"] {
            with(field, json!(session));
        }
    }
    all
}

#[on_both]
fn heavy_whatever_a_client_writes_a_hook_ends_well(backend: Backend) {
    let shell = planned(backend);
    say(&shell, "claude", "Hello \u{1b}[2J\u{202e}.");
    for client in CLIENTS {
        for text in hostile(&shell, client) {
            let command = shell.command(&["hook", "stop", "--client", client]);
            let what: String = text.chars().take(200).collect();
            is_harmless(&fed(command, text.as_bytes()), &format!("{client} {what}"));
        }
    }
}

/// A hook of each event where something is wrong.
#[track_caller]
fn is_silent(shell: &Shell, what: &str, wrong: impl Fn(&mut Command)) {
    let start = input(shell, "c1", "SessionStart", json!({"source": "startup"}));
    for event in EVENTS {
        let mut command = shell.command(&["hook", event, "--client", "claude"]);
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli");
        wrong(&mut command);
        let done = fed(command, &start);
        let said = (done.code, done.out.as_str(), done.err.as_str());
        assert_eq!(said, (0, "", ""), "{what}, {event}");
    }
}

#[test]
fn a_hook_is_silent_where_nothing_works() {
    let shell = planned(Backend::sqlite());
    let garbage = shell.path("garbage.db");
    std::fs::write(&garbage, "this is no store\n".repeat(1_000)).unwrap();
    let stores = [
        (
            "a server that is down",
            "postgres://127.0.0.1:1/x".to_owned(),
        ),
        ("a store that is none", garbage.display().to_string()),
        ("a folder", shell.path("garden").display().to_string()),
        ("nothing", "/dev/null".to_owned()),
        ("a nonsense address", "nonsense://x".to_owned()),
    ];
    for (what, store) in &stores {
        is_silent(&shell, what, |command| {
            command.env("UNDERSTORY_STORE", store);
        });
    }
    is_silent(&shell, "a role that is none", |command| {
        command.env("UNDERSTORY_ROLE", "emperor");
    });
    is_silent(&shell, "a name that is none", |command| {
        command.env("UNDERSTORY_AGENT", "a\nb");
    });
    is_silent(&shell, "an auditor", |command| {
        command.env("UNDERSTORY_ROLE", "auditor");
    });
    let config = shell.path(".config/understory");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("understory.toml"), "[[[").unwrap();
    is_silent(&shell, "settings that cannot be read", |_| {});
    std::fs::remove_file(config.join("understory.toml")).unwrap();
    let newer = "UPDATE soil_meta SET value = '99' WHERE key = 'version'";
    shell.backend.raw().run(newer).unwrap();
    is_silent(&shell, "a store of a newer version", |_| {});
}
