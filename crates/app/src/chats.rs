//! The chats that one process serves, each with the agent that it is: present while the process runs,
//! and ended with it.
//!
//! A client that names no chat beside its calls has one. A chat arrives when its client lists the
//! tools, or with its first call where only that says which chat it is; after that an idle process
//! writes nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use understory_engine::{Resolved, Seat};
use understory_model::limits;
use understory_model::{Caller, Fault, Via};

use crate::clash;
use crate::identity::Identity;
use crate::log;
use crate::process;
use crate::store::Store;

/// The chats of a process.
pub struct Chats {
    identity: Identity,
    store: Arc<Store>,
    open: Mutex<HashMap<String, Arc<Mutex<Chat>>>>,
}

/// One chat.
struct Chat {
    caller: Caller,
    /// Whether it is known which agent it is.
    settled: bool,
    /// Its place, and the workspace that it is in.
    seat: Option<(Seat, String)>,
}

/// What is known of a call before its caller is.
#[derive(Debug, Clone, Default)]
pub struct From {
    /// What the client calls itself.
    pub client: Option<String>,
    /// The chat that it names.
    pub session: Option<String>,
    /// Whether the call writes, and so may make what is not there yet.
    pub writes: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Chats {
    pub fn new(identity: Identity, store: Arc<Store>) -> Arc<Chats> {
        Arc::new(Chats {
            identity,
            store,
            open: Mutex::default(),
        })
    }

    /// Who calls, where that is known without asking the store.
    pub fn known(&self, from: &From) -> Option<Caller> {
        let wanted = self.wanted(from);
        let chat = locked(&self.open).get(&wanted.session).cloned()?;
        let chat = chat.try_lock().ok()?;
        chat.settled.then(|| chat.caller.clone())
    }

    /// Who calls. Waits for the store; where that cannot say, the client's name stands as it is.
    pub fn caller(&self, from: &From) -> Caller {
        let wanted = self.wanted(from);
        let (chat, many) = {
            let mut open = locked(&self.open);
            let many = open.len() >= limits::CHATS;
            let chat = open.entry(wanted.session.clone()).or_insert_with(|| {
                Arc::new(Mutex::new(Chat {
                    caller: wanted.clone(),
                    settled: false,
                    seat: None,
                }))
            });
            (Arc::clone(chat), many)
        };
        let mut chat = locked(&chat);
        if !chat.settled {
            chat.caller = wanted;
            if let Err(fault) = self.arrive(&mut chat, from.writes, many) {
                log::debug(format_args!("a chat could not arrive: {fault}"));
            }
        }
        chat.caller.clone()
    }

    fn wanted(&self, from: &From) -> Caller {
        let client = from.client.as_deref();
        self.identity.caller_in(client, from.session.as_deref())
    }

    fn arrive(&self, chat: &mut Chat, writes: bool, many: bool) -> Result<(), Fault> {
        let engine = self.store.get()?;
        let process = process::client();
        // A client that tells no chat here may have told it to its hooks.
        if !self.identity.names_session()
            && self.identity.is_own(&chat.caller)
            && let Some(process) = &process
            && let Some(session) = engine.awaited(&chat.caller, process)?
        {
            chat.caller.session = session;
        }
        let found = engine.workspace(&chat.caller)?;
        if found.name() != chat.caller.workspace
            && let Some(clash) = engine.clash(&chat.caller)?
        {
            log::warn_once(format_args!("{}", clash::told(&clash)));
        }
        let there = matches!(found, Resolved::There(_));
        let moved = chat.seat.as_ref().is_none_or(|(_, at)| at != found.name());
        // No read makes anything where nothing is.
        if moved && !many && (there || writes) {
            let seat = engine.appear(&chat.caller)?;
            chat.seat = seat.map(|seat| (seat, found.name().to_owned()));
        }
        if !chat.caller.role.may_write() {
            chat.settled = there;
            return Ok(());
        }
        let numbered = chat.caller.via == Via::Arriving;
        if let Some(agent) = engine.arrive(&chat.caller, numbered, process.as_ref())? {
            chat.caller.agent = agent;
            chat.caller.via = Via::Local;
            chat.settled = true;
        }
        Ok(())
    }

    /// Says that all of them are there, where a server has to be told.
    pub fn beat(&self) {
        let Some(engine) = self.store.ready().filter(|engine| !engine.is_embedded()) else {
            return;
        };
        for chat in self.all() {
            let (caller, settled) = {
                let chat = locked(&chat);
                (chat.caller.clone(), chat.settled)
            };
            if settled && let Err(fault) = engine.touch(&caller) {
                log::debug(format_args!("no sign of life could be given: {fault}"));
            }
        }
    }

    /// Ends all of them: what they hold is released.
    pub fn leave(&self) {
        let chats = self.all();
        locked(&self.open).clear();
        for chat in chats {
            let mut chat = locked(&chat);
            chat.seat = None;
            if let Some(engine) = self.store.ready()
                && let Err(fault) = engine.leave(&chat.caller)
            {
                log::debug(format_args!("a chat could not be ended: {fault}"));
            }
        }
    }

    fn all(&self) -> Vec<Arc<Mutex<Chat>>> {
        locked(&self.open).values().cloned().collect()
    }
}
