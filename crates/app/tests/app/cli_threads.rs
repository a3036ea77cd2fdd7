//! Threads at the command line: `threads`, `thread`, `post`, and what `show`, `log` and `status`
//! say of them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::shell::{Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

/// Ann starts a review with ada and bob; bob finds something, and ada pushes a fix.
fn reviewed(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    shell.ok(&[
        "post",
        "--new",
        "Review of the parser",
        "--type",
        "workflow",
        "--with",
        "ada,bob",
        "Please look at 4f2a91c",
    ]);
    shell.ok(&[
        "post",
        "th_001",
        "The fallback is lost",
        "--event",
        "finding_reported",
        "--meta",
        "severity=high",
        "--meta",
        "file=src/token.rs",
        "--meta",
        "line:=42",
        "--agent",
        "bob",
    ]);
    shell.ok(&[
        "post",
        "1",
        "It is kept.\n\tAnd tested.",
        "--event",
        "fix_pushed",
        "--meta",
        "commit=b7d0c55",
        "--reply",
        "2",
        "--agent",
        "ada",
    ]);
    shell
}

fn set(shell: &Shell, status: &str, agent: &str) -> Value {
    let change = ["thread", "1", "--status", status, "--reason", "so be it"];
    shell.json(&[&change[..], &["--agent", agent]].concat())
}

fn ids(found: &Value) -> Vec<&str> {
    let threads = found["threads"].as_array().unwrap();
    threads
        .iter()
        .map(|thread| thread["thread_id"].as_str().unwrap())
        .collect()
}

#[on_both]
fn threads_are_listed_last_changed_first(backend: Backend) {
    let shell = reviewed(backend);
    shell.ok(&[
        "post", "--new", "Lunch", "--with", "bob", "At noon?", "--agent", "ada",
    ]);
    let out = shell.ok(&["threads"]);
    let lines: Vec<&str> = out.lines().collect();
    says(
        lines[0],
        &[
            "THREAD",
            "STATUS",
            "UNREAD",
            "OPEN",
            "CHANGED",
            "PARTICIPANTS",
            "TITLE",
        ],
    );
    says(lines[1], &["th_002", "active", "bob, ada", "Lunch"]);
    says(
        lines[2],
        &[
            "th_001",
            "active  2       1 finding",
            "ada, bob, ann",
            "Review of the parser",
        ],
    );
    let found = shell.json(&["threads"]);
    assert_eq!(ids(&found), ["th_002", "th_001"]);
    assert_eq!(found["unread"], json!({"threads": 1, "messages": 2}));
    assert_eq!(ids(&shell.json(&["threads", "--mine"])), ["th_001"]);
    assert_eq!(ids(&shell.json(&["threads", "--unread"])), ["th_001"]);
    assert_eq!(
        ids(&shell.json(&["threads", "--role", "worker"])),
        ["th_001"],
        "a worker sees its own"
    );
    let one = shell.json(&["threads", "--limit", "1"]);
    assert_eq!((ids(&one), &one["more"]), (vec!["th_002"], &json!(true)));
    says(
        &shell.ok(&["threads", "-n", "1"]),
        &["There are more: --limit 0 lists every one."],
    );
    says(
        &shell
            .refused(&["threads", "--all", "--role", "worker"], 4)
            .err,
        &["only an operator, an orchestrator or an auditor"],
    );
    assert_eq!(
        ids(&shell.json(&["threads", "--all"])),
        ["th_002", "th_001"],
        "as the tool's `all`"
    );
    set(&shell, "blocked", "bob");
    assert_eq!(
        ids(&shell.json(&["threads", "--status", "BLOCKED", "--limit", "0"])),
        ["th_001"]
    );
    says(
        &shell.ok(&["threads", "--status", "closed"]),
        &["No thread is closed."],
    );
    says(
        &shell.ok(&["threads", "--mine", "--agent", "eve"]),
        &["You take part in no thread."],
    );
    says(
        &shell.ok(&["threads", "--unread", "--agent", "eve"]),
        &["You have read everything"],
    );
    assert_eq!(shell.run(&["threads", "--status", "done"]).code, 2);
    assert_eq!(shell.run(&["threads", "--all", "--mine"]).code, 2);
    says(
        &shell.ok(&["threads", "--color", "always"]),
        &["\x1b[36mth_001\x1b[0m"],
    );
    let plain = shell
        .command(&["threads"])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!plain.stdout.contains(&0x1b));
}

