//! A change in a few words, for a line of the log. It never says what the action says already.

use serde_json::{Map, Value};
use understory_model::delta::Change;
use understory_model::fact::{Fossilized, FrameMoved, GraphDelta, NoteEntry, Undone};
use understory_model::item::{EntityDelta, Item};
use understory_model::lines::{Op, bare, parse};
use understory_model::text::cut;
use understory_model::{Id, Seq};

use crate::kernel::content;
use crate::kernel::content::artifact_delta::{Delta, Parents};
use crate::kernel::content::call::{lines as lines_told, quoted};
use crate::kernel::content::message::Said;
use crate::kernel::content::node::{CLAIMED_AT, CLAIMED_BY, CLAIMED_SESSION};
use crate::kernel::content::session_event as event;
use crate::kernel::log::{Known, record};
use crate::kernel::titles::fields_told;
use crate::kinds::{EntityKind, RECORD, THREAD, TOOL_CALL};

pub fn told(delta: &EntityDelta, known: &Known) -> String {
    let action = delta.action.as_str();
    match EntityKind::of(&delta.kind) {
        EntityKind::Record if action == event::TRANSITIONED => record::moved(delta),
        EntityKind::Session => of_session(delta, action),
        EntityKind::Branch if action == "created" => of_branch(delta),
        EntityKind::Checkout => of_checkout(delta),
        EntityKind::Conflict => of_conflict(delta, action),
        EntityKind::Wake if action == "created" => of_wake(delta),
        EntityKind::Log => of_log(delta, action, known),
        EntityKind::Proposal => of_proposal(delta, action),
        EntityKind::Relation => of_relation(delta, known),
        EntityKind::Node
        | EntityKind::Project
        | EntityKind::Record
        | EntityKind::Branch
        | EntityKind::Thread
        | EntityKind::Wake
        | EntityKind::Artifact
        | EntityKind::Callers(_) => of_value(delta).join("; "),
    }
}

/// A note in a document: its title and how it begins.
pub fn of_note(note: &NoteEntry) -> String {
    let first = note.content.lines().find(|line| !line.trim().is_empty());
    let parts = [note.title.as_deref(), first].map(Option::unwrap_or_default);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let copied = merged_from(note.source_event_id.as_deref());
    format!("{}{copied}", short(&parts.join(": ")))
}

/// A version of a node or an edge in a graph document.
pub fn of_vertex(vertex: &GraphDelta) -> String {
    let text = |field: &str| content::text(&vertex.state, field);
    let what = if vertex.kind == "edge" {
        format!("edge {} {} {}", text("from"), text("rel"), text("to"))
    } else {
        format!("{} {}", text("type"), text("id"))
    };
    let titled = match text("title") {
        "" => what,
        title => format!("{what}: {}", short(title)),
    };
    let status = match text("status") {
        "" => String::new(),
        status => format!(", {status}"),
    };
    let copied = merged_from(vertex.source.as_deref());
    format!("{titled}{status}{copied}")
}

/// An item of the timeline: what it is called, and how it begins.
pub fn of_item(kind: &str, fields: &Map<String, Value>) -> String {
    let text = |field: &str| {
        fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if kind == TOOL_CALL {
        let call = [text("tool"), text("operation")].join(" ");
        let outcome = fields
            .get("result")
            .and_then(|result| result["status"].as_str());
        let outcome = outcome.filter(|outcome| *outcome != "success");
        let call = match outcome {
            Some(outcome) => format!("{}: {outcome}", call.trim()),
            None => call.trim().to_string(),
        };
        return short(&because(call, Some(text("context"))));
    }
    let named = [
        "title",
        "subject",
        "event_type",
        "description",
        "context",
        "label",
    ];
    let mut parts: Vec<&str> = named.iter().map(|field| text(field)).collect();
    parts.retain(|part| !part.is_empty());
    parts.truncate(2);
    if parts.is_empty() {
        short(&fields_told(fields))
    } else {
        short(&parts.join(": "))
    }
}

/// A sentence, and what its author was after.
pub fn because(told: String, context: Option<&str>) -> String {
    match context.filter(|context| !context.is_empty()) {
        Some(context) if told.is_empty() => context.to_string(),
        Some(context) => format!("{told}, to: {context}"),
        None => told,
    }
}

/// Changes of one commit that are told one by one.
pub const CHANGES: usize = 2;

/// What a commit did to its artifact.
pub fn committed(delta: &Delta, created: bool) -> &'static str {
    match &delta.parent {
        _ if created => "created",
        Parents::Two(_) => "merged",
        _ if delta.fork => "forked",
        _ => "committed",
    }
}

