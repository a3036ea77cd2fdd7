//! Artifacts: what is committed comes back as it was, each line with where it came from, and what
//! is refused leaves nothing.

mod artifact_common;
mod common;

use artifact_common::*;
use common::NASTY;
use serde_json::json;
use understory_model::{Code, limits};
use understory_testkit::{World, on_both};

on_both! {
    fn an_artifact_is_as_it_was_made(world) {
        let bare = world.ok("garden_artifact_create", json!({"label": "goals_doc"}));
        let artifact = &bare["artifact"];
        let uuid = text(&artifact["uuid"]);
        assert!(uuid.starts_with("entity_"));
        for (field, value) in [("label", json!("goals_doc")), ("label_history", json!([])), ("head", json!(null)),
            ("lines", json!(0)), ("commits", json!(0))] {
            assert_eq!(artifact[field], value, "{field}");
        }
        let shown = show(&world, &uuid, None);
        assert_eq!((&shown["commit"], &shown["lines"]), (&json!(null), &json!([])));
        let first = world.ok("garden_artifact_commit", json!({"artifact": "goals_doc", "based_on": null, "content": "# Goals\n1. Fast\n"}));
        assert_eq!(first["parent"], json!(null));
        assert_eq!(first["ops"], format!("+1:{} +1:{}", id("# Goals"), id("1. Fast")));
        assert_eq!(first["artifact"]["head"], first["commit"]);
        assert_eq!(first["artifact"]["lines"], 2);
        assert_eq!(text(&first["commit"]).len(), 64);
        let shown = show(&world, "goals_doc", None);
        assert_eq!(shown["commit"], first["commit"]);
        assert_eq!(shown["lines"][1], json!({"line": 2, "content": "1. Fast", "fragment": id("1. Fast"), "commit": first["commit"]}));
        // Both items stand on the timeline, about the artifact.
        let items = world.ok("garden_timeline", json!({"types": ["ArtifactCreated", "ArtifactDelta"]}));
        let kinds: Vec<_> = items["items"].as_array().unwrap().iter().map(|item| item["_type"].clone()).collect();
        assert_eq!(kinds, ["ArtifactDelta", "ArtifactCreated"]);
        assert_eq!(items["items"][0]["artifact_uuid"], uuid);
        assert_eq!(items["items"][1]["label"], "goals_doc");
        world.assert_sound();
    }

    fn a_text_comes_back_byte_for_byte(world) {
        let mut texts = vec!["", "\n", "a", "a\n", "a\n\n", "\n\na", "a\r\nb\r\n", "\r", " ", "a\n ", "same\nsame\nsame\n"];
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

    fn operations_apply_to_the_parents_lines(world) {
        let head = make(&world, "doc", "one\ntwo\nthree\nfour\n");
        let ops = format!("-1 +2:{} +2:{} ~3:{}→{} >4@1 +5:{}", id("a"), id("b"), id("three"), id("drei"), id("end"));
        let done = change(&world, "doc", &head, &ops, &["a", "b", "drei", "end"]);
        assert_eq!(content(&world, "doc", None), "four\na\nb\ntwo\ndrei\nend\n");
        assert_eq!(blame(&world, "doc", None), [&head, &done, &done, &head, &done, &done].map(String::clone));
        let delta = &world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0];
        assert_eq!(delta["ops"], ops);
        assert_eq!(delta["parent"], head);
        assert_eq!(content(&world, "doc", Some(&head)), "one\ntwo\nthree\nfour\n");
        // Content gives the fewest operations.
        let moved = world.ok("garden_artifact_commit", json!({"artifact": "doc", "based_on": done, "content": "a\nb\ntwo\ndrei\nend\nfour\n"}));
        assert_eq!(moved["ops"], ">1@7");
        assert_eq!(blame(&world, "doc", None)[5], head, "a moved line stays whose it was");
        world.assert_sound();
    }

    fn wrong_operations_are_named_and_leave_nothing(world) {
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
            let fault = refuse(&world, "garden_artifact_commit", try_ops(&ops), Code::Validation);
            assert_eq!(detail(&fault, "op"), which, "{ops}: {fault}");
            assert_eq!(detail(&fault, "field"), "ops");
            assert!(fault.message.contains(&format!("operation {which} ")), "{fault}");
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
            (json!({"content": "x", "references": ["a7f"]}), "references[0]"),
            (json!({"content": "x", "reasoning": "\0"}), "reasoning"),
        ] {
            let fault = refuse(&world, "garden_artifact_commit", with(json!({"artifact": "doc", "based_on": head}), more), Code::Validation);
            let told = text(&detail(&fault, "field"));
            assert_eq!(told.replace(&id("x"), "^x"), field, "{fault}");
        }
        refuse_field(&world, "garden_artifact_commit", json!({"artifact": "doc", "content": "x", "fork": true}), "fork");
        assert_eq!(content(&world, "doc", None), "one\ntwo");
        world.assert_sound();
    }

    fn fragments_come_from_messages(world) {
        let (item, ids) = message(&world, &["Fast search.\n\n", "It is small."]);
        let head = make(&world, "doc", "# Goals\n");
        let args = json!({"artifact": "doc", "based_on": head, "ops": format!("+2:{} +2:{}", ids[0], ids[1]),
            "references": [ids[1], format!("{item}#{}", ids[0])], "reasoning": "said so", "caused_by": item});
        let done = world.ok("garden_artifact_commit", args);
        assert_eq!(content(&world, "doc", None), "# Goals\nFast search.\nIt is small.\n");
        let shown = show(&world, "doc", None);
        assert_eq!(shown["lines"][1]["fragment"], ids[0], "a line leads to the part of a message that it came from");
        let delta = &world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0];
        assert_eq!(delta["references"], json!([ids[1], format!("{item}#{}", ids[0])]));
        assert_eq!(delta["reasoning"], "said so");
        // The same text given whole changes nothing, and nothing is written.
        let before = world.head();
        let same = world.ok("garden_artifact_commit", json!({"artifact": "doc", "based_on": done["commit"], "content": "# Goals\nFast search.\nIt is small.\n"}));
        assert_eq!((&same["commit"], &same["unchanged"], world.head()), (&done["commit"], &json!(true), before));
        // What nobody said is not there.
        let gone = |ops: &str| json!({"artifact": "doc", "based_on": done["commit"], "ops": ops});
        let fault = refuse(&world, "garden_artifact_commit", gone("+1:^zzz"), Code::NotFound);
        assert_eq!(detail(&fault, "op"), 1);
        refuse(&world, "garden_artifact_commit", gone(&format!("+1:{item}#^zzz")), Code::NotFound);
        refuse(&world, "garden_artifact_commit", gone(&format!("+1:item_00000000-0000-7000-8000-000000000000#{}", ids[0])), Code::NotFound);
        let fault = refuse(&world, "garden_artifact_commit", with(gone("-1"), json!({"references": ["^zzz"]})), Code::NotFound);
        assert_eq!(detail(&fault, "field"), "references[0]");
        world.assert_sound();
    }

    fn a_text_of_several_lines_becomes_several_lines(world) {
        let (_, ids) = message(&world, &["fn main() {\n    run();\n}\n"]);
        let head = make(&world, "code", "before\nafter\n");
        let done = commit_with(&world, "code", &head, json!({"ops": format!("+2:{}", ids[0])}));
        assert_eq!(content(&world, "code", None), "before\nfn main() {\n    run();\n}\nafter\n");
        let replace = format!("~1:{}→{}", id("before"), ids[0]);
        refuse(&world, "garden_artifact_commit", json!({"artifact": "code", "based_on": done, "ops": replace}), Code::Validation);
        world.assert_sound();
    }

    fn fragments_that_share_an_id_are_told_apart(world) {
        // Sixteen bits collide soon.
        let mut seen = std::collections::HashMap::new();
        let (a, b) = (0..).find_map(|n| {
            let text = format!("text {n}");
            seen.insert(id(&text), text.clone()).map(|other| (other, text))
        }).unwrap();
        let (first, ids) = message(&world, &[&a]);
        let (second, _) = message(&world, &[&b]);
        let head = make(&world, "doc", "x\n");
        let with_ops = |ops: String| json!({"artifact": "doc", "based_on": head, "ops": ops});
        let fault = refuse(&world, "garden_artifact_commit", with_ops(format!("+1:{}", ids[0])), Code::Conflict);
        let both = [format!("{second}#{}", ids[0]), format!("{first}#{}", ids[0])];
        assert_eq!(detail(&fault, "candidates"), json!(both));
        let head = text(&world.ok("garden_artifact_commit", with_ops(format!("+1:{}", both[1])))["commit"]);
        assert_eq!(content(&world, "doc", None), format!("{a}\nx\n"));
        let given = json!({"ops": format!("~1:{0}→{0}", ids[0]), "texts": {ids[0].as_str(): b}});
        commit_with(&world, "doc", &head, given);
        assert_eq!(content(&world, "doc", None), format!("{b}\nx\n"));
        world.assert_sound();
    }

    fn undoing_a_message_does_not_break_an_artifact(world) {
        let (item, ids) = message(&world, &["A passing thought."]);
        let head = make(&world, "doc", "x\n");
        let done = commit_with(&world, "doc", &head, json!({"ops": format!("+1:{}", ids[0])}));
        world.ok("garden_undo", json!({"item": item}));
        assert_eq!(content(&world, "doc", None), "A passing thought.\nx\n");
        assert_eq!(blame(&world, "doc", None), [done.clone(), head.clone()]);
        // Its text is still known from the artifact itself, in the version and in its past.
        let gone = commit_with(&world, "doc", &done, json!({"ops": "-1"}));
        commit_with(&world, "doc", &gone, json!({"ops": format!("+2:{}", ids[0])}));
        assert_eq!(content(&world, "doc", None), "x\nA passing thought.\n");
        world.assert_sound();
        world.engine.rebuild(|_, _| {}).expect("core is made again");
        assert_eq!(content(&world, "doc", Some(&done)), "A passing thought.\nx\n");
        let delta = text(&world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0]["uuid"]);
        refuse(&world, "garden_undo", json!({"item": delta}), Code::Immutable);
    }

    fn what_somebody_may_not_read_cannot_be_committed(world) {
        let thread = world.ok("create_thread", json!({"title": "private"}));
        let secret = "The code is 4711.";
        world.ok("post_message", json!({"thread_id": thread["thread_id"], "body": secret}));
        let head = make(&world, "doc", "x\n");
        let args = json!({"artifact": "doc", "based_on": head, "ops": format!("+1:{}", id(secret))});
        let bob = World::caller("bob");
        let fault = world.call_as(&bob, "garden_artifact_commit", args.clone()).unwrap_err();
        assert_eq!(fault.code, Code::NotFound);
        world.ok("garden_artifact_commit", args);
    }

    fn commits_are_named_by_seven_digits_or_more(world) {
        let head = make(&world, "doc", "x\n");
        assert_eq!(content(&world, "doc", Some(&head[..7])), "x\n");
        assert_eq!(content(&world, "doc", Some(&head.to_uppercase())), "x\n");
        let show = |commit: &str| json!({"artifact": "doc", "commit": commit});
        for bad in ["", "abc", &head[..6], "not hexadecimal", "xyzzyxy", &format!("{head}0"), "'; --'; --"] {
            refuse_field(&world, "garden_artifact_show", show(bad), "commit");
        }
        let fault = refuse(&world, "garden_artifact_show", show("0000000"), Code::NotFound);
        assert_eq!(detail(&fault, "field"), "commit");
        // Another artifact's commit is none of this one's.
        let other = make(&world, "other", "y\n");
        refuse(&world, "garden_artifact_show", show(&other), Code::NotFound);
        refuse(&world, "garden_artifact_diff", json!({"artifact": "doc", "from": head, "to": other}), Code::NotFound);
        refuse(&world, "garden_artifact_commit", json!({"artifact": "doc", "based_on": other, "content": "z"}), Code::NotFound);
    }

    fn labels_past_and_present_lead_to_an_artifact(world) {
        let head = make(&world, "goals", "x\n");
        let uuid = text(&show(&world, "goals", None)["artifact"]["uuid"]);
        refuse(&world, "garden_artifact_create", json!({"label": "goals"}), Code::Conflict);
        let renamed = world.ok("garden_artifact_relabel", json!({"artifact": "goals", "label": "aims"}));
        assert_eq!((&renamed["artifact"]["label"], &renamed["artifact"]["label_history"]), (&json!("aims"), &json!(["goals"])));
        for name in ["goals", "aims", &uuid] {
            assert_eq!(show(&world, name, None)["commit"], head);
        }
        let before = world.head();
        world.ok("garden_artifact_relabel", json!({"artifact": "goals", "label": "aims"}));
        assert_eq!(world.head(), before, "the same label again is nothing new");
        // A label that texts may name is nobody else's.
        let other = make(&world, "others", "y\n");
        refuse(&world, "garden_artifact_create", json!({"label": "goals"}), Code::Conflict);
        refuse(&world, "garden_artifact_relabel", json!({"artifact": "others", "label": "goals"}), Code::Conflict);
        assert_eq!(show(&world, "others", None)["commit"], other);
        world.ok("garden_artifact_relabel", json!({"artifact": "aims", "label": "goals"}));
        assert_eq!(show(&world, "goals", None)["commit"], head);
        assert_eq!(show(&world, "aims", None)["artifact"]["label_history"], json!(["aims"]));
        let entity = world.ok("garden_entity_history", json!({"uuid": uuid}));
        assert_eq!(entity["deltas"].as_array().unwrap().len(), 4, "made, committed, and two labels");
        world.assert_sound();
    }

    fn labels_are_words(world) {
        for bad in ["", " ", "a b", "a-b", "a:b", "a.b", "a/b", "a\0b", "[x]", "R001", "th_001", "msg_12", "wake_1"] {
            refuse_field(&world, "garden_artifact_create", json!({"label": bad}), "label");
        }
        refuse_field(&world, "garden_artifact_create", json!({"label": "x".repeat(129)}), "label");
        for good in ["x", "Ziele_2026", "目標", "_", "é", "R", "th_x"] {
            make(&world, good, "x\n");
            assert_eq!(content(&world, good, None), "x\n");
            refuse_field(&world, "garden_artifact_relabel", json!({"artifact": good, "label": "a b"}), "label");
        }
        let fault = refuse(&world, "garden_artifact_show", json!({"artifact": "Ziele_2027"}), Code::NotFound);
        assert_eq!(detail(&fault, "nearest"), json!(["Ziele_2026"]));
        for nobody in ["", "nobody", "entity_00000000-0000-7000-8000-000000000000", "TASK-001"] {
            refuse(&world, "garden_artifact_show", json!({"artifact": nobody}), Code::NotFound);
            refuse(&world, "garden_artifact_commit", json!({"artifact": nobody, "content": "x"}), Code::NotFound);
        }
    }

    fn each_project_has_its_own_labels(world) {
        world.ok("create_project", json!({"id": "side", "name": "Side"}));
        let here = make(&world, "doc", "here\n");
        let there = world.ok("garden_artifact_create", json!({"label": "doc", "content": "there\n", "project": "side"}));
        assert_eq!(content(&world, "doc", None), "here\n");
        let shown = world.ok("garden_artifact_show", json!({"artifact": "doc", "project": "side"}));
        assert_eq!(shown["lines"][0]["content"], "there");
        // A uuid means the same from everywhere.
        let uuid = &there["artifact"]["uuid"];
        assert_eq!(world.ok("garden_artifact_show", json!({"artifact": uuid}))["lines"][0]["content"], "there");
        assert_ne!(there["artifact"]["head"], here);
        for project in ["nowhere", ""] {
            let fault = world.refused("garden_artifact_create", json!({"label": "doc", "project": project}));
            assert!([Code::NotFound, Code::Validation].contains(&fault.code), "{fault}");
        }
        world.assert_sound();
    }

    fn lines_are_shown_in_ranges_and_within_budgets(world) {
        make(&world, "doc", "1\n2\n3\n4\n5\n");
        let lines = |more| {
            let shown = world.ok("garden_artifact_show", with(json!({"artifact": "doc"}), more));
            let lines = shown["lines"].as_array().unwrap().iter().map(|line| line["line"].as_i64().unwrap());
            (lines.collect::<Vec<i64>>(), shown)
        };
        assert_eq!(lines(json!({"start": 2, "end": 4})).0, [2, 3, 4]);
        assert_eq!(lines(json!({"start": 5})).0, [5]);
        assert_eq!(lines(json!({"end": 2})).0, [1, 2]);
        assert_eq!(lines(json!({"start": 4, "end": 99})).0, [4, 5]);
        for (range, field) in [(json!({"start": 0}), "start"), (json!({"start": 6}), "start"), (json!({"start": -1}), "start"),
            (json!({"end": 0}), "end"), (json!({"start": 3, "end": 2}), "end")] {
            refuse_field(&world, "garden_artifact_show", with(json!({"artifact": "doc"}), range), field);
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

    fn a_line_beyond_the_budget_does_not_stop_the_pager(world) {
        make(&world, "doc", &format!("one\n{}\nthree\n", "long ".repeat(400)));
        let (mut seen, mut start) = (Vec::new(), json!(1));
        while !start.is_null() {
            let shown = world.ok("garden_artifact_show", json!({"artifact": "doc", "start": start, "max_chars": 900}));
            assert!(shown.to_string().chars().count() <= 900);
            seen.extend(shown["lines"].as_array().unwrap().clone());
            start = shown["next_start"].clone();
        }
        let numbers: Vec<i64> = seen.iter().map(|line| line["line"].as_i64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(seen[1]["content_chars"], 2_000);
        assert_eq!(seen[2]["content"], "three");
    }

    fn the_log_and_the_list_go_on_page_by_page(world) {
        let mut head = make(&world, "doc", "0\n");
        let mut made = vec![head.clone()];
        for n in 1..8 {
            head = commit(&world, "doc", &head, &format!("{n}\n"));
            made.push(head.clone());
        }
        let (mut seen, mut cursor) = (Vec::new(), json!(null));
        loop {
            let page = world.ok("garden_artifact_log", json!({"artifact": "doc", "limit": 3, "cursor": cursor}));
            seen.extend(page["deltas"].as_array().unwrap().iter().map(|delta| text(&delta["commit"])));
            cursor = page["pagination"]["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        seen.reverse();
        assert_eq!(seen, made);
        let page = world.ok("garden_artifact_log", json!({"artifact": "doc", "limit": 2}));
        make(&world, "other", "x\n");
        refuse_field(&world, "garden_artifact_log", json!({"artifact": "other", "cursor": page["pagination"]["next_cursor"]}), "cursor");
        refuse_field(&world, "garden_artifact_log", json!({"artifact": "doc", "cursor": "x"}), "cursor");
        let small = world.ok("garden_artifact_log", json!({"artifact": "doc", "max_chars": 900}));
        assert!(small.to_string().chars().count() <= 900 && small["truncated"] == true);
        for label in ["alpha", "beta", "Bet", "gamma"] {
            world.ok("garden_artifact_create", json!({"label": label}));
        }
        let labels = |args| {
            let list = world.ok("garden_artifact_list", args);
            let labels: Vec<String> = list["artifacts"].as_array().unwrap().iter().map(|one| text(&one["label"])).collect();
            (labels, list["pagination"]["next_cursor"].clone())
        };
        assert_eq!(labels(json!({})).0, ["Bet", "alpha", "beta", "doc", "gamma", "other"]);
        assert_eq!(labels(json!({"text": "BET"})).0, ["Bet", "beta"]);
        assert_eq!(labels(json!({"text": "%"})).0, Vec::<String>::new());
        let (first, cursor) = labels(json!({"limit": 4}));
        assert_eq!(first, ["Bet", "alpha", "beta", "doc"]);
        assert_eq!(labels(json!({"limit": 4, "cursor": cursor})).0, ["gamma", "other"]);
        let list = world.ok("garden_artifact_list", json!({"text": "doc"}));
        assert_eq!(list["artifacts"][0]["head"], head);
        assert_eq!(list["artifacts"][0]["lines"], 1);
    }

    fn differences_are_unified(world) {
        let first = make(&world, "doc", "a\nb\nc\n");
        let second = commit(&world, "doc", &first, "a\nB\nc");
        let diff = world.ok("garden_artifact_diff", json!({"artifact": "doc", "from": first}));
        let short = |hash: &str| hash[..12].to_string();
        assert_eq!(diff["diff"], format!("--- doc@{}\n+++ doc@{}\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n",
            short(&first), short(&second)));
        assert_eq!((&diff["from"], &diff["to"]), (&json!(first), &json!(second)));
        let same = world.ok("garden_artifact_diff", json!({"artifact": "doc", "from": second, "to": second}));
        assert_eq!(same["diff"], "");
        let back = world.ok("garden_artifact_diff", json!({"artifact": "doc", "from": second, "to": first}));
        assert!(text(&back["diff"]).contains("-B"));
        let small = world.ok("garden_artifact_diff", json!({"artifact": "doc", "from": first, "max_chars": 520}));
        assert!(small.to_string().chars().count() <= 520 && small["truncated"] == true, "{small}");
        // What was cut is still one text, of whole lines.
        let before = make(&world, "long", &"a line\n".repeat(200));
        commit(&world, "long", &before, &"another line\n".repeat(200));
        let asked = json!({"artifact": "long", "from": before, "max_chars": 2_000});
        let cut = world.ok("garden_artifact_diff", asked);
        let shown = cut["diff"].as_str().expect("a text");
        assert!(shown.ends_with("\n-a line\n") && cut["truncated"] == true, "{cut}");
    }

    fn a_commit_says_what_it_was_made_from(world) {
        let first = make(&world, "doc", "a\n");
        let second = commit(&world, "doc", &first, "b\n");
        for (based_on, told) in [(json!(first), json!(first)), (json!(null), json!(null))] {
            let fault = refuse(&world, "garden_artifact_commit", json!({"artifact": "doc", "based_on": based_on, "content": "c\n"}), Code::Conflict);
            assert_eq!((detail(&fault, "current_commit"), detail(&fault, "based_on")), (json!(second), told));
        }
        assert_eq!(content(&world, "doc", None), "b\n");
        let keyed = json!({"artifact": "doc", "based_on": second, "content": "c\n", "idempotency_key": "k"});
        let done = world.ok("garden_artifact_commit", keyed.clone());
        assert_eq!(world.ok("garden_artifact_commit", keyed), done, "a retry is answered as the first time");
        assert_eq!(world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"].as_array().unwrap().len(), 3);
    }

    fn what_is_too_large_is_refused(world) {
        let head = make(&world, "doc", "x\n");
        let long = "x".repeat(limits::ARTIFACT_BYTES + 1);
        let many = "\n".repeat(limits::ARTIFACT_LINES + 1);
        for content in [&long, &many] {
            refuse_field(&world, "garden_artifact_create", json!({"label": "big", "content": content}), "content");
            refuse_field(&world, "garden_artifact_commit", json!({"artifact": "doc", "based_on": head, "content": content}), "content");
        }
        let line = "y".repeat(limits::ARTIFACT_BYTES / 2);
        let ops = format!("+1:{0} +1:{0} +1:{0}", id(&line));
        refuse(&world, "garden_artifact_commit", json!({"artifact": "doc", "based_on": head, "ops": ops, "texts": {id(&line): line}}), Code::Validation);
        assert_eq!(content(&world, "doc", None), "x\n");
    }
}
