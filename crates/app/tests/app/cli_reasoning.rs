//! Branches of thought at the command line: `branches`, `diff`, `merge`, `show`, `log`, `status`.

use std::process::{Command, Stdio};

use crate::shell::{Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

fn call(shell: &Shell, tool: &str, mut arguments: Value) -> Value {
    arguments["workspace"] = "garden".into();
    shell.json(&["call", tool, &arguments.to_string()])
}

fn node(id: &str, title: &str, status: &str) -> Value {
    json!({"op": "node_upsert", "id": id, "type": "hypothesis", "title": title, "status": status})
}

fn apply(shell: &Shell, branch: &str, ops: Value) {
    call(
        shell,
        "branchmind_graph_apply",
        json!({"branch": branch, "doc": "graph", "ops": ops}),
    );
}

fn status_of(shell: &Shell, id: &str) -> Value {
    let args = json!({"branch": "main", "doc": "graph", "ids": [id]});
    call(shell, "branchmind_graph_query", args)["nodes"][0]["status"].take()
}

/// Two hypotheses on main; what-if refutes both, drops an edge and adds a third, while main
/// changes both too: two conflicts.
fn forked(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    let edge =
        json!({"op": "edge_upsert", "from": "h1", "rel": "rivals", "to": "h2", "meta": {"w": 1}});
    let ops = json!([
        node("h1", "The clock drifts", "open"),
        node("h2", "The disk is full", "open"),
        edge
    ]);
    apply(&shell, "main", ops);
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "what-if", "from": "main"}),
    );
    let edge =
        json!({"op": "edge_upsert", "from": "h1", "rel": "rivals", "to": "h2", "meta": {"w": 2}});
    let ops = json!([
        node("h1", "The clock drifts", "refuted"),
        node("h2", "The disk is full", "refuted"),
        node("h3", "The key rotated", "open"),
        edge
    ]);
    apply(&shell, "what-if", ops);
    let note = json!({"branch": "what-if", "doc": "notes", "title": "Measured", "content": "Clocks agree.\nTo 40 ms."});
    call(&shell, "branchmind_notes_commit", note);
    let ops = json!([
        node("h1", "The clock drifts by hours", "open"),
        node("h2", "A disk is full", "open")
    ]);
    apply(&shell, "main", ops);
    shell
}

#[on_both]
fn branches_are_drawn_as_a_tree(backend: Backend) {
    let shell = Shell::planted(backend);
    says(
        &shell.ok(&["branches"]),
        &["main  checked out\n", "Make one: understory branch what-if"],
    );
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "a", "from": "main"}),
    );
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "b", "from": "a"}),
    );
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "c", "from": "task/TASK-002"}),
    );
    call(&shell, "branchmind_checkout", json!({"ref": "b"}));
    let tree = "main\n\
        └ a  from main at #8\n  \
          └ b  from a at #9  checked out\n\
        task/TASK-002\n\
        └ c  from task/TASK-002 at #10\n";
    assert_eq!(shell.ok(&["branches"]), tree);
    let all = shell.ok(&["branches", "--all"]);
    says(&all, &["plan/PLAN-001\n", "task/TASK-001\n", "└ c  from"]);
    let found = shell.json(&["branches"]);
    assert_eq!(found["current"], "b");
    let b = json!({"name": "b", "base_branch": "a", "base_seq": 9, "depth": 2});
    assert_eq!(found["branches"][2], b);
    assert_eq!(found["branches"].as_array().unwrap().len(), 5);
    says(
        &shell.ok(&["branches", "--color", "always"]),
        &["\x1b[36mmain\x1b[0m"],
    );
    let plain = shell
        .command(&["branches"])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!plain.stdout.contains(&0x1b));
}

#[on_both]
fn show_of_a_task_tells_what_was_thought_about_it(backend: Backend) {
    let shell = Shell::planted(backend);
    assert!(!shell.ok(&["show", "TASK-001"]).contains("last notes"));
    for n in 1..=4 {
        let note = json!({"target": "TASK-001", "content": format!("note {n}\nmore")});
        call(&shell, "branchmind_notes_commit", note);
    }
    let card = json!({"id": "h1", "type": "hypothesis", "title": "The clock drifts"});
    call(
        &shell,
        "branchmind_think_card",
        json!({"target": "TASK-001", "card": card}),
    );
    let out = shell.ok(&["show", "TASK-001"]);
    says(
        &out,
        &[
            "last notes",
            "note 4",
            "All of them: understory notes TASK-001",
            "trace",
            "last cards",
            "h1  hypothesis  The clock drifts",
        ],
    );
    assert!(!out.contains("note 1"), "{out}");
    let found = shell.json(&["show", "TASK-001"]);
    assert_eq!(found["thoughts"]["cards"][0]["id"], "h1");
}

