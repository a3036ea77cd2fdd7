//! The resources that one client watches.
//!
//! A commit is a reason to look at a resource again only if it is about something that the resource
//! mentions, and a notice is sent only if what the client would read is different then. So a commit
//! costs as many looks as there are resources it may have changed, however many are watched.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use understory_model::{Caller, Code, Fault};

use super::resources;
use crate::call::Calls;
use crate::call::heads::{About, Following, Names, number};
use crate::limiter::Place;

/// What it takes to look at a resource: as whom, where, and by which means.
pub struct Eyes {
    pub calls: Arc<Calls>,
    pub caller: Caller,
    pub workspace: String,
}

/// What a look showed.
struct Seen {
    /// A mark of what the resource holds; a refusal is something to hold, too.
    mark: u64,
    /// What it mentions; none if any change of the workspace may change it.
    mentions: Option<Names>,
}

impl Eyes {
    async fn look(&self, uri: &str) -> Result<Seen, Fault> {
        let found = resources::find(uri, &self.workspace)?;
        let named = found.named().map(str::to_owned);
        let call = found.call(self.caller.clone(), "req_watch".to_owned())?;
        let answer = self.calls.run(call, CancellationToken::new()).await?;
        let mut value: Value = answer.read()?;
        // Who is here changes with everything that anybody does anywhere.
        if let Some(fields) = value.as_object_mut() {
            fields.remove("here");
        }
        let mentions = named.map(|name| {
            let mut mentions = Names::of([name.as_str()]);
            // A line of an artifact changes with the artifact.
            if let Some((artifact, _)) = name.split_once(':') {
                mentions.add(artifact);
            }
            mentions.of_answer(&value);
            mentions
        });
        Ok(Seen {
            mark: number(&value.to_string()),
            mentions,
        })
    }
}

/// The resources that one client watches.
#[derive(Default)]
pub struct Watched {
    all: Mutex<BTreeMap<String, Resource>>,
}

struct Resource {
    /// What was last seen; none if the store could not be asked.
    seen: Option<Seen>,
    /// Its place among all that the caller watches.
    _place: Place,
}

impl Resource {
    /// Takes in what a look showed; whether it is something else than before.
    fn changes(&mut self, looked: Result<Seen, Fault>) -> bool {
        let last = self.seen.take();
        let before = last.as_ref().map(|last| last.mark);
        let seen = looked.unwrap_or_else(|fault| Seen {
            mark: number(fault.code.wire()),
            // What is gone comes back, if it does, by a change of what it was.
            mentions: last.and_then(|last| last.mentions),
        });
        let changed = before.is_some_and(|before| before != seen.mark);
        self.seen = Some(seen);
        changed
    }
}

impl Watched {
    /// Watches one more. It has to be there, and not one too many.
    pub async fn add(&self, uri: &str, eyes: &Eyes) -> Result<(), Fault> {
        if self.has(uri) {
            return Ok(());
        }
        let place = eyes.calls.watched(&eyes.caller)?;
        let seen = match eyes.look(uri).await {
            Ok(seen) => Some(seen),
            // It may be there; the next look will tell.
            Err(fault) if fault.code == Code::StoreUnavailable => None,
            Err(fault) => return Err(fault),
        };
        let resource = Resource {
            seen,
            _place: place,
        };
        self.all().entry(uri.to_owned()).or_insert(resource);
        Ok(())
    }

    pub fn has(&self, uri: &str) -> bool {
        self.all().contains_key(uri)
    }

    pub fn remove(&self, uri: &str) {
        self.all().remove(uri);
    }

    /// Waits until some of the resources have changed, and says which. None when nobody follows.
    pub async fn changed(&self, following: &mut Following, eyes: &Eyes) -> Option<Vec<String>> {
        loop {
            let about = following.next().await?;
            let changed = self.look(&about, eyes).await;
            if !changed.is_empty() {
                return Some(changed);
            }
        }
    }

    async fn look(&self, about: &[Arc<About>], eyes: &Eyes) -> Vec<String> {
        let mut changed = Vec::new();
        for uri in self.concerned(about) {
            let looked = eyes.look(&uri).await;
            if let Some(resource) = self.all().get_mut(&uri)
                && resource.changes(looked)
            {
                changed.push(uri);
            }
        }
        changed
    }

    /// The resources that may have changed.
    fn concerned(&self, about: &[Arc<About>]) -> Vec<String> {
        let may_have = |resource: &Resource| {
            let mentions = resource
                .seen
                .as_ref()
                .and_then(|seen| seen.mentions.as_ref());
            about.iter().any(|about| match (&**about, mentions) {
                (About::Names(names), Some(mentions)) => mentions.meets(names),
                _ => true,
            })
        };
        let all = self.all();
        let some = all.iter().filter(|(_, resource)| may_have(resource));
        some.map(|(uri, _)| uri.clone()).collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Resource>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
