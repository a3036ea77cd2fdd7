//! `graph_update`: what a change does to a node, and what it unblocks.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// One update of one node; the answer.
#[track_caller]
fn update(world: &World, id: &str, mut change: Value) -> Value {
    change["node_id"] = id.into();
    world.ok("graph_update", json!({"updates": [change]}))
}

#[track_caller]
fn refuse(world: &World, updates: Value, code: Code, field: &str) {
    let fault = world.refused("graph_update", json!({ "updates": updates }));
    assert_eq!(fault.code, code, "{fault}");
    assert_eq!(
        fault.details.unwrap_or_default()["field"],
        field,
        "{}",
        fault.message
    );
}

#[on_both]
fn every_field_changes_alone_and_raises_the_rev(world: World) {
    let id = world.plan(&["Before"]).remove(0);
    let changes = [
        json!({"summary": "After"}),
        json!({"state": {"phase": [1]}}),
        json!({"resolved": true}),
        json!({"properties": {"k": 1}}),
        json!({"add_context_links": ["a"]}),
        json!({"add_evidence": [{"type": "note", "ref": "r"}]}),
        json!({"remove_context_links": ["a"]}),
        json!({"resolved": false}),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let answer = update(&world, &id, change);
        assert_eq!(answer["updated"], json!([{"node_id": id, "rev": at + 2}]));
    }
    let node = node(&world, &id);
    assert_eq!(
        (&node["summary"], &node["state"], &node["properties"]),
        (&json!("After"), &json!({"phase": [1]}), &json!({"k": 1}))
    );
    assert_eq!(
        (&node["resolved"], &node["context_links"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(node["evidence"].as_array().unwrap().len(), 1);
    assert!(node["updated_at"].as_str() > node["created_at"].as_str());
    world.assert_sound();
}

#[on_both]
fn an_update_that_changes_nothing_is_not_written(world: World) {
    let id = plan(
        &world,
        json!([{"ref": "x", "summary": "X", "context_links": ["a"], "properties": {"k": 1}}]),
    )
    .remove("x")
    .unwrap();
    let head = world.head();
    for nothing in [
        json!({}),
        json!({"summary": "X"}),
        json!({"resolved": false}),
        json!({"properties": {"k": 1, "gone": null}}),
        json!({"add_context_links": ["a"]}),
        json!({"remove_context_links": ["z"]}),
        json!({"reason": "none"}),
        json!({"state": null}),
        json!({"claim": false}),
    ] {
        let answer = update(&world, &id, nothing.clone());
        assert_eq!(
            answer,
            json!({"updated": [{"node_id": id, "rev": 1, "unchanged": true}]}),
            "{nothing}"
        );
    }
    assert_eq!(world.head(), head);
    let both = world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id}, {"node_id": id, "state": 1}]}),
    );
    assert_eq!(
        both["updated"],
        json!([{"node_id": id, "rev": 1, "unchanged": true}, {"node_id": id, "rev": 2}])
    );
}

#[on_both]
fn a_priority_is_a_number(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for bad in [
        json!("10"),
        json!("high"),
        json!(true),
        json!([1]),
        json!({}),
    ] {
        refuse(
            &world,
            json!([{"node_id": id, "properties": {"priority": bad}}]),
            Code::Validation,
            "updates[0].properties.priority",
        );
        let fault = world.refused(
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "A", "properties": {"priority": bad}}]}),
        );
        assert_eq!(
            fault.details.unwrap()["field"],
            "nodes[0].properties.priority"
        );
    }
    update(&world, &id, json!({"properties": {"priority": 1.5}}));
    update(&world, &id, json!({"properties": {"priority": null}}));
    assert_eq!(node(&world, &id)["properties"], json!({}));
}

#[on_both]
fn properties_merge_and_null_deletes_a_key(world: World) {
    let id = plan(&world, json!([{"ref": "x", "summary": "X", "properties": {"a": 1, "b": {"deep": 1, "kept": 2}, "c": 3}}])).remove("x").unwrap();
    update(
        &world,
        &id,
        json!({"properties": {"a": null, "b": {"deep": 9}, "d": false, "gone": null}}),
    );
    assert_eq!(
        node(&world, &id)["properties"],
        json!({"b": {"deep": 9}, "c": 3, "d": false}),
        "merged one level deep"
    );
}

