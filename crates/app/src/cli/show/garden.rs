//! An artifact line by line, a conversation as it went, and any other entity as it stands.

use serde::Serialize;
use serde_json::json;
use understory_engine::garden::artifact::log::{Commits, Logged};
use understory_engine::garden::artifact::show::Lines;
use understory_engine::garden::conversation::log as conversation;
use understory_engine::garden::reader;
use understory_engine::garden::shown::{EntityShape, ItemShape};
use understory_engine::garden::timeline::get::Got;
use understory_engine::kernel::log::{self, Entry};
use understory_model::Fault;
use understory_model::answer::json_of;

use super::Page;
use crate::cli::conversations::called;
use crate::cli::log::did;
use crate::cli::render::Render;
use crate::cli::render::words::count;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here, proposals};

pub const ARTIFACT: &str = "artifact";
pub const LOG: &str = "log";
pub const PROPOSAL: &str = "proposal";

/// Commits, and items of a conversation, that are shown.
const COMMITS: i64 = 5;
const ITEMS: i64 = 50;

pub fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}

/// An artifact's lines and its last commits.
#[derive(Serialize)]
pub struct Artifact {
    #[serde(flatten)]
    lines: Lines,
    deltas: Vec<Logged>,
}

pub fn artifact(
    context: &CommandContext,
    handle: &str,
    project: Option<&str>,
) -> Result<Artifact, Fault> {
    let asked = json!({ "artifact": handle, "project": project });
    let lines: Lines = context.ask("garden_artifact_show", asked)?;
    let asked = json!({ "artifact": handle, "project": project, "limit": COMMITS });
    let commits: Commits = context.ask("garden_artifact_log", asked)?;
    Ok(Artifact {
        lines,
        deltas: commits.deltas,
    })
}

/// Some lines of an artifact.
#[derive(Serialize)]
#[serde(transparent)]
pub struct SomeLines(Lines);

/// The lines that a name such as `goals_doc:3`, `goals_doc:3-7` or `goals_doc:3@7a2722d` means;
/// `None` where the text is not such a name.
pub fn lines(
    context: &CommandContext,
    name: &str,
    project: Option<&str>,
) -> Option<Result<SomeLines, Fault>> {
    let (label, rest) = name.rsplit_once(':')?;
    let (range, commit) = match rest.split_once('@') {
        Some((range, commit)) => (range, Some(commit)),
        None => (rest, None),
    };
    let (start, end) = range.split_once('-').unwrap_or((range, range));
    let (start, end): (i64, i64) = (start.parse().ok()?, end.parse().ok()?);
    let asked = json!({
        "artifact": label, "start": start, "end": end, "commit": commit, "project": project,
    });
    Some(context.ask("garden_artifact_show", asked).map(SomeLines))
}

impl Page for SomeLines {
    fn print(&self, here: &Here, _: &Clock) {
        let SomeLines(answer) = self;
        let out = &here.out;
        draw_lines(here, answer);
        if answer.truncated {
            out.hint("There is more than fits here: name fewer lines.");
        }
        let label = &answer.artifact.label;
        if let Some(first) = answer.lines.first() {
            out.hint(format!(
                "`understory why {label}:{}` says why it is there.",
                first.line
            ));
        }
    }
}

fn draw_lines(here: &Here, answer: &Lines) {
    let last = answer.lines.last();
    let width = last.map_or(1, |line| line.line.to_string().len());
    for line in &answer.lines {
        let number = format!("{:>width$}", line.line);
        let commit = short(line.commit.as_deref().unwrap_or_default());
        let place = Text::new().dim(format!("{commit}  {number}  "));
        here.out.cut(place.plain(&line.content));
    }
}

pub fn get(context: &CommandContext, id: &str) -> Result<Got, Fault> {
    context.ask("garden_get", json!({ "id": id }))
}

/// A part of a message, or how two things stand to each other, as the garden gives it.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Part(Got);

pub fn part(context: &CommandContext, id: &str) -> Result<Part, Fault> {
    get(context, id).map(Part)
}

impl Page for Part {
    fn print(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        match &self.0 {
            Got::Fragment { fragment } => {
                out.hanging(Text::new().bold(&fragment.content), 0);
                out.hint(format!("of {}", fragment.message_uuid));
            }
            Got::Relation { relation } => print_fields(here, clock, relation),
            other => print_fields(here, clock, other),
        }
    }
}

/// A proposal as it is listed.
pub fn proposal(context: &CommandContext, handle: &str) -> Result<Proposal, Fault> {
    Ok(Proposal(match get(context, handle)? {
        Got::Proposal { proposal, .. } => Some(*proposal),
        _ => None,
    }))
}

