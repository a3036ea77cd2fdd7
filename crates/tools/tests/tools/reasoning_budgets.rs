//! One long note, card or node never hides the others: it is shortened, says so, and pages go on.

use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_testkit::{World, on_both};

fn chars(answer: &Value) -> usize {
    answer.to_string().chars().count()
}

/// A node of the graph of `main` with a text of so many characters.
fn node(world: &World, id: &str, text: usize) {
    let ops = json!([{"op": "node_upsert", "id": id, "type": "note", "title": "t", "text": "w ".repeat(text / 2)}]);
    call(
        world,
        "graph_apply",
        json!({"branch": "main", "doc": "graph", "ops": ops}),
    );
}

/// All rows of a tool, page by page, each answer within the budget.
fn walk(world: &World, tool: &str, mut args: Value, name: &str, most: usize) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let answer = call(world, tool, args.clone());
        assert!(chars(&answer) <= most, "{tool}: {}", chars(&answer));
        let rows = list(&answer, name);
        assert!(!rows.is_empty(), "{tool}: {answer}");
        all.extend(rows);
        let page = &answer["pagination"];
        assert_eq!(
            page["has_more"],
            page.get("next_cursor").is_some(),
            "{tool}: {page}"
        );
        match page.get("next_cursor") {
            Some(next) => args["cursor"] = next.clone(),
            None => return all,
        }
    }
}

#[on_both]
fn a_long_node_does_not_empty_the_graph(world: World) {
    for at in 0..30 {
        node(&world, &format!("n{at}"), 10);
    }
    node(&world, "long", 3_500);
    let short = walk(
        &world,
        "graph_query",
        json!({"branch": "main", "max_chars": 3_000}),
        "nodes",
        3_000,
    );
    assert_eq!(short.len(), 31);
    assert_eq!(
        (&short[0]["id"], &short[0]["text_chars"]),
        (&json!("long"), &json!(3_500))
    );
    assert!(short[0]["text"].as_str().unwrap().ends_with('…'));
    assert!(short[1..].iter().all(|row| row.get("text_chars").is_none()));
    branch(&world, "w", "main");
    let ops = json!([{"op": "node_upsert", "id": "w1", "type": "note", "text": "y ".repeat(45_000)}, {"op": "node_upsert", "id": "w2", "type": "note"}]);
    call(
        &world,
        "graph_apply",
        json!({"branch": "w", "doc": "graph", "ops": ops}),
    );
    let diff = walk(
        &world,
        "graph_diff",
        json!({"from": "main", "to": "w", "max_chars": 2_000}),
        "changes",
        2_000,
    );
    assert_eq!(
        diff.iter().map(|row| row["id"].clone()).collect::<Vec<_>>(),
        [json!("w2"), json!("w1")]
    );
    assert_eq!(diff[1]["to"]["text_chars"], 90_000);
}

#[on_both]
fn a_text_as_long_as_an_answer_leaves_room_for_the_rest(world: World) {
    for at in 0..30 {
        node(&world, &format!("n{at}"), 10);
    }
    node(&world, "huge", 99_990);
    let context = call(
        &world,
        "think_context",
        json!({"branch": "main", "limit_cards": 200}),
    );
    assert_eq!(
        (
            context["stats"]["cards"].as_i64(),
            list(&context, "cards").len()
        ),
        (Some(31), 31)
    );
    assert_eq!(
        (&context["cards"][0]["text_chars"], &context["truncated"]),
        (&json!(99_990), &json!(true))
    );
    let tight = call(
        &world,
        "think_context",
        json!({"branch": "main", "max_chars": 3_000}),
    );
    assert!(
        chars(&tight) <= 3_000 && list(&tight, "cards").len() > 5,
        "{tight}"
    );
    assert_eq!(tight["cards_count"], 30, "of those asked for");
    assert_eq!(
        walk(
            &world,
            "graph_query",
            json!({"branch": "main", "limit": 200}),
            "nodes",
            100_000
        )
        .len(),
        31
    );
}

#[on_both]
fn an_export_shows_both_documents_as_show_does(world: World) {
    let task = world.plan(&["T"]).remove(0);
    for at in 0..4 {
        call(
            &world,
            "notes_commit",
            json!({"target": task, "content": format!("n{at}")}),
        );
    }
    call(
        &world,
        "notes_commit",
        json!({"target": task, "content": "z ".repeat(60_000)}),
    );
    let export = call(&world, "export", json!({"target": task}));
    assert!(chars(&export) <= 100_000);
    assert_eq!(export["notes"]["entries"][0]["content_chars"], 120_000);
    assert_eq!(
        (
            list(&export["trace"], "entries").len(),
            &export["trace"]["truncated"]
        ),
        (1, &json!(false))
    );
    assert!(export["notes"]["truncated"] == true && export["truncated"] == true);
    let next = export["notes"]["pagination"]["next_cursor"].clone();
    let before = call(&world, "show", json!({"target": task, "cursor": next}));
    assert_eq!(
        each(&list(&before, "entries"), "content"),
        ["n0", "n1", "n2", "n3"]
    );
    let tight = call(
        &world,
        "export",
        json!({"target": task, "max_chars": 2_000}),
    );
    assert!(chars(&tight) <= 2_000 && chars(&tight) > 1_500, "{tight}");
    assert!(
        !list(&tight["notes"], "entries").is_empty()
            && !list(&tight["trace"], "entries").is_empty()
    );
    let whole = call(
        &world,
        "export",
        json!({"target": task, "max_chars": 500_000}),
    );
    for kind in ["notes", "trace"] {
        let shown = call(
            &world,
            "show",
            json!({"target": task, "doc_kind": kind, "max_chars": 500_000}),
        );
        assert_eq!(whole[kind], shown);
    }
}

#[on_both]
fn where_to_read_is_the_last_thing_to_go(world: World) {
    let task = world.plan(&[&"a long summary ".repeat(100)]).remove(0);
    for (tool, args) in [
        ("export", json!({"target": task})),
        ("tasks_radar", json!({"task": task})),
    ] {
        for most in [160, 300, 600, 1_200] {
            let mut args = args.clone();
            args["max_chars"] = most.into();
            let answer = call(&world, tool, args);
            assert!(chars(&answer) <= most, "{tool} {most}: {answer}");
            assert_eq!(
                answer["reasoning_ref"]["branch"],
                format!("task/{task}"),
                "{tool} {most}"
            );
        }
    }
}

#[on_both]
fn a_conflict_says_at_the_top_that_it_was_cut(world: World) {
    node(&world, "k", 10);
    branch(&world, "w", "main");
    node(&world, "k", 3_000);
    let ops =
        json!([{"op": "node_upsert", "id": "k", "type": "note", "text": "theirs ".repeat(300)}]);
    call(
        &world,
        "graph_apply",
        json!({"branch": "w", "doc": "graph", "ops": ops}),
    );
    let merged = call(&world, "graph_merge", json!({"from": "w", "into": "main"}));
    let id = merged["conflict_ids"][0].clone();
    let whole = call(&world, "graph_conflict_show", json!({"conflict_id": id}));
    assert_eq!(whole["truncated"], false);
    let cut = call(
        &world,
        "graph_conflict_show",
        json!({"conflict_id": id, "max_chars": 1_500}),
    );
    assert!(
        chars(&cut) <= 1_500
            && cut["truncated"] == true
            && cut["conflict"].get("truncated").is_none()
    );
    for side in ["ours", "theirs"] {
        assert!(cut["conflict"][side]["text_chars"].is_number(), "{cut}");
    }
}
