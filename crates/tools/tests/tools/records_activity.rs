//! `get_recent_activity`: every kind of event, newest first, narrowed and paged.

use crate::common::NASTY;
use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

const TYPES: [&str; 10] = [
    "record_created",
    "record_updated",
    "state_transition",
    "session_started",
    "session_saved",
    "session_closed",
    "session_branched",
    "activation",
    "conflict_detected",
    "conflict_resolved",
];

#[track_caller]
fn activity(world: &World, args: Value) -> Vec<Value> {
    list(&world.ok("get_recent_activity", args)["activity"]).clone()
}

/// The events as `type session record`, newest first.
#[track_caller]
fn told(world: &World, args: Value) -> Vec<String> {
    let one = |entry: &Value| {
        let session = text(&entry["session_id"]);
        let session = session.trim_start_matches("sess_");
        let record = entry["record_id"]
            .as_str()
            .map_or(String::new(), |id| format!(" {id}"));
        format!("{} {session}{record}", text(&entry["type"]))
    };
    activity(world, args).iter().map(one).collect()
}

/// One of every kind of event.
fn eventful(world: &World) {
    let a = root(world, "a");
    let b = root(world, "b");
    by(
        world,
        "bob",
        "activate",
        json!({"id": a, "parent_session": "sess_ada"}),
    );
    update(world, &a, json!({"body": "ada's"}));
    by(
        world,
        "bob",
        "update_record",
        json!({"id": a, "body": "bob's"}),
    );
    by(
        world,
        "bob",
        "update_record",
        json!({"id": a, "body": "bob's", "force": true}),
    );
    by(world, "eve", "activate", json!({"id": b, "override": true}));
    to(world, &b, "LATER");
    by(world, "bob", "save_session", json!({"summary": "So far"}));
    by(world, "bob", "close_session", json!({"summary": "Done"}));
}

#[on_both]
fn every_kind_of_event_is_logged_newest_first(world: World) {
    eventful(&world);
    assert_eq!(
        told(&world, json!({})),
        [
            "session_closed bob",
            "session_saved bob",
            "state_transition ada R002",
            "conflict_resolved eve R002",
            "conflict_detected eve R002",
            "activation eve R002",
            "session_started eve",
            "conflict_resolved bob R001",
            "record_updated bob R001",
            "conflict_detected bob R001",
            "record_updated ada R001",
            "activation bob R001",
            "session_branched bob",
            "session_started bob",
            "record_created ada R002",
            "record_created ada R001",
            "session_started ada",
        ]
    );
    let entries = activity(&world, json!({}));
    assert!(
        entries
            .windows(2)
            .all(|pair| text(&pair[0]["timestamp"]) >= text(&pair[1]["timestamp"]))
    );
    for (at, part) in [
        (0, "Done"),
        (1, "So far"),
        (2, "OPEN → LATER"),
        (8, "body"),
        (15, "a"),
    ] {
        assert!(
            text(&entries[at]["summary"]).contains(part),
            "{}",
            entries[at]
        );
    }
    assert_eq!(
        (
            &entries[2]["details"]["reason"],
            &entries[2]["details"]["agent"],
            &entries[2]["details"]["tick"]
        ),
        (&json!("because"), &json!("ada"), &json!(5))
    );
    assert_eq!(told(&world, json!({})).len(), 17, "reading is no event");
}

#[on_both]
fn types_narrow_alone_and_together(world: World) {
    eventful(&world);
    let all = activity(&world, json!({}));
    for kind in TYPES {
        let only = activity(&world, json!({"types": [kind]}));
        let expected: Vec<Value> = all
            .iter()
            .filter(|entry| entry["type"] == kind)
            .cloned()
            .collect();
        assert!(!expected.is_empty(), "{kind} never happened");
        assert_eq!(only, expected, "{kind}");
    }
    assert_eq!(activity(&world, json!({"types": TYPES})), all);
    assert_eq!(activity(&world, json!({"types": []})), all);
    assert_eq!(
        told(
            &world,
            json!({"types": ["session_saved", "session_saved", "session_closed"]})
        ),
        ["session_closed bob", "session_saved bob"]
    );
}

