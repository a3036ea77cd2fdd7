//! `create_records`: many records in one call are made as so many calls would make them, all or none.

use crate::common;
use crate::common::NASTY;
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Code, limits};
use understory_testkit::{World, on_both};

/// One record of a call.
fn one(name: &str, parent: Value) -> Value {
    with(fresh(parent, name), json!({ "ref": name }))
}

fn many(records: Value) -> Value {
    json!({ "records": records })
}

/// The ids of an answer, in its order.
#[track_caller]
fn made(answer: &Value) -> Vec<String> {
    common::ids(&answer["created"])
}

#[on_both]
fn records_are_made_in_their_order_and_only_their_ids_come_back(world: World) {
    let answer = world.ok(
        "create_records",
        many(json!([
            one("q", Value::Null),
            fresh(json!("q"), "A"),
            one("b", json!("q"))
        ])),
    );
    assert_eq!(
        answer,
        json!({"auto_activated": true, "created": [{"ref": "q", "id": "R001"}, {"id": "R002"}, {"ref": "b", "id": "R003"}]})
    );
    assert_eq!(
        (
            &record(&world, "R002")["parent_id"],
            &record(&world, "R002")["title"]
        ),
        (&json!("R001"), &json!("A"))
    );
    assert_eq!(reference(&world, "R001")["open_children_count"], 2);
    assert_eq!(
        told(&world),
        [
            "session_started",
            "record_created",
            "record_created",
            "record_created"
        ]
    );
    assert_eq!(tick(&world), 3, "as three calls of create_record");
    for id in ["R001", "R002", "R003"] {
        assert_eq!(holders(&world, id), ["sess_ada"], "active at once");
    }
    child(&world, "R003", "a child of what was just made");
    assert_eq!(
        world.ok("search_records", json!({"query": "\"About A\""}))["results"][0]["id"],
        "R002"
    );
    world.assert_sound();
}

#[on_both]
fn a_record_is_the_same_by_either_tool(world: World) {
    let settler = root(&world, "Answer");
    let args = with(
        fresh(settler.clone().into(), "Same"),
        json!({"type": "conclusion", "state": "RESOLVED", "reason": "measured",
        "resolved_by": settler, "related": [settler, settler], "metadata": {"ticket": "X-1"}}),
    );
    let single = created(&world.ok("create_record", args.clone()));
    let batch = made(&world.ok("create_records", many(json!([args])))).remove(0);
    let bare = |id: &str| {
        let mut record = record(&world, id);
        for name in ["id", "created", "modified"] {
            record.as_object_mut().unwrap().remove(name);
        }
        record
    };
    assert_eq!(bare(&batch), bare(&single));
    world.assert_sound();
}

#[on_both]
fn records_of_one_call_name_each_other_in_any_order(world: World) {
    let old = root(&world, "Old");
    let records = json!([
        with(
            one("leaf", json!("mid")),
            json!({"related": ["top", old, "top"]})
        ),
        with(
            one("mid", json!("top")),
            json!({"state": "RESOLVED", "resolved_by": "leaf"})
        ),
        with(one("top", old.clone().into()), json!({"related": ["leaf"]})),
    ]);
    assert_eq!(
        made(&world.ok("create_records", many(records))),
        ["R002", "R003", "R004"]
    );
    let field = |id: &str, name: &str| record(&world, id)[name].clone();
    assert_eq!(
        ["R002", "R003", "R004"].map(|id| field(id, "parent_id")),
        [json!("R003"), json!("R004"), json!(old)]
    );
    assert_eq!(
        (field("R002", "related"), field("R004", "related")),
        (json!(["R004", "R001"]), json!(["R002"]))
    );
    assert_eq!(field("R003", "resolved_by"), "R002");
    assert_eq!(root(&world, "Next"), "R005", "handles count on");
    world.assert_sound();
}

