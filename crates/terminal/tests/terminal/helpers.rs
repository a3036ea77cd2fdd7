//! A person at a terminal, an agent in it, and somebody who delivers.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use tempfile::TempDir;

pub const PROBE: &str = env!("CARGO_BIN_EXE_terminal-probe");

/// What takes longer never happens.
const DEADLINE: Duration = Duration::from_secs(30);

/// Waits until something is there, and gives it.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

pub fn scratch() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Whether a process is there and not just waiting to be buried.
pub fn alive(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .trim_start()
        .chars()
        .next();
    state.is_some_and(|state| state != 'Z')
}

/// The processes whose parent this is.
pub fn children(pid: i32) -> Vec<i32> {
    let tasks = format!("/proc/{pid}/task/{pid}/children");
    let list = fs::read_to_string(tasks).unwrap_or_default();
    list.split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

pub fn kill(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    rustix::process::kill_process(pid, signal).expect("a signal");
}

/// A window of tmux with bash in it, in a server of its own.
pub struct Tmux {
    folder: TempDir,
    socket: PathBuf,
}

impl Tmux {
    pub fn new() -> Tmux {
        let folder = scratch();
        let socket = folder.path().join("tmux");
        let tmux = Tmux { folder, socket };
        let size = ["-x", "80", "-y", "24"];
        let start = ["new-session", "-d", "-s", "t"];
        let shell = "env -i PATH=\"$PATH\" HOME=/nonexistent TERM=screen LC_ALL=C.UTF-8 PS1='outer$ ' \
                     bash --norc --noprofile";
        tmux.run(&[&start[..], &size, &[shell]].concat());
        tmux.wait_for("outer$");
        tmux
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn run(&self, words: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-f", "/dev/null", "-u", "-S"])
            .arg(&self.socket)
            .args(words)
            .output()
            .expect("tmux");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p", "-t", "t"])
    }

    pub fn wait_for(&self, text: &str) -> String {
        let mut last = String::new();
        let until = Instant::now() + DEADLINE;
        while Instant::now() < until {
            last = self.screen();
            if last.contains(text) {
                return last;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("waited in vain for {text:?} on\n{last}");
    }

    /// Types text as it is.
    pub fn types(&self, text: &str) {
        self.run(&["send-keys", "-t", "t", "-l", text]);
    }

    /// Presses keys by their names.
    pub fn press(&self, key: &str) {
        self.run(&["send-keys", "-t", "t", key]);
    }

    /// Runs a command line in the shell.
    pub fn enter(&self, line: &str) {
        self.types(line);
        self.press("Enter");
    }

    /// The process of the shell.
    pub fn shell(&self) -> i32 {
        let pid = self.run(&["display-message", "-p", "-t", "t", "#{pane_pid}"]);
        pid.trim().parse().expect("a number")
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .arg("kill-server")
            .output();
    }
}

/// A terminal of which the test is the person, byte for byte.
pub struct Bare {
    master: Arc<OwnedFd>,
    /// Keeps the terminal, and with it the modes, when the program is gone.
    slave: OwnedFd,
    pub child: Child,
    output: Arc<Mutex<Vec<u8>>>,
}

/// Both sides of a new terminal.
pub fn pair() -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).expect("ours");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).expect("its other side");
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).expect("a size");
    (master, slave)
}

/// A supervisor in a terminal, and in a session of its own, where no shell would continue it.
pub fn supervisor(slave: &OwnedFd, words: &[&str]) -> Child {
    let side = || Stdio::from(slave.try_clone().expect("a copy"));
    Command::new("setsid")
        .args([PROBE, "run"])
        .args(words)
        .stdin(side())
        .stdout(side())
        .stderr(side())
        .spawn()
        .expect("the supervisor")
}