#[on_both]
fn a_thread_reads_as_a_chat(backend: Backend) {
    let shell = reviewed(backend);
    shell.ok(&[
        "call",
        "heartbeat_session",
        r#"{"runtime": "codex_cli", "status": "idle"}"#,
        "--agent",
        "bob",
    ]);
    shell.ok(&[
        "call",
        "ack_read",
        r#"{"thread_id": "th_001", "last_read_seq": 2}"#,
        "--agent",
        "bob",
    ]);
    set(&shell, "blocked", "bob");
    let out = shell.ok(&["thread", "th_001"]);
    says(
        &out,
        &[
            "th_001  Review of the parser\n",
            "blocked · workflow · 1 finding open · 3 messages · made ",
            "by ann\n",
            "  ada  nothing acknowledged · seen ",
            "  bob  read 2 of 3 · idle ",
            ", codex_cli\n",
            "  ann  1 · msg_2\n       Please look at 4f2a91c\n",
            "  bob  finding_reported  high  src/token.rs:42  2 · msg_3\n       The fallback is lost\n",
            "  ada  fix_pushed  b7d0c55  ↩ 2 bob  3 · msg_4\n       It is kept.\n           And tested.\n",
            "  bob  active → blocked (so be it)\n",
            "2 messages unread by you: --ack",
        ],
    );
    assert!(
        out.find("fix_pushed") < out.find("active → blocked"),
        "{out}"
    );
    let days = out.lines().filter(|line| line.starts_with("— ")).count();
    assert!((1..=2).contains(&days), "midnight may pass: {out}");
    let out = shell.ok(&["thread", "1", "--limit", "1"]);
    says(
        &out,
        &[
            "2 earlier messages: understory thread th_001 --since 0",
            "↩ msg_3",
            "→ blocked",
        ],
    );
    assert!(!out.contains("Please look"), "{out}");
    let out = shell.ok(&["thread", "TH-1", "--since", "0", "-n", "2"]);
    says(
        &out,
        &[
            "Please look",
            "There are more: understory thread th_001 --since 2",
        ],
    );
    assert!(
        !out.contains("→ blocked"),
        "it came after what is shown: {out}"
    );
    says(
        &shell.ok(&["thread", "1", "--since", "3"]),
        &["Nothing came after that."],
    );

    let found = shell.json(&["thread", "th_001"]);
    assert_eq!(found["thread"]["title"], "Review of the parser");
    assert_eq!(found["messages"][1]["metadata"]["line"], 42);
    assert_eq!(found["messages"][2]["in_reply_to"], "msg_3");
    assert_eq!(found["changes"][0]["action"], "status_changed");
    assert_eq!(
        (&found["next_seq"], &found["has_more"]),
        (&json!(3), &json!(false))
    );
}

#[on_both]
fn a_look_marks_nothing_and_ack_does(backend: Backend) {
    let shell = reviewed(backend);
    let items = shell.json(&["status"])["head_seq"].clone();
    for look in [
        &["threads"][..],
        &["thread", "1"],
        &["show", "th_001"],
        &["show", "msg_3"],
        &["log", "th_001"],
    ] {
        shell.ok(look);
    }
    assert_eq!(shell.json(&["status"])["head_seq"], items, "a look wrote");
    shell.ok(&["thread", "1", "--since", "0", "-n", "2", "--ack"]);
    assert_eq!(shell.json(&["threads"])["threads"][0]["unread"], 1);
    says(&shell.ok(&["thread", "1", "--ack"]), &["— unread —\n"]);
    let out = shell.ok(&["thread", "1", "--ack"]);
    assert!(!out.contains("unread"), "{out}");
    says(&out, &["ann  read all"]);
    assert_eq!(shell.json(&["threads"])["unread"]["messages"], 0);
    let eve = shell.ok(&["thread", "1", "--ack", "--agent", "eve"]);
    assert!(!eve.contains("eve"), "she had not read it before: {eve}");
    says(
        &shell.ok(&["thread", "1"]),
        &["eve  read all, takes no part"],
    );
}

