//! Erasing content for good: nothing of it is left in the store, the chain still proves, and a
//! replay gives the same core.

use serde_json::{Value, json};
use understory_engine::system::purge::{Asked, ERASED, Report};
use understory_model::{Caller, Code, Fault, Role, Seq};
use understory_testkit::{Raw, World, on_both};

use crate::every_tool::Script;

fn operator() -> Caller {
    Caller {
        role: Role::Operator,
        ..World::caller("olga")
    }
}

fn named(names: &[&str]) -> Asked {
    Asked {
        names: names.iter().map(ToString::to_string).collect(),
        reason: "a leak".into(),
        ..Asked::default()
    }
}

fn text(text: &str) -> Asked {
    Asked {
        texts: vec![text.into()],
        reason: "a leak".into(),
        ..Asked::default()
    }
}

fn purge(world: &World, asked: Asked) -> Result<Report, Fault> {
    world.engine.purge(&operator(), asked, |_, _| {})
}

/// Tables and files in which a text stands.
fn standing(world: &World, text: &str) -> Vec<String> {
    match world.backend.raw() {
        Raw::Sqlite(conn) => {
            drop(conn);
            in_files(world, text)
        }
        Raw::Postgres(mut client) => {
            let tables = client
                .query(
                    "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
                    &[],
                )
                .unwrap();
            let mut found = Vec::new();
            for table in tables {
                let table: String = table.get(0);
                let sql = format!("SELECT COUNT(*) FROM {table} t WHERE t::text LIKE $1");
                let rows: i64 = client
                    .query_one(&sql, &[&format!("%{text}%")])
                    .unwrap()
                    .get(0);
                if rows > 0 {
                    found.push(table);
                }
            }
            let stats: i64 = client
                .query_one(
                    "SELECT COUNT(*) FROM pg_stats WHERE schemaname = current_schema() AND \
                     (most_common_vals::text LIKE $1 OR histogram_bounds::text LIKE $1)",
                    &[&format!("%{text}%")],
                )
                .unwrap()
                .get(0);
            if stats > 0 {
                found.push("pg_stats".into());
            }
            found
        }
    }
}

fn in_files(world: &World, text: &str) -> Vec<String> {
    let file = world.backend.file();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(file.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let holds = bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes());
        if holds {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Nothing of a text is left, and the store is sound.
#[track_caller]
fn gone(world: &World, texts: &[&str]) {
    for text in texts {
        assert_eq!(standing(world, text), [] as [&str; 0], "{text}");
    }
    sound(world);
}

#[track_caller]
fn sound(world: &World) {
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

const SECRET: &str = "zanzibarquux";

fn uuid(item: &Value) -> &str {
    item["uuid"].as_str().unwrap()
}

fn note(world: &World, text: &str) -> String {
    let made = world.ok("garden_add", json!({"type": "Note", "description": text}));
    uuid(&made["item"]).to_string()
}

/// The secret in every text that callers give, under a key, in every surface.
fn everywhere(world: &World) {
    let said = |text: &str| format!("{text} {SECRET} and more words");
    world.ok(
        "graph_open",
        json!({"project": "default", "goal": said("goal")}),
    );
    world.ok(
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": said("task"), "properties":
        {"note": said("property"), "nested": {"deep": [said("deep")]}}}], "idempotency_key": "k1"}),
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "summary": said("other"),
        "add_evidence": [{"type": "note", "ref": said("evidence")}]}], "idempotency_key": "k2"}),
    );
    world.ok(
        "scratchpad",
        json!({"task": "TASK-001", "write": said("scratch")}),
    );
    world.ok(
        "create_record",
        json!({"title": said("title"), "summary": said("sum"),
        "body": said("body"), "type": "note", "metadata": {"m": said("meta")}}),
    );
    world.ok("activate", json!({"id": "R001"}));
    for at in 0..3 {
        world.ok(
            "update_record",
            json!({"id": "R001", "body": said(&format!("body {at}"))}),
        );
    }
    world.ok("save_session", json!({"summary": said("saved")}));
    let ws = "garden-shed";
    world.ok("branchmind_init", json!({"workspace": ws}));
    world.ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "content": said("note"), "title": said("t")}),
    );
    world.ok(
        "branchmind_think_card",
        json!({"workspace": ws, "target": "TASK-001", "card": {"id": "q1",
        "type": "question", "title": said("card"), "text": said("card text")}}),
    );
    world.ok(
        "create_thread",
        json!({"title": said("thread"), "participants": ["bob"]}),
    );
    world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": said("message"), "idempotency_key": "k3"}),
    );
    let bob = World::caller("bob");
    world
        .call_as(&bob, "heartbeat_session", json!({"resumable": true}))
        .unwrap();
    world.ok(
        "trigger_participant",
        json!({"thread_id": "th_001", "target_agent_id": "bob",
        "trigger_prompt": said("wake")}),
    );
    world.ok(
        "update_thread_status",
        json!({"thread_id": "th_001", "status": "blocked", "reason": said("why")}),
    );
    world.ok(
        "garden_add",
        json!({"type": "Message", "description": said("message"), "idempotency_key": "k4"}),
    );
    world.ok(
        "garden_entity_create",
        json!({"type": "service", "data": {"a": said("data"), "b": [said("list")]}}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": format!("one\n{}\nthree\n", said("line"))}),
    );
    world.ok(
        "reader_propose",
        json!({"artifact": "d", "start": 1, "end": 1, "content": said("proposed"),
        "reasoning": said("because")}),
    );
    let fork = world.ok("garden_fork", json!({}));
    let log = fork["log"]["uuid"]
        .as_str()
        .or(fork["log"].as_str())
        .unwrap();
    world.ok(
        "garden_collapse",
        json!({"log": log, "summary": said("summary")}),
    );
}

