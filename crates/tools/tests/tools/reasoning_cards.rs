//! Thinking cards: read from any form, kept once, in trace and graph at once; and what they lead to.

use crate::common::NASTY;
use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// The nodes of a target's graph that have an id, as the graph shows them.
#[track_caller]
fn nodes(world: &World, target: &str, id: &str) -> Vec<Value> {
    list(
        &call(world, "graph_query", json!({"target": target, "ids": [id]})),
        "nodes",
    )
}

/// The edges of a target's graph, as `from rel to`, sorted.
#[track_caller]
fn edges(world: &World, target: &str) -> Vec<String> {
    let answer = call(world, "graph_query", json!({"target": target}));
    let mut edges: Vec<String> = list(&answer, "edges")
        .iter()
        .map(|edge| format!("{} {} {}", edge["from"], edge["rel"], edge["to"]).replace('"', ""))
        .collect();
    edges.sort();
    edges
}

#[track_caller]
fn keep(world: &World, card: Value) -> Value {
    call(
        world,
        "think_card",
        json!({"target": "TASK-001", "card": card}),
    )
}

/// What is to be done next: the action, and the card that it is about.
#[track_caller]
pub fn next(world: &World) -> (String, String) {
    let answer = call(world, "think_next", json!({"target": "TASK-001"}));
    let again = call(world, "think_next", json!({"target": "TASK-001"}));
    assert_eq!(answer, again, "the same graph, the same step");
    let step = &answer["next"];
    assert!(step["reason"].as_str().is_some_and(|why| !why.is_empty()));
    assert!(step["tool"].as_str().unwrap().starts_with("branchmind_"));
    let text = |field: &str| step[field].as_str().unwrap_or_default().to_string();
    (text("action"), text("card_id"))
}

#[track_caller]
pub fn expect(world: &World, action: &str, card: &str) {
    assert_eq!(next(world), (action.to_string(), card.to_string()));
}

pub fn upsert(id: &str, kind: &str, title: &str, status: &str) -> Value {
    json!({"op": "node_upsert", "id": id, "type": kind, "title": title, "status": status, "tags": []})
}

#[on_both]
fn every_type_has_a_template_that_is_a_card(world: World) {
    for kind in TYPES {
        let answer = call(&world, "think_template", json!({"type": kind}));
        assert_eq!(
            (
                &answer["type"],
                &answer["supported_types"],
                &answer["truncated"]
            ),
            (&json!(kind), &json!(TYPES), &json!(false))
        );
        for field in ["id", "type", "title", "text", "status", "tags", "meta"] {
            assert!(answer["template"].get(field).is_some(), "{kind} {field}");
        }
        assert_eq!(answer["template"]["type"], kind);
        assert_eq!(
            call(&world, "think_template", json!({"type": kind})),
            answer
        );
    }
    assert_eq!(world.head(), 0);
    world.plan(&["T"]);
    for kind in TYPES {
        let template = call(&world, "think_template", json!({"type": kind}))["template"].clone();
        assert_eq!(
            keep(&world, template)["inserted"],
            true,
            "{kind} as it comes"
        );
    }
    for kind in ["hypotesis", "", "Frame", "task", "x\ny"] {
        let fault = refuse(
            &world,
            "think_template",
            json!({"type": kind}),
            Code::Validation,
        );
        assert_eq!(fault.details.unwrap()["allowed"], json!(TYPES));
        let hint = fault.hint.unwrap();
        assert!(TYPES.iter().all(|kind| hint.contains(kind)), "{hint}");
    }
    let fault = refuse(
        &world,
        "think_template",
        json!({"type": "hypotesis"}),
        Code::Validation,
    );
    assert!(fault.hint.unwrap().contains("mean hypothesis"));
    refuse(&world, "think_template", json!({}), Code::Validation);
}