#[on_both]
fn a_thread_is_followed_in_other_processes(backend: Backend) {
    let shell = reviewed(backend);
    let mut child = shell
        .command(&[
            "thread", "th_001", "--follow", "--limit", "1", "--json", "--ack",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["seq"], 3);
    shell.ok(&["post", "--new", "Other", "elsewhere"]);
    shell.ok(&[
        "post",
        "1",
        "Checked",
        "--event",
        "finding_verified",
        "--reply",
        "2",
        "--agent",
        "bob",
    ]);
    set(&shell, "resolved", "bob");
    shell.ok(&["post", "1", "Thanks", "--agent", "ada"]);
    assert_eq!(next()["body"], "Checked");
    assert_eq!(next()["action"], "status_changed");
    let last = next();
    assert_eq!((&last["seq"], &last["body"]), (&json!(5), &json!("Thanks")));
    child.kill().unwrap();
    child.wait().unwrap();
    let readers = shell.json(&["thread", "1"])["thread"]["readers"].clone();
    let ann = readers
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["agent_id"] == "ann")
        .cloned()
        .unwrap();
    assert!(ann["last_read_seq"].as_i64() >= Some(3), "{ann}");
}

#[on_both]
fn post_says_where_it_went(backend: Backend) {
    let shell = reviewed(backend);
    assert_eq!(
        shell.ok(&["post", "th_001", "Fine"]),
        "msg_5  message 4 in th_001\n"
    );
    let done = shell.fed(&["post", "1", "-"], "Two lines\nof it\n\n".as_bytes());
    assert_eq!(done.out, "msg_6  message 5 in th_001\n", "{done:?}");
    let piped = shell.fed(&["post", "1", "--json"], b"From a pipe\n");
    let answer: Value = serde_json::from_str(&piped.out).unwrap();
    assert_eq!(
        (&answer["message_id"], &answer["thread_id"]),
        (&json!("msg_7"), &json!("th_001"))
    );
    let bodies = shell.json(&["thread", "1", "--since", "4"]);
    assert_eq!(bodies["messages"][0]["body"], "Two lines\nof it");
    assert_eq!(bodies["messages"][1]["body"], "From a pipe");
    let again = || shell.ok(&["post", "--new", "Once", "--key", "k1", "Only once"]);
    let first = again();
    says(&first, &["message 1 in th_002", "Only you take part in it"]);
    assert_eq!(again(), first, "a key posts once");
    shell.refused(&["post", "th_002", "Something else", "--key", "k1"], 4);

    let items = shell.json(&["status"])["head_seq"].clone();
    says(
        &shell.refused(&["post", "th_010", "x"], 3).err,
        &["no thread th_010", "Did you mean th_001"],
    );
    says(
        &shell.refused(&["post", "1", "x", "--reply", "77"], 3).err,
        &["no message 77 in th_001", "1 to 6"],
    );
    says(
        &shell
            .refused(&["post", "1", "x", "--reply", "msg_1"], 3)
            .err,
        &["msg_1"],
    );
    says(
        &shell.refused(&["post", "1"], 2).err,
        &["is empty", "standard input"],
    );
    says(&shell.refused(&["post", "1", " "], 2).err, &["is empty"]);
    says(
        &shell
            .refused(&["post", "--new", "T", "--meta", "a", "x"], 2)
            .err,
        &["--meta a: has no =", "key:=value"],
    );
    says(
        &shell.refused(&["post", "--new", "T", "--with", "a"], 2).err,
        &["is empty"],
    );
    says(
        &shell.refused(&["post", "--new", "T", "th_001", "x"], 2).err,
        &["Quote the text"],
    );
    says(
        &shell
            .refused(&["post", "1", "x", "--agent", "eve", "--role", "worker"], 4)
            .err,
        &["take no part"],
    );
    assert_eq!(shell.run(&["post"]).code, 2);
    assert_eq!(shell.run(&["post", "1", "x", "--with", "a"]).code, 2);
    assert_eq!(
        shell.run(&["post", "--new", "T", "x", "--reply", "1"]).code,
        2
    );
    assert_eq!(
        shell.json(&["status"])["head_seq"],
        items,
        "a refused post left something"
    );
    set(&shell, "closed", "ann");
    says(
        &shell.refused(&["post", "1", "too late"], 4).err,
        &["th_001 is closed"],
    );
}

