//! Branches: made, listed, checked out, and never made by a typo.

use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Fault};
use understory_testkit::{World, on_both};
use understory_tools::registry::tools;
use understory_tools::{Access, Surface, Tool};

#[track_caller]
fn listed(world: &World) -> Vec<String> {
    each(
        &list(&call(world, "branch_list", json!({})), "branches"),
        "name",
    )
}

fn surface() -> impl Iterator<Item = &'static Tool> {
    tools()
        .iter()
        .filter(|tool| tool.surface == Surface::Reasoning)
}

/// Every way to name a branch: the tool, its arguments, and the argument that names it.
fn ways() -> Vec<(&'static str, Value, &'static str)> {
    let card = json!({"id": "c", "type": "note", "title": "T"});
    let op = json!([{"op": "node_upsert", "id": "x", "type": "note"}]);
    vec![
        ("show", json!({"doc": "notes"}), "branch"),
        ("log", json!({"doc": "notes"}), "branch"),
        (
            "notes_commit",
            json!({"doc": "notes", "content": "c"}),
            "branch",
        ),
        ("commit", json!({"doc": "notes", "message": "m"}), "branch"),
        ("diff", json!({"to": "main"}), "from"),
        ("diff", json!({"from": "main"}), "to"),
        ("merge", json!({"into": "main"}), "from"),
        ("merge", json!({"from": "main"}), "into"),
        ("merge", json!({"from": "main", "dry_run": true}), "into"),
        ("checkout", json!({}), "ref"),
        ("branch_create", json!({"name": "new"}), "from"),
        (
            "think_card",
            json!({"trace_doc": "t", "graph_doc": "g", "card": card}),
            "branch",
        ),
        ("think_context", json!({"graph_doc": "g"}), "branch"),
        ("think_next", json!({"graph_doc": "g"}), "branch"),
        ("graph_apply", json!({"doc": "g", "ops": op}), "branch"),
        ("graph_query", json!({"doc": "g"}), "branch"),
        ("graph_validate", json!({"doc": "g"}), "branch"),
        ("graph_diff", json!({"to": "main"}), "from"),
        ("graph_merge", json!({"into": "main"}), "from"),
        ("graph_conflicts", json!({}), "into"),
    ]
}

#[on_both]
fn main_is_there_before_anything_is_and_reading_it_writes_nothing(world: World) {
    let page = json!({"cursor": null, "has_more": false, "limit": 50, "count": 1});
    let nothing = json!({"workspace": WS, "current": "main", "branches": [{"name": "main"}], "counts": {"made": 0, "plans_and_tasks": 0}, "pagination": page, "truncated": false});
    assert_eq!(call(&world, "branch_list", json!({})), nothing);
    let status = call(&world, "status", json!({}));
    assert_eq!(
        (
            &status["workspace"],
            &status["current"],
            status.get("last_event_id")
        ),
        (&json!(WS), &json!("main"), None)
    );
    assert!(status["schema_version"].is_i64());
    assert_eq!(notes(&world, "main"), Vec::<String>::new());
    let shown = call(&world, "show", json!({"branch": "main", "doc": "notes"}));
    assert_eq!(
        shown["pagination"],
        json!({"cursor": null, "has_more": false, "limit": 20, "count": 0})
    );
    assert_eq!(
        call(&world, "diff", json!({"from": "main", "to": "main"}))["entries"],
        json!([])
    );
    assert_eq!(world.head(), 0);
    note(&world, "main", "the first thing that is written");
    assert_eq!(notes(&world, "main").len(), 1);
    world.assert_sound();
}

#[on_both]
fn init_makes_the_workspace_once(world: World) {
    let made = call(&world, "init", json!({}));
    assert_eq!(made["workspace"], WS);
    assert!(
        made["storage_dir"]
            .as_str()
            .is_some_and(|dir| !dir.is_empty()),
        "{made}"
    );
    assert!(
        !made["storage_dir"].as_str().unwrap().contains("postgres@"),
        "no user of a database: {made}"
    );
    let head = world.head();
    assert_eq!(call(&world, "init", json!({})), made);
    call(&world, "checkout", json!({"ref": "main"}));
    assert_eq!(world.head(), head);
    let status = call(&world, "status", json!({}));
    assert_eq!(status["schema_version"], made["schema_version"]);
    assert!(
        status["last_event_id"]
            .as_str()
            .unwrap()
            .starts_with("item_")
    );
    assert!(status["last_event_ts"].as_str().unwrap().ends_with('Z'));
    let before = status["last_event_id"].clone();
    note(&world, "main", "n");
    assert_ne!(call(&world, "status", json!({}))["last_event_id"], before);
    world.assert_sound();
}

