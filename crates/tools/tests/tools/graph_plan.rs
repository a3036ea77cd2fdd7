//! `graph_plan`: batches of nodes, all of them or none.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// A batch must be refused with this code and name this field.
#[track_caller]
fn refuse(world: &World, nodes: Value, code: Code, field: &str) -> Value {
    let fault = world.refused("graph_plan", json!({ "nodes": nodes }));
    assert_eq!(fault.code, code, "{fault}");
    let details = fault.details.unwrap_or_default();
    assert_eq!(details["field"], field, "{}", fault.message);
    details
}

/// `count` nodes in one chain of parents, the first under the root.
fn chain(count: usize) -> Value {
    let mut nodes = vec![json!({"ref": "0", "summary": "level"})];
    for at in 1..count {
        nodes.push(
            json!({"ref": at.to_string(), "parent_ref": (at - 1).to_string(), "summary": "level"}),
        );
    }
    nodes.into()
}

#[on_both]
fn refs_become_ids_in_the_order_of_the_batch(world: World) {
    let answer = world.ok(
        "graph_plan",
        json!({"nodes": [
            {"ref": "child", "parent_ref": "parent", "summary": "Child"},
            {"ref": "parent", "summary": "Parent"},
        ]}),
    );
    assert_eq!(
        answer,
        json!({"created": [{"ref": "child", "id": "TASK-001"}, {"ref": "parent", "id": "TASK-002"}]})
    );
    assert_eq!(node(&world, "TASK-001")["parent"], "TASK-002");
    assert_eq!(node(&world, "TASK-002")["parent"], "PLAN-001");
}

#[on_both]
fn a_node_starts_open_at_rev_one(world: World) {
    plan(
        &world,
        json!([{"ref": "x", "summary": "X", "context_links": ["src/a.rs", "https://e.org"], "properties": {"priority": 3, "k": [1]}}]),
    );
    let node = node(&world, "TASK-001");
    assert_eq!(
        (&node["rev"], &node["resolved"]),
        (&json!(1), &json!(false))
    );
    assert_eq!(node["context_links"], json!(["src/a.rs", "https://e.org"]));
    assert_eq!(node["properties"], json!({"priority": 3, "k": [1]}));
    assert_eq!(
        (&node["created_by"], &node["evidence"]),
        (&json!("ada"), &json!([]))
    );
    assert!(node.get("state").is_none());
}

#[on_both]
fn the_first_plan_makes_the_default_project(world: World) {
    world.plan(&["X"]);
    assert_eq!(
        ids(&world.ok("graph_open", json!({}))["projects"]),
        ["default"]
    );
    assert_eq!(
        node(&world, "PLAN-001")["rev"],
        1,
        "a child is no change of its parent"
    );
}

#[on_both]
fn existing_ids_are_parents_and_dependencies(world: World) {
    let old = world.plan(&["Old", "Done"]);
    resolve(&world, &[&old[1]]);
    let new = plan(
        &world,
        json!([{"ref": "n", "parent_ref": old[0], "depends_on": [old[1], "m"], "summary": "N"}, {"ref": "m", "summary": "M", "depends_on": [old[1]]}]),
    );
    let context = world.ok("graph_context", json!({"node_id": new["n"]}));
    assert_eq!(context["depends_on"][0]["node"]["id"], json!(old[1]));
    assert_eq!(context["depends_on"][0]["satisfied"], true);
    assert_eq!(context["depends_on"][1]["satisfied"], false);
    assert_counted(&world);
}

#[on_both]
fn a_ref_beats_an_id_of_the_same_name(world: World) {
    world.plan(&["Old"]);
    let new = plan(
        &world,
        json!([{"ref": "TASK-001", "summary": "Shadow"}, {"ref": "c", "parent_ref": "TASK-001", "summary": "Child"}]),
    );
    assert_eq!(node(&world, &new["c"])["parent"], json!(new["TASK-001"]));
    assert_ne!(new["TASK-001"], "TASK-001");
}

#[on_both]
fn a_dependency_named_twice_counts_once(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A", "depends_on": ["b", "b"]}, {"ref": "b", "summary": "B"}]),
    );
    assert_eq!(newly(&resolve(&world, &[&of["b"]])), [of["a"].clone()]);
    assert_counted(&world);
}

