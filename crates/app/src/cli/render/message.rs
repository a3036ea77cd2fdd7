//! Threads as the commands share them: by what name a person means one, a stretch of one as one
//! snapshot shows it, and how messages and those who read them look.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use understory_engine::View;
use understory_engine::kernel::log::{self, Entry};
use understory_engine::threads::get::{self, Reading, Thread};
use understory_engine::threads::read::{self, Stretch};
use understory_engine::threads::shape::Message;
use understory_model::budget::Budget;
use understory_model::id::{HandleKind, parse_message};
use understory_model::thread::{Event, MessageKind, SessionStatus, Status};
use understory_model::{Code, Fault, Seq};

use super::wake;
use super::words::{count, plain};
use crate::cli::out::Out;
use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// What the log calls a change of a thread's status, and of who takes part.
const TURNED: [&str; 2] = ["status_changed", "participants_added"];
/// A person at a terminal wants all of it, however long it is.
const ROOM: usize = 16 << 20;
/// Items of the log that are looked through at a time.
const BATCH: i64 = 500;
/// Readers that a header names, and letters of a value that a line shows.
const READERS: usize = 12;
const VALUE: usize = 60;
/// Where bodies begin: below the names, so that nothing in a body looks like a message; and where
/// on a terminal so narrow that this takes too much of it.
const INDENT: usize = 7;
const NARROW: (usize, usize) = (40, 2);

/// The handle of the thread that a person means: `th_001`, `TH-1` or `1`.
pub fn handle(name: &str) -> String {
    let name = name.trim();
    let lower = name.to_lowercase();
    let bare = match lower.strip_prefix("th") {
        Some(rest) => rest.trim_start_matches(['_', '-']),
        None => &lower,
    };
    let digits = bare.bytes().all(|byte| byte.is_ascii_digit());
    match bare.parse() {
        Ok(number) if digits => HandleKind::Thread.handle(number),
        _ => name.to_owned(),
    }
}

/// As much as there is.
pub fn room() -> Budget {
    Budget {
        chars: ROOM,
        ..Budget::default()
    }
}

/// Says for a person why a thread is not there.
pub fn explained(context: &CommandContext, fault: Fault) -> Fault {
    if fault.code != Code::NotFound || fault.details.is_some() {
        return fault;
    }
    match context.nothing_yet() {
        Ok(Some(why)) => Fault {
            message: format!("{}: {why}", fault.message),
            hint: None,
            ..fault
        },
        _ => fault.hint("`understory threads` lists the threads."),
    }
}

/// A part of a thread.
pub struct Part {
    pub thread: Thread,
    /// Messages and changes of status, in the order in which they came.
    pub lines: Vec<Said>,
    /// The number of the last message that was read, and whether there are more.
    pub last: i64,
    pub more: bool,
    /// The end of the log when it was read.
    pub head: Seq,
}

/// What stands in a thread.
pub enum Said {
    Message(Box<Message>),
    Turn(Box<Entry>),
}

impl Said {
    fn seq(&self) -> Seq {
        match self {
            Said::Message(message) => parse_message(&message.message_id).unwrap_or(Seq::ZERO),
            Said::Turn(entry) => entry.seq,
        }
    }

    pub fn json(&self) -> Value {
        match self {
            Said::Message(message) => json!(message),
            Said::Turn(entry) => json!(entry),
        }
    }
}

/// The messages after a number, or the last ones, with the changes of status between them.
pub fn part(
    context: &CommandContext,
    name: &str,
    since: Option<i64>,
    limit: i64,
) -> Result<Part, Fault> {
    let name = handle(name);
    let found = context
        .engine
        .view(&context.caller, |view| of_view(view, &name, since, limit));
    found.map_err(|fault| explained(context, fault))
}

fn of_view(
    view: &mut View<'_, '_>,
    name: &str,
    since: Option<i64>,
    limit: i64,
) -> Result<Part, Fault> {
    let thread = get::get(view, name)?;
    let since = since.unwrap_or((thread.last_seq - limit).max(0));
    let (messages, last, more) = messages(view, name, since, limit)?;
    let first = messages.first().map(Said::seq);
    // What happened before the first message that is shown belongs to those before it.
    let from = match since {
        0 => Seq::ZERO,
        _ => first.unwrap_or(Seq::MAX),
    };
    let to = messages.last().filter(|_| more).map(Said::seq);
    let mut lines = turns(view, name, from, to)?;
    lines.extend(messages);
    lines.sort_by_key(Said::seq);
    Ok(Part {
        thread,
        lines,
        last,
        more,
        head: log::end(view)?,
    })
}

