//! `understory log`: what happened, newest first, or as it happens.

use std::cell::Cell;
use std::process::ExitCode;

use understory_engine::kernel::log::{self, Entry, Wanted};
use understory_engine::system::audit::may_read;
use understory_engine::{Resolved, View};
use understory_model::{Fault, Seq};

use super::render::message;
use super::table::Table;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory log                        the last 20 things that happened
  understory log TASK-003               everything that happened to one node
  understory log --record R007          a record's changes, and who had it active
  understory log --thread th_001        what was said, read and decided in a thread
  understory log --artifact goals_doc   who read, proposed and changed what in a document
  understory log --by ada --follow      what one agent does, as it does it
  understory log --project shop --limit 100
  understory log --before 1200          what happened before #1200
  understory log --follow               and then what happens, in any process
  understory log --follow --json | jq .handle";

/// Items read at a time while following.
const BATCH: i64 = 500;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this node, record, thread or other thing, by its name
    #[arg(value_name = "HANDLE")]
    handle: Option<String>,
    /// Only this node
    #[arg(long, value_name = "ID", conflicts_with = "handle")]
    node: Option<String>,
    /// Only this record
    #[arg(long, value_name = "ID", conflicts_with_all = ["handle", "node"])]
    record: Option<String>,
    /// Only this thread
    #[arg(long, value_name = "ID", conflicts_with_all = ["handle", "node", "record"])]
    thread: Option<String>,
    /// Only this artifact, by its label, including who read it
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["handle", "node", "record", "thread"])]
    artifact: Option<String>,
    /// Only what this agent or person did
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only entries before this item
    #[arg(long, value_name = "SEQ", conflicts_with = "follow")]
    before: Option<i64>,
    /// Print recent entries, then follow (like tail -f); ctrl-c ends it
    #[arg(long, short)]
    follow: bool,
    /// Maximum number of entries
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=10_000))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let named = self.handle.as_deref().or(self.node.as_deref());
        let thread = self.thread.as_deref().map(message::handle);
        let handle = named.or(self.record.as_deref()).or(thread.as_deref());
        let asked = Asked {
            handle: handle.or(self.artifact.as_deref()),
            project: here.flags.project.as_deref(),
            actor: self.by.as_deref(),
            before: self.before.map(Seq),
            audit: may_read(context.caller.role),
        };
        // One more tells whether there are more.
        let (mut entries, head) = if context.is_new()? {
            (Vec::new(), Seq::ZERO)
        } else {
            context.engine.view(&context.caller, |view| {
                let wanted = asked.wanted(view, self.limit + 1)?;
                let entries = match self.limit {
                    0 => Vec::new(),
                    _ => log::newest(view, &wanted)?,
                };
                Ok((entries, log::end(view)?))
            })?
        };
        let more = entries.len() as i64 > self.limit;
        entries.truncate(usize::try_from(self.limit).unwrap_or(0));
        let last = entries.last().map(|entry| entry.seq);
        if self.follow {
            entries.reverse();
        }
        if entries.is_empty() && !here.out.json && !self.follow {
            nothing(here, &context, asked.handle)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.follow {
            show_lines(here, &context, &entries);
            follow(here, &context, &asked, head)?;
        } else {
            show(here, &context, &entries);
            if let Some(last) = last.filter(|_| more && !here.out.json) {
                here.out
                    .hint(format!("… there is more: --limit N, or --before {last}."));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Which part of the log a person asks for.
struct Asked<'a> {
    handle: Option<&'a str>,
    project: Option<&'a str>,
    actor: Option<&'a str>,
    before: Option<Seq>,
    /// Whether the caller may read audit events.
    audit: bool,
}

impl Asked<'_> {
    fn wanted(&self, view: &mut View<'_, '_>, most: i64) -> Result<Wanted, Fault> {
        let entity = self
            .handle
            .map(|handle| log::find(view, handle))
            .transpose()?;
        let project = match self.project {
            Some(name) => Some(log::project(view, name)?),
            None => None,
        };
        Ok(Wanted {
            entity: entity.map(|found| found.id),
            project,
            actor: self.actor.map(str::to_owned),
            without_audit: !self.audit,
            before: self.before,
            most,
            ..Wanted::default()
        })
    }
}

fn nothing(here: &Here, context: &CommandContext, handle: Option<&str>) -> Result<(), Fault> {
    match (context.nothing_yet()?, handle) {
        (Some(why), Some(handle)) => {
            return Err(Fault::not_found(format!("no {handle}: {why}")));
        }
        (Some(why), None) => here.out.line(why),
        (None, _) => here.out.line("Nothing happened yet."),
    }
    Ok(())
}

pub fn show(here: &Here, context: &CommandContext, entries: &[Entry]) {
    if here.out.json {
        return show_lines(here, context, entries);
    }
    let mut table = Table::new(&["seq", "when", "who", "did", "to", "what"]);
    for entry in entries {
        table.row(cells(context, entry));
    }
    here.out.table(table);
}

fn cells(context: &CommandContext, entry: &Entry) -> [Text; 6] {
    [
        Text::new().dim(format!("#{}", entry.seq)),
        Text::from(context.clock.clock_text(&entry.at)),
        Text::from(entry.actor.as_str()),
        did(entry.action.as_deref().unwrap_or(&entry.kind)),
        Text::new().name(target(entry)),
        said(entry),
    ]
}

/// What it says, and why.
fn said(entry: &Entry) -> Text {
    let text = Text::from(entry.text.as_str());
    match entry.reasoning.as_deref() {
        Some(why) if entry.text.is_empty() => Text::from(why),
        Some(why) => text.dim(format!(" ({why})")),
        None => text,
    }
}

/// What the line is about: what a session worked on rather than the session, a session by the name
/// that it gave itself, and what was written into a document by where that is.
pub fn target(entry: &Entry) -> String {
    if let Some(name) = &entry.name {
        return name.clone();
    }
    let handle = entry.handle.as_deref().unwrap_or_default();
    let session = handle.strip_prefix("session:");
    if let Some(name) = handle.strip_prefix("branch:") {
        return name.to_owned();
    }
    if let (Some(branch), Some(doc)) = (&entry.branch, &entry.doc) {
        return format!("{branch} {doc}");
    }
    // Of a long name the beginning tells them apart; the line says what it is.
    if handle.starts_with("entity_") {
        return handle.chars().take(15).chain(['…']).collect();
    }
    if handle.starts_with("log:") {
        return "conversation".to_owned();
    }
    match (&entry.about, session.and_then(|rest| rest.split_once(':'))) {
        (Some(about), _) if !about.starts_with("session:") => about.clone(),
        (_, Some((_, name))) => format!("session {name}"),
        _ => handle.to_owned(),
    }
}

/// An action as it is said.
pub fn did(name: &str) -> Text {
    match name {
        "resolved" => Text::new().add(Style::Good, name),
        "claimed" => Text::new().add(Style::Warn, name),
        "conflict_detected" => Text::new().add(Style::Bad, "conflict"),
        "checked_out" => Text::from("checked out"),
        // The line says from what to what.
        "status_changed" => Text::from("changed"),
        "conflict_resolved" => Text::new().add(Style::Warn, "overrode"),
        _ => Text::from(name),
    }
}

/// A line an entry, without titles: what may go on forever has no widths to agree on.
fn show_lines(here: &Here, context: &CommandContext, entries: &[Entry]) {
    let out = &here.out;
    for entry in entries {
        if out.json {
            out.value(&serde_json::json!(entry));
            continue;
        }
        let mut line = Text::new();
        for (cell, width) in cells(context, entry).into_iter().zip([5, 9, 10, 9, 9, 0]) {
            let pad = usize::saturating_sub(width, cell.width()) + 2;
            line = line.then(cell).plain(" ".repeat(pad));
        }
        out.cut(line);
    }
    out.flush();
}

/// Waits for what this or any other process commits, until nobody reads any more.
fn follow(
    here: &Here,
    context: &CommandContext,
    asked: &Asked<'_>,
    head: Seq,
) -> Result<(), Fault> {
    if let Resolved::New(name) = context.engine.workspace(&context.caller)?
        && !here.out.json
    {
        here.out.hint(format!("Nothing is in {name} yet; waiting."));
        here.out.flush();
    }
    let after = Cell::new(head);
    let tell = |_: Seq| {
        let (entries, end) = context.engine.view(&context.caller, |view| {
            let wanted = asked.wanted(view, BATCH)?;
            log::since(view, &wanted, after.get())
        })?;
        after.set(end);
        // What is today changes while one waits.
        show_lines(here, &context.again(), &entries);
        Ok(())
    };
    context
        .engine
        .follow(&context.caller, head, tell, || !here.out.is_over())
}
