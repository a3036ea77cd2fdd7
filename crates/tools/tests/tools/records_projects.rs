//! `create_project`, `list_projects` and `get_project`: what a project is before, at and after its
//! first write, and how it is named.

use crate::common;
use crate::common::{NASTY, chars};
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

/// The ids that `list_projects` shows.
#[track_caller]
fn listed(world: &World) -> Vec<String> {
    common::ids(&world.ok("list_projects", json!({}))["projects"])
}

fn of_project(project: &str) -> Caller {
    Caller {
        project: project.into(),
        ..World::caller("ada")
    }
}

#[on_both]
fn before_the_first_write_the_default_project_is_shown_and_not_stored(world: World) {
    let project = world.ok("get_project", json!({}));
    assert_eq!(
        (&project["id"], &project["name"], &project["tick"]),
        (&json!("default"), &json!("default"), &json!(0))
    );
    assert!(project["created"].is_string() && project.get("description").is_none());
    assert_eq!(world.ok("get_project", json!({"id": "default"}))["tick"], 0);
    assert_eq!(
        world.ok("list_projects", json!({})),
        json!({"projects": []})
    );
    assert_eq!(world.head(), 0, "no read writes");
    assert_eq!(
        world.refused("get_project", json!({"id": "other"})).code,
        Code::NotFound
    );
    root(&world, "First");
    assert_eq!(listed(&world), ["default"]);
}

#[on_both]
fn a_project_is_made_with_what_was_said_of_it(world: World) {
    let made = world.ok(
        "create_project",
        json!({"id": "shop", "name": "Web shop", "description": "Sell tea"}),
    );
    assert_eq!(
        made,
        json!({"id": "shop", "name": "Web shop", "description": "Sell tea", "created": made["created"], "tick": 0})
    );
    assert_eq!(world.ok("get_project", json!({"id": "shop"})), made);
    let bare = world.ok("create_project", json!({"id": "bare", "name": "Bare"}));
    assert!(bare.get("description").is_none(), "{bare}");
    assert_eq!(
        listed(&world),
        ["shop", "bare"],
        "oldest first, and no default that nobody wrote to"
    );
    assert_eq!(
        world.ok("get_project", json!({}))["id"],
        "default",
        "making one does not switch to it"
    );
    root(&world, "Goes to the default");
    assert_eq!((tick(&world), tick_of(&world, "shop")), (1, 0));
    world.assert_sound();
}

#[on_both]
fn an_id_that_is_taken_is_a_conflict(world: World) {
    world.ok("create_project", json!({"id": "shop", "name": "Web shop"}));
    let fault = refuse(
        &world,
        "create_project",
        json!({"id": "shop", "name": "Other"}),
        Code::Conflict,
    );
    assert!(
        fault.message.contains("shop") && fault.hint.is_some(),
        "{fault}"
    );
    assert_eq!(
        world.ok("get_project", json!({"id": "shop"}))["name"],
        "Web shop"
    );
    root(&world, "Makes the default project");
    refuse(
        &world,
        "create_project",
        json!({"id": "default", "name": "Mine"}),
        Code::Conflict,
    );
}

#[on_both]
fn the_default_project_can_be_made_before_it_is_used(world: World) {
    world.ok(
        "create_project",
        json!({"id": "default", "name": "Ours", "description": "D"}),
    );
    root(&world, "A");
    let project = world.ok("get_project", json!({}));
    assert_eq!(
        (&project["name"], &project["tick"]),
        (&json!("Ours"), &json!(1))
    );
    assert_eq!(listed(&world), ["default"]);
}

