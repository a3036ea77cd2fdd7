//! `branchmind_graph_query`: filters, order, pages, edges and budgets; the budgets of
//! `branchmind_graph_diff` too.

use std::collections::BTreeSet;

use crate::common::{NASTY, chars};
use crate::reasoning_graphs::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

const TYPES: [&str; 3] = ["question", "test", "evidence"];
const STATES: [&str; 2] = ["open", "closed"];

fn id(at: usize) -> String {
    format!("n{at:02}")
}

/// Nodes of every kind, oldest first, each linked to the one before it.
fn fill(world: &World, count: usize) {
    let mut ops = Vec::new();
    for at in 0..count {
        let mut op = json!({"op": "node_upsert", "id": id(at), "type": TYPES[at % 3], "title": format!("Title {at}")});
        if !at.is_multiple_of(4) {
            op["status"] = STATES[at % 2].into();
        }
        op["tags"] = (0..3)
            .filter(|tag| at >> tag & 1 == 1)
            .map(|tag| format!("t{tag}"))
            .collect();
        ops.push(op);
        if at > 0 {
            ops.push(link(&id(at), "follows", &id(at - 1)));
        }
    }
    apply(world, "main", ops);
}

#[on_both]
fn filters_combine(world: World) {
    fill(&world, 24);
    let sets: Vec<Vec<&str>> = vec![
        vec![],
        vec!["t0"],
        vec!["T1", " t2 "],
        vec!["t0", "t1", "t2"],
        vec!["none"],
    ];
    let tags = |at: usize, set: &[&str], all: bool| {
        let has = |tag: &&str| {
            (0..3).any(|bit| at >> bit & 1 == 1 && tag.trim().to_lowercase() == format!("t{bit}"))
        };
        set.is_empty()
            || if all {
                set.iter().all(has)
            } else {
                set.iter().any(has)
            }
    };
    let types: [&[&str]; 4] = [&[], &["test"], &["test", "question"], &["Test"]];
    for (kind, status) in types
        .iter()
        .flat_map(|kind| [None, Some("open"), Some("lost")].map(|status| (kind, status)))
    {
        for (any, all) in sets
            .iter()
            .flat_map(|any| sets.iter().map(move |all| (any, all)))
        {
            for text in [None, Some("title 1")] {
                // Every other combination is enough for the slow ones.
                if any.len() + all.len() > 3 && text.is_some() {
                    continue;
                }
                let mut args = json!({"types": kind, "tags_any": any, "tags_all": all, "include_edges": false});
                if let Some(status) = status {
                    args["status"] = status.into();
                }
                if let Some(text) = text {
                    args["text"] = text.into();
                }
                let fits = |at: &usize| {
                    (kind.is_empty() || kind.contains(&TYPES[at % 3]))
                        && status
                            .is_none_or(|status| !at.is_multiple_of(4) && STATES[at % 2] == status)
                        && tags(*at, any, false)
                        && tags(*at, all, true)
                        && text.is_none_or(|_| id(*at) == "n01" || *at >= 10 && *at < 20)
                };
                let expected: Vec<String> = (0..24).rev().filter(fits).map(id).collect();
                assert_eq!(found(&world, "main", args.clone()), expected, "{args}");
            }
        }
    }
}

#[on_both]
fn the_newest_is_first(world: World) {
    fill(&world, 6);
    apply(
        &world,
        "main",
        vec![put("n02", "again"), link("n00", "r", "n01")],
    );
    assert_eq!(
        found(&world, "main", json!({})),
        ["n02", "n05", "n04", "n03", "n01", "n00"]
    );
    let all = query(&world, "main", json!({}));
    for list in ["nodes", "edges"] {
        assert!(
            rows(&all, list).is_sorted_by(|a, b| a["last_seq"].as_i64() > b["last_seq"].as_i64()),
            "{list}"
        );
    }
    assert_eq!(
        all["pagination"],
        json!({"cursor": null, "has_more": false, "limit": 50, "count": 6})
    );
    assert_eq!(all["truncated"], false);
}

