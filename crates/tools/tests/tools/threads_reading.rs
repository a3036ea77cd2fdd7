//! Reading: how far each has read, what is unread, and waiting for what comes.

use std::collections::BTreeMap;

use crate::common::{chars, tokens};
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::Resolved;
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

fn look(world: &World, agent: &str, more: Value) -> Value {
    by(
        world,
        agent,
        "wait_for_messages",
        with(json!({"timeout_s": 0}), more),
    )
}

/// A wait of a moment, without the words that say how to go on.
fn moment(world: &World, more: Value) -> Value {
    let mut answer = by(
        world,
        "bob",
        "wait_for_messages",
        with(json!({"timeout_s": 0.05}), more),
    );
    let hint = answer.as_object_mut().unwrap().remove("hint");
    assert!(text(&hint.unwrap()).contains("again"));
    answer
}

fn nothing(next: Value) -> Value {
    json!({"messages": [], "next": next, "has_more": false, "timed_out": true})
}

/// What waits for an agent, as every place that tells it does.
#[track_caller]
fn unread_everywhere(world: &World, agent: &str) -> (i64, i64) {
    let listed = by(world, agent, "list_threads", json!({}));
    let onboard = by(world, agent, "graph_onboard", json!({}))["unread"].clone();
    let overview = by(world, agent, "get_project_overview", json!({}))["unread"].clone();
    for told in [&onboard, &overview] {
        assert_eq!(
            (&told["threads"], &told["messages"]),
            (&listed["unread"]["threads"], &listed["unread"]["messages"])
        );
    }
    let each: i64 = listed["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["unread"].as_i64().unwrap())
        .sum();
    let (threads, messages) = unread(world, agent);
    assert_eq!(each, messages, "thread by thread");
    (threads, messages)
}

#[on_both]
fn an_ack_goes_forward_and_not_beyond_the_end(world: World) {
    let id = thread(&world, &["bob"]);
    let names: Vec<Value> = (0..5)
        .map(|_| say(&world, "ada", &id, "x")["message_id"].clone())
        .collect();
    let to = |seq: i64| json!({"thread_id": id, "last_read_seq": seq});
    let bob = World::caller("bob");
    for wrong in [-1, 6, i64::MAX, i64::MIN] {
        let fault = refused(&world, &bob, "ack_read", to(wrong), Code::Validation);
        assert_eq!(fault.details.unwrap()["field"], "last_read_seq");
    }
    let answer = ack(&world, "bob", &id, 3);
    assert_eq!(
        answer,
        json!({"ok": true, "last_read_seq": 3, "last_acked_message_id": names[2], "updated_at": answer["updated_at"]})
    );
    let fault = refused(&world, &bob, "ack_read", to(2), Code::Validation);
    assert_eq!(
        fault.details.unwrap(),
        json!({"field": "last_read_seq", "last_read_seq": 3, "last_seq": 5})
    );
    let head = world.head();
    assert_eq!(
        ack(&world, "bob", &id, 3),
        answer,
        "the same again changes nothing"
    );
    assert_eq!(world.head(), head);
    assert_eq!(
        ack(&world, "bob", &id, 5)["last_acked_message_id"],
        names[4]
    );
    let readers = get(&world, &id)["readers"].clone();
    assert_eq!(
        (each(&readers, "agent_id"), each(&readers, "last_read_seq")),
        (vec![json!("ada"), json!("bob")], vec![json!(0), json!(5)]),
        "each its own"
    );
    assert_eq!(
        get(&world, &id)["updated_at"],
        messages(&world, &id)[4]["created_at"],
        "reading is no change of the thread"
    );
    world.assert_sound();
}

#[on_both]
fn an_empty_thread_is_read_up_to_zero(world: World) {
    let id = thread(&world, &["bob"]);
    let head = world.head();
    assert_eq!(
        ack(&world, "bob", &id, 0).get("last_acked_message_id"),
        None
    );
    assert_eq!(world.head(), head, "it was there already");
    let operator = caller("olga", Role::Operator);
    refused(
        &world,
        &operator,
        "ack_read",
        json!({"thread_id": id, "last_read_seq": 1}),
        Code::Validation,
    );
}

#[on_both]
fn what_is_unread_are_the_words_of_others(world: World) {
    let (a, b) = (thread(&world, &["bob", "cyd"]), thread(&world, &["bob"]));
    assert_eq!(unread_everywhere(&world, "bob"), (0, 0));
    for agent in ["bob", "ada", "bob", "cyd", "bob"] {
        say(&world, agent, &a, "x");
    }
    say(&world, "ada", &b, "x");
    assert_eq!(
        (
            unread_everywhere(&world, "bob"),
            unread_everywhere(&world, "ada"),
            unread_everywhere(&world, "cyd")
        ),
        ((2, 3), (1, 4), (1, 4))
    );
    ack(&world, "bob", &a, 2);
    assert_eq!(unread_everywhere(&world, "bob"), (2, 2));
    ack(&world, "bob", &a, 4);
    assert_eq!(
        unread_everywhere(&world, "bob"),
        (1, 1),
        "its own last word needs no reading"
    );
    say(&world, "bob", &a, "y");
    assert_eq!(unread_everywhere(&world, "bob"), (1, 1));
    ack(&world, "bob", &a, 6);
    ack(&world, "bob", &b, 1);
    assert_eq!(unread_everywhere(&world, "bob"), (0, 0));
    assert_eq!(unread_everywhere(&world, "eve"), (0, 0));
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(
        (
            unread_everywhere(&world, "bob"),
            unread_everywhere(&world, "ada")
        ),
        ((0, 0), (1, 5))
    );
}

#[on_both]
fn unread_counts_agree_with_a_count_from_scratch(world: World) {
    let agents = ["ada", "bob", "cyd"];
    let ids = [
        thread(&world, &["bob", "cyd"]),
        thread(&world, &["bob"]),
        thread(&world, &["cyd", "bob"]),
    ];
    let (mut read, mut state) = (BTreeMap::new(), 7_u64);
    let mut chance = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..120 {
        let (agent, id) = (agents[chance(3) as usize], &ids[chance(3) as usize]);
        let one = World::caller(agent);
        if chance(3) > 0 {
            drop(world.call_as(&one, "post_message", json!({"thread_id": id, "body": "x"})));
            continue;
        }
        let seq = chance(1 + get(&world, id)["last_seq"].as_u64().unwrap()) as i64;
        if world
            .call_as(
                &one,
                "ack_read",
                json!({"thread_id": id, "last_read_seq": seq}),
            )
            .is_ok()
        {
            read.insert((agent, id), seq);
        }
    }
    let all: Vec<Vec<Value>> = ids.iter().map(|id| messages(&world, id)).collect();
    for agent in agents {
        for (id, said) in ids.iter().zip(&all) {
            let after = read.get(&(agent, id)).copied().unwrap_or(0);
            let new = said
                .iter()
                .filter(|m| m["seq"].as_i64().unwrap() > after && m["sender_agent_id"] != agent)
                .count();
            match world.call_as(
                &World::caller(agent),
                "get_thread",
                json!({"thread_id": id}),
            ) {
                Ok(got) => assert_eq!(
                    (&got["unread"], &got["last_read_seq"]),
                    (&json!(new), &json!(after)),
                    "{agent} {id}"
                ),
                Err(fault) => assert_eq!((fault.code, agent), (Code::Forbidden, "cyd")),
            }
        }
        unread_everywhere(&world, agent);
    }
    world.assert_sound();
}

#[on_both]
fn onboarding_names_the_newest_unread_threads_in_few_words(world: World) {
    let mut ids = Vec::new();
    for title in [
        "\u{1}\"\\".repeat(600),
        "𝒯".repeat(2_000),
        "third".into(),
        "fourth".into(),
    ] {
        let id = text(
            &world.ok(
                "create_thread",
                json!({"title": title, "participants": ["bob"]}),
            )["thread_id"],
        );
        say(&world, "ada", &id, "SECRET");
        ids.push(json!(id));
    }
    for tool in ["graph_onboard", "get_project_overview"] {
        let answer = by(&world, "bob", tool, json!({}));
        assert_eq!(
            (&answer["unread"]["threads"], &answer["unread"]["messages"]),
            (&json!(4), &json!(4))
        );
        assert_eq!(
            each(&answer["unread"]["newest"], "thread_id"),
            [ids[3].clone(), ids[2].clone(), ids[1].clone()]
        );
        assert_eq!(answer["unread"]["newest"][2]["title"], "𝒯".repeat(60));
        assert!(!answer.to_string().contains("SECRET"), "{tool}");
    }
    ids.iter()
        .skip(1)
        .for_each(|id| drop(ack(&world, "bob", id.as_str().unwrap(), 1)));
    assert!(tokens(&by(&world, "bob", "graph_onboard", json!({}))) <= 600);
    let none = by(&world, "eve", "graph_onboard", json!({}))["unread"].clone();
    assert_eq!(none, json!({"threads": 0, "messages": 0}));
}

#[on_both]
fn what_is_there_already_is_told_at_once(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    for (id, body) in [(&a, "1"), (&b, "2"), (&a, "3")] {
        say(&world, "ada", id, body);
    }
    let told = by(
        &world,
        "bob",
        "wait_for_messages",
        json!({"timeout_s": 300}),
    );
    assert_eq!(
        each(&told["messages"], "body"),
        ["1", "2", "3"],
        "in the order in which they were written"
    );
    assert_eq!(
        (&told["next"], &told["has_more"], &told["timed_out"]),
        (&json!({&a: 2, &b: 1}), &json!(false), &json!(false))
    );
    let whole = messages(&world, &a)[0].clone();
    for (field, value) in told["messages"][0].as_object().unwrap() {
        assert_eq!(*value, whole[field], "a message is the same everywhere");
    }
    ack(&world, "bob", &a, 2);
    assert_eq!(
        each(
            &look_anew(&world, "bob", "second", json!({}))["messages"],
            "body"
        ),
        ["2"],
        "what was acknowledged is not told again"
    );
    assert_eq!(
        each(
            &look_anew(&world, "bob", "third", json!({"thread_ids": [b]}))["messages"],
            "body"
        ),
        ["2"]
    );
    assert_eq!(
        look(&world, "bob", json!({"thread_ids": [a]}))["timed_out"],
        true
    );
    assert_eq!(
        each(
            &look(&world, "bob", json!({"thread_ids": [a], "since": 1}))["messages"],
            "body"
        ),
        ["3"],
        "since goes before what was acknowledged"
    );
    assert_eq!(
        each(
            &look(&world, "bob", json!({"since": {&a: 0, &b: 1}}))["messages"],
            "body"
        ),
        ["1", "3"]
    );
}

#[on_both]
fn ones_own_words_wake_nobody(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "bob", &id, "mine");
    assert_eq!(look(&world, "bob", json!({})), nothing(json!({})));
    assert_eq!(
        by(
            &world,
            "bob",
            "wait_for_messages",
            json!({"timeout_s": 0.05, "thread_ids": [id]})
        )["timed_out"],
        true
    );
    assert_eq!(
        look(&world, "bob", json!({"thread_ids": [id], "since": 0}))["timed_out"],
        true
    );
    say(&world, "ada", &id, "yours");
    assert_eq!(
        each(&look(&world, "bob", json!({}))["messages"], "body"),
        ["yours"],
        "nobody is told one's own words"
    );
}

