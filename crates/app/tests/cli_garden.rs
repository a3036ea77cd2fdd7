//! `understory why`, and what `show` and `log` tell of artifacts, conversations and what was said.

mod shell;

use serde_json::{Value, json};
use shell::{Shell, says};

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

on_both! {
    fn why_tells_how_a_line_came_about(backend) {
        let shell = Shell::new(backend);
        changed(&shell);
        let told = shell.ok(&["why", "goals_doc:3"]);
        says(&told, &["goals_doc:3", "We store everything in PostgreSQL.", "committed", "one writer is too few",
            "because", "Ines said", "Use PostgreSQL instead."]);
        let json: Value = serde_json::from_str(&shell.ok(&["why", "goals_doc:3", "--json"])).unwrap();
        assert_eq!(json["steps"].as_array().unwrap().len(), 2);
        shell.ok(&["call", "graph_plan", r#"{"nodes": [{"ref": "a", "summary": "Migrate"}]}"#]);
        says(&shell.ok(&["why", "task-1"]), &["created", "Migrate", "caused_by"]);
        shell.refused(&["why", "nothing:3"], 3);
    }

    fn show_knows_artifacts_conversations_and_entities(backend) {
        let shell = Shell::new(backend);
        let said = changed(&shell);
        says(&shell.ok(&["show", "goals_doc"]), &["3 lines, 2 commits", "We store everything in PostgreSQL.", "one writer is too few"]);
        called(&shell, "garden_artifact_relabel", &json!({"artifact": "goals_doc", "label": "aims"}));
        says(&shell.ok(&["show", "goals_doc"]), &["aims", "formerly goals_doc"]);
        let log = said["log"].as_str().unwrap();
        says(&shell.ok(&["show", log]), &["open", "Message", "Use PostgreSQL instead."]);
        let made = called(&shell, "garden_entity_create", &json!({"type": "service", "data": {"port": 8080}}));
        says(&shell.ok(&["show", made["entity"]["uuid"].as_str().unwrap()]), &["service", "8080"]);
        says(&shell.ok(&["log"]), &["said", "committed", "Use PostgreSQL instead."]);
    }

    fn what_was_taken_back_is_told_as_such(backend) {
        let shell = Shell::new(backend);
        let note = called(&shell, "garden_add", &json!({"type": "Note", "description": "xyzzy"}));
        let id = note["item"]["uuid"].as_str().unwrap();
        shell.ok(&["call", "garden_undo", &json!({"item": id}).to_string()]);
        let log = shell.ok(&["log"]);
        says(&log, &["undone"]);
        assert!(!log.contains("xyzzy"));
        assert!(!shell.ok(&["show", id]).contains("xyzzy"));
        says(&shell.ok(&["verify"]), &["ok"]);
    }
}
