//! Who is calling from a shell: a person, or the agent whose shell it is. And `understory who`.

use crate::shell::{Done, Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

const RECORD: &str =
    r#"{"parent_id": null, "type": "question", "title": "Q", "summary": "s", "body": "b"}"#;

/// Runs a command in an agent's shell.
fn inside(shell: &Shell, env: &[(&str, &str)], arguments: &[&str]) -> Done {
    let mut command = shell.command(arguments);
    command.envs(env.iter().copied());
    Done::of(command.output().unwrap())
}

const CLAUDE: [(&str, &str); 2] = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "chat-1")];

/// The newest item: who wrote it, and in which session.
fn last(shell: &Shell) -> (String, String) {
    let item = shell.json(&["log", "-n", "1"]);
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    (text("actor"), text("session"))
}

/// A thread with an open finding, which a worker may not close.
fn disputed(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    let thread = r#"{"title": "Review", "participants": ["claude-code", "rv"]}"#;
    shell.ok(&["call", "create_thread", thread]);
    let finding = json!({"thread_id": "th_001", "body": "wrong", "kind": "event",
        "metadata": {"event_type": "finding_reported", "finding_id": "f1"}});
    shell.ok(&[
        "call",
        "post_message",
        &finding.to_string(),
        "--agent",
        "rv",
    ]);
    shell
}

const CLOSE: &str = r#"{"thread_id": "th_001", "status": "closed", "reason": "done"}"#;

#[on_both]
fn an_agents_shell_is_the_agent(backend: Backend) {
    let shell = disputed(backend);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "A"}]}"#;
    for (env, agent, session) in [
        (&CLAUDE[..], "claude-code", Some("chat-1")),
        (&[("CODEX_THREAD_ID", "t1")], "codex", Some("t1")),
        (&[("GEMINI_CLI", "1")], "gemini", None),
        (&[("OPENCODE", "1")], "opencode", None),
        (&[("COPILOT_AGENT_SESSION_ID", "p1")], "copilot", Some("p1")),
        (&[("AI_AGENT", "new agent")], "new-agent", None),
    ] {
        let done = inside(&shell, env, &["call", "graph_plan", plan]);
        assert_eq!(done.code, 0, "{done:?}");
        let (actor, written) = last(&shell);
        assert_eq!(actor, agent);
        if let Some(session) = session {
            assert_eq!(written, session);
        }
        let status = inside(&shell, env, &["status"]);
        says(&status.out, &[agent, "worker"]);
    }
    shell.ok(&["call", "graph_plan", plan]);
    assert_eq!(last(&shell).0, "ann", "the person stays who it is");
    let status = shell.ok(&["status"]);
    says(&status, &["ann", "operator"]);
}

#[on_both]
fn no_variable_makes_an_agents_shell_an_operator(backend: Backend) {
    let shell = disputed(backend);
    let close = ["call", "update_thread_status", CLOSE];
    let refused = inside(&shell, &CLAUDE, &close);
    assert_eq!(refused.code, 4, "{refused:?}");
    let mut env = CLAUDE.to_vec();
    env.push(("UNDERSTORY_ROLE", "operator"));
    let refused = inside(&shell, &env, &close);
    assert_eq!(refused.code, 4, "{refused:?}");
    says(
        &refused.err,
        &["role: operator was set by UNDERSTORY_ROLE", "worker"],
    );
    let refused = inside(
        &shell,
        &CLAUDE,
        &[&close[..], &["--role", "orchestrator"]].concat(),
    );
    assert_eq!(refused.code, 4);
    says(
        &refused.err,
        &["--role", "claude-code", "own settings file"],
    );
    std::fs::write(
        shell.path("garden").join("understory.toml"),
        "role = \"operator\"",
    )
    .unwrap();
    assert_eq!(
        inside(&shell, &CLAUDE, &close).code,
        4,
        "a project's file is the agent's too"
    );
    std::fs::remove_file(shell.path("garden").join("understory.toml")).unwrap();
    let token = ["token", "issue", "--role", "operator"];
    let refused = inside(&shell, &CLAUDE, &token);
    assert_eq!((refused.code, refused.out.as_str()), (4, ""), "{refused:?}");
    let lower = inside(&shell, &CLAUDE, &["status", "--role", "auditor"]);
    says(&lower.out, &["auditor"]);
    let own = shell.path(".config").join("understory");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("understory.toml"), "role = \"operator\"").unwrap();
    let done = inside(&shell, &CLAUDE, &close);
    assert_eq!(done.code, 0, "the person said so: {done:?}");
}

