//! `understory notes`, `trace` and `cards`: what was written down about a task or on a branch.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_model::Fault;

use super::branch::{self, ROOM, ask, rows};
use super::checkout::{of, place};
use super::next::each;
use super::text::{Style, Text};
use super::{Desk, Here, Outcome};

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
        let desk = here.desk()?;
        let place = place(self.asked.name.as_deref());
        entries(here, &desk, &self.asked, place)
    }
}

impl Trace {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let mut args = place(self.asked.name.as_deref());
        if args.get("target").is_some() {
            args["doc_kind"] = "trace".into();
        } else {
            args["doc"] = trace_doc(&desk, self.asked.name.as_deref())?.into();
        }
        entries(here, &desk, &self.asked, args)
    }
}

/// The trace document of a branch.
fn trace_doc(desk: &Desk, name: Option<&str>) -> Result<String, Fault> {
    let branch = match name {
        Some(name) => of(name),
        None => branch::all(desk)?.checkout.current,
    };
    Ok(branch::state(desk, &branch)?.trace_doc)
}

fn entries(here: &Here, desk: &Desk, asked: &Asked, args: Value) -> Outcome {
    let most = usize::from(asked.limit);
    let mut found = rows(desk, "branchmind_show", &args, "entries", most)?;
    found.rows.sort_by_key(|entry| entry["seq"].as_i64());
    if here.out.json {
        here.out.value(&json!({
            "doc": found.doc,
            "entries": found.rows,
            "more": found.more,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if found.rows.is_empty() {
        let doc = found.doc.as_str().unwrap_or_default();
        here.out.line(Text::new().dim(format!("Nothing in {doc}.")));
    }
    for entry in &found.rows {
        print_entry(here, desk, entry);
    }
    if found.more {
        here.out.hint("There is more before that: add --limit.");
    }
    Ok(ExitCode::SUCCESS)
}

fn print_entry(here: &Here, desk: &Desk, entry: &Value) {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let when = desk.clock.ago_text(text("ts"));
    let mut line = Text::new().dim(format!("#{} ", entry["seq"]));
    line = line.bold(text("title"));
    if text("kind") == "event" {
        line = line.plain(format!(" {}", text("content")));
    }
    line = line.dim(format!("  {} {when}", text("agent")));
    if let Some(by) = entry["merged_by"].as_str() {
        line = line.dim(format!(", merged by {by}"));
    }
    here.out.line(line);
    if text("kind") != "event" {
        for line in text("content").lines() {
            here.out.hanging(Text::from("    ").plain(line), 4);
        }
    }
}

impl Cards {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let place = place(self.asked.name.as_deref());
        let mut args = place.clone();
        args["limit_cards"] = self.asked.limit.into();
        args["max_chars"] = ROOM.into();
        let mut answer = ask(&desk, "branchmind_think_context", args)?;
        answer["next"] = ask(&desk, "branchmind_think_next", place)?["next"].take();
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let all = answer["stats"]["cards"].as_u64().unwrap_or_default();
        for card in each(&answer["cards"]) {
            print_card(here, card);
        }
        if all == 0 {
            let doc = answer["graph_doc"].as_str().unwrap_or_default();
            here.out
                .line(Text::new().dim(format!("No cards in {doc}.")));
            return Ok(ExitCode::SUCCESS);
        }
        let next = |name: &str| answer["next"][name].as_str().unwrap_or_default();
        let line = Text::new()
            .bold("next  ")
            .plain(next("action").replace('_', " "));
        let line = line.plain(" ").name(next("card_id"));
        here.out.line(line.dim(format!("  {}", next("reason"))));
        if each(&answer["cards"]).count() < usize::try_from(all).unwrap_or(usize::MAX) {
            here.out.hint(format!("There are {all}: add --limit."));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_card(here: &Here, card: &Value) {
    let text = |name: &str| card[name].as_str().unwrap_or_default();
    let style = match text("status") {
        "" | "open" => Style::Warn,
        _ => Style::Good,
    };
    let line = Text::new()
        .name(text("id"))
        .dim(format!("  {}  ", text("type")));
    let line = line.bold(text("title")).plain("  ");
    here.out.line(line.add(style, text("status")));
    for line in text("text").lines() {
        here.out.hanging(Text::from("    ").plain(line), 4);
    }
}
