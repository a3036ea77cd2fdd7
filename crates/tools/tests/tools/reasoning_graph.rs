//! `branchmind_graph_apply` and `branchmind_graph_validate`: what is written to a graph document,
//! what is refused, and the task that stands in its own.

use crate::common;
use crate::common::NASTY;
use crate::reasoning_graphs::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

fn validate(world: &understory_testkit::World, more: Value) -> Value {
    ok(world, "graph_validate", with(on("main"), more))
}

#[on_both]
fn each_operation_is_a_version(world: World) {
    let ops = [put("a", "A"), put("b", "B"), link("a", "r", "b")];
    let first = apply(&world, "main", ops.to_vec());
    assert_eq!(
        (&first["branch"], &first["doc"]),
        (&json!("main"), &json!(DOC))
    );
    let counted =
        json!({"nodes_upserted": 2, "nodes_deleted": 0, "edges_upserted": 1, "edges_deleted": 0});
    assert_eq!(first["applied"], counted);
    assert_eq!(first["last_seq"], world.head());
    let (a, b) = (node(&world, "main", "a"), node(&world, "main", "b"));
    assert!(a["last_seq"].as_i64() < b["last_seq"].as_i64());
    assert_eq!(b["last_ts_ms"], first["last_ts_ms"]);
    let edge = query(&world, "main", json!({}))["edges"][0].clone();
    assert_eq!(
        (&edge["last_seq"], &edge["deleted"]),
        (&first["last_seq"], &json!(false))
    );
    // The same again is a version too, and an upsert says all that a node is.
    let again = apply(
        &world,
        "main",
        vec![
            put("a", "A"),
            json!({"op": "node_upsert", "id": "b", "type": "test"}),
        ],
    );
    assert!(again["last_seq"].as_i64() > first["last_seq"].as_i64());
    assert_eq!(found(&world, "main", json!({})), ["b", "a"]);
    let b = node(&world, "main", "b");
    assert_eq!((&b["type"], b.get("title")), (&json!("test"), None));
    world.assert_sound();
}

#[on_both]
fn all_or_none(world: World) {
    apply(&world, "main", vec![put("a", "A")]);
    let fault = not_applied(
        &world,
        "main",
        vec![
            put("a", "B"),
            put("b", "B"),
            drop_node("ghost"),
            put("c", "C"),
        ],
    );
    assert_eq!(fault.code, Code::NotFound);
    assert!(
        fault.message.contains("ops[2]") && fault.message.contains("ghost"),
        "{fault}"
    );
    assert_eq!(field(&fault), "ops[2]");
    not_applied(&world, "main", vec![put("a", "B"), put("", "empty")]);
    assert_eq!(title(&world, "main", "a").as_deref(), Some("A"));
    assert_eq!(
        found(&world, "main", json!({"include_deleted": true})),
        ["a"]
    );
}

#[on_both]
fn a_node_goes_with_its_edges(world: World) {
    let links = [
        ("a", "r", "b"),
        ("b", "r", "c"),
        ("b", "s", "b"),
        ("a", "r", "c"),
        ("ghost", "r", "b"),
    ];
    let mut ops = vec![put("a", "A"), put("b", "B"), put("c", "C")];
    ops.extend(links.iter().map(|(from, rel, to)| link(from, rel, to)));
    apply(&world, "main", ops);
    let gone = apply(&world, "main", vec![drop_node("b")]);
    assert_eq!(
        (
            &gone["applied"]["nodes_deleted"],
            &gone["applied"]["edges_deleted"]
        ),
        (&json!(1), &json!(4))
    );
    assert_eq!(gone["last_seq"], world.head());
    assert_eq!(edges(&world, "main", json!({})), ["a r c"]);
    assert_eq!(found(&world, "main", json!({})), ["c", "a"]);
    let b = node(&world, "main", "b");
    assert_eq!(
        (&b["deleted"], &b["title"]),
        (&json!(true), &json!("B")),
        "a tombstone says what it was"
    );
    let all = query(&world, "main", json!({"include_deleted": true}));
    assert_eq!(
        rows(&all, "edges")
            .iter()
            .filter(|edge| edge["deleted"] == true)
            .count(),
        3
    );
    // Back again, it is alone.
    apply(&world, "main", vec![put("b", "again")]);
    assert_eq!(edges(&world, "main", json!({})), ["a r c"]);
    assert_eq!(
        validate(&world, json!({}))["stats"],
        json!({"nodes": 3, "edges": 1})
    );
    world.assert_sound();
}

