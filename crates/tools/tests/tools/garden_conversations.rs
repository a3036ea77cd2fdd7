//! Conversations: forked, collapsed, reopened; who stands where; what each of them shows.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::fragment::fragments;
use understory_model::{Caller, Code, Role};
use understory_testkit::{World, on_both};

/// A note of somebody; the item's name.
#[track_caller]
fn note(world: &World, agent: &str, words: &str) -> String {
    let args = json!({"type": "Note", "description": words});
    text(&by(world, agent, "garden_add", args)["item"]["uuid"])
}

#[track_caller]
fn fork(world: &World, agent: &str, args: Value) -> String {
    text(&by(world, agent, "garden_fork", args)["log"]["uuid"])
}

#[track_caller]
fn frame(world: &World, agent: &str) -> Value {
    by(world, agent, "garden_frame", json!({}))["frame"].clone()
}

/// What is said in a conversation, word for word, page by page.
#[track_caller]
fn words(world: &World, log: &str, inherited: bool) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let args = json!({"log": log, "inherited": inherited, "limit": 3, "cursor": cursor});
        let page = world.ok("garden_log", args);
        assert_eq!(page["log"]["uuid"], log);
        let items = page["items"].as_array().expect("items").clone();
        assert!(items.len() <= 3);
        // What the server reports there, nobody said.
        let said = items.iter().filter(|item| item["_type"] != "SystemEvent");
        all.extend(said.map(|item| text(&item["description"])));
        cursor = page["pagination"]["next_cursor"].clone();
        if cursor.is_null() {
            return all;
        }
    }
}

#[track_caller]
fn collapse(world: &World, log: &str, summary: &str) -> Value {
    world.ok("garden_collapse", json!({"log": log, "summary": summary}))["log"].clone()
}

/// The first conversation of the project, once somebody has said something.
#[track_caller]
fn root(world: &World) -> String {
    text(&world.ok("garden_stack", json!({}))["stack"][0])
}

#[on_both]
fn before_anybody_said_anything_there_is_nothing_and_nothing_is_made(world: World) {
    for _ in 0..2 {
        let here = json!({"participant": "ada", "branch_uuid": null, "head": null});
        assert_eq!(frame(&world, "ada"), here);
        assert_eq!(world.ok("garden_log", json!({}))["items"], json!([]));
        let stack = world.ok("garden_stack", json!({}));
        assert_eq!(
            (&stack["stack"], &stack["frames"]),
            (&json!([]), &json!({}))
        );
        refuse(
            &world,
            "garden_log",
            json!({"log": "uuid_01890a5d-ac96-774b-bcce-b302099a8057"}),
            Code::NotFound,
        );
        refuse(
            &world,
            "garden_log",
            json!({"project": "other"}),
            Code::NotFound,
        );
        // Another surface may write without a conversation beginning.
        world.plan(&["a task"]);
    }
}

#[on_both]
fn every_project_has_a_root_where_its_participants_begin(world: World) {
    let first = note(&world, "ada", "hello");
    let root = root(&world);
    assert!(root.starts_with("uuid_"));
    assert_eq!(
        frame(&world, "ada"),
        json!({"participant": "ada", "branch_uuid": root, "head": first})
    );
    assert_eq!(
        frame(&world, "bob"),
        json!({"participant": "bob", "branch_uuid": root, "head": null})
    );
    let second = note(&world, "bob", "hello too");
    assert_eq!(frame(&world, "bob")["head"], second);
    assert_eq!(
        frame(&world, "ada")["head"],
        first,
        "what others say moves nobody"
    );
    assert_eq!(words(&world, &root, false), ["hello", "hello too"]);
    let shown = world.ok("garden_log", json!({}))["log"].clone();
    assert_eq!(
        (&shown["state"], &shown["parent_uuid"], &shown["summary"]),
        (&json!("active"), &Value::Null, &Value::Null)
    );
    world.ok("create_project", json!({"id": "side", "name": "Side"}));
    world.ok(
        "garden_add",
        json!({"type": "Note", "description": "elsewhere", "project": "side"}),
    );
    let side = world.ok("garden_stack", json!({"project": "side"}));
    assert_eq!(side["stack"].as_array().unwrap().len(), 1);
    assert_ne!(side["stack"][0], root);
    assert_eq!(words(&world, &root, true).len(), 2);
    world.assert_sound();
}

