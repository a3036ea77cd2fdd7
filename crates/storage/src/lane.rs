//! Group commit: many writers, one transaction, each acknowledged after its commit.
//!
//! A writer that finds the lane free leads: it runs its own job, and every job that queued
//! meanwhile, in one transaction, commits, and only then lets anyone know. Without contention no
//! other thread is involved, so a lone write costs no hand-over. Whose jobs come next is
//! decided in `queue.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use understory_model::error::{Code, Fault, Result};

use crate::queue::{Next, Queue, Ran};
use crate::sql::Tx;

/// A job whose answer type is forgotten.
pub trait Job: Send {
    /// Runs in a transaction; false means that what it wrote is to be rolled back.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// The error that made the whole transaction fail, which then is this job's answer too.
    fn fail(&mut self, fault: Fault);
    /// Sends the answer; nothing may be sent before the commit.
    fn answer(self: Box<Self>);
    /// The workspace that it writes to.
    fn workspace(&self) -> &str;
    /// How long its last run took.
    fn took(&self) -> Duration;
    /// Makes the waiting writer lead the next transaction.
    fn lead(&self);
}

enum Signal<T> {
    Answer(Result<T>),
    Lead,
}

struct Typed<T, F> {
    workspace: String,
    took: Duration,
    work: F,
    result: Option<Result<T>>,
    to: SyncSender<Signal<T>>,
}

impl<T: Send, F: FnMut(&mut Tx<'_>) -> Result<T> + Send> Job for Typed<T, F> {
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let began = Instant::now();
        // A panic in one job must not take down the writers that share the transaction.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(tx))).unwrap_or_else(|_| {
            Err(Fault::new(
                Code::Internal,
                "internal error: the write was aborted; nothing was written",
            )
            .hint("Please report it."))
        });
        self.took = began.elapsed();
        let ok = result.is_ok();
        self.result = Some(result);
        ok
    }

    fn fail(&mut self, fault: Fault) {
        self.result = Some(Err(fault));
    }

    fn answer(self: Box<Self>) {
        let result = self.result.unwrap_or_else(|| Err(interrupted()));
        // A writer that is gone needs no answer.
        let _ = self.to.send(Signal::Answer(result));
    }

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn took(&self) -> Duration {
        self.took
    }

    fn lead(&self) {
        let _ = self.to.send(Signal::Lead);
    }
}

fn interrupted() -> Fault {
    Fault::new(Code::Internal, "the write was interrupted")
}

/// Where the writers of one connection meet.
pub struct Lane {
    queue: Mutex<Queue<Box<dyn Job>>>,
    /// Told when a job comes while the leader waits.
    came: Condvar,
}

impl Lane {
    /// A job that takes longer than `heavy` is one that others should not have to wait for twice.
    pub fn new(heavy: Duration) -> Lane {
        Lane {
            queue: Mutex::new(Queue::new(heavy)),
            came: Condvar::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<Box<dyn Job>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job and waits for its answer, leading when nobody else does. `transact` runs a
    /// batch of jobs in one transaction and leaves a result in each.
    pub fn submit<T, F>(
        &self,
        workspace: &str,
        work: F,
        transact: impl Fn(&mut Vec<Box<dyn Job>>),
    ) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        // Room for both signals, so that a leader never waits for a follower.
        let (to, from) = sync_channel(2);
        let leads = {
            let mut queue = self.queue();
            let job = Box::new(Typed {
                workspace: workspace.to_string(),
                took: Duration::ZERO,
                work,
                result: None,
                to,
            });
            queue.push(workspace, job);
            !std::mem::replace(&mut queue.led, true)
        };
        if leads {
            self.lead(&transact);
        } else {
            self.came.notify_all();
        }
        self.wait(&from, &transact)
    }

    fn wait<T>(
        &self,
        from: &Receiver<Signal<T>>,
        transact: &impl Fn(&mut Vec<Box<dyn Job>>),
    ) -> Result<T> {
        loop {
            match from.recv() {
                Ok(Signal::Answer(result)) => return result,
                Ok(Signal::Lead) => self.lead(transact),
                Err(_) => return Err(interrupted()),
            }
        }
    }

    /// Runs the next batch, then hands the lane to one who still waits.
    fn lead(&self, transact: &impl Fn(&mut Vec<Box<dyn Job>>)) {
        let mut batch = self.next();
        // Should a job panic, the lane must still be handed on: the guard does it on every way out.
        let hand_over = HandOver(self);
        transact(&mut batch);
        let ran = batch.iter().map(|job| Ran {
            workspace: job.workspace(),
            took: job.took(),
        });
        self.queue().finished(Instant::now(), ran);
        drop(hand_over);
        for job in batch {
            job.answer();
        }
    }

    /// The jobs whose turn it is; waits while only those are queued that have to rest.
    fn next(&self) -> Vec<Box<dyn Job>> {
        let mut queue = self.queue();
        loop {
            match queue.next(Instant::now()) {
                Next::Run(jobs) => return jobs,
                Next::Rest(time) => {
                    let waited = self.came.wait_timeout(queue, time);
                    queue = waited.map_or_else(|e| e.into_inner().0, |(queue, _)| queue);
                }
            }
        }
    }
}

struct HandOver<'a>(&'a Lane);

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.first() {
            Some(next) => next.lead(),
            None => queue.led = false,
        }
    }
}
