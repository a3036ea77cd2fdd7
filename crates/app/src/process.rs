//! The process of the client that started this one: its hooks and its MCP processes are its children,
//! and so can find out that they belong to one chat.

use std::fs;
use std::sync::OnceLock;

use understory_engine::kernel::process::{Local, Process};
use understory_model::canon::{hex, sha256};

/// Programs that only start others; a client starts hooks and servers through them.
const BETWEEN: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "fish", "env", "timeout", "nice", "setsid",
];
/// How many of them may stand between.
const DEPTH: usize = 8;

/// The client's process, as far as it can be seen.
pub fn client() -> Option<Process> {
    let mut id = parent()?;
    for _ in 0..DEPTH {
        match stat(id) {
            Some(stat) if BETWEEN.contains(&stat.name.as_str()) && stat.parent > 1 => {
                id = stat.parent;
            }
            _ => break,
        }
    }
    of(id)
}

/// A process that is there.
pub fn of(id: i64) -> Option<Process> {
    let started = match stat(id) {
        Some(stat) => stat.started,
        None if is_there(id) => 0,
        None => return None,
    };
    Some(Process {
        machine: machine().to_owned(),
        id,
        started,
    })
}

/// Whether a process of this machine still runs.
pub fn runs(process: &Process) -> bool {
    match stat(process.id) {
        Some(stat) => stat.started == process.started && stat.state != 'Z',
        None => process.started == 0 && is_there(process.id),
    }
}

/// The processes of this machine.
pub fn local() -> Local {
    Local {
        machine: machine(),
        runs,
    }
}

/// What tells this machine from others, and on it one world of process numbers from another.
pub fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let host = read("/proc/sys/kernel/hostname");
        let world = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let all = format!("{}\n{host}\n{}", read("/etc/machine-id"), world.display());
        hex(&sha256(all.as_bytes()))[..16].to_owned()
    })
}

/// Returns when a process has ended.
pub fn wait_for_end(process: &Process) {
    #[cfg(target_os = "linux")]
    if wait_quietly(process) {
        return;
    }
    while runs(process) {
        std::thread::sleep(std::time::Duration::from_secs(3));
    }
}

/// Waits as the system says when it ends; false where the system does not.
#[cfg(target_os = "linux")]
fn wait_quietly(process: &Process) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) else {
        return true;
    };
    let handle = match pidfd_open(id, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::SRCH) => return true,
        Err(_) => return false,
    };
    // The number may have been given to another since.
    if !runs(process) {
        return true;
    }
    loop {
        let mut polled = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(unix)]
fn parent() -> Option<i64> {
    Some(i64::from(std::os::unix::process::parent_id()))
}

#[cfg(not(unix))]
fn parent() -> Option<i64> {
    None
}

#[cfg(unix)]
fn is_there(id: i64) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| {
        let found = test_kill_process(id);
        found.is_ok() || found == Err(rustix::io::Errno::PERM)
    })
}

#[cfg(not(unix))]
fn is_there(_: i64) -> bool {
    false
}

/// What the system says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    name: String,
    state: char,
    parent: i64,
    /// When it began, in ticks since the machine did.
    started: i64,
}

fn stat(id: i64) -> Option<Stat> {
    parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Reads a line of `/proc/<id>/stat`. The name is in brackets and may hold anything, brackets too.
fn parse(line: &str) -> Option<Stat> {
    let (begin, rest) = line.rsplit_once(')')?;
    let (_, name) = begin.split_once('(')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // The 22nd field of the line; these were the third and the fourth.
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat {
        name: name.to_owned(),
        state,
        parent,
        started,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_called_anything() {
        let line = "77 (a) b (c) S 5 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1";
        let stat = parse(line).unwrap();
        assert_eq!((stat.name.as_str(), stat.state), ("a) b (c", 'S'));
        assert_eq!((stat.parent, stat.started), (5, 4242));
        assert_eq!(parse("77 (a) S 5"), None);
        assert_eq!(parse(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_runs_until_its_end() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let process = of(i64::from(child.id())).unwrap();
        assert!(runs(&process));
        assert!(!runs(&Process {
            started: process.started + 1,
            ..process.clone()
        }));
        let waiting = {
            let process = process.clone();
            std::thread::spawn(move || wait_for_end(&process))
        };
        child.kill().unwrap();
        child.wait().unwrap();
        waiting.join().unwrap();
        assert!(!runs(&process));
        assert_eq!(of(process.id), None);
    }
}