#[on_both]
fn a_text_is_gone_wherever_it_stood(world: World) {
    everywhere(&world);
    assert!(!standing(&world, SECRET).is_empty());
    let before = world.engine.plan_purge(&operator(), &text(SECRET)).unwrap();
    assert!(before.items.len() > 15, "{before:?}");
    assert_eq!((before.purge, before.scratchpads), (None, 1));
    assert!(before.answers >= 1, "{before:?}");
    assert!(
        !standing(&world, SECRET).is_empty(),
        "a plan changes nothing"
    );
    let done = purge(&world, text(SECRET)).unwrap();
    assert_eq!(
        (done.items.len(), done.answers),
        (before.items.len(), before.answers)
    );
    gone(&world, &[SECRET]);
    let task = world
        .ok("graph_context", json!({"node_id": "TASK-001"}))
        .to_string();
    assert!(
        task.contains(&format!("other {ERASED} and more words")),
        "{task}"
    );
    assert!(
        world.ok("search", json!({"query": SECRET}))["results"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let again = purge(&world, text(SECRET)).unwrap_err();
    assert_eq!(again.code, Code::NotFound);
}

#[on_both]
fn everything_of_every_kind_can_be_purged_by_name(world: World) {
    everywhere(&world);
    let all = world.engine.plan_purge(&operator(), &text(SECRET)).unwrap();
    let items: Vec<&str> = all.items.iter().map(|one| one.item.as_str()).collect();
    purge(
        &world,
        Asked {
            only: true,
            ..named(&items)
        },
    )
    .unwrap();
    purge(
        &world,
        Asked {
            only: true,
            ..named(&["TASK-001"])
        },
    )
    .unwrap();
    gone(&world, &[SECRET]);
}

#[on_both]
fn what_every_tool_wrote_can_be_purged_whole(world: World) {
    Script::run(&world, &|_, args| args, &|_, _, _| {});
    let names = every_item(&world);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let done = purge(
        &world,
        Asked {
            only: true,
            ..named(&names)
        },
    )
    .unwrap();
    assert!(done.items.len() > 30, "{done:?}");
    sound(&world);
}

#[on_both]
fn a_note_is_gone_and_its_copies_with_it(world: World) {
    let words = format!("the password is {SECRET}, do not tell");
    let first = note(&world, &words);
    let quoted = note(&world, &format!("He said: {words}"));
    let other = note(&world, "something else altogether");
    let only = world
        .engine
        .plan_purge(
            &operator(),
            &Asked {
                only: true,
                ..named(&[&first])
            },
        )
        .unwrap();
    assert_eq!(only.items.len(), 1);
    let done = purge(&world, named(&[&first])).unwrap();
    assert_eq!(
        done.items.iter().map(|one| &one.item).collect::<Vec<_>>(),
        [&first, &quoted]
    );
    gone(&world, &[SECRET]);
    let got = world.ok("garden_get", json!({"id": quoted}));
    assert_eq!(got["item"]["description"], format!("He said: {ERASED}"));
    let got = world.ok("garden_get", json!({"id": other}));
    assert_eq!(got["item"]["description"], "something else altogether");
}

#[on_both]
fn one_version_is_purged_and_the_later_ones_that_hold_its_text(world: World) {
    let made = world.ok(
        "garden_entity_create",
        json!({"type": "service", "data": {"host": "a", "port": 1}}),
    );
    let id = made["entity"]["uuid"].as_str().unwrap().to_string();
    let data = |data: Value| {
        world.ok(
            "garden_entity_update",
            json!({"uuid": id, "data": data,
        "based_on_hash": world.ok("garden_get", json!({"id": id}))["entity"]["hash"]}),
        )
    };
    data(json!({"host": SECRET}));
    data(json!({"port": 2}));
    data(json!({"host": "b"}));
    let plan = world
        .engine
        .plan_purge(
            &operator(),
            &Asked {
                only: true,
                ..text(SECRET)
            },
        )
        .unwrap();
    let first = plan.items[0].item.clone();
    let done = purge(
        &world,
        Asked {
            only: true,
            ..named(&[&first])
        },
    )
    .unwrap();
    assert_eq!(
        done.items.len(),
        2,
        "the change that brought it and the one that replaced it"
    );
    gone(&world, &[SECRET]);
    let now = world.ok("garden_get", json!({"id": id}));
    assert!(now.to_string().contains("\"b\""), "{now}");
}

#[on_both]
fn a_document_loses_its_lines_in_every_version(world: World) {
    let line = format!("key is {SECRET} for now");
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": format!("one\n{line}\nthree\n")}),
    );
    for at in 0..4 {
        let head = world.ok("garden_artifact_show", json!({"artifact": "d"}));
        let head = head["artifact"]["head"]
            .as_str()
            .or(head["commit"].as_str())
            .unwrap()
            .to_string();
        world.ok(
            "garden_artifact_commit",
            json!({"artifact": "d", "based_on": head,
            "content": format!("one\n{line}\nthree {at}\n")}),
        );
    }
    let shown = world.ok("garden_artifact_show", json!({"artifact": "d"}));
    assert!(shown.to_string().contains(SECRET), "{shown}");
    purge(&world, text(SECRET)).unwrap();
    let shown = world.ok("garden_artifact_show", json!({"artifact": "d"}));
    assert!(
        shown
            .to_string()
            .contains(&format!("key is {ERASED} for now")),
        "{shown}"
    );
    gone(&world, &[SECRET]);
}

#[on_both]
fn a_process_that_read_it_before_forgets_it(world: World) {
    let other = world.another();
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": format!("{SECRET}\n")}),
    );
    let show = |engine| {
        World::call_on(
            engine,
            &world.caller,
            "garden_artifact_show",
            json!({"artifact": "d"}),
        )
        .unwrap()
    };
    assert!(show(&other).to_string().contains(SECRET));
    purge(&world, text(SECRET)).unwrap();
    assert!(!show(&other).to_string().contains(SECRET));
    let found = World::call_on(&other, &world.caller, "search", json!({"query": SECRET})).unwrap();
    assert_eq!(found["results"], json!([]));
}