#[on_both]
fn pages_have_no_gap_and_no_overlap(world: World) {
    fill(&world, 30);
    apply(&world, "main", vec![put("n03", "again"), drop_node("n07")]);
    for filter in [
        json!({}),
        json!({"types": ["test"]}),
        json!({"tags_all": ["t1"]}),
        json!({"include_deleted": true}),
        json!({"text": "none"}),
    ] {
        let args = with(on("main"), filter);
        let whole = pages(&world, "graph_query", "nodes", &args, 200);
        for limit in [1, 2, 7, 29, 30] {
            assert_eq!(
                pages(&world, "graph_query", "nodes", &args, limit),
                whole,
                "{limit} {args}"
            );
        }
    }
    // What is written while somebody pages moves to the front, and hides nothing else.
    let first = query(&world, "main", json!({"limit": 10}));
    apply(&world, "main", vec![put("new", "new")]);
    let args = json!({"limit": 200, "cursor": first["pagination"]["next_cursor"]});
    let rest = found(&world, "main", args);
    let both: BTreeSet<String> = each(&first, "nodes", "id")
        .into_iter()
        .chain(rest.clone())
        .collect();
    assert_eq!((both.len(), rest.len()), (29, 19));
}

#[on_both]
fn limits_are_kept(world: World) {
    let ops: Vec<Value> = (0..230).map(|at| put(&format!("n{at}"), "N")).collect();
    apply(&world, "main", ops);
    for (asked, got) in [
        (0, 1),
        (-5, 1),
        (1, 1),
        (200, 200),
        (201, 200),
        (i64::MAX, 200),
    ] {
        let answer = query(&world, "main", json!({"limit": asked}));
        assert_eq!(
            (rows(&answer, "nodes").len(), &answer["pagination"]["limit"]),
            (got, &json!(got))
        );
        assert_eq!(answer["pagination"]["has_more"], true);
    }
    assert_eq!(rows(&query(&world, "main", json!({})), "nodes").len(), 50);
    for cursor in [0, -1, 1] {
        let answer = query(&world, "main", json!({"cursor": cursor}));
        assert_eq!(
            (
                rows(&answer, "nodes").len(),
                &answer["pagination"]["has_more"]
            ),
            (0, &json!(false))
        );
    }
    assert_eq!(
        rows(&query(&world, "main", json!({"cursor": i64::MAX})), "nodes").len(),
        50
    );
    let ids: Vec<String> = (0..230).map(|at| format!("n{at}")).collect();
    let args = with(on("main"), json!({ "ids": ids }));
    assert_eq!(pages(&world, "graph_query", "nodes", &args, 60).len(), 230);
}

#[on_both]
fn nodes_by_id(world: World) {
    fill(&world, 8);
    apply(&world, "main", vec![drop_node("n05")]);
    let by = |ids: Value, more: Value| found(&world, "main", with(json!({ "ids": ids }), more));
    assert_eq!(
        by(json!(["n01", "n06", "n01", "lost"]), json!({})),
        ["n06", "n01"]
    );
    assert_eq!(by(json!(["n01", "n05"]), json!({})), ["n01"]);
    assert_eq!(
        by(json!(["n01", "n05"]), json!({"include_deleted": true})),
        ["n05", "n01"]
    );
    assert_eq!(
        by(json!(["n01", "n02", "n03"]), json!({"types": ["question"]})),
        ["n03"]
    );
    assert_eq!(
        by(json!([]), json!({})),
        Vec::<String>::new(),
        "no ids are no nodes"
    );
    for odd in ["", "n|n01", "%", "n0_", "N01", &"x".repeat(1_000)] {
        assert_eq!(by(json!([odd]), json!({})), Vec::<String>::new(), "{odd:?}");
    }
    assert_eq!(
        edges(&world, "main", json!({"ids": ["n01", "n02", "n07"]})),
        ["n02 follows n01"]
    );
}

#[on_both]
fn text_is_only_text(world: World) {
    for (at, nasty) in NASTY.iter().enumerate() {
        let op = with(
            put(&format!("t{at}"), nasty),
            json!({"text": format!("before {nasty} after")}),
        );
        apply(&world, "main", vec![op]);
    }
    apply(
        &world,
        "main",
        vec![put("plain", "nothing"), put("Id-Only", "x")],
    );
    let by = |text: &str| {
        found(
            &world,
            "main",
            json!({"text": text, "include_edges": false}),
        )
    };
    for (at, nasty) in NASTY.iter().enumerate() {
        assert!(by(nasty).contains(&format!("t{at}")), "{nasty}");
        assert!(!by(nasty).contains(&"plain".to_string()), "{nasty}");
    }
    assert_eq!(by("%"), ["t1"]);
    assert_eq!(by("_DONE_ \\"), ["t1"]);
    assert_eq!(by("drop table"), ["t0"]);
    assert_eq!(by("straSSe"), Vec::<String>::new());
    assert_eq!(by("STRAßE"), ["t10"]);
    assert_eq!(by("BEFORE").len(), NASTY.len());
    assert_eq!(by("id-only"), ["Id-Only"]);
    assert_eq!(by("z\u{0}z"), Vec::<String>::new());
    assert_eq!(by("").len(), NASTY.len() + 2);
}

