//! Notes: what is appended is what is read, page by page, as a branch sees it, within any budget.

use crate::common::NASTY;
use crate::reasoning_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// Where notes are shown.
fn at(branch: &str) -> Value {
    json!({"branch": branch, "doc": "notes"})
}

/// The same notes with every page size.
#[track_caller]
fn assert_pages(world: &World, args: &Value) -> Vec<Value> {
    let whole = pages(world, "show", args, 200);
    let many = i64::try_from(whole.len()).unwrap();
    for limit in [1, 2, 3, 5, 7, many.max(2) - 1, many.max(1), many + 1] {
        assert_eq!(pages(world, "show", args, limit), whole, "limit {limit}");
        let lines = pages(world, "log", args, limit);
        assert_eq!(
            lines.iter().map(seq).collect::<Vec<_>>(),
            whole.iter().map(seq).collect::<Vec<_>>()
        );
    }
    whole
}

#[on_both]
fn what_is_written_is_what_is_shown(world: World) {
    let written = call(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "Retries hide it.\nTwice.",
        "title": "Retries", "format": "markdown", "meta": {"links": ["a", 1, null], "deep": {"x": 1.5}}}),
    );
    let mut entry = written["entry"].clone();
    assert_eq!(seq(&entry), world.head());
    assert_eq!(
        (&entry["branch"], &entry["doc"], &entry["kind"]),
        (&json!("main"), &json!("notes"), &json!("note"))
    );
    let shown = call(&world, "show", at("main"));
    entry["agent"] = "ada".into();
    assert_eq!(shown["entries"], json!([entry]));
    assert_eq!(
        (&shown["branch"], &shown["doc"]),
        (&json!("main"), &json!("notes"))
    );
    let plain = call(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "p"}),
    );
    for absent in ["title", "format", "meta"] {
        assert_eq!(plain["entry"].get(absent), None);
    }
    world.assert_sound();
}

#[on_both]
fn a_target_has_notes_of_its_own(world: World) {
    let of = world.plan(&["A", "B"]);
    for target in [&*of[0], "PLAN-001"] {
        let written = call(
            &world,
            "notes_commit",
            json!({"target": target, "content": format!("of {target}")}),
        );
        let family = if target.starts_with("PLAN") {
            "plan"
        } else {
            "task"
        };
        assert_eq!(
            (&written["entry"]["branch"], &written["entry"]["doc"]),
            (&json!(format!("{family}/{target}")), &json!("notes"))
        );
        assert_eq!(
            call(&world, "show", json!({"target": target}))["entries"],
            call(
                &world,
                "show",
                json!({"target": target, "doc_kind": "notes"})
            )["entries"]
        );
        assert_eq!(
            notes(&world, &format!("{family}/{target}")),
            [format!("of {target}")]
        );
    }
    assert_eq!(
        call(&world, "show", json!({"target": of[1]}))["entries"],
        json!([])
    );
    assert_eq!(notes(&world, "main"), Vec::<String>::new());
}

#[on_both]
fn a_commit_has_a_message_and_a_log_has_lines(world: World) {
    let doc = json!({"branch": "main", "doc": "decisions"});
    let write = |message: &str, content: Option<&str>| {
        let mut args = doc.clone();
        args["message"] = message.into();
        if let Some(content) = content {
            args["content"] = content.into();
        }
        call(&world, "commit", args)["entry"].clone()
    };
    let first = write("Chose SQLite", None);
    assert_eq!(
        (&first["title"], &first["kind"], &first["doc"]),
        (&json!("Chose SQLite"), &json!("note"), &json!("decisions"))
    );
    write("Chose tabs", Some("\n\n  because of width\nand more"));
    write(&"long ".repeat(100), Some("x"));
    call(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "decisions", "content": "no title\nsecond"}),
    );
    let log = call(&world, "log", doc.clone());
    let lines = each(&list(&log, "entries"), "line");
    assert_eq!(lines[0], "Chose SQLite");
    assert_eq!(lines[1], "Chose tabs:   because of width");
    assert_eq!(lines[2].chars().count(), 120);
    assert_eq!(lines[3], "no title");
    assert!(lines.iter().all(|line| !line.contains('\n')));
    assert_eq!(
        log["entries"][0],
        json!({"seq": first["seq"], "ts": first["ts"], "kind": "note", "agent": "ada", "line": "Chose SQLite"})
    );
    for message in ["", "  ", "\0", &"x".repeat(2_001)] {
        refuse(
            &world,
            "commit",
            json!({"branch": "main", "doc": "decisions", "message": message}),
            Code::Validation,
        );
    }
    refuse(
        &world,
        "commit",
        json!({"branch": "main", "doc": "decisions", "content": "c"}),
        Code::Validation,
    );
    refuse(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "decisions"}),
        Code::Validation,
    );
}