#[on_both]
fn init_does_not_take_a_checkout_back(world: World) {
    branch(&world, "what-if", "main");
    call(&world, "checkout", json!({"ref": "what-if"}));
    call(&world, "init", json!({}));
    assert_eq!(call(&world, "status", json!({}))["current"], "what-if");
}

#[on_both]
fn a_branch_records_its_base_and_its_cutoff(world: World) {
    note(&world, "main", "m");
    let head = world.head();
    let made = call(&world, "branch_create", json!({"name": "a"}));
    assert_eq!(
        made,
        json!({"workspace": WS, "branch": {"name": "a", "base_branch": "main", "base_seq": head}})
    );
    note(&world, "a", "a");
    call(&world, "checkout", json!({"ref": "a"}));
    let head = world.head();
    let made = call(&world, "branch_create", json!({"name": "b/c.d_e-1"}));
    assert_eq!(
        made["branch"],
        json!({"name": "b/c.d_e-1", "base_branch": "a", "base_seq": head})
    );
    let all = list(&call(&world, "branch_list", json!({})), "branches");
    // A list says also who made it, and when.
    let named = |branch: &&Value| branch["name"] == made["branch"]["name"];
    let listed = all.iter().find(named).unwrap();
    assert_eq!(listed["base_branch"], "a", "{all:?}");
    assert_eq!(listed["base_seq"], head);
    assert_eq!(listed["made_by"], "ada");
    assert!(listed["made_at"].is_string(), "{all:?}");
    assert_eq!(
        call(&world, "status", json!({}))["current"],
        "a",
        "making is not checking out"
    );
    world.assert_sound();
}

