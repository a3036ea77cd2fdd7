//! `understory run` in a real terminal: what arrives for the agent in it is typed when nobody is in the
//! way, and nothing else ever is.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::shell::Shell;

/// What takes longer never happens.
const DEADLINE: Duration = Duration::from_secs(60);

#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A person's terminal: bash in a tmux of its own, in a workspace.
struct Window {
    shell: Shell,
    socket: PathBuf,
}

impl Window {
    fn new(backend: Backend) -> Window {
        let shell = Shell::planted(backend);
        let window = Window {
            socket: shell.path("tmux"),
            shell,
        };
        let bash = "PS1='person$ ' exec bash --norc --noprofile";
        let size = ["-x", "120", "-y", "30"];
        window.tmux(&[&["new-session", "-d", "-s", "t"][..], &size, &[bash]].concat());
        window.wait_for("person$");
        window
    }

    fn tmux(&self, words: &[&str]) -> String {
        let plain = self.shell.command(&[]);
        let mut tmux = Command::new("tmux");
        tmux.args(["-f", "/dev/null", "-u", "-S"]).arg(&self.socket);
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => tmux.env(name, value),
                None => tmux.env_remove(name),
            };
        }
        if let Some(folder) = plain.get_current_dir() {
            tmux.current_dir(folder);
        }
        for name in ["RECHECK", "QUIET"] {
            tmux.env(format!("UNDERSTORY_WAKE_{name}_SECONDS"), "1");
        }
        tmux.env("UNDERSTORY_WAKE_PATIENCE_SECONDS", "3");
        let output = tmux.args(words).output().expect("tmux");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "t"])
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        let mut last = String::new();
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            last = self.screen();
            if last.contains(text) {
                return last;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("waited in vain for {text:?} on\n{last}");
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "t", "-l", text]);
    }

    fn enter(&self, line: &str) {
        self.types(line);
        self.tmux(&["send-keys", "-t", "t", "Enter"]);
    }

    /// Starts a program as bob.
    fn run(&self, program: &str) {
        let ours = env!("CARGO_BIN_EXE_understory");
        self.enter(&format!("'{ours}' run --agent bob -- {program}"));
    }

    fn call(&self, agent: &str, tool: &str, arguments: Value) -> Value {
        let arguments = arguments.to_string();
        self.shell
            .json(&["call", tool, &arguments, "--agent", agent])
    }

    /// Ada writes to bob.
    fn write(&self, body: &str) {
        self.call("ada", "post_message", json!({"to": ["bob"], "body": body}));
    }

    /// The newest wake.
    fn wake(&self) -> Option<Value> {
        let listed = self.call("ada", "list_wakes", json!({"thread_id": "th_001"}));
        listed["wakes"].get(0).cloned()
    }

    #[track_caller]
    fn wake_that(&self, field: &str, value: &str) -> Value {
        let end = Instant::now() + DEADLINE;
        loop {
            let last = self.wake();
            if let Some(wake) = last.clone().filter(|wake| wake[field] == value) {
                return wake;
            }
            assert!(Instant::now() < end, "no {field} {value}: {last:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// How bob is reached; nothing while he is not here.
    fn bob(&self) -> Option<Value> {
        let who = self.call("ada", "who", json!({}));
        let agents = who["agents"].as_array()?;
        agents.iter().find(|one| one["agent"] == "bob").cloned()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let mut tmux = Command::new("tmux");
        let _ = tmux.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// An agent that looks like Claude Code, in bob's terminal.
struct Agent {
    window: Window,
    record: PathBuf,
    orders: PathBuf,
}

impl Agent {
    fn new(backend: Backend) -> Agent {
        let window = Window::new(backend);
        let probe = Path::new(env!("CARGO_BIN_EXE_understory")).with_file_name("terminal-probe");
        assert!(
            probe.exists(),
            "build the agent of the tests: cargo build -p understory-terminal"
        );
        let (record, orders) = (window.shell.path("record"), window.shell.path("orders"));
        let claude = window.shell.path("claude");
        let words = [&probe, &record, &orders].map(|path| format!("'{}'", path.display()));
        let [probe, first, second] = words;
        let script = format!("#!/bin/sh\nexec {probe} agent {first} {second}\n");
        fs::write(&claude, script).unwrap();
        fs::set_permissions(&claude, fs::Permissions::from_mode(0o700)).unwrap();
        window.run(&format!("'{}'", claude.display()));
        window.wait_for("? for shortcuts");
        let agent = Agent {
            window,
            record,
            orders,
        };
        until("bob", || agent.window.bob());
        agent
    }

    /// What reached the agent.
    fn record(&self) -> Vec<String> {
        let record = fs::read_to_string(&self.record).unwrap_or_default();
        let lines = record.lines().filter(|line| !line.starts_with("sequence"));
        lines.skip(1).map(str::to_owned).collect()
    }

    fn order(&self, word: &str) {
        let socket = UnixDatagram::unbound().unwrap();
        socket.send_to(word.as_bytes(), &self.orders).unwrap();
    }
}

#[on_both]
fn heavy_an_idle_agent_is_given_the_prompt_and_reads_it(backend: Backend) {
    let agent = Agent::new(backend);
    let bob = agent.window.bob().unwrap();
    assert_eq!(
        (&bob["reach"], &bob["client"]),
        (&json!("terminal"), &json!("claude-code"))
    );
    agent.window.write("$(touch pwned) \u{1b}[201~\r/quit");
    until("the prompt", || {
        let record = agent.record();
        record
            .iter()
            .any(|line| line.starts_with("submitted"))
            .then_some(())
    });
    let record = agent.record();
    assert_eq!(record.len(), 2, "a paste and a Return: {record:?}");
    assert!(
        record[0].starts_with("pasted \"Understory: 1 unread message in th_001"),
        "{record:?}"
    );
    assert!(
        record[0].contains("asked by") && record[0].contains("ada"),
        "{record:?}"
    );
    // It is spelled out, not sent.
    let sent = record[0].replace("\\\\u{1b}", "");
    assert!(!sent.contains("\\u{1b}"), "{record:?}");
    let wake = agent.window.wake_that("result", "delivered");
    assert_eq!(
        (&wake["channel"], &wake["action"]),
        (&json!("terminal"), &json!("trigger_runtime"))
    );
    // What bob does in that session shows that it read the prompt.
    let bob = agent.window.call("ada", "get_active_sessions", json!({}));
    let session = bob["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["agent"] == "bob");
    let session = session.unwrap()["session_id"].as_str().unwrap().to_owned();
    let read = [
        "call",
        "read_messages",
        r#"{"thread_id": "th_001"}"#,
        "--agent",
        "bob",
    ];
    agent
        .window
        .shell
        .ok(&[&read[..], &["--session", &session]].concat());
    agent.window.wake_that("result", "read");
    agent.order("end");
    agent.window.wait_for("person$");
    until("bob's end", || agent.window.bob().is_none().then_some(()));
}

#[on_both]
fn heavy_a_half_typed_line_is_never_touched(backend: Backend) {
    let agent = Agent::new(backend);
    agent.window.types("my own wo");
    agent.window.wait_for("❯ my own wo");
    agent.window.write("Look!");
    let wake = agent.window.wake_that("result", "deferred");
    assert_eq!(wake["defer_reason"], "human_input_busy");
    let wake = agent.window.wake_that("result", "failed");
    assert_eq!(wake["tried"][0]["code"], "HUMAN_INPUT_COLLISION");
    assert!(agent.window.screen().contains("❯ my own wo"));
    assert_eq!(agent.record(), Vec::<String>::new());
    assert_eq!(agent.window.bob().unwrap()["activity"], "typing");
}

#[on_both]
fn heavy_a_dialog_is_never_answered(backend: Backend) {
    let agent = Agent::new(backend);
    agent.order("dialog");
    agent.window.wait_for("Do you want to proceed?");
    agent.window.write("Yes");
    let wake = agent.window.wake_that("result", "deferred");
    assert_eq!(wake["defer_reason"], "dialog_open");
    let wake = agent.window.wake_that("result", "failed");
    assert_eq!(wake["tried"][0]["code"], "HUMAN_INPUT_COLLISION");
    assert_eq!(agent.record(), Vec::<String>::new());
}

#[on_both]
fn heavy_a_shell_is_given_no_word_of_anybody(backend: Backend) {
    let window = Window::new(backend);
    window.run("env PS1='bob$ ' bash --norc --noprofile");
    window.wait_for("bob$");
    until("bob", || window.bob());
    window.write("; touch pwned #\n touch pwned");
    window.wait_for("Understory: unread messages in th_001. Call read_messages to see them.");
    window.wait_for("command not found");
    window.wake_that("result", "delivered");
    assert!(!window.screen().contains("pwned"), "{}", window.screen());
    // Whoever types there is that agent, and no operator.
    window.enter("echo I am $UNDERSTORY_AGENT");
    window.wait_for("I am bob");
    let ours = env!("CARGO_BIN_EXE_understory");
    window.enter(&format!(
        "'{ours}' thread th_001 --status closed --reason done"
    ));
    until("a closed thread, which is not disputed", || {
        let thread = window.call("ada", "get_thread", json!({"thread_id": "th_001"}));
        (thread["status"] == "closed").then_some(())
    });
    window.enter(&format!("'{ours}' audit"));
    window.wait_for("audit events are not for a worker");
}

#[test]
fn heavy_what_was_started_beside_a_program_ends_with_it() {
    let window = Window::new(Backend::sqlite());
    let script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait";
    crate::wakes::listed(&window.shell, script);
    window.run("env PS1='bob$ ' bash --norc --noprofile");
    window.wait_for("bob$");
    until("bob", || window.bob());
    let new = json!({"title": "T", "participants": ["codex"]});
    window.call("ada", "create_thread", new);
    let message = json!({"thread_id": "th_001", "body": "Please look."});
    window.call("ada", "post_message", message);
    let wish = json!({"thread_id": "th_001", "target_agent_id": "codex"});
    window.call("ada", "trigger_participant", wish);
    until("the agent", || {
        window.shell.path("pid").exists().then_some(())
    });
    let runs = || crate::wakes::runs(&window.shell);
    assert!(runs());
    window.enter("exit");
    window.wait_for("person$");
    until("the end of what was started", || (!runs()).then_some(()));
}

#[on_both]
fn heavy_a_killed_supervisor_leaves_the_terminal_usable_and_wakes_nobody(backend: Backend) {
    let agent = Agent::new(backend);
    let tmux = |format: &str| {
        agent
            .window
            .tmux(&["display-message", "-p", "-t", "t", format])
    };
    let bash: i32 = tmux("#{pane_pid}").trim().parse().unwrap();
    let children = fs::read_to_string(format!("/proc/{bash}/task/{bash}/children")).unwrap();
    let supervisor = children
        .split_whitespace()
        .next()
        .expect("a supervisor")
        .to_owned();
    agent.window.types("half");
    agent.window.wait_for("❯ half");
    agent.window.write("Look!");
    agent.window.wake_that("result", "deferred");
    let killed = Command::new("kill")
        .args(["-9", &supervisor])
        .status()
        .unwrap();
    assert!(killed.success());
    agent.window.wait_for("person$");
    agent.window.enter("clear; echo still $((40 + 2))");
    agent.window.wait_for("still 42");
    assert_eq!(agent.record(), Vec::<String>::new());
    assert!(fs::metadata(agent.window.shell.path("pwned")).is_err());
    if agent.window.shell.backend.is_sqlite() {
        // On a server it counts as gone when it has been silent for a while.
        until("bob's end", || agent.window.bob().is_none().then_some(()));
    }
    let trigger = json!({"thread_id": "th_001", "target_agent_id": "bob"});
    let _ = agent.window.shell.run(&[
        "call",
        "trigger_participant",
        &trigger.to_string(),
        "--agent",
        "ada",
    ]);
    let wake = agent.window.wake().unwrap();
    assert_ne!(wake["result"], "delivered", "{wake}");
}
