//! A plan for people: `plan`, `claim`, `release`, `done`, and why `next` has nothing.

use std::process::Stdio;
use understory_testkit::{Backend, on_both};

use crate::shell::{Done, Shell, says};
use serde_json::{Value, json};

fn tool(shell: &Shell, name: &str, args: Value) {
    shell.ok(&["call", name, &args.to_string()]);
}

/// The status of each node, in the order of the tree.
fn statuses(plan: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let nodes = plan["nodes"].as_array().unwrap().iter();
    nodes
        .map(|row| (text(&row["id"]), text(&row["status"])))
        .collect()
}

#[on_both]
fn a_plan_is_a_tree_with_a_mark_for_every_state(backend: Backend) {
    let shell = Shell::planted(backend);
    tool(
        &shell,
        "graph_plan",
        json!({"nodes": [{"ref": "x", "summary": "Given up"}, {"ref": "y", "summary": "Taken"}]}),
    );
    tool(
        &shell,
        "graph_restructure",
        json!({"operations": [{"op": "drop", "node_id": "TASK-005", "reason": "not now"}]}),
    );
    shell.ok(&["claim", "task-6", "--agent", "bob"]);
    let out = shell.ok(&["plan"]);
    says(
        &out,
        &[
            "◌ PLAN-001 Ship the compiler",
            "├ ◌ TASK-001 Front end",
            "│ ├ ✓ TASK-002 Write the lexer  merged",
            "│ └ ○ TASK-003 Write the parser",
            "├ ■ TASK-004 Back end  waits for TASK-001",
            "├ ✗ TASK-005 Given up",
            "└ ◐ TASK-006 Taken  bob, ",
            "○ ready  ◐ claimed  ◌ open below  ■ blocked  ✓ done  ✗ dropped",
        ],
    );
    let plan = shell.json(&["plan"]);
    let expected = [
        ("PLAN-001", "open"),
        ("TASK-001", "open"),
        ("TASK-002", "done"),
        ("TASK-003", "ready"),
        ("TASK-004", "blocked"),
        ("TASK-005", "dropped"),
        ("TASK-006", "claimed"),
    ];
    assert_eq!(
        statuses(&plan),
        expected.map(|(id, status)| (id.to_string(), status.to_string()))
    );
    assert_eq!(plan["nodes"][4]["blocked_by"], json!(["TASK-001"]));
    assert_eq!(
        (
            &plan["nodes"][6]["claim"]["by"],
            &plan["nodes"][6]["claim"]["session"]
        ),
        (&json!("bob"), &json!("shell_bob"))
    );
    let open = shell.ok(&["plan", "--open"]);
    assert!(
        !open.contains("TASK-005") && !open.contains("TASK-002"),
        "{open}"
    );
    let part = shell.json(&["plan", "TASK-1", "--depth", "0"]);
    assert_eq!(
        (&part["nodes"][0]["id"], &part["nodes"][0]["hidden"]),
        (&json!("TASK-001"), &json!(2))
    );
    says(
        &shell.ok(&["plan", "--depth", "1"]),
        &["TASK-001 Front end  2 nodes below"],
    );
    says(&shell.ok(&["plan", "-n", "2"]), &["There are more"]);
    says(
        &shell.ok(&["show", "TASK-005"]),
        &["dropped · rev", "ann dropped  (not now)"],
    );
    assert!(!shell.ok(&["show", "TASK-005"]).contains("done"));
    shell.refused(&["plan", "TASK-099"], 3);
    shell.refused(&["plan", "--project", "defualt"], 3);
}

