//! `graph_query`: every filter, every order, every page.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::page::{Cursor, Key};
use understory_testkit::{World, on_both};

/// A project with some of everything; the root and 23 nodes.
fn mixed(world: &World) {
    let nodes: Vec<Value> = (0..23)
        .map(|at: usize| {
            let priority = [0.0, 1.5, -2.0, 7.0][at % 4];
            let mut node = json!({
                "ref": at.to_string(),
                "summary": format!("Node {at} {}", if at.is_multiple_of(2) { "even" } else { "odd" }),
                "properties": {"mod": at % 3, "priority": priority},
            });
            if at % 5 > 1 {
                node["parent_ref"] = (at - 1).to_string().into();
            }
            if at % 4 == 3 && at != 19 {
                node["depends_on"] = json!([(at - 3).to_string()]);
            }
            node
        })
        .collect();
    let of = plan(world, nodes.into());
    for at in [0, 4, 9, 12] {
        let id = &of[&at.to_string()];
        world.ok("graph_update", json!({"updates": [{"node_id": id, "resolved": true, "add_evidence": [{"type": "test", "ref": "ok"}]}]}));
    }
    world.ok("graph_next", json!({"claim": true, "count": 3}));
}

#[on_both]
fn every_order_pages_without_gap_or_overlap_under_every_filter(world: World) {
    mixed(&world);
    let filters = [
        json!({}),
        json!({"resolved": false}),
        json!({"text": "ODD"}),
        json!({"properties": {"mod": 1}}),
        json!({"is_leaf": true, "resolved": false}),
        json!({"is_leaf": false}),
        json!({"claimed_by": null, "text": "node"}),
        json!({"ancestor": "PLAN-001", "is_blocked": false}),
        json!({"has_evidence_type": "test", "properties": {"mod": 0}}),
    ];
    for sort in SORTS {
        for filter in &filters {
            let args = json!({"filter": filter, "sort": sort});
            let whole = page_through(&world, &args, 100);
            assert!(!whole.is_empty(), "{args}");
            let limits: &[usize] = if *filter == json!({}) {
                &[1, 2, 3, 4, 5, 6, 7]
            } else {
                &[2]
            };
            for limit in limits {
                assert_eq!(
                    page_through(&world, &args, *limit),
                    whole,
                    "{args} by {limit}"
                );
            }
            let mut ids = whole.clone();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), whole.len());
        }
    }
}

#[on_both]
fn the_orders_are_what_they_say(world: World) {
    mixed(&world);
    let order = |sort: &str| page_through(&world, &json!({"sort": sort}), 100);
    let field = |id: &String, name: &str| node(&world, id)[name].as_str().unwrap().to_string();
    let depth = |id: &String| {
        world.ok("graph_context", json!({"node_id": id, "depth": 0}))["ancestors"]
            .as_array()
            .unwrap()
            .len()
    };
    assert!(
        order("created")
            .windows(2)
            .all(|pair| field(&pair[0], "created_at") <= field(&pair[1], "created_at"))
    );
    assert_eq!(order("created")[0], "PLAN-001");
    assert!(
        order("recent")
            .windows(2)
            .all(|pair| field(&pair[0], "updated_at") >= field(&pair[1], "updated_at"))
    );
    assert!(
        order("depth")
            .windows(2)
            .all(|pair| depth(&pair[0]) >= depth(&pair[1])),
        "the deepest first"
    );
    let ready = next_of(
        &world
            .call_as(&World::caller("bob"), "graph_next", json!({"count": 100}))
            .unwrap(),
    );
    let actionable = tally(&world)[3] as usize;
    let held = found(&world, json!({"claimed_by": "ada"}));
    let mut first = order("readiness")[..actionable].to_vec();
    first.retain(|id| !held.contains(id));
    assert_eq!(
        first, ready,
        "what is ready comes first, ranked as graph_next does"
    );
    let resolved: Vec<bool> = order("readiness")
        .iter()
        .map(|id| node(&world, id)["resolved"] == true)
        .collect();
    assert!(
        resolved.is_sorted() && resolved.contains(&true),
        "what is resolved comes last: {resolved:?}"
    );
    assert_eq!(
        ids(&world.ok("graph_query", json!({}))["nodes"]),
        order("readiness")[..20],
        "and is the default"
    );
}