#[on_both]
fn a_commit_goes_to_any_document_but_a_tasks_graph(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let own = format!("task/{task}");
    let fault = refuse(
        &world,
        "commit",
        json!({"branch": own, "doc": format!("{task}-graph"), "message": "m"}),
        Code::Validation,
    );
    assert!(fault.hint.unwrap().contains("branchmind_graph_apply"));
    for doc in [
        "notes",
        "my-graph",
        "bar-graph",
        "-graph",
        "x-trace",
        "Ünï çødé",
        "a/b:c",
    ] {
        call(
            &world,
            "commit",
            json!({"branch": "main", "doc": doc, "message": format!("in {doc}")}),
        );
        assert_eq!(
            list(
                &call(&world, "show", json!({"branch": "main", "doc": doc})),
                "entries"
            )
            .len(),
            1,
            "{doc}"
        );
    }
    call(
        &world,
        "commit",
        json!({"branch": own, "doc": format!("{task}-trace"), "message": "by hand"}),
    );
    let trace = trace(&world, &task);
    assert_eq!(each(&trace, "kind"), ["event", "note"]);
    world.assert_sound();
}

#[on_both]
fn pages_have_neither_gap_nor_overlap(world: World) {
    for at in 0..23 {
        note(&world, "main", &format!("n{at}"));
        if at % 3 == 0 {
            call(
                &world,
                "notes_commit",
                json!({"branch": "main", "doc": "other", "content": "elsewhere"}),
            );
        }
    }
    let whole = assert_pages(&world, &at("main"));
    assert_eq!(
        each(&whole, "content"),
        (0..23).map(|at| format!("n{at}")).collect::<Vec<_>>()
    );
    let tail = call(&world, "show", at("main"));
    assert_eq!(
        list(&tail, "entries"),
        whole[3..],
        "20 by default, from the end"
    );
    assert_eq!(
        tail["pagination"],
        json!({"cursor": null, "next_cursor": seq(&whole[3]), "has_more": true, "limit": 20, "count": 20})
    );
    // A note that comes while somebody pages does not move what lies before.
    let before = call(
        &world,
        "show",
        json!({"branch": "main", "doc": "notes", "limit": 5}),
    );
    note(&world, "main", "late");
    let next = call(
        &world,
        "show",
        json!({"branch": "main", "doc": "notes", "limit": 5, "cursor": before["pagination"]["next_cursor"]}),
    );
    assert_eq!(list(&next, "entries"), whole[13..18]);
}

#[on_both]
fn limits_and_cursors_of_every_size(world: World) {
    for at in 0..5 {
        note(&world, "main", &format!("n{at}"));
    }
    let ask = |key: &str, value: i64| {
        let mut args = at("main");
        args[key] = value.into();
        call(&world, "show", args)
    };
    for (asked, counts) in [
        (0, 1),
        (-1, 1),
        (i64::MIN, 1),
        (1, 1),
        (200, 200),
        (201, 200),
        (i64::MAX, 200),
    ] {
        let page = ask("limit", asked);
        assert_eq!(page["pagination"]["limit"], counts, "{asked}");
        assert_eq!(
            list(&page, "entries").len(),
            usize::try_from(counts).unwrap().min(5)
        );
    }
    for (cursor, count) in [(i64::MAX, 5), (0, 0), (1, 0), (-7, 0), (i64::MIN, 0)] {
        let page = ask("cursor", cursor);
        assert_eq!(
            (
                list(&page, "entries").len(),
                &page["pagination"]["has_more"],
                &page["pagination"]["cursor"]
            ),
            (count, &json!(false), &json!(cursor))
        );
    }
    for wrong in [json!("5"), json!(1.5), json!(u64::MAX), json!([])] {
        for key in ["limit", "cursor", "max_chars"] {
            let mut args = at("main");
            args[key] = wrong.clone();
            refuse(&world, "show", args, Code::Validation);
        }
    }
}