#[derive(Serialize)]
#[serde(transparent)]
pub struct Proposal(Option<reader::ShownProposal>);

impl Page for Proposal {
    fn print(&self, here: &Here, clock: &Clock) {
        if let Proposal(Some(shown)) = self {
            proposals::print(here, clock, shown);
        }
    }
}

impl Page for Artifact {
    fn print(&self, here: &Here, clock: &Clock) {
        let (out, artifact) = (&here.out, &self.lines.artifact);
        let label = &artifact.label;
        let lines = count(artifact.lines, "line");
        let commits = count(artifact.commits, "commit");
        let head = Text::new().name(label);
        out.line(head.dim(format!("  {lines}, {commits}  {}", artifact.uuid)));
        if !artifact.label_history.is_empty() {
            let former = artifact.label_history.join(", ");
            out.line(Text::new().dim(format!("formerly {former}")));
        }
        out.blank();
        draw_lines(here, &self.lines);
        if self.lines.truncated {
            out.hint(format!(
                "It goes on: `understory artifact {label} --plain` has all of it."
            ));
        }
        out.blank();
        for delta in &self.deltas {
            out.cut(commit(delta, clock));
        }
        out.hint(format!(
            "`understory why {label}:3` says why a line is there."
        ));
    }
}

/// `7a2722d  ann  3 min ago  because of the measurement`
fn commit(delta: &Logged, clock: &Clock) -> Text {
    let line = Text::new().name(short(&delta.commit));
    let Some(said) = &delta.said else {
        return line;
    };
    let when = clock.ago(said.realized_at);
    let line = line.plain(format!("  {}", said.actor));
    let line = line.dim(format!("  {when}  "));
    line.plain(match said.reasoning.as_deref() {
        None | Some("") => &said.ops,
        Some(reasoning) => reasoning,
    })
}

/// A conversation and what was said in it.
#[derive(Serialize)]
pub struct Conversation {
    #[serde(flatten)]
    page: conversation::Page,
    told: Vec<Entry>,
}

pub fn log(context: &CommandContext, handle: &str) -> Result<Conversation, Fault> {
    let asked = json!({ "log": handle, "limit": ITEMS });
    let page: conversation::Page = context.ask("garden_log", asked)?;
    let names = page.items.iter().filter_map(|item| match item {
        ItemShape::Shown(item) => Some(item.uuid.as_str()),
        ItemShape::Hidden(_) => None,
    });
    let names: Vec<&str> = names.collect();
    let told = context
        .engine
        .view(&context.caller, |view| log::named(view, &names))?;
    Ok(Conversation { page, told })
}

impl Page for Conversation {
    fn print(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        if let Some(log) = &self.page.log {
            let summary = log.summary.as_ref().map(|said| said.content.as_str());
            let state = if summary.is_some() {
                "collapsed"
            } else {
                "open"
            };
            let uuid = log.uuid.as_deref().unwrap_or_default();
            let title = log.title.as_deref();
            let name = called(
                title.or(summary),
                log.parent_uuid.as_deref(),
                &log.created_by,
            );
            out.line(Text::new().bold(name).dim(format!("  {state}  {uuid}")));
            if let (Some(summary), Some(_)) = (summary, title) {
                out.hanging(Text::from(summary), 0);
            }
        }
        out.blank();
        for item in &self.told {
            let line = Text::new().dim(format!("{}  ", clock.clock_text(&item.at)));
            let line = line
                .plain(&item.actor)
                .plain(" ")
                .then(did(item.action.as_deref().unwrap_or_default()))
                .plain(" ")
                .name(item.handle.as_deref().unwrap_or_default());
            out.cut(line.plain(format!("  {}", item.text)));
        }
        if self.page.paging.pagination.next_cursor.is_some() {
            out.hint(format!("The first {ITEMS} are shown."));
        }
    }
}

/// Any other entity, as the garden gives it.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Entity(Option<Box<EntityShape>>);

pub fn entity(context: &CommandContext, handle: &str) -> Result<Entity, Fault> {
    Ok(Entity(match get(context, handle)? {
        Got::Artifact { entity, .. } | Got::Proposal { entity, .. } | Got::Entity { entity } => {
            Some(entity)
        }
        Got::Item { .. } | Got::Fragment { .. } | Got::Relation { .. } => None,
    }))
}

impl Page for Entity {
    fn print(&self, here: &Here, clock: &Clock) {
        print_fields(here, clock, &self.0);
    }
}

/// Each field of a thing by its name.
fn print_fields(here: &Here, clock: &Clock, thing: &impl Serialize) {
    let out = &here.out;
    match json_of(thing) {
        Ok(fields) => Render { out, clock }.answer(&fields),
        Err(fault) => out.hint(fault.to_string()),
    }
}
