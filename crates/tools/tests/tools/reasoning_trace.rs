//! Traces: every change of a task stands in its trace, once, whatever made it and whatever happens
//! to the process; and what else tells of tasks agrees with it.

use crate::common;
use crate::common::{NASTY, child, depend, plan, resolve, restructure, set_resolved};
use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// Checks every task's trace against its history and against `tasks_delta`: the same events, each
/// once, in order. Tells how many there are.
#[track_caller]
fn assert_ingested(world: &World, tasks: &[&str]) -> usize {
    let all = delta(world, 7);
    assert_eq!(all, delta(world, 200), "whatever the page");
    let mut ids = each(&all, "event_id");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all.len(), "each event once");
    let mut told = 0;
    for task in tasks {
        let trace = trace(world, task);
        let events: Vec<Value> = trace
            .iter()
            .filter(|entry| entry["kind"] == "event")
            .cloned()
            .collect();
        told += events.len();
        let own: Vec<Value> = all
            .iter()
            .filter(|event| event["task"] == **task)
            .cloned()
            .collect();
        for field in ["event_id", "ts", "agent"] {
            assert_eq!(each(&events, field), each(&own, field), "{field} of {task}");
        }
        assert_eq!(each(&events, "title"), each(&own, "action"), "{task}");
        assert!(
            each(&events, "content")
                .iter()
                .all(|line| line.starts_with(task))
        );
        assert!(
            events
                .iter()
                .all(|event| event["doc"] == format!("{task}-trace"))
        );
        let history = world.call("graph_history", json!({"node_id": task, "limit": 200}));
        if let Ok(history) = history {
            let mut actions = each(&list(&history, "events"), "action");
            actions.reverse();
            assert_eq!(each(&events, "title"), actions, "{task}");
        }
    }
    assert_eq!(told, all.len(), "no event is in no trace");
    told
}

/// A bit of everything that changes tasks; their ids.
fn work(world: &World) -> Vec<String> {
    let of = plan(
        world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "depends_on": ["a"]},
               {"ref": "c", "summary": "C", "parent_ref": "b"}, {"ref": "d", "summary": "D"}, {"ref": "e", "summary": "E"}]),
    );
    let (a, b, c, d, e) = (&of["a"], &of["b"], &of["c"], &of["d"], &of["e"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": a, "summary": "A2", "state": {"x": 1}}, {"node_id": c, "add_context_links": ["f.rs"]}]}),
    );
    world.ok("graph_next", json!({"claim": true}));
    world.ok("graph_next", json!({}));
    depend(world, d, c);
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": d, "to": c, "type": "depends_on", "remove": true}, {"from": e, "to": d, "type": "relates_to"}]}),
    );
    resolve(world, &[a]);
    set_resolved(world, &[a], false);
    restructure(
        world,
        json!([{"op": "move", "node_id": c, "new_parent": d}, {"op": "merge", "source": e, "target": d}]),
    );
    restructure(
        world,
        json!([{"op": "drop", "node_id": b, "reason": "not needed"}]),
    );
    child(world, d, "F");
    let mut all: Vec<String> = of.values().cloned().collect();
    all.extend(["TASK-006".into(), "PLAN-001".into()]);
    all
}

#[on_both]
fn every_change_is_in_its_trace_once_and_in_order(world: World) {
    let tasks = work(&world);
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let told = assert_ingested(&world, &tasks);
    assert!(told >= 17, "{told}");
    let head = world.head();
    let engine = world.another();
    for task in &tasks {
        let args = json!({"target": task, "doc_kind": "trace", "limit": 200});
        assert_eq!(
            call_on(&engine, &world, "show", args.clone()),
            call(&world, "show", args),
            "{task} after a restart"
        );
    }
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(assert_ingested(&world, &tasks), told, "after a rebuild");
    assert_eq!(world.head(), head, "reading and rebuilding write nothing");
    world.assert_sound();
}