#[on_both]
fn a_card_is_an_object_its_text_or_lines(world: World) {
    world.plan(&["T"]);
    let object = json!({"id": "h1", "type": "hypothesis", "title": "The clock drifts", "text": "By hours.\nEach night.", "tags": ["Time", "ops", "time "], "weight": "3", "meta": {"by": "ada"}});
    let answer = keep(&world, object.clone());
    assert_eq!(answer["inserted"], true);
    assert_eq!(
        (
            &answer["branch"],
            &answer["trace_doc"],
            &answer["graph_doc"],
            &answer["card_id"]
        ),
        (
            &json!("task/TASK-001"),
            &json!("TASK-001-trace"),
            &json!("TASK-001-graph"),
            &json!("h1")
        )
    );
    assert_eq!(
        answer["graph_applied"],
        json!({"nodes_upserted": 1, "edges_upserted": 0})
    );
    let node = nodes(&world, "TASK-001", "h1").remove(0);
    assert_eq!(
        (
            &node["type"],
            &node["title"],
            &node["text"],
            &node["status"],
            &node["tags"]
        ),
        (
            &json!("hypothesis"),
            &json!("The clock drifts"),
            &json!("By hours.\nEach night."),
            &json!("open"),
            &json!(["ops", "time"])
        )
    );
    assert_eq!(node["meta"], json!({"by": "ada", "weight": "3"}));
    let head = world.head();
    assert_eq!(
        keep(&world, object.to_string().into())["inserted"],
        false,
        "the same as text"
    );
    let lines = "id: h2\nTYPE:  hypothesis\n\ntitle: a: b: c\ntext: first\n  second\n    third\nstatus: refuted\ntags: [B, a,b]\nweight: 3\nlong-key: v";
    assert_eq!(world.head(), head);
    assert_eq!(keep(&world, lines.into())["inserted"], true);
    let node = nodes(&world, "TASK-001", "h2").remove(0);
    assert_eq!(
        (
            &node["title"],
            &node["text"],
            &node["status"],
            &node["tags"]
        ),
        (
            &json!("a: b: c"),
            &json!("first\nsecond\n  third"),
            &json!("refuted"),
            &json!(["a", "b"])
        )
    );
    assert_eq!(node["meta"], json!({"weight": "3", "long-key": "v"}));
    assert_eq!(
        keep(
            &world,
            json!({"card_id": "h2", "type": "hypothesis", "title": "a: b: c", "text": "first\nsecond\n  third", "status": "refuted", "tags": ["b", "a"], "meta": {"long-key": "v", "weight": "3"}})
        )["inserted"],
        false
    );
    keep(
        &world,
        json!({"id": "only-text", "type": "note", "text": "no title", "title": null}),
    );
    assert_eq!(trace(&world, "TASK-001").len(), 4);
    world.assert_sound();
}

#[on_both]
fn what_a_card_must_have(world: World) {
    world.plan(&["T"]);
    let long = "x".repeat(257);
    let mut wrong: Vec<Value> = vec![
        json!({}),
        json!(null),
        json!(5),
        json!([]),
        json!(""),
        json!("just words"),
        json!("[1]"),
        json!("5"),
        json!(": x"),
        json!("{\"id\": "),
        json!({"type": "note", "title": "t"}),
        json!({"id": "a", "title": "t"}),
        json!({"id": "a", "type": "note"}),
        json!({"id": "a", "type": "note", "title": " ", "text": ""}),
        json!({"id": "a", "type": "", "title": "t"}),
        json!({"id": "a", "type": "idea", "title": "t"}),
        json!({"id": 5, "type": "note", "title": "t"}),
        json!({"id": "a", "type": "note", "title": ["t"]}),
        json!({"id": "a", "type": "note", "title": "t", "meta": []}),
        json!({"id": "a", "type": "note", "title": "t", "tags": 5}),
        json!({"id": "a", "type": "note", "title": "t", "tags": [5]}),
        json!({"id": "a", "type": "note", "title": "x".repeat(2_001)}),
        json!({"id": "a", "type": "note", "text": "x".repeat(100_001)}),
        json!({"id": "a", "type": "note", "title": "t", "meta": {"k": "x".repeat(70_000)}}),
        json!("id: a\ntype: note"),
    ];
    for id in [
        "",
        " ",
        "a|b",
        "a\nb",
        "a\0b",
        " a",
        "task:TASK-001",
        "step:1",
        &long,
    ] {
        wrong.push(json!({"id": id, "type": "note", "title": "t"}));
    }
    for card in wrong {
        refuse(
            &world,
            "think_card",
            json!({"target": "TASK-001", "card": card}),
            Code::Validation,
        );
    }
    let good = json!({"id": "a", "type": "note", "title": "t"});
    for ids in [
        json!([""]),
        json!(["a|b"]),
        json!(["ok", "b\n"]),
        json!("h1"),
        json!([5]),
    ] {
        refuse(
            &world,
            "think_card",
            json!({"target": "TASK-001", "card": good, "supports": ids}),
            Code::Validation,
        );
        refuse(
            &world,
            "think_card",
            json!({"target": "TASK-001", "card": good, "blocks": ids}),
            Code::Validation,
        );
    }
    let fault = refuse(
        &world,
        "think_card",
        json!({"target": "TASK-001", "card": {"id": "a", "type": "idea", "title": "t"}}),
        Code::Validation,
    );
    assert_eq!(fault.details.unwrap()["supported_types"], json!(TYPES));
    refuse(
        &world,
        "think_card",
        json!({"target": "TASK-001"}),
        Code::Validation,
    );
    assert_eq!(
        call(&world, "think_context", json!({"target": "TASK-001"}))["stats"]["cards"],
        0
    );
    assert_eq!(trace(&world, "TASK-001").len(), 1);
    keep(
        &world,
        json!({"id": &long[..256], "type": "note", "text": "x".repeat(100_000)}),
    );
}

