//! `understory show`: anything that has a name with everything around it, an artifact's lines, or an
//! item of the log. It only looks: nothing is activated, made or marked as read.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_engine::graph::tree::{Asked, Row};
use understory_engine::log::{self, Found, Wanted};
use understory_model::id::parse_message;
use understory_model::{Code, Fault};

use super::branch::MAIN;
use super::log::did;
use super::next::{each, evidence, properties};
use super::plan;
use super::talk;
use super::text::{Style, Text};
use super::tree::{brief, mark};
use super::when::Clock;
use super::{Desk, Here, Outcome};

pub mod garden;
mod item;
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

/// Levels of children, and changes, that are shown.
const DEPTH: i64 = 3;
const CHANGES: i64 = 5;
/// Nodes below one that are shown.
const SHOWN_BELOW: i64 = 500;

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
    Item(Value),
    Thing(Found),
    Message(Value),
    /// Some lines of an artifact.
    Lines(Value),
    /// A part of a message, or a relation, as the garden gives it.
    Part(Value),
    /// The first branch, which nobody made.
    Main,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        if self.plain {
            let named = (self.name.trim(), here.flags.project.as_deref());
            super::artifacts::plain(here, &desk, named)?;
            return Ok(ExitCode::SUCCESS);
        }
        let name = self.name.trim();
        let part = part(&desk, name, here.flags.project.as_deref())?;
        match part.map_or_else(|| find(&desk, name), Ok)? {
            Shown::Item(item) if here.out.json => here.out.value(&item),
            Shown::Item(item) => item::show(here, &desk, &item)?,
            Shown::Lines(answer) => shown(here, &desk, &answer, garden::print_lines),
            Shown::Part(answer) => shown(here, &desk, &answer, garden::print_part),
            Shown::Thing(found) => thing(here, &desk, &found)?,
            Shown::Message(answer) => shown(here, &desk, &answer, thread::print_message),
            Shown::Main => {
                let answer = reasoning::branch(&desk, MAIN)?;
                shown(here, &desk, &answer, reasoning::print_branch);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

type Print = fn(&Here, &Clock, &Value);

/// Shows an entity as what it is.
fn thing(here: &Here, desk: &Desk, found: &Found) -> Result<(), Fault> {
    if found.is_record() {
        return record::around(desk, &found.handle)?.show(here, &desk.clock);
    }
    let (answer, print): (Value, Print) = if let Some(name) = found.project() {
        (project::whole(desk, name)?, project::print)
    } else if let Some(name) = found.branch() {
        (reasoning::branch(desk, name)?, reasoning::print_branch)
    } else if found.is_conflict() {
        let answer = reasoning::conflict(desk, &found.handle)?;
        (answer, reasoning::print_conflict)
    } else if found.kind == thread::KIND {
        (thread::thread(desk, &found.handle)?, thread::print_thread)
    } else if found.is_checkout() {
        (reasoning::checkout(desk, found)?, reasoning::print_checkout)
    } else if found.kind == garden::ARTIFACT {
        (
            garden::artifact(desk, (&found.handle, None))?,
            garden::print_artifact,
        )
    } else if found.kind == garden::LOG {
        (garden::log(desk, &found.handle)?, garden::print_log)
    } else if found.kind == garden::PROPOSAL {
        let answer = garden::proposal(desk, &found.handle)?;
        (answer, super::proposals::print)
    } else if found.kind == "node" {
        (around(desk, &found.handle)?, show_node)
    } else {
        (garden::entity(desk, &found.handle)?, garden::print_entity)
    };
    shown(here, desk, &answer, print);
    Ok(())
}

fn shown(here: &Here, desk: &Desk, answer: &Value, print: Print) {
    if here.out.json {
        here.out.value(answer);
    } else {
        print(here, &desk.clock, answer);
    }
}

/// What is a part of something, or between two things: lines, parts of messages, relations.
fn part(desk: &Desk, name: &str, project: Option<&str>) -> Result<Option<Shown>, Fault> {
    if name.starts_with("rel_") || (name.contains('#') && !name.starts_with('#')) {
        let found = desk.call("garden_get", json!({ "id": name }))?;
        return Ok(Some(Shown::Part(found)));
    }
    match garden::lines(desk, name, project) {
        Some(Err(fault)) if fault.code == Code::NotFound => Ok(None),
        Some(found) => found.map(|found| Some(Shown::Lines(found))),
        None => Ok(None),
    }
}

fn find(desk: &Desk, name: &str) -> Result<Shown, Fault> {
    let number = name.strip_prefix('#').unwrap_or(name).parse::<i64>().ok();
    let shown: String = name.chars().take(80).collect();
    let found = desk.engine.read(&desk.caller, |view| {
        let Some(view) = view else { return Ok(None) };
        if let Some(seq) = number {
            return match log::raw_at(view, seq)? {
                Some(item) => Ok(Some(Shown::Item(item))),
                None => {
                    let end = log::end(view)?;
                    Err(Fault::not_found(format!("no item #{seq}"))
                        .hint(format!("The log goes from #1 to #{end}.")))
                }
            };
        }
        if name.starts_with("item_") {
            return match log::raw_named(view, name)? {
                Some(item) => Ok(Some(Shown::Item(item))),
                None => Err(Fault::not_found(format!("no item {shown}"))
                    .hint("`understory log --json` names the items.")),
            };
        }
        if let Some(seq) = parse_message(name) {
            return match thread::message(view, seq)? {
                Some(message) => Ok(Some(Shown::Message(message))),
                None => Err(Fault::not_found(format!("no message {shown}"))
                    .hint("`understory threads` lists the threads.")),
            };
        }
        match log::find(view, name).or_else(|fault| match fault.code {
            // People leave out the zeros.
            Code::NotFound if name.starts_with("th") => log::find(view, &talk::handle(name)),
            _ => Err(fault),
        }) {
            // Something else may have this name; only then it is not the branch.
            Err(fault) if fault.code == Code::NotFound && is_main(name) => Ok(Some(Shown::Main)),
            found => Ok(Some(Shown::Thing(found?))),
        }
    })?;
    match found {
        Some(found) => Ok(found),
        None => {
            let why = desk.nothing_yet()?.unwrap_or_default();
            Err(Fault::not_found(format!("no {shown}: {why}")))
        }
    }
}

fn is_main(name: &str) -> bool {
    name.strip_prefix("branch:").unwrap_or(name) == MAIN
}

/// A node, its neighbourhood and its last changes, in one value.
fn around(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    let args = json!({ "node_id": handle, "depth": DEPTH });
    let mut answer = desk
        .call("graph_context", args)
        .map_err(|fault| match fault.code {
            Code::NotFound => fault.hint(format!(
                "`understory log {handle}` tells what became of it."
            )),
            _ => fault,
        })?;
    // An old name may have led to what it was merged into.
    let id = answer["node"]["id"].as_str().unwrap_or(handle).to_owned();
    answer["history"] = changes(desk, &id, CHANGES)?;
    answer["thoughts"] = thoughts::of(desk, &id)?;
    let asked = Asked {
        top: Some(id),
        levels: Some(DEPTH),
        most: SHOWN_BELOW,
    };
    answer["plan"] = json!(plan::of(desk, &asked)?.nodes);
    Ok(answer)
}

/// The last changes of a thing.
fn changes(desk: &Desk, handle: &str, most: i64) -> Result<Value, Fault> {
    desk.engine.read(&desk.caller, |view| match view {
        Some(view) => {
            let entity = Some(log::find(view, handle)?.id);
            let wanted = Wanted {
                entity,
                most,
                ..Wanted::default()
            };
            Ok(json!(log::newest(view, &wanted)?))
        }
        None => Ok(json!([])),
    })
}

fn show_node(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let node = &answer["node"];
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    out.line(
        Text::new()
            .name(text("id"))
            .plain("  ")
            .bold(text("summary")),
    );
    out.line(standing(answer, clock));
    if let Some(old) = answer["merged_from"].as_str() {
        out.hint(format!("{old} was merged into it."));
    }
    out.blank();
    out.fields(0, about(answer, clock));
    let rows: Vec<Row> = serde_json::from_value(answer["plan"].clone()).unwrap_or_default();
    if rows.len() > 1 {
        out.blank();
        out.line(Text::new().bold("below"));
        // The node itself stands above.
        let below = plan::drawn(&rows, clock).into_iter().skip(1);
        below.for_each(|line| out.cut(line));
    }
    thoughts::print(here, clock, text("id"), &answer["thoughts"]);
    out.blank();
    out.line(Text::new().bold("last changes"));
    for entry in each(&answer["history"]) {
        show_change(here, clock, entry);
    }
    if answer["truncated"] == json!(true) {
        out.hint("There is more than fits here.");
    }
}

/// What is written on it and what it is tied to.
fn about(answer: &Value, clock: &Clock) -> Vec<(String, Text)> {
    let node = &answer["node"];
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    for (at, above) in each(&answer["ancestors"]).enumerate() {
        let name = if at == 0 { "in" } else { "" };
        field(name, Text::from("  ".repeat(at)).then(brief(above)));
    }
    for (name, value) in properties(node) {
        field(name, Text::from(value));
    }
    for link in each(&node["context_links"]) {
        field("link", Text::from(link.as_str().unwrap_or_default()));
    }
    for piece in each(&node["evidence"]) {
        let by = piece["agent"].as_str().unwrap_or_default();
        let when = clock.ago_text(piece["timestamp"].as_str().unwrap_or_default());
        let what = Text::from(evidence(piece));
        field("evidence", what.dim(format!("  {by}, {when}")));
    }
    for (list, name) in [("depends_on", "waits for"), ("depended_by", "needed by")] {
        for other in each(&answer[list]) {
            let done = other["node"]["resolved"].as_bool().unwrap_or(false);
            field(name, mark(done).then(brief(&other["node"])));
        }
    }
    for edge in each(&answer["edges"]) {
        let kind = edge["type"].as_str().unwrap_or_default();
        let arrow = match edge["direction"] == json!("out") {
            true => "→ ",
            false => "← ",
        };
        field(kind, Text::from(arrow).then(brief(&edge["node"])));
    }
    let created = clock.ago_text(text("created_at"));
    field(
        "created",
        Text::from(format!("{created} by {}", text("created_by"))),
    );
    fields
}

/// Where it stands, in a line: done or open, ready or waiting, whose it is.
fn standing(answer: &Value, clock: &Clock) -> Text {
    let node = &answer["node"];
    let done = node["resolved"].as_bool().unwrap_or(false);
    let waits = each(&answer["depends_on"]).any(|other| other["satisfied"] == json!(false));
    let open_below = each(&answer["children"]["children"]).any(|c| c["resolved"] == json!(false));
    let mut text = match (done, waits, open_below) {
        (true, _, _) if node["dropped"] == json!(true) => Text::new().add(Style::Dim, "dropped"),
        (true, _, _) => Text::new().add(Style::Good, "done"),
        (_, true, _) => Text::new().add(Style::Warn, "blocked"),
        (_, _, true) => Text::from("open, by what is below it"),
        _ => Text::new().add(Style::Good, "ready"),
    };
    if let Some(state) = node.get("state") {
        let state = state
            .as_str()
            .map_or_else(|| state.to_string(), str::to_owned);
        text = text.plain(format!(" · {state}"));
    }
    if let Some(by) = node["properties"]["_claimed_by"].as_str() {
        let at = node["properties"]["_claimed_at"]
            .as_str()
            .unwrap_or_default();
        let at = clock.ago_text(at);
        let session = node["properties"]["_claimed_session"].as_str();
        let session = session.map(|name| format!(", session {name}"));
        let session = session.unwrap_or_default();
        text = text.plain(format!(" · claimed by {by} {at}{session}"));
    }
    text.dim(format!(" · rev {}", node["rev"]))
}

fn show_change(here: &Here, clock: &Clock, entry: &Value) {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let line = Text::new()
        .dim(format!("{:>10}  ", clock.ago_text(text("at"))))
        .plain(format!("{} ", text("actor")))
        .then(did(text("action")));
    let told = match text("action") {
        // What a new node is, it mostly still is.
        "created" => "",
        _ => text("text"),
    };
    here.out.cut(line.plain(format!("  {told}")));
}