#[on_both]
fn a_row_has_what_the_contract_says(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "p", "summary": "P"}, {"ref": "x", "summary": "X", "parent_ref": "p", "properties": {"k": 1}}]),
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["x"], "state": "s"}]}),
    );
    let answer = world.ok("graph_query", json!({"filter": {"text": "x"}}));
    assert_eq!(
        answer,
        json!({"nodes": [{"id": of["x"], "summary": "X", "resolved": false, "state": "s", "parent": of["p"], "depth": 2, "properties": {"k": 1}}], "total": 1})
    );
    let root = world.ok("graph_query", json!({"filter": {"text": "default"}}))["nodes"][0].clone();
    assert_eq!(
        root,
        json!({"id": "PLAN-001", "summary": "default", "resolved": false, "depth": 0, "properties": {}})
    );
}

#[on_both]
fn limits_are_clamped(world: World) {
    world.plan(&["x"; 120]);
    for (limit, given) in [
        (json!(null), 20),
        (json!(0), 1),
        (json!(-1), 1),
        (json!(100), 100),
        (json!(101), 100),
        (json!(i64::MAX), 100),
    ] {
        let answer = world.ok("graph_query", json!({"limit": limit}));
        assert_eq!(
            (answer["nodes"].as_array().unwrap().len(), &answer["total"]),
            (given, &json!(121))
        );
    }
}

#[on_both]
fn text_is_a_substring_and_nothing_else(world: World) {
    for text in NASTY {
        plan(
            &world,
            json!([{"ref": "x", "summary": format!("<<{text}>>")}]),
        );
    }
    for (at, text) in NASTY.iter().enumerate() {
        let id = format!("TASK-{:03}", at + 1);
        assert_eq!(
            found(&world, json!({"text": format!("<<{text}>>")})),
            [id.as_str()],
            "{text}"
        );
        assert!(found(&world, json!({"text": text})).contains(&id), "{text}");
        assert!(
            found(&world, json!({"text": text.to_uppercase().to_lowercase()})).contains(&id)
                || text.contains("Straße"),
            "{text}"
        );
    }
    assert_eq!(found(&world, json!({"text": "%"})), ["TASK-002"]);
    assert_eq!(found(&world, json!({"text": "_d"})), ["TASK-002"]);
    assert_eq!(found(&world, json!({"text": "*"})), ["TASK-003"]);
    assert_eq!(found(&world, json!({"text": "漢"})), ["TASK-008"]);
    assert_eq!(found(&world, json!({"text": "👧"})), ["TASK-007"]);
    assert_eq!(found(&world, json!({"text": "İSTANBUL"})), ["TASK-011"]);
    assert_eq!(
        found(&world, json!({"text": ""})).len(),
        NASTY.len() + 1,
        "every text holds the empty one"
    );
    assert_eq!(
        found(&world, json!({"text": "no such text anywhere"})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&world, json!({"text": "x".repeat(100_000)})),
        Vec::<String>::new()
    );
    world.ok("graph_query", json!({"filter": {"text": "\0"}}));
}

#[on_both]
fn a_text_of_any_length_is_found_by_any_part(world: World) {
    let varied: Vec<char> = (0..1_000)
        .flat_map(|at| ['İ', char::from_u32(0x4e00 + at * 19).unwrap()])
        .collect();
    let summary: String = varied.iter().collect();
    let id = world.plan(&[&summary]).remove(0);
    for from in (0..1_990).step_by(111) {
        let part: String = varied[from..from + 8].iter().collect();
        assert_eq!(
            found(&world, json!({"text": part})),
            [id.as_str()],
            "{from}"
        );
    }
    assert_eq!(found(&world, json!({"text": summary})), [id.as_str()]);
    let plain: String = (0..2_000)
        .map(|at| char::from_u32(0x4e00 + at * 10).unwrap())
        .collect();
    let id = world.plan(&[&plain]).remove(0);
    assert_eq!(found(&world, json!({"text": plain})), [id]);
}

