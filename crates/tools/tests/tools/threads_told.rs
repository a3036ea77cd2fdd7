//! A session is told once: what a wait answered is not answered again to the same session, stays
//! unread until it is acknowledged, and is told again to the agent's next session.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::threads::wait::{self, Looked, Place, Wanted};
use understory_model::answer::Answer;
use understory_model::budget::Budget;
use understory_model::{Caller, Role};
use understory_testkit::{World, on_both};

fn session(name: &str) -> Caller {
    Caller {
        session: name.into(),
        ..World::caller("bob")
    }
}

#[track_caller]
fn look(world: &World, caller: &Caller, more: Value) -> Value {
    let args = with(json!({"timeout_s": 0}), more);
    as_one(world, caller, "wait_for_messages", args)
}

#[on_both]
fn a_message_is_told_once_and_stays_unread(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    for (id, body) in [(&a, "1"), (&b, "2"), (&a, "3")] {
        say(&world, "ada", id, body);
    }
    let bob = session("one");
    let first = look(&world, &bob, json!({}));
    assert_eq!(each(&first["messages"], "body"), ["1", "2", "3"]);
    let head = world.head();
    let again = look(&world, &bob, json!({}));
    assert_eq!(
        (&again["messages"], &again["timed_out"]),
        (&json!([]), &json!(true))
    );
    let hint = text(&again["hint"]);
    assert!(
        hint.contains("3 messages") && hint.contains("`ack`"),
        "{hint}"
    );
    assert_eq!(again["next"], first["next"], "what `ack` takes");
    assert_eq!(unread(&world, "bob"), (2, 3), "nothing is read");
    let onboard = as_one(&world, &bob, "graph_onboard", json!({}));
    assert_eq!(onboard["unread"]["messages"], 3);
    let named = look(&world, &bob, json!({"thread_ids": [a]}));
    assert_eq!(named["timed_out"], true, "named or not");
    assert_eq!(named["next"], json!({&a: 2}));
    assert_eq!(world.head(), head, "no item tells of it");
    let since = look(&world, &bob, json!({"since": {&a: 1, &b: 1}}));
    assert_eq!(each(&since["messages"], "body"), ["3"], "where it says");
    say(&world, "ada", &a, "4");
    let fourth = look(&world, &bob, json!({}));
    assert_eq!(each(&fourth["messages"], "body"), ["4"]);
    let fresh = look(&world, &session("two"), json!({}));
    assert_eq!(
        each(&fresh["messages"], "body"),
        ["1", "2", "3", "4"],
        "a new session is told all that is unread"
    );
    let read = look(&world, &bob, json!({"ack": again["next"]}));
    assert_eq!(read["timed_out"], true);
    assert!(text(&read["hint"]).contains("1 message that"), "{read}");
    assert_eq!(unread(&world, "bob"), (1, 1));
    let done = look(&world, &bob, json!({"ack": read["next"]}));
    assert_eq!((done.get("hint"), &done["next"]), (None, &json!({})));
    assert_eq!(unread(&world, "bob"), (0, 0));
    world.assert_sound();
}

#[on_both]
fn a_change_is_told_once(world: World) {
    let id = thread(&world, &["bob"]);
    let block = |status: &str| {
        let args = json!({"thread_id": id, "status": status});
        world.ok("update_thread_status", args);
    };
    block("blocked");
    let bob = session("one");
    let first = look(&world, &bob, json!({}));
    assert_eq!(each(&first["changes"], "status"), ["blocked"]);
    let again = look(&world, &bob, json!({}));
    assert_eq!(again["timed_out"], true);
    assert!(text(&again["hint"]).contains("changes"), "{again}");
    block("active");
    let second = look(&world, &bob, json!({}));
    assert_eq!(each(&second["changes"], "status"), ["active"]);
    let fresh = look(&world, &session("two"), json!({}));
    assert_eq!(each(&fresh["changes"], "status"), ["blocked", "active"]);
    look(&world, &bob, json!({"ack": second["next"]}));
    let third = look(&world, &session("three"), json!({}));
    assert_eq!(third["timed_out"], true);
}

#[on_both]
fn what_did_not_fit_is_told_next(world: World) {
    let id = thread(&world, &["bob"]);
    for n in 1..=4 {
        say(&world, "ada", &id, &format!("{n} {}", "x".repeat(300)));
        say(&world, "bob", &id, "noted");
    }
    let (few, small) = (session("few"), session("small"));
    for n in ["1", "2", "3", "4"] {
        let one = look(&world, &few, json!({"limit": 1}));
        assert_eq!(one["has_more"], n != "4");
        let two = look(&world, &small, json!({"max_chars": 1000}));
        for told in [one, two] {
            let told = each(&told["messages"], "body");
            assert_eq!((told.len(), &text(&told[0])[..1]), (1, n));
        }
    }
    for caller in [few, small] {
        assert_eq!(look(&world, &caller, json!({}))["timed_out"], true);
    }
}

