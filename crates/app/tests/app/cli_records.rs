//! Records at the command line: `show`, `log`, `records`, `status`, `search`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::shell::{Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

fn call(shell: &Shell, session: &str, tool: &str, arguments: Value) -> Value {
    shell.json(&["call", tool, &arguments.to_string(), "--session", session])
}

fn make(shell: &Shell, parent: Option<&str>, kind: &str, title: &str, more: Value) {
    let mut record = json!({
        "parent_id": parent, "type": kind, "title": title, "summary": format!("About: {title}"),
        "body": "First line.\nSecond line about eviction."
    });
    for (name, value) in more.as_object().unwrap() {
        record[name] = value.clone();
    }
    call(shell, "s1", "create_record", record);
}

/// A question with two answers below it, one of which settled it; two sessions have it active.
fn reasoned(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    make(&shell, None, "question", "How to cache?", json!({}));
    make(
        &shell,
        Some("R001"),
        "conclusion",
        "Use LRU",
        json!({"related": ["R001"]}),
    );
    make(
        &shell,
        Some("R002"),
        "note",
        "Sizes",
        json!({"metadata": {"area": "memory"}}),
    );
    make(
        &shell,
        Some("R001"),
        "question",
        "Which eviction?",
        json!({"state": "LATER", "reason": "after the release"}),
    );
    make(&shell, None, "question", "Other", json!({}));
    let done = json!({"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"});
    call(&shell, "s1", "transition", done);
    call(&shell, "s1", "save_session", json!({"summary": "half way"}));
    call(&shell, "s2", "activate", json!({"id": "R001"}));
    shell
}