#[on_both]
fn a_state_is_anything_and_null_clears_it(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for state in [
        json!("done"),
        json!(0),
        json!(false),
        json!([]),
        json!({}),
        json!({"a": {"b": [null]}}),
        json!("\0 \u{1f600}"),
        json!(1e300),
        json!(u64::MAX),
    ] {
        update(&world, &id, json!({"state": state}));
        assert_eq!(node(&world, &id)["state"], state);
        update(&world, &id, json!({"summary": "keeps it"}));
        assert_eq!(node(&world, &id)["state"], state);
    }
    update(&world, &id, json!({"state": null}));
    assert!(node(&world, &id).get("state").is_none());
    assert_eq!(tally(&world), [2, 0, 0, 1], "the engine ignores it");
    world.assert_sound();
}

#[on_both]
fn one_and_one_point_nought_are_kept_as_they_were_written(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for value in [
        json!(1),
        json!(1.0),
        json!(-0.0),
        json!(0.0),
        json!(0),
        json!(1e16),
        json!(10_000_000_000_000_000_i64),
    ] {
        update(&world, &id, json!({"properties": {"n": value}}));
        assert_eq!(
            node(&world, &id)["properties"]["n"].to_string(),
            value.to_string()
        );
    }
    world.assert_sound();
}

#[on_both]
fn links_are_added_once_then_removed(world: World) {
    let id = world.plan(&["X"]).remove(0);
    update(&world, &id, json!({"add_context_links": ["a", "b", "a"]}));
    update(&world, &id, json!({"add_context_links": ["b", "c"]}));
    assert_eq!(node(&world, &id)["context_links"], json!(["a", "b", "c"]));
    update(
        &world,
        &id,
        json!({"add_context_links": ["d", "e"], "remove_context_links": ["a", "d", "nope"]}),
    );
    assert_eq!(node(&world, &id)["context_links"], json!(["b", "c", "e"]));
}

#[on_both]
fn evidence_is_signed_dated_and_never_replaced(world: World) {
    let id = world.plan(&["X"]).remove(0);
    update(
        &world,
        &id,
        json!({"add_evidence": [{"type": "git", "ref": "abc"}, {"type": "hint", "ref": "look there"}]}),
    );
    let bob = World::caller("bob");
    world
        .call_as(
            &bob,
            "graph_update",
            json!({"updates": [{"node_id": id, "add_evidence": [{"type": "git", "ref": "abc"}]}]}),
        )
        .unwrap();
    let evidence = node(&world, &id)["evidence"].clone();
    let agents: Vec<&str> = evidence
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["agent"].as_str().unwrap())
        .collect();
    assert_eq!(agents, ["ada", "ada", "bob"]);
    assert_eq!(evidence[2]["timestamp"], node(&world, &id)["updated_at"]);
    refuse(
        &world,
        json!([{"node_id": id, "add_evidence": [{"type": "git", "ref": "x", "agent": "eve"}]}]),
        Code::Validation,
        "updates[0].add_evidence[0].agent",
    );
}

#[on_both]
fn much_evidence_is_kept_and_stays_searchable(world: World) {
    let id = world.plan(&["X"]).remove(0);
    let words = |part: usize| {
        (0..9_000)
            .map(|at| format!("w{part}x{at:05} "))
            .collect::<String>()
    };
    let evidence: Vec<Value> = (0..15)
        .map(|part| json!({"type": "log", "ref": words(part)}))
        .collect();
    update(&world, &id, json!({"add_evidence": evidence}));
    update(
        &world,
        &id,
        json!({"add_evidence": [{"type": "log", "ref": "one more"}]}),
    );
    assert_eq!(
        found(&world, json!({"has_evidence_type": "log"})),
        [id.as_str()]
    );
    let whole = world.ok(
        "graph_context",
        json!({"node_id": id, "max_chars": 10_000_000}),
    );
    assert_eq!(whole["node"]["evidence"].as_array().unwrap().len(), 16);
}

#[on_both]
fn an_expected_rev_guards_against_a_lost_update(world: World) {
    let id = world.plan(&["X"]).remove(0);
    update(&world, &id, json!({"summary": "Y", "expected_rev": 1}));
    let fault = world.refused(
        "graph_update",
        json!({"updates": [{"node_id": id, "summary": "Z", "expected_rev": 1}]}),
    );
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(fault.details.unwrap()["current"], node(&world, &id));
    update(&world, &id, json!({"summary": "Z", "expected_rev": 2}));
    world.ok("graph_update", json!({"updates": [{"node_id": id, "state": 1, "expected_rev": 3}, {"node_id": id, "state": 2, "expected_rev": 4}]}));
    let fault = world.refused("graph_update", json!({"updates": [{"node_id": id, "state": 3}, {"node_id": id, "state": 4, "expected_rev": 5}]}));
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(node(&world, &id)["state"], 2);
}

