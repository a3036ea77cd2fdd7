//! What hooks say, in words. Facts only, most important first; what others wrote stands in quotes.

use understory_engine::graph::onboard::Onboard;
use understory_engine::system::orient::{Held, News};
use understory_engine::system::untold::{Job, Thread, Untold};
use understory_engine::threads::shape::Message;
use understory_engine::threads::wake::last_word;
use understory_model::text::{in_quotes, plural, quoted, quoted_list};
use understory_model::{Caller, Id, limits};

use super::page::Page;

/// How much of a title or a summary is shown, and of a working text.
const LINE: usize = 120;
const SCRATCHPAD: usize = 600;
/// What unread messages take of a page that tells other things too.
const SHARE: usize = 5_000;
/// What a thread may take at least, however many there are.
const THREAD: usize = 800;

const TOOLS: &str = "Tools: graph_onboard and get_project_overview say more; read_messages \
    {thread_id} reads, post_message {thread_id, body} answers, ack_read {thread_id, last_read_seq} \
    marks as read; graph_next {claim: true} takes a task.";
const ANSWER: &str = "Tools: post_message {thread_id, body} answers; ack_read {thread_id, \
    last_read_seq} marks as read; wait_for_messages and read_messages {thread_id} give whatever is \
    cut or left out here.";

/// Up to which message of which threads a text tells.
pub type Marks = Vec<(Id, i64)>;

/// What a chat that begins is told.
pub struct Begin<'a> {
    pub caller: &'a Caller,
    pub workspace: &'a str,
    pub standing: &'a Onboard,
    pub held: &'a Held,
    pub untold: &'a Untold,
    /// The requests to wake it.
    pub jobs: &'a [Job],
    pub news: &'a News,
    /// It was at work before.
    pub goes_on: bool,
}

/// The text for a chat that begins or goes on.
pub fn begin(all: &Begin<'_>) -> (String, Marks) {
    let mut page = Page::default();
    let caller = all.caller;
    page.line(&format!(
        "Understory: you are {} (session {}, role {}) in workspace {}, project {}.",
        quoted(&caller.agent),
        quoted(&caller.session),
        caller.role,
        quoted(all.workspace),
        quoted(&caller.project)
    ));
    let goal = all.standing.goal.as_deref().unwrap_or_default();
    if !goal.is_empty() && goal != caller.project {
        page.line(&format!(
            "The project's goal: {}",
            in_quotes(goal, 2 * LINE)
        ));
    }
    held(&mut page, all.held, all.goes_on);
    requests(&mut page, all.jobs);
    let marks = unread(&mut page, all.untold, SHARE);
    told_before(&mut page, all.standing, all.untold);
    next(&mut page, all.standing, all.held);
    here(&mut page, all.standing);
    news(&mut page, all.news, "Since you were last here:");
    (page.end(TOOLS), marks)
}

/// The text for a new prompt.
pub fn prompt(untold: &Untold, jobs: &[Job], new: &News) -> (String, Marks) {
    let mut page = Page::default();
    requests(&mut page, jobs);
    let marks = if untold.is_empty() {
        Vec::new()
    } else {
        unread(&mut page, untold, SHARE)
    };
    news(&mut page, new, "Understory, since you were last told:");
    (page.end(ANSWER), marks)
}

/// The text that wakes an agent, or makes one go on that would stop.
///
/// For the threads in `last` it is the last one.
pub fn wake(untold: &Untold, jobs: &[Job], last: &[String]) -> (String, Marks) {
    let mut page = Page::default();
    for thread in last {
        let begin = if page.is_empty() { "Understory: " } else { "" };
        page.line(&format!("{begin}{}", last_word(thread)));
    }
    requests(&mut page, jobs);
    let marks = unread(&mut page, untold, usize::MAX);
    (page.end(ANSWER), marks)
}

/// Adds who asked for the agent to be woken, and what for.
fn requests(page: &mut Page, jobs: &[Job]) {
    let asked = jobs.iter().filter(|job| job.asked);
    let lines: Vec<String> = asked
        .map(|job| {
            format!(
                "- {} by {} for {}: {}",
                quoted(&job.handle),
                quoted(&job.asker),
                quoted(&job.thread),
                in_quotes(&job.prompt, limits::HOOK_MESSAGE_CHARS)
            )
        })
        .collect();
    let heading = if page.is_empty() {
        "Understory: you were asked to look at a thread:"
    } else {
        "You were asked to look at a thread:"
    };
    page.list(heading, &lines, SHARE, "requests");
}

/// What the log keeps of a chat before it is compacted; nothing if it holds nothing.
pub fn before_compaction(held: &Held, untold: i64) -> Option<String> {
    let mut parts = Vec::new();
    let names = |all: Vec<&str>| quoted_list(&all, ", ");
    if !held.claims.is_empty() {
        let claims = held.claims.iter().map(|one| one.handle.as_str());
        parts.push(format!("claimed {}", names(claims.collect())));
    }
    if !held.records.is_empty() {
        let records = held.records.iter().map(|one| one.handle.as_str());
        parts.push(format!("active {}", names(records.collect())));
    }
    for claim in &held.claims {
        if let Some(text) = &claim.scratchpad {
            let text = in_quotes(text, SCRATCHPAD);
            parts.push(format!("scratchpad of {}: {text}", quoted(&claim.handle)));
        }
    }
    if parts.is_empty() {
        return None;
    }
    if untold > 0 {
        parts.push(plural(untold, "unread message"));
    }
    Some(format!("before a compaction: {}", parts.join("; ")))
}

