//! Artifacts with several writers: what diverged comes together again without losing a line, and
//! every line still says who wrote it.

use crate::artifact_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

fn merge(label: &str, ours: &str, theirs: &str) -> Value {
    json!({"artifact": label, "ours": ours, "theirs": theirs})
}

/// A base, a commit at the head and one beside it.
fn diverged(world: &World, label: &str, texts: [&str; 3]) -> [String; 3] {
    let base = make(world, label, texts[0]);
    let ours = commit(world, label, &base, texts[1]);
    let theirs = fork(world, label, &base, texts[2]);
    [base, ours, theirs]
}

#[on_both]
fn a_fork_leaves_the_head_alone(world: World) {
    let [base, ours, theirs] = diverged(&world, "doc", ["a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"]);
    assert_eq!(show(&world, "doc", None)["commit"], ours);
    assert_eq!(content(&world, "doc", Some(&theirs)), "a\nb\nC\n");
    let log = world.ok("garden_artifact_log", json!({"artifact": "doc"}));
    assert_eq!(log["deltas"][0]["fork"], true);
    assert_eq!(log["deltas"][0]["parent"], base);
    assert_eq!(log["deltas"][1]["head"], true);
    // One may go on beside the head, and the same change again is the same commit.
    let further = fork(&world, "doc", &theirs, "a\nb\nC\nd\n");
    let before = world.head();
    assert_eq!(fork(&world, "doc", &theirs, "a\nb\nC\nd\n"), further);
    assert_eq!(world.head(), before);
    let merged = world.ok("garden_artifact_merge", merge("doc", &ours, &further));
    assert_eq!(content(&world, "doc", None), "A\nb\nC\nd\n");
    assert_eq!(merged["artifact"]["commits"], 5);
    // What stands beside the head can still be committed to it.
    let head = text(&merged["commit"]);
    let beside = fork(&world, "doc", &head, "x\n");
    let done = commit(&world, "doc", &head, "x\n");
    assert_ne!(done, beside);
    assert_eq!(show(&world, "doc", None)["commit"], done);
    world.assert_sound();
}

#[on_both]
fn a_clean_merge_keeps_every_lines_commit(world: World) {
    let [base, ours, theirs] = diverged(
        &world,
        "doc",
        ["a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nD\ne\nf\n"],
    );
    let merged = world.ok(
        "garden_artifact_merge",
        with(
            merge("doc", &ours, &theirs),
            json!({"reasoning": "both are right"}),
        ),
    );
    assert_eq!(merged["parent"], json!([ours, theirs]));
    assert_eq!(merged["merged"], true);
    assert_eq!(merged["artifact"]["head"], merged["commit"]);
    assert_eq!(content(&world, "doc", None), "A\nb\nc\nD\ne\nf\n");
    let whose = [&ours, &base, &base, &theirs, &base, &theirs].map(String::clone);
    assert_eq!(blame(&world, "doc", None), whose);
    // Later commits still know, whatever is between.
    let head = text(&merged["commit"]);
    let next = change(
        &world,
        "doc",
        &head,
        &format!(">6@1 ~1:{}→{}", id("A"), id("Å")),
        &["Å"],
    );
    assert_eq!(content(&world, "doc", None), "f\nÅ\nb\nc\nD\ne\n");
    assert_eq!(
        blame(&world, "doc", None),
        [&theirs, &next, &base, &base, &theirs, &base].map(String::clone)
    );
    let log = world.ok("garden_artifact_log", json!({"artifact": "doc"}));
    assert_eq!(log["deltas"][1]["parent"], json!([ours, theirs]));
    assert_eq!(log["deltas"][1]["reasoning"], "both are right");
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).expect("core is made again");
    assert_eq!(blame(&world, "doc", Some(&head)), whose);
}

#[on_both]
fn the_head_may_be_either_side(world: World) {
    let [base, ours, theirs] = diverged(&world, "doc", ["a\nb\n", "A\nb\n", "a\nB\n"]);
    let merged = world.ok("garden_artifact_merge", merge("doc", &theirs, &ours));
    assert_eq!(merged["parent"], json!([theirs, ours]));
    assert_eq!(content(&world, "doc", None), "A\nB\n");
    assert_eq!(blame(&world, "doc", None), [ours.clone(), theirs.clone()]);
    // What the head contains already is not merged again.
    let before = world.head();
    let head = text(&merged["commit"]);
    for (a, b) in [
        (&head, &theirs),
        (&theirs, &head),
        (&head, &base),
        (&base, &head),
        (&head, &head),
    ] {
        let answer = world.ok("garden_artifact_merge", merge("doc", a, b));
        assert_eq!(
            (&answer["commit"], &answer["merged"]),
            (&json!(head), &json!(false))
        );
    }
    assert_eq!(world.head(), before);
    let fault = refuse(
        &world,
        "garden_artifact_merge",
        merge("doc", &ours, &theirs),
        Code::Conflict,
    );
    assert_eq!(detail(&fault, "current_commit"), head);
    // Beside the head and ahead of it: the head moves on to it.
    let ahead = fork(&world, "doc", &head, "A\nB\nC\n");
    let merged = world.ok("garden_artifact_merge", merge("doc", &head, &ahead));
    assert_eq!(
        (merged["parent"].clone(), content(&world, "doc", None)),
        (json!([head, ahead]), "A\nB\nC\n".into())
    );
    assert_eq!(blame(&world, "doc", None)[2], ahead);
    world.assert_sound();
}