#[on_both]
fn an_id_is_made_from_the_name_and_never_twice(world: World) {
    let id = |name: &str| {
        world.ok("create_project", json!({ "name": name }))["id"]
            .as_str()
            .unwrap()
            .to_string()
    };
    assert_eq!(id("Web Shop!"), "web-shop");
    assert_eq!(id("web shop"), "web-shop-2");
    assert_eq!(id("WEB... SHOP"), "web-shop-3");
    assert_eq!(id("!?"), "project");
    assert_eq!(id("…"), "project-2");
    assert_eq!(id("Größe 漢字"), "größe-漢字");
    assert_eq!(id("日本語プロジェクト 🎉"), "日本語プロジェクト");
    assert_eq!(id("हिन्दी परियोजना"), "हिन्दी-परियोजना");
    assert_eq!(id("\u{301}Проект: «Лес»"), "проект-лес");
    let long = id(&"word ".repeat(400));
    assert!(long.chars().count() <= 128, "{long}");
    assert_eq!(
        world.ok("get_project", json!({"id": long}))["name"],
        "word ".repeat(400)
    );
    let mut seen: Vec<String> = NASTY.iter().chain(NASTY).map(|name| id(name)).collect();
    for made in &seen {
        assert_eq!(world.ok("get_project", json!({"id": made}))["id"], *made);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 2 * NASTY.len());
    world.assert_sound();
}

#[on_both]
fn a_project_is_the_same_thing_for_every_surface(world: World) {
    world.ok("create_project", json!({"id": "shop", "name": "Web shop"}));
    world.ok("graph_open", json!({"project": "shop", "goal": "Sell tea"}));
    assert_eq!(listed(&world), ["shop"]);
    world.ok(
        "graph_open",
        json!({"project": "garden", "goal": "Grow tea"}),
    );
    let garden = world.ok("get_project", json!({"id": "garden"}));
    assert_eq!(
        (&garden["name"], &garden["description"], &garden["tick"]),
        (&json!("garden"), &json!("Grow tea"), &json!(0))
    );
    refuse(
        &world,
        "create_project",
        json!({"id": "garden", "name": "Again"}),
        Code::Conflict,
    );
    world.ok(
        "create_record",
        with(
            fresh(Value::Null, "In the garden"),
            json!({"project_id": "garden"}),
        ),
    );
    assert_eq!((tick_of(&world, "garden"), tick(&world)), (1, 0));
    world.ok(
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "A"}], "project": "garden"}),
    );
    assert_eq!(tick_of(&world, "garden"), 1, "only records' writes tick");
    world.assert_sound();
}

#[on_both]
fn the_list_counts_open_records_and_open_sessions(world: World) {
    let counts = |world: &World| {
        let all = world.ok("list_projects", json!({}));
        let one = all["projects"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == "default")
            .unwrap()
            .clone();
        assert!(one.get("created").is_none() && one["name"].is_string());
        [&one["tick"], &one["open_sessions"], &one["open_records"]].map(|n| n.as_i64().unwrap())
    };
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    assert_eq!(counts(&world), [2, 1, 2]);
    world.ok(
        "create_record",
        with(fresh(Value::Null, "Later"), json!({"state": "LATER"})),
    );
    assert_eq!(counts(&world), [3, 1, 2]);
    by(&world, "bob", "activate", json!({"id": a}));
    assert_eq!(counts(&world), [3, 2, 2]);
    world.ok(
        "transition",
        json!({"id": a, "to_state": "RESOLVED", "resolved_by": b}),
    );
    world.ok(
        "transition",
        json!({"id": b, "to_state": "DISCARDED", "reason": "r"}),
    );
    assert_eq!(counts(&world), [5, 2, 0]);
    world.ok("transition", json!({"id": a, "to_state": "OPEN"}));
    by(&world, "bob", "close_session", json!({}));
    by(&world, "bob", "close_session", json!({}));
    assert_eq!(counts(&world), [6, 1, 1]);
    by(&world, "bob", "activate", json!({"id": a}));
    assert_eq!(counts(&world), [6, 2, 1]);
    world.assert_sound();
}

#[on_both]
fn a_missing_project_names_those_that_are_near(world: World) {
    world.ok("create_project", json!({"id": "web-shop", "name": "Shop"}));
    for (tool, field) in [
        ("get_project", "id"),
        ("get_project_overview", "project_id"),
        ("list_records", "project_id"),
        ("get_recent_activity", "project_id"),
    ] {
        let fault = world.refused(tool, json!({ field: "web-shpo" }));
        assert_eq!(fault.code, Code::NotFound, "{tool}");
        assert_eq!(
            fault.details.unwrap()["nearest"],
            json!(["web-shop"]),
            "{tool}"
        );
    }
    let fault = refuse(
        &world,
        "create_record",
        with(fresh(Value::Null, "A"), json!({"project_id": "web-shpo"})),
        Code::NotFound,
    );
    assert_eq!(fault.details.unwrap()["nearest"], json!(["web-shop"]));
    assert_eq!(
        listed(&world),
        ["web-shop"],
        "a typing mistake makes no project"
    );
}

