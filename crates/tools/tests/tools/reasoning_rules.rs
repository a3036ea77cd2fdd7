//! Rules of the reasoning surface that hold across its tools: one default document for a line of
//! branches, notes that keep who wrote them, cards that close cards, conflicts that end.

use crate::common::{resolve, restructure};
use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// Keeps a card on a branch.
fn think(world: &World, branch: &str, card: Value) -> Value {
    call(world, "think_card", json!({"branch": branch, "card": card}))
}

fn note_card(id: &str) -> Value {
    json!({"id": id, "type": "note", "title": id})
}

fn ids(answer: &Value, list_name: &str) -> Vec<String> {
    each(&list(answer, list_name), "id")
}

fn cards(world: &World, branch: &str) -> Vec<String> {
    ids(
        &call(world, "think_context", json!({"branch": branch})),
        "cards",
    )
}

fn merge(world: &World, tool: &str, from: &str, into: &str) -> Value {
    call(world, tool, json!({"from": from, "into": into}))
}

fn upsert(world: &World, branch: &str, node: Value) -> Value {
    let mut op = node;
    op["op"] = "node_upsert".into();
    call(world, "graph_apply", json!({"branch": branch, "ops": [op]}))
}

#[on_both]
fn a_branch_has_the_documents_of_the_task_it_comes_from(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let own = format!("task/{task}");
    branch(&world, "w", &own);
    branch(&world, "w2", "w");
    let kept = think(&world, "w", note_card("c1"));
    assert_eq!(
        (&kept["graph_doc"], &kept["trace_doc"]),
        (&json!("TASK-001-graph"), &json!("TASK-001-trace"))
    );
    assert_eq!(
        think(&world, "w2", note_card("c2"))["graph_doc"],
        "TASK-001-graph"
    );
    assert_eq!(
        upsert(&world, "w2", json!({"id": "n", "type": "note"}))["doc"],
        "TASK-001-graph"
    );
    assert_eq!(
        (cards(&world, "w"), cards(&world, "w2")),
        (vec!["c1".into()], vec!["n".into(), "c2".into()])
    );
    for tool in ["graph_query", "graph_validate", "think_next"] {
        let answer = call(&world, tool, json!({"branch": "w2"}));
        assert!(
            answer["doc"] == "TASK-001-graph" || answer["graph_doc"] == "TASK-001-graph",
            "{tool}: {answer}"
        );
    }
    assert_eq!(
        call(&world, "graph_diff", json!({"from": "w", "to": "w2"}))["doc"],
        "TASK-001-graph"
    );
    assert_eq!(
        call(&world, "graph_conflicts", json!({"into": "w2"}))["doc"],
        "TASK-001-graph"
    );
    let merged = merge(&world, "graph_merge", "w2", "w");
    assert_eq!(
        (&merged["doc"], &merged["merged"]),
        (&json!("TASK-001-graph"), &json!(2))
    );
    assert_eq!(merge(&world, "graph_merge", "w", &own)["merged"], 3);
    assert_eq!(
        ids(
            &call(&world, "think_context", json!({"target": task})),
            "cards"
        )
        .len(),
        3
    );
    world.assert_sound();
}

#[on_both]
fn what_is_empty_says_what_is_there(world: World) {
    call(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "ideas", "content": "x"}),
    );
    let status = call(&world, "status", json!({"branch": "main"}));
    assert_eq!(
        status["branch"]["documents"],
        json!([{"doc": "ideas", "kind": "entries", "entries": 1}])
    );
    assert_eq!(status["branch"]["notes_doc"], "notes");
    assert_eq!(
        call(&world, "show", json!({"branch": "main", "doc": "ntoes"}))["documents"],
        json!(["ideas"])
    );
    assert_eq!(
        call(&world, "show", json!({"branch": "main", "doc": "ideas"})).get("documents"),
        None
    );
    branch(&world, "w", "main");
    call(
        &world,
        "graph_apply",
        json!({"branch": "w", "doc": "side", "ops": [{"op": "node_upsert", "id": "n", "type": "note"}]}),
    );
    let merged = merge(&world, "graph_merge", "w", "main");
    assert_eq!(
        (&merged["doc"], &merged["documents"]),
        (&json!("graph"), &json!(["side"]))
    );
    assert_eq!(
        merge(&world, "merge", "w", "main")["documents"],
        json!(["side"])
    );
    assert_eq!(
        call(&world, "think_context", json!({"branch": "w"}))["documents"],
        json!(["ideas", "side"])
    );
    refuse(
        &world,
        "status",
        json!({"branch": "nope"}),
        Code::UnknownBranch,
    );
}

