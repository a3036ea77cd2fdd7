//! Notes compared and merged: in one direction, each once, however long the way they came.

use std::collections::BTreeMap;

use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// What `to` shows and `from` does not.
#[track_caller]
fn diff(world: &World, from: &str, to: &str) -> Vec<String> {
    let args = json!({"from": from, "to": to});
    let whole = pages(world, "diff", &args, 200);
    for limit in [1, 2, 5] {
        assert_eq!(pages(world, "diff", &args, limit), whole, "limit {limit}");
    }
    each(&whole, "content")
}

/// Merges, after a look that must tell the same and write nothing; how many were copied.
#[track_caller]
fn merge(world: &World, from: &str, into: &str) -> i64 {
    let args = json!({"from": from, "into": into});
    let head = world.head();
    let mut look = args.clone();
    look["dry_run"] = true.into();
    let look = call(world, "merge", look);
    assert_eq!(world.head(), head, "a look writes nothing");
    let done = call(world, "merge", args);
    assert_eq!(look, done, "a look tells what is done");
    let merged = done["merged"].as_i64().unwrap();
    assert_eq!(world.head(), head + merged, "each copy is one item");
    assert_eq!(done["pagination"]["has_more"], false);
    assert_eq!(
        done["pagination"]["count"].as_i64().unwrap(),
        merged + done["skipped"].as_i64().unwrap()
    );
    merged
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

#[on_both]
fn a_diff_has_a_direction(world: World) {
    note(&world, "main", "m1");
    branch(&world, "a", "main");
    note(&world, "a", "a1");
    note(&world, "main", "m2");
    note(&world, "a", "a2");
    assert_eq!(diff(&world, "main", "a"), ["a1", "a2"]);
    assert_eq!(diff(&world, "a", "main"), ["m2"]);
    for same in ["main", "a"] {
        assert_eq!(diff(&world, same, same), texts(&[]));
    }
    branch(&world, "b", "a");
    assert_eq!(diff(&world, "a", "b"), texts(&[]));
    assert_eq!(diff(&world, "b", "a"), texts(&[]));
    assert_eq!(
        diff(&world, "main", "b"),
        ["a1", "a2"],
        "what is inherited counts"
    );
    note(&world, "a", "a3");
    assert_eq!(diff(&world, "b", "a"), ["a3"]);
    let answer = call(&world, "diff", json!({"from": "main", "to": "a"}));
    assert_eq!(
        (
            &answer["from"],
            &answer["to"],
            &answer["doc"],
            &answer["truncated"]
        ),
        (&json!("main"), &json!("a"), &json!("notes"), &json!(false))
    );
    assert_eq!(
        answer["pagination"],
        json!({"cursor": null, "has_more": false, "limit": 20, "count": 3})
    );
}

#[on_both]
fn a_diff_and_a_merge_are_of_one_document(world: World) {
    branch(&world, "a", "main");
    for doc in ["notes", "ideas"] {
        call(
            &world,
            "notes_commit",
            json!({"branch": "a", "doc": doc, "content": doc}),
        );
    }
    assert_eq!(
        each(
            &list(
                &call(
                    &world,
                    "diff",
                    json!({"from": "main", "to": "a", "doc": "ideas"})
                ),
                "entries"
            ),
            "content"
        ),
        ["ideas"]
    );
    let done = call(
        &world,
        "merge",
        json!({"from": "a", "into": "main", "doc": "ideas"}),
    );
    assert_eq!(
        (&done["merged"], &done["doc"]),
        (&json!(1), &json!("ideas"))
    );
    assert_eq!(said(&world, "main", "ideas"), ["ideas"]);
    assert_eq!(notes(&world, "main"), texts(&[]));
    assert_eq!(
        call(
            &world,
            "merge",
            json!({"from": "a", "into": "main", "doc": "nothing"})
        )["merged"],
        0
    );
}

#[on_both]
fn a_merge_copies_once_in_order_and_says_from_where(world: World) {
    note(&world, "main", "m1");
    branch(&world, "a", "main");
    let first = seq(&call(
        &world,
        "notes_commit",
        json!({"branch": "a", "doc": "notes", "content": "a1", "title": "T", "format": "md", "meta": {"k": [1]}}),
    )["entry"]);
    note(&world, "a", "a2");
    note(&world, "main", "m2");
    assert_eq!(merge(&world, "a", "main"), 2);
    assert_eq!(notes(&world, "main"), ["m1", "m2", "a1", "a2"]);
    assert_eq!(
        notes(&world, "a"),
        ["m1", "a1", "a2"],
        "where it came from is as it was"
    );
    let copy = pages(
        &world,
        "show",
        &json!({"branch": "main", "doc": "notes"}),
        200,
    )[2]
    .clone();
    assert_eq!(copy["source_event_id"], json!(format!("merge:a:{first}")));
    assert_eq!(
        (
            &copy["kind"],
            &copy["branch"],
            &copy["title"],
            &copy["format"],
            &copy["meta"]
        ),
        (
            &json!("note"),
            &json!("main"),
            &json!("T"),
            &json!("md"),
            &json!({"k": [1]})
        )
    );
    for _ in 0..2 {
        assert_eq!(merge(&world, "a", "main"), 0);
        world.engine.rebuild(|_, _| {}).unwrap();
    }
    assert_eq!(
        merge(&world, "main", "a"),
        1,
        "m2; what came from a does not go back"
    );
    assert_eq!(notes(&world, "a"), ["m1", "a1", "a2", "m2"]);
    assert_eq!(merge(&world, "a", "main"), 0, "nor does m2");
    note(&world, "a", "a3");
    assert_eq!(merge(&world, "a", "main"), 1);
    assert_eq!(notes(&world, "main"), ["m1", "m2", "a1", "a2", "a3"]);
    world.assert_sound();
}

#[on_both]
fn copies_of_copies_never_come_back(world: World) {
    for name in ["a", "b", "c"] {
        branch(&world, name, "main");
        note(&world, name, name);
    }
    assert_eq!(merge(&world, "a", "b"), 1);
    assert_eq!(merge(&world, "b", "c"), 2, "its own and what it got");
    assert_eq!(merge(&world, "c", "a"), 2, "but not what was a's");
    assert_eq!(
        notes(&world, "a"),
        ["a", "c", "b"],
        "in the order in which c shows them"
    );
    for (from, into, count) in [
        ("a", "b", 1),
        ("b", "a", 0),
        ("b", "c", 0),
        ("c", "b", 0),
        ("a", "c", 0),
        ("c", "a", 0),
        ("a", "main", 3),
        ("c", "main", 0),
    ] {
        assert_eq!(merge(&world, from, into), count, "{from} into {into}");
    }
    // A branch that inherited a copy has it too, and so has one that inherited the original.
    branch(&world, "of-main", "main");
    branch(&world, "of-a", "a");
    for (from, into) in [
        ("a", "of-main"),
        ("of-main", "a"),
        ("main", "of-a"),
        ("of-a", "main"),
        ("of-a", "of-main"),
    ] {
        assert_eq!(merge(&world, from, into), 0, "{from} into {into}");
    }
    world.assert_sound();
}

#[on_both]
fn page_by_page_is_the_same_as_at_once(world: World) {
    let whole: Vec<String> = (0..25).map(|at| format!("n{at}")).collect();
    branch(&world, "base", "main");
    for text in &whole[..9] {
        note(&world, "base", text);
    }
    branch(&world, "a", "base");
    for text in &whole[9..] {
        note(&world, "a", text);
    }
    for limit in [1, 4, 7, 25, 26] {
        let into = format!("into{limit}");
        branch(&world, &into, "main");
        let (mut cursor, mut merged, mut rounds) = (Value::Null, 0, 0);
        loop {
            let mut args = json!({"from": "a", "into": into, "limit": limit});
            if !cursor.is_null() {
                args["cursor"] = cursor;
            }
            let mut look = args.clone();
            look["dry_run"] = true.into();
            let look = call(&world, "merge", look);
            let page = call(&world, "merge", args);
            assert_eq!(look, page);
            assert_eq!(
                (
                    &page["from"],
                    &page["into"],
                    &page["skipped"],
                    &page["pagination"]["limit"]
                ),
                (&json!("a"), &json!(into), &json!(0), &json!(limit))
            );
            assert_eq!(page["merged"], page["pagination"]["count"]);
            merged += page["merged"].as_i64().unwrap();
            rounds += 1;
            assert_eq!(
                notes(&world, &into),
                whole[..usize::try_from(merged).unwrap()],
                "in order all the way"
            );
            // Whoever lost the cursor begins again and skips.
            if rounds == 2 {
                let again = call(
                    &world,
                    "merge",
                    json!({"from": "a", "into": into, "limit": limit}),
                );
                assert_eq!(
                    (&again["merged"], &again["skipped"]),
                    (&json!(0), &json!(limit.min(25)))
                );
            }
            if page["pagination"]["has_more"] == false {
                break;
            }
            cursor = page["pagination"]["next_cursor"].clone();
        }
        assert_eq!(notes(&world, &into), whole);
        assert_eq!(rounds, (25 + limit - 1) / limit);
        assert_eq!(merge(&world, "a", &into), 0);
    }
    for (asked, counts) in [(0, 1), (-3, 1), (10_000, 200), (i64::MAX, 200)] {
        let look = call(
            &world,
            "merge",
            json!({"from": "a", "into": "main", "limit": asked, "dry_run": true}),
        );
        assert_eq!(look["pagination"]["limit"], counts);
    }
    assert_eq!(
        call(
            &world,
            "merge",
            json!({"from": "a", "into": "main", "dry_run": true})
        )["pagination"]["limit"],
        200
    );
    for cursor in [i64::MAX, i64::MIN, -1] {
        let look = call(
            &world,
            "merge",
            json!({"from": "a", "into": "main", "cursor": cursor, "dry_run": true}),
        );
        assert_eq!(look["merged"], if cursor < 0 { 25 } else { 0 });
    }
    world.assert_sound();
}

#[on_both]
fn only_notes_are_merged(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let (own, doc) = (format!("task/{task}"), format!("{task}-trace"));
    card(&world, &task, "h1", "hypothesis", &[]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "U"}]}),
    );
    call(
        &world,
        "commit",
        json!({"branch": own, "doc": doc, "message": "by hand"}),
    );
    let done = call(
        &world,
        "merge",
        json!({"from": own, "into": "main", "doc": doc}),
    );
    assert_eq!(done["merged"], 2, "the card and the commit");
    let there = pages(&world, "show", &json!({"branch": "main", "doc": doc}), 200);
    assert_eq!(each(&there, "kind"), ["note", "note"]);
    assert_eq!(each(&there, "title"), ["hypothesis h1", "by hand"]);
    assert_eq!(
        call(
            &world,
            "merge",
            json!({"from": own, "into": "main", "doc": doc})
        )["merged"],
        0
    );
    assert_eq!(
        call(
            &world,
            "merge",
            json!({"from": "main", "into": own, "doc": doc})
        )["merged"],
        0
    );
    assert_eq!(trace(&world, &task).len(), 4, "each event once, as before");
    // The graph did not come along: it is merged by itself.
    assert_eq!(
        call(
            &world,
            "think_context",
            json!({"target": task, "branch": "main"})
        )["stats"]["cards"],
        0
    );
    world.assert_sound();
}

