//! `understory threads`: which threads there are, the last changed first.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::json;
use understory_engine::kernel::inbox::Unread;
use understory_engine::threads::list::{self, Asked, Line};
use understory_model::thread::Status;
use understory_model::{Fault, Role};

use super::render::message::standing;
use super::render::words::count;
use super::table::Table;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory threads                    the 50 that changed last, with what you have not read
  understory threads --unread           only where something is unread
  understory threads --status blocked --limit 0
  understory threads --mine --json | jq -r '.threads[].thread_id'
  understory post --new 'Review of the parser' --with ada,bob 'Please look at 4f2a91c'";

/// Threads that are asked for at a time.
const PAGE: i64 = 500;
/// Columns for the names of those who take part: the title says more.
const NAMES: usize = 24;
/// Columns of a terminal that shows names, and of one that shows times.
const WITH_NAMES: usize = 80;
const WITH_TIMES: usize = 56;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Include threads of others (the default for operators; see --mine)
    #[arg(long, conflicts_with = "mine")]
    all: bool,
    /// Only threads with unread messages
    #[arg(long)]
    unread: bool,
    /// Only threads that you take part in
    #[arg(long)]
    mine: bool,
    /// Only threads with this status
    #[arg(long, value_name = "STATUS", ignore_case = true)]
    #[arg(value_parser = PossibleValuesParser::new(Status::WORDS.iter().copied()))]
    status: Option<String>,
    /// Maximum number of threads; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=10_000))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let most = match self.limit {
            0 => i64::MAX,
            most => most,
        };
        let status = self.status.as_deref().map(str::to_lowercase);
        let status = status.as_deref().and_then(Status::parse);
        // A worker sees its own threads; asking for more is refused.
        let all = self.all || (!self.mine && context.caller.role != Role::Worker);
        let found = threads(&context, status, self.unread, all, most)?;
        if here.out.json {
            here.out.value(&json!(found));
        } else if found.threads.is_empty() {
            self.nothing(here, &context)?;
        } else {
            show(here, &context, &found);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Why there is nothing to see, and what to do about it.
    fn nothing(&self, here: &Here, context: &CommandContext) -> Result<(), Fault> {
        let out = &here.out;
        if let Some(why) = context.nothing_yet()? {
            out.line(why);
        } else if !threads(context, None, false, context.caller.role != Role::Worker, 1)?
            .threads
            .is_empty()
        {
            out.line(match (self.unread, &self.status) {
                (true, _) => "You have read everything that was said to you.".to_owned(),
                (_, Some(status)) => format!("No thread is {}.", status.to_lowercase()),
                _ => "You take part in no thread.".to_owned(),
            });
            return Ok(());
        } else {
            let name = &context.caller.workspace;
            out.line(format!("There are no threads in {name} yet."));
        }
        out.hint(
            "Start one: understory post --new 'Review of the parser' --with ada,bob 'Please look'",
        );
        Ok(())
    }
}

/// Threads, and how much is unread in all that the caller takes part in.
#[derive(Serialize)]
pub struct Found {
    pub threads: Vec<Line>,
    pub unread: Unread,
    pub more: bool,
}

/// Up to `most` threads.
pub fn threads(
    context: &CommandContext,
    status: Option<Status>,
    unread: bool,
    all: bool,
    most: i64,
) -> Result<Found, Fault> {
    let mut asked = Asked {
        status,
        unread,
        all,
        cursor: None,
        limit: most.min(PAGE),
    };
    context.engine.view(&context.caller, |view| {
        let mut threads = Vec::new();
        loop {
            let page = list::list(view, &asked)?;
            threads.extend(page.threads);
            let left = most.saturating_sub(threads.len() as i64);
            let more = page.next_cursor.is_some() && left == 0;
            if page.next_cursor.is_none() || more {
                return Ok(Found {
                    threads,
                    unread: page.unread,
                    more,
                });
            }
            asked.cursor = page.next_cursor;
            asked.limit = left.min(PAGE);
        }
    })
}

fn show(here: &Here, context: &CommandContext, found: &Found) {
    let mut table = Table::new(&[
        "thread",
        "status",
        "unread",
        "open",
        "changed",
        "participants",
        "title",
    ]);
    // A column without anything in it is not shown: where there is no room, the title stays.
    let width = here.out.width().unwrap_or(usize::MAX);
    let room = |least: usize, cell: Text| if width < least { Text::new() } else { cell };
    for thread in &found.threads {
        let unread = match thread.unread.unwrap_or(0) {
            0 => Text::new(),
            number => Text::new().add(Style::Warn, number.to_string()),
        };
        let mut names = thread.participants.clone().unwrap_or_default();
        // Its creator takes part.
        if !names.contains(&thread.created_by) {
            names.push(thread.created_by.clone());
        }
        table.row([
            Text::new().name(&thread.thread_id),
            standing(thread.status),
            unread,
            open(thread),
            room(WITH_TIMES, Text::from(context.clock.ago(thread.updated_at))),
            room(WITH_NAMES, Text::from(names.join(", ")).fit(NAMES)),
            Text::from(thread.title.as_deref().unwrap_or_default()),
        ]);
    }
    here.out.table(table);
    if found.more {
        here.out.hint("There are more: --limit 0 lists every one.");
    }
}

/// What is open in a thread: findings, and what somebody asked.
fn open(thread: &Line) -> Text {
    let findings = thread.open_findings;
    let items = thread.open_items.unwrap_or(findings);
    let parts = [(findings, "finding"), (items - findings, "request")];
    let parts = parts.iter().filter(|(many, _)| *many > 0);
    let told: Vec<String> = parts.map(|(many, word)| count(*many, word)).collect();
    if told.is_empty() {
        Text::new()
    } else {
        Text::new().add(Style::Warn, told.join(", "))
    }
}