#[on_both]
fn a_new_document_with_nearly_the_name_of_another_is_told(world: World) {
    let warned = |doc: &str| {
        call(
            &world,
            "notes_commit",
            json!({"branch": "main", "doc": doc, "content": "x"}),
        )["warning"]
            .clone()
    };
    assert!(
        warned("note")
            .as_str()
            .unwrap()
            .contains("did you mean notes?")
    );
    assert_eq!(
        (warned("note"), warned("notes"), warned("minutes")),
        (json!(null), json!(null), json!(null))
    );
    let applied = call(
        &world,
        "graph_apply",
        json!({"branch": "main", "doc": "grahp", "ops": [{"op": "node_upsert", "id": "n", "type": "note"}]}),
    );
    assert!(
        applied["warning"].as_str().unwrap().contains("graph"),
        "{applied}"
    );
}

#[on_both]
fn a_note_says_something(world: World) {
    for content in ["", "   \n", "a\u{0}b"] {
        let fault = refuse(
            &world,
            "notes_commit",
            json!({"branch": "main", "doc": "notes", "content": content}),
            Code::Validation,
        );
        assert!(fault.message.contains("content"), "{fault}");
        refuse(
            &world,
            "commit",
            json!({"branch": "main", "doc": "notes", "message": "m", "content": content}),
            Code::Validation,
        );
    }
    call(
        &world,
        "commit",
        json!({"branch": "main", "doc": "notes", "message": "m"}),
    );
}

#[on_both]
fn a_merged_note_keeps_its_author_and_time(world: World) {
    branch(&world, "w", "main");
    let bob = World::caller("bob");
    let written = world
        .call_as(
            &bob,
            "branchmind_notes_commit",
            json!({"workspace": WS, "branch": "w", "doc": "notes", "content": "mine"}),
        )
        .unwrap();
    assert_eq!(merge(&world, "merge", "w", "main")["merged"], 1);
    let entry = call(&world, "show", json!({"branch": "main"}))["entries"][0].clone();
    assert_eq!(
        (&entry["agent"], &entry["ts"], &entry["merged_by"]),
        (&json!("bob"), &written["entry"]["ts"], &json!("ada"))
    );
    assert!(
        entry["merged_at"].as_str() > entry["ts"].as_str(),
        "{entry}"
    );
    let original = call(&world, "show", json!({"branch": "w"}))["entries"][0].clone();
    assert_eq!(
        (&original["agent"], original.get("merged_by")),
        (&json!("bob"), None)
    );
}

#[on_both]
fn what_was_merged_is_no_difference(world: World) {
    branch(&world, "w", "main");
    for at in 0..5 {
        note(&world, "w", &format!("w{at}"));
    }
    let diff = |from: &str, to: &str| {
        each(
            &pages(&world, "diff", &json!({"from": from, "to": to}), 2),
            "content",
        )
    };
    assert_eq!(diff("main", "w").len(), 5);
    call(
        &world,
        "merge",
        json!({"from": "w", "into": "main", "limit": 3}),
    );
    assert_eq!(diff("main", "w"), ["w3", "w4"], "what is left to merge");
    assert_eq!(diff("w", "main"), Vec::<String>::new());
    note(&world, "main", "m");
    merge(&world, "merge", "w", "main");
    assert_eq!(
        (diff("main", "w"), diff("w", "main")),
        (vec![], vec!["m".to_string()])
    );
}

