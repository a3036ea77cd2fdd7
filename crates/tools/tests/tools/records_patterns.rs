//! The four workflow patterns of the specification, word for word, by two chats in two processes:
//! each has an engine of its own on the store that they share.

use crate::records_reads::*;
use serde_json::{Value, json};
use understory_engine::Engine;
use understory_testkit::{World, on_both};

/// A chat: a process with a session.
struct Chat<'a> {
    engine: &'a Engine,
    name: &'static str,
}

impl Chat<'_> {
    #[track_caller]
    fn call(&self, tool: &str, args: Value) -> Value {
        on(self.engine, self.name, tool, args)
    }

    #[track_caller]
    fn create(&self, fields: Value) -> Value {
        self.call("create_record", new_record(fields))
    }

    /// The bodies that a record had, oldest first, and those that were refused: read from its
    /// history and compared with what a diff says it was.
    #[track_caller]
    fn bodies(&self, id: &str) -> (Vec<String>, Vec<String>) {
        let answer = self.call("get_record_history", json!({"id": id, "limit": 200}));
        let (mut had, mut refused) = (Vec::new(), Vec::new());
        for entry in list(&answer["history"]).iter().rev() {
            if entry.get("version").is_some() {
                let at = json!({"id": id, "from": entry["timestamp"]});
                had.push(text(
                    &self.call("get_record_diff", at)["from_version"]["body"],
                ));
            } else if entry.get("proposed").is_some() {
                refused.push(text(&entry["proposed"]["body"]));
            }
        }
        had.dedup();
        (had, refused)
    }
}

/// `count` open questions, left by a chat that is over.
fn left(engine: &Engine, count: usize) {
    let past = Chat {
        engine,
        name: "past",
    };
    for at in 1..=count {
        past.create(
            json!({"type": "question", "title": format!("Question {at}"), "body": "As it was."}),
        );
    }
    past.call("close_session", json!({}));
}

#[on_both]
fn pattern_1_continue_existing_work(world: World) {
    let other = world.another();
    left(&other, 7);
    let chat = Chat {
        engine: &world.engine,
        name: "s1",
    };
    let overview = chat.call("get_project_overview", json!({}));
    assert!(
        ids(&overview["open_records"]).contains(&"R007".to_string()),
        "identify record to continue"
    );
    assert_eq!(
        (&overview["open_sessions"], &overview["project"]["tick"]),
        (&json!([]), &json!(7))
    );
    let active = chat.call("activate", json!({"id": "R007"}));
    assert_eq!(
        (
            &active["context"]["target"]["body"],
            &active["already_loaded"],
            active.get("conflict")
        ),
        (&json!("As it was."), &json!(false), None)
    );
    let updated = chat.call(
        "update_record",
        json!({"id": "R007", "body": "As it became."}),
    );
    assert_eq!(
        (&updated["record"]["body"], updated.get("conflict")),
        (&json!("As it became."), None)
    );
    let made = chat.create(json!({"parent_id": "R007", "type": "conclusion", "title": "So it is"}));
    assert_eq!(
        (&made["record"]["id"], &made["auto_activated"]),
        (&json!("R008"), &json!(true))
    );
    assert_eq!(
        chat.call("save_session", json!({}))["saved_records"],
        json!(["R007", "R008"])
    );
    chat.call("update_record", json!({"id": "R008", "body": "more work"}));
    let closed = chat.call("close_session", json!({}));
    assert_eq!(
        (
            &closed["deactivated_records"],
            closed["unsaved_warning"].is_string()
        ),
        (&json!(["R007", "R008"]), true)
    );
    let there = Chat {
        engine: &other,
        name: "s2",
    };
    assert_eq!(
        there.bodies("R007"),
        (vec!["As it was.".into(), "As it became.".into()], vec![])
    );
    assert_eq!(
        there.call("get_project_overview", json!({}))["project"]["tick"],
        11
    );
    world.assert_sound();
}