#[on_both]
fn a_branch_of_a_branch_of_a_branch_sees_exactly_its_past(world: World) {
    let write = |branch: &str, text: &str| {
        note(&world, branch, text);
    };
    write("main", "m1");
    write("main", "m2");
    branch(&world, "a", "main");
    write("main", "m3");
    write("a", "a1");
    branch(&world, "b", "a");
    write("a", "a2");
    write("main", "m4");
    write("b", "b1");
    branch(&world, "c", "b");
    write("b", "b2");
    write("c", "c1");
    branch(&world, "late", "a");
    write("late", "l1");
    write("a", "a3");
    branch(&world, "empty", "c");
    let expected: [(&str, &[&str]); 6] = [
        ("main", &["m1", "m2", "m3", "m4"]),
        ("a", &["m1", "m2", "a1", "a2", "a3"]),
        ("b", &["m1", "m2", "a1", "b1", "b2"]),
        ("c", &["m1", "m2", "a1", "b1", "c1"]),
        ("late", &["m1", "m2", "a1", "a2", "l1"]),
        ("empty", &["m1", "m2", "a1", "b1", "c1"]),
    ];
    for (name, said) in expected {
        let shown = assert_pages(&world, &at(name));
        assert_eq!(each(&shown, "content"), said, "{name}");
    }
    let shown = list(&call(&world, "show", at("c")), "entries");
    assert_eq!(
        each(&shown, "branch"),
        ["main", "main", "a", "b", "c"],
        "each says where it was written"
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    for (name, said) in expected {
        assert_eq!(notes(&world, name), said, "{name} after a rebuild");
    }
    world.assert_sound();
}

#[on_both]
fn long_lines_of_branches(world: World) {
    let mut expected = Vec::new();
    for depth in 0..30 {
        let (name, base) = (
            format!("b{depth}"),
            match depth {
                0 => "main".to_string(),
                _ => format!("b{}", depth - 1),
            },
        );
        branch(&world, &name, &base);
        // Some branches of the line have nothing to say in this document.
        if depth % 4 != 1 {
            note(&world, &name, &name);
            expected.push(name.clone());
        }
        note(&world, &base, "too late");
    }
    for _ in 0..2 {
        let shown = assert_pages(&world, &at("b29"));
        assert_eq!(each(&shown, "content"), expected);
        world.engine.rebuild(|_, _| {}).unwrap();
    }
    world.assert_sound();
}

#[on_both]
fn a_target_excludes_branch_and_document(world: World) {
    let task = world.plan(&["T"]).remove(0);
    let own = format!("task/{task}");
    for (tool, rest) in [
        ("show", json!({})),
        ("log", json!({})),
        ("notes_commit", json!({"content": "c"})),
        ("commit", json!({"message": "m"})),
    ] {
        for more in [
            json!({"branch": own}),
            json!({"doc": "notes"}),
            json!({"branch": own, "doc": "notes"}),
            json!({"branch": "no-such"}),
        ] {
            let mut args = rest.clone();
            args["target"] = task.clone().into();
            args.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            let fault = refuse(&world, tool, args, Code::Validation);
            assert!(
                ["branch", "doc"].contains(&fault.details.unwrap()["field"].as_str().unwrap()),
                "what does not go with it"
            );
        }
        let mut args = rest.clone();
        args["target"] = "TASK-01".into();
        let fault = refuse(&world, tool, args, Code::UnknownTarget);
        assert!(fault.hint.unwrap().contains(&task), "{tool}");
    }
    for tool in ["show", "log"] {
        for kind in ["graph", "Notes", "", "event"] {
            refuse(
                &world,
                tool,
                json!({"target": task, "doc_kind": kind}),
                Code::Validation,
            );
        }
        refuse(
            &world,
            tool,
            json!({"branch": own, "doc": "notes", "doc_kind": "notes"}),
            Code::Validation,
        );
        refuse(
            &world,
            tool,
            json!({"branch": own, "doc": "notes", "extra": 1}),
            Code::Validation,
        );
    }
}

#[on_both]
fn names_of_documents_are_plain(world: World) {
    let long = "x".repeat(257);
    for doc in [
        "", " ", "a|b", "a\nb", "a\0b", "\u{7f}", "a\u{85}b", " a", "a ", &long,
    ] {
        for (tool, rest) in [
            ("show", json!({})),
            ("log", json!({})),
            ("notes_commit", json!({"content": "c"})),
            ("commit", json!({"message": "m"})),
        ] {
            let mut args = rest.clone();
            (args["branch"], args["doc"]) = ("main".into(), doc.into());
            refuse(&world, tool, args, Code::Validation);
        }
        refuse(
            &world,
            "diff",
            json!({"from": "main", "to": "main", "doc": doc}),
            Code::Validation,
        );
        refuse(
            &world,
            "merge",
            json!({"from": "main", "into": "main", "doc": doc}),
            Code::Validation,
        );
        refuse(
            &world,
            "merge",
            json!({"from": "main", "into": "main", "doc": doc, "dry_run": true}),
            Code::Validation,
        );
    }
    call(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": &long[..256], "content": "c"}),
    );
    assert_eq!(said(&world, "main", &long[..256]), ["c"]);
}

#[on_both]
fn any_text_comes_back_as_it_was(world: World) {
    let mut texts: Vec<String> = NASTY.iter().map(|text| (*text).to_string()).collect();
    texts.extend(["x\r\n\u{85}\u{2028}".into(), " spaces ".into()]);
    for text in &texts {
        let written = call(
            &world,
            "notes_commit",
            json!({"branch": "main", "doc": "notes", "content": text, "meta": {"k": text, text.as_str(): 1}}),
        );
        assert_eq!(written["entry"]["content"], **text);
    }
    for text in NASTY {
        call(
            &world,
            "commit",
            json!({"branch": "main", "doc": "titles", "message": text}),
        );
    }
    let shown = pages(&world, "show", &at("main"), 200);
    assert_eq!(each(&shown, "content"), texts);
    for (entry, text) in shown.iter().zip(&texts) {
        assert_eq!(entry["meta"]["k"], **text);
    }
    assert_eq!(
        each(
            &pages(
                &world,
                "show",
                &json!({"branch": "main", "doc": "titles"}),
                200
            ),
            "title"
        ),
        NASTY
    );
    for doc in ["titles", "notes"] {
        let lines = each(
            &pages(&world, "log", &json!({"branch": "main", "doc": doc}), 200),
            "line",
        );
        assert!(
            lines.iter().all(|line| !line.contains(char::is_control)),
            "one line each: {lines:?}"
        );
    }
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(notes(&world, "main"), texts);
    world.assert_sound();
}

#[on_both]
fn a_note_of_a_mebibyte_fits_and_one_byte_more_does_not(world: World) {
    let most = 1 << 20;
    let (large, wide) = ("x".repeat(most), "é".repeat(most / 2));
    note(&world, "main", "small");
    note(&world, "main", &large);
    note(&world, "main", &wide);
    for more in [format!("{large}x"), format!("{wide}x")] {
        refuse(
            &world,
            "notes_commit",
            json!({"branch": "main", "doc": "notes", "content": more}),
            Code::Validation,
        );
        refuse(
            &world,
            "commit",
            json!({"branch": "main", "doc": "notes", "message": "m", "content": more}),
            Code::Validation,
        );
    }
    let usual = call(&world, "show", at("main"));
    assert_eq!(usual["entries"][0]["content_chars"], wide.chars().count());
    assert_eq!(
        (&usual["truncated"], &usual["pagination"]["has_more"]),
        (&json!(true), &json!(true))
    );
    let mut args = at("main");
    args["max_chars"] = 3_000_000.into();
    assert_eq!(
        each(
            &list(&call(&world, "show", args.clone()), "entries"),
            "content"
        ),
        ["small", &*large, &*wide]
    );
    args["max_bytes"] = (most + 1_000).into();
    assert_eq!(
        each(&list(&call(&world, "show", args), "entries"), "content"),
        [wide]
    );
    assert_eq!(list(&call(&world, "log", at("main")), "entries").len(), 3);
    refuse(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "c", "title": "x".repeat(2_001)}),
        Code::Validation,
    );
    refuse(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "c", "format": "x".repeat(257)}),
        Code::Validation,
    );
    refuse(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "c", "meta": {"k": "x".repeat(64 << 10)}}),
        Code::Validation,
    );
    refuse(
        &world,
        "notes_commit",
        json!({"branch": "main", "doc": "notes", "content": "c", "meta": [1]}),
        Code::Validation,
    );
    world.assert_sound();
}

