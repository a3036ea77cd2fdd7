//! One transaction for many jobs, each of them kept or rolled back on its own.

use std::sync::Arc;

use understory_model::error::{Code, Fault, Result};

use crate::lane::Job;
use crate::sql::{Conn, Trouble, Tx};
use crate::store::Probe;
use crate::texts;

/// What became of a transaction; `Some` trouble means that it is safe and worth while to run it
/// again.
pub type Outcome = (Result<()>, Option<Trouble>);

/// The fault for a core that another version derived.
pub fn stale() -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        "what is derived from the log was derived by another version of Understory",
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
pub fn run(conn: &mut Conn, probe: Option<Arc<Probe>>, batch: &mut [Box<dyn Job>]) -> Outcome {
    let mut tx = Tx::new(conn, probe);
    let ran = run_jobs(&mut tx, batch);
    let trouble = tx.trouble();
    match ran {
        Ok(Kept::Some) if trouble.is_none() => commit(tx),
        Ok(kept) => {
            let rolled_back = conn.batch("ROLLBACK");
            match (trouble, kept, rolled_back) {
                (Some(_), _, _) => (Err(not_taken()), trouble),
                // Every job of the batch was refused and has its own answer.
                (None, _, Ok(())) => (Ok(()), None),
                // SQLite rolls back by itself when the disk is full or fails.
                (None, Kept::None(Some(fault)), Err(_)) => (Err(fault), None),
                (None, _, Err(error)) => (Err(error.fault), None),
            }
        }
        Err(fault) => {
            let _ = conn.batch("ROLLBACK");
            (Err(fault), trouble)
        }
    }
}

fn commit(mut tx: Tx<'_>) -> Outcome {
    let Err(fault) = tx.batch("COMMIT") else {
        return (Ok(()), None);
    };
    match tx.trouble() {
        // It may have taken place and only its answer be lost, so it is not repeated.
        Some(Trouble::Lost) => {
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

/// Whether there is anything to commit; when not, the first statement that failed.
enum Kept {
    Some,
    None(Option<Fault>),
}

fn run_jobs(tx: &mut Tx<'_>, batch: &mut [Box<dyn Job>]) -> Result<Kept> {
    let shared = batch.len() > 1;
    let begin = tx.dialect().begin_write();
    if !tx.begin(begin)? {
        // A connection that is opened anew is looked at, and core replayed.
        tx.lose();
        return Err(stale());
    }
    let (mut wrote, mut first) = (false, None);
    for job in batch.iter_mut() {
        if shared {
            tx.batch("SAVEPOINT job")?;
        }
        let texts = tx.deferred().len();
        let ran = job.run(tx);
        // Both flags are this job's alone: none may be left for the next one.
        let (discarded, failed) = (tx.take_discarded(), tx.take_failed());
        if tx.trouble().is_some() {
            break;
        }
        if let (true, Some(fault)) = (ran, &failed) {
            job.fail(fault.clone());
        }
        let kept = ran && !discarded && failed.is_none();
        wrote |= kept;
        if !kept {
            tx.deferred().truncate(texts);
        }
        if shared && !kept {
            let back = tx.batch("ROLLBACK TO job");
            back.map_err(|fault| failed.clone().unwrap_or(fault))?;
        }
        if shared {
            tx.batch("RELEASE job")?;
        }
        first = first.or(failed);
    }
    let deferred = std::mem::take(tx.deferred());
    texts::apply(tx, &deferred)?;
    Ok(if wrote { Kept::Some } else { Kept::None(first) })
}

fn not_taken() -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        "the store did not take the write: nothing was written",
    )
    .hint("Call again.")
}
