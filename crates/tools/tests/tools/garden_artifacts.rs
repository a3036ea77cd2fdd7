//! Artifacts: what is committed comes back as it was, each line with where it came from, and what
//! is refused leaves nothing.

use crate::artifact_common::*;
use crate::common::NASTY;
use serde_json::json;
use understory_model::{Code, limits};
use understory_testkit::{World, on_both};

#[on_both]
fn an_artifact_is_as_it_was_made(world: World) {
    let bare = world.ok("garden_artifact_create", json!({"label": "goals_doc"}));
    let artifact = &bare["artifact"];
    let uuid = text(&artifact["uuid"]);
    assert!(uuid.starts_with("entity_"));
    for (field, value) in [
        ("label", json!("goals_doc")),
        ("label_history", json!([])),
        ("head", json!(null)),
        ("lines", json!(0)),
        ("commits", json!(0)),
    ] {
        assert_eq!(artifact[field], value, "{field}");
    }
    let shown = show(&world, &uuid, None);
    assert_eq!(
        (&shown["commit"], &shown["lines"]),
        (&json!(null), &json!([]))
    );
    let first = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "goals_doc", "based_on": null, "content": "# Goals\n1. Fast\n"}),
    );
    assert_eq!(first["parent"], json!(null));
    assert_eq!(
        first["ops"],
        format!("+1:{} +1:{}", id("# Goals"), id("1. Fast"))
    );
    assert_eq!(first["artifact"]["head"], first["commit"]);
    assert_eq!(first["artifact"]["lines"], 2);
    assert_eq!(text(&first["commit"]).len(), 64);
    let shown = show(&world, "goals_doc", None);
    assert_eq!(shown["commit"], first["commit"]);
    assert_eq!(
        shown["lines"][1],
        json!({"line": 2, "content": "1. Fast", "fragment": id("1. Fast"), "commit": first["commit"]})
    );
    // Both items stand on the timeline, about the artifact.
    let items = world.ok(
        "garden_timeline",
        json!({"types": ["ArtifactCreated", "ArtifactDelta"]}),
    );
    let kinds: Vec<_> = items["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["_type"].clone())
        .collect();
    assert_eq!(kinds, ["ArtifactDelta", "ArtifactCreated"]);
    assert_eq!(items["items"][0]["artifact_uuid"], uuid);
    assert_eq!(items["items"][1]["label"], "goals_doc");
    world.assert_sound();
}

#[on_both]
fn a_text_comes_back_byte_for_byte(world: World) {
    let mut texts = vec![
        "",
        "\n",
        "a",
        "a\n",
        "a\n\n",
        "\n\na",
        "a\r\nb\r\n",
        "\r",
        " ",
        "a\n ",
        "same\nsame\nsame\n",
    ];
    texts.extend(NASTY);
    for (at, content_in) in texts.iter().enumerate() {
        let label = format!("doc_{at}");
        let head = make(&world, &label, content_in);
        assert_eq!(content(&world, &label, None), *content_in);
        // From each to the next and back again.
        let next = texts[(at + 1) % texts.len()];
        let then = commit(&world, &label, &head, next);
        assert_eq!(content(&world, &label, None), next);
        commit(&world, &label, &then, content_in);
        assert_eq!(content(&world, &label, None), *content_in);
        assert_eq!(content(&world, &label, Some(&then)), next);
    }
    world.assert_sound();
}