#[on_both]
fn who_goes_on_from_next_misses_nothing_and_sees_nothing_twice(world: World) {
    let ids: Vec<String> = (0..3).map(|_| thread(&world, &["bob"])).collect();
    let mut written = Vec::new();
    for at in 0..40 {
        let (agent, id) = (["ada", "bob", "ada"][at % 3], &ids[at * 7 % 3]);
        written.push(say(&world, agent, id, &"é".repeat(at * 13 % 70 + 1))["message_id"].clone());
    }
    for (limit, max_chars) in [
        (50, 100_000),
        (1, 100_000),
        (7, 100_000),
        (50, 900),
        (3, 600),
    ] {
        let (mut seen, mut next) = (Vec::new(), json!({}));
        loop {
            let page = look(
                &world,
                "bob",
                json!({"since": next, "limit": limit, "max_chars": max_chars}),
            );
            assert!(chars(&page) <= max_chars);
            seen.extend(each(&page["messages"], "message_id"));
            next = page["next"].clone();
            if page["timed_out"] == true {
                break;
            }
            assert!(!page["messages"].as_array().unwrap().is_empty());
        }
        let mut missing = written.clone();
        missing.retain(|name| !seen.contains(name));
        // The last words of a thread may be one's own: those come with the next of others.
        assert!(
            missing.iter().all(|name| ids
                .iter()
                .flat_map(|id| messages(&world, id))
                .any(|m| m["message_id"] == *name && m["sender_agent_id"] == "bob")),
            "{missing:?}"
        );
        let mut twice = seen.clone();
        twice.sort_by_key(Value::to_string);
        twice.dedup();
        assert_eq!(twice.len(), seen.len(), "{limit} {max_chars}");
        assert_eq!(
            look(&world, "bob", json!({"since": next})),
            nothing(next.clone()),
            "nothing new leaves one where one was"
        );
        let fresh = say(&world, "ada", &ids[1], "new");
        let told = look(&world, "bob", json!({"since": next}));
        assert_eq!(
            told["messages"].as_array().unwrap().last().unwrap()["message_id"],
            fresh["message_id"]
        );
        written.push(fresh["message_id"].clone());
    }
}