#[on_both]
fn pattern_2_start_new_topic(world: World) {
    let other = world.another();
    left(&other, 2);
    let chat = Chat {
        engine: &world.engine,
        name: "s1",
    };
    let overview = chat.call("get_project_overview", json!({}));
    assert!(
        !each(&overview["root_records"], "title").contains(&"Tokens".to_string()),
        "confirm topic doesn't exist"
    );
    assert_eq!(
        chat.call("search_records", json!({"query": "tokens"}))["total"],
        0
    );
    let made = chat.create(json!({"parent_id": null, "type": "question", "title": "Tokens"}));
    assert_eq!(
        (
            &made["record"]["id"],
            &made["record"]["state"],
            &made["auto_activated"]
        ),
        (&json!("R003"), &json!("OPEN"), &json!(true))
    );
    for title in ["Lifetime", "Rotation"] {
        chat.create(json!({"parent_id": "R003", "type": "question", "title": title}));
    }
    chat.create(json!({"parent_id": "R005", "type": "conclusion", "title": "Hourly"}));
    chat.call(
        "transition",
        json!({"id": "R005", "to_state": "RESOLVED", "resolved_by": "R006"}),
    );
    chat.call("save_session", json!({"summary": "Tokens rotate hourly"}));
    let closed = chat.call("close_session", json!({}));
    assert_eq!(
        (
            list(&closed["deactivated_records"]).len(),
            closed.get("unsaved_warning")
        ),
        (4, None)
    );
    let there = Chat {
        engine: &other,
        name: "s2",
    };
    let context = there.call("activate", json!({"id": "R003"}))["context"].clone();
    assert_eq!(
        (
            ids(&context["children"]["open"]),
            ids(&context["children"]["other"]),
            ids(&context["grandchildren"])
        ),
        (
            vec!["R004".to_string()],
            vec!["R005".to_string()],
            vec!["R006".to_string()]
        )
    );
    assert_eq!(
        there.call("search_records", json!({"query": "token"}))["results"][0]["id"],
        "R003"
    );
    assert!(
        there.call("get_recent_activity", json!({}))["activity"]
            .to_string()
            .contains("Tokens rotate hourly")
    );
    world.assert_sound();
}

#[on_both]
fn pattern_3_new_chat_for_a_subtopic(world: World) {
    let second = world.another();
    left(&world.engine, 14);
    let s1 = Chat {
        engine: &world.engine,
        name: "s1",
    };
    let s2 = Chat {
        engine: &second,
        name: "s2",
    };
    s1.call("activate", json!({"id": "R007"}));
    let made = s1.create(
        json!({"parent_id": "R007", "type": "question", "title": "Subtopic", "body": "Asked."}),
    );
    assert_eq!(made["record"]["id"], "R015");
    let active = s2.call(
        "activate",
        json!({"id": "R015", "parent_session": "sess_s1"}),
    );
    assert_eq!(
        active["context"]["parent"]["id"], "R007",
        "context includes R7 as parent"
    );
    assert_eq!(active["context"]["parent"]["body"], "As it was.", "in full");
    assert_eq!(
        (active.get("conflict"), active["context"].get("warnings")),
        (None, None),
        "it continues s1"
    );
    s2.call(
        "update_record",
        json!({"id": "R015", "body": "Thought through."}),
    );
    let found = s2.create(json!({"parent_id": "R015", "type": "conclusion", "title": "Found"}))["record"]["id"].clone();
    s2.call(
        "transition",
        json!({"id": "R015", "to_state": "RESOLVED", "resolved_by": found}),
    );
    s2.call("close_session", json!({}));
    let synced = s1.call("sync_session", json!({}));
    let resolved = list(&synced["changes"])
        .iter()
        .find(|change| change["change_type"] == "state_changed")
        .cloned()
        .expect("shows R15 was resolved");
    assert_eq!(
        (
            &resolved["record_id"],
            &resolved["old_value"],
            &resolved["new_value"],
            &resolved["by_session"],
            &resolved["at_tick"]
        ),
        (
            &json!("R015"),
            &json!("OPEN"),
            &json!("RESOLVED"),
            &json!("sess_s2"),
            &json!(18)
        )
    );
    assert_eq!(
        (
            list(&synced["changes"]).len(),
            &synced["tick_gap"],
            &synced["session_status"]
        ),
        (3, &json!(3), &json!("active"))
    );
    assert_eq!(
        s1.bodies("R015"),
        (vec!["Asked.".into(), "Thought through.".into()], vec![])
    );
    assert_eq!(
        s2.call(
            "get_recent_activity",
            json!({"types": ["session_branched"]})
        )["activity"][0]["session_id"],
        "sess_s2"
    );
    let again = s1.call(
        "update_record",
        json!({"id": "R015", "body": "S1 goes on."}),
    );
    assert_eq!(again.get("conflict"), None, "after the sync it knows");
    world.assert_sound();
}

