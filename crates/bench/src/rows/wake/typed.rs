//! A prompt that is typed into a managed terminal, until the program there has it: bash, which does not know
//! the line that it is given as a command, and rings then.

use std::process::Command;
use std::time::Instant;

use super::bell::Bell;
use super::{Poster, SETTLE, line};
use crate::Outcome;
use crate::bench::Bench;
use crate::rows::terminal::Terminal;
use crate::table::Line;

const AGENT: &str = "typed";
const PROMPT: &str = "bench$ ";
/// A line as long as the one that is typed.
const TYPED: &[u8] = b"Understory: unread messages in th_001. Call read_messages to see them.\r";

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let bell = Bell::new(bench, "typed")?;
    let start = bench.file("typed.rc");
    let rings = format!(
        "PS1='{PROMPT}'\ncommand_not_found_handle() {{ {}; }}\n",
        bell.script()
    );
    std::fs::write(&start, rings)?;
    let bash = ["bash", "--noprofile", "--rcfile", &start, "-i"];

    let mut poster = Poster::new(bench, "wake-typed")?;
    poster.thread("nobody")?;
    let mut command = bench.understory(&poster.store);
    command
        .args(["run", "--agent", AGENT, "--"])
        .args(bash)
        .env("UNDERSTORY_WAKES_PER_HOUR", "10000");
    let managed = Terminal::open(command)?;
    managed.until(PROMPT.as_bytes())?;
    managed.drain()?;
    // Without a session of its own it would share the terminal of whoever measures.
    let mut command = Command::new("setsid");
    command.args(["--wait", "--ctty"]).args(bash);
    let plain = Terminal::open(command)?;
    plain.until(PROMPT.as_bytes())?;
    plain.drain()?;

    let ours = &mut || {
        let id = poster.thread(AGENT)?;
        std::thread::sleep(SETTLE);
        let begun = Instant::now();
        poster.post(&id)?;
        bell.rings()?;
        let took = begun.elapsed();
        poster.read(AGENT, &id)?;
        // Its supervisor reports the delivery meanwhile.
        std::thread::sleep(SETTLE);
        Ok(took)
    };
    let limit = &mut || {
        let begun = Instant::now();
        plain.types(TYPED)?;
        bell.rings()?;
        Ok(begun.elapsed())
    };
    let what = "a line is typed into a managed bash, to the same line typed into a plain one";
    Ok(vec![line(what, bench, ours, limit)?])
}