#[on_both]
fn a_merge_into_itself_or_nowhere_is_refused(world: World) {
    for dry_run in [false, true] {
        refuse(
            &world,
            "merge",
            json!({"from": "main", "into": "main", "dry_run": dry_run}),
            Code::Validation,
        );
    }
    note(&world, "main", "m");
    branch(&world, "a", "main");
    for dry_run in [false, true] {
        for same in ["main", "a"] {
            refuse(
                &world,
                "merge",
                json!({"from": same, "into": same, "dry_run": dry_run}),
                Code::Validation,
            );
        }
        refuse(
            &world,
            "merge",
            json!({"from": "a", "into": "aa", "dry_run": dry_run}),
            Code::UnknownBranch,
        );
        refuse(
            &world,
            "merge",
            json!({"from": "aa", "into": "a", "dry_run": dry_run}),
            Code::UnknownBranch,
        );
        refuse(
            &world,
            "merge",
            json!({"from": "a", "dry_run": dry_run}),
            Code::Validation,
        );
    }
    assert_eq!(merge(&world, "a", "main"), 0, "nothing new");
    assert_eq!(merge(&world, "main", "a"), 0);
}

#[on_both]
fn a_merge_is_done_once_a_key(world: World) {
    branch(&world, "a", "main");
    note(&world, "a", "a1");
    let args = json!({"from": "a", "into": "main", "idempotency_key": "k"});
    let first = call(&world, "merge", args.clone());
    note(&world, "a", "a2");
    assert_eq!(call(&world, "merge", args), first, "the first answer again");
    assert_eq!(notes(&world, "main"), ["a1"]);
}

