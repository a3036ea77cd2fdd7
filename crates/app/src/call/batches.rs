//! Work that many ask for at the same moment, done for all of them at once: a request that arrives
//! meanwhile is in the next batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;

use crate::log;

/// Jobs, and how a batch of them is done.
pub struct Batches<J> {
    work: Box<dyn Fn(Vec<J>) + Send + Sync>,
    queue: Mutex<Queue<J>>,
}

struct Queue<J> {
    jobs: Vec<J>,
    /// Whether a thread takes them.
    running: bool,
}

impl<J: Send + 'static> Batches<J> {
    pub fn new(work: impl Fn(Vec<J>) + Send + Sync + 'static) -> Arc<Batches<J>> {
        Arc::new(Batches {
            work: Box::new(work),
            queue: Mutex::new(Queue {
                jobs: Vec::new(),
                running: false,
            }),
        })
    }

    /// Adds a job, which is dropped where nothing runs any more.
    pub fn add(self: &Arc<Batches<J>>, job: J) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut queue = self.queue();
        queue.jobs.push(job);
        if !queue.running {
            queue.running = true;
            let batches = Arc::clone(self);
            runtime.spawn_blocking(move || batches.run());
        }
    }

    /// Whether everything that was added is done.
    pub fn is_idle(&self) -> bool {
        !self.queue().running
    }

    fn run(&self) {
        loop {
            let jobs = {
                let mut queue = self.queue();
                if queue.jobs.is_empty() {
                    queue.running = false;
                    return;
                }
                std::mem::take(&mut queue.jobs)
            };
            // One batch that fails must not be the end of all that come later.
            if catch_unwind(AssertUnwindSafe(|| (self.work)(jobs))).is_err() {
                log::debug(format_args!("a batch of work did not end"));
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<J>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn who_comes_meanwhile_is_in_the_next_batch() {
        let (begun, begins) = mpsc::channel();
        let (done, rest) = mpsc::channel::<()>();
        let rest = Mutex::new(rest);
        let batches = Batches::new(move |jobs: Vec<u32>| {
            begun.send(jobs.clone()).unwrap();
            rest.lock().unwrap().recv().unwrap();
            assert!(!jobs.contains(&1), "a failure ends its own batch only");
        });
        batches.add(1);
        assert_eq!(begins.recv().unwrap(), [1]);
        (2..5).for_each(|job| batches.add(job));
        assert!(!batches.is_idle());
        done.send(()).unwrap();
        assert_eq!(begins.recv().unwrap(), [2, 3, 4]);
        done.send(()).unwrap();
        while !batches.is_idle() {
            tokio::task::yield_now().await;
        }
        batches.add(5);
        assert_eq!(begins.recv().unwrap(), [5]);
        done.send(()).unwrap();
    }
}
