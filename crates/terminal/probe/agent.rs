//! `agent RECORD SOCKET`: a full-screen agent with a composer, as Claude Code draws one.
//!
//! It writes down what reached it, line by line, and is told over a socket how to behave. In a dialog,
//! Return approves.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

#[derive(Default)]
struct Agent {
    transcript: Vec<String>,
    composer: String,
    /// Pasted text that is not shown until somebody says so.
    unseen: Option<String>,
    input: Vec<u8>,
    busy: bool,
    dialog: bool,
    /// Return does nothing.
    deaf: bool,
    /// Pasted text is not shown.
    blind: bool,
    /// Pasted text opens a dialog.
    asks: bool,
    over: bool,
}

pub fn main(words: &[OsString]) -> ExitCode {
    match talk(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agent: {error}");
            ExitCode::FAILURE
        }
    }
}

fn talk(words: &[OsString]) -> io::Result<()> {
    let [record, socket] = words else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut record = OpenOptions::new().create(true).append(true).open(record)?;
    let socket = UnixDatagram::bind(socket)?;
    let stdin = io::stdin();
    let saved = tcgetattr(&stdin)?;
    let mut raw = saved.clone();
    raw.make_raw();
    tcsetattr(&stdin, OptionalActions::Now, &raw)?;
    print_all("\x1b[?1049h\x1b[?2004h\x1b[?1004h")?;
    let mut agent = Agent::default();
    agent.draw()?;
    writeln!(record, "started")?;
    while !agent.over {
        let mut files = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(&socket, PollFlags::IN),
        ];
        poll(&mut files, None).map_err(io::Error::from)?;
        let mut buffer = [0; 4096];
        if !files[1].revents().is_empty() {
            let length = socket.recv(&mut buffer)?;
            agent.obey(&String::from_utf8_lossy(&buffer[..length]));
        }
        if !files[0].revents().is_empty() {
            let length = stdin.lock().read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            agent.input.extend_from_slice(&buffer[..length]);
            agent.take(&mut record)?;
        }
        agent.draw()?;
    }
    print_all("\x1b[?1004l\x1b[?2004l\x1b[?1049l")?;
    tcsetattr(stdin.as_fd(), OptionalActions::Now, &saved)?;
    Ok(())
}

fn print_all(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

const PASTE: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

impl Agent {
    fn obey(&mut self, word: &str) {
        match word {
            "busy" => self.busy = true,
            "idle" => self.busy = false,
            "dialog" => self.dialog = true,
            "deaf" => self.deaf = true,
            "blind" => self.blind = true,
            "asks" => self.asks = true,
            "end" => self.over = true,
            // Shows what was hidden.
            _ => {
                self.blind = false;
                self.composer += &self.unseen.take().unwrap_or_default();
            }
        }
    }

    fn take(&mut self, record: &mut File) -> io::Result<()> {
        loop {
            let input = std::mem::take(&mut self.input);
            if input.starts_with(PASTE) {
                let Some(end) = position(&input, END) else {
                    self.input = input;
                    return Ok(());
                };
                let text = String::from_utf8_lossy(&input[PASTE.len()..end]).into_owned();
                writeln!(record, "pasted {text:?}")?;
                self.input = input[end + END.len()..].to_vec();
                match (self.dialog, self.blind) {
                    // A dialog takes no text.
                    (true, _) => {}
                    (false, true) => self.unseen = Some(text),
                    (false, false) => self.composer += &text,
                }
                self.dialog |= self.asks;
                continue;
            }
            let text = String::from_utf8_lossy(&input).into_owned();
            let Some(first) = text.chars().next() else {
                return Ok(());
            };
            let mut length = first.len_utf8();
            match first {
                '\x1b' if text[1..].starts_with('[') => {
                    let end = text[2..].find(|c: char| ('@'..='~').contains(&c));
                    length = end.map_or(input.len(), |end| end + 3);
                    writeln!(record, "sequence {:?}", &text[..length])?;
                }
                '\r' if self.dialog => {
                    self.dialog = false;
                    writeln!(record, "approved")?;
                }
                '\r' if self.deaf => writeln!(record, "return")?,
                '\r' => self.submit(record)?,
                '\x7f' => {
                    self.composer.pop();
                }
                '\x15' => self.composer.clear(),
                other if other.is_control() => writeln!(record, "control {other:?}")?,
                _ if self.dialog => writeln!(record, "answer {first:?}")?,
                other => self.composer.push(other),
            }
            self.input = input[length..].to_vec();
        }
    }

    fn submit(&mut self, record: &mut File) -> io::Result<()> {
        let text = std::mem::take(&mut self.composer);
        writeln!(record, "submitted {text:?}")?;
        self.transcript.push(format!("> {text}"));
        Ok(())
    }

    fn draw(&self) -> io::Result<()> {
        let size = tcgetwinsize(io::stdout())?;
        let rule = "─".repeat(usize::from(size.ws_col.max(1)));
        let mut screen = "\x1b[2J\x1b[H".to_owned();
        for line in self.transcript.iter().rev().take(5).rev() {
            screen += &format!("{}\r\n", line.replace('\n', "\r\n  "));
        }
        if self.dialog {
            screen += "Bash(make bread)\r\n\r\nDo you want to proceed?\r\n❯ 1. Yes\r\n  2. No\r\n";
            return print_all(&screen);
        }
        let composer = self.composer.replace('\n', "\r\n  ");
        screen += &format!("{rule}\r\n❯ {composer}\x1b7\r\n{rule}\r\n");
        screen += match (self.busy, self.composer.is_empty()) {
            (true, _) => "  esc to interrupt",
            (false, true) => "  ? for shortcuts",
            (false, false) => "",
        };
        print_all(&(screen + "\x1b8"))
    }
}