#[on_both]
fn a_common_text_and_a_common_property_are_found_together(world: World) {
    // Enough of both that neither alone leads to the nodes, and some that only look alike.
    let nodes: Vec<Value> = (0..700)
        .map(|at: usize| {
            let summary = ["the parser", "the serpar", "sparse user", "no such thing", "PARSER again"][at % 5];
            json!({"ref": at.to_string(), "summary": format!("{summary} {at}"), "properties": {"even": at.is_multiple_of(2), "third": at % 3}})
        })
        .collect();
    let of = plan(&world, nodes.into());
    plan(
        &world,
        json!([{"ref": "late", "summary": "a parser of its own", "properties": {"odd": true}}]),
    );
    let wanted = |fits: fn(usize) -> bool| -> Vec<String> {
        let mut ids: Vec<String> = (0..700)
            .filter(|at| matches!(at % 5, 0 | 4) && fits(*at))
            .map(|at| of[&at.to_string()].clone())
            .collect();
        ids.sort();
        ids
    };
    let halves: fn(usize) -> bool = |at| at.is_multiple_of(2);
    let sixths: fn(usize) -> bool = |at| at.is_multiple_of(6);
    let both = json!({"even": true, "third": 0});
    for (properties, fits) in [(json!({"even": true}), halves), (both, sixths)] {
        for sort in SORTS {
            let args =
                json!({"filter": {"text": "parser", "properties": properties}, "sort": sort});
            let mut found = page_through(&world, &args, 25);
            found.sort();
            assert_eq!(found, wanted(fits), "{args}");
        }
    }
}

#[on_both]
fn a_changed_summary_is_found_by_its_new_text_only(world: World) {
    let id = world.plan(&["Write the parser"]).remove(0);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id, "summary": "Write the lexer"}]}),
    );
    assert_eq!(
        found(&world, json!({"text": "parser"})),
        Vec::<String>::new()
    );
    assert_eq!(found(&world, json!({"text": "THE LEX"})), [id]);
}

#[on_both]
fn properties_match_any_json_value(world: World) {
    let long = "long ".repeat(2_000);
    let values = [
        json!(1),
        json!(1.5),
        json!("1"),
        json!(true),
        json!("true"),
        json!(null),
        json!("null"),
        json!([]),
        json!({}),
        json!([1, [2, {"a": null}]]),
        json!({"b": {"c": [1]}, "a": 2}),
        json!(long),
        json!(format!("{long}x")),
        json!("a\0b"),
        json!("' OR 1=1 --"),
        json!(9_007_199_254_740_993_i64),
        json!(1e16),
        json!(1e300),
        json!(-5),
        json!("é"),
        json!("e\u{301}"),
    ];
    let mut made = Vec::new();
    for value in &values {
        made.push(
            plan(
                &world,
                json!([{"ref": "x", "summary": "S", "properties": {"v": value, "w": 1}}]),
            )
            .remove("x")
            .unwrap(),
        );
    }
    for (value, id) in values.iter().zip(&made) {
        assert_eq!(
            found(&world, json!({"properties": {"v": value}})),
            [id.as_str()],
            "{value}"
        );
        assert_eq!(
            found(&world, json!({"properties": {"v": value, "w": 1.0}})),
            [id.as_str()],
            "{value}"
        );
        assert_eq!(
            found(&world, json!({"properties": {"v": value, "w": 2}})),
            Vec::<String>::new()
        );
    }
    for (value, id) in [
        (json!(1.0), 0),
        (json!({"a": 2.0, "b": {"c": [1.0]}}), 10),
        (json!([1.0, [2, {"a": null}]]), 9),
        (json!(10_000_000_000_000_000_i64), 16),
        (json!(-5.0), 18),
    ] {
        assert_eq!(
            found(&world, json!({"properties": {"v": value}})),
            [made[id].clone()],
            "{value}"
        );
    }
    for value in [
        json!(2),
        json!(9_007_199_254_740_992_i64),
        json!("TRUE"),
        json!([1, [2]]),
        json!({"a": 2}),
    ] {
        assert_eq!(
            found(&world, json!({"properties": {"v": value}})),
            Vec::<String>::new(),
            "{value}"
        );
    }
    assert_eq!(
        found(&world, json!({"properties": {"V": 1}})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&world, json!({"properties": {}})).len(),
        values.len() + 1
    );
}