impl Bare {
    /// Starts a supervisor with these words.
    pub fn start(words: &[&str]) -> Bare {
        let (master, slave) = pair();
        let child = supervisor(&slave, words);
        let (master, output) = (Arc::new(master), Arc::<Mutex<Vec<u8>>>::default());
        let (from, to) = (Arc::clone(&master), Arc::clone(&output));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = rustix::io::read(&*from, &mut buffer) {
                to.lock()
                    .expect("output")
                    .extend_from_slice(&buffer[..length]);
            }
        });
        Bare {
            master,
            slave,
            child,
            output,
        }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a number")
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(&self.slave).expect("modes")
    }

    pub fn output(&self) -> Vec<u8> {
        self.output.lock().expect("output").clone()
    }

    pub fn write(&self, bytes: &[u8]) {
        let mut left = bytes;
        while !left.is_empty() {
            let written = rustix::io::write(&*self.master, left).expect("to write");
            left = &left[written..];
        }
    }

    pub fn wait_for(&self, part: &[u8]) -> Vec<u8> {
        let found = |output: &Vec<u8>| output.windows(part.len()).any(|window| window == part);
        wait_for(&format!("{:?}", String::from_utf8_lossy(part)), || {
            Some(self.output()).filter(found)
        })
    }

    pub fn exit(&mut self) -> i32 {
        let ended = wait_for("the end", || self.child.try_wait().expect("to wait"));
        ended.code().expect("an exit code")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whoever delivers to a supervisor.
pub struct Courier {
    path: PathBuf,
    listener: UnixListener,
    stream: Option<(UnixStream, Receiver<String>)>,
}

impl Courier {
    pub fn new(folder: &Path) -> Courier {
        let path = folder.join("control");
        let listener = UnixListener::bind(&path).expect("a socket");
        Courier {
            path,
            listener,
            stream: None,
        }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().expect("a path")
    }

    fn stream(&mut self) -> &(UnixStream, Receiver<String>) {
        let listener = &self.listener;
        self.stream.get_or_insert_with(|| {
            let (stream, _) = listener.accept().expect("a supervisor");
            let lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
            let (sender, outcomes) = channel();
            thread::spawn(move || {
                for line in lines.map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
            (stream, outcomes)
        })
    }

    fn say(&mut self, line: &str) {
        let (stream, _) = self.stream();
        let mut stream = stream;
        writeln!(stream, "{line}").expect("to be heard");
    }

    pub fn deliver(&mut self, id: u64, text: &str, force: bool) {
        let mut hex = String::new();
        for byte in text.bytes() {
            let _ = write!(hex, "{byte:02x}");
        }
        self.say(&format!("deliver {id} {force} {hex}"));
    }

    /// What goes on in the terminal.
    pub fn look(&mut self) -> String {
        self.say("look");
        let seen = self.next();
        seen.strip_prefix("look ").expect("a look").to_owned()
    }

    pub fn next(&mut self) -> String {
        let (_, outcomes) = self.stream();
        outcomes.recv_timeout(DEADLINE).expect("an outcome")
    }

    /// Delivers, and gives what it came to in the end.
    pub fn result(&mut self, id: u64, text: &str, force: bool) -> String {
        self.deliver(id, text, force);
        self.last()
    }

    /// The next outcome after which nothing follows.
    pub fn last(&mut self) -> String {
        loop {
            let outcome = self.next();
            if !outcome.contains("deferred") {
                return outcome;
            }
        }
    }
}

/// An agent under a supervisor in tmux, with somebody who delivers.
pub struct Office {
    pub tmux: Tmux,
    pub courier: Courier,
    record: PathBuf,
    orders: PathBuf,
}

impl Office {
    pub fn new() -> Office {
        let tmux = Tmux::new();
        let courier = Courier::new(tmux.folder());
        let record = tmux.folder().join("record");
        let orders = tmux.folder().join("orders");
        let office = Office {
            tmux,
            courier,
            record,
            orders,
        };
        let agent = [
            PROBE,
            "agent",
            office.record.to_str().expect("a path"),
            office.orders.to_str().expect("a path"),
        ];
        let agent: Vec<String> = agent.iter().map(|word| quoted(word)).collect();
        let control = quoted(office.courier.path());
        let ours = quoted(PROBE);
        let line = format!(
            "{ours} run --control {control} --profile claude -- {}",
            agent.join(" ")
        );
        let script = office.tmux.folder().join("start");
        fs::write(&script, line).expect("a script");
        office
            .tmux
            .enter(&format!(". {}", quoted(script.to_str().expect("a path"))));
        office.tmux.wait_for("? for shortcuts");
        office
    }

    /// What reached the agent so far.
    pub fn record(&self) -> Vec<String> {
        let record = fs::read_to_string(&self.record).unwrap_or_default();
        // Reports of the window's focus come when tmux likes.
        let lines = record.lines().filter(|line| !line.starts_with("sequence"));
        lines.skip(1).map(str::to_owned).collect()
    }

    pub fn wait_for_record(&self, line: &str) {
        wait_for(line, || {
            self.record().iter().any(|l| l == line).then_some(())
        });
    }

    /// Tells the agent how to behave.
    pub fn order(&self, word: &str) {
        let socket = UnixDatagram::unbound().expect("a socket");
        socket
            .send_to(word.as_bytes(), &self.orders)
            .expect("an agent");
    }
}
