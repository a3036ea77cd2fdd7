//! Reading artifacts: lines in ranges, commits and lists page by page, differences.

use crate::artifact_common::*;
use serde_json::json;
use understory_model::Code;
use understory_testkit::{World, on_both};

#[on_both]
fn labels_past_and_present_lead_to_an_artifact(world: World) {
    let head = make(&world, "goals", "x\n");
    let uuid = text(&show(&world, "goals", None)["artifact"]["uuid"]);
    refuse(
        &world,
        "garden_artifact_create",
        json!({"label": "goals"}),
        Code::Conflict,
    );
    let renamed = world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "goals", "label": "aims"}),
    );
    assert_eq!(
        (
            &renamed["artifact"]["label"],
            &renamed["artifact"]["label_history"]
        ),
        (&json!("aims"), &json!(["goals"]))
    );
    for name in ["goals", "aims", &uuid] {
        assert_eq!(show(&world, name, None)["commit"], head);
    }
    let before = world.head();
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "goals", "label": "aims"}),
    );
    assert_eq!(world.head(), before, "the same label again is nothing new");
    // A label that texts may name is nobody else's.
    let other = make(&world, "others", "y\n");
    refuse(
        &world,
        "garden_artifact_create",
        json!({"label": "goals"}),
        Code::Conflict,
    );
    refuse(
        &world,
        "garden_artifact_relabel",
        json!({"artifact": "others", "label": "goals"}),
        Code::Conflict,
    );
    assert_eq!(show(&world, "others", None)["commit"], other);
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "aims", "label": "goals"}),
    );
    assert_eq!(show(&world, "goals", None)["commit"], head);
    assert_eq!(
        show(&world, "aims", None)["artifact"]["label_history"],
        json!(["aims"])
    );
    let entity = world.ok("garden_entity_history", json!({"uuid": uuid}));
    assert_eq!(
        entity["deltas"].as_array().unwrap().len(),
        4,
        "made, committed, and two labels"
    );
    world.assert_sound();
}