#[on_both]
fn the_deleted_are_hidden(world: World) {
    fill(&world, 6);
    apply(
        &world,
        "main",
        vec![drop_node("n02"), unlink("n05", "follows", "n04")],
    );
    assert_eq!(
        found(&world, "main", json!({})),
        ["n05", "n04", "n03", "n01", "n00"]
    );
    assert_eq!(
        edges(&world, "main", json!({})),
        ["n01 follows n00", "n04 follows n03"]
    );
    let all = query(&world, "main", json!({"include_deleted": true}));
    assert_eq!(
        each(&all, "nodes", "id"),
        ["n02", "n05", "n04", "n03", "n01", "n00"]
    );
    let gone = rows(&all, "nodes")
        .iter()
        .filter(|node| node["deleted"] == true)
        .count();
    let cut = rows(&all, "edges")
        .iter()
        .filter(|edge| edge["deleted"] == true)
        .count();
    assert_eq!((gone, cut, rows(&all, "edges").len()), (1, 3, 5));
    assert_eq!(
        found(
            &world,
            "main",
            json!({"include_deleted": true, "text": "title 2"})
        ),
        ["n02"]
    );
}

#[on_both]
fn edges_join_what_is_shown(world: World) {
    fill(&world, 12);
    apply(
        &world,
        "main",
        vec![
            link("n11", "to", "n11"),
            link("n00", "to", "n11"),
            link("n00", "to", "nowhere"),
        ],
    );
    assert_eq!(rows(&query(&world, "main", json!({})), "edges").len(), 13);
    assert_eq!(
        edges(&world, "main", json!({"limit": 3})),
        ["n10 follows n09", "n11 follows n10", "n11 to n11"]
    );
    assert_eq!(
        edges(&world, "main", json!({"include_edges": false})),
        Vec::<String>::new()
    );
    assert_eq!(
        edges(&world, "main", json!({"types": ["test"]})),
        Vec::<String>::new()
    );
    for (asked, got) in [(0, 0), (1, 1), (5, 5), (13, 13), (500, 13)] {
        let answer = query(&world, "main", json!({"edges_limit": asked}));
        assert_eq!(
            (rows(&answer, "edges").len(), &answer["truncated"]),
            (got, &json!(got < 13)),
            "{asked}"
        );
    }
    let few = query(&world, "main", json!({"edges_limit": 2}));
    let names: Vec<String> = rows(&few, "edges").iter().map(edge_name).collect();
    assert_eq!(names, ["n00 to n11", "n11 to n11"], "the newest");
}

