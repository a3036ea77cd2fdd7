//! What the tests of the terminal run: a supervisor that is driven over a socket, the leader that it
//! needs, and an agent to supervise. No part of the product.

#[cfg(unix)]
mod agent;
#[cfg(unix)]
mod supervise;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let command = words.next().unwrap_or_default();
    let rest: Vec<_> = words.collect();
    match command.to_str() {
        Some("run") => supervise::main(rest),
        Some("lead") => ExitCode::from(understory_terminal::lead(&rest)),
        Some("agent") => agent::main(&rest),
        _ => ExitCode::from(2),
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::from(2)
}
