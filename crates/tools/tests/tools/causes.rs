//! Causes: every write of every surface takes one, and they are followed both ways.

use crate::garden_common::*;
use serde_json::{Value, json};
use understory_engine::Request;
use understory_engine::garden::relation::relate;
use understory_model::{Code, Id};
use understory_testkit::{World, on_both};
use understory_tools::{Access, registry};

fn steps(answer: &Value) -> Vec<String> {
    list(answer, "steps")
        .iter()
        .map(|step| step["text"].as_str().unwrap().to_string())
        .collect()
}

#[track_caller]
fn after(world: &World, cause: &Value, text: &str) -> Value {
    add(
        world,
        json!({"type": "Note", "description": text, "caused_by": cause["uuid"]}),
    )
}

/// The root of what came last of a call.
#[track_caller]
fn root(world: &World, id: &str) -> Value {
    world.ok("garden_trace", json!({"item": id, "direction": "root"}))["root"].clone()
}

#[on_both]
fn every_surface_says_why(world: World) {
    let said = add(
        &world,
        json!({"type": "Message", "description": "Switch to PostgreSQL", "sender": "user"}),
    );
    let cause = uuid(&said);
    let ws = "garden-shed";
    let writes = [
        (
            "create_record",
            json!({"parent_id": null, "type": "q", "title": "T", "summary": "", "body": ""}),
            "R001",
        ),
        (
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "Migrate"}]}),
            "TASK-001",
        ),
        ("create_thread", json!({"title": "Migration"}), "th_001"),
        (
            "branchmind_notes_commit",
            json!({"workspace": ws, "branch": "main", "doc": "notes", "content": "x"}),
            "",
        ),
        ("garden_entity_create", json!({"type": "t", "data": {}}), ""),
        ("update_record", json!({"id": "R001", "title": "U"}), "R001"),
        (
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "summary": "Migrate all"}]}),
            "TASK-001",
        ),
        (
            "post_message",
            json!({"thread_id": "th_001", "body": "Go"}),
            "",
        ),
    ];
    for (tool, mut args, handle) in writes {
        args["caused_by"] = json!(cause);
        world.ok(tool, args);
        let newest = world.ok("garden_timeline", json!({"limit": 1}))["items"][0].clone();
        assert_eq!(newest["caused_by"], json!(cause), "{tool}");
        assert_eq!(root(&world, &uuid(&newest))["uuid"], json!(cause), "{tool}");
        if !handle.is_empty() {
            let why = world.ok("why", json!({"id": handle}));
            assert_eq!(steps(&why).last().unwrap(), "Switch to PostgreSQL", "{why}");
        }
    }
    world.assert_sound();
}

#[on_both]
fn every_writing_tool_takes_a_cause_and_no_reading_one(world: World) {
    note(&world, "something");
    for tool in registry::tools() {
        let mut args: Value = serde_json::from_str(tool.example).unwrap();
        args["caused_by"] = json!("item_0199d3a0-0000-7000-8000-00000000dead");
        let listed = tool.input_schema()["properties"].get("caused_by").is_some();
        let result = world.call(tool.name, args.clone());
        if tool.access == Access::Read {
            let fault = result.unwrap_err();
            assert_eq!(fault.code, Code::Validation, "{}: {fault}", tool.name);
            assert!(!listed);
            continue;
        }
        assert!(listed, "{}", tool.name);
        args["caused_by"] = json!(7);
        let fault = world.refused(tool.name, args);
        assert!(
            fault.message.starts_with("caused_by"),
            "{}: {fault}",
            tool.name
        );
    }
}

#[on_both]
fn an_unknown_cause_writes_nothing(world: World) {
    note(&world, "something");
    for name in ["item_0199d3a0-0000-7000-8000-000000000000", "", "R777"] {
        let fault = world.refused(
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "s"}], "caused_by": name}),
        );
        assert_eq!(fault.code, Code::NotFound, "{name:?}: {fault}");
    }
}

#[on_both]
fn a_cause_may_be_named_by_its_handle(world: World) {
    world.plan(&["A"]);
    world.ok("create_thread", json!({"title": "Talk"}));
    let message = world.ok("post_message", json!({"thread_id": "th_001", "body": "Go"}));
    for cause in [
        "TASK-001",
        "task-1",
        message["message_id"].as_str().unwrap(),
        "th_001",
    ] {
        add(
            &world,
            json!({"type": "Note", "description": "n", "caused_by": cause}),
        );
    }
    let answer = world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "Done", "in_reply_to": message["message_id"]}),
    );
    let why = world.ok("why", json!({"id": answer["message_id"]}));
    assert_eq!(
        steps(&why),
        ["message 2: Done", "message 1: Go"],
        "a reply is caused by what it answers"
    );
}