#[on_both]
fn all_are_made_or_none(world: World) {
    root(&world, "First");
    let good = one("good", Value::Null);
    let wrong = |more: Value| {
        many(json!([
            good,
            good_with(&good, "b", json!({})),
            good_with(&good, "c", more)
        ]))
    };
    for (more, field) in [
        (json!({"title": " "}), "records[2].title"),
        (json!({"type": "a\nb"}), "records[2].type"),
        (json!({"state": "DONE"}), "records[2].state"),
        (json!({"summary": 5}), "records[2].summary"),
        (json!({"colour": "red"}), "records[2].colour"),
        (json!({"title": null}), "records[2].title"),
        (json!({"related": ["c"]}), "records[2].related[0]"),
        (
            json!({"state": "OPEN", "resolved_by": "good"}),
            "records[2].resolved_by",
        ),
        (
            json!({"state": "RESOLVED", "resolved_by": "c"}),
            "records[2].resolved_by",
        ),
        (json!({"parent_id": "c"}), "records[2].parent_id"),
        (json!({"ref": "good"}), "records[2].ref"),
        (json!({"ref": "R001"}), "records[2].ref"),
        (json!({"ref": ""}), "records[2].ref"),
    ] {
        refuse_field(&world, "create_records", wrong(more), field);
    }
    for (more, field) in [
        (json!({"parent_id": "R009"}), "parent_id"),
        (json!({"related": ["good", "R009"]}), "related[1]"),
        (
            json!({"state": "RESOLVED", "resolved_by": "R009"}),
            "resolved_by",
        ),
    ] {
        let fault = refuse(&world, "create_records", wrong(more), Code::RecordNotFound);
        let path = format!("records[2].{field}");
        assert!(
            fault.message.starts_with(&path) && fault.details.unwrap()["field"] == path,
            "{}",
            fault.message
        );
    }
    let fault = refuse(
        &world,
        "create_records",
        wrong(json!({"parent_id": "godo"})),
        Code::RecordNotFound,
    );
    assert!(
        fault.hint.unwrap().contains("good"),
        "a ref that is nearly right is named"
    );
    let fault = refuse(
        &world,
        "create_records",
        wrong(json!({"body": "x".repeat(limits::BODY_BYTES + 1)})),
        Code::TooLarge,
    );
    assert_eq!(fault.details.unwrap()["field"], "records[2].body");
    assert_eq!(root(&world, "Second"), "R002", "no handle was spent");
    world.assert_sound();
}

#[on_both]
fn a_circle_of_parents_is_refused(world: World) {
    let records = json!([
        one("a", json!("b")),
        one("b", json!("c")),
        one("c", json!("a"))
    ]);
    let fault = refuse(&world, "create_records", many(records), Code::Validation);
    assert!(
        fault.details.unwrap()["field"]
            .as_str()
            .unwrap()
            .ends_with(".parent_id"),
        "{}",
        fault.message
    );
    assert_eq!(world.head(), 0);
}

#[on_both]
fn a_parent_outside_the_call_must_be_active(world: World) {
    let a = root(&world, "A");
    let records = many(json!([one("b", Value::Null), one("c", a.clone().into())]));
    let fault = refused_by(&world, "bob", "create_records", records.clone());
    assert_eq!(
        (fault.code, &fault.details.unwrap()["field"]),
        (Code::ParentNotActivated, &json!("records[1].parent_id"))
    );
    by(&world, "bob", "activate", json!({"id": a}));
    assert_eq!(
        made(&by(&world, "bob", "create_records", records)),
        ["R002", "R003"]
    );
    world.assert_sound();
}

#[on_both]
fn a_call_makes_at_most_64_levels(world: World) {
    let chain = |levels: usize| -> Value {
        (0..levels)
            .map(|level| {
                one(
                    &format!("l{level}"),
                    if level == 0 {
                        Value::Null
                    } else {
                        format!("l{}", level - 1).into()
                    },
                )
            })
            .collect()
    };
    let fault = refuse(
        &world,
        "create_records",
        many(chain(65)),
        Code::DepthExceeded,
    );
    assert_eq!(fault.details.unwrap()["field"], "records[64].parent_id");
    assert_eq!(made(&world.ok("create_records", many(chain(64)))).len(), 64);
    let fault = refuse(
        &world,
        "create_records",
        many(json!([one("a", json!("R063")), one("b", json!("a"))])),
        Code::DepthExceeded,
    );
    assert_eq!(fault.details.unwrap()["field"], "records[1].parent_id");
    world.assert_sound();
}

