//! `understory notes`, `trace` and `cards`: what was written down about a task or on a branch.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};
use understory_engine::reasoning::notes::Page;
use understory_engine::reasoning::shape::{Entry, Node};
use understory_engine::reasoning::think_context::Context;
use understory_engine::reasoning::think_next::Next;
use understory_engine::reasoning::think_next::Step;
use understory_model::Fault;
use understory_model::reasoning::EntryKind;

use super::branch::{self, ask, rows};
use super::checkout::{of, place, target};
use super::here::ROOM;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};
use crate::object::with;

const NOTES_EXAMPLES: &str = "\
Examples:
  understory notes TASK-003             the notes of a task
  understory notes what-if -n 5         the last five of a branch
  understory notes --json | jq -r '.entries[].content'
  understory note 'Another' --on TASK-003";

const TRACE_EXAMPLES: &str = "\
Examples:
  understory trace TASK-003             what happened to a task, and the cards thought about it
  understory trace what-if --json";

const CARDS_EXAMPLES: &str = "\
Examples:
  understory cards TASK-003             the cards of a task, newest first, and what to do next
  understory cards what-if --json | jq '.cards[].id'";

/// Which document, and how much of it.
#[derive(Debug, clap::Args)]
struct Asked {
    /// The plan, task or branch (default: the checked-out branch)
    #[arg(value_name = "WHERE")]
    name: Option<String>,
    /// Maximum number of entries
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
}

/// The notes of a task or branch.
#[derive(Debug, clap::Args)]
#[command(after_help = NOTES_EXAMPLES)]
pub struct Notes {
    #[command(flatten)]
    asked: Asked,
}

/// What happened to a task, with the cards thought about it.
#[derive(Debug, clap::Args)]
#[command(after_help = TRACE_EXAMPLES)]
pub struct Trace {
    #[command(flatten)]
    asked: Asked,
}

/// The cards of a task or branch.
#[derive(Debug, clap::Args)]
#[command(after_help = CARDS_EXAMPLES)]
pub struct Cards {
    #[command(flatten)]
    asked: Asked,
}

impl Notes {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let place = place(self.asked.name.as_deref());
        entries(here, &context, &self.asked, place)
    }
}

impl Trace {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let name = self.asked.name.as_deref();
        let doc = match name.and_then(target) {
            Some(_) => ("doc_kind", "trace".into()),
            None => ("doc", trace_doc(&context, name)?.into()),
        };
        let args = with(place(name), [doc]);
        entries(here, &context, &self.asked, args)
    }
}

/// The trace document of a branch.
fn trace_doc(context: &CommandContext, name: Option<&str>) -> Result<String, Fault> {
    let branch = match name {
        Some(name) => of(name),
        None => branch::all(context)?.checkout.current,
    };
    Ok(branch::state(context, &branch)?.trace_doc)
}

fn entries(here: &Here, context: &CommandContext, asked: &Asked, args: Value) -> Outcome {
    let most = usize::from(asked.limit);
    let mut found = rows::<Page<Entry>>(context, "branchmind_show", &args, most)?;
    found.rows.sort_by_key(|entry| entry.seq);
    if here.out.json {
        here.out.value(&json!({
            "doc": found.doc,
            "entries": found.rows,
            "more": found.more,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if found.rows.is_empty() {
        let nothing = format!("Nothing in {}.", found.doc);
        here.out.line(Text::new().dim(nothing));
    }
    for entry in &found.rows {
        print_entry(here, context, entry);
    }
    if found.more {
        here.out.hint("There is more before that: add --limit.");
    }
    Ok(ExitCode::SUCCESS)
}

fn print_entry(here: &Here, context: &CommandContext, entry: &Entry) {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let when = context.clock.ago(entry.ts);
    let content = text(&entry.content);
    let mut line = Text::new().dim(format!("#{} ", entry.seq));
    line = line.bold(text(&entry.title));
    if entry.kind == EntryKind::Event {
        line = line.plain(format!(" {content}"));
    }
    line = line.dim(format!("  {} {when}", text(&entry.agent)));
    if let Some(by) = &entry.merged_by {
        line = line.dim(format!(", merged by {by}"));
    }
    here.out.line(line);
    if entry.kind == EntryKind::Note {
        for line in content.lines() {
            here.out.hanging(Text::from("    ").plain(line), 4);
        }
    }
}

/// The cards, and what to do next about them.
#[derive(Serialize)]
struct Thought {
    #[serde(flatten)]
    found: Context,
    next: Step,
}

impl Cards {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let place = place(self.asked.name.as_deref());
        let room = [
            ("limit_cards", self.asked.limit.into()),
            ("max_chars", ROOM.into()),
        ];
        let args = with(place.clone(), room);
        let found: Context = ask(&context, "branchmind_think_context", args)?;
        let next: Next = ask(&context, "branchmind_think_next", place)?;
        let next = next.next;
        if here.out.json {
            here.out.answer(&Thought { found, next })?;
            return Ok(ExitCode::SUCCESS);
        }
        let all = found.stats.cards;
        for card in &found.cards {
            print_card(here, card);
        }
        if all == 0 {
            let nothing = format!("No cards in {}.", found.graph_doc);
            here.out.line(Text::new().dim(nothing));
            return Ok(ExitCode::SUCCESS);
        }
        let card = next.card_id.unwrap_or_default();
        let line = Text::new().bold("next  ").plain(next.action.words());
        let line = line.plain(" ").name(card);
        here.out.line(line.dim(format!("  {}", next.reason)));
        if found.cards.len() < all {
            here.out.hint(format!("There are {all}: add --limit."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_card(here: &Here, card: &Node) {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let status = text(&card.status);
    let style = match status.as_str() {
        "" | "open" => Style::Warn,
        _ => Style::Good,
    };
    let line = Text::new()
        .name(&card.id)
        .dim(format!("  {}  ", text(&card.kind)));
    let line = line.bold(text(&card.title)).plain("  ");
    here.out.line(line.add(style, status));
    for line in text(&card.text).lines() {
        here.out.hanging(Text::from("    ").plain(line), 4);
    }
}