#[on_both]
fn show_log_and_status_speak_of_threads(backend: Backend) {
    let shell = reviewed(backend);
    let out = shell.ok(&["show", "th_1"]);
    says(
        &out,
        &[
            "th_001  Review of the parser",
            "1 finding reported: 1 fixed and not verified; 1 is open. Fixes: b7d0c55.",
            "open\n  msg_3  fixed  high  src/token.rs:42  b7d0c55  The fallback is lost\n",
            "ada posted  message 3, fix_pushed: It is kept.",
            "understory thread th_001",
        ],
    );
    assert_eq!(
        shell.json(&["show", "th_001"])["summary"]["findings"]["open"],
        1
    );
    says(
        &shell.ok(&["show", "msg_4"]),
        &[
            "msg_4  ada  fix_pushed  ",
            "in       th_001 Review of the parser  message 3, active\n",
            "answers  msg_3 bob: The fallback is lost\n",
            "commit   b7d0c55\n",
            "\nIt is kept.\n    And tested.\n",
            "understory thread th_001 --since 2",
        ],
    );
    assert_eq!(shell.json(&["show", "msg_4"])["message"]["seq"], 3);
    assert_eq!(
        shell.json(&["show", "#4"])["content"]["n"],
        3,
        "the item is still there"
    );
    for missing in [
        "msg_1", "msg_99", "msg_", "msg_-1", "msg_03", "th_099", "th_x",
    ] {
        says(&shell.refused(&["show", missing], 3).err, &[missing]);
    }
    shell.ok(&["thread", "1", "--ack"]);
    set(&shell, "resolved", "bob");
    let out = shell.ok(&["log"]);
    says(
        &out,
        &[
            "ann  created  th_001  Review of the parser",
            "posted   th_001  message 2, finding_reported: The fallback is lost",
            "ann  read     th_001  up to message 3",
            "bob  changed  th_001  status: active → resolved; (so be it)",
        ],
    );
    assert_eq!(shell.ok(&["log", "--thread", "1"]), out);
    assert_eq!(shell.run(&["log", "th_001", "--thread", "1"]).code, 2);
    says(
        &shell.refused(&["log", "--thread", "9"], 3).err,
        &["th_009", "th_001"],
    );
    shell.ok(&["post", "1", "One more", "--agent", "bob"]);
    says(
        &shell.ok(&["status"]),
        &["threads    1 thread: 1 not closed · 1 unread\n"],
    );
    set(&shell, "closed", "ann");
    assert_eq!(
        shell.json(&["status"])["threads"],
        json!({"threads": 1, "open": 0, "unread": 1})
    );
}

#[on_both]
fn a_person_changes_a_thread_and_wakes_its_participants(backend: Backend) {
    let shell = reviewed(backend);
    assert_eq!(
        shell.ok(&[
            "thread",
            "1",
            "--status",
            "BLOCKED",
            "--reason",
            "no schema",
            "--meta",
            "ticket=OPS-7"
        ]),
        "th_001  blocked\n"
    );
    says(
        &shell.ok(&["thread", "1"]),
        &["ann  active → blocked (no schema); {\"ticket\":\"OPS-7\"}"],
    );
    says(
        &shell.ok(&["log", "th_001"]),
        &["status: active → blocked; (no schema); {\"ticket\":\"OPS-7\"}"],
    );
    assert_eq!(
        shell.json(&["thread", "1"])["thread"]["changes"][0]["metadata"],
        json!({"ticket": "OPS-7"})
    );
    let added = shell.ok(&["thread", "th_1", "--add", "adda, cyd"]);
    says(
        &added,
        &[
            "th_001  blocked  ada, bob, adda, cyd\n",
            "adda was never seen in this workspace. Did you mean ada",
        ],
    );
    says(&shell.ok(&["thread", "1"]), &["ann  +adda; +cyd"]);
    says(
        &shell.ok(&["thread", "1", "--agent", "cyd", "--role", "worker"]),
        &["Please look"],
    );
    for wrong in [
        &["thread", "1", "--reason", "x"][..],
        &["thread", "1", "--status", "done"],
        &["thread", "1", "--status", "active", "--follow"],
        &["thread", "1", "--add", "a b"],
    ] {
        assert_eq!(shell.run(wrong).code, 2, "{wrong:?}");
    }
    says(
        &shell.refused(&["thread", "9", "--status", "active"], 3).err,
        &["no thread th_009"],
    );

    says(
        &shell.refused(&["wake", "ada", "1"], 4).err,
        &["\"ada\" was last seen at "],
    );
    shell.ok(&[
        "call",
        "heartbeat_session",
        r#"{"runtime": "codex_cli", "resumable": true, "status": "idle", "session_id": "s-9"}"#,
        "--agent",
        "ada",
        "--session",
        "s-9",
    ]);
    let out = shell.ok(&["wake", "ada", "th_001", "--prompt", "Look"]);
    says(
        &out,
        &[
            "queued  wake_001  2 unread\n",
            "Nothing was started",
            "  codex exec resume s-9 Look\n",
        ],
    );
    assert_eq!(
        shell.json(&["wake", "ada", "1"])["action"],
        "resume_session"
    );
    shell.ok(&["thread", "1", "--ack", "--agent", "ada"]);
    says(
        &shell.ok(&["wake", "ada", "1"]),
        &["not needed  0 unread\n", "it has read everything"],
    );
    says(
        &shell.refused(&["wake", "adda2", "1"], 3).err,
        &["takes no part in th_001"],
    );
}