#[on_both]
fn no_budget_is_exceeded_and_the_oldest_go_first(world: World) {
    for at in 0..12 {
        let text = format!("{at} \"é漢👩‍👩‍👧\"\n{}", "line\n".repeat(at % 5));
        call(
            &world,
            "notes_commit",
            json!({"branch": "main", "doc": "notes", "content": text, "title": format!("T\t{at}")}),
        );
        if at == 6 {
            branch(&world, "a", "main");
        }
    }
    for text in ["one\ntwo", "three", "\u{1}\n"] {
        note(&world, "a", text);
    }
    for branch in ["main", "a"] {
        assert_budgets(&world, "show", &at(branch), "/entries", Newest::Last);
        assert_budgets(&world, "log", &at(branch), "/entries", Newest::Last);
    }
    assert_budgets(
        &world,
        "diff",
        &json!({"from": "a", "to": "main"}),
        "/entries",
        Newest::Last,
    );
    assert_budgets(
        &world,
        "diff",
        &json!({"from": "main", "to": "a"}),
        "/entries",
        Newest::Last,
    );
}

#[on_both]
fn a_page_that_a_budget_cut_goes_on_where_it_was_cut(world: World) {
    for at in 0..30 {
        note(&world, "main", &format!("{at} {}", "x".repeat(at * 7 % 90)));
    }
    let whole = pages(&world, "show", &at("main"), 200);
    for (limit, room) in [(20, 700), (7, 900), (200, 1_500), (3, 400)] {
        let (mut all, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut args =
                json!({"branch": "main", "doc": "notes", "limit": limit, "max_chars": room});
            if !cursor.is_null() {
                args["cursor"] = cursor;
            }
            let page = call(&world, "show", args);
            assert!(page.to_string().len() <= room);
            assert_eq!(page["pagination"]["count"], list(&page, "entries").len());
            all.splice(0..0, list(&page, "entries"));
            if page["pagination"]["has_more"] == false {
                break;
            }
            cursor = page["pagination"]["next_cursor"].clone();
            assert!(cursor.is_i64(), "there was room for one: {page}");
        }
        assert_eq!(all, whole, "limit {limit}, {room} characters");
    }
}