#[on_both]
fn a_call_has_1_to_200_records(world: World) {
    let of = |count: usize| -> Value {
        (0..count)
            .map(|n| fresh(Value::Null, &format!("N{n}")))
            .collect()
    };
    refuse_field(&world, "create_records", many(of(0)), "records");
    let fault = refuse_field(
        &world,
        "create_records",
        many(of(limits::RECORDS + 1)),
        "records",
    );
    assert!(fault.message.contains("200"), "{}", fault.message);
    assert_eq!(world.head(), 0);
    let ids = made(&world.ok("create_records", many(of(limits::RECORDS))));
    assert_eq!((ids[0].as_str(), ids[199].as_str()), ("R001", "R200"));
    assert_eq!(record(&world, "R137")["title"], "N136");
    let related: Value = (0..2)
        .map(|n| {
            with(
                fresh(Value::Null, &format!("M{n}")),
                json!({"related": vec!["R001"; 5_001]}),
            )
        })
        .collect();
    refuse_field(&world, "create_records", many(related), "records");
    world.assert_sound();
}

#[on_both]
fn the_same_key_makes_them_once(world: World) {
    let args = with(
        many(json!([one("a", Value::Null), one("b", json!("a"))])),
        json!({"idempotency_key": "k"}),
    );
    let first = world.ok("create_records", args.clone());
    let head = world.head();
    assert_eq!(world.ok("create_records", args.clone()), first);
    assert_eq!(
        World::call_on(&world.another(), &world.caller, "create_records", args).unwrap(),
        first
    );
    assert_eq!((world.head(), tick(&world)), (head, 2));
    let other = with(
        many(json!([one("a", Value::Null)])),
        json!({"idempotency_key": "k"}),
    );
    refuse(&world, "create_records", other, Code::IdempotencyConflict);
}

#[on_both]
fn each_form_has_its_own_tool(world: World) {
    let both = with(
        fresh(Value::Null, "A"),
        many(json!([fresh(Value::Null, "B")])),
    );
    refuse_field(&world, "create_record", both.clone(), "records");
    let fault = refuse(&world, "create_records", both, Code::Validation);
    assert!(fault.message.contains("unknown field"), "{}", fault.message);
    assert_eq!(world.head(), 0);
}

#[on_both]
fn projects_are_those_of_the_parents_or_the_one_named(world: World) {
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let there = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "There"), json!({"project_id": "p"})),
    ));
    world.ok(
        "create_records",
        many(json!([
            one("here", Value::Null),
            one("below", there.clone().into()),
            one("deeper", json!("below"))
        ])),
    );
    assert_eq!((tick(&world), tick_of(&world, "p")), (1, 3));
    let settled = json!([
        with(
            one("a", Value::Null),
            json!({"state": "RESOLVED", "resolved_by": "b"})
        ),
        one("b", there.clone().into())
    ]);
    let fault = refuse_field(
        &world,
        "create_records",
        many(settled),
        "records[0].resolved_by",
    );
    assert!(
        fault.message.contains("another project"),
        "{}",
        fault.message
    );
    let named = with(
        many(json!([one("a", there.into())])),
        json!({"project_id": "default"}),
    );
    refuse(&world, "create_records", named, Code::Validation);
    world.ok(
        "create_records",
        with(
            many(json!([one("a", Value::Null)])),
            json!({"project_id": "p"}),
        ),
    );
    assert_eq!(tick_of(&world, "p"), 4);
    world.assert_sound();
}

#[on_both]
fn any_text_comes_back_as_it_was(world: World) {
    let records: Value = NASTY
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let name = format!(
                "{at} {}",
                text.chars().filter(|c| !c.is_control()).collect::<String>()
            );
            with(
                fresh(Value::Null, text),
                json!({"ref": name, "summary": text, "body": text, "metadata": { *text: text }}),
            )
        })
        .collect();
    let answer = world.ok("create_records", many(records.clone()));
    for (at, id) in made(&answer).iter().enumerate() {
        let kept = record(&world, id);
        for field in ["title", "summary", "body", "metadata"] {
            assert_eq!(kept[field], records[at][field]);
        }
        assert_eq!(answer["created"][at]["ref"], records[at]["ref"]);
    }
    world.assert_sound();
}

/// A record like another, under its own ref.
fn good_with(good: &Value, name: &str, more: Value) -> Value {
    with(with(good.clone(), json!({ "ref": name })), more)
}
