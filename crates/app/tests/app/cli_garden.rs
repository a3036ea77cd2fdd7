//! `understory why`, and what `show` and `log` tell of artifacts, conversations and what was said.

use crate::shell::{Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

fn called(shell: &Shell, tool: &str, args: &Value) -> Value {
    let told = shell.ok(&["call", tool, &args.to_string(), "--json"]);
    serde_json::from_str(&told).expect("an answer")
}

/// A document whose third line was changed because of what somebody said.
fn changed(shell: &Shell) -> Value {
    let text = "# Goals\nOne binary.\nWe store everything in SQLite.\n";
    let made = called(
        shell,
        "garden_artifact_create",
        &json!({"label": "goals_doc", "content": text}),
    );
    let said = json!({"type": "Message", "description": "Use PostgreSQL instead. SQLite has one writer.", "sender": "Ines"});
    let said = called(shell, "garden_add", &said);
    let commit = json!({"artifact": "goals_doc", "based_on": made["artifact"]["head"], "reasoning": "one writer is too few",
        "content": text.replace("SQLite", "PostgreSQL"), "caused_by": said["item"]["uuid"]});
    called(shell, "garden_artifact_commit", &commit);
    said["item"].clone()
}

#[on_both]
fn why_tells_how_a_line_came_about(backend: Backend) {
    let shell = Shell::new(backend);
    changed(&shell);
    let told = shell.ok(&["why", "goals_doc:3"]);
    says(
        &told,
        &[
            "goals_doc:3",
            "We store everything in PostgreSQL.",
            "committed",
            "“We store everything in SQLite.” → “We store everything in PostgreSQL.”",
            "why: one writer is too few",
            "because",
            "Ines said",
            "Use PostgreSQL instead.",
        ],
    );
    assert_eq!(told.matches("one writer is too few").count(), 1, "{told}");
    let json: Value = serde_json::from_str(&shell.ok(&["why", "goals_doc:3", "--json"])).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), 2);
    shell.ok(&[
        "call",
        "graph_plan",
        r#"{"nodes": [{"ref": "a", "summary": "Migrate"}]}"#,
    ]);
    says(
        &shell.ok(&["why", "task-1"]),
        &["created", "Migrate", "caused_by"],
    );
    shell.refused(&["why", "nothing:3"], 3);
}

#[on_both]
fn show_knows_artifacts_conversations_and_entities(backend: Backend) {
    let shell = Shell::new(backend);
    let said = changed(&shell);
    says(
        &shell.ok(&["show", "goals_doc"]),
        &[
            "3 lines, 2 commits",
            "We store everything in PostgreSQL.",
            "one writer is too few",
        ],
    );
    called(
        &shell,
        "garden_artifact_relabel",
        &json!({"artifact": "goals_doc", "label": "aims"}),
    );
    says(
        &shell.ok(&["show", "goals_doc"]),
        &["aims", "formerly goals_doc"],
    );
    let log = said["log"].as_str().unwrap();
    says(
        &shell.ok(&["show", log]),
        &[
            "the first conversation  open",
            "said",
            "Use PostgreSQL instead.",
            "We store everything in SQLite.",
        ],
    );
    let made = called(
        &shell,
        "garden_entity_create",
        &json!({"type": "service", "data": {"port": 8080}}),
    );
    says(
        &shell.ok(&["show", made["entity"]["uuid"].as_str().unwrap()]),
        &["service", "8080"],
    );
    says(
        &shell.ok(&["log"]),
        &["said", "committed", "Use PostgreSQL instead."],
    );
}

#[on_both]
fn what_was_taken_back_is_told_as_such(backend: Backend) {
    let shell = Shell::new(backend);
    let note = called(
        &shell,
        "garden_add",
        &json!({"type": "Note", "description": "xyzzy"}),
    );
    let id = note["item"]["uuid"].as_str().unwrap();
    shell.ok(&["call", "garden_undo", &json!({"item": id}).to_string()]);
    let log = shell.ok(&["log"]);
    says(&log, &["undone"]);
    assert!(!log.contains("xyzzy"));
    assert!(!shell.ok(&["show", id]).contains("xyzzy"));
    says(&shell.ok(&["verify"]), &["ok"]);
}

#[on_both]
fn show_takes_whatever_why_takes(backend: Backend) {
    let shell = Shell::new(backend);
    let said = changed(&shell);
    says(
        &shell.ok(&["show", "goals_doc:3"]),
        &["3  We store everything in PostgreSQL.", "why goals_doc:3"],
    );
    let some = shell.ok(&["show", "goals_doc:2-3"]);
    says(&some, &["One binary.", "PostgreSQL"]);
    assert!(!some.contains("# Goals"));
    let part = format!(
        "{}#{}",
        said["uuid"].as_str().unwrap(),
        said["fragments"][0]["id"].as_str().unwrap()
    );
    says(
        &shell.ok(&["show", &part]),
        &["Use PostgreSQL instead.", "of item_"],
    );
    let item = shell.ok(&["show", said["uuid"].as_str().unwrap()]);
    says(
        &item,
        &[
            "said",
            "Use PostgreSQL instead.",
            "sender",
            "Ines",
            "digest",
        ],
    );
    for internal in ["\"log\": ", "cause ", "fields"] {
        assert!(!item.contains(internal), "{internal}: {item}");
    }
    let related = called(
        &shell,
        "garden_relate",
        &json!({"kind": "mentions", "source": said["uuid"], "target": "goals_doc"}),
    );
    says(
        &shell.ok(&["show", related["relation"]["uuid"].as_str().unwrap()]),
        &["mentions"],
    );
    let wish = json!({"artifact": "goals_doc", "start": 2, "end": 2, "content": "Two binaries.", "reasoning": "one is large"});
    called(&shell, "reader_propose", &wish);
    says(
        &shell.ok(&["show", "prop_1"]),
        &[
            "prop_001",
            "goals_doc",
            "line 2",
            "open",
            "+ Two binaries.",
            "one is large",
        ],
    );
    shell.refused(&["show", "goals_doc:99"], 2);
    assert_eq!(
        shell.ok(&["show", "goals_doc", "--plain"]),
        "# Goals\nOne binary.\nWe store everything in PostgreSQL.\n"
    );
    shell.refused(&["show", "nothing", "--plain"], 3);
}

