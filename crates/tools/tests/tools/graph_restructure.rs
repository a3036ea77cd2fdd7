//! `graph_restructure`: replanning, all of it or nothing.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn refuse(world: &World, operations: Value, code: Code) -> Value {
    let fault = world.refused("graph_restructure", json!({ "operations": operations }));
    assert_eq!(fault.code, code, "{fault}");
    fault.details.unwrap_or_default()
}

fn moved(node: &str, parent: &str) -> Value {
    json!({"op": "move", "node_id": node, "new_parent": parent})
}

fn merged(source: &str, target: &str) -> Value {
    json!({"op": "merge", "source": source, "target": target})
}

fn dropped(node: &str) -> Value {
    json!({"op": "drop", "node_id": node, "reason": "no longer needed"})
}

#[on_both]
fn a_move_takes_the_subtree_with_its_edges(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A"}, {"ref": "x", "summary": "X", "parent_ref": "a", "depends_on": ["d"]},
            {"ref": "y", "summary": "Y", "parent_ref": "x"}, {"ref": "b", "summary": "B"}, {"ref": "b1", "summary": "B1", "parent_ref": "b"}, {"ref": "d", "summary": "D"},
        ]),
    );
    let answer = restructure(&world, json!([moved(&of["x"], &of["b1"])]));
    assert_eq!(answer["applied"], 1);
    assert_eq!(
        (
            &answer["details"][0]["op"],
            &answer["details"][0]["node_id"]
        ),
        (&json!("move"), &json!(of["x"]))
    );
    assert!(answer["details"][0]["result"].is_string());
    assert_eq!(
        newly(&answer),
        [of["a"].clone()],
        "its last open child has left"
    );
    assert_eq!(rev(&world, &of["x"]), 2, "a move raises the rev");
    assert_eq!(rev(&world, &of["y"]), 1);
    let context = world.ok("graph_context", json!({"node_id": of["y"]}));
    let above: Vec<String> = ids(&context["ancestors"]);
    assert_eq!(
        above,
        [
            "PLAN-001".to_string(),
            of["b"].clone(),
            of["b1"].clone(),
            of["x"].clone()
        ]
    );
    assert_eq!(
        world.ok("graph_context", json!({"node_id": of["x"]}))["depends_on"][0]["node"]["id"],
        json!(of["d"])
    );
    assert_eq!(
        world.ok("graph_query", json!({"filter": {"text": "y"}}))["nodes"][0]["depth"],
        4
    );
    assert_counted(&world);
    world.assert_sound();
}

#[on_both]
fn a_move_below_oneself_is_refused_with_its_path(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "parent_ref": "a"}, {"ref": "c", "summary": "C", "parent_ref": "b"}]),
    );
    let details = refuse(&world, json!([moved(&of["a"], &of["c"])]), Code::Validation);
    assert_eq!(
        details["cycle"],
        json!([of["a"], of["b"], of["c"], of["a"]])
    );
    assert_eq!(
        refuse(&world, json!([moved(&of["a"], &of["a"])]), Code::Validation)["cycle"],
        json!([of["a"], of["a"]])
    );
    refuse(&world, json!([moved("PLAN-001", &of["a"])]), Code::Conflict);
}

#[on_both]
fn moving_to_where_it_is_changes_nothing(world: World) {
    let id = world.plan(&["A"]).remove(0);
    let head = world.head();
    assert_eq!(
        restructure(&world, json!([moved(&id, "PLAN-001")]))["applied"],
        1
    );
    assert_eq!((rev(&world, &id), world.head()), (1, head));
}