#[on_both]
fn the_same_card_on_both_branches_is_one(world: World) {
    branch(&world, "w", "main");
    think(&world, "main", note_card("c"));
    think(&world, "w", note_card("c"));
    think(&world, "w", note_card("d"));
    let merged = call(
        &world,
        "merge",
        json!({"from": "w", "into": "main", "doc": "trace"}),
    );
    assert_eq!(
        (&merged["merged"], &merged["skipped"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        each(
            &pages(
                &world,
                "show",
                &json!({"branch": "main", "doc": "trace"}),
                2
            ),
            "title"
        ),
        ["c", "d"]
    );
    assert_eq!(
        list(
            &call(
                &world,
                "diff",
                json!({"from": "main", "to": "w", "doc": "trace"})
            ),
            "entries"
        )
        .len(),
        0
    );
}

#[on_both]
fn no_tags_are_an_empty_list_of_tags(world: World) {
    upsert(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "x", "status": "open"}),
    );
    let kept = think(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "x"}),
    );
    assert_eq!(
        (&kept["inserted"], &kept["graph_applied"]["nodes_upserted"]),
        (&json!(true), &json!(0))
    );
    think(&world, "main", note_card("c"));
    branch(&world, "w", "main");
    upsert(
        &world,
        "w",
        json!({"id": "c", "type": "note", "title": "c", "status": "open"}),
    );
    assert_eq!(
        list(
            &call(&world, "graph_diff", json!({"from": "main", "to": "w"})),
            "changes"
        )
        .len(),
        0
    );
    upsert(
        &world,
        "main",
        json!({"id": "c", "type": "note", "title": "changed"}),
    );
    let merged = merge(&world, "graph_merge", "w", "main");
    assert_eq!(
        (&merged["conflicts_created"], &merged["skipped"]),
        (&json!(0), &json!(1))
    );
}

#[on_both]
fn every_branch_can_be_listed(world: World) {
    world.plan(&["A", "B"]);
    for at in 0..7 {
        branch(&world, &format!("b{at}"), "main");
    }
    for (limit, room) in [(1, 100_000), (3, 100_000), (200, 100_000), (200, 420)] {
        let (mut seen, mut cursor) = (Vec::new(), json!(null));
        loop {
            let answer = call(
                &world,
                "branch_list",
                json!({"limit": limit, "cursor": cursor, "max_chars": room}),
            );
            assert!(answer.to_string().len() <= room, "{answer}");
            assert_eq!(answer["counts"], json!({"made": 7, "plans_and_tasks": 3}));
            seen.extend(each(&list(&answer, "branches"), "name"));
            cursor = answer["pagination"]["next_cursor"].clone();
            assert_eq!(answer["pagination"]["has_more"], !cursor.is_null());
            if cursor.is_null() {
                break;
            }
        }
        let made = (0..7).map(|at| format!("b{at}"));
        let all: Vec<String> = ["main".to_string()]
            .into_iter()
            .chain(made)
            .chain(["task/TASK-002", "task/TASK-001", "plan/PLAN-001"].map(String::from))
            .collect();
        assert_eq!(seen, all, "{limit} {room}");
    }
    for wrong in ["nowhere", "", "task/TASK-099", "a b", "main "] {
        let fault = refuse(
            &world,
            "branch_list",
            json!({"cursor": wrong}),
            Code::Validation,
        );
        assert_eq!(
            (fault.message.as_str(), &fault.details.unwrap()["field"]),
            (
                "cursor: is not a cursor that was given out here",
                &json!("cursor")
            ),
            "{wrong}"
        );
    }
}

#[on_both]
fn a_cursor_is_checked_before_anything_was_written(world: World) {
    assert_eq!(
        list(
            &call(&world, "branch_list", json!({"cursor": "main"})),
            "branches"
        ),
        Vec::<Value>::new(),
        "nothing comes after it"
    );
    refuse(
        &world,
        "branch_list",
        json!({"cursor": "nowhere"}),
        Code::Validation,
    );
}

