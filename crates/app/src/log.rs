//! What the process says about itself, on the standard error stream and nowhere else: standard
//! output belongs to the protocol. Quiet unless `UNDERSTORY_LOG` asks for more.
//!
//! A line names what happened and where. It must never carry a caller's text, a stored text or a
//! password: a client may show these lines to anybody.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use understory_model::text::printable;

use self::queue::Queue;

mod queue;

/// Where lines go once the process serves others: a thread writes them, so that a reader who stops
/// reading holds up nobody.
static ERR: OnceLock<Queue> = OnceLock::new();
static OUT: OnceLock<Queue> = OnceLock::new();

/// Whether lines are written at all.
static SILENT: AtomicBool = AtomicBool::new(false);

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
    if at <= level() && !SILENT.load(Ordering::Relaxed) {
        let message = printable(&message.to_string()).replace('\n', " ");
        let line = format!("understory {}: {message}\n", at.name());
        match ERR.get() {
            Some(queue) => queue.send(line),
            None => drop(std::io::stderr().write_all(line.as_bytes())),
        }
    }
}

/// Nothing more is written unless the environment asks for it: a client reads what its hooks write.
pub fn silence() {
    if std::env::var_os("UNDERSTORY_LOG").is_none() {
        SILENT.store(true, Ordering::Relaxed);
    }
}

/// One line on standard output, for the person who started a server.
pub fn say(message: fmt::Arguments<'_>) {
    let line = format!("{message}\n");
    match OUT.get() {
        Some(queue) => queue.send(line),
        None => drop(std::io::stdout().write_all(line.as_bytes())),
    }
}

/// From now on lines are written by threads and never waited for; what nobody reads is dropped.
pub fn in_background() {
    ERR.get_or_init(|| Queue::new("stderr", std::io::stderr()));
    OUT.get_or_init(|| Queue::new("stdout", std::io::stdout()));
}

/// Lines that were dropped because nobody read those before them.
pub fn dropped() -> u64 {
    [&ERR, &OUT]
        .iter()
        .filter_map(|queue| queue.get())
        .map(Queue::dropped)
        .sum()
}

/// Waits a moment until what was said is written: the process is about to end.
pub fn flush() {
    for queue in [&OUT, &ERR].iter().filter_map(|queue| queue.get()) {
        queue.flush();
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

/// Something that helps to find a fault.
pub fn debug(message: fmt::Arguments<'_>) {
    write(Level::Debug, message);
}