#[on_both]
fn a_move_keeps_the_depth_limit(world: World) {
    let mut nodes = vec![json!({"ref": "0", "summary": "S"})];
    nodes.extend((1..250).map(
        |at| json!({"ref": at.to_string(), "parent_ref": (at - 1).to_string(), "summary": "S"}),
    ));
    nodes.push(json!({"ref": "t0", "summary": "T"}));
    nodes.extend((1..6).map(
        |at| json!({"ref": format!("t{at}"), "parent_ref": format!("t{}", at - 1), "summary": "T"}),
    ));
    let of = plan(&world, nodes.into());
    refuse(
        &world,
        json!([moved(&of["t0"], &of["249"])]),
        Code::DepthExceeded,
    );
    refuse(
        &world,
        json!([merged(&of["t0"], &of["249"]), moved(&of["t1"], &of["t5"])]),
        Code::Validation,
    );
    restructure(&world, json!([moved(&of["t1"], &of["249"])]));
    assert_eq!(
        world.ok("graph_query", json!({"sort": "depth", "limit": 1}))["nodes"][0]["depth"],
        255
    );
    refuse(
        &world,
        json!([merged(&of["249"], &of["t5"])]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([moved(&of["t0"], &of["t5"])]),
        Code::DepthExceeded,
    );
    assert_eq!(next_ids(&world, json!({})), [of["t5"].clone()]);
}

#[on_both]
fn a_merge_gives_the_target_children_evidence_and_edges(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "s", "summary": "S", "depends_on": ["dep", "both"], "context_links": ["s.md"]}, {"ref": "s1", "summary": "S1", "parent_ref": "s"}, {"ref": "s2", "summary": "S2", "parent_ref": "s1"},
            {"ref": "t", "summary": "T", "depends_on": ["both"]}, {"ref": "dep", "summary": "Dep"}, {"ref": "both", "summary": "Both"},
            {"ref": "waits", "summary": "Waits", "depends_on": ["s"]}, {"ref": "waits2", "summary": "Waits2", "depends_on": ["s", "t"]},
        ]),
    );
    world.ok("graph_update", json!({"updates": [
        {"node_id": of["t"], "add_evidence": [{"type": "note", "ref": "own"}]}, {"node_id": of["s"], "add_evidence": [{"type": "git", "ref": "taken"}]},
    ]}));
    let (before, waits) = (rev(&world, &of["t"]), rev(&world, &of["waits"]));
    let answer = restructure(&world, json!([merged(&of["s"], &of["t"])]));
    assert_eq!(
        (
            &answer["details"][0]["op"],
            &answer["details"][0]["node_id"]
        ),
        (&json!("merge"), &json!(of["s"]))
    );
    let context = world.ok("graph_context", json!({"node_id": of["t"]}));
    let refs: Vec<&str> = context["node"]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["ref"].as_str().unwrap())
        .collect();
    assert_eq!(refs, ["own", "taken"]);
    assert_eq!(context["children"]["children"][0]["id"], json!(of["s1"]));
    assert_eq!(
        context["children"]["children"][0]["children"][0]["id"],
        json!(of["s2"])
    );
    let others = |side: &str| {
        context[side]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["node"]["id"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        others("depends_on"),
        [of["dep"].clone(), of["both"].clone()]
    );
    assert_eq!(
        others("depended_by"),
        [of["waits"].clone(), of["waits2"].clone()]
    );
    assert!(rev(&world, &of["t"]) > before && rev(&world, &of["waits"]) > waits);
    assert_eq!(context["node"]["context_links"], json!(["s.md"]));
    assert_eq!(
        found(&world, json!({"text": "s"})),
        [
            of["s1"].clone(),
            of["s2"].clone(),
            of["waits"].clone(),
            of["waits2"].clone()
        ]
    );
    assert_counted(&world);
    world.assert_sound();
}

#[on_both]
fn a_merge_fills_gaps_and_says_what_it_left_out(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "s", "summary": "S", "context_links": ["a", "b"], "properties": {"size": 3, "priority": 5, "kind": "bug"}},
            {"ref": "t", "summary": "T", "context_links": ["b"], "properties": {"priority": 1, "kind": "bug"}},
        ]),
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["s"], "state": "half", "claim": true}]}),
    );
    let answer = restructure(&world, json!([merged(&of["s"], &of["t"])]));
    assert_eq!(
        answer["details"][0],
        json!({
            "op": "merge", "node_id": of["s"], "result": format!("merged into {}", of["t"]),
            "taken": ["context_links", "state", "properties.size"], "dropped": ["summary", "claim", "properties.priority"],
        })
    );
    let kept = node(&world, &of["t"]);
    assert_eq!(kept["context_links"], json!(["b", "a"]));
    assert_eq!(
        kept["properties"],
        json!({"priority": 1, "kind": "bug", "size": 3})
    );
    assert_eq!(kept["state"], "half");
    world.assert_sound();
}

