//! Noticing what changed, in this process or in another.

use std::time::Duration;

use understory_model::error::Result;
use understory_model::{Caller, Seq};

use crate::Engine;
use crate::kernel::clock::Wait;

/// How long another process's commit may go unnoticed. A look costs a few microseconds.
const LOOK: Duration = Duration::from_millis(40);

impl Engine {
    /// Waits until the log grows past `after` or the time is over; the place of its end.
    ///
    /// A commit of this process is noticed at once, another's within `LOOK`.
    pub fn watch(&self, caller: &Caller, after: Seq, timeout: Duration) -> Result<Seq> {
        let wait = Wait::of(timeout);
        loop {
            let head = self.head(caller)?;
            let left = wait.left();
            if head > after || left.is_zero() {
                return Ok(head);
            }
            self.store().wait_for_commit(left.min(LOOK));
        }
    }

    /// Looks, and looks again whenever the log has grown, until a look finds something or the time
    /// is over.
    pub fn until(
        &self,
        caller: &Caller,
        timeout: Duration,
        mut look: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        let wait = Wait::of(timeout);
        let mut head = self.head(caller)?;
        while !look()? && !wait.left().is_zero() {
            head = self.watch(caller, head, wait.left())?;
        }
        Ok(())
    }

    /// Waits as long as `go_on` says so, handing each growth of the log to `tell`.
    pub fn follow(
        &self,
        caller: &Caller,
        mut after: Seq,
        mut tell: impl FnMut(Seq) -> Result<()>,
        go_on: impl Fn() -> bool,
    ) -> Result<()> {
        while go_on() {
            let head = self.watch(caller, after, Duration::from_millis(250))?;
            if head > after {
                after = head;
                tell(head)?;
            }
        }
        Ok(())
    }
}
