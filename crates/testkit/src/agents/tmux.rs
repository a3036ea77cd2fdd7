//! Terminals for interactive clients: a tmux server of its own behind the walls.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use regex_lite::Regex;

use super::walls::Walls;
use super::{PATIENCE, wait_until_for};

/// Between a pasted text and the key that sends it: clients take a key in the same read as text.
const AFTER_PASTE: Duration = Duration::from_millis(300);

/// A tmux server. It ends with its last terminal, or with the walls.
pub struct Tmux<'a> {
    walls: &'a Walls,
}

/// One terminal in it.
pub struct Pane<'a> {
    tmux: &'a Tmux<'a>,
    name: String,
}

impl<'a> Tmux<'a> {
    pub fn new(walls: &'a Walls) -> Tmux<'a> {
        Tmux { walls }
    }

    /// Starts a program in a terminal of its own, of so many columns and rows, in the repository.
    pub fn start(&'a self, name: &str, (columns, rows): (u16, u16), words: &[&str]) -> Pane<'a> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut arguments = vec!["new-session", "-d", "-s", name, "-x", &columns, "-y", &rows];
        // A single word would be given to a shell, which would stand between tmux and the program.
        arguments.extend(["--", "env"]);
        arguments.extend(words);
        self.run(&arguments);
        Pane {
            tmux: self,
            name: name.to_owned(),
        }
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        self.fed(arguments, "")
    }

    #[track_caller]
    fn fed(&self, arguments: &[&str], input: &str) -> String {
        let mut child = self
            .walls
            .command(Path::new("tmux"))
            .args(["-f", "/dev/null", "-S"])
            .arg(self.walls.path("tmux.sock"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tmux starts");
        let mut stdin = child.stdin.take().expect("an input");
        stdin.write_all(input.as_bytes()).expect("tmux reads");
        drop(stdin);
        let output = child.wait_with_output().expect("tmux ends");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {complaint}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Pane<'_> {
    /// What stands on the screen.
    #[track_caller]
    pub fn screen(&self) -> String {
        self.tmux.run(&["capture-pane", "-p", "-t", &self.name])
    }

    /// Presses keys, named as tmux names them: `Enter`, `C-c`, `y`.
    #[track_caller]
    pub fn press(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys", "-t", &self.name];
        arguments.extend(keys);
        self.tmux.run(&arguments);
    }

    /// Puts a text where the cursor is, as a paste: several lines stay one text.
    #[track_caller]
    pub fn paste(&self, text: &str) {
        self.tmux.fed(&["load-buffer", "-b", "text", "-"], text);
        let arguments = ["paste-buffer", "-p", "-d", "-b", "text", "-t", &self.name];
        self.tmux.run(&arguments);
    }

    /// Pastes a text and sends it.
    #[track_caller]
    pub fn submit(&self, text: &str) {
        self.paste(text);
        thread::sleep(AFTER_PASTE);
        self.press(&["Enter"]);
    }

    /// Waits until the screen matches, and returns it.
    #[track_caller]
    pub fn wait_for(&self, pattern: &str) -> String {
        let regex = Regex::new(pattern).expect("a regex");
        let found = wait_until_for(PATIENCE, || {
            let screen = self.screen();
            regex.is_match(&screen).then_some(screen)
        });
        found.unwrap_or_else(|| panic!("no {pattern:?} on the screen:\n{}", self.screen()))
    }

    /// The process that was started in it.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        let format = ["display-message", "-p", "-t", &self.name, "#{pane_pid}"];
        let pid = self.tmux.run(&format);
        pid.trim().parse().expect("a pid")
    }

    /// Ends it, as closing a terminal's window does.
    #[track_caller]
    pub fn close(self) {
        self.tmux.run(&["kill-session", "-t", &self.name]);
    }
}