#[on_both]
fn a_type_that_is_none_is_refused_with_those_that_are(world: World) {
    eventful(&world);
    for kind in ["record_create", "", "RECORD_CREATED", "*", "\0", "'; --"] {
        for world in [&world, &World::new(understory_testkit::Backend::sqlite())] {
            let fault = world.refused(
                "get_recent_activity",
                json!({"types": ["record_created", kind]}),
            );
            let details = fault.details.unwrap();
            assert_eq!(
                (fault.code, &details["field"], &details["allowed"]),
                (Code::Validation, &json!("types[1]"), &json!(TYPES)),
                "{kind:?}"
            );
        }
    }
    assert!(
        world
            .refused("get_recent_activity", json!({"types": ["record_create"]}))
            .hint
            .unwrap()
            .contains("record_created")
    );
    let many = vec!["activation"; 70_000];
    let fault = world.refused("get_recent_activity", json!({ "types": many }));
    assert_eq!(
        (fault.code, &fault.details.unwrap()["field"]),
        (Code::Validation, &json!("types"))
    );
}

#[on_both]
fn a_record_narrows_to_all_that_happened_to_it(world: World) {
    eventful(&world);
    assert_eq!(
        told(&world, json!({"record_id": "R002"})),
        [
            "state_transition ada R002",
            "conflict_resolved eve R002",
            "conflict_detected eve R002",
            "activation eve R002",
            "record_created ada R002",
        ]
    );
    assert_eq!(
        told(
            &world,
            json!({"record_id": "R001", "types": ["record_updated"]})
        ),
        ["record_updated bob R001", "record_updated ada R001"]
    );
    for id in ["R003", "", "default", "sess_ada"] {
        assert_eq!(
            world
                .refused("get_recent_activity", json!({"record_id": id}))
                .code,
            Code::RecordNotFound,
            "{id:?}"
        );
    }
}

#[on_both]
fn since_is_a_moment_and_includes_it(world: World) {
    eventful(&world);
    let all = activity(&world, json!({}));
    for (at, entry) in all.iter().enumerate() {
        let same = all
            .iter()
            .filter(|other| text(&other["timestamp"]) >= text(&entry["timestamp"]))
            .count();
        assert_eq!(
            activity(&world, json!({"since": entry["timestamp"]})),
            all[..same],
            "{at}"
        );
    }
    assert_eq!(
        activity(&world, json!({"since": "1970-01-01T00:00:00Z"})),
        all
    );
    assert_eq!(
        activity(&world, json!({"since": "2100-01-01T00:00:00+01:00"})),
        Vec::<Value>::new()
    );
    assert_eq!(
        activity(
            &world,
            json!({"since": all[5]["timestamp"], "types": ["session_closed"]})
        )
        .len(),
        1
    );
    for since in [
        "yesterday",
        "",
        "2026-02-30T00:00:00Z",
        "last_save",
        "1771329600",
        "\0",
    ] {
        let fault = world.refused("get_recent_activity", json!({ "since": since }));
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!("since")),
            "{since:?}"
        );
    }
}

#[on_both]
fn a_clock_that_goes_back_loses_nothing(world: World) {
    root(&world, "a");
    let first = text(&activity(&world, json!({}))[0]["timestamp"]);
    world.clock.turn(-86_400);
    root(&world, "b");
    world.clock.turn(10);
    root(&world, "c");
    assert_eq!(
        told(&world, json!({"since": first, "types": ["record_created"]})),
        [
            "record_created ada R003",
            "record_created ada R002",
            "record_created ada R001"
        ]
    );
}