#[on_both]
fn a_name_is_taken_once(world: World) {
    branch(&world, "a", "main");
    let fault = refuse(
        &world,
        "branch_create",
        json!({"name": "a", "from": "main"}),
        Code::Conflict,
    );
    assert!(fault.hint.unwrap().contains("branchmind_checkout"));
    refuse(
        &world,
        "branch_create",
        json!({"name": "a"}),
        Code::Conflict,
    );
    let keyed = json!({"name": "b", "idempotency_key": "k"});
    let first = call(&world, "branch_create", keyed.clone());
    let head = world.head();
    note(&world, "main", "between");
    assert_eq!(
        call(&world, "branch_create", keyed),
        first,
        "the same call again is no second one"
    );
    assert_eq!(world.head(), head + 1);
    refuse(
        &world,
        "branch_create",
        json!({"name": "c", "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
}

#[on_both]
fn names_that_are_kept_or_cannot_be_typed(world: World) {
    world.plan(&["T"]);
    for name in [
        "main",
        "task/TASK-001",
        "task/TASK-999",
        "task/x",
        "plan/PLAN-001",
        "plan/y",
    ] {
        refuse(
            &world,
            "branch_create",
            json!({"name": name}),
            Code::Validation,
        );
    }
    let long = "x".repeat(129);
    for name in [
        "",
        " ",
        "a b",
        "a..b",
        "/a",
        "a/",
        "a\nb",
        "a\u{7}",
        "a|b",
        "a:b",
        "../etc",
        "a\0b",
        "\u{202e}a",
        &long,
    ] {
        for (tool, field) in [("branch_create", "name"), ("checkout", "ref")] {
            let fault = refuse(&world, tool, json!({field: name}), Code::Validation);
            assert!(
                fault.message.starts_with(field) && fault.details.unwrap()["field"] == field,
                "{tool}: {}",
                fault.message
            );
        }
        refuse(
            &world,
            "show",
            json!({"branch": name, "doc": "notes"}),
            Code::Validation,
        );
        refuse(
            &world,
            "notes_commit",
            json!({"branch": name, "doc": "notes", "content": "c"}),
            Code::Validation,
        );
    }
    for name in ["größe/漢字", &long[..128]] {
        branch(&world, name, "main");
        note(&world, name, "n");
        assert_eq!(notes(&world, name), ["n"]);
    }
    world.assert_sound();
}

#[on_both]
fn an_unknown_branch_is_told_with_the_nearest_and_never_made(world: World) {
    for (tool, mut args, way) in ways() {
        args[way] = "mian".into();
        let fault = refuse(&world, tool, args, Code::UnknownBranch);
        assert_eq!(
            fault.details.unwrap()["nearest"],
            json!(["main"]),
            "{tool} in an empty workspace"
        );
    }
    world.plan(&["T"]);
    branch(&world, "what-if", "main");
    for (tool, args, way) in ways() {
        for (wrong, right) in [
            ("whatif", "what-if"),
            ("What-If", "what-if"),
            ("man", "main"),
            ("task/TASK-0001", "task/TASK-001"),
            ("plan/PLAN-01", "plan/PLAN-001"),
        ] {
            let mut args = args.clone();
            args[way] = wrong.into();
            let fault = refuse(&world, tool, args, Code::UnknownBranch);
            assert!(fault.message.contains(wrong), "{tool}: {fault}");
            assert_eq!(
                fault.details.unwrap()["nearest"][0],
                right,
                "{tool} {wrong}"
            );
            assert!(fault.hint.unwrap().contains(right), "{tool} {wrong}");
        }
        let mut args = args.clone();
        args[way] = "zzzzzzzzzzzz".into();
        let fault = refuse(&world, tool, args, Code::UnknownBranch);
        assert!(
            fault.hint.unwrap().contains("branchmind_branch_list"),
            "one next step"
        );
    }
    for wrong in [
        "task/TASK-002",
        "plan/TASK-001",
        "task/PLAN-001",
        "TASK-001",
        "task/task-001",
    ] {
        refuse(
            &world,
            "show",
            json!({"branch": wrong, "doc": "notes"}),
            Code::UnknownBranch,
        );
    }
    assert_eq!(
        listed(&world),
        ["main", "what-if", "task/TASK-001", "plan/PLAN-001"]
    );
}

#[on_both]
fn the_checkout_is_what_is_meant_where_no_branch_is_named(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let checkout = |name: &str| {
        let mut answer = call(&world, "checkout", json!({"ref": name}));
        assert!(
            answer["note"]
                .take()
                .as_str()
                .unwrap()
                .contains("all its agents")
        );
        answer
    };
    let moved = |from: &str, by: Option<&str>, to: &str| json!({"workspace": WS, "previous": from, "previous_by": by, "current": to, "note": null});
    assert_eq!(checkout("main"), moved("main", None, "main"));
    branch(&world, "a", "main");
    assert_eq!(checkout("a"), moved("main", Some("ada"), "a"));
    let head = world.head();
    assert_eq!(checkout("a"), moved("a", Some("ada"), "a"));
    assert_eq!(world.head(), head, "nothing changed");
    let written = call(&world, "notes_commit", json!({"content": "here"}));
    assert_eq!(
        (&written["entry"]["branch"], &written["entry"]["doc"]),
        (&json!("a"), &json!("notes"))
    );
    assert_eq!(
        call(&world, "show", json!({}))["entries"][0]["content"],
        "here"
    );
    assert_eq!(notes(&world, "main"), Vec::<String>::new());
    // Tasks are not affected: their events go to their own branch.
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "U"}]}),
    );
    assert_eq!(trace(&world, &task).len(), 2);
    assert_eq!(
        trace(&world, &task)[1]["branch"],
        json!(format!("task/{task}"))
    );
    call(
        &world,
        "notes_commit",
        json!({"target": task, "content": "of the task"}),
    );
    assert_eq!(notes(&world, &format!("task/{task}")), ["of the task"]);
    refuse(&world, "checkout", json!({"ref": "b"}), Code::UnknownBranch);
    let other = world.another();
    assert_eq!(
        call_on(&other, &world, "status", json!({}))["current"],
        "a",
        "another process agrees"
    );
    assert_eq!(
        call(&world, "checkout", json!({"ref": format!("task/{task}")}))["previous"],
        "a"
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(
        call(&world, "branch_list", json!({}))["current"],
        json!(format!("task/{task}"))
    );
    world.assert_sound();
}