#[on_both]
fn a_card_may_name_its_edges_itself(world: World) {
    think(&world, "main", note_card("a"));
    let kept = think(
        &world,
        "main",
        json!({"id": "b", "type": "note", "title": "b", "supports": ["a"], "blocks": "x, y"}),
    );
    assert_eq!(
        (&kept["graph_applied"]["edges_upserted"], kept.get("meta")),
        (&json!(3), None)
    );
    let kept = think(
        &world,
        "main",
        json!(
            "id: c\ntype: note\ntitle: c\nsupports: [a, \"b\"]\nBudget Max: 5\ntext: |\n  if x:\n    y\n\n  end\nmeta: {\"n\": 1}"
        ),
    );
    assert_eq!(kept["graph_applied"]["edges_upserted"], 2);
    let node = call(
        &world,
        "graph_query",
        json!({"branch": "main", "ids": ["c"]}),
    )["nodes"][0]
        .clone();
    assert_eq!(
        (&node["text"], &node["meta"]),
        (
            &json!("if x:\n  y\n\nend"),
            &json!({"n": 1, "Budget Max": "5"})
        )
    );
    let fault = refuse(
        &world,
        "think_card",
        json!({"branch": "main", "card": "{\"id\": \"j\", \"type\": \"note\", \"title\": \"j\""}),
        Code::Validation,
    );
    assert!(fault.message.contains("line 1 column"), "{fault}");
    let fault = refuse(
        &world,
        "think_card",
        json!({"branch": "main", "card": "id: d\nid: e"}),
        Code::Validation,
    );
    assert!(fault.message.contains("given twice"), "{fault}");
    let fault = refuse(
        &world,
        "think_card",
        json!({"branch": "main", "card": {"type": "note", "title": "t"}}),
        Code::Validation,
    );
    assert_eq!(
        (fault.message.as_str(), &fault.details.unwrap()["field"]),
        ("card.id: is required", &json!("card.id"))
    );
    let fault = refuse(
        &world,
        "think_card",
        json!({"branch": "main", "graph_doc": "other", "card": note_card("a")}),
        Code::Conflict,
    );
    assert!(
        fault.message.contains("is in graph document graph already"),
        "{fault}"
    );
}

#[on_both]
fn an_update_closes_what_it_supports(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let next = || call(&world, "think_next", json!({"target": task}))["next"]["action"].clone();
    let keep = |card: Value, supports: Value| {
        call(
            &world,
            "think_card",
            json!({"target": task, "card": card, "supports": supports}),
        )
    };
    keep(
        json!({"id": "q", "type": "question", "title": "Why?", "text": "Because it matters", "tags": ["x"]}),
        json!([]),
    );
    assert_eq!(next(), "answer_question");
    keep(
        json!({"id": "u1", "type": "update", "title": "Looked at it"}),
        json!(["q"]),
    );
    assert_ne!(next(), "answer_question", "somebody answered");
    let kept = keep(
        json!({"id": "u2", "type": "update", "title": "Yes", "status": "resolved"}),
        json!(["q", "gone", format!("task:{task}")]),
    );
    assert_eq!(kept["updated"], json!(["q"]));
    let node =
        call(&world, "graph_query", json!({"target": task, "ids": ["q"]}))["nodes"][0].clone();
    assert_eq!(
        (
            &node["status"],
            &node["title"],
            &node["text"],
            &node["tags"]
        ),
        (
            &json!("resolved"),
            &json!("Why?"),
            &json!("Because it matters"),
            &json!(["x"])
        )
    );
    let head = world.head();
    assert_eq!(
        keep(
            json!({"id": "u2", "type": "update", "title": "Yes", "status": "resolved"}),
            json!(["q", "gone", format!("task:{task}")])
        )["inserted"],
        false
    );
    assert_eq!(world.head(), head);
    world.assert_sound();
}

#[on_both]
fn a_node_can_be_changed_in_part(world: World) {
    upsert(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "t", "text": "long", "tags": ["a"], "meta": {"m": 1}}),
    );
    let ops = json!([{"op": "node_update", "id": "k", "status": "done"}]);
    let applied = call(&world, "graph_apply", json!({"branch": "main", "ops": ops}));
    assert_eq!(applied["applied"]["nodes_upserted"], 1);
    let node = call(
        &world,
        "graph_query",
        json!({"branch": "main", "ids": ["k"]}),
    )["nodes"][0]
        .clone();
    assert_eq!(
        (
            &node["status"],
            &node["title"],
            &node["text"],
            &node["tags"],
            &node["meta"]
        ),
        (
            &json!("done"),
            &json!("t"),
            &json!("long"),
            &json!(["a"]),
            &json!({"m": 1})
        )
    );
    refuse(
        &world,
        "graph_apply",
        json!({"branch": "main", "ops": [{"op": "node_update", "id": "gone", "status": "x"}]}),
        Code::NotFound,
    );
    let fault = refuse(
        &world,
        "graph_apply",
        json!({"branch": "main", "ops": []}),
        Code::Validation,
    );
    assert!(fault.message.contains("at least 1 entry"), "{fault}");
}

