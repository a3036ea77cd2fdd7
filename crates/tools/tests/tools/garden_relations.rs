//! Relations: how many there may be, what can be taken back, what texts say, and how they fade.

use crate::garden_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::fragment::fragment_id;
use understory_testkit::{World, on_both};

fn args(kind: &str, source: &Value, target: &Value) -> Value {
    json!({"kind": kind, "source": source["uuid"], "target": target["uuid"]})
}

#[track_caller]
fn relate(world: &World, kind: &str, source: &Value, target: &Value) -> Value {
    world.ok("garden_relate", args(kind, source, target))["relation"].clone()
}

fn of(world: &World, thing: &Value, more: Value) -> Vec<Value> {
    let mut asked = json!({"of": thing["uuid"]});
    asked
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    list(&world.ok("garden_relations", asked), "relations").clone()
}

const DAY: i64 = 24 * 3_600;

#[on_both]
fn a_relation_is_found_from_both_ends(world: World) {
    let (a, b) = (note(&world, "the email"), note(&world, "the summary"));
    let made = relate(&world, "derived_from", &b, &a);
    assert!(uuid(&made).starts_with("rel_"));
    assert_eq!((&made["source"], &made["target"]), (&b["uuid"], &a["uuid"]));
    assert_eq!(
        (&made["source_type"], &made["layer"]),
        (&json!("item"), &json!("core"))
    );
    assert_eq!(
        of(&world, &a, json!({"direction": "in"}))[0]["preview"],
        "the summary"
    );
    assert_eq!(
        of(&world, &b, json!({"direction": "out"}))[0]["preview"],
        "the email"
    );
    assert!(of(&world, &b, json!({"direction": "in"})).is_empty());
    assert!(of(&world, &b, json!({"kind": "mentions"})).is_empty());
    let got = world.ok("garden_get", json!({"id": made["uuid"]}));
    assert_eq!(got["relation"]["kind"], "derived_from");
    assert_eq!(
        relate(&world, "derived_from", &b, &a)["uuid"],
        made["uuid"],
        "said twice is said once"
    );
    world.assert_sound();
}

#[on_both]
fn unique_kinds_are_unique(world: World) {
    let [a, b, c] = ["a", "b", "c"].map(|text| note(&world, text));
    for kind in ["triggers", "supercedes"] {
        relate(&world, kind, &a, &c);
        let fault = world.refused("garden_relate", args(kind, &b, &c));
        assert_eq!(fault.code, Code::Conflict, "{kind}");
    }
    let d = note(&world, "d");
    relate(&world, "replies_to", &a, &d);
    relate(&world, "replies_to", &b, &d);
    assert_eq!(
        world
            .refused("garden_relate", args("replies_to", &a, &c))
            .code,
        Code::Conflict
    );
    relate(&world, "continues", &a, &d);
    relate(&world, "continues", &b, &d);
    assert_eq!(
        world
            .refused("garden_relate", args("continues", &a, &c))
            .code,
        Code::Conflict
    );
    for kind in ["mentions", "derived_from", "contains"] {
        relate(&world, kind, &a, &b);
        relate(&world, kind, &a, &c);
        relate(&world, kind, &b, &c);
    }
    world.assert_sound();
}

#[on_both]
fn what_caused_an_item_counts_as_its_trigger(world: World) {
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    let caused = add(
        &world,
        json!({"type": "Note", "description": "c", "caused_by": a["uuid"]}),
    );
    let there = of(&world, &caused, json!({"direction": "in"}));
    assert_eq!(
        (&there[0]["kind"], &there[0]["source"]),
        (&json!("triggers"), &a["uuid"])
    );
    assert_eq!(there[0]["layer"], "soil");
    assert_eq!(
        of(&world, &a, json!({"kind": "triggers", "direction": "out"}))[0]["target"],
        caused["uuid"]
    );
    let got = world.ok("garden_get", json!({"id": there[0]["uuid"]}));
    assert_eq!(got["relation"]["target"], caused["uuid"]);
    assert_eq!(
        world
            .refused("garden_relate", args("triggers", &b, &caused))
            .code,
        Code::Conflict
    );
}

