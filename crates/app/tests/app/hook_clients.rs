//! Hooks of clients that differ from Claude Code's in more than their form: opencode's plugin, and Copilot
//! on its command line.

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::chats::{locks, planned, say, silent_but, until};
use crate::driver::{Client, Revision};
use crate::shell::{fed, says};

/// An opencode whose plugin tells hooks what happens, and takes prompts at an address.
#[on_both]
fn an_opencode_chat_is_one_session_with_its_server(backend: Backend) {
    let shell = planned(backend);
    let process = std::process::id().to_string();
    // Its MCP server is there before any chat, and is told none.
    let mut command = shell.command(&["mcp", "--tools", "all"]);
    command.env("OPENCODE", "1");
    let mut window = Client::begin(command, Revision::Before);
    let (onboard, _) = window.call("graph_onboard", json!({}));
    let agent = onboard["you"].as_str().unwrap().to_owned();
    let fire = |event: &str, chat: &str, turn: &str, more: Value| {
        let mut all = json!({"event": event, "session_id": chat, "turn_id": turn,
            "cwd": shell.path("garden")});
        let fields = all.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let args = ["hook", event, "--client", "opencode", "--process", &process];
        let out = silent_but(shell.fed(&args, all.to_string().as_bytes()));
        match out.is_empty() {
            true => out,
            false => serde_json::from_str::<Value>(&out).unwrap()["context"]
                .as_str()
                .unwrap()
                .to_owned(),
        }
    };
    let start = |chat: &str, turn: &str, source: &str, address: &str| {
        let more = json!({"source": source, "address": address});
        fire("session-start", chat, turn, more)
    };
    let told = start("ses_1", "msg_1", "startup", "http://example.com/x");
    says(&told, &[&format!("you are {agent} (session sess_")]);
    let reach = || {
        let who = shell.ok(&["who"]);
        let mut lines = who.lines().filter(|line| line.starts_with(&agent));
        let line = lines.next().unwrap().to_owned();
        assert_eq!(lines.next(), None, "it is one agent: {who}");
        line
    };
    // An address elsewhere is none, so there is no process that would send prompts to it.
    says(&reach(), &["end_of_turn"]);
    assert_eq!(locks(&shell, "beside-"), 0);
    // Another chat of the same window takes over, and is told what the first was.
    say(&shell, &agent, "Look.");
    let here = "http://127.0.0.1:9/x";
    says(
        &start("ses_2", "msg_2", "clear", here),
        &["bob wrote: \"Look.\""],
    );
    says(&reach(), &["in_session"]);
    until("the process beside it", || locks(&shell, "beside-") == 1);
    assert_eq!(fire("prompt", "ses_2", "msg_2", json!({})), "");
    assert_eq!(fire("stop", "ses_2", "msg_2", json!({})), "");
    // The window is closed. What is left is the chat, which can be resumed.
    drop(window);
    fire("session-end", "ses_2", "msg_2", json!({}));
    until("the end of what was beside it", || {
        locks(&shell, "beside-") == 0
    });
    until("the end of the session", || reach().contains("gone"));
    says(&reach(), &["resume"]);
}

#[on_both]
fn copilot_hears_at_its_start_and_at_prompts(backend: Backend) {
    let shell = planned(backend);
    let fire = |event: &str, moment: i64, here: bool| {
        let input = json!({"sessionId": "p1", "timestamp": moment, "cwd": shell.path("garden")});
        let mut command = shell.command(&["hook", event, "--client", "copilot"]);
        if here {
            command.env("COPILOT_CLI", "1");
        }
        let out = silent_but(fed(command, input.to_string().as_bytes()));
        let out: Option<Value> = serde_json::from_str(&out).ok();
        out.map(|out| out["additionalContext"].as_str().unwrap().to_owned())
    };
    let told = fire("session-start", 1, true).unwrap();
    says(&told, &["you are copilot (session p1,"]);
    say(&shell, "copilot", "Look.");
    assert_eq!(fire("prompt", 2, false), None, "VS Code drops it");
    says(&fire("prompt", 3, true).unwrap(), &["bob wrote: \"Look.\""]);
}