#[on_both]
fn each_way_to_change_a_task_adds_what_it_changed(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}, {"ref": "s", "summary": "S"}, {"ref": "p", "summary": "P"}]),
    );
    let a = &*of["a"];
    let mut seen = Vec::new();
    let mut step = |expected: &[&str]| {
        let now = each(&trace(&world, a), "title");
        assert_eq!(now[..seen.len()], seen, "what was there stays");
        assert_eq!(now[seen.len()..], *expected);
        seen = now;
    };
    step(&["created"]);
    world.ok("graph_next", json!({"claim": true}));
    step(&["claimed"]);
    world.ok("graph_next", json!({"count": 5}));
    world.ok("graph_context", json!({"node_id": a}));
    step(&[]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": a, "summary": "A2"}]}),
    );
    step(&["updated"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": a, "summary": "A2"}]}),
    );
    let rev = common::rev(&world, a);
    world.refused("graph_update", json!({"updates": [{"node_id": a, "summary": "A3"}, {"node_id": "TASK-999", "summary": "x"}]}));
    assert_eq!(
        trace(&world, a).len() as i64,
        rev,
        "as many events as versions"
    );
    step(&[]);
    depend(&world, a, &of["b"]);
    step(&["updated"]);
    restructure(
        &world,
        json!([{"op": "move", "node_id": a, "new_parent": of["p"]}]),
    );
    step(&["moved"]);
    restructure(
        &world,
        json!([{"op": "merge", "source": of["s"], "target": a}]),
    );
    step(&["merged"]);
    resolve(&world, &[a]);
    step(&["resolved"]);
    restructure(
        &world,
        json!([{"op": "drop", "node_id": a, "reason": "gone"}]),
    );
    let last = trace(&world, a).pop().unwrap();
    assert_eq!(last["title"], "dropped");
    assert_ingested(&world, &[a, &of["b"], &of["s"], &of["p"], "PLAN-001"]);
    world.assert_sound();
}

#[on_both]
fn notes_and_cards_stand_between_the_events(world: World) {
    let task = world.plan(&["T"]).remove(0);
    card(&world, &task, "h1", "hypothesis", &[]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "U"}]}),
    );
    call(
        &world,
        "commit",
        json!({"branch": format!("task/{task}"), "doc": format!("{task}-trace"), "message": "by hand"}),
    );
    resolve(&world, &[&task]);
    card(&world, &task, "d1", "decision", &["h1"]);
    let shown = trace(&world, &task);
    assert_eq!(
        each(&shown, "kind"),
        ["event", "note", "event", "note", "event", "note"]
    );
    assert_eq!(
        each(&shown, "title"),
        [
            "created",
            "hypothesis h1",
            "updated",
            "by hand",
            "resolved",
            "decision d1"
        ]
    );
    assert!(
        shown
            .iter()
            .all(|entry| (entry["kind"] == "event") == entry["event_id"].is_string()),
        "{shown:?}"
    );
    let args = json!({"target": task, "doc_kind": "trace"});
    for limit in 1..=7 {
        assert_eq!(pages(&world, "show", &args, limit), shown, "limit {limit}");
    }
    assert_budgets(&world, "show", &args, "/entries", Newest::Last);
    assert_budgets(&world, "log", &args, "/entries", Newest::Last);
    assert_eq!(
        list(&call(&world, "show", json!({"target": task})), "entries").len(),
        0,
        "notes are another document"
    );
    world.assert_sound();
}

#[on_both]
fn a_branch_sees_the_trace_as_it_was(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let (own, doc) = (format!("task/{task}"), format!("{task}-trace"));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "U"}]}),
    );
    branch(&world, "what-if", &own);
    resolve(&world, &[&task]);
    let there = |branch: &str| {
        each(
            &pages(&world, "show", &json!({"branch": branch, "doc": doc}), 2),
            "title",
        )
    };
    assert_eq!(there("what-if"), ["created", "updated"]);
    assert_eq!(there(&own), ["created", "updated", "resolved"]);
    assert_eq!(there("main"), Vec::<String>::new());
    call(
        &world,
        "commit",
        json!({"branch": "what-if", "doc": doc, "message": "thought"}),
    );
    for depth in 0..12 {
        branch(
            &world,
            &format!("deep{depth}"),
            &match depth {
                0 => "what-if".to_string(),
                _ => format!("deep{}", depth - 1),
            },
        );
    }
    assert_eq!(
        there("deep11"),
        ["created", "updated", "thought"],
        "however long the line"
    );
    let diff = call(
        &world,
        "diff",
        json!({"from": "what-if", "to": own, "doc": doc}),
    );
    assert_eq!(each(&list(&diff, "entries"), "title"), ["resolved"]);
    let diff = call(
        &world,
        "diff",
        json!({"from": own, "to": "deep11", "doc": doc}),
    );
    assert_eq!(each(&list(&diff, "entries"), "title"), ["thought"]);
}

#[on_both]
fn another_tasks_trace_is_not_on_this_branch(world: World) {
    let of = world.plan(&["A", "B"]);
    let there = |task: &str, doc: &str| said(&world, &format!("task/{task}"), doc);
    assert_eq!(there(&of[0], "TASK-001-trace").len(), 1);
    assert_eq!(there(&of[0], "TASK-002-trace").len(), 0);
    assert_eq!(there(&of[0], "TASK-999-trace").len(), 0);
    assert_eq!(there(&of[0], "R001-trace").len(), 0);
}

