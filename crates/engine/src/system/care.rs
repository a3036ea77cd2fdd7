//! What those who look after a workspace see of its log: how long it is and how it grew, and the tokens that
//! were issued for it. It only looks.

use serde::{Deserialize, Serialize};
use understory_model::canon::hex;
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{AuditEvent, Token};
use understory_model::kind::AUDIT_EVENT;
use understory_model::{Caller, Seq, Time};
use understory_storage::timeline::{self, Wanted};
use understory_storage::{items, workspaces};

use crate::View;
use crate::kernel::log::audit::event;
use crate::kernel::revoked::{Issued, is_revoked};
use crate::system::audit::may_read;

/// Moments between which the growth of a log is told.
const POINTS: i64 = 60;
/// The time over which growth is told as a rate, in microseconds.
const MONTH: i64 = 30 * 24 * 3_600 * 1_000_000;
/// Audit events that are looked through for tokens; refusals and logins are among them.
const EVENTS: i64 = 500;

/// A log as it stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Chain {
    /// The place of the last item.
    pub items: i64,
    /// The last link of the chain; none before the first item.
    pub head: Option<String>,
    pub updated_at: Option<Time>,
    /// How many items it had when, oldest first.
    pub growth: Vec<(i64, Time)>,
    /// Items of the last 30 days.
    pub last_month: i64,
}

/// The caller's log. The cost does not depend on its length.
pub fn chain(view: &mut View<'_, '_>) -> Result<Chain> {
    let Some(head) = workspaces::head(view.tx, view.ws, false)? else {
        return Ok(Chain::default());
    };
    let end = head.seq.0;
    let mut seqs: Vec<Seq> = (0..POINTS)
        .map(|at| Seq(1 + (end - 1) * at / (POINTS - 1)))
        .collect();
    seqs.dedup();
    let times = items::times(view.tx, view.ws, &seqs)?;
    let growth = seqs
        .into_iter()
        .filter_map(|seq| Some((seq.0, *times.get(&seq)?)));
    let since = items::first_at(view.tx, view.ws, view.now.minus(MONTH), head.seq)?;
    Ok(Chain {
        items: end,
        head: Some(hex(&head.chain)),
        updated_at: Some(head.at),
        growth: growth.collect(),
        last_month: end + 1 - since.0,
    })
}

/// A token that was issued, and whether it still counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Listed {
    pub seq: Seq,
    pub issued_at: Time,
    #[serde(flatten)]
    pub token: Token,
    pub revoked: bool,
    pub expired: bool,
}

impl Listed {
    pub fn is_valid(&self) -> bool {
        !self.revoked && !self.expired
    }
}

/// The tokens that were issued last, newest first.
pub fn tokens(view: &mut View<'_, '_>, caller: &Caller, most: usize) -> Result<Vec<Listed>> {
    if !may_read(caller.role) {
        return Err(Fault::new(Code::Forbidden, "tokens are not for a worker")
            .hint("An operator, an orchestrator or an auditor reads about them."));
    }
    let wanted = Wanted {
        kind: Some(AUDIT_EVENT),
        actor: None,
        log: None,
        entity: None,
        project: None,
        from: Seq::FIRST,
        before: Seq::MAX,
        most: EVENTS,
    };
    let mut listed = Vec::new();
    for item in timeline::newest(view.tx, view.ws, &wanted)? {
        let Some(AuditEvent::TokenIssued(token)) = event(&item) else {
            continue;
        };
        let issued = Issued {
            jti: &token.jti,
            session: &token.session,
            at: item.realized_at,
        };
        let revoked = is_revoked(view.tx, view.ws, issued)?;
        let until = Time::parse("expires_at", &token.expires_at);
        listed.push(Listed {
            seq: item.seq,
            issued_at: item.realized_at,
            revoked,
            expired: until.is_ok_and(|until| until <= view.now),
            token,
        });
        if listed.len() == most {
            break;
        }
    }
    Ok(listed)
}
