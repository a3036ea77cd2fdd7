//! `run [--control SOCKET] [--profile NAME] [--patience MS] -- PROGRAM …`: a supervisor.
//!
//! Over the socket it reads `deliver ID FORCE HEX` and `look`, and writes outcomes and what goes on.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use understory_terminal::{
    Delivery, Ended, Event, Outcome, Policy, Profile, Program, Remote, remote, run,
};

struct Options {
    control: Option<OsString>,
    profile: Option<Profile>,
    patience: Duration,
    argv: Vec<OsString>,
}

fn options(words: Vec<OsString>) -> Options {
    let mut options = Options {
        control: None,
        profile: None,
        patience: Duration::from_millis(1500),
        argv: Vec::new(),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--") => options.argv = words.by_ref().collect(),
            Some("--control") => options.control = words.next(),
            Some("--profile") => {
                let name = words.next().unwrap_or_default();
                options.profile = Some(Profile::of(&name.to_string_lossy()));
            }
            Some("--patience") => {
                let number = words.next().unwrap_or_default();
                let number = number.to_string_lossy().parse().unwrap_or_default();
                options.patience = Duration::from_millis(number);
            }
            _ => {}
        }
    }
    options
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    let options = options(words);
    let ours = std::env::current_exe().unwrap_or_default();
    let name = options.argv.first().cloned().unwrap_or_default();
    let program = Program {
        profile: options
            .profile
            .unwrap_or_else(|| Profile::of(&name.to_string_lossy())),
        argv: options.argv,
        env: vec![("PROBED".into(), "yes".into())],
        cwd: None,
        leader: vec![ours.into(), "lead".into()],
    };
    let policy = Policy {
        recheck: Duration::from_millis(50),
        quiet: Duration::from_millis(100),
        patience: options.patience,
        settle: Duration::from_millis(100),
        ..Policy::default()
    };
    let (remote, inbox) = remote();
    let (sender, outcomes) = channel();
    let stream = options
        .control
        .and_then(|path| UnixStream::connect(path).ok());
    let tells = stream.map(|stream| {
        let others = stream
            .try_clone()
            .and_then(|one| Ok((one, stream.try_clone()?)));
        let reads = others.map(|(from, to)| thread::spawn(move || obey(from, to, &remote)));
        (thread::spawn(move || tell(stream, &outcomes)), reads)
    });
    let code = run(&program, policy, inbox, sender);
    if let Some((tells, _)) = tells {
        let _ = tells.join();
    }
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(125)
        }
    }
}

fn obey(stream: UnixStream, mut tells: UnixStream, remote: &Remote) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let done = match words.as_slice() {
            ["deliver", id, force, hex] => remote.deliver(Delivery {
                id: id.parse().unwrap_or_default(),
                text: text(hex),
                force: *force == "true",
            }),
            _ => match remote.look(Duration::from_secs(5)) {
                Some(doing) => writeln!(tells, "look {doing:?}").map_err(|_| Ended),
                None => Err(Ended),
            },
        };
        if done.is_err() {
            return;
        }
    }
}

fn text(hex: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).filter_map(byte).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn tell(mut stream: UnixStream, outcomes: &Receiver<Outcome>) {
    for Outcome { id, event } in outcomes {
        let what = match event {
            Event::Deferred { reason, .. } => format!("deferred {}", reason.as_str()),
            Event::GaveUp { reason } => format!("gave_up {}", reason.as_str()),
            Event::Delivered => "delivered".to_owned(),
            Event::Refused { why } => format!("refused {why:?}"),
            Event::Stranded { at } => format!("stranded {at:?}"),
        };
        if writeln!(stream, "{id} {what}").is_err() {
            return;
        }
    }
}
