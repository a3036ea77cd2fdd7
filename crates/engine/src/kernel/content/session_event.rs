//! The words of the log: what a change of a session or of a record is called in it.

/// What a session's items say was done.
pub const RESUMED: &str = "resumed";
pub const BRANCHED: &str = "branched";
pub const ACTIVATED: &str = "activated";
pub const SYNCED: &str = "synced";
pub const SAVED: &str = "saved";
pub const CLOSED: &str = "closed";
/// Its process ended, and nobody closed it.
pub const ENDED: &str = "ended";
pub const CONFLICT_DETECTED: &str = "conflict_detected";
pub const CONFLICT_RESOLVED: &str = "conflict_resolved";

/// What a record's items say was done.
pub const UPDATED: &str = "updated";
pub const TRANSITIONED: &str = "transitioned";
