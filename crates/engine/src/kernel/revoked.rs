//! Revoked tokens: facts of the workspace whose tokens they are, in its log like all others, so
//! that every process on the store knows of them with the commit and a replay still does.
//!
//! It knows names and moments, never a token or a key.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::error::Result;
use understory_model::fact::{Fact, Revoked, TokenRevoked};
use understory_model::item::Item;
use understory_model::text::check_text;
use understory_model::{Caller, Seq, Time, Ws, limits};
use understory_storage::revoked::{self, Kind};
use understory_storage::{ReadTx, Tx};

use crate::{Engine, Request, Work};

/// The type of the item.
pub use understory_model::kind::TOKEN_REVOKED;

/// What is to be refused from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// The one token with this `jti`.
    Token(String),
    /// Every token of the session that was issued until now; a later one is good again.
    Session(String),
}

impl Revocation {
    fn fact(&self) -> TokenRevoked {
        let (kind, name) = match self {
            Revocation::Token(name) => (Revoked::Token, name),
            Revocation::Session(name) => (Revoked::Session, name),
        };
        TokenRevoked {
            kind,
            name: name.clone(),
        }
    }
}

/// What was revoked, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub revoked: Revoked,
    pub name: String,
    pub seq: Seq,
    pub at: Time,
}

/// A token as far as revocation goes.
#[derive(Debug, Clone, Copy)]
pub struct Issued<'a> {
    pub jti: &'a str,
    pub session: &'a str,
    pub at: Time,
}

/// Revocations of a workspace that are read at once.
const AT_ONCE: i64 = 1_000;

/// All that was revoked in a workspace, as of one moment.
#[derive(Debug, Default)]
pub struct Revocations {
    tokens: HashSet<String>,
    sessions: HashMap<String, Time>,
}

impl Revocations {
    pub fn has(&self, token: Issued<'_>) -> bool {
        let until = self.sessions.get(token.session);
        self.tokens.contains(token.jti) || until.is_some_and(|until| token.at <= *until)
    }
}

impl Engine {
    /// All that was revoked in the caller's workspace; `None` where that is too much to be read for
    /// one token.
    pub fn revocations(&self, caller: &Caller) -> Result<Option<Revocations>> {
        let all = self.view(caller, |view| revoked::all(view.tx, view.ws, AT_ONCE + 1))?;
        if all.len() as i64 > AT_ONCE {
            return Ok(None);
        }
        let mut revoked = Revocations::default();
        for (kind, name, at) in all {
            match kind {
                Kind::Token => drop(revoked.tokens.insert(name)),
                Kind::Session => drop(revoked.sessions.insert(name, at)),
            }
        }
        Ok(Some(revoked))
    }

    /// Whether a token of the caller's workspace was revoked.
    pub fn is_revoked(&self, caller: &Caller, token: Issued<'_>) -> Result<bool> {
        let found = self.rows(caller, |tx, ws| is_revoked(tx, ws, token))?;
        Ok(found.unwrap_or(false))
    }

    /// Revokes in the caller's workspace; the item's place and moment.
    pub fn revoke(&self, caller: &Caller, what: Revocation) -> Result<Done> {
        let request = Request {
            tool: "token_revoke",
            scope: String::new(),
            key: None,
            arguments: Value::Null,
            cause: None,
            project: None,
        };
        self.write(caller, request, move |work| revoke(work, &what))?
            .typed()
    }
}

pub(crate) fn is_revoked(tx: &mut ReadTx<'_>, ws: Ws, token: Issued<'_>) -> Result<bool> {
    if revoked::find(tx, ws, Kind::Token, token.jti)?.is_some() {
        return Ok(true);
    }
    let session = revoked::find(tx, ws, Kind::Session, token.session)?;
    Ok(session.is_some_and(|until| token.at <= until))
}

fn revoke(work: &mut Work<'_, '_>, what: &Revocation) -> Result<Done> {
    work.beyond_quota();
    let fact = what.fact();
    check_text(fact.kind.as_str(), &fact.name, limits::NAME_CHARS, false)?;
    let seq = work.note(None, Fact::TokenRevoked(fact.clone()))?;
    Ok(Done {
        revoked: fact.kind,
        name: fact.name,
        seq,
        at: work.now,
    })
}

/// Applies the item to core.
pub(crate) fn apply(tx: &mut Tx<'_>, ws: Ws, item: &Item, fact: &TokenRevoked) -> Result<()> {
    let kind = match fact.kind {
        Revoked::Token => Kind::Token,
        Revoked::Session => Kind::Session,
    };
    revoked::put(tx, ws, kind, &fact.name, item.realized_at)
}
