//! The command summary table of the contract, held against the product: for each of the eighteen
//! commands whether it needs activation, whether it writes, and whether it spends a tick.

use crate::common;
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};
use understory_tools::registry;
use understory_tools::tool::{Access, Surface};

/// A row of the table.
struct Row {
    command: &'static str,
    /// What refuses it where the record is not active.
    requires: Option<Code>,
    mutates: bool,
    ticks: bool,
    /// Arguments that succeed where R001, with its child R002, and R003 exist.
    good: fn() -> Value,
    /// Arguments that are refused there, and with which code.
    bad: fn() -> Vec<(Value, Code)>,
}

const NO_RECORD: Code = Code::RecordNotFound;

fn table() -> Vec<Row> {
    let row = |command, requires, mutates, ticks, good, bad| Row {
        command,
        requires,
        mutates,
        ticks,
        good,
        bad,
    };
    let (needs, parent) = (Some(Code::NotActivated), Some(Code::ParentNotActivated));
    vec![
        row(
            "create_project",
            None,
            true,
            false,
            || json!({"name": "Shop"}),
            || {
                vec![
                    (json!({"id": "default", "name": "N"}), Code::Conflict),
                    (json!({"name": ""}), Code::Validation),
                ]
            },
        ),
        row(
            "list_projects",
            None,
            false,
            false,
            || json!({}),
            || vec![(json!({"limit": 5}), Code::Validation)],
        ),
        row(
            "get_project",
            None,
            false,
            false,
            || json!({}),
            || vec![(json!({"id": "nowhere"}), Code::NotFound)],
        ),
        row(
            "get_project_overview",
            None,
            false,
            false,
            || json!({}),
            || vec![(json!({"project_id": "nowhere"}), Code::NotFound)],
        ),
        row(
            "search_records",
            None,
            false,
            false,
            || json!({"query": "All"}),
            || {
                vec![
                    (json!({"query": "a", "parent_id": "R999"}), NO_RECORD),
                    (json!({"query": "a", "states": ["DONE"]}), Code::Validation),
                ]
            },
        ),
        row(
            "list_records",
            None,
            false,
            false,
            || json!({"parent_id": null}),
            || {
                vec![
                    (json!({"parent_id": "R999"}), NO_RECORD),
                    (json!({"states": ["DONE"]}), Code::Validation),
                ]
            },
        ),
        row(
            "get_record_ref",
            None,
            false,
            false,
            || json!({"id": "R001"}),
            || vec![(json!({"id": "R999"}), NO_RECORD)],
        ),
        row(
            "activate",
            None,
            true,
            false,
            || json!({"id": "R001"}),
            || {
                vec![
                    (json!({"id": "R999"}), NO_RECORD),
                    (
                        json!({"id": "R001", "parent_session": "nobody"}),
                        Code::SessionNotFound,
                    ),
                ]
            },
        ),
        row(
            "sync_session",
            None,
            true,
            false,
            || json!({}),
            || vec![(json!({"session_id": "nobody"}), Code::SessionNotFound)],
        ),
        row(
            "create_record",
            parent,
            true,
            true,
            || fresh(json!("R001"), "New"),
            || {
                vec![
                    (fresh(json!("R999"), "New"), NO_RECORD),
                    (
                        with(fresh(Value::Null, "New"), json!({"state": "DONE"})),
                        Code::Validation,
                    ),
                ]
            },
        ),
        row(
            "create_records",
            parent,
            true,
            true,
            || json!({"records": [fresh(json!("R001"), "New")]}),
            || {
                vec![
                    (json!({"records": [fresh(json!("R999"), "New")]}), NO_RECORD),
                    (json!({"records": []}), Code::Validation),
                ]
            },
        ),
        row(
            "update_record",
            needs,
            true,
            true,
            || json!({"id": "R001", "title": "New"}),
            || {
                vec![
                    (json!({"id": "R999", "title": "T"}), NO_RECORD),
                    (json!({"id": "R001"}), Code::Validation),
                ]
            },
        ),
        row(
            "transition",
            needs,
            true,
            true,
            || json!({"id": "R001", "to_state": "LATER", "reason": "r"}),
            || {
                vec![
                    (
                        json!({"id": "R002", "to_state": "OPEN"}),
                        Code::InvalidTransition,
                    ),
                    (json!({"id": "R002", "to_state": "LATER"}), Code::Validation),
                ]
            },
        ),
        row(
            "save_session",
            None,
            true,
            true,
            || json!({}),
            || vec![(json!({"session_id": "nobody"}), Code::SessionNotFound)],
        ),
        row(
            "close_session",
            None,
            true,
            false,
            || json!({}),
            || vec![(json!({"session_id": "nobody"}), Code::SessionNotFound)],
        ),
        row(
            "get_record_history",
            None,
            false,
            false,
            || json!({"id": "R001"}),
            || {
                vec![
                    (json!({"id": "R999"}), NO_RECORD),
                    (json!({"id": "R001", "since": "soon"}), Code::Validation),
                ]
            },
        ),
        row(
            "get_record_diff",
            None,
            false,
            false,
            || json!({"id": "R001", "from": "2099-01-01T00:00:00Z"}),
            || {
                vec![
                    (json!({"id": "R999", "from": "last_save"}), NO_RECORD),
                    (json!({"id": "R001", "from": "soon"}), Code::Validation),
                ]
            },
        ),
        row(
            "get_active_sessions",
            None,
            false,
            false,
            || json!({"record_id": "R001"}),
            || vec![(json!({"record_id": "R999"}), NO_RECORD)],
        ),
        row(
            "get_recent_activity",
            None,
            false,
            false,
            || json!({}),
            || {
                vec![
                    (json!({"types": ["nothing"]}), Code::Validation),
                    (json!({"record_id": "R999"}), NO_RECORD),
                ]
            },
        ),
    ]
}

