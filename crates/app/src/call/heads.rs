//! Follows a workspace's log for everybody who listens.
//!
//! One thread waits for the store while anybody listens, and finds out once for all of them which
//! things the new items are about.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use understory_engine::kernel::touched::Touched;
use understory_engine::threads::wait::last_news;
use understory_model::{Caller, Fault, Seq};

use crate::log;
use crate::store::{STACK_BYTES, Store};

/// How long one wait for the store lasts; also how long the thread outlives its last listener.
const WAIT: Duration = Duration::from_secs(10);
/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(2);
/// Commits this close to one another are one change.
const GATHER: Duration = Duration::from_millis(20);
/// The head before the store was asked for it.
const UNKNOWN: Seq = Seq(-1);
/// Stretches of the log whose names are kept, for those who are slow to look.
const KEPT: usize = 64;

/// Follows a workspace's head.
pub struct Heads {
    store: Arc<Store>,
    /// As whom: only the workspace matters.
    caller: Caller,
    head: watch::Sender<Seq>,
    /// The place of the last message or change of a thread, for those who wait for one: not every
    /// commit is one.
    mail: watch::Sender<Seq>,
    running: Mutex<bool>,
    /// How many want to know what each commit is about.
    watching: AtomicUsize,
    /// What the last commits were about, while anybody wants to know.
    stretches: Mutex<VecDeque<Stretch>>,
}

/// A part of the log, and what it is about.
struct Stretch {
    after: Seq,
    upto: Seq,
    about: Arc<About>,
}

/// Names as numbers: two that happen to have the same one cost a look, no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(HashSet<u64>);

impl Names {
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Names {
        Names(names.into_iter().map(number).collect())
    }

    /// Everything in an answer that could be a name.
    pub fn of_answer(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.len() <= 64 => drop(self.0.insert(number(text))),
            Value::Array(values) => values.iter().for_each(|value| self.of_answer(value)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.0.insert(number(name));
                    self.of_answer(value);
                }
            }
            _ => {}
        }
    }

    pub fn add(&mut self, name: &str) {
        self.0.insert(number(name));
    }

    pub fn meets(&self, other: &Names) -> bool {
        !self.0.is_disjoint(&other.0)
    }
}

/// A mark of a text.
pub fn number(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// What items are about.
pub enum About {
    Names(Names),
    Anything,
}

impl Heads {
    pub fn new(store: Arc<Store>, caller: Caller) -> Arc<Heads> {
        Arc::new(Heads {
            store,
            caller,
            head: watch::Sender::new(UNKNOWN),
            mail: watch::Sender::new(UNKNOWN),
            running: Mutex::new(false),
            watching: AtomicUsize::new(0),
            stretches: Mutex::default(),
        })
    }

    /// A receiver that changes with each commit, and once at the beginning.
    pub fn follow(self: &Arc<Heads>) -> watch::Receiver<Seq> {
        let receiver = self.head.subscribe();
        self.begin();
        receiver
    }

    /// Follows what each commit from now on is about.
    pub fn watch(self: &Arc<Heads>) -> Following {
        self.watching.fetch_add(1, Ordering::SeqCst);
        let head = self.follow();
        let seen = *head.borrow();
        Following {
            seen,
            head,
            heads: Arc::clone(self),
        }
    }

    /// A receiver that changes with each message or change of a thread, and once at the beginning.
    pub fn follow_mail(self: &Arc<Heads>) -> watch::Receiver<Seq> {
        let receiver = self.mail.subscribe();
        self.begin();
        receiver
    }

    fn begin(self: &Arc<Heads>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !*running {
            self.head.send_replace(UNKNOWN);
            self.mail.send_replace(UNKNOWN);
            let heads = Arc::clone(self);
            let thread = std::thread::Builder::new()
                .name("heads".into())
                .stack_size(STACK_BYTES);
            *running = thread.spawn(move || heads.run()).is_ok();
        }
    }

    fn run(&self) {
        let mut known = None;
        loop {
            {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                if self.head.receiver_count() + self.mail.receiver_count() == 0 {
                    *running = false;
                    return;
                }
            }
            match self.wait(known) {
                Ok((head, mail)) => {
                    self.note(known, head);
                    known = Some(head);
                    for (sender, new) in [(&self.head, head), (&self.mail, mail)] {
                        sender.send_if_modified(|last| std::mem::replace(last, new) != new);
                    }
                }
                Err(fault) => {
                    log::debug(format_args!("cannot follow the store: {fault}"));
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Keeps what the log's new items are about, before anybody hears of them.
    fn note(&self, known: Option<Seq>, head: Seq) {
        if self.watching.load(Ordering::SeqCst) == 0 {
            self.stretches().clear();
            return;
        }
        let Some(after) = known.filter(|known| *known < head) else {
            return;
        };
        let touched = self
            .store
            .get()
            .and_then(|engine| engine.touched(&self.caller, after, head));
        let about = Arc::new(match touched {
            Ok(Touched::Names(names)) => About::Names(Names::of(names.iter().map(String::as_str))),
            // What cannot be told apart now may be about anything.
            Ok(Touched::Anything) | Err(_) => About::Anything,
        });
        let mut stretches = self.stretches();
        if stretches.len() >= KEPT {
            stretches.pop_front();
        }
        stretches.push_back(Stretch {
            after,
            upto: head,
            about,
        });
    }

    /// What was committed after a place of the log is about, as far as that is known.
    fn since(&self, seen: Seq) -> Vec<Arc<About>> {
        let stretches = self.stretches();
        if stretches.front().is_none_or(|first| first.after > seen) {
            return vec![Arc::new(About::Anything)];
        }
        let new = stretches.iter().filter(|stretch| stretch.upto > seen);
        new.map(|stretch| Arc::clone(&stretch.about)).collect()
    }

    fn stretches(&self) -> MutexGuard<'_, VecDeque<Stretch>> {
        self.stretches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The ends of the log and of its messages, once the log has grown.
    fn wait(&self, known: Option<Seq>) -> Result<(Seq, Seq), Fault> {
        let engine = self.store.get()?;
        let head = match known {
            Some(head) => engine.watch(&self.caller, head, WAIT)?,
            None => engine.head(&self.caller)?,
        };
        Ok((head, last_news(&engine, &self.caller)?))
    }
}

/// Somebody who wants to know what each commit is about.
pub struct Following {
    heads: Arc<Heads>,
    head: watch::Receiver<Seq>,
    /// The place of the log up to which it knows.
    seen: Seq,
}

impl Following {
    /// Waits for commits, and says what they are about; at first they may be about anything. None
    /// when nobody follows the log any more.
    pub async fn next(&mut self) -> Option<Vec<Arc<About>>> {
        self.head.changed().await.ok()?;
        tokio::time::sleep(GATHER).await;
        let head = *self.head.borrow_and_update();
        let about = self.heads.since(self.seen);
        self.seen = head;
        Some(about)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.heads.watching.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for the end of the client's input.
pub async fn over(end: &mut watch::Receiver<bool>) {
    let _ = end.wait_for(|over| *over).await;
}
