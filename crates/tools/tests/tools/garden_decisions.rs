//! Proposals with how sure their author is, accepted with other words, opened again; and commits taken back.

use crate::artifact_common::{commit, content, make, show};
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

#[track_caller]
fn propose(world: &World, line: i64, content: &str, more: Value) -> Value {
    let args = json!({"artifact": "goals", "start": line, "end": line, "content": content, "reasoning": "because"});
    world.ok("reader_propose", with(args, more))
}

#[track_caller]
fn decide(world: &World, agent: &str, id: &Value, more: Value) -> Value {
    by(
        world,
        agent,
        "reader_decide",
        with(json!({"proposal": id}), more),
    )
}

#[on_both]
fn a_proposal_says_how_sure_its_author_is(world: World) {
    make(&world, "goals", "one\ntwo\n");
    let made = propose(&world, 1, "uno", json!({"confidence": 0.86}));
    assert_eq!(made["proposal"]["confidence"], 0.86);
    propose(&world, 2, "due", json!({}));
    let listed = world.ok("reader_proposals", json!({}));
    assert_eq!(listed["proposals"][0].get("confidence"), None);
    assert_eq!(listed["proposals"][1]["confidence"], 0.86);
    for unsure in [-0.1, 1.01] {
        let args = json!({"artifact": "goals", "start": 1, "end": 1, "content": "x", "reasoning": "r", "confidence": unsure});
        refuse_field(&world, "reader_propose", args, "confidence");
    }
    // It goes with the words that it is about.
    world.ok("garden_undo", json!({"item": made["item"]}));
    let got = world.ok("garden_get", json!({"id": made["proposal"]["id"]}));
    assert_eq!(got["proposal"].get("confidence"), None, "{got}");
    world.assert_sound();
}

#[on_both]
fn other_words_are_accepted_in_place_of_the_proposed_ones(world: World) {
    make(&world, "goals", "one\ntwo\n");
    let made = propose(&world, 2, "due", json!({}));
    let id = &made["proposal"]["id"];
    let refused = json!({"proposal": id, "accept": false, "content": "dos"});
    refuse_field(&world, "reader_decide", refused, "content");
    let done = decide(
        &world,
        "bob",
        id,
        json!({"accept": true, "content": "dos\ntres"}),
    );
    assert_eq!(content(&world, "goals", None), "one\ndos\ntres\n");
    // Who asks why finds who accepted it, and what was proposed.
    let why = world.ok("why", json!({"id": "goals:2"}));
    let steps = each(&why["steps"], "action");
    assert_eq!(
        steps,
        ["committed", "accepted", "created", "proposed"].map(Value::from)
    );
    assert_eq!(why["steps"][1]["uuid"], done["item"]);
    let item = world.ok("garden_get", json!({"id": done["item"]}))["item"].clone();
    assert_eq!(item["params"]["content"], "dos\ntres");
    let got = world.ok("garden_get", json!({"id": id}));
    assert_eq!(got["proposal"]["content"], "due", "what was proposed stays");
    world.assert_sound();
}

#[on_both]
fn a_rejection_can_be_taken_back(world: World) {
    make(&world, "goals", "one\ntwo\n");
    let made = propose(&world, 1, "uno", json!({}));
    let id = &made["proposal"]["id"];
    let open = json!({"proposal": id});
    refuse(&world, "reader_decide", open.clone(), Code::Conflict);
    decide(&world, "bob", id, json!({"accept": false, "note": "no"}));
    // By who rejected it, or a person in charge.
    refuse(
        &world,
        "reader_decide",
        open.clone(),
        Code::InsufficientAuthority,
    );
    let again = decide(&world, "bob", id, json!({"accept": null}));
    assert_eq!(again["proposal"]["status"], "open");
    assert_eq!(again["proposal"].get("decided_by"), None, "{again}");
    let listed = world.ok("reader_proposals", json!({}));
    assert_eq!(listed["proposals"][0]["id"], *id);
    decide(&world, "eve", id, json!({"accept": false}));
    let person = caller("olga", Role::Operator);
    as_one(&world, &person, "reader_decide", open.clone());
    let told = world.ok("garden_timeline", json!({"types": ["SystemEvent"]}));
    assert_eq!(told["items"][0]["event_type"], "proposal_reopened");
    decide(&world, "bob", id, json!({"accept": true}));
    assert_eq!(content(&world, "goals", None), "uno\ntwo\n");
    // What became a commit is taken back by another.
    let refused = refused(&world, &person, "reader_decide", open, Code::Conflict);
    assert!(refused.hint.unwrap().contains("revert"));
    world.assert_sound();
}

#[on_both]
fn a_commit_is_taken_back_and_what_came_after_it_stays(world: World) {
    let base = make(&world, "goals", "one\ntwo\nthree\nfour\n");
    let second = commit(&world, "goals", &base, "one\n2\nthree\nfour\n");
    let third = commit(&world, "goals", &second, "one\n2\nthree\n4\n");
    let args = json!({"artifact": "goals", "revert": second, "reasoning": "too short"});
    let done = world.ok("garden_artifact_commit", args.clone());
    assert_eq!(done["parent"], third);
    assert_eq!(content(&world, "goals", None), "one\ntwo\nthree\n4\n");
    // The line is again of who wrote it first, and the item says what it takes back.
    let shown = show(&world, "goals", None);
    assert_eq!(shown["lines"][1]["commit"], base);
    let steps = world.ok("why", json!({"id": "goals"}))["steps"].clone();
    let commits = world.ok("garden_timeline", json!({"types": ["ArtifactDelta"]}));
    let cause = world.ok(
        "garden_get",
        json!({"id": commits["items"][0]["caused_by"]}),
    );
    assert_eq!(cause["item"]["commit"], second, "{steps}");
    // Twice changes nothing more.
    let again = world.ok("garden_artifact_commit", args);
    assert_eq!(again["unchanged"], true, "{again}");
    // Lines that were changed since are not guessed at.
    let head = text(&show(&world, "goals", None)["commit"]);
    commit(&world, "goals", &head, "one\ntwo\nthree\nfive\n");
    let args = json!({"artifact": "goals", "revert": third});
    refuse(&world, "garden_artifact_commit", args, Code::Conflict);
    for more in [
        json!({"content": "x\n"}),
        json!({"ops": "-1"}),
        json!({"texts": {}}),
    ] {
        let args = with(json!({"artifact": "goals", "revert": third}), more);
        refuse_field(&world, "garden_artifact_commit", args, "revert");
    }
    let stale = json!({"artifact": "goals", "revert": third, "based_on": base});
    refuse(&world, "garden_artifact_commit", stale, Code::Conflict);
    let unknown = json!({"artifact": "goals", "revert": "0123456789"});
    refuse(&world, "garden_artifact_commit", unknown, Code::NotFound);
    world.assert_sound();
}

#[on_both]
fn the_first_commit_of_a_document_is_taken_back_to_nothing(world: World) {
    let base = make(&world, "goals", "one\n");
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "goals", "revert": base}),
    );
    assert_eq!(content(&world, "goals", None), "");
    world.assert_sound();
}
