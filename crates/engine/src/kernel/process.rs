//! How a process of a machine is named, so that it can be told from a later one.

/// A client's process. Its number is used again after its end, so it is named with its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub machine: String,
    pub id: i64,
    pub started: i64,
}
