//! What a client writes to a hook: some JSON, not too much of it, and soon.

use std::io::{IsTerminal, Read};
use std::sync::mpsc;
use std::time::Instant;

use understory_model::limits;

/// All of it; `None` where nothing comes, too much, or too late.
pub fn read(end: Instant) -> Option<String> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (send, receive) = mpsc::channel();
    // A client that never closes the stream holds up a thread that ends with the process.
    let reader = std::thread::Builder::new().name("input".to_owned());
    reader
        .spawn(move || {
            let _ = send.send(bounded(std::io::stdin().lock()));
        })
        .ok()?;
    let left = end.saturating_duration_since(Instant::now());
    receive.recv_timeout(left).ok().flatten()
}

fn bounded(from: impl Read) -> Option<String> {
    let mut text = Vec::new();
    let most = limits::HOOK_INPUT_BYTES;
    from.take(most + 1).read_to_end(&mut text).ok()?;
    if text.is_empty() || text.len() as u64 > most {
        return None;
    }
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_nothing() {
        assert_eq!(bounded(&b"{}"[..]).as_deref(), Some("{}"));
        assert_eq!(bounded(&b""[..]), None);
        assert_eq!(bounded(&b"\xff\xfe"[..]), None);
        assert_eq!(bounded(std::io::repeat(b' ')), None);
    }
}
