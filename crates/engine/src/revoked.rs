//! Revoked tokens: facts of the workspace whose tokens they are, in its log like all others, so
//! that every process on the store knows of them with the commit and a replay still does.
//!
//! It knows names and moments, never a token or a key.

use serde_json::{Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::Item;
use understory_model::text::check_text;
use understory_model::{Caller, Time, Ws, limits};
use understory_storage::Tx;
use understory_storage::revoked::{self, Kind};

use crate::kinds::ItemKind;
use crate::{Engine, Request, Work};

/// The type of the item.
pub const TOKEN_REVOKED: &str = "TokenRevoked";

/// What is to be refused from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// The one token with this `jti`.
    Token(String),
    /// Every token of the session that was issued until now; a later one is good again.
    Session(String),
}

impl Revocation {
    fn parts(&self) -> (Kind, &str) {
        match self {
            Revocation::Token(name) => (Kind::Token, name),
            Revocation::Session(name) => (Kind::Session, name),
        }
    }
}

/// A token as far as revocation goes.
#[derive(Debug, Clone, Copy)]
pub struct Issued<'a> {
    pub jti: &'a str,
    pub session: &'a str,
    pub at: Time,
}

impl Engine {
    /// Whether a token of the caller's workspace was revoked.
    pub fn is_revoked(&self, caller: &Caller, token: Issued<'_>) -> Result<bool> {
        self.read(caller, |view| match view {
            None => Ok(false),
            Some(view) => is_revoked(view.tx, view.ws, token),
        })
    }

    /// Revokes in the caller's workspace; the item's place and moment.
    pub fn revoke(&self, caller: &Caller, what: Revocation) -> Result<Value> {
        let request = Request {
            tool: "token_revoke",
            scope: String::new(),
            key: None,
            arguments: Value::Null,
            cause: None,
            project: None,
        };
        self.write_json(caller, request, move |work| revoke(work, &what))
    }
}

fn is_revoked(tx: &mut Tx<'_>, ws: Ws, token: Issued<'_>) -> Result<bool> {
    if revoked::find(tx, ws, Kind::Token, token.jti)?.is_some() {
        return Ok(true);
    }
    let session = revoked::find(tx, ws, Kind::Session, token.session)?;
    Ok(session.is_some_and(|until| token.at <= until))
}

fn revoke(work: &mut Work<'_, '_>, what: &Revocation) -> Result<Value> {
    work.beyond_quota();
    let (kind, name) = what.parts();
    check_text(kind.as_str(), name, limits::NAME_CHARS, false)?;
    let content = json!({ "kind": kind.as_str(), "name": name });
    let seq = work.note(ItemKind::TokenRevoked, None, &content)?;
    Ok(json!({ "revoked": kind.as_str(), "name": name, "seq": seq, "at": work.now.to_string() }))
}

fn said(item: &Item) -> Value {
    let content = item.content.as_deref().unwrap_or_default();
    serde_json::from_str(content).unwrap_or_default()
}

/// The item in a few words, for a line of the log.
pub(crate) fn told(item: &Item) -> String {
    let said = said(item);
    let text = |field: &str| said[field].as_str().unwrap_or_default().to_string();
    format!("{} {}", text("kind"), text("name"))
}

/// Applies the item to core.
pub(crate) fn replay(tx: &mut Tx<'_>, ws: Ws, item: &Item) -> Result<()> {
    let said = said(item);
    let kind = [Kind::Token, Kind::Session]
        .into_iter()
        .find(|kind| said["kind"] == kind.as_str());
    let (Some(kind), Some(name)) = (kind, said["name"].as_str()) else {
        let problem = format!("item {} cannot be replayed: it revokes nothing", item.seq);
        return Err(Fault::new(Code::StoreCorrupt, problem)
            .hint("Run `understory verify` to see where the log was changed."));
    };
    revoked::put(tx, ws, kind, name, item.realized_at)
}