fn held(page: &mut Page, held: &Held, goes_on: bool) {
    let mut lines = Vec::new();
    for claim in &held.claims {
        let (id, summary) = (quoted(&claim.handle), in_quotes(&claim.summary, LINE));
        lines.push(format!("- task {id} {summary}, claimed"));
        if let Some(text) = &claim.scratchpad {
            lines.push(format!("  its scratchpad: {}", in_quotes(text, SCRATCHPAD)));
        }
    }
    for record in &held.records {
        let (id, title) = (quoted(&record.handle), in_quotes(&record.title, LINE));
        lines.push(format!("- record {id} {title}, active"));
    }
    let heading = if goes_on {
        "You were at work on:"
    } else {
        "You hold:"
    };
    page.list(heading, &lines, SHARE, "things that you hold");
}

/// Adds messages, within a share of the room; how far each thread is told.
fn unread(page: &mut Page, untold: &Untold, share: usize) -> Marks {
    if untold.is_empty() {
        return Vec::new();
    }
    let messages: i64 = untold.threads.iter().map(|one| one.count).sum();
    let count = untold.threads.len() as i64 + untold.more;
    let at_least = if untold.more > 0 { "at least " } else { "" };
    page.line(&format!(
        "{}{at_least}{} in {} that you have not read:",
        if page.is_empty() { "Understory: " } else { "" },
        plural(messages, "message"),
        plural(count, "thread")
    ));
    let mut left = share.min(page.room());
    let (mut marks, mut told) = (Vec::new(), 0);
    for (at, thread) in untold.threads.iter().enumerate() {
        let threads = untold.threads.len() - at;
        let before = page.room();
        let (seq, shown) = one_thread(page, thread, left.min((left / threads).max(THREAD)));
        left = left.saturating_sub(before - page.room());
        told += shown;
        marks.extend(seq.map(|seq| (thread.id, seq)));
    }
    let rest = usize::try_from(messages).unwrap_or_default() - told;
    page.leave_out(rest, "unread messages (wait_for_messages gives them)");
    page.leave_out(
        usize::try_from(untold.more).unwrap_or_default(),
        "further threads",
    );
    marks
}

/// Adds the first messages of a thread; the number of the last one, and how many they are.
fn one_thread(page: &mut Page, thread: &Thread, most: usize) -> (Option<i64>, usize) {
    let end = page.room().saturating_sub(most);
    let (mut seq, mut shown) = (None, 0);
    let heading = format!(
        "{} {}:",
        quoted(&thread.handle),
        in_quotes(&thread.title, LINE)
    );
    let mut heading = Some(heading);
    for message in &thread.messages {
        let line = match heading.take() {
            Some(heading) => format!("{heading}\n{}", one_message(message)),
            None => one_message(message),
        };
        if !page.within(&line, page.room().saturating_sub(end)) {
            break;
        }
        seq = message.seq.or(seq);
        shown += 1;
    }
    (seq, shown)
}

fn one_message(message: &Message) -> String {
    let number = message.seq.map_or(String::new(), |seq| format!("#{seq} "));
    let from = quoted(message.sender_agent_id.as_deref().unwrap_or("somebody"));
    let event = message
        .metadata
        .get("event_type")
        .and_then(|one| one.as_str());
    let event = event.map_or(String::new(), |event| format!(" ({})", quoted(event)));
    let text = match &message.body {
        _ if message.undone => "took this message back".to_owned(),
        Some(body) => format!("wrote: {}", in_quotes(body, limits::HOOK_MESSAGE_CHARS)),
        None => "wrote what was erased".to_owned(),
    };
    format!("- {number}{from}{event} {text}")
}

/// What is unread and was told before, for whoever goes on.
fn told_before(page: &mut Page, standing: &Onboard, untold: &Untold) {
    let untold: i64 = untold.threads.iter().map(|one| one.count).sum();
    let before = standing.unread.messages - untold;
    if before > 0 {
        page.line(&format!(
            "Unread, but told before: {}.",
            plural(before, "message")
        ));
    }
}

fn next(page: &mut Page, standing: &Onboard, held: &Held) {
    let next = standing.next.iter().flatten();
    let lines: Vec<String> = next
        .take(if held.claims.is_empty() { 3 } else { 1 })
        .map(|one| format!("- {} {}", quoted(&one.id), in_quotes(&one.summary, LINE)))
        .collect();
    page.list("You could start:", &lines, SHARE, "tasks");
}

fn here(page: &mut Page, standing: &Onboard) {
    let lines: Vec<String> = standing
        .here
        .iter()
        .map(|one| {
            let on = if one.on.is_empty() {
                String::new()
            } else {
                format!(", on {}", quoted_list(&one.on, ", "))
            };
            let alive = if one.alive { "" } else { " (not connected)" };
            format!("- {}{alive}{on}", quoted(&one.agent))
        })
        .collect();
    page.list("Others here:", &lines, SHARE, "others");
}

fn news(page: &mut Page, news: &News, heading: &str) {
    let mut lines = Vec::new();
    for one in &news.decided {
        let by = quoted(&one.details.agent);
        lines.push(format!("- {by}: {}", in_quotes(&one.summary, 2 * LINE)));
    }
    for one in &news.closed {
        let how = if one.dropped { "dropped" } else { "closed" };
        let summary = in_quotes(&one.summary, LINE);
        lines.push(format!(
            "- {} {how} {} {summary}",
            quoted(&one.by),
            quoted(&one.id)
        ));
    }
    for one in &news.claimed {
        let summary = in_quotes(&one.summary, LINE);
        lines.push(format!(
            "- {} claimed {} {summary}",
            quoted(&one.by),
            quoted(&one.id)
        ));
    }
    page.list(heading, &lines, SHARE, "changes");
}