#[on_both]
fn an_empty_batch_is_refused(world: World) {
    refuse(&world, json!([]), Code::Validation, "nodes");
}

#[on_both]
fn a_batch_of_five_thousand_is_the_largest(world: World) {
    let many = |count: usize| -> Value {
        (0..count)
            .map(|at| json!({"ref": at.to_string(), "summary": "S"}))
            .collect()
    };
    refuse(&world, many(5_001), Code::Validation, "nodes");
    let answer = world.ok("graph_plan", json!({"nodes": many(5_000)}));
    assert_eq!(answer["created"][4_999]["id"], "TASK-5000");
    assert_eq!(tally(&world), [5_001, 0, 0, 5_000]);
}

#[on_both]
fn one_bad_node_and_none_is_made(world: World) {
    let good = json!({"ref": "good", "summary": "Good"});
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "X", "depends_on": ["TASK-999"]}]),
        Code::NotFound,
        "nodes[1].depends_on[0]",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "X", "parent_ref": "TASK-999"}]),
        Code::NotFound,
        "nodes[1].parent_ref",
    );
    refuse(
        &world,
        json!([good, {"ref": "good", "summary": "Again"}]),
        Code::Validation,
        "nodes[1].ref",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": " \n"}]),
        Code::Validation,
        "nodes[1].summary",
    );
    refuse(
        &world,
        json!([good, {"ref": "", "summary": "X"}]),
        Code::Validation,
        "nodes[1].ref",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "X", "context_links": ["a", ""]}]),
        Code::Validation,
        "nodes[1].context_links[1]",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "a\0b"}]),
        Code::Validation,
        "nodes[1].summary",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "s".repeat(2_001)}]),
        Code::Validation,
        "nodes[1].summary",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "X", "properties": {"\0": 1}}]),
        Code::Validation,
        "nodes[1].properties key",
    );
    refuse(
        &world,
        json!([good, {"ref": "x"}]),
        Code::Validation,
        "nodes[1].summary",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": "X", "parent": "y"}]),
        Code::Validation,
        "nodes[1].parent",
    );
    refuse(
        &world,
        json!([good, {"ref": "x", "summary": 5}]),
        Code::Validation,
        "nodes[1].summary",
    );
    assert_eq!(world.ok("graph_open", json!({})), json!({"projects": []}));
}

#[on_both]
fn ids_that_no_database_stores_are_simply_not_found(world: World) {
    world.plan(&["X"]);
    for id in ["", " ", "project:default", "task-001", &"T".repeat(100_000)] {
        refuse(
            &world,
            json!([{"ref": "r", "summary": "S", "parent_ref": id}]),
            Code::NotFound,
            "nodes[0].parent_ref",
        );
        refuse(
            &world,
            json!([{"ref": "r", "summary": "S", "depends_on": [id]}]),
            Code::NotFound,
            "nodes[0].depends_on[0]",
        );
    }
}

#[on_both]
fn a_missing_node_is_told_with_the_nearest(world: World) {
    world.plan(&["X", "Y"]);
    let details = refuse(
        &world,
        json!([{"ref": "r", "summary": "S", "parent_ref": "TASK-01"}]),
        Code::NotFound,
        "nodes[0].parent_ref",
    );
    assert!(
        details["nearest"]
            .as_array()
            .unwrap()
            .contains(&json!("TASK-001")),
        "{details}"
    );
}

#[on_both]
fn a_dependency_circle_is_refused_with_its_path(world: World) {
    let details = refuse(
        &world,
        json!([
            {"ref": "out", "summary": "S", "depends_on": ["a"]},
            {"ref": "a", "summary": "S", "depends_on": ["b"]},
            {"ref": "b", "summary": "S", "depends_on": ["c"]},
            {"ref": "c", "summary": "S", "depends_on": ["a"]},
        ]),
        Code::Validation,
        "nodes[3].depends_on",
    );
    assert_eq!(details["cycle"], json!(["a", "b", "c", "a"]));
    assert_eq!(details["reason"], "cycle_detected");
    let details = refuse(
        &world,
        json!([{"ref": "me", "summary": "S", "depends_on": ["me"]}]),
        Code::Validation,
        "nodes[0].depends_on",
    );
    assert_eq!(details["cycle"], json!(["me", "me"]));
}

