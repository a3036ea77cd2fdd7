//! From the post of a message until whom it is for is awake, for each step of the ladder that needs no
//! model: the target is a call, a hook, or a program that says when it was started.
//!
//! Each is held against the same notification without Understory: a byte through a pipe to a process
//! that waits, or the start of a process. A key on its way through the managed terminal is measured in `rows/terminal.rs`.

mod bell;
mod typed;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::bell::Bell;
use crate::Outcome;
use crate::bench::Bench;
use crate::chat::Chat;
use crate::measure::{Timed, in_turns};
use crate::rows::threads::{BODY, thread};
use crate::server::Server;
use crate::table::{Line, tell};
use crate::web::{Client, Web};

/// What a client may wait for a hook, in seconds.
const MOST: f64 = 0.050;
/// How long somebody who begins to wait is left alone first.
const SETTLE: Duration = Duration::from_millis(250);

/// Measures some steps.
type Row = fn(&Bench) -> Outcome<Vec<Line>>;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = Vec::new();
    let all: [(&str, Row); 6] = [
        ("a waiting call", waiting_calls),
        ("a waiting hook", waiting_hook),
        ("the end of a turn", end_of_turn),
        ("a session that is resumed or begun", started),
        ("a queue", queue),
        ("a managed terminal", typed::measure),
    ];
    for (name, measure) in all {
        tell(format!("  {name}"));
        lines.extend(measure(bench).map_err(|error| format!("{name}: {error}"))?);
    }
    Ok(lines)
}

/// Whoever posts, and sees to it that what was posted has been read.
struct Poster<'b> {
    bench: &'b Bench,
    store: String,
    server: Server,
}

impl<'b> Poster<'b> {
    fn new(bench: &'b Bench, name: &str) -> Outcome<Poster<'b>> {
        let store = bench.file(&format!("{name}.db"));
        let server = Server::begin(bench.ours(&store))?;
        Ok(Poster {
            bench,
            store,
            server,
        })
    }

    /// A thread with somebody: no two messages of a measurement are in the same.
    fn thread(&mut self, with: &str) -> Outcome<String> {
        let made = self.server.call("create_thread", &thread(&[with]))?;
        Ok(made["thread_id"].as_str().unwrap_or_default().to_owned())
    }

    fn post(&mut self, thread: &str) -> Outcome {
        let message = json!({ "thread_id": thread, "body": BODY });
        self.server.call("post_message", &message).map(drop)
    }

    /// Has an agent read the only message of a thread.
    fn read(&self, agent: &str, thread: &str) -> Outcome {
        let mut command = self.bench.understory(&self.store);
        command.args([
            "call",
            "ack_read",
            &all(thread).to_string(),
            "--agent",
            agent,
        ]);
        let done = command.output()?;
        if done.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into_owned().into())
        }
    }

    /// A session of an agent.
    fn other(&self, agent: &str) -> Outcome<Server> {
        let mut command = self.bench.ours(&self.store);
        command
            .env("UNDERSTORY_AGENT", agent)
            .env("UNDERSTORY_SESSION", format!("{agent}-s"));
        Server::begin(command)
    }
}

/// The only message of a thread, as read.
fn all(thread: &str) -> Value {
    json!({ "thread_id": thread, "last_read_seq": 1 })
}

/// Two sides in turns, as a line.
fn line(what: &str, bench: &Bench, ours: Timed<'_>, limit: Timed<'_>) -> Outcome<Line> {
    let samples = in_turns(bench.pace(24, 1), &mut [ours, limit])?;
    let [ours, limit] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(Line::times(
        format!("post to wake, p50: {what}"),
        ours.p50(),
        limit.p50(),
    ))
}

fn waiting_calls(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut poster = Poster::new(bench, "wake-call")?;
    let mut waiter = poster.other("waiter")?;
    let mut pipe = bell::Pipe::new()?;
    let ours = &mut || {
        let id = poster.thread("waiter")?;
        waiter.begin_call(
            "wait_for_messages",
            &json!({ "thread_ids": [id], "timeout_s": 60 }),
        )?;
        std::thread::sleep(SETTLE);
        let begun = Instant::now();
        poster.post(&id)?;
        waiter.end_call()?;
        Ok(begun.elapsed())
    };
    let other = line(
        "a call that waits in another process, to a byte through a pipe and back",
        bench,
        ours,
        &mut || pipe.there_and_back(),
    )?;

    let store = bench.file("wake-http.db");
    let web = Web::start(bench.serve(&store))?;
    let mut poster = Client::new(&web, &bench.token(&store, "poster")?)?;
    let mut waiter = Client::new(&web, &bench.token(&store, "waiter")?)?;
    let ours = &mut || {
        let made = poster.call("/v1/create_thread", &thread(&["waiter"]))?;
        let id = &made["thread_id"];
        let wait = json!({ "thread_ids": [id], "timeout_s": 60 });
        waiter.send("/v1/wait_for_messages", &wait)?;
        std::thread::sleep(SETTLE);
        let begun = Instant::now();
        poster.call(
            "/v1/post_message",
            &json!({ "thread_id": id, "body": BODY }),
        )?;
        waiter.receive()?;
        Ok(begun.elapsed())
    };
    let same = line(
        "a call that waits in the same server, to a byte through a pipe and back",
        bench,
        ours,
        &mut || pipe.there_and_back(),
    )?;
    Ok(vec![same, other])
}