#[on_both]
fn changed_properties_are_found_as_they_are_now(world: World) {
    let id = plan(
        &world,
        json!([{"ref": "x", "summary": "X", "properties": {"a": 1, "b": 1}}]),
    )
    .remove("x")
    .unwrap();
    world.ok("graph_update", json!({"updates": [
        {"node_id": id, "properties": {"a": 2}}, {"node_id": id, "properties": {"a": 1, "b": null}}, {"node_id": id, "properties": {"a": 3}},
    ]}));
    assert_eq!(
        found(&world, json!({"properties": {"a": 1}})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&world, json!({"properties": {"a": 2}})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&world, json!({"properties": {"b": 1}})),
        Vec::<String>::new()
    );
    assert_eq!(found(&world, json!({"properties": {"a": 3}})), [id]);
}

#[on_both]
fn filters_select_what_they_name(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "p", "summary": "P"}, {"ref": "c", "summary": "C", "parent_ref": "p"}, {"ref": "d", "summary": "D", "parent_ref": "c"},
            {"ref": "b", "summary": "B", "depends_on": ["p"]}, {"ref": "done", "summary": "Done"},
        ]),
    );
    resolve(&world, &[&of["done"]]);
    let id = |name: &str| of[name].clone();
    let root = "PLAN-001".to_string();
    assert_eq!(found(&world, json!({"resolved": true})), [id("done")]);
    assert_eq!(found(&world, json!({"resolved": false})).len(), 5);
    assert_eq!(
        found(&world, json!({"is_leaf": false})),
        [root.clone(), id("p"), id("c")]
    );
    assert_eq!(
        found(&world, json!({"is_leaf": true})),
        [id("d"), id("b"), id("done")]
    );
    assert_eq!(found(&world, json!({"is_actionable": true})), [id("d")]);
    assert_eq!(found(&world, json!({"is_actionable": false})).len(), 5);
    assert_eq!(found(&world, json!({"is_blocked": true})), [id("b")]);
    assert_eq!(found(&world, json!({"is_blocked": false})).len(), 5);
    assert_eq!(
        found(&world, json!({"ancestor": of["p"]})),
        [id("c"), id("d")],
        "not itself"
    );
    assert_eq!(
        found(&world, json!({"ancestor": of["d"]})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(
            &world,
            json!({"ancestor": "PLAN-001", "is_blocked": true, "text": "b"})
        ),
        [id("b")]
    );
    restructure(
        &world,
        json!([{"op": "move", "node_id": of["c"], "new_parent": of["b"]}]),
    );
    assert_eq!(
        found(&world, json!({"ancestor": of["p"]})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&world, json!({"ancestor": of["b"]})),
        [id("c"), id("d")]
    );
}

#[on_both]
fn claims_are_found_by_name_or_as_nobodys(world: World) {
    world.plan(&["A", "B", "C"]);
    world.ok("graph_next", json!({"claim": true}));
    world
        .call_as(
            &World::caller("bob's \"x\" %"),
            "graph_next",
            json!({"claim": true}),
        )
        .unwrap();
    assert_eq!(found(&world, json!({"claimed_by": "ada"})), ["TASK-001"]);
    assert_eq!(
        found(&world, json!({"claimed_by": "bob's \"x\" %"})),
        ["TASK-002"]
    );
    assert_eq!(
        found(&world, json!({"claimed_by": null})),
        ["PLAN-001", "TASK-003"]
    );
    for name in ["eve", "ADA", "", "a%"] {
        assert_eq!(
            found(&world, json!({"claimed_by": name})),
            Vec::<String>::new(),
            "{name:?}"
        );
    }
    assert_eq!(found(&world, json!({})).len(), 4, "absent is no filter");
}