#[on_both]
fn only_an_operator_may(world: World) {
    let item = note(&world, SECRET);
    for role in [Role::Worker, Role::Orchestrator, Role::Auditor] {
        let caller = Caller {
            role,
            ..World::caller("eve")
        };
        let before = world.head();
        let fault = world
            .engine
            .purge(&caller, named(&[&item]), |_, _| {})
            .unwrap_err();
        assert_eq!(fault.code, Code::Forbidden, "{fault:?}");
        let fault = world
            .engine
            .plan_purge(&caller, &named(&[&item]))
            .unwrap_err();
        assert_eq!((fault.code, world.head()), (Code::Forbidden, before));
    }
}

#[on_both]
fn what_cannot_be_purged_says_so(world: World) {
    let item = note(&world, SECRET);
    let refused = |asked: Asked| {
        let before = world.head();
        let fault = purge(&world, asked).unwrap_err();
        assert_eq!(world.head(), before, "{fault:?}");
        fault
    };
    assert_eq!(refused(named(&["TASK-404"])).code, Code::NotFound);
    assert_eq!(refused(named(&[])).code, Code::Validation);
    assert_eq!(refused(text("a")).code, Code::Validation);
    assert_eq!(refused(text("nobody ever said this")).code, Code::NotFound);
    let fault = refused(Asked {
        reason: String::new(),
        ..named(&[&item])
    });
    assert_eq!(fault.code, Code::Validation);
    let fault = refused(Asked {
        reason: format!("it was {SECRET}"),
        ..text(SECRET)
    });
    assert!(!fault.message.contains(SECRET), "{fault:?}");
    let nowhere = Caller {
        workspace: "nowhere".into(),
        ..operator()
    };
    let fault = world
        .engine
        .purge(&nowhere, named(&[&item]), |_, _| {})
        .unwrap_err();
    assert_eq!(fault.code, Code::NotFound);
}

