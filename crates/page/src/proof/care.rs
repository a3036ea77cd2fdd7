//! What only the server knows and Proof and care shows: its settings, what a check-up found, and the proofs of
//! its life. The server hands it to a visit as data.

use serde::Serialize;
use understory_model::Time;
use understory_model::fact::Break;

/// What the server knows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Care {
    /// The store's address, without a password.
    pub store: String,
    pub settings: Vec<Setting>,
    /// What the check-up found; empty where the page does not show it.
    pub findings: Vec<Finding>,
    pub proof: Proof,
}

/// A setting as it may be shown: no password, no key.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    pub name: String,
    pub value: Option<String>,
    pub set_by: String,
    pub is_default: bool,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub check: String,
    pub verdict: Verdict,
    pub found: String,
    pub advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// How far the log of the visit's workspace is proved, since this server began.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Proof {
    pub running: Option<Running>,
    pub last: Option<Proved>,
    /// Checkpoints that were signed here, newest first.
    pub signed: Vec<Signed>,
}

/// A proof that is not at its end.
#[derive(Debug, Clone, Serialize)]
pub struct Running {
    /// The item up to which it is proved.
    pub done: i64,
    pub since: Time,
    pub by: String,
}

/// A proof that ended.
#[derive(Debug, Clone, Serialize)]
pub struct Proved {
    pub at: Time,
    pub took_ms: i64,
    pub items: i64,
    pub head: String,
    /// Where the log is not what was written.
    pub breaks: Vec<Break>,
    /// What the database finds wrong with its own files, or why there is no proof.
    pub faults: Vec<String>,
    /// Checkpoints that it was compared with.
    pub checkpoints: usize,
}

impl Proved {
    pub fn holds(&self) -> bool {
        self.breaks.is_empty() && self.faults.is_empty()
    }
}

/// A checkpoint that was signed here.
#[derive(Debug, Clone, Serialize)]
pub struct Signed {
    pub at: Time,
    pub seq: i64,
    pub head: String,
    pub kid: String,
}