/// Three records of ada's; bob has a session, and only the third is active in it.
fn ready(world: &World) {
    let top = root(world, "One");
    child(world, &top, "Two");
    root(world, "Three");
    by(world, "bob", "activate", json!({"id": "R003"}));
    by(world, "bob", "sync_session", json!({}));
}

#[on_both]
fn a_success_writes_and_ticks_as_the_table_says(world: World) {
    ready(&world);
    for row in table() {
        let (head, ticks) = (world.head(), tick(&world));
        world.ok(row.command, (row.good)());
        assert_eq!(world.head() > head, row.mutates, "{} writes", row.command);
        assert_eq!(
            tick(&world) - ticks,
            i64::from(row.ticks),
            "{} ticks",
            row.command
        );
    }
    world.assert_sound();
}

#[on_both]
fn only_the_commands_that_the_table_names_need_activation(world: World) {
    ready(&world);
    for row in table() {
        match row.requires {
            Some(code) => {
                let fault = refused_by(&world, "bob", row.command, (row.good)());
                assert_eq!(fault.code, code, "{}", row.command);
                assert!(
                    fault.hint.unwrap().contains("activate R001"),
                    "{}",
                    row.command
                );
            }
            // Activating is what the others are then refused for, so it comes last.
            None if row.command == "activate" => {}
            None => drop(by(&world, "bob", row.command, (row.good)())),
        }
    }
    by(&world, "bob", "activate", json!({"id": "R001"}));
    for row in table().iter().filter(|row| row.requires.is_some()) {
        by(&world, "bob", row.command, (row.good)());
    }
    by(
        &world,
        "eve",
        "create_record",
        fresh(Value::Null, "A root needs nothing"),
    );
    world.assert_sound();
}

#[on_both]
fn a_refusal_neither_writes_nor_ticks(world: World) {
    ready(&world);
    for row in table() {
        for (args, code) in (row.bad)() {
            let fault = refuse(&world, row.command, args.clone(), code);
            assert!(
                !fault.message.is_empty() && fault.code.status() < 500,
                "{} {args}",
                row.command
            );
        }
        for wrong in [json!([]), json!("R001"), json!(5), json!(true)] {
            refuse(&world, row.command, wrong, Code::Validation);
        }
        refuse_field(
            &world,
            row.command,
            with((row.good)(), json!({"surprise": 1})),
            "surprise",
        );
        for (field, value) in (row.good)().as_object().unwrap() {
            let wrong = with((row.good)(), json!({ field: [[value]] }));
            let fault = refuse(&world, row.command, wrong, Code::Validation);
            assert!(
                fault.message.contains(field.as_str()),
                "{}: {fault}",
                row.command
            );
        }
    }
    assert_eq!(
        told(&world).len(),
        world.ok("get_recent_activity", json!({"limit": 200}))["activity"]
            .as_array()
            .unwrap()
            .len()
    );
    world.assert_sound();
}

