//! Who is calling: an identity that the edge has verified, never one that a payload claims.

use std::fmt;
use std::str::FromStr;

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
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Role, String> {
        Role::ALL
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| {
                format!("unknown role `{text}`: must be operator, orchestrator, worker or auditor")
            })
    }
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
}