#[on_both]
fn nodes_are_found_by_what_they_lack(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A", "properties": {"size": 1}}, {"ref": "b", "summary": "B", "properties": {"size": null, "kind": "bug"}}, {"ref": "c", "summary": "C"},
        ]),
    );
    assert_eq!(
        found(&world, json!({"without": ["size"]})),
        ["PLAN-001", &of["c"]]
    );
    assert_eq!(
        found(
            &world,
            json!({"without": ["kind"], "properties": {"size": 1}})
        ),
        [of["a"].clone()]
    );
    assert_eq!(
        found(&world, json!({"without": ["size", "kind"], "text": "c"})),
        [of["c"].clone()]
    );
    assert_eq!(found(&world, json!({"without": ["'; --", ""]})).len(), 4);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["a"], "properties": {"size": null}}]}),
    );
    assert_eq!(
        found(&world, json!({"without": ["size"]})),
        ["PLAN-001", &of["a"], &of["c"]]
    );
}

#[on_both]
fn a_null_for_a_claim_is_in_the_schema(_world: World) {
    let tool = understory_tools::registry::tools()
        .iter()
        .find(|tool| tool.name == "graph_query")
        .unwrap();
    let claimed = &tool.input_schema()["properties"]["filter"]["properties"]["claimed_by"];
    assert_eq!(claimed["type"], json!(["string", "null"]), "{claimed}");
}

#[on_both]
fn evidence_is_found_by_its_exact_type(world: World) {
    let ids = world.plan(&["A", "B"]);
    world.ok("graph_update", json!({"updates": [{"node_id": ids[0], "add_evidence": [{"type": "git", "ref": "a"}, {"type": "git", "ref": "b"}, {"type": "Test\u{301}", "ref": "c"}]}]}));
    assert_eq!(
        found(&world, json!({"has_evidence_type": "git"})),
        [ids[0].clone()]
    );
    assert_eq!(
        found(&world, json!({"has_evidence_type": "Test\u{301}"})),
        [ids[0].clone()]
    );
    for kind in ["gi", "GIT", "", "%"] {
        assert_eq!(
            found(&world, json!({"has_evidence_type": kind})),
            Vec::<String>::new()
        );
    }
    restructure(
        &world,
        json!([{"op": "merge", "source": ids[0], "target": ids[1]}]),
    );
    assert_eq!(
        found(&world, json!({"has_evidence_type": "git"})),
        [ids[1].clone()]
    );
}

#[on_both]
fn rows_that_arrive_while_paging_neither_repeat_nor_hide_others(world: World) {
    world.plan(&["a", "b", "c", "d"]);
    let first = world.ok("graph_query", json!({"sort": "created", "limit": 2}));
    world.plan(&["e"]);
    resolve(&world, &["TASK-001"]);
    let rest = world.ok(
        "graph_query",
        json!({"sort": "created", "limit": 9, "cursor": first["next_cursor"]}),
    );
    assert_eq!(
        ids(&rest["nodes"]),
        ["TASK-002", "TASK-003", "TASK-004", "TASK-005"]
    );
    assert!(rest.get("next_cursor").is_none());
}

#[on_both]
fn budgets_cut_and_the_cursor_goes_on_there(world: World) {
    mixed(&world);
    for sort in SORTS {
        let whole = page_through(&world, &json!({"sort": sort}), 100);
        for max in [420, 777, 2_000] {
            let (mut seen, mut args) = (
                Vec::new(),
                json!({"sort": sort, "limit": 100, "max_chars": max}),
            );
            loop {
                let page = world.ok("graph_query", args.clone());
                assert!(chars(&page) <= max, "{max}: {page}");
                seen.extend(ids(&page["nodes"]));
                if page["next_cursor"].is_null() {
                    break;
                }
                assert_eq!(page["truncated"], true);
                args["cursor"] = page["next_cursor"].clone();
            }
            assert_eq!(seen, whole, "{sort} {max}");
        }
    }
    for max in [-1, 0, 1, 20] {
        assert_eq!(
            world.ok("graph_query", json!({"max_chars": max})),
            json!({"nodes": [], "truncated": true})
        );
    }
}

