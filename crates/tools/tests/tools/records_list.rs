//! `list_records` and `get_record_ref`: which records, in which order, page by page.

use crate::common::NASTY;
use crate::records_reads;
use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::page::{Cursor, Key};
use understory_testkit::{World, on_both};

/// Two trees, made out of order; the ids in the order of the tree.
///
/// ```text
/// a ── b ── c ── d
///   │    └─ e
///   └─ f
/// g ── h
/// ```
fn forest(world: &World) -> [String; 8] {
    let a = root(world, "a");
    let g = root(world, "g");
    let b = child(world, &a, "b");
    let f = child(world, &a, "f");
    let h = child(world, &g, "h");
    let c = child(world, &b, "c");
    let e = child(world, &b, "e");
    let d = child(world, &c, "d");
    [a, b, c, d, e, f, g, h]
}

/// The titles that a list has, in one word.
#[track_caller]
fn titles(world: &World, args: Value) -> String {
    let answer = world.ok("list_records", args.clone());
    assert!(answer.get("truncated").is_none());
    let shown = list(&answer["records"]).len();
    assert!(
        number(&answer["total"]) >= shown as i64
            && (args.get("cursor").is_some() || answer["total"] == shown),
        "{answer}"
    );
    each(&answer["records"], "title").concat()
}

#[on_both]
fn a_list_begins_at_the_roots_or_below_a_record_and_goes_as_deep_as_asked(world: World) {
    let [a, b, _, d, ..] = forest(&world);
    for (args, expected) in [
        (json!({}), "abcdefgh"),
        (json!({"depth": 1}), "ag"),
        (json!({"depth": 2}), "abfgh"),
        (json!({"depth": 3}), "abcefgh"),
        (json!({"depth": 99}), "abcdefgh"),
        (json!({"depth": i64::MAX}), "abcdefgh"),
        (json!({"parent_id": null}), "ag"),
        (json!({"parent_id": null, "depth": 2}), "abfgh"),
        (json!({"parent_id": a}), "bf"),
        (json!({"parent_id": a, "depth": 2}), "bcef"),
        (json!({"parent_id": a, "depth": 3}), "bcdef"),
        (json!({"parent_id": b}), "ce"),
        (json!({"parent_id": b, "depth": 70}), "cde"),
        (json!({"parent_id": d}), ""),
        (json!({"parent_id": d, "depth": 5}), ""),
    ] {
        assert_eq!(titles(&world, args.clone()), expected, "{args}");
    }
    for depth in [0, -1, i64::MIN] {
        assert_eq!(
            titles(&world, json!({"parent_id": a, "depth": depth})),
            "bf",
            "a list has at least one level"
        );
    }
}

#[on_both]
fn filters_keep_the_order_and_look_at_every_level(world: World) {
    let [a, b, c, d, e, f, g, h] = forest(&world);
    for (id, state) in [
        (&a, "LATER"),
        (&c, "LATER"),
        (&d, "RESOLVED"),
        (&g, "DISCARDED"),
    ] {
        to(&world, id, state);
    }
    make(
        &world,
        json!({"parent_id": f, "type": "question", "title": "q"}),
    );
    make(
        &world,
        json!({"parent_id": h, "type": "Étude 🎼", "title": "z"}),
    );
    for (args, expected) in [
        (json!({"states": ["LATER"]}), "ac"),
        (json!({"states": ["OPEN"]}), "befqhz"),
        (
            json!({"states": ["RESOLVED", "DISCARDED", "DISCARDED"]}),
            "dg",
        ),
        (json!({"states": []}), "abcdefqghz"),
        (json!({"states": ["LATER"], "depth": 1}), "a"),
        (
            json!({"states": ["RESOLVED"], "parent_id": a, "depth": 3}),
            "d",
        ),
        (json!({"states": ["RESOLVED"], "parent_id": a}), ""),
        (json!({"types": ["question", "Étude 🎼"]}), "qz"),
        (
            json!({"types": ["question"], "parent_id": g, "depth": 9}),
            "",
        ),
        (json!({"types": ["note"], "states": ["OPEN"]}), "befh"),
        (json!({"types": ["QUESTION"]}), ""),
    ] {
        assert_eq!(titles(&world, args.clone()), expected, "{args}");
    }
    let _ = (b, e);
}

