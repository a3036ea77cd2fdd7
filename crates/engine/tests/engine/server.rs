//! A PostgreSQL server that is elsewhere, refuses, or cuts the line.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault, Seq};
use understory_testkit::{Backend, Raw, World};

use crate::common::{Dice, assert_gapless, created, soil};

fn opened(url: &str) -> Fault {
    match Engine::open(url, Options::default()) {
        Ok(_) => panic!("it opened"),
        Err(fault) => fault,
    }
}

/// The server's own address, with another user, password or database in it.
fn address(world: &World, change: impl Fn(&str) -> String) -> String {
    change(&world.backend.store())
}

#[test]
fn a_wrong_address_is_a_clear_fault_and_keeps_the_password() {
    let world = World::new(Backend::postgres());
    let port = "postgres://ada:hunter2secret@127.0.0.1:1/understory";
    let host = "postgres://ada:hunter2secret@no-such-host.invalid/understory";
    let spelt = "postgres://ada:hunter2secret@127.0.0.1:port/understory";
    let base = world.backend.store();
    let database = address(&world, |url| {
        let (start, options) = url.split_once('?').expect("options");
        let server = start.rsplit_once('/').map_or(start, |(server, _)| server);
        format!("{server}/no_such_database?{options}")
    });
    for (url, said) in [
        (port, "does not answer"),
        (host, "does not answer"),
        (spelt, "not understood"),
        (database.as_str(), "no such database"),
    ] {
        let fault = opened(url);
        assert_eq!(fault.code, Code::StoreUnavailable, "{fault:?}");
        assert!(fault.message.contains(said), "{fault:?}");
        assert!(!format!("{fault:?}").contains("hunter2secret"), "{fault:?}");
        let blind = Engine::open_unchecked(url, Options::default());
        let args = json!({"nodes": [{"ref": "a", "summary": "x"}]});
        let fault =
            World::call_on(&blind, &world.caller, "graph_plan", args).expect_err("no store");
        assert!(fault.message.contains(said), "{fault:?}");
        assert!(!format!("{fault:?}").contains("hunter2secret"), "{fault:?}");
    }
    assert!(!base.is_empty());
}

#[test]
fn a_refused_password_is_not_shown() {
    let world = World::new(Backend::postgres());
    let mut raw = world.backend.raw();
    let role = format!("r{}", std::process::id());
    raw.run(&format!("CREATE ROLE {role} LOGIN PASSWORD 'right'"))
        .expect("a role");
    let url = address(&world, |url| {
        let rest = url.split_once("://").expect("a scheme").1;
        let server = rest.rsplit_once('@').map_or(rest, |(_, server)| server);
        format!("postgres://nobody_{role}:hunter2secret@{server}")
    });
    let fault = opened(&url);
    raw.run(&format!("DROP ROLE {role}")).expect("gone");
    assert_eq!(fault.code, Code::StoreUnavailable, "{fault:?}");
    assert!(
        fault.message.contains("refuses this user or password"),
        "{fault:?}"
    );
    assert!(!format!("{fault:?}").contains("hunter2secret"), "{fault:?}");
}

#[test]
fn a_newer_store_is_left_as_it_is() {
    let world = World::new(Backend::postgres());
    world.plan(&["a"]);
    let mut raw = world.backend.raw();
    raw.run("UPDATE soil_meta SET value = '99' WHERE key = 'version'")
        .expect("raised");
    let fault = opened(&world.backend.store());
    assert!(fault.message.contains("newer Understory"), "{fault:?}");
    let blind = Engine::open_unchecked(&world.backend.store(), Options::default());
    assert!(blind.rebuild(|_, _| {}).is_err());
    assert_eq!(raw.number("SELECT COUNT(*) FROM soil_item"), 3);
}

/// Ends every connection of this test's schema but the one that asks.
fn cut(raw: &mut Raw, schema: &str) -> i64 {
    raw.number(&format!(
        "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE pid <> pg_backend_pid() AND application_name = '{schema}'"
    ))
}

/// An engine whose connections can be told from those of other tests.
fn named(world: &World) -> (Engine, String) {
    let Backend::Postgres { schema, url } = &world.backend else {
        panic!("not PostgreSQL")
    };
    let url = format!("{url}&application_name={schema}");
    (
        Engine::open(&url, Options::default()).expect("opened"),
        schema.clone(),
    )
}

#[test]
fn a_line_cut_between_calls_is_opened_anew() {
    let world = World::new(Backend::postgres());
    let (engine, schema) = named(&world);
    let mut raw = world.backend.raw();
    for number in 1..=5 {
        let args = json!({"nodes": [{"ref": "a", "summary": "x"}]});
        let answer = World::call_on(&engine, &world.caller, "graph_plan", args).expect("planned");
        assert_eq!(answer["created"][0]["id"], format!("TASK-{number:03}"));
        assert_eq!(engine.head(&world.caller), Ok(Seq(number + 2)));
        assert!(cut(&mut raw, &schema) >= 2, "a reader and a writer");
        if number % 2 == 0 {
            // A read meets the dead line first.
            assert_eq!(engine.head(&world.caller), Ok(Seq(number + 2)));
        }
    }
    world.assert_sound();
}

#[test]
fn lines_cut_under_load_lose_nothing_acknowledged() {
    let world = World::new(Backend::postgres());
    world.plan(&["first"]);
    let (engine, schema) = named(&world);
    let done = AtomicBool::new(false);
    let acks: Vec<Vec<String>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let (engine, caller) = (&engine, World::caller(&format!("agent{number}")));
                scope.spawn(move || {
                    (0..40)
                        .map(|at| insist(engine, &caller, at))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let cutter = scope.spawn(|| {
            let (mut raw, mut cuts, mut dice) = (world.backend.raw(), 0, Dice::new(5));
            while !done.load(Ordering::SeqCst) {
                cuts += cut(&mut raw, &schema);
                // Long enough for a slow machine to open a line and write before it is cut.
                std::thread::sleep(Duration::from_millis(20 + dice.below(300) as u64));
            }
            cuts
        });
        let acks: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::SeqCst);
        assert!(cutter.join().expect("no panic") > 0, "nothing was cut");
        acks.into_iter()
            .map(|acks| acks.expect("no panic"))
            .collect()
    });
    let acks = acks.concat();
    let items = soil(&world, 1);
    assert_gapless(&items);
    let made: Vec<String> = created(&items)
        .into_iter()
        .filter(|h| h.starts_with("TASK"))
        .collect();
    assert_eq!(made.len(), acks.len() + 1, "each exactly once");
    assert!(
        acks.iter().all(|ack| made.contains(ack)),
        "acknowledged and lost"
    );
    world.assert_sound();
}

/// Calls with one key until it is acknowledged, as a client would.
fn insist(engine: &Engine, caller: &understory_model::Caller, at: usize) -> String {
    let args =
        json!({"nodes": [{"ref": "a", "summary": "x"}], "idempotency_key": format!("k{at}")});
    for _ in 0..200 {
        match World::call_on(engine, caller, "graph_plan", args.clone()) {
            Ok(answer) => {
                return answer["created"][0]["id"]
                    .as_str()
                    .expect("an id")
                    .to_string();
            }
            Err(fault) => assert_eq!(fault.code, Code::StoreUnavailable, "{fault:?}"),
        }
    }
    panic!("never acknowledged");
}
