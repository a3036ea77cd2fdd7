//! Real Claude Code and Codex side by side, and opencode, with our hooks as `understory hook config` prints them: one
//! writes, the other wakes up and answers, and the wakes say what became of each.

use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};
use understory_testkit::Backend;
use understory_testkit::agents::{Claude, Codex, Lab, Opencode, Tmux, wait_until};

use crate::agents::lab;

/// What each model does when it hears of a message.
const WHEN_WOKEN: &str = r#"
    ON I am awake: CALL ack_read {"thread_id": "th_001", "last_read_seq": 2}
    ON I am awake: SAY I heard it
    ON Please look: CALL post_message {"thread_id": "th_001", "body": "I am awake."}
    ON Please look: CALL ack_read {"thread_id": "th_001", "last_read_seq": 1}
    ON Please look: SAY I answered"#;

/// A part of what `understory wakes --json` prints.
#[derive(Deserialize, Debug)]
struct Wakes {
    wakes: Vec<Wake>,
}

#[derive(Deserialize, Debug)]
struct Wake {
    target_agent_id: String,
    asked_by: String,
    action: String,
    result: String,
    channel: Option<String>,
}

fn hooks(lab: &Lab, client: &str) -> Value {
    let printed = lab.run("understory", &["hook", "config", client]).ok();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

fn set_up<'l>(lab: &'l Lab) -> (Claude<'l>, Codex<'l>) {
    lab.run("understory", &["runtimes", "--add", "codex"]).ok();
    let claude = Claude::set_up(lab, &[]);
    let mut settings = hooks(lab, "claude");
    settings["permissions"] = json!({"allow": ["mcp__understory"]});
    lab.write(".claude/settings.json", &settings.to_string());
    let codex = Codex::set_up(lab, &[]);
    lab.write(".codex/hooks.json", &hooks(lab, "codex").to_string());
    codex.trust_hooks();
    (claude, codex)
}

fn wakes(lab: &Lab) -> Vec<Wake> {
    let printed = lab.run("understory", &["wakes", "--json"]).ok();
    let Wakes { wakes } = serde_json::from_str(&printed).unwrap();
    wakes
}

#[test]
fn heavy_two_idle_clients_wake_each_other() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, WHEN_WOKEN) else {
        return;
    };
    let (claude, codex) = set_up(&lab);
    // Hooks make no workspace: something has to be there.
    lab.run(
        "understory",
        &["call", "graph_open", r#"{"project": "default"}"#],
    )
    .ok();
    let tmux = Tmux::new(&lab.walls);
    let one = codex.interactive(&tmux);
    one.submit("CALL graph_onboard {}\nSAY ready");
    one.wait_for("• ready");
    let other = claude.interactive(&tmux);
    other.submit("CALL post_message {\"to\": [\"codex\"], \"body\": \"Please look.\"}\nSAY asked");
    other.wait_for("● asked");
    other.paste("half a sent");
    one.wait_for("• I answered");
    let screen = other.wait_for("● I heard it");
    assert!(screen.contains("half a sent"), "the draft stays: {screen}");

    let told = wait_until("both wakes are read", || {
        let told = wakes(&lab);
        let read = told.iter().filter(|wake| wake.result == "read").count();
        (read == 2).then_some(told)
    });
    let of = |agent: &str| told.iter().find(|wake| wake.target_agent_id == agent);
    let codex_wake = of("codex").expect("a wake of Codex");
    assert_eq!(codex_wake.asked_by, "claude-code");
    assert_eq!(codex_wake.action, "in_session");
    assert_eq!(codex_wake.channel.as_deref(), Some("codex_queue"));
    let claude_wake = of("claude-code").expect("a wake of Claude Code");
    assert_eq!(claude_wake.asked_by, "codex");
    assert_eq!(claude_wake.channel.as_deref(), Some("claude_rewake"));
    assert_eq!(told.len(), 2, "{told:?}");
}

/// What a model does that goes on with a session after its end.
const WHEN_RESUMED: &str = r#"
    ON Look at one: CALL post_message {"thread_id": "th_001", "body": "I am awake."}
    ON Look at one: CALL ack_read {"thread_id": "th_001", "last_read_seq": 1}
    ON Look at one: SAY I answered
    ON Look at two: CALL post_message {"thread_id": "th_002", "body": "I am awake."}
    ON Look at two: CALL ack_read {"thread_id": "th_002", "last_read_seq": 1}
    ON Look at two: SAY I answered"#;

/// What a prompt could break out with; it is one argument, whatever it holds.
const HOSTILE: &str =
    "--help -x \"double\" 'single' $(touch pwned) `touch pwned`; touch pwned {session}\nsecond";

