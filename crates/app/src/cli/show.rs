//! `understory show`: anything that has a name with everything around it, an artifact's lines, or
//! an item of the log. It only looks: nothing is activated, made or marked as read.

use std::process::ExitCode;

use serde::Serialize;
use understory_engine::kernel::log::{self, Entry, Found, Raw, Wanted};
use understory_model::id::parse_message;
use understory_model::{Code, Fault, Seq};

use super::branch::MAIN;
use super::log::did;
use super::render::message;
use super::text::Text;
use super::when::Clock;
use super::{CommandContext, Here, Outcome};

pub mod garden;
mod item;
mod node;
mod project;
pub mod reasoning;
mod record;
mod thoughts;
mod thread;

const EXAMPLES: &str = "\
Examples:
  understory show TASK-003              a node: what it is, waits for, holds, what was thought
  understory show R007                  a record: what it says, is tied to, and who has it active
  understory show shop                  a project: its goal and tree, and where its records stand
  understory show what-if               a branch: where it came from and its last notes
  understory show conflict-0123456789abcdef
  understory show th_001                a thread: who has read it, and what is open in it
  understory show msg_12                a message whole, and what it answers
  understory show goals_doc             an artifact: its lines, and the commit of each
  understory show goals_doc:3-7         some of its lines
  understory show goals_doc --plain     its text and nothing else
  understory show prop_001              a proposed change, and what became of it
  understory show '#42'                 the 42nd item of the log, whole
  understory show item_01931c5e-8f7a-7c3e-b7a5-111111111111 --json";

/// Changes that are shown.
const CHANGES: i64 = 5;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A handle, a project, a branch, a label, `label:3`, `msg_<seq>`, `item_<uuid>`, `#<seq>`, …
    #[arg(value_name = "HANDLE")]
    name: String,
    /// Of an artifact, print only its text
    #[arg(long)]
    plain: bool,
}

/// What a name turned out to be.
enum Shown {
    Item(Box<Raw>),
    Thing(Found),
    Message(Box<thread::Told>),
    /// Some lines of an artifact.
    Lines(Box<garden::SomeLines>),
    /// A part of a message, or a relation, as the garden gives it.
    Part(Box<garden::Part>),
    /// The first branch, which nobody made.
    Main,
}