#[on_both]
fn operations_apply_to_the_parents_lines(world: World) {
    let head = make(&world, "doc", "one\ntwo\nthree\nfour\n");
    let ops = format!(
        "-1 +2:{} +2:{} ~3:{}→{} >4@1 +5:{}",
        id("a"),
        id("b"),
        id("three"),
        id("drei"),
        id("end")
    );
    let done = change(&world, "doc", &head, &ops, &["a", "b", "drei", "end"]);
    assert_eq!(content(&world, "doc", None), "four\na\nb\ntwo\ndrei\nend\n");
    assert_eq!(
        blame(&world, "doc", None),
        [&head, &done, &done, &head, &done, &done].map(String::clone)
    );
    let delta = &world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0];
    assert_eq!(delta["ops"], ops);
    assert_eq!(delta["parent"], head);
    assert_eq!(
        content(&world, "doc", Some(&head)),
        "one\ntwo\nthree\nfour\n"
    );
    // Content gives the fewest operations.
    let moved = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": done, "content": "a\nb\ntwo\ndrei\nend\nfour\n"}),
    );
    assert_eq!(moved["ops"], ">1@7");
    assert_eq!(
        blame(&world, "doc", None)[5],
        head,
        "a moved line stays whose it was"
    );
    world.assert_sound();
}

#[on_both]
fn wrong_operations_are_named_and_leave_nothing(world: World) {
    let head = make(&world, "doc", "one\ntwo");
    let try_ops = |ops: &str| json!({"artifact": "doc", "based_on": head, "ops": ops, "texts": {id("x"): "x"}});
    let x = id("x");
    for (ops, which, at) in [
        (format!("+1:{x} =4"), 2, 4 + x.len()),
        (format!("+9:{x}"), 1, 0),
        (format!("+1:{x}  -3"), 2, 5 + x.len()),
        (format!("-1 -1 +1:{x}"), 2, 3),
        (format!("-1 >1@2 +1:{x}"), 2, 3),
        (format!("~1:^000→{x}"), 1, 0),
        (format!("+1:{x} ~1:{}→{x} -1", id("one")), 3, 0),
    ] {
        let fault = refuse(
            &world,
            "garden_artifact_commit",
            try_ops(&ops),
            Code::Validation,
        );
        assert_eq!(detail(&fault, "op"), which, "{ops}: {fault}");
        assert_eq!(detail(&fault, "field"), "ops");
        assert!(
            fault.message.contains(&format!("operation {which} ")),
            "{fault}"
        );
        if at > 0 {
            assert_eq!(detail(&fault, "at"), at, "{ops}");
        }
    }
    for (more, field) in [
        (json!({"ops": "-1", "content": "x"}), "ops"),
        (json!({}), "content"),
        (json!({"content": "x", "texts": {}}), "texts"),
        (json!({"content": "a\0b"}), "content"),
        (json!({"ops": "-1", "texts": {"^zzz": "x"}}), "texts.^zzz"),
        (json!({"ops": "-1", "texts": {"abc": "x"}}), "texts.abc"),
        (json!({"ops": "-1", "texts": {id("x"): "x"}}), "texts.^x"),
        (
            json!({"content": "x", "references": ["a7f"]}),
            "references[0]",
        ),
        (json!({"content": "x", "reasoning": "\0"}), "reasoning"),
    ] {
        let fault = refuse(
            &world,
            "garden_artifact_commit",
            with(json!({"artifact": "doc", "based_on": head}), more),
            Code::Validation,
        );
        let told = text(&detail(&fault, "field"));
        assert_eq!(told.replace(&id("x"), "^x"), field, "{fault}");
    }
    refuse_field(
        &world,
        "garden_artifact_commit",
        json!({"artifact": "doc", "content": "x", "fork": true}),
        "fork",
    );
    assert_eq!(content(&world, "doc", None), "one\ntwo");
    world.assert_sound();
}

