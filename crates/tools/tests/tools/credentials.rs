//! Credentials in what callers write: told, refused or let be, by one rule for every tool; kept by
//! kind and item, and gone with a purge.

use serde_json::{Value, json};
use understory_engine::Options;
use understory_engine::system::purge::Asked;
use understory_model::secret::{Kind, Policy};
use understory_model::{Caller, Code, Role};
use understory_testkit::{World, on_both};
use understory_tools::Access;

use crate::every_tool::Script;

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("gh{}_{}", "p", "k7Qz2mXw9RtB4vNc8LpY3hGd6JsF5aTe1UoK")
}

fn note(text: &str) -> Value {
    json!({"type": "Note", "description": text})
}

fn with(world: &World, secrets: Policy) -> understory_engine::Engine {
    let options = Options {
        secrets,
        ..world.options()
    };
    understory_engine::Engine::open(&world.backend.store(), options).unwrap()
}

fn kinds(world: &World) -> Vec<(i64, Kind)> {
    let (_, found) = world.engine.credentials(&world.caller, 100).unwrap();
    found.iter().map(|one| (one.seq.0, one.kind)).collect()
}

#[on_both]
fn a_credential_is_stored_and_told(world: World) {
    let token = token();
    let answer = world.ok("graph_plan", json!({"nodes": [{"ref": "a", "summary": "plain"},
        {"ref": "b", "summary": format!("use {token}"), "properties": {"api_key": "x9Kq2LmZ7vB4nR8tYw3c"}}]}));
    assert_eq!(
        answer["credentials"],
        json!([
            {"path": "nodes[1].properties.api_key", "kind": "named_value"},
            {"path": "nodes[1].summary", "kind": "github_token"},
        ])
    );
    assert!(
        answer["warnings"][0]
            .as_str()
            .unwrap()
            .contains("understory purge")
    );
    assert!(!answer["credentials"].to_string().contains(&token));
    let quiet = world.ok("garden_add", note("nothing of the kind"));
    assert_eq!(
        (quiet.get("credentials"), quiet.get("warnings")),
        (None, None)
    );
    let seq = world.head() - 1;
    assert_eq!(kinds(&world)[0].1, Kind::GithubToken);
    assert!(kinds(&world).iter().all(|(at, _)| *at <= seq));
    world.assert_sound();
}

#[on_both]
fn what_is_told_of_credentials_counts_in_the_budget(world: World) {
    let long = format!("use {}\n{}", token(), "one more line\n".repeat(400));
    world.ok("graph_open", json!({"project": "default", "goal": "g"}));
    for most in [900, 2_000, 100_000] {
        let args = json!({"task": "PLAN-001", "write": long, "max_chars": most});
        let answer = world.ok("scratchpad", args);
        assert_eq!(
            answer["credentials"],
            json!([{"path": "write", "kind": "github_token"}])
        );
        let size = understory_model::budget::chars(&answer);
        assert!(size <= most, "{size} characters for {most}: {answer}");
    }
    // However small the budget, it is told that there was one.
    let answer = world.ok(
        "scratchpad",
        json!({"task": "PLAN-001", "write": token(), "max_chars": 0}),
    );
    assert!(
        answer["warnings"][0]
            .as_str()
            .unwrap()
            .contains("understory purge"),
        "{answer}"
    );
}

#[on_both]
fn a_credential_is_refused_by_its_place(world: World) {
    let strict = with(&world, Policy::Refuse);
    world.ok("garden_add", note("first"));
    let before = world.head();
    let token = token();
    let fault = World::call_on(
        &strict,
        &world.caller,
        "garden_add",
        note(&format!("use {token}")),
    )
    .unwrap_err();
    assert_eq!(fault.code, Code::Validation);
    assert_eq!(
        fault.message,
        "description: looks like a GitHub token, and credentials are not stored here"
    );
    assert_eq!(
        fault.details,
        Some(json!({"field": "description", "kind": "github_token"}))
    );
    assert!(!format!("{fault:?}").contains(&token));
    assert_eq!((world.head(), kinds(&world)), (before, vec![]));
    World::call_on(&strict, &world.caller, "search", json!({"query": token})).unwrap();
    let open = with(&world, Policy::Off);
    let answer = World::call_on(&open, &world.caller, "garden_add", note(&token)).unwrap();
    assert_eq!(answer.get("credentials"), None);
}

#[on_both]
fn every_tool_that_writes_is_under_the_rule(world: World) {
    let strict = with(&world, Policy::Refuse);
    Script::run(&world, &|_, args| args, &|_, tool, args| {
        let mut args = args.clone();
        args["caused_by"] = json!(token());
        let answer = World::call_on(&strict, &world.caller, tool.name, args);
        let looks =
            |fault: &understory_model::Fault| fault.message.contains("looks like a GitHub token");
        let refused = answer.as_ref().err().is_some_and(looks);
        assert_eq!(
            refused,
            tool.access != Access::Read,
            "{}: {answer:?}",
            tool.name
        );
    });
}

#[on_both]
fn what_is_flagged_is_gone_with_an_undo_or_a_purge(world: World) {
    let token = token();
    let first = world.ok("garden_add", note(&format!("use {token}")))["item"]["uuid"].clone();
    let second = world.ok("garden_add", note(&format!("{token} again")))["item"]["uuid"].clone();
    assert_eq!(kinds(&world).len(), 2);
    world.ok("garden_undo", json!({"item": second}));
    assert_eq!(kinds(&world).len(), 1);
    world.assert_sound();
    let operator = Caller {
        role: Role::Operator,
        ..World::caller("olga")
    };
    let asked = Asked {
        credentials: true,
        reason: "leak".into(),
        ..Asked::default()
    };
    let done = world.engine.purge(&operator, asked, |_, _| {}).unwrap();
    assert_eq!(done.items.len(), 1);
    assert_eq!(kinds(&world), []);
    assert_eq!(
        world.ok("garden_get", json!({"id": first}))["item"]["description"],
        "use [erased]"
    );
    world.assert_sound();
}

#[on_both]
fn a_key_in_the_lines_of_a_document_is_purged_whole(world: World) {
    let line = "k7Qz2mXw9RtB4vNc8LpY3hGd6JsF5aTe1UoKiDxW0qZrMnEk7Qz2mXw9RtB4vNc8";
    let (begin, end) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    let content = format!("one\n{begin}\n{line}\n{line}\n{end}\ntwo\n");
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": content}),
    );
    assert_eq!(kinds(&world).len(), 1, "{:?}", kinds(&world));
    let operator = Caller {
        role: Role::Operator,
        ..World::caller("olga")
    };
    let asked = Asked {
        credentials: true,
        reason: "leak".into(),
        ..Asked::default()
    };
    world.engine.purge(&operator, asked, |_, _| {}).unwrap();
    let shown = world
        .ok("garden_artifact_show", json!({"artifact": "d"}))
        .to_string();
    assert!(!shown.contains(line) && shown.contains("two"), "{shown}");
    world.assert_sound();
}
