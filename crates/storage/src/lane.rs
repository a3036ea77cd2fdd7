//! Group commit: many writers, one transaction, each acknowledged after its commit.
//!
//! A writer that finds the lane free leads: it runs its own job, and every job that queued
//! meanwhile, in one transaction, commits, and only then lets anyone know. Without contention no
//! other thread is involved, so a lone write costs no hand-over.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use understory_model::error::{Code, Fault, Result};

use crate::sql::Tx;

/// Jobs in one transaction at the most: bounds how long the first of them waits.
const MOST: usize = 256;

/// A job whose answer type is forgotten.
pub trait Job: Send {
    /// Runs in a transaction; false means that what it wrote is to be rolled back.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// The error that made the whole transaction fail, which then is this job's answer too.
    fn fail(&mut self, fault: Fault);
    /// Sends the answer; nothing may be sent before the commit.
    fn answer(self: Box<Self>);
    /// Makes the waiting writer lead the next transaction.
    fn lead(&self);
}

enum Signal<T> {
    Answer(Result<T>),
    Lead,
}

struct Typed<T, F> {
    work: F,
    result: Option<Result<T>>,
    to: SyncSender<Signal<T>>,
}

impl<T: Send, F: FnMut(&mut Tx<'_>) -> Result<T> + Send> Job for Typed<T, F> {
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A fault of ours must not take down the writers that share the transaction.
        let result = catch_unwind(AssertUnwindSafe(|| (self.work)(tx))).unwrap_or_else(|_| {
            Err(
                Fault::new(Code::Internal, "the write broke off: nothing was written")
                    .hint("This is a fault of Understory's: please report it."),
            )
        });
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

    fn lead(&self) {
        let _ = self.to.send(Signal::Lead);
    }
}

fn interrupted() -> Fault {
    Fault::new(Code::Internal, "the write was interrupted")
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Box<dyn Job>>,
    led: bool,
}

/// Where the writers of one connection meet.
#[derive(Default)]
pub struct Lane {
    queue: Mutex<Queue>,
}

impl Lane {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job and waits for its answer, leading when nobody else does. `transact` runs a
    /// batch of jobs in one transaction and leaves a result in each.
    pub fn submit<T, F>(&self, work: F, transact: impl Fn(&mut Vec<Box<dyn Job>>)) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        // Room for both signals, so that a leader never waits for a follower.
        let (to, from) = sync_channel(2);
        let leads = {
            let mut queue = self.queue();
            queue.jobs.push(Box::new(Typed {
                work,
                result: None,
                to,
            }));
            !std::mem::replace(&mut queue.led, true)
        };
        if leads {
            self.lead(&transact);
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

    /// Runs what is queued, then hands the lane to the first who came meanwhile.
    fn lead(&self, transact: &impl Fn(&mut Vec<Box<dyn Job>>)) {
        let mut batch = {
            let mut queue = self.queue();
            let most = queue.jobs.len().min(MOST);
            queue.jobs.drain(..most).collect::<Vec<_>>()
        };
        // Should a job panic, the lane must still be handed on: the guard does it on every way out.
        let hand_over = HandOver(self);
        transact(&mut batch);
        drop(hand_over);
        for job in batch {
            job.answer();
        }
    }
}

struct HandOver<'a>(&'a Lane);

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.jobs.first() {
            Some(next) => next.lead(),
            None => queue.led = false,
        }
    }
}