#[on_both]
fn tasks_are_claimed_released_and_done_by_name(backend: Backend) {
    let shell = Shell::planted(backend);
    says(
        &shell.ok(&["claim", "TASK-003"]),
        &[
            "TASK-003  Write the parser",
            "Yours, ann",
            "understory done TASK-003",
        ],
    );
    let taken = shell.run(&["claim", "TASK-003", "--agent", "bob", "--role", "worker"]);
    assert_eq!(taken.code, 4, "{taken:?}");
    says(
        &taken.err,
        &[
            "TASK-003 was claimed by ann less than a minute ago in session shell_ann",
            "hint: ",
        ],
    );
    let kept = shell.run(&["release", "TASK-003", "--agent", "bob", "--role", "worker"]);
    assert_eq!(kept.code, 4, "{kept:?}");
    says(
        &shell.ok(&["release", "TASK-003", "--agent", "bob"]),
        &["TASK-003 is free again"],
    );
    says(&shell.ok(&["release", "TASK-003"]), &["claimed by nobody"]);
    says(
        &shell.ok(&["claim", "TASK-004"]),
        &["Yours", "TASK-004 waits for TASK-001."],
    );
    let done = shell.ok(&[
        "done",
        "TASK-003",
        "--evidence",
        "git:abc",
        "--evidence",
        "test: 37 passed",
        "--reason",
        "reviewed",
    ]);
    says(
        &done,
        &[
            "✓ TASK-003 is done.",
            "can be started now: TASK-001 Front end",
        ],
    );
    let node = shell.json(&["show", "TASK-003"])["node"].clone();
    assert_eq!(
        (&node["evidence"][1]["type"], &node["evidence"][1]["ref"]),
        (&json!("test"), &json!("37 passed"))
    );
    says(&shell.ok(&["done", "TASK-003"]), &["was done already"]);
    assert_eq!(
        shell.json(&["done", "TASK-001"])["newly_actionable"][0]["id"],
        "TASK-004"
    );
    shell.refused(&["done", "TASK-004", "--evidence", "git"], 2);
    shell.refused(&["done", "TASK-099"], 3);
}

#[on_both]
fn next_says_why_it_has_nothing(backend: Backend) {
    let shell = Shell::new(backend);
    tool(
        &shell,
        "create_record",
        json!({"parent_id": null, "type": "note", "title": "T", "summary": "S", "body": "B"}),
    );
    for command in [&["next"][..], &["next", "--claim"], &["plan"]] {
        says(&shell.ok(command), &["Nothing is planned in default yet."]);
    }
    tool(
        &shell,
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "A"}]}),
    );
    shell.ok(&["next", "--claim", "--agent", "bob"]);
    says(
        &shell.ok(&["next", "--claim"]),
        &["is claimed.", "TASK-001 claimed by bob"],
    );
    assert_eq!(shell.json(&["next"])["reason"]["code"], "all_claimed");
    shell.ok(&["done", "TASK-001"]);
    shell.ok(&["done", "PLAN-001"]);
    says(&shell.ok(&["next"]), &["Everything in default is done."]);
}

#[on_both]
fn edges_and_old_names_are_shown(backend: Backend) {
    let shell = Shell::planted(backend);
    tool(
        &shell,
        "graph_connect",
        json!({"edges": [{"from": "TASK-003", "to": "TASK-004", "type": "relates_to"}]}),
    );
    says(
        &shell.ok(&["show", "TASK-003"]),
        &["relates_to", "→ TASK-004 Back end"],
    );
    says(
        &shell.ok(&["show", "TASK-004"]),
        &["← TASK-003 Write the parser"],
    );
    tool(
        &shell,
        "graph_restructure",
        json!({"operations": [{"op": "merge", "source": "TASK-002", "target": "TASK-003"}]}),
    );
    says(
        &shell.ok(&["show", "TASK-002"]),
        &["TASK-003  Write the parser", "TASK-002 was merged into it."],
    );
}

#[on_both]
fn processes_of_one_agent_are_never_given_the_same_task(backend: Backend) {
    let shell = Shell::new(backend);
    let nodes: Vec<Value> = (0..6)
        .map(|at| json!({"ref": at.to_string(), "summary": "work"}))
        .collect();
    tool(&shell, "graph_plan", json!({ "nodes": nodes }));
    let windows: Vec<_> = (0..6)
        .map(|at| {
            let session = format!("window-{at}");
            let args = [
                "next",
                "--claim",
                "--agent",
                "claude-code",
                "--session",
                &session,
                "--json",
            ];
            let mut command = shell.command(&args);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut told: Vec<String> = windows
        .into_iter()
        .map(|child| {
            let done = Done::of(child.wait_with_output().unwrap());
            assert_eq!(done.code, 0, "{done:?}");
            let answer: Value = serde_json::from_str(&done.out).unwrap();
            answer["nodes"][0]["node"]["id"]
                .as_str()
                .unwrap()
                .to_string()
        })
        .collect();
    told.sort();
    told.dedup();
    assert_eq!(
        told.len(),
        6,
        "each process got a task of its own: {told:?}"
    );
}
