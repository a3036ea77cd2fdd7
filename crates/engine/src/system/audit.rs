//! Audit events: what was done with tokens, keys and logins, and with the store itself, as items of
//! the workspace that it concerns.
//!
//! The server alone writes them. They name tokens and keys by their ids and never hold one. An
//! operator, an orchestrator and an auditor read them; a worker does not.

use understory_model::error::{Code, Fault, Result};
use understory_model::fact::Fact;
use understory_model::{Caller, Role, Seq};
use understory_storage::timeline::{self, Wanted};

use crate::kernel::access::reads_all;
use crate::kernel::log::{self, Entry, Known};
use crate::kernel::revoked::TOKEN_REVOKED;
use crate::{Engine, Request, Resolved, View, Work};

pub use understory_model::fact::{AuditEvent as Event, Token, TokenReason as Reason};

/// The type of the item.
pub use understory_model::kind::AUDIT_EVENT;

/// Who writes what nobody asked for: a refusal.
pub const SERVER: &str = "understory";

/// Whether a role reads audit events: the roles that read all of a workspace.
pub fn may_read(role: Role) -> bool {
    reads_all(role)
}

impl Engine {
    /// Writes an event to the log of the caller's workspace; its place.
    pub fn audit(&self, caller: &Caller, event: Event) -> Result<Seq> {
        let request = Request {
            tool: "audit",
            scope: String::new(),
            key: None,
            arguments: serde_json::Value::Null,
            cause: None,
            project: None,
        };
        self.write(caller, request, move |work| note(work, &event))?
            .typed()
    }

    /// As [`Engine::audit`], if the workspace is there: a refusal must not make one.
    pub fn audit_if_there(&self, caller: &Caller, event: Event) -> Result<Option<Seq>> {
        match self.workspace(caller)? {
            Resolved::There(_) => self.audit(caller, event).map(Some),
            Resolved::New(_) => Ok(None),
        }
    }

    /// Writes an event to the log of every workspace: keys are the whole store's.
    pub fn audit_everywhere(&self, caller: &Caller, event: &Event) -> Result<()> {
        let Some(state) = self.state()? else {
            return Ok(());
        };
        for log in state.logs {
            let caller = Caller {
                workspace: log.workspace,
                origin: None,
                ..caller.clone()
            };
            self.audit(&caller, event.clone())?;
        }
        Ok(())
    }
}

/// Appends an event.
pub(crate) fn note(work: &mut Work<'_, '_>, event: &Event) -> Result<Seq> {
    work.beyond_quota();
    work.note(None, Fact::Audit(Box::new(event.clone())))
}

/// The newest events, and revocations, before a place in the log.
pub fn newest(
    view: &mut View<'_, '_>,
    caller: &Caller,
    before: Option<Seq>,
    most: i64,
) -> Result<Vec<Entry>> {
    if !may_read(caller.role) {
        return Err(
            Fault::new(Code::Forbidden, "audit events are not for a worker")
                .hint("An operator, an orchestrator or an auditor reads them."),
        );
    }
    let mut found = Vec::new();
    for kind in [AUDIT_EVENT, TOKEN_REVOKED] {
        let wanted = Wanted {
            kind: Some(kind),
            actor: None,
            log: None,
            entity: None,
            project: None,
            from: Seq(1),
            before: before.unwrap_or(Seq::MAX),
            most,
        };
        found.extend(timeline::newest(view.tx, view.ws, &wanted)?);
    }
    found.sort_by_key(|item| std::cmp::Reverse(item.seq));
    found.truncate(usize::try_from(most).unwrap_or(0));
    let known = Known::default();
    Ok(found.iter().map(|item| log::entry(item, &known)).collect())
}
