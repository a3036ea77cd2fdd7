//! Claims: who works on a node, in which session, and for how long that keeps others off it.
//!
//! A claim belongs to an agent and a session. Its session is given the node again whenever it asks.
//! Another session of the same agent may take it once the first has ended; everybody else waits
//! until the claim has not been renewed for the configured time.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::text::quoted;
use understory_model::{Id, Role, Time, Ws};
use understory_storage::nodes::Node;
use understory_storage::{ReadTx, presence as stored, ready};

use crate::kernel::alive;
use crate::kernel::content::node as fields;
use crate::kernel::content::node::{CLAIM, CLAIMED_AT, CLAIMED_BY, CLAIMED_SESSION, Claim};
use crate::{Rules, Work};

/// A claim is a sign of life of its session, for as long as a heartbeat is, in microseconds. It
/// counts for sessions that give no other sign; of one that does, that says more.
const SIGN_OF_LIFE: i64 = 90 * 1_000_000;

/// A claim that counts, as answers and refusals show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    pub id: String,
    pub by: String,
    pub session: String,
    pub since: Time,
    /// When others may take it unless it is renewed.
    pub until: Time,
    /// Whether the session that holds it is alive.
    pub alive: bool,
}

/// The claim that core keeps of a node; it knows of renewals that the node itself does not show.
pub fn of(node: &Node) -> Option<Claim> {
    (!node.claimed_by.is_empty()).then(|| Claim {
        by: node.claimed_by.clone(),
        session: node.claimed_session.clone(),
        at: node.claimed_at,
    })
}

/// When claims expire.
#[derive(Debug, Clone, Copy)]
pub struct Expiry {
    pub now: Time,
    /// In microseconds.
    ttl: i64,
}

impl Expiry {
    pub fn new(rules: &Rules, now: Time) -> Expiry {
        Expiry {
            now,
            ttl: rules.claim_ttl,
        }
    }

    /// Claims that were last renewed then or before have expired.
    pub fn stale(self) -> Time {
        self.now.minus(self.ttl)
    }

    /// Whether a claim still keeps others off.
    pub fn counts(self, claim: &Claim) -> bool {
        claim.at > self.stale()
    }
}

/// Whether a session that last claimed something at `last` is still there.
pub fn is_alive(tx: &mut ReadTx<'_>, ws: Ws, session: &str, last: Time, now: Time) -> Result<bool> {
    if session.is_empty() {
        return Ok(false);
    }
    if alive::is_live(tx, ws, session, now)? {
        return Ok(true);
    }
    Ok(last > now.minus(SIGN_OF_LIFE) && !stored::is_known(tx, ws, session)?)
}

/// Other sessions of the same agent that hold something in a project and have ended.
pub fn ended_sessions(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    holder: (&str, &str),
    expiry: Expiry,
) -> Result<Vec<String>> {
    let mut ended = Vec::new();
    for (session, last) in ready::other_sessions(tx, ws, project, holder, expiry.stale())? {
        if !is_alive(tx, ws, &session, last, expiry.now)? {
            ended.push(session);
        }
    }
    Ok(ended)
}

/// A claim as others are told of it.
pub fn held(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    handle: &str,
    claim: &Claim,
    expiry: Expiry,
) -> Result<Held> {
    Ok(Held {
        id: handle.to_string(),
        by: claim.by.clone(),
        session: claim.session.clone(),
        since: claim.at,
        until: claim.at.plus(expiry.ttl),
        alive: is_alive(tx, ws, &claim.session, claim.at, expiry.now)?,
    })
}

/// The claim that keeps this caller off a node, if one does.
pub fn in_the_way(work: &mut Work<'_, '_>, id: Id) -> Result<Option<Held>> {
    let Some(claim) = work.node(id)?.and_then(of) else {
        return Ok(None);
    };
    let own = claim.by == work.caller.agent && claim.session == work.session;
    let expiry = Expiry::new(&work.rules, work.now);
    if own || !expiry.counts(&claim) {
        return Ok(None);
    }
    let handle = work.named(id)?.handle;
    let ws = work.ws();
    let held = held(work.read()?, ws, &handle, &claim, expiry)?;
    let ended = claim.by == work.caller.agent && !held.alive;
    Ok((!ended).then_some(held))
}