#[on_both]
fn a_row_has_what_the_contract_says(world: World) {
    let [a, b, c, ..] = forest(&world);
    to(&world, &c, "LATER");
    let expected = json!({"id": b, "type": "note", "title": "b", "summary": "", "state": "OPEN", "parent_id": a, "children_count": 2, "open_children_count": 1});
    assert_eq!(world.ok("get_record_ref", json!({ "id": b })), expected);
    assert_eq!(
        world.ok("list_records", json!({"parent_id": a}))["records"][0],
        expected
    );
    assert_eq!(
        world.ok("get_record_ref", json!({ "id": a }))["parent_id"],
        Value::Null
    );
    to(&world, &c, "OPEN");
    assert_eq!(
        world.ok("get_record_ref", json!({ "id": b }))["open_children_count"],
        2
    );
    for row in list(&world.ok("list_records", json!({}))["records"]) {
        assert_eq!(world.ok("get_record_ref", json!({"id": row["id"]})), *row);
    }
}

#[on_both]
fn texts_come_back_as_they_went_in(world: World) {
    for text in NASTY {
        let kind: String = text.chars().filter(|c| !c.is_control()).collect();
        let id = make(
            &world,
            json!({"type": kind, "title": text, "summary": text}),
        );
        let row = world.ok("get_record_ref", json!({ "id": id }));
        assert_eq!(
            (&row["type"], &row["title"], &row["summary"]),
            (&json!(kind), &json!(text), &json!(text))
        );
        assert_eq!(
            ids(&world.ok("list_records", json!({"types": [kind]}))["records"]),
            [id]
        );
    }
}

#[on_both]
fn pages_of_any_size_join_without_gap_or_overlap(world: World) {
    let [a, ..] = forest(&world);
    for at in 0..30 {
        child(&world, if at % 3 == 0 { "R003" } else { "R006" }, "x");
    }
    for args in [
        json!({}),
        json!({"parent_id": a, "depth": 4}),
        json!({"depth": 2}),
        json!({"states": ["OPEN"], "types": ["note"]}),
        json!({"parent_id": null}),
    ] {
        let whole = list(&world.ok("list_records", args.clone())["records"]).clone();
        for limit in [1, 2, 3, 7, 200] {
            assert_eq!(
                page_through(&world, "list_records", "records", &args, limit),
                whole,
                "{args} by {limit}"
            );
        }
        for max in [400, 1_000, 3_000] {
            assert_eq!(
                page_by_chars(&world, "list_records", "records", &args, max),
                whole,
                "{args} in {max}"
            );
        }
    }
    for (limit, given) in [(0, 1), (-4, 1), (38, 38), (i64::MAX, 38)] {
        assert_eq!(
            list(&world.ok("list_records", json!({"limit": limit}))["records"]).len(),
            given
        );
    }
}

#[on_both]
fn rows_that_arrive_while_paging_neither_repeat_nor_hide_others(world: World) {
    let [a, _, c, _, _, f, g, _] = forest(&world);
    let first = world.ok("list_records", json!({"limit": 3}));
    assert_eq!(each(&first["records"], "title").concat(), "abc");
    child(&world, &f, "i");
    child(&world, &a, "j");
    child(&world, &g, "k");
    root(&world, "l");
    to(&world, &c, "LATER");
    update(&world, &f, json!({"title": "F"}));
    let rest = titles(
        &world,
        json!({"cursor": first["next_cursor"], "limit": 200}),
    );
    assert_eq!(
        rest, "deFijghkl",
        "all that was there, and what came after the page"
    );
}

#[on_both]
fn a_limit_is_at_most_200_and_50_without_one_and_the_total_is_told(world: World) {
    crowd(&world, "ada", 450, |_| json!({}));
    assert_eq!(
        list(&world.ok("list_records", json!({"limit": 999}))["records"]).len(),
        200
    );
    assert_eq!(
        page_through(&world, "list_records", "records", &json!({}), 200).len(),
        450
    );
    for args in [
        json!({}),
        json!({"parent_id": null}),
        json!({"types": ["note"]}),
    ] {
        let first = world.ok("list_records", args.clone());
        assert_eq!(
            (list(&first["records"]).len(), &first["total"]),
            (50, &json!(450)),
            "{args}"
        );
        assert!(first["next_cursor"].is_string(), "{args}: there is more");
    }
}

#[on_both]
fn a_list_keeps_within_its_budget(world: World) {
    for text in NASTY {
        make(&world, json!({"title": text, "summary": text.repeat(3)}));
    }
    let empty = json!({"records": [], "truncated": true});
    for args in [
        json!({}),
        json!({"parent_id": null}),
        json!({"depth": 3, "states": ["OPEN"]}),
    ] {
        assert_within(&world, "list_records", &args, empty.clone());
    }
    assert_within(
        &world,
        "get_record_ref",
        &json!({"id": "R001"}),
        json!({"truncated": true}),
    );
}