#[on_both]
fn what_is_not_there_cannot_be_deleted(world: World) {
    apply(
        &world,
        "main",
        vec![put("a", "A"), put("b", "B"), link("a", "r", "b")],
    );
    fork(&world, "what-if", "main");
    for op in [
        drop_node("c"),
        unlink("a", "r", "c"),
        unlink("b", "r", "a"),
        unlink("a", "R", "b"),
    ] {
        let fault = not_applied(&world, "main", vec![op]);
        assert_eq!((fault.code, fault.hint.is_some()), (Code::NotFound, true));
    }
    refused(
        &world,
        "graph_apply",
        json!({"branch": "main", "doc": "other", "ops": [drop_node("a")]}),
    );
    // What a branch inherited it can delete, for itself and once.
    apply(
        &world,
        "what-if",
        vec![unlink("a", "r", "b"), drop_node("a")],
    );
    not_applied(&world, "what-if", vec![drop_node("a")]);
    not_applied(&world, "what-if", vec![unlink("a", "r", "b")]);
    assert_eq!(found(&world, "main", json!({})), ["b", "a"]);
    assert_eq!(edges(&world, "main", json!({})), ["a r b"]);
    assert_eq!(found(&world, "what-if", json!({})), ["b"]);
    world.assert_sound();
}

#[on_both]
fn operations_see_those_before_them(world: World) {
    let ops = [
        put("a", "A"),
        link("a", "r", "a"),
        drop_node("a"),
        put("a", "again"),
        link("a", "s", "a"),
        unlink("a", "s", "a"),
        drop_node("a"),
        put("a", "last"),
    ];
    let done = apply(&world, "main", ops.to_vec());
    assert_eq!(
        done["applied"],
        json!({"nodes_upserted": 3, "nodes_deleted": 2, "edges_upserted": 2, "edges_deleted": 2})
    );
    assert_eq!(title(&world, "main", "a").as_deref(), Some("last"));
    assert_eq!(edges(&world, "main", json!({})), Vec::<String>::new());
    // On the first write of a branch with many ancestors too.
    for at in 0..10 {
        fork(
            &world,
            &format!("b{}", at + 1),
            &if at == 0 {
                "main".into()
            } else {
                format!("b{at}")
            },
        );
    }
    apply(
        &world,
        "b10",
        vec![
            put("n", "N"),
            link("n", "r", "a"),
            drop_node("n"),
            drop_node("a"),
        ],
    );
    assert_eq!(found(&world, "b10", json!({})), Vec::<String>::new());
    assert_eq!(found(&world, "b9", json!({})), ["a"]);
    world.assert_sound();
}

#[on_both]
fn some_ids_are_the_servers(world: World) {
    world.plan(&["A task"]);
    for id in ["task:TASK-001", "task:", "step:1", "step:x"] {
        for op in [put(id, "mine"), drop_node(id)] {
            let fault = refused(
                &world,
                "graph_apply",
                json!({"target": "TASK-001", "ops": [put("a", "A"), op]}),
            );
            assert_eq!(
                (fault.code, field(&fault)),
                (Code::Validation, "ops[1].id".to_string())
            );
        }
    }
    apply(
        &world,
        "main",
        vec![
            put("tasks:1", "fine"),
            put("a task:", "fine"),
            link("step:1", "r", "task:x"),
        ],
    );
}

