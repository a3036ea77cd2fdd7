//! Programs that say when they were started, and the plainest ways to tell a process something.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::Outcome;
use crate::bench::Bench;

/// How long is waited for a ring.
const PATIENCE: Timespec = Timespec {
    tv_sec: 30,
    tv_nsec: 0,
};

/// A named pipe, and the program that writes into it.
pub struct Bell {
    file: File,
    program: [String; 3],
}

impl Bell {
    pub fn new(bench: &Bench, name: &str) -> Outcome<Bell> {
        let path = bench.file(&format!("{name}.bell"));
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // Opened for both, so that there is always somebody at the other end.
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let program = [
            "/bin/sh".into(),
            "-c".into(),
            format!("printf x > '{path}'"),
        ];
        Ok(Bell { file, program })
    }

    /// Lists the program as what reaches clients, in the user's file of runtimes.
    pub fn listed(&self, bench: &Bench) -> Outcome {
        let [program, option, script] = &self.program;
        let command = serde_json::json!([program, option, script, "sh", "{prompt}"]);
        let text = format!(
            "[codex]\nqueue = {command}\n[copilot]\nresume = {command}\n[gemini]\nstart = {command}\n"
        );
        let folder = bench.file(".config/understory");
        std::fs::create_dir_all(&folder)?;
        let path = Path::new(&folder).join("runtimes.toml");
        let _ = std::fs::remove_file(&path);
        std::fs::write(path, text)?;
        Ok(())
    }

    /// Waits until the program was started once.
    pub fn rings(&self) -> Outcome {
        let mut waited = [PollFd::new(&self.file, PollFlags::IN)];
        if poll(&mut waited, Some(&PATIENCE))? == 0 {
            return Err("nothing was started".into());
        }
        (&self.file).read_exact(&mut [0])?;
        Ok(())
    }

    /// What a shell does to ring it.
    pub fn script(&self) -> &str {
        let [.., script] = &self.program;
        script
    }

    /// Starts it by itself.
    pub fn by_hand(&self) -> Outcome<Duration> {
        let begun = Instant::now();
        let [program, arguments @ ..] = &self.program;
        let mut child = Command::new(program).args(arguments).spawn()?;
        self.rings()?;
        let took = begun.elapsed();
        child.wait()?;
        Ok(took)
    }
}

/// A process that gives back what it reads.
pub struct Pipe {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Pipe {
    pub fn new() -> Outcome<Pipe> {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = child.stdout.take().ok_or("no output")?;
        Ok(Pipe {
            child,
            input,
            output,
        })
    }

    pub fn there_and_back(&mut self) -> Outcome<Duration> {
        let begun = Instant::now();
        self.input.write_all(b"x")?;
        self.output.read_exact(&mut [0])?;
        Ok(begun.elapsed())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
