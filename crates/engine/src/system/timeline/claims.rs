//! Who held which task in a window of time, whether they gave a sign of life, and whom they wait for.

use std::collections::BTreeMap;

use serde::Serialize;
use understory_model::error::Result;
use understory_model::{Id, Seq, Time};
use understory_storage::spans::{self, OPEN, Span};
use understory_storage::{entities, messages, nodes, threads};

use super::Wanted;
use crate::View;
use crate::graph::claim::{self, Expiry};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::who;

/// Claims of one window that are read: so many that are held, and so many that have ended.
const CLAIMS: i64 = 200;
/// Threads that are looked through for those who wait.
const THREADS: i64 = 20;

/// A claim in a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    pub id: String,
    pub title: String,
    #[serde(skip)]
    pub agent: String,
    pub since: Time,
    /// Nothing while it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// done, released, dropped or taken; empty while it is held.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ended: String,
    /// The last sign of life of a holder who gives none any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<Time>,
    /// When others may take it unless it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
}

/// The claims of a window, by who held them.
pub(super) fn claims(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
) -> Result<BTreeMap<String, Vec<Claim>>> {
    let asked = spans::Wanted {
        from: wanted.from,
        to: wanted.to,
        agent: wanted.agent.as_deref(),
        project: wanted.project,
        most: CLAIMS,
    };
    let mut found = spans::within(view.tx, view.ws, &asked)?;
    found.retain(|span| wanted.of.is_none_or(|of| of == span.node));
    let ids: Vec<Id> = found.iter().map(|span| span.node).collect();
    let named = entities::some(view.tx, view.ws, &ids)?;
    let mut claims: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
    for span in found {
        let Some(entity) = named.get(&span.node) else {
            continue;
        };
        let thing = Thing::open(entity.clone())?;
        let one = shown(view, &span, &thing)?;
        claims.entry(span.agent).or_default().push(one);
    }
    for all in claims.values_mut() {
        all.sort_by(|one, other| (one.since, &one.id).cmp(&(other.since, &other.id)));
    }
    Ok(claims)
}

fn shown(view: &mut View<'_, '_>, span: &Span, thing: &Thing) -> Result<Claim> {
    let mut claim = Claim {
        id: thing.entity.handle.clone(),
        title: fields::summary(&thing.data).to_string(),
        agent: span.agent.clone(),
        since: span.since,
        until: (span.until != OPEN).then_some(span.until),
        ended: span.ended.clone(),
        silent_since: None,
        expires: None,
    };
    let held = match claim.until {
        None => nodes::get(view.tx, view.ws, span.node)?.and_then(|node| claim::of(&node)),
        Some(_) => None,
    };
    if let Some(held) = held {
        let expiry = Expiry::new(&view.rules, view.now);
        let alive = claim::is_alive(view.tx, view.ws, &held.session, held.at, view.now)?;
        claim.expires = Some(held.at.plus(view.rules.claim_ttl));
        if !alive || !expiry.counts(&held) {
            let seen = who::last_seen(view.tx, view.ws, &held.by)?;
            claim.silent_since = Some(seen.unwrap_or(held.at).max(held.at));
        }
    }
    Ok(claim)
}

/// Somebody who wrote to the caller and has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub agent: String,
    pub since: Time,
    /// The message that waits.
    pub seq: Seq,
}

/// Who waits for the caller: the senders of the last messages that it has not read, each once, by the
/// oldest.
pub fn waiting(view: &mut View<'_, '_>) -> Result<Vec<Waiting>> {
    let mut found: Vec<Waiting> = Vec::new();
    let agent = view.caller.agent.clone();
    for listed in threads::unread(view.tx, view.ws, &agent, THREADS)? {
        for (message, item) in messages::last(view.tx, view.ws, listed.thread.id, 1)? {
            let one = Waiting {
                agent: message.sender,
                since: item.realized_at,
                seq: item.seq,
            };
            match found.iter_mut().find(|other| other.agent == one.agent) {
                Some(known) if known.since > one.since => *known = one,
                Some(_) => {}
                None if one.agent != agent => found.push(one),
                None => {}
            }
        }
    }
    Ok(found)
}
