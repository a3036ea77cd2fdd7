//! Everything that a test with real clients needs: the walls, the fake model, the program under test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::fake_model::{ADDRESS, FakeModel};
use super::walls::{Process, Walls};

/// Settings that keep the clients from looking for anybody on the network; there is nobody.
const QUIET: [(&str, &str); 6] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DO_NOT_TRACK", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
];

/// What the clients show to the model, which does not look at it.
pub const KEY: &str = "no-key-is-needed";

/// A place where real clients run, with `understory` and a store.
pub struct Lab {
    pub model: FakeModel,
    pub walls: Walls,
    /// The program under test.
    pub understory: PathBuf,
    /// The address of the store, as it can be reached behind the walls.
    pub store: String,
}

/// How a command behind the walls ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Lab {
    /// Starts one, unless this system cannot: then it prints why, and the test is to be skipped.
    ///
    /// `clients` is the folder where the clients are installed, `model` the name of the test in this binary
    /// that serves the fake model, `rules` are the model's from the beginning.
    pub fn start(
        clients: &Path,
        understory: &Path,
        store: String,
        model: &str,
        rules: &str,
    ) -> Option<Lab> {
        let [agents, opencode] = ["agents", "opencode"]
            .map(|folder| clients.join(folder).join("node_modules").join(".bin"));
        let own = understory.parent().expect("a folder");
        let mut walls = Walls::up(&[&agents, &opencode, own])?;
        for (name, value) in QUIET {
            walls.set(name, value);
        }
        let address = format!("http://{ADDRESS}");
        walls.set("ANTHROPIC_BASE_URL", &address);
        walls.set("ANTHROPIC_API_KEY", KEY);
        walls.set("FAKE_MODEL_KEY", KEY);
        walls.set("UNDERSTORY_STORE", &store);
        let model = FakeModel::start(&walls, model, rules);
        Some(Lab {
            model,
            walls,
            understory: understory.to_owned(),
            store,
        })
    }

    /// Writes a file of a client's settings, below the home behind the walls.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.walls.home().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("a file");
        file
    }

    /// Writes a shell script that a hook can run.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let file = self.walls.path(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("an executable");
        file
    }

    /// Runs a command behind the walls to its end.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Ended {
        let mut command = self.walls.command(program);
        Ended::of(command.args(arguments))
    }

    /// Ends everything that was started, and returns what still runs: nothing.
    pub fn end(self) -> Vec<Process> {
        drop(self.model);
        self.walls.end()
    }
}

impl Ended {
    pub fn of(command: &mut Command) -> Ended {
        let Output {
            status,
            stdout,
            stderr,
        } = command
            .stdin(Stdio::null())
            .output()
            .expect("the command starts");
        Ended {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            err: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Fails unless it succeeded, and returns what it printed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }
}