#[on_both]
fn a_row_too_long_for_the_budget_does_not_hide_the_others(world: World) {
    for summary in ["s", &"long ".repeat(390), "s", &"y".repeat(2_000), "s"] {
        make(&world, json!({"title": "t", "summary": summary}));
    }
    let seen = page_by_chars(&world, "list_records", "records", &json!({}), 500);
    assert_eq!(ids(&json!(seen)), ["R001", "R002", "R003", "R004", "R005"]);
}

#[on_both]
fn before_the_first_write_there_is_nothing(world: World) {
    let none = json!({"records": [], "total": 0});
    for _ in 0..2 {
        for args in [
            json!({}),
            json!({"parent_id": null}),
            json!({"project_id": "default"}),
            json!({"states": ["OPEN"], "max_chars": 5_000}),
        ] {
            assert_eq!(world.ok("list_records", args), none);
        }
        for (tool, args) in [
            ("list_records", json!({"parent_id": "R001"})),
            ("get_record_ref", json!({"id": "R001"})),
        ] {
            assert_eq!(world.refused(tool, args).code, Code::RecordNotFound);
        }
        assert_eq!(
            world
                .refused("list_records", json!({"project_id": "nope"}))
                .code,
            Code::NotFound
        );
        world.ok("graph_open", json!({"project": "default"}));
    }
}

#[on_both]
fn projects_are_apart_and_a_parent_says_which(world: World) {
    forest(&world);
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let there = make(&world, json!({"title": "there", "project_id": "shop"}));
    child(&world, &there, "below");
    assert_eq!(titles(&world, json!({})), "abcdefgh");
    assert_eq!(titles(&world, json!({"project_id": "shop"})), "therebelow");
    assert_eq!(
        titles(&world, json!({"project_id": "shop", "parent_id": null})),
        "there"
    );
    assert_eq!(titles(&world, json!({"parent_id": there})), "below");
    for (tool, args) in [
        ("list_records", json!({"parent_id": there})),
        ("search_records", json!({"query": "x", "parent_id": there})),
        ("get_recent_activity", json!({"record_id": there})),
    ] {
        world.ok(tool, args.clone());
        let mut args = args;
        args["project_id"] = "shop".into();
        world.ok(tool, args.clone());
        args["project_id"] = "default".into();
        let fault = world.refused(tool, args);
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!("project_id")),
            "{tool}"
        );
    }
    let near = world.refused("list_records", json!({"project_id": "shopp"}));
    assert_eq!(
        (near.code, near.hint.unwrap().contains("shop")),
        (Code::NotFound, true)
    );
}

#[on_both]
fn a_record_that_is_none_is_refused_with_its_neighbours(world: World) {
    forest(&world);
    world.plan(&["a node"]);
    for id in [
        "R999",
        "r001",
        "",
        "TASK-001",
        "PLAN-001",
        "project:default",
        "default",
        "🙂",
        " R001",
    ] {
        assert_eq!(
            world.refused("get_record_ref", json!({ "id": id })).code,
            Code::RecordNotFound,
            "{id:?}"
        );
        assert_eq!(
            world
                .refused("list_records", json!({ "parent_id": id }))
                .code,
            Code::RecordNotFound,
            "{id:?}"
        );
    }
    assert!(
        world
            .refused("get_record_ref", json!({"id": "R01"}))
            .hint
            .is_some()
    );
}

#[on_both]
fn cursors_that_are_not_ours_are_refused_and_forged_ones_do_no_harm(world: World) {
    forest(&world);
    let good = text(&world.ok("list_records", json!({"limit": 1}))["next_cursor"]);
    let other = text(&world.ok("get_recent_activity", json!({"limit": 1}))["next_cursor"]);
    for bad in [
        "",
        "\0",
        "🙂",
        &good[1..],
        &format!("{good}A"),
        &other,
        &"A".repeat(3_000),
    ] {
        assert_eq!(
            world.refused("list_records", json!({ "cursor": bad })).code,
            Code::Validation,
            "{bad:?}"
        );
    }
    assert_eq!(
        world
            .refused("get_recent_activity", json!({ "cursor": good }))
            .code,
        Code::Validation
    );
    let forged = |keys: Vec<Key>| {
        world.call(
            "list_records",
            json!({"cursor": Cursor::new("records.list", keys).encode()}),
        )
    };
    assert_eq!(forged(vec![]).unwrap_err().code, Code::Validation);
    assert_eq!(
        forged(vec![Key::Int(1)]).unwrap_err().code,
        Code::Validation
    );
    let first = forged(vec![Key::Text(String::new())]).unwrap();
    assert_eq!(list(&first["records"]).len(), 8, "the place before all");
    for place in ["'; --", "~", "\u{10ffff}", "%", "a\0", "zzzzzzzz"] {
        let fault = forged(vec![Key::Text(place.into())]).unwrap_err();
        assert_eq!(fault.code, Code::Validation, "{place:?}");
    }
}

