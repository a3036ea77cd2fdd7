//! Workers that take jobs of waking: none waits for another one's step, they start so many agents at a time,
//! and what they started ends with them.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use understory::process::machine;
use understory_testkit::{Backend, on_both};

use crate::chats::{Stand, input, locks, planned, silent_but, until};
use crate::shell::Shell;
use crate::wakes::{lines, listed, runs, serve};

/// A thread in which these agents did not read a message.
fn thread(shell: &Shell, agents: &[&str]) {
    let new = json!({"title": "T", "participants": agents}).to_string();
    shell.ok(&["call", "create_thread", &new]);
    shell.ok(&["post", "th_001", "Please look."]);
}

fn ask_for(shell: &Shell, agent: &str) {
    let wish = json!({"thread_id": "th_001", "target_agent_id": agent}).to_string();
    shell.ok(&["call", "trigger_participant", &wish]);
}

/// A session of Codex gives a sign of life.
fn beats(shell: &Shell, agent: &str, status: &str) {
    let beat = json!({"runtime": "codex_cli", "resumable": true, "status": status}).to_string();
    let who = ["--agent", agent, "--session", &format!("s-{agent}")];
    shell.ok(&[&["call", "heartbeat_session", &beat], &who[..]].concat());
}

/// The job of waking an agent.
fn job(shell: &Shell, agent: &str) -> Value {
    let listed = shell.json(&["wakes"]);
    let mut all = listed["wakes"].as_array().unwrap().iter();
    let found = all.find(|one| one["target_agent_id"] == agent);
    found.unwrap_or_else(|| panic!("{listed}")).clone()
}

#[test]
fn a_channel_that_hangs_keeps_nobody_elses_prompt_back() {
    let shell = Shell::sqlite();
    listed(
        &shell,
        "case $1 in queue) touch hangs; sleep 600;; resume) touch resumed;; esac",
    );
    thread(&shell, &["bob", "eve"]);
    beats(&shell, "bob", "active");
    let reached = format!(
        "INSERT INTO live_reach (ws, session, agent, client, client_session, channel, address, \
         machine, process, started, folder, activity, at) SELECT ws, 's-bob', 'bob', 'codex', 'c', \
         'codex_queue', '', '{}', 1, 1, '', 'idle', 0 FROM soil_workspace",
        machine()
    );
    shell.backend.raw().run(&reached).unwrap();
    beats(&shell, "eve", "idle");
    ask_for(&shell, "bob");
    ask_for(&shell, "eve");
    let (site, server) = serve(shell);
    let shell = &site.shell;
    until("the channel that hangs", || shell.path("hangs").exists());
    until("the other agent", || shell.path("resumed").exists());
    assert_eq!(job(shell, "bob")["result"], "queued", "it still hangs");
    server.stop();
}

#[test]
fn a_worker_runs_so_many_agents_at_a_time() {
    let shell = Shell::sqlite();
    listed(
        &shell,
        "echo x >> starts; while [ ! -e end ]; do sleep 0.1; done",
    );
    let names: Vec<String> = (1..=9).map(|n| format!("codex-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    thread(&shell, &names);
    for name in &names {
        ask_for(&shell, name);
    }
    let (site, server) = serve(shell);
    let shell = &site.shell;
    let starts = || lines(&shell.path("starts")).len();
    until("as many as may run", || starts() == 8);
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(starts(), 8);
    let waits = job(shell, "codex-9");
    assert_eq!(
        (&waits["result"], &waits["action"]),
        (&json!("queued"), &json!("spawn_session"))
    );
    fs::write(shell.path("end"), "").unwrap();
    until("the last one", || starts() == 9);
    server.stop();
}

/// Starts an agent beside a chat of Codex, which then ends in this way.
fn started_beside_a_chat(
    backend: Backend,
    end: impl FnOnce(&mut Stand, &dyn Fn(&str, &str, Value)),
) {
    let shell = planned(backend);
    listed(
        &shell,
        "sleep 600 & echo $! > pid.new; mv pid.new pid; wait",
    );
    let mut stand = Stand::new();
    let process = stand.id();
    let fire = |event: &str, name: &str, more: Value| {
        let args = ["hook", event, "--client", "codex", "--process", &process];
        silent_but(shell.fed(&args, &input(&shell, "x1", name, more)));
    };
    fire(
        "session-start",
        "SessionStart",
        json!({"source": "startup"}),
    );
    until("the process beside it", || locks(&shell, "beside-") == 1);
    thread(&shell, &["codex-7"]);
    ask_for(&shell, "codex-7");
    until("the agent", || shell.path("pid").exists());
    assert!(runs(&shell));
    end(&mut stand, &fire);
    until("its end", || locks(&shell, "beside-") == 0);
    until("the end of what was started", || !runs(&shell));
    let after = job(&shell, "codex-7");
    assert_eq!(after["defer_reason"], "retry", "it is reported: {after}");
}

#[on_both]
fn what_was_started_beside_a_chat_ends_with_the_chat(backend: Backend) {
    started_beside_a_chat(backend, |_, fire| {
        fire("session-end", "SessionEnd", json!({"reason": "other"}));
    });
}

#[on_both]
fn what_was_started_beside_a_chat_ends_with_its_client(backend: Backend) {
    started_beside_a_chat(backend, |client, _| client.end());
}