#[test]
fn heavy_ended_sessions_are_resumed_by_serve() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, WHEN_RESUMED) else {
        return;
    };
    let (claude, codex) = set_up(&lab);
    let understory = |words: &[&str]| lab.run("understory", words).ok();
    understory(&["runtimes", "--add", "claude-code"]);
    understory(&["call", "graph_open", r#"{"project": "default"}"#]);
    claude
        .headless("CALL graph_onboard {}\nSAY first turn of claude")
        .ok();
    codex
        .headless("CALL graph_onboard {}\nSAY first turn of codex")
        .ok();
    let mut serve = lab.walls.command("understory");
    let serve = serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut serve = serve
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();

    for (target, thread, look) in [
        ("claude-code", "th_001", "Look at one"),
        ("codex", "th_002", "Look at two"),
    ] {
        let call = |tool: &str, arguments: Value| {
            understory(&["call", tool, &arguments.to_string(), "--agent", "ada"])
        };
        call(
            "post_message",
            json!({"to": [target], "body": "Are you there?"}),
        );
        let prompt = format!("{HOSTILE}\n{look}");
        let wish =
            json!({"thread_id": thread, "target_agent_id": target, "trigger_prompt": prompt});
        call("trigger_participant", wish);
        let wake = wait_until("the wake is read", || {
            let told = wakes(&lab).into_iter();
            let mut told = told.filter(|wake| wake.target_agent_id == target);
            told.find(|wake| wake.result == "read")
        });
        assert_eq!(
            (wake.asked_by.as_str(), wake.action.as_str()),
            ("ada", "resume_session")
        );
        assert_eq!(wake.channel, None, "no channel of a live session");
        let answer = wait_until("the answer", || {
            let told = understory(&["thread", thread]);
            told.contains("I am awake.").then_some(told)
        });
        assert!(answer.contains(target), "{answer}");
        // The same chat goes on, and has the words as text.
        let asked = lab.model.asked();
        let resumed = asked.iter().map(|asked| asked.heard.concat());
        let resumed = resumed.filter(|heard| heard.contains(look));
        let first = format!(
            "first turn of {}",
            target.split('-').next().unwrap_or(target)
        );
        let whole = |heard: &String| {
            let words = [
                "$(touch pwned) `touch pwned`; touch pwned",
                "--help -x",
                "second",
            ];
            heard.contains(&first) && words.iter().all(|one| heard.contains(one))
        };
        assert!(
            resumed.clone().any(|heard| whole(&heard)),
            "{:?}",
            resumed.collect::<Vec<_>>()
        );
        for place in [lab.walls.repository(), lab.walls.home()] {
            assert!(!place.join("pwned").exists());
        }
    }
    serve.kill().unwrap();
    serve.wait().unwrap();
}

/// What opencode's model does when it is woken, and what it is asked to do by a person.
const OPENCODE_WOKEN: &str = r#"
    ON asked by: CALL post_message {"thread_id": "th_001", "body": "I am awake."}
    ON asked by: CALL ack_read {"thread_id": "th_001", "last_read_seq": {{"seq":(\d+)}}}
    ON asked by: SAY I answered"#;

#[test]
fn heavy_claude_in_a_managed_terminal_is_given_the_prompt() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, WHEN_WOKEN) else {
        return;
    };
    // Without hooks, its terminal is the only way to it.
    let claude = Claude::set_up(&lab, &[]);
    let understory = |words: &[&str]| lab.run("understory", words).ok();
    understory(&["call", "graph_open", r#"{"project": "default"}"#]);
    let tmux = Tmux::new(&lab.walls);
    let pane = claude.started_by(&tmux, &["understory", "run", "--agent", "ada", "--"]);
    wait_until("ada's terminal", || {
        let who = understory(&["who"]);
        who.contains("terminal").then_some(())
    });
    let post = r#"{"to": ["ada"], "body": "Please look."}"#;
    understory(&["call", "post_message", post, "--agent", "bob"]);
    pane.wait_for("● I answered");
    let told = wait_until("the wake is read", || {
        wakes(&lab).into_iter().find(|wake| wake.result == "read")
    });
    assert_eq!(
        (told.target_agent_id.as_str(), told.asked_by.as_str()),
        ("ada", "bob")
    );
    assert_eq!(told.action, "trigger_runtime");
    assert_eq!(told.channel.as_deref(), Some("terminal"));
}

#[test]
fn heavy_an_idle_opencode_is_woken() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, OPENCODE_WOKEN) else {
        return;
    };
    let call = |tool: &str, arguments: &str| {
        let words = ["call", tool, arguments, "--agent", "ada"];
        lab.run("understory", &words).ok()
    };
    call("graph_open", r#"{"project": "default"}"#);
    let plugin = lab.run("understory", &["hook", "config", "opencode"]).ok();
    let opencode = Opencode::set_up(&lab, &plugin);
    let tmux = Tmux::new(&lab.walls);
    let pane = opencode.interactive(&tmux);
    // Its agent that only plans must not become one that writes because somebody wakes it.
    pane.press(&["Tab"]);
    pane.wait_for("Plan · ");
    pane.submit("SAY ready");
    pane.wait_for("▣  Plan · ");
    pane.paste("half a sent");
    call(
        "post_message",
        r#"{"to": ["opencode"], "body": "Please look."}"#,
    );
    let screen = pane.wait_for("I answered");
    assert!(screen.contains("half a sent"), "the draft stays: {screen}");
    assert!(!screen.contains("Build · "), "{screen}");

    let wake = wait_until("the wake is read", || {
        let told = wakes(&lab).pop();
        told.filter(|wake| wake.result == "read")
    });
    assert_eq!(wake.target_agent_id, "opencode");
    assert_eq!(
        (wake.asked_by.as_str(), wake.action.as_str()),
        ("ada", "in_session")
    );
    assert_eq!(wake.channel.as_deref(), Some("opencode_prompt"));
    // It was told who it is when its chat began.
    let asked = lab.model.asked();
    let heard = |text: &str| {
        asked
            .iter()
            .any(|asked| asked.heard.concat().contains(text))
    };
    assert!(heard("Understory: you are opencode (session "), "{asked:?}");

    let pid = pane.pid();
    pane.close();
    wait_until("opencode and what was beside it have ended", || {
        let left = lab.walls.processes();
        let beside = left.iter().any(|one| one.command.contains(" hook beside "));
        (!beside && left.iter().all(|one| one.pid != pid)).then_some(())
    });
}
