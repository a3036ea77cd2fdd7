//! What every row needs: the two programs, a place for files, and how patient to be.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::measure::Pace;
use crate::table::tell;

/// The size of the floor's rows: that of the item which Understory keeps of one planned node.
pub const ROW_BYTES: usize = 580;

/// The workspace of every store that is measured.
pub const WORKSPACE: &str = "bench";

/// A run.
pub struct Bench {
    pub binary: PathBuf,
    floor: PathBuf,
    /// Kept between runs.
    pub data: PathBuf,
    scratch: tempfile::TempDir,
    pub quick: bool,
    pub postgres: Option<String>,
}

impl Bench {
    /// Builds the release binary beside the floor's, unless `UNDERSTORY_BENCH_BIN` names one.
    pub fn new(floor: &Path, quick: bool) -> Outcome<Bench> {
        let release = floor.parent().ok_or("no target directory")?;
        let target = release.parent().ok_or("no target directory")?;
        let binary = match std::env::var_os("UNDERSTORY_BENCH_BIN") {
            Some(binary) => PathBuf::from(binary),
            None => {
                build()?;
                release.join("understory")
            }
        };
        let data = target.join("bench-data");
        std::fs::create_dir_all(&data)?;
        Ok(Bench {
            binary,
            floor: floor.to_owned(),
            scratch: tempfile::tempdir_in(&data)?,
            data,
            quick,
            postgres: std::env::var("UNDERSTORY_TEST_POSTGRES").ok(),
        })
    }

    /// `understory mcp` on a store.
    pub fn ours(&self, store: &str) -> Command {
        self.ours_of(&self.binary, store)
    }

    /// The same, of another binary.
    pub fn ours_of(&self, binary: &Path, store: &str) -> Command {
        let mut command = self.program(binary, store);
        command.arg("mcp");
        command
    }

    /// `understory serve` on a store, at any free port, for as fast as clients can call.
    pub fn serve(&self, store: &str) -> Command {
        let mut command = self.understory(store);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("UNDERSTORY_RATE_PER_SECOND", "1000000")
            .env("UNDERSTORY_WAKES_PER_HOUR", "10000");
        command
    }

    /// A token for an agent at that server.
    pub fn token(&self, store: &str, agent: &str) -> Outcome<String> {
        let mut command = self.understory(store);
        command.args(["token", "issue", "--agent", agent, "--workspace", WORKSPACE]);
        let told = command
            .args(["--role", "worker", "--session", "s", "--ttl", "1h"])
            .output()?;
        let told = String::from_utf8(told.stdout)?;
        Ok(told.lines().last().ok_or("no token")?.to_string())
    }

    /// An echo over HTTP on the same stack.
    pub fn http_floor(&self) -> Command {
        let mut command = Command::new(&self.floor);
        command.arg("http");
        command
    }

    /// The binary on a store, with nothing of this machine's settings.
    pub fn understory(&self, store: &str) -> Command {
        self.program(&self.binary, store)
    }

    fn program(&self, binary: &Path, store: &str) -> Command {
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("UNDERSTORY_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.scratch.path())
            .env("HOME", self.scratch.path())
            .env("UNDERSTORY_STORE", store)
            .env("UNDERSTORY_WORKSPACE", WORKSPACE);
        command
    }

    /// The floor on a store; `threads` lets it hand what waits for the disk to a thread.
    pub fn floor(&self, store: &str, threads: bool) -> Command {
        let mut command = Command::new(&self.floor);
        command.arg(store).arg(ROW_BYTES.to_string());
        if threads {
            command.arg("threads");
        }
        command
    }

    /// A file that is gone after the run.
    pub fn file(&self, name: &str) -> String {
        self.scratch
            .path()
            .join(name)
            .to_string_lossy()
            .into_owned()
    }

    /// So many rounds, or few when there is no time.
    pub fn pace(&self, rounds: usize, block: usize) -> Pace {
        let rounds = if self.quick {
            rounds.div_ceil(8)
        } else {
            rounds
        };
        Pace { rounds, block }
    }

    /// So many, or a tenth of it when there is no time.
    pub fn size(&self, full: usize) -> usize {
        if self.quick { full / 10 } else { full }
    }
}

fn build() -> Outcome {
    tell("building the release binary");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--release", "-p", "understory"])
        .status()?;
    if built.success() {
        Ok(())
    } else {
        Err("the release binary cannot be built".into())
    }
}