#[on_both]
fn a_conflict_whose_sides_agree_is_over(world: World) {
    upsert(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "base"}),
    );
    branch(&world, "w", "main");
    upsert(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "ours"}),
    );
    upsert(
        &world,
        "w",
        json!({"id": "k", "type": "note", "title": "theirs"}),
    );
    let merged = merge(&world, "graph_merge", "w", "main");
    assert_eq!(
        (&merged["conflicts_created"], &merged["conflicts_open"]),
        (&json!(1), &json!(1))
    );
    let again = merge(&world, "graph_merge", "w", "main");
    assert_eq!(
        (&again["conflicts_created"], &again["conflicts_open"]),
        (&json!(0), &json!(1)),
        "it is still open"
    );
    let id = merged["conflict_ids"][0].clone();
    let next = || call(&world, "think_next", json!({"branch": "main"}))["next"]["action"].clone();
    assert_eq!(next(), "resolve_conflict");
    assert_eq!(
        call(&world, "graph_conflict_show", json!({"conflict_id": id}))["conflict"].get("now"),
        None
    );
    upsert(
        &world,
        "main",
        json!({"id": "k", "type": "note", "title": "theirs"}),
    );
    assert_ne!(next(), "resolve_conflict");
    let shown = call(&world, "graph_conflict_show", json!({"conflict_id": id}))["conflict"].clone();
    assert_eq!(
        (
            &shown["now"]["agree"],
            &shown["now"]["ours"]["title"],
            &shown["ours"]["title"]
        ),
        (&json!(true), &json!("theirs"), &json!("ours"))
    );
    assert_eq!(
        merge(&world, "graph_merge", "w", "main")["conflicts_open"],
        0
    );
    let closed =
        call(&world, "graph_conflict_show", json!({"conflict_id": id}))["conflict"].clone();
    assert_eq!(
        (&closed["status"], &closed["resolution"]),
        (&json!("resolved"), &json!("agreed"))
    );
    world.assert_sound();
}

#[on_both]
fn a_task_says_where_it_stands(world: World) {
    let tasks = world.plan(&["open", "done", "dropped", "merged", "into"]);
    let state = |task: &str| {
        let radar = call(&world, "tasks_radar", json!({"task": task}))["target"]["state"].clone();
        assert_eq!(
            call(&world, "export", json!({"target": task}))["target"]["state"],
            radar
        );
        radar
    };
    resolve(&world, &[&tasks[1]]);
    restructure(
        &world,
        json!([{"op": "drop", "node_id": tasks[2], "reason": "no"}]),
    );
    restructure(
        &world,
        json!([{"op": "merge", "source": tasks[3], "target": tasks[4]}]),
    );
    let states: Vec<Value> = tasks[..4].iter().map(|task| state(task)).collect();
    assert_eq!(states, ["open", "resolved", "dropped", "merged"]);
}

#[on_both]
fn whoever_moved_the_checkout_is_told(world: World) {
    branch(&world, "w", "main");
    let bob = World::caller("bob");
    world
        .call_as(
            &bob,
            "branchmind_checkout",
            json!({"workspace": WS, "ref": "w"}),
        )
        .unwrap();
    for tool in ["status", "branch_list"] {
        let answer = call(&world, tool, json!({}));
        assert_eq!(
            (&answer["current"], &answer["checked_out_by"]),
            (&json!("w"), &json!("bob")),
            "{tool}"
        );
    }
    assert_eq!(
        call(&world, "checkout", json!({"ref": "main"}))["previous_by"],
        "bob"
    );
}

#[on_both]
fn a_limit_of_no_edges_shows_none(world: World) {
    think(&world, "main", note_card("a"));
    think(
        &world,
        "main",
        json!({"id": "b", "type": "note", "title": "b", "supports": ["a"]}),
    );
    let answer = call(
        &world,
        "graph_query",
        json!({"branch": "main", "edges_limit": 0}),
    );
    assert_eq!(
        (
            list(&answer, "edges").len(),
            list(&answer, "nodes").len(),
            &answer["truncated"]
        ),
        (0, 2, &json!(true))
    );
    let fault = refuse(
        &world,
        "show",
        json!({"branch": "zzz", "doc": "notes"}),
        Code::UnknownBranch,
    );
    assert_eq!(
        fault.hint.as_deref(),
        Some("branchmind_branch_list lists the branches.")
    );
    let fault = refuse(
        &world,
        "think_card",
        json!({"target": "TASK-001", "trace_doc": "t", "card": note_card("x")}),
        Code::Validation,
    );
    assert!(
        fault
            .message
            .starts_with("trace_doc: cannot be combined with target"),
        "{fault}"
    );
}