#[on_both]
fn conflicts_are_told_and_nothing_is_written(world: World) {
    let [_, ours, theirs] = diverged(
        &world,
        "doc",
        ["a\nb\nc\nd\ne\n", "a\nB1\nc\nd\nE1\n", "a\nB2\nc\nd\nE2\n"],
    );
    let before = world.head();
    let open = world.ok("garden_artifact_merge", merge("doc", &ours, &theirs));
    assert_eq!(world.head(), before);
    assert_eq!(
        open["conflicts"],
        json!([
            {"index": 0, "base": {"start": 2, "end": 2, "lines": ["b"]}, "ours": {"start": 2, "end": 2, "lines": ["B1"]}, "theirs": {"start": 2, "end": 2, "lines": ["B2"]}},
            {"index": 1, "base": {"start": 5, "end": 5, "lines": ["e"]}, "ours": {"start": 5, "end": 5, "lines": ["E1"]}, "theirs": {"start": 5, "end": 5, "lines": ["E2"]}},
        ])
    );
    let half = world.ok(
        "garden_artifact_merge",
        with(
            merge("doc", &ours, &theirs),
            json!({"resolutions": {"0": "ours"}}),
        ),
    );
    assert_eq!(half["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(world.head(), before);
    for (bad, field) in [
        (json!({"0": "mine"}), "resolutions.0"),
        (json!({"x": "ours"}), "resolutions.x"),
        (json!({"2": "ours"}), "resolutions.2"),
        (json!({"0": {"content": 1}}), "resolutions.0"),
        (json!({"0": {"text": "x"}}), "resolutions.0"),
        (json!("ours"), "resolutions"),
        (json!({"0": {"content": "a\0"}}), "resolutions.0"),
        (json!({"00": "ours"}), "resolutions.00"),
    ] {
        refuse_field(
            &world,
            "garden_artifact_merge",
            with(merge("doc", &ours, &theirs), json!({"resolutions": bad})),
            field,
        );
    }
    let settled = json!({"resolutions": {"0": "theirs", "1": {"content": "E3\nE4\n"}}});
    let done = world.ok(
        "garden_artifact_merge",
        with(merge("doc", &ours, &theirs), settled),
    );
    assert_eq!(content(&world, "doc", None), "a\nB2\nc\nd\nE3\nE4\n");
    let whose = blame(&world, "doc", None);
    assert_eq!(
        (&whose[1], &whose[4], &whose[5]),
        (&theirs, &text(&done["commit"]), &text(&done["commit"]))
    );
    world.assert_sound();
}

#[on_both]
fn choices_may_come_in_a_list(world: World) {
    for (at, (choices, told)) in [
        (json!(["ours"]), "x\n"),
        (json!(["theirs"]), "y\n"),
        (json!(["base"]), "a\n"),
        (json!([{"content": ""}]), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let label = format!("doc_{at}");
        let [_, ours, theirs] = diverged(&world, &label, ["a\n", "x\n", "y\n"]);
        world.ok(
            "garden_artifact_merge",
            with(
                merge(&label, &ours, &theirs),
                json!({"resolutions": choices}),
            ),
        );
        assert_eq!(content(&world, &label, None), told);
    }
    world.assert_sound();
}

#[on_both]
fn criss_cross_and_strangers(world: World) {
    let [_, ours, theirs] = diverged(&world, "doc", ["a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n"]);
    let merged = text(&world.ok("garden_artifact_merge", merge("doc", &ours, &theirs))["commit"]);
    let beside = fork(&world, "doc", &theirs, "a\nb\nC\nd\n");
    let again = world.ok("garden_artifact_merge", merge("doc", &merged, &beside));
    assert_eq!(content(&world, "doc", None), "A\nb\nC\nd\n");
    assert_eq!(again["merged"], true);
    let other = make(&world, "other", "x\n");
    refuse(
        &world,
        "garden_artifact_merge",
        merge("doc", &merged, &other),
        Code::NotFound,
    );
    refuse_field(
        &world,
        "garden_artifact_merge",
        merge("doc", "short", &theirs),
        "ours",
    );
    refuse_field(
        &world,
        "garden_artifact_merge",
        merge("doc", &merged, ""),
        "theirs",
    );
    refuse(
        &world,
        "garden_artifact_merge",
        merge("nobody", &merged, &theirs),
        Code::NotFound,
    );
    world.assert_sound();
}

#[on_both]
fn of_two_writers_on_one_head_exactly_one_wins(world: World) {
    let mut head = make(&world, "doc", "0\n");
    for round in 0..6 {
        let answers: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4).map(|n| {
                let (world, head) = (&world, &head);
                scope.spawn(move || {
                    let engine = world.another();
                    let caller = World::caller(&format!("agent{n}"));
                    let args = json!({"artifact": "doc", "based_on": head, "content": format!("{round} {n}\n")});
                    World::call_on(&engine, &caller, "garden_artifact_commit", args)
                })
            }).collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        let next = text(&won[0].as_ref().unwrap()["commit"]);
        for fault in lost {
            let fault = fault.unwrap_err();
            assert_eq!(fault.code, Code::Conflict, "{fault}");
            assert_eq!(detail(&fault, "current_commit"), next);
        }
        head = next;
    }
    world.assert_sound();
}

#[on_both]
fn long_histories_open_anywhere(world: World) {
    // Versions are kept whole now and then; every other is made from those.
    let mut text_now: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
    let mut head = make(&world, "doc", &text_now.join("\n"));
    let (mut made, mut texts) = (vec![head.clone()], vec![text_now.join("\n")]);
    for n in 0..300 {
        let at = n * 7 % text_now.len();
        match n % 5 {
            0 => text_now.insert(at, format!("new {n}")),
            1 => drop(text_now.remove(at)),
            2 => text_now.swap(at, 0),
            _ => text_now[at] = format!("changed {n}"),
        }
        head = commit(&world, "doc", &head, &text_now.join("\n"));
        made.push(head.clone());
        texts.push(text_now.join("\n"));
    }
    for at in (0..made.len()).step_by(13).chain([255, 256, 257, 300]) {
        assert_eq!(
            content(&world, "doc", Some(&made[at])),
            texts[at],
            "commit {at}"
        );
    }
    let whose = blame(&world, "doc", None);
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).expect("core is made again");
    assert_eq!(blame(&world, "doc", None), whose);
}

#[on_both]
fn ten_thousand_lines(world: World) {
    let lines: Vec<String> = (0..10_000)
        .map(|n| format!("line {n} of a long document"))
        .collect();
    let head = make(&world, "book", &(lines.join("\n") + "\n"));
    let done = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "book", "based_on": head,
        "content": lines.join("\n").replace("line 5000 ", "LINE 5000 ") + "\n"}),
    );
    let (old, new) = (
        id("line 5000 of a long document"),
        id("LINE 5000 of a long document"),
    );
    assert_eq!(done["ops"], format!("~5001:{old}→{new}"));
    let shown = world.ok(
        "garden_artifact_show",
        json!({"artifact": "book", "start": 5000, "end": 5002}),
    );
    assert_eq!(shown["lines"][1]["commit"], done["commit"]);
    assert_eq!(shown["lines"][2]["commit"], head);
    assert_eq!(shown["total"], 10_000);
    let whole = world.ok("garden_artifact_show", json!({"artifact": "book"}));
    assert_eq!(whole["truncated"], true);
    assert!(whole.to_string().chars().count() <= 100_000);
    world.assert_sound();
}

