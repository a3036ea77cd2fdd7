//! What a woken agent is told: who asks, for which thread, and what it has not read. Texts of others are
//! quoted, so that none of them reads as a word of the server.

use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::text::{in_quotes, quoted};
use understory_storage::{messages, threads};

use super::Taken;
use crate::View;
use crate::kernel::content::text as field;
use crate::threads::shape::{Form, Message};
use crate::threads::{find, summarize};

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
    let told = messages::of_others(view.tx, view.ws, found.row.id, read, &job.target, SHOWN)?;
    for (message, item) in &told {
        let said = Message::of(item, &job.target, Form::Placed);
        let body = in_quotes(said.body.as_deref().unwrap_or_default(), LETTERS);
        lines.push(format!("{} #{}: {body}", quoted(&item.actor), message.n));
    }
    let more = unread - i64::try_from(told.len()).unwrap_or(0);
    if more > 0 {
        lines.push(format!("and {more} more."));
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
        lines.push(
            "You and the others of this thread have done nothing but wake each other. This is the \
             last wake until somebody else posts in it or one of you does other work."
                .to_owned(),
        );
    }
    Ok(lines.join("\n"))
}
