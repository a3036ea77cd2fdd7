//! `understory call` and `tools`: any tool from a shell, for people and for scripts.

use crate::shell::{Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};
use understory_tools::registry;

#[on_both]
fn answers_are_tables_or_json(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["call", "graph_query", r#"{"filter": {"resolved": false}}"#]);
    says(
        &out,
        &["total  4", "ID  ", "SUMMARY", "TASK-003  Write the parser"],
    );
    let answer = shell.json(&["call", "graph_query"]);
    assert_eq!(answer["total"], 5);
    let out = shell.ok(&["call", "graph_context", r#"{"node_id": "TASK-002"}"#]);
    says(
        &out,
        &[
            "node\n",
            "state ",
            "merged",
            "ancestors\n",
            "Ship the compiler",
        ],
    );
}

#[on_both]
fn arguments_come_from_anywhere(backend: Backend) {
    let shell = Shell::new(backend);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "Grüße 日本 🌱"}]}"#;
    let done = shell.fed(&["call", "graph_plan", "-", "--json"], plan.as_bytes());
    assert_eq!(
        (done.code, done.out.trim()),
        (0, r#"{"created":[{"id":"TASK-001","ref":"a"}]}"#)
    );
    std::fs::write(shell.path("garden/plan.json"), plan).unwrap();
    says(
        &shell.ok(&["call", "graph_plan", "@plan.json"]),
        &["TASK-002  a"],
    );
    let node = shell.json(&["call", "graph_context", r#"{"node_id": "TASK-001"}"#]);
    assert_eq!(node["node"]["summary"], "Grüße 日本 🌱");
    assert_eq!(node["node"]["created_by"], "ann");
}

#[on_both]
fn every_example_works(backend: Backend) {
    let shell = Shell::planted(backend);
    let call = |tool: &str, arguments: &str| {
        shell.ok(&["call", tool, arguments, "--session", "examples"]);
    };
    // The examples speak of two records that the session has at hand.
    for title in ["One", "Two"] {
        let record = json!({
            "parent_id": null, "type": "note", "title": title, "summary": "", "body": ""
        });
        call("create_record", &record.to_string());
    }
    // And of a reviewer who can be woken.
    let alive = r#"{"runtime": "codex_cli", "resumable": true}"#;
    shell.ok(&["call", "heartbeat_session", alive, "--agent", "reviewer"]);
    for tool in registry::tools() {
        let example = tool.example.replace("garden-shed", "garden");
        match tool.name {
            // A conflict has a name that no example can know.
            "branchmind_graph_conflict_show" | "branchmind_graph_conflict_resolve" => {
                says(
                    &shell.refused(&["call", tool.name, &example], 3).err,
                    &["no conflict"],
                );
            }
            // Nor can it know a uuid or a commit, or a cursor that was given out.
            name if example.contains("0199d3a0") => {
                shell.refused(&["call", name, &example], 3);
            }
            name if example.contains("\"…\"") => {
                shell.refused(&["call", name, &example], 2);
            }
            name => call(name, &example),
        }
    }
}

#[on_both]
fn refusals_have_codes_for_scripts(backend: Backend) {
    let shell = Shell::planted(backend);
    let stale = r#"{"updates": [{"node_id": "TASK-001", "expected_rev": 9, "summary": "x"}]}"#;
    let done = shell.refused(&["call", "graph_update", stale], 4);
    says(&done.err, &["error: ", "rev", "hint: "]);
    let missing = r#"{"node_id": "TASK-0003"}"#;
    let done = shell.refused(&["call", "graph_context", missing], 3);
    says(&done.err, &["no node TASK-0003", "TASK-003"]);
    shell.refused(&["call", "graph_plan", "{}", "--role", "auditor"], 4);
    for nowhere in [
        r#"{"workspace": "garden", "target": "TASK-099"}"#,
        r#"{"workspace": "garden", "branch": "waht-if"}"#,
    ] {
        shell.refused(&["call", "branchmind_show", nowhere], 3);
    }
    let done = shell.run(&["call", "graph_context", missing, "--json"]);
    assert_eq!((done.code, done.out.as_str()), (3, ""));
    let error: Value = serde_json::from_str(&done.err).unwrap();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
    assert!(error["error"]["request_id"].is_string());
}

#[on_both]
fn stored_text_does_not_drive_the_terminal(backend: Backend) {
    let shell = Shell::new(backend);
    let evil =
        r#"{"nodes": [{"ref": "a", "summary": "x\u001b]0;owned\u0007\u009b31m\u202ey\rz"}]}"#;
    shell.ok(&["call", "graph_plan", evil]);
    for command in [
        &["show", "TASK-001"][..],
        &["log"],
        &["next"],
        &["search", "owned"],
        &["call", "graph_query"],
        &["call", "graph_query", "--json"],
        &["show", "#3"],
        &["log", "--json"],
        &["show", "TASK-001", "--json"],
    ] {
        let out = shell.ok(command);
        let orders = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!out.contains(orders), "{command:?}: {out:?}");
        assert!(out.contains("owned"), "{command:?}: {out}");
    }
    let answer = shell.json(&["call", "graph_context", r#"{"node_id": "TASK-001"}"#]);
    assert_eq!(
        answer["node"]["summary"],
        "x\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}y\rz"
    );
}

#[test]
fn wrong_names_and_wrong_json_touch_no_store() {
    let shell = Shell::sqlite();
    let done = shell.refused(&["call", "graph_onbord"], 3);
    says(&done.err, &["no tool graph_onbord", "graph_onboard"]);
    let done = shell.refused(&["call", "xyzzy", "{}"], 3);
    says(&done.err, &["understory call"]);
    for (bad, said) in [
        ("{", "not JSON"),
        ("{'a': 1}", "line 1 column 2"),
        ("[1]", "must be an object"),
        ("\"x\"", "must be an object"),
        ("", "not JSON"),
        ("@nowhere.json", "nowhere.json"),
        (r#"{"nodes": 5}"#, "nodes"),
        (r#"{"nodes": [], "x": 1}"#, "x"),
        (
            r#"{"nodes": [{"ref": "a"}]}"#,
            "nodes[0].summary: is required",
        ),
    ] {
        let done = shell.refused(&["call", "graph_plan", bad], 2);
        says(&done.err, &[said, "hint: "]);
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(
        shell
            .fed(&["call", "graph_plan", "-"], deep.as_bytes())
            .code,
        2
    );
    assert_eq!(shell.fed(&["call", "graph_plan", "-"], b"\xff").code, 2);
    assert!(
        !shell.backend.file().exists(),
        "a refused call made a store"
    );
}

#[test]
fn without_a_tool_all_are_listed() {
    let shell = Shell::sqlite();
    let out = shell.ok(&["call"]);
    for tool in registry::tools() {
        says(&out, &[tool.name]);
    }
    for flag in ["--help", "-h"] {
        let out = shell.ok(&["call", flag]);
        says(
            &out,
            &["graph_restructure", "Examples:", "Usage: understory call"],
        );
        // With a tool it is that tool's help.
        let out = shell.ok(&["call", "branchmind_branch_create", flag]);
        says(
            &out,
            &[
                "workspace        string  required",
                "understory call branchmind_branch_create '{",
            ],
        );
        assert!(!out.contains("graph_restructure"), "{out}");
    }
    shell.refused(&["call", "graph_onbord", "--help"], 3);
    assert!(!shell.backend.file().exists());
}

#[test]
fn declarations_in_three_forms() {
    let shell = Shell::sqlite();
    let out = shell.ok(&["tools"]);
    says(
        &out,
        &["graph_next*", "reads or writes", "in the set `essentials`"],
    );
    let place = |name: &str| out.find(&format!("\n{name}\n")).unwrap_or_default();
    assert!(
        place("reasoning") < place("threads") && place("threads") < place("graph"),
        "{out}"
    );
    let out = shell.ok(&["tools", "graph_plan"]);
    says(
        &out,
        &[
            "nodes[].summary",
            "required",
            "understory call graph_plan '",
        ],
    );
    let all = shell.json(&["tools"]);
    assert_eq!(
        all["tools"].as_array().unwrap().len(),
        registry::tools().len()
    );
    assert_eq!(all["tools"][0]["input_schema"]["type"], "object");
    let page = shell.ok(&["tools", "--markdown", "graph"]);
    says(
        &page,
        &[
            "# The graph tools",
            "## graph_plan",
            "| `nodes[].ref` | string | yes |",
        ],
    );
    assert!(!page.contains("toolset"));
    let done = shell.refused(&["tools", "graf"], 3);
    says(&done.err, &["graph"]);
}

#[test]
fn a_shell_is_told_commands() {
    let shell = Shell::planted(Backend::sqlite());
    for (command, code, told) in [
        (
            &["show", "q9q9q9q9"][..],
            3,
            "`understory search` finds things",
        ),
        (
            &["call", "get_record_ref", r#"{"id": "zzz"}"#],
            3,
            "`understory records` lists records",
        ),
        (
            &["call", "graph_context", r#"{"node_id": "zzzzzzz"}"#],
            3,
            "`understory call graph_query` lists nodes",
        ),
        (
            &["call", "graph_plan", "{}"],
            2,
            "`understory call graph_plan --help` shows the arguments",
        ),
        (&["thread", "th_zzzzzzzzz"], 3, "`understory threads` lists"),
    ] {
        let done = shell.refused(command, code);
        says(&done.err, &[told]);
        let json = shell.run(&[command, &["--json"]].concat());
        let error: Value = serde_json::from_str(&json.err).unwrap();
        says(error["error"]["recovery_hint"].as_str().unwrap(), &[told]);
    }
    // Each command is a session of its own, so activating first cannot help.
    let root = r#"{"parent_id": null, "type": "note", "title": "t", "summary": "s", "body": "b"}"#;
    shell.ok(&["call", "create_record", root]);
    let child = root.replace("null", "\"R001\"");
    let done = shell.refused(&["call", "create_record", &child], 4);
    says(&done.err, &["--session NAME"]);
    shell.ok(&["call", "activate", r#"{"id": "R001"}"#, "--session", "mine"]);
    shell.ok(&["call", "create_record", &child, "--session", "mine"]);
}

#[test]
fn colours_are_asked_for_or_absent() {
    let shell = Shell::planted(Backend::sqlite());
    let plain = shell.ok(&["call", "graph_query"]);
    assert!(!plain.contains('\x1b'), "piped output has no colours");
    assert!(
        shell
            .ok(&["call", "graph_query", "--color", "always"])
            .contains("\x1b[")
    );
    let with = |name: &str, more: &[&str]| {
        let arguments = [&["call", "graph_query"], more].concat();
        let output = shell.command(&arguments).env(name, "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(with("CLICOLOR_FORCE", &[]).contains("\x1b["));
    assert!(!with("NO_COLOR", &[]).contains('\x1b'));
    assert!(!with("CLICOLOR_FORCE", &["--json"]).contains('\x1b'));
    assert!(!with("CLICOLOR_FORCE", &["--color", "never"]).contains('\x1b'));
}