/// What a commit changed from what to what.
pub fn of_commit(item: &Item, delta: &Delta, known: &Known) -> String {
    let ops = parse(&delta.ops).unwrap_or_default();
    let mut texts = delta.texts.iter().map(|text| bare(text));
    if delta.parent.hashes().is_empty() {
        let lines = match delta.lines {
            1 => "1 line".to_string(),
            n => format!("{n} lines"),
        };
        let first = texts.find(|text| !text.trim().is_empty());
        let first = first.map(|first| format!(", beginning {}", quoted(first)));
        return format!("{lines}{}", first.unwrap_or_default());
    }
    let old = |at: usize| match known.line(item.seq, at) {
        Some(line) => quoted(line),
        None => format!("line {at}"),
    };
    let mut told = Vec::new();
    for op in ops.iter().take(CHANGES) {
        let mut new = || quoted(texts.next().unwrap_or_default());
        told.push(match op {
            Op::Add { at, .. } => format!("added {} as line {at}", new()),
            Op::Remove { at } => format!("removed {}", old(*at)),
            Op::Replace { at, .. } => format!("{} → {}", old(*at), new()),
            Op::Move { line, to } => format!("moved line {line} before line {to}"),
        });
    }
    let more = ops.len().saturating_sub(CHANGES);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    told.join("; ")
}

/// What somebody took back.
pub fn of_undone(undone: &Undone, known: &Known) -> String {
    let what = known.name(Some(Id::of(undone.item)));
    what.unwrap_or("something that was said").to_string()
}

/// How many relations were archived, and came back.
pub fn of_fossils(moved: &Fossilized) -> String {
    let count = |list: &[(Seq, i64)]| match list.len() {
        1 => "1 relation".to_string(),
        n => format!("{n} relations"),
    };
    format!(
        "{} archived, {} revived",
        count(&moved.fossil),
        count(&moved.active)
    )
}

/// Two things, and how they stand to each other.
fn of_relation(delta: &EntityDelta, known: &Known) -> String {
    let end = |name: &str| {
        let id = new_value(delta, name).and_then(Value::as_i64).map(Id);
        known.name(id).unwrap_or("something").to_string()
    };
    let kind = new_value(delta, "kind").map(plain).unwrap_or_default();
    if delta.data.is_some() {
        short(&format!("{} {kind} {}", end("source"), end("target")))
    } else {
        of_value(delta).join("; ")
    }
}

/// A message: its number in the thread, what kind of event it is, and how it begins.
pub fn of_message(said: &Said) -> String {
    let first = said.body.lines().find(|line| !line.trim().is_empty());
    let event = said.event_type().map(|event| format!(", {event}"));
    let event = event.unwrap_or_default();
    format!(
        "message {}{event}: {}",
        said.n,
        short(first.unwrap_or_default())
    )
}

/// ` (from what-if)` where a merge wrote it.
fn merged_from(source: Option<&str>) -> String {
    let branch = source.and_then(|source| source.strip_prefix("merge:"));
    match branch.and_then(|branch| branch.rsplit_once(':')) {
        Some((branch, _)) => format!(" (from {branch})"),
        None => String::new(),
    }
}

/// The log keeps whole pages; a line shows how they begin.
pub fn short(text: &str) -> String {
    const LINE: usize = 160;
    cut(text, LINE)
}

/// The new value of a field, whether the entity was made or changed.
fn new_value<'d>(delta: &'d EntityDelta, field: &str) -> Option<&'d Value> {
    let made = delta.data.as_ref().and_then(|data| data.get(field));
    let mut changes = delta.changes.iter();
    made.or_else(|| {
        changes
            .find(|change| change.field() == field)?
            .after
            .as_ref()
    })
}