#[on_both]
fn diff_shows_notes_and_fields(backend: Backend) {
    let shell = forked(backend);
    let out = shell.ok(&["diff", "main", "what-if"]);
    says(
        &out,
        &[
            "notes  notes",
            "+ Measured  #",
            "      Clocks agree.\n      To 40 ms.",
            "graph  graph",
            "  + h3\n      type    hypothesis\n      title   The key rotated\n      status  open\n",
            "  ~ h1\n      title   The clock drifts by hours → The clock drifts\n      status  open → refuted\n",
            "  ~ edge h1 rivals h2\n      meta.w  1 → 2\n",
        ],
    );
    let found = shell.json(&["diff", "main", "what-if"]);
    assert_eq!(found["notes"]["entries"][0]["title"], "Measured");
    let kinds: Vec<&str> = found["graph"]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["change"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["changed", "added", "changed", "changed"]);
    says(
        &shell.ok(&["diff", "main", "what-if", "--limit", "2"]),
        &["There is more: add --limit."],
    );
    apply(
        &shell,
        "what-if",
        json!([{"op": "node_delete", "id": "h2"}]),
    );
    says(
        &shell.ok(&["diff", "main", "what-if"]),
        &["  - h2\n", "  - edge h1 rivals h2\n"],
    );
    says(&shell.ok(&["diff", "main", "main"]), &["no difference"]);
    says(
        &shell.ok(&["diff", "main", "what-if", "--doc", "other"]),
        &["no difference"],
    );
    says(
        &shell.refused(&["diff", "main", "waht-if"], 3).err,
        &["what-if"],
    );
}

#[on_both]
fn merge_lists_conflicts_and_settles_them_one_way(backend: Backend) {
    let shell = forked(backend);
    let before = shell.json(&["status"])["head_seq"].clone();
    let dry = shell.run(&["merge", "what-if", "--dry-run"]);
    assert_eq!(dry.code, 6, "{dry:?}");
    says(
        &dry.out,
        &[
            "1 note would be merged",
            "2 changes would be merged",
            "2 conflicts to settle",
        ],
    );
    assert_eq!(
        shell.json(&["status"])["head_seq"],
        before,
        "a dry run wrote"
    );
    let done = shell.run(&["merge", "what-if"]);
    assert_eq!(done.code, 6, "{done:?}");
    says(
        &done.out,
        &[
            "what-if into main",
            "1 note merged",
            "2 changes merged",
            "2 conflicts open",
            "node h1  what-if into main",
            "node h2",
            "understory show conflict-",
            "--use from",
        ],
    );
    assert_eq!(status_of(&shell, "h3"), "open");
    let done = shell.run(&["merge", "what-if", "--json"]);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (done.code, &found["open"], &found["graph"]["merged"]),
        (6, &json!(2), &json!(0))
    );
    assert_eq!(found["conflicts"][0]["theirs"]["status"], "refuted");
    says(
        &shell.ok(&["merge", "what-if", "main", "--use", "from"]),
        &["2 conflicts settled"],
    );
    assert_eq!(status_of(&shell, "h1"), "refuted");
    let again = shell.json(&["merge", "what-if"]);
    assert_eq!(
        (&again["open"], &again["notes"]["merged"]),
        (&json!(0), &json!(0))
    );
    says(&shell.refused(&["merge", "waht-if"], 3).err, &["what-if"]);
    says(&shell.refused(&["merge", "main"], 2).err, &["main"]);
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "other", "from": "main"}),
    );
    says(
        &shell.refused(&["merge", "what-if", "other"], 2).err,
        &["Merge what-if into main"],
    );
    shell.ok(&["verify"]);
}

