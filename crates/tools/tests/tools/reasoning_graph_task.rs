//! The graph document of a plan or task: which one is meant, and the node in it that the server
//! keeps.

use crate::reasoning_graphs::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

const TASK: &str = "task:TASK-001";

#[track_caller]
fn seen(world: &World, args: Value) -> Value {
    let all = ok(
        world,
        "graph_query",
        with(args, json!({"include_deleted": true})),
    );
    let nodes = rows(&all, "nodes");
    let own: Vec<&Value> = nodes.iter().filter(|node| node["id"] == TASK).collect();
    assert!(own.len() < 2, "{all}");
    own.first().map_or(Value::Null, |node| (*node).clone())
}

#[on_both]
fn a_task_stands_in_its_document(world: World) {
    world.plan(&["Find the leak", "Another"]);
    let target = json!({"target": "TASK-001"});
    let first = seen(&world, target.clone());
    assert_eq!(
        (&first["type"], &first["title"], &first["status"]),
        (&json!("task"), &json!("Find the leak"), &json!("open"))
    );
    assert_eq!(first["deleted"], false);
    let ops = json!([put("h", "H"), link("h", "about", TASK)]);
    let done = ok(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": ops}),
    );
    assert_eq!(
        (&done["branch"], &done["doc"]),
        (&json!("task/TASK-001"), &json!("TASK-001-graph"))
    );
    assert_eq!(
        ok(&world, "graph_validate", target.clone())["ok"],
        true,
        "the task is a node like others"
    );
    let all = ok(&world, "graph_query", target.clone());
    assert_eq!(each(&all, "nodes", "id"), ["h", TASK]);
    assert_eq!(edge_name(&all["edges"][0]), format!("h about {TASK}"));
    // A change of the task is the newest thing in the document.
    world.ok("graph_update", json!({"updates": [{"node_id": "TASK-001", "summary": "Find both leaks", "resolved": true}]}));
    let all = ok(&world, "graph_query", target.clone());
    assert_eq!(each(&all, "nodes", "id"), [TASK, "h"]);
    let now = seen(&world, target.clone());
    assert_eq!(
        (&now["title"], &now["status"]),
        (&json!("Find both leaks"), &json!("resolved"))
    );
    assert!(now["last_seq"].as_i64() > first["last_seq"].as_i64());
    assert_eq!(
        each(
            &ok(
                &world,
                "graph_query",
                with(target.clone(), json!({"types": ["task"], "text": "BOTH"}))
            ),
            "nodes",
            "id"
        ),
        [TASK]
    );
    assert_eq!(pages(&world, "graph_query", "nodes", &target, 1).len(), 2);
    // Only there: neither in another document nor on a branch that never saw it.
    assert_eq!(seen(&world, json!({"target": "TASK-002"})), Value::Null);
    assert_eq!(
        seen(&world, json!({"branch": "main", "doc": "TASK-001-graph"})),
        Value::Null
    );
    assert_eq!(
        seen(&world, json!({"branch": "task/TASK-001", "doc": "other"})),
        Value::Null
    );
    world.assert_sound();
}