#[on_both]
fn the_same_card_again_changes_nothing_and_another_of_its_id_is_a_conflict(world: World) {
    world.plan(&["T"]);
    let put = |card: &Value, supports: Value, blocks: Value| json!({"target": "TASK-001", "card": card, "supports": supports, "blocks": blocks});
    let card = json!({"id": "h1", "type": "hypothesis", "title": "T", "tags": ["a"]});
    let first = call(
        &world,
        "think_card",
        put(&card, json!(["q2", "q1", "q2"]), json!(["d"])),
    );
    assert_eq!(
        first["graph_applied"],
        json!({"nodes_upserted": 1, "edges_upserted": 3})
    );
    let head = world.head();
    for round in 0..2 {
        let again = call(
            &world,
            "think_card",
            put(&card, json!(["q1", "q2"]), json!(["d", "d"])),
        );
        assert_eq!(
            (
                &again["inserted"],
                &again["graph_applied"],
                &again["card_id"]
            ),
            (
                &json!(false),
                &json!({"nodes_upserted": 0, "edges_upserted": 0}),
                &json!("h1")
            )
        );
        for (field, value) in [
            ("title", json!("U")),
            ("text", json!("more")),
            ("type", json!("question")),
            ("status", json!("done")),
            ("tags", json!([])),
            ("extra", json!(1)),
        ] {
            let mut other = card.clone();
            other[field] = value;
            let fault = refuse(
                &world,
                "think_card",
                put(&other, json!(["q1", "q2"]), json!(["d"])),
                Code::Conflict,
            );
            assert!(fault.hint.unwrap().contains("update"), "{field}");
            assert_eq!(fault.details.unwrap()["card_id"], "h1");
        }
        for (supports, blocks) in [
            (json!(["q1"]), json!(["d"])),
            (json!(["q1", "q2"]), json!([])),
            (json!(["d"]), json!(["q1", "q2"])),
        ] {
            refuse(
                &world,
                "think_card",
                put(&card, supports, blocks),
                Code::Conflict,
            );
        }
        assert_eq!(world.head(), head, "round {round}");
        world.engine.rebuild(|_, _| {}).unwrap();
    }
    let engine = world.another();
    assert_eq!(
        call_on(
            &engine,
            &world,
            "think_card",
            put(&card, json!(["q1", "q2"]), json!(["d"]))
        )["inserted"],
        false
    );
    let update = call(
        &world,
        "think_card",
        put(
            &json!({"id": "u1", "type": "update", "text": "It is refuted."}),
            json!(["h1"]),
            json!([]),
        ),
    );
    assert_eq!(update["inserted"], true, "what the hint says works");
    world.assert_sound();
}

#[on_both]
fn a_card_is_in_trace_and_graph_or_in_neither(world: World) {
    world.plan(&["T"]);
    let before = world.head();
    let answer = call(
        &world,
        "think_card",
        json!({"target": "TASK-001", "card": {"id": "e1", "type": "evidence", "title": "Seen", "text": "In the log."}, "supports": ["h1"], "blocks": ["h2", "h3"]}),
    );
    let last = answer["last_seq"].as_i64().unwrap();
    assert_eq!(
        (last, world.head()),
        (before + 5, before + 5),
        "an entry, a node and three edges"
    );
    let entry = trace(&world, "TASK-001").pop().unwrap();
    assert_eq!(
        (
            seq(&entry),
            &entry["kind"],
            &entry["title"],
            &entry["content"]
        ),
        (
            before + 1,
            &json!("note"),
            &json!("Seen"),
            &json!("In the log.")
        )
    );
    let node = nodes(&world, "TASK-001", "e1").remove(0);
    assert_eq!(node["last_seq"], before + 2);
    let hanging = call(&world, "graph_validate", json!({"target": "TASK-001"}));
    assert_eq!(
        (&hanging["ok"], &hanging["stats"]["edges"]),
        (&json!(false), &json!(3)),
        "an edge may dangle"
    );
    for id in ["h1", "h2", "h3"] {
        card(&world, "TASK-001", id, "hypothesis", &[]);
    }
    assert_eq!(
        call(&world, "graph_validate", json!({"target": "TASK-001"}))["ok"],
        true
    );
    assert_eq!(
        edges(&world, "TASK-001"),
        ["e1 blocks h2", "e1 blocks h3", "e1 supports h1"]
    );
    call(
        &world,
        "think_card",
        json!({"target": "TASK-001", "card": {"id": "n", "type": "note", "title": "about the task"}, "supports": ["task:TASK-001"]}),
    );
    assert!(edges(&world, "TASK-001").contains(&"n supports task:TASK-001".to_string()));
    world.assert_sound();
}