#[on_both]
fn a_fork_sees_its_parents_up_to_where_it_was_forked(world: World) {
    let one = note(&world, "ada", "one");
    let root = root(&world);
    let answer = world.ok("garden_fork", json!({}));
    let left = text(&answer["log"]["uuid"]);
    assert_eq!(answer["log"]["parent_uuid"], root);
    assert_eq!(answer["log"]["forked_at"], one);
    assert_eq!(
        answer["frame"],
        json!({"participant": "ada", "branch_uuid": left, "head": null})
    );
    assert_eq!(frame(&world, "ada"), answer["frame"]);
    note(&world, "bob", "after the fork");
    let two = note(&world, "ada", "two");
    assert_eq!(frame(&world, "ada")["head"], two);
    let deep = fork(&world, "ada", json!({}));
    note(&world, "ada", "three");
    world.ok(
        "garden_add",
        json!({"type": "Note", "description": "too late", "log": left}),
    );
    assert_eq!(words(&world, &root, true), ["one", "after the fork"]);
    assert_eq!(words(&world, &left, false), ["two", "too late"]);
    assert_eq!(words(&world, &left, true), ["one", "two", "too late"]);
    assert_eq!(words(&world, &deep, false), ["three"]);
    assert_eq!(words(&world, &deep, true), ["one", "two", "three"]);
    assert_eq!(
        frame(&world, "ada")["branch_uuid"],
        deep,
        "an item put elsewhere moves nobody"
    );
    world.assert_sound();
}

#[on_both]
fn a_fork_for_somebody_else_moves_that_one_alone(world: World) {
    note(&world, "ada", "one");
    let root = root(&world);
    let before = frame(&world, "ada");
    let fork = json!({"participant": "zoe-2", "parent": root});
    refuse(
        &world,
        "garden_fork",
        fork.clone(),
        Code::InsufficientAuthority,
    );
    let boss = Caller {
        role: Role::Operator,
        ..world.caller.clone()
    };
    let answer = world.call_as(&boss, "garden_fork", fork).unwrap();
    assert_eq!(answer["frame"]["participant"], "zoe-2");
    assert_eq!(frame(&world, "ada"), before);
    assert_eq!(frame(&world, "zoe-2")["branch_uuid"], answer["log"]["uuid"]);
    refuse_field(
        &world,
        "garden_fork",
        json!({"participant": "Зоя 🌱"}),
        "participant",
    );
    refuse_field(
        &world,
        "garden_fork",
        json!({"participant": " x"}),
        "participant",
    );
    refuse_field(
        &world,
        "garden_fork",
        json!({"participant": ""}),
        "participant",
    );
    refuse(
        &world,
        "garden_fork",
        json!({"parent": "uuid_01890a5d-ac96-774b-bcce-b302099a8057"}),
        Code::NotFound,
    );
    world.plan(&["a task"]);
    refuse_field(
        &world,
        "garden_fork",
        json!({"parent": "TASK-001"}),
        "parent",
    );
    world.assert_sound();
}

#[on_both]
fn collapsing_sets_the_summary_and_brings_everybody_back(world: World) {
    note(&world, "ada", "one");
    let root = root(&world);
    let left = fork(&world, "ada", json!({}));
    let deep = fork(&world, "ada", json!({}));
    let at = note(&world, "ada", "deep down");
    by(&world, "bob", "garden_frame", json!({"log": deep}));
    let fault = refuse(
        &world,
        "garden_collapse",
        json!({"log": left, "summary": "s"}),
        Code::Conflict,
    );
    assert_eq!(fault.details.unwrap()["active_child"], deep);
    assert!(fault.hint.unwrap().contains(&deep));
    let summary = "We tried SQLite, but it was slow. 我们换成了别的。";
    let told = collapse(&world, &deep, summary)["summary"].clone();
    let ids: Vec<String> = fragments(summary).into_iter().map(|part| part.id).collect();
    assert_eq!(told["content"], summary);
    assert_eq!(told["author"], "ada");
    assert_eq!(told["fragment_ids"], json!(ids));
    assert!(told["timestamp"].is_string());
    for agent in ["ada", "bob"] {
        assert_eq!(frame(&world, agent)["branch_uuid"], left, "{agent}");
    }
    let shown = world.ok("garden_log", json!({"log": deep}));
    assert_eq!(
        (&shown["log"]["state"], &shown["log"]["summary"]),
        (&json!("collapsed"), &told)
    );
    assert_eq!(shown["items"][0]["uuid"], at);
    let again = json!({"log": deep, "summary": "again"});
    assert!(
        refuse(&world, "garden_collapse", again, Code::Conflict)
            .hint
            .unwrap()
            .contains("garden_reopen")
    );
    collapse(&world, &left, "nothing more");
    assert_eq!(frame(&world, "bob")["branch_uuid"], root);
    refuse(
        &world,
        "garden_collapse",
        json!({"log": root, "summary": "s"}),
        Code::Conflict,
    );
    refuse_field(
        &world,
        "garden_collapse",
        json!({"log": left, "summary": " "}),
        "summary",
    );
    world.assert_sound();
}

