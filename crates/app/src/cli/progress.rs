//! How far long work has come, on the standard error stream, for somebody who watches.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use understory_model::text::printable;

/// More often than this nobody reads.
const EVERY: Duration = Duration::from_millis(100);

/// One line that is rewritten, at a terminal only, and gone when the work is over.
pub struct Progress {
    shown: bool,
    last: Instant,
    terminal: bool,
}

impl Progress {
    pub fn new() -> Progress {
        Progress {
            shown: false,
            last: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
        }
    }

    pub fn tell(&mut self, text: impl FnOnce() -> String) {
        if !self.terminal || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        let text = printable(&text()).replace('\n', " ");
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
