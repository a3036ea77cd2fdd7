//! Noticing what changed, in this process or in another.

use std::time::Duration;

use understory_model::error::Result;
use understory_model::{Caller, Seq};
use understory_storage::notice::Notice;
use understory_storage::workspaces;

use crate::Engine;
use crate::kernel::clock::Wait;

/// How long another process's commit may go unnoticed. A look costs a few microseconds.
const LOOK: Duration = Duration::from_millis(40);

/// How often one who waits quietly looks by itself: where the system says when the store's files
/// are written, and where nobody does.
const QUIET: Duration = Duration::from_secs(2);
const UNTOLD: Duration = Duration::from_secs(1);

/// When to look again after the files were written and nothing was found: what SQLite writes is
/// seen a moment later, and no second event says so.
const AGAIN: [Duration; 3] = [
    Duration::from_millis(5),
    Duration::from_millis(40),
    Duration::from_millis(300),
];

/// Looks take no more than this part of the time, however much is written, but nobody waits longer for the
/// next one than `REST.1`, and somebody who writes all the time causes one look in `REST.0` at most.
const SHARE: u32 = 20;
const REST: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));

/// Waits for hours at next to no cost, where [`Engine::watch`] looks 25 times a second: for a
/// process that does nothing else. On SQLite it is told by the system when the store's files
/// change.
pub struct Quiet<'e> {
    engine: &'e Engine,
    notice: Option<Notice>,
    /// Which of `AGAIN` is next, and when that is.
    looks: usize,
    due: Option<Wait>,
    /// How many commits of this process it knows of.
    commits: u64,
    /// Since when its owner looks.
    look: Wait,
}

impl Quiet<'_> {
    /// Whether the system says when another process writes.
    pub fn is_told(&self) -> bool {
        self.notice.is_some()
    }

    /// Returns when it is time to look: any process wrote something, or a while is over.
    pub fn wait(&mut self) {
        self.within(if self.is_told() { QUIET } else { UNTOLD });
    }

    /// Waits until it is time to look because of what somebody wrote, or for `most`; whether it is.
    /// Where the system says nothing, only commits of this process count. After a look it rests first.
    pub fn within(&mut self, most: Duration) -> bool {
        std::thread::sleep((self.look.lasted() * SHARE).clamp(REST.0, REST.1));
        let is_time = self.is_time(most);
        self.look = Wait::of(Duration::ZERO);
        is_time
    }

    fn is_time(&mut self, most: Duration) -> bool {
        if self.notice.is_none() {
            // There may be a store by now, or room for one more who is told.
            self.notice = Notice::of(self.engine.store());
            if self.is_told() {
                // What was written before that is seen by a look.
                self.look_again(0);
                return true;
            }
        }
        let Some(notice) = &self.notice else {
            let known = self.commits;
            self.engine.store().wait_for_commit(known, most);
            // Read once: a commit that comes now is either this one or found at the next call.
            self.commits = self.engine.store().commits();
            return self.commits != known;
        };
        let left = self.due.map(Wait::left);
        if notice.wait(left.map_or(most, |left| left.min(most))) {
            self.look_again(0);
            return true;
        }
        let is_due = self.due.is_some_and(|due| due.left().is_zero());
        if is_due {
            self.look_again(self.looks + 1);
        }
        is_due
    }

    fn look_again(&mut self, looks: usize) {
        self.looks = looks;
        self.due = AGAIN.get(looks).copied().map(Wait::of);
    }
}

impl Engine {
    /// For one who waits for hours.
    pub fn quietly(&self) -> Quiet<'_> {
        Quiet {
            engine: self,
            notice: Notice::of(self.store()),
            looks: AGAIN.len(),
            due: None,
            commits: self.store().commits(),
            look: Wait::of(Duration::ZERO),
        }
    }

    /// Every workspace, and where its log ends.
    pub fn ends(&self) -> Result<Vec<(String, Seq)>> {
        let found = self.store().read(|tx| {
            let mut ends = Vec::new();
            for workspace in workspaces::list(tx)? {
                let head = workspaces::head(tx, workspace.ws, false)?;
                ends.push((workspace.name, head.map_or(Seq::ZERO, |head| head.seq)));
            }
            Ok(ends)
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Waits until the log grows past `after` or the time is over; the place of its end.
    ///
    /// A commit of this process is noticed at once, another's within `LOOK`.
    pub fn watch(&self, caller: &Caller, after: Seq, timeout: Duration) -> Result<Seq> {
        let wait = Wait::of(timeout);
        loop {
            let commits = self.store().commits();
            let head = self.head(caller)?;
            let left = wait.left();
            if head > after || left.is_zero() {
                return Ok(head);
            }
            self.store().wait_for_commit(commits, left.min(LOOK));
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