#[on_both]
fn a_note_is_written_once_a_key(world: World) {
    let args =
        json!({"branch": "main", "doc": "notes", "content": "once", "idempotency_key": "k1"});
    let first = call(&world, "notes_commit", args.clone());
    assert_eq!(call(&world, "notes_commit", args.clone()), first);
    let mut other = args;
    other["content"] = "twice".into();
    refuse(&world, "notes_commit", other, Code::IdempotencyConflict);
    assert_eq!(notes(&world, "main"), ["once"]);
}

#[on_both]
fn time_never_runs_backwards_in_a_document(world: World) {
    for step in [0, -3_600, 10, -86_400, 5] {
        world.clock.turn(step);
        note(&world, "main", "n");
    }
    let times = each(&pages(&world, "show", &at("main"), 2), "ts");
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
}

#[on_both]
fn an_entry_longer_than_the_budget_does_not_hide_those_before_it(world: World) {
    note(&world, "main", "before");
    let long = note(&world, "main", &"x".repeat(200_000));
    for (tool, args) in [
        ("show", json!({"branch": "main"})),
        ("log", json!({"branch": "main"})),
    ] {
        let args = |cursor: Value| {
            let mut args = args.clone();
            args["max_chars"] = json!(330);
            args["cursor"] = cursor;
            args
        };
        let page = call(&world, tool, args(Value::Null));
        assert_eq!(page["truncated"], true, "{tool}");
        assert_eq!(page["entries"][0]["seq"], long, "{tool}");
        let next = page["pagination"]["next_cursor"].clone();
        assert_eq!(next, long, "{tool}");
        let page = call(&world, tool, args(next));
        let said = page["entries"][0].to_string();
        assert!(said.contains("before"), "{tool}: {page}");
    }
    let page = call(&world, "show", json!({"branch": "main"}));
    assert_eq!(page["entries"][0]["content_chars"], 200_000);
}
