//! The real binary in a folder of its own, on either engine, with nothing of this machine's
//! settings.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use understory_testkit::Backend;

/// A folder called `garden`, a store beside it, and a person called ann.
pub struct Shell {
    pub backend: Backend,
    pub dir: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Shell {
    pub fn new(backend: Backend) -> Shell {
        let dir = tempfile::tempdir().unwrap();
        for name in ["garden", "tmp"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Shell { backend, dir }
    }

    pub fn sqlite() -> Shell {
        Shell::new(Backend::sqlite())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_understory"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            // Whoever runs the tests may be an agent.
            let ours = [
                "UNDERSTORY_",
                "XDG_",
                "CLICOLOR",
                "NO_COLOR",
                "CLAUDE",
                "CODEX_",
                "GEMINI_",
                "OPENCODE",
                "COPILOT_",
                "AI_AGENT",
            ];
            if ours.iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.path("garden"))
            .env("HOME", self.dir.path())
            .env("TMPDIR", self.path("tmp"))
            .env("USER", "ann")
            .env("TZ", "UTC")
            .env("UNDERSTORY_STORE", self.backend.store())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments).output().unwrap())
    }

    /// Runs it with something on its standard input.
    pub fn fed(&self, arguments: &[&str], input: &[u8]) -> Done {
        fed(self.command(arguments), input)
    }

    /// What a command that must succeed prints.
    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.out
    }

    /// The JSON that a command that must succeed prints.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        assert_eq!(out.lines().count(), 1, "compact JSON is one line: {out}");
        serde_json::from_str(&out).unwrap()
    }

    /// Runs a command that must be refused with this exit code.
    #[track_caller]
    pub fn refused(&self, arguments: &[&str], code: i32) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
        assert!(done.err.starts_with("error: "), "{done:?}");
        done
    }

    /// Four nodes: a front end with a lexer that ada finished, and a parser that waited for it.
    #[track_caller]
    pub fn planted(backend: Backend) -> Shell {
        let shell = Shell::new(backend);
        let goal = r#"{"project": "default", "goal": "Ship the compiler"}"#;
        shell.ok(&["call", "graph_open", goal]);
        shell.ok(&["call", "graph_plan", PLAN]);
        let done = r#"{"updates": [{"node_id": "TASK-002", "resolved": true, "state": "merged",
            "reason": "all tests pass", "add_evidence": [{"type": "git", "ref": "abc1234"}]}]}"#;
        shell.ok(&["next", "--claim", "--agent", "ada"]);
        shell.ok(&["call", "graph_update", done, "--agent", "ada"]);
        shell
    }
}

const PLAN: &str = r#"{"nodes": [
    {"ref": "fe", "summary": "Front end", "context_links": ["docs/grammar.md"]},
    {"ref": "lex", "parent_ref": "fe", "summary": "Write the lexer", "properties": {"priority": 5}},
    {"ref": "par", "parent_ref": "fe", "summary": "Write the parser", "depends_on": ["lex"],
     "properties": {"area": "syntax"}},
    {"ref": "be", "summary": "Back end", "depends_on": ["fe"]}]}"#;

/// Runs a command with something on its standard input.
pub fn fed(mut command: Command, input: &[u8]) -> Done {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Done::of(child.wait_with_output().unwrap())
}

impl Done {
    pub fn of(output: Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Fails unless every piece is in the text.
#[track_caller]
pub fn says(text: &str, pieces: &[&str]) {
    for piece in pieces {
        assert!(text.contains(piece), "no {piece:?} in:\n{text}");
    }
}
