//! Chats of agent clients as their hooks show them: what a client runs, and what it is told.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use understory_testkit::Backend;

use crate::shell::{Done, Shell, fed};

/// A workspace with two tasks.
pub fn planned(backend: Backend) -> Shell {
    let shell = Shell::new(backend);
    let plan = r#"{"nodes": [{"ref": "a", "summary": "Bake"}, {"ref": "b", "summary": "Sell"}]}"#;
    shell.ok(&["call", "graph_plan", plan]);
    shell
}

/// Says something to an agent as bob, in a new thread or in one that is there.
pub fn say(shell: &Shell, to: &str, body: &str) {
    let place = match to.starts_with("th_") {
        true => json!({"thread_id": to, "body": body}),
        false => json!({"to": [to], "title": "Keys", "body": body}),
    };
    shell.ok(&["call", "post_message", &place.to_string(), "--agent", "bob"]);
}

/// A process that stands for a client.
pub struct Stand(Child);

impl Stand {
    pub fn new() -> Stand {
        Stand(Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    pub fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A window of Claude Code.
pub struct Claude<'s> {
    pub shell: &'s Shell,
    pub process: String,
}

impl Claude<'_> {
    pub fn command(&self, event: &str) -> Command {
        let mut command = self.shell.command(&["hook", event]);
        command.env("CLAUDECODE", "1");
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli");
        command.env("CLAUDE_PID", &self.process);
        command
    }

    pub fn input(&self, chat: &str, name: &str, more: Value) -> Vec<u8> {
        input(self.shell, chat, name, more)
    }

    /// What a hook says; that it ends well.
    #[track_caller]
    pub fn fire(&self, event: &str, chat: &str, name: &str, more: Value) -> String {
        silent_but(fed(self.command(event), &self.input(chat, name, more)))
    }

    #[track_caller]
    pub fn start(&self, chat: &str, source: &str) -> String {
        let out = self.fire(
            "session-start",
            chat,
            "SessionStart",
            json!({"source": source}),
        );
        facts(&out, "SessionStart")
    }

    #[track_caller]
    pub fn prompt(&self, id: &str) -> String {
        let more = json!({"prompt": "go on", "prompt_id": id});
        let out = self.fire("prompt", "c1", "UserPromptSubmit", more);
        facts(&out, "UserPromptSubmit")
    }

    #[track_caller]
    pub fn stop(&self, last: &str) -> String {
        let more = json!({"stop_hook_active": false, "last_assistant_message": last});
        let out = self.fire("stop", "c1", "Stop", more);
        if out.is_empty() {
            return out;
        }
        let out: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(out["decision"], "block");
        out["reason"].as_str().unwrap().to_owned()
    }

    pub fn wake(&self) -> Child {
        begun(
            self.command("wake"),
            &self.input("c1", "Stop", json!({"stop_hook_active": false})),
        )
    }
}

pub fn input(shell: &Shell, chat: &str, name: &str, more: Value) -> Vec<u8> {
    let mut all = json!({
        "session_id": chat,
        "transcript_path": "/t.jsonl",
        "cwd": shell.path("garden"),
        "hook_event_name": name,
    });
    let fields = all.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    all.to_string().into_bytes()
}

pub fn begun(mut command: Command, input: &[u8]) -> Child {
    use std::io::Write;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child
}

#[track_caller]
pub fn silent_but(done: Done) -> String {
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.out
}

#[track_caller]
pub fn facts(out: &str, name: &str) -> String {
    if out.is_empty() {
        return String::new();
    }
    let out: Value = serde_json::from_str(out).unwrap();
    let said = &out["hookSpecificOutput"];
    assert_eq!(said["hookEventName"], name);
    said["additionalContext"].as_str().unwrap().to_owned()
}

/// The locks that are held beside chats.
pub fn locks(shell: &Shell, kind: &str) -> usize {
    let folder = shell.path(".local/share/understory/run");
    let Ok(files) = std::fs::read_dir(folder) else {
        return 0;
    };
    let names = files.flatten().map(|file| file.file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with(kind))
        .count()
}

/// Waits for something that comes by itself.
#[track_caller]
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    for _ in 0..600 {
        if come() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what} did not come");
}

/// Lists a program that tells the person, in the user's file of runtimes; the file that holds what it told.
pub fn person(shell: &Shell) -> PathBuf {
    let (program, told) = (shell.path("tell-person"), shell.path("told-person"));
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{}'\n", told.display());
    fs::write(&program, script).unwrap();
    let folder = shell.path(".config/understory");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runtimes.toml");
    let text = format!(
        "[person]\nnotify = [\"{}\", \"{{prompt}}\"]\n",
        program.display()
    );
    fs::write(&file, text).unwrap();
    for (path, mode) in [(&program, 0o700), (&folder, 0o700), (&file, 0o600)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    told
}