#[on_both]
fn one_who_may_not_write_is_told_again(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "1");
    let auditor = caller("bob", Role::Auditor);
    let first = look(&world, &auditor, json!({}));
    assert_eq!(each(&first["messages"], "body"), ["1"]);
    assert_eq!(look(&world, &auditor, json!({})), first);
}

#[on_both]
fn a_wait_after_what_was_told_is_not_said_to_deliver_it(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "1");
    let bob = session("one");
    let told = |caller: &Caller| {
        let mut wanted = Wanted::default();
        wait::hear(&world.engine, caller, &mut wanted).unwrap();
        let lease = wait::begin(&world.engine, caller, &wanted).expect("it is said");
        let args = json!({"thread_id": id, "target_agent_id": "bob"});
        let answer = world.ok("trigger_participant", args);
        wait::end(&world.engine, caller, &lease);
        text(&answer["result"])
    };
    assert_eq!(told(&bob), "delivered");
    look(&world, &bob, json!({}));
    assert_eq!(told(&bob), "queued", "it was told and has not read");
    assert_eq!(told(&session("two")), "delivered");
    say(&world, "ada", &id, "2");
    assert_eq!(told(&bob), "delivered");
}

#[on_both]
fn what_sessions_were_told_is_forgotten_in_the_end(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "1");
    look(&world, &session("one"), json!({}));
    world.clock.turn(31 * 24 * 3_600);
    say(&world, "ada", &id, "2");
    look(&world, &session("two"), json!({}));
    let again = look(&world, &session("one"), json!({}));
    assert_eq!(each(&again["messages"], "body"), ["1", "2"]);
}

/// What a look tells, as JSON, or what was told before.
fn shown(looked: Looked) -> String {
    match looked {
        Looked::Came(came) => {
            let answer = match &came.answer {
                Answer::Whole(waited) => json!(waited),
                Answer::Json(json) => json.clone(),
            };
            format!("{answer} {:?}", came.told)
        }
        Looked::Nothing(before) => format!("{before:?}"),
    }
}

#[on_both]
fn looks_at_one_snapshot_tell_what_each_would_alone(world: World) {
    let ids: Vec<String> = (0..3)
        .map(|_| thread(&world, &["bob", "eve", "kim"]))
        .collect();
    for n in 0..12 {
        let agent = ["ada", "bob", "ada", "eve"][n % 4];
        say(
            &world,
            agent,
            &ids[n % 3],
            &format!("{n} {}", "y".repeat(100)),
        );
    }
    world.ok(
        "update_thread_status",
        json!({"thread_id": ids[1], "status": "blocked"}),
    );
    look(&world, &session("one"), json!({"limit": 4}));
    let mut wanted = vec![Wanted::default()];
    let seq = |seq| Place {
        seq: Some(seq),
        changes: None,
    };
    for id in &ids {
        let threads = vec![id.clone()];
        let since_of = std::iter::once((id.clone(), seq(2))).collect();
        let one = Wanted {
            threads,
            ..Wanted::default()
        };
        wanted.extend([
            Wanted {
                since: Some(1),
                ..one.clone()
            },
            Wanted {
                since_of,
                ..Wanted::default()
            },
            one,
        ]);
    }
    wanted.push(Wanted {
        threads: vec!["th_999".into()],
        ..Wanted::default()
    });
    let callers = ["ada", "bob", "eve", "kim", "stranger"].map(World::caller);
    let callers = callers.into_iter().chain([session("one")]);
    let mut asked = Vec::new();
    for caller in callers {
        for one in &wanted {
            for (limit, chars) in [(1, 100_000), (50, 100_000), (50, 900)] {
                let mut one = one.clone();
                one.limit = limit;
                wait::hear(&world.engine, &caller, &mut one).unwrap();
                let budget = Budget {
                    chars,
                    ..Budget::default()
                };
                asked.push((caller.clone(), one, budget));
            }
        }
    }
    let together = wait::together(&world.engine, &asked[0].0, |looks| {
        let told = asked.iter().map(|(caller, wanted, budget)| {
            let looked = looks.look(caller, wanted, budget);
            looked.map(shown).map_err(|fault| fault.to_string())
        });
        Ok(told.collect::<Vec<_>>())
    });
    for ((caller, wanted, budget), told) in asked.iter().zip(together.unwrap()) {
        let alone = wait::look(&world.engine, caller, wanted, budget);
        let alone = alone.map(shown).map_err(|fault| fault.to_string());
        assert_eq!(told, alone, "{} {wanted:?} {budget:?}", caller.agent);
    }
}