#[on_both]
fn budgets_are_kept(world: World) {
    fill(&world, 30);
    fork(&world, "empty", "main");
    apply(
        &world,
        "main",
        (0..30)
            .map(|at| put(&id(at), "other\nlines\nhere"))
            .collect::<Vec<_>>(),
    );
    let diff = json!({"from": "empty", "to": "main", "doc": DOC, "limit": 200});
    let calls = [
        (
            "graph_query",
            "nodes",
            with(on("main"), json!({"limit": 200})),
        ),
        ("graph_diff", "changes", diff),
    ];
    for (tool, list, args) in calls {
        let whole = ok(&world, tool, args.clone());
        let all = rows(&whole, list);
        let size = chars(&whole);
        for most in (0..size + 400).step_by(size / 37) {
            for unit in ["max_chars", "max_bytes"] {
                let answer = ok(&world, tool, with(args.clone(), json!({unit: most})));
                let kept = rows(&answer, list);
                assert!(
                    chars(&answer) <= most
                        || (kept.is_empty() && answer["truncated"] == true && chars(&answer) < 60),
                    "{most}: {answer}"
                );
                assert_eq!(kept, all[..kept.len()], "the oldest go first");
                assert_eq!(answer["truncated"], kept.len() < all.len());
                if let Some(last) = kept.last().filter(|_| kept.len() < all.len()) {
                    let seq = [&last["last_seq"], &last["to"]["last_seq"]]
                        .into_iter()
                        .find(|seq| seq.is_i64());
                    assert_eq!(answer["pagination"]["next_cursor"], *seq.unwrap());
                    assert_eq!(
                        (
                            &answer["pagination"]["count"],
                            &answer["pagination"]["has_more"]
                        ),
                        (&json!(kept.len()), &json!(true))
                    );
                }
                let shown: BTreeSet<&str> =
                    kept.iter().filter_map(|node| node["id"].as_str()).collect();
                let joined = answer["edges"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .all(|edge| {
                        shown.contains(edge["from"].as_str().unwrap())
                            && shown.contains(edge["to"].as_str().unwrap())
                    });
                assert!(joined, "an edge without its nodes");
            }
        }
        assert_eq!(
            ok(&world, tool, with(args.clone(), json!({"max_chars": size}))),
            whole
        );
        let few = ok(&world, tool, with(args.clone(), json!({"max_lines": 9})));
        assert_eq!(
            (rows(&few, list).len(), &few["truncated"]),
            (4, &json!(true))
        );
        assert_eq!(
            rows(
                &ok(&world, tool, with(args, json!({"max_chars": -1}))),
                list
            )
            .len(),
            0
        );
    }
    // Paging on from where a budget cut leads to the end, too.
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = query(
            &world,
            "main",
            json!({"max_chars": 1_500, "cursor": cursor, "limit": 200}),
        );
        seen.extend(each(&page, "nodes", "id"));
        cursor = page["pagination"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, (0..30).rev().map(id).collect::<Vec<_>>());
}

#[on_both]
fn a_branch_sees_what_its_base_has_left_behind(world: World) {
    fill(&world, 3);
    let pages = |branch: &str| {
        let (mut titles, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = query(&world, branch, json!({"cursor": cursor, "limit": 1}));
            titles.extend(each(&page, "nodes", "title"));
            cursor = page["pagination"]["next_cursor"].clone();
            if cursor.is_null() {
                return titles;
            }
        }
    };
    // Between any two branches the base says something else of one node, more than once.
    for at in 0..4 {
        for half in ["a", "b"] {
            apply(&world, "main", json!([put("hot", &format!("{at}{half}"))]));
        }
        fork(&world, &format!("f{at}"), "main");
    }
    fork(&world, "deep", "f1");
    apply(&world, "f1", json!([put("hot", "own"), drop_node(&id(1))]));
    apply(&world, "main", json!([drop_node("hot")]));
    let old: Vec<String> = each(&query(&world, "f0", json!({})), "nodes", "title")[1..].to_vec();
    let with_old = |title: &str| [vec![title.to_string()], old.clone()].concat();
    for at in [0, 2, 3] {
        assert_eq!(pages(&format!("f{at}")), with_old(&format!("{at}b")));
    }
    assert_eq!(pages("deep"), with_old("1b"));
    assert_eq!(pages("f1").len(), 3);
    assert_eq!(pages("main"), old);
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(pages("deep"), with_old("1b"));
    world.assert_sound();
}

#[on_both]
fn reading_writes_nothing(world: World) {
    let nothing = query(&world, "main", json!({}));
    assert_eq!(
        nothing,
        json!({"branch": "main", "doc": DOC, "nodes": [], "edges": [], "truncated": false,
        "pagination": {"cursor": null, "has_more": false, "limit": 50, "count": 0}})
    );
    let diff = ok(&world, "graph_diff", json!({"from": "main", "to": "main"}));
    assert_eq!(
        (&diff["doc"], &diff["changes"]),
        (&json!("graph"), &json!([]))
    );
    let fault = refused(&world, "graph_query", json!({"branch": "mian"}));
    assert_eq!(
        (
            fault.code,
            fault.hint.is_some_and(|hint| hint.contains("main"))
        ),
        (Code::UnknownBranch, true)
    );
    assert_eq!(
        refused(&world, "graph_query", json!({"target": "TASK-001"})).code,
        Code::UnknownTarget
    );
    assert_eq!(
        refused(&world, "graph_diff", json!({"from": "main", "to": "b"})).code,
        Code::UnknownBranch
    );
    assert_eq!(world.head(), 0);
    fill(&world, 3);
    let head = world.head();
    query(&world, "main", json!({"include_deleted": true}));
    ok(&world, "graph_diff", json!({"from": "main", "to": "main"}));
    ok(&world, "graph_conflicts", json!({"into": "main"}));
    assert_eq!(world.head(), head);
    for bad in [
        json!({"limit": "ten"}),
        json!({"cursor": "x"}),
        json!({"types": "test"}),
        json!({"colour": 1}),
        json!({"ids": [1]}),
    ] {
        assert_eq!(
            refused(&world, "graph_query", with(on("main"), bad)).code,
            Code::Validation
        );
    }
}
