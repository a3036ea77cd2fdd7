//! A chat of an agent client, as far as its hooks see it: the client's process, and what it runs at
//! the moments of the chat.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;

/// A client with one chat, whose process lives as long as this. Its agent has the chat's name.
pub struct Chat<'b> {
    bench: &'b Bench,
    store: String,
    client: &'static str,
    session: String,
    process: Child,
}

impl<'b> Chat<'b> {
    pub fn claude(bench: &'b Bench, store: &str, session: &str) -> Outcome<Chat<'b>> {
        Chat::of(bench, store, "claude", session)
    }

    pub fn of(
        bench: &'b Bench,
        store: &str,
        client: &'static str,
        session: &str,
    ) -> Outcome<Chat<'b>> {
        let process = Command::new("sleep").arg("100000").spawn()?;
        Ok(Chat {
            bench,
            store: store.to_owned(),
            client,
            session: session.to_owned(),
            process,
        })
    }

    /// Its agent.
    pub fn agent(&self) -> &str {
        &self.session
    }

    /// A hook of an event, which has read what its client writes.
    pub fn begin(&self, event: &str, name: &str, more: &Value) -> Outcome<Child> {
        let mut input = json!({
            "session_id": self.session, "transcript_path": "/t", "cwd": "/",
            "hook_event_name": name, "turn_id": "1",
        });
        for (field, value) in more.as_object().into_iter().flatten() {
            input[field] = value.clone();
        }
        let mut hook = self
            .bench
            .understory(&self.store)
            .args(["hook", event, "--client", self.client, "--process"])
            .arg(self.process.id().to_string())
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("UNDERSTORY_AGENT", &self.session)
            .env("UNDERSTORY_WAKES_PER_HOUR", "10000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = hook.stdin.take().ok_or("no standard input")?;
        stdin.write_all(input.to_string().as_bytes())?;
        Ok(hook)
    }

    /// What a hook says; it must end well.
    pub fn fire(&self, event: &str, name: &str, more: &Value) -> Outcome<String> {
        let ended = self.begin(event, name, more)?.wait_with_output()?;
        if ended.status.success() {
            Ok(String::from_utf8(ended.stdout)?)
        } else {
            Err(format!("the hook {event} failed").into())
        }
    }

    /// A hook that waits beside the chat, which is idle.
    pub fn waits(&self) -> Outcome<Child> {
        self.begin("wake", "Stop", &json!({ "stop_hook_active": false }))
    }
}

impl Drop for Chat<'_> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