#[on_both]
fn pages_join_while_more_happens(world: World) {
    eventful(&world);
    let whole = activity(&world, json!({}));
    for limit in [1, 2, 5, 17, 18, 200] {
        assert_eq!(
            page_through(&world, "get_recent_activity", "activity", &json!({}), limit),
            whole,
            "{limit}"
        );
    }
    for max in [600, 1_500] {
        assert_eq!(
            page_by_chars(&world, "get_recent_activity", "activity", &json!({}), max),
            whole,
            "{max}"
        );
    }
    let first = world.ok("get_recent_activity", json!({"limit": 4}));
    root(&world, "new");
    let rest = activity(
        &world,
        json!({"limit": 200, "cursor": first["next_cursor"]}),
    );
    assert_eq!(rest, whole[4..]);
    let narrowed = json!({"types": ["record_created", "record_updated"]});
    assert_eq!(
        page_through(&world, "get_recent_activity", "activity", &narrowed, 2),
        activity(&world, narrowed)
    );
    for cursor in ["", "nonsense", "\0"] {
        assert_eq!(
            world
                .refused("get_recent_activity", json!({ "cursor": cursor }))
                .code,
            Code::Validation
        );
    }
}

#[on_both]
fn the_limit_is_50_unless_said_and_at_most_200(world: World) {
    crowd(&world, "ada", 230, |_| json!({}));
    for (limit, given) in [
        (json!(null), 50),
        (json!(0), 1),
        (json!(-9), 1),
        (json!(60), 60),
        (json!(201), 200),
        (json!(i64::MAX), 200),
    ] {
        assert_eq!(
            activity(&world, json!({"limit": limit, "max_chars": 1_000_000})).len(),
            given,
            "{limit}"
        );
    }
}

#[on_both]
fn before_the_first_write_nothing_happened(world: World) {
    assert_eq!(
        world.ok("get_recent_activity", json!({})),
        json!({"activity": []})
    );
    assert_eq!(
        world
            .refused("get_recent_activity", json!({"record_id": "R001"}))
            .code,
        Code::RecordNotFound
    );
    assert_eq!(
        world
            .refused("get_recent_activity", json!({"project_id": "other"}))
            .code,
        Code::NotFound
    );
    world.plan(&["a node"]);
    assert_eq!(
        world.ok("get_recent_activity", json!({})),
        json!({"activity": []}),
        "a graph is not this log's"
    );
}

#[on_both]
fn projects_are_apart_and_a_record_says_which(world: World) {
    root(&world, "here");
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    make(&world, json!({"title": "there", "project_id": "shop"}));
    assert_eq!(
        told(&world, json!({})),
        ["record_created ada R001", "session_started ada"]
    );
    assert_eq!(
        told(&world, json!({"project_id": "shop"})),
        ["record_created ada R002", "session_started ada"]
    );
    assert_eq!(
        told(&world, json!({"record_id": "R002"})),
        ["record_created ada R002"]
    );
}

#[on_both]
fn refused_calls_leave_no_event(world: World) {
    eventful(&world);
    let before = activity(&world, json!({}));
    world.refused(
        "transition",
        json!({"id": "R002", "to_state": "RESOLVED", "resolved_by": "R001"}),
    );
    world.refused("update_record", json!({"id": "R999", "body": "x"}));
    world.refused("create_record", new_record(json!({"parent_id": "R999"})));
    assert_eq!(activity(&world, json!({})), before);
}

#[on_both]
fn activity_keeps_within_its_budget(world: World) {
    for text in NASTY {
        let id = make(&world, json!({ "title": text }));
        world.ok(
            "transition",
            json!({"id": id, "to_state": "LATER", "reason": text.repeat(30)}),
        );
        world.ok("save_session", json!({"summary": text.repeat(50)}));
    }
    assert_within(
        &world,
        "get_recent_activity",
        &json!({}),
        json!({"activity": [], "truncated": true}),
    );
}

#[on_both]
fn one_long_event_does_not_hide_the_others(world: World) {
    let id = root(&world, "t");
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "r".repeat(90_000)}),
    );
    world.ok("save_session", json!({"summary": "s".repeat(90_000)}));
    root(&world, "u");
    let seen = page_by_chars(
        &world,
        "get_recent_activity",
        "activity",
        &json!({}),
        20_000,
    );
    assert_eq!(
        each(&json!(seen), "type"),
        [
            "record_created",
            "session_saved",
            "state_transition",
            "record_created",
            "session_started"
        ]
    );
}