#[on_both]
fn one_bad_update_and_none_is_made(world: World) {
    let id = world.plan(&["X"]).remove(0);
    let good = json!({"node_id": id, "resolved": true});
    for missing in ["TASK-999", "", "project:default"] {
        refuse(
            &world,
            json!([good, {"node_id": missing}]),
            Code::NotFound,
            "updates[1].node_id",
        );
    }
    refuse(&world, json!([]), Code::Validation, "updates");
    refuse(
        &world,
        json!([good, {"node_id": id, "summary": ""}]),
        Code::Validation,
        "updates[1].summary",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "summary": "a\0"}]),
        Code::Validation,
        "updates[1].summary",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "add_evidence": [{"type": "", "ref": "x"}]}]),
        Code::Validation,
        "updates[1].add_evidence[0].type",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "add_evidence": [{"type": "t", "ref": "x".repeat(100_001)}]}]),
        Code::Validation,
        "updates[1].add_evidence[0].ref",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "add_context_links": [" "]}]),
        Code::Validation,
        "updates[1].add_context_links[0]",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "parent": "PLAN-001"}]),
        Code::Validation,
        "updates[1].parent",
    );
    refuse(
        &world,
        json!([good, {"node_id": id, "resolved": "yes"}]),
        Code::Validation,
        "updates[1].resolved",
    );
    let many: Vec<Value> = vec![good.clone(); 5_001];
    refuse(&world, many.into(), Code::Validation, "updates");
    let too_large: Vec<Value> = (0..50)
        .map(|_| json!({"type": "t", "ref": "x".repeat(99_000)}))
        .collect();
    assert_eq!(
        world
            .refused(
                "graph_update",
                json!({"updates": [good, {"node_id": id, "add_evidence": too_large}]})
            )
            .code,
        Code::TooLarge
    );
    assert_eq!(
        (&node(&world, &id)["resolved"], rev(&world, &id)),
        (&json!(false), 1)
    );
}

#[on_both]
fn a_batch_of_five_thousand_is_the_largest(world: World) {
    let ids = world.plan(&["A", "B"]);
    let updates: Vec<Value> = (0..5_000)
        .map(|at| json!({"node_id": ids[at % 2], "state": at}))
        .collect();
    let answer = world.ok("graph_update", json!({ "updates": updates }));
    assert_eq!(answer["updated"].as_array().unwrap().len(), 5_000);
    assert_eq!(
        (&node(&world, &ids[1])["state"], rev(&world, &ids[1])),
        (&json!(4_999), 2_501)
    );
}

#[on_both]
fn a_merged_node_takes_no_update(world: World) {
    let ids = world.plan(&["A", "B"]);
    restructure(
        &world,
        json!([{"op": "merge", "source": ids[0], "target": ids[1]}]),
    );
    refuse(
        &world,
        json!([{"node_id": ids[0], "summary": "X"}]),
        Code::NotFound,
        "updates[0].node_id",
    );
}

#[on_both]
fn a_chain_unblocks_one_at_a_time(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "depends_on": ["a"]}, {"ref": "c", "summary": "C", "depends_on": ["b"]},
        ]),
    );
    let answer = resolve(&world, &[&of["a"]]);
    assert_eq!(
        answer["newly_actionable"],
        json!([{"id": of["b"], "summary": "B"}])
    );
    assert_eq!(
        newly(&resolve(&world, &[&of["a"]])),
        Vec::<String>::new(),
        "again is nothing new"
    );
    assert_eq!(newly(&resolve(&world, &[&of["b"]])), [of["c"].clone()]);
    assert_eq!(
        newly(&resolve(&world, &[&of["c"]])),
        ["PLAN-001"],
        "the last open child makes the parent ready"
    );
}

#[on_both]
fn a_diamond_unblocks_when_both_sides_are_done(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "top", "summary": "S"}, {"ref": "l", "summary": "S", "depends_on": ["top"]},
            {"ref": "r", "summary": "S", "depends_on": ["top"]}, {"ref": "end", "summary": "S", "depends_on": ["l", "r"]},
        ]),
    );
    assert_eq!(
        newly(&resolve(&world, &[&of["top"]])),
        [of["l"].clone(), of["r"].clone()]
    );
    assert_eq!(newly(&resolve(&world, &[&of["l"]])), Vec::<String>::new());
    assert_eq!(newly(&resolve(&world, &[&of["r"]])), [of["end"].clone()]);
}