#[on_both]
fn show_and_log_speak_of_branches(backend: Backend) {
    let shell = forked(backend);
    call(&shell, "branchmind_checkout", json!({"ref": "what-if"}));
    let done = shell.run(&["merge", "what-if", "--json"]);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let id = found["conflicts"][0]["conflict_id"].as_str().unwrap();
    for name in ["what-if", "branch:what-if"] {
        says(
            &shell.ok(&["show", name]),
            &[
                "branch what-if  checked out",
                "main up to #3",
                "Measured: Clocks agree.",
                "understory diff main what-if",
            ],
        );
    }
    says(
        &shell.ok(&["show", "branch:main"]),
        &["branch main", "branches   what-if", "open", id],
    );
    says(&shell.ok(&["show", "checkout"]), &["what-if  checked out"]);
    says(
        &shell.ok(&["show", id]),
        &[
            "node h1  what-if into main, graph",
            "open\n  title\n    base          The clock drifts\n",
            "    into main     The clock drifts by hours\n",
            "    from what-if  refuted\n",
            "Settle it: understory merge what-if main",
        ],
    );
    assert_eq!(shell.json(&["show", id])["conflict"]["key"], "h1");
    let out = shell.ok(&["log"]);
    says(
        &out,
        &[
            "noted",
            "what-if notes",
            "Measured: Clocks agree.",
            "upserted",
            "main graph",
            "hypothesis h1: The clock drifts, open",
            "edge h1 rivals h2",
            "from main at #3",
            "node h1, what-if into main",
            "(from what-if)",
        ],
    );
    let lines: Vec<Value> = shell
        .ok(&["log", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let note = lines.iter().find(|line| line["action"] == "noted").unwrap();
    assert_eq!(
        (&note["branch"], &note["doc"]),
        (&json!("main"), &json!("notes"))
    );
    shell.ok(&["merge", "what-if", "--use", "into"]);
    says(&shell.ok(&["log", "-n", "2"]), &["resolved", "use_into"]);
    says(&shell.ok(&["show", id]), &["resolved: use_into"]);
    apply(
        &shell,
        "what-if",
        json!([{"op": "node_delete", "id": "h3"}]),
    );
    says(
        &shell.ok(&["log", "-n", "1"]),
        &["deleted", "hypothesis h3"],
    );
    says(
        &shell.ok(&["status"]),
        &["branches   1 branch made, what-if checked out"],
    );
    assert_eq!(
        shell.json(&["status"])["branches"],
        json!({"made": 1, "current": "what-if"})
    );
}

#[on_both]
fn people_branch_note_and_read_what_was_thought(backend: Backend) {
    let shell = Shell::planted(backend);
    says(&shell.ok(&["notes", "TASK-001"]), &["Nothing in notes."]);
    says(
        &shell.ok(&["cards", "TASK-001"]),
        &["No cards in TASK-001-graph."],
    );
    says(
        &shell.ok(&[
            "note",
            "Retries hide it",
            "--on",
            "task-001",
            "--title",
            "Seen",
        ]),
        &["noted  #", "task/TASK-001"],
    );
    says(
        &shell.ok(&["notes", "TASK-001"]),
        &["Seen", "    Retries hide it"],
    );
    says(&shell.ok(&["trace", "TASK-001"]), &["created", "TASK-001"]);
    says(
        &shell.ok(&["branch", "w", "--from", "TASK-001"]),
        &["w  from task/TASK-001 at #", "understory checkout w"],
    );
    says(
        &shell.ok(&["checkout", "w"]),
        &["w  checked out for all agents  before: main"],
    );
    says(&shell.ok(&["note", "On the branch"]), &["on w  notes"]);
    says(&shell.ok(&["notes"]), &["Retries hide it", "On the branch"]);
    call(
        &shell,
        "branchmind_think_card",
        json!({"branch": "w", "card": {"id": "q", "type": "question", "title": "Why?", "text": "It matters"}}),
    );
    says(
        &shell.ok(&["cards"]),
        &[
            "q  question  Why?  open",
            "    It matters",
            "next  answer question q",
        ],
    );
    says(&shell.ok(&["trace", "w"]), &["Why?"]);
    says(
        &shell.ok(&["show", "w"]),
        &[
            "last cards",
            "q  question  Why?  open",
            "documents",
            "TASK-001-graph  graph",
        ],
    );
    assert_eq!(
        shell.json(&["notes", "w"])["entries"][1]["content"],
        "On the branch"
    );
    assert_eq!(shell.json(&["cards", "w"])["next"]["card_id"], "q");
    says(
        &shell.ok(&["merge", "w"]),
        &["1 note merged", "1 change merged", "TASK-001-graph"],
    );
    says(&shell.ok(&["notes", "TASK-001"]), &["merged by"]);
    says(
        &shell.refused(&["checkout", "zzz"], 3).err,
        &["`understory branches` lists the branches."],
    );
    shell.refused(&["branch", "main"], 2);
    shell.refused(&["note", "  "], 2);
    assert!(!shell.ok(&["show", "main"]).contains("last notes"));
}

#[on_both]
fn a_merge_that_finds_nothing_names_other_documents(backend: Backend) {
    let shell = forked(backend);
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "side", "from": "main"}),
    );
    let ops = json!([{"op": "node_upsert", "id": "n", "type": "note"}]);
    call(
        &shell,
        "branchmind_graph_apply",
        json!({"branch": "side", "doc": "plans", "ops": ops}),
    );
    says(
        &shell.ok(&["merge", "side"]),
        &["side has other documents: plans. Merge one with --doc."],
    );
    says(
        &shell.ok(&["merge", "side", "--doc", "plans"]),
        &["1 change merged"],
    );
}

