//! What a woken agent is told: who asks, for which thread, and what it has not read. Texts of others are
//! quoted, so that none of them reads as a word of the server.

use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::text::{in_quotes, quoted};
use understory_model::thread::{Channel, WakeAction};
use understory_model::{Id, Ws};
use understory_storage::told::{self, Told};
use understory_storage::{ReadTx, messages, threads};

use super::Taken;
use crate::kernel::content::text as field;
use crate::threads::shape::{Form, Message};
use crate::threads::{find, summarize};
use crate::{View, Work};

/// Messages of a thread that are shown, and letters of each and of a prompt.
const SHOWN: i64 = 5;
const LETTERS: usize = 600;
/// Letters of the summary that a new session begins with.
const SUMMARY: usize = 4_000;

/// What an agent is told that nobody wrote a prompt for.
pub fn default_prompt(thread: &str) -> String {
    format!(
        "{thread} has messages that you have not read. Read them, go on with your part, and post \
         where you stand."
    )
}

/// What an agent is told with its last wake for a thread whose agents do nothing else.
pub fn last_word(thread: &str) -> String {
    format!(
        "In {thread}, you and the others have done nothing but wake each other. This is your last \
         wake for it until somebody else posts in it or one of you does other work."
    )
}

/// The text for jobs that are delivered together.
pub fn text(view: &mut View<'_, '_>, jobs: &[Taken]) -> Result<String> {
    let mut parts = Vec::new();
    for taken in jobs {
        parts.push(one(view, taken)?);
    }
    Ok(parts.join("\n\n"))
}

/// What a program is told of which is not known whether it runs what it reads: no word of it is
/// anybody's but ours, and to a shell it is a command that does not exist.
pub fn plain_text(jobs: &[Taken]) -> String {
    let threads: Vec<&str> = jobs.iter().map(|taken| taken.job.thread.as_str()).collect();
    format!(
        "Understory: unread messages in {}. Call read_messages to see them.",
        threads.join(", ")
    )
}

/// The text with which a new session begins: the thread in short, as it knows nothing of it.
pub fn first_text(view: &mut View<'_, '_>, taken: &Taken) -> Result<String> {
    let whole = Budget::default();
    let summary = summarize::summarize(view, &taken.job.thread, None, &whole)?.typed()?;
    let told = one(view, taken)?;
    let summary = in_quotes(&summary.summary, SUMMARY);
    Ok(format!(
        "{told}\n\nYou begin a new session. {} so far: {summary}",
        taken.job.thread
    ))
}

/// Where the text for a job begins: after what the target has read, and what the session that gets it
/// was told.
fn start(tx: &mut ReadTx<'_>, ws: Ws, taken: &Taken, thread: Id, read: i64) -> Result<i64> {
    let Some(way) = &taken.way else {
        return Ok(read);
    };
    if taken.job.action == WakeAction::SpawnSession {
        return Ok(read);
    }
    let told = told::of(tx, ws, &taken.job.target, &way.session, thread)?;
    Ok(told.map_or(read, |told| told.seq.max(read)))
}

/// Remembers what a session was told by the text of a job that a channel took, so that no hook tells it
/// the same.
pub(super) fn mark(work: &mut Work<'_, '_>, taken: &Taken, channel: Option<Channel>) -> Result<()> {
    let (ws, now, target) = (work.ws(), work.now, &taken.job.target);
    let prompted = [
        Channel::CodexQueue,
        Channel::OpencodePrompt,
        Channel::Terminal,
    ];
    let thread = threads::woken_for(work.read()?, ws, taken.id)?;
    let (Some(thread), Some(way)) = (thread, &taken.way) else {
        return Ok(());
    };
    // A hook remembers itself what it tells.
    if !channel.is_some_and(|channel| prompted.contains(&channel)) {
        return Ok(());
    }
    let reader = threads::participant(work.read()?, ws, target, thread)?;
    let start = start(
        work.read()?,
        ws,
        taken,
        thread,
        reader.map_or(0, |one| one.read),
    )?;
    let shown = messages::of_others(work.read()?, ws, thread, start, target, SHOWN)?;
    let shown = shown.iter().map(|(message, _)| message.n);
    // What was posted since the job was taken may not have been in it.
    let Some(seq) = shown.filter(|n| *n <= taken.job.up_to).max() else {
        return Ok(());
    };
    let one = Told {
        agent: target.clone(),
        session: way.session.clone(),
        thread,
        seq,
        changes: 0,
        at: now,
    };
    work.live().put_told(&one)
}

fn one(view: &mut View<'_, '_>, taken: &Taken) -> Result<String> {
    let job = &taken.job;
    let found = find(view, &job.thread)?;
    let title = quoted(field(&found.thing.data, "title"));
    let reader = threads::participant(view.tx, view.ws, &job.target, found.row.id)?;
    let read = reader.as_ref().map_or(0, |reader| reader.read);
    let unread = reader.map_or(found.row.last, |r| found.row.last - r.read - r.own);
    let asker = job.asked_by.as_deref().unwrap_or_default();
    let mut lines = vec![format!(
        "Understory: {} in {} {title}, asked by {} ({}).",
        match unread {
            1 => "1 unread message".to_owned(),
            many => format!("{many} unread messages"),
        },
        job.thread,
        quoted(asker),
        taken.wake_id,
    )];
    let start = start(view.tx, view.ws, taken, found.row.id, read)?;
    let shown = messages::of_others(view.tx, view.ws, found.row.id, start, &job.target, SHOWN)?;
    for (message, item) in &shown {
        let said = Message::of(item, &job.target, Form::Placed);
        let body = in_quotes(said.body.as_deref().unwrap_or_default(), LETTERS);
        lines.push(format!("{} #{}: {body}", quoted(&item.actor), message.n));
    }
    let more = unread - i64::try_from(shown.len()).unwrap_or(0);
    if more > 0 {
        lines.push(format!("{more} more are not shown here."));
    }
    if job.prompt != default_prompt(&job.thread) {
        let prompt = in_quotes(&job.prompt, LETTERS);
        lines.push(format!("{} asks: {prompt}", quoted(asker)));
    }
    lines.push(format!(
        "read_messages {{\"thread_id\": \"{0}\"}} shows them whole, post_message answers, ack_read \
         marks them as read.",
        job.thread
    ));
    if taken.last {
        lines.push(last_word(&job.thread));
    }
    Ok(lines.join("\n"))
}
