//! The words of the log: what a change of a session is called in it, and what the project's
//! activity calls what happened.

/// What a session's items say was done.
pub const RESUMED: &str = "resumed";
pub const BRANCHED: &str = "branched";
pub const ACTIVATED: &str = "activated";
pub const SYNCED: &str = "synced";
pub const SAVED: &str = "saved";
pub const CLOSED: &str = "closed";
/// Its process ended, and nobody closed it.
pub const ENDED: &str = "ended";

/// What a record's items say was done.
pub const UPDATED: &str = "updated";
pub const TRANSITIONED: &str = "transitioned";

pub const RECORD_CREATED: &str = "record_created";
pub const RECORD_UPDATED: &str = "record_updated";
pub const STATE_TRANSITION: &str = "state_transition";
pub const SESSION_STARTED: &str = "session_started";
pub const SESSION_SAVED: &str = "session_saved";
pub const SESSION_CLOSED: &str = "session_closed";
pub const SESSION_BRANCHED: &str = "session_branched";
pub const ACTIVATION: &str = "activation";
pub const CONFLICT_DETECTED: &str = "conflict_detected";
pub const CONFLICT_RESOLVED: &str = "conflict_resolved";

/// Every type of activity.
pub const ALL: [&str; 10] = [
    RECORD_CREATED,
    RECORD_UPDATED,
    STATE_TRANSITION,
    SESSION_STARTED,
    SESSION_SAVED,
    SESSION_CLOSED,
    SESSION_BRANCHED,
    ACTIVATION,
    CONFLICT_DETECTED,
    CONFLICT_RESOLVED,
];

/// The changes of records.
pub const CHANGES: [&str; 3] = [RECORD_CREATED, RECORD_UPDATED, STATE_TRANSITION];
