//! How a process of a machine is named, so that it can be told from a later one.

/// A client's process. Its number is used again after its end, so it is named with its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub machine: String,
    pub id: i64,
    pub started: i64,
}

/// The processes of one machine, for whoever can see them.
#[derive(Debug, Clone, Copy)]
pub struct Local {
    pub machine: &'static str,
    /// Whether one of them still runs.
    pub runs: fn(&Process) -> bool,
}

impl Local {
    /// Whether a process runs on this machine.
    pub fn has(&self, process: &Process) -> bool {
        process.machine == self.machine && (self.runs)(process)
    }
}