#[on_both]
fn other_things_named_checkout_are_other_things(world: World) {
    world.ok(
        "create_project",
        json!({"id": "checkout", "name": "Checkout"}),
    );
    world.ok("create_project", json!({"id": "branch:a", "name": "A"}));
    branch(&world, "a", "main");
    branch(&world, "checkout", "main");
    call(&world, "checkout", json!({"ref": "checkout"}));
    assert_eq!(call(&world, "status", json!({}))["current"], "checkout");
    for target in ["checkout", "branch:a", "R001", "default", "PLAN-999", ""] {
        refuse(
            &world,
            "show",
            json!({"target": target}),
            Code::UnknownTarget,
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_listing_names_the_made_first_and_says_when_it_is_cut(world: World) {
    world.plan(&["A", "B", "C"]);
    for name in ["zoo", "ant", "bee"] {
        branch(&world, name, "main");
    }
    assert_eq!(
        listed(&world),
        [
            "main",
            "ant",
            "bee",
            "zoo",
            "task/TASK-003",
            "task/TASK-002",
            "task/TASK-001",
            "plan/PLAN-001"
        ]
    );
    for limit in 1..=9 {
        let answer = call(&world, "branch_list", json!({"limit": limit}));
        let most = usize::try_from(limit).unwrap();
        assert_eq!(
            each(&list(&answer, "branches"), "name"),
            listed(&world)[..most.min(8)]
        );
        assert_eq!(answer["truncated"], most < 8, "{limit}");
    }
    for limit in [0, -1, i64::MIN] {
        assert_eq!(
            list(
                &call(&world, "branch_list", json!({"limit": limit})),
                "branches"
            )
            .len(),
            1
        );
    }
    assert_eq!(
        list(
            &call(&world, "branch_list", json!({"limit": i64::MAX})),
            "branches"
        )
        .len(),
        8
    );
    assert_budgets(
        &world,
        "branch_list",
        &json!({}),
        "/branches",
        Newest::First,
    );
}

#[on_both]
fn a_status_and_a_template_keep_their_budget(world: World) {
    note(&world, "main", "n");
    for (tool, args) in [
        ("status", json!({})),
        ("think_template", json!({"type": "test"})),
    ] {
        let whole = call(&world, tool, args.clone());
        let size = whole.to_string().len();
        for (room, fits) in [(size, true), (size - 1, false), (0, false)] {
            for kind in ["max_chars", "max_bytes"] {
                let mut args = args.clone();
                args[kind] = room.into();
                let answer = call(&world, tool, args);
                assert_eq!(answer == whole, fits, "{tool} {kind} {room}");
                assert!(fits || answer["truncated"] == true, "{answer}");
                assert!(room == 0 || answer.to_string().len() <= room, "{answer}");
                assert!(room > 0 || answer.to_string().len() < 50, "{answer}");
            }
        }
    }
}

#[on_both]
fn every_tool_needs_the_callers_workspace(world: World) {
    world.plan(&["T"]);
    let mut count = 0;
    for tool in surface() {
        count += 1;
        let mut args: Value = serde_json::from_str(tool.example).unwrap();
        args.as_object_mut().unwrap().remove("workspace");
        let fault = world.refused(tool.name, args.clone());
        assert_eq!(fault.code, Code::Validation, "{}: {fault}", tool.name);
        assert!(
            fault.message.contains("workspace"),
            "{}: {fault}",
            tool.name
        );
        for other in [
            "elsewhere",
            "",
            "garden-shed2",
            "GARDEN-SHED",
            "garden-shed ",
        ] {
            args["workspace"] = other.into();
            let fault = world.refused(tool.name, args.clone());
            assert_eq!(
                fault.code,
                Code::OutOfScopeWorkspace,
                "{}: {fault}",
                tool.name
            );
            assert!(fault.hint.unwrap().contains(WS), "{}", tool.name);
        }
        args["workspace"] = Value::Null;
        assert_eq!(world.refused(tool.name, args).code, Code::Validation);
    }
    assert!(count >= 26, "{count} tools");
}

#[on_both]
fn workspaces_share_nothing(world: World) {
    world.plan(&["Ours"]);
    note(&world, "main", "ours");
    branch(&world, "a", "main");
    call(&world, "checkout", json!({"ref": "a"}));
    let mut other = World::caller("bob");
    other.workspace = "greenhouse".into();
    let ask = |tool: &str, mut args: Value| {
        args["workspace"] = "greenhouse".into();
        world.call_as(&other, tool, args)
    };
    assert_eq!(
        ask("branchmind_branch_list", json!({})).unwrap()["branches"],
        json!([{"name": "main"}])
    );
    assert_eq!(
        ask("branchmind_show", json!({"branch": "main", "doc": "notes"})).unwrap()["entries"],
        json!([])
    );
    assert_eq!(
        ask("branchmind_show", json!({"branch": "a", "doc": "notes"}))
            .unwrap_err()
            .code,
        Code::UnknownBranch
    );
    assert_eq!(
        ask("branchmind_show", json!({"target": "TASK-001"}))
            .unwrap_err()
            .code,
        Code::UnknownTarget
    );
    ask("branchmind_branch_create", json!({"name": "a"})).unwrap();
    ask(
        "branchmind_notes_commit",
        json!({"branch": "a", "doc": "notes", "content": "theirs"}),
    )
    .unwrap();
    assert_eq!(notes(&world, "a"), ["ours"]);
    assert_eq!(
        ask("branchmind_status", json!({})).unwrap()["current"],
        "main"
    );
    world.assert_sound();
}

#[on_both]
fn agents_of_a_workspace_share_branches_and_checkout(world: World) {
    branch(&world, "a", "main");
    call(&world, "checkout", json!({"ref": "a"}));
    let bob = World::caller("bob");
    let status = world
        .call_as(&bob, "branchmind_status", json!({"workspace": WS}))
        .unwrap();
    assert_eq!(status["current"], "a");
    world
        .call_as(
            &bob,
            "branchmind_notes_commit",
            json!({"workspace": WS, "content": "from bob"}),
        )
        .unwrap();
    assert_eq!(
        call(&world, "show", json!({}))["entries"][0]["agent"],
        "bob"
    );
}

#[on_both]
fn every_read_keeps_its_budget_before_and_after_the_first_write(world: World) {
    let check = |when: &str| {
        let mut answered = 0;
        for tool in surface().filter(|tool| tool.access == Access::Read) {
            let mut args: Value = serde_json::from_str(tool.example).unwrap();
            if args.get("target").is_some() && when == "empty" {
                for key in ["target", "doc_kind"] {
                    args.as_object_mut().unwrap().remove(key);
                }
            }
            let Ok(whole) = world.call(tool.name, args.clone()) else {
                continue;
            };
            answered += 1;
            for kind in ["max_chars", "max_bytes"] {
                args[kind] = 0.into();
                let bare = world.ok(tool.name, args.clone());
                assert!(
                    bare["truncated"] == true && bare.to_string().len() <= 80,
                    "{when} {} {kind}: {bare}",
                    tool.name
                );
                let full = whole.to_string().len();
                for room in (0..full).step_by(17).chain([full - 1]) {
                    args[kind] = room.into();
                    let answer = world.ok(tool.name, args.clone());
                    assert!(
                        answer == bare || answer.to_string().chars().count() <= room,
                        "{when} {} {kind} {room}: {answer}",
                        tool.name
                    );
                    assert_eq!(
                        answer["truncated"], true,
                        "{when} {} {kind} {room}",
                        tool.name
                    );
                }
                args.as_object_mut().unwrap().remove(kind);
            }
        }
        answered
    };
    assert!(check("empty") >= 11);
    let task = world.plan(&["T"]).remove(0);
    branch(&world, "what-if", "main");
    note(&world, "main", "n");
    call(
        &world,
        "notes_commit",
        json!({"target": task, "content": "n"}),
    );
    for id in ["h1", "h2", "h3"] {
        card(&world, &task, id, "hypothesis", &["q"]);
    }
    assert!(check("full") >= 15);
}

#[on_both]
fn many_at_once_make_each_thing_once(world: World) {
    let task = world.plan(&["T"]).remove(0);
    branch(&world, "a", "main");
    for at in 0..10 {
        note(&world, "a", &format!("n{at}"));
    }
    let engines: Vec<_> = (0..4).map(|_| world.another()).collect();
    let card = json!({"id": "h1", "type": "hypothesis", "title": "T"});
    let calls = [
        (
            "branchmind_branch_create",
            json!({"workspace": WS, "name": "b"}),
        ),
        (
            "branchmind_think_card",
            json!({"workspace": WS, "target": task, "card": card, "supports": ["q"]}),
        ),
        (
            "branchmind_merge",
            json!({"workspace": WS, "from": "a", "into": "main"}),
        ),
        ("branchmind_init", json!({"workspace": WS})),
    ];
    let answers: Vec<(&str, Result<Value, Fault>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = engines
            .iter()
            .map(|engine| {
                scope.spawn(|| {
                    calls
                        .iter()
                        .map(|(tool, args)| {
                            (
                                *tool,
                                World::call_on(engine, &world.caller, tool, args.clone()),
                            )
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let of = |tool: &str| {
        answers
            .iter()
            .filter(|(name, _)| *name == tool)
            .map(|(_, answer)| answer)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("branchmind_branch_create")
            .iter()
            .filter(|answer| answer.is_ok())
            .count(),
        1
    );
    assert!(of("branchmind_branch_create").iter().all(|answer| {
        answer
            .as_ref()
            .err()
            .is_none_or(|fault| fault.code == Code::Conflict)
    }));
    let cards: Vec<&Value> = of("branchmind_think_card")
        .into_iter()
        .map(|answer| answer.as_ref().unwrap())
        .collect();
    assert_eq!(
        cards
            .iter()
            .filter(|answer| answer["inserted"] == true)
            .count(),
        1
    );
    assert_eq!(
        of("branchmind_merge")
            .iter()
            .map(|answer| answer.as_ref().unwrap()["merged"].as_i64().unwrap())
            .sum::<i64>(),
        10
    );
    assert_eq!(notes(&world, "main").len(), 10);
    assert_eq!(trace(&world, &task).len(), 2);
    world.assert_sound();
}
