//! What a subscription watches: looked at before it begins, then told of until it ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{RequestId, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use understory_model::{Caller, limits};

use super::{Context, Handler, OPENING};
use crate::call::heads::{Following, over};
use crate::log;
use crate::mcp::resources;
use crate::mcp::watched::{Eyes, Watched};

/// Resources as they were at the first look, and what will tell of commits after it.
pub struct Looked {
    watched: Watched,
    following: Following,
}

/// What of a wish can be watched.
fn watchable(wanted: &SubscriptionFilter, workspace: &str) -> Vec<String> {
    let known = |uri: &&String| resources::find(uri, workspace).is_ok();
    let uris = wanted.resource_subscriptions.iter().flatten();
    let most = limits::WATCHED_PER_CALLER;
    uris.filter(known).take(most).cloned().collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Handler {
    /// Looks at what a subscription is to watch, if the store lets it in time.
    pub(in crate::mcp) async fn look_first(&self, wanted: &SubscriptionFilter, context: &Context) {
        let caller = self.caller(context, false).await;
        self.look_ahead(wanted, context.id.clone(), caller).await;
    }

    /// As `look_first`, before there is a context.
    pub async fn look_ahead(&self, wanted: &SubscriptionFilter, id: RequestId, caller: Caller) {
        let looking = async {
            let eyes = self.eyes_of(caller).await;
            let uris = watchable(wanted, &eyes.workspace);
            self.look(&uris, &eyes).await
        };
        if let Ok(Some(looked)) = tokio::time::timeout(OPENING, looking).await {
            locked(&self.looked).insert(id, looked);
        }
    }

    /// What was looked at for a request; it is handed out once.
    pub(in crate::mcp) fn looked_at(&self, request: &RequestId) -> Option<Looked> {
        locked(&self.looked).remove(request)
    }

    /// Begins to watch; nothing where there is nothing to watch.
    async fn look(&self, uris: &[String], eyes: &Eyes) -> Option<Looked> {
        if uris.is_empty() {
            return None;
        }
        let (watched, following) = (Watched::default(), self.heads.watch());
        for uri in uris {
            if let Err(fault) = watched.add(uri, eyes).await {
                log::debug(format_args!("a resource is not watched: {fault}"));
            }
        }
        Some(Looked { watched, following })
    }

    /// What of a subscription is accepted.
    pub(super) fn accepted(&self, asked: &SubscriptionFilter) -> SubscriptionFilter {
        let mut uris = watchable(asked, &self.workspace_now());
        // What was looked at and is not there is not watched; without a look, that shows later.
        let looked = locked(&self.looked);
        if !looked.is_empty() {
            uris.retain(|uri| looked.values().any(|looked| looked.watched.has(uri)));
        }
        drop(looked);
        SubscriptionFilter::builder()
            .resource_subscriptions(uris)
            .build()
    }

    /// Tells a subscriber of changes until the subscription or the connection ends.
    pub(super) async fn tell_changes(&self, context: &SubscriptionContext) {
        let sink = context.sink();
        let uris = context
            .accepted()
            .resource_subscriptions
            .clone()
            .unwrap_or_default();
        let mut end = self.end.clone();
        let eyes = self.eyes(context.request_context()).await;
        let mut looked = match self.looked_at(&context.request_context().id) {
            Some(looked) => Some(looked),
            None => self.look(&uris, &eyes).await,
        };
        loop {
            let changed = async {
                match &mut looked {
                    Some(Looked { watched, following }) => {
                        watched.changed(following, &eyes).await.unwrap_or_default()
                    }
                    None => std::future::pending().await,
                }
            };
            let sent = tokio::select! {
                () = context.cancelled() => return,
                () = over(&mut end) => return,
                changed = changed => {
                    let mut sent = Ok(());
                    for uri in changed.into_iter().filter(|uri| uris.contains(uri)) {
                        sent = sent.and(sink.notify_resource_updated(uri).await);
                    }
                    sent
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }
}
