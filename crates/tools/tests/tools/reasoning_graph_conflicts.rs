//! Conflicts of graph merges: listed, shown and settled.

use crate::common::chars;
use crate::reasoning_graphs::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// Conflicts about nodes `n0`, `n1` and so on, oldest first.
fn contested(world: &World, count: usize) -> Vec<String> {
    let all = |title: &str| -> Vec<Value> {
        (0..count).map(|at| put(&format!("n{at}"), title)).collect()
    };
    apply(world, "main", all("base"));
    fork(world, "what-if", "main");
    apply(world, "what-if", all("theirs"));
    apply(world, "main", all("ours"));
    let mut ids = Vec::new();
    for id in rows(&merged(world, "what-if", "main"), "conflict_ids") {
        ids.push(id.as_str().expect("an id").to_string());
    }
    assert_eq!(ids.len(), count);
    ids
}

fn settle(id: &str, how: &str) -> Value {
    json!({"conflict_id": id, "resolution": how})
}

#[on_both]
fn conflicts_are_listed(world: World) {
    let mut ids = contested(&world, 5);
    ids.reverse();
    let here = json!({"into": "main", "doc": DOC});
    let all = ok(&world, "graph_conflicts", here.clone());
    assert_eq!(each(&all, "conflicts", "conflict_id"), ids, "newest first");
    assert_eq!(all["pagination"]["limit"], 50);
    let one = &all["conflicts"][0];
    assert_eq!(
        (&one["kind"], &one["status"], &one["key"]),
        (&json!("node"), &json!("open"), &json!("n0"))
    );
    assert!(
        one["created_at_ms"].as_i64() > Some(1_700_000_000_000),
        "{one}"
    );
    resolve(&world, &ids[1], "use_from");
    resolve(&world, &ids[3], "use_into");
    assert_eq!(
        conflicts(&world, "main", "resolved"),
        [ids[1].clone(), ids[3].clone()]
    );
    assert_eq!(
        conflicts(&world, "main", "open"),
        [ids[0].clone(), ids[2].clone(), ids[4].clone()]
    );
    for (filter, count) in [
        (json!({}), 5),
        (json!({"status": "open"}), 3),
        (json!({"status": "resolved"}), 2),
    ] {
        let args = with(here.clone(), filter);
        let whole = pages(&world, "graph_conflicts", "conflicts", &args, 200);
        assert_eq!(whole.len(), count);
        for limit in [1, 2, 3] {
            assert_eq!(
                pages(&world, "graph_conflicts", "conflicts", &args, limit),
                whole
            );
        }
    }
    for (into, doc) in [("main", "other"), ("what-if", DOC)] {
        let none = ok(&world, "graph_conflicts", json!({"into": into, "doc": doc}));
        assert_eq!(none["conflicts"], json!([]));
    }
    let fault = refused(
        &world,
        "graph_conflicts",
        with(here, json!({"status": "settled"})),
    );
    assert_eq!(
        fault.details.unwrap()["allowed"],
        json!(["open", "resolved"])
    );
    assert_eq!(
        refused(&world, "graph_conflicts", json!({"into": "mian"})).code,
        Code::UnknownBranch
    );
}

#[on_both]
fn lists_keep_their_budget(world: World) {
    contested(&world, 12);
    let here = json!({"into": "main", "doc": DOC});
    let whole = ok(&world, "graph_conflicts", here.clone());
    let size = chars(&whole);
    for most in (0..size + 200).step_by(97) {
        let answer = ok(
            &world,
            "graph_conflicts",
            with(here.clone(), json!({"max_chars": most})),
        );
        let kept = rows(&answer, "conflicts");
        assert!(
            chars(&answer) <= most || answer == json!({"conflicts": [], "truncated": true}),
            "{most}: {answer}"
        );
        assert_eq!(kept, rows(&whole, "conflicts")[..kept.len()]);
        assert_eq!(answer["truncated"], kept.len() < 12);
    }
    let few = ok(
        &world,
        "graph_conflicts",
        with(here.clone(), json!({"max_chars": size / 2})),
    );
    let cursor = few["pagination"]["next_cursor"].clone();
    let rest = ok(
        &world,
        "graph_conflicts",
        with(here, json!({ "cursor": cursor })),
    );
    assert_eq!(
        rows(&few, "conflicts").len() + rows(&rest, "conflicts").len(),
        12
    );
}

