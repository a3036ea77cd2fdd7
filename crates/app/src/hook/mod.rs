//! `understory hook`: what an agent client runs at moments of its chat. It tells the agent what is
//! unread and new, and notes how the chat can be reached.
//!
//! A hook stands in somebody's way, so it is quick and silent: where there is nothing to tell, no
//! store, no workspace, or anything is wrong, it prints nothing and ends well. It makes no store and
//! no workspace. What it tells is facts; what others wrote stands in quotes.

pub mod beside;
pub mod client;
pub mod config;
pub mod desk;
pub mod event;
pub mod input;
pub mod lock;
pub mod page;
pub mod tell;
pub mod wake;
pub mod words;

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use understory_model::Fault;

use self::client::Client;
use self::desk::Desk;
use self::event::{Event, Fired};
use self::tell::Receipts;
use crate::config::{Flags, Surroundings};
use crate::log;

/// How long a hook takes at most, and how much longer it waits for a write that has begun.
const MOST: Duration = Duration::from_millis(1_000);
const GRACE: Duration = Duration::from_millis(500);

/// How a hook was started.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// What the client calls the event on our command line.
    pub event: String,
    pub client: Option<String>,
    /// Where the client's server is.
    pub address: Option<String>,
    /// The client's process, where it is not the one that started the hook.
    pub process: Option<i64>,
    pub flags: Flags,
}

/// Answers a client, and says how the process is to end. Whatever goes wrong is silent.
pub fn run(start: Start, around: Surroundings) -> ExitCode {
    log::silence();
    let Some(event) = Event::parse(&start.event) else {
        return ExitCode::SUCCESS;
    };
    let end = Instant::now() + MOST;
    let (send, receive) = mpsc::channel();
    let worker = std::thread::Builder::new().name("hook".to_owned());
    let begun = worker.spawn(move || {
        let answered = answer(event, &start, around, end);
        if let Err(fault) = &answered {
            log::warn(format_args!("the hook had nothing to say: {fault}"));
        }
        let _ = send.send(answered.unwrap_or_default());
    });
    if begun.is_err() {
        return ExitCode::SUCCESS;
    }
    match receive.recv_timeout(MOST + GRACE) {
        Ok(Done::Said(text, receipts)) => {
            let mut out = std::io::stdout();
            if out
                .write_all(text.as_bytes())
                .and_then(|()| out.flush())
                .is_ok()
            {
                receipts.report();
            }
            receipts.engine.close();
            ExitCode::SUCCESS
        }
        Ok(Done::Waits(waiter)) => wake::wait(*waiter),
        Ok(Done::Nothing) | Err(_) => ExitCode::SUCCESS,
    }
}

/// What comes of a hook.
#[derive(Default)]
enum Done {
    #[default]
    Nothing,
    /// What is printed for the client, and reported then.
    Said(String, Box<Receipts>),
    /// It goes on as a process that waits.
    Waits(Box<wake::Waiter>),
}

fn answer(event: Event, start: &Start, around: Surroundings, end: Instant) -> Result<Done, Fault> {
    // A hook that waits begins no chat that has no person before it.
    if event == Event::Wake && !client::is_interactive(&around)? {
        return Ok(Done::Nothing);
    }
    let Some(text) = input::read(end) else {
        return Ok(Done::Nothing);
    };
    let Some(client) = Client::of(start.client.as_deref(), &around, &text)? else {
        return Ok(Done::Nothing);
    };
    let Some(fired) = client.read(event, &text) else {
        return Ok(Done::Nothing);
    };
    let Some(desk) = Desk::open(start, around, &fired, end)? else {
        return Ok(Done::Nothing);
    };
    if event == Event::Wake {
        let waiter = wake::Waiter::new(desk, fired.name == "SessionStart")?;
        return Ok(waiter.map_or(Done::Nothing, |one| Done::Waits(Box::new(one))));
    }
    let told = tell::tell(&desk, &fired);
    let said = told.as_ref().ok();
    let text = said.and_then(|told| client.write(&fired, &told.said));
    if let (Some(text), Ok(told)) = (text, &told) {
        let receipts = told.receipts(&desk.engine);
        return Ok(Done::Said(text, Box::new(receipts)));
    }
    // A store at rest is one file.
    desk.engine.close();
    told.map(|_| Done::Nothing)
}

impl Fired {
    /// What identifies the firing, where the client does not name the turn.
    fn hash(parts: &[&str]) -> String {
        let all = parts.join("\u{1f}");
        understory_model::canon::hex(&understory_model::canon::sha256(all.as_bytes()))[..24]
            .to_owned()
    }
}
