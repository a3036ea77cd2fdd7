//! Runs a command of the user's for a wake, without a shell, in a folder, for a bounded time.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use understory_model::text::in_quotes;

use super::runtimes::Filled;
use crate::client;

/// What is kept of what a command says about its failure.
const SAID: u64 = 4_096;
/// What is told of it.
const TOLD: usize = 200;
/// How often it is looked whether a command has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a command to its end. `beat` is called now and then while it runs, and ends it by false.
pub fn run(
    command: &Filled,
    folder: &str,
    agent: Option<&str>,
    most: Duration,
    mut beat: impl FnMut() -> bool,
) -> Result<(), String> {
    let mut child = start(command, folder, agent)?;
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
    Err(match last.is_empty() {
        true => format!("it ended with {status}"),
        false => format!("it ended with {status}: {}", in_quotes(last, TOLD)),
    })
}

fn start(command: &Filled, folder: &str, agent: Option<&str>) -> Result<Child, String> {
    let mut process = Command::new(&command.program);
    process
        .args(&command.arguments)
        .stdin(match command.input {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
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
    process.env_remove("UNDERSTORY_SESSION");
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

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