/// Refuses a claim on what somebody else holds.
pub fn check_take(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    match in_the_way(work, id)? {
        Some(held) => {
            let hint = format!(
                "Take another with graph_next, or wait: unless it is renewed, the claim ends at {}.",
                held.until
            );
            Err(refused(&held, work.now).hint(hint))
        }
        None => Ok(()),
    }
}

/// Refuses to give back what somebody else holds, except to those who direct the work.
pub fn check_release(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    if matches!(work.caller.role, Role::Operator | Role::Orchestrator) {
        return Ok(());
    }
    match in_the_way(work, id)? {
        Some(held) => Err(refused(&held, work.now).hint(
            "Only its session may release it, or an operator or orchestrator; ask one of them.",
        )),
        None => Ok(()),
    }
}

fn refused(held: &Held, now: Time) -> Fault {
    let alive = if held.alive {
        "which is alive"
    } else {
        "which gives no sign of life"
    };
    Fault::conflict(format!(
        "{} was claimed by {} {} in session {}, {alive}",
        held.id,
        quoted(&held.by),
        ago(now.0 - held.since.0),
        quoted(&held.session),
    ))
    .detail("claim", held)
}

/// A length of time in words.
fn ago(micros: i64) -> String {
    let minutes = micros / 60_000_000;
    let (count, unit) = match minutes {
        ..1 => return "less than a minute ago".to_string(),
        1..120 => (minutes, "minute"),
        120.. => (minutes / 60, "hour"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// Writes a claim into a node's value.
pub fn set(data: &mut Map<String, Value>, agent: &str, session: &str, at: Time) {
    if let Some(properties) = fields::properties_mut(data) {
        properties.insert(CLAIMED_BY.into(), agent.into());
        properties.insert(CLAIMED_SESSION.into(), session.into());
        properties.insert(CLAIMED_AT.into(), at.to_string().into());
    }
}

/// Takes the claim out of a node's value.
pub fn clear(data: &mut Map<String, Value>) {
    if let Some(properties) = data.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !CLAIM.contains(&name.as_str()));
    }
}

/// Whether the caller's own session holds a node of this value.
pub fn is_own(work: &Work<'_, '_>, data: &Map<String, Value>) -> bool {
    fields::claim(data)
        .is_some_and(|claim| claim.by == work.caller.agent && claim.session == work.session)
}

/// Takes the properties of a claim out of those that a caller wants to write: they are set by
/// claiming. Writing back what was read changes nothing; null releases the claim, which is
/// what `true` says.
pub fn take_out(
    field: impl fmt::Display,
    wanted: &mut Map<String, Value>,
    current: &Map<String, Value>,
) -> Result<bool> {
    let there = |name: &str| current.get("properties").and_then(|all| all.get(name));
    let mut given_back = false;
    for name in CLAIM {
        match wanted.remove(name) {
            None => {}
            Some(Value::Null) => given_back = true,
            Some(same) if Some(&same) == there(name) => {}
            Some(_) => return Err(by_hand(&field, name)),
        }
    }
    Ok(given_back)
}

/// The fault for a property of a claim that a caller writes.
pub fn by_hand(field: impl fmt::Display, name: &str) -> Fault {
    Fault::invalid(format_args!("{field}.{name}"), "is set only by claiming")
        .hint("Claim with claim: true, release with claim: false.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_told_in_words() {
        let minutes = |count: i64| ago(count * 60_000_000);
        assert_eq!(minutes(0), "less than a minute ago");
        assert_eq!(minutes(1), "1 minute ago");
        assert_eq!(minutes(59), "59 minutes ago");
        assert_eq!(minutes(180), "3 hours ago");
    }
}
