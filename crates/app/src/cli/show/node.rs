//! A node for a person: what it is, waits for and holds, what was thought, and who changed it.

use serde::Serialize;
use serde_json::json;
use understory_engine::graph::context::{Context, Direction};
use understory_engine::graph::tree::{Asked, Row};
use understory_engine::kernel::log::Entry;
use understory_model::{Code, Fault};

use super::thoughts::{self, Thoughts};
use super::{CHANGES, Page, changes, show_changes};
use crate::cli::render::node::{self, brief, evidence, mark, own_property, properties};
use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here, plan};

/// Levels of children, and nodes below one, that are shown.
const DEPTH: i64 = 3;
const SHOWN_BELOW: i64 = 500;

/// A node, its neighbourhood and its last changes.
#[derive(Serialize)]
pub struct Around {
    #[serde(flatten)]
    found: Context,
    history: Vec<Entry>,
    thoughts: Thoughts,
    plan: Vec<Row>,
}

pub fn around(context: &CommandContext, handle: &str) -> Result<Around, Fault> {
    let args = json!({ "node_id": handle, "depth": DEPTH });
    let found: Context = context
        .ask("graph_context", args)
        .map_err(|fault| match fault.code {
            Code::NotFound => fault.hint(format!(
                "`understory log {handle}` tells what became of it."
            )),
            _ => fault,
        })?;
    // An old name may have led to what it was merged into.
    let id = found.node.id.clone();
    let history = changes(context, &id, CHANGES)?;
    let thoughts = thoughts::of(context, &id)?;
    let asked = Asked {
        top: Some(id),
        levels: Some(DEPTH),
        most: SHOWN_BELOW,
    };
    Ok(Around {
        found,
        history,
        thoughts,
        plan: plan::of(context, &asked)?.nodes,
    })
}

impl Page for Around {
    fn print(&self, here: &Here, clock: &Clock) {
        let (out, node) = (&here.out, &self.found.node);
        out.line(Text::new().name(&node.id).plain("  ").bold(&node.summary));
        out.line(standing(&self.found, clock));
        if let Some(old) = &self.found.merged_from {
            out.hint(format!("{old} was merged into it."));
        }
        out.blank();
        out.fields(0, about(&self.found, clock));
        if self.plan.len() > 1 {
            out.blank();
            out.line(Text::new().bold("below"));
            // The node itself stands above.
            let below = plan::drawn(&self.plan, clock).into_iter().skip(1);
            below.for_each(|line| out.cut(line));
        }
        self.thoughts.print(here, clock, &node.id);
        out.blank();
        show_changes(here, clock, &self.history);
        if self.found.truncated {
            out.hint("There is more than fits here.");
        }
    }
}

/// What is written on it and what it is tied to.
fn about(context: &Context, clock: &Clock) -> Vec<(String, Text)> {
    let node = &context.node;
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    for (at, above) in context.ancestors.iter().enumerate() {
        let name = if at == 0 { "in" } else { "" };
        let above = brief(&above.id, &above.summary);
        field(name, Text::from("  ".repeat(at)).then(above));
    }
    for (name, value) in properties(&node.properties) {
        field(name, Text::from(value));
    }
    for link in &node.context_links {
        field("link", Text::from(link.as_str()));
    }
    for piece in &node.evidence {
        let when = clock.ago(piece.timestamp);
        let what = Text::from(evidence(piece));
        field("evidence", what.dim(format!("  {}, {when}", piece.agent)));
    }
    let sides = [
        (&context.depends_on, "waits for"),
        (&context.depended_by, "needed by"),
    ];
    for (others, name) in sides {
        for other in others {
            let other = &other.node;
            let text = brief(&other.id, &other.summary);
            field(name, mark(other.resolved).then(text));
        }
    }
    for edge in context.edges.iter().flatten() {
        let arrow = match edge.direction {
            Direction::Out => "→ ",
            Direction::In => "← ",
        };
        let other = brief(&edge.node.id, &edge.node.summary);
        field(&edge.kind, Text::from(arrow).then(other));
    }
    let created = clock.ago(node.created_at);
    field(
        "created",
        Text::from(format!("{created} by {}", node.created_by)),
    );
    fields
}

/// Where it stands, in a line: done or open, ready or waiting, whose it is.
fn standing(context: &Context, clock: &Clock) -> Text {
    let node = &context.node;
    let waits = context.depends_on.iter().any(|other| !other.satisfied);
    let below = &context.children.children;
    let open_below = below.iter().any(|child| !child.resolved);
    let mut text = match (node.resolved, waits, open_below) {
        (true, _, _) if node.dropped => Text::new().add(Style::Dim, "dropped"),
        (true, _, _) => Text::new().add(Style::Good, "done"),
        (_, true, _) => Text::new().add(Style::Warn, "blocked"),
        (_, _, true) => Text::from("open, by what is below it"),
        _ => Text::new().add(Style::Good, "ready"),
    };
    if let Some(state) = &node.state {
        text = text.plain(format!(" · {}", node::state(state)));
    }
    if let Some(by) = own_property(&node.properties, "_claimed_by") {
        let at = own_property(&node.properties, "_claimed_at").unwrap_or_default();
        let at = clock.ago_text(at);
        let session = own_property(&node.properties, "_claimed_session");
        let session = session.map(|name| format!(", session {name}"));
        let session = session.unwrap_or_default();
        text = text.plain(format!(" · claimed by {by} {at}{session}"));
    }
    text.dim(format!(" · rev {}", node.rev))
}