#[on_both]
fn what_was_undone_and_what_was_purged_can_be_purged_again(world: World) {
    let item = note(&world, &format!("first {SECRET} then quuxzanzibar at last"));
    purge(&world, text(SECRET)).unwrap();
    purge(&world, text("quuxzanzibar")).unwrap();
    let got = world.ok("garden_get", json!({"id": item}));
    assert_eq!(
        got["item"]["description"],
        format!("first {ERASED} then {ERASED} at last")
    );
    purge(&world, named(&[&item])).unwrap();
    let got = world.ok("garden_get", json!({"id": item}));
    assert_eq!(got["item"]["description"], ERASED);
    assert_eq!(
        purge(&world, named(&[&item])).unwrap_err().code,
        Code::NotFound
    );
    let taken = note(&world, "taken back at once");
    world.ok("garden_undo", json!({"item": taken}));
    assert_eq!(
        purge(&world, named(&[&taken])).unwrap_err().code,
        Code::NotFound
    );
    gone(&world, &[SECRET, "quuxzanzibar", "taken back at once"]);
}

#[on_both]
fn the_log_says_who_when_and_why_but_not_what(world: World) {
    let item = note(&world, &format!("the word is {SECRET}"));
    let done = purge(&world, named(&[&item])).unwrap();
    let timeline = world.ok("garden_timeline", json!({"types": ["Purged"]}));
    let told = timeline.to_string();
    assert!(told.contains("olga") && told.contains("a leak"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
    assert_eq!(done.purge, Some(Seq(world.head())));
    let fault = world.refused("garden_add", json!({"type": "Purged", "description": "x"}));
    assert_eq!(fault.code, Code::Validation);
}

#[on_both]
fn what_remains_is_under_the_proof(world: World) {
    let item = note(&world, &format!("the word is {SECRET} here"));
    purge(&world, text(SECRET)).unwrap();
    world.assert_sound();
    let mut raw = world.backend.raw();
    let forged = "UPDATE soil_erased SET remains = REPLACE(remains, 'the word', 'my word')";
    assert!(raw.run(forged).unwrap_err().contains("immutable"));
    assert!(
        raw.run("DELETE FROM soil_erased")
            .unwrap_err()
            .contains("immutable")
    );
    match &mut raw {
        Raw::Sqlite(_) => raw.run("DROP TRIGGER soil_erased_no_update").unwrap(),
        Raw::Postgres(_) => raw
            .run("ALTER TABLE soil_erased DISABLE TRIGGER ALL")
            .unwrap(),
    }
    raw.run(forged).unwrap();
    let report = world.verify();
    assert!(!report.ok, "{item}");
    let what = &report.workspaces[0].breaks[0].what;
    assert_eq!(
        what,
        "what remains of it is not what was left when it was erased"
    );
}

#[on_both]
fn others_go_on_writing(world: World) {
    everywhere(&world);
    let engine = world.another();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for at in 0..40 {
                let args = json!({"type": "Note", "description": format!("line {at} goes on")});
                World::call_on(&engine, &World::caller("bob"), "garden_add", args).unwrap();
            }
        });
        for at in 0..3 {
            note(&world, &format!("{SECRET}{at}"));
            purge(&world, text(SECRET)).unwrap();
        }
        writer.join().unwrap();
    });
    gone(&world, &[SECRET]);
    let found = world.ok("search", json!({"query": "goes on", "limit": 50}));
    assert!(found.to_string().contains("line 39"), "{found}");
}

#[on_both]
fn two_purges_at_once_both_happen(world: World) {
    let names = [
        note(&world, "quuxzanzibar one two"),
        note(&world, "zanzibarquux three four"),
    ];
    let engine = world.another();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            engine
                .purge(&operator(), named(&[&names[0]]), |_, _| {})
                .unwrap()
        });
        purge(&world, named(&[&names[1]])).unwrap();
        other.join().unwrap();
    });
    gone(&world, &["zanzibarquux", "quuxzanzibar"]);
}

/// The names of all items of the log.
fn every_item(world: &World) -> Vec<String> {
    let mut names = Vec::new();
    for seq in 1..=world.head() {
        let found = world.engine.view(&world.caller, |view| {
            understory_engine::kernel::log::raw_at(view, Seq(seq))
        });
        names.extend(found.unwrap().map(|item| item.item));
    }
    names
}

#[test]
fn the_mark_is_no_credential() {
    assert!(understory_model::secret::find(&format!("password={ERASED}")).is_empty());
}
