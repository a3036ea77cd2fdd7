//! The everyday reads: `status`, `next`, `log`, `show`, `search`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::shell::{Shell, says};
use serde_json::Value;
use understory_testkit::{Backend, on_both};

#[on_both]
fn status_tells_what_is_where(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["status"]);
    says(
        &out,
        &[
            "workspace  garden",
            "default  4 open (1 ready, 1 blocked), 1 done",
            "ann  operator",
            "8 items, the last",
            "status --settings",
        ],
    );
    assert!(out.starts_with("workspace  garden"), "{out}");
    assert!(
        !out.contains("claim_ttl_minutes"),
        "settings are asked for: {out}"
    );
    let out = shell.ok(&["status", "--settings"]);
    says(
        &out,
        &[
            "workspace  garden",
            "UNDERSTORY_STORE",
            "claim_ttl_minutes        60",
        ],
    );
    let status = shell.json(&["status", "--project", "default"]);
    assert_eq!(status["head_seq"], 8);
    assert_eq!(status["workspace"]["name"], "garden");
    assert_eq!(status["counts"]["resolved"], 1);
    assert_eq!(status["store"]["exists"], true);
    assert!(status["store"]["size_bytes"].as_i64().unwrap() > 0);
    let engine = status["store"]["engine"].as_str().unwrap();
    assert!(engine.starts_with("SQLite 3.") || engine.starts_with("PostgreSQL "));
    let project = status["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "project");
    assert_eq!(project.unwrap()["source"], "--project");
    assert!(status["updated_at"].as_str().unwrap().ends_with('Z'));
}

#[on_both]
fn next_shows_and_takes(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["next"]);
    says(
        &out,
        &[
            "TASK-003  Write the parser",
            "PLAN-001 Ship the compiler › TASK-001 Front end",
            "docs/grammar.md  from TASK-001",
            "TASK-002 Write the lexer  git abc1234",
            "understory claim TASK-003",
        ],
    );
    says(&shell.ok(&["next", "--claim"]), &["Yours, ann", "TASK-003"]);
    let other = shell.json(&["next", "--agent", "bob", "--scope", "TASK-001"]);
    assert_eq!(other["nodes"].as_array().unwrap().len(), 0);
    let out = shell.ok(&["next", "--agent", "bob", "--scope", "TASK-001"]);
    says(
        &out,
        &[
            "Everything that can be started below TASK-001 is claimed.",
            "TASK-003 claimed by ann",
            "session shell_ann",
        ],
    );
    says(
        &shell.ok(&["next", "--claim"]),
        &["Yours, ann", "TASK-003", "understory done TASK-003"],
    );
    let done = shell.refused(&["next", "--project", "defualt"], 3);
    says(&done.err, &["no project defualt", "default"]);
    shell.refused(&["next", "--scope", "TASK-099"], 3);
    assert_eq!(shell.run(&["next", "--count", "0"]).code, 2);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "One more"}]}"#;
    shell.ok(&["call", "graph_plan", plan]);
    says(
        &shell.ok(&["next", "-n", "5"]),
        &["ID ", "SUMMARY", "TASK-003", "TASK-005"],
    );
}

#[on_both]
fn log_tells_who_did_what(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["log"]);
    let first = out.lines().nth(1).unwrap();
    says(
        first,
        &[
            "#8",
            "ada",
            "resolved",
            "TASK-002",
            "git abc1234",
            "(all tests pass)",
        ],
    );
    assert_eq!(out.lines().count(), 9);
    let some = shell.ok(&["log", "--limit", "2"]);
    assert_eq!(some.lines().count(), 4);
    says(&some, &["there is more", "--before 7"]);
    let out = shell.ok(&["log", "task-2", "--json"]);
    let lines: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let seqs: Vec<i64> = lines.iter().map(|l| l["seq"].as_i64().unwrap()).collect();
    assert_eq!(seqs, [8, 7, 4]);
    assert_eq!(lines[0]["at"].as_str().unwrap().len(), 27);
    assert_eq!(shell.ok(&["log", "--node", "TASK-002", "--json"]), out);
    says(&shell.ok(&["log", "--project", "default"]), &["PLAN-001"]);
    says(
        &shell.refused(&["log", "--project", "defualt"], 3).err,
        &["default"],
    );
    says(
        &shell.refused(&["log", "TASK-02x"], 3).err,
        &["TASK-02x", "hint: "],
    );
}