fn of_branch(delta: &EntityDelta) -> String {
    let base = new_value(delta, "base_branch").map(plain);
    let seq = new_value(delta, "base_seq").map(plain);
    format!(
        "from {} at #{}",
        base.unwrap_or_default(),
        seq.unwrap_or_default()
    )
}

fn of_checkout(delta: &EntityDelta) -> String {
    new_value(delta, "ref").map(plain).unwrap_or_default()
}

/// Who is to be woken, for what, and how.
fn of_wake(delta: &EntityDelta) -> String {
    let text = |field: &str| new_value(delta, field).map(plain).unwrap_or_default();
    let [target, thread, action, result] = ["target", "thread", "action", "result"].map(text);
    format!("{target} for {thread}: {action}, {result}")
}

/// A conversation: where it came from, and what came of it.
fn of_log(delta: &EntityDelta, action: &str, known: &Known) -> String {
    let above = delta.place.as_ref().and_then(|place| place.to.as_ref());
    let above = above.map(|above| known.name(Some(above.id)).unwrap_or("another"));
    let continues = new_value(delta, "continues").is_some_and(Value::is_string);
    match (action, above) {
        ("created", Some(above)) if continues => format!("continues {above}"),
        ("created", Some(above)) => format!("forked from {above}"),
        ("created", None) => "the project's first conversation".to_string(),
        _ => {
            let summary = new_value(delta, "summary").map(|told| &told["content"]);
            short(summary.and_then(Value::as_str).unwrap_or_default())
        }
    }
}

/// Which lines are to be changed and why, or what was said to that.
fn of_proposal(delta: &EntityDelta, action: &str) -> String {
    let text = |field: &str| new_value(delta, field).map(plain).unwrap_or_default();
    let line = |field: &str| new_value(delta, field).and_then(Value::as_i64).unwrap_or(0);
    match action {
        "created" => {
            let place = format!(
                "{} {}",
                text("label"),
                lines_told(line("start"), line("end"))
            );
            short(&format!("{place}: {}", text("reasoning")))
        }
        _ => short(&text("note")),
    }
}

/// Where somebody stands from now on.
pub fn of_frame(item: &Item, moved: &FrameMoved, known: &Known) -> String {
    let who = Some(&moved.fields.participant).filter(|who| **who != item.actor);
    let who = who.map(|who| format!("{who} "));
    let log = known.name(Some(moved.frame.log));
    format!(
        "{}to {}",
        who.unwrap_or_default(),
        log.unwrap_or("another conversation")
    )
}

/// What met, and how it was settled.
fn of_conflict(delta: &EntityDelta, action: &str) -> String {
    let text = |field: &str| new_value(delta, field).map(plain).unwrap_or_default();
    match action {
        "created" => {
            let key = new_value(delta, "key").map(key_told).unwrap_or_default();
            format!(
                "{} {key}, {} into {}",
                text("kind"),
                text("from"),
                text("into")
            )
        }
        "resolved" => text("resolution"),
        _ => String::new(),
    }
}

/// The id of a node, or the three words of an edge.
fn key_told(key: &Value) -> String {
    match key.as_str() {
        Some(id) => id.to_string(),
        None => ["from", "rel", "to"]
            .map(|part| plain(&key[part]))
            .join(" "),
    }
}

/// What changed in a value, and where it stands.
fn of_value(delta: &EntityDelta) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    if let Some(data) = &delta.data {
        let named = ["title", "summary", "name", "label"].iter();
        let named = named.filter_map(|field| data.get(*field)).next();
        let own = EntityKind::of(&delta.kind).is_own();
        match named.and_then(Value::as_str) {
            Some(name) if own => said.push(name.to_string()),
            // What no surface knows is told by its type and all that it says.
            _ if !own && !data.is_empty() => {
                said.push(short(&format!("{}: {}", delta.kind, fields_told(data))));
            }
            _ if !own => said.push(delta.kind.clone()),
            _ => {}
        }
    }
    let changes = delta.changes.iter();
    said.extend(changes.filter_map(|change| change_told(change, delta)));
    if let Some(place) = &delta.place
        && (delta.data.is_none() || delta.kind == RECORD)
    {
        said.extend(place.to.as_ref().map(|to| format!("under {}", to.handle)));
    }
    for link in &delta.links {
        let sign = if link.remove { "−" } else { "+" };
        said.push(format!("{sign}{} {}", link.relation, link.to.handle));
    }
    said.extend(delta.reason.iter().map(|reason| format!("({reason})")));
    let details = delta.details.iter().filter(|_| delta.kind == THREAD);
    said.extend(details.map(|metadata| short(&metadata.to_string())));
    let gone = delta.gone.as_ref().and_then(|gone| gone.into.as_ref());
    said.extend(gone.map(|into| format!("into {}", into.handle)));
    said
}