#[on_both]
fn a_collapsed_conversation_takes_nothing_more(world: World) {
    note(&world, "ada", "one");
    let log = fork(&world, "ada", json!({}));
    let head = note(&world, "ada", "two");
    collapse(&world, &log, "done");
    let into = json!({"type": "Note", "description": "late", "log": log});
    assert!(
        refuse(&world, "garden_add", into, Code::Conflict)
            .hint
            .unwrap()
            .contains("garden_reopen")
    );
    refuse(
        &world,
        "garden_fork",
        json!({"parent": log}),
        Code::Conflict,
    );
    refuse(&world, "garden_frame", json!({"log": log}), Code::Conflict);
    refuse(
        &world,
        "garden_frame",
        json!({"log": log, "head": head}),
        Code::Conflict,
    );
    assert_eq!(words(&world, &log, false), ["two"]);
    world.assert_sound();
}

#[on_both]
fn reopening_goes_on_in_a_new_one_and_leaves_the_old(world: World) {
    note(&world, "ada", "one");
    let old = fork(&world, "ada", json!({}));
    note(&world, "ada", "two");
    let fault = refuse(&world, "garden_reopen", json!({"log": old}), Code::Conflict);
    assert!(fault.hint.unwrap().contains("garden_fork"));
    collapse(
        &world,
        &old,
        "It [was](uuid_x) slow.\nVery ^abc slow @nobody.",
    );
    let before = world.ok("garden_get", json!({"id": old}));
    let logged = world.ok("garden_log", json!({"log": old}));
    let answer = by(&world, "bob", "garden_reopen", json!({"log": old}));
    let new = text(&answer["log"]["uuid"]);
    assert_eq!(answer["log"]["parent_uuid"], old);
    assert_eq!(answer["log"]["continues"], old);
    assert_eq!(answer["log"]["state"], "active");
    assert_eq!(frame(&world, "bob"), answer["frame"]);
    let first = world.ok("garden_log", json!({"log": new}))["items"][0].clone();
    assert_eq!(answer["frame"]["head"], first["uuid"]);
    assert_eq!(first["_type"], "Note");
    let said = text(&first["description"]);
    let refs = world.ok("garden_refs", json!({"content": said}))["refs"].clone();
    assert_eq!(each(&refs, "uuid"), [json!(old)], "{said}");
    assert!(said.contains("It wasuuid_x slow."), "{said}");
    note(&world, "bob", "three");
    assert_eq!(
        words(&world, &new, true),
        ["one", "two", said.as_str(), "three"]
    );
    assert_eq!(world.ok("garden_get", json!({"id": old})), before);
    assert_eq!(world.ok("garden_log", json!({"log": old})), logged);
    let second = text(&world.ok("garden_reopen", json!({"log": old}))["log"]["uuid"]);
    assert_ne!(second, new, "it may be reopened twice");
    let relations = world.ok(
        "garden_relations",
        json!({"of": old, "kind": "continues", "direction": "in"}),
    );
    assert_eq!(
        relations["relations"].as_array().unwrap().len(),
        2,
        "{relations}"
    );
    // Back to the nearest that is open: the old one in between is not.
    collapse(&world, &new, "over");
    let root = root(&world);
    assert_eq!(frame(&world, "bob")["branch_uuid"], root);
    world.assert_sound();
}