#[on_both]
fn show_has_everything_around_a_record(backend: Backend) {
    let shell = reasoned(backend);
    let out = shell.ok(&["show", "r1"]);
    says(
        &out,
        &[
            "R001  How to cache?",
            "✓ RESOLVED · question · version 2",
            "About: How to cache?",
            "resolved by   ○ R002 Use LRU  OPEN conclusion",
            "related from  ○ R002 Use LRU",
            "active in     s2  last seen",
            "s1  last seen",
            "by ann",
            "├ ○ R002 Use LRU  OPEN conclusion  +1 below",
            "└ ◌ R004 Which eviction?  LATER question: after the release",
            "First line.\nSecond line about eviction.\n",
            "ann transitioned  OPEN → RESOLVED by R002",
            "ann activated  in session s2",
        ],
    );
    let out = shell.ok(&["show", "R002"]);
    says(
        &out,
        &[
            "in          ✓ R001 How to cache?",
            "resolves    ✓ R001",
            "related to  ✓ R001",
        ],
    );
    says(&shell.ok(&["show", "R003"]), &["area       memory"]);
    let record = shell.json(&["show", "R001"]);
    assert_eq!(record["record"]["title"], "How to cache?");
    assert_eq!(record["resolved_by"]["id"], "R002");
    assert_eq!(record["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(record["history"][0]["about"], "R001");
    let items = shell.json(&["status"])["head_seq"].clone();
    shell.ok(&["show", "R001"]);
    assert_eq!(shell.json(&["status"])["head_seq"], items, "a look wrote");
    says(
        &shell.refused(&["show", "R099"], 3).err,
        &["R099", "hint: "],
    );
    says(
        &shell
            .refused(&["call", "activate", r#"{"id": "R099"}"#], 3)
            .err,
        &["R099"],
    );
    let fault = shell.refused(
        &["call", "update_record", r#"{"id": "R001", "body": "x"}"#],
        4,
    );
    says(&fault.err, &["is not active in session"]);
}

#[on_both]
fn show_has_a_project_that_has_no_graph(backend: Backend) {
    let shell = reasoned(backend);
    call(
        &shell,
        "s1",
        "create_project",
        json!({"id": "shop", "name": "Shop", "description": "All of it"}),
    );
    let items = shell.json(&["status"])["head_seq"].clone();
    says(
        &shell.ok(&["show", "shop"]),
        &["shop  Shop", "All of it", "0 records"],
    );
    let out = shell.ok(&["show", "default"]);
    says(
        &out,
        &[
            "5 records, 3 open, 1 later · 2 sessions open · tick 7",
            "topmost records",
            "✓ R001 How to cache?",
            "◌ R004",
            "R001 OPEN → RESOLVED by R002",
        ],
    );
    assert_eq!(
        shell.json(&["show", "shop"])["project"]["description"],
        "All of it"
    );
    assert_eq!(shell.json(&["status"])["head_seq"], items, "a look wrote");
    shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "Ship it"}"#,
    ]);
    says(
        &shell.ok(&["show", "default"]),
        &["PLAN-001", "✓ R001 How to cache?"],
    );
    let both = shell.json(&["show", "default"]);
    assert_eq!(both["node"]["id"], "PLAN-001");
    assert_eq!(both["totals"]["records"], 5);
}

#[on_both]
fn log_tells_what_sessions_did(backend: Backend) {
    let shell = reasoned(backend);
    let out = shell.ok(&["log"]);
    says(
        &out,
        &[
            "saved",
            "session s1",
            "half way",
            "activated",
            "R001",
            "in session s2",
        ],
    );
    assert!(!out.contains("session:"), "{out}");
    let out = shell.ok(&["log", "--record", "r1", "--json"]);
    let lines: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let did: Vec<&str> = lines
        .iter()
        .map(|l| l["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        did,
        ["conflict_detected", "activated", "transitioned", "created"]
    );
    assert_eq!(lines[1]["about"], "R001");
    assert_eq!(shell.ok(&["log", "R001", "--json"]), out);
    says(
        &shell.ok(&["log", "--record", "R001"]),
        &["conflict", "also active in s1"],
    );
    says(
        &shell.ok(&["log", "--record", "R004"]),
        &["Which eviction?; under R001"],
    );
    assert_eq!(shell.run(&["log", "R001", "--record", "R002"]).code, 2);
    call(
        &shell,
        "s2",
        "update_record",
        json!({"id": "R001", "body": "new", "related": ["R005"]}),
    );
    says(
        &shell.ok(&["log", "-n", "1"]),
        &["updated", "R001", "new body; +related R005"],
    );
}

#[on_both]
fn log_follows_a_record(backend: Backend) {
    let shell = reasoned(backend);
    let mut child = shell
        .command(&[
            "log", "--follow", "--record", "R001", "--limit", "1", "--json",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["action"], "conflict_detected");
    call(&shell, "s3", "activate", json!({"id": "R005"}));
    call(
        &shell,
        "s1",
        "update_record",
        json!({"id": "R001", "title": "Caching"}),
    );
    call(&shell, "s3", "activate", json!({"id": "R001"}));
    let (changed, active) = (next(), next());
    assert_eq!(
        (&changed["handle"], &changed["action"]),
        (&json!("R001"), &json!("updated"))
    );
    assert_eq!(
        (&active["about"], &active["action"]),
        (&json!("R001"), &json!("activated"))
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[on_both]
fn records_are_drawn_as_a_tree(backend: Backend) {
    let shell = reasoned(backend);
    let tree = "✓ R001 How to cache?  RESOLVED question · in s2 and 1 more\n\
        ├ ○ R002 Use LRU  OPEN conclusion · in s1\n\
        │ └ ○ R003 Sizes  OPEN note · in s1\n\
        └ ◌ R004 Which eviction?  LATER question: after the release · in s1\n\
        ○ R005 Other  OPEN question · in s1\n";
    let head = "default  5 records: 3 open, 1 later · 2 sessions open\n";
    assert_eq!(shell.ok(&["records"]), format!("{head}{tree}"));
    let out = shell.ok(&["records", "--state", "later"]);
    assert_eq!(
        out.lines().skip(1).collect::<Vec<_>>(),
        [
            "✓ R001 How to cache?  RESOLVED question · in s2 and 1 more",
            "└ ◌ R004 Which eviction?  LATER question: after the release · in s1",
        ]
    );
    let out = shell.ok(&["records", "r2"]);
    assert_eq!(
        out,
        "○ R002 Use LRU  OPEN conclusion · in s1\n└ ○ R003 Sizes  OPEN note · in s1\n"
    );
    says(
        &shell.ok(&["records", "--depth", "1"]),
        &["R001 How to cache?  RESOLVED question · in s2 and 1 more  +2 below"],
    );
    let out = shell.ok(&["records", "--limit", "2"]);
    says(&out, &["R002", "--after R002"]);
    let out = shell.ok(&["records", "--after", "R002"]);
    says(&out, &["✓ R001", "│ └ ○ R003", "R005"]);

    let page = shell.json(&["records", "--limit", "2", "--after", "R002"]);
    let ids: Vec<&str> = page["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["R001", "R002", "R003", "R004"]);
    assert_eq!(
        (&page["records"][0]["context"], &page["records"][2]["depth"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(page["next_after"], "R004");
    assert_eq!(
        shell.json(&["records", "--after", "R005"])["records"],
        json!([])
    );

    says(
        &shell.refused(&["records", "--project", "defualt"], 3).err,
        &["default"],
    );
    says(&shell.refused(&["records", "R099"], 3).err, &["R099"]);
    says(
        &shell.refused(&["records", "default"], 3).err,
        &["is not a record", "understory show"],
    );
    says(
        &shell.run(&["records", "--state", "DONE"]).err,
        &["OPEN", "DISCARDED"],
    );
    says(
        &shell.ok(&["records", "--color", "always"]),
        &["\x1b[36mR001\x1b[0m"],
    );
    let plain = shell
        .command(&["records"])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!plain.stdout.contains(&0x1b));
}

#[on_both]
fn a_diff_is_read_line_by_line(backend: Backend) {
    let shell = reasoned(backend);
    call(
        &shell,
        "s1",
        "update_record",
        json!({"id": "R005", "body": "First line.\nAnother line.\n"}),
    );
    let out = shell.ok(&["call", "get_record_history", r#"{"id": "R005"}"#]);
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    for line in [
        "+++ R005 version 2",
        "-Second line about eviction.",
        "+Another line.",
    ] {
        assert!(
            lines.iter().any(|there| there.ends_with(line)),
            "{line}: {out}"
        );
    }
}

#[on_both]
fn status_counts_records_and_sessions(backend: Backend) {
    let shell = reasoned(backend);
    says(
        &shell.ok(&["status", "--settings"]),
        &[
            "records    5 records: 3 open, 1 later · 2 sessions open",
            "stale_after_ticks        20",
        ],
    );
    let records = &shell.json(&["status"])["records"];
    let expected = json!({
        "tick": 7, "records": 5, "open": 3, "later": 1, "open_sessions": 2, "stale_sessions": 0
    });
    assert_eq!(records, &expected);
    call(&shell, "s1", "save_session", json!({}));
    call(&shell, "s1", "save_session", json!({}));
    std::fs::write(
        shell.path("garden").join("understory.toml"),
        "stale_after_ticks = 1",
    )
    .unwrap();
    let out = shell.ok(&["status", "--settings"]);
    says(
        &out,
        &[
            "2 sessions open (1 stale)",
            "stale_after_ticks        1",
            "understory.toml",
        ],
    );
    let overview = call(&shell, "s3", "get_project_overview", json!({}));
    let states: Vec<&Value> = overview["open_sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| &session["status"])
        .collect();
    assert!(
        states.contains(&&json!("stale")),
        "the engine was told: {overview}"
    );
    let out = shell.ok(&["status", "--settings", "--stale-after-ticks", "9"]);
    says(&out, &["--stale-after-ticks", "2 sessions open\n"]);
}

#[on_both]
fn search_says_whose_a_hit_is(backend: Backend) {
    let shell = reasoned(backend);
    shell.ok(&[
        "call",
        "graph_plan",
        r#"{"nodes": [{"ref": "a", "summary": "Measure eviction"}]}"#,
    ]);
    let hits = shell.json(&["search", "eviction"]);
    let found = |handle: &str| {
        let hits = hits["results"].as_array().unwrap();
        hits.iter()
            .find(|hit| hit["handle"] == handle)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(found("R004")["surface"], "records");
    assert_eq!(found("R004")["title"], "Which eviction?");
    assert_eq!(found("TASK-001")["surface"], "graph");
    says(
        &found("R003")["snippet"].to_string(),
        &["Second line about **eviction**"],
    );
    says(
        &shell.ok(&["search", "eviction"]),
        &["SURFACE", "records", "graph", "Which eviction?"],
    );
    assert_eq!(
        shell.json(&["search", "r3"])["results"][0]["handle"],
        "R003"
    );
}

#[on_both]
fn reads_of_no_records_make_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    says(&shell.ok(&["records"]), &["no store yet"]);
    assert_eq!(shell.json(&["records"])["records"], json!([]));
    shell.refused(&["records", "R001"], 3);
    shell.refused(&["show", "R001"], 3);
    shell.refused(&["log", "--record", "R001"], 3);
    assert_eq!(shell.json(&["status"])["store"]["exists"], false);
    shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "g"}"#,
    ]);
    says(
        &shell.ok(&["records"]),
        &["default  no records yet", "create_record"],
    );
    says(&shell.ok(&["status"]), &["records    no records yet"]);
    says(
        &shell.refused(&["records", "PLAN-001"], 3).err,
        &["is not a record"],
    );
}

#[test]
fn a_long_tree_is_drawn_a_page_at_a_time() {
    let shell = Shell::sqlite();
    for number in 0..12 {
        make(&shell, None, "note", &format!("Note {number}"), json!({}));
    }
    let (mut after, mut seen) = (None::<String>, 0);
    loop {
        let mut arguments = vec!["records", "--limit", "5"];
        arguments.extend(after.iter().flat_map(|id| ["--after", id.as_str()]));
        let page = shell.json(&arguments);
        seen += page["records"].as_array().unwrap().len();
        match page["next_after"].as_str() {
            Some(id) => after = Some(id.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, 12);
}

#[test]
fn what_is_stored_cannot_command_a_terminal() {
    let shell = Shell::sqlite();
    let odd = "\u{1b}[31mred\u{202e}";
    make(
        &shell,
        None,
        "note",
        odd,
        json!({"body": format!("a\n{odd}\tb"), "summary": odd}),
    );
    for command in [
        &["show", "R001"][..],
        &["records"],
        &["log"],
        &["search", "red"],
        &["show", "default"],
    ] {
        let out = shell.ok(command);
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
}