#[on_both]
fn what_is_gone_keeps_its_reasoning(world: World) {
    let of = world.plan(&["A", "B"]);
    call(
        &world,
        "notes_commit",
        json!({"target": of[0], "content": "before"}),
    );
    restructure(
        &world,
        json!([{"op": "merge", "source": of[0], "target": of[1]}]),
    );
    call(
        &world,
        "notes_commit",
        json!({"target": of[0], "content": "after"}),
    );
    assert_eq!(notes(&world, "task/TASK-001"), ["before", "after"]);
    assert_eq!(trace(&world, &of[0]).last().unwrap()["title"], "merged");
    assert_eq!(
        call(&world, "tasks_radar", json!({"task": of[0]}))["next"],
        json!([])
    );
    call(&world, "export", json!({"target": of[0]}));
    world.assert_sound();
}

#[on_both]
fn a_radar_says_where_a_task_stands_and_where_its_reasoning_is(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "depends_on": ["a", "c"]},
        {"ref": "c", "summary": "C"}, {"ref": "p", "summary": "P"}, {"ref": "q", "summary": "Q", "parent_ref": "p"}]),
    );
    let radar = |task: &str| call(&world, "tasks_radar", json!({"task": task}));
    let line = |name: &str| json!({"id": of[name], "summary": name.to_uppercase()});
    let b = radar(&of["b"]);
    assert_eq!(
        b["reasoning_ref"],
        json!({"branch": "task/TASK-002", "notes_doc": "notes", "trace_doc": "TASK-002-trace", "graph_doc": "TASK-002-graph"})
    );
    assert_eq!(
        (
            &b["target"]["id"],
            &b["target"]["summary"],
            &b["target"]["resolved"]
        ),
        (&json!(of["b"]), &json!("B"), &json!(false))
    );
    assert_eq!(
        (&b["blockers"], &b["next"], &b["open_conflicts"]),
        (&json!([line("a"), line("c")]), &json!([]), &json!(0))
    );
    assert_eq!(
        radar(&of["a"])["next"],
        json!([line("a")]),
        "it can be worked on itself"
    );
    assert_eq!(
        radar(&of["p"])["next"],
        json!([line("q")]),
        "what can be done below it"
    );
    let root = radar("PLAN-001");
    assert_eq!(root["reasoning_ref"]["branch"], "plan/PLAN-001");
    assert_eq!(each(&list(&root, "next"), "id").len(), 3);
    resolve(&world, &[&of["a"]]);
    assert_eq!(radar(&of["b"])["blockers"], json!([line("c")]));
    resolve(&world, &[&of["c"]]);
    assert_eq!(
        (&radar(&of["b"])["blockers"], &radar(&of["b"])["next"]),
        (&json!([]), &json!([line("b")]))
    );
    assert_eq!(radar(&of["a"])["next"], json!([]), "done");
    refuse(
        &world,
        "tasks_radar",
        json!({"task": "TASK-099"}),
        Code::UnknownTarget,
    );
    for (kind, room) in [
        ("max_chars", 0),
        ("max_chars", 250),
        ("max_bytes", 250),
        ("max_lines", 0),
    ] {
        let mut args = json!({"task": "PLAN-001"});
        args[kind] = room.into();
        let answer = call(&world, "tasks_radar", args);
        assert!(
            answer["truncated"] == true && answer.to_string().len() <= room.max(80),
            "{answer}"
        );
    }
    // The reference leads to the documents.
    let reference = &b["reasoning_ref"];
    assert_eq!(
        said(
            &world,
            reference["branch"].as_str().unwrap(),
            reference["trace_doc"].as_str().unwrap()
        )
        .len(),
        1
    );
}

#[on_both]
fn a_radar_counts_open_conflicts(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let own = format!("task/{task}");
    let write = |branch: &str, title: &str| {
        call(
            &world,
            "graph_apply",
            json!({"branch": branch, "doc": format!("{task}-graph"),
        "ops": [{"op": "node_upsert", "id": "h", "type": "hypothesis", "title": title}]}),
        )
    };
    write(&own, "one");
    branch(&world, "w", &own);
    write("w", "two");
    write(&own, "three");
    let merged = call(&world, "graph_merge", json!({"from": "w", "into": own}));
    assert_eq!(
        call(&world, "tasks_radar", json!({"task": task}))["open_conflicts"],
        1
    );
    call(
        &world,
        "graph_conflict_resolve",
        json!({"conflict_id": merged["conflict_ids"][0], "resolution": "use_into"}),
    );
    assert_eq!(
        call(&world, "tasks_radar", json!({"task": task}))["open_conflicts"],
        0
    );
}