/// What is shown: JSON for scripts, lines for people.
pub trait Page: Serialize {
    fn print(&self, here: &Here, clock: &Clock);
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        if self.plain {
            super::artifacts::plain(
                here,
                &context,
                self.name.trim(),
                here.flags.project.as_deref(),
            )?;
            return Ok(ExitCode::SUCCESS);
        }
        let name = self.name.trim();
        let part = part(&context, name, here.flags.project.as_deref())?;
        match part.map_or_else(|| find(&context, name), Ok)? {
            Shown::Item(item) if here.out.json => here.out.answer(&item)?,
            Shown::Item(item) => item::show(here, &context, &item)?,
            Shown::Lines(lines) => shown(here, &context, &*lines)?,
            Shown::Part(part) => shown(here, &context, &*part)?,
            Shown::Thing(found) => thing(here, &context, &found)?,
            Shown::Message(told) => shown(here, &context, &*told)?,
            Shown::Main => shown(here, &context, &reasoning::branch(&context, MAIN)?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows an entity as what it is.
fn thing(here: &Here, context: &CommandContext, found: &Found) -> Result<(), Fault> {
    let handle = &found.handle;
    if let Some(name) = found.project() {
        shown(here, context, &project::whole(context, name)?)
    } else if found.is_record() {
        shown(here, context, &record::around(context, handle)?)
    } else if let Some(name) = found.branch() {
        shown(here, context, &reasoning::branch(context, name)?)
    } else if found.is_conflict() {
        shown(here, context, &reasoning::conflict(context, handle)?)
    } else if found.kind == thread::KIND {
        shown(here, context, &thread::thread(context, handle)?)
    } else if found.is_checkout() {
        shown(here, context, &reasoning::checkout(context, found)?)
    } else if found.kind == garden::ARTIFACT {
        shown(here, context, &garden::artifact(context, handle, None)?)
    } else if found.kind == garden::LOG {
        shown(here, context, &garden::log(context, handle)?)
    } else if found.kind == garden::PROPOSAL {
        shown(here, context, &garden::proposal(context, handle)?)
    } else if found.kind == "node" {
        shown(here, context, &node::around(context, handle)?)
    } else {
        shown(here, context, &garden::entity(context, handle)?)
    }
}

pub fn shown(here: &Here, context: &CommandContext, page: &impl Page) -> Result<(), Fault> {
    if here.out.json {
        return here.out.answer(page);
    }
    page.print(here, &context.clock);
    Ok(())
}

/// What is a part of something, or between two things: lines, parts of messages, relations.
fn part(
    context: &CommandContext,
    name: &str,
    project: Option<&str>,
) -> Result<Option<Shown>, Fault> {
    if name.starts_with("rel_") || (name.contains('#') && !name.starts_with('#')) {
        return Ok(Some(Shown::Part(Box::new(garden::part(context, name)?))));
    }
    match garden::lines(context, name, project) {
        Some(Err(fault)) if fault.code == Code::NotFound => Ok(None),
        Some(found) => found.map(|found| Some(Shown::Lines(Box::new(found)))),
        None => Ok(None),
    }
}

fn find(context: &CommandContext, name: &str) -> Result<Shown, Fault> {
    let number = name.strip_prefix('#').unwrap_or(name).parse().ok().map(Seq);
    let shown: String = name.chars().take(80).collect();
    if context.is_new()? {
        let why = context.nothing_yet()?.unwrap_or_default();
        return Err(Fault::not_found(format!("no {shown}: {why}")));
    }
    context.engine.view(&context.caller, |view| {
        if let Some(seq) = number {
            return match log::raw_at(view, seq)? {
                Some(item) => Ok(Shown::Item(Box::new(item))),
                None => {
                    let end = log::end(view)?;
                    Err(Fault::not_found(format!("no item #{seq}"))
                        .hint(format!("The log goes from #1 to #{end}.")))
                }
            };
        }
        if name.starts_with("item_") {
            return match log::raw_named(view, name)? {
                Some(item) => Ok(Shown::Item(Box::new(item))),
                None => Err(Fault::not_found(format!("no item {shown}"))
                    .hint("`understory log --json` names the items.")),
            };
        }
        if let Some(seq) = parse_message(name) {
            return match thread::message(view, seq)? {
                Some(message) => Ok(Shown::Message(Box::new(message))),
                None => Err(Fault::not_found(format!("no message {shown}"))
                    .hint("`understory threads` lists the threads.")),
            };
        }
        match log::find(view, name).or_else(|fault| match fault.code {
            // People leave out the zeros.
            Code::NotFound if name.starts_with("th") => log::find(view, &message::handle(name)),
            _ => Err(fault),
        }) {
            // Something else may have this name; only then it is not the branch.
            Err(fault) if fault.code == Code::NotFound && is_main(name) => Ok(Shown::Main),
            found => Ok(Shown::Thing(found?)),
        }
    })
}

fn is_main(name: &str) -> bool {
    name.strip_prefix("branch:").unwrap_or(name) == MAIN
}

/// The last changes of a thing.
fn changes(context: &CommandContext, handle: &str, most: i64) -> Result<Vec<Entry>, Fault> {
    context.engine.view(&context.caller, |view| {
        let wanted = Wanted {
            entity: Some(log::find(view, handle)?.id),
            most,
            ..Wanted::default()
        };
        log::newest(view, &wanted)
    })
}

/// A heading, and the last changes below it.
fn show_changes(here: &Here, clock: &Clock, history: &[Entry]) {
    here.out.line(Text::new().bold("last changes"));
    for entry in history {
        show_change(here, clock, entry);
    }
}

fn show_change(here: &Here, clock: &Clock, entry: &Entry) {
    let action = entry.action.as_deref().unwrap_or_default();
    let line = Text::new()
        .dim(format!("{:>10}  ", clock.ago_text(&entry.at)))
        .plain(format!("{} ", entry.actor))
        .then(did(action));
    let told = match action {
        // What a new node is, it mostly still is.
        "created" => "",
        _ => &entry.text,
    };
    here.out.cut(line.plain(format!("  {told}")));
}
