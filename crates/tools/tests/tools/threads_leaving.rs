//! Participants that leave a thread or are taken out: who may, and that they read nothing any more.

use serde_json::{Value, json};
use understory_model::{Caller, Code, Role};
use understory_testkit::{World, on_both};

fn worker(agent: &str) -> Caller {
    Caller {
        role: Role::Worker,
        ..World::caller(agent)
    }
}

fn remove(who: &str) -> Value {
    json!({"thread_id": "th_001", "remove_participants": [who], "reason": "left the team"})
}

#[track_caller]
fn refused(world: &World, who: &Caller, tool: &str, args: Value) -> Code {
    world.call_as(who, tool, args).unwrap_err().code
}

#[on_both]
fn whoever_is_taken_out_reads_nothing_any_more(world: World) {
    let (ada, bob, cyd) = (worker("ada"), worker("bob"), worker("cyd"));
    let made = json!({"title": "t", "participants": ["bob", "cyd"]});
    world.call_as(&ada, "create_thread", made).unwrap();
    world
        .call_as(
            &ada,
            "post_message",
            json!({"thread_id": "th_001", "body": "kiwi"}),
        )
        .unwrap();
    assert_eq!(
        refused(&world, &cyd, "update_thread_status", remove("bob")),
        Code::InsufficientAuthority
    );
    assert_eq!(
        refused(&world, &cyd, "update_thread_status", remove("ada")),
        Code::Validation
    );
    let answer = world
        .call_as(&ada, "update_thread_status", remove("bob"))
        .unwrap();
    assert_eq!(answer["participants"], json!(["cyd"]));
    for (tool, args) in [
        ("read_messages", json!({"thread_id": "th_001"})),
        (
            "post_message",
            json!({"thread_id": "th_001", "body": "still here"}),
        ),
        ("get_thread", json!({"thread_id": "th_001"})),
    ] {
        assert_eq!(refused(&world, &bob, tool, args), Code::Forbidden, "{tool}");
    }
    assert_eq!(
        refused(&world, &bob, "garden_get", json!({"id": "th_001"})),
        Code::NotFound
    );
    let found = world
        .call_as(&bob, "search", json!({"query": "kiwi"}))
        .unwrap();
    assert!(!found.to_string().contains("msg_"), "{found}");
    let listed = world.call_as(&bob, "list_threads", json!({})).unwrap();
    assert_eq!(listed["threads"], json!([]));
    let read = world
        .call_as(&cyd, "read_messages", json!({"thread_id": "th_001"}))
        .unwrap();
    assert_eq!(
        read["changes"][0]["removed_participants"],
        json!(["bob"]),
        "{read}"
    );
    assert_eq!(read["changes"][0].get("added_participants"), None, "{read}");
    // One may leave oneself, and be asked in again.
    world
        .call_as(&cyd, "update_thread_status", remove("cyd"))
        .unwrap();
    assert_eq!(
        refused(&world, &cyd, "get_thread", json!({"thread_id": "th_001"})),
        Code::Forbidden
    );
    let back = json!({"thread_id": "th_001", "add_participants": ["cyd"]});
    world.call_as(&ada, "update_thread_status", back).unwrap();
    world
        .call_as(&cyd, "get_thread", json!({"thread_id": "th_001"}))
        .unwrap();
    world.assert_sound();
}