#[on_both]
fn lines_are_named_in_texts(world: World) {
    let first = make(&world, "goals_doc", "# Goals\nFast\n");
    let cause = text(
        &world.ok(
            "garden_add",
            json!({"type": "Note", "description": "make it small"}),
        )["item"]["uuid"],
    );
    let second = world.ok("garden_artifact_commit", json!({"artifact": "goals_doc", "based_on": first, "content": "# Goals\nSmall\n", "caused_by": cause}));
    let refs = world.ok("garden_refs", json!({"content": format!("see goals_doc:2, goals_doc:2@{} and goals_doc:9 or nobody:1", &first[..7])}));
    let told: Vec<(bool, Value)> = refs["refs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["type"] == "artifact_line")
        .map(|one| (one["resolved"] == true, one["content"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (true, json!("Small")),
            (true, json!("Fast")),
            (false, json!(null)),
            (false, json!(null))
        ]
    );
    let why = world.ok("why", json!({"id": "goals_doc:2"}));
    assert_eq!(why["steps"][0]["_type"], "ArtifactDelta");
    assert_eq!(why["steps"][1]["uuid"], cause);
    assert_eq!(why["steps"][0]["text"], "“Fast” → “Small”");
    assert!(
        text(&second["commit"]).starts_with(&text(&why["steps"][0]["commit"])),
        "{why}"
    );
    let got = world.ok("garden_get", json!({"id": "goals_doc", "render": true}));
    assert_eq!(got["artifact"]["head"], second["commit"]);
    assert_eq!(got["artifact"]["rendered"], "# Goals\nSmall\n");
    let timeline = world.ok("garden_timeline", json!({"entity": "goals_doc"}));
    assert!(
        timeline["items"].as_array().unwrap().len() >= 3,
        "{timeline}"
    );
}