#[on_both]
fn looks_at_no_branches_make_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    says(&shell.ok(&["branches"]), &["main  checked out"]);
    says(&shell.ok(&["diff", "main", "main"]), &["no difference"]);
    shell.refused(&["diff", "main", "what-if"], 3);
    shell.refused(&["merge", "what-if"], 3);
    assert_eq!(shell.json(&["status"])["store"]["exists"], false);
}

/// Runs a command in a pseudo-terminal, with these keys typed.
#[cfg(target_os = "linux")]
fn typed(shell: &Shell, arguments: &str, keys: &str) -> (i32, String) {
    use std::io::Write;

    let plain = shell.command(&[]);
    let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_understory"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command
        .env("NO_COLOR", "1")
        .current_dir(shell.path("garden"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux has script");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(keys.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
    (output.status.code().unwrap(), text)
}

#[test]
#[cfg(target_os = "linux")]
fn at_a_terminal_each_conflict_is_asked_for() {
    let shell = forked(Backend::sqlite());
    let (code, out) = typed(&shell, "merge what-if", "what?\ns\nf\n");
    assert_eq!(code, 6, "{out}");
    says(
        &out,
        &[
            "1 of 2",
            "2 of 2",
            "[f]rom, [i]nto, [s]kip, [q]uit?",
            "into main     The clock drifts by hours",
            "from what-if  refuted",
            "1 conflict settled",
            "1 conflict open",
        ],
    );
    assert_eq!(out.matches("[q]uit?").count(), 3, "{out}");
    assert_eq!(
        (status_of(&shell, "h1"), status_of(&shell, "h2")),
        (json!("open"), json!("refuted"))
    );
    let (code, out) = typed(&shell, "merge what-if", "q\n");
    assert_eq!(code, 6, "{out}");
    let (code, out) = typed(&shell, "merge what-if", "");
    assert_eq!(code, 6, "whoever went away has not chosen: {out}");
    let (code, out) = typed(&shell, "merge what-if", "i\n");
    assert_eq!(code, 0, "{out}");
    assert_eq!(status_of(&shell, "h1"), "open");
    let (code, out) = typed(&shell, "merge what-if", "");
    assert_eq!(code, 0, "{out}");
    assert!(!out.contains("[q]uit"), "{out}");
}

#[test]
fn long_lists_are_read_to_their_end() {
    let shell = Shell::sqlite();
    apply(&shell, "main", json!([node("h0", "first", "open")]));
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "what-if", "from": "main"}),
    );
    let many: Vec<Value> = (0..450)
        .map(|at| node(&format!("n{at}"), "one of many", "open"))
        .collect();
    for some in many.chunks(150) {
        apply(&shell, "what-if", json!(some));
    }
    let found = shell.json(&["diff", "main", "what-if", "--limit", "1000"]);
    assert_eq!(found["graph"]["changes"].as_array().unwrap().len(), 450);
    assert_eq!(found["graph"]["more"], false);
    assert_eq!(shell.json(&["merge", "what-if"])["graph"]["merged"], 450);
    says(&shell.ok(&["diff", "main", "what-if"]), &["no difference"]);
}

#[test]
fn what_is_stored_cannot_command_a_terminal() {
    let shell = Shell::sqlite();
    let odd = "\u{1b}[31mred\u{202e}";
    apply(&shell, "main", json!([node("h1", odd, "open")]));
    call(
        &shell,
        "branchmind_branch_create",
        json!({"name": "what-if", "from": "main"}),
    );
    apply(&shell, "what-if", json!([node("h1", odd, odd)]));
    apply(&shell, "main", json!([node("h1", odd, "open\u{1b}")]));
    let note = json!({"branch": "what-if", "doc": "notes", "title": odd, "content": odd});
    call(&shell, "branchmind_notes_commit", note);
    for command in [
        &["diff", "main", "what-if"][..],
        &["merge", "what-if", "--dry-run"],
        &["show", "what-if"],
        &["log"],
    ] {
        let out = shell.run(command).out;
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
}
