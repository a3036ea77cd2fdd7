//! Who is calling: an identity that the edge has verified, never one that a payload claims.

use std::fmt;
use std::str::FromStr;

use crate::error::{Fault, Result};
use crate::limits;
use crate::text::{check_text, quoted};

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A person.
    Operator,
    /// An agent that directs others.
    Orchestrator,
    /// An agent that works.
    Worker,
    /// Reads, and nothing else.
    Auditor,
}

impl Role {
    pub const ALL: [Role; 4] = [
        Role::Operator,
        Role::Orchestrator,
        Role::Worker,
        Role::Auditor,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Operator => "operator",
            Role::Orchestrator => "orchestrator",
            Role::Worker => "worker",
            Role::Auditor => "auditor",
        }
    }

    pub fn may_write(self) -> bool {
        self != Role::Auditor
    }

    /// Whether it may act for others and decide what they dispute.
    pub fn directs(self) -> bool {
        matches!(self, Role::Operator | Role::Orchestrator)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Role, String> {
        Role::ALL
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| {
                let role = quoted(text);
                format!("unknown role {role}: must be operator, orchestrator, worker or auditor")
            })
    }
}

/// How a caller was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Via {
    /// A token or a login proved it, for this one session.
    Token,
    /// The process or the shell that it runs in.
    #[default]
    Local,
    /// As [`Via::Local`], under a client's name that another live session may have: the first write
    /// settles which number it gets.
    Arriving,
}

/// Refuses what cannot name a session, wherever the name comes from.
pub fn check_session_name(field: &str, name: &str) -> Result<()> {
    check_text(field, name, limits::NAME_CHARS, false)?;
    if name.chars().any(char::is_control) {
        return Err(Fault::invalid(field, "has control characters"));
    }
    Ok(())
}

/// A verified identity, with the project it works in unless a call names another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    pub workspace: String,
    /// What tells this workspace from another of the same name: the repository it belongs to.
    pub origin: Option<String>,
    pub agent: String,
    pub session: String,
    pub role: Role,
    pub project: String,
    pub via: Via,
}