#[on_both]
fn fragments_come_from_messages(world: World) {
    let (item, ids) = message(&world, &["Fast search.\n\n", "It is small."]);
    let head = make(&world, "doc", "# Goals\n");
    let args = json!({"artifact": "doc", "based_on": head, "ops": format!("+2:{} +2:{}", ids[0], ids[1]),
        "references": [ids[1], format!("{item}#{}", ids[0])], "reasoning": "said so", "caused_by": item});
    let done = world.ok("garden_artifact_commit", args);
    assert_eq!(
        content(&world, "doc", None),
        "# Goals\nFast search.\nIt is small.\n"
    );
    let shown = show(&world, "doc", None);
    assert_eq!(
        shown["lines"][1]["fragment"], ids[0],
        "a line leads to the part of a message that it came from"
    );
    let delta = &world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0];
    assert_eq!(
        delta["references"],
        json!([ids[1], format!("{item}#{}", ids[0])])
    );
    assert_eq!(delta["reasoning"], "said so");
    // The same text given whole changes nothing, and nothing is written.
    let before = world.head();
    let same = world.ok("garden_artifact_commit", json!({"artifact": "doc", "based_on": done["commit"], "content": "# Goals\nFast search.\nIt is small.\n"}));
    assert_eq!(
        (&same["commit"], &same["unchanged"], world.head()),
        (&done["commit"], &json!(true), before)
    );
    // What nobody said is not there.
    let gone = |ops: &str| json!({"artifact": "doc", "based_on": done["commit"], "ops": ops});
    let fault = refuse(
        &world,
        "garden_artifact_commit",
        gone("+1:^zzz"),
        Code::NotFound,
    );
    assert_eq!(detail(&fault, "op"), 1);
    refuse(
        &world,
        "garden_artifact_commit",
        gone(&format!("+1:{item}#^zzz")),
        Code::NotFound,
    );
    refuse(
        &world,
        "garden_artifact_commit",
        gone(&format!(
            "+1:item_00000000-0000-7000-8000-000000000000#{}",
            ids[0]
        )),
        Code::NotFound,
    );
    let fault = refuse(
        &world,
        "garden_artifact_commit",
        with(gone("-1"), json!({"references": ["^zzz"]})),
        Code::NotFound,
    );
    assert_eq!(detail(&fault, "field"), "references[0]");
    world.assert_sound();
}

#[on_both]
fn a_text_of_several_lines_becomes_several_lines(world: World) {
    let (_, ids) = message(&world, &["fn main() {\n    run();\n}\n"]);
    let head = make(&world, "code", "before\nafter\n");
    let done = commit_with(
        &world,
        "code",
        &head,
        json!({"ops": format!("+2:{}", ids[0])}),
    );
    assert_eq!(
        content(&world, "code", None),
        "before\nfn main() {\n    run();\n}\nafter\n"
    );
    let replace = format!("~1:{}→{}", id("before"), ids[0]);
    refuse(
        &world,
        "garden_artifact_commit",
        json!({"artifact": "code", "based_on": done, "ops": replace}),
        Code::Validation,
    );
    world.assert_sound();
}

#[on_both]
fn fragments_that_share_an_id_are_told_apart(world: World) {
    // Sixteen bits collide soon.
    let mut seen = std::collections::HashMap::new();
    let (a, b) = (0..)
        .find_map(|n| {
            let text = format!("text {n}");
            seen.insert(id(&text), text.clone())
                .map(|other| (other, text))
        })
        .unwrap();
    let (first, ids) = message(&world, &[&a]);
    let (second, _) = message(&world, &[&b]);
    let head = make(&world, "doc", "x\n");
    let with_ops = |ops: String| json!({"artifact": "doc", "based_on": head, "ops": ops});
    let fault = refuse(
        &world,
        "garden_artifact_commit",
        with_ops(format!("+1:{}", ids[0])),
        Code::Conflict,
    );
    let both = [
        format!("{second}#{}", ids[0]),
        format!("{first}#{}", ids[0]),
    ];
    assert_eq!(detail(&fault, "candidates"), json!(both));
    let head = text(
        &world.ok(
            "garden_artifact_commit",
            with_ops(format!("+1:{}", both[1])),
        )["commit"],
    );
    assert_eq!(content(&world, "doc", None), format!("{a}\nx\n"));
    let given = json!({"ops": format!("~1:{0}→{0}", ids[0]), "texts": {ids[0].as_str(): b}});
    commit_with(&world, "doc", &head, given);
    assert_eq!(content(&world, "doc", None), format!("{b}\nx\n"));
    world.assert_sound();
}