#[on_both]
fn an_old_name_leads_to_what_it_was_merged_into(world: World) {
    let ids = world.plan(&["A", "B", "C"]);
    restructure(
        &world,
        json!([merged(&ids[0], &ids[1]), merged(&ids[1], &ids[2])]),
    );
    let context = world.ok("graph_context", json!({"node_id": ids[0]}));
    assert_eq!(
        (&context["node"]["id"], &context["merged_from"]),
        (&json!(ids[2]), &json!(ids[0]))
    );
    assert!(
        world
            .ok("graph_context", json!({"node_id": ids[2]}))
            .get("merged_from")
            .is_none()
    );
    for (tool, args) in [
        (
            "graph_update",
            json!({"updates": [{"node_id": ids[0], "resolved": true}]}),
        ),
        ("graph_next", json!({"scope": ids[0]})),
        ("graph_next", json!({"scope": ids[0], "claim": true})),
        (
            "graph_plan",
            json!({"nodes": [{"ref": "x", "summary": "X", "parent_ref": ids[0]}]}),
        ),
    ] {
        let fault = world.refused(tool, args);
        assert_eq!(
            (fault.code, &fault.details.as_ref().unwrap()["merged_into"]),
            (Code::NotFound, &json!(ids[2])),
            "{tool}"
        );
        assert!(fault.message.contains("was merged into") && fault.hint.unwrap().contains(&ids[2]));
    }
    let rejected = world.ok(
        "graph_connect",
        json!({"edges": [{"from": ids[0], "to": ids[2], "type": "x"}]}),
    );
    assert_eq!(rejected["rejected"][0]["merged_into"], json!(ids[2]));
}

#[on_both]
fn nothing_may_wait_for_itself_through_tree_and_dependencies(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "epic", "summary": "Epic"}, {"ref": "part", "summary": "Part", "parent_ref": "epic"}, {"ref": "bit", "summary": "Bit", "parent_ref": "part"},
            {"ref": "after", "summary": "After", "depends_on": ["epic"]}, {"ref": "last", "summary": "Last", "depends_on": ["after"]},
        ]),
    );
    let id = |name: &str| of[name].as_str();
    for (from, to, path) in [
        ("bit", "epic", vec!["bit", "epic", "part", "bit"]),
        (
            "bit",
            "last",
            vec!["bit", "last", "after", "epic", "part", "bit"],
        ),
        ("part", "after", vec!["part", "after", "epic", "part"]),
    ] {
        let answer = depend(&world, id(from), id(to));
        assert_eq!(answer["rejected"][0]["reason"], "cycle_detected");
        let path: Vec<&str> = path.into_iter().map(id).collect();
        assert_eq!(answer["rejected"][0]["cycle"], json!(path));
    }
    assert_eq!(
        depend(&world, id("epic"), id("bit"))["applied"],
        1,
        "a parent may depend on what is below it"
    );
    assert_eq!(
        depend(&world, id("bit"), "PLAN-001")["rejected"][0]["reason"],
        "cycle_detected"
    );
    let details = refuse(
        &world,
        json!([moved(id("last"), id("part"))]),
        Code::Validation,
    );
    assert_eq!(
        details["cycle"],
        json!([of["part"], of["last"], of["after"], of["epic"], of["part"]])
    );
    let details = refuse(
        &world,
        json!([merged(id("last"), id("bit"))]),
        Code::Validation,
    );
    assert_eq!(details["cycle"][0], json!(of["bit"]));
    refuse(
        &world,
        json!([merged(id("after"), id("part"))]),
        Code::Validation,
    );
    let plan_of = |nodes: Value| {
        world
            .refused("graph_plan", json!({ "nodes": nodes }))
            .details
            .unwrap()
    };
    assert_eq!(
        plan_of(
            json!([{"ref": "x", "summary": "X", "parent_ref": id("bit"), "depends_on": [id("part")]}])
        )["cycle"],
        json!(["x", of["part"], of["bit"], "x"])
    );
    plan_of(
        json!([{"ref": "x", "summary": "X", "parent_ref": id("bit"), "depends_on": [id("last")]}]),
    );
    plan_of(json!([{"ref": "x", "summary": "X", "depends_on": ["PLAN-001"]}]));
    assert_eq!(
        plan_of(
            json!([{"ref": "x", "summary": "X"}, {"ref": "y", "summary": "Y", "parent_ref": "x", "depends_on": ["x"]}])
        )["cycle"],
        json!(["x", "y", "x"])
    );
    let through = plan_of(
        json!([{"ref": "x", "summary": "X", "depends_on": [id("last")]}, {"ref": "y", "summary": "Y", "parent_ref": id("bit"), "depends_on": ["x"]}]),
    );
    assert_eq!(
        through["cycle"].as_array().unwrap().len(),
        7,
        "through the batch and what was there: {through}"
    );
    world.ok("graph_plan", json!({"nodes": [{"ref": "x", "summary": "X", "parent_ref": id("last"), "depends_on": [id("bit")]}]}));
    assert_eq!(next_ids(&world, json!({})), [id("bit")], "work goes on");
    assert_counted(&world);
    world.assert_sound();
}

