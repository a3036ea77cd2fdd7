//! Lines on their way to a stream that may not be read: a thread writes them, and when too many
//! wait, new ones are dropped and counted.
//!
//! Handing in a line never blocks.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Lines that may wait.
const WAITING: usize = 1_024;
/// How long the end of the process waits for its last lines.
const LAST: Duration = Duration::from_secs(1);

enum Line {
    Text(String),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

/// A stream and the thread that writes to it.
pub struct Queue {
    lines: SyncSender<Line>,
    dropped: Arc<AtomicU64>,
}

impl Queue {
    pub fn new(name: &str, stream: impl Write + Send + 'static) -> Queue {
        let (lines, waiting) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        // Without the thread every line is dropped, and counted: there is nothing better to do.
        let _ = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&waiting, stream, &counted));
        Queue { lines, dropped }
    }

    pub fn send(&self, line: String) {
        if self.lines.try_send(Line::Text(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until what was sent is written, for a moment at most.
    pub fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST);
        }
    }
}

fn run(lines: &Receiver<Line>, mut stream: impl Write, dropped: &AtomicU64) {
    let mut told = 0;
    for line in lines {
        match line {
            Line::Text(text) => {
                // A stream that is gone does not matter.
                let _ = stream.write_all(text.as_bytes());
                let _ = stream.flush();
            }
            Line::Flush(done) => drop(done.send(())),
        }
        let now = dropped.load(Ordering::Relaxed);
        if now > told {
            let missing = now - told;
            let _ = writeln!(
                stream,
                "understory warn: {missing} lines were dropped here because nobody read them"
            );
            told = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// A stream that takes a line only when it is let.
    struct Gate {
        open: Receiver<()>,
        written: Arc<Mutex<String>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.open.recv();
            let text = String::from_utf8_lossy(bytes);
            self.written.lock().unwrap().push_str(&text);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_and_what_is_dropped_is_told() {
        let (let_through, open) = channel();
        let written = Arc::new(Mutex::new(String::new()));
        let stream = Gate {
            open,
            written: Arc::clone(&written),
        };
        let queue = Queue::new("test", stream);
        // One may be at the gate already.
        for at in 0..WAITING + 10 {
            queue.send(format!("line {at}\n"));
        }
        assert!((9..=10).contains(&queue.dropped()), "{}", queue.dropped());
        drop(let_through);
        // The gate is open for good now.
        let (done, end) = sync_channel(1);
        queue.lines.send(Line::Flush(done)).unwrap();
        end.recv().unwrap();
        let written = written.lock().unwrap();
        assert!(written.contains("line 0\n") && written.contains("line 1023\n"));
        assert!(!written.contains("line 1033\n"));
        assert!(written.contains("lines were dropped here"));
    }
}
