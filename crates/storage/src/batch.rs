//! One transaction for many jobs, each of them kept or rolled back on its own.

use std::sync::Arc;

use understory_model::error::{Code, Fault, Result};

use crate::lane::Job;
use crate::sql::{Conn, Transient, Tx};
use crate::store::Probe;
use crate::texts;

/// What became of a transaction, and whether it is safe and worthwhile to retry it.
pub type Outcome = (Result<()>, Option<Transient>);

/// The fault for derived tables that another version built.
pub fn stale() -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        "the derived tables were built by another version of Understory",
    )
    .hint("Run `understory rebuild`, or make any write; the log itself is untouched.")
}

/// Runs work of our own in a transaction, outside of any batch.
pub fn in_transaction(
    conn: &mut Conn,
    probe: Option<Arc<Probe>>,
    work: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<()> {
    let mut tx = Tx::new(conn, probe);
    let begin = tx.dialect().begin_write();
    let done = tx
        .batch(begin)
        .and_then(|()| work(&mut tx))
        .and_then(|()| tx.batch("COMMIT"));
    if done.is_err() {
        // What could not be begun or is rolled back already says so; the first fault counts.
        let _ = conn.batch("ROLLBACK");
    }
    done
}

/// Runs the jobs of a batch in one transaction.
///
/// Few jobs are refused, and those mostly before they change anything. So a batch is run without
/// the means to undo one job alone, which every job would pay for; should one need it, the batch
/// is run again with them.
pub fn run(conn: &mut Conn, probe: Option<Arc<Probe>>, batch: &mut [Box<dyn Job>]) -> Outcome {
    if batch.len() > 1
        && let Some(outcome) = run_once(conn, probe.clone(), batch, false)
    {
        return outcome;
    }
    let undoable = batch.len() > 1;
    run_once(conn, probe, batch, undoable).unwrap_or_else(|| (Err(not_taken()), None))
}

/// One run; `None` when a job has to be undone alone and cannot: everything is rolled back then.
fn run_once(
    conn: &mut Conn,
    probe: Option<Arc<Probe>>,
    batch: &mut [Box<dyn Job>],
    undoable: bool,
) -> Option<Outcome> {
    let mut tx = Tx::new(conn, probe);
    let ran = run_jobs(&mut tx, batch, undoable);
    let transient = tx.transient();
    Some(match ran {
        Ok(Ending::RollBackAndRepeat(failed)) if transient.is_none() => {
            // SQLite rolls back by itself when the disk is full or fails.
            let rolled_back = conn.batch("ROLLBACK").err();
            return rolled_back.map(|error| (Err(failed.unwrap_or(error.fault)), error.transient));
        }
        Ok(Ending::Commit) if transient.is_none() => commit(tx),
        Ok(ending) => {
            let rolled_back = conn.batch("ROLLBACK");
            match (transient, ending, rolled_back) {
                // What the database said is clearer than that it did not take the write.
                (Some(_), Ending::RollBack(Some(fault)), _) => (Err(fault), transient),
                (Some(_), _, _) => (Err(not_taken()), transient),
                // Every job of the batch was refused and has its own answer.
                (None, _, Ok(())) => (Ok(()), None),
                // SQLite rolls back by itself when the disk is full or fails.
                (None, Ending::RollBack(Some(fault)), Err(_)) => (Err(fault), None),
                (None, _, Err(error)) => (Err(error.fault), None),
            }
        }
        Err(fault) => {
            let _ = conn.batch("ROLLBACK");
            (Err(fault), transient)
        }
    })
}

fn commit(mut tx: Tx<'_>) -> Outcome {
    let Err(fault) = tx.batch("COMMIT") else {
        return (Ok(()), None);
    };
    match tx.transient() {
        // It may have taken place and only its answer be lost, so it is not repeated.
        Some(Transient::ConnectionLost) => {
            let hint = "Whether this was written is unknown: call again with the same \
                        idempotency_key, or look first.";
            (Err(fault.hint(hint)), None)
        }
        // A refused one was rolled back.
        again => {
            tx.abandon();
            (Err(fault), again)
        }
    }
}

/// How a transaction has to end after its jobs ran.
enum Ending {
    Commit,
    /// No job wrote anything; the first statement that failed.
    RollBack(Option<Fault>),
    /// One of several jobs has to be undone, so all run again; the statement of it that failed.
    RollBackAndRepeat(Option<Fault>),
}

fn run_jobs(tx: &mut Tx<'_>, batch: &mut [Box<dyn Job>], undoable: bool) -> Result<Ending> {
    let shared = batch.len() > 1;
    let begin = tx.dialect().begin_write();
    if !tx.begin(begin)? {
        // A connection that is opened anew is looked at, and core replayed.
        tx.lose();
        return Err(stale());
    }
    let (mut wrote, mut first) = (false, None);
    for job in batch.iter_mut() {
        if undoable {
            tx.batch("SAVEPOINT job")?;
        }
        let (texts, changes) = (tx.deferred().len(), tx.changes());
        let ran = job.run(tx);
        // Both flags are this job's alone: none may be left for the next one.
        let (discarded, failed) = (tx.take_discarded(), tx.take_failed());
        if tx.transient().is_some() {
            return Ok(Ending::RollBack(first.or(failed)));
        }
        if let (true, Some(fault)) = (ran, &failed) {
            job.fail(fault.clone());
        }
        let kept = ran && !discarded && failed.is_none();
        wrote |= kept;
        if !kept {
            tx.roll_back_job(texts);
        }
        // After a failed statement PostgreSQL takes no other.
        if shared && !undoable && !kept && (tx.changes() > changes || failed.is_some()) {
            return Ok(Ending::RollBackAndRepeat(failed));
        }
        if undoable && !kept {
            let back = tx.batch("ROLLBACK TO job");
            back.map_err(|fault| failed.clone().unwrap_or(fault))?;
        }
        if undoable {
            tx.batch("RELEASE job")?;
        }
        first = first.or(failed);
    }
    let deferred = std::mem::take(tx.deferred());
    texts::apply(tx, &deferred)?;
    tx.send()?;
    Ok(if wrote {
        Ending::Commit
    } else {
        Ending::RollBack(first)
    })
}

fn not_taken() -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        "the store did not take the write: nothing was written",
    )
    .hint("Call again.")
}
