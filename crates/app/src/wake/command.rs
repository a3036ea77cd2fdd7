//! Runs a command of the user's for a wake, without a shell, in a folder, for a bounded time.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal};
use understory_model::text::in_quotes;

use super::runtimes::Filled;
use crate::client;

/// What is kept of what a command says about its failure.
const SAID: u64 = 4_096;
/// What is told of it.
const TOLD: usize = 200;
/// How often it is looked whether a command has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Settings of this process that are not an agent's: which session it is, and in which role.
const OURS: [&str; 2] = ["UNDERSTORY_SESSION", "UNDERSTORY_ROLE"];

/// Runs a command to its end, for so long at most, as an agent if one is named. `begun` is told the
/// number of its process; `beat` is called now and then while it runs, and ends it by false.
pub fn run(
    command: &Filled,
    folder: &str,
    (agent, most): (Option<&str>, Duration),
    begun: impl FnOnce(i64),
    mut beat: impl FnMut() -> bool,
) -> Result<(), String> {
    let mut child = start(command, folder, agent, Stdio::piped())?;
    // Before it is given the prompt, where it reads that.
    begun(i64::from(child.id()));
    give(&mut child, command.input.clone());
    let said = listen(&mut child);
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() > most => {
                end(&mut child);
                return Err(format!("it did not end within {} s", most.as_secs()));
            }
            Ok(None) if !beat() => {
                end(&mut child);
                return Err("the worker stopped".to_owned());
            }
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(format!("it cannot be waited for: {error}")),
        }
    };
    if status.success() {
        return Ok(());
    }
    // A background process may hold the pipe open: what was said so far is enough.
    std::thread::sleep(LOOK);
    let said = said.lock().map(|said| said.clone()).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.trim().lines().last().unwrap_or_default();
    Err(if last.is_empty() {
        format!("it ended with {status}")
    } else {
        format!("it ended with {status}: {}", in_quotes(last, TOLD))
    })
}

/// Starts a command that goes on by itself, whatever becomes of this process.
pub fn leave(command: &Filled) -> Result<(), String> {
    let mut child = start(command, "", None, Stdio::null())?;
    let to = child.stdin.take();
    // The system keeps what has ended until somebody has waited for it, and a hook may live for hours.
    std::thread::spawn(move || child.wait());
    if let (Some(mut to), Some(input)) = (to, &command.input) {
        // One line, which a pipe holds.
        to.write_all(input.as_bytes())
            .map_err(|error| format!("it does not read: {error}"))?;
    }
    Ok(())
}

fn start(
    command: &Filled,
    folder: &str,
    agent: Option<&str>,
    errors: Stdio,
) -> Result<Child, String> {
    let program = program(&command.program)?;
    let mut process = Command::new(&program);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut process, 0);
    process
        .args(&command.arguments)
        .stdin(match command.input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::null())
        .stderr(errors);
    if !folder.is_empty() {
        if !Path::new(folder).is_dir() {
            return Err(format!("its folder {} is gone", in_quotes(folder, TOLD)));
        }
        process.current_dir(folder);
    }
    // What is started is not part of the chat in which this worker runs.
    for mark in client::marks() {
        process.env_remove(mark);
    }
    for name in OURS {
        process.env_remove(name);
    }
    match agent {
        Some(agent) => process.env("UNDERSTORY_AGENT", agent),
        None => process.env_remove("UNDERSTORY_AGENT"),
    };
    process.spawn().map_err(|error| {
        format!(
            "{} cannot be started: {error}",
            in_quotes(&command.program, TOLD)
        )
    })
}

/// The program that is started. It runs in the folder of a repository, which must not choose it: a name
/// is looked for in the absolute folders of the search path alone.
fn program(named: &str) -> Result<PathBuf, String> {
    if named.contains('/') {
        return Ok(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(named));
    all.find(|path| path.is_absolute() && path.is_file())
        .ok_or_else(|| format!("{} is not installed", in_quotes(named, TOLD)))
}

fn give(child: &mut Child, input: Option<String>) {
    let (Some(mut to), Some(input)) = (child.stdin.take(), input) else {
        return;
    };
    // A program that does not read must not hold up the worker.
    std::thread::spawn(move || {
        let _ = to.write_all(input.as_bytes());
    });
}

/// Keeps the beginning of what a command says, and drains the rest.
fn listen(child: &mut Child) -> std::sync::Arc<std::sync::Mutex<Vec<u8>>> {
    let said = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    if let Some(mut from) = child.stderr.take() {
        let said = std::sync::Arc::clone(&said);
        std::thread::spawn(move || {
            let mut bytes = [0; 1_024];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                if let Ok(mut said) = said.lock()
                    && (said.len() as u64) < SAID
                {
                    said.extend_from_slice(&bytes[..read]);
                }
            }
        });
    }
    said
}

/// Ends a command and what it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Its group has the number that it had itself, and is its own until it is waited for.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