#[on_both]
fn log_follows_other_processes(backend: Backend) {
    let shell = Shell::planted(backend);
    let mut child = shell
        .command(&["log", "--follow", "--limit", "1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["seq"], 8);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "late"}, {"ref": "b", "summary": "later"}]}"#;
    shell.ok(&["call", "graph_plan", plan]);
    let (one, two) = (next(), next());
    assert_eq!((&one["seq"], &one["text"]), (&9.into(), &"late".into()));
    assert_eq!(
        (&two["seq"], &two["handle"]),
        (&10.into(), &"TASK-006".into())
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[on_both]
fn show_has_everything_around(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["show", "TASK-002"]);
    says(
        &out,
        &[
            "TASK-002  Write the lexer",
            "done · merged · claimed by ada",
            "session shell_ada",
            "rev 3",
            "PLAN-001 Ship the compiler",
            "priority   5",
            "git abc1234  ada, ",
            "needed by  ○ TASK-003 Write the parser",
            "by ann",
            "ada resolved  git abc1234; state = merged; (all tests pass)",
            "ada claimed",
        ],
    );
    says(
        &shell.ok(&["show", "task-4"]),
        &["blocked", "waits for  ○ TASK-001 Front end"],
    );
    let out = shell.ok(&["show", "default"]);
    says(
        &out,
        &[
            "PLAN-001",
            "├ ◌ TASK-001",
            "│ ├ ✓ TASK-002",
            "│ └ ○ TASK-003",
            "└ ■ TASK-004",
            "waits for TASK-001",
        ],
    );
    let node = shell.json(&["show", "TASK-001"]);
    assert_eq!(node["children"]["children"][0]["id"], "TASK-002");
    assert_eq!(node["history"][0]["seq"], 3);
}

#[on_both]
fn show_has_the_raw_item(backend: Backend) {
    let shell = Shell::planted(backend);
    let item = shell.json(&["show", "#4"]);
    assert_eq!(item["content"]["handle"], "TASK-002");
    assert_eq!(item["digest"].as_str().unwrap().len(), 64);
    let name = item["item"].as_str().unwrap();
    assert_eq!(shell.json(&["show", name]), item);
    says(
        &shell.ok(&["show", "4"]),
        &[
            "#4  ",
            "created TASK-002",
            "Write the lexer",
            "digest",
            "chain",
        ],
    );
    let entity = item["entity"].as_str().unwrap();
    says(&shell.ok(&["show", entity]), &["TASK-002  Write the lexer"]);
    says(
        &shell.refused(&["show", "#99"], 3).err,
        &["no item #99", "#1 to #8"],
    );
    for missing in [
        "item_01931c5e-8f7a-7c3e-b7a5-111111111111",
        "entity_x",
        "item_",
        "#-1",
        "99999999999999999999",
        "TASK-099",
        "",
        " ",
        "日本",
        "a\u{1b}[31m",
    ] {
        let done = shell.refused(&["show", missing], 3);
        assert!(!done.err.contains('\x1b'), "{done:?}");
    }
}

#[on_both]
fn search_finds_words_and_handles(backend: Backend) {
    let shell = Shell::planted(backend);
    says(
        &shell.ok(&["search", "parser"]),
        &["TASK-003", "Write the parser"],
    );
    let marked = shell.ok(&["search", "parser", "--color", "always"]);
    says(&marked, &["\x1b[1mparser\x1b[0m"]);
    assert_eq!(
        shell.json(&["search", "TASK-004"])["results"][0]["handle"],
        "TASK-004"
    );
    for odd in ["nothing such", "\"", "%", "a OR b*", "NEAR(", "日本"] {
        assert_eq!(shell.run(&["search", odd]).code, 0, "{odd}");
    }
    says(&shell.ok(&["search", "zzzz"]), &["Nothing found"]);
    shell.refused(&["search", " "], 2);
    assert_eq!(shell.run(&["search"]).code, 2);
}

#[on_both]
fn reads_of_nothing_make_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    for command in [
        &["status"][..],
        &["next"],
        &["log"],
        &["search", "x"],
        &["doctor"],
    ] {
        let out = shell.ok(command);
        assert!(!out.is_empty(), "{command:?}");
        shell.ok(&[command, &["--json"]].concat());
    }
    says(&shell.ok(&["next"]), &["no store yet"]);
    says(
        &shell.refused(&["show", "TASK-001"], 3).err,
        &["no store yet"],
    );
    says(
        &shell.refused(&["log", "TASK-001"], 3).err,
        &["no store yet"],
    );
    shell.refused(&["call", "graph_context", r#"{"node_id": "TASK-001"}"#], 3);
    shell.ok(&["call", "graph_onboard"]);
    assert_eq!(shell.json(&["status"])["store"]["exists"], false);
    if shell.backend.is_sqlite() {
        assert!(!shell.backend.file().exists(), "a read made a store");
    }
}

#[on_both]
fn another_workspace_is_named(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["next", "--workspace", "elsewhere"]);
    says(&out, &["elsewhere", "garden", "--workspace"]);
    let out = shell.ok(&["status", "--workspace", "elsewhere"]);
    says(&out, &["other workspaces in this store", "garden"]);
}

#[test]
fn a_clash_of_names_is_told() {
    let shell = Shell::planted(Backend::sqlite());
    let twin = shell.path("twin/garden");
    std::fs::create_dir_all(&twin).unwrap();
    let run = |arguments: &[&str]| {
        let output = shell
            .command(arguments)
            .current_dir(&twin)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    says(
        &run(&["status"]),
        &[
            "workspace  garden-2",
            "the workspace garden belongs to",
            "understory allow --workspace garden",
        ],
    );
    says(
        &run(&["doctor"]),
        &["warn  workspace", "UNDERSTORY_WORKSPACE"],
    );
    let status: Value = serde_json::from_str(&run(&["status", "--json"])).unwrap();
    assert_eq!(status["workspace"]["wanted"], "garden");
    assert!(status["workspace"]["clash"].is_string());
}

#[test]
fn a_password_is_never_shown() {
    let shell = Shell::sqlite();
    let store = "postgres://ann:hunter2@127.0.0.1:1/nowhere";
    for command in [
        &["status"][..],
        &["status", "--json"],
        &["doctor"],
        &["next"],
        &["verify"],
        &["log", "--json"],
    ] {
        let done = shell.run(&[command, &["--store", store]].concat());
        assert_ne!(done.code, 0, "{command:?}");
        assert!(!format!("{done:?}").contains("hunter2"), "{done:?}");
    }
    assert_eq!(shell.run(&["status", "--store", store]).code, 5);
}