#[on_both]
fn pattern_4_conflict_resolution(world: World) {
    let second = world.another();
    left(&world.engine, 7);
    let s1 = Chat {
        engine: &world.engine,
        name: "s1",
    };
    let s2 = Chat {
        engine: &second,
        name: "s2",
    };
    s1.call("activate", json!({"id": "R007"}));
    s2.call("activate", json!({"id": "R007"}));
    s1.call("update_record", json!({"id": "R007", "body": "version A"}));
    let before = s1.call("get_project", json!({}))["tick"].clone();
    let refused = s2.call("update_record", json!({"id": "R007", "body": "version B"}));
    assert_eq!(
        (
            &refused["record"]["body"],
            &refused["conflict"]["other_version"]["body"]
        ),
        (&json!("version A"), &json!("version A")),
        "S2 receives conflict response"
    );
    assert_eq!(
        s1.call("get_project", json!({}))["tick"],
        before,
        "and nothing was written"
    );
    let merged = s2.call(
        "update_record",
        json!({"id": "R007", "body": "merged version", "force": true}),
    );
    assert_eq!(
        (&merged["record"]["body"], merged.get("conflict")),
        (&json!("merged version"), None)
    );
    for chat in [&s1, &s2] {
        assert_eq!(
            chat.bodies("R007"),
            (
                vec![
                    "As it was.".into(),
                    "version A".into(),
                    "merged version".into()
                ],
                vec!["version B".into()]
            ),
            "agent presents both versions, whoever asks"
        );
    }
    assert!(
        s1.call("update_record", json!({"id": "R007", "body": "unaware"}))["conflict"].is_object(),
        "now S1 is the one behind"
    );
    s1.call("sync_session", json!({}));
    assert_eq!(
        s1.call("update_record", json!({"id": "R007", "body": "aware"}))
            .get("conflict"),
        None
    );
    let logged = s1.call(
        "get_recent_activity",
        json!({"record_id": "R007", "types": ["conflict_detected", "conflict_resolved"]}),
    );
    assert_eq!(
        each(&logged["activity"], "type"),
        [
            "conflict_detected",
            "conflict_resolved",
            "conflict_detected",
            "conflict_detected"
        ]
    );
    world.assert_sound();
}

#[on_both]
fn of_two_who_write_at_once_one_is_told_and_neither_is_lost(world: World) {
    let second = world.another();
    left(&world.engine, 1);
    for round in 0..10 {
        let engines = [(&*world.engine, "s1"), (&second, "s2")];
        for (engine, name) in engines {
            on(
                engine,
                name,
                "activate",
                json!({"id": "R001", "override": true}),
            );
        }
        let barrier = std::sync::Barrier::new(2);
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let write = |(engine, name)| {
                barrier.wait();
                on(
                    engine,
                    name,
                    "update_record",
                    json!({"id": "R001", "body": format!("{round} by {name}")}),
                )
            };
            let running: Vec<_> = engines
                .into_iter()
                .map(|one| scope.spawn(move || write(one)))
                .collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(
            answers
                .iter()
                .filter(|answer| answer.get("conflict").is_some())
                .count(),
            1,
            "{answers:?}"
        );
    }
    let (had, refused) = Chat {
        engine: &second,
        name: "s1",
    }
    .bodies("R001");
    assert_eq!((had.len(), refused.len()), (11, 10));
    let mut all: Vec<String> = had.into_iter().skip(1).chain(refused).collect();
    all.sort();
    let mut expected: Vec<String> = (0..10)
        .flat_map(|round| ["s1", "s2"].map(|name| format!("{round} by {name}")))
        .collect();
    expected.sort();
    assert_eq!(all, expected);
    assert_eq!(tick(&world), 11);
}
