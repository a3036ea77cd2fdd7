//! A change in a few words, for a line of the log. It never says what the action says already.

use serde_json::{Map, Value};
use understory_model::delta::Change;
use understory_model::item::EntityDelta;
use understory_model::text::cut;

use crate::graph::fields::{CLAIMED_AT, CLAIMED_BY};
use crate::projection::{BRANCH, CHECKOUT_KIND, CONFLICT, LOG, PROPOSAL, RECORD, SESSION, WAKE};
use crate::records::{activity, event};
use crate::threads::Said;

pub fn told(delta: &EntityDelta) -> String {
    match (delta.kind.as_str(), delta.action.as_str()) {
        (RECORD, event::TRANSITIONED) => activity::moved(delta),
        (SESSION, action) => of_session(delta, action),
        (BRANCH, "created") => of_branch(delta),
        (CHECKOUT_KIND, _) => of_checkout(delta),
        (CONFLICT, action) => of_conflict(delta, action),
        (WAKE, "created") => of_wake(delta),
        (LOG, action) => of_log(delta, action),
        (PROPOSAL, action) => of_proposal(delta, action),
        _ => of_value(delta).join("; "),
    }
}

/// A note in a document: its title and how it begins.
pub fn of_note(said: &Value) -> String {
    let text = |field: &str| said[field].as_str().unwrap_or_default();
    let first = text("content").lines().find(|line| !line.trim().is_empty());
    let parts = [text("title"), first.unwrap_or_default()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let copied = merged_from(text("source_event_id"));
    format!("{}{copied}", short(&parts.join(": ")))
}

/// A version of a node or an edge in a graph document.
pub fn of_vertex(said: &Value) -> String {
    let state = &said["state"];
    let text = |field: &str| state[field].as_str().unwrap_or_default();
    let what = match said["kind"].as_str() {
        Some("edge") => format!("edge {} {} {}", text("from"), text("rel"), text("to")),
        _ => format!("{} {}", text("type"), text("id")),
    };
    let titled = match text("title") {
        "" => what,
        title => format!("{what}: {}", short(title)),
    };
    let status = match text("status") {
        "" => String::new(),
        status => format!(", {status}"),
    };
    let copied = merged_from(said["source"].as_str().unwrap_or_default());
    format!("{titled}{status}{copied}")
}

/// An item of the timeline: what it is called, and how it begins.
pub fn of_item(fields: &Map<String, Value>) -> String {
    let text = |field: &str| {
        fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let call = [text("tool"), text("operation")].join(" ");
    let told = [
        "title",
        "event_type",
        "description",
        "context",
        "label",
        "reasoning",
        "ops",
    ];
    let mut parts: Vec<&str> = vec![call.trim()];
    parts.extend(told.iter().map(|field| text(field)));
    parts.retain(|part| !part.is_empty());
    parts.truncate(2);
    if !parts.is_empty() {
        return short(&parts.join(": "));
    }
    match fields.is_empty() {
        true => String::new(),
        false => short(&Value::Object(fields.clone()).to_string()),
    }
}

/// What became of an artifact, and in a few words why: the commit, its reason or what it does.
pub fn of_commit(fields: &Map<String, Value>) -> (&'static str, String) {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let Some(commit) = text("commit") else {
        return ("created", String::new());
    };
    let action = match (fields.get("parent"), fields.get("fork")) {
        (Some(Value::Array(_)), _) => "merged",
        (_, Some(Value::Bool(true))) => "forked",
        _ => "committed",
    };
    let why = text("reasoning").filter(|why| !why.trim().is_empty());
    let told = why.or(text("ops")).unwrap_or_default();
    let commit: String = commit.chars().take(12).collect();
    (action, short(&format!("{commit}: {told}")))
}

/// A message: its number in the thread, what kind of event it is, and how it begins.
pub fn of_message(said: &Said) -> String {
    let first = said.body.lines().find(|line| !line.trim().is_empty());
    let event = said.event_type().map(|event| format!("{event}: "));
    let event = event.unwrap_or_default();
    format!("#{} {event}{}", said.n, short(first.unwrap_or_default()))
}

/// ` (from what-if)` where a merge wrote it.
fn merged_from(source: &str) -> String {
    let branch = source.strip_prefix("merge:").unwrap_or_default();
    match branch.rsplit_once(':') {
        Some((branch, _)) => format!(" (from {branch})"),
        None => String::new(),
    }
}

/// The log keeps whole pages; a line shows how they begin.
fn short(text: &str) -> String {
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
fn of_log(delta: &EntityDelta, action: &str) -> String {
    let text = |field: &str| new_value(delta, field).and_then(Value::as_str);
    match action {
        "created" => match (text("continues"), text("parent_uuid")) {
            (Some(old), _) => format!("continues {old}"),
            (None, Some(parent)) => format!("forked from {parent}"),
            (None, None) => "the project's first conversation".to_string(),
        },
        _ => {
            let summary = new_value(delta, "summary").map(|told| &told["content"]);
            short(summary.and_then(Value::as_str).unwrap_or_default())
        }
    }
}

/// Which lines are to be changed and why, or what was said to that.
fn of_proposal(delta: &EntityDelta, action: &str) -> String {
    let text = |field: &str| new_value(delta, field).map(plain).unwrap_or_default();
    match action {
        "created" => {
            let lines = format!("{}:{}-{}", text("label"), text("start"), text("end"));
            short(&format!("{lines}: {}", text("reasoning")))
        }
        _ => short(&text("note")),
    }
}

/// Where somebody stands from now on.
pub fn of_frame(fields: &Map<String, Value>) -> String {
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let at = |head: &str| format!(", seen up to {head}");
    format!(
        "{} in {}{}",
        text("participant").unwrap_or_default(),
        text("branch_uuid").unwrap_or_default(),
        text("head").map(at).unwrap_or_default()
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
        said.extend(named.and_then(Value::as_str).map(str::to_string));
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
        ("resolved", ["resolved"]) => return None,
        ("claimed", ["properties", CLAIMED_BY | CLAIMED_AT]) => return None,
        (_, ["related", ..]) if delta.kind == RECORD => return None,
        // A body is as long as a page, and a line is no place for two of them.
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
