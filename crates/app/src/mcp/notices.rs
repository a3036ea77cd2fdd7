//! Tells clients that a resource has changed, after the commit, whoever made it.
//!
//! One thread waits for the store while anybody listens. A commit somewhere in the workspace is
//! only a reason to look: a notice is sent when what the client would read is different.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use understory_engine::threads::wait::last_news;
use understory_model::{Caller, Fault};

use super::call::Calls;
use super::resources;
use crate::log;
use crate::store::{STACK_BYTES, Store};

/// The most resources that one client may watch.
pub const MAX_WATCHED: usize = 256;
/// How long one wait for the store lasts; also how long the thread outlives its last listener.
const WAIT: Duration = Duration::from_secs(10);
/// The pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(2);
/// Commits this close to one another are one change.
const GATHER: Duration = Duration::from_millis(20);

/// Follows a workspace's head.
pub struct Heads {
    store: Arc<Store>,
    /// As whom: only the workspace matters.
    caller: Caller,
    head: watch::Sender<i64>,
    /// The place of the last message or change of a thread, for those who wait for one: not every
    /// commit is one.
    mail: watch::Sender<i64>,
    running: Mutex<bool>,
}

impl Heads {
    pub fn new(store: Arc<Store>, caller: Caller) -> Arc<Heads> {
        Arc::new(Heads {
            store,
            caller,
            head: watch::Sender::new(-1),
            mail: watch::Sender::new(-1),
            running: Mutex::new(false),
        })
    }

    /// A receiver that changes with each commit, and once at the beginning.
    pub fn follow(self: &Arc<Heads>) -> watch::Receiver<i64> {
        let receiver = self.head.subscribe();
        self.begin();
        receiver
    }

    /// A receiver that changes with each message or change of a thread, and once at the beginning.
    pub fn follow_mail(self: &Arc<Heads>) -> watch::Receiver<i64> {
        let receiver = self.mail.subscribe();
        self.begin();
        receiver
    }

    fn begin(self: &Arc<Heads>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !*running {
            self.head.send_replace(-1);
            self.mail.send_replace(-1);
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

    /// The ends of the log and of its messages, once the log has grown.
    fn wait(&self, known: Option<i64>) -> Result<(i64, i64), Fault> {
        let engine = self.store.get()?;
        let head = match known {
            Some(head) => engine.watch(&self.caller, head, WAIT)?,
            None => engine.head(&self.caller)?,
        };
        Ok((head, last_news(&engine, &self.caller)?))
    }
}

/// The resources that one client watches, each with a mark of what it was last seen to hold.
#[derive(Default)]
pub struct Watched {
    marks: Mutex<BTreeMap<String, Option<u64>>>,
}

/// What it takes to look at a resource: as whom, where, and by which means.
pub struct Eyes {
    pub calls: Arc<Calls>,
    pub caller: Caller,
    pub workspace: String,
}

impl Eyes {
    /// A mark of what the resource holds now; a refusal is something to hold, too.
    async fn look(&self, uri: &str) -> u64 {
        let call = resources::find(uri, &self.workspace)
            .and_then(|found| found.call(self.caller.clone(), "req_watch".to_owned()));
        let answer = match call {
            Ok(call) => self.calls.run(call, CancellationToken::new()).await,
            Err(fault) => Err(fault),
        };
        let mut hasher = DefaultHasher::new();
        match answer {
            Ok(mut value) => {
                // Who is here changes with everything that anybody does anywhere.
                if let Some(fields) = value.as_object_mut() {
                    fields.remove("here");
                }
                value.to_string().hash(&mut hasher);
            }
            Err(fault) => fault.code.wire().hash(&mut hasher),
        }
        hasher.finish()
    }
}

impl Watched {
    /// Watches one more; false if it is one too many.
    pub async fn add(&self, uri: &str, eyes: &Eyes) -> bool {
        {
            let mut marks = self.marks();
            if marks.len() >= MAX_WATCHED && !marks.contains_key(uri) {
                return false;
            }
            marks.entry(uri.to_owned()).or_insert(None);
        }
        let mark = eyes.look(uri).await;
        if let Some(last) = self.marks().get_mut(uri) {
            last.get_or_insert(mark);
        }
        true
    }

    pub fn remove(&self, uri: &str) {
        self.marks().remove(uri);
    }

    /// Waits until some of the resources have changed, and says which. None when nobody follows.
    pub async fn changed(
        &self,
        head: &mut watch::Receiver<i64>,
        eyes: &Eyes,
    ) -> Option<Vec<String>> {
        loop {
            head.changed().await.ok()?;
            tokio::time::sleep(GATHER).await;
            head.mark_unchanged();
            let changed = self.look(eyes).await;
            if !changed.is_empty() {
                return Some(changed);
            }
        }
    }

    async fn look(&self, eyes: &Eyes) -> Vec<String> {
        let uris: Vec<String> = self.marks().keys().cloned().collect();
        let mut changed = Vec::new();
        for uri in uris {
            let mark = eyes.look(&uri).await;
            if let Some(last) = self.marks().get_mut(&uri)
                && last.replace(mark).is_some_and(|last| last != mark)
            {
                changed.push(uri);
            }
        }
        changed
    }

    fn marks(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Option<u64>>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends notices to a client of a revision before 2026-07-28, for as long as it is there.
pub async fn tell(
    watched: Arc<Watched>,
    mut head: watch::Receiver<i64>,
    eyes: Eyes,
    peer: Peer<RoleServer>,
    mut end: watch::Receiver<bool>,
) {
    loop {
        let changed = tokio::select! {
            changed = watched.changed(&mut head, &eyes) => changed,
            () = over(&mut end) => None,
            () = gone(&peer) => None,
        };
        let Some(changed) = changed else { return };
        for uri in changed {
            let notice = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(notice).await.is_err() {
                return;
            }
        }
    }
}

/// Waits until the client has left: over HTTP nothing else says that a session has ended.
async fn gone(peer: &Peer<RoleServer>) {
    while !peer.is_transport_closed() {
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits for the end of the client's input.
pub async fn over(end: &mut watch::Receiver<bool>) {
    let _ = end.wait_for(|over| *over).await;
}