#[on_both]
fn a_delta_tells_task_events_after_a_place(world: World) {
    assert_eq!(
        call(&world, "tasks_delta", json!({"since": 0})),
        json!({"events": [], "next_since": 0, "has_more": false, "truncated": false})
    );
    note(&world, "main", "no task");
    work(&world);
    world.ok(
        "create_project",
        json!({"id": "other", "name": "No task either"}),
    );
    let all = delta(&world, 200);
    assert_eq!(all, delta(&world, 1));
    assert!(
        all.iter().any(|event| event["task"] == "PLAN-001"),
        "plans' too"
    );
    assert!(
        all.iter()
            .all(|event| event["task"].as_str().unwrap().starts_with("TASK-")
                || event["task"] == "PLAN-001")
    );
    assert!(
        all.iter()
            .all(|event| event["event_id"].as_str().unwrap().starts_with("item_"))
    );
    for cut in [1, all.len() / 2, all.len() - 1] {
        let rest = call(
            &world,
            "tasks_delta",
            json!({"since": seq(&all[cut - 1]), "limit": 200}),
        );
        assert_eq!(list(&rest, "events"), all[cut..]);
    }
    assert_eq!(
        call(&world, "tasks_delta", json!({}))["events"],
        call(&world, "tasks_delta", json!({"since": 0}))["events"]
    );
    assert_eq!(
        call(&world, "tasks_delta", json!({"since": -5}))["events"],
        call(&world, "tasks_delta", json!({"since": 0}))["events"]
    );
    assert_eq!(
        call(&world, "tasks_delta", json!({"since": i64::MAX}))["events"],
        json!([])
    );
    assert_eq!(
        list(&call(&world, "tasks_delta", json!({"limit": 0})), "events").len(),
        1
    );
    // A log that is followed keeps its beginning, so that no event is missed.
    assert_budgets(&world, "tasks_delta", &json!({}), "/events", Newest::First);
    let (mut seen, mut since) = (Vec::new(), json!(0));
    while seen.len() < all.len() {
        let page = call(
            &world,
            "tasks_delta",
            json!({"since": since, "max_chars": 700}),
        );
        seen.extend(list(&page, "events"));
        since = page["next_since"].clone();
    }
    assert_eq!(seen, all);
}

#[on_both]
fn an_export_is_the_task_with_the_ends_of_its_documents(world: World) {
    let task = world.plan(&["T"]).remove(0);
    for at in 0..5 {
        call(
            &world,
            "notes_commit",
            json!({"target": task, "content": format!("n{at}\nx")}),
        );
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": task, "state": at}]}),
        );
    }
    let export = call(
        &world,
        "export",
        json!({"target": task, "notes_limit": 2, "trace_limit": 3}),
    );
    assert_eq!(
        export["reasoning_ref"],
        call(&world, "tasks_radar", json!({"task": task}))["reasoning_ref"]
    );
    assert_eq!(
        (&export["target"]["id"], &export["target"]["summary"]),
        (&json!(task), &json!("T"))
    );
    for (part, kind, limit) in [("notes", "notes", 2), ("trace", "trace", 3)] {
        let shown = call(
            &world,
            "show",
            json!({"target": task, "doc_kind": kind, "limit": limit}),
        );
        for field in ["branch", "doc", "entries", "pagination"] {
            assert_eq!(export[part][field], shown[field], "{part} {field}");
        }
    }
    assert_budgets(
        &world,
        "export",
        &json!({"target": task}),
        "/notes/entries",
        Newest::Last,
    );
    assert_budgets(
        &world,
        "export",
        &json!({"target": task}),
        "/trace/entries",
        Newest::Last,
    );
    assert_eq!(
        call(
            &world,
            "export",
            json!({"target": task, "notes_limit": 0, "trace_limit": 10_000})
        )["notes"]["pagination"]["limit"],
        1
    );
    refuse(
        &world,
        "export",
        json!({"target": "TASK-099"}),
        Code::UnknownTarget,
    );
    refuse(&world, "export", json!({}), Code::Validation);
}

#[on_both]
fn a_trace_tells_any_text_in_a_line(world: World) {
    let task = world.plan(&["T"]).remove(0);
    for text in NASTY {
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": task, "summary": text, "reason": text}]}),
        );
    }
    assert_ingested(&world, &[&task, "PLAN-001"]);
    let lines = pages(
        &world,
        "log",
        &json!({"target": task, "doc_kind": "trace"}),
        200,
    );
    assert!(
        each(&lines, "line")
            .iter()
            .all(|line| !line.contains('\n') && line.chars().count() <= 120),
        "{lines:?}"
    );
}

#[on_both]
fn tasks_of_every_project_have_traces(world: World) {
    world.plan(&["Here"]);
    world.ok("graph_open", json!({"project": "other"}));
    let answer = world.ok(
        "graph_plan",
        json!({"project": "other", "nodes": [{"ref": "x", "summary": "There"}]}),
    );
    assert_eq!(answer["created"][0]["id"], "TASK-002");
    assert_ingested(&world, &["PLAN-001", "TASK-001", "PLAN-002", "TASK-002"]);
    assert_eq!(
        call(&world, "tasks_radar", json!({"task": "PLAN-002"}))["next"][0]["id"],
        "TASK-002"
    );
}