#[on_both]
fn a_conflict_shows_its_sides(world: World) {
    let id = contested(&world, 1).remove(0);
    let all = shown(&world, &id);
    for (side, title) in [("base", "base"), ("ours", "ours"), ("theirs", "theirs")] {
        assert_eq!(
            (&all[side]["id"], &all[side]["title"]),
            (&json!("n0"), &json!(title))
        );
        assert_eq!(all[side]["deleted"], false);
    }
    assert_eq!(
        (&all["conflict_id"], &all["kind"], &all["key"]),
        (&json!(id), &json!("node"), &json!("n0"))
    );
    assert_eq!(
        (&all["from"], &all["into"], &all["doc"]),
        (&json!("what-if"), &json!("main"), &json!(DOC))
    );
    assert_eq!(
        (&all["status"], all.get("resolved_at_ms")),
        (&json!("open"), None)
    );
    resolve(&world, &id, "use_into");
    let then = shown(&world, &id);
    assert_eq!(
        (&then["status"], &then["resolution"]),
        (&json!("resolved"), &json!("use_into"))
    );
    assert!(then["resolved_at_ms"].as_i64() >= all["created_at_ms"].as_i64());
    // What was made on both sides has no base.
    fork(&world, "second", "main");
    apply(&world, "second", vec![put("new", "theirs")]);
    apply(&world, "main", vec![put("new", "ours")]);
    let id = conflict(&world, "second", "main");
    assert_eq!(shown(&world, &id)["base"], Value::Null);
}

#[on_both]
fn a_conflict_keeps_its_budget(world: World) {
    apply(&world, "main", vec![put("a", "A")]);
    fork(&world, "what-if", "main");
    for (branch, sign) in [("what-if", "x"), ("main", "y")] {
        apply(
            &world,
            branch,
            vec![with(put("a", "A"), json!({"text": sign.repeat(5_000)}))],
        );
    }
    let id = conflict(&world, "what-if", "main");
    for most in [0, 50, 300, 1_000, 5_500, 6_000, 11_000] {
        let answer = ok(
            &world,
            "graph_conflict_show",
            json!({"conflict_id": id, "max_chars": most}),
        );
        assert!(
            chars(&answer) <= most || answer == json!({"truncated": true}),
            "{most}: {answer}"
        );
        let told = answer.to_string().contains("\"truncated\":true");
        assert_eq!(told, most < 11_000, "{most}: {answer}");
    }
}

#[on_both]
fn a_conflict_is_settled_once(world: World) {
    let ids = contested(&world, 2);
    for (id, how, other) in [
        (&ids[0], "use_from", "use_into"),
        (&ids[1], "use_into", "use_from"),
    ] {
        resolve(&world, id, how);
        let head = world.head();
        let again = resolve(&world, id, how);
        assert_eq!(
            (&again["status"], &again["applied"]),
            (&json!("resolved"), &json!(false))
        );
        assert_eq!(world.head(), head, "settling the same way again wrote");
        let fault = refused(&world, "graph_conflict_resolve", settle(id, other));
        assert_eq!((fault.code, fault.hint.is_some()), (Code::Conflict, true));
    }
    assert_eq!(
        title(&world, "main", "n1").as_deref(),
        Some("theirs"),
        "the newest comes first"
    );
    assert_eq!(title(&world, "main", "n0").as_deref(), Some("ours"));
    world.assert_sound();
}

#[on_both]
fn what_is_unknown_has_neighbours(world: World) {
    let nowhere = refused(
        &world,
        "graph_conflict_show",
        json!({"conflict_id": "conflict-0"}),
    );
    assert_eq!(
        (nowhere.code, nowhere.hint.is_some()),
        (Code::NotFound, true)
    );
    let id = contested(&world, 1).remove(0);
    let end = if id.ends_with('0') { "1" } else { "0" };
    let near = format!("{}{end}", &id[..id.len() - 1]);
    for (tool, args) in [
        ("graph_conflict_show", json!({ "conflict_id": near })),
        ("graph_conflict_resolve", settle(&near, "use_from")),
    ] {
        let fault = refused(&world, tool, args);
        assert_eq!(fault.code, Code::NotFound);
        assert!(
            fault.hint.clone().is_some_and(|hint| hint.contains(&id)),
            "{fault:?}"
        );
        assert_eq!(fault.details.unwrap()["nearest"], json!([id]));
    }
    world.plan(&["A task"]);
    for odd in [
        "",
        "TASK-001",
        "branch:what-if",
        "a\u{0}b",
        "'; --",
        &"x".repeat(10_000),
    ] {
        for (tool, args) in [
            ("graph_conflict_show", json!({ "conflict_id": odd })),
            ("graph_conflict_resolve", settle(odd, "use_into")),
        ] {
            let fault = refused(&world, tool, args);
            assert!(
                [Code::NotFound, Code::Validation].contains(&fault.code),
                "{odd:?}: {fault}"
            );
            assert!(fault.message.chars().count() < 300);
        }
    }
    for how in ["", "theirs", "USE_FROM"] {
        let fault = refused(&world, "graph_conflict_resolve", settle(&id, how));
        assert_eq!(
            (fault.code, field(&fault).as_str()),
            (Code::Validation, "resolution")
        );
    }
}