#[on_both]
fn a_row_too_long_for_the_budget_does_not_hide_the_others(world: World) {
    let fat = "x".repeat(200_000);
    plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "fat", "summary": "Fat", "properties": {"fat": fat}}, {"ref": "b", "summary": "B"}]),
    );
    let (mut seen, mut args) = (Vec::new(), json!({"sort": "created"}));
    loop {
        let page = world.ok("graph_query", args.clone());
        assert!(chars(&page) <= 100_000);
        seen.extend(ids(&page["nodes"]));
        if page["next_cursor"].is_null() {
            break;
        }
        assert_eq!(
            (&page["truncated"], &page["total"]),
            (&json!(true), &json!(4))
        );
        args["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(seen, ["PLAN-001", "TASK-001", "TASK-002", "TASK-003"]);
    let whole = world.ok(
        "graph_query",
        json!({"sort": "created", "max_chars": 1_000_000}),
    );
    assert_eq!(whole["nodes"][2]["properties"]["fat"], json!(fat));
}

#[on_both]
fn cursors_that_are_not_ours_are_refused(world: World) {
    world.plan(&["a", "b", "c"]);
    let cursor = |sort: &str| {
        world.ok("graph_query", json!({"sort": sort, "limit": 1}))["next_cursor"]
            .as_str()
            .unwrap()
            .to_string()
    };
    let all: Vec<String> = SORTS.iter().map(|sort| cursor(sort)).collect();
    for (at, sort) in SORTS.iter().enumerate() {
        let good = &all[at];
        let mut bad: Vec<String> = all.iter().filter(|other| *other != good).cloned().collect();
        bad.extend([
            "".to_string(),
            "\0".into(),
            "🙂".into(),
            good[..good.len() / 2].to_string(),
            format!("{good}{good}"),
            "A".repeat(3_000),
        ]);
        for place in 0..good.len() {
            let mut damaged = good.clone();
            damaged.replace_range(
                place..=place,
                if &good[place..=place] == "x" {
                    "y"
                } else {
                    "x"
                },
            );
            bad.push(damaged);
        }
        for cursor in bad {
            let fault = world
                .call("graph_query", json!({"sort": sort, "cursor": cursor}))
                .unwrap_err();
            assert_eq!(
                (fault.code, &fault.details.unwrap()["field"]),
                (Code::Validation, &json!("cursor")),
                "{cursor}"
            );
        }
    }
}

#[on_both]
fn forged_cursors_do_no_harm(world: World) {
    world.plan(&["a", "b"]);
    let forged = |sort: &str, keys: Vec<Key>| {
        world.call(
            "graph_query",
            json!({"sort": sort, "cursor": Cursor::new(format!("graph.{sort}"), keys).encode()}),
        )
    };
    for keys in [
        vec![],
        vec![Key::Text("x".into())],
        vec![Key::Int(1), Key::Int(2)],
        vec![Key::Real(1.0)],
    ] {
        assert_eq!(forged("created", keys).unwrap_err().code, Code::Validation);
    }
    for real in [
        Key::Real(f64::NAN),
        Key::Real(f64::INFINITY),
        Key::Real(f64::NEG_INFINITY),
        Key::Real(-0.0),
        Key::Int(i64::MIN),
    ] {
        forged(
            "readiness",
            vec![
                Key::Int(i64::MAX),
                real.clone(),
                Key::Int(0),
                Key::Int(0),
                Key::Int(0),
            ],
        )
        .unwrap();
        forged(
            "readiness",
            vec![
                Key::Int(0),
                real,
                Key::Int(i64::MIN),
                Key::Int(0),
                Key::Int(-1),
            ],
        )
        .unwrap();
    }
    assert_eq!(
        forged("created", vec![Key::Int(i64::MIN)]).unwrap()["nodes"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[on_both]
fn wrong_arguments_name_their_field(world: World) {
    world.plan(&["a"]);
    for (args, field) in [
        (json!({"sort": "random"}), "sort"),
        (json!({"filter": {"nope": 1}}), "filter.nope"),
        (json!({"filter": {"text": 5}}), "filter.text"),
        (json!({"filter": {"is_leaf": "yes"}}), "filter.is_leaf"),
        (json!({"filter": []}), "filter"),
        (json!({"limit": 1.5}), "limit"),
        (json!({"unknown": 1}), "unknown"),
    ] {
        let fault = world.refused("graph_query", args);
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!(field))
        );
    }
    for id in ["TASK-999", "", "default"] {
        assert_eq!(
            world
                .refused("graph_query", json!({"filter": {"ancestor": id}}))
                .code,
            Code::NotFound
        );
    }
}
