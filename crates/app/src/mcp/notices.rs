//! Tells clients that a resource has changed, after the commit of any process. What they watch is
//! in `watched`.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use tokio::sync::watch;

use super::watched::{Eyes, Watched};
use crate::call::heads::{Following, over};

/// How often it is looked whether a client is still there.
const PAUSE: Duration = Duration::from_secs(2);

/// Sends notices to a client of a revision before 2026-07-28, for as long as it is there.
pub async fn tell(
    watched: Arc<Watched>,
    mut following: Following,
    eyes: Eyes,
    peer: Peer<RoleServer>,
    mut end: watch::Receiver<bool>,
) {
    loop {
        let changed = tokio::select! {
            changed = watched.changed(&mut following, &eyes) => changed,
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
