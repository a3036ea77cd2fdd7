//! What was done with tokens, keys and logins, and with the store itself. It names tokens and keys by
//! their ids and never holds one.

use serde::{Deserialize, Serialize};

use crate::Seq;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AuditEvent {
    /// A token was issued.
    TokenIssued(Token),
    /// Tokens with a valid signature were refused; the last of them is told.
    TokenRefused {
        reason: TokenReason,
        count: u64,
        #[serde(flatten)]
        token: Token,
    },
    /// A key signs from now on.
    KeyCreated { kid: String },
    /// What a key signed is refused from now on.
    KeyRetired { kid: String },
    /// A person used a link to log in.
    LoggedIn,
    /// A person ended a login.
    LoggedOut,
    /// Somebody was woken over a half-typed line or beyond the limits, on a person's word.
    WakeForced { target: String, reason: String },
    /// Core was derived from a log that does not prove, on somebody's word.
    DamageAccepted { breaks: Vec<Break> },
}

/// What may be told of a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub jti: String,
    pub kid: String,
    /// Who issued it, where that was not this store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    pub agent: String,
    pub role: String,
    pub session: String,
    pub expires_at: String,
}

/// Why a token with a valid signature was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenReason {
    Expired,
    Revoked,
    /// The key that signed it was retired.
    RetiredKey,
    /// Its issuer may not give this role.
    NotAllowed,
    /// It does not say what a token has to say.
    Claims,
}

impl TokenReason {
    pub fn as_str(self) -> &'static str {
        match self {
            TokenReason::Expired => "expired",
            TokenReason::Revoked => "revoked",
            TokenReason::RetiredKey => "retired_key",
            TokenReason::NotAllowed => "not_allowed",
            TokenReason::Claims => "claims",
        }
    }
}

/// Where a log is not what it was.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Break {
    pub seq: Seq,
    pub what: String,
}
