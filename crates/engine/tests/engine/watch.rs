//! A watcher hears of every commit, and no read leaves a trace.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::Seq;
use understory_testkit::{Backend, World, on_both};

/// Long enough for a loaded machine; a watcher that hears nothing waits all of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for the log to grow while somebody else writes.
fn hears(world: &World, watcher: &Engine, write: impl FnOnce() + Send) {
    let before = Seq(world.head());
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let since = Instant::now();
            let head = watcher
                .watch(&world.caller, before, PATIENCE)
                .expect("watched");
            (head, since.elapsed())
        });
        std::thread::sleep(Duration::from_millis(60));
        write();
        let (head, waited) = watching.join().expect("no panic");
        assert!(head > before, "nothing was heard");
        assert!(waited < PATIENCE, "heard only when the time was over");
    });
}

fn talk(world: &World) {
    world.ok(
        "create_thread",
        json!({"title": "T", "participants": ["bob"]}),
    );
    let args = json!({"thread_id": "th_001", "body": "x"});
    world
        .call_as(&World::caller("bob"), "post_message", args)
        .expect("posted");
}

fn every_read() -> Vec<(&'static str, Value)> {
    vec![
        ("graph_onboard", json!({})),
        ("graph_open", json!({})),
        ("graph_open", json!({"project": "default"})),
        ("graph_next", json!({})),
        ("graph_next", json!({"count": 5, "scope": "PLAN-001"})),
        ("graph_context", json!({"node_id": "TASK-001"})),
        ("graph_query", json!({"filter": {"text": "one"}})),
        ("graph_query", json!({"sort": "recent", "limit": 1})),
        ("graph_history", json!({"node_id": "TASK-001"})),
        ("list_threads", json!({})),
        ("get_thread", json!({"thread_id": "th_001"})),
        ("read_messages", json!({"thread_id": "th_001"})),
        ("summarize_thread", json!({"thread_id": "th_001"})),
        (
            "wait_for_messages",
            json!({"thread_ids": ["th_001"], "since": 0, "timeout_s": 0}),
        ),
        ("toolset", json!({})),
    ]
}

fn read_everything(world: &World, engine: &Engine) {
    for (tool, args) in every_read() {
        World::call_on(engine, &world.caller, tool, args)
            .unwrap_or_else(|f| panic!("{tool}: {f:?}"));
    }
    engine.head(&world.caller).expect("a head");
    engine.workspace(&world.caller).expect("a workspace");
    assert!(engine.verify(None, true, |_, _| {}).expect("verified").ok);
}

/// Every row of every table with the transaction that wrote it and the place where it lies.
fn rows(world: &World) -> Vec<i64> {
    let mut raw = world.backend.raw();
    [
        "soil_item",
        "soil_workspace",
        "soil_meta",
        "core_meta",
        "core_head",
        "core_counter",
        "core_entity",
        "core_link",
        "core_node",
        "core_project",
        "core_key",
        "core_words",
        "core_grams",
        "core_thread",
        "core_message",
        "core_finding",
        "core_participant",
        "core_ask",
        "core_thread_change",
        "core_wake",
        "live_answer",
        "live_session",
        "live_waiting",
    ]
    .map(|table| {
        raw.number(&format!(
            "SELECT COALESCE(SUM(hashtextextended(CONCAT(xmin, ctid, t), 0) / 65536), 0)::bigint \
             FROM {table} t"
        ))
    })
    .to_vec()
}

#[on_both]
fn a_commit_of_this_engine_is_heard(world: World) {
    world.plan(&["one"]);
    hears(&world, &world.engine, || drop(world.plan(&["two"])));
}

#[on_both]
fn a_commit_of_another_engine_is_heard(world: World) {
    world.plan(&["one"]);
    let watcher = world.another();
    hears(&world, &watcher, || drop(world.plan(&["two"])));
}

#[on_both]
fn the_first_commit_of_a_store_is_heard(world: World) {
    let watcher = world.another();
    hears(&world, &watcher, || drop(world.plan(&["one"])));
}

/// Waits as one who waits for hours does, while somebody else writes; whether it was told.
fn is_told(world: &World, waiter: &Engine) -> bool {
    let mut quiet = waiter.quietly();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(60));
            drop(world.plan(&["two"]));
        });
        let since = Instant::now();
        quiet.within(PATIENCE) && since.elapsed() < PATIENCE
    })
}

#[on_both]
fn who_waits_quietly_is_told_of_a_commit(world: World) {
    world.plan(&["one"]);
    assert!(is_told(&world, &world.engine));
    let since = Instant::now();
    let mut quiet = world.engine.quietly();
    assert!(!quiet.within(Duration::from_millis(30)), "nobody wrote");
    assert!(since.elapsed() >= Duration::from_millis(30));
}

#[on_both]
fn a_commit_between_two_waits_is_not_missed(world: World) {
    world.plan(&["one"]);
    let mut quiet = world.engine.quietly();
    drop(world.plan(&["two"]));
    assert!(quiet.within(PATIENCE));
}

