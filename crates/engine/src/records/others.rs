//! Who else works on a record: which sessions stand in the way, which are only a fact, and how they
//! are told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::ReadTx;
use understory_storage::sessions::{self, Lease, Session};

use crate::kernel::alive::is_live;

/// Another session that has a record active.
#[derive(Debug, Clone)]
pub struct Other {
    pub session: Session,
    pub lease: Lease,
    pub alive: bool,
    /// Alive, or active a short while ago.
    pub current: bool,
}

impl Other {
    /// Whether it did no more with the record than make it.
    fn only_made(&self, record: Id) -> bool {
        let made = record.seq();
        self.lease.since == made && self.lease.used == made
    }

    pub fn shown(&self) -> Holder {
        Holder {
            session_id: self.session.name.clone(),
            agent: self.session.agent.clone(),
            alive: self.alive,
            last_activity: self.session.last_activity,
        }
    }
}

/// A session that has a record active, in few words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    pub session_id: String,
    pub agent: String,
    pub alive: bool,
    pub last_activity: Time,
}

/// The moment, and for how long before it, in microseconds, a session that acted counts as current.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: Time,
    pub window: i64,
}

/// Everybody who has a record active, the last active first.
pub fn holders(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    record: Id,
    moment: Moment,
    most: i64,
) -> Result<Vec<Other>> {
    let found = sessions::holders(tx, ws, record, most)?;
    let others = found.into_iter().map(|(session, lease)| {
        let alive = is_live(tx, ws, &session.name, moment.now)?;
        Ok(Other {
            current: alive || session.last_activity >= moment.now.minus(moment.window),
            session,
            lease,
            alive,
        })
    });
    others.collect()
}

/// What decides which sessions conflict with a session.
pub struct Case<'c> {
    pub record: Id,
    /// Whether it is a subtopic that is still empty: a chat that opens one for another chat does not
    /// conflict with it.
    pub handed_on: bool,
    /// The session's own hold.
    pub own: Option<Lease>,
    /// The sessions that it continues.
    pub continued: [Option<&'c str>; 2],
}

/// Conflicting sessions, except those it continues or has chosen to override.
pub fn contenders(all: &[Other], case: &Case<'_>) -> Vec<Other> {
    let overrode = case.own.map_or(Seq::ZERO, |lease| lease.overrode);
    let contends = |other: &&Other| {
        other.current
            && !(case.handed_on && other.only_made(case.record))
            && other.lease.since > overrode
            && !case.continued.contains(&Some(other.session.name.as_str()))
    };
    all.iter().filter(contends).cloned().collect()
}

/// Says that others have a record active, and what to do.
pub fn contested(handle: &str, others: &[Other], now: Time) -> String {
    let Some(first) = others.first() else {
        return String::new();
    };
    let more = match others.len() {
        0 | 1 => String::new(),
        some => format!(" and in {} more", some - 1),
    };
    let (agent, name) = (&first.session.agent, &first.session.name);
    let seen = seen(first.alive, first.session.last_activity, now);
    format!(
        "{handle} is active in session {name:?} of {agent:?} ({seen}){more}: ask the user before \
         changing it, or activate with override: true."
    )
}

/// Whether somebody is alive, and when it last did something.
pub fn seen(alive: bool, last: Time, now: Time) -> String {
    let state = if alive { "alive" } else { "gone" };
    format!("{state}, last active {}", ago(last, now))
}

/// How long ago something was.
pub fn ago(then: Time, now: Time) -> String {
    let seconds = (now.0 - then.0).max(0) / 1_000_000;
    let (count, unit) = match seconds {
        0..=59 => return "just now".into(),
        60..=3_599 => (seconds / 60, "minute"),
        3_600..=86_399 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_largest_unit() {
        let at = |seconds: i64| ago(Time(0), Time(seconds * 1_000_000));
        assert_eq!(at(-5), "just now");
        assert_eq!(at(59), "just now");
        assert_eq!(at(60), "1 minute ago");
        assert_eq!(at(7_300), "2 hours ago");
        assert_eq!(at(86_400 * 3), "3 days ago");
    }
}