#[on_both]
fn an_edge_may_dangle(world: World) {
    assert_eq!(
        validate(&world, json!({}))["ok"],
        true,
        "nothing is in order"
    );
    let ops: Vec<Value> = (0..60)
        .map(|at| link("here", "r", &format!("gone{at}")))
        .collect();
    apply(&world, "main", ops);
    let told = validate(&world, json!({}));
    assert_eq!(
        (&told["ok"], &told["truncated"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(told["stats"], json!({"nodes": 0, "edges": 60}));
    assert_eq!(rows(&told, "errors").len(), 50);
    for (most, told) in [(1, 1), (0, 0), (119, 119), (120, 120), (10_000, 120)] {
        let answer = validate(&world, json!({"max_errors": most}));
        assert_eq!(rows(&answer, "errors").len(), told, "{most}");
        assert_eq!(answer["truncated"], told < 120);
    }
    for most in [0, 100, 150, 300, 1_000, 5_000] {
        let answer = validate(&world, json!({"max_chars": most}));
        let empty = rows(&answer, "errors").is_empty();
        assert!(
            common::chars(&answer) <= most || answer == json!({"errors": [], "truncated": true}),
            "{most}: {answer}"
        );
        assert_eq!(
            (&answer["truncated"], answer["ok"] == true),
            (&json!(true), false)
        );
        assert!(most < 1_000 || !empty, "{most}");
    }
    let mut ops: Vec<Value> = (0..60)
        .map(|at| put(&format!("gone{at}"), "found"))
        .collect();
    ops.push(put("here", "found"));
    apply(&world, "main", ops);
    let answer = validate(&world, json!({}));
    assert_eq!(
        answer,
        json!({"branch": "main", "doc": DOC, "ok": true,
        "stats": {"nodes": 61, "edges": 60}, "errors": [], "truncated": false})
    );
}

#[on_both]
fn tags_are_normal(world: World) {
    let tagged = |tags: Value| json!({"op": "node_upsert", "id": "a", "type": "t", "tags": tags});
    for (given, kept) in [
        (
            json!(["Zeta", "alpha", "ZETA", " beta "]),
            json!(["alpha", "beta", "zeta"]),
        ),
        (json!(["", "  "]), json!([])),
        (json!(["ÄPFEL", "äpfel", "漢字"]), json!(["äpfel", "漢字"])),
    ] {
        apply(&world, "main", vec![tagged(given)]);
        assert_eq!(node(&world, "main", "a")["tags"], kept);
    }
    not_applied(&world, "main", vec![tagged(json!(["x".repeat(257)]))]);
    not_applied(&world, "main", vec![tagged(json!("text"))]);
    not_applied(&world, "main", vec![tagged(json!([1]))]);
}

#[on_both]
fn words_are_short_and_plain(world: World) {
    let long = "ä".repeat(257);
    let bad = [
        "", " ", " a", "a ", "a|b", "|", "a\nb", "a\u{7}", "a\u{0}b", "\u{85}a", &long,
    ];
    let set = |mut op: Value, field: &str, text: &str| {
        op[field] = text.into();
        op
    };
    let ops = [
        (put("a", "A"), vec!["id", "type"]),
        (drop_node("a"), vec!["id"]),
        (link("a", "r", "b"), vec!["from", "rel", "to"]),
        (unlink("a", "r", "b"), vec!["from", "rel", "to"]),
    ];
    for (op, fields) in &ops {
        for (name, text) in fields
            .iter()
            .flat_map(|name| bad.iter().map(move |text| (name, text)))
        {
            let fault = not_applied(
                &world,
                "main",
                vec![put("ok", "ok"), set(op.clone(), name, text)],
            );
            assert_eq!(fault.code, Code::Validation, "{name} {text:?}");
            assert_eq!(field(&fault), format!("ops[1].{name}"), "{text:?}");
            assert!(
                fault.message.starts_with(&format!("ops[1].{name}")),
                "{fault}"
            );
        }
    }
    let (id, kind, rel) = ("ä".repeat(256), "漢".repeat(256), "😀".repeat(256));
    apply(
        &world,
        "main",
        vec![
            json!({"op": "node_upsert", "id": id, "type": kind}),
            link(&id, &rel, &id),
        ],
    );
    assert_eq!(
        rows(&query(&world, "main", json!({"types": [kind]})), "edges").len(),
        1
    );
    apply(&world, "main", vec![drop_node(&id)]);
    // What no index can hold is refused, and named like all else.
    let fault = not_applied(
        &world,
        "main",
        vec![put("ok", "ok"), link(&rel, &rel, &rel)],
    );
    assert_eq!(
        (fault.code, field(&fault).as_str()),
        (Code::Validation, "ops[1].edge")
    );
    world.assert_sound();
}

#[on_both]
fn values_have_limits(world: World) {
    let too_long = [
        ("title", json!("x".repeat(2_001))),
        ("text", json!("x".repeat(100_001))),
        ("status", json!("x".repeat(257))),
        ("meta", json!({"x": "y".repeat(64 << 10)})),
        ("meta", json!("text")),
        ("title", json!("a\u{0}")),
        ("title", json!(7)),
    ];
    for (name, value) in too_long {
        let fault = not_applied(
            &world,
            "main",
            vec![with(put("a", "A"), json!({name: value}))],
        );
        assert_eq!(fault.code, Code::Validation);
        assert!(field(&fault).ends_with(name), "{fault}");
    }
    let full = json!({"title": "x".repeat(2_000), "text": "ü".repeat(100_000), "meta": {"deep": [[{"a": null}]]}});
    apply(&world, "main", vec![with(put("a", "A"), full.clone())]);
    let kept = query(&world, "main", json!({"max_chars": 1_000_000}))["nodes"][0].clone();
    assert_eq!(
        (&kept["text"], &kept["meta"]),
        (&full["text"], &full["meta"])
    );
}

#[on_both]
fn a_bad_operation_is_named(world: World) {
    let bad = [
        (json!({"op": "upsert", "id": "a"}), "ops[1].op"),
        (json!({"op": "node_upsert", "id": "a"}), "ops[1].type"),
        (json!({"op": "node_upsert", "type": "a"}), "ops[1].id"),
        (json!({"op": "node_delete"}), "ops[1].id"),
        (
            json!({"op": "node_delete", "id": "a", "title": "x"}),
            "ops[1].title",
        ),
        (
            json!({"op": "edge_upsert", "from": "a", "to": "b"}),
            "ops[1].rel",
        ),
        (
            json!({"op": "edge_upsert", "from": "a", "rel": "r", "to": "b", "id": "x"}),
            "ops[1].id",
        ),
        (
            json!({"op": "edge_delete", "from": "a", "rel": "r", "to": "b", "meta": {}}),
            "ops[1].meta",
        ),
        (
            json!({"op": "edge_delete", "from": "a", "rel": "r"}),
            "ops[1].to",
        ),
    ];
    for (op, name) in bad {
        let fault = not_applied(&world, "main", vec![put("a", "A"), op]);
        assert_eq!(
            (fault.code, field(&fault).as_str()),
            (Code::Validation, name),
            "{fault}"
        );
    }
    let fault = not_applied(&world, "main", vec![json!({"op": "upsert"})]);
    assert_eq!(fault.details.unwrap()["allowed"][0], "node_upsert");
    for op in [
        json!({"id": "a"}),
        json!("node_upsert"),
        json!({"op": "node_delete", "id": "a", "colour": 1}),
        Value::Null,
    ] {
        let fault = not_applied(&world, "main", vec![put("a", "A"), op]);
        assert!(fault.message.contains("ops[1]"), "{fault}");
    }
}

#[on_both]
fn batches_have_a_size(world: World) {
    let fault = not_applied(&world, "main", Vec::<Value>::new());
    assert_eq!(
        (fault.code, field(&fault).as_str()),
        (Code::Validation, "ops")
    );
    let many = |count: usize| {
        (0..count)
            .map(|at| put(&format!("n{}", at % 2_000), "N"))
            .collect::<Vec<_>>()
    };
    let fault = not_applied(&world, "main", many(5_001));
    assert_eq!(
        (fault.code, field(&fault).as_str()),
        (Code::Validation, "ops")
    );
    let done = apply(&world, "main", many(5_000));
    assert_eq!(
        (&done["applied"]["nodes_upserted"], &done["last_seq"]),
        (&json!(5_000), &json!(world.head()))
    );
    assert_eq!(validate(&world, json!({}))["stats"]["nodes"], 2_000);
}

#[on_both]
fn any_text_is_only_text(world: World) {
    for (at, nasty) in NASTY.iter().enumerate() {
        let plain: String = nasty
            .chars()
            .map(|c| if c.is_control() || c == '|' { ' ' } else { c })
            .collect();
        let (id, far) = (format!("{}{at}", plain.trim()), format!("far{at}"));
        let more =
            json!({"text": nasty, "tags": [nasty], "meta": {*nasty: nasty}, "status": nasty});
        apply(
            &world,
            "main",
            vec![
                with(put(&id, nasty), more),
                put(&far, "far"),
                link(&id, &id, &far),
                link(&far, &id, &id),
            ],
        );
        let kept = node(&world, "main", &id);
        assert_eq!(
            (&kept["title"], &kept["text"], &kept["status"]),
            (&json!(nasty), &json!(nasty), &json!(nasty))
        );
        assert_eq!(kept["meta"], json!({*nasty: nasty}));
        assert_eq!(
            rows(&query(&world, "main", json!({"ids": [id, far]})), "edges").len(),
            2,
            "{nasty}"
        );
        let gone = apply(&world, "main", vec![drop_node(&id)]);
        assert_eq!(gone["applied"]["edges_deleted"], 2, "{nasty}");
    }
    // The last character there is, first in a relation.
    apply(
        &world,
        "main",
        vec![
            put("a", "A"),
            put("b", "B"),
            link("a", "\u{10ffff}\u{10ffff}", "b"),
            link("a", "}", "b"),
        ],
    );
    assert_eq!(
        rows(&query(&world, "main", json!({"ids": ["a", "b"]})), "edges").len(),
        2
    );
    assert_eq!(
        apply(&world, "main", vec![drop_node("a")])["applied"]["edges_deleted"],
        2
    );
    world.assert_sound();
}