#[on_both]
fn a_node_that_was_there_is_not_written_again(world: World) {
    world.plan(&["T"]);
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [upsert("h1", "hypothesis", "T", "open"), upsert("q", "question", "Q", "open"), {"op": "edge_upsert", "from": "h1", "rel": "supports", "to": "q"}]}),
    );
    let before = nodes(&world, "TASK-001", "h1");
    refuse(
        &world,
        "think_card",
        json!({"target": "TASK-001", "card": {"id": "h1", "type": "hypothesis", "title": "other"}}),
        Code::Conflict,
    );
    let answer = call(
        &world,
        "think_card",
        json!({"target": "TASK-001", "card": {"id": "h1", "type": "hypothesis", "title": "T"}, "supports": ["q"]}),
    );
    assert_eq!(
        (&answer["inserted"], &answer["graph_applied"]),
        (
            &json!(true),
            &json!({"nodes_upserted": 0, "edges_upserted": 0})
        )
    );
    assert_eq!(nodes(&world, "TASK-001", "h1"), before);
}

#[on_both]
fn any_text_in_a_card_comes_back(world: World) {
    world.plan(&["T"]);
    for (at, text) in NASTY.iter().enumerate() {
        let card = json!({"id": format!("c{at}"), "type": "note", "title": text, "text": text, "meta": {"k": text, *text: 1}});
        assert_eq!(keep(&world, card.clone())["inserted"], true);
        assert_eq!(keep(&world, card.to_string().into())["inserted"], false);
        let node = nodes(&world, "TASK-001", &format!("c{at}")).remove(0);
        assert_eq!(
            (&node["title"], &node["text"], &node["meta"]["k"]),
            (&json!(text), &json!(text), &json!(text))
        );
    }
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn cards_go_to_any_documents_of_any_branch(world: World) {
    branch(&world, "w", "main");
    let put = |card: Value| {
        call(
            &world,
            "think_card",
            json!({"branch": "w", "trace_doc": "steps", "graph_doc": "map", "card": card}),
        )
    };
    let answer = put(json!({"id": "q", "type": "question", "title": "Q"}));
    assert_eq!(
        (
            &answer["branch"],
            &answer["trace_doc"],
            &answer["graph_doc"]
        ),
        (&json!("w"), &json!("steps"), &json!("map"))
    );
    assert_eq!(
        put(json!({"id": "q", "type": "question", "title": "Q"}))["inserted"],
        false
    );
    assert_eq!(said(&world, "w", "steps").len(), 1);
    assert_eq!(
        call(
            &world,
            "think_context",
            json!({"branch": "w", "graph_doc": "map"})
        )["stats"]["by_type"],
        json!({"question": 1})
    );
    assert_eq!(
        call(
            &world,
            "think_next",
            json!({"branch": "w", "graph_doc": "map"})
        )["next"]["card_id"],
        "q"
    );
    assert_eq!(
        call(
            &world,
            "think_context",
            json!({"branch": "main", "graph_doc": "map"})
        )["stats"]["cards"],
        0
    );
    world.assert_sound();
}

#[on_both]
fn the_longest_names_of_the_widest_characters_fit(world: World) {
    // Distinct characters, so that no database can make them short.
    let wide = |from: u32, many: u32| -> String {
        (0..many)
            .map(|at| char::from_u32(0x20000 + (from * 7919 + at * 31) % 40_000).unwrap())
            .collect()
    };
    let (name, trace_doc, graph_doc) = (wide(1, 128), wide(2, 256), wide(3, 256));
    branch(&world, &name, "main");
    let (id, other) = (wide(4, 256), wide(5, 256));
    let put = |graph_doc: &str, supports: &[&str]| json!({"branch": name, "trace_doc": trace_doc, "graph_doc": graph_doc, "card": {"id": id, "type": "note", "title": "T"}, "supports": supports});
    // An edge between two such in such a document is more than a database can find again.
    refuse(
        &world,
        "think_card",
        put(&graph_doc, &[&other]),
        Code::Validation,
    );
    assert_eq!(
        call(&world, "think_card", put(&graph_doc, &["h"]))["inserted"],
        true
    );
    assert_eq!(
        call(&world, "think_card", put(&graph_doc, &["h"]))["inserted"],
        false
    );
    assert_eq!(said(&world, &name, &trace_doc).len(), 1);
    let edge = |rel: &str| json!({"branch": name, "doc": "graph", "ops": [{"op": "edge_upsert", "from": id, "rel": rel, "to": other}]});
    call(&world, "graph_apply", edge("supports"));
    refuse(&world, "graph_apply", edge(&wide(6, 256)), Code::Validation);
    assert_eq!(
        call(
            &world,
            "graph_validate",
            json!({"branch": name, "doc": graph_doc})
        )["stats"],
        json!({"nodes": 1, "edges": 1})
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn a_conflict_about_the_longest_key_can_be_kept(world: World) {
    let wide = |from: u32, many: u32| -> String {
        (0..many)
            .map(|at| char::from_u32(0x20000 + (from * 7919 + at * 31) % 40_000).unwrap())
            .collect()
    };
    let (base, derived, doc, id) = (wide(1, 128), wide(2, 128), wide(3, 256), wide(4, 256));
    let write = |branch: &str, title: &str| {
        call(
            &world,
            "graph_apply",
            json!({"branch": branch, "doc": doc, "ops": [upsert(&id, "note", title, "open")]}),
        )
    };
    branch(&world, &base, "main");
    write(&base, "1");
    branch(&world, &derived, &base);
    write(&derived, "2");
    write(&base, "3");
    let merged = call(
        &world,
        "graph_merge",
        json!({"from": derived, "into": base, "doc": doc}),
    );
    assert_eq!(merged["conflicts_created"], 1);
    call(
        &world,
        "graph_conflict_resolve",
        json!({"conflict_id": merged["conflict_ids"][0], "resolution": "use_from"}),
    );
    world.assert_sound();
}

#[on_both]
fn a_card_that_came_by_a_merge_is_known(world: World) {
    let put = |branch: &str, title: &str| json!({"branch": branch, "trace_doc": "trace", "graph_doc": "map", "card": {"id": "h", "type": "hypothesis", "title": title}});
    for (name, base) in [("w", "main"), ("v", "main"), ("x", "w")] {
        branch(&world, name, base);
    }
    assert_eq!(call(&world, "think_card", put("x", "T"))["inserted"], true);
    // A copy of a copy is the same card, and whoever has seen neither may use the id.
    for (from, into) in [("x", "w"), ("w", "main")] {
        assert_eq!(
            call(
                &world,
                "merge",
                json!({"from": from, "into": into, "doc": "trace"})
            )["merged"],
            1
        );
    }
    let head = world.head();
    for name in ["x", "w", "main"] {
        assert_eq!(
            call(&world, "think_card", put(name, "T"))["inserted"],
            false,
            "{name}"
        );
        let fault = refuse(&world, "think_card", put(name, "Other"), Code::Conflict);
        assert!(fault.hint.unwrap().contains("update"));
    }
    assert_eq!(world.head(), head);
    assert_eq!(
        call(&world, "think_card", put("v", "Other"))["inserted"],
        true
    );
    // Where both came together, either is the card that was kept.
    call(
        &world,
        "merge",
        json!({"from": "v", "into": "main", "doc": "trace"}),
    );
    for title in ["T", "Other"] {
        assert_eq!(
            call(&world, "think_card", put("main", title))["inserted"],
            false
        );
    }
    refuse(&world, "think_card", put("main", "Third"), Code::Conflict);
    assert_eq!(said(&world, "main", "trace").len(), 2);
    world.assert_sound();
}

#[on_both]
fn a_card_has_at_most_as_many_edges_as_a_batch(world: World) {
    world.plan(&["T"]);
    let ids: Vec<String> = (0..5_001).map(|n| n.to_string()).collect();
    let card = json!({"id": "h", "type": "note", "title": "T"});
    for field in ["supports", "blocks"] {
        let args = json!({"target": "TASK-001", "card": card, field: ids});
        let fault = refuse(&world, "think_card", args, Code::Validation);
        assert_eq!(fault.details.unwrap()["field"], field);
    }
}