#[on_both]
fn a_list_of_the_deepest_tree_pages_too(world: World) {
    let mut ids = vec![root(&world, "0")];
    for at in 1..64 {
        ids.push(child(&world, ids.last().unwrap(), &at.to_string()));
    }
    let seen = page_through(&world, "list_records", "records", &json!({}), 9);
    assert_eq!(records_reads::ids(&json!(seen)), ids);
    assert_eq!(
        list(
            &world.ok(
                "list_records",
                json!({"parent_id": ids[0], "depth": 64, "limit": 200})
            )["records"]
        )
        .len(),
        63
    );
}

#[on_both]
fn wrong_arguments_name_their_field(world: World) {
    forest(&world);
    for (args, field) in [
        (json!({"states": ["open"]}), "states[0]"),
        (json!({"states": "OPEN"}), "states"),
        (json!({"types": [1]}), "types[0]"),
        (json!({"types": [""]}), "type"),
        (json!({"parent_id": 5}), "parent_id"),
        (json!({"depth": "deep"}), "depth"),
        (json!({"depth": 1.5}), "depth"),
        (json!({"limit": "x"}), "limit"),
        (json!({"order": "x"}), "order"),
    ] {
        let fault = world.refused("list_records", args);
        assert_eq!(
            (fault.code, &fault.details.clone().unwrap()["field"]),
            (Code::Validation, &json!(field)),
            "{fault:?}"
        );
    }
    let many: Vec<String> = (0..70_000).map(|at| format!("t{at}")).collect();
    let fault = world.refused("list_records", json!({ "types": many }));
    assert_eq!(
        (fault.code, &fault.details.unwrap()["field"]),
        (Code::Validation, &json!("types"))
    );
}

#[on_both]
fn metadata_filters_lists_and_searches(world: World) {
    let make = |title: &str, metadata: Value| {
        world.ok(
            "create_record",
            json!({"type": "q",
        "title": title, "summary": "kept words", "body": "", "metadata": metadata}),
        )
    };
    make(
        "one",
        json!({"ticket": "J-1", "rank": 1, "deep": {"a": [1, 2]}}),
    );
    make("two", json!({"ticket": "J-1", "rank": 2.0}));
    make("three", json!({"ticket": null}));
    let ids = |tool: &str, list: &str, metadata: Value| {
        let mut args = json!({"metadata": metadata});
        if tool == "search_records" {
            args["query"] = json!("kept");
        }
        let answer = world.ok(tool, args);
        let found = answer[list].as_array().unwrap();
        assert_eq!(answer["total"], found.len(), "{answer}");
        let mut ids: Vec<String> = found
            .iter()
            .map(|one| one["id"].as_str().unwrap().into())
            .collect();
        ids.sort();
        ids
    };
    for (tool, list) in [("list_records", "records"), ("search_records", "results")] {
        let found = |metadata: Value| ids(tool, list, metadata);
        assert_eq!(found(json!({"ticket": "J-1"})), ["R001", "R002"]);
        assert_eq!(found(json!({"ticket": "J-1", "rank": 2})), ["R002"]);
        assert_eq!(found(json!({"deep": {"a": [1, 2]}})), ["R001"]);
        assert_eq!(found(json!({"ticket": null})), ["R003"]);
        assert!(found(json!({"ticket": "J-1", "rank": 3})).is_empty());
        assert_eq!(found(json!({})).len(), 3);
        let many: serde_json::Map<String, Value> =
            (0..33).map(|n| (n.to_string(), json!(n))).collect();
        let mut args = json!({"metadata": many});
        if tool == "search_records" {
            args["query"] = json!("kept");
        }
        assert!(world.refused(tool, args).message.starts_with("metadata"));
    }
    let named = |metadata: Value| {
        world.ok(
            "search_records",
            json!({"query": "R001", "metadata": metadata}),
        )["total"]
            .clone()
    };
    assert_eq!(named(json!({"rank": 1})), 1);
    assert_eq!(named(json!({"rank": 2})), 0, "a filter holds for an id too");
    world.ok(
        "update_record",
        json!({"id": "R001", "metadata": {"ticket": "J-2"}}),
    );
    assert_eq!(
        ids("list_records", "records", json!({"ticket": "J-1"})),
        ["R002"]
    );
    assert_eq!(
        ids("list_records", "records", json!({"ticket": "J-2"})),
        ["R001"]
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(
        ids("list_records", "records", json!({"ticket": "J-2"})),
        ["R001"]
    );
    world.assert_sound();
}