#[on_both]
fn a_whole_chain_at_once_tells_only_what_is_left(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "S"}, {"ref": "b", "summary": "S", "depends_on": ["a"]}, {"ref": "c", "summary": "S", "depends_on": ["b"]},
        ]),
    );
    assert_eq!(
        newly(&resolve(&world, &[&of["b"], &of["a"]])),
        [of["c"].clone()]
    );
}

#[on_both]
fn updates_that_cancel_out_unblock_nothing(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "S"}, {"ref": "b", "summary": "S", "depends_on": ["a"]}]),
    );
    let both =
        |first: bool| {
            world.ok("graph_update", json!({"updates": [
        {"node_id": of["a"], "resolved": first}, {"node_id": of["a"], "resolved": !first},
    ]}))
        };
    assert_eq!(newly(&both(true)), Vec::<String>::new());
    resolve(&world, &[&of["a"]]);
    assert_eq!(newly(&both(false)), Vec::<String>::new());
    assert_counted(&world);
}

#[on_both]
fn a_parent_is_ready_when_its_last_open_child_is_done(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "p", "summary": "P"}, {"ref": "a", "summary": "A", "parent_ref": "p"}, {"ref": "b", "summary": "B", "parent_ref": "p"},
            {"ref": "q", "summary": "Q", "depends_on": ["p"]},
        ]),
    );
    assert_eq!(newly(&resolve(&world, &[&of["a"]])), Vec::<String>::new());
    assert_eq!(newly(&resolve(&world, &[&of["b"]])), [of["p"].clone()]);
    assert_eq!(newly(&resolve(&world, &[&of["p"]])), [of["q"].clone()]);
}

#[on_both]
fn a_blocked_parent_is_not_ready_with_its_children(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "x", "summary": "X"}, {"ref": "p", "summary": "P", "depends_on": ["x"]}, {"ref": "a", "summary": "A", "parent_ref": "p"},
        ]),
    );
    assert_eq!(newly(&resolve(&world, &[&of["a"]])), Vec::<String>::new());
    assert_eq!(newly(&resolve(&world, &[&of["x"]])), [of["p"].clone()]);
}

#[on_both]
fn reopening_makes_ready_and_blocks_again(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "S"}, {"ref": "b", "summary": "S", "depends_on": ["a"]}]),
    );
    resolve(&world, &[&of["a"]]);
    assert_eq!(
        newly(&set_resolved(&world, &[&of["a"]], false)),
        [of["a"].clone()]
    );
    assert_eq!(tally(&world), [3, 0, 1, 1]);
    resolve(&world, &[&of["a"], &of["b"]]);
    set_resolved(&world, &[&of["a"]], false);
    assert_eq!(
        newly(&set_resolved(&world, &[&of["b"]], false)),
        Vec::<String>::new(),
        "it is blocked"
    );
    assert_counted(&world);
}

#[on_both]
fn work_in_another_project_unblocks_here(world: World) {
    world.ok("graph_open", json!({"project": "other"}));
    let there = world.ok(
        "graph_plan",
        json!({"project": "other", "nodes": [{"ref": "x", "summary": "X"}]}),
    )["created"][0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    let here = plan(
        &world,
        json!([{"ref": "y", "summary": "Y", "depends_on": [there]}]),
    )
    .remove("y")
    .unwrap();
    assert_eq!(tally(&world), [2, 0, 1, 0]);
    let told = newly(&resolve(&world, &[&there]));
    assert_eq!(
        told,
        ["PLAN-001".to_string(), here],
        "the other root has no open child left"
    );
    assert_eq!(tally(&world), [2, 0, 0, 1]);
}

#[on_both]
fn any_text_is_kept_as_it_is(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for text in NASTY {
        update(
            &world,
            &id,
            json!({"summary": text, "state": text, "properties": {*text: text}, "reason": text,
            "add_context_links": [text], "add_evidence": [{"type": text, "ref": text}]}),
        );
        let node = node(&world, &id);
        assert_eq!(
            (&node["summary"], &node["state"], &node["properties"][*text]),
            (&json!(text), &json!(text), &json!(text))
        );
        assert_eq!(
            found(
                &world,
                json!({"has_evidence_type": text, "properties": {*text: text}, "text": text})
            ),
            [id.as_str()],
            "{text}"
        );
    }
    world.assert_sound();
}