#[on_both]
fn a_quota_of_messages_holds_for_every_process(backend: Backend) {
    let shell = reviewed(backend);
    let post = || {
        let mut command =
            shell.command(&["post", "1", "again", "--agent", "cyd", "--role", "operator"]);
        command
            .env("UNDERSTORY_MESSAGES_PER_MINUTE", "2")
            .output()
            .unwrap()
    };
    assert!(post().status.success() && post().status.success());
    let third = post();
    assert!(!third.status.success());
    says(
        &String::from_utf8(third.stderr).unwrap(),
        &["more than 2 messages in a minute", "Post again in "],
    );
    shell.ok(&["post", "1", "another's", "--agent", "bob"]);
}

#[on_both]
fn what_a_post_settles_is_said(backend: Backend) {
    let shell = reviewed(backend);
    let out = shell.ok(&[
        "post",
        "1",
        "Fine",
        "--event",
        "finding_verified",
        "--reply",
        "2",
        "--agent",
        "ada",
        "--role",
        "worker",
    ]);
    says(&out, &["Recorded as your view; the finding stays open."]);
    let out = shell.ok(&[
        "post",
        "1",
        "Fine",
        "--event",
        "finding_verified",
        "--reply",
        "2",
        "--agent",
        "bob",
        "--role",
        "worker",
    ]);
    assert!(!out.contains("your view"), "{out}");
    shell.ok(&[
        "post",
        "1",
        "Who decides?",
        "--event",
        "thread_escalated",
        "--agent",
        "ada",
    ]);
    says(
        &shell.ok(&["show", "th_001"]),
        &["escalation  for operator  Who decides?"],
    );
    says(&shell.ok(&["threads"]), &["1 request"]);
}