fn messages(
    view: &mut View<'_, '_>,
    name: &str,
    since: i64,
    limit: i64,
) -> Result<(Vec<Said>, i64, bool), Fault> {
    let page = read::read(view, name, stretch(since, limit))?;
    let rows = page.messages.into_iter();
    let rows = rows.map(|message| Said::Message(message.into()));
    Ok((rows.collect(), page.next_seq, page.has_more))
}

/// Every field of as many messages as a person wants.
pub fn stretch(since: i64, limit: i64) -> Stretch {
    Stretch {
        since,
        limit,
        full: true,
    }
}

/// The changes of a thread's status between two places of the log.
fn turns(
    view: &mut View<'_, '_>,
    name: &str,
    from: Seq,
    to: Option<Seq>,
) -> Result<Vec<Said>, Fault> {
    let mut wanted = log::Wanted {
        entity: Some(log::find(view, name)?.id),
        before: to,
        most: BATCH,
        ..log::Wanted::default()
    };
    let mut found = Vec::new();
    loop {
        let entries = log::newest(view, &wanted)?;
        let oldest = entries.last().map(|entry| entry.seq);
        let meant = entries.into_iter().filter(|entry| entry.seq > from);
        found.extend(meant.filter(is_turn).map(|entry| Said::Turn(entry.into())));
        match oldest.filter(|oldest| *oldest > from) {
            Some(oldest) => wanted.before = Some(oldest),
            None => return Ok(found),
        }
    }
}

fn is_turn(entry: &Entry) -> bool {
    let action = entry.action.as_deref();
    action.is_some_and(|action| TURNED.contains(&action))
}

/// What came to a thread after a message and a place of the log; the new ones of both.
pub fn news(
    context: &CommandContext,
    name: &str,
    last: i64,
    head: Seq,
) -> Result<(Vec<Said>, i64, Seq), Fault> {
    context.engine.view(&context.caller, |view| {
        let wanted = log::Wanted {
            entity: Some(log::find(view, name)?.id),
            most: BATCH,
            ..log::Wanted::default()
        };
        let (entries, head) = log::since(view, &wanted, head)?;
        let turns = entries.into_iter().filter(is_turn);
        let mut lines: Vec<Said> = turns.map(|entry| Said::Turn(entry.into())).collect();
        let mut read = last;
        loop {
            let (messages, last, more) = messages(view, name, read, BATCH)?;
            read = last;
            lines.extend(messages);
            if !more {
                break;
            }
        }
        lines.sort_by_key(Said::seq);
        Ok((lines, read, head))
    })
}

/// A thread's title, where it stands, and who has read how much of it.
pub fn header(here: &Here, clock: &Clock, thread: &Thread) {
    let out = &here.out;
    out.line(
        Text::new()
            .name(&thread.thread_id)
            .plain("  ")
            .bold(&thread.title),
    );
    let mut line = standing(thread.status);
    if let Some(purpose) = thread.purpose {
        line = line.plain(format!(" · {purpose}"));
    }
    if thread.open_findings > 0 {
        let open = format!("{} open", count(thread.open_findings, "finding"));
        line = line.plain(" · ").add(Style::Warn, open);
    }
    let made = clock.ago(thread.created_at);
    out.line(
        line.plain(format!(" · {}", count(thread.last_seq, "message")))
            .dim(format!(" · made {made} by {}", thread.created_by)),
    );
    let readers = &thread.readers;
    let fields = readers.iter().take(READERS);
    let fields = fields.map(|one| (one.agent_id.clone(), reading(clock, thread, one)));
    out.fields(2, fields.collect());
    if readers.len() > READERS {
        out.hint(format!("  and {} more", readers.len() - READERS));
    }
    let wakes = thread.wakes.iter();
    for line in wakes.filter_map(|one| wake::below_thread(clock, one)) {
        out.line(line);
    }
}