#[on_both]
fn edges_between_the_two_vanish_in_a_merge(world: World) {
    for (from, to) in [("s", "t"), ("t", "s")] {
        let of = plan(
            &world,
            json!([{"ref": "s", "summary": "S"}, {"ref": "t", "summary": "T"}]),
        );
        depend(&world, &of[from], &of[to]);
        world.ok(
            "graph_connect",
            json!({"edges": [{"from": of[to], "to": of[from], "type": "relates_to"}]}),
        );
        let answer = restructure(&world, json!([merged(&of["s"], &of["t"])]));
        let told = newly(&answer);
        assert_eq!(
            told.contains(&of["t"]),
            from == "t",
            "what it waited for is itself now"
        );
        assert_counted(&world);
    }
    world.assert_sound();
}

#[on_both]
fn a_merge_that_would_close_a_circle_is_refused_with_its_path(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "s", "summary": "S"}, {"ref": "m", "summary": "M", "depends_on": ["s"]}, {"ref": "t", "summary": "T", "depends_on": ["m"]}]),
    );
    let details = refuse(
        &world,
        json!([merged(&of["s"], &of["t"])]),
        Code::Validation,
    );
    assert_eq!(details["cycle"], json!([of["t"], of["m"], of["t"]]));
    assert_eq!(details["field"], "operations[0].target");
    for (operation, field) in [
        (
            json!({"op": "move", "node_id": of["t"], "new_parent": of["t"]}),
            "operations[0].new_parent",
        ),
        (
            json!({"op": "move", "node_id": "TASK-099", "new_parent": of["t"]}),
            "operations[0].node_id",
        ),
        (
            json!({"op": "merge", "source": "TASK-099", "target": of["t"]}),
            "operations[0].source",
        ),
        (
            json!({"op": "drop", "node_id": "TASK-099", "reason": "r"}),
            "operations[0].node_id",
        ),
    ] {
        let fault = world.refused("graph_restructure", json!({"operations": [operation]}));
        assert!(
            fault.message.starts_with(&format!("{field}: ")),
            "{}",
            fault.message
        );
        assert_eq!(fault.details.unwrap()["field"], field);
    }
    let details = refuse(
        &world,
        json!([merged(&of["t"], &of["s"])]),
        Code::Validation,
    );
    assert_eq!(details["cycle"], json!([of["s"], of["m"], of["s"]]));
}

#[on_both]
fn what_cannot_be_merged_is_refused(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "parent_ref": "a"}]),
    );
    refuse(
        &world,
        json!([merged(&of["a"], &of["a"])]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([merged(&of["a"], &of["b"])]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([merged("PLAN-001", &of["a"])]),
        Code::Conflict,
    );
    restructure(&world, json!([merged(&of["b"], &of["a"])]));
    refuse(&world, json!([merged(&of["b"], &of["a"])]), Code::NotFound);
    assert_counted(&world);
}

#[on_both]
fn a_merge_unblocks_what_the_gone_node_blocked(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "open", "summary": "Open"}, {"ref": "done", "summary": "Done"}, {"ref": "w", "summary": "W", "depends_on": ["open"]}]),
    );
    resolve(&world, &[&of["done"]]);
    assert_eq!(
        newly(&restructure(
            &world,
            json!([merged(&of["open"], &of["done"])])
        )),
        [of["w"].clone()]
    );
    assert_counted(&world);
}