#[on_both]
fn undoing_a_message_does_not_break_an_artifact(world: World) {
    let (item, ids) = message(&world, &["A passing thought."]);
    let head = make(&world, "doc", "x\n");
    let done = commit_with(
        &world,
        "doc",
        &head,
        json!({"ops": format!("+1:{}", ids[0])}),
    );
    world.ok("garden_undo", json!({"item": item}));
    assert_eq!(content(&world, "doc", None), "A passing thought.\nx\n");
    assert_eq!(blame(&world, "doc", None), [done.clone(), head.clone()]);
    // Its text is still known from the artifact itself, in the version and in its past.
    let gone = commit_with(&world, "doc", &done, json!({"ops": "-1"}));
    commit_with(
        &world,
        "doc",
        &gone,
        json!({"ops": format!("+2:{}", ids[0])}),
    );
    assert_eq!(content(&world, "doc", None), "x\nA passing thought.\n");
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).expect("core is made again");
    assert_eq!(
        content(&world, "doc", Some(&done)),
        "A passing thought.\nx\n"
    );
    let delta =
        text(&world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0]["uuid"]);
    refuse(
        &world,
        "garden_undo",
        json!({"item": delta}),
        Code::Immutable,
    );
}

#[on_both]
fn what_somebody_may_not_read_cannot_be_committed(world: World) {
    let thread = world.ok("create_thread", json!({"title": "private"}));
    let secret = "The code is 4711.";
    world.ok(
        "post_message",
        json!({"thread_id": thread["thread_id"], "body": secret}),
    );
    let head = make(&world, "doc", "x\n");
    let args = json!({"artifact": "doc", "based_on": head, "ops": format!("+1:{}", id(secret))});
    let bob = World::caller("bob");
    let fault = world
        .call_as(&bob, "garden_artifact_commit", args.clone())
        .unwrap_err();
    assert_eq!(fault.code, Code::NotFound);
    world.ok("garden_artifact_commit", args);
}

#[on_both]
fn commits_are_named_by_seven_digits_or_more(world: World) {
    let head = make(&world, "doc", "x\n");
    assert_eq!(content(&world, "doc", Some(&head[..7])), "x\n");
    assert_eq!(content(&world, "doc", Some(&head.to_uppercase())), "x\n");
    let show = |commit: &str| json!({"artifact": "doc", "commit": commit});
    for bad in [
        "",
        "abc",
        &head[..6],
        "not hexadecimal",
        "xyzzyxy",
        &format!("{head}0"),
        "'; --'; --",
    ] {
        refuse_field(&world, "garden_artifact_show", show(bad), "commit");
    }
    let fault = refuse(
        &world,
        "garden_artifact_show",
        show("0000000"),
        Code::NotFound,
    );
    assert_eq!(detail(&fault, "field"), "commit");
    // Another artifact's commit is none of this one's.
    let other = make(&world, "other", "y\n");
    refuse(&world, "garden_artifact_show", show(&other), Code::NotFound);
    refuse(
        &world,
        "garden_artifact_diff",
        json!({"artifact": "doc", "from": head, "to": other}),
        Code::NotFound,
    );
    refuse(
        &world,
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": other, "content": "z"}),
        Code::NotFound,
    );
}