#[on_both]
fn an_auditor_may_call_what_the_table_says_reads(mut world: World) {
    ready(&world);
    world.caller = auditor();
    for row in table() {
        if row.mutates {
            refuse(&world, row.command, (row.good)(), Code::Forbidden);
        } else {
            world.ok(row.command, (row.good)());
        }
    }
}

#[on_both]
fn every_write_is_done_once_for_a_key_and_every_read_refuses_one(world: World) {
    ready(&world);
    for row in table() {
        let args = with((row.good)(), json!({"idempotency_key": "k"}));
        if !row.mutates {
            refuse_field(&world, row.command, args, "idempotency_key");
            continue;
        }
        let first = world.ok(row.command, args.clone());
        let (head, ticks) = (world.head(), tick(&world));
        assert_eq!(
            world.ok(row.command, args.clone()),
            first,
            "{}",
            row.command
        );
        assert_eq!(
            (world.head(), tick(&world)),
            (head, ticks),
            "{}",
            row.command
        );
        let mut other = args;
        let field = ["summary", "reason", "description", "title"]
            .into_iter()
            .find(|field| {
                let tried = with(other.clone(), json!({ *field: "other" }));
                world
                    .call(row.command, tried)
                    .is_err_and(|fault| fault.code == Code::IdempotencyConflict)
            });
        other["idempotency_key"] = json!("");
        refuse_field(&world, row.command, other, "idempotency_key");
        assert!(
            field.is_some()
                || ["activate", "sync_session", "create_records"].contains(&row.command),
            "{}",
            row.command
        );
        assert_eq!(world.head(), head, "{}", row.command);
    }
    refuse(
        &world,
        "activate",
        json!({"id": "R002", "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
    refuse(
        &world,
        "sync_session",
        json!({"max_chars": 9, "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
    refuse(
        &world,
        "create_records",
        json!({"records": [fresh(json!("R001"), "Other")], "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
    world.assert_sound();
}

#[on_both]
fn no_read_writes_even_where_there_is_nothing(world: World) {
    for row in table().iter().filter(|row| !row.mutates) {
        let answer = world.call(row.command, (row.good)());
        let about_one = (row.good)().to_string().contains("R001");
        match answer {
            Ok(_) => assert!(!about_one, "{}", row.command),
            Err(fault) => assert!(
                about_one && fault.code == NO_RECORD,
                "{}: {fault}",
                row.command
            ),
        }
        assert_eq!(world.head(), 0);
    }
    assert!(
        !world.backend.is_sqlite() || !world.backend.file().exists(),
        "not even a file"
    );
}

#[on_both]
fn every_read_takes_a_budget_and_keeps_it(world: World) {
    ready(&world);
    for row in table()
        .iter()
        .filter(|row| !row.mutates || ["activate", "sync_session"].contains(&row.command))
    {
        for budget in [-1, 0, 40, 200, 400, 1_000] {
            let answer = world.ok(
                row.command,
                with((row.good)(), json!({"max_chars": budget})),
            );
            let allowed = usize::try_from(budget).unwrap_or(0);
            // The empty envelope is all that may be longer.
            assert!(
                common::chars(&answer) <= allowed.max(60),
                "{} {budget}: {answer}",
                row.command
            );
            assert!(
                common::chars(&answer) <= allowed || answer["truncated"] == true,
                "{} {budget}: {answer}",
                row.command
            );
        }
    }
}

#[test]
fn the_table_is_the_whole_surface() {
    let rows = table();
    assert_eq!(rows.len(), 19);
    let tools: Vec<_> = registry::tools()
        .iter()
        .filter(|tool| tool.surface == Surface::Records)
        .collect();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let mut commands: Vec<&str> = rows.iter().map(|row| row.command).collect();
    names.sort_unstable();
    commands.sort_unstable();
    assert_eq!(names, commands);
    for row in &rows {
        let tool = registry::find(row.command).expect("a tool");
        assert_eq!(tool.access == Access::Write, row.mutates, "{}", row.command);
    }
}