#[on_both]
fn looks_at_no_threads_make_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    says(
        &shell.ok(&["threads"]),
        &["no store yet", "understory post --new"],
    );
    assert_eq!(shell.json(&["threads"])["threads"], json!([]));
    says(
        &shell.refused(&["thread", "1"], 3).err,
        &["no thread th_001", "no store yet"],
    );
    shell.refused(&["thread", "1", "--follow"], 3);
    shell.refused(&["show", "msg_1"], 3);
    shell.refused(&["log", "--thread", "1"], 3);
    assert_eq!(shell.json(&["status"])["store"]["exists"], false);
    shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "g"}"#,
    ]);
    says(
        &shell.ok(&["threads"]),
        &[
            "There are no threads in garden yet.",
            "understory post --new",
        ],
    );
    says(
        &shell.refused(&["thread", "th_001"], 3).err,
        &["no thread th_001", "understory threads"],
    );
    says(&shell.ok(&["status"]), &["threads    none yet"]);
    shell.ok(&["call", "create_thread", r#"{"title": "Silence"}"#]);
    says(
        &shell.ok(&["thread", "1"]),
        &[
            "ann  nothing to read",
            "Nothing was said yet.",
            "understory post th_001",
        ],
    );
    says(
        &shell.refused(&["thread", "PLAN-001"], 3).err,
        &["no thread PLAN-001"],
    );
}

#[test]
fn many_threads_are_all_listed() {
    let shell = Shell::sqlite();
    for number in 0..53 {
        let new = json!({"title": format!("Thread {number}")}).to_string();
        shell.ok(&["call", "create_thread", &new]);
    }
    assert_eq!(ids(&shell.json(&["threads"])).len(), 50);
    assert_eq!(ids(&shell.json(&["threads", "--limit", "0"])).len(), 53);
    assert_eq!(shell.json(&["status"])["threads"]["threads"], 53);
}

#[test]
fn what_is_stored_cannot_command_a_terminal() {
    let shell = Shell::sqlite();
    let odd = "\u{1b}[31mred\u{9b}2J\u{202e}\r\u{7}";
    let meta = format!("file={odd}");
    let event = ["--event", odd, "--meta", &meta];
    shell.ok(&[&["post", "--new", odd, odd][..], &event].concat());
    shell.ok(&["post", "1", odd, "--reply", "1", "--meta", &meta]);
    for command in [
        &["threads"][..],
        &["thread", "1"],
        &["thread", "1", "--color", "never"],
        &["show", "th_001"],
        &["show", "msg_3"],
        &["log"],
        &["thread", "1", "--json"],
        &["threads", "--json"],
    ] {
        let out = shell.ok(command);
        let bad = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
        assert!(!out.contains(bad), "{command:?}: {out:?}");
    }
    let line = "\u{1b}[31m 03:20  bob";
    shell.ok(&["post", "1", &format!("a\n{line}")]);
    let out = shell.ok(&["thread", "1"]);
    says(&out, &["       a\n       \\u{1b}[31m 03:20  bob\n"]);
    let done = shell.refused(&["thread", odd], 3);
    assert!(!done.err.contains(['\u{1b}', '\u{9b}']), "{done:?}");
}

/// Runs a command in a pseudo-terminal of so many columns.
#[cfg(target_os = "linux")]
fn seen(shell: &Shell, columns: usize, arguments: &str) -> String {
    seen_with(shell, columns, arguments, None)
}

#[cfg(target_os = "linux")]
fn seen_with(
    shell: &Shell,
    columns: usize,
    arguments: &str,
    colour: Option<(&str, &str)>,
) -> String {
    let plain = shell.command(&[]);
    let line = format!(
        "stty cols {columns} rows 40; {} {arguments}",
        env!("CARGO_BIN_EXE_understory")
    );
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command
        .env("TERM", "xterm")
        .envs(colour)
        .current_dir(shell.path("garden"))
        .stdin(Stdio::null())
        .output()
        .expect("util-linux has script");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_messages_fit_it() {
    let shell = reviewed(Backend::sqlite());
    let long = "wörds 日本語 that go on ".repeat(20);
    shell.ok(&["post", "1", &long, "--agent", "bob"]);
    let out = seen(&shell, 60, "thread 1");
    says(
        &out,
        &[
            "\x1b[1mbob\x1b[0m",
            "\x1b[33mfinding_reported\x1b[0m",
            "\x1b[1;31mhigh\x1b[0m",
            "\x1b[36mb7d0c55\x1b[0m",
        ],
    );
    for columns in [100, 60, 40, 30] {
        let out = seen(&shell, columns, "thread 1 --color never");
        let wide = |line: &&str| line.chars().map(wide_as).sum::<usize>() > columns;
        let over: Vec<&str> = out.lines().filter(wide).collect();
        assert!(over.is_empty(), "{columns}: {over:?}");
        let table = seen(&shell, columns.max(60), "threads --color never");
        assert!(
            !table.lines().any(|line| wide(&line) && columns >= 60),
            "{table}"
        );
        says(&table, &["th_001"]);
    }
    for columns in [1, 8, 20] {
        says(&seen(&shell, columns, "thread 1 --color never"), &["msg_2"]);
        says(&seen(&shell, columns, "threads --color never"), &["th_001"]);
    }
    let plain = seen_with(&shell, 60, "thread 1", Some(("NO_COLOR", "1")));
    assert!(
        !plain.contains('\x1b') && plain.contains("msg_2"),
        "{plain}"
    );
}

/// The columns of a letter, as far as these tests have any.
#[cfg(target_os = "linux")]
fn wide_as(letter: char) -> usize {
    match letter {
        '日' | '本' | '語' => 2,
        _ => 1,
    }
}