#[on_both]
fn lines_are_shown_in_ranges_and_within_budgets(world: World) {
    make(&world, "doc", "1\n2\n3\n4\n5\n");
    let lines = |more| {
        let shown = world.ok(
            "garden_artifact_show",
            with(json!({"artifact": "doc"}), more),
        );
        let lines = shown["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["line"].as_i64().unwrap());
        (lines.collect::<Vec<i64>>(), shown)
    };
    assert_eq!(lines(json!({"start": 2, "end": 4})).0, [2, 3, 4]);
    assert_eq!(lines(json!({"start": 5})).0, [5]);
    assert_eq!(lines(json!({"end": 2})).0, [1, 2]);
    assert_eq!(lines(json!({"start": 4, "end": 99})).0, [4, 5]);
    for (range, field) in [
        (json!({"start": 0}), "start"),
        (json!({"start": 6}), "start"),
        (json!({"start": -1}), "start"),
        (json!({"end": 0}), "end"),
        (json!({"start": 3, "end": 2}), "end"),
    ] {
        refuse_field(
            &world,
            "garden_artifact_show",
            with(json!({"artifact": "doc"}), range),
            field,
        );
    }
    // Page by page, each within its budget.
    let (mut seen, mut start) = (Vec::new(), 1);
    loop {
        let (some, shown) = lines(json!({"start": start, "max_chars": 700}));
        assert!(shown.to_string().chars().count() <= 700);
        assert!(!some.is_empty(), "{shown}");
        seen.extend(some);
        match shown["next_start"].as_i64() {
            Some(next) => start = next,
            None => break,
        }
        assert_eq!(shown["truncated"], true);
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    for few in [0, 1, 50, 200, 300] {
        let shown = lines(json!({"max_chars": few})).1;
        assert!(shown["truncated"] == true, "{shown}");
    }
}

#[on_both]
fn a_line_beyond_the_budget_does_not_stop_the_pager(world: World) {
    make(
        &world,
        "doc",
        &format!("one\n{}\nthree\n", "long ".repeat(400)),
    );
    let (mut seen, mut start) = (Vec::new(), json!(1));
    while !start.is_null() {
        let shown = world.ok(
            "garden_artifact_show",
            json!({"artifact": "doc", "start": start, "max_chars": 900}),
        );
        assert!(shown.to_string().chars().count() <= 900);
        seen.extend(shown["lines"].as_array().unwrap().clone());
        start = shown["next_start"].clone();
    }
    let numbers: Vec<i64> = seen
        .iter()
        .map(|line| line["line"].as_i64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(seen[1]["content_chars"], 2_000);
    assert_eq!(seen[2]["content"], "three");
}

#[on_both]
fn the_log_and_the_list_go_on_page_by_page(world: World) {
    let mut head = make(&world, "doc", "0\n");
    let mut made = vec![head.clone()];
    for n in 1..8 {
        head = commit(&world, "doc", &head, &format!("{n}\n"));
        made.push(head.clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = world.ok(
            "garden_artifact_log",
            json!({"artifact": "doc", "limit": 3, "cursor": cursor}),
        );
        seen.extend(
            page["deltas"]
                .as_array()
                .unwrap()
                .iter()
                .map(|delta| text(&delta["commit"])),
        );
        cursor = page["pagination"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    seen.reverse();
    assert_eq!(seen, made);
    let page = world.ok(
        "garden_artifact_log",
        json!({"artifact": "doc", "limit": 2}),
    );
    make(&world, "other", "x\n");
    refuse_field(
        &world,
        "garden_artifact_log",
        json!({"artifact": "other", "cursor": page["pagination"]["next_cursor"]}),
        "cursor",
    );
    refuse_field(
        &world,
        "garden_artifact_log",
        json!({"artifact": "doc", "cursor": "x"}),
        "cursor",
    );
    let small = world.ok(
        "garden_artifact_log",
        json!({"artifact": "doc", "max_chars": 900}),
    );
    assert!(small.to_string().chars().count() <= 900 && small["truncated"] == true);
    for label in ["alpha", "beta", "Bet", "gamma"] {
        world.ok("garden_artifact_create", json!({"label": label}));
    }
    let labels = |args| {
        let list = world.ok("garden_artifact_list", args);
        let labels: Vec<String> = list["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| text(&one["label"]))
            .collect();
        (labels, list["pagination"]["next_cursor"].clone())
    };
    assert_eq!(
        labels(json!({})).0,
        ["Bet", "alpha", "beta", "doc", "gamma", "other"]
    );
    assert_eq!(labels(json!({"text": "BET"})).0, ["Bet", "beta"]);
    assert_eq!(labels(json!({"text": "%"})).0, Vec::<String>::new());
    let (first, cursor) = labels(json!({"limit": 4}));
    assert_eq!(first, ["Bet", "alpha", "beta", "doc"]);
    assert_eq!(
        labels(json!({"limit": 4, "cursor": cursor})).0,
        ["gamma", "other"]
    );
    let list = world.ok("garden_artifact_list", json!({"text": "doc"}));
    assert_eq!(list["artifacts"][0]["head"], head);
    assert_eq!(list["artifacts"][0]["lines"], 1);
}

#[on_both]
fn differences_are_unified(world: World) {
    let first = make(&world, "doc", "a\nb\nc\n");
    let second = commit(&world, "doc", &first, "a\nB\nc");
    let diff = world.ok(
        "garden_artifact_diff",
        json!({"artifact": "doc", "from": first}),
    );
    let short = |hash: &str| hash[..12].to_string();
    assert_eq!(
        diff["diff"],
        format!(
            "--- doc@{}\n+++ doc@{}\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n",
            short(&first),
            short(&second)
        )
    );
    assert_eq!(
        (&diff["from"], &diff["to"]),
        (&json!(first), &json!(second))
    );
    let same = world.ok(
        "garden_artifact_diff",
        json!({"artifact": "doc", "from": second, "to": second}),
    );
    assert_eq!(same["diff"], "");
    let back = world.ok(
        "garden_artifact_diff",
        json!({"artifact": "doc", "from": second, "to": first}),
    );
    assert!(text(&back["diff"]).contains("-B"));
    let small = world.ok(
        "garden_artifact_diff",
        json!({"artifact": "doc", "from": first, "max_chars": 520}),
    );
    assert!(
        small.to_string().chars().count() <= 520 && small["truncated"] == true,
        "{small}"
    );
    // What was cut is still one text, of whole lines.
    let before = make(&world, "long", &"a line\n".repeat(200));
    commit(&world, "long", &before, &"another line\n".repeat(200));
    let asked = json!({"artifact": "long", "from": before, "max_chars": 2_000});
    let cut = world.ok("garden_artifact_diff", asked);
    let shown = cut["diff"].as_str().expect("a text");
    assert!(
        shown.ends_with("\n-a line\n") && cut["truncated"] == true,
        "{cut}"
    );
}
