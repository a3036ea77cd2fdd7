//! No statement and no read goes on for ever: each is ended, leaves no trace, and the next one is
//! served. Work that must see all of the log is not ended.

use std::time::Duration;

use understory_model::{Code, Fault};
use understory_storage::{Arg, Options, Patience, Store, Tx};
use understory_testkit::Backend;

/// Counts further than anybody waits.
const ENDLESS: &str = "WITH RECURSIVE n(x) AS (SELECT CAST(1 AS BIGINT) UNION ALL \
                       SELECT x + 1 FROM n WHERE x < ?1) \
                       SELECT COUNT(*) FROM n";

fn count(tx: &mut Tx<'_>, most: i64) -> Result<i64, Fault> {
    let row = tx.row(ENDLESS, &[Arg::Int(most)])?;
    row.map_or(Ok(0), |row| row.int(0))
}

fn store(backend: &Backend, statement: u64, read: u64) -> Store {
    let patience = Patience {
        statement: Duration::from_millis(statement),
        read: Duration::from_millis(read),
        ..Patience::default()
    };
    let options = Options {
        patience,
        ..Options::default()
    };
    let store = Store::new(&backend.store(), options);
    // A store that is not there yet is not read.
    store.write("w", |tx| count(tx, 1)).expect("a store");
    store
}

fn on_each(test: fn(&Backend)) {
    test(&Backend::sqlite());
    test(&Backend::postgres());
}

#[test]
fn a_statement_that_goes_on_and_on_is_ended() {
    on_each(|backend| {
        let store = store(backend, 200, 60_000);
        let fault = store.read(|tx| count(tx, i64::MAX - 1)).unwrap_err();
        assert_eq!(fault.code, Code::TimedOut, "{fault}");
        assert!(
            fault.message.contains("exceeded the store's time limit"),
            "{fault}"
        );
        assert_eq!(store.read(|tx| count(tx, 10)).unwrap(), Some(10));
    });
}

#[test]
fn a_lock_that_is_not_given_in_time_is_told_as_such() {
    let backend = Backend::postgres();
    let store = store(&backend, 600, 60_000);
    let made = store.write("w", |tx| tx.batch("CREATE TABLE held (x BIGINT)"));
    made.expect("a table");
    let mut other = backend.raw();
    other.run("BEGIN").unwrap();
    other
        .run("LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
        .unwrap();
    let fault = store
        .write("w", |tx| tx.batch("INSERT INTO held VALUES (1)"))
        .unwrap_err();
    assert_eq!(fault.code, Code::TimedOut, "{fault}");
    assert!(fault.message.contains("another process holds"), "{fault}");
    assert!(fault.message.contains("nothing was written"), "{fault}");
    other.run("ROLLBACK").unwrap();
    let rows = store.read(|tx| tx.row("SELECT COUNT(*) FROM held", &[]));
    let rows = rows.unwrap().flatten().expect("a row");
    assert_eq!(rows.int(0), Ok(0_i64));
}

#[test]
fn a_transaction_that_pauses_too_long_is_ended_and_told_as_such() {
    let backend = Backend::postgres();
    let store = store(&backend, 100, 60_000);
    let fault = store
        .write("w", |tx| {
            tx.batch("CREATE TABLE trace (x BIGINT)")?;
            // What is tested is the pause itself: twice the time that the server allows.
            std::thread::sleep(Duration::from_millis(400));
            count(tx, 10)
        })
        .unwrap_err();
    assert_eq!(fault.code, Code::TimedOut, "{fault}");
    assert!(fault.message.contains("paused too long"), "{fault}");
    assert_eq!(
        store.write("w", |tx| count(tx, 10)).unwrap(),
        10,
        "the next one is served"
    );
    let gone = store.read(|tx| tx.row("SELECT to_regclass('trace') IS NULL", &[]));
    assert!(gone.unwrap().flatten().expect("a row").flag(0).unwrap());
}

#[test]
fn a_read_of_many_statements_is_ended_too() {
    on_each(|backend| {
        let store = store(backend, 60_000, 200);
        let ended = store.read(|tx| {
            loop {
                count(tx, 1_000)?;
            }
            #[allow(unreachable_code)]
            Ok(())
        });
        assert_eq!(ended.unwrap_err().code, Code::TimedOut);
        assert_eq!(store.read(|tx| count(tx, 10)).unwrap(), Some(10));
    });
}

#[test]
fn a_write_on_a_server_is_ended_and_leaves_no_trace() {
    let backend = Backend::postgres();
    let store = store(&backend, 200, 60_000);
    let fault = store
        .write("w", |tx| {
            tx.batch("CREATE TABLE trace (x BIGINT)")?;
            count(tx, i64::MAX - 1)
        })
        .unwrap_err();
    assert_eq!(fault.code, Code::TimedOut, "{fault}");
    let there = store
        .read(|tx| tx.row("SELECT to_regclass('trace') IS NULL", &[]))
        .unwrap()
        .flatten()
        .expect("a row");
    assert!(there.flag(0).unwrap());
    assert_eq!(store.write("w", |tx| count(tx, 10)).unwrap(), 10);
}

#[test]
fn what_must_see_everything_has_no_limit() {
    on_each(|backend| {
        let store = store(backend, 20, 20);
        // Some twenty times as long as the limit, on any machine.
        let counted = store.read(|tx| {
            tx.without_limits()?;
            count(tx, 2_000_000)
        });
        assert_eq!(counted.unwrap(), Some(2_000_000));
        let fault = store.read(|tx| count(tx, i64::MAX - 1)).unwrap_err();
        assert_eq!(fault.code, Code::TimedOut, "the limit is back");
    });
}
