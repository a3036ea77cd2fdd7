//! `think_context` and `think_next`: what the cards of a branch add up to.

use crate::reasoning_cards::{expect, next, upsert};
use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[on_both]
fn a_context_is_the_newest_cards_with_counts(world: World) {
    world.plan(&["T"]);
    let empty = call(&world, "think_context", json!({"target": "TASK-001"}));
    assert_eq!(
        (&empty["stats"], &empty["cards"], &empty["truncated"]),
        (
            &json!({"cards": 0, "by_type": {}}),
            &json!([]),
            &json!(false)
        ),
        "the task itself is no card"
    );
    for at in 0..9 {
        card(&world, "TASK-001", &format!("c{at}"), TYPES[at % 8], &[]);
    }
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [upsert("x", "person", "no card", "open"), upsert("c2", "question", "newer", "open"), {"op": "node_delete", "id": "c5"}]}),
    );
    let answer = call(&world, "think_context", json!({"target": "TASK-001"}));
    assert_eq!(
        (&answer["branch"], &answer["graph_doc"]),
        (&json!("task/TASK-001"), &json!("TASK-001-graph"))
    );
    let cards = list(&answer, "cards");
    assert_eq!(
        each(&cards, "id"),
        ["c2", "c8", "c7", "c6", "c4", "c3", "c1", "c0"]
    );
    assert!(
        cards
            .windows(2)
            .all(|pair| pair[0]["last_seq"].as_i64() > pair[1]["last_seq"].as_i64())
    );
    assert_eq!(
        answer["stats"],
        json!({"cards": 8, "by_type": {"frame": 2, "hypothesis": 1, "question": 1, "test": 1, "evidence": 1, "note": 1, "update": 1}})
    );
    for limit in [1, 3, 7] {
        let some = call(
            &world,
            "think_context",
            json!({"target": "TASK-001", "limit_cards": limit}),
        );
        assert_eq!(list(&some, "cards"), cards[..limit]);
        assert_eq!(
            (&some["stats"], &some["truncated"]),
            (&answer["stats"], &json!(true)),
            "counts are of all"
        );
    }
    assert_eq!(
        list(
            &call(
                &world,
                "think_context",
                json!({"target": "TASK-001", "limit_cards": 0})
            ),
            "cards"
        )
        .len(),
        1
    );
    assert_budgets(
        &world,
        "think_context",
        &json!({"target": "TASK-001"}),
        "/cards",
        Newest::First,
    );
    for at in 9..40 {
        card(&world, "TASK-001", &format!("c{at}"), "note", &[]);
    }
    assert_eq!(
        list(
            &call(&world, "think_context", json!({"target": "TASK-001"})),
            "cards"
        )
        .len(),
        30
    );
    assert_eq!(
        list(
            &call(
                &world,
                "think_context",
                json!({"target": "TASK-001", "limit_cards": 9_999})
            ),
            "cards"
        )
        .len(),
        39
    );
    let fault = refuse(
        &world,
        "think_context",
        json!({"target": "TASK-0001"}),
        Code::UnknownTarget,
    );
    assert!(fault.hint.unwrap().contains("TASK-001"), "one next step");
}