#[on_both]
fn a_drop_resolves_the_subtree_with_the_reason(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "parent_ref": "a"}, {"ref": "c", "summary": "C", "parent_ref": "b"},
            {"ref": "done", "summary": "Done", "parent_ref": "b"}, {"ref": "w", "summary": "W", "depends_on": ["c", "a"]}, {"ref": "v", "summary": "V", "depends_on": ["b", "w"]},
        ]),
    );
    resolve(&world, &[&of["done"]]);
    let answer = restructure(&world, json!([dropped(&of["a"])]));
    assert_eq!(
        answer["details"],
        json!([{"op": "drop", "node_id": of["a"], "result": "dropped with 2 below it"}])
    );
    assert_eq!(newly(&answer), [of["w"].clone()]);
    for name in ["a", "b", "c"] {
        let node = node(&world, &of[name]);
        let evidence = &node["evidence"][0];
        assert_eq!((&node["resolved"], &node["rev"]), (&json!(true), &json!(2)));
        assert_eq!(
            (&evidence["type"], &evidence["ref"], &evidence["agent"]),
            (&json!("dropped"), &json!("no longer needed"), &json!("ada"))
        );
    }
    assert_eq!(
        node(&world, &of["done"])["evidence"],
        json!([]),
        "what was done was not dropped"
    );
    assert_counted(&world);
}

#[on_both]
fn operations_build_on_each_other(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}, {"ref": "c", "summary": "C", "parent_ref": "b"}, {"ref": "w", "summary": "W", "depends_on": ["a"]}]),
    );
    let answer = restructure(
        &world,
        json!([
            moved(&of["a"], &of["c"]),
            merged(&of["c"], &of["b"]),
            moved(&of["b"], &of["w"]),
            dropped(&of["a"]),
        ]),
    );
    assert_eq!(answer["applied"], 4);
    assert_eq!(node(&world, &of["a"])["parent"], json!(of["b"]));
    assert_eq!(newly(&answer), [of["b"].clone()]);
    assert_counted(&world);
    world.assert_sound();
}

#[on_both]
fn one_bad_operation_and_none_is_applied(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "parent_ref": "a"}]),
    );
    let good = dropped(&of["b"]);
    refuse(
        &world,
        json!([good, moved(&of["a"], "TASK-999")]),
        Code::NotFound,
    );
    refuse(
        &world,
        json!([good, merged("\0", &of["a"])]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([good, {"op": "drop", "node_id": of["a"], "reason": ""}]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([good, {"op": "drop", "node_id": of["a"]}]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([good, {"op": "move", "node_id": of["a"], "new_parent": of["b"], "reason": "r"}]),
        Code::Validation,
    );
    refuse(
        &world,
        json!([good, {"op": "delete", "node_id": of["a"]}]),
        Code::Validation,
    );
    refuse(&world, json!([]), Code::Validation);
    refuse(&world, json!(vec![good.clone(); 5_001]), Code::Validation);
    assert_eq!((rev(&world, &of["a"]), rev(&world, &of["b"])), (1, 1));
    assert_eq!(tally(&world), [3, 0, 0, 1]);
}

#[on_both]
fn nodes_stay_in_their_project(world: World) {
    let here = world.plan(&["A"]).remove(0);
    world.ok("graph_open", json!({"project": "other"}));
    refuse(&world, json!([moved(&here, "PLAN-002")]), Code::Conflict);
    refuse(&world, json!([merged(&here, "PLAN-002")]), Code::Conflict);
}

#[on_both]
fn dropping_twice_adds_a_second_reason_and_unblocks_nothing(world: World) {
    let id = world.plan(&["A", "B"]).remove(0);
    restructure(&world, json!([dropped(&id)]));
    assert_eq!(
        newly(&restructure(&world, json!([dropped(&id)]))),
        Vec::<String>::new()
    );
    assert_counted(&world);
}