#[on_both]
fn what_happened_cannot_be_taken_back(world: World) {
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    for kind in [
        "triggers",
        "supercedes",
        "replies_to",
        "continues",
        "contains",
    ] {
        relate(&world, kind, &a, &b);
        let mut remove = args(kind, &a, &b);
        remove["remove"] = json!(true);
        assert_eq!(
            world.refused("garden_relate", remove).code,
            Code::Immutable,
            "{kind}"
        );
    }
    for kind in ["mentions", "derived_from", "groups_with"] {
        relate(&world, kind, &a, &b);
        let mut remove = args(kind, &a, &b);
        remove["remove"] = json!(true);
        let gone = world.ok("garden_relate", remove.clone());
        assert_eq!(gone["relation"]["removed"], true);
        assert!(of(&world, &a, json!({"kind": kind})).is_empty());
        assert_eq!(
            world.refused("garden_relate", remove).code,
            Code::NotFound,
            "{kind}"
        );
        relate(&world, kind, &a, &b);
    }
    world.assert_sound();
}

#[on_both]
fn wrong_relations_are_refused(world: World) {
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    let mut cases = vec![
        (args("likes", &a, &b), "kind"),
        (args("mentions", &a, &a), "target"),
    ];
    let mut wrong = args("mentions", &a, &b);
    wrong["confidence"] = json!(1.5);
    cases.push((wrong, "confidence"));
    for (args, field) in cases {
        let fault = world.refused("garden_relate", args);
        assert_eq!(fault.code, Code::Validation);
        assert!(fault.message.starts_with(field), "{fault}");
    }
    let nowhere = json!({"uuid": "item_0199d3a0-0000-7000-8000-000000000000"});
    assert_eq!(
        world
            .refused("garden_relate", args("mentions", &a, &nowhere))
            .code,
        Code::NotFound
    );
}

#[on_both]
fn confidence_and_metadata_are_kept(world: World) {
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    let mut asked = args("mentions", &a, &b);
    asked["confidence"] = json!(0.95);
    asked["metadata"] = json!({"span": [1, 2]});
    let made = world.ok("garden_relate", asked)["relation"].clone();
    assert_eq!(
        (&made["confidence"], &made["metadata"]),
        (&json!(0.95), &json!({"span": [1, 2]}))
    );
}

#[on_both]
fn a_text_is_indexed_by_what_it_mentions(world: World) {
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "q", "title": "Which store?", "summary": "", "body": ""}),
    );
    let said = add(
        &world,
        json!({"type": "Message", "description": "SQLite will not scale."}),
    );
    let fragment = fragment_id("SQLite will not scale.");
    let citing = note(
        &world,
        &format!(
            "@r001 is settled by {fragment} and @{} but not @nothing",
            uuid(&said)
        ),
    );
    let mut there = of(&world, &citing, json!({"direction": "out"}));
    there.sort_by_key(|one| one["target_type"].to_string());
    let kinds: Vec<&str> = there
        .iter()
        .map(|one| one["target_type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["entity", "fragment", "item"]);
    for one in &there {
        assert_eq!(one["kind"], "mentions");
        assert_eq!(one["metadata"], json!({"inferred": true}));
    }
    assert_eq!(
        (&there[1]["fragment"], &there[1]["target"]),
        (&json!(fragment), &said["uuid"])
    );
    let mut remove = args("mentions", &citing, &said);
    remove["remove"] = json!(true);
    assert_eq!(world.refused("garden_relate", remove).code, Code::Forbidden);
    world.ok("create_thread", json!({"title": "Talk"}));
    world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "see @r001"}),
    );
    let record = json!({"uuid": "R001"});
    assert_eq!(of(&world, &record, json!({"direction": "in"})).len(), 2);
    let page = world.ok("garden_relations", json!({"of": "R001", "limit": 1}));
    let next = json!({"of": "R001", "limit": 1, "cursor": page["pagination"]["next_cursor"]});
    assert_eq!(
        list(&world.ok("garden_relations", next), "relations").len(),
        1
    );
    world.assert_sound();
}