/// An event in a session's life. Where it is about a record, that stands for it in the line, so
/// the session is named here.
fn of_session(delta: &EntityDelta, action: &str) -> String {
    let name = delta.handle.splitn(3, ':').nth(2).unwrap_or_default();
    let detail = |name: &str| delta.details.as_ref().and_then(|more| more.get(name));
    let text = |name: &str| detail(name).and_then(Value::as_str).map(str::to_string);
    match action {
        event::ACTIVATED => format!("in session {name}"),
        event::CONFLICT_DETECTED | event::CONFLICT_RESOLVED => {
            format!("in session {name}: {}", contested(delta, action))
        }
        event::ENDED => match text("released") {
            Some(released) => format!("released {released}"),
            None => String::new(),
        },
        event::BRANCHED => format!("from {}", text("parent_session").unwrap_or_default()),
        _ => {
            let by = text("by_agent").map(|agent| format!("by {agent}"));
            let said = by.into_iter().chain(delta.reason.clone());
            said.collect::<Vec<_>>().join(": ")
        }
    }
}

fn contested(delta: &EntityDelta, action: &str) -> String {
    let detail = |name: &str| delta.details.as_ref().and_then(|more| more.get(name));
    if let Some(fields) = detail("proposed").and_then(Value::as_object) {
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        return format!("an update of {} met a newer version", names.join(", "));
    }
    if let Some(version) = detail("overrode_version") {
        return format!("version {version} was overridden");
    }
    let others = detail("sessions").and_then(Value::as_array);
    let others = others.into_iter().flatten().filter_map(Value::as_str);
    let others = others.collect::<Vec<_>>().join(", ");
    match action {
        event::CONFLICT_RESOLVED => format!("in spite of {others}"),
        _ => format!("also active in {others}"),
    }
}

/// One change; none where the action or a link says it already.
fn change_told(change: &Change, delta: &EntityDelta) -> Option<String> {
    let at: Vec<&str> = change.at.iter().map(String::as_str).collect();
    let field = match (delta.action.as_str(), at.as_slice()) {
        ("resolved" | "reopened" | "dropped", ["resolved" | "dropped"]) => return None,
        // The reason says it.
        ("dropped", ["evidence", ..]) => return None,
        ("claimed" | "released" | "reopened", ["properties", CLAIMED_BY]) => return None,
        (_, ["properties", CLAIMED_AT | CLAIMED_SESSION]) => return None,
        (_, ["related", ..]) if delta.kind == RECORD => return None,
        (_, ["participants", _]) if delta.kind == THREAD => {
            return change
                .after
                .as_ref()
                .map(|name| format!("+{}", plain(name)));
        }
        // A body is as long as a page, and two of them do not fit into a line.
        (_, ["body"]) if delta.kind == RECORD => return Some("new body".to_string()),
        (_, ["evidence", ..]) => return change.after.as_ref().map(plain),
        (_, ["properties", rest @ ..]) => rest.join("."),
        _ => change.field(),
    };
    Some(match (&change.before, &change.after) {
        (None, Some(after)) => format!("{field} = {}", plain(after)),
        (Some(before), Some(after)) => format!("{field}: {} → {}", plain(before), plain(after)),
        (_, None) => format!("no {field}"),
    })
}

/// A value without the signs that only programs need.
fn plain(value: &Value) -> String {
    match (
        value.as_str(),
        value["type"].as_str(),
        value["ref"].as_str(),
    ) {
        (Some(text), ..) => text.to_string(),
        (_, Some(kind), Some(reference)) => format!("{kind} {reference}"),
        _ => value.to_string(),
    }
}