#[on_both]
fn artifacts_conversations_and_proposals_are_commands(backend: Backend) {
    let shell = Shell::new(backend);
    says(&shell.ok(&["artifacts"]), &["no store yet"]);
    changed(&shell);
    says(&shell.ok(&["artifacts"]), &["LABEL", "goals_doc", "3"]);
    assert_eq!(
        shell.json(&["artifacts", "goal"])["artifacts"][0]["label"],
        "goals_doc"
    );
    says(&shell.ok(&["artifacts", "other"]), &["no artifact"]);
    says(
        &shell.ok(&["artifact", "goals_doc"]),
        &["3 lines, 2 commits"],
    );
    says(
        &shell.ok(&["artifact", "goals_doc", "--log"]),
        &["COMMIT", "one writer is too few"],
    );
    says(
        &shell.ok(&["artifact", "goals_doc", "--diff"]),
        &[
            "-We store everything in SQLite.",
            "+We store everything in PostgreSQL.",
        ],
    );
    assert_eq!(
        shell.ok(&["artifact", "goals_doc", "--plain"]),
        shell.ok(&["show", "goals_doc", "--plain"])
    );
    let fork = called(&shell, "garden_fork", &json!({"title": "Which store?"}));
    let tree = shell.ok(&["conversations"]);
    says(
        &tree,
        &[
            "the first conversation  open",
            "  Which store?  open",
            "ann",
        ],
    );
    called(
        &shell,
        "garden_collapse",
        &json!({"log": fork["log"]["uuid"], "summary": "PostgreSQL it is."}),
    );
    says(
        &shell.ok(&["talks"]),
        &["Which store?  collapsed", "PostgreSQL it is."],
    );
    assert!(shell.json(&["conversations"])["tree"].is_array());
    says(
        &shell.ok(&["show", fork["log"]["uuid"].as_str().unwrap()]),
        &["Which store?  collapsed", "PostgreSQL it is."],
    );
    let wish = json!({"artifact": "goals_doc", "start": 4, "end": 3, "content": "A fourth.", "reasoning": "three are few"});
    called(&shell, "reader_propose", &wish);
    called(&shell, "reader_propose", &wish);
    says(
        &shell.ok(&["proposals"]),
        &[
            "prop_001",
            "before line 4",
            "+ A fourth.",
            "three are few",
            "prop_002",
        ],
    );
    says(
        &shell.ok(&["proposals", "accept", "prop_001"]),
        &["accepted"],
    );
    says(
        &shell.ok(&["proposals", "reject", "prop_002", "--note", "twice"]),
        &["rejected", "twice"],
    );
    says(&shell.ok(&["proposals"]), &["No proposal waits"]);
    assert_eq!(
        shell.json(&["proposals", "--all"])["proposals"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    says(&shell.ok(&["show", "goals_doc:4"]), &["A fourth."]);
}

#[on_both]
fn the_log_tells_one_act_in_one_line_and_whose(backend: Backend) {
    let shell = Shell::new(backend);
    changed(&shell);
    let log = shell.ok(&["log"]);
    assert_eq!(
        log.matches("goals_doc").count(),
        2,
        "created once and changed once:\n{log}"
    );
    says(
        &log,
        &[
            "created",
            "3 lines, beginning “# Goals”",
            "committed",
            "“We store everything in SQLite.” →",
        ],
    );
    assert!(!log.contains("entity_"), "{log}");
    called(
        &shell,
        "reader_scroll",
        &json!({"artifact": "goals_doc", "start": 1, "end": 2}),
    );
    shell.ok(&[
        "call",
        "garden_add",
        r#"{"type": "Note", "description": "by bob"}"#,
        "--agent",
        "bob",
    ]);
    let of = shell.ok(&["log", "--artifact", "goals_doc"]);
    says(&of, &["read", "lines 1–2", "committed"]);
    assert!(!of.contains("by bob"));
    let bobs = shell.ok(&["log", "--by", "bob"]);
    says(&bobs, &["by bob"]);
    assert!(!bobs.contains("goals_doc"), "{bobs}");
    says(
        &shell.ok(&["log", "--limit", "1"]),
        &["there is more", "--before"],
    );
    let last = shell.json(&["log", "--limit", "1"])["seq"]
        .as_i64()
        .unwrap();
    assert!(
        !shell
            .ok(&["log", "--before", &last.to_string()])
            .contains("by bob")
    );
    assert!(
        !shell
            .ok(&["log", "--limit", "100"])
            .contains("there is more")
    );
}
