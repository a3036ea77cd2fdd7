//! What the process says about itself, on the standard error stream and nowhere else: standard
//! output belongs to the protocol. Quiet unless `UNDERSTORY_LOG` asks for more.
//!
//! A line names what happened and where. It must never carry a caller's text, a stored text or a
//! password: a client may show these lines to anybody.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use understory_model::text::printable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

impl Level {
    fn parse(text: &str) -> Option<Level> {
        Some(match text.to_ascii_lowercase().as_str() {
            "off" | "none" => Level::Off,
            "error" => Level::Error,
            "warn" | "warning" => Level::Warn,
            "info" => Level::Info,
            "debug" | "trace" => Level::Debug,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// The least important level that is still written; `warn` unless the environment says otherwise.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let asked = std::env::var("UNDERSTORY_LOG").ok();
        asked
            .as_deref()
            .and_then(Level::parse)
            .unwrap_or(Level::Warn)
    })
}

/// Writes one line, in which nothing gives a terminal orders: a path may hold any character. A
/// standard error stream that is gone is ignored.
pub fn write(at: Level, message: fmt::Arguments<'_>) {
    if at <= level() {
        let message = printable(&message.to_string()).replace('\n', " ");
        let _ = writeln!(std::io::stderr(), "understory {}: {message}", at.name());
    }
}

/// Replaces the report of a panic by one line that says where it was, not what was at hand:
/// a panic's message may quote a caller's or a stored text. `UNDERSTORY_LOG=debug` shows it.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        write(Level::Error, format_args!("internal error at {place}"));
        write(Level::Debug, format_args!("{panic}"));
    }));
}

/// Something that a person should know and may want to change.
pub fn warn(message: fmt::Arguments<'_>) {
    write(Level::Warn, message);
}

/// As [`warn`], but once in a process: settings are read more than once.
pub fn warn_once(message: fmt::Arguments<'_>) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let message = message.to_string();
    let new = SAID
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(message.clone());
    if new {
        warn(format_args!("{message}"));
    }
}

/// Something for whoever looks for a fault.
pub fn debug(message: fmt::Arguments<'_>) {
    write(Level::Debug, message);
}