#[on_both]
fn a_message_larger_than_the_budget_is_told_of_and_hides_none(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, &"x".repeat(9_000));
    say(&world, "ada", &id, "after");
    let told = look(&world, "bob", json!({"max_chars": 500}));
    assert_eq!(
        (
            &told["messages"][0]["body_chars"],
            &told["next"],
            &told["has_more"]
        ),
        (&json!(9_000), &json!({&id: 1}), &json!(true))
    );
    assert_eq!(
        look(
            &world,
            "bob",
            json!({"max_chars": 500, "since": told["next"]})
        )["messages"][0]["body"],
        "after"
    );
}

#[on_both]
fn a_wait_ends_when_its_time_is_over(world: World) {
    let id = thread(&world, &["bob"]);
    world.clock.turn(-3_600);
    assert_eq!(moment(&world, json!({})), nothing(json!({})));
    assert_eq!(
        moment(&world, json!({"thread_ids": [id], "since": 4})),
        nothing(json!({&id: 4}))
    );
    assert_eq!(
        world
            .backend
            .raw()
            .number("SELECT COUNT(*) FROM live_waiting"),
        0,
        "nobody waits any more"
    );
}

#[on_both]
fn waiting_where_nothing_is_makes_nothing(world: World) {
    assert_eq!(moment(&world, json!({})), nothing(json!({})));
    assert!(matches!(
        world.engine.workspace(&world.caller),
        Ok(Resolved::New(_))
    ));
    thread(&world, &["bob"]);
    let head = world.head();
    by(
        &world,
        "bob",
        "wait_for_messages",
        json!({"timeout_s": 0.05}),
    );
    assert_eq!(world.head(), head);
}