#[on_both]
fn the_next_step_follows_from_the_graph(world: World) {
    world.plan(&["T"]);
    expect(&world, "frame", "");
    card(&world, "TASK-001", "n1", "note", &[]);
    expect(&world, "frame", "");
    card(&world, "TASK-001", "q1", "question", &[]);
    card(&world, "TASK-001", "q2", "question", &[]);
    expect(&world, "answer_question", "q1");
    card(&world, "TASK-001", "h1", "hypothesis", &["q1"]);
    card(&world, "TASK-001", "h2", "hypothesis", &["q1"]);
    expect(&world, "design_test", "h1");
    card(&world, "TASK-001", "t1", "test", &["h1"]);
    card(&world, "TASK-001", "t2", "test", &["h1"]);
    expect(&world, "run_test", "t1");
    card(&world, "TASK-001", "e1", "evidence", &["t1"]);
    expect(&world, "run_test", "t2");
    card(&world, "TASK-001", "e2", "evidence", &["t2"]);
    expect(&world, "design_test", "h2");
    card(&world, "TASK-001", "t3", "test", &["h2"]);
    card(&world, "TASK-001", "e3", "evidence", &["t3"]);
    expect(&world, "answer_question", "q2");
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [upsert("q2", "question", "Q2", "answered")]}),
    );
    let open = call(&world, "think_next", json!({"target": "TASK-001"}));
    assert_eq!(open["open"]["question"], 1, "q2 is no longer open: {open}");
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [{"op": "node_upsert", "id": "q3", "type": "question", "title": "Q3"}]}),
    );
    expect(&world, "answer_question", "q3");
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [{"op": "node_delete", "id": "q3"}]}),
    );
    // An edge that is gone, or a card that is gone, no longer counts.
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [{"op": "edge_delete", "from": "e1", "rel": "supports", "to": "t1"}]}),
    );
    expect(&world, "run_test", "t1");
    call(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [{"op": "node_delete", "id": "t1"}]}),
    );
    assert_ne!(next(&world).0, "run_test");
    card(&world, "TASK-001", "d1", "decision", &["h1", "h2"]);
    expect(&world, "frame", "");
    let whole = call(&world, "think_next", json!({"target": "TASK-001"}));
    for room in [0, 60, 100, whole.to_string().len() - 1] {
        let cut = call(
            &world,
            "think_next",
            json!({"target": "TASK-001", "max_chars": room}),
        );
        assert!(
            cut["truncated"] == true && cut.to_string().len() <= room.max(80),
            "{cut}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_conflict_comes_before_all_and_the_oldest_first(world: World) {
    world.plan(&["T"]);
    let apply = |branch: &str, ops: Value| {
        call(
            &world,
            "graph_apply",
            json!({"branch": branch, "doc": "TASK-001-graph", "ops": ops}),
        )
    };
    card(&world, "TASK-001", "t1", "test", &[]);
    let both = |title: &str| {
        json!([
            upsert("x", "note", title, "open"),
            upsert("y", "note", title, "open")
        ])
    };
    apply("task/TASK-001", both("1"));
    branch(&world, "w", "task/TASK-001");
    apply("w", both("2"));
    apply("task/TASK-001", both("3"));
    let ids = list(
        &call(
            &world,
            "graph_merge",
            json!({"from": "w", "into": "task/TASK-001"}),
        ),
        "conflict_ids",
    );
    assert_eq!(ids.len(), 2);
    for id in &ids {
        let answer = call(&world, "think_next", json!({"target": "TASK-001"}));
        assert_eq!(
            (&answer["next"]["action"], &answer["next"]["conflict_id"]),
            (&json!("resolve_conflict"), id)
        );
        call(
            &world,
            "graph_conflict_resolve",
            json!({"conflict_id": id, "resolution": "use_into"}),
        );
    }
    expect(&world, "run_test", "t1");
    assert_eq!(
        call(
            &world,
            "think_next",
            json!({"target": "TASK-001", "branch": "w"})
        )["next"]["action"],
        "run_test",
        "a conflict is where it is merged into"
    );
}

#[on_both]
fn a_target_may_go_with_another_branch(world: World) {
    world.plan(&["T"]);
    card(&world, "TASK-001", "q1", "question", &[]);
    branch(&world, "w", "task/TASK-001");
    let on =
        |branch: &str, card: Value| json!({"target": "TASK-001", "branch": branch, "card": card});
    let q1 = json!({"id": "q1", "type": "question", "title": "question q1"});
    assert_eq!(
        call(&world, "think_card", on("w", q1.clone()))["inserted"],
        false,
        "it is inherited"
    );
    let h1 = json!({"id": "h1", "type": "hypothesis", "title": "on w"});
    let kept = call(&world, "think_card", on("w", h1.clone()));
    assert_eq!(
        (
            &kept["branch"],
            &kept["trace_doc"],
            &kept["graph_doc"],
            &kept["inserted"]
        ),
        (
            &json!("w"),
            &json!("TASK-001-trace"),
            &json!("TASK-001-graph"),
            &json!(true)
        )
    );
    let context = |branch: &str| {
        each(
            &list(
                &call(
                    &world,
                    "think_context",
                    json!({"target": "TASK-001", "branch": branch}),
                ),
                "cards",
            ),
            "id",
        )
    };
    assert_eq!(
        (context("w"), context("task/TASK-001"), context("main")),
        (
            vec!["h1".to_string(), "q1".into()],
            vec!["q1".to_string()],
            vec![]
        )
    );
    assert_eq!(
        call(
            &world,
            "think_next",
            json!({"target": "TASK-001", "branch": "w"})
        )["next"]["card_id"],
        "h1"
    );
    expect(&world, "answer_question", "q1");
    // The same id may say something else where the first is not seen.
    assert_eq!(
        call(
            &world,
            "think_card",
            on(
                "task/TASK-001",
                json!({"id": "h1", "type": "hypothesis", "title": "on the task"})
            )
        )["inserted"],
        true
    );
    refuse(
        &world,
        "think_card",
        on(
            "w",
            json!({"id": "h1", "type": "hypothesis", "title": "on the task"}),
        ),
        Code::Conflict,
    );
    assert_eq!(trace(&world, "TASK-001").len(), 3);
    for more in [json!({"trace_doc": "t"}), json!({"graph_doc": "g"})] {
        let mut args = on("w", h1.clone());
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        refuse(&world, "think_card", args, Code::Validation);
    }
    for tool in ["think_context", "think_next"] {
        refuse(
            &world,
            tool,
            json!({"target": "TASK-001", "graph_doc": "g"}),
            Code::Validation,
        );
    }
    refuse(
        &world,
        "think_card",
        json!({"target": "TASK-009", "card": h1}),
        Code::UnknownTarget,
    );
    refuse(&world, "think_card", on("ww", h1), Code::UnknownBranch);
    world.assert_sound();
}

#[on_both]
fn a_context_shows_how_its_cards_are_joined(world: World) {
    world.plan(&["T"]);
    for (id, supports) in [
        ("h1", json!([])),
        ("e1", json!(["h1"])),
        ("e2", json!(["h1", "e1"])),
    ] {
        call(
            &world,
            "think_card",
            json!({"target": "TASK-001", "supports": supports,
            "card": {"id": id, "type": "note", "title": id}}),
        );
    }
    let edges = |limit: i64| {
        let context = call(
            &world,
            "think_context",
            json!({"target": "TASK-001", "limit_cards": limit}),
        );
        let mut edges: Vec<String> = context["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| format!("{} {} {}", edge["from"], edge["rel"], edge["to"]).replace('"', ""))
            .collect();
        edges.sort();
        edges
    };
    assert_eq!(
        edges(10),
        ["e1 supports h1", "e2 supports e1", "e2 supports h1"]
    );
    assert_eq!(
        edges(2),
        ["e2 supports e1"],
        "none to a card that is not shown"
    );
    assert!(edges(1).is_empty());
}