#[on_both]
fn references_resolve_and_render(world: World) {
    let said = add(
        &world,
        json!({"type": "Message", "description": "SQLite will not scale."}),
    );
    let id = fragment_id("SQLite will not scale.");
    let text = format!("👍 {id} shows it, so does @{}; not ^zzzz", uuid(&said));
    let refs = world.ok("garden_refs", json!({"content": text}))["refs"].clone();
    assert_eq!(refs[0]["type"], "fragment");
    assert_eq!(refs[0]["span"], json!([2, 2 + id.chars().count()]));
    assert_eq!(refs[0]["preview"], "SQLite will not scale.");
    assert_eq!(refs[0]["message_uuid"], said["uuid"]);
    assert_eq!(
        (&refs[1]["id"], &refs[1]["resolved"]),
        (&json!("^zzzz"), &json!(false))
    );
    assert_eq!(
        (&refs[2]["_type"], &refs[2]["uuid"]),
        (&json!("Message"), &said["uuid"])
    );
    let citing = note(&world, &text);
    let shown = world.ok("garden_get", json!({"id": citing["uuid"], "render": true}));
    assert_eq!(
        shown["item"]["rendered"],
        "👍 [SQLite will not scale.] shows it, so does [SQLite will not scale.]; not ^zzzz"
    );
    assert_eq!(shown["item"]["description"], text);
}

#[on_both]
fn fragments_that_collide_are_told_apart(world: World) {
    // Two texts with one id: looked for, since ids have sixteen bits.
    let mut seen = std::collections::HashMap::new();
    let (one, other) = (0..)
        .find_map(|n| {
            let text = format!("idea {n}");
            seen.insert(fragment_id(&text), text.clone())
                .map(|before| (before, text))
        })
        .unwrap();
    let id = fragment_id(&one);
    let first = add(&world, json!({"type": "Message", "description": one}));
    let second = add(&world, json!({"type": "Message", "description": other}));
    let refs = world.ok("garden_refs", json!({"content": id}))["refs"].clone();
    assert_eq!(
        (&refs[0]["message_uuid"], &refs[0]["ambiguous"]),
        (&second["uuid"], &json!(true))
    );
    for (message, text) in [(&first, &one), (&second, &other)] {
        let anchor = format!("{}#{id}", uuid(message));
        assert_eq!(
            world.ok("garden_get", json!({"id": anchor}))["fragment"]["content"],
            json!(text)
        );
    }
}

#[on_both]
fn relations_fade_and_come_back_only_when_cited_enough(world: World) {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| note(&world, text));
    relate(&world, "derived_from", &a, &b);
    relate(&world, "triggers", &c, &d);
    let fossilized = |dry: bool| {
        list(
            &world.ok("garden_fossilize", json!({"dry_run": dry})),
            "fossilized",
        )
        .len()
    };
    assert_eq!(fossilized(true), 0);
    world.clock.turn(95 * DAY);
    assert_eq!(fossilized(true), 0, "an eighth is left");
    world.clock.turn(30 * DAY);
    assert_eq!(fossilized(true), 1);
    let before = world.head();
    assert_eq!(fossilized(true), 1);
    assert_eq!(world.head(), before, "telling writes nothing");
    // Being cited keeps another one alive.
    let done = world.ok("garden_fossilize", json!({}));
    assert_eq!(done["fossilized"][0]["layer"], "soil");
    assert_eq!(done["fossilized"][0]["kind"], "derived_from");
    let mut remove = args("derived_from", &a, &b);
    remove["remove"] = json!(true);
    assert_eq!(world.refused("garden_relate", remove).code, Code::Immutable);
    assert_eq!(
        list(&world.ok("garden_fossilize", json!({})), "revived").len(),
        0
    );
    note(&world, &format!("as @{} says", uuid(&b)));
    world.clock.turn(60 * DAY);
    let strength = of(&world, &a, json!({"kind": "derived_from"}))[0]["strength"]
        .as_f64()
        .unwrap();
    assert!((0.2..0.3).contains(&strength), "{strength}");
    let still = world.ok("garden_fossilize", json!({}));
    assert_eq!(
        list(&still, "revived").len(),
        0,
        "above the lower threshold is not enough"
    );
    note(&world, &format!("again @{}", uuid(&b)));
    let back = world.ok("garden_fossilize", json!({}));
    assert_eq!(list(&back, "revived").len(), 1);
    assert_eq!(
        of(&world, &a, json!({"kind": "derived_from"}))[0]["layer"],
        "core"
    );
    for threshold in [0.0, 1.0, -1.0] {
        assert_eq!(
            world
                .refused("garden_fossilize", json!({"threshold": threshold}))
                .code,
            Code::Validation
        );
    }
    world.assert_sound();
}