#[on_both]
fn another_process_wakes_who_waits(world: World) {
    let (id, other) = (thread(&world, &["bob"]), world.another());
    let told = waiting(
        &world,
        &world.engine,
        &World::caller("bob"),
        json!({}),
        || {
            drop(on(
                &other,
                "ada",
                "post_message",
                json!({"thread_id": id, "body": "wake"}),
            ))
        },
    );
    assert_eq!(
        (each(&told["messages"], "body"), &told["timed_out"]),
        (vec![json!("wake")], &json!(false))
    );
    let told = waiting(
        &world,
        &other,
        &World::caller("ada"),
        json!({"thread_ids": [id], "since": 1}),
        || drop(say(&world, "bob", &id, "back")),
    );
    assert_eq!(each(&told["messages"], "body"), ["back"]);
}

#[on_both]
fn a_new_thread_wakes_who_waits_for_any(world: World) {
    let (old, other) = (thread(&world, &["bob"]), world.another());
    let told = waiting(
        &world,
        &world.engine,
        &World::caller("bob"),
        json!({}),
        || {
            // Neither of these is for bob.
            on(
                &other,
                "bob",
                "post_message",
                json!({"thread_id": old, "body": "mine"}),
            );
            let private = on(
                &other,
                "ada",
                "create_thread",
                json!({"title": "p", "participants": ["cyd"]}),
            );
            on(
                &other,
                "ada",
                "post_message",
                json!({"thread_id": private["thread_id"], "body": "not yours"}),
            );
            let new = on(
                &other,
                "ada",
                "create_thread",
                json!({"title": "t", "participants": ["bob"]}),
            );
            on(
                &other,
                "ada",
                "post_message",
                json!({"thread_id": new["thread_id"], "body": "first"}),
            );
        },
    );
    assert_eq!(
        (
            each(&told["messages"], "body"),
            each(&told["messages"], "thread_id")
        ),
        (vec![json!("first")], vec![json!("th_003")])
    );
}

#[on_both]
fn one_who_waits_for_some_threads_hears_of_no_other(world: World) {
    let (a, b, c) = (
        thread(&world, &["bob"]),
        thread(&world, &["bob"]),
        thread(&world, &["bob"]),
    );
    say(&world, "ada", &c, "loud");
    let told = waiting(
        &world,
        &world.engine,
        &World::caller("bob"),
        json!({"thread_ids": [a, b, a]}),
        || {
            say(&world, "ada", &c, "louder");
            say(&world, "ada", &b, "here");
        },
    );
    assert_eq!(
        (each(&told["messages"], "body"), &told["next"]),
        (vec![json!("here")], &json!({&a: 0, &b: 1}))
    );
}

#[on_both]
fn many_who_wait_are_all_woken(world: World) {
    let names: Vec<String> = (0..5).map(|at| format!("agent{at}")).collect();
    let id = thread(
        &world,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    std::thread::scope(|scope| {
        let (world, id) = (&world, &id);
        let waits: Vec<_> = names
            .iter()
            .map(|name| {
                scope.spawn(move || by(world, name, "wait_for_messages", json!({"timeout_s": 120})))
            })
            .collect();
        until_waiting(world, 5);
        say(world, "ada", id, "all of you");
        for wait in waits {
            assert_eq!(
                each(&wait.join().unwrap()["messages"], "body"),
                ["all of you"]
            );
        }
    });
    until_waiting(&world, 0);
}