#[on_both]
fn a_branch_sees_the_task_as_it_was(world: World) {
    world.plan(&["First"]);
    let rename = |to: &str| {
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "summary": to}]}),
        )
    };
    fork(&world, "early", "task/TASK-001");
    rename("Second");
    fork(&world, "late", "task/TASK-001");
    fork(&world, "later", "early");
    rename("Third");
    let here = |branch: &str| json!({"branch": branch, "doc": "TASK-001-graph"});
    for (branch, title) in [
        ("task/TASK-001", "Third"),
        ("late", "Second"),
        ("early", "First"),
        ("later", "First"),
    ] {
        let own = seen(&world, here(branch));
        assert_eq!(
            (&own["title"], &own["deleted"]),
            (&json!(title), &json!(false)),
            "{branch}"
        );
    }
    let differs = |from: &str, to: &str| {
        let diff = ok(
            &world,
            "graph_diff",
            json!({"from": from, "to": to, "doc": "TASK-001-graph"}),
        );
        rows(&diff, "changes")
            .iter()
            .map(|change| change["to"]["title"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(differs("early", "late"), [json!("Second")]);
    assert_eq!(differs("late", "early"), [json!("First")]);
    assert_eq!(differs("early", "later"), Vec::<Value>::new());
    assert_eq!(differs("main", "early"), [json!("First")]);
    assert_eq!(differs("early", "main"), Vec::<Value>::new());
    // It is never merged: the task says itself what it is.
    let answer = ok(
        &world,
        "graph_merge",
        json!({"from": "early", "into": "task/TASK-001"}),
    );
    assert_eq!(
        (&answer["doc"], counts(&answer)),
        (&json!("TASK-001-graph"), [0, 0, 0])
    );
    ok(
        &world,
        "graph_apply",
        with(here("early"), json!({"ops": [link("x", "about", TASK)]})),
    );
    assert_eq!(
        counts(&ok(
            &world,
            "graph_merge",
            json!({"from": "early", "into": "task/TASK-001"})
        )),
        [1, 0, 0]
    );
    world.assert_sound();
}

#[on_both]
fn a_plan_has_a_document_too(world: World) {
    world.plan(&["A task"]);
    let done = ok(
        &world,
        "graph_apply",
        json!({"target": "PLAN-001", "ops": [put("q", "Q")]}),
    );
    assert_eq!(
        (&done["branch"], &done["doc"]),
        (&json!("plan/PLAN-001"), &json!("PLAN-001-graph"))
    );
    let all = ok(&world, "graph_query", json!({"target": "PLAN-001"}));
    assert_eq!(each(&all, "nodes", "id"), ["q", "task:PLAN-001"]);
    let same = ok(&world, "graph_query", json!({"branch": "plan/PLAN-001"}));
    assert_eq!(same, all, "a branch of a plan means the plan's document");
}

#[on_both]
fn a_task_that_was_merged_away_is_deleted(world: World) {
    world.plan(&["One", "Two"]);
    ok(
        &world,
        "graph_apply",
        json!({"target": "TASK-001", "ops": [put("h", "H"), link("h", "about", TASK)]}),
    );
    fork(&world, "before", "task/TASK-001");
    world.ok(
        "graph_restructure",
        json!({"operations": [{"op": "merge", "source": "TASK-001", "target": "TASK-002"}]}),
    );
    let now = seen(
        &world,
        json!({"branch": "task/TASK-001", "doc": "TASK-001-graph"}),
    );
    assert_eq!(now["deleted"], true, "{now}");
    let then = seen(&world, json!({"branch": "before", "doc": "TASK-001-graph"}));
    assert_eq!(
        (&then["deleted"], &then["title"]),
        (&json!(false), &json!("One"))
    );
    let valid = ok(
        &world,
        "graph_validate",
        json!({"branch": "task/TASK-001", "doc": "TASK-001-graph"}),
    );
    assert_eq!(valid["errors"][0]["missing"], TASK);
    world.assert_sound();
}

#[on_both]
fn a_document_is_named_one_way(world: World) {
    world.plan(&["A task"]);
    for tool in ["graph_apply", "graph_query", "graph_validate"] {
        let args = |more: Value| match tool {
            "graph_apply" => with(more, json!({"ops": [put("a", "A")]})),
            _ => more,
        };
        for more in [
            json!({"branch": "main"}),
            json!({"doc": "graph"}),
            json!({"branch": "task/TASK-001", "doc": "TASK-001-graph"}),
        ] {
            let fault = refused(
                &world,
                tool,
                args(with(more, json!({"target": "TASK-001"}))),
            );
            assert_eq!((fault.code, fault.hint.is_some()), (Code::Validation, true));
        }
        let fault = refused(&world, tool, args(json!({"target": "TASK-002"})));
        assert_eq!(fault.code, Code::UnknownTarget);
        assert!(fault.hint.is_some_and(|hint| hint.contains("TASK-001")));
        for odd in ["", "task:TASK-001", "'; --"] {
            assert_eq!(
                refused(&world, tool, args(json!({ "target": odd }))).code,
                Code::UnknownTarget
            );
            assert_eq!(
                refused(&world, tool, args(json!({"branch": format!("{odd} ")}))).code,
                Code::Validation
            );
        }
        let fault = refused(
            &world,
            tool,
            args(json!({"branch": "mian", "doc": "graph"})),
        );
        assert_eq!(fault.code, Code::UnknownBranch);
        assert!(fault.hint.is_some_and(|hint| hint.contains("main")));
        let fault = refused(&world, tool, args(json!({"branch": "task/TASK-010"})));
        assert_eq!(fault.code, Code::UnknownBranch);
        for doc in ["", "a|b", "a\nb", &"x".repeat(257)] {
            assert_eq!(
                refused(&world, tool, args(json!({"branch": "main", "doc": doc}))).code,
                Code::Validation
            );
        }
        let foreign = args(json!({"branch": "main", "workspace": "elsewhere"}));
        assert_eq!(
            world.refused(&format!("branchmind_{tool}"), foreign).code,
            Code::OutOfScopeWorkspace
        );
        let homeless = args(json!({"branch": "main"}));
        assert_eq!(
            world.refused(&format!("branchmind_{tool}"), homeless).code,
            Code::Validation
        );
    }
}

#[on_both]
fn a_write_said_twice_is_done_once(world: World) {
    let args =
        json!({"branch": "main", "doc": DOC, "ops": [put("a", "A")], "idempotency_key": "k"});
    let first = ok(&world, "graph_apply", args.clone());
    let head = world.head();
    assert_eq!(ok(&world, "graph_apply", args.clone()), first);
    assert_eq!(world.head(), head);
    let other = with(args, json!({"ops": [put("a", "B")]}));
    assert_eq!(
        refused(&world, "graph_apply", other).code,
        Code::IdempotencyConflict
    );
}