fn waiting_hook(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut poster = Poster::new(bench, "wake-hook")?;
    poster.thread("nobody")?;
    let chat = Chat::claude(bench, &poster.store, "hooked")?;
    chat.fire(
        "session-start",
        "SessionStart",
        &json!({ "source": "startup" }),
    )?;
    let mut turn = 0;
    let ours = &mut || {
        turn += 1;
        let said = json!({ "stop_hook_active": false, "last_assistant_message": turn.to_string() });
        chat.fire("stop", "Stop", &said)?;
        let id = poster.thread(chat.agent())?;
        let mut hook = chat.waits()?;
        std::thread::sleep(SETTLE);
        let begun = Instant::now();
        poster.post(&id)?;
        let code = hook.wait()?.code();
        let took = begun.elapsed();
        poster.read(chat.agent(), &id)?;
        match code {
            Some(2) => Ok(took),
            other => Err(format!("the hook ended with {other:?}").into()),
        }
    };
    let waiting =
        "the hook that waits ends with code 2, to a shell that does so at a byte in a pipe";
    let limit = &mut || {
        let mut shell = Command::new("sh")
            .args(["-c", "read x; exit 2"])
            .stdin(Stdio::piped())
            .spawn()?;
        std::thread::sleep(SETTLE / 10);
        let begun = Instant::now();
        drop(shell.stdin.take());
        shell.wait()?;
        Ok(begun.elapsed())
    };
    Ok(vec![line(waiting, bench, ours, limit)?])
}

/// The hook at the end of a turn, which tells what has come: the turn goes on with it.
fn end_of_turn(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut poster = Poster::new(bench, "wake-stop")?;
    poster.thread("nobody")?;
    let chat = Chat::claude(bench, &poster.store, "stops")?;
    chat.fire(
        "session-start",
        "SessionStart",
        &json!({ "source": "startup" }),
    )?;
    let mut turn = 0;
    let mut ours = || {
        turn += 1;
        let id = poster.thread(chat.agent())?;
        poster.post(&id)?;
        let said = json!({ "stop_hook_active": false, "last_assistant_message": turn.to_string() });
        let begun = Instant::now();
        let told = chat.fire("stop", "Stop", &said)?;
        let took = begun.elapsed();
        poster.read(chat.agent(), &id)?;
        if told.contains("\"block\"") {
            Ok(took)
        } else {
            Err(format!("the hook said {told:?}").into())
        }
    };
    let samples = in_turns(bench.pace(24, 1), &mut [&mut ours])?;
    let ours = samples.first().ok_or("sides")?;
    let what = "end of a turn, p50: the hook that tells of a message, to 50 ms";
    Ok(vec![Line::times(what, ours.p50(), MOST).at_most(1.0)])
}

/// What `serve` starts: an ended session again, and a new one.
fn started(bench: &Bench) -> Outcome<Vec<Line>> {
    let bell = Bell::new(bench, "started")?;
    bell.listed(bench)?;
    let mut poster = Poster::new(bench, "wake-start")?;
    poster.thread("nobody")?;
    let _serve = Web::start(bench.serve(&poster.store))?;
    let mut lines = Vec::new();
    for (agent, runtime, resumable, what) in [
        ("sleeper", "copilot", true, "`serve` resumes a session"),
        ("newcomer", "gemini", false, "`serve` begins a session"),
    ] {
        let beat = |status: &str| {
            json!({
                "runtime": runtime, "resumable": resumable && status == "offline",
                "status": status,
            })
        };
        let mut target = poster.other(agent)?;
        let ours = &mut || {
            let id = poster.thread(agent)?;
            // It is gone when it is written to.
            target.call("heartbeat_session", &beat("offline"))?;
            std::thread::sleep(SETTLE);
            let begun = Instant::now();
            poster.post(&id)?;
            let wake = json!({ "thread_id": id, "target_agent_id": agent });
            poster.server.call("trigger_participant", &wake)?;
            bell.rings()?;
            let took = begun.elapsed();
            target.call("ack_read", &all(&id))?;
            Ok(took)
        };
        let what = format!("{what}, to the start of the same program");
        lines.push(line(&what, bench, ours, &mut || bell.by_hand())?);
    }
    Ok(lines)
}

/// The process beside a chat sends a prompt with a command of the client.
fn queue(bench: &Bench) -> Outcome<Vec<Line>> {
    let bell = Bell::new(bench, "queue")?;
    bell.listed(bench)?;
    let mut poster = Poster::new(bench, "wake-queue")?;
    poster.thread("nobody")?;
    let chat = Chat::of(bench, &poster.store, "codex", "queued")?;
    chat.fire(
        "session-start",
        "SessionStart",
        &json!({ "source": "startup" }),
    )?;
    std::thread::sleep(SETTLE);
    let ours = &mut || {
        let id = poster.thread(chat.agent())?;
        std::thread::sleep(SETTLE);
        let begun = Instant::now();
        poster.post(&id)?;
        bell.rings()?;
        let took = begun.elapsed();
        poster.read(chat.agent(), &id)?;
        Ok(took)
    };
    let what = "the process beside a chat runs its client's queue command, to the start of the same \
        program";
    Ok(vec![line(what, bench, ours, &mut || bell.by_hand())?])
}
