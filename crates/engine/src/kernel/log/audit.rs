//! What the audit says, in words.

use understory_model::fact::{Fact, Purged};
use understory_model::item::Item;
use understory_model::text::quoted;

use crate::kernel::revoked::TOKEN_REVOKED;
use crate::kinds::AUDIT_EVENT;

pub use understory_model::fact::{AuditEvent as Event, Token, TokenReason as Reason};

/// Whether a type of item is for those who look after the workspace.
pub fn is_audit(kind: &str) -> bool {
    [AUDIT_EVENT, TOKEN_REVOKED].contains(&kind)
}

/// An event in a word and a few more, for a line of the log.
pub(crate) fn told(event: Event) -> (&'static str, String) {
    match event {
        Event::TokenIssued(token) => (
            "issued",
            format!("{}, until {}", token_told(&token), token.expires_at),
        ),
        Event::TokenRefused {
            reason,
            count,
            token,
        } => {
            let times = match count {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            (
                "refused",
                format!("{}{times}: {}", token_told(&token), reason_told(reason)),
            )
        }
        Event::KeyCreated { kid } => ("created", format!("key {kid}")),
        Event::KeyRetired { kid } => ("retired", format!("key {kid}")),
        Event::LoggedIn => ("logged in", String::new()),
        Event::LoggedOut => ("logged out", String::new()),
        Event::WakeForced { target, reason } => (
            "forced",
            format!("a wake of {}: {}", quoted(&target), quoted(&reason)),
        ),
        Event::DamageAccepted { breaks } => {
            let first = breaks.first();
            let first = first.map(|first| format!("#{}: {}", first.seq, first.what));
            let more = match breaks.len() {
                0 | 1 => String::new(),
                n => format!(", and {} more", n - 1),
            };
            (
                "accepted",
                format!("damage at {}{more}", first.unwrap_or_default()),
            )
        }
    }
}

/// The event that an item tells.
pub fn event(item: &Item) -> Option<Event> {
    match Fact::read(item) {
        Ok(Fact::Audit(event)) => Some(*event),
        _ => None,
    }
}

pub fn token_told(token: &Token) -> String {
    let issuer = token.issuer.as_ref();
    let issuer = issuer
        .map(|issuer| format!(" of {issuer}"))
        .unwrap_or_default();
    format!(
        "token {}{issuer} for {} ({}), session {}",
        token.jti, token.agent, token.role, token.session
    )
}

pub fn reason_told(reason: Reason) -> &'static str {
    match reason {
        Reason::Expired => "it has expired",
        Reason::Revoked => "it was revoked",
        Reason::RetiredKey => "its key was retired",
        Reason::NotAllowed => "its issuer may not give this role",
        Reason::Claims => "its claims are not valid",
    }
}

/// What was erased and why, for a line of the log.
pub(crate) fn purge_told(purged: &Purged) -> String {
    let count = purged.items.len();
    let items = if count == 1 { "item" } else { "items" };
    format!("content of {count} {items}: {}", purged.reason)
}