#[on_both]
fn labels_are_words(world: World) {
    for bad in [
        "", " ", "a b", "a-b", "a:b", "a.b", "a/b", "a\0b", "[x]", "R001", "th_001", "msg_12",
        "wake_1",
    ] {
        refuse_field(
            &world,
            "garden_artifact_create",
            json!({"label": bad}),
            "label",
        );
    }
    refuse_field(
        &world,
        "garden_artifact_create",
        json!({"label": "x".repeat(129)}),
        "label",
    );
    for good in ["x", "Ziele_2026", "目標", "_", "é", "R", "th_x"] {
        make(&world, good, "x\n");
        assert_eq!(content(&world, good, None), "x\n");
        refuse_field(
            &world,
            "garden_artifact_relabel",
            json!({"artifact": good, "label": "a b"}),
            "label",
        );
    }
    let fault = refuse(
        &world,
        "garden_artifact_show",
        json!({"artifact": "Ziele_2027"}),
        Code::NotFound,
    );
    assert_eq!(detail(&fault, "nearest"), json!(["Ziele_2026"]));
    for nobody in [
        "",
        "nobody",
        "entity_00000000-0000-7000-8000-000000000000",
        "TASK-001",
    ] {
        refuse(
            &world,
            "garden_artifact_show",
            json!({"artifact": nobody}),
            Code::NotFound,
        );
        refuse(
            &world,
            "garden_artifact_commit",
            json!({"artifact": nobody, "content": "x"}),
            Code::NotFound,
        );
    }
}

#[on_both]
fn each_project_has_its_own_labels(world: World) {
    world.ok("create_project", json!({"id": "side", "name": "Side"}));
    let here = make(&world, "doc", "here\n");
    let there = world.ok(
        "garden_artifact_create",
        json!({"label": "doc", "content": "there\n", "project": "side"}),
    );
    assert_eq!(content(&world, "doc", None), "here\n");
    let shown = world.ok(
        "garden_artifact_show",
        json!({"artifact": "doc", "project": "side"}),
    );
    assert_eq!(shown["lines"][0]["content"], "there");
    // A uuid means the same from everywhere.
    let uuid = &there["artifact"]["uuid"];
    assert_eq!(
        world.ok("garden_artifact_show", json!({"artifact": uuid}))["lines"][0]["content"],
        "there"
    );
    assert_ne!(there["artifact"]["head"], here);
    for project in ["nowhere", ""] {
        let fault = world.refused(
            "garden_artifact_create",
            json!({"label": "doc", "project": project}),
        );
        assert!(
            [Code::NotFound, Code::Validation].contains(&fault.code),
            "{fault}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_commit_says_what_it_was_made_from(world: World) {
    let first = make(&world, "doc", "a\n");
    let second = commit(&world, "doc", &first, "b\n");
    for (based_on, told) in [(json!(first), json!(first)), (json!(null), json!(null))] {
        let fault = refuse(
            &world,
            "garden_artifact_commit",
            json!({"artifact": "doc", "based_on": based_on, "content": "c\n"}),
            Code::Conflict,
        );
        assert_eq!(
            (detail(&fault, "current_commit"), detail(&fault, "based_on")),
            (json!(second), told)
        );
    }
    assert_eq!(content(&world, "doc", None), "b\n");
    let keyed =
        json!({"artifact": "doc", "based_on": second, "content": "c\n", "idempotency_key": "k"});
    let done = world.ok("garden_artifact_commit", keyed.clone());
    assert_eq!(
        world.ok("garden_artifact_commit", keyed),
        done,
        "a retry is answered as the first time"
    );
    assert_eq!(
        world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[on_both]
fn what_is_too_large_is_refused(world: World) {
    let head = make(&world, "doc", "x\n");
    let long = "x".repeat(limits::ARTIFACT_BYTES + 1);
    let many = "\n".repeat(limits::ARTIFACT_LINES + 1);
    for content in [&long, &many] {
        refuse_field(
            &world,
            "garden_artifact_create",
            json!({"label": "big", "content": content}),
            "content",
        );
        refuse_field(
            &world,
            "garden_artifact_commit",
            json!({"artifact": "doc", "based_on": head, "content": content}),
            "content",
        );
    }
    let line = "y".repeat(limits::ARTIFACT_BYTES / 2);
    let ops = format!("+1:{0} +1:{0} +1:{0}", id(&line));
    refuse(
        &world,
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": head, "ops": ops, "texts": {id(&line): line}}),
        Code::Validation,
    );
    assert_eq!(content(&world, "doc", None), "x\n");
}