/// What a status looks like.
pub fn standing(status: Status) -> Text {
    match status {
        Status::Active => Text::new().add(Style::Good, status.as_str()),
        Status::Blocked => Text::new().add(Style::Warn, status.as_str()),
        Status::Resolved | Status::Closed => Text::new().dim(status.as_str()),
    }
}

/// `read 3 of 6 · idle 2 min ago, codex_cli`
fn reading(clock: &Clock, thread: &Thread, reader: &Reading) -> Text {
    let (read, all) = (reader.last_read_seq, thread.last_seq);
    let line = match read {
        _ if all == 0 => Text::from("nothing to read"),
        0 => Text::from("nothing acknowledged"),
        _ if read >= all => Text::from("read all"),
        _ => Text::from(format!("read {read} of {all}")),
    };
    let agent = &reader.agent_id;
    let member = thread.created_by == *agent || thread.participants.contains(agent);
    let line = if member {
        line
    } else {
        line.dim(", takes no part")
    };
    let Some(seen) = reader.last_seen else {
        return line.dim(" · not seen yet");
    };
    let ago = clock.ago(seen);
    let said = reader.session.as_ref();
    let status = match (said.map(|said| said.status), reader.alive) {
        (Some(SessionStatus::Offline) | None, Some(true)) => Some(SessionStatus::Active),
        (said, _) => said,
    };
    let alive = match status {
        Some(SessionStatus::Active) => Text::new().add(Style::Good, "active"),
        Some(status @ (SessionStatus::Idle | SessionStatus::Offline)) => {
            Text::new().dim(status.as_str())
        }
        None => Text::new().dim("seen"),
    };
    let runtime = match said.map_or("", |said| &said.runtime) {
        "" => format!(" {ago}"),
        runtime => format!(" {ago}, {runtime}"),
    };
    line.plain(" · ").then(alive).dim(runtime)
}

/// A chat on its way down the screen.
pub struct Chat<'a> {
    out: &'a Out,
    indent: usize,
    day: String,
    /// The numbers and senders of what was shown, for those who answer them.
    shown: HashMap<String, String>,
    /// After which message things are new to the reader.
    unread_after: Option<i64>,
}