#[on_both]
fn an_explicit_project_beats_the_callers(world: World) {
    world.ok("create_project", json!({"id": "one", "name": "One"}));
    let two = of_project("two");
    assert_eq!(
        world.call_as(&two, "get_project", json!({})).unwrap()["id"],
        "two"
    );
    assert_eq!(
        world
            .call_as(&two, "get_project", json!({"id": "one"}))
            .unwrap()["id"],
        "one"
    );
    let made = world
        .call_as(
            &two,
            "create_record",
            with(fresh(Value::Null, "A"), json!({"project_id": "one"})),
        )
        .unwrap();
    assert_eq!((tick_of(&world, "one"), tick_of(&world, "two")), (1, 0));
    world
        .call_as(&two, "create_record", fresh(Value::Null, "B"))
        .unwrap();
    assert_eq!((tick_of(&world, "one"), tick_of(&world, "two")), (1, 1));
    assert_eq!(
        listed(&world),
        ["one", "two"],
        "the caller's own is made by its first write"
    );
    let below = world
        .call_as(
            &two,
            "create_record",
            fresh(made["record"]["id"].clone(), "C"),
        )
        .unwrap();
    assert_eq!(
        below["record"]["parent_id"], made["record"]["id"],
        "a record lives where its parent does"
    );
    assert_eq!((tick_of(&world, "one"), tick_of(&world, "two")), (2, 1));
    let fault = world
        .call_as(
            &two,
            "create_record",
            with(
                fresh(made["record"]["id"].clone(), "D"),
                json!({"project_id": "two"}),
            ),
        )
        .unwrap_err();
    assert_eq!(
        (fault.code, &fault.details.unwrap()["field"]),
        (Code::Validation, &json!("project_id"))
    );
    world.assert_sound();
}

#[on_both]
fn bad_names_and_ids_are_refused(world: World) {
    for id in [
        "",
        "   ",
        " a",
        "a ",
        "a\0",
        "a\nb",
        "\u{1b}[31m",
        &"x".repeat(129),
    ] {
        refuse_field(
            &world,
            "create_project",
            json!({"id": id, "name": "N"}),
            "id",
        );
    }
    for name in ["", " \t ", "a\0", &"x".repeat(2_001)] {
        refuse_field(&world, "create_project", json!({ "name": name }), "name");
    }
    refuse_field(
        &world,
        "create_project",
        json!({"name": "N", "description": "x".repeat(100_001)}),
        "description",
    );
    refuse_field(
        &world,
        "create_project",
        json!({"name": "N", "description": "\0"}),
        "description",
    );
    refuse_field(&world, "create_project", json!({"name": 5}), "name");
    refuse_field(
        &world,
        "create_project",
        json!({"name": "N", "colour": "red"}),
        "colour",
    );
    refuse(&world, "create_project", json!({}), Code::Validation);
    refuse(&world, "create_project", json!([]), Code::Validation);
    assert_eq!(world.head(), 0);
    let id = "x".repeat(128);
    world.ok(
        "create_project",
        json!({"id": id, "name": "x".repeat(2_000), "description": "x".repeat(100_000)}),
    );
    assert_eq!(
        common::ids(&world.ok("list_projects", json!({"max_chars": ALL}))["projects"]),
        [id]
    );
}

#[on_both]
fn a_bad_project_is_named_as_the_argument_is(world: World) {
    root(&world, "A");
    refuse_field(&world, "get_project", json!({"id": "a\n"}), "id");
    for tool in [
        "get_project_overview",
        "list_records",
        "get_recent_activity",
    ] {
        refuse_field(&world, tool, json!({"project_id": ""}), "project_id");
    }
    refuse_field(
        &world,
        "create_record",
        with(fresh(Value::Null, "A"), json!({"project_id": " "})),
        "project_id",
    );
    for tool in ["save_session", "close_session", "sync_session"] {
        refuse_field(&world, tool, json!({"project_id": "a\0"}), "project_id");
    }
}

