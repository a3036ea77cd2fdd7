//! A PostgreSQL server that lives exactly as long as one task needs it.
//!
//! It finds or installs the server's programs, starts one in a temporary directory on a free port
//! of this machine only, and leaves nothing behind. It never touches a server it did not start.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use crate::process::{Outcome, exists, output, run, shown};

/// Starts the server, waits, and cleans up after it; see the file for why it is a process.
const KEEPER: &str = include_str!("postgres.sh");

/// Where Debian keeps the server's programs, outside of `PATH`, a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs without which a directory is not a server's.
const PROGRAMS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// What the server promises about a commit it has acknowledged.
#[derive(Clone, Copy)]
pub enum Promise {
    /// It survives a power cut: what a benchmark must measure.
    Durable,
    /// It survives any crash of a program, but not one of the machine. Tests end processes and
    /// never the machine, so they see no difference, and do not wait for a disk.
    Visible,
}

impl Promise {
    fn settings(self) -> &'static str {
        match self {
            Promise::Durable => "-c max_connections=200",
            Promise::Visible => {
                "-c max_connections=200 -c fsync=off -c full_page_writes=off \
                 -c synchronous_commit=on"
            }
        }
    }
}

/// A running server. Dropping it stops it and removes its files.
pub struct Server {
    keeper: Child,
    /// The keeper's standard input; `None` only while the server is being dropped.
    line: Option<ChildStdin>,
    port: u16,
}

impl Server {
    /// Starts a server, installing PostgreSQL first where that can be done without asking.
    pub fn start(promise: Promise) -> Outcome<Server> {
        let programs = match programs() {
            Some(programs) => programs,
            None => {
                install()?;
                programs().ok_or("PostgreSQL was installed, but its server was not found")?
            }
        };
        // Between our choice of a port and the server's use of it, someone else may take it.
        let mut tries = 3;
        loop {
            tries -= 1;
            match Server::start_from(&programs, promise) {
                Err(complaint) if tries > 0 && complaint.contains("already in use") => {}
                outcome => return outcome,
            }
        }
    }

    fn start_from(programs: &Path, promise: Promise) -> Outcome<Server> {
        let port = free_port().map_err(|e| format!("no free port on 127.0.0.1: {e}"))?;
        let user = if is_root()? { "postgres" } else { "" };
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "understory-postgres"])
            .arg(programs)
            .args([&port.to_string(), promise.settings(), user])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0) // a Ctrl-C at the terminal is not for it
            .spawn()
            .map_err(|e| format!("sh: {e}"))?;
        let line = keeper.stdin.take();
        let mut answer = BufReader::new(keeper.stdout.take().ok_or("sh has no output")?);
        let server = Server { keeper, line, port };

        let mut words = String::new();
        answer
            .read_line(&mut words)
            .map_err(|e| format!("sh: {e}"))?;
        if words.trim() == "ready" {
            eprintln!("PostgreSQL ({}) at {}", programs.display(), server.url());
            return Ok(server);
        }
        answer
            .read_to_string(&mut words)
            .map_err(|e| format!("sh: {e}"))?;
        Err(format!(
            "PostgreSQL ({}) does not start:\n{words}",
            programs.display()
        ))
    }

    /// The address of the server's own database, which tests may fill as they like.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The server as PostgreSQL's own programs expect to be told of it.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("PGHOST", "127.0.0.1".to_owned()),
            ("PGPORT", self.port.to_string()),
            ("PGUSER", "postgres".to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }

    /// Runs a command that can find the server, and ends it too if this process is ended.
    pub fn run(&mut self, command: &mut Command) -> Outcome<ExitStatus> {
        let mut child = command
            .env("UNDERSTORY_TEST_POSTGRES", self.url())
            .spawn()
            .map_err(|e| format!("{}: {e}", shown(command)))?;
        self.tell(&child.id().to_string())?;
        let status = child
            .wait()
            .map_err(|e| format!("{}: {e}", shown(command)))?;
        self.tell("")?;
        Ok(status)
    }

    fn tell(&mut self, line: &str) -> Outcome {
        match &mut self.line {
            Some(keeper) => writeln!(keeper, "{line}").map_err(|e| format!("PostgreSQL: {e}")),
            None => Ok(()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.line = None;
        if let Err(e) = self.keeper.wait() {
            eprintln!("PostgreSQL was told to stop, but: {e}");
        }
    }
}

/// The directory of the newest server installed: Debian's own place first, for what stands in
/// `PATH` may be a wrapper around it.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let debian = newest_first(versions.map(|entry| entry.path()).collect());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let linked = std::env::split_paths(&path).filter_map(|directory| {
        let program = directory.join(PROGRAMS[0]).canonicalize().ok()?;
        program.parent().map(Path::to_owned)
    });
    debian
        .into_iter()
        .map(|version| version.join("bin"))
        .chain(linked)
        .find(|directory| {
            PROGRAMS
                .iter()
                .all(|program| directory.join(program).is_file())
        })
}

/// Sorts directories named by a version number; as text, 9 would be newer than 15.
fn newest_first(mut directories: Vec<PathBuf>) -> Vec<PathBuf> {
    directories.sort_by_key(|directory| {
        let name = directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let numbers: Vec<u32> = name
            .split('.')
            .filter_map(|part| part.parse().ok())
            .collect();
        std::cmp::Reverse(numbers)
    });
    directories
}

fn install() -> Outcome {
    if !is_root()? || !exists(&mut Command::new("apt-get")) {
        return Err(
            "the tests need a PostgreSQL server, and none is installed.\n\
             Debian, Ubuntu: sudo apt-get install --no-install-recommends postgresql\n\
             macOS:          brew install postgresql\n\
             elsewhere:      any version from 14 whose `initdb` and `postgres` are in PATH\n\
             or name a server they may fill: UNDERSTORY_TEST_POSTGRES=postgres://…"
                .to_owned(),
        );
    }
    println!("no PostgreSQL server is installed; installing Debian's");
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get")
        .args([
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "postgresql",
        ])
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> Outcome<bool> {
    Ok(output(Command::new("id").arg("-u"))?.trim() == "0")
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_not_text() {
        let sorted = newest_first(["9.6", "15", "8.4", "17"].map(PathBuf::from).to_vec());
        assert_eq!(sorted, ["17", "15", "9.6", "8.4"].map(PathBuf::from));
    }
}