impl<'a> Chat<'a> {
    pub fn new(out: &'a Out, unread_after: Option<i64>) -> Chat<'a> {
        Chat {
            out,
            indent: match out.width() {
                Some(width) if width < NARROW.0 => NARROW.1,
                _ => INDENT,
            },
            day: String::new(),
            shown: HashMap::new(),
            unread_after,
        }
    }

    pub fn say(&mut self, clock: &Clock, said: &Said) {
        match said {
            Said::Message(message) => self.message(clock, message),
            Said::Turn(entry) => {
                self.new_day(clock, &entry.at);
                let line = Text::from(clock.time_text(&entry.at)).plain("  ");
                let told = entry.text.strip_prefix("status: ").unwrap_or(&entry.text);
                let told = told.replacen("; (", " (", 1);
                let line = line.plain(&entry.actor).dim(format!("  {told}"));
                self.out.hanging(line, self.indent);
            }
        }
    }

    fn message(&mut self, clock: &Clock, message: &Message) {
        let at = message.created_at.map(|at| at.to_string());
        let at = at.unwrap_or_default();
        self.new_day(clock, &at);
        let number = message.seq.unwrap_or(0);
        let sender = message.sender_agent_id.as_deref().unwrap_or_default();
        if self.unread_after.is_some_and(|read| number > read) {
            self.unread_after = None;
            self.out.line(Text::new().add(Style::Warn, "— unread —"));
        }
        let mut line = Text::from(clock.time_text(&at))
            .plain("  ")
            .bold(sender)
            .then(about(message.kind, &message.metadata));
        if let Some(answered) = &message.in_reply_to {
            let known = self.shown.get(answered).unwrap_or(answered);
            line = line.dim(format!("  ↩ {known}"));
        }
        let id = &message.message_id;
        self.out
            .hanging(line.dim(format!("  {number} · {id}")), self.indent);
        let said = message.body.as_deref().unwrap_or_default();
        body(self.out, said, self.indent);
        self.shown.insert(id.clone(), format!("{number} {sender}"));
    }

    fn new_day(&mut self, clock: &Clock, at: &str) {
        let day = clock.day_text(at);
        if day != self.day {
            self.out.blank();
            self.out.line(Text::new().dim(format!("— {day} —")));
            self.day = day;
        }
    }
}

/// A body, line by line.
pub fn body(out: &Out, text: &str, indent: usize) {
    for line in text.trim_end().lines() {
        // One space would take the shape from code.
        let line = line.replace('\t', "    ");
        let start = Text::from(" ".repeat(indent));
        out.hanging(start.plain(line), indent);
    }
}

/// What kind of event it is and what belongs to it, the best known first.
pub fn about(kind: Option<MessageKind>, metadata: &Map<String, Value>) -> Text {
    let is_event = kind == Some(MessageKind::Event);
    let field = |name: &str| metadata.get(name).filter(|value| !value.is_null());
    let mut line = Text::new();
    if let Some(event) = field("event_type").and_then(Value::as_str)
        && is_event
    {
        line = line.plain("  ").add(of_event(event), event);
    }
    if let Some(severity) = field("severity") {
        let severity = plain(severity);
        let style = match severity.as_str() {
            "critical" | "high" => Style::Bad,
            "medium" => Style::Warn,
            _ => Style::Plain,
        };
        line = line.plain("  ").add(style, short(&severity));
    }
    if let Some(file) = field("file") {
        let place = match field("line") {
            None => plain(file),
            Some(number) => format!("{}:{}", plain(file), plain(number)),
        };
        line = line.plain("  ").add(Style::Plain, place);
    }
    for (name, value) in metadata {
        let value = short(&plain(value));
        line = match name.as_str() {
            "event_type" if is_event => line,
            "severity" | "file" => line,
            "line" if field("file").is_some() => line,
            "commit" | "commits" | "commit_sha" | "commit_hash" | "sha" => {
                line.plain("  ").name(value)
            }
            _ => line.dim(format!("  {name}={value}")),
        };
    }
    line
}

fn of_event(event: &str) -> Style {
    match Event::parse(event) {
        Some(Event::FindingReported) => Style::Warn,
        Some(Event::FindingRejected) => Style::Bad,
        Some(Event::FindingVerified | Event::FindingWithdrawn) => Style::Good,
        Some(
            Event::FixPushed
            | Event::ReReviewRequested
            | Event::ThreadEscalated
            | Event::ThreadResolved,
        )
        | None => Style::Name,
    }
}

/// A page does not fit into a line.
fn short(text: &str) -> String {
    if text.chars().count() > VALUE {
        format!("{}…", text.chars().take(VALUE - 1).collect::<String>())
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_named_as_people_name_it() {
        for name in ["th_001", "th_1", "TH-1", "th1", "1", " 01 "] {
            assert_eq!(handle(name), "th_001", "{name}");
        }
        for name in ["th", "", "-1", "th_x", "TASK-001", "99999999999999999999"] {
            assert_eq!(handle(name), name, "{name}");
        }
        assert_eq!(handle("th_1234"), "th_1234");
    }

    #[test]
    fn an_event_tells_what_belongs_to_it() {
        let told = |kind: MessageKind, metadata: Value| {
            let metadata = metadata.as_object().cloned().unwrap_or_default();
            about(Some(kind), &metadata).rendered(false)
        };
        let (chat, event) = (MessageKind::Chat, MessageKind::Event);
        let metadata = json!({
            "event_type": "finding_reported", "severity": "high", "file": "a.rs", "line": 4,
            "commit": "4f2a91c", "more": {"a": [1]},
        });
        let expected = "  finding_reported  high  a.rs:4  4f2a91c  more={\"a\":[1]}";
        assert_eq!(told(event, metadata), expected);
        let unknown = json!({ "event_type": "x", "line": 3 });
        assert_eq!(told(chat, unknown), "  event_type=x  line=3");
        assert_eq!(told(chat, json!({})), "");
        let long = json!({ "x": "y".repeat(999) });
        assert!(told(chat, long).chars().count() < 80);
    }
}