#[on_both]
fn any_text_is_a_name_and_comes_back_as_it_was(world: World) {
    for (at, text) in NASTY.iter().enumerate() {
        let made = world.ok(
            "create_project",
            json!({"id": format!("p{at}"), "name": text, "description": text}),
        );
        assert_eq!(
            (&made["name"], &made["description"]),
            (&json!(text), &json!(text))
        );
    }
    let all = world.ok("list_projects", json!({}));
    for (at, text) in NASTY.iter().enumerate() {
        assert_eq!(
            (
                &all["projects"][at]["name"],
                &all["projects"][at]["description"]
            ),
            (&json!(text), &json!(text))
        );
    }
    for (at, text) in NASTY
        .iter()
        .enumerate()
        .filter(|(_, text)| !text.chars().any(char::is_control))
    {
        world.ok("create_project", json!({"id": text, "name": "N"}));
        let caller = of_project(text);
        world
            .call_as(&caller, "create_record", fresh(Value::Null, "A"))
            .unwrap();
        assert_eq!(tick_of(&world, text), 1, "{at}");
    }
    world.assert_sound();
}

#[on_both]
fn the_same_key_makes_one_project(world: World) {
    let args = json!({"name": "Web shop", "idempotency_key": "k"});
    let first = world.ok("create_project", args.clone());
    let head = world.head();
    assert_eq!(world.ok("create_project", args.clone()), first);
    assert_eq!(
        World::call_on(&world.another(), &world.caller, "create_project", args).unwrap(),
        first
    );
    assert_eq!((world.head(), listed(&world).len()), (head, 1));
    refuse(
        &world,
        "create_project",
        json!({"name": "Other", "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
}

#[on_both]
fn an_auditor_reads_and_makes_nothing(mut world: World) {
    world.caller = auditor();
    refuse(
        &world,
        "create_project",
        json!({"name": "N"}),
        Code::Forbidden,
    );
    world.ok("list_projects", json!({}));
    world.ok("get_project", json!({}));
    assert_eq!(world.head(), 0);
}

#[on_both]
fn projects_of_another_workspace_are_not_there(world: World) {
    world.ok("create_project", json!({"id": "shop", "name": "N"}));
    let elsewhere = Caller {
        workspace: "elsewhere".into(),
        ..World::caller("ada")
    };
    assert_eq!(
        world
            .call_as(&elsewhere, "get_project", json!({"id": "shop"}))
            .unwrap_err()
            .code,
        Code::NotFound
    );
    assert_eq!(
        world
            .call_as(&elsewhere, "list_projects", json!({}))
            .unwrap(),
        json!({"projects": []})
    );
    world
        .call_as(
            &elsewhere,
            "create_project",
            json!({"id": "shop", "name": "Theirs"}),
        )
        .unwrap();
    assert_eq!(world.ok("get_project", json!({"id": "shop"}))["name"], "N");
}

#[on_both]
fn no_answer_is_longer_than_its_budget(world: World) {
    for at in 0..20 {
        world.ok("create_project", json!({"id": format!("p{at}"), "name": "漢字 ".repeat(100), "description": "\u{1}".repeat(100)}));
    }
    let whole = world.ok("list_projects", json!({"max_chars": ALL}));
    for budget in [0, 50, 100, 1_000, 1_700, 5_000, chars(&whole) - 1] {
        let cut = world.ok("list_projects", json!({"max_chars": budget}));
        assert_eq!(cut["truncated"], true, "{budget}");
        assert!(chars(&cut) <= budget.max(40), "{budget}: {}", chars(&cut));
        let one = world.ok("get_project", json!({"id": "p3", "max_chars": budget}));
        assert!(chars(&one) <= budget.max(18), "{budget}: {}", chars(&one));
    }
    assert_eq!(
        world.ok("list_projects", json!({"max_chars": chars(&whole)})),
        whole
    );
    assert!(whole.get("truncated").is_none());
}
