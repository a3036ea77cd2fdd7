//! A name for this machine, the same for every process on it: a session is resumed only where it ran.

use understory_model::canon::{hex, sha256};

/// How many digits tell machines apart.
const DIGITS: usize = 16;

/// The machine's name, which says nothing about it.
pub fn id() -> String {
    let sources = [
        "/etc/machine-id",
        "/var/lib/dbus/machine-id",
        "/etc/hostname",
    ];
    let read = |path: &&str| {
        let text = std::fs::read_to_string(path).ok()?;
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let named = sources.iter().find_map(read).unwrap_or_default();
    hex(&sha256(format!("understory machine\n{named}").as_bytes()))[..DIGITS].to_owned()
}