#[on_both]
fn traces_go_both_ways(world: World) {
    let a = note(&world, "a");
    let b = after(&world, &a, "b");
    let c = after(&world, &b, "c");
    let d = after(&world, &a, "d");
    let e = after(&world, &c, "e");
    let causes = world.ok(
        "garden_trace",
        json!({"item": e["uuid"], "direction": "causes"}),
    );
    assert_eq!(steps(&causes), ["e", "c", "b", "a"]);
    let effects = world.ok(
        "garden_trace",
        json!({"item": a["uuid"], "direction": "effects"}),
    );
    assert_eq!(steps(&effects), ["a", "b", "c", "e", "d"]);
    let depths: Vec<i64> = list(&effects, "steps")
        .iter()
        .map(|step| step["depth"].as_i64().unwrap())
        .collect();
    assert_eq!(depths, [0, 1, 2, 3, 1]);
    assert_eq!(effects["steps"][3]["parent"], c["uuid"]);
    assert_eq!(root(&world, &uuid(&e))["uuid"], a["uuid"]);
    assert_eq!(root(&world, &uuid(&d))["depth"], 1);
    let near = world.ok(
        "garden_trace",
        json!({"item": e["uuid"], "direction": "causes", "max_depth": 2}),
    );
    assert_eq!(
        (steps(&near), &near["truncated"]),
        (vec!["e".into(), "c".into(), "b".into()], &json!(true)),
        "so far from it, either way"
    );
    let near = world.ok(
        "garden_trace",
        json!({"item": a["uuid"], "direction": "effects", "max_depth": 1}),
    );
    assert_eq!(steps(&near), ["a", "b", "d"]);
    assert_eq!(near["truncated"], true);
    for (item, direction) in [(&e, "causes"), (&a, "effects")] {
        let own = world.ok(
            "garden_trace",
            json!({"item": item["uuid"], "direction": direction, "max_depth": 0}),
        );
        assert_eq!(
            (
                list(&own, "steps").len(),
                &own["steps"][0]["uuid"],
                &own["truncated"]
            ),
            (1, &item["uuid"], &json!(true)),
            "only the item itself"
        );
    }
    let fault = world.refused("garden_trace", json!({"item": a["uuid"], "max_depth": -1}));
    assert_eq!(fault.message, "max_depth: must be 0 or more");
    let fault = world.refused(
        "garden_trace",
        json!({"item": a["uuid"], "direction": "sideways"}),
    );
    assert!(fault.message.starts_with("direction"));
}

#[on_both]
fn what_was_said_later_counts_and_circles_end(world: World) {
    let [a, b, c] = ["a", "b", "c"].map(|text| note(&world, text));
    for (source, target) in [(&a, &b), (&b, &c)] {
        world.ok(
            "garden_relate",
            json!({"kind": "triggers", "source": source["uuid"], "target": target["uuid"]}),
        );
    }
    let d = after(&world, &c, "d");
    let causes = world.ok(
        "garden_trace",
        json!({"item": d["uuid"], "direction": "causes"}),
    );
    assert_eq!(steps(&causes), ["d", "c", "b", "a"]);
    // A circle is refused today; what an older store has is followed once round.
    let (from, to) = (
        Id(c["seq"].as_i64().unwrap()),
        Id(a["seq"].as_i64().unwrap()),
    );
    let request = Request {
        tool: "test",
        scope: String::new(),
        key: None,
        arguments: json!(null),
        cause: None,
        project: None,
    };
    world
        .engine
        .write(&world.caller, request, move |work| {
            relate::by_server(work, "triggers", from, to)?;
            Ok(json!({}))
        })
        .unwrap();
    let causes = world.ok(
        "garden_trace",
        json!({"item": d["uuid"], "direction": "causes"}),
    );
    assert_eq!((steps(&causes).len(), &causes["cycle"]), (4, &json!(true)));
    let effects = world.ok(
        "garden_trace",
        json!({"item": a["uuid"], "direction": "effects"}),
    );
    assert_eq!(
        (steps(&effects).len(), &effects["cycle"]),
        (4, &json!(true))
    );
    assert_eq!(world.ok("why", json!({"id": d["uuid"]}))["cycle"], true);
}