#[on_both]
fn a_circle_of_parents_is_refused_with_its_path(world: World) {
    let details = refuse(
        &world,
        json!([
            {"ref": "a", "summary": "S", "parent_ref": "b"},
            {"ref": "b", "summary": "S", "parent_ref": "a"},
        ]),
        Code::Validation,
        "nodes[0].parent_ref",
    );
    assert_eq!(details["cycle"], json!(["a", "b", "a"]));
    refuse(
        &world,
        json!([{"ref": "me", "summary": "S", "parent_ref": "me"}]),
        Code::Validation,
        "nodes[0].parent_ref",
    );
}

#[on_both]
fn a_diamond_is_no_circle(world: World) {
    plan(
        &world,
        json!([
            {"ref": "top", "summary": "S", "depends_on": ["l", "r"]},
            {"ref": "l", "summary": "S", "depends_on": ["end"]},
            {"ref": "r", "summary": "S", "depends_on": ["end"]},
            {"ref": "end", "summary": "S"},
        ]),
    );
    assert_eq!(tally(&world), [5, 0, 3, 1]);
}

#[on_both]
fn a_long_chain_of_dependencies_is_fine(world: World) {
    let nodes: Value = (0..1_000)
        .map(|at| json!({"ref": at.to_string(), "summary": "S", "depends_on": if at == 0 { vec![] } else { vec![(at - 1).to_string()] }}))
        .collect();
    let of = plan(&world, nodes);
    assert_eq!(tally(&world), [1_001, 0, 999, 1]);
    assert_eq!(newly(&resolve(&world, &[&of["0"]])), [of["1"].clone()]);
}

#[on_both]
fn a_tree_has_at_most_256_levels(world: World) {
    let of = plan(&world, chain(255));
    let deepest = &of["254"];
    let fault = world.refused(
        "graph_plan",
        json!({"nodes": [{"ref": "x", "summary": "S", "parent_ref": deepest}]}),
    );
    assert_eq!(fault.code, Code::DepthExceeded);
    let fault = world.refused("graph_plan", json!({"nodes": chain(256)}));
    assert_eq!(fault.code, Code::DepthExceeded);
    assert_eq!(
        world
            .refused("graph_plan", json!({"nodes": chain(5_000)}))
            .code,
        Code::DepthExceeded
    );
    assert_eq!(next_ids(&world, json!({})), [deepest.as_str()]);
    assert_eq!(
        found(&world, json!({"ancestor": of["253"]})),
        [deepest.as_str()]
    );
    world.assert_sound();
}

#[on_both]
fn a_plan_across_projects_stays_with_its_parent(world: World) {
    world.ok("graph_open", json!({"project": "other"}));
    let x = world.ok(
        "graph_plan",
        json!({"project": "other", "nodes": [{"ref": "x", "summary": "X"}]}),
    );
    let y = plan(
        &world,
        json!([{"ref": "y", "summary": "Y", "parent_ref": x["created"][0]["id"]}]),
    );
    assert_eq!(
        ids(&world.ok("graph_open", json!({}))["projects"]),
        ["other"]
    );
    assert_eq!(
        world.ok("graph_query", json!({"project": "other"}))["total"],
        3
    );
    assert_eq!(node(&world, &y["y"])["parent"], x["created"][0]["id"]);
}

#[on_both]
fn any_text_is_kept_as_it_is(world: World) {
    for text in NASTY {
        let of = plan(
            &world,
            json!([{"ref": text, "summary": text, "context_links": [text], "properties": {*text: {"v": text}, "nul": "a\0b"}}]),
        );
        let node = node(&world, &of[*text]);
        assert_eq!(node["summary"], *text);
        assert_eq!(node["context_links"], json!([text]));
        assert_eq!(
            node["properties"],
            json!({*text: {"v": text}, "nul": "a\0b"})
        );
    }
    world.assert_sound();
}