#[on_both]
fn tasks_merge_with_branches_and_with_each_other(world: World) {
    let of = world.plan(&["A", "B"]);
    call(
        &world,
        "notes_commit",
        json!({"target": of[0], "content": "of A"}),
    );
    branch(&world, "what-if", "task/TASK-001");
    note(&world, "what-if", "guess");
    assert_eq!(merge(&world, "what-if", "task/TASK-001"), 1);
    assert_eq!(merge(&world, "task/TASK-001", "task/TASK-002"), 2);
    assert_eq!(
        merge(&world, "what-if", "task/TASK-002"),
        0,
        "by another way"
    );
    assert_eq!(notes(&world, "task/TASK-002"), ["of A", "guess"]);
}

#[on_both]
fn any_program_of_notes_forks_and_merges_agrees_with_plain_copies(world: World) {
    let mut model: BTreeMap<String, Vec<String>> =
        BTreeMap::from([("main".to_string(), Vec::new())]);
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    let mut pick = |most: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        usize::try_from(chance % most as u64).unwrap()
    };
    for step in 0..120 {
        let names: Vec<String> = model.keys().cloned().collect();
        let (one, other) = (&names[pick(names.len())], &names[pick(names.len())]);
        match pick(6) {
            0 if names.len() < 14 => {
                let name = format!("b{step}");
                branch(&world, &name, one);
                model.insert(name, model[one].clone());
            }
            1 | 2 if one != other => {
                let new: Vec<String> = model[one]
                    .iter()
                    .filter(|text| !model[other].contains(text))
                    .cloned()
                    .collect();
                assert_eq!(
                    merge(&world, one, other),
                    new.len() as i64,
                    "{one} into {other} at {step}"
                );
                model.get_mut(other).unwrap().extend(new);
            }
            _ => {
                note(&world, one, &format!("n{step}"));
                model.get_mut(one).unwrap().push(format!("n{step}"));
            }
        }
    }
    for round in 0..2 {
        for (name, texts) in &model {
            assert_eq!(notes(&world, name), *texts, "{name}, round {round}");
        }
        world.engine.rebuild(|_, _| {}).unwrap();
    }
    world.assert_sound();
}