#[cfg(target_os = "linux")]
#[test]
fn who_waits_quietly_is_told_of_another_process() {
    let world = World::new(Backend::sqlite());
    world.plan(&["one"]);
    let waiter = world.another();
    assert!(waiter.quietly().is_told());
    assert!(is_told(&world, &waiter));
}

#[cfg(target_os = "linux")]
#[test]
fn who_waited_before_there_was_a_store_is_told_of_it() {
    let world = World::new(Backend::sqlite());
    let waiter = world.another();
    let mut quiet = waiter.quietly();
    assert!(!quiet.is_told(), "nothing is there yet");
    world.plan(&["one"]);
    assert!(quiet.within(PATIENCE), "there is something to look at");
    assert!(quiet.is_told());
}

#[on_both]
fn somebody_who_writes_all_the_time_does_not_make_those_who_wait_look_all_the_time(world: World) {
    const LOOK: Duration = Duration::from_millis(8);
    world.plan(&["one"]);
    let mut quiet = world.engine.quietly();
    let end = Instant::now() + Duration::from_millis(900);
    let looks = std::thread::scope(|scope| {
        scope.spawn(|| {
            while Instant::now() < end {
                drop(world.plan(&["more"]));
            }
        });
        let mut looks = 0;
        while Instant::now() < end {
            looks += u32::from(quiet.within(PATIENCE));
            std::thread::sleep(LOOK);
        }
        looks
    });
    // Each costs 8 ms and a rest of 160 ms.
    assert!((2..=7).contains(&looks), "{looks}");
}

#[on_both]
fn the_end_of_every_log_is_known(world: World) {
    assert_eq!(world.engine.ends(), Ok(Vec::new()));
    world.plan(&["one"]);
    let ends = world.engine.ends().expect("ends");
    assert_eq!(ends, [(world.caller.workspace.clone(), Seq(world.head()))]);
}

#[on_both]
fn a_watch_ends_when_its_time_is_over(world: World) {
    world.plan(&["one"]);
    let head = Seq(world.head());
    // A clock that was set back must not make it wait on.
    world.clock.turn(-3_600);
    assert_eq!(
        world
            .engine
            .watch(&world.caller, head, Duration::from_millis(30)),
        Ok(head)
    );
    assert_eq!(
        world.engine.watch(&world.caller, head, Duration::ZERO),
        Ok(head)
    );
    assert_eq!(
        world.engine.watch(&world.caller, Seq::ZERO, PATIENCE),
        Ok(head),
        "at once"
    );
}

#[on_both]
fn following_tells_each_growth_in_order(world: World) {
    world.plan(&["one"]);
    let first = Seq(world.head());
    let told = std::sync::Mutex::new(vec![first]);
    std::thread::scope(|scope| {
        let (told, world) = (&told, &world);
        let ended = scope.spawn(move || {
            world.engine.follow(
                &world.caller,
                first,
                |head| {
                    told.lock().expect("sound").push(head);
                    Ok(())
                },
                || told.lock().expect("sound").last() < Some(&(first + 5)),
            )
        });
        (0..5).for_each(|_| drop(world.plan(&["more"])));
        ended.join().expect("no panic").expect("followed");
    });
    let told = told.into_inner().expect("sound");
    assert!(
        told.is_sorted() && told.last() == Some(&(first + 5)),
        "{told:?}"
    );
}

#[test]
fn no_read_writes_to_a_file() {
    let world = World::new(Backend::sqlite());
    world.plan(&["one", "two"]);
    talk(&world);
    let state = || {
        ["", "-wal"].map(|ending| {
            let path = format!("{}{ending}", world.backend.store());
            let written = std::fs::metadata(&path)
                .and_then(|found| found.modified())
                .expect("there");
            (std::fs::read(&path).expect("readable"), written)
        })
    };
    let before = state();
    read_everything(&world, &world.engine);
    read_everything(&world, &world.another());
    assert!(state() == before, "a read wrote");
}

#[test]
fn no_read_writes_to_a_server() {
    let world = World::new(Backend::postgres());
    world.plan(&["one", "two"]);
    talk(&world);
    let before = rows(&world);
    read_everything(&world, &world.engine);
    // A server that lets nobody write serves every read.
    let url = world.backend.store().replace(
        "options=",
        "options=-cdefault_transaction_read_only%3Don%20",
    );
    let engine = Engine::open(&url, Options::default()).expect("opened");
    read_everything(&world, &engine);
    let refused = World::call_on(
        &engine,
        &world.caller,
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "x"}]}),
    );
    assert!(
        refused
            .expect_err("read-only")
            .message
            .contains("does not let this user write")
    );
    assert_eq!(rows(&world), before, "a read wrote");
}

#[test]
fn a_reader_does_not_stop_a_writer() {
    let world = World::new(Backend::sqlite());
    world.plan(&["one"]);
    let other = world.another();
    let seen = other.view(&world.caller, |_| {
        // In the middle of a read, somebody writes.
        world.plan(&["two"]);
        Ok(world.head())
    });
    assert_eq!(seen, Ok(4));
}