#[on_both]
fn a_long_chain_is_followed_to_its_root(world: World) {
    let first = note(&world, "first");
    let mut last = first.clone();
    for at in 0..300 {
        last = after(&world, &last, &format!("step {at}"));
    }
    assert_eq!(root(&world, &uuid(&last))["uuid"], first["uuid"]);
    let effects = world.ok(
        "garden_trace",
        json!({"item": first["uuid"], "direction": "effects"}),
    );
    assert_eq!(steps(&effects).len(), 301);
    let short = world.ok(
        "garden_trace",
        json!({"item": last["uuid"], "max_chars": 2_000}),
    );
    assert!(short.to_string().len() <= 2_000);
    assert_eq!(short["truncated"], true);
}

#[on_both]
fn why_tells_the_change_that_has_a_cause(world: World) {
    world.plan(&["Write the parser"]);
    let said = add(
        &world,
        json!({"type": "Message", "description": "Make it incremental."}),
    );
    world.ok("graph_update", json!({"updates": [{"node_id": "TASK-001", "summary": "Write it incrementally"}], "caused_by": said["uuid"]}));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "properties": {"priority": 1}}]}),
    );
    let why = world.ok("why", json!({"id": "TASK-001"}));
    assert_eq!(steps(&why).len(), 2, "{why}");
    assert_eq!(steps(&why)[1], "Make it incremental.");
    let made = world.ok("why", json!({"id": "project:default"}));
    assert_eq!(steps(&made).len(), 1);
    assert_eq!(
        world.refused("why", json!({"id": "TASK-999"})).code,
        Code::NotFound
    );
}

#[on_both]
fn a_line_is_explained_by_what_was_said(world: World) {
    let text = "# Goals\nOne binary.\nWe store everything in SQLite.\n";
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "goals_doc", "content": text}),
    );
    let said = add(
        &world,
        json!({"type": "Message", "description": "Use PostgreSQL instead. SQLite has one writer.", "sender": "user"}),
    );
    let call = add(
        &world,
        json!({"type": "ToolCall", "tool": "editor", "operation": "open", "caused_by": said["uuid"]}),
    );
    let commit = json!({"artifact": "goals_doc", "based_on": made["artifact"]["head"], "caused_by": call["uuid"],
        "content": text.replace("SQLite", "PostgreSQL"), "references": [said["fragments"][0]["id"]]});
    let done = world.ok("garden_artifact_commit", commit);
    let why = world.ok("why", json!({"id": "goals_doc:3"}));
    assert_eq!(why["line"]["content"], "We store everything in PostgreSQL.");
    assert_eq!(why["line"]["commit"], done["commit"]);
    let kinds: Vec<&str> = list(&why, "steps")
        .iter()
        .map(|step| step["_type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ArtifactDelta", "ToolCall", "Message"]);
    assert_eq!(
        why["steps"][0]["references"][0]["message_uuid"],
        said["uuid"]
    );
    assert!(
        why["steps"][2]["text"]
            .as_str()
            .unwrap()
            .starts_with("Use PostgreSQL instead.")
    );
    // The line before that change, and one that it left alone.
    let before = format!("goals_doc:3@{}", made["artifact"]["head"].as_str().unwrap());
    assert_eq!(
        world.ok("why", json!({"id": before}))["line"]["content"],
        "We store everything in SQLite."
    );
    let other = world.ok("why", json!({"id": "goals_doc:2"}));
    assert_eq!(other["line"]["commit"], made["artifact"]["head"]);
    // Without a cause, what it was made from says why.
    let more = json!({"artifact": "goals_doc", "based_on": done["commit"], "ops": "-1", "references": [said["fragments"][1]["id"]]});
    world.ok("garden_artifact_commit", more);
    let log = world.ok(
        "garden_artifact_log",
        json!({"artifact": "goals_doc", "limit": 1}),
    );
    let why = world.ok("why", json!({"id": log["deltas"][0]["uuid"]}));
    assert_eq!(why["steps"][1]["uuid"], said["uuid"], "{why}");
    for id in ["goals_doc:9", "goals_doc:0", "nothing:1"] {
        assert_eq!(
            world.refused("why", json!({"id": id})).code,
            Code::NotFound,
            "{id}"
        );
    }
}
