//! A message `to` agents: it goes on with the conversation that they have, and finds them by the names
//! that people use.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Via};
use understory_testkit::{World, on_both};

fn to(world: &World, agent: &str, names: Value, more: Value) -> Value {
    let args = with(json!({"to": names, "body": "Hello"}), more);
    by(world, agent, "post_message", args)
}

#[on_both]
fn a_second_message_goes_on_with_the_conversation(world: World) {
    let first = to(&world, "ada", json!(["bob"]), json!({}));
    assert_eq!((first.get("found"), first.get("note")), (None, None));
    let id = text(&first["thread_id"]);
    let second = to(&world, "ada", json!(["bob", "bob", "ada"]), json!({}));
    assert_eq!(
        (&second["thread_id"], &second["found"], &second["seq"]),
        (&json!(id), &json!(true), &json!(2))
    );
    assert!(text(&second["note"]).contains(&id), "{second}");
    let answer = to(&world, "bob", json!(["ada"]), json!({}));
    assert_eq!(answer["thread_id"], json!(id), "the other way round too");
    let three = to(&world, "ada", json!(["bob", "cyd"]), json!({}));
    assert_eq!(three.get("found"), None, "with somebody else it is another");
    assert_eq!(
        to(&world, "cyd", json!(["ada", "bob"]), json!({}))["thread_id"],
        three["thread_id"]
    );
    let titled = to(&world, "ada", json!(["bob"]), json!({"title": "Lunch"}));
    assert_eq!(titled.get("found"), None, "another title is another thread");
    let again = to(&world, "bob", json!(["ada"]), json!({"title": "Lunch"}));
    assert_eq!(again["thread_id"], titled["thread_id"]);
    let last = to(&world, "ada", json!(["bob"]), json!({}));
    assert_eq!(
        last["thread_id"], titled["thread_id"],
        "of several, the last that anybody used"
    );
    world.assert_sound();
}

#[on_both]
fn only_an_active_conversation_is_found(world: World) {
    let review = thread(&world, &["bob"]);
    let first = to(&world, "ada", json!(["bob"]), json!({}));
    assert_ne!(first["thread_id"], json!(review), "a review is none");
    let id = text(&first["thread_id"]);
    for status in ["blocked", "resolved"] {
        let args = json!({"thread_id": id, "status": status});
        world.ok("update_thread_status", args);
        let next = to(&world, "ada", json!(["bob"]), json!({}));
        assert_eq!(next.get("found"), None, "{status}");
        let args = json!({"thread_id": next["thread_id"], "status": "closed"});
        world.ok("update_thread_status", args);
    }
    let fresh = text(&to(&world, "ada", json!(["bob"]), json!({}))["thread_id"]);
    world.ok(
        "update_thread_status",
        json!({"thread_id": fresh, "add_participants": ["cyd"]}),
    );
    let alone = to(&world, "ada", json!(["bob"]), json!({}));
    assert_eq!(alone.get("found"), None, "a third came to the other");
    let alone = to(&world, "ada", json!(["ada"]), json!({}));
    assert_eq!(alone.get("found"), None);
}

#[on_both]
fn a_retry_posts_nothing_a_second_time(world: World) {
    let begun = json!({"to": ["bob"], "body": "once", "idempotency_key": "k"});
    let first = world.ok("post_message", begun.clone());
    let found = json!({"to": ["bob"], "body": "twice", "idempotency_key": "k2"});
    let second = world.ok("post_message", found.clone());
    assert_eq!(second["found"], true);
    let head = world.head();
    assert_eq!(world.ok("post_message", begun), first);
    assert_eq!(world.ok("post_message", found.clone()), second);
    assert_eq!(world.head(), head);
    refuse(
        &world,
        "post_message",
        with(found, json!({"body": "other"})),
        Code::IdempotencyConflict,
    );
    let id = text(&first["thread_id"]);
    let answers = json!({"to": ["bob"], "body": "b", "in_reply_to": first["message_id"]});
    assert_eq!(world.ok("post_message", answers)["thread_id"], json!(id));
}

#[on_both]
fn names_that_people_use_find_the_live_agent(world: World) {
    let codex = World::caller("codex-mcp-client");
    let _seat = world.alive(&World::caller("ada"));
    world.ok("create_thread", json!({"title": "t"}));
    let _codex = world.alive(&codex);
    let posted = to(&world, "ada", json!(["codex"]), json!({}));
    let note = text(&posted["note"]);
    assert_eq!(note, "codex is codex-mcp-client here.");
    assert_eq!(posted.get("unknown_participants"), None);
    let id = text(&posted["thread_id"]);
    assert_eq!(
        get(&world, &id)["participants"],
        json!(["codex-mcp-client"])
    );
    let other = to(&world, "ada", json!(["Codex"]), json!({}));
    assert_eq!(other["thread_id"], json!(id), "in whichever case");
    let own = to(&world, "ada", json!(["Ada"]), json!({}));
    assert_eq!(
        own["unknown_participants"][0]["agent_id"], "Ada",
        "one does not mean oneself"
    );
    let _second = world.alive(&World::caller("CODEX"));
    let either = to(&world, "ada", json!(["Codex"]), json!({}));
    assert_eq!(either.get("note"), None, "it could be either: {either}");
    assert_eq!(either["unknown_participants"][0]["agent_id"], "Codex");
}

#[on_both]
fn a_session_keeps_the_name_that_it_had(world: World) {
    world.ok("create_thread", json!({"title": "t"}));
    let arrives = |agent: &str| {
        let mut one = World::caller(agent);
        one.session = "t1".into();
        one.via = Via::Arriving;
        world.engine.arrive(&one, true, None).unwrap().unwrap()
    };
    assert_eq!(arrives("codex-mcp-client"), "codex-mcp-client");
    assert_eq!(arrives("codex"), "codex-mcp-client");
}