#[on_both]
fn the_stack_keeps_the_order_and_shows_the_tree(world: World) {
    note(&world, "ada", "one");
    let root = root(&world);
    let a = fork(&world, "ada", json!({}));
    let b = fork(&world, "bob", json!({"parent": root}));
    let aa = fork(&world, "ada", json!({}));
    collapse(&world, &b, "nothing in it");
    let c = text(&by(&world, "bob", "garden_reopen", json!({"log": b}))["log"]["uuid"]);
    let answer = world.ok("garden_stack", json!({}));
    assert_eq!(answer["stack"], json!([root, a, b, aa, c]));
    let tree = &answer["tree"];
    assert_eq!(each(tree, "uuid"), [json!(root)]);
    assert_eq!(each(&tree[0]["children"], "uuid"), [json!(a), json!(b)]);
    assert_eq!(
        each(&tree[0]["children"][0]["children"], "uuid"),
        [json!(aa)]
    );
    assert_eq!(
        each(&tree[0]["children"][1]["children"], "uuid"),
        [json!(c)]
    );
    assert_eq!(
        each(&tree[0]["children"], "state"),
        [json!("active"), json!("collapsed")]
    );
    assert_eq!(tree[0]["children"][1]["summary"], "nothing in it");
    let names: Vec<&String> = answer["frames"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["ada", "bob"]);
    assert_eq!(
        answer["frames"]["ada"],
        json!({"branch_uuid": aa, "head": null})
    );
    assert_eq!(answer["frames"]["bob"]["branch_uuid"], c);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = world.ok("garden_stack", json!({"limit": 2, "cursor": cursor}));
        seen.extend(page["stack"].as_array().unwrap().clone());
        cursor = page["pagination"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(json!(seen), answer["stack"]);
    refuse_field(&world, "garden_stack", json!({"cursor": "x"}), "cursor");
    for most in [0, 20, 100, 300, 700, 2_000] {
        let cut = world.ok("garden_stack", json!({"max_chars": most}));
        assert!(cut.to_string().len() <= most.max(40), "{most}: {cut}");
    }
}

#[on_both]
fn a_long_line_of_forks_can_be_shown_and_has_an_end(world: World) {
    note(&world, "ada", "at the root");
    let mut last = String::new();
    for n in 0..60 {
        last = fork(&world, "ada", json!({}));
        note(&world, "ada", &format!("level {n}"));
    }
    let all = words(&world, &last, true);
    assert_eq!(
        (all.len(), all[0].as_str(), all[60].as_str()),
        (61, "at the root", "level 59")
    );
    let stack = world.ok("garden_stack", json!({}));
    assert_eq!(stack["stack"].as_array().unwrap().len(), 61);
    assert_eq!(stack.to_string().matches("\"children\"").count(), 61);
    for most in [50, 400, 3_000] {
        let cut = world.ok(
            "garden_log",
            json!({"log": last, "inherited": true, "max_chars": most}),
        );
        assert!(
            cut.to_string().chars().count() <= most.max(120),
            "{most}: {cut}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn frames_move_persist_and_stand_on_what_they_show(world: World) {
    let one = note(&world, "ada", "one");
    let root = root(&world);
    let left = fork(&world, "ada", json!({}));
    let two = note(&world, "ada", "two");
    let late = note(&world, "bob", "after the fork");
    let there = by(
        &world,
        "bob",
        "garden_frame",
        json!({"log": left, "head": one}),
    )["frame"]
        .clone();
    assert_eq!(
        there,
        json!({"participant": "bob", "branch_uuid": left, "head": one})
    );
    let again = world.another();
    assert_eq!(on(&again, "bob", "garden_frame", json!({}))["frame"], there);
    let fault = refused(
        &world,
        &World::caller("bob"),
        "garden_frame",
        json!({"head": late}),
        Code::Validation,
    );
    assert_eq!(fault.details.unwrap()["field"], "head");
    refused(
        &world,
        &World::caller("bob"),
        "garden_frame",
        json!({"log": root, "head": two}),
        Code::Validation,
    );
    assert_eq!(
        by(&world, "bob", "garden_frame", json!({"head": two}))["frame"]["head"],
        two
    );
    let head = world.head();
    by(
        &world,
        "bob",
        "garden_frame",
        json!({"log": left, "head": two}),
    );
    assert_eq!(world.head(), head, "to stand where one stands is no move");
    assert_eq!(
        by(&world, "bob", "garden_frame", json!({"log": root}))["frame"]["head"],
        late
    );
    let three = note(&world, "bob", "three");
    assert_eq!(
        frame(&world, "bob"),
        json!({"participant": "bob", "branch_uuid": root, "head": three})
    );
    let moves = world.ok(
        "garden_timeline",
        json!({"types": ["FrameMoved"], "actor": "bob"}),
    );
    assert_eq!(moves["items"].as_array().unwrap().len(), 3);
    assert_eq!(moves["items"][0]["branch_uuid"], root);
    refuse(
        &world,
        "garden_frame",
        json!({"head": "item_01890a5d-ac96-774b-bcce-b302099a8057"}),
        Code::NotFound,
    );
    world.assert_sound();
}

#[on_both]
fn two_explore_at_once_and_never_meet(world: World) {
    note(&world, "ada", "three ideas");
    let base = root(&world);
    let engines = [world.another(), world.another()];
    std::thread::scope(|scope| {
        for (engine, agent) in engines.iter().zip(["ada", "bob"]) {
            let base = base.clone();
            scope.spawn(move || {
                let log =
                    text(&on(engine, agent, "garden_fork", json!({"parent": base}))["log"]["uuid"]);
                for n in 0..25 {
                    let args = json!({"type": "Note", "description": format!("{agent} {n}")});
                    let item = on(engine, agent, "garden_add", args)["item"].clone();
                    assert_eq!(item["log"], log);
                }
            });
        }
    });
    let stack = world.ok("garden_stack", json!({}));
    assert_eq!(stack["stack"].as_array().unwrap().len(), 3);
    for agent in ["ada", "bob"] {
        let log = text(&stack["frames"][agent]["branch_uuid"]);
        let expected: Vec<String> = (0..25).map(|n| format!("{agent} {n}")).collect();
        assert_eq!(words(&world, &log, false), expected);
        let last =
            world.ok("garden_log", json!({"log": log, "limit": 200}))["items"][24]["uuid"].clone();
        assert_eq!(stack["frames"][agent]["head"], last);
    }
    assert_eq!(words(&world, &base, true), ["three ideas"]);
    world.assert_sound();
}

#[on_both]
fn one_collapse_of_many_at_once_succeeds(world: World) {
    note(&world, "ada", "one");
    let log = fork(&world, "ada", json!({}));
    let engine = world.another();
    let done: Vec<bool> = std::thread::scope(|scope| {
        let calls = ["a", "b", "c", "d"].map(|agent| {
            let (engine, log) = (&engine, log.clone());
            scope.spawn(move || {
                let args = json!({"log": log, "summary": format!("by {agent}")});
                match World::call_on(engine, &World::caller(agent), "garden_collapse", args) {
                    Ok(_) => true,
                    Err(fault) => {
                        assert_eq!(fault.code, Code::Conflict);
                        false
                    }
                }
            })
        });
        calls
            .into_iter()
            .map(|call| call.join().expect("no panic"))
            .collect()
    });
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    world.assert_sound();
}

#[on_both]
fn a_retry_forks_once_and_an_auditor_not_at_all(world: World) {
    note(&world, "ada", "one");
    let args = json!({"idempotency_key": "k"});
    let first = world.ok("garden_fork", args.clone());
    assert_eq!(world.ok("garden_fork", args), first);
    let log = first["log"]["uuid"].clone();
    let auditor = caller("aud", Role::Auditor);
    for (tool, args) in [
        ("garden_fork", json!({})),
        ("garden_collapse", json!({"log": log, "summary": "s"})),
        ("garden_reopen", json!({"log": log})),
        ("garden_frame", json!({"log": log})),
    ] {
        refused(&world, &auditor, tool, args, Code::Forbidden);
    }
    assert_eq!(
        as_one(&world, &auditor, "garden_frame", json!({}))["frame"]["participant"],
        "aud"
    );
    as_one(&world, &auditor, "garden_log", json!({"log": log}));
    as_one(&world, &auditor, "garden_stack", json!({}));
    world.ok("create_project", json!({"id": "side", "name": "Side"}));
    refuse_field(
        &world,
        "garden_fork",
        json!({"project": "side", "parent": log}),
        "project",
    );
}

#[on_both]
fn a_conversation_has_one_name_in_every_answer(world: World) {
    note(&world, "ada", "first words");
    let (first, idea) = (
        root(&world),
        fork(&world, "ada", json!({"title": "an idea"})),
    );
    collapse(&world, &idea, "caching helps");
    let named = |answers: &[Value]| {
        let mut names: Vec<String> = answers
            .iter()
            .filter(|one| one["entity_type"] == "log")
            .map(|one| text(&one["handle"]))
            .collect();
        names.dedup();
        names
    };
    let both = vec![first.clone(), idea.clone()];
    assert_eq!(
        named(
            world.ok("garden_changes", json!({}))["notifications"]
                .as_array()
                .unwrap()
        ),
        both
    );
    let mut told = world.ok("garden_timeline", json!({"limit": 200}))["items"]
        .as_array()
        .unwrap()
        .clone();
    told.reverse();
    assert_eq!(named(&told), both);
    for log in [&first, &idea] {
        let shown = world.ok("garden_get", json!({"id": log}));
        assert!(!shown.to_string().contains("log:"), "{shown}");
        let why = world.ok("why", json!({"id": log}));
        assert!(!why.to_string().contains("log:"), "{why}");
        for step in why["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["_type"] == "EntityDelta")
        {
            assert!(both.contains(&text(&step["handle"])), "{step}");
        }
    }
    let found = world.ok("search", json!({"query": "caching helps"}))["results"][0].clone();
    assert_eq!(found["handle"], json!(idea));
}
