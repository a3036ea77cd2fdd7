//! A node of the graph: in a line, with its claim, and with what one needs to start on it.

use serde_json::{Map, Value};
use understory_engine::graph::claim::Held;
use understory_engine::graph::next::Ready;
use understory_engine::kernel::content::node::Evidence;

use super::words::plain;
use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// `TASK-001 Write the API`
pub fn brief(id: &str, summary: &str) -> Text {
    Text::new().name(id).plain(" ").plain(summary)
}

/// Done or open.
pub fn mark(done: bool) -> Text {
    if done {
        Text::new().add(Style::Good, "✓ ")
    } else {
        Text::new().plain("○ ")
    }
}

/// `TASK-003 claimed by ann  3 min ago, session sess_1`
pub fn held(claim: &Held, clock: &Clock) -> Text {
    let gone = if claim.alive { "" } else { ", which has ended" };
    let since = clock.ago(claim.since);
    Text::new()
        .name(&claim.id)
        .plain(format!(" claimed by {}", claim.by))
        .dim(format!("  {since}, session {}{gone}", claim.session))
}

/// A text that the product keeps among a node's properties, such as who claimed it.
pub fn own_property<'p>(properties: &'p Map<String, Value>, name: &str) -> Option<&'p str> {
    properties.get(name).and_then(Value::as_str)
}

/// What callers wrote on a node; what the product keeps there itself begins with `_`.
pub fn properties(properties: &Map<String, Value>) -> impl Iterator<Item = (&String, String)> {
    properties
        .iter()
        .filter(|(name, _)| !name.starts_with('_'))
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name, text)
        })
}

/// `git abc123`
pub fn evidence(piece: &Evidence) -> String {
    format!("{} {}", piece.kind, piece.reference)
}

/// Several pieces of evidence in a line.
pub fn proof(pieces: &[Evidence]) -> String {
    let pieces: Vec<String> = pieces.iter().map(evidence).collect();
    pieces.join(", ")
}

/// One node with what one needs to start on it, and how to go on.
pub fn ready(here: &Here, context: &CommandContext, found: &Ready) {
    let (out, node) = (&here.out, &found.node);
    out.line(Text::new().name(&node.id).plain("  ").bold(&node.summary));
    out.fields(2, about(found));
    let id = &node.id;
    let by = own_property(&node.properties, "_claimed_by");
    let session = own_property(&node.properties, "_claimed_session");
    out.blank();
    if by == Some(&context.caller.agent) && session == Some(&context.caller.session) {
        let yours = Text::new().add(Style::Good, "Yours").plain(", ");
        out.line(
            yours
                .bold(&context.caller.agent)
                .plain(". When it is done:"),
        );
        out.written(&Text::from(format!(
            "  understory done {id} --evidence git:COMMIT"
        )));
    } else {
        out.hint(format!(
            "Take it: understory claim {id}.  All of it: understory show {id}"
        ));
    }
}

/// What one needs to know to start on it.
fn about(found: &Ready) -> Vec<(String, Text)> {
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    let mut above = Text::new();
    for (at, ancestor) in found.ancestors.iter().enumerate() {
        let arrow = if at > 0 { " › " } else { "" };
        above = above
            .dim(arrow)
            .then(brief(&ancestor.id, &ancestor.summary));
    }
    if !above.is_empty() {
        field("in", above);
    }
    for (name, value) in properties(&found.node.properties) {
        field(name, Text::from(value));
    }
    for link in &found.context_links.own {
        field("link", Text::from(link.as_str()));
    }
    for inherited in &found.context_links.inherited {
        for link in &inherited.links {
            let from = format!("  from {}", inherited.node_id);
            field("link", Text::from(link.as_str()).dim(from));
        }
    }
    for done in &found.resolved_deps {
        let proof = format!("  {}", proof(&done.evidence));
        field("after", brief(&done.id, &done.summary).dim(proof));
    }
    fields
}

/// A node's priority, if it has one.
pub fn priority(properties: &Map<String, Value>) -> Text {
    match properties.get("priority") {
        None | Some(Value::Null) => Text::new(),
        Some(priority) => Text::from(priority.to_string()),
    }
}

/// What its owner calls its state.
pub fn state(state: &Value) -> String {
    match state {
        Value::Array(_) => state.to_string(),
        state => plain(state),
    }
}