#[on_both]
fn a_command_is_a_session_of_its_own_unless_it_is_named(backend: Backend) {
    let shell = Shell::new(backend);
    for _ in 0..3 {
        shell.ok(&["call", "create_record", RECORD]);
    }
    let overview = shell.json(&["call", "get_project_overview"]);
    assert_eq!(
        (
            &overview["open_sessions"],
            &overview["totals"]["open_sessions"]
        ),
        (&json!([]), &json!(0))
    );
    let update = r#"{"id": "R001", "body": "x"}"#;
    let refused = shell.refused(&["call", "update_record", update], 4);
    says(&refused.err, &["--session NAME"]);
    let below = RECORD.replace("null", "\"R001\"");
    says(
        &shell.refused(&["call", "create_record", &below], 4).err,
        &["--session NAME"],
    );
    // Names are the same everywhere.
    for name in ["plan", "日本 plan", "chat: ü"] {
        let named = |tool: &str, args: &str| shell.ok(&["call", tool, args, "--session", name]);
        named("activate", r#"{"id": "R001", "override": true}"#);
        named("update_record", update);
        named("create_record", &below);
        let held = shell.json(&["call", "get_active_sessions", r#"{"record_id": "R001"}"#]);
        let held: Vec<&Value> = held["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["session_id"])
            .collect();
        assert!(held.contains(&&json!(name)), "{held:?}");
        let close = json!({ "session_id": name }).to_string();
        shell.ok(&["call", "close_session", &close]);
    }
    let mut command = shell.command(&["call", "activate", r#"{"id": "R001"}"#]);
    command.env("UNDERSTORY_SESSION", "a\nb");
    let refused = Done::of(command.output().unwrap());
    assert_eq!(refused.code, 2);
    says(
        &refused.err,
        &["session: has control characters", "UNDERSTORY_SESSION"],
    );
    shell.ok(&["verify"]);
}

#[on_both]
fn who_shows_who_is_here(backend: Backend) {
    let shell = Shell::new(backend);
    says(&shell.ok(&["who"]), &["There is no store yet"]);
    shell.ok(&["call", "create_record", RECORD, "--session", "plan"]);
    inside(&shell, &CLAUDE, &["call", "activate", r#"{"id": "R001"}"#]);
    let out = shell.ok(&["who"]);
    says(
        &out,
        &[
            "AGENT",
            "SINCE",
            "REACH",
            "ann",
            "claude-code",
            "R001",
            "just now",
            "alive",
            "unread_only",
        ],
    );
    let json = shell.json(&["who", "claude-code"]);
    let one = &json["sessions"][0];
    assert_eq!(
        (&one["agent"], &one["session_id"], &one["alive"], &one["on"]),
        (
            &json!("claude-code"),
            &json!("chat-1"),
            &json!(true),
            &json!(["R001"])
        )
    );
    says(
        &shell.ok(&["who", "nobody"]),
        &["nobody was never seen here."],
    );
}

#[on_both]
fn a_shell_beside_a_numbered_window_bears_its_name(backend: Backend) {
    let shell = Shell::new(backend);
    let other = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "chat-2")];
    let plan = r#"{"nodes": [{"ref": "a", "summary": "A"}]}"#;
    for (env, agent) in [
        (CLAUDE, "claude-code"),
        (other, "claude-code-2"),
        (CLAUDE, "claude-code"),
        (other, "claude-code-2"),
    ] {
        assert_eq!(inside(&shell, &env, &["call", "graph_plan", plan]).code, 0);
        assert_eq!(last(&shell).0, agent);
    }
}
