//! Three walls around a client under test: an empty environment, a home of its own, and a network that
//! has only loopback.
//!
//! Nothing that runs behind them can see the settings of whoever runs the tests, or reach anybody. What
//! was started there ends with the test, however the test ends.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Waits, and cleans up; see the file for why it is a process.
const KEEPER: &str = include_str!("walls.sh");

/// Where programs of the system are, and after them those of its administrator.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The walls, up until they are dropped.
pub struct Walls {
    keeper: Child,
    /// The keeper's standard input; `None` only while the walls are being dropped.
    line: Option<ChildStdin>,
    /// Whether the network is in a user namespace, because whoever tests is not root.
    in_user: bool,
    network: PathBuf,
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// A process behind the walls.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub command: String,
}

impl Walls {
    /// Puts them up around an empty repository called `shop`. The programs in `folders` can be called by
    /// name. Where the system allows no network namespace it prints why, and the test is to be skipped,
    /// except on a build machine (`CI`), whose tests run as root and where that would go unnoticed.
    pub fn up(folders: &[&Path]) -> Option<Walls> {
        // Root needs no user namespace, and systems that forbid those allow it a network one.
        let mut refusals = Vec::new();
        for (flags, in_user) in [("-n", false), ("-rn", true)] {
            match keeper(flags) {
                Ok(keeper) => return Some(Walls::around(keeper, in_user, folders)),
                Err(why) => refusals.push(why),
            }
        }
        let reason = format!(
            "this system allows no network namespace ({})",
            refusals.join("; ")
        );
        assert!(std::env::var_os("CI").is_none(), "cannot run: {reason}");
        eprintln!("SKIPPED: {reason}");
        None
    }

    fn around(mut keeper: Child, in_user: bool, folders: &[&Path]) -> Walls {
        let line = keeper.stdin.take();
        let network = PathBuf::from(format!("/proc/{}/ns/net", keeper.id()));
        let network = fs::read_link(network).expect("the keeper's network");
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "tmp", "shop"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let path: Vec<String> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .chain([SYSTEM.to_owned()])
            .collect();
        let home = folder.path().join("home").display().to_string();
        let tmp = folder.path().join("tmp").display().to_string();
        let variables = [
            ("PATH", path.join(":").as_str()),
            ("HOME", &home),
            ("TMPDIR", &tmp),
            ("USER", "dev"),
            ("SHELL", "/bin/sh"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm-256color"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut walls = Walls {
            keeper,
            line,
            in_user,
            network,
            folder,
            variables: variables.into(),
        };
        let made = walls
            .command("git")
            .args(["init", "--quiet"])
            .status()
            .expect("git starts");
        assert!(made.success(), "a repository");
        walls.set("GIT_TERMINAL_PROMPT", "0");
        walls
    }

    /// Gives a variable to everything that is started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// The names of the variables that everything is given.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| name.as_str())
    }

    /// A place in the test's own folder, where `home`, `tmp` and the repository `shop` are.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn repository(&self) -> PathBuf {
        self.path("shop")
    }

    /// A command that runs behind the walls, in the repository.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("nsenter");
        let target = self.keeper.id().to_string();
        command.args(["--target", &target, "--net"]);
        if self.in_user {
            command.args(["--user", "--preserve-credentials"]);
        }
        command
            .arg("--")
            .arg(program.as_ref())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.repository());
        command
    }

    /// Everything that runs behind the walls, except the walls' own keeper.
    pub fn processes(&self) -> Vec<Process> {
        let entries = fs::read_dir("/proc").expect("a list of processes");
        let pids = entries.flatten().filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let inside = fs::read_link(entry.path().join("ns/net")).ok()? == self.network;
            (inside && pid != self.keeper.id()).then_some(pid)
        });
        pids.filter_map(process).collect()
    }

    /// Takes the walls down now, and returns what still runs: nothing.
    pub fn end(mut self) -> Vec<Process> {
        self.take_down();
        self.processes()
    }

    fn take_down(&mut self) {
        self.line = None;
        if let Err(e) = self.keeper.wait() {
            eprintln!("the walls were told to go, but: {e}");
        }
    }
}

/// What a process is, unless it has ended.
fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in parentheses, and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?);
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    (state != "Z").then_some(Process {
        pid,
        parent: parent.parse().ok()?,
        command: words.trim().to_owned(),
    })
}

fn keeper(flags: &str) -> Result<Child, String> {
    let mut keeper = Command::new("unshare")
        .args([flags, "sh", "-c", KEEPER, "understory-walls"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0) // a Ctrl-C at the terminal is not for it
        .spawn()
        .map_err(|e| format!("unshare: {e}"))?;
    let mut ready = String::new();
    if let Some(output) = keeper.stdout.take() {
        let _ = BufReader::new(output).read_line(&mut ready);
    }
    if ready.trim() == "ready" {
        return Ok(keeper);
    }
    let mut why = String::new();
    if let Some(mut complaint) = keeper.stderr.take() {
        let _ = complaint.read_to_string(&mut why);
    }
    let _ = keeper.wait();
    Err(why.trim().to_owned())
}

impl Drop for Walls {
    fn drop(&mut self) {
        self.take_down();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn what_is_behind_them_sees_and_reaches_nothing() {
        let Some(walls) = Walls::up(&[]) else { return };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let reach = format!("env; echo > /dev/tcp/127.0.0.1/{port}");
        let output = walls.command("bash").args(["-c", &reach]).output();
        let output = output.expect("a shell");
        assert!(!output.status.success(), "{output:?}");
        let seen = String::from_utf8_lossy(&output.stdout);
        assert!(!seen.contains("CARGO"), "{seen}");
        let home = format!("HOME={}", walls.home().display());
        assert!(seen.lines().any(|line| line == home), "{seen}");
    }

    #[test]
    fn they_take_everything_with_them_after_a_panic_too() {
        let Some(walls) = Walls::up(&[]) else { return };
        let network = walls.network.clone();
        let mut left = Vec::new();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let walls = walls;
            // It leaves its session and its parent, as a daemon does.
            let daemon = "setsid sleep 1000 & exec sleep 1000";
            let shell = walls.command("sh").args(["-c", daemon]).spawn();
            left.push(shell.expect("a shell"));
            while walls.processes().len() < 2 {
                std::thread::yield_now();
            }
            panic!("as a failed test does");
        }));
        assert!(panicked.is_err());
        for child in &mut left {
            child.wait().expect("its end");
        }
        let entries = fs::read_dir("/proc").expect("a list of processes");
        let inside = entries
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok())
            .filter(|there| *there == network);
        assert_eq!(inside.count(), 0);
    }
}
